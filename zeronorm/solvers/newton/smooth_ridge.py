"""A ridge penalty and a smooth convex loss of the margins, solved to a certificate.

One round of reweighting with Lambda = diag(1 / scale), for one output:

    min over alpha, b   F = 1/2 alpha' Lambda alpha + sum_i c_i loss(y_i (K alpha + b)_i).

With alpha = sqrt(scale) * v this is 1/2 |v|^2 + a convex function of (v, b). Method: Newton steps
with a line search. Certificate: the function of v that is left when b is chosen best is convex
with modulus one, so at a best b

    F(v, b) - min F <= 1/2 |gradient with respect to v|^2.

The intercept is not penalised.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import solve
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_ndtr

from zeronorm.solvers.design import ScaledRows, column_sizes
from zeronorm.solvers.reweighting.loop import Round

#: Most Newton steps of one weighted problem; it comes back with the gap it has.
MAX_STEPS = 100

#: With more columns a Newton step is found by conjugate gradients, to this relative residual, with
#: at most so many products. The penalty makes all but a few eigenvalues of the matrix nearly one,
#: so that a few products do; one costs a thirtieth of forming the matrix at 1000 columns.
MANY_COLUMNS, INEXACT, MOST_PRODUCTS = 500, 0.1, 50


class MarginLoss(Protocol):
    """A convex decreasing loss of the margin, smooth."""

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Loss of each row."""

    def slope_and_curvature(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative."""


class ProbitLoss:
    """Minus the logarithm of the normal distribution function."""

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Loss of each row."""
        return -log_ndtr(margin)

    def slope_and_curvature(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative: with h = density / distribution, -h and h (h + margin)."""
        hazard = np.exp(-0.5 * margin**2 - log_ndtr(margin)) / np.sqrt(2.0 * np.pi)
        # Far on the wrong side h + margin is a small difference of large numbers; it is positive.
        return -hazard, hazard * np.maximum(hazard + margin, 0.0)


class SmoothRidge:
    """The weighted problem for the reweighting loop, with one or several outputs.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1 of each output.
    cost : ndarray of shape (n,)
        Positive weight of each row's loss.
    loss : MarginLoss
        The loss.
    """

    def __init__(
        self, values: np.ndarray, targets: np.ndarray, cost: np.ndarray, loss: MarginLoss
    ) -> None:
        # Around their means: the intercept, which is free, takes up what a column has in common,
        # and rounding is that of what is left. A flat kernel has little else in common.
        self.means = (cost @ values) / cost.sum()
        self.values, self.targets, self.cost, self.loss = values - self.means, targets, cost, loss
        self.column_sizes = column_sizes(self.values)
        self.coef = np.zeros((values.shape[1], targets.shape[1]))
        self.intercept = np.zeros(targets.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of terms that are left."""
        return self.values.shape[1]

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = self.values[:, columns]
        self.coef, self.means = self.coef[columns], self.means[columns]
        self.column_sizes = self.column_sizes[columns]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with Lambda = diag(1 / scale), each output warm started from its last solution."""
        root = np.sqrt(scale)
        rows = ScaledRows(self.values, root)
        points = []
        for k, target in enumerate(self.targets.T):
            start = self.coef[:, k] / root
            point = _Point(rows, target, self.cost, self.loss, start, self.intercept[k])
            while point.gap > tolerance and point.steps < MAX_STEPS and point.newton_step():
                pass
            points.append(point)
            self.coef[:, k] = root * point.v
            self.intercept[k] = point.b
        gap = max(point.gap for point in points)
        loss = sum(point.loss_value for point in points)
        return Round(self.coef.copy(), self.intercept - self.means @ self.coef, loss, gap)


class _Point:
    """The current point (v, b) of one output, b being best for its v."""

    def __init__(
        self,
        rows: ScaledRows,
        target: np.ndarray,
        cost: np.ndarray,
        loss: MarginLoss,
        v: np.ndarray,
        b: float,
    ) -> None:
        self.rows, self.target, self.cost, self.loss = rows, target, cost, loss
        self.v, self.b, self.scores = v, b, rows.apply(v)
        self.all_rows = np.arange(len(target))
        self.steps = 0
        self._evaluate()

    def _evaluate(self) -> None:
        """Move b to its best, and take the gradient there."""
        self.b = best_intercept(self.scores, self.target, self.cost, self.loss, self.b)
        margin = self.target * (self.scores + self.b)
        slope, curvature = self.loss.slope_and_curvature(margin)
        self.curvature = self.cost * curvature
        self.gradient = self.v + self.rows.adjoint(self.target * self.cost * slope)
        self.loss_value = float(self.cost @ self.loss.value(margin))
        self.value = self.loss_value + 0.5 * float(self.v @ self.v)
        self.gap = 0.5 * float(self.gradient @ self.gradient) / self.value

    def newton_step(self) -> bool:
        """Take a Newton step; False if rounding has left nothing to descend."""
        step = self._direction()
        descent = float(self.gradient @ step)
        if not descent < 0:
            return False
        before = self.v, self.b, self.scores, self.value
        change = self.rows.apply(step)
        length = 1.0
        while length > 1e-10:
            self.v = before[0] + length * step
            self.scores = before[2] + length * change
            self._evaluate()
            if self.value <= before[3] + 1e-4 * length * descent:
                self.steps += 1
                return True
            length *= 0.5
        self.v, self.b, self.scores, _ = before
        self._evaluate()
        return False

    def _direction(self) -> np.ndarray:
        """Newton's step; b is eliminated: its best value moves with v."""
        total = max(self.curvature.sum(), np.finfo(float).tiny)
        if len(self.v) > MANY_COLUMNS:

            def curved(direction: np.ndarray) -> np.ndarray:
                change = self.rows.apply(direction)
                change -= self.curvature @ change / total
                return direction + self.rows.adjoint(self.curvature * change)

            size = (len(self.v), len(self.v))
            matrix = LinearOperator(size, matvec=curved, dtype=self.v.dtype)
            return cg(matrix, -self.gradient, rtol=INEXACT, maxiter=MOST_PRODUCTS)[0]
        matrix, border = self.rows.gram(self.all_rows, self.curvature)
        # What rounding can hide goes on the diagonal too; the certificate does not depend on it.
        hidden = 1e-15 * len(matrix) * float(matrix.diagonal().max(initial=0.0))
        matrix -= np.outer(border, border / total)
        matrix.flat[:: len(matrix) + 1] += 1.0 + hidden
        return solve(matrix, -self.gradient, assume_a="pos", overwrite_a=True, check_finite=False)


def best_intercept(
    scores: np.ndarray, target: np.ndarray, cost: np.ndarray, loss: MarginLoss, start: float
) -> float:
    """Minimise the loss over the intercept alone: Newton's method, kept in a bracket."""
    low, high, b, reach = -np.inf, np.inf, start, 10.0
    scale = float(cost.sum())
    for _ in range(100):
        slope, curvature = loss.slope_and_curvature(target * (scores + b))
        derivative = float((target * cost) @ slope)
        if abs(derivative) <= 1e-12 * scale:
            break
        low, high = (b, high) if derivative < 0 else (low, b)
        bend = float(cost @ curvature)
        step = -derivative / bend if bend > 0 else -np.sign(derivative)
        # Beyond a few units of margin the quadratic model means nothing; far away it takes many.
        new = b + float(np.clip(step, -reach, reach))
        reach *= 2.0
        if not low < new < high:
            new = 0.5 * (low + high) if np.isfinite(low + high) else new
        if new == b:
            break
        b = new
    return b
