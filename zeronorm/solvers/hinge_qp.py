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
minimised by Newton steps with an exact line search; only the rows with 0 < beta < c ("free")
enter the Newton matrix, which is free × free or m × m, whichever is smaller. Then base <- beta,
the width shrinks, and the primal and dual values give the duality gap: the certificate.
A warm start is a pair (beta, b); the box does not depend on Lambda, so the beta of one round is
feasible in the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.reweighting import Round
from zeronorm.solvers.rows import ScaledRows

#: Smoothing width of a cold and a warm start, its factor per multiplier step, and its floor.
COLD_WIDTH, WARM_WIDTH, WIDTH_FACTOR, WIDTH_FLOOR = 1.0, 0.3, 0.1, 1e-9

#: More columns than this, and a cold start is first solved on so many of them.
SAMPLE_COLUMNS = 128


class HingeRidge:
    """The weighted problem for the reweighting loop, with one or several outputs.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1 of each output.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    quadratic : ndarray of shape (m, m), optional
        Positive semidefinite Q: adds 1/2 alpha' Q alpha, for each output.
    """

    def __init__(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        cost: np.ndarray,
        quadratic: np.ndarray | None = None,
    ) -> None:
        self.values, self.targets, self.cost = values, targets, cost
        self.quadratic = quadratic
        self.last: list[HingeRidgeSolution | None] = [None] * targets.shape[1]

    @property
    def n_columns(self) -> int:
        """Number of terms that are left."""
        return self.values.shape[1]

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = np.ascontiguousarray(self.values[:, columns])
        if self.quadratic is not None:
            self.quadratic = self.quadratic[np.ix_(columns, columns)]

    def solve(self, scale: np.ndarray, tolerance: float) -> Round:
        """Solve with Lambda = diag(1 / scale), each output warm started from its last solution."""
        rows, to_coef = self._features(np.sqrt(scale))
        coef = np.empty((self.n_columns, len(self.last)))
        loss = 0.0
        for k, last in enumerate(self.last):
            solution = solve_hinge_ridge(
                rows,
                self.targets[:, k],
                self.cost,
                dual=None if last is None else last.dual,
                intercept=0.0 if last is None else last.intercept,
                tolerance=tolerance,
            )
            self.last[k] = solution
            coef[:, k] = to_coef(solution.weights)
            slack = np.maximum(1.0 - self.targets[:, k] * solution.scores, 0.0)
            loss += float(self.cost @ slack)
        if self.quadratic is not None:
            loss += 0.5 * float(np.sum(coef * (self.quadratic @ coef)))
        solutions = [solution for solution in self.last if solution is not None]
        intercept = np.array([solution.intercept for solution in solutions])
        return Round(coef, intercept, loss, max(solution.gap for solution in solutions))

    def _features(self, scale: np.ndarray) -> tuple[ScaledRows, Callable[[np.ndarray], np.ndarray]]:
        """Features in which the whole quadratic term is 1/2 |v|^2, and the way back to alpha."""
        if self.quadratic is None:
            return ScaledRows(self.values, scale), lambda v: scale * v
        # alpha = scale * u; the form in u is I + S Q S = L L', and v = L' u.
        form = self.quadratic * scale * scale[:, None]
        form.flat[:: len(scale) + 1] += 1.0
        inverse = np.linalg.inv(np.linalg.cholesky(form))
        features = (self.values * scale) @ inverse.T
        return ScaledRows(features, np.ones(len(scale))), lambda v: scale * (v @ inverse)


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
    dual: np.ndarray | None = None,
    intercept: float = 0.0,
    tolerance: float = 1e-6,
    max_steps: int = 1000,
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
    dual, intercept : warm start
        Dual variables in [0, cost] and intercept of a similar problem.
    tolerance : float
        Relative duality gap at which to stop.
    max_steps : int
        Most Newton steps; the solution then comes back with the gap it has.
    """
    width = WARM_WIDTH
    if dual is None:
        dual, intercept, width = _cold_start(rows, target, cost)
    state = _Smoothed(rows, target, cost, dual, intercept, width)
    while not state.certify(tolerance) and state.steps < max_steps:
        if not state.is_solved:
            state.newton_step()
        elif state.width > WIDTH_FLOOR:
            state.move_multipliers()
        else:
            break
    return HingeRidgeSolution(
        state.v, state.b, state.scores, state.certificate, state.primal, state.gap, state.steps
    )


def _cold_start(
    rows: ScaledRows, target: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Multipliers from a problem with few columns, whose Gram matrix estimates the full one."""
    n, m = rows.shape
    if m <= 2 * SAMPLE_COLUMNS:
        return np.zeros(n), 0.0, COLD_WIDTH
    columns = np.linspace(0, m - 1, SAMPLE_COLUMNS).astype(np.intp)
    scale = rows.scale[columns] * np.sqrt(m / SAMPLE_COLUMNS)
    sample = ScaledRows(np.ascontiguousarray(rows.values[:, columns]), scale)
    rough = solve_hinge_ridge(sample, target, cost, tolerance=0.05)
    return rough.dual, rough.intercept, WARM_WIDTH


class _Smoothed:
    """The smoothed primal at fixed multipliers, with its current point (v, b) and certificate."""

    def __init__(
        self,
        rows: ScaledRows,
        target: np.ndarray,
        cost: np.ndarray,
        dual: np.ndarray,
        intercept: float,
        width: float,
    ) -> None:
        self.rows, self.target, self.cost = rows, target, cost
        self.base, self.b, self.width = dual, intercept, width
        self.stiffness = cost / width
        self.v = rows.adjoint(target * dual)
        self.scores = rows.apply(self.v) + intercept
        self.steps = 0
        self.best, self.certificate, self.gap = -np.inf, dual, np.inf
        self.is_solved = False
        self._evaluate()

    def _evaluate(self) -> None:
        """Dual variables, gradient and primal value at the current point."""
        slack = 1.0 - self.target * self.scores
        self.raw = self.base + self.stiffness * slack
        self.beta = np.minimum(np.maximum(self.raw, 0.0), self.cost)
        self.is_free = self.beta == self.raw
        signed = self.target * self.beta
        self.w = self.rows.adjoint(signed)
        self.gradient = self.v - self.w
        self.gradient_b = -float(signed.sum())
        self.primal = float(0.5 * (self.v @ self.v) + self.cost @ np.maximum(slack, 0.0))

    def certify(self, tolerance: float) -> bool:
        """Whether the duality gap is small enough; measured only where it may be."""
        estimate = self.beta.sum() - 0.5 * (self.w @ self.w)
        if self.primal - estimate <= 2.0 * tolerance * self.primal or self.is_solved:
            self._measure_gap()
        return self.gap <= tolerance

    def _measure_gap(self) -> None:
        """Gap between the primal value and the best dual value so far."""
        # A dual point needs y'beta = 0: scale the heavier class down.
        heavy = self.target == -np.sign(self.gradient_b)
        excess = np.where(heavy, self.beta, 0.0)
        share = abs(self.gradient_b) / excess.sum() if self.gradient_b else 0.0
        beta = self.beta - share * excess
        w = self.rows.adjoint(self.target * beta)
        value = float(beta.sum() - 0.5 * (w @ w))
        if value > self.best:
            self.best, self.certificate = value, beta
        self.gap = (self.primal - self.best) / self.primal if self.primal > 0 else 0.0

    def newton_step(self) -> None:
        """Take a Newton step, or find that the smoothed problem is solved well enough."""
        step, step_b = self._direction(self.gradient, self.gradient_b)
        descent = float(self.gradient @ step + self.gradient_b * step_b)
        # Inexact augmented Lagrangian: half the Newton decrement, what is left to gain, is small
        # beside the proximal term of the multipliers.
        moved = self.beta - self.base
        if -descent <= 0.01 * (moved @ (moved / self.stiffness)):
            self.is_solved = True
            return
        change = self.rows.apply(step) + step_b
        length = self._line_search(step, self.target * change, descent)
        self.v = self.v + length * step
        self.b += length * step_b
        self.scores = self.scores + length * change
        self.steps += 1
        free, at_cost = self.is_free, self.raw > self.cost
        self._evaluate()
        # A full step that changes no row's piece has landed on the exact minimum.
        self.is_solved = bool(
            length == 1.0
            and np.array_equal(free, self.is_free)
            and np.array_equal(at_cost, self.raw > self.cost)
        )

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
            matrix.flat[:: len(free) + 1] += 1.0 / stiffness
            first, ones = _solve_two(matrix, some @ gradient, np.ones(len(free)))
            step_b = (first.sum() - gradient_b) / ones.sum()
            return (first - step_b * ones) @ some - gradient, step_b
        matrix, border = self.rows.gram(free, stiffness)
        matrix.flat[:: len(matrix) + 1] += 1.0
        first, second = _solve_two(matrix, -gradient, border)
        step_b = (-gradient_b - border @ first) / (stiffness.sum() - border @ second)
        return first - step_b * second, step_b

    def _line_search(self, step: np.ndarray, change: np.ndarray, descent: float) -> float:
        """Near root of the derivative along the step, which is piecewise linear and never falls.

        Regula falsi with the Illinois rule, from the full step; a tenth of the first slope is
        near enough.
        """
        slope, curvature = self.v @ step, step @ step
        stiff_change = self.stiffness * change
        low, at_low, high, at_high, length, side = 0.0, descent, np.inf, np.inf, 1.0, 0
        for _ in range(60):
            beta = self.raw - length * stiff_change
            np.maximum(beta, 0.0, out=beta)
            np.minimum(beta, self.cost, out=beta)
            derivative = slope + length * curvature - change @ beta
            if abs(derivative) <= -0.1 * descent:
                break
            # The same side twice: halve the other end's value, or the method would creep.
            if derivative > 0:
                at_low *= 0.5 if side > 0 else 1.0
                high, at_high, side = length, derivative, 1
            else:
                at_high *= 0.5 if side < 0 else 1.0
                low, at_low, side = length, derivative, -1
            if high == np.inf:
                length = 3.0 * length
            else:
                length = (low * at_high - high * at_low) / (at_high - at_low)
        return length


def _solve_two(matrix: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve a positive definite system for two right-hand sides.

    By numpy, not by scipy's Cholesky: the two carry BLAS libraries of their own, and on few cores
    their thread pools, waiting for each other, cost more than the factor of two in the work.
    """
    both = np.linalg.solve(matrix, np.column_stack([a, b]))
    return both[:, 0], both[:, 1]
