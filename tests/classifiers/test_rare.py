"""A rare class: machines that penalise each coefficient do without an intercept."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import moons
from zeronorm import IRWLSClassifier, LinearProgrammingSVC, OneNormSVC, ZeroNormSVC
from zeronorm.base.training_set import TrainingProblem

MODELS = [
    ZeroNormSVC(C=3, random_state=0),
    ZeroNormSVC("B", C=3, random_state=0),
    OneNormSVC(C=10, random_state=0),
    LinearProgrammingSVC(C=3, random_state=0),
    IRWLSClassifier("gcv", random_state=0),
]


def rare(seed):
    """12 of 600 rows, and 8 000 fresh ones; two clusters of either class."""
    X, y = make_classification(
        8600, 6, n_informative=5, n_redundant=0, weights=[0.98], class_sep=1.7, flip_y=0,
        random_state=seed,
    )  # fmt: skip
    rows = np.r_[np.flatnonzero(y == 1)[:12], np.flatnonzero(y == 0)[:588]]
    fresh = np.setdiff1d(np.arange(len(y)), rows)
    scaler = StandardScaler().fit(X[rows])
    return scaler.transform(X[rows]), y[rows], scaler.transform(X[fresh]), y[fresh]


def mean_accuracy(model):
    """Mean balanced accuracy on the fresh rows of four draws."""
    found = []
    for seed in range(6000, 6004):
        X, y, X_fresh, y_fresh = rare(seed)
        found.append(balanced_accuracy_score(y_fresh, model.fit(X, y).predict(X_fresh)))
    return np.mean(found)


@pytest.mark.filterwarnings("ignore::zeronorm.exceptions.PoorFitWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_two_in_a_hundred_are_found_as_by_an_svc(model, monkeypatch):
    ours, theirs = mean_accuracy(model), mean_accuracy(SVC(C=10))
    assert np.abs(model.intercept_).max() < 1e-5
    monkeypatch.setattr(TrainingProblem, "has_intercept", True)
    assert theirs > 0.75 and ours > theirs - 0.03
    assert ours > mean_accuracy(model) + 0.02 and np.abs(model.intercept_).max() > 1e-3


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_costs_say_what_is_rare(model):
    X, y = moons(200)
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:4]]
    X, y = X[few], y[few]

    def intercept(**options):
        return abs(type(model)(**{**model.get_params(), **options}).fit(X, y).intercept_[0])

    assert intercept() < 1e-5
    assert intercept(class_weight="balanced") > 1e-3
    assert intercept(kernel="linear") > 1e-3
