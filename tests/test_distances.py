"""The rbf kernel where distances are small beside the rows, against direct differences."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from zeronorm.blocks import BLOCK_ROWS
from zeronorm.kernels import Kernel


def clouds(offset, spread, n=90, d=3, seed=0):
    """Rows in tight groups around an offset: some pairs are equal, some near, some far."""
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(12, d))
    X = middles[np.arange(n) % 12] + spread * rng.normal(size=(n, d))
    X[: n // 6] = X[n // 6 : 2 * (n // 6)]
    return X + offset


#: Offset of the columns, spread of the groups, gamma.
CASES = [
    (0.0, 0.3, 0.5),
    (0.0, 1e-6, 1e12),
    (0.0, 1e-3, 1e6),
    (1e6, 0.3, 1.0),
    (np.array([1e6, -1e8, 1e3]), 0.3, 0.1),
    (1e6, 1e-3, 1e6),
    (1e3, 1e-150, 1e280),
]
CASE = pytest.mark.parametrize(("offset", "spread", "gamma"), CASES, ids=str)
AS = {"dense": np.asarray, "csr": sparse.csr_array}


def by_differences(X, V, gamma):
    return np.exp(-gamma * cdist(X, V, "sqeuclidean"))


@pytest.mark.parametrize("n_vectors", [1, 10, 90], ids="{} vectors".format)
@pytest.mark.parametrize("vectors_as", AS)
@pytest.mark.parametrize("rows_as", AS)
@CASE
def test_values(offset, spread, gamma, rows_as, vectors_as, n_vectors):
    X = clouds(offset, spread)
    V = X[:n_vectors]
    values = Kernel("rbf", gamma=gamma).matrix(AS[rows_as](X), AS[vectors_as](V))
    expected = by_differences(X, V, gamma)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11)
    assert values.max() <= 1.0


@CASE
def test_a_row_with_itself(offset, spread, gamma):
    X = clouds(offset, spread)
    values = Kernel("rbf", gamma=gamma).matrix(X, X)
    assert values.diagonal() == pytest.approx(np.ones(len(X)), rel=1e-11)


def test_rows_far_from_the_vectors():
    """One vector far out, with a row beside it, does not spoil the others."""
    V = np.vstack([clouds(0.0, 0.3), [[1e8, 0.0, 0.0]]])
    X = np.vstack([V[:5] + 0.1, [[1e8, 1.0, 0.0], [1e8, 0.0, 0.0], [-1e8, 0.0, 0.0]]])
    values = Kernel("rbf", gamma=1.0).matrix(X, V)
    assert values == pytest.approx(by_differences(X, V, 1.0), rel=1e-9, abs=1e-11)


def test_many_rows_and_many_near_pairs():
    X = clouds(1e6, 0.3, n=2 * BLOCK_ROWS + 7)
    kernel = Kernel("rbf", gamma=0.1)
    expected = by_differences(X, X[:70], 0.1)
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(kernel.matrix(rows, X[:70]), expected, rtol=1e-9)


def test_no_rows():
    assert Kernel("rbf").matrix(np.empty((0, 3)), clouds(1e6, 0.3)).shape == (0, 90)


@pytest.mark.parametrize("is_known", [False, True], ids=["", "values known"])
@pytest.mark.parametrize("rows_as", AS)
@CASE
def test_derivatives(offset, spread, gamma, rows_as, is_known):
    X = clouds(offset, spread)
    V = X[:10] + 0.1 * spread * np.random.default_rng(2).normal(size=(10, 3))
    weights = np.random.default_rng(1).normal(size=(len(X), len(V)))
    kernel = Kernel("rbf", gamma=gamma)
    rows = AS[rows_as](X)
    values = kernel.matrix(rows, V) if is_known else None
    by_vectors, by_gamma = kernel.derivatives(rows, V, weights, values)
    weighted = weights * by_differences(X, V, gamma)
    differences = X[:, None] - V
    expected = 2.0 * gamma * np.einsum("ij,ijk->jk", weighted, differences)
    size = 2.0 * gamma * np.einsum("ij,ijk->jk", np.abs(weighted), np.abs(differences)).max()
    # The rows themselves are known to a rounding error, and sparse ones cannot be moved.
    reach = np.abs(X).max() if rows_as == "csr" else np.ptp(X, axis=0).max()
    doubt = 1e-14 * 2.0 * gamma * np.abs(weighted).sum() * reach
    assert by_vectors == pytest.approx(expected, abs=1e-8 * size + doubt)
    squared = cdist(X, V, "sqeuclidean")
    assert by_gamma == pytest.approx(
        -np.sum(weighted * squared), abs=1e-8 * np.sum(np.abs(weighted) * squared)
    )
