"""R2W2Selector: its bound, the gradient of it, and several classes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import wine
from zeronorm import R2W2Selector
from zeronorm.datasets import make_weston_toy
from zeronorm.feature_selection.r2w2 import RadiusMargin
from zeronorm.solvers.elimination.columns import Columns


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lowers_its_bound(n_classes):
    X, y = make_weston_toy(30, random_state=3) if n_classes == 2 else wine()
    bounds = R2W2Selector().fit(X, y).history_["bound"]
    assert (np.diff(bounds) <= 1e-9 * bounds[0]).all()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_bound_has_the_gradient_it_says(n_outputs):
    X, y = wine()
    targets = np.where(y[:, None] == np.arange(n_outputs), 1.0, -1.0)
    bound = RadiusMargin(Columns(X[::4]), targets[::4], 2.0)
    point = np.random.default_rng(0).uniform(size=X.shape[1])
    rival = [
        (bound.log_value(point + step)[0] - bound.log_value(point - step)[0]) / 2e-5
        for step in 1e-5 * np.eye(len(point))
    ]
    assert bound.log_value(point)[1] == pytest.approx(rival, abs=1e-6)


@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_several_classes_as_well_as_recursive_elimination(n_classes):
    accuracies = np.array([_accuracies(n_classes, seed) for seed in range(3)])
    ours, rival = accuracies.mean(axis=0)
    assert ours > rival - 0.03


def _accuracies(n_classes, seed, n_informative=8):
    """Test accuracy of a linear SVM on the features of R²W² and on those of RFE."""
    n_train = 30 * n_classes
    X, y = make_classification(
        n_samples=n_train + 1000,
        n_features=40,
        n_informative=n_informative,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=seed,
    )
    X = StandardScaler().fit(X[:n_train]).transform(X)
    svm = SVC(kernel="linear")
    found = []
    for selector in (R2W2Selector(n_informative), RFE(svm, n_features_to_select=n_informative)):
        chosen = selector.fit(X[:n_train], y[:n_train]).get_support()
        svm.fit(X[:n_train][:, chosen], y[:n_train])
        found.append(svm.score(X[n_train:][:, chosen], y[n_train:]))
    return found
