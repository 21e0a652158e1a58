"""Squared slacks against liblinear, libsvm, scipy and their own dual."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize
from sklearn.svm import LinearSVC

from zeronorm.solvers.newton.squared_hinge_ridge import ColumnDescent, GramDescent

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def problem(n, d, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


def both(X, y, cost, max_steps=200, **options):
    descents = (
        GramDescent(X @ X.T, y[:, None], cost, **options),
        ColumnDescent(X, y[:, None], cost, **options),
    )
    return [descent.solve(max_steps) for descent in descents]


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
@pytest.mark.parametrize(("n", "d"), [(40, 200), (40, 40), (60, 8), (200, 3)])
def test_against_liblinear(n, d, C):
    X, y = problem(n, d)
    # liblinear's loss is C times the squared slack, and it penalises the intercept a little.
    rival = LinearSVC(C=C / 2, tol=1e-9, intercept_scaling=1e3, max_iter=10**6, dual=False)
    rival.fit(X, y)
    w, b = rival.coef_[0], rival.intercept_
    slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
    expected = 0.5 * w @ w + 0.5 * C * slack @ slack
    for found in both(X, y, np.full(n, C)):
        assert found.objective <= expected * (1 + 1e-9)
        assert found.objective == pytest.approx(expected, rel=1e-3)
        assert abs(found.gap) <= 1e-6


def test_costs_of_the_rows():
    X, y = problem(50, 5)
    whole = np.random.default_rng(1).integers(1, 4, size=50)
    repeated = np.repeat(np.arange(50), whole)
    for weighted, plain in zip(
        both(X, y, whole.astype(float)),
        both(X[repeated], y[repeated], np.ones(whole.sum())),
        strict=True,
    ):
        assert weighted.objective == pytest.approx(plain.objective)
        assert weighted.intercept == pytest.approx(plain.intercept)


def test_a_start_changes_nothing_but_the_steps():
    X, y = problem(60, 10)
    cold = both(X, y, np.full(60, 2.0))[0]
    warm = both(X, y, np.full(60, 2.0), start=cold.scores)[0]
    assert warm.steps == 1
    assert warm.objective == pytest.approx(cold.objective)
    far = both(X, y, np.full(60, 2.0), start=-cold.scores)[0]
    assert far.objective == pytest.approx(cold.objective)


def test_a_start_in_which_nothing_is_violated():
    X, y = problem(30, 4)
    cold = both(X, y, np.ones(30))[0]
    assert both(X, y, np.ones(30), start=np.full(30, 2.0))[0].objective == pytest.approx(
        cold.objective
    )


def test_sparse_columns_are_the_same():
    X, y = problem(80, 6)
    X[np.abs(X) < 0.7] = 0.0
    found = ColumnDescent(sparse.csr_array(2.0 * X), y[:, None], np.ones(80)).solve()
    dense = both(2.0 * X, y, np.ones(80))[1]
    assert found.objective == pytest.approx(dense.objective)


def test_the_smallest_ball():
    """Σ β_i K_ii - β'Kβ over the simplex, with a ridge, against scipy."""
    X = np.random.default_rng(0).normal(size=(15, 3))
    K, ridge = X @ X.T, 0.1
    diagonal = K.diagonal() + ridge

    def negative(beta):
        return beta @ (K @ beta) + ridge * beta @ beta - diagonal @ beta

    rival = minimize(
        negative,
        np.full(15, 1 / 15),
        jac=lambda beta: 2 * (K @ beta + ridge * beta) - diagonal,
        bounds=[(0, None)] * 15,
        constraints=LinearConstraint(np.ones(15), 1, 1),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    options = {"wanted": diagonal, "total": 1.0}
    found = GramDescent(2 * K, np.ones((15, 1)), np.full(15, 0.5 / ridge), **options).solve()
    assert found.objective == pytest.approx(-rival.fun, rel=1e-6)
    assert found.dual.sum() == pytest.approx(1.0)
    assert abs(found.gap) <= 1e-9


def test_rows_that_contradict_each_other():
    X = np.ones((10, 2))
    y = np.array([1.0, -1.0] * 5)
    for found in both(X, y, np.ones(10)):
        assert found.objective == pytest.approx(5.0)
        assert abs(found.gap) <= 1e-9


def test_steps_run_out_honestly():
    X, y = problem(200, 10, seed=3)
    found = both(X, y, np.full(200, 1e3), max_steps=1)[0]
    assert found.steps == 1
    assert found.gap > 1e-6
