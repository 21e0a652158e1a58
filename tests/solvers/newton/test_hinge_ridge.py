"""The weighted quadratic problem against HiGHS's QP solver and against libsvm."""

import highspy
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tests.solvers.problems import COSTS, PROBLEMS, inseparable, kernel_problem
from zeronorm.solvers.design import BLOCK_ROWS, Design
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge


def primal_value(coef, b, K, y, cost, scale):
    slack = np.maximum(1 - y * (K @ coef + b), 0)
    return 0.5 * np.sum(coef**2 / scale**2) + np.sum(cost * slack)


def by_highs(K, y, cost, scale):
    """Optimal value from HiGHS's active-set QP solver: the primal in (v, b, slack)."""
    n, m = K.shape
    count = m + 1 + n
    model = highspy.HighsModel()
    lp, hessian = model.lp_, model.hessian_
    lp.num_col_, lp.num_row_ = count, n
    lp.col_cost_ = np.concatenate([np.zeros(m + 1), cost])
    lp.col_lower_ = np.concatenate([np.full(m + 1, -highspy.kHighsInf), np.zeros(n)])
    lp.col_upper_ = np.full(count, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
    rows = sparse.csc_matrix(np.hstack([y[:, None] * K * scale, y[:, None], np.eye(n)]))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.indptr, rows.indices
    lp.a_matrix_.value_ = rows.data
    hessian.dim_, hessian.format_ = count, highspy.HessianFormat.kTriangular
    hessian.start_ = np.concatenate([np.arange(m + 1), np.full(n + 1, m)])
    hessian.index_, hessian.value_ = np.arange(m), np.ones(m)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(model)
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    point = np.array(solver.getSolution().col_value)
    # Its constraints hold to a tolerance only; the value counts at a point that keeps them.
    return primal_value(scale * point[:m], point[m], K, y, cost, scale)


def by_libsvm(K, y, C, scale, weight=None):
    """Coefficients and intercept of min 1/2 |alpha/scale|^2 + C sum(weight * hinge)."""
    features = K * scale
    svc = SVC(kernel="precomputed", C=C, tol=1e-9, cache_size=500)
    svc.fit(features @ features.T, y, sample_weight=weight)
    v = features[svc.support_].T @ svc.dual_coef_[0]
    return scale * v, svc.intercept_[0]


@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda f: f.__name__)
def test_objective_equals_an_active_set_solver(make, C):
    K, y, scale = kernel_problem(make)
    cost = np.full(len(y), C)
    ours = solve_hinge_ridge(Design(K, scale), Hinge(y, cost), tolerance=1e-8)
    own = primal_value(scale * ours.coef, ours.intercept, K, y, cost, scale)
    assert ours.gap <= 1e-8
    assert own == pytest.approx(ours.objective, rel=1e-9)
    assert own == pytest.approx(by_highs(K, y, cost, scale), rel=1e-6)


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda f: f.__name__)
def test_certificate_is_a_dual_point_below_the_optimum(make):
    K, y, scale = kernel_problem(make)
    cost = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    for tolerance in (0.1, 1e-3, 1e-7):
        found = solve_hinge_ridge(Design(K, scale), Hinge(y, cost), tolerance=tolerance)
        beta = found.dual
        assert (beta >= 0).all() and (beta <= cost * (1 + 1e-12)).all()
        assert abs(y @ beta) <= 1e-9 * beta.sum()
        w = (K * scale).T @ (y * beta)
        dual_value = beta.sum() - 0.5 * w @ w
        assert found.gap <= tolerance
        assert found.gap == pytest.approx(
            (found.objective - dual_value) / found.objective, abs=1e-9
        )


def test_uneven_costs_equal_libsvm_sample_weights():
    K, y, scale = kernel_problem(inseparable)
    weight = np.random.default_rng(2).uniform(0.1, 5.0, len(y))
    ours = solve_hinge_ridge(Design(K, scale), Hinge(y, 2.0 * weight), tolerance=1e-9)
    coef, b = by_libsvm(K, y, 2.0, scale, weight)
    np.testing.assert_allclose(scale * ours.coef, coef, atol=1e-3)
    assert ours.intercept == pytest.approx(b, abs=1e-3)


def test_many_columns_start_from_a_sample_and_end_at_the_same_optimum():
    K, y, _ = kernel_problem(inseparable)
    wide = np.hstack([K * f for f in (1.0, 0.5, 0.25, 2.0)])
    rows = Design(wide)
    cost = np.full(len(y), 5.0)
    cold = solve_hinge_ridge(rows, Hinge(y, cost), tolerance=1e-9)
    sampled = solve_hinge_ridge(rows, Hinge(y, cost), tolerance=1e-9, sample_columns=16)
    assert sampled.objective == pytest.approx(cold.objective, rel=1e-8)


def test_warm_start_ends_at_the_same_optimum():
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 10.0)
    cold = solve_hinge_ridge(Design(K, scale), Hinge(y, cost), tolerance=1e-9)
    other = solve_hinge_ridge(Design(K, scale[::-1].copy()), Hinge(y, cost), tolerance=1e-9)
    warm = solve_hinge_ridge(Design(K, scale), Hinge(y, cost), start=other, tolerance=1e-9)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


def test_too_few_steps_come_back_with_the_gap_they_have():
    K, y, scale = kernel_problem(inseparable)
    found = solve_hinge_ridge(
        Design(K, scale), Hinge(y, np.full(len(y), 100.0)), tolerance=1e-12, max_steps=3
    )
    assert found.steps == 3
    assert found.gap > 1e-12


@pytest.mark.parametrize("n", [50, 3 * BLOCK_ROWS])  # formed, and block by block
def test_blocks_of_the_gram_matrix_add_up(n):
    random = np.random.default_rng(0)
    rows = Design(random.normal(size=(n, 4)), random.uniform(1, 2, 4))
    some = np.sort(random.choice(n, n // 2, replace=False))
    weights = random.uniform(1, 2, len(some))
    direct = np.column_stack([rows.values[some] * rows.scale, np.ones(len(some))])
    np.testing.assert_allclose(rows.take(some), direct[:, :-1])
    np.testing.assert_allclose(rows.gram(weights, some), direct.T @ (weights[:, None] * direct))
    point, every = random.normal(size=5), np.arange(n)
    np.testing.assert_allclose(rows.apply(point), rows.take(every) @ point[:-1] + point[-1])
    np.testing.assert_allclose(rows.adjoint(rows.apply(point)), rows.gram(np.ones(n)) @ point)


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_without_columns_the_intercept_is_the_dearer_class(share):
    random = np.random.default_rng(0)
    y = np.where(random.uniform(size=50) < share, 1.0, -1.0)
    cost = random.uniform(0.5, 2.0, 50)
    found = solve_hinge_ridge(Design(np.empty((50, 0)), np.empty(0)), Hinge(y, cost))
    values = [cost @ np.maximum(1 - y * b, 0) for b in np.linspace(-2, 2, 401)]
    assert found.objective == pytest.approx(min(values))
    assert found.objective == pytest.approx(cost @ np.maximum(1 - y * found.intercept, 0))
    assert found.dual.sum() == pytest.approx(found.objective)
    assert abs(y @ found.dual) < 1e-12 and (found.dual <= cost + 1e-12).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_huge_cancelling_coefficients_are_certified(seed):
    # C = 1000 on noisy data drives coefficients to a million; the squares of such scales drown
    # the identity in the Newton matrix.
    X, y = make_moons(120, noise=0.25, random_state=seed)
    K, y = rbf_kernel(X, gamma=1.0), np.where(y == 1, 1.0, -1.0)
    rows = np.random.default_rng(seed).permutation(120)[:25]
    scale = 10.0 ** np.random.default_rng(seed).uniform(4, 7, 25)
    cost = np.full(120, 1000.0)
    found = solve_hinge_ridge(Design(K[:, rows], scale), Hinge(y, cost), tolerance=1e-4)
    assert found.gap <= 1e-4
    w = (K[:, rows] * scale).T @ (y * found.dual)
    assert found.dual.sum() - 0.5 * w @ w >= (1 - 1e-3) * found.objective
