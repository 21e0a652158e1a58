"""Hinges with margins of their own: regression and the one-class machine, by other solvers."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.svm import SVR, OneClassSVM

from zeronorm.kernels import Kernel
from zeronorm.solvers.design import Design
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP
from zeronorm.solvers.losses import insensitive, one_class
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.rounded_hinge import WIDTH, solve_rounded_hinge

RBF = Kernel("rbf", gamma=0.5)


def problem(n=50, seed=0):
    random = np.random.RandomState(seed)
    X = random.uniform(-2, 2, (n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.randn(n) + 5.0
    return X, y, random.uniform(0.5, 2.0, n)


def features_of(X):
    gram = RBF.matrix(X, X)
    return np.linalg.cholesky(gram + 1e-10 * np.eye(len(X)))


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_by_the_objective_of_svr(C, epsilon):
    X, y, weight = problem()
    hinge = insensitive(y, C * weight, epsilon)
    design = Design(np.tile(features_of(X), (2, 1)))
    found = solve_hinge_ridge(design, hinge, tolerance=1e-8)
    assert found.gap <= 1e-8
    svr = SVR(C=C, epsilon=epsilon, gamma=0.5, tol=1e-10).fit(X, y, weight)
    dual = np.zeros(len(y))
    dual[svr.support_] = svr.dual_coef_[0]
    loss = np.maximum(np.abs(y - svr.predict(X)) - epsilon, 0.0)
    expected = 0.5 * dual @ RBF.matrix(X, X) @ dual + C * weight @ loss
    assert found.objective == pytest.approx(expected, rel=1e-4)
    assert found.objective <= expected * (1 + 1e-7)


def test_regression_without_features_is_a_weighted_median():
    _, y, weight = problem()
    hinge = insensitive(y, weight, 0.0)
    design = Design(np.zeros((100, 0)))
    found = solve_hinge_ridge(design, hinge)
    best = min(weight @ np.abs(y - b) for b in y)
    assert found.objective == pytest.approx(best, rel=1e-12) and found.gap <= 1e-9


def test_rounded_regression_by_another_optimiser():
    X, y, weight = problem()
    hinge = insensitive(y, weight, 0.1)
    features = features_of(X)[:, :6]
    found = solve_rounded_hinge(Design(np.tile(features, (2, 1))), hinge, np.zeros(7))

    def objective(point):
        slack = np.maximum(np.abs(y - features @ point[:-1] - point[-1]) - 0.1, 0.0)
        rounded = np.where(slack < WIDTH, slack**2 / (2 * WIDTH), slack - WIDTH / 2)
        return 0.5 * point[:-1] @ point[:-1] + weight @ rounded

    assert found.objective == pytest.approx(minimize(objective, np.zeros(7)).fun, rel=1e-6)


@pytest.mark.parametrize("multiplicative", [False, True])
def test_linear_program_of_regression_by_scipy(multiplicative):
    """min sum |alpha| + sum c max(0, |y - K alpha - b| - eps), with signed parts."""
    X, y, weight = problem()
    values, n, epsilon = RBF.matrix(X, X), len(y), 0.1
    hinge = insensitive(y, weight, epsilon)
    program = HingeLP(np.tile(values, (2, 1)), hinge, multiplicative)
    solved = program.solve(np.ones(n), 1e-9)
    assert solved.gap <= 1e-9
    costs = np.concatenate([np.ones(2 * n), [0.0], weight])
    sides = np.column_stack([values, -values, np.ones(n)])
    upper = np.vstack([np.hstack([-sides, -np.eye(n)]), np.hstack([sides, -np.eye(n)])])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n
    other = linprog(costs, upper, np.concatenate([epsilon - y, epsilon + y]), bounds=bounds)
    assert np.abs(solved.coef).sum() + solved.loss == pytest.approx(other.fun, rel=1e-7)


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_one_class_by_the_objective_of_libsvm(nu):
    """And its property: at most nu of the rows outside, at least nu of them vectors."""
    X, _, _ = problem()
    n = len(X)
    hinge = one_class(np.full(n, 1.0 / (nu * n)), 1.0, 2.0)
    design = Design(np.vstack([features_of(X), np.zeros(n)]))
    found = solve_hinge_ridge(design, hinge, tolerance=1e-9)
    assert found.gap <= 1e-9
    rho, scores = -found.intercept, features_of(X) @ found.coef
    ours = 0.5 * found.coef @ found.coef + np.maximum(rho - scores, 0).sum() / (nu * n) - rho
    libsvm = OneClassSVM(nu=nu, gamma=0.5, tol=1e-10).fit(X)
    dual = libsvm.dual_coef_[0] / (nu * n)  # libsvm's sum to nu n
    gram = RBF.matrix(X[libsvm.support_], X[libsvm.support_])
    slack = np.maximum(-libsvm.decision_function(X), 0.0).sum() / (nu * n) ** 2
    theirs = 0.5 * dual @ gram @ dual + slack - libsvm.offset_[0] / (nu * n)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert found.dual[:-1].sum() == pytest.approx(1.0)
    assert np.mean(scores < rho - 1e-6) <= nu <= np.mean(found.dual[:-1] > 1e-9) + 1e-9
