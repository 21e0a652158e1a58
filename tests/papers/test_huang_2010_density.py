"""Sparse kernel densities on real data, against scikit-learn's KernelDensity with its best width.

Huang et al. (2010) give the method, section 3.5.2.1, but no figures. The rival keeps every row;
its bandwidth is the best of 25 by five-fold likelihood cross-validation on the training rows.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.neighbors import KernelDensity

from zeronorm import SparseKernelDensity

pytestmark = pytest.mark.papers

FOLDER = Path(
    os.environ.get("ZERONORM_DATA", Path(__file__).parents[2] / ".." / "shared" / "datasets")
)


def stored(name):
    if not (FOLDER / name).exists():
        pytest.skip(f"{FOLDER} does not hold {name}; set ZERONORM_DATA")
    with np.load(FOLDER / name) as file:
        return {key: file[key] for key in file.files}


def banana(split):
    data = stored("ratsch_banana.npz")
    return tuple(data["X"][data[part][split]] for part in ("train_idx", "test_idx"))


def ripley():
    data = stored("ripley_synth.npz")
    return tuple(data["X"][data[part]] for part in ("train_idx", "test_idx"))


def iris(split):
    return train_test_split(load_iris().data, test_size=1 / 3, random_state=split)


def full(X):
    spread = np.sqrt(X.var(axis=0).mean()) * len(X) ** (-1 / (X.shape[1] + 4))
    search = GridSearchCV(
        KernelDensity(),
        {"bandwidth": spread * np.geomspace(0.1, 2, 25)},
        cv=KFold(5, shuffle=True, random_state=0),
    )
    return search.fit(X).best_estimator_


def compare(X, test):
    """Mean log-likelihoods of the full and the sparse density, and the share of terms."""
    density = SparseKernelDensity(random_state=0).fit(X)
    figures = full(X).score(test) / len(test), density.score(test) / len(test)
    print(f"\n{figures[0]:.4f} full, {figures[1]:.4f} with {density.n_terms_} of {len(X)} terms")
    return *figures, density.n_terms_ / len(X)


@pytest.mark.parametrize("split", range(10))
def test_banana(split):
    rival, sparse, share = compare(*banana(split))
    assert share <= 0.1
    assert sparse >= rival - 0.02 * abs(rival)


def test_ripley():
    rival, sparse, share = compare(*ripley())
    assert share <= 0.1
    assert sparse >= rival - 0.02 * abs(rival)


def test_iris_in_four_dimensions_needs_more_terms():
    """A hundred rows in four correlated dimensions, means over splits: a quarter, and some loss.

    Not the goal of a tenth at 2 %: nor does a mixture with ten round kernels of one width reach
    it when their centres are free (below).
    """
    figures = [compare(*iris(split)) for split in range(10)]
    rival, sparse, share = np.mean(figures, axis=0)
    assert share <= 0.3
    assert sparse >= rival - 0.1 * abs(rival)


def test_ten_free_centres_do_not_reach_the_full_density_on_iris_either():
    figures = []
    for split in range(10):
        X, test = iris(split)
        figures.append((full(X).score(test) / len(test), free_centres(X, test, 10)))
    rival, free = np.mean(figures, axis=0)
    assert free < rival - 0.02 * abs(rival)


def free_centres(X, test, count):
    """EM for a mixture with a common spherical variance."""
    centres = KMeans(count, n_init=5, random_state=0).fit(X).cluster_centers_
    weights, variance = np.full(count, 1 / count), 0.05
    for _ in range(300):
        logarithms = np.log(weights) - cdist(X, centres, "sqeuclidean") / (2 * variance)
        answers = np.exp(logarithms - logsumexp(logarithms, axis=1, keepdims=True))
        weights = answers.mean(axis=0)
        centres = answers.T @ X / answers.sum(axis=0)[:, None]
        variance = (answers * cdist(X, centres, "sqeuclidean")).sum() / X.size
    logarithms = np.log(weights) - cdist(test, centres, "sqeuclidean") / (2 * variance)
    height = -X.shape[1] / 2 * np.log(2 * np.pi * variance)
    return (logsumexp(logarithms, axis=1) + height).mean()
