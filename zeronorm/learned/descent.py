"""The descent of joint models: variables scaled by a Gauss-Newton matrix, and growth.

See ``joint.py`` for the problem. New vectors are chosen among given rows by what they promise, and
all parameters then descend together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from zeronorm.learned.coefficients import EVEN, solve_coefficients
from zeronorm.learned.joint import JointModels, Parameters, squared_hinge
from zeronorm.learned.kernel_sets import (
    diagonal,
    factors,
    products_with_rows,
    sums_over_rows,
    transposed,
)
from zeronorm.solvers.lbfgs import minimise_together

#: Steps after which the scaling is made anew, and steps of the coefficients alone before it.
REFRESH, AHEAD = 50, 6

#: Beyond so many features the linear part is scaled by a diagonal only.
FULL_LINEAR = 128

#: A further vector must have this share of its length outside the space that is there.
NEW_SHARE = 1e-3


def descend(models: JointModels, *, max_steps: int, tolerance: float) -> np.ndarray:
    """Let all parameters of the models go downhill; the steps that each took come back.

    ``models.falls`` then says by which share each of the last steps, up to ``REFRESH`` of them, has
    lowered the objective of those that are not at rest.
    """
    solve_coefficients(models, max_steps=AHEAD, tolerance=tolerance)
    models.values, models.falls = models.objective(), np.zeros(len(models))
    steps = np.zeros(len(models), dtype=int)
    active, left = np.arange(len(models)), max_steps
    while len(active) and left > 0:
        part = models.take(active)
        scaling = Scaling(part)
        done = minimise_together(
            scaling.function,
            scaling.start(),
            max_steps=min(REFRESH, left),
            tolerance=tolerance,
        )
        models.parameters.put(active, scaling.parameters(done.points, np.arange(len(active))))
        fall = 1.0 - done.values / np.maximum(models.values[active], np.finfo(float).tiny)
        models.falls[active] = np.where(done.is_converged, 0.0, fall / np.maximum(done.steps, 1))
        models.values[active] = done.values
        steps[active] += done.steps
        left -= REFRESH
        active = active[~done.is_converged & (done.steps > 0)]
    return steps


def grow(models: JointModels, candidates: np.ndarray, count: int) -> int:
    """Add to every model the candidates (models x c x d) that promise most; how many.

    A candidate promises what the objective falls to first order along phi(candidate), as far as
    that lies outside the space that is there: the squared slope over the squared length. Those
    chosen before it are taken into that space, and what they would take of the slope off.
    """
    rows, parameters, widths = models.rows, models.parameters, models.current_widths
    _, slope = squared_hinge(models.scores(rows), rows, models.cost)
    gains = -models.kernel.values(candidates, widths, rows) @ transposed(slope)
    beyond = models.kernel.gram(candidates, widths)
    lengths = diagonal(beyond).copy()
    if models.size:
        stacked = np.concatenate([parameters.vectors, candidates], axis=1)
        cross = models.kernel.gram(stacked, widths)[:, : models.size, models.size :]
        inside = models.inverse() @ cross
        beyond -= transposed(inside) @ inside
        gains -= transposed(inside) @ parameters.weights
    everyone = np.arange(len(models))
    chosen: list[np.ndarray] = []
    for _ in range(min(count, candidates.shape[1])):
        free = diagonal(beyond)
        is_new = free > NEW_SHARE * lengths
        if not is_new.any(axis=1).all():
            break  # the models have one size
        gain = np.where(is_new, np.sum(gains**2, axis=2) / np.where(is_new, free, 1.0), -1.0)
        best = gain.argmax(axis=1)
        chosen.append(best)
        root = np.sqrt(free[everyone, best])[:, None]
        column = beyond[everyone, :, best] / root
        gains = gains - column[:, :, None] * (gains[everyone, best] / root)[:, None, :]
        beyond = beyond - column[:, :, None] * column[:, None, :]
    if not chosen:
        return 0
    add_vectors(models, candidates[everyone[:, None], np.stack(chosen, axis=1)])
    return len(chosen)


def add_vectors(models: JointModels, added: np.ndarray) -> None:
    """Add vectors (models x count x d) without weight; the functions stay as they are."""
    parameters, coef = models.parameters, models.coef()
    vectors = np.concatenate([parameters.vectors, added], axis=1)
    factor, _ = factors(models.kernel.gram(vectors, models.current_widths))
    nothing = np.zeros((len(models), added.shape[1], coef.shape[2]), vectors.dtype)
    weights = transposed(factor) @ np.concatenate([coef, nothing], axis=1)
    models.parameters = replace(parameters, vectors=vectors, weights=weights)


class Scaling:
    """Variables of the descent: the parameters, scaled by a Gauss-Newton matrix at its start."""

    def __init__(self, models: JointModels) -> None:
        self.models = models
        rows, parameters, widths = models.rows, models.parameters, models.current_widths
        values = models.kernel.values(parameters.vectors, widths, rows)
        inverse = models.inverse()
        is_active = (models.scores(rows) * rows.targets < 1.0) * rows.factors
        weight = models.cost * is_active.mean(axis=1) + EVEN * models.cost
        weight = weight.astype(rows.dtype, copy=False)
        self._scale_coefficients(inverse @ values, weight)
        self._scale_vectors(values, weight, transposed(inverse) @ parameters.weights, widths)

    def _scale_coefficients(self, features: np.ndarray, weight: np.ndarray) -> None:
        """Factor the Gauss-Newton matrix of (v, b, w), the linear part's by itself where large."""
        rows, form = self.models.rows, self.models.form
        n_models, m, n = features.shape
        d = rows.n_features if form.linear else 0
        self.is_full = 0 < d <= FULL_LINEAR
        columns = [features, np.ones((n_models, 1, n), rows.dtype)]
        if self.is_full:
            X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
            X = X if self.models.used is None else X * self.models.used.linear
            columns.append(np.broadcast_to(np.sqrt(form.linear) * X.T, (n_models, d, n)))
        elif d:
            curvature = 1.0 + form.linear * sums_over_rows(weight, rows.squares)
            self.linear = (1.0 / np.sqrt(curvature)).astype(rows.dtype)
        design = np.concatenate(columns, axis=1, dtype=rows.dtype)
        matrix = (design * weight[:, None, :]) @ transposed(design)
        intercept = matrix[:, m, m].copy()
        diagonal(matrix)[...] += 1.0
        matrix[:, m, m] = intercept * (1.0 + 1e-5)  # it has no ridge of its own
        self.factor, self.inverse = factors(matrix, np.finfo(rows.dtype).eps)

    def _scale_vectors(
        self, values: np.ndarray, weight: np.ndarray, coef: np.ndarray, widths: np.ndarray
    ) -> None:
        """Diagonals of the Gauss-Newton matrix for the vectors and the log widths."""
        models, rows = self.models, self.models.rows
        vectors = models.parameters.vectors
        slopes = models.kernel.slopes(values, widths, lambda: products_with_rows(vectors, rows.X))
        shares = slopes * slopes
        shares *= weight[:, None, :]
        shares *= np.sum(coef * coef, axis=2)[:, :, None]
        curvature = models.kernel.moments(shares, widths, rows)
        self.log_widths = np.ones_like(models.parameters.log_widths)
        reach = np.ones_like(widths)
        if models.form.kernel.name == "rbf":
            count = shares.sum(axis=2)[:, :, None]
            cross = (2.0 * sums_over_rows(shares, rows.X) - count * vectors) * vectors
            curvature -= cross if widths.shape[1] > 1 else cross.sum(axis=2, keepdims=True)
            curvature = np.maximum(curvature, 0.0) * widths[:, None, :]
            if models.form.widths:
                prior = 1.0 / models.form.spread**2
                # The curvature is (x - z)^4; where the kernel is not zero, gamma (x - z)^2 is
                # about one.
                self.log_widths = 1.0 / np.sqrt(prior + curvature.sum(axis=1))
            curvature *= 4.0 * widths[:, None, :]
            reach = np.where(widths > 0, widths, 1.0)
        if widths.shape[1] == 1:  # of all features together, until here
            curvature /= rows.n_features
        mean = curvature.mean(axis=(1, 2), keepdims=True) if vectors.shape[1] else 1.0
        # Where nothing is known of the curvature, not further in a step than the kernel reaches.
        self.vectors = 1.0 / np.sqrt(curvature + 0.01 * mean + reach[:, None, :])

    def function(self, points: np.ndarray, models: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the objective of some models at these variables, and its gradient."""
        value, gradient = self.models.function(self.parameters(points, models), models)
        return value, self.gradient(gradient, models)

    def start(self) -> np.ndarray:
        """Variables of where the models are."""
        parameters = self.models.parameters
        parts = [transposed(self.factor) @ self._stack(parameters)]
        if self.models.form.linear and not self.is_full:
            parts.append(parameters.linear / self.linear[:, :, None])
        parts += [parameters.vectors / self.vectors, parameters.log_widths / self.log_widths]
        return self._flat(parts)

    def parameters(self, points: np.ndarray, models: np.ndarray) -> Parameters:
        """Return the parameters of some models at these variables."""
        given = self.models.parameters
        _, m, d = given.vectors.shape
        n_outputs = given.intercept.shape[1]
        count = self.factor.shape[1] * n_outputs
        coefficients = points[:, :count].reshape(len(points), -1, n_outputs)
        coefficients = transposed(self.inverse[models]) @ coefficients
        linear = coefficients[:, m + 1 :] if self.is_full else given.linear[models]
        if self.models.form.linear and not self.is_full:
            part = points[:, count : count + d * n_outputs].reshape(len(points), d, n_outputs)
            linear = part * self.linear[models][:, :, None]
            count += d * n_outputs
        vectors = points[:, count : count + m * d].reshape(len(points), m, d)
        vectors = vectors * self.vectors[models]
        log_widths = points[:, count + m * d :] * self.log_widths[models]
        return Parameters(vectors, coefficients[:, :m], coefficients[:, m], linear, log_widths)

    def gradient(self, gradient: Parameters, models: np.ndarray) -> np.ndarray:
        """Return the gradient by the variables of some models."""
        parts = [self.inverse[models] @ self._stack(gradient)]
        if self.models.form.linear and not self.is_full:
            parts.append(gradient.linear * self.linear[models][:, :, None])
        parts.append(gradient.vectors * self.vectors[models])
        parts.append(gradient.log_widths * self.log_widths[models])
        return self._flat(parts)

    def _stack(self, parameters: Parameters) -> np.ndarray:
        parts = [parameters.weights, parameters.intercept[:, None, :]]
        if self.is_full:
            parts.append(parameters.linear)
        return np.concatenate(parts, axis=1)

    @staticmethod
    def _flat(parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
