"""Newton's method on the coefficients, to a certificate, wherever the rows are.

The problem is that of ``coefficients.py``. All that is asked of the rows are sums over them, at a
point: losses, and first and second derivatives (:class:`Sums`). Sums of parts of the rows are
added, so that rows may be in memory or spread over a cluster (``dask/rows.py``): the method is the
same, and so is its solution but for rounding.

A step that is accepted at once, as most are, takes one pass over the rows: the sums at its end are
those that the next step starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from zeronorm.arrays import as_on, at_least, namespace, solved, to_numpy, with_diagonal, zeros
from zeronorm.learned.joint import squared_norms
from zeronorm.solvers.lbfgs import ARMIJO

#: Most steps, and most times one is halved.
NEWTON_STEPS, HALVINGS = 50, 30

#: Values that differ by this share are equal: sums over rows are no more exact. Near the minimum a
#: step lowers the gradient when the value no longer shows it.
ROUNDING = 1e-15

#: Beyond so many columns the products are made in single precision, which is enough for a
#: direction, until it finds none.
FEW_COLUMNS = 128


@dataclass
class Sums:
    """Sums over rows, of every model and output.

    ``loss`` (models, outputs); ``slope``, its derivative by weights and intercept (models, columns
    + 1, outputs); the second ones by weights twice, ``matrix`` (models, outputs, columns, columns),
    by intercept and weights, ``mixed`` (models, columns, outputs), and by intercept twice,
    ``corner`` (models, outputs).
    """

    loss: Any
    slope: Any
    matrix: Any
    mixed: Any
    corner: Any

    @classmethod
    def nothing(cls, point: Any) -> Sums:
        """Return the sums over no rows, for points of this shape."""
        n_models, size, n_outputs = point.shape
        shapes = (
            (n_models, n_outputs),
            point.shape,
            (n_models, n_outputs, size - 1, size - 1),
            (n_models, size - 1, n_outputs),
            (n_models, n_outputs),
        )
        return cls(*(zeros(shape, point, np.float64) for shape in shapes))

    def beside(self, point: Any) -> Sums:
        """Return the same sums in the library and on the device of an array."""
        return Sums(*(as_on(part, point) for part in vars(self).values()))

    def __iadd__(self, other: Sums) -> Sums:
        for name, part in vars(other).items():
            vars(self)[name] += part
        return self


class RowSums(Protocol):
    """Rows, of which only sums are asked for."""

    def losses(self, point: Any) -> Any:
        """Loss of each output (models, outputs) at weights and intercepts."""

    def sums(self, point: Any, dtype: Any) -> Sums:
        """Losses and their derivatives, second products in this precision."""


def solve(rows: RowSums, point: Any, tolerance: float) -> tuple[Any, np.ndarray, np.ndarray]:
    """Minimise over weights and intercepts from a point on.

    Parameters
    ----------
    rows : RowSums
        The rows.
    point : array of shape (models, columns + 1, outputs)
        Weights and intercepts to begin with.
    tolerance : float
        Gap that is enough, as a share of the objective.

    Returns
    -------
    point, values, gaps : arrays
        The solution, the objective of each model, and a bound on how far it is from its minimum.
    """
    dtype: Any = np.float32 if point.shape[1] - 1 > FEW_COLUMNS else np.float64
    at = rows.sums(point, dtype)
    value = _values(point, at.loss)
    for _ in range(NEWTON_STEPS):
        before = value
        value, point, there = _step(rows, value, point, at, dtype)
        is_stuck = bool(namespace(value).all(value == before))
        was_exact, dtype = dtype is np.float64, np.float64 if is_stuck else dtype
        at = there or rows.sums(point, dtype)
        gap = _gap(value, point, at)
        if (gap <= tolerance).all() or is_stuck and was_exact:
            break
    return point, to_numpy(value).sum(axis=1), gap


def _values(point: Any, losses: Any) -> Any:
    """Objective of each output, (models, outputs)."""
    return 0.5 * namespace(point).sum(point[:, :-1, :] ** 2, axis=1) + losses


def _step(
    rows: RowSums, value: Any, point: Any, at: Sums, dtype: Any
) -> tuple[Any, Any, Sums | None]:
    """Take a Newton step for each output, halved until its value falls.

    Values, the new point, and the sums there if they were needed are returned.
    """
    xp, gradient = namespace(point), _gradient(point, at).mT
    step = solved(_matrix(at), gradient[..., None])[..., 0]
    descent = xp.sum(step * gradient, axis=2)
    length = xp.ones_like(descent)
    for halving in range(HALVINGS):
        trial = point - (length[:, :, None] * step).mT
        there = rows.sums(trial, dtype) if halving == 0 else None
        found = _values(trial, rows.losses(trial) if there is None else there.loss)
        is_enough = found <= value - ARMIJO * length * descent + ROUNDING * value
        if bool(xp.all(is_enough)):
            return found, trial, there
        length = xp.where(is_enough, length, 0.5 * length)
    has_fallen = found <= value
    value = xp.where(has_fallen, found, value)
    return value, xp.where(has_fallen[:, None, :], trial, point), None


def _gradient(point: Any, at: Sums) -> Any:
    """Differentiate the objective by weights and intercept; only weights are penalised."""
    penalised = 0.0 * point
    penalised[:, :-1, :] = point[:, :-1, :]
    return penalised + at.slope


def _matrix(at: Sums) -> Any:
    """Second derivatives by weights and intercept (models, outputs, columns + 1, columns + 1)."""
    n_models, n_outputs, size, _ = at.matrix.shape
    matrix = with_diagonal(zeros((n_models, n_outputs, size + 1, size + 1), at.matrix), 1.0)
    matrix[..., :-1, :-1] += at.matrix
    matrix[..., -1, :-1] = matrix[..., :-1, -1] = at.mixed.mT
    matrix[..., -1, -1] = _with_curvature(at.corner)
    return matrix


def _gap(value: Any, point: Any, at: Sums) -> np.ndarray:
    """Bound on the distance of each model from its minimum, as a share of its value.

    With an intercept that is not quite the best, the bound is for the best one, by a step.
    """
    xp, gradient = namespace(value), _gradient(point, at)
    by_intercept = gradient[:, -1, :] / _with_curvature(at.corner)
    by_weights = gradient[:, :-1, :] - at.mixed * by_intercept[:, None, :]
    total = at_least(xp.sum(value, axis=1), float(np.finfo(float).tiny))
    own = 0.5 * xp.sum(by_intercept**2 * at.corner, axis=1)
    return to_numpy((0.5 * squared_norms(by_weights) + own) / total)


def _with_curvature(corner: Any) -> Any:
    """Return second derivatives by intercepts; one of no row within the margin has no slope."""
    return corner + namespace(corner).where(corner > 0, 1e-12 * corner, 1.0)
