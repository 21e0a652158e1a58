"""From scores back to rows: ridge regression, whose width and ridge are chosen by the rows.

A row is a function of its scores only as far as the components hold it; what is sought is the mean
of the rows with these scores. It is learned from the training rows, as ``KernelPCA`` does, whatever
the kernel was; but with the scores of the few learned vectors z_j as centres, and a linear part,
which for a linear kernel is all there is:

    x(t) = x̄ + Σ_j w_j k(t, t(z_j)) + W t,      min  Σ_i |x_i - x(t_i)|² + α (Σ_j |w_j|² + |W|²),

k being a Gaussian. With the singular values s of the design (columns around their means), the fit
keeps the shares h = s² / (s² + α), and generalised cross-validation (Golub, Heath & Wahba 1979),

    GCV = n |residuals|² / (n - 1 - Σ h)²,

costs nothing more for each α: the width of k and α are those with the least.

(The pre-image by a fixed point, Mika et al. 1999, needs the components as vectors of feature space;
here they are known by their scores.)
"""

from __future__ import annotations

import numpy as np

from zeronorm.kernels import Kernel

#: Widths to choose from, times 1 / (2 total variance of the scores), and ridges.
WIDTHS, RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), 10.0 ** np.arange(-6.0, 2.5, 0.5)


class ScoresToRows:
    """The regression of rows (n x d) on their scores (n x k), with centres among the scores."""

    def __init__(self, scores: np.ndarray, rows: np.ndarray, centres: np.ndarray) -> None:
        self.centres, self.mean = centres, rows.mean(axis=0)
        least = np.finfo(float).tiny
        self.unit = max(float(scores.std(axis=0).max()), least)
        self.gcv = np.inf
        around = rows - self.mean
        size = max(float(np.abs(around).max()), least)  # squares of large numbers overflow
        variance = float(np.square(scores.std(axis=0) / self.unit).sum())
        for factor in WIDTHS:
            kernel = Kernel("rbf", gamma=0.5 * factor / max(variance, least) / self.unit**2)
            self._try(kernel, self._design(kernel, scores), around / size)
        self.weights *= size

    def _design(self, kernel: Kernel, scores: np.ndarray) -> np.ndarray:
        return np.column_stack([kernel.matrix(scores, self.centres), scores / self.unit])

    def _try(self, kernel: Kernel, design: np.ndarray, around: np.ndarray) -> None:
        """Take this width with the best ridge, if it is better than those before."""
        n, mean = len(design), design.mean(axis=0)
        left, sizes, right = np.linalg.svd(design - mean, full_matrices=False)
        parts = left.T @ around
        kept, total = np.sum(parts**2, axis=1), float(np.sum(around**2))
        for ridge in RIDGES:
            share = sizes**2 / (sizes**2 + ridge)
            residual = max(0.0, total - float((2.0 * share - share**2) @ kept))
            gcv = n * residual / max(n - 1.0 - float(share.sum()), np.finfo(float).eps) ** 2
            if gcv < self.gcv:
                self.gcv, self.kernel, self.design_mean = gcv, kernel, mean
                self.weights = right.T @ ((sizes / (sizes**2 + ridge))[:, None] * parts)

    def rows(self, scores: np.ndarray) -> np.ndarray:
        """Return the rows that these scores stand for."""
        design = self._design(self.kernel, scores) - self.design_mean
        return design @ self.weights + self.mean
