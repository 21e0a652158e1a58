"""Probit loss and ridge penalty, to a certificate: the rounds of SparseProbitClassifier.

One round of reweighting with Lambda = diag(1 / scale), for one output, N being the normal
distribution function:

    min over alpha, b   F = 1/2 alpha' Lambda alpha - sum_i c_i log N(y_i (K alpha + b)_i).

With alpha = sqrt(scale) * v this is 1/2 |v|^2 + a convex function of (v, b). Method: Newton steps
with a line search. Certificate: the function of v that is left when b is chosen best is convex
with modulus one, so at a best b

    F(v, b) - min F <= 1/2 |gradient with respect to v|^2.

The intercept is not penalised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from zeronorm.solvers.design import Design, column_sizes
from zeronorm.solvers.gram import solve_definite
from zeronorm.solvers.losses import Probit
from zeronorm.solvers.newton.descent import Line, NewtonDescent
from zeronorm.solvers.reweighting.loop import Round

#: Most Newton steps of one weighted problem; it comes back with the gap it has.
MAX_STEPS = 100

#: With more columns a Newton step is found by conjugate gradients, to this relative residual, with
#: at most so many products. The penalty makes all but a few eigenvalues of the matrix nearly one,
#: so that a few products do; one costs a thirtieth of forming the matrix at 1000 columns.
MANY_COLUMNS, INEXACT, MOST_PRODUCTS = 500, 0.1, 50

#: A step is halved, at most to the second number, until it falls by this share of its slope.
ENOUGH, SHORTEST = 1e-4, 1e-10


class ProbitRidge:
    """The weighted problem for the reweighting loop.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    target : ndarray of shape (n,)
        Labels -1 and +1.
    loss : Probit
        The loss, with the weights of the rows.
    many_columns : int
        With more columns, steps are found by conjugate gradients.
    """

    def __init__(
        self,
        values: np.ndarray,
        target: np.ndarray,
        loss: Probit,
        *,
        many_columns: int = MANY_COLUMNS,
    ) -> None:
        # Around their means: the intercept, which is free, takes up what a column has in common,
        # and rounding is that of what is left. A flat kernel has little else in common.
        self.means = (loss.cost @ values) / loss.cost.sum()
        self.values, self.target, self.loss = values - self.means, target, loss
        self.column_sizes, self.many_columns = column_sizes(self.values), many_columns
        self.coef, self.intercept = np.zeros(values.shape[1]), 0.0

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = self.values[:, columns]
        self.coef, self.means = self.coef[columns], self.means[columns]
        self.column_sizes = self.column_sizes[columns]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with Lambda = diag(1 / scale), from the last solution."""
        root = np.sqrt(scale)
        start = np.append(self.coef / root, self.intercept)
        design = Design(self.values, root)
        state = _Descent(design, self.target, self.loss, start, self.many_columns)
        while state.gap > tolerance and state.steps < MAX_STEPS and state.newton_step():
            pass
        self.coef, self.intercept = root * state.point[:-1], float(state.point[-1])
        intercept = self.intercept - float(self.means @ self.coef)
        return Round(self.coef.copy(), intercept, state.loss_value, state.gap)


class _Descent(NewtonDescent):
    """Newton steps; b, the last number of a point, is always best for its v."""

    def __init__(
        self,
        design: Design,
        target: np.ndarray,
        loss: Probit,
        point: np.ndarray,
        many_columns: int,
    ) -> None:
        self.design, self.target, self.loss = design, target, loss
        self.many_columns = many_columns
        self.move(point, -target * design.apply(point))

    def move(self, point: np.ndarray, slack: np.ndarray, *known: Any) -> None:
        """Go to a point, with the best b there, and take the gradient."""
        shift, (value, dual, self.curvature) = best_shift(slack, self.target, self.loss)
        point = np.append(point[:-1], point[-1] + shift)
        super().move(point, slack - self.target * shift, dual, value)
        signed = self.design.adjoint(self.target * self.dual)
        self.gradient = self.point[:-1] - signed[:-1]
        self.gap = 0.5 * float(self.gradient @ self.gradient) / self.value

    def arrive(self, point: np.ndarray, line: Line) -> None:
        """Move to the end of the search; with the best b there all derivatives are others."""
        self.move(point, line.go(self.length))

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Newton's step for v; b follows: its best value moves with v."""
        curvature = self.curvature
        total = max(float(curvature.sum()), np.finfo(float).tiny)
        if len(self.gradient) > self.many_columns:
            inner = self._conjugate_gradients(curvature, total)
        else:
            matrix = self.design.gram(curvature)
            border, matrix = matrix[-1, :-1], matrix[:-1, :-1]
            # What rounding can hide goes on the diagonal; the certificate does not depend on it.
            hidden = 1e-15 * len(matrix) * float(matrix.diagonal().max(initial=0.0))
            matrix -= np.outer(border, border / total)
            matrix.flat[:: len(matrix) + 1] += 1.0 + hidden
            if not np.isfinite(matrix).all():
                raise ValueError(
                    "The squares of the kernel values overflow; scale the features (for example "
                    "with StandardScaler) or take another kernel."
                )
            inner = solve_definite(matrix, -self.gradient)
        change = self.design.apply(np.append(inner, 0.0))
        shift = -float(curvature @ change) / total
        return np.append(inner, shift), -self.target * (change + shift)

    def search(self, line: Line, step: np.ndarray) -> float:
        """Halve the step until it lowers the value; b, best at its end, lowers it further."""
        length = 1.0
        while line.rise(length) > ENOUGH * length * self.descent and length > SHORTEST:
            length *= 0.5
        return length

    def _conjugate_gradients(self, curvature: np.ndarray, total: float) -> np.ndarray:
        def curved(direction: np.ndarray) -> np.ndarray:
            change = self.design.apply(np.append(direction, 0.0))
            change -= curvature @ change / total
            return direction + self.design.adjoint(curvature * change)[:-1]

        size = (len(self.gradient), len(self.gradient))
        matrix = LinearOperator(size, matvec=curved, dtype=self.gradient.dtype)
        return cg(matrix, -self.gradient, rtol=INEXACT, maxiter=MOST_PRODUCTS)[0]


def best_shift(
    slack: np.ndarray, target: np.ndarray, loss: Probit
) -> tuple[float, tuple[float, np.ndarray, np.ndarray]]:
    """By how much to move the intercept so that the loss is least; loss and derivatives there.

    Newton's method, kept in a bracket.
    """
    low, high, b, reach = -np.inf, np.inf, 0.0, 10.0
    scale = float(loss.cost.sum())
    for _ in range(100):
        here = _, dual, curvature = loss.expanded(slack - b * target)
        derivative = -float(target @ dual)
        if abs(derivative) <= 1e-12 * scale:
            break
        low, high = (b, high) if derivative < 0 else (low, b)
        bend = float(curvature.sum())
        step = -derivative / bend if bend > 0 else -np.sign(derivative)
        # Beyond a few units of margin the quadratic model means nothing; far away it takes many.
        new = b + min(max(float(step), -reach), reach)
        reach *= 2.0
        if not low < new < high:
            new = 0.5 * (low + high) if np.isfinite(low + high) else new
        if new == b:
            break
        b = new
    else:
        here = loss.expanded(slack - b * target)
    return b, here
