"""The search among a regressor's or one-class machine's vectors: brute force, limits, units."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVR, OneClassSVM

from tests.reduction.test_other_reducers import cloud, wave
from zeronorm import OneClassReducer, SVRReducer, ZeroNormSVR
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets
from zeronorm.solvers.losses import insensitive


def loss_of(values, y, epsilon):
    """Least sum of the epsilon-insensitive losses, coefficients and intercept free: an LP."""
    n, m = values.shape
    design = np.column_stack([values, np.ones(n)])
    rows = np.block([[-design, -np.eye(n)], [design, -np.eye(n)]])
    sides = np.concatenate([epsilon - y, epsilon + y])
    cost = np.concatenate([np.zeros(m + 1), np.ones(n)])
    bounds = [(None, None)] * (m + 1) + [(0, None)] * n
    found = linprog(cost, rows, sides, bounds=bounds)
    assert found.status == 0
    return found.fun


def kernel(X, vectors):
    return np.exp(-((X[:, None, :] - vectors[None]) ** 2).sum(axis=2))


def test_the_score_of_a_set_is_a_linear_program():
    X, y = wave(40)
    y = (y - y.mean()) / y.std()
    values, hinge = kernel(X, X[:6]), insensitive(y, np.full(40, 2.0), 0.1)
    score = HingeSubsets(
        np.tile(values, (2, 1)),
        hinge.target[:, None],
        hinge.cost,
        np.full(6, 1e4),
        margins=hinge.margin[:, None],
    )
    sets = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]], dtype=bool)
    found = score.evaluate(sets)
    for one, used, value in zip(sets, found.vectors, found.values, strict=True):
        expected = 2.0 * loss_of(values[:, one], y, 0.1)
        assert value - used.sum() == pytest.approx(expected, rel=1e-5, abs=1e-5)
        coef, intercept, loss, gap = score.coefficients(one)
        residual = np.abs(y - values @ coef[:, 0] - intercept[0])
        assert loss == pytest.approx(2.0 * np.maximum(residual - 0.1, 0.0).sum(), rel=1e-6)
        assert loss == pytest.approx(expected, rel=1e-4) and abs(gap) < 1e-4
    score.learn(found.cuts)
    assert (score.bounds(sets) <= found.values + 1e-6).all()


def test_few_of_the_vectors_of_a_regressor_as_by_brute_force():
    """Of all sets of as many of its vectors none has a clearly lower loss in the units of C."""
    X, y = wave(60)
    svr = SVR(C=30.0, epsilon=3.0, gamma=1.0).fit(X, y)
    small = SVRReducer(FrozenEstimator(svr), method="cross_entropy", random_state=0).fit(X, y)
    own = {tuple(row) for row in svr.support_vectors_}
    assert {tuple(row) for row in small.support_vectors_} <= own
    assert 1 <= small.n_terms_ < len(svr.support_)
    spread = y.std()
    C = svr.C / spread**2

    def objective(vectors):
        return len(vectors) + C * loss_of(kernel(X, vectors), y, svr.epsilon)

    found = objective(small.support_vectors_)
    size = min(2, small.n_terms_)
    others = [svr.support_vectors_[list(some)] for some in combinations(range(len(own)), size)]
    assert found <= min(map(objective, others)) + 1e-3
    np.testing.assert_allclose(small.history_["cost"], svr.C / spread)
    residual = np.maximum(np.abs(y - small.predict(X)) - svr.epsilon, 0.0).sum()
    assert residual == pytest.approx(loss_of(kernel(X, small.support_vectors_), y, 3.0), rel=1e-3)


def test_limits_of_a_regressor():
    X, y = wave()
    svr = SVR(C=10.0, epsilon=0.3).fit(X, y)
    options = {"method": "cross_entropy", "random_state": 0}
    free = SVRReducer(FrozenEstimator(svr), **options).fit(X, y)
    near = SVRReducer(FrozenEstimator(svr), max_error=0.15, **options).fit(X, y)
    change = np.sqrt(np.mean((near.predict(X) - svr.predict(X)) ** 2))
    assert near.changed_ == pytest.approx(change) and change <= 0.15
    few = SVRReducer(FrozenEstimator(svr), n_terms=5, **options).fit(X, y)
    assert few.n_terms_ == 5 < free.n_terms_ < 0.2 * len(svr.support_)
    again = SVRReducer(FrozenEstimator(svr), n_jobs=2, **options).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), free.predict(X))
    everything = SVRReducer(FrozenEstimator(svr), n_terms=len(svr.support_), **options).fit(X, y)
    np.testing.assert_allclose(everything.predict(X), svr.predict(X), atol=1e-8)


def test_units_of_the_target_do_not_matter():
    """A target a thousand times as large, with C and epsilon to fit, keeps the same vectors."""
    X, y = wave(80)
    found = []
    for unit in (1.0, 1000.0):
        svr = SVR(C=10.0 * unit, epsilon=0.3 * unit, tol=1e-6).fit(X, unit * y)
        small = SVRReducer(FrozenEstimator(svr), method="cross_entropy", random_state=0)
        found.append(small.fit(X, unit * y).predict(X) / unit)
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_several_targets_and_many_rows():
    X, y = wave(120)
    model = ZeroNormSVR(C=30.0, epsilon=0.1).fit(X, np.column_stack([y, -5.0 * y]))
    small = SVRReducer(FrozenEstimator(model), method="cross_entropy", random_state=0)
    small._block_rows = 100
    small.fit(X, np.column_stack([y, -5.0 * y]))
    spread = np.std(model.predict(X), axis=0)
    error = np.sqrt(np.mean((small.predict(X) - model.predict(X)) ** 2, axis=0))
    assert small.n_terms_ <= model.n_terms_ and (error < 0.2 * spread).all()


def test_one_class_keeps_its_decisions_and_its_scale():
    X = cloud(300)
    machine = OneClassSVM(nu=0.3).fit(X)
    options = {"method": "cross_entropy", "random_state": 0}
    small = OneClassReducer(FrozenEstimator(machine), max_error=0.03, **options).fit(X)
    assert np.mean(small.predict(X) != machine.predict(X)) == small.changed_ <= 0.03
    assert small.n_terms_ < 0.2 * len(machine.support_)
    own = {tuple(row) for row in machine.support_vectors_}
    assert {tuple(row) for row in small.support_vectors_} <= own
    ratio = np.std(small.score_samples(X)) / np.std(machine.score_samples(X))
    assert 0.8 < ratio < 1.25
    few = OneClassReducer(FrozenEstimator(machine), n_terms=8, **options).fit(X)
    assert few.n_terms_ == 8
