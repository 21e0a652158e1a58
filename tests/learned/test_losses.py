"""Losses of joint models: derivatives by finite differences, coefficients by SVR and Ridge."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.svm import SVR

from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import certify
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.losses import Insensitive, RoundedHinge, SquaredHinge

LOSSES = [SquaredHinge(), RoundedHinge(), Insensitive(), Insensitive(0.2), Insensitive(0.1, 0.5)]


def rows_of(n=30, outputs=2, seed=0):
    random = np.random.RandomState(seed)
    targets = np.sign(random.randn(outputs, n))
    return Rows(random.randn(n, 3), targets, 1.0 + random.rand(outputs, n))


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_by_finite_differences(loss):
    rows, random, step = rows_of(), np.random.RandomState(1), 1e-6
    scores, cost = random.randn(2, 2, 30), random.rand(2, 30)
    value, slope = loss.total(scores.copy(), rows, cost)
    by_output = loss.of_outputs(scores.copy(), rows, cost)
    np.testing.assert_allclose(by_output.sum(axis=1), value, rtol=1e-12)
    weight, first = loss.second_order(scores.copy(), rows, cost)
    np.testing.assert_allclose(first, slope, atol=1e-12)
    for i, j, k in random.randint([2, 2, 30], size=(40, 3)):
        values, slopes = [], []
        for sign in (1, -1):
            moved = scores.copy()
            moved[i, j, k] += sign * step
            value, by_scores = loss.total(moved, rows, cost)
            values.append(value[i])
            slopes.append(by_scores[i, j, k])
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope[i, j, k], abs=1e-7)
        assert (slopes[0] - slopes[1]) / (2 * step) == pytest.approx(weight[i, j, k], abs=1e-6)


def solved(X, y, loss, cost, tolerance=1e-10):
    """Models of all rows as vectors, coefficients solved; values at the rows, objective, gap."""
    rows = Rows(X, y[None, :], np.ones((1, len(y))))
    form = Form(Kernel("rbf", gamma=1.0), loss=loss)
    start = Parameters.nothing(1, rows, form)
    start.vectors, start.weights = X[None], np.zeros((1, len(X), 1))
    models = JointModels(rows, form, np.full((1, len(y)), cost), np.array([0.5]), start)
    value, gap = certify(models, tolerance)
    return models.scores(rows)[0, 0], value[0], gap[0]


def test_epsilon_insensitive_loss_is_that_of_svr():
    """The narrower the rounding, the nearer; by the objective, within the bound of the rounding."""
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, (60, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * random.randn(60)
    C, epsilon, width = 3.0, 0.1, 0.01
    svr = SVR(C=C, epsilon=epsilon, gamma=0.5, tol=1e-8).fit(X, y)
    gram = Kernel("rbf", gamma=0.5).matrix(X, X)
    dual = np.zeros(60)
    dual[svr.support_] = svr.dual_coef_[0]
    slack = np.maximum(np.abs(y - svr.predict(X)) - epsilon, 0.0)
    best = 0.5 * dual @ gram @ dual + C * slack.sum()
    scores, value, gap = solved(X, y, Insensitive(epsilon, width), C / width, 1e-8)
    assert gap <= 1e-8
    assert value <= best * (1 + 1e-6)
    assert best - value <= 0.5 * C * width * 60
    np.testing.assert_allclose(scores, svr.predict(X), atol=0.03)


def test_without_a_tube_and_squared_it_is_ridge_regression():
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, (40, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * random.randn(40)
    gram = Kernel("rbf", gamma=0.5).matrix(X, X) + 1e-8 * np.eye(40)
    scores, value, gap = solved(X, y, Insensitive(), 5.0)
    ridge = Ridge(1.0 / 5.0).fit(np.linalg.cholesky(gram), y)
    expected = ridge.predict(np.linalg.cholesky(gram))
    assert gap <= 1e-10
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    penalty = 0.5 * ridge.coef_ @ ridge.coef_
    assert value == pytest.approx(penalty + 2.5 * np.sum((y - expected) ** 2), rel=1e-6)
