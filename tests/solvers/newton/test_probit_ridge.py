"""The ridge problem with a smooth loss against scipy.optimize.minimize and finite differences."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm

from tests.solvers.problems import PROBLEMS, inseparable, kernel_problem, separable
from zeronorm.solvers.losses import Probit
from zeronorm.solvers.newton.probit_ridge import ProbitRidge, best_shift

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def objective(coef, b, K, y, cost, scale):
    loss = -norm.logcdf(y * (K @ coef + b))
    return 0.5 * (coef**2 / scale).sum() + cost @ loss


def by_scipy(K, y, cost, scale):
    """Minimum over alpha = root(scale) v and b by BFGS, gradient by hand."""
    columns = np.column_stack([K * np.sqrt(scale), np.ones(len(y))])

    def value_and_slope(point):
        margin = y * (columns @ point)
        slope = -np.exp(norm.logpdf(margin) - norm.logcdf(margin))
        ridge = np.append(point[:-1], 0.0)
        value = 0.5 * ridge @ ridge - cost @ norm.logcdf(margin)
        return value, ridge + (cost * y * slope) @ columns

    start = np.zeros(columns.shape[1])
    found = minimize(value_and_slope, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.fun, np.sqrt(scale) * found.x[:-1], found.x[-1]


# --- the loss ----------------------------------------------------------------------------------


def test_probit_loss_and_its_derivatives():
    cost = np.random.default_rng(0).uniform(0.5, 2.0, 57)
    loss, slack, step = Probit(cost), np.linspace(-6, 8, 57), 1e-5
    assert loss.total(slack) == pytest.approx(-cost @ norm.logcdf(-slack), rel=1e-10)
    for k in range(57):
        ends = [slack + sign * step * (np.arange(57) == k) for sign in (1, -1)]
        slope = (loss.total(ends[0]) - loss.total(ends[1])) / (2 * step)
        assert loss.dual(slack)[k] == pytest.approx(slope, rel=1e-4, abs=1e-8)
    forward, backward = (loss.dual(slack + sign * step) for sign in (1, -1))
    bend = (forward - backward) / (2 * step)
    np.testing.assert_allclose(loss.derivatives(slack)[1], bend, rtol=1e-4, atol=1e-9)


def test_far_tails():
    """Far on the wrong side the loss is margin^2 / 2 and more, far on the right side nothing."""
    loss, slack = Probit(np.ones(6)), np.array([1e3, 200.0, 40.0, -40.0, -200.0, -1e3])
    for part in (loss.dual(slack), loss.derivatives(slack)[1]):
        assert np.isfinite(part).all()
        np.testing.assert_allclose(part[3:], 0.0, atol=1e-300)
    far = Probit(np.ones(1)).total(slack[:1])
    assert far == pytest.approx(0.5e6 + np.log(1e3 * np.sqrt(2 * np.pi)), rel=1e-9)
    assert Probit(np.ones(3)).total(slack[3:]) == pytest.approx(0.0, abs=1e-300)
    np.testing.assert_allclose(loss.dual(slack)[:3], slack[:3], rtol=1e-3)
    np.testing.assert_allclose(loss.derivatives(slack)[1][:3], 1.0, rtol=1e-2)


def test_probit_loss_is_convex_and_falls():
    loss, slack = Probit(np.ones(2001)), np.linspace(-8, 30, 2001)
    slope, curvature = loss.dual(slack), loss.derivatives(slack)[1]
    assert (np.diff(slope) > -1e-12).all()
    assert (slope >= 0).all() and (curvature >= 0).all() and (curvature <= 1 + 1e-9).all()


# --- the intercept -----------------------------------------------------------------------------


@pytest.mark.parametrize("start", [-300.0, -3.0, 0.0, 8.0, 300.0])
@pytest.mark.parametrize("seed", range(4))
def test_best_intercept(seed, start):
    rng = np.random.default_rng(seed)
    scores, y = 3 * rng.normal(size=40), np.where(rng.uniform(size=40) < 0.3, 1.0, -1.0)
    cost = rng.uniform(0.1, 5.0, 40)
    b = start + best_shift(-y * (scores + start), y, Probit(cost))[0]
    expected = minimize_scalar(
        lambda b: -cost @ norm.logcdf(y * (scores + b)), bounds=(-30, 30), options={"xatol": 1e-10}
    )
    assert b == pytest.approx(expected.x, abs=1e-4)


@pytest.mark.parametrize("gap", [0.5, 5.0, 40.0, 1e3])
def test_best_intercept_between_separated_scores(gap):
    """The classes lie about -gap and gap about 2, equally large: the middle is best."""
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    b = best_shift(-y * (2.0 + gap * y), y, Probit(np.ones(20)))[0]
    loss = [-norm.logcdf(y * (2.0 + gap * y + each)).sum() for each in (b, -2.0)]
    assert loss[0] == pytest.approx(loss[1], abs=1e-9)
    if gap <= 5.0:
        assert b == pytest.approx(-2.0, abs=1e-3)


# --- the problem -------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_solution_is_scipys(make, C):
    K, y, scale = kernel_problem(make)
    cost = C * np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    found = ProbitRidge(K, y, Probit(cost)).solve(scale, 1e-9)
    best, coef, b = by_scipy(K, y, cost, scale)
    own = objective(found.coef, found.intercept, K, y, cost, scale)
    assert found.gap <= 1e-9
    assert own == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(found.coef, coef, atol=1e-3 * np.abs(coef).max())
    ridge = 0.5 * (found.coef**2 / scale).sum()
    assert found.loss == pytest.approx(own - ridge, rel=1e-9)


@pytest.mark.parametrize("tolerance", [0.5, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("make", [inseparable, separable], ids=lambda make: make.__name__)
def test_gap_bounds_the_suboptimality(make, tolerance):
    K, y, scale = kernel_problem(make)
    cost = np.full(len(y), 3.0)
    rough = ProbitRidge(K, y, Probit(cost)).solve(scale, tolerance)
    exact, _, _ = by_scipy(K, y, cost, scale)
    own = objective(rough.coef, rough.intercept, K, y, cost, scale)
    assert 1e-9 < rough.gap <= tolerance
    assert own - exact <= rough.gap * own * (1 + 1e-6)


def test_a_warm_start_and_dropped_terms():
    K, y, scale = kernel_problem(inseparable)
    cost = np.ones(len(y))
    problem = ProbitRidge(K, y, Probit(cost))
    problem.solve(scale, 1e-3)
    keep = np.arange(K.shape[1]) % 3 == 0
    problem.keep(keep)
    assert len(problem.column_sizes) == keep.sum()
    found = problem.solve(2 * scale[keep], 1e-10)
    best, _, _ = by_scipy(K[:, keep], y, cost, 2 * scale[keep])
    own = objective(found.coef, found.intercept, K[:, keep], y, cost, 2 * scale[keep])
    assert own == pytest.approx(best, rel=1e-8)


def test_no_columns_leave_the_share_of_the_classes():
    """Without terms the probability of a class is its share."""
    y = np.where(np.arange(20) < 5, 1.0, -1.0)
    problem = ProbitRidge(np.empty((20, 0)), y, Probit(np.ones(20)))
    found = problem.solve(np.empty(0), 1e-8)
    assert norm.cdf(found.intercept) == pytest.approx(0.25)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_conjugate_gradients_find_the_same_solution(make, C):
    """With many columns the steps are inexact; the certificate and the solution are not."""
    K, y, _ = kernel_problem(make)
    cost, scale = np.full(len(y), C), np.random.default_rng(0).uniform(0.01, 3.0, size=K.shape[1])
    exact = ProbitRidge(K, y, Probit(cost)).solve(scale, 1e-8)
    inexact = ProbitRidge(K, y, Probit(cost), many_columns=0).solve(scale, 1e-8)
    assert exact.gap <= 1e-8 and inexact.gap <= 1e-8
    values = [objective(r.coef, r.intercept, K, y, cost, scale) for r in (exact, inexact)]
    assert values[0] == pytest.approx(values[1], rel=2e-8)
