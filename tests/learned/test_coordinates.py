"""Wide data: learned in coordinates of their span, the same models come out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from zeronorm import SparseSVC
from zeronorm.learned import coordinates, final


def wide(n, d, n_classes=2, seed=0):
    random = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    X = random.randn(n, d)
    X[:, : 10 * n_classes] += 1.2 * (np.arange(10 * n_classes) % n_classes == y[:, None])
    return X, y


@pytest.mark.parametrize(
    "given",
    [
        {"n_terms": 5, "linear": True},
        {"n_terms": 3, "linear": False},
        {"n_terms": 4, "linear": True, "kernel": "poly", "degree": 2, "coef0": 1.0},
    ],
)
def test_the_same_model_as_in_all_features(given, monkeypatch):
    """Straight from the features, the same starts descend to the same minimum."""
    X, y = wide(30, 80, n_classes=3 if given["linear"] else 2)
    model = SparseSVC(
        C=1.0, gamma="scale", metric=False, tol=1e-8, max_iter=2000, random_state=0, **given
    )
    rotated = model.fit(X, y).expansion_
    objective = model.objective_
    monkeypatch.setattr(final, "rotated", lambda training, widths: (None, training))
    direct = model.fit(X, y).expansion_
    assert objective == pytest.approx(model.objective_, rel=1e-6)
    fresh, _ = wide(200, 80, seed=1)
    values = direct.decision_function(fresh)
    assert rotated.decision_function(fresh) == pytest.approx(values, abs=1e-3)


def test_vectors_and_linear_part_are_in_the_span_of_the_rows():
    X, y = wide(20, 70)
    model = SparseSVC(5, C=1.0, gamma="scale", linear=True, random_state=0).fit(X, y)
    for found in (model.support_vectors_, model.linear_coef_):
        inside = found @ np.linalg.pinv(X) @ X
        assert inside == pytest.approx(found, abs=1e-8)


def test_sparse_rows_are_dense_ones():
    """Columns without entries count as features, and are zero in what is learned."""
    X, y = wide(30, 200)
    X[np.abs(X) < 1.2] = 0.0
    X[:, 150:] = 0.0
    given = {"C": 1.0, "gamma": "scale", "linear": True, "tol": 1e-8, "random_state": 0}
    dense = SparseSVC(3, **given).fit(X, y)
    kept = SparseSVC(3, **given)
    kept._dense_entries = 100
    kept.fit(sparse.csr_matrix(X), y)
    assert kept.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    assert kept.support_vectors_.shape == (2, 200)
    assert not kept.linear_coef_[:, 150:].any()
    values = dense.decision_function(X)
    assert kept.decision_function(sparse.csr_matrix(X)) == pytest.approx(values, abs=1e-3)
    assert not coordinates.is_wide(sparse.csr_matrix(X), entries=100)


def test_a_microarray_has_a_linear_part():
    X, y = wide(40, 3000)
    model = SparseSVC(metric=False, random_state=0).fit(X, y)
    assert hasattr(model, "linear_coef_")
    assert model.linear_coef_.shape == (1, 3000)
    fresh, labels = wide(1000, 3000, seed=1)
    assert model.score(fresh, labels) > LinearSVC().fit(X, y).score(fresh, labels) - 0.02


def test_a_metric_has_all_features():
    """Two features of two hundred matter; beside a metric no linear part is tried by itself."""
    random = np.random.RandomState(0)
    X = random.randn(100, 200)
    y = X[:, 0] + X[:, 1] > 0
    model = SparseSVC(random_state=0).fit(X, y)
    assert model.metric_.shape == (200,)
    assert set(np.argsort(model.metric_)[-2:]) == {0, 1}
    assert not hasattr(model, "linear_coef_")
    assert not (model.path_["metric"] & model.path_["linear"]).any()
    both = SparseSVC(3, C=1.0, gamma="cv", metric=True, linear=True, random_state=0).fit(X, y)
    assert both.metric_.shape == (200,) and both.linear_coef_.shape == (1, 200)
