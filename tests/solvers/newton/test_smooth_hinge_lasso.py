"""The smooth hinge with a one-norm: its path against linprog, quasi-Newton and its own dual."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import polynomial_kernel

from tests.independent import minimum
from tests.solvers.problems import PROBLEMS, contradictory, inseparable, kernel_problem
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton import smooth_hinge_lasso as module
from zeronorm.solvers.newton.smooth_hinge_lasso import SmoothHingeLasso

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def by_hand(coef, b, K, y, cost, penalty, delta):
    """Objective, with Kim's (3.1) written out case by case."""
    value = penalty * np.abs(coef).sum()
    for row, label, each in zip(K, y, cost, strict=True):
        margin = label * (row @ coef + b)
        if margin < 1 - delta:
            value += each * (1 - margin)
        elif margin <= 1 + delta:
            value += each * (1 - margin + delta) ** 2 / (4 * delta)
    return value


def smooth_hinge(slack, delta):
    """Kim's (3.1) of each slack, by the loss that the solver uses, and what it lacks."""
    one = module.smooth_hinge(Hinge(np.ones(1), np.ones(1)), delta)
    return np.array([one.total(s, one.dual(s)) for s in slack.reshape(-1, 1)]) + delta / 4


def solve(K, y, cost, penalty, delta, max_steps=100):
    return SmoothHingeLasso(K, Hinge(y, cost), delta).solve(penalty, max_steps=max_steps)


def by_quasi_newton(K, y, cost, penalty, delta):
    """Optimal value from L-BFGS-B with alpha = p - q, p and q not negative."""
    n, m = K.shape
    signed = y[:, None] * np.hstack([K, -K, np.ones((n, 1))])
    price = np.append(np.full(2 * m, penalty), 0.0)

    def objective(point):
        slack = 1 - signed @ point
        inside = np.abs(slack) <= delta
        loss = np.where(inside, (slack + delta) ** 2 / (4 * delta), np.maximum(slack, 0))
        slope = np.where(inside, (slack + delta) / (2 * delta), slack > 0)
        return cost @ loss + price @ point, price - (cost * slope) @ signed

    point = np.zeros(2 * m + 1)
    for _ in range(20):
        # It gives up in a corner now and then; from there a fresh start goes on.
        before = objective(point)[0]
        point = minimize(
            objective,
            point,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * (2 * m) + [(None, None)],
            options={"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 30},
        ).x
        if objective(point)[0] >= before * (1 - 1e-9):
            break
    return objective(point)[0]


@pytest.mark.parametrize("delta", [0.1, 0.5])
@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_bound_and_objective_enclose_the_minimum(make, penalty, delta):
    """A wide parabola: the terms of the linear program need not be the best, the gap knows."""
    K, y, _ = kernel_problem(make, gamma=4.0)
    K = K[:, ::4].copy()
    cost = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    found = solve(K, y, cost, penalty, delta)
    own = by_hand(found.coef, found.intercept, K, y, cost, penalty, delta)
    assert found.objective == pytest.approx(own, rel=1e-9)
    expected = by_quasi_newton(K, y, cost, penalty, delta)
    assert expected <= found.objective * (1 + 1e-4)
    assert found.objective * (1 - found.gap) <= expected * (1 + 1e-9)


@pytest.mark.parametrize("delta", [0.1, 0.5])
@pytest.mark.parametrize("penalty", [0.1, 1.0])
@pytest.mark.parametrize("make", [inseparable, contradictory], ids=lambda make: make.__name__)
def test_best_with_the_terms_that_are_left(make, penalty, delta):
    """On the terms that it keeps the solution is the minimum: quasi-Newton finds none below."""
    K, y, _ = kernel_problem(make, gamma=4.0)
    cost = np.ones(len(y))
    found = solve(K, y, cost, penalty, delta)
    left = K[:, found.coef != 0]
    assert left.shape[1] > 0
    expected = by_quasi_newton(left, y, cost, penalty, delta)
    assert found.objective <= expected * (1 + 1e-6)
    assert found.objective == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("penalty", [1e-3, 0.03, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_a_narrow_parabola_is_the_linear_program(make, penalty):
    K, y, _ = kernel_problem(make)
    cost = 10.0 ** np.random.default_rng(2).uniform(-1.5, 1.5, size=len(y))
    delta = 1e-5
    found = solve(K, y, cost, penalty, delta)
    optimum = minimum(K, y, cost, price=penalty)
    # The smooth hinge lies above the hinge, by at most delta / 4 a row.
    assert optimum * (1 - 1e-7) <= found.objective
    assert found.objective <= optimum * (1 + 1e-5) + delta / 4 * cost.sum()


@pytest.mark.parametrize("penalty", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_gap_at_the_default_width(make, penalty):
    K, y, _ = kernel_problem(make)
    found = solve(K, y, np.ones(len(y)), penalty, 1e-4)
    assert -1e-12 <= found.gap <= 1e-4


@pytest.mark.parametrize("penalty", [0.1, 1.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_dual_variables_are_slopes_and_history_falls(make, penalty):
    K, y, _ = kernel_problem(make)
    cost, delta = np.random.default_rng(1).uniform(0.5, 3.0, len(y)), 0.05
    found = solve(K, y, cost, penalty, delta)
    slack, step = 1 - y * (K @ found.coef + found.intercept), 1e-7
    slopes = smooth_hinge(slack + step, delta) - smooth_hinge(slack - step, delta)
    np.testing.assert_allclose(found.dual, cost * slopes / (2 * step), atol=1e-5)
    terms, objective, gap = (np.array(found.history[key]) for key in ("terms", "objective", "gap"))
    assert (np.diff(objective) <= 0).all() and (np.diff(terms) <= 0).all()
    assert (np.diff(gap) <= 0).all() and len(objective) == found.steps + 1
    assert (terms[-1], objective[-1]) == (np.count_nonzero(found.coef), found.objective)
    assert gap[-1] == found.gap


def test_few_steps_leave_a_larger_gap():
    K, y, _ = kernel_problem(inseparable)
    gaps = [solve(K, y, np.ones(len(y)), 1.0, 0.1, max_steps=steps).gap for steps in (0, 1, 100)]
    assert gaps[0] > gaps[1] > gaps[2]


def test_a_path_is_single_cold_solves():
    K, y, _ = kernel_problem(inseparable)
    cost = np.ones(len(y))
    path = SmoothHingeLasso(K, Hinge(y, cost), 1e-4)
    for penalty in (10.0, 1.0, 0.1, 3.0):
        alone = solve(K, y, cost, penalty, 1e-4)
        found = path.solve(penalty, max_steps=100)
        assert found.objective == pytest.approx(alone.objective, rel=2e-5)


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_the_largest_penalty(make):
    K, y, _ = kernel_problem(make)
    cost = np.ones(len(y))
    largest = module.largest_penalty(K, Hinge(y, cost))
    assert not solve(K, y, cost, 1.001 * largest, 1e-4).coef.any()


def test_columns_of_very_different_size():
    """They differ by six orders."""
    X, y = inseparable()
    K, cost = polynomial_kernel(2.0 * X, degree=5, gamma=1.0, coef0=1.0), np.ones(len(y))
    for penalty in (1.0, 100.0):
        found = solve(K, y, cost, penalty, 1e-4)
        optimum = minimum(K, y, cost, price=penalty)
        assert optimum * (1 - 1e-5) <= found.objective <= optimum * (1 + 1e-3)


# --- the function itself -----------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-4, 0.1, 1.0])
def test_smooth_hinge_is_continuous_and_convex(delta):
    corners = np.array([-delta, 0.0, delta])
    for corner, value in zip(corners, (0.0, delta / 4, delta), strict=True):
        assert smooth_hinge(np.array([corner]), delta)[0] == pytest.approx(value, abs=1e-12)
        near = smooth_hinge(corner + delta * np.array([-1e-6, 1e-6]), delta)
        assert abs(near[1] - near[0]) <= 2.1e-6 * delta
    slack = np.linspace(-4 * delta, 4 * delta, 801)
    values = smooth_hinge(slack, delta)
    assert (np.diff(values, 2) >= -1e-12 * delta).all()
    # Never below the hinge, and nowhere more than delta / 4 above it.
    above = values - np.maximum(slack, 0.0)
    assert above.min() >= -1e-15 and above.max() == pytest.approx(delta / 4)


@pytest.mark.parametrize("delta", [1e-4, 0.1, 1.0])
def test_slope_of_the_smooth_hinge(delta):
    slack = delta * np.array([-3.0, -1.5, -0.9, -0.5, 0.0, 0.5, 0.9, 1.5, 3.0])
    step = 1e-5 * delta
    slope = (smooth_hinge(slack + step, delta) - smooth_hinge(slack - step, delta)) / (2 * step)
    np.testing.assert_allclose(slope, np.clip((slack / delta + 1) / 2, 0, 1), atol=1e-8)
