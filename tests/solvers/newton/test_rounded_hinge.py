"""The rounded hinge by Newton steps, beside a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from zeronorm.solvers.design import Design
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.rounded_hinge import WIDTH, solve_rounded_hinge


def problem(n=60, m=4, seed=0, cost=(0.1, 3.0)):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, m))
    target = np.where(features[:, 0] + 0.7 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    rows = np.column_stack([features, np.ones(n)])
    return rows, target, rng.uniform(*cost, size=n)


def solve(rows, target, cost, start):
    return solve_rounded_hinge(Design(rows[:, :-1]), Hinge(target, cost), start)


def point_of(found):
    return np.append(found.coef, found.intercept)


def loss(slack):
    """The definition, piece by piece."""
    return np.where(
        slack <= 0, 0.0, np.where(slack < WIDTH, slack**2 / (2 * WIDTH), slack - WIDTH / 2)
    )


def objective(point, rows, target, cost):
    return 0.5 * point[:-1] @ point[:-1] + cost @ loss(1.0 - target * (rows @ point))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cost", [(0.01, 0.02), (0.1, 3.0), (50.0, 100.0)])
def test_the_minimum_is_that_of_a_general_optimiser(seed, cost):
    rows, target, costs = problem(seed=seed, cost=cost)
    found = solve(rows, target, costs, np.zeros(5))
    other = minimize(
        objective, np.zeros(5), args=(rows, target, costs), method="BFGS", options={"gtol": 1e-8}
    )
    assert found.objective == pytest.approx(
        objective(point_of(found), rows, target, costs), rel=1e-12
    )
    assert found.objective == pytest.approx(other.fun, rel=1e-6)
    np.testing.assert_allclose(point_of(found), other.x, atol=1e-3)


def test_the_dual_is_minus_the_slope_of_the_loss_at_each_score():
    rows, target, cost = problem()
    found = solve(rows, target, cost, np.zeros(5))
    scores = rows @ point_of(found)
    slope = approx_fprime(scores, lambda s: cost @ loss(1.0 - target * s), 1e-7)
    np.testing.assert_allclose(target * found.dual, -slope, atol=1e-5)
    # At the minimum the duals balance the penalty, and the intercept has none.
    np.testing.assert_allclose(
        (target * found.dual) @ rows, np.append(point_of(found)[:-1], 0.0), atol=1e-4
    )


@pytest.mark.parametrize("start", [np.full(5, 100.0), np.full(5, -1e4), np.full(5, 1e-9)])
def test_the_start_does_not_matter(start):
    rows, target, cost = problem()
    near = solve(rows, target, cost, np.zeros(5))
    far = solve(rows, target, cost, start)
    assert far.objective == pytest.approx(near.objective, rel=1e-6)


def test_no_row_on_the_bend():
    """Far from the margin the intercept has no curvature; the step must be finite all the same."""
    rows = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    found = solve_rounded_hinge(
        Design(rows[:, :-1]), Hinge(np.array([1.0, 1.0, -1.0]), np.ones(3)), np.array([0.0, 9.0])
    )
    other = minimize(objective, np.zeros(2), args=(rows, np.array([1.0, 1.0, -1.0]), np.ones(3)))
    assert found.objective == pytest.approx(other.fun, rel=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.08, 0.05, 0.02, 0.01], ids=str)
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e4], ids=str)
def test_rare_classes(share, C):
    """A class of few rows has little to say about the intercept; the descent must not diverge."""
    rng = np.random.default_rng(0)
    target = np.where(np.arange(400) < 400 * share, 1.0, -1.0)
    features = rng.normal(size=(400, 6)) + 0.9 * (target > 0)[:, None]
    kernel = np.exp(-0.1 * ((features[:, None] - features[None, ::5]) ** 2).sum(axis=2))
    rows = np.column_stack([kernel, np.ones(400)])
    cost = np.full(400, C)
    found = solve(rows, target, cost, np.zeros(rows.shape[1]))
    assert found.objective <= objective(np.zeros(rows.shape[1]), rows, target, cost)
    # Another solver of the same problem: the smoothed dual of hinge_ridge, which has a certificate
    # for the hinge; the rounded hinge lies between it and its value less half a width a row.
    exact = solve_hinge_ridge(Design(kernel), Hinge(target, cost))
    assert exact.objective - 0.5 * WIDTH * cost.sum() <= found.objective <= exact.objective
    # Duals balance the penalty: the gradient is zero, and the function is convex.
    gradient = np.append(point_of(found)[:-1], 0.0) - (target * found.dual) @ rows
    assert np.linalg.norm(gradient[:-1]) <= 1e-2 * np.sqrt(found.objective)
    assert abs(gradient[-1]) <= 1e-4 * cost.sum()


def test_equal_classes_have_the_intercept_in_the_middle():
    """With a small C every intercept of an interval is optimal."""
    features = np.array([[-3.0], [-2.0], [0.0], [1.0]])
    rows, target = np.column_stack([features, np.ones(4)]), np.array([-1.0, -1.0, 1.0, 1.0])
    found = solve_rounded_hinge(
        Design(rows[:, :-1]), Hinge(target, np.full(4, 1e-3)), np.array([0.0, 0.7])
    )
    weight = point_of(found)[0]
    # Optimal as long as no row of either class reaches the bend.
    low = np.max(-1.0 - features[:2, 0] * weight) + WIDTH
    high = np.min(1.0 - features[2:, 0] * weight) - WIDTH
    assert point_of(found)[1] == pytest.approx((low + high) / 2)
    assert (np.sign(rows @ point_of(found)) == target).all()
