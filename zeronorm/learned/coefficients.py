"""Coefficients for fixed vectors: a convex problem, solved to a certificate, of many models.

With the features Phi = L^-1 K^zx of the vectors, and the columns of a linear part beside them, the
objective of ``joint.py`` is, in the weights v and the intercept b of all outputs,

    W(v, b) = 1/2 |v|^2 + 1/2 sum_ik c_ik max(0, 1 - y_ik (v_k' Phi_i + b_k))^2.

min_b W is convex in v with a second derivative of at least one, so that where b is best

    W(v, b) - min W <= 1/2 |dW/dv|^2:

the certificate, for any loss that is convex and smooth. While vectors move, a few steps are enough:
one Gauss-Newton matrix, shared by the outputs, scales the variables of a descent. The last solution
is by Newton's method, each output with its own matrix; W is quadratic wherever the same rows are
within the margin, so that few steps are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from zeronorm.blocks import row_blocks
from zeronorm.learned.joint import JointModels, squared_hinge, squared_norms
from zeronorm.learned.kernel_sets import Rows, diagonal, factors, transposed
from zeronorm.solvers.lbfgs import minimise_together

#: The Gauss-Newton matrix gives every row at least this share of the mean weight.
EVEN = 0.02

#: Up to so many numbers the features of all rows are kept; beyond, they are made again each time,
#: in blocks of so many.
KEPT, BLOCK = 2**23, 2**20

#: Steps of the descent before Newton's method, most steps of that, most times one is halved, and
#: the share of the slope by which the value must fall.
STEPS, NEWTON_STEPS, HALVINGS, ARMIJO = 30, 50, 30, 1e-4


class Coefficients:
    """The problem of the coefficients of several models on their rows.

    Parameters
    ----------
    models : JointModels
        The models; their vectors and widths stay.
    """

    def __init__(self, models: JointModels) -> None:
        self.models, self.inverse = models, models.inverse()
        n, width = len(models.rows), max(1, self.n_columns)
        self.slices = list(row_blocks(n, max(1, min(n, BLOCK // (width * len(models))))))
        self.kept: list[tuple[Rows, np.ndarray]] | None = None
        if n * width * len(models) <= KEPT:
            self.kept = list(self._made())

    @property
    def n_columns(self) -> int:
        """Weights of each output: terms, and features of the linear part."""
        return self.models.size + self.models.parameters.linear.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Rows, np.ndarray]]:
        """Yield blocks of rows with their features (models x columns x rows)."""
        for rows, (block, features) in zip(self.slices, self.kept or self._made(), strict=True):
            yield rows, block, features

    def _made(self) -> Iterator[tuple[Rows, np.ndarray]]:
        models = self.models
        root = float(np.sqrt(models.form.linear))
        for part in self.slices:
            rows = models.rows.take(part)
            values = models.kernel.values(models.parameters.vectors, models.current_widths, rows)
            features = self.inverse @ values
            if root:
                X = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X
                if models.used is not None:
                    X = X * models.used.linear
                linear = np.broadcast_to(root * X.T, (len(models), X.shape[1], X.shape[0]))
                features = np.concatenate([features, linear], axis=1, dtype=rows.dtype)
            yield rows, features

    def point(self) -> np.ndarray:
        """Weights and intercepts as they are, (models, columns + 1, outputs)."""
        parameters = self.models.parameters
        parts = [parameters.weights, parameters.linear, parameters.intercept[:, None, :]]
        return np.concatenate(parts, axis=1)

    def accept(self, point: np.ndarray) -> None:
        """Give the models these weights and intercepts."""
        m = self.models.size
        self.models.parameters = replace(
            self.models.parameters,
            weights=point[:, :m],
            linear=point[:, m:-1],
            intercept=point[:, -1],
        )

    def function(self, point: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the objective of some models, and its gradient."""
        weights = point[:, :-1]
        value = 0.5 * squared_norms(weights)
        gradient = point.copy()
        gradient[:, -1] = 0.0
        for part, rows, features in self.blocks():
            chosen = features if len(some) == len(features) else features[some]
            scores = transposed(weights) @ chosen + point[:, -1, :, None]
            loss, slope = squared_hinge(scores, rows, self.models.cost[some][:, part])
            value += loss
            gradient[:, :-1] += chosen @ transposed(slope)
            gradient[:, -1] += slope.sum(axis=2)
        return value, gradient

    def scaling(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Triangular factor of a Gauss-Newton matrix for all outputs, and its inverse."""
        size = self.n_columns + 1
        matrix = np.zeros((len(point), size, size), point.dtype)
        diagonal(matrix)[:, :-1] = 1.0
        for part, rows, features in self.blocks():
            scores = transposed(point[:, :-1]) @ features + point[:, -1, :, None]
            is_active = (scores * rows.targets < 1.0) * rows.factors
            weight = self.models.cost[:, part] * is_active.mean(axis=1)
            weight = weight + EVEN * self.models.cost[:, part]
            weighted = features * weight[:, None, :].astype(point.dtype)
            matrix[:, :-1, :-1] += weighted @ transposed(features)
            matrix[:, :-1, -1] += weighted.sum(axis=2)
            matrix[:, -1, -1] += weight.sum(axis=1)
        matrix[:, -1, :-1] = matrix[:, :-1, -1]
        return factors(matrix, np.finfo(point.dtype).eps)

    def descend(self, max_steps: int, tolerance: float) -> np.ndarray:
        """Take steps from where the models are; their objectives come back."""
        start = self.point()
        factor, inverse = self.scaling(start)

        def function(points: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            at = transposed(inverse[some]) @ points.reshape(len(points), *start.shape[1:])
            value, gradient = self.function(at, some)
            return value, (inverse[some] @ gradient).reshape(len(points), -1)

        done = minimise_together(
            function,
            (transposed(factor) @ start).reshape(len(start), -1),
            max_steps=max_steps,
            tolerance=tolerance,
        )
        self.accept(transposed(inverse) @ done.points.reshape(start.shape))
        return done.values

    def newton_step(self, value: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take a Newton step for each output, halved until its value falls; values and point."""
        gradient, matrix = self._second_order(point)
        step = np.linalg.solve(matrix, transposed(gradient)[..., None])[..., 0]
        descent = np.sum(step * transposed(gradient), axis=2)
        length = np.ones_like(descent)
        for _ in range(HALVINGS):
            trial = point - transposed(length[:, :, None] * step)
            found = self.values(trial)
            is_enough = found <= value - ARMIJO * length * descent
            if is_enough.all():
                break
            length = np.where(is_enough, length, 0.5 * length)
        has_fallen = found <= value
        return np.where(has_fallen, found, value), np.where(has_fallen[:, None, :], trial, point)

    def values(self, point: np.ndarray) -> np.ndarray:
        """Objective of each output, (models, outputs)."""
        total = 0.5 * np.sum(point[:, :-1] ** 2, axis=1)
        for part, rows, features in self.blocks():
            scores = transposed(point[:, :-1]) @ features + point[:, -1, :, None]
            slack = np.maximum(1.0 - scores * rows.targets, 0.0)
            weight = self.models.cost[:, None, part] * rows.factors
            total = total + 0.5 * np.sum(weight * slack * slack, axis=2)
        return total

    def _second_order(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (models, columns + 1, outputs), and the second derivatives of each output."""
        gradient = point.copy()
        gradient[:, -1] = 0.0
        size = point.shape[1]
        matrix = np.zeros((len(point), point.shape[2], size, size))
        diagonal(matrix)[..., :-1] = 1.0
        for part, rows, features in self.blocks():
            scores = transposed(point[:, :-1]) @ features + point[:, -1, :, None]
            weight = self.models.cost[:, None, part] * rows.factors
            weight = weight * (scores * rows.targets < 1.0)
            slope = weight * (scores - rows.targets)  # of targets -1 and +1
            design = np.concatenate([features, np.ones_like(features[:, :1])], axis=1)
            gradient += design @ transposed(slope)
            for output in range(point.shape[2]):
                matrix[:, output] += (design * weight[:, None, output]) @ transposed(design)
        # An intercept without a row within the margin has no curvature, and no slope either.
        corner = diagonal(matrix)[..., -1]
        corner += np.where(corner > 0, 1e-12 * corner, 1.0)
        return gradient, matrix

    def gap(self, value: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Bound on the distance of each model from its minimum, as a share of its value.

        With an intercept that is not quite the best, the bound is for the best one, by a step.
        """
        gradient, matrix = self._second_order(point)
        by_intercept = gradient[:, -1] / diagonal(matrix)[..., -1]
        gradient[:, :-1] -= transposed(matrix[:, :, -1, :-1]) * by_intercept[:, None, :]
        total = np.maximum(value.sum(axis=1), np.finfo(float).tiny)
        own = 0.5 * np.sum(by_intercept**2 * diagonal(matrix)[..., -1], axis=1)
        return (0.5 * squared_norms(gradient[:, :-1]) + own) / total


def solve_coefficients(models: JointModels, *, max_steps: int, tolerance: float) -> None:
    """Improve the coefficients of the models by a few steps."""
    models.values = Coefficients(models).descend(max_steps, tolerance)


def certify(models: JointModels, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Solve the coefficients to a relative gap; objectives and the gaps reached come back."""
    problem = Coefficients(models)
    problem.descend(STEPS, 0.0)
    point = problem.point()
    value = problem.values(point)
    for _ in range(NEWTON_STEPS):
        before = value
        value, point = problem.newton_step(value, point)
        gap = problem.gap(value, point)
        if (gap <= tolerance).all() or (value == before).all():
            break
    problem.accept(point)
    models.values = value.sum(axis=1)
    return models.values, gap
