"""Coefficients for fixed vectors: a convex problem, solved to a certificate, of many models.

With the features Phi = L^-1 K^zx of the vectors, and the columns of a linear part beside them, the
objective of ``joint.py`` is, in the weights v and the intercept b of all outputs,

    W(v, b) = 1/2 |v|^2 + 1/2 sum_ik c_ik max(0, 1 - y_ik (v_k' Phi_i + b_k))^2.

min_b W is convex in v with a second derivative of at least one, so that where b is best

    W(v, b) - min W <= 1/2 |dW/dv|^2:

the certificate, for any loss that is convex and smooth (``losses.py``). While vectors move, a few
steps are enough: one Gauss-Newton matrix, shared by the outputs, scales the variables of a descent.
The last solution is by Newton's method (``certificate.py``), each output with its own matrix; W is
quadratic wherever the same rows are within the margin, or outside the tube, so that few steps are
needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.arrays import (
    as_on,
    cast,
    copied,
    epsilon,
    is_numpy,
    namespace,
    take,
    to_numpy,
    with_diagonal,
    zeros,
)
from zeronorm.blocks import row_blocks
from zeronorm.learned.certificate import RowSums, Sums, solve
from zeronorm.learned.joint import JointModels, squared_norms
from zeronorm.learned.kernel_sets import Rows, factors
from zeronorm.learned.losses import RowLoss
from zeronorm.solvers.lbfgs import minimise_together

#: The Gauss-Newton matrix gives every row at least this share of the mean weight.
LEAST_WEIGHT = 0.02

#: Up to so many numbers the features of all rows are kept; beyond, they are made again each time,
#: in blocks of so many.
KEPT, BLOCK = 2**23, 2**20

#: The same on a device with memory of its own, where a pass over few rows takes as long as one over
#: many.
DEVICE_KEPT, DEVICE_BLOCK = 2**28, 2**25

#: Steps of the descent before Newton's method.
STEPS = 30


class Coefficients:
    """The problem of the coefficients of several models on their rows.

    Parameters
    ----------
    models : JointModels
        The models; their vectors and widths stay.
    keeps : bool
        Whether the features of few rows are kept; else they are made again each time.
    """

    def __init__(self, models: JointModels, *, keeps: bool = True) -> None:
        self.models, self.loss, self.inverse = models, models.form.loss, models.inverse()
        n, width = len(models.rows), max(1, self.n_columns)
        kept, block = (KEPT, BLOCK) if is_numpy(self.inverse) else (DEVICE_KEPT, DEVICE_BLOCK)
        # A block of rows takes memory for their features, and for the rows themselves.
        widest = max(width * len(models), models.rows.n_features)
        self.slices = list(row_blocks(n, max(1, min(n, block // widest))))
        self.kept: list[tuple[Rows, Any]] | None = None
        if keeps and n * width * len(models) <= kept:
            # Once there are features, the rows themselves are not needed.
            self.kept = [(replace(rows, X=None), features) for rows, features in self._made()]

    @property
    def n_columns(self) -> int:
        """Weights of each output: terms, and features of the linear part."""
        return self.models.size + self.models.parameters.linear.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Rows, Any]]:
        """Yield blocks of rows with their features (models x columns x rows)."""
        for rows, (block, features) in zip(self.slices, self.kept or self._made(), strict=True):
            yield rows, block, features

    def _made(self) -> Iterator[tuple[Rows, Any]]:
        models = self.models
        for part in self.slices:
            rows = models.rows.take(part)
            values = models.kernel.values(models.parameters.vectors, models.current_widths, rows)
            features = self.inverse @ values
            if models.form.linear:
                parts = [features, models.linear_columns(rows)]
                features = namespace(features).concat(parts, axis=1)
            yield rows, features

    def point(self) -> Any:
        """Weights and intercepts as they are, (models, columns + 1, outputs)."""
        parameters = self.models.parameters
        parts = [parameters.weights, parameters.linear, parameters.intercept[:, None, :]]
        return namespace(parameters.weights).concat(parts, axis=1)

    def accept(self, point: Any) -> None:
        """Give the models these weights and intercepts."""
        m = self.models.size
        self.models.parameters = replace(
            self.models.parameters,
            weights=point[:, :m, :],
            linear=point[:, m:-1, :],
            intercept=point[:, -1, :],
        )

    def function(self, point: Any, some: np.ndarray) -> tuple[Any, Any]:
        """Return the objective of some models, and its gradient."""
        xp, value = namespace(point), 0.5 * squared_norms(point[:, :-1, :])
        gradient = copied(point)
        gradient[:, -1, :] = 0.0
        for part, rows, features in self.blocks():
            chosen = features if len(some) == features.shape[0] else take(features, some)
            cost = take(self.models.cost, some)[:, part]
            loss, slope = self.loss.total(_scores(point, chosen), rows, cost)
            value += loss
            gradient[:, :-1, :] += chosen @ slope.mT
            gradient[:, -1, :] += xp.sum(slope, axis=2)
        return value, gradient

    def scaling(self, point: Any) -> tuple[Any, Any]:
        """Triangular factor of a Gauss-Newton matrix for all outputs, and its inverse."""
        xp, size = namespace(point), self.n_columns + 1
        matrix = with_diagonal(zeros((point.shape[0], size, size), point), 1.0)
        matrix[:, -1, -1] = 0.0
        for part, rows, features in self.blocks():
            scores = _scores(point, features)
            weight = curvatures(self.loss, scores, rows, self.models.cost[:, part])
            weighted = features * cast(weight[:, None, :], point.dtype)
            matrix[:, :-1, :-1] += weighted @ features.mT
            matrix[:, :-1, -1] += xp.sum(weighted, axis=2)
            matrix[:, -1, -1] += xp.sum(weight, axis=1)
        matrix[:, -1, :-1] = matrix[:, :-1, -1]
        return factors(matrix, epsilon(point))

    def descend(self, max_steps: int, tolerance: float) -> np.ndarray:
        """Take steps from where the models are, and return their objectives."""
        start = self.point()
        xp, (factor, inverse) = namespace(start), self.scaling(start)
        flat = (start.shape[1] * start.shape[2],)

        def function(points: Any, some: np.ndarray) -> tuple[Any, Any]:
            own = take(inverse, some)
            at = own.mT @ xp.reshape(points, (points.shape[0], *start.shape[1:]))
            value, gradient = self.function(at, some)
            return value, xp.reshape(own @ gradient, (points.shape[0], *flat))

        done = minimise_together(
            function,
            xp.reshape(factor.mT @ start, (start.shape[0], *flat)),
            max_steps=max_steps,
            tolerance=tolerance,
        )
        self.accept(inverse.mT @ xp.reshape(done.points, start.shape))
        return done.values

    def losses(self, point: Any) -> Any:
        """Loss of each output, (models, outputs)."""
        total = 0.0
        for part, rows, features in self.blocks():
            scores = _scores(point, features)
            total = total + self.loss.of_outputs(scores, rows, self.models.cost[:, part])
        return total

    def sums(self, point: Any, dtype: Any) -> Sums:
        """Losses of the outputs, and derivatives; second products in this precision."""
        xp, found = namespace(point), Sums.nothing(point)
        n_models, _, n_outputs = point.shape
        for part, rows, features in self.blocks():
            scores, cost = _scores(point, features), self.models.cost[:, part]
            weight, slope = self.loss.second_order(copied(scores), rows, cost)
            found.loss += self.loss.of_outputs(scores, rows, cost)
            found.slope[:, :-1, :] += features @ slope.mT
            found.slope[:, -1, :] += xp.sum(slope, axis=2)
            found.mixed += features @ weight.mT
            found.corner += xp.sum(weight, axis=2)
            columns = cast(features, dtype)
            for model in range(n_models):
                for output in range(n_outputs):
                    squares = _weighted_squares(columns[model, :, :], weight[model, output, :])
                    found.matrix[model, output, ...] += cast(squares, found.matrix.dtype)
        return found


def _scores(point: Any, features: Any) -> Any:
    """Decision values (models, outputs, rows) of weights and intercepts."""
    return point[:, :-1, :].mT @ features + point[:, -1, :, None]


def curvatures(loss: RowLoss, scores: Any, rows: Rows, cost: Any) -> Any:
    """Weight of each row (models x rows) in the Gauss-Newton matrix that all outputs share."""
    xp = namespace(scores)
    is_active = xp.where(loss.is_curved(scores, rows.targets), rows.factors, 0.0)
    return cost * xp.mean(is_active, axis=1) + LEAST_WEIGHT * cost


def _weighted_squares(columns: Any, weight: Any) -> Any:
    """Return the sum of w x x' over the rows x within the margin, of their columns (m x n)."""
    xp, root = namespace(columns), cast(weight**0.5, columns.dtype)
    (active,) = xp.nonzero(root)
    scaled = xp.take(columns, active, axis=1) * xp.take(root, active)
    return scaled @ scaled.T  # of a matrix and its own transpose BLAS makes a half


def solve_coefficients(models: JointModels, *, max_steps: int, tolerance: float) -> None:
    """Improve the coefficients of the models by a few steps."""
    models.values = Coefficients(models).descend(max_steps, tolerance)


def certify(
    models: JointModels, tolerance: float, full_data: RowSums | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Solve the coefficients to a relative gap, and return objectives and the gaps reached.

    Parameters
    ----------
    models : JointModels
        The models; they have the solution afterwards.
    tolerance : float
        Gap that is enough, as a share of the objective.
    full_data : RowSums, optional
        All rows, where those of the models are a sample: the solution on the sample is where that
        on all begins.
    """
    problem = Coefficients(models)
    if problem.kept is not None:  # else each of its steps would make the features again
        problem.descend(STEPS, 0.0)
    point, models.values, gap = solve(problem, problem.point(), tolerance)
    if full_data is not None:
        there, models.values, gap = solve(full_data, to_numpy(point), tolerance)
        point = as_on(there, point)
    problem.accept(point)
    return models.values, gap
