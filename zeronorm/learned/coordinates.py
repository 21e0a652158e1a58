"""Coordinates that models are learned in: rows centred and scaled, and wide data in their span.

Units: rows around their mean, divided by the length of their kernel. There gamma="scale" is one,
whatever the units of the features are, so that single precision is enough to choose by, and no
square overflows.

Span: few rows with many features are learned in coordinates of their span. Where no feature has a
width of its own, kernels depend on inner products and distances alone, which a rotation of the axes
does not change; and vectors that start from rows stay in the span of the rows, as does a linear
part. Axes of that span are then enough: as many as there are rows. With the principal axes the
squares of a linear part are nearly independent of each other, so that its descent is short.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.arrays import (
    as_on,
    cast,
    double,
    dtype_on,
    is_mapped,
    is_numpy,
    namespace,
    take,
    to_numpy,
)
from zeronorm.base.training_set import PairRows, TrainingRows, learned_expansion
from zeronorm.blocks import row_blocks
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.learned.joint import JointModels
from zeronorm.learned.kernel_sets import Rows
from zeronorm.pairs import classes_of_pairs

#: Numbers of the rows in single precision up to which they are made once.
KEPT = 2**28

#: Most features, or rows, of a linear part that is not asked for: it takes a square matrix.
LINEAR_FEATURES = 400

#: Most entries, in columns that are not zero, of sparse rows that are rotated.
SPAN_ENTRIES = 2**25


@dataclass(frozen=True)
class Units:
    """Rows become factor * (x - centre); ``box`` is that of learned vectors, as it was given.

    ``block`` numbers of rows are made together.
    """

    factor: float
    centre: Any
    box: tuple[Any, Any] | None = None
    block: int = 2**18

    @classmethod
    def of(cls, training: TrainingRows) -> Units:
        """Return units for rows whose kernel has gamma="scale"."""
        kernel = training.kernel
        factor = 1.0 if kernel.name == "linear" else float(np.sqrt(kernel.gamma))
        if kernel.name != "rbf" or sparse.issparse(training.data):
            return cls(factor, 0.0, training.box)  # no other may be moved, and zeros must stay
        if is_numpy(training.data):
            return cls(factor, np.asarray(training.data.mean(axis=0, dtype=float)), training.box)
        total = namespace(training.data).sum(training.data, axis=0, dtype=double(training.data))
        return cls(factor, total / training.data.shape[0], training.box)

    def gamma(self, kernel: Kernel) -> float:
        """Gamma of a kernel in these units."""
        return kernel.gamma / self.factor**2 if kernel.name != "linear" else 1.0

    def rows(self, training: TrainingRows, indices: Any, dtype: Any) -> Rows:
        """Return some training rows in these units."""
        data = take(training.data, indices)
        indices = indices if isinstance(indices, slice) else to_numpy(indices)
        if sparse.issparse(data) and not isinstance(self.centre, float):
            data = data.toarray()  # units of rows that were few enough to be plain arrays
        if sparse.issparse(data):
            data = cast(data * self.factor, dtype)
        else:
            data = self._moved(data, dtype)
        parts = training.targets[indices], training.output_factors(indices)
        targets, factors = (as_on(part.T, training.data, dtype) for part in parts)
        box, pairs = self.own_box(dtype, training.data), isinstance(training, PairRows)
        return Rows(data, targets, factors, box, pairs)

    def _moved(self, data: Any, dtype: Any) -> Any:
        """Return plain rows in these units; many of them without another array of their size."""
        if type(data) is not np.ndarray or data.size <= self.block:
            return cast((cast(data, double(data)) - self.centre) * self.factor, dtype)
        moved = np.empty_like(data, dtype=dtype)
        for part in row_blocks(len(data), max(1, self.block // data.shape[1])):
            moved[part] = (data[part].astype(float, copy=False) - self.centre) * self.factor
        return moved

    def own_box(self, dtype: Any, like: Any) -> tuple[Any, Any] | None:
        """Return the box of learned vectors in these units, on the device of the rows."""
        if self.box is None:
            return None
        centre = self.centre if isinstance(self.centre, float) else to_numpy(self.centre)
        low, high = ((end - centre) * self.factor for end in self.box)
        return as_on(low, like, dtype), as_on(high, like, dtype)

    def expansion(self, models: JointModels, index: int, objective: float) -> KernelExpansion:
        """Return one of the models in the units of the features as given."""
        parameters, form = models.parameters, models.form
        centre = self.centre if isinstance(self.centre, float) else to_numpy(self.centre)
        coef = _of_model(models.coef(), index)
        used = coef.any(axis=1)
        vectors = _of_model(parameters.vectors, index)[used] / self.factor + centre
        if self.box is not None:
            vectors = np.clip(vectors, *self.box)  # rounding on the way
        intercept = _of_model(parameters.intercept, index)
        linear = None
        if form.linear:
            root = float(np.sqrt(form.linear)) * self.factor
            linear = root * _of_model(parameters.linear, index)
            if isinstance(centre, np.ndarray):
                intercept = intercept - centre @ linear
        widths = _of_model(models.current_widths, index) * self.factor**2
        kernel = form.kernel.with_gamma(float(widths.mean())) if len(widths) else form.kernel
        if form.widths > 1:
            kernel = kernel.with_metric(widths / widths.mean())
        classes = classes_of_pairs(len(intercept)) if form.pairs else None
        parts = vectors, coef[used], intercept, kernel
        return learned_expansion(*parts, objective, linear, vote_classes=classes)


def _of_model(arrays: Any, index: int) -> np.ndarray:
    """Return the array of one model, in NumPy and in double precision."""
    return to_numpy(arrays)[index].astype(float)


class TrainingSource:
    """All training rows in the units of the learner, made block by block."""

    #: Whether rows can be taken without anything of NumPy: only such steps can be recorded.
    is_on_device = False

    def __init__(self, training: TrainingRows, units: Units, dtype: Any = np.float64) -> None:
        self.training, self.units = training, units
        self.dtype = dtype_on(dtype, training.data)
        #: An array of the library, the device and the type of all numbers.
        self.like = as_on(np.zeros(0, dtype), training.data)
        self.n_features, self.n_outputs = training.data.shape[1], training.targets.shape[1]

    def __len__(self) -> int:
        return len(self.training.codes)

    def take(self, indices: Any) -> Rows:
        """Return some of the rows."""
        return self.units.rows(self.training, indices, self.dtype)


@dataclass
class SomeRows:
    """Some of the training rows in the units of the learner, for batches."""

    source: Any
    indices: np.ndarray

    def __post_init__(self) -> None:
        self.like, self.is_on_device = self.source.like, self.source.is_on_device
        self.indices = as_on(self.indices, self.like)

    def __len__(self) -> int:
        return self.indices.shape[0]

    def take(self, indices: Any) -> Any:
        """Return some of the rows."""
        return self.source.take(take(self.indices, indices))


def batch_source(training: TrainingRows, units: Units, dtype: Any, kept: int = KEPT) -> Any:
    """All rows in the units of the learner: made once if so many numbers, else batch by batch.

    Of a file that is mapped into memory there is no copy.
    """
    if np.prod(training.data.shape, dtype=float) <= kept and not is_mapped(training.data):
        return units.rows(training, slice(None), dtype)
    return TrainingSource(training, units, dtype)


@dataclass(frozen=True)
class Span:
    """Axes (n x columns) of the span of some rows, in those columns that are not all zero."""

    axes: np.ndarray
    columns: np.ndarray
    n_features: int

    @classmethod
    def of(cls, training: TrainingRows) -> tuple[Span, TrainingRows] | None:
        """Return the span of wide data, and the rows in its coordinates; None of other data."""
        data = training.data
        if not is_wide(data) or training.box is not None:
            return None  # rotated, the sides of a box would not be those of features
        columns = filled_columns(data)
        if sparse.issparse(data):
            data = data.tocsc()[:, columns].toarray()
        left, sizes, axes = np.linalg.svd(data, full_matrices=False)
        span = cls(axes, columns, training.data.shape[1])
        return span, replace(training, data=left * sizes)

    def back(self, expansion: KernelExpansion) -> KernelExpansion:
        """Return an expansion in the features as given."""
        linear = None if expansion.linear is None else self._features(expansion.linear.T).T
        return KernelExpansion(
            self._features(expansion.vectors),
            expansion.coef,
            expansion.intercept,
            expansion.kernel,
            linear=linear,
            vote_classes=expansion.vote_classes,
            pair_scores=expansion.pair_scores,
        )

    def _features(self, coordinates: np.ndarray) -> np.ndarray:
        features = np.zeros((len(coordinates), self.n_features))
        features[:, self.columns] = coordinates @ self.axes
        return features


def filled_columns(data: Any) -> np.ndarray:
    """Return which columns have entries: all of a plain array."""
    return np.unique(data.indices) if sparse.issparse(data) else np.arange(data.shape[1])


def is_wide(data: Any, entries: int = SPAN_ENTRIES) -> bool:
    """Whether there are few rows, and fewer than features, with axes of at most so many entries."""
    n_rows, n_features = data.shape
    if not is_numpy(data) or n_rows >= n_features or n_rows > LINEAR_FEATURES:
        return False
    return not sparse.issparse(data) or n_rows * len(filled_columns(data)) <= entries


def may_be_linear(training: TrainingRows, widths: int) -> bool:
    """Whether a model with so many widths has room for a linear part that is not asked for.

    It is solved with a square matrix: of the rows or the features. Beside a metric it would have
    all features of wide data.
    """
    data, is_rotated = training.data, is_wide(training.data) and training.box is None
    return widths <= 1 if is_rotated else data.shape[1] <= LINEAR_FEATURES


def rotated(training: TrainingRows, widths: int) -> tuple[Span | None, TrainingRows]:
    """Return the rows as a model with so many widths sees them, and the span of wide data."""
    found = Span.of(training) if widths <= 1 else None
    return found or (None, training)
