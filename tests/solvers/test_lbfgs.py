"""Many problems at once: each ends where it would alone, and none above its start."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from zeronorm.solvers.lbfgs import Bounds, minimise_together


def each(function, gradient):
    def together(points, problems):
        return (
            np.array([function(x, i) for x, i in zip(points, problems, strict=True)]),
            np.array([gradient(x, i) for x, i in zip(points, problems, strict=True)]),
        )

    return together


def test_quadratic_functions_have_their_closed_form():
    random = np.random.RandomState(0)
    roots, b = random.randn(6, 12, 12), random.randn(6, 12)
    A = roots @ np.swapaxes(roots, 1, 2) + np.eye(12)
    function = each(lambda x, i: 0.5 * x @ A[i] @ x - b[i] @ x, lambda x, i: A[i] @ x - b[i])
    found = minimise_together(function, np.zeros((6, 12)), max_steps=200, tolerance=1e-14)
    expected = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    np.testing.assert_allclose(found.points, expected, atol=1e-5)
    assert found.is_converged.all()


def test_rosenbrock_ends_in_a_minimum():
    start = np.random.RandomState(0).randn(10, 6)
    function = each(lambda x, _: rosen(x), lambda x, _: rosen_der(x))
    found = minimise_together(function, start, max_steps=500, tolerance=1e-12)
    np.testing.assert_allclose(found.gradients, 0.0, atol=1e-3)
    alone = [minimize(rosen, x, jac=rosen_der, method="L-BFGS-B").fun for x in start]
    # Both have two minima, 0 and 3.97; they need not end in the same one.
    assert set(np.round(found.values, 1)) <= {0.0, 4.0} and found.values.min() < 1e-6
    assert np.mean(found.values) <= np.mean(alone) + 4.0


def test_a_problem_does_not_depend_on_its_neighbours():
    start = np.random.RandomState(0).randn(5, 4)
    function = each(lambda x, _: rosen(x), lambda x, _: rosen_der(x))
    together = minimise_together(function, start, max_steps=40, tolerance=1e-9)
    for i in range(5):
        alone = minimise_together(function, start[[i]], max_steps=40, tolerance=1e-9)
        np.testing.assert_allclose(alone.points[0], together.points[i], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("max_steps", [1, 3, 30])
def test_none_ends_above_its_start(max_steps):
    """A function with steep walls: values that are not finite are steps too long."""
    function = each(
        lambda x, _: -np.log(1.0 - x @ x) if x @ x < 1.0 else np.inf,
        lambda x, _: 2.0 * x / (1.0 - x @ x) if x @ x < 1.0 else np.zeros_like(x),
    )
    start = np.array([[0.99, 0.0], [0.1, -0.9]])
    found = minimise_together(function, start, max_steps=max_steps, tolerance=1e-10)
    assert (found.values <= function(start, [0, 1])[0]).all()
    if max_steps == 30:
        np.testing.assert_allclose(found.points, 0.0, atol=1e-3)


def test_a_wrong_gradient_ends_where_it_began():
    function = each(lambda x, _: x @ x, lambda x, _: -2.0 * x)
    start = np.ones((2, 3))
    found = minimise_together(function, start, max_steps=100, tolerance=1e-9)
    np.testing.assert_array_equal(found.points, start)
    assert not found.is_converged.any()


def test_at_the_minimum_there_is_nothing_to_do():
    function = each(lambda x, _: x @ x, lambda x, _: 2.0 * x)
    found = minimise_together(function, np.zeros((2, 3)), max_steps=5, tolerance=1e-9)
    assert found.is_converged.all() and (found.steps == 0).all()


def box_problem(seed=0, count=8, size=12):
    """Convex quadratics whose minima lie outside a box in about half of the variables."""
    random = np.random.RandomState(seed)
    roots, b = random.randn(count, size, size), 10.0 * random.randn(count, size)
    A = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(size)
    low = -np.abs(random.randn(count, size)) * 0.3
    high = np.abs(random.randn(count, size)) * 0.3
    low[:, 0], high[:, 1] = -np.inf, np.inf
    return A, b, low, high


def test_within_bounds_the_minimum_is_that_of_lbfgsb():
    A, b, low, high = box_problem()
    function = each(lambda x, i: 0.5 * x @ A[i] @ x - b[i] @ x, lambda x, i: A[i] @ x - b[i])
    bounds = Bounds(low, high)
    found = minimise_together(
        function, np.zeros((8, 12)), max_steps=2000, tolerance=1e-15, bounds=bounds
    )
    assert ((found.points >= low) & (found.points <= high)).all()
    for i in range(8):
        other = minimize(
            lambda x, i=i: 0.5 * x @ A[i] @ x - b[i] @ x,
            np.zeros(12),
            jac=lambda x, i=i: A[i] @ x - b[i],
            bounds=list(zip(low[i], high[i], strict=True)),
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
        )
        assert found.values[i] == pytest.approx(other.fun, rel=1e-7)
    # The conditions of an optimum: nothing leads downhill but what the bounds forbid.
    gradient = np.einsum("bij,bj->bi", A, found.points) - b
    free = np.where(bounds.free(found.points, gradient, np.arange(8)), gradient, 0.0)
    assert np.abs(free).max() < 1e-3
    assert ((found.points == low) | (found.points == high)).mean() > 0.3


def test_bounds_that_no_variable_reaches_change_nothing():
    start = np.random.RandomState(0).randn(5, 6)
    function = each(lambda x, _: rosen(x), lambda x, _: rosen_der(x))
    free = minimise_together(function, start, max_steps=60, tolerance=1e-10)
    far = Bounds(np.full((5, 6), -np.inf), np.full((5, 6), np.inf))
    bound = minimise_together(function, start, max_steps=60, tolerance=1e-10, bounds=far)
    np.testing.assert_allclose(bound.points, free.points, rtol=1e-6)


def test_variables_without_room_stay_where_they_are():
    start = np.random.RandomState(0).randn(5, 6)
    function = each(lambda x, _: rosen(x), lambda x, _: rosen_der(x))
    low, high = np.full((5, 6), -np.inf), np.full((5, 6), np.inf)
    low[:, :3] = high[:, :3] = start[:, :3]
    found = minimise_together(
        function, start, max_steps=200, tolerance=1e-12, bounds=Bounds(low, high)
    )
    assert (found.points[:, :3] == start[:, :3]).all()
    assert (found.values < [rosen(x) for x in start]).all()
    np.testing.assert_allclose(found.gradients[:, 3:], 0.0, atol=1e-2)


def test_a_start_outside_begins_at_the_side():
    function = each(lambda x, _: x @ x, lambda x, _: 2.0 * x)
    bounds = Bounds(np.array([[1.0, -1.0]]), np.array([[2.0, 1.0]]))
    start = np.array([[-5.0, 5.0]])
    found = minimise_together(function, start, max_steps=50, tolerance=1e-12, bounds=bounds)
    np.testing.assert_allclose(found.points, [[1.0, 0.0]], atol=1e-9)
    assert found.is_converged.all()
