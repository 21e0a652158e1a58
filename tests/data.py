"""Data that several test modules use, and what makes their fits short."""

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import StandardScaler

from zeronorm.learned.choice import Effort
from zeronorm.learned.machine import LearnedMachine
from zeronorm.learned.path import PathEffort


def moons(n=100, noise=0.25, seed=0):
    return make_moons(n, noise=noise, random_state=seed)


def noisy(n=90, seed=0):
    """Two overlapping classes of different size, one label in ten wrong."""
    return make_classification(
        n, 5, n_informative=3, flip_y=0.1, weights=[0.65], class_sep=0.8, random_state=seed
    )


def spirals(n=200, seed=0):
    """Two classes, an arm of a spiral each, of a little more than one turn."""
    random = np.random.RandomState(seed)
    angle, y = 7.0 * np.sqrt(random.uniform(0.05, 1.0, n)), np.arange(n) % 2
    X = np.column_stack([angle * np.cos(angle + np.pi * y), angle * np.sin(angle + np.pi * y)])
    return StandardScaler().fit_transform(X + 0.15 * random.randn(n, 2)), y


def checkerboard(n=360, seed=0):
    """Nine squares, of two classes in turn."""
    X = np.random.RandomState(seed).uniform(0.0, 3.0, (n, 2))
    return StandardScaler().fit_transform(X), (np.floor(X).sum(axis=1) % 2).astype(int)


def separable(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + 6.0 * y[:, None], y


def contradictory(n=80, seed=0):
    """Few distinct rows, repeated, some with both labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    return X, (X.sum(axis=1) + rng.normal(size=n) > 3).astype(int)


def standardised(load, n=None):
    X, y = load(return_X_y=True)
    chosen = slice(None) if n is None else np.random.RandomState(0).permutation(len(X))[:n]
    return StandardScaler().fit_transform(X[chosen]), y[chosen]


def iris():
    return standardised(load_iris)


def wine():
    return standardised(load_wine)


def cancer(n=120):
    return standardised(load_breast_cancer, n)


BINARY = {
    "moons": moons,
    "noisy": noisy,
    "separable": separable,
    "contradictory": contradictory,
    "cancer": cancer,
}


def own_class_factors(y, classes):
    """How often a row counts in each output: of K > 2 classes sqrt(K - 1) times in its own."""
    return np.where(y[:, None] == classes, max(1.0, len(classes) - 1.0) ** 0.5, 1.0)


def few_sizes(patch, stages):
    """Let SparseSVC and SparseSVR choose from these sizes only, after a few steps with each."""
    short = PathEffort(stages, steps=5, few_steps=5, linear_steps=5)
    patch.setattr(LearnedMachine, "_effort", Effort(path=short))


def with_effort(model, **parts):
    """SparseSVC or SparseSVR that makes its choice with other numbers of rows, sizes and steps."""
    model._effort = Effort(**parts)
    return model
