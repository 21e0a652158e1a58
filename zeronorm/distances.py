"""Squared distances times gamma: by one product where that is exact enough, by differences beyond.

The product form γ|x|² - 2γ x·v + γ|v|² is wrong by about a rounding error of its largest term,
which is nothing beside a distance that large, but all there is to a small one: two rows far from
the origin, near to each other. So that no kernel value suffers,

- the origin is moved into the middle of the vectors where they lie far from it, and
- a row that is still far out is compared directly with the vectors near to it. They are few: a
  kernel value that is not zero in floating point has γ|x - v|² below 746.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from zeronorm.arrays import as_on, cast, double, is_numpy, namespace
from zeronorm.blocks import row_blocks

#: Terms of the product form up to this are exact enough: their rounding moves no kernel value by
#: more than some 1e-12.
LIMIT = 1e4

#: Distances (times gamma) whose exponential is zero.
OUT_OF_SIGHT = 746.0

#: Rounding errors of the product form, in units of its largest term, at most.
DOUBT = 8.0 * np.finfo(float).eps

#: Up to so many terms the values of a block are laid out term by term.
FEW_TERMS = 64

#: Numbers in a block of differences.
BLOCK_VALUES = 2**20


def float_rows(X: Any) -> Any:
    """Return rows in double precision, dense or sparse as they are."""
    if sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    return np.asarray(X, dtype=np.float64)


def as_dense(product: Any) -> np.ndarray:
    """Return a matrix as a plain array."""
    if isinstance(product, np.ndarray):
        return product
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def squared_norms(X: Any) -> np.ndarray:
    """Squared norm of every row."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()


def is_far(sizes: np.ndarray) -> bool:
    """Whether some γ|x|² is beyond what the product form takes."""
    # Not sizes.max(), which takes twice as long on a single row.
    return len(sizes) > 0 and bool(np.maximum.reduce(sizes) > LIMIT)


def far_centre(V: Any, sizes: np.ndarray) -> np.ndarray | None:
    """Middle of the vectors, if some lie so far from the origin that it should move there.

    ``sizes`` are the γ|v|². None for sparse vectors, which have to stay where their zeros are.
    """
    return V.mean(axis=0) if is_far(sizes) and not sparse.issparse(V) else None


def finite_distances(X: np.ndarray, Y: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    """Distances of all pairs by differences, so that equal rows are at distance zero.

    Parameters
    ----------
    X, Y : ndarray
        Rows.
    metric : {"euclidean", "sqeuclidean"}
        Distances, or their squares.

    Raises
    ------
    ValueError
        If a distance overflows.
    """
    with np.errstate(over="ignore"):
        found = cdist(X, Y, metric)
    if not np.isfinite(found).all():
        raise ValueError(
            "The squared distances of the rows overflow; scale the features first (for example "
            "with StandardScaler)."
        )
    return found


class Scaling:
    """What a metric, one factor of the squared difference for each feature, does to rows.

    Distances are plain ones after two steps: features whose factor is zero are left out, so that
    not even a huge value in them counts, and the others are stretched by the root of theirs. The
    steps are apart because rows far from the origin are to be moved, or subtracted, in between:
    stretching rounds.

    Parameters
    ----------
    metric : sequence of float of shape (n_features,), optional
        The factors; by default there is nothing to do.
    """

    def __init__(self, metric: Any = None) -> None:
        self.metric = None if metric is None else np.asarray(metric, dtype=np.float64)
        if self.metric is not None:
            self.columns = np.flatnonzero(self.metric)
            self.roots = np.sqrt(self.metric[self.columns])

    def take(self, X: Any) -> Any:
        """Return the features that count; ValueError unless the metric is one for these rows."""
        if self.metric is None:
            return X
        if X.shape[1] != len(self.metric):
            raise ValueError(
                f"The metric has {len(self.metric)} widths, one for each feature, but the data "
                f"have {X.shape[1]} columns."
            )
        return X if len(self.columns) == len(self.metric) else X[:, self.columns]

    def stretch(self, X: Any) -> Any:
        """Stretch the features that count."""
        if self.metric is None:
            return X
        if not sparse.issparse(X):
            return X * self.roots
        stretched = X.tocsr(copy=True)
        stretched.data *= self.roots[stretched.indices]
        return stretched

    def gradient(self, by_stretched: np.ndarray) -> np.ndarray:
        """Gradient by rows as they were, from the one by what :meth:`stretch` made of them."""
        return by_stretched if self.metric is None else self.spread(by_stretched * self.roots)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of all features (the last axis), zero for those that do not count."""
        if self.metric is None:
            return values
        spread = np.zeros((*values.shape[:-1], len(self.metric)))
        spread[..., self.columns] = values
        return spread


class ProductForm:
    """What depends on the vectors alone in γ|x|² - 2γ x·v + γ|v|²."""

    def __init__(self, V: Any, gamma: float) -> None:
        self.gamma = gamma
        self.offsets = gamma * squared_norms(V)
        # Few terms: terms by rows in memory, so that every step runs along long lines.
        self.is_few = not sparse.issparse(V) and V.shape[0] <= FEW_TERMS
        doubled = V * (2.0 * gamma)
        self.doubled = doubled if self.is_few else doubled.T

    def negative(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Minus the distances, and γ|x|² of every row."""
        values = as_dense(self.doubled @ X.T).T if self.is_few else as_dense(X @ self.doubled)
        sizes = self.gamma * squared_norms(X)
        values -= sizes[:, None]
        values -= self.offsets
        return values, sizes


class ScaledDistances:
    """γ|x - v|² of any rows with given vectors, to about 1e-12 wherever exp(-γ|x - v|²) > 0.

    Parameters
    ----------
    V : ndarray or sparse matrix of shape (n_vectors, n_features)
        The vectors.
    gamma : float
        Factor of the squared distances.
    metric : sequence of float of shape (n_features,), optional
        Further factor of each feature.
    """

    def __init__(self, V: Any, gamma: float, metric: Any = None) -> None:
        self.scaling, self.gamma = Scaling(metric), gamma
        self.V = V = self.scaling.take(V)
        self.plain = ProductForm(self.scaling.stretch(V), gamma)
        self.centre = far_centre(V, self.plain.offsets)
        self.shifted = None
        if self.centre is not None:
            self.shifted = ProductForm(self.scaling.stretch(V - self.centre), gamma)

    def negative(self, X: Any) -> np.ndarray:
        """Minus the distances of a block of rows, of shape (rows, vectors)."""
        X = self.scaling.take(X)
        if self.shifted is None or sparse.issparse(X):
            values, sizes = self.plain.negative(self.scaling.stretch(X))
            offsets = self.plain.offsets
        else:
            values, sizes = self.shifted.negative(self.scaling.stretch(X - self.centre))
            offsets = self.shifted.offsets
        # Rounding may leave a squared distance a hair below zero.
        np.minimum(values, 0.0, out=values)
        if is_far(sizes):
            self._compare(values, X, sizes, offsets)
        return values

    def _compare(self, values: np.ndarray, X: Any, sizes: np.ndarray, offsets: np.ndarray) -> None:
        """Replace the distances of far rows that are, or may be, in sight by differences.

        A vector is far if a far row is near to it, so that only rows have to be looked at.
        """
        far = np.flatnonzero(sizes > LIMIT)
        doubt = DOUBT * (sizes[far][:, None] + offsets)
        rows, vectors = np.nonzero(values[far] > -OUT_OF_SIGHT - doubt)
        rows = far[rows]
        step = max(1, BLOCK_VALUES // X.shape[1])
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            difference = as_dense(X[rows[part]]) - as_dense(self.V[vectors[part]])
            difference = self.scaling.stretch(difference)
            values[rows[part], vectors[part]] = -self.gamma * squared_norms(difference)


def variance_of(X: Any, sample_weight: np.ndarray | None = None) -> float:
    """Variance over all entries of X, rows weighted."""
    if not is_numpy(X):
        return _variance_elsewhere(X, sample_weight)
    with np.errstate(over="ignore", invalid="ignore"):
        if sample_weight is None:
            if not sparse.issparse(X):
                # In blocks: NumPy's own variance would make a copy of X.
                mean = X.mean(dtype=float)
                parts = (np.square(X[rows] - mean).sum() for rows in row_blocks(X.shape[0]))
                return float(sum(parts) / X.size)
            sample_weight = np.ones(X.shape[0])
        share = sample_weight / sample_weight.sum() / X.shape[1]
        mean = share @ np.asarray(X.sum(axis=1)).ravel()
        if sparse.issparse(X):
            return float(share @ squared_norms(X) - mean**2)
        return float(share @ squared_norms(X - mean))


def _variance_elsewhere(X: Any, sample_weight: np.ndarray | None) -> float:
    """Variance over all entries of rows of another library, in blocks of its device."""
    xp, n_rows = namespace(X), X.shape[0]
    share = np.ones(n_rows) if sample_weight is None else sample_weight
    share = as_on(share / share.sum() / X.shape[1], X, double(X))[:, None]
    blocks = list(row_blocks(n_rows, max(1, BLOCK_VALUES // X.shape[1])))
    mean = sum(xp.sum(share[part, :] * X[part, :]) for part in blocks)
    squares = (share[part, :] * (cast(X[part, :], double(X)) - mean) ** 2 for part in blocks)
    return float(sum(xp.sum(square) for square in squares))
