"""Hinge loss, one-norm and a quadratic form, to a duality gap: SparsityControlledSVC.

    min over alpha, b   L = sum_i c_i max(0, 1 - y_i (K alpha + b)_i) + lambda sum_j |alpha_j|
                            + 1/2 alpha' Q alpha

the problem of Drezet & Harrison (2001), Q positive semidefinite.

Method. In dual form the hinge of a row is the largest of  beta (1 - r)  over 0 <= beta <= c, and
lambda |a| of a term the largest of  lambda t a  over -1 <= t <= 1. Both are smoothed about
multipliers beta0 and t0 (``base`` and ``base_t``), over a width w for the rows (``width``) and v
for the terms (``reach``): an augmented Lagrangian. What is left are least-squares problems (class
``_Descent``): weights c / w for the rows with 0 < beta < c, lambda / v for the terms with |t| < 1,
linear pieces for the others (semismooth Newton, as in ``hinge_ridge.py``). When one is solved well
enough, a round is over: beta and t become beta0 and t0, and w and v shrink.

Certificate. With theta = K'(y beta) - Q alpha, y'beta = 0, scaled so that |theta_j| <= lambda,

    sum_i beta_i - 1/2 alpha' Q alpha   <=   min L.

Where every b of an interval is optimal, the solution has its middle. Terms with |t_j| < 1 are zero
and leave the model.

Active set. The use of a column is theta_j / lambda, of which its dual constraint allows -1 to 1.
Columns of little use are screened: only the others are in the least-squares problems. Screened
columns that the dual point violates become active again once the problem of the active set is
solved well enough that they are what is missing.
"""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.design import Design, column_sizes
from zeronorm.solvers.intercept import balanced, central_intercept
from zeronorm.solvers.losses import Hinge, Smoothed
from zeronorm.solvers.newton.descent import HingeDescent
from zeronorm.solvers.solution import Solution

#: Smoothing width of a cold and a warm start, its factor per round, its floor, and most rounds.
COLD_WIDTH, WARM_WIDTH, WIDTH_FACTOR, WIDTH_FLOOR = 3.0, 0.5, 0.85, 1e-3
MAX_ROUNDS = 200

#: The width of the terms, in units of that of the rows, before and after there are coefficients
#: to measure it by.
FIRST_REACH, REACH = 3.0, 0.3

#: A step whose predicted gain is less than this share of the gap is not worth taking.
NEGLIGIBLE = 1e-9

#: A cold start has so many active columns; a round adds no more than this, or than there are.
FIRST_COLUMNS = 100

#: Columns whose dual constraint is used less than this are screened, beyond the other they come in.
SCREEN, ACTIVATE = 0.3, 0.8

#: Columns come in when the gap of the active set is less than this share of the whole gap: before,
#: they are not what is missing. (Wide kernels have many columns that are nearly the same; with all
#: of them active the least-squares problems are large and hardly determined.)
MISSING = 0.5

#: Before the width is this small every column has a coefficient, and none is screened.
SETTLED = 0.5

#: Ridge on the least-squares problems, in units of the curvature of all rows.
RIDGE = 1e-12


class HingeLasso:
    """The problem for one output; solved again for another penalty it starts where it was.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    hinge : Hinge
        Targets, -1 and +1 both present, and positive costs.
    quadratic : ndarray of shape (m, m)
        The Q of the module docstring.

    Attributes
    ----------
    active : ndarray of int
        Columns that are not screened.
    alpha, b : ndarray of shape (m,), float
        Where the next round starts.
    base, base_t, width, reach : ndarray of shape (n,), ndarray of shape (m,), float, float
        Multipliers and widths of the rows and of the terms.
    lower, certificate : float, ndarray of shape (n,)
        The best lower bound so far, and the dual variables it comes from.
    use : ndarray of shape (m,)
        Of each column, at the last dual point.
    are_missing : bool
        Whether screened columns are what the gap is about.
    """

    def __init__(self, values: np.ndarray, hinge: Hinge, quadratic: np.ndarray) -> None:
        self.values, self.hinge, self.quadratic = values, hinge, quadratic
        n, m = values.shape
        # Columns in units of their largest value: a width means the same for all of them.
        sizes = column_sizes(values)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        self.active = np.unique(np.linspace(0, m - 1, min(m, FIRST_COLUMNS)).astype(np.intp))
        self.alpha, self.b = np.zeros(m), 0.0
        self.base, self.base_t = np.zeros(n), np.zeros(m)
        self.is_cold = True
        self._cut()

    def _cut(self) -> None:
        """Cut out the active columns."""
        sizes = self.sizes[self.active]
        self.design = Design(np.take(self.values, self.active, axis=1), 1.0 / sizes)
        self.form = self.quadratic[np.ix_(self.active, self.active)] / np.outer(sizes, sizes)

    def solve(self, penalty: float, tolerance: float, *, max_steps: int = 2000) -> Solution:
        """Solve for one lambda to a relative duality gap of ``tolerance``."""
        self.penalty = penalty / self.sizes
        self.width = COLD_WIDTH if self.is_cold else WARM_WIDTH
        self.reach = FIRST_REACH * self.width
        self.is_cold = False
        self.lower, self.certificate = -np.inf, self.base
        state = _Descent(self)
        best, steps, rounds = self._measure(state), 0, 0
        history = best.history
        while best.gap > tolerance and steps < max_steps and rounds < MAX_ROUNDS:
            if rounds > 0:
                self._move_multipliers(state)
                self._change_columns()
                state = _Descent(self)
            # A step that would gain less is not worth taking.
            state.negligible = NEGLIGIBLE * (best.objective - self.lower)
            while steps + state.steps < max_steps and state.newton_step():
                pass
            steps += state.steps
            best = min(self._measure(state), best, key=lambda solution: solution.objective)
            best.gap, best.dual, best.history = self._gap(best.objective), self.certificate, history
            best.record()
            rounds += 1
        if rounds == 0:  # a start that is good enough is a history too
            best.record()
        best.steps = steps
        return best

    def _measure(self, state: _Descent) -> Solution:
        """Return the model without the terms that vanish, and take the bound of the dual point."""
        coef = np.where(state.is_zero, 0.0, state.point[:-1])
        self.alpha[:] = 0.0
        self.alpha[self.active] = coef / self.sizes[self.active]
        self.b = float(state.point[-1])
        values = state.design.apply(np.append(coef, 0.0))
        central = central_intercept(values, self.hinge)
        scores = values + central
        self._bound(state)
        objective = self.hinge.value(scores)
        objective += float(self.penalty @ np.abs(self.alpha * self.sizes))
        objective += 0.5 * float(self.alpha @ self.quadratic @ self.alpha)
        self.are_missing = objective - self.local_bound < MISSING * (objective - self.lower)
        gap = self._gap(objective)
        return Solution(self.alpha.copy(), central, scores, self.certificate, objective, gap)

    def _bound(self, state: _Descent) -> None:
        """Lower bound of the objective from the current dual variables."""
        beta = balanced(state.row_dual, self.hinge.target)
        # Of the point before anything is set to zero: its gradient is what beta balances.
        coef = state.point[:-1] / self.sizes[self.active]
        image = coef @ self.quadratic[self.active]
        norm = float(coef @ image[self.active])
        theta = ((self.hinge.target * beta) @ self.values - image) / self.sizes
        self.use = theta / self.penalty
        most = np.abs(self.use)
        scale = 1.0 / max(1.0, float(most.max(initial=0.0)))
        local = 1.0 / max(1.0, float(most[self.active].max(initial=0.0)))
        self.local_bound = local * float(beta.sum()) - 0.5 * local**2 * norm
        beta = scale * beta
        bound = float(beta.sum()) - 0.5 * scale**2 * norm
        if bound > self.lower:
            self.lower, self.certificate = bound, beta

    def _gap(self, objective: float) -> float:
        return (objective - self.lower) / objective if objective > 0 else 0.0

    def _move_multipliers(self, state: _Descent) -> None:
        """Accept the dual variables as multipliers, and smooth less."""
        self.base, self.base_t = state.row_dual, np.clip(self.use, -1.0, 1.0)
        self.base_t[self.active] = state.term_dual / self.penalty[self.active]
        self.width = max(WIDTH_FACTOR * self.width, WIDTH_FLOOR)
        nonzero = np.abs(state.point[:-1][~state.is_zero])
        size = max(1.0, REACH * float(nonzero.mean())) if len(nonzero) else FIRST_REACH
        self.reach = size * self.width
        self.alpha[self.active] = state.point[:-1] / self.sizes[self.active]

    def _change_columns(self) -> None:
        """Screen active columns of little use, and take in those that are missing."""
        use = np.abs(self.use)
        screened = np.maximum(np.abs(self.base_t), use)[self.active] < SCREEN
        screened &= self.width < SETTLED
        self.alpha[self.active[screened]] = 0.0
        added = self._missing(use) if self.are_missing else self.active[:0]
        if screened.any() or len(added):
            self.active = np.sort(np.append(self.active[~screened], added))
            self._cut()

    def _missing(self, use: np.ndarray) -> np.ndarray:
        """Screened columns of much use; if they are many, those of the most."""
        inactive = np.setdiff1d(np.arange(len(use)), self.active)
        missing = inactive[use[inactive] > ACTIVATE]
        most = max(FIRST_COLUMNS, len(self.active))
        if len(missing) <= most:
            return missing
        return missing[np.argsort(-use[missing], kind="stable")[:most]]


class _Descent(HingeDescent):
    """The smoothed problem of the active columns, for fixed multipliers and widths.

    The one-norm is a loss of the same kind as the hinge, whose slack is the coefficient itself:
    the slacks are those of the rows, then those of the terms.
    """

    negligible = 0.0

    def __init__(self, problem: HingeLasso) -> None:
        hinge, active = problem.hinge, problem.active
        self.n_rows, penalty = len(hinge.target), problem.penalty[active]
        self.design, self.hinge, self.form = problem.design, hinge, problem.form
        # Where fewer rows are free than terms the matrix is singular: any descent will do.
        self.ridge = RIDGE * float(hinge.cost.sum()) / problem.width
        self.loss = Smoothed(
            np.concatenate([hinge.cost / problem.width, penalty / problem.reach]),
            np.concatenate([hinge.cost, penalty]),
            np.concatenate([np.zeros(self.n_rows), -penalty]),
            np.concatenate([problem.base, penalty * problem.base_t[active]]),
        )
        point = np.append(problem.alpha[active] * problem.sizes[active], problem.b)
        slack = hinge.slack(self.design.apply(point))
        self.move(point, np.concatenate([slack, point[:-1]]))

    @property
    def row_dual(self) -> np.ndarray:
        """Dual variables of the rows."""
        return self.dual[: self.n_rows]

    @property
    def term_dual(self) -> np.ndarray:
        """Dual variables of the terms."""
        return self.dual[self.n_rows :]

    @property
    def is_zero(self) -> np.ndarray:
        """Whether a term vanishes: its dual variable is free."""
        return np.abs(self.term_dual) < self.loss.cap[self.n_rows :]

    def quadratic(self, point: np.ndarray) -> float:
        """Value of the quadratic penalty."""
        return 0.5 * float(point[:-1] @ self.form @ point[:-1])

    def derivatives(self, step: np.ndarray, change: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the quadratic penalty along a step."""
        image = self.form @ step[:-1]
        return float(image @ self.point[:-1]), float(image @ step[:-1])

    def is_negligible(self, descent: float) -> bool:
        """Whether little is to gain beside the proximal terms of the multipliers."""
        return not -descent > max(0.1 * self.loss.proximal(self.dual), self.negligible)

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Solve the least-squares problem of what is free."""
        gradient = -self.design.adjoint(self.hinge.target * self.row_dual)
        gradient[:-1] += self.term_dual + self.form @ self.point[:-1]
        free = np.flatnonzero((self.row_dual > 0) & (self.row_dual < self.hinge.cost))
        matrix = self.design.gram(self.loss.stiffness[free], free)
        matrix[:-1, :-1] += self.form
        diagonal = np.append(np.where(self.is_zero, self.loss.stiffness[self.n_rows :], 0.0), 0.0)
        matrix.flat[:: len(matrix) + 1] += diagonal + self.ridge
        step = np.linalg.solve(matrix, -gradient)
        return step, np.concatenate([self.slack_change(step), step[:-1]])
