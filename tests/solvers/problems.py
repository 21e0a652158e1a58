"""Small hinge problems of every kind, for the solver tests."""

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel


def _labels(y):
    return np.where(y == 1, 1.0, -1.0)


def separable():
    X, y = make_blobs(60, centers=[[-3, 0], [3, 0]], random_state=0)
    return X, _labels(y)


def inseparable():
    X, y = make_moons(80, noise=0.4, random_state=1)
    return X, _labels(y)


def duplicated():
    X, y = make_moons(40, noise=0.3, random_state=2)
    return np.vstack([X, X, X[:10]]), _labels(np.concatenate([y, y, y[:10]]))


def contradictory():
    X, y = make_moons(40, noise=0.3, random_state=3)
    return np.vstack([X, X[:15]]), _labels(np.concatenate([y, 1 - y[:15]]))


def one_against_many():
    X, y = make_blobs(50, centers=1, random_state=4)
    y[:] = 0
    y[7] = 1
    return X, _labels(y)


PROBLEMS = [separable, inseparable, duplicated, contradictory, one_against_many]
COSTS = [0.01, 1.0, 30.0, 1000.0]


def kernel_problem(make, gamma=0.7):
    """Kernel values, labels, and uneven column scales for one problem."""
    X, y = make()
    K = rbf_kernel(X, gamma=gamma)
    scale = np.random.default_rng(0).uniform(0.1, 2.0, K.shape[1])
    return K, y, scale
