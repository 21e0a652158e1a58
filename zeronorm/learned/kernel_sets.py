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

from zeronorm.distances import squared_norms
from zeronorm.kernels import Kernel

#: Ridge on K^z, as a share of its mean diagonal, by the precision of the numbers; and the largest
#: that rounding may ask for.
RIDGES, LARGEST_RIDGE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}, 1e-2


@dataclass
class Rows:
    """Rows to learn from: X (n x d), targets -1 and +1 and factors of the costs (outputs x n)."""

    X: Any
    targets: np.ndarray
    factors: np.ndarray

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Type of all numbers."""
        return self.X.dtype

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.targets)

    @cached_property
    def squares(self) -> Any:
        """Squares of the entries of X."""
        return self.X.multiply(self.X).tocsr() if sparse.issparse(self.X) else self.X**2

    @cached_property
    def norms(self) -> np.ndarray:
        """Squared norms of the rows."""
        return squared_norms(self.X).astype(self.dtype, copy=False)

    def take(self, indices: Any) -> Rows:
        """Return some of the rows."""
        return Rows(self.X[indices], self.targets[:, indices], self.factors[:, indices])


def sums_over_rows(weights: np.ndarray, X: Any) -> np.ndarray:
    """Return the sums of the rows (n x d), weighted by (..., n): one matrix product."""
    flat = weights.reshape(-1, weights.shape[-1])
    product = np.asarray((X.T @ flat.T).T) if sparse.issparse(X) else flat @ X
    return product.reshape(*weights.shape[:-1], X.shape[1])


def products_with_rows(vectors: np.ndarray, X: Any) -> np.ndarray:
    """Return the inner products of vectors (..., d) with all rows."""
    flat = vectors.reshape(-1, vectors.shape[-1])
    product = np.asarray((X @ flat.T).T) if sparse.issparse(X) else flat @ X.T
    return product.reshape(*vectors.shape[:-1], X.shape[0])


def diagonal(matrices: np.ndarray) -> np.ndarray:
    """Return a writable view of the diagonals of a stack of matrices."""
    return np.einsum("...ii->...i", matrices)


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Return the matrices of a stack, transposed."""
    return np.swapaxes(matrices, -1, -2)


class SetsKernel:
    """A kernel with a derivative, for many sets of vectors at once.

    Parameters
    ----------
    kernel : Kernel
        Which: "rbf", "poly" or "linear"; its gamma does not count.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.name, self.degree, self.coef0 = kernel.name, kernel.degree, kernel.coef0

    def values(self, vectors: np.ndarray, widths: np.ndarray, rows: Rows) -> np.ndarray:
        """Kernel of vectors and rows, shape (sets, m, n)."""
        if self.name != "rbf":
            return self._of_product(products_with_rows(vectors, rows.X), widths)
        scaled = widths[:, None, :] * vectors
        values = products_with_rows(2.0 * scaled, rows.X)
        values -= np.sum(scaled * vectors, axis=2)[:, :, None]
        if widths.shape[1] == 1:
            values -= (widths * rows.norms)[:, None, :]
        else:
            values -= products_with_rows(widths, rows.squares)[:, None, :]
        # Rounding may leave a squared distance a hair below zero.
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values)

    def gram(self, vectors: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """Kernel of the vectors of each set with themselves."""
        if self.name != "rbf":
            return self._of_product(vectors @ transposed(vectors), widths)
        scaled = widths[:, None, :] * vectors
        norms = np.sum(scaled * vectors, axis=2)
        values = 2.0 * (scaled @ transposed(vectors))
        values -= norms[:, :, None]
        values -= norms[:, None, :]
        values = np.exp(np.minimum(values, 0.0))
        diagonal(values)[...] = 1.0
        return values

    def _of_product(self, product: np.ndarray, widths: np.ndarray) -> np.ndarray:
        if self.name == "linear":
            return product
        return (widths[:, :, None] * product + self.coef0) ** self.degree

    def slopes(
        self, values: np.ndarray, widths: np.ndarray, products: Callable[[], np.ndarray]
    ) -> np.ndarray:
        """Differentiate the values by their argument: minus the distance, or the inner product.

        ``products`` makes the inner products again, for the kernel that needs them.
        """
        if self.name == "rbf":
            return values
        if self.name == "linear" or self.degree == 0:
            return np.full_like(values, float(self.name == "linear"))
        base = widths[:, :, None] * products() + self.coef0
        return self.degree * widths[:, :, None] * base ** (self.degree - 1)

    def derivatives(
        self,
        vectors: np.ndarray,
        widths: np.ndarray,
        rows: Rows,
        values: np.ndarray,
        gram: np.ndarray,
        by_values: np.ndarray,
        by_gram: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Differentiate by the vectors, and by the logarithm of each width.

        What is given are the derivatives by the kernel values with the rows and by the (symmetric)
        Gram matrix; both arrays are used up.
        """
        by_values *= self.slopes(values, widths, lambda: products_with_rows(vectors, rows.X))
        by_gram *= self.slopes(gram, widths, lambda: vectors @ transposed(vectors))
        moment = sums_over_rows(by_values, rows.X)
        if self.name != "rbf":
            return moment + 2.0 * (by_gram @ vectors), np.zeros_like(widths)
        diagonal(by_gram)[...] = 0.0  # a vector's distance from itself is zero, wherever it is
        inner = by_gram @ vectors
        count, own = by_values.sum(axis=2)[:, :, None], by_gram.sum(axis=2)[:, :, None]
        by_vectors = moment - count * vectors + 2.0 * (inner - own * vectors)
        by_vectors *= 2.0 * widths[:, None, :]
        distances = self.moments(by_values.sum(axis=1), widths, rows)
        cross = (2.0 * (moment + inner) - (count + 2.0 * own) * vectors) * vectors
        axes = 1 if widths.shape[1] > 1 else (1, 2)
        distances -= np.sum(cross, axis=axes).reshape(distances.shape)
        return by_vectors, -widths * distances

    @staticmethod
    def moments(weights: np.ndarray, widths: np.ndarray, rows: Rows) -> np.ndarray:
        """Sum the squares of the rows, weighted by (..., n): of each feature that has a width."""
        if widths.shape[1] > 1:
            return sums_over_rows(weights, rows.squares)
        return (weights @ rows.norms)[..., None]


def factors(matrix: np.ndarray, share: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangular L with A = L L' of each matrix, a ridge added, and its inverse.

    Parameters
    ----------
    matrix : ndarray of shape (sets, m, m)
        Positive semidefinite matrices.
    share : float, optional
        Ridge as a share of the mean diagonal; by default that of a kernel matrix. Where rounding
        asks for it, it is larger.
    """
    ridged = matrix.copy()
    size = diagonal(matrix).mean(axis=1, keepdims=True) if matrix.shape[1] else np.ones((1, 1))
    size = np.maximum(size, np.finfo(matrix.dtype).tiny)
    ridge = (RIDGES[matrix.dtype] if share is None else share) * size
    while True:
        diagonal(ridged)[...] += ridge
        try:
            factor = np.linalg.cholesky(ridged)
            return factor, np.linalg.inv(factor)
        except np.linalg.LinAlgError:
            if not np.isfinite(ridged).all() or float(np.max(ridge / size)) > LARGEST_RIDGE:
                raise ValueError(
                    "The data are too badly scaled for this kernel and C: standardise the "
                    "features, or take a smaller C."
                ) from None
            ridge = 10.0 * ridge


def by_gram_of(
    factor: np.ndarray, inverse: np.ndarray, coef: np.ndarray, by_weights: np.ndarray
) -> np.ndarray:
    """Differentiate a function of beta = L'^-1 v by K^z = L L'.

    With p the derivative by beta, and ``by_weights`` = L^-1 p that by v, the one by L is
    -beta (L^-1 p)', below the diagonal; from there by the rule for Cholesky factors (Murray 2016,
    arXiv:1602.07527).
    """
    by_factor = np.tril(-coef @ transposed(by_weights))
    inner = np.tril(transposed(factor) @ by_factor)
    diagonal(inner)[...] *= 0.5
    outer = transposed(inverse) @ inner @ inverse
    return 0.5 * (outer + transposed(outer))
