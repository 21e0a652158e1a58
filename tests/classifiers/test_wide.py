"""No fewer features than rows: machines that penalise each coefficient learn what an SVC learns."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from zeronorm import IRWLSClassifier, LinearProgrammingSVC, OneNormSVC, ZeroNormSVC

MODELS = [
    ZeroNormSVC(C=3),
    ZeroNormSVC("B", C=3),
    ZeroNormSVC("W", C=3),
    ZeroNormSVC(p=0.5, C=3),
    OneNormSVC(C=10),
    LinearProgrammingSVC(C=3),
    IRWLSClassifier(0.1),
]


def wide(seed, n_classes=2):
    """40 rows to learn from and 400 fresh ones, 300 features of which 20 tell."""
    X, y = make_classification(
        440, 300, n_informative=20, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        class_sep=2, random_state=seed,
    )  # fmt: skip
    scaler = StandardScaler().fit(X[:40])
    return scaler.transform(X[:40]), y[:40], scaler.transform(X[40:]), y[40:]


def accuracies(model, seeds, n_classes=2):
    """Balanced accuracies of the model and of an SVC on fresh rows."""
    found = []
    for seed in seeds:
        X, y, X_fresh, y_fresh = wide(seed, n_classes)
        for one in (model, SVC(C=10)):
            predicted = one.fit(X, y).predict(X_fresh)
            found.append(balanced_accuracy_score(y_fresh, predicted))
    return np.reshape(found, (-1, 2)).mean(axis=0)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_two_classes_are_told_apart_as_by_an_svc(model):
    ours, theirs = accuracies(model, range(5000, 5004))
    assert theirs > 0.7 and ours > theirs - 0.03
    assert (model.intercept_ == 0.0).all() or np.abs(model.intercept_).max() < 1e-5


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_three_classes(model):
    ours, theirs = accuracies(model, (5000, 5001), n_classes=3)
    assert theirs > 0.45 and ours > theirs - 0.03


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_otherwise_there_is_an_intercept(model):
    X, y, X_fresh, y_fresh = wide(5000)
    assert np.abs(model.fit(X_fresh, y_fresh).intercept_).max() > 1e-3
    linear = type(model)(**{**model.get_params(), "kernel": "linear"})
    assert np.abs(linear.fit(X + 1.0, y).intercept_).max() > 1e-3
