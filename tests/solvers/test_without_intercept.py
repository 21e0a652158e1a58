"""Problems whose intercept is zero, beside the same problems written without one."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from tests.independent import minimum
from zeronorm.solvers.design import Design
from zeronorm.solvers.intercept import without_intercept
from zeronorm.solvers.linear_programs.hinge_lp import solve_one_norm
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.smooth_hinge_lasso import SmoothHingeLasso


def problem(seed, n=30):
    """More rows of one class than of the other, so that an intercept would be of use."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    target = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    return rbf_kernel(X, gamma=0.3), Hinge(target, rng.uniform(0.5, 3.0, n))


@pytest.mark.parametrize("seed", range(4))
def test_one_norm(seed):
    values, hinge = problem(seed)
    rows, pinned = without_intercept(values, hinge)
    found = solve_one_norm(rows, pinned)
    assert found.intercept == 0.0 and found.gap <= 1e-9
    assert found.objective == pytest.approx(
        minimum(values, hinge.target, hinge.cost, has_intercept=False), rel=1e-9
    )
    free = solve_one_norm(values, hinge)
    assert abs(free.intercept) > 0.1 and free.objective < found.objective


@pytest.mark.parametrize("seed", range(4))
def test_ridge(seed):
    values, hinge = problem(seed)
    rows, pinned = without_intercept(values, hinge)
    found = solve_hinge_ridge(Design(rows), pinned, tolerance=1e-8)
    theirs = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-8, max_iter=1_000_000)
    theirs.fit(values, hinge.target, sample_weight=hinge.cost)
    weights = theirs.coef_[0]
    value = 0.5 * weights @ weights + hinge.value(values @ weights)
    assert abs(found.intercept) < 1e-7 and found.gap <= 1e-8
    assert found.objective == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_smooth_hinge(seed):
    values, hinge = problem(seed)
    rows, pinned = without_intercept(values, hinge)
    delta = 1e-4
    found = SmoothHingeLasso(rows, pinned, delta).solve(1.0, max_steps=100)
    assert abs(found.intercept) < 1e-4 and found.gap <= 1e-4
    # The two rows, at the corners of their hinges, and the smoothing of the others.
    value = found.objective - 0.5 * delta * hinge.cost.sum()
    least = minimum(values, hinge.target, hinge.cost, has_intercept=False)
    assert least - 1e-9 <= value <= least + 0.25 * delta * hinge.cost.sum() + 1e-4 * least


def test_margins_are_kept():
    values, hinge = problem(0)
    margin = np.linspace(0.5, 2.0, len(values))
    _, pinned = without_intercept(values, Hinge(hinge.target, hinge.cost, margin))
    np.testing.assert_array_equal(pinned.margin[:-2], margin)
    assert pinned.margin[-2:].tolist() == [0.0, 0.0] and pinned.target[-2:].tolist() == [1.0, -1.0]
