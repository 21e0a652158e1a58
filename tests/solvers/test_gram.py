"""Equations with matrices of inner products."""

import numpy as np
import pytest

from zeronorm.solvers.gram import FEW_EQUATIONS, solve_definite


@pytest.mark.parametrize("size", [1, 5, FEW_EQUATIONS, FEW_EQUATIONS + 1])
@pytest.mark.parametrize("n_sides", [None, 2])
def test_solves_definite_equations(size, n_sides):
    random = np.random.default_rng(0)
    rows = random.normal(size=(2 * size, size))
    matrix, sides = rows.T @ rows, random.normal(size=(size, n_sides or 1))
    sides = sides[:, 0] if n_sides is None else sides
    before = matrix.copy(), sides.copy()
    found = solve_definite(matrix, sides)
    assert found.shape == sides.shape
    np.testing.assert_allclose(matrix @ found, sides, atol=1e-10 * np.abs(found).max())
    assert np.array_equal(matrix, before[0]) and np.array_equal(sides, before[1])


def test_a_matrix_that_rounding_has_left_indefinite():
    matrix = np.array([[1.0, 0.0], [0.0, -1e-16]])
    np.testing.assert_allclose(solve_definite(matrix, np.ones(2)), [1.0, -1e16])


def test_a_singular_matrix_is_an_error():
    with pytest.raises(np.linalg.LinAlgError):
        solve_definite(np.zeros((2, 2)), np.ones(2))
