"""The fixed problems of the record: training rows, and twelve fresh rows to judge."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

FRESH = 12


@dataclass(frozen=True)
class Problem:
    """Training rows, fresh rows, and parameters that go with them, such as the kernel."""

    X: Any
    y: np.ndarray
    X_fresh: Any
    sample_weight: np.ndarray | None = None
    parameters: dict[str, Any] = field(default_factory=dict)


def split(X, y, n, **others):
    """Standardised rows: the first n to train on, the last twelve fresh."""
    scaler = StandardScaler().fit(X[:n])
    return Problem(scaler.transform(X[:n]), y[:n], scaler.transform(X[-FRESH:]), **others)


def drawn(load, n):
    """So many rows of a set that exists, in an order drawn once, and twelve others."""
    X, y = load(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))[: n + FRESH]
    return X[order], y[order]


def moons():
    """Two classes."""
    return split(*make_moons(150 + FRESH, noise=0.25, random_state=0), 150)


def cancer():
    """Two classes, thirty features."""
    return split(*drawn(load_breast_cancer, 150), 150)


def wine():
    """Three classes, with names."""
    X, y = drawn(load_wine, 120)
    return split(X, np.array(["first", "second", "third"])[y], 120)


def digits():
    """Ten classes. Pixels keep their scale."""
    X, y = drawn(load_digits, 200)
    return Problem(X[:200] / 16, y[:200], X[200:] / 16)


def weighted():
    """Rows count differently, some not at all."""
    X, y = make_classification(
        120 + FRESH, 5, n_informative=3, flip_y=0.1, class_sep=0.8, random_state=0
    )
    weight = np.random.RandomState(1).choice([0.0, 0.5, 1.0, 3.0], size=120)
    return split(X, y, 120, sample_weight=weight)


def balanced():
    """Classes of unequal size that are to count alike."""
    X, y = make_classification(
        160 + FRESH, 6, n_informative=4, weights=[0.75], class_sep=0.9, random_state=2
    )
    return split(X, y, 160, parameters={"class_weight": "balanced"})


def rare():
    """A class of six rows beside two large ones."""
    X, y = make_classification(
        400, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1,
        class_sep=1.5, flip_y=0.0, random_state=3,
    )  # fmt: skip
    of_class = [np.flatnonzero(y == label) for label in range(3)]
    train = np.concatenate([of_class[0][:70], of_class[1][:60], of_class[2][:6]])
    fresh = np.concatenate([rows[-FRESH // 3 :] for rows in of_class])
    rows = np.concatenate([np.random.RandomState(0).permutation(train), fresh])
    return split(X[rows], y[rows], len(train))


def sparse_rows():
    """Counts of words, in rows that are stored as sparse."""
    random = np.random.RandomState(4)
    y = np.arange(120 + FRESH) % 2
    rates = np.full((2, 60), 0.1)
    rates[0, :8] = rates[1, 8:16] = 0.6
    X = sparse.csr_matrix(np.sqrt(random.poisson(rates[y]).astype(float)))
    return Problem(X[:120], y[:120], X[120:])


def precomputed():
    """A kernel matrix in place of rows."""
    X, y = make_moons(120 + FRESH, noise=0.25, random_state=5)
    return Problem(
        rbf_kernel(X[:120], gamma=1.0), y[:120], rbf_kernel(X[120:], X[:120], gamma=1.0),
        parameters={"kernel": "precomputed"},
    )  # fmt: skip


def linear():
    """A linear kernel."""
    problem = cancer()
    return Problem(problem.X, problem.y, problem.X_fresh, parameters={"kernel": "linear"})


def polynomial():
    """A polynomial kernel."""
    X, y = make_classification(
        120 + FRESH, 4, n_informative=4, n_redundant=0, n_clusters_per_class=2, random_state=6
    )
    kernel = {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.25}
    return split(X, y, 120, parameters=kernel)


def repeated():
    """Few distinct rows, repeated, some of them with both labels."""
    random = np.random.RandomState(7)
    X = random.randint(0, 5, size=(120 + FRESH, 2)).astype(float)
    y = (X.sum(axis=1) + random.normal(size=len(X)) > 4).astype(int)
    return split(X, y, 120)


def many():
    """Three thousand rows."""
    X, y = make_classification(
        3000 + FRESH, 6, n_informative=4, n_clusters_per_class=2, class_sep=1.2, random_state=8
    )
    return split(X, y, 3000)


def features():
    """Two classes, five of forty features of use."""
    X, y = make_classification(
        100 + FRESH, 40, n_informative=5, n_redundant=5, class_sep=1.0, shuffle=True,
        random_state=9,
    )  # fmt: skip
    return split(X, y, 100)


def wide():
    """More features than rows, three classes."""
    X, y = make_classification(
        60 + FRESH, 200, n_informative=8, n_redundant=0, n_classes=3, class_sep=2.0,
        random_state=10,
    )  # fmt: skip
    return split(X, y, 60)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        moons, cancer, wine, digits, weighted, balanced, rare, sparse_rows, precomputed, linear,
        polynomial, repeated, many, features, wide,
    )
}  # fmt: skip


@cache
def make_problem(name: str) -> Problem:
    """The problem of this name; made once."""
    return PROBLEMS[name]()
