"""Wide data: few rows with many features are learned in coordinates of their span.

Where no feature has a width of its own, kernels depend on inner products and distances alone, which
do not change when the axes are turned; and vectors that start from rows stay in the span of the
rows, as does a linear part. Axes of that span are then enough: as many as there are rows. With the
principal axes the squares of a linear part are nearly independent of each other, so that its
descent is short.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.arrays import is_numpy
from zeronorm.base.training_set import TrainingRows
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.settings import LINEAR_FEATURES, Setting

#: Most entries, in columns that are not zero, of sparse rows that are turned.
SPAN_ENTRIES = 2**25


@dataclass(frozen=True)
class Span:
    """Axes (n x columns) of the span of some rows, in those columns that are not all zero."""

    axes: np.ndarray
    columns: np.ndarray
    n_features: int

    @classmethod
    def turn(cls, training: TrainingRows) -> tuple[Span, TrainingRows] | None:
        """Return the span of wide data, and the rows in its coordinates; None of other data."""
        data = training.data
        if not is_wide(data) or training.box is not None:
            return None  # turned, the sides of a box would not be those of features
        columns = filled_columns(data)
        if sparse.issparse(data):
            data = data.tocsc()[:, columns].toarray()
        left, sizes, axes = np.linalg.svd(data, full_matrices=False)
        span = cls(axes, columns, training.data.shape[1])
        return span, replace(training, data=left * sizes)

    def back(self, expansion: KernelExpansion) -> KernelExpansion:
        """Return an expansion in the features as given."""
        linear = None if expansion.linear is None else self._features(expansion.linear.T).T
        vectors = self._features(expansion.vectors)
        return KernelExpansion(
            vectors, expansion.coef, expansion.intercept, expansion.kernel, linear=linear
        )

    def _features(self, coordinates: np.ndarray) -> np.ndarray:
        features = np.zeros((len(coordinates), self.n_features))
        features[:, self.columns] = coordinates @ self.axes
        return features


def filled_columns(data: Any) -> np.ndarray:
    """Return which columns have entries: all of a plain array."""
    return np.unique(data.indices) if sparse.issparse(data) else np.arange(data.shape[1])


def is_wide(data: Any) -> bool:
    """Whether there are few rows, and fewer than features, and their axes fit into memory."""
    n_rows, n_features = data.shape
    if not is_numpy(data) or n_rows >= n_features or n_rows > LINEAR_FEATURES:
        return False
    return not sparse.issparse(data) or n_rows * len(filled_columns(data)) <= SPAN_ENTRIES


def may_be_linear(training: TrainingRows, widths: int) -> bool:
    """Whether a model with so many widths has room for a linear part that is not asked for.

    It is solved with a square matrix: of the rows or the features. Beside a metric it would have
    all features of wide data.
    """
    data, is_turned = training.data, is_wide(training.data) and training.box is None
    return widths <= 1 if is_turned else data.shape[1] <= LINEAR_FEATURES


def turned(training: TrainingRows, setting: Setting) -> tuple[Span | None, TrainingRows]:
    """Return the rows as a setting sees them, and their span if it is that of wide data."""
    found = Span.turn(training) if setting.widths <= 1 else None
    return found or (None, training)
