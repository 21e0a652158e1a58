"""The descent of joint models: variables scaled by a Gauss-Newton matrix, and growth.

See ``joint.py`` for the problem. New vectors are chosen among given rows by their predicted
gain, and all parameters then descend together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.arrays import (
    at_least,
    cast,
    copied,
    diagonal,
    epsilon,
    namespace,
    one_each,
    take,
    with_diagonal,
    zeros,
)
from zeronorm.learned.coefficients import curvatures, solve_coefficients
from zeronorm.learned.joint import JointModels, Parameters
from zeronorm.learned.kernel_sets import factors, products_with_rows, sums_over_rows
from zeronorm.learned.stochastic import BatchProblem
from zeronorm.solvers.gram import NEW_SHARE
from zeronorm.solvers.lbfgs import Bounds, minimise_together, within_box

#: Steps after which the scaling is made anew, and steps of the coefficients alone at the start.
REFRESH, COEFFICIENT_STEPS = 50, 6

#: Beyond so many features the linear part is scaled by a diagonal only.
FULL_LINEAR = 128

#: More new vectors at once than this are not chosen by their gain: they are any rows.
GREEDY = 64


def descend(models: JointModels, *, max_steps: int, tolerance: float) -> np.ndarray:
    """Let all parameters of the models go downhill, and return the steps that each took.

    ``models.falls`` then says by which share each of the last steps, up to ``REFRESH`` of them, has
    lowered the objective of those that have not converged.
    """
    solve_coefficients(models, max_steps=COEFFICIENT_STEPS, tolerance=tolerance)
    models.values, models.falls = models.objective(), np.zeros(len(models))
    steps = np.zeros(len(models), dtype=int)
    active, left = np.arange(len(models)), max_steps
    while len(active) and left > 0:
        part = models.take(active)
        scaling = ScaledVariables(part)
        done = minimise_together(
            scaling.function,
            scaling.start(),
            max_steps=min(REFRESH, left),
            tolerance=tolerance,
            bounds=scaling.bounds(),
        )
        found = scaling.parameters(done.points, np.arange(len(active)))
        if models.rows.box is not None:  # a bound times its scale may round to beyond it
            found = replace(found, vectors=within_box(found.vectors, *models.rows.box))
        models.parameters.put(active, found)
        fall = 1.0 - done.values / np.maximum(models.values[active], np.finfo(float).tiny)
        models.falls[active] = np.where(done.is_converged, 0.0, fall / np.maximum(done.steps, 1))
        models.values[active] = done.values
        steps[active] += done.steps
        left -= REFRESH
        active = active[~done.is_converged & (done.steps > 0)]
    return steps


def grow(models: JointModels, candidates: Any, count: int) -> int:
    """Add to every model the candidates (models x c x d) of the largest gains; return how many.

    The predicted gain of a candidate is the fall of the objective, to first order, along the part
    of phi(candidate) that is orthogonal to the span of the vectors: the squared slope over the
    squared length of that part. Each chosen candidate joins the span, as in a pivoted Cholesky
    factorisation, before the next is chosen.
    """
    xp, rows = namespace(candidates), models.rows
    parameters, widths = models.parameters, models.current_widths
    _, slope = models.form.loss.total(models.scores(rows), rows, models.cost)
    gains = -models.kernel.values(candidates, widths, rows) @ slope.mT
    beyond = models.kernel.gram(candidates, widths)
    lengths = copied(diagonal(beyond))
    if models.size:
        stacked = xp.concat([parameters.vectors, candidates], axis=1)
        cross = models.kernel.gram(stacked, widths)[:, : models.size, models.size :]
        inside = models.inverse() @ cross
        beyond -= inside.mT @ inside
        gains -= inside.mT @ parameters.weights
    chosen: list[Any] = []
    for _ in range(min(count, candidates.shape[1])):
        free = diagonal(beyond)
        is_new = free > NEW_SHARE * lengths
        if not bool(xp.all(xp.any(is_new, axis=1))):
            break  # the models have one size
        gain = xp.sum(gains**2, axis=2) / xp.where(is_new, free, 1.0)
        best = xp.argmax(xp.where(is_new, gain, -1.0), axis=1)
        chosen.append(best)
        root = xp.sqrt(one_each(free, best))[:, None]
        column = one_each(beyond.mT, best) / root
        gains = gains - column[:, :, None] * (one_each(gains, best) / root)[:, None, :]
        beyond = beyond - column[:, :, None] * column[:, None, :]
    if not chosen:
        return 0
    add_vectors(models, xp.stack([one_each(candidates, best) for best in chosen], axis=1))
    return len(chosen)


def add_vectors(models: JointModels, added: Any) -> None:
    """Add vectors (models x count x d) without weight; the functions stay as they are."""
    parameters, coef = models.parameters, models.coef()
    xp = namespace(added)
    vectors = xp.concat([parameters.vectors, added], axis=1)
    factor, _ = factors(models.kernel.gram(vectors, models.current_widths))
    nothing = zeros((len(models), added.shape[1], coef.shape[2]), vectors)
    weights = factor.mT @ xp.concat([coef, nothing], axis=1)
    models.parameters = replace(parameters, vectors=vectors, weights=weights)


class ScaledVariables:
    """Variables of the descent: the parameters, scaled by a Gauss-Newton matrix at its start."""

    def __init__(self, models: JointModels) -> None:
        self.models = models
        rows, parameters, widths = models.rows, models.parameters, models.current_widths
        values = models.kernel.values(parameters.vectors, widths, rows)
        inverse = models.inverse()
        weight = curvatures(models.form.loss, models.scores(rows), rows, models.cost)
        weight = cast(weight, rows.dtype)
        self._scale_coefficients(inverse @ values, weight)
        self._scale_vectors(values, weight, inverse.mT @ parameters.weights, widths)

    def _scale_coefficients(self, features: Any, weight: Any) -> None:
        """Factor the Gauss-Newton matrix of (v, b, w), the linear part's by itself where large."""
        rows, form = self.models.rows, self.models.form
        n_models, m, n = features.shape
        d = rows.n_features if form.linear else 0
        self.is_full = 0 < d <= FULL_LINEAR
        xp = namespace(features)
        columns = [features, zeros((n_models, 1, n), features) + 1.0]
        if self.is_full:
            columns.append(self.models.linear_columns(rows))
        elif d:
            curvature = 1.0 + form.linear * sums_over_rows(weight, rows.squares)
            self.linear = cast(1.0 / xp.sqrt(curvature), rows.dtype)
        design = xp.concat(columns, axis=1)
        matrix = (design * weight[:, None, :]) @ design.mT
        intercept = copied(matrix[:, m, m])
        matrix = with_diagonal(matrix, diagonal(matrix) + 1.0)
        matrix[:, m, m] = intercept * (1.0 + 1e-5)  # it has no ridge of its own
        self.factor, self.inverse = factors(matrix, epsilon(matrix))

    def _scale_vectors(self, values: Any, weight: Any, coef: Any, widths: Any) -> None:
        """Diagonals of the Gauss-Newton matrix for the vectors and the log widths."""
        xp, models, rows = namespace(values), self.models, self.models.rows
        vectors = models.parameters.vectors
        slopes = models.kernel.slopes(values, widths, lambda: products_with_rows(vectors, rows.X))
        shares = slopes * slopes
        shares *= weight[:, None, :]
        shares *= xp.sum(coef * coef, axis=2)[:, :, None]
        curvature = models.kernel.moments(shares, widths, rows)
        self.log_widths = xp.ones_like(models.parameters.log_widths)
        reach = xp.ones_like(widths)
        if models.form.kernel.name == "rbf":
            count = xp.sum(shares, axis=2)[:, :, None]
            cross = (2.0 * sums_over_rows(shares, rows.X) - count * vectors) * vectors
            curvature -= cross if widths.shape[1] > 1 else xp.sum(cross, axis=2, keepdims=True)
            curvature = at_least(curvature, 0.0) * widths[:, None, :]
            if models.form.widths:
                prior = 1.0 / models.form.spread**2
                # The curvature is (x - z)^4; where the kernel is not zero, gamma (x - z)^2 is
                # about one.
                self.log_widths = 1.0 / xp.sqrt(prior + xp.sum(curvature, axis=1))
            curvature *= 4.0 * widths[:, None, :]
            reach = xp.where(widths > 0, widths, 1.0)
        if widths.shape[1] == 1:  # of all features together, until here
            curvature /= rows.n_features
        mean = xp.mean(curvature, axis=(1, 2), keepdims=True) if vectors.shape[1] else 1.0
        # Where nothing is known of the curvature, not further in a step than the kernel reaches.
        self.vectors = 1.0 / xp.sqrt(curvature + 0.01 * mean + reach[:, None, :])

    def function(self, points: Any, models: np.ndarray) -> tuple[Any, Any]:
        """Return the objective of some models at these variables, and its gradient."""
        value, gradient = self.models.function(self.parameters(points, models), models)
        return value, self.gradient(gradient, models)

    def start(self) -> Any:
        """Variables of where the models are."""
        parameters = self.models.parameters
        parts = [self.factor.mT @ self._stack(parameters)]
        if self.models.form.linear and not self.is_full:
            parts.append(parameters.linear / self.linear[:, :, None])
        parts += [parameters.vectors / self.vectors, parameters.log_widths / self.log_widths]
        return self._flat(parts)

    def bounds(self) -> Bounds | None:
        """Return the bounds of the variables, where vectors have to stay in a box."""
        box, vectors = self.models.rows.box, self.models.parameters.vectors
        if box is None:
            return None
        xp, (count, m, d) = namespace(vectors), vectors.shape
        n_variables = self.start().shape[1]
        end = n_variables - self.models.parameters.log_widths.shape[1]
        ends = []
        for side, infinite in zip(box, (-np.inf, np.inf), strict=True):
            bound = zeros((count, n_variables), vectors) + infinite
            bound[:, end - m * d : end] = xp.reshape(side / self.vectors, (count, m * d))
            ends.append(bound)
        return Bounds(*ends)

    def parameters(self, points: Any, models: np.ndarray) -> Parameters:
        """Return the parameters of some models at these variables."""
        xp, given = namespace(points), self.models.parameters
        count, (_, m, d) = points.shape[0], given.vectors.shape
        n_outputs = given.intercept.shape[1]
        n_rows = self.factor.shape[1]
        at = n_rows * n_outputs
        coefficients = xp.reshape(points[:, :at], (count, n_rows, n_outputs))
        coefficients = take(self.inverse, models).mT @ coefficients
        linear = coefficients[:, m + 1 :, :] if self.is_full else take(given.linear, models)
        if self.models.form.linear and not self.is_full:
            part = xp.reshape(points[:, at : at + d * n_outputs], (count, d, n_outputs))
            linear = part * take(self.linear, models)[:, :, None]
            at += d * n_outputs
        vectors = xp.reshape(points[:, at : at + m * d], (count, m, d))
        vectors = vectors * take(self.vectors, models)
        log_widths = points[:, at + m * d :] * take(self.log_widths, models)
        weights, intercept = coefficients[:, :m, :], coefficients[:, m, :]
        return Parameters(vectors, weights, intercept, linear, log_widths)

    def gradient(self, gradient: Parameters, models: np.ndarray) -> Any:
        """Return the gradient by the variables of some models."""
        parts = [take(self.inverse, models) @ self._stack(gradient)]
        if self.models.form.linear and not self.is_full:
            parts.append(gradient.linear * take(self.linear, models)[:, :, None])
        parts.append(gradient.vectors * take(self.vectors, models))
        parts.append(gradient.log_widths * take(self.log_widths, models))
        return self._flat(parts)

    def _stack(self, parameters: Parameters) -> Any:
        parts = [parameters.weights, parameters.intercept[:, None, :]]
        if self.is_full:
            parts.append(parameters.linear)
        return namespace(parameters.weights).concat(parts, axis=1)

    @staticmethod
    def _flat(parts: list[Any]) -> Any:
        xp = namespace(parts[0])
        flat = [xp.reshape(part, (part.shape[0], int(np.prod(part.shape[1:])))) for part in parts]
        return xp.concat(flat, axis=1)


def grown(
    problem: BatchProblem,
    start: Parameters | None,
    some: np.ndarray,
    draw: Callable[[int], np.ndarray],
    terms: int,
    random: np.random.RandomState,
) -> JointModels:
    """Return models with so many terms on some rows, coefficients solved roughly.

    A few vectors are the rows of the largest predicted gain, further ones are any rows; ``draw``
    draws as many as it is told, of every class.
    """
    if start is None:
        rows = problem.source.take(some)
        start = Parameters.nothing(len(problem.Cs), rows, problem.form)
    models = problem.on_rows(some, start)
    steps, tolerance = 10, 1e-3
    solve_coefficients(models, max_steps=steps, tolerance=tolerance)
    while models.size < terms:
        wanted = terms - models.size
        count = min(wanted, GREEDY) if models.size < GREEDY else wanted
        drawn = draw(4 * count if count <= GREEDY else count)
        chosen = problem.source.take(random.permutation(drawn))
        dense = chosen.dense(slice(None))
        candidates = copied(namespace(dense).broadcast_to(dense, (len(models), *dense.shape)))
        if count > GREEDY:
            add_vectors(models, candidates[:, :count, :])
        elif grow(models, candidates, count) == 0:
            break
        solve_coefficients(models, max_steps=steps, tolerance=tolerance)
    return models
