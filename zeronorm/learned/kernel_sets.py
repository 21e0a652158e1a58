"""Kernel values of many sets of vectors with the same rows, and their derivatives.

Arrays have a first axis for the set: vectors are (sets, m, d), kernel values (sets, m, rows), so
that every pass over the rows is one matrix product for all sets. ``widths`` are the gammas of the
features of each set, (sets, d), or (sets, 1) where all features have one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.arrays import (
    all_finite,
    at_least,
    cholesky,
    copied,
    diagonal,
    dtype_name,
    exp_at_most_one,
    is_numpy,
    lower_triangles,
    namespace,
    take,
    triangular_inverse,
    with_diagonal,
)
from zeronorm.distances import squared_norms
from zeronorm.kernels import Kernel

#: Ridge on K^z, as a share of its mean diagonal, by the precision of the numbers; and the largest
#: that rounding may ask for.
RIDGES, LARGEST_RIDGE = {"float64": 1e-8, "float32": 1e-5}, 1e-2


@dataclass
class Rows:
    """Rows to learn from: X (n x d), targets -1 and +1 and factors of the costs (outputs x n).

    ``box`` is what learned vectors must stay in, if anything: their least and largest features, of
    all (d,) or of each (m, d). Where outputs are ``pairs`` of classes, the rows of other classes
    have a factor of zero.
    """

    X: Any
    targets: Any
    factors: Any
    box: tuple[Any, Any] | None = None
    pairs: bool = False

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def is_on_device(self) -> bool:
        """Whether all of them are there, and none in NumPy."""
        return not is_numpy(self.X)

    @property
    def like(self) -> Any:
        """An array of the library, the device and the type of all numbers."""
        return self.targets

    @property
    def dtype(self) -> Any:
        """Type of all numbers."""
        return self.X.dtype

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.targets.shape[0]

    @cached_property
    def squares(self) -> Any:
        """Squares of the entries of X."""
        return self.X.multiply(self.X).tocsr() if sparse.issparse(self.X) else self.X**2

    @cached_property
    def norms(self) -> Any:
        """Squared norms of the rows."""
        if is_numpy(self.X):
            return squared_norms(self.X).astype(self.dtype, copy=False)
        return namespace(self.X).sum(self.squares, axis=1)

    def dense(self, indices: Any) -> Any:
        """Return some rows of X as a plain array."""
        chosen = take(self.X, indices)
        return chosen.toarray() if sparse.issparse(chosen) else chosen

    def take(self, indices: Any) -> Rows:
        """Return some of the rows."""
        targets, factors = (take(part.T, indices).T for part in (self.targets, self.factors))
        return Rows(take(self.X, indices), targets, factors, self.box, self.pairs)

    @cached_property
    def counted(self) -> Counted | None:
        """What counts of the outputs, where that is a small part: of NumPy's pairs of classes."""
        if not self.pairs or self.is_on_device:
            return None
        entries = np.flatnonzero(self.factors)
        targets, factors = (part.ravel()[entries][None, :] for part in (self.targets, self.factors))
        return Counted(entries, entries % len(self), targets, factors)


@dataclass(frozen=True)
class Counted:
    """Entries of the outputs (outputs x n) that count, one after the other, as one output.

    ``entries`` are their places, ``rows`` their rows; targets and factors are (1, count).
    """

    entries: np.ndarray
    rows: np.ndarray
    targets: np.ndarray
    factors: np.ndarray
    counted: None = None


def sums_over_rows(weights: Any, X: Any) -> Any:
    """Return the sums of the rows (n x d), weighted by (..., n): one matrix product."""
    xp = namespace(weights)
    flat = xp.reshape(weights, (-1, weights.shape[-1]))
    product = np.asarray((X.T @ flat.T).T) if sparse.issparse(X) else flat @ X
    return xp.reshape(product, (*weights.shape[:-1], X.shape[1]))


def products_with_rows(vectors: Any, X: Any) -> Any:
    """Return the inner products of vectors (..., d) with all rows."""
    xp = namespace(vectors)
    flat = xp.reshape(vectors, (-1, vectors.shape[-1]))
    product = np.asarray((X @ flat.T).T) if sparse.issparse(X) else flat @ X.T
    return xp.reshape(product, (*vectors.shape[:-1], X.shape[0]))


class SetsKernel:
    """A kernel with a derivative, for many sets of vectors at once.

    Parameters
    ----------
    kernel : Kernel
        Which: "rbf", "poly" or "linear"; its gamma does not count.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.name, self.degree, self.coef0 = kernel.name, kernel.degree, kernel.coef0

    def values(self, vectors: Any, widths: Any, rows: Rows) -> Any:
        """Kernel of vectors and rows, shape (sets, m, n)."""
        if self.name != "rbf":
            return self._of_product(products_with_rows(vectors, rows.X), widths)
        # Rounding may leave a squared distance a hair below zero.
        return exp_at_most_one(self._minus_distances(vectors, widths, rows))

    def squared_distances(self, vectors: Any, widths: Any, rows: Rows) -> Any:
        """Squared distances of vectors and rows: of the metric, or in the space of the kernel."""
        if self.name == "rbf":
            return -self._minus_distances(vectors, widths, rows)
        own = self._of_product(rows.norms[None, None, :], widths)
        found = own - 2.0 * self.values(vectors, widths, rows)
        return found + diagonal(self.gram(vectors, widths))[:, :, None]

    @staticmethod
    def _minus_distances(vectors: Any, widths: Any, rows: Rows) -> Any:
        """Squared distances of the metric, negative."""
        scaled = widths[:, None, :] * vectors
        values = products_with_rows(2.0 * scaled, rows.X)
        values -= namespace(vectors).sum(scaled * vectors, axis=2)[:, :, None]
        if widths.shape[1] == 1:
            values -= (widths * rows.norms)[:, None, :]
        else:
            values -= products_with_rows(widths, rows.squares)[:, None, :]
        return values

    def gram(self, vectors: Any, widths: Any) -> Any:
        """Kernel of the vectors of each set with themselves."""
        if self.name != "rbf":
            return self._of_product(vectors @ vectors.mT, widths)
        scaled = widths[:, None, :] * vectors
        norms = namespace(vectors).sum(scaled * vectors, axis=2)
        values = 2.0 * (scaled @ vectors.mT)
        values -= norms[:, :, None]
        values -= norms[:, None, :]
        return with_diagonal(exp_at_most_one(values), 1.0)

    def _of_product(self, product: Any, widths: Any) -> Any:
        if self.name == "linear":
            return product
        return (widths[:, :, None] * product + self.coef0) ** self.degree

    def slopes(self, values: Any, widths: Any, products: Callable[[], Any]) -> Any:
        """Differentiate the values by their argument: minus the distance, or the inner product.

        ``products`` makes the inner products again, for the kernel that needs them.
        """
        if self.name == "rbf":
            return values
        if self.name == "linear" or self.degree == 0:
            return namespace(values).full_like(values, float(self.name == "linear"))
        base = widths[:, :, None] * products() + self.coef0
        return self.degree * widths[:, :, None] * base ** (self.degree - 1)

    def derivatives(
        self,
        vectors: Any,
        widths: Any,
        rows: Rows,
        values: Any,
        gram: Any,
        by_values: Any,
        by_gram: Any,
    ) -> tuple[Any, Any]:
        """Differentiate by the vectors, and by the logarithm of each width.

        What is given are the derivatives by the kernel values with the rows and by the (symmetric)
        Gram matrix; both arrays are overwritten.
        """
        by_values *= self.slopes(values, widths, lambda: products_with_rows(vectors, rows.X))
        by_gram *= self.slopes(gram, widths, lambda: vectors @ vectors.mT)
        xp, moment = namespace(by_values), sums_over_rows(by_values, rows.X)
        if self.name != "rbf":
            return moment + 2.0 * (by_gram @ vectors), xp.zeros_like(widths)
        by_gram = with_diagonal(by_gram, 0.0)  # a vector is at no distance from itself, anywhere
        inner = by_gram @ vectors
        count, own = (xp.sum(array, axis=2)[:, :, None] for array in (by_values, by_gram))
        by_vectors = moment - count * vectors + 2.0 * (inner - own * vectors)
        by_vectors *= 2.0 * widths[:, None, :]
        distances = self.moments(xp.sum(by_values, axis=1), widths, rows)
        cross = (2.0 * (moment + inner) - (count + 2.0 * own) * vectors) * vectors
        axes = 1 if widths.shape[1] > 1 else (1, 2)
        distances -= xp.reshape(xp.sum(cross, axis=axes), distances.shape)
        return by_vectors, -widths * distances

    @staticmethod
    def moments(weights: Any, widths: Any, rows: Rows) -> Any:
        """Sum the squares of the rows, weighted by (..., n): of each feature that has a width."""
        if widths.shape[1] > 1:
            return sums_over_rows(weights, rows.squares)
        return (weights @ rows.norms)[..., None]


def factors(matrix: Any, share: float | None = None) -> tuple[Any, Any]:
    """Return the triangular L with A = L L' of each matrix, a ridge added, and its inverse.

    Parameters
    ----------
    matrix : ndarray of shape (sets, m, m)
        Positive semidefinite matrices.
    share : float, optional
        Ridge as a share of the mean diagonal; by default that of a kernel matrix. Where rounding
        asks for it, it is larger.
    """
    if matrix.shape[1] == 0:
        return matrix, matrix
    xp, ridged, precision = namespace(matrix), copied(matrix), dtype_name(matrix.dtype)
    size = xp.sum(diagonal(matrix), axis=1, keepdims=True) / matrix.shape[1]
    size = at_least(size, float(np.finfo(precision).tiny))
    share = RIDGES[precision] if share is None else float(share)
    ridge = share * size
    while True:
        ridged = with_diagonal(ridged, diagonal(ridged) + ridge)
        factor = cholesky(ridged)
        if factor is not None:
            return factor, triangular_inverse(factor)
        if not all_finite(ridged) or share > LARGEST_RIDGE:
            raise ValueError(
                "The data are too badly scaled for this kernel and C: standardise the "
                "features, or take a smaller C."
            )
        share, ridge = 10.0 * share, 10.0 * ridge


def by_gram_of(factor: Any, inverse: Any, coef: Any, by_weights: Any) -> Any:
    """Differentiate a function of beta = L'^-1 v by K^z = L L'.

    With p the derivative by beta, and ``by_weights`` = L^-1 p that by v, the one by L is
    -beta (L^-1 p)', below the diagonal; from there by the rule for Cholesky factors (Murray 2016,
    arXiv:1602.07527).
    """
    by_factor = lower_triangles(-coef @ by_weights.mT)
    inner = lower_triangles(factor.mT @ by_factor)
    inner = with_diagonal(inner, 0.5 * diagonal(inner))
    outer = inverse.mT @ inner @ inverse
    return 0.5 * (outer + outer.mT)
