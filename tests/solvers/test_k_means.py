"""k-means as scikit-learn has it."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from zeronorm.solvers.k_means import k_means


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("n_features", [1, 2, 30])
@pytest.mark.parametrize("seed", [0, 1])
def test_divides_rows_as_scikit_learn_does(n_features, count, seed):
    X, _ = make_blobs(150, n_features, centers=7, cluster_std=3.0, random_state=seed)
    labels, distances = k_means(X, count, np.random.RandomState(seed))
    theirs = KMeans(count, n_init=1, random_state=seed).fit(X)
    assert len(set(zip(labels, theirs.labels_, strict=True))) == len(set(labels)) == count
    assert distances.sum() == pytest.approx(theirs.inertia_, rel=1e-10)


def test_distances_are_those_from_the_means():
    X = np.random.RandomState(0).normal(size=(200, 3))
    labels, distances = k_means(X, 6, np.random.RandomState(0))
    for label in range(6):
        rows = X[labels == label]
        # The last means are those of the labels before, of which few have changed.
        expected = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
        assert distances[labels == label] == pytest.approx(expected, abs=0.1)


def test_a_mean_that_loses_its_rows_goes_to_a_far_one():
    # Two rows of three are one to a rounded distance: two starts fall on them.
    X = np.array([[0.0], [1e-12], [1.0]])
    labels, distances = k_means(X, 3, np.random.RandomState(0))
    assert len(set(labels)) >= 2
    assert distances.max() < 1e-20


def test_no_more_means_than_there_are_different_rows():
    labels, distances = k_means(np.zeros((4, 2)), 3, np.random.RandomState(0))
    assert set(labels) == {0} and not distances.any()
