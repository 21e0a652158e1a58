"""The rbf kernel exp(-γ Σ_i m_i (x_i - v_i)²): values, and derivatives by vectors and widths.

With u and z for rows and vectors after the stretch of the metric m (``distances.py``), and
slope = 2γ weight k, the derivatives of Σ weight k are

    by a vector:  Σ slope (u - z), stretched      by γ:  - Σ slope |u - z|² / 2γ
    by log m_i:  - ½ Σ slope (u_i - z_i)²

each from the products that the slopes make with the rows.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from zeronorm.blocks import row_blocks
from zeronorm.checks import is_number
from zeronorm.distances import (
    ScaledDistances,
    Scaling,
    as_dense,
    far_centre,
    float_rows,
    is_far,
    squared_norms,
)


def checked_metric(metric: Any) -> tuple[float, ...]:
    """Return the factors as plain floats; ValueError unless each is one."""
    try:
        entries = tuple(metric)
    except TypeError:
        entries = ()
    if not entries or not all(is_number(entry) and entry >= 0 for entry in entries):
        raise ValueError(
            "metric must hold a finite number of at least 0 for each feature; got "
            f"{reprlib.repr(metric)}."
        )
    return tuple(map(float, entries))


def prepare_rbf(V: Any, gamma: float, metric: Any = None) -> Callable[[Any], np.ndarray]:
    """Return the function that gives the kernel values of a block of rows with these vectors."""
    distances = ScaledDistances(V, gamma, metric)

    def block(X: Any) -> np.ndarray:
        values = distances.negative(float_rows(X))
        return np.exp(values, out=values)

    return block


class RBFDerivatives:
    """Derivatives of ``sum(weights * k(X, V))``.

    Parameters
    ----------
    X, V : array of shape (rows, features) and (vectors, features)
        Arguments of the kernel; the rows may be sparse.
    weights : ndarray of shape (rows, vectors)
        Factor of each kernel value.
    values : ndarray of shape (rows, vectors), optional
        The kernel values, where they are at hand.
    gamma : float
        Factor of the squared distances.
    metric : sequence of float of shape (n_features,), optional
        Further factor of each feature.
    """

    def __init__(
        self,
        X: Any,
        V: np.ndarray,
        weights: np.ndarray,
        values: np.ndarray | None,
        gamma: float,
        metric: Any = None,
    ) -> None:
        self.X, self.weights, self.gamma = X, weights, gamma
        self.known: Callable[[slice, Any], np.ndarray]
        if values is None:
            block_of = prepare_rbf(V, gamma, metric)
            self.known = lambda rows, block: block_of(block)
        else:
            self.known = lambda rows, block: values[rows]
        self.scaling = Scaling(metric)
        V = self.scaling.take(V)
        self.centre = None
        if not sparse.issparse(X):
            self.centre = far_centre(V, gamma * squared_norms(self.scaling.stretch(V)))
        self.vectors = self.scaling.stretch(V if self.centre is None else V - self.centre)

    def _blocks(self) -> Iterator[tuple[slice, Any, np.ndarray, np.ndarray]]:
        """Yield blocks: which rows, the rows after the stretch, kernel values, slopes."""
        for rows in row_blocks(self.X.shape[0]):
            block = float_rows(self.X[rows])
            known = self.known(rows, block)
            block = self.scaling.take(block)
            block = self.scaling.stretch(block if self.centre is None else block - self.centre)
            slope = 2.0 * self.gamma * known
            slope *= self.weights[rows]
            yield rows, block, known, slope

    def by_vectors(self) -> np.ndarray:
        """Return the derivative by the vectors."""
        by_vectors = np.zeros_like(self.vectors)
        for _, block, _, slope in self._blocks():
            by_vectors += (block.T @ slope).T - slope.sum(axis=0)[:, None] * self.vectors
        return self.scaling.gradient(by_vectors)

    def by_vectors_and_gamma(self) -> tuple[np.ndarray, float]:
        """Return the derivatives by the vectors and by gamma."""
        by_vectors, distances = np.zeros_like(self.vectors), 0.0
        own = squared_norms(self.vectors)
        for rows, block, known, slope in self._blocks():
            moment, count = (block.T @ slope).T, slope.sum(axis=0)
            by_vectors += moment - count[:, None] * self.vectors
            norms = squared_norms(block)
            if is_far(self.gamma * norms):
                # The differences of these sums have no digits left; the kernel values have.
                distances -= 2.0 * float(np.sum(self.weights[rows] * xlogy(known, known)))
            else:
                distances += float(norms @ slope.sum(axis=1) + count @ own)
                distances -= 2.0 * float(np.sum(moment * self.vectors))
        return self.scaling.gradient(by_vectors), -0.5 * distances / self.gamma

    def by_vectors_and_widths(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives by the vectors and by the logarithm of each width."""
        by_vectors, distances = np.zeros_like(self.vectors), np.zeros(self.vectors.shape[1])
        for _, block, _, slope in self._blocks():
            moment, count = (block.T @ slope).T, slope.sum(axis=0)
            by_vectors += moment - count[:, None] * self.vectors
            if is_far(self.gamma * squared_norms(block)):
                distances += self._by_differences(block, slope)
            else:
                squares = block.multiply(block) if sparse.issparse(block) else block * block
                distances += squares.T @ slope.sum(axis=1) + count @ self.vectors**2
                distances -= 2.0 * np.sum(moment * self.vectors, axis=0)
        return self.scaling.gradient(by_vectors), self.scaling.spread(-0.5 * distances)

    def _by_differences(self, block: Any, slope: np.ndarray) -> np.ndarray:
        """Sum slope (u_i - z_i)² where products have no digits left; few pairs are in sight."""
        total = np.zeros(self.vectors.shape[1])
        for vector, of_vector in zip(self.vectors, slope.T, strict=True):
            near = np.flatnonzero(of_vector)
            total += of_vector[near] @ np.square(as_dense(block[near]) - vector)
        return total
