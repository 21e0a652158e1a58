"""ZeroNormSVR: its weighted problems by other solvers, few terms, units, bad input."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVR

import zeronorm
from zeronorm import ZeroNormSVR
from zeronorm.kernels import Kernel


def wave(n=120, seed=0):
    random = np.random.RandomState(seed)
    X = random.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.randn(n)


def epsilon_loss(model, X, y):
    return np.maximum(np.abs(model.predict(X) - y) - model.epsilon, 0.0).sum()


def test_one_norm_is_the_linear_program():
    """Variant B with p = 1 has constant weights: one linear program, here by scipy."""
    X, y = wave(60)
    model = ZeroNormSVR("B", 1.0, C=2.0, gamma=0.5).fit(X, y)
    values, n, epsilon = Kernel("rbf", gamma=0.5).matrix(X, X), 60, 0.1
    sides = np.column_stack([values, -values, np.ones(n)])
    upper = np.vstack([np.hstack([-sides, -np.eye(n)]), np.hstack([sides, -np.eye(n)])])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n
    costs = np.concatenate([np.ones(2 * n), [0.0], np.full(n, 2.0)])
    other = linprog(costs, upper, np.concatenate([epsilon - y, epsilon + y]), bounds=bounds)
    ours = np.abs(model.dual_coef_).sum() + 2.0 * epsilon_loss(model, X, y)
    assert ours == pytest.approx(other.fun, rel=1e-6)


def test_ridge_is_svr_with_the_squared_kernel():
    """Variant A with p = 2 penalises |alpha|²: an SVR whose kernel matrix is K K'."""
    X, y = wave(60)
    model = ZeroNormSVR("A", 2.0, C=2.0, gamma=0.5, tol=1e-7).fit(X, y)
    values = Kernel("rbf", gamma=0.5).matrix(X, X)
    svr = SVR(kernel="precomputed", C=2.0, epsilon=0.1, tol=1e-9).fit(values @ values.T, y)
    dual = np.zeros(60)
    dual[svr.support_] = svr.dual_coef_[0]
    residuals = np.abs(svr.predict(values @ values.T) - y)
    theirs = 0.5 * np.sum((values.T @ dual) ** 2) + 2.0 * np.maximum(residuals - 0.1, 0).sum()
    ours = 0.5 * np.sum(model.dual_coef_**2) + 2.0 * epsilon_loss(model, X, y)
    assert ours == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("variant", ["A", "B"])
def test_few_terms_and_any_units(variant):
    X, y = wave()
    model = ZeroNormSVR(variant, C=30.0).fit(X, y)
    svr = SVR(C=30.0).fit(X, y)
    assert model.n_terms_ < len(svr.support_) and model.score(X, y) > 0.97
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.history_["gap"][-1] <= 1e-4
    scaled = ZeroNormSVR(variant, C=30.0 / 1e6, epsilon=1e5).fit(X, 1e6 * y + 3e6)
    assert scaled.n_terms_ == model.n_terms_
    np.testing.assert_allclose((scaled.predict(X) - 3e6) / 1e6, model.predict(X), atol=1e-3)


def test_several_targets_landmarks_and_saving(tmp_path):
    X, y = wave(400)
    model = ZeroNormSVR(C=30.0, random_state=0).fit(X, np.column_stack([y, -2.0 * y]))
    assert model.predict(X).shape == (400, 2) and model.score(X, np.c_[y, -2.0 * y]) > 0.95
    zeronorm.save(model, tmp_path / "model.json")
    again = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)


def test_many_rows_steer_by_a_sample():
    X, y = wave(400)
    model = ZeroNormSVR(C=30.0, candidates=80, random_state=0)
    model._sample_rows = 100
    model.fit(X, y)
    assert model.score(X, y) > 0.9 and model.history_["gap"][-1] <= 1e-4


def test_odd_targets():
    X, y = wave(60)
    constant = ZeroNormSVR().fit(X, np.full(60, 3.0))
    assert constant.n_terms_ == 0
    np.testing.assert_allclose(constant.predict(X), 3.0, atol=0.11)
    y[3] = 1e12
    assert np.isfinite(ZeroNormSVR().fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"variant": "W"}, "variant must be 'A' or 'B'"),
        ({"p": 3.0}, "p must lie between 0 and 2"),
        ({"variant": "B", "p": 1.5}, "p must lie between 0 and 1"),
        ({"epsilon": -0.1}, "epsilon must be a finite number of at least 0"),
        ({"C": -1.0}, "C must be a finite positive number"),
    ],
)
def test_bad_parameters(parameters, sentence):
    X, y = wave(20)
    with pytest.raises(ValueError, match=sentence):
        ZeroNormSVR(**parameters).fit(X, y)
