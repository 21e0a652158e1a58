"""The middle of the best intercepts, beside a fine grid of all of them."""

import numpy as np
import pytest

from zeronorm.solvers.design import Design
from zeronorm.solvers.intercept import central_intercept
from zeronorm.solvers.linear_programs.hinge_lp import solve_one_norm
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_lasso import HingeLasso
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.smooth_hinge_lasso import SmoothHingeLasso


def loss(b, values, target, cost, width):
    """Loss at one intercept, or at each of several."""
    slack = np.maximum(1.0 - target * (values + np.asarray(b)[..., None]), 0.0)
    if width == 0:
        return slack @ cost
    return np.where(slack < width, slack**2 / (2 * width), slack - width / 2) @ cost


@pytest.mark.parametrize("width", [0.0, 0.5], ids=["hinge", "rounded"])
@pytest.mark.parametrize("seed", range(12))
def test_no_grid_point_is_lower_and_the_interval_is_halved(seed, width):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    values = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1)
    target = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    # Costs of whole numbers: intervals, not points, are optimal more often than not.
    cost = rng.integers(1, 3, size=n).astype(float)
    found = central_intercept(values, Hinge(target, cost), width)
    reach = np.abs(values).max() + 2.0
    grid = np.linspace(-reach, reach, 40001)
    losses = loss(grid, values, target, cost, width)
    lowest = loss(found, values, target, cost, width)
    assert lowest <= losses.min() + 1e-9
    best = grid[losses <= lowest + 1e-9]
    if len(best) > 200:
        assert found == pytest.approx((best[0] + best[-1]) / 2, abs=4 * reach / 40000)


def equal_classes():
    rng = np.random.default_rng(0)
    target = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(40, 2)) + 4.0 * (target > 0)[:, None]
    return np.exp(-0.01 * ((X[:, None] - X) ** 2).sum(axis=2)), target, np.full(40, 0.02)


def certified(values, target, cost):
    found = solve_hinge_ridge(Design(values), Hinge(target, cost), tolerance=1e-8)
    return found.coef, found.intercept


def lasso(values, target, cost):
    found = HingeLasso(values, Hinge(target, cost), values).solve(1e-2, 1e-8)
    return found.coef, found.intercept


def linear_program(values, target, cost):
    """So cheap that no term is worth its price: the intercept is alone."""
    found = solve_one_norm(values, Hinge(target, cost))
    return found.coef, found.intercept


def smooth(values, target, cost):
    found = SmoothHingeLasso(values, Hinge(target, cost), 1e-4).solve(1.0, max_steps=50)
    return found.coef, found.intercept


@pytest.mark.parametrize("solve", [certified, lasso, linear_program, smooth])
def test_every_solver_takes_the_middle(solve):
    """Equal classes and a small C: the intercepts of an interval are all optimal."""
    values, target, cost = equal_classes()
    coef, intercept = solve(values, target, cost)
    scores = values @ coef
    low = np.max(-1.0 - scores[target < 0])
    high = np.min(1.0 - scores[target > 0])
    assert low < high
    assert intercept == pytest.approx((low + high) / 2, abs=1e-6)
