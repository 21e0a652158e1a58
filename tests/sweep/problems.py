"""Small problems, each a recipe by name and a seed: nobody chooses what a seed will draw.

A recipe draws rows and labels with a given generator of random numbers. Of the rows drawn some are
for training; the others are fresh, and many, so that a difference in accuracy is one of models.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Draw = Callable[[np.random.Generator, int], tuple[Any, np.ndarray]]


@dataclass(frozen=True)
class Recipe:
    """How to draw a problem: ``draw(random, n)`` returns that many rows and their labels.

    ``sizes`` are numbers of training rows, one of which is drawn; None takes 60 per cent of what
    ``draw`` returns, for sets that exist. Features are standardised unless the problem is ``raw``.
    ``weigh(random, y)`` may give weights to the training rows, and new labels.
    """

    draw: Draw
    sizes: tuple[int, ...] | None = (40, 80, 160, 320)
    raw: bool = False
    fresh: int = 1000
    weigh: Callable[[np.random.Generator, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None


@dataclass(frozen=True)
class Problem:
    """Training rows and fresh rows."""

    X: Any
    y: np.ndarray
    X_fresh: Any
    y_fresh: np.ndarray
    sample_weight: np.ndarray | None = None


def make_problem(name: str, seed: int) -> Problem:
    """Draw the problem of this name and seed; it does not depend on what others there are."""
    recipe = PROBLEMS[name]
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    n = None if recipe.sizes is None else int(random.choice(recipe.sizes))
    X, y = recipe.draw(random, 0 if n is None else n + recipe.fresh)
    X, X_fresh, y, y_fresh = train_test_split(
        X, y, train_size=n or 0.6, stratify=y, random_state=integer(random)
    )
    if not recipe.raw:
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        X, X_fresh = scaler.transform(X), scaler.transform(X_fresh)
    weight = None
    if recipe.weigh is not None:
        weight, y = recipe.weigh(random, y)
    return Problem(X, y, X_fresh, y_fresh, weight)


def integer(random):
    """Return a seed for scikit-learn's generators."""
    return int(random.integers(2**31))


def blobs(k):
    def draw(random, n):
        spread, d = random.uniform(0.4, 2.5), int(random.integers(2, 9))
        return make_blobs(n, d, centers=k, cluster_std=spread, random_state=integer(random))

    return draw


def equal(random, n):
    """Two classes equal to the row, far apart."""
    y = np.arange(n) % 2
    return random.normal(size=(n, int(random.integers(1, 6)))) + 4.0 * y[:, None], y


def rare(*shares):
    """Commonest class and these shares of others, all well apart."""

    def draw(random, n):
        return make_classification(
            n, 6, n_informative=5, n_redundant=0, n_classes=1 + len(shares), flip_y=0,
            n_clusters_per_class=1 + (len(shares) == 1), weights=[1 - sum(shares), *shares],
            class_sep=1.7, random_state=integer(random),
        )  # fmt: skip

    return draw


def moons(random, n):
    return make_moons(n, noise=random.uniform(0.05, 0.3), random_state=integer(random))


def circles(random, n):
    return make_circles(n, noise=0.08, factor=0.5, random_state=integer(random))


def spirals(random, n):
    """Two arms of one and a half turns."""
    y = np.arange(n) % 2
    angle = 3 * np.pi * np.sqrt(random.uniform(0.05, 1, n))
    arm = angle + np.pi * y
    X = np.stack([angle * np.cos(arm), angle * np.sin(arm)], axis=1)
    return X + random.normal(scale=0.3, size=X.shape), y


def xor(random, n):
    """The sign of a product, among features that mean nothing."""
    X = random.normal(size=(n, 2 + int(random.integers(1, 5))))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def checkerboard(random, n):
    X = random.uniform(0, 4, (n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def heavy_tails(random, n):
    """Features of Student's t with two degrees of freedom: no variance."""
    y = np.arange(n) % 2
    return random.standard_t(2, (n, 4)) + 2.5 * y[:, None], y


def noisy_labels(random, n):
    """One label in seven is wrong."""
    X, y = moons(random, n)
    return X, np.where(random.random(n) < 1 / 7, 1 - y, y)


def categories(random, n):
    """Five categorical features as indicators; a score of their levels decides."""
    levels = random.integers(0, 4, (n, 5))
    score = random.normal(size=(5, 4))[np.arange(5), levels].sum(axis=1)
    return np.eye(4)[levels].reshape(n, -1), (score > np.median(score)).astype(int)


def near_duplicates(random, n):
    """Thirty different rows, each many times with a trace of noise."""
    centres = random.normal(size=(30, 3))
    which = random.integers(0, 30, n)
    y = (centres[:, 0] + centres[:, 1] ** 2 > 1).astype(int)
    return centres[which] + 1e-6 * random.normal(size=(n, 3)), y[which]


def contradictory(random, n):
    """Few different rows, most of them with both labels."""
    X = random.integers(0, 4, (n, 2)).astype(float)
    return X, (X.sum(axis=1) + random.normal(size=n) > 3).astype(int)


def few_of_each(random, n):
    """Half to a third as many classes as the training rows of this recipe allow."""
    return make_blobs(n, 6, centers=12, cluster_std=0.8, random_state=integer(random))


def offset(random, n):
    """Features around a million."""
    X, y = blobs(3)(random, n)
    return X + 1e6, y


def scales(random, n):
    """Features of very different scale."""
    X, y = blobs(3)(random, n)
    return X * 10.0 ** random.uniform(-3, 3, X.shape[1]), y


def one_feature(random, n):
    x = random.uniform(-3, 3, (n, 1))
    return x, (np.abs(x[:, 0]) > 1).astype(int)


def wide(random, n):
    return make_classification(
        n, 400, n_informative=20, class_sep=2.0, flip_y=0, random_state=integer(random)
    )


def counts(random, n):
    """Counts of words as a sparse matrix; every class has words of its own."""
    y = np.arange(n) % 3
    rate = np.full((3, 60), 0.1)
    for label in range(3):
        rate[label, 20 * label : 20 * label + 8] = 0.6
    return sparse.csr_matrix(random.poisson(rate[y]).astype(float)), y


def named(draw):
    """Replace the labels of a recipe by words."""

    def draw_named(random, n):
        X, y = draw(random, n)
        return X, np.array(["ash", "birch", "cedar", "elm", "fir"])[y]

    return draw_named


def stored(load, most=None, classes=None):
    """Draw rows of a set of scikit-learn, all or some, of all classes or so many."""

    def draw(random, n):
        X, y = load(return_X_y=True)
        kept = np.unique(y) if classes is None else random.permutation(np.unique(y))[:classes]
        rows = random.permutation(np.flatnonzero(np.isin(y, kept)))[:most]
        return X[rows], y[rows]

    return draw


def distrust(random, y):
    """Turn two labels in five round, and give these rows next to no weight."""
    wrong = random.random(len(y)) < 0.4
    return np.where(wrong, 1e-3, 1.0), np.where(wrong, 1 - y, y)


FEW = (10, 16, 24, 40, 60, 100)

PROBLEMS: dict[str, Recipe] = {
    "blobs-2": Recipe(blobs(2)),
    "blobs-2-raw": Recipe(blobs(2), raw=True),
    "blobs-3": Recipe(blobs(3)),
    "blobs-7": Recipe(blobs(7), sizes=(42, 80, 160, 320)),
    "blobs-13": Recipe(blobs(13), sizes=(78, 160, 320)),
    "blobs-30": Recipe(blobs(30), sizes=(180, 320)),
    "blobs-50": Recipe(blobs(50), sizes=(300,), fresh=2000),
    "equal": Recipe(equal, sizes=FEW),
    "equal-raw": Recipe(equal, sizes=FEW, raw=True),
    "rare-8": Recipe(rare(0.08), sizes=(300, 900), fresh=2000),
    "rare-4": Recipe(rare(0.04), sizes=(300, 900), fresh=4000),
    "rare-2": Recipe(rare(0.02), sizes=(900,), fresh=6000),
    "rare-1": Recipe(rare(0.01), sizes=(900,), fresh=9000),
    "rare-two": Recipe(rare(0.06, 0.03), sizes=(300, 900), fresh=4000),
    "moons": Recipe(moons),
    "circles": Recipe(circles),
    "spirals": Recipe(spirals, sizes=(160, 320)),
    "xor": Recipe(xor, sizes=(100, 300, 600)),
    "checkerboard": Recipe(checkerboard, sizes=(160, 320, 600)),
    "heavy-tails": Recipe(heavy_tails),
    "heavy-tails-raw": Recipe(heavy_tails, raw=True),
    "noisy-labels": Recipe(noisy_labels),
    "categories": Recipe(categories, raw=True),
    "near-duplicates": Recipe(near_duplicates, sizes=(100, 200, 400)),
    "contradictory": Recipe(contradictory),
    "tiny-2": Recipe(blobs(2), sizes=(8, 12, 16, 20)),
    "tiny-3": Recipe(blobs(3), sizes=(9, 12, 16, 20)),
    "few-of-each": Recipe(few_of_each, sizes=(24, 30, 35)),
    "offset": Recipe(offset, raw=True),
    "scales": Recipe(scales),
    "scales-raw": Recipe(scales, raw=True),
    "one-feature": Recipe(one_feature),
    "wide": Recipe(wide, sizes=(60,)),
    "sparse": Recipe(counts, sizes=(60, 150, 300), raw=True),
    "words": Recipe(named(blobs(5))),
    "weights": Recipe(moons, sizes=(80, 160, 320), weigh=distrust),
    "iris": Recipe(stored(load_iris), sizes=None),
    "iris-raw": Recipe(stored(load_iris), sizes=None, raw=True),
    "iris-pair": Recipe(stored(load_iris, classes=2), sizes=None),
    "iris-pair-raw": Recipe(stored(load_iris, classes=2), sizes=None, raw=True),
    "wine": Recipe(stored(load_wine), sizes=None),
    "digits": Recipe(stored(load_digits, most=400), sizes=None),
    "cancer": Recipe(stored(load_breast_cancer, most=300), sizes=None),
}
