"""Hinge loss and ridge penalty, to a duality gap: ZeroNormSVC (A), AROM, learned vectors.

Huang et al. (2010), problem (9), for one round of reweighting with Lambda = diag(lambda):

    min over alpha, b   1/2 alpha' Lambda alpha + sum_i c_i max(0, 1 - y_i (K alpha + b)_i)

With s = Lambda^(-1/2), alpha = s * v and Phi = K diag(s) this is a linear SVM in v. Its dual is
the box QP (11), here with the constraint y'beta = 0 because the intercept b is not penalised:

    max over beta   sum(beta) - 1/2 |Phi' (y beta)|^2,     0 <= beta_i <= c_i,  y'beta = 0.

Method: augmented Lagrangian on the dual, each step by a semismooth Newton method (the scheme of
Li, Sun & Toh, 2018, for the lasso). Given multipliers ``base`` and a smoothing width w, the
hinge becomes

    max over 0 <= beta <= c of  beta * slack - w/(2c) (beta - base)^2,    slack = 1 - y f,

whose maximiser is beta = clip(base + (c/w) slack, 0, c). The smooth function of (v, b) is
minimised by Newton steps with a line search; only the rows with 0 < beta < c ("free") enter the
Newton matrix, which is free × free or m × m, whichever is smaller. Then base <- beta, the width
shrinks, and the primal and dual values give the duality gap: the certificate. A warm start is
(beta, b, v); the box does not depend on Lambda, so the beta of one round is feasible in the next.

Where every b of an interval is optimal (classes of equal cost and a small C, say), b is its middle.
"""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.design import Design
from zeronorm.solvers.intercept import balanced, central_intercept
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.descent import has_fallen
from zeronorm.solvers.newton.ridge_descent import RidgeDescent
from zeronorm.solvers.solution import Solution

#: Smoothing width of a cold and a warm start, its factor per multiplier step, and its floor.
COLD_WIDTH, WARM_WIDTH, WIDTH_FACTOR, WIDTH_FLOOR = 1.0, 0.3, 0.1, 1e-9

#: More than twice as many columns as this, and a cold start is first solved on so many of them.
SAMPLE_COLUMNS = 128


def solve_hinge_ridge(
    design: Design,
    hinge: Hinge,
    *,
    start: Solution | None = None,
    tolerance: float = 1e-6,
    max_steps: int = 500,
    sample_columns: int = SAMPLE_COLUMNS,
) -> Solution:
    """Minimise ``1/2 |v|^2 + sum(cost * max(0, margin - target * (design v + b)))``.

    Parameters
    ----------
    design : Design of shape (n, m)
        The features of the linear problem.
    hinge : Hinge
        Targets, -1 and +1 both present, positive costs, and margins.
    start : Solution, optional
        Dual variables in [0, cost], intercept and weights of a similar problem.
    tolerance : float
        Relative duality gap at which to stop.
    max_steps : int
        Most Newton steps; the solution is then returned with the gap it has.
    sample_columns : int
        With more than twice as many columns, a cold start is first solved on so many of them.
    """
    if design.shape[1] == 0:
        return _intercept_alone(hinge)
    width = COLD_WIDTH if start is None else WARM_WIDTH
    if start is None and design.shape[1] > 2 * sample_columns:
        start, width = _from_few_columns(design, hinge, sample_columns), WARM_WIDTH
    state = _Certified(design, hinge, start, width)
    # At least one step: a warm start may pass the gap as it is, yet vanishing terms must go on.
    while state.steps == 0 or not state.certify(tolerance):
        if state.steps >= max_steps:
            break
        if not state.is_solved:
            if not (state.newton_step() or state.is_solved):
                break
        elif state.width > WIDTH_FLOOR:
            state.move_multipliers()
        else:
            break
    return state.finish()


def _intercept_alone(hinge: Hinge) -> Solution:
    """Solve the problem without columns: the best intercept.

    Rows beyond their margin have no dual variable, others their cost; those at its corner make up
    for what is missing on their side.
    """
    target, cost = hinge.target, hinge.cost
    b = central_intercept(np.zeros(len(target)), hinge)
    scores = np.full(len(target), b)
    slack, value = hinge.slack(scores), hinge.value(scores)
    rounding = 1e-9 * (1.0 + np.abs(slack).max())
    dual = np.where(slack > rounding, cost, 0.0)
    excess = float(target @ dual)
    is_corner = (np.abs(slack) <= rounding) & (target != np.sign(excess))
    if is_corner.any():
        room = float(cost[is_corner].sum())
        dual[is_corner] = cost[is_corner] * min(1.0, abs(excess) / room)
    dual = balanced(dual, target)
    gap = (value - hinge.linear(dual)) / value if value > 0 else 0.0
    return Solution(np.zeros(0), b, scores, dual, value, max(0.0, gap))


def _from_few_columns(design: Design, hinge: Hinge, count: int) -> Solution:
    """Start from a problem with few columns, whose Gram matrix estimates the full one."""
    columns = np.linspace(0, design.shape[1] - 1, count).astype(np.intp)
    scale = np.full(count, np.sqrt(design.shape[1] / count))
    if design.scale is not None:
        scale *= design.scale[columns]
    sample = Design(design.values.take(columns, axis=1), scale)
    rough = solve_hinge_ridge(sample, hinge, tolerance=0.05)
    rough.coef = design.adjoint(hinge.target * rough.dual)[:-1]
    return rough


class _Certified(RidgeDescent):
    """The smoothed primal at fixed multipliers, with its current point and certificate."""

    def __init__(self, design: Design, hinge: Hinge, start: Solution | None, width: float) -> None:
        n, m = design.shape
        base = np.zeros(n) if start is None else start.dual
        point = np.zeros(m + 1) if start is None else np.append(start.coef, start.intercept)
        self.width, self.is_solved = width, False
        self.best, self.certificate, self.gap = -np.inf, base, np.inf
        self.measured: np.ndarray | None = None
        super().__init__(design, hinge, hinge.smoothed(width, base), point)

    @property
    def primal(self) -> float:
        """Value of the problem itself, not smoothed."""
        loss = float(self.hinge.cost @ np.maximum(self.slack, 0.0))
        return self.quadratic(self.point) + loss

    def newton_step(self) -> bool:
        """Take a Newton step, or find that the smoothed problem is solved well enough."""
        has_moved = super().newton_step()
        self.is_solved = self.is_solved or self.is_exact
        return has_moved

    def is_negligible(self, descent: float) -> bool:
        """Whether the smoothed problem is solved well enough.

        Inexact augmented Lagrangian: half the Newton decrement, what is left to gain, is small
        beside the proximal term of the multipliers.
        """
        self.is_solved = -descent <= 0.01 * self.loss.proximal(self.dual)
        return self.is_solved

    def certify(self, tolerance: float) -> bool:
        """Whether the duality gap is small enough; measured only where it may be."""
        primal, weights = self.primal, self.dual_weights[:-1]
        estimate = self.hinge.linear(self.dual) - 0.5 * (weights @ weights)
        if primal - estimate <= 2.0 * tolerance * primal or self.is_solved:
            self.measure_gap(primal)
        return self.gap <= tolerance

    def measure_gap(self, primal: float) -> None:
        """Gap between the primal value and the best dual value so far."""
        if self.measured is not self.dual:
            self._measure_dual()
        self.gap = (primal - self.best) / primal if primal > 0 else 0.0

    def _measure_dual(self) -> None:
        """Value of the dual problem at these dual variables, once the classes balance."""
        self.measured = self.dual
        beta = balanced(self.dual, self.hinge.target)
        weights = self.design.adjoint(self.hinge.target * beta)[:-1]
        # A dual point scaled down is one too; this is the best multiple.
        total, square = self.hinge.linear(beta), float(weights @ weights)
        scale = min(1.0, max(0.0, total / square)) if square > 0 else 1.0
        value = scale * total - 0.5 * scale**2 * square
        if value > self.best:
            self.best, self.certificate = value, scale * beta

    def move_multipliers(self) -> None:
        """Accept the dual variables as multipliers, and smooth less."""
        self.width *= WIDTH_FACTOR
        self.loss = self.hinge.smoothed(self.width, self.dual)
        self.is_solved = False
        self.move(self.point, self.slack)

    def finish(self) -> Solution:
        """Move b to the middle of its best values for these weights, and take the gap there."""
        point, hinge, scores, primal = self.point, self.hinge, self.scores(), self.primal
        del self.loss, self.slack  # of many rows each array counts
        b = central_intercept(scores - point[-1], hinge)
        shift = b - float(point[-1])
        centred = self.quadratic(point) + hinge.value(scores + shift)
        if has_fallen(centred, primal):
            primal = centred
            scores += shift
        else:
            b = float(point[-1])
        self.measure_gap(primal)
        return Solution(point[:-1], b, scores, self.certificate, primal, self.gap, self.steps)
