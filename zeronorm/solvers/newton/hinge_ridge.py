"""The weighted problem of SSVC_A: a ridge penalty and the hinge loss, solved to a certificate.

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

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.design import GRAM_ROWS, ScaledRows, balanced, central_intercept
from zeronorm.solvers.newton.line_search import has_fallen, slope_root

#: Smoothing width of a cold and a warm start, its factor per multiplier step, and its floor.
COLD_WIDTH, WARM_WIDTH, WIDTH_FACTOR, WIDTH_FLOOR = 1.0, 0.3, 0.1, 1e-9

#: Beyond this size beside the identity, the Newton matrix is factored without being formed.
ILL_CONDITIONED = 1e10

#: More columns than this, and a cold start is first solved on so many of them.
SAMPLE_COLUMNS = 128


@dataclass
class Start:
    """Warm start: dual variables in [0, cost], intercept and weights of a similar problem."""

    dual: np.ndarray
    intercept: float
    weights: np.ndarray


@dataclass
class HingeRidgeSolution:
    """Solution of one weighted problem.

    ``weights`` are the v of the module docstring, ``scores`` = Phi v + b, ``dual`` is feasible,
    and ``gap`` is (primal - best dual value) / primal.
    """

    weights: np.ndarray
    intercept: float
    scores: np.ndarray
    dual: np.ndarray
    primal: float
    gap: float
    steps: int


def solve_hinge_ridge(
    rows: ScaledRows,
    target: np.ndarray,
    cost: np.ndarray,
    *,
    start: Start | None = None,
    tolerance: float = 1e-6,
    max_steps: int = 500,
) -> HingeRidgeSolution:
    """Minimise ``1/2 |v|^2 + sum(cost * max(0, 1 - target * (rows v + b)))``.

    Parameters
    ----------
    rows : ScaledRows of shape (n, m)
        The features of the linear problem.
    target : ndarray of shape (n,)
        Labels -1 and +1, both present.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    start : Start, optional
        Solution of a similar problem.
    tolerance : float
        Relative duality gap at which to stop.
    max_steps : int
        Most Newton steps; the solution then comes back with the gap it has.
    """
    if rows.shape[1] == 0:
        return _intercept_alone(target, cost)
    width = WARM_WIDTH
    if start is None:
        start, width = _cold_start(rows, target, cost)
    state = _Smoothed(rows, target, cost, start, width)
    # At least one step: a warm start may pass the gap as it is, yet vanishing terms must go on.
    while state.steps == 0 or not state.certify(tolerance):
        if state.steps >= max_steps:
            break
        if not state.is_solved:
            if not state.newton_step():
                break
        elif state.width > WIDTH_FLOOR:
            state.move_multipliers()
        else:
            break
    state.centre()
    state.measure_gap()
    return HingeRidgeSolution(
        state.v, state.b, state.scores, state.certificate, state.primal, state.gap, state.steps
    )


def _intercept_alone(target: np.ndarray, cost: np.ndarray) -> HingeRidgeSolution:
    """Solve the problem without columns: b = 1 or -1 for the class that costs more, or 0."""
    b = central_intercept(np.zeros(len(target)), target, cost)
    wrong = target != (1.0 if b >= 0 else -1.0)
    lighter, heavier = cost[wrong].sum(), cost[~wrong].sum()
    dual = np.where(wrong, cost, cost * (lighter / heavier))
    scores = np.full(len(target), b)
    return HingeRidgeSolution(np.zeros(0), b, scores, dual, 2.0 * float(lighter), 0.0, 0)


def _cold_start(rows: ScaledRows, target: np.ndarray, cost: np.ndarray) -> tuple[Start, float]:
    """Start from a problem with few columns, whose Gram matrix estimates the full one."""
    n, m = rows.shape
    if m <= 2 * SAMPLE_COLUMNS:
        return Start(np.zeros(n), 0.0, np.zeros(m)), COLD_WIDTH
    columns = np.linspace(0, m - 1, SAMPLE_COLUMNS).astype(np.intp)
    scale = rows.scale[columns] * np.sqrt(m / SAMPLE_COLUMNS)
    sample = ScaledRows(np.ascontiguousarray(rows.values[:, columns]), scale)
    rough = solve_hinge_ridge(sample, target, cost, tolerance=0.05)
    weights = rows.adjoint(target * rough.dual)
    return Start(rough.dual, rough.intercept, weights), WARM_WIDTH


class _Smoothed:
    """The smoothed primal at fixed multipliers, with its current point (v, b) and certificate."""

    def __init__(
        self,
        rows: ScaledRows,
        target: np.ndarray,
        cost: np.ndarray,
        start: Start,
        width: float,
    ) -> None:
        self.rows, self.target, self.cost = rows, target, cost
        self.base, self.b, self.v = start.dual, start.intercept, start.weights
        self.width, self.stiffness = width, cost / width
        self.scores = rows.apply(self.v) + self.b
        self.steps = 0
        self.best, self.certificate, self.gap = -np.inf, start.dual, np.inf
        self.is_solved = False
        self._evaluate()

    def _evaluate(self) -> None:
        """Dual variables, gradient, smoothed and primal value at the current point."""
        slack = 1.0 - self.target * self.scores
        self.raw = self.base + self.stiffness * slack
        self.beta = np.minimum(np.maximum(self.raw, 0.0), self.cost)
        self.value = self._smoothed(self.v, slack, self.beta)
        self.is_free = self.beta == self.raw
        signed = self.target * self.beta
        self.w = self.rows.adjoint(signed)
        self.gradient = self.v - self.w
        self.gradient_b = -float(signed.sum())
        self.primal = float(0.5 * (self.v @ self.v) + self.cost @ np.maximum(slack, 0.0))

    def _smoothed(self, v: np.ndarray, slack: np.ndarray, beta: np.ndarray) -> float:
        """Value of the smoothed problem, which the Newton steps lower."""
        moved = beta - self.base
        return float(0.5 * (v @ v) + beta @ slack - 0.5 * (moved @ (moved / self.stiffness)))

    def centre(self) -> None:
        """Move b to the middle of its best values for these weights."""
        values = self.scores - self.b
        b = central_intercept(values, self.target, self.cost)
        scores = values + b
        loss = self.cost @ np.maximum(1.0 - self.target * scores, 0.0)
        primal = float(0.5 * (self.v @ self.v) + loss)
        if has_fallen(primal, self.primal):
            self.b, self.scores, self.primal = b, scores, primal

    def certify(self, tolerance: float) -> bool:
        """Whether the duality gap is small enough; measured only where it may be."""
        estimate = self.beta.sum() - 0.5 * (self.w @ self.w)
        if self.primal - estimate <= 2.0 * tolerance * self.primal or self.is_solved:
            self.measure_gap()
        return self.gap <= tolerance

    def measure_gap(self) -> None:
        """Gap between the primal value and the best dual value so far."""
        beta = balanced(self.beta, self.target)
        w = self.rows.adjoint(self.target * beta)
        # A dual point scaled down is one too; this is the best multiple.
        total, square = float(beta.sum()), float(w @ w)
        scale = min(1.0, total / square) if square > 0 else 1.0
        value = scale * total - 0.5 * scale**2 * square
        if value > self.best:
            self.best, self.certificate = value, scale * beta
        self.gap = (self.primal - self.best) / self.primal if self.primal > 0 else 0.0

    def newton_step(self) -> bool:
        """Take a Newton step, or find that the smoothed problem is solved well enough.

        False if rounding has left no direction that descends.
        """
        try:
            step, step_b = self._direction(self.gradient, self.gradient_b)
        except np.linalg.LinAlgError:
            return False
        descent = float(self.gradient @ step + self.gradient_b * step_b)
        # Inexact augmented Lagrangian: half the Newton decrement, what is left to gain, is small
        # beside the proximal term of the multipliers.
        moved = self.beta - self.base
        if -descent <= 0.01 * (moved @ (moved / self.stiffness)):
            self.is_solved = True
            return True
        if not descent < 0:
            return False
        change = self.rows.apply(step) + step_b
        length = self._line_search(step, self.target * change, descent)
        before = self.v, self.b, self.scores, self.value
        self.v = self.v + length * step
        self.b += length * step_b
        self.scores = self.scores + length * change
        self.steps += 1
        free, at_cost = self.is_free, self.raw > self.cost
        self._evaluate()
        if length == 0 or not has_fallen(self.value, before[3]):
            self.v, self.b, self.scores, _ = before
            self._evaluate()
            return False
        # A full step that changes no row's piece has landed on the exact minimum.
        self.is_solved = bool(
            length == 1.0
            and np.array_equal(free, self.is_free)
            and np.array_equal(at_cost, self.raw > self.cost)
        )
        return True

    def move_multipliers(self) -> None:
        """Accept the dual variables as multipliers, and smooth less."""
        self.base = self.beta
        self.width *= WIDTH_FACTOR
        self.stiffness = self.cost / self.width
        self.is_solved = False
        self._evaluate()

    def _direction(self, gradient: np.ndarray, gradient_b: float) -> tuple[np.ndarray, float]:
        free = np.flatnonzero(self.is_free)
        if len(free) == 0:
            # No curvature in b: move towards the nearest row that would become free.
            return -gradient, -float(np.sign(gradient_b))
        stiffness = self.stiffness[free]
        if len(free) <= self.rows.shape[1]:
            some = self.rows.take(free)
            matrix = some @ some.T
            if matrix.diagonal().max() * stiffness.max() > ILL_CONDITIONED:
                return self._careful_direction(free, gradient, gradient_b)
            matrix.flat[:: len(free) + 1] += 1.0 / stiffness
            first, ones = _solve_two(matrix, some @ gradient, np.ones(len(free)))
            step_b = (first.sum() - gradient_b) / ones.sum()
            return (first - step_b * ones) @ some - gradient, step_b
        matrix, border = self.rows.gram(free, stiffness)
        if matrix.diagonal().max() > ILL_CONDITIONED:
            return self._careful_direction(free, gradient, gradient_b)
        matrix.flat[:: len(matrix) + 1] += 1.0
        first, second = _solve_two(matrix, -gradient, border)
        step_b = (-gradient_b - border @ first) / (stiffness.sum() - border @ second)
        return first - step_b * second, step_b

    def _careful_direction(
        self, free: np.ndarray, gradient: np.ndarray, gradient_b: float
    ) -> tuple[np.ndarray, float]:
        """Newton direction from a triangular factor of its matrix, which is never formed.

        Huge coefficients that cancel each other (a large C, a flat kernel) make the squares in
        the matrix drown the identity that it is added to; the factor keeps both.
        """
        m = len(gradient)
        factor = np.eye(m, m + 1)
        for start in range(0, len(free), GRAM_ROWS):
            part = free[start : start + GRAM_ROWS]
            rows = np.column_stack([self.rows.take(part), np.ones(len(part))])
            rows *= np.sqrt(self.stiffness[part])[:, None]
            factor = np.asarray(np.linalg.qr(np.vstack([factor, rows]), mode="r"))
        down = np.linalg.solve(factor.T, np.append(-gradient, -gradient_b))
        step = np.linalg.solve(factor, down)
        return step[:m], float(step[m])

    def _line_search(self, step: np.ndarray, change: np.ndarray, descent: float) -> float:
        """Near root of the derivative along the step."""
        slope, curvature = self.v @ step, step @ step
        stiff_change = self.stiffness * change
        slack = 1.0 - self.target * self.scores

        def duals(length: float) -> np.ndarray:
            beta = self.raw - length * stiff_change
            np.maximum(beta, 0.0, out=beta)
            return np.minimum(beta, self.cost, out=beta)

        def derivative(length: float) -> float:
            return float(slope + length * curvature - change @ duals(length))

        def rise(length: float) -> float:
            point = self.v + length * step
            return self._smoothed(point, slack - length * change, duals(length)) - self.value

        return slope_root(derivative, descent, rise)


def _solve_two(matrix: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve a positive definite system for two right-hand sides.

    By numpy, not by scipy's Cholesky: the two carry BLAS libraries of their own, and on few cores
    their thread pools, waiting for each other, cost more than the factor of two in the work.
    """
    # What rounding can hide goes on the diagonal: nearly equal rows would make it singular. The
    # direction stays one of descent, and the certificate does not depend on it.
    matrix.flat[:: len(matrix) + 1] += 1e-13 * matrix.diagonal().max()
    both = np.linalg.solve(matrix, np.column_stack([a, b]))
    return both[:, 0], both[:, 1]
