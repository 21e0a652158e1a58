"""SparseOneClassSVM: the property of nu, the whole machine's objective and ranks, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import zeronorm
from zeronorm import SparseOneClassSVM


def cloud(n=300, seed=0):
    return np.random.RandomState(seed).randn(n, 2)


def objective(machine, X, nu):
    """Of the problem as libsvm scales it, from values and coefficients alone."""
    vectors, dual = machine.support_vectors_, machine.dual_coef_[0]
    distance = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2)
    norm = dual @ np.exp(-0.5 * distance) @ dual
    slack = np.maximum(-machine.decision_function(X), 0.0).sum()
    return 0.5 * norm + slack - nu * len(X) * float(np.ravel(machine.offset_)[0])


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8, 1.0])
def test_the_share_of_outliers_is_nu(nu):
    """At most nu outside; with vectors that are no rows, the rows on the boundary are few."""
    X = cloud()
    model = SparseOneClassSVM(nu, 6, tol=1e-6).fit(X)
    values = model.decision_function(X)
    size = np.abs(model.score_samples(X)).max()
    assert np.mean(values < -1e-4 * size) <= nu <= np.mean(values <= 1e-4 * size) + 0.03
    assert ((values > 0) == (model.predict(X) == 1)).all()
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, values, rtol=1e-9)


def test_objective_is_near_that_of_the_whole_machine():
    X = cloud()
    whole = OneClassSVM(nu=0.3, gamma=0.5, tol=1e-8).fit(X)
    best, found = objective(whole, X, 0.3), []
    for n_terms in (2, 6, 12):
        model = SparseOneClassSVM(0.3, n_terms, gamma=0.5).fit(X)
        assert model.n_terms_ == n_terms
        assert model.objective_ == pytest.approx(objective(model, X, 0.3), rel=1e-3)
        found.append(model.objective_)
    assert found[0] > found[1] > found[2] > best
    assert found[2] - best < 0.01 * abs(best)
    chosen = SparseOneClassSVM(0.3, gamma=0.5).fit(X)
    assert chosen.n_terms_ <= len(whole.support_) / 10
    assert np.mean(chosen.predict(X) == whole.predict(X)) > 0.9


def test_outliers_rank_as_with_the_whole_machine():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    inside = X[y == 1][:180]
    judged = np.vstack([X[y == 1][180:], X[y == 0]])
    truth = np.append(np.ones(np.sum(y == 1) - 180), np.zeros(np.sum(y == 0)))
    areas = [
        roc_auc_score(truth, machine.fit(inside).decision_function(judged))
        for machine in (SparseOneClassSVM(0.2), OneClassSVM(nu=0.2))
    ]
    assert areas[0] > areas[1] - 0.015


def test_weights_sparse_rows_many_rows_and_saving(tmp_path):
    X = cloud(80)
    weight = np.ones(80)
    weight[::4] = 0.0
    some = SparseOneClassSVM(0.2, 4).fit(X[weight > 0])
    again = SparseOneClassSVM(0.2, 4).fit(X, sample_weight=weight)
    assert again.objective_ == pytest.approx(some.objective_, rel=1e-2)
    as_sparse = SparseOneClassSVM(0.2, 4).fit(sparse.csr_matrix(X))
    assert np.isfinite(as_sparse.decision_function(sparse.csr_matrix(X))).all()
    zeronorm.save(some, tmp_path / "model.json")
    loaded = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.score_samples(X), some.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(loaded.predict(X), some.predict(X))
    many = SparseOneClassSVM(0.2, 5, random_state=0)
    many._most_rows = 100
    many.fit(cloud(1000))
    assert abs(np.mean(many.predict(cloud(1000)) < 0) - 0.2) < 0.02


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"nu": 0.0}, "nu must be a number above 0 and at most 1"),
        ({"nu": 1.5}, "nu must be a number above 0"),
        ({"n_terms": 0}, "n_terms must be 'auto' or an integer of at least 1"),
        ({"n_terms": "few"}, "n_terms must be 'auto' or an integer"),
        ({"n_terms": 100}, "n_terms=100 is more than the 20 training rows"),
        ({"kernel": "sigmoid"}, "sigmoid"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseOneClassSVM(**parameters).fit(cloud(20))
