"""The hinge loss, a one-norm and a quadratic penalty, solved to a certificate.

    min over alpha, b   L = sum_i c_i max(0, 1 - y_i (K alpha + b)_i) + lambda sum_j |alpha_j|
                            + 1/2 alpha' Q alpha

the problem of Drezet & Harrison (2001), Q positive semidefinite.

Method. In dual form the hinge is the largest of  beta (1 - r)  over 0 <= beta <= 1, and |a| the
largest of  t a  over -1 <= t <= 1. Both are smoothed about the last dual variables, by
- w (beta - beta0)^2 / 2 and - v (t - t0)^2 / 2 (augmented Lagrangian), which gives least-squares
problems: weights c / w for the rows with 0 < beta < c, lambda / v for the terms with |t| < 1,
linear pieces for the others (semismooth Newton, as in ``hinge_qp.py``). When one is solved well
enough, beta and t become beta0 and t0, and w and v shrink.

Certificate. With theta = K'(y beta) - Q alpha, y'beta = 0, scaled so that |theta_j| <= lambda,

    sum_i beta_i - 1/2 alpha' Q alpha   <=   min L.

Where every b of an interval is optimal, the solution has its middle. Terms with |t_j| < 1 are zero
and leave the model. Columns with |theta_j| far below lambda sleep: only the others are in the
least-squares problems. Sleeping columns that the dual point violates wake once the problem of those
active is solved well enough that they are what is missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zeronorm.solvers.design import balanced, central_intercept, column_sizes
from zeronorm.solvers.newton.line_search import has_fallen, slope_root
from zeronorm.solvers.newton.solution import OutputSolution

#: Smoothing width of a cold and a warm start, its factor per round, its floor, and most rounds.
COLD_WIDTH, WARM_WIDTH, WIDTH_FACTOR, WIDTH_FLOOR = 3.0, 0.5, 0.85, 1e-3
MAX_ROUNDS = 200

#: The width of the terms, in units of that of the rows, before and after there are coefficients
#: to measure it by.
FIRST_REACH, REACH = 3.0, 0.3

#: A step that promises less than this share of the gap is not worth taking.
NEGLIGIBLE = 1e-9

#: A cold start looks at so many columns first; a round wakes no more than this, or than there are.
FIRST_COLUMNS = 100

#: Columns whose dual constraint is used less than this fall asleep, beyond the other they wake.
SCREEN, ACTIVATE = 0.3, 0.8

#: Columns wake when the gap among those active is less than this share of the whole gap: before,
#: they are not what is missing. (Wide kernels have many columns that are nearly the same; with all
#: of them active the least-squares problems are large and hardly determined.)
MISSING = 0.5

#: Before the width is this small every column has a coefficient, and none may sleep.
SETTLED = 0.5

#: Ridge on the least-squares problems, in units of the curvature of all rows.
RIDGE = 1e-12


class HingeLasso:
    """The problem for one output; solved again for another penalty it starts where it was.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    target : ndarray of shape (n,)
        Labels -1 and +1, both present.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    quadratic : ndarray of shape (m, m)
        The Q of the module docstring.
    """

    def __init__(
        self,
        values: np.ndarray,
        target: np.ndarray,
        cost: np.ndarray,
        quadratic: np.ndarray,
    ) -> None:
        self.values, self.target, self.cost = values, target, cost
        self.quadratic = quadratic
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
        """Cut out the columns that are active, scaled, with a last one of ones."""
        part = np.empty((len(self.target), len(self.active) + 1))
        np.divide(self.values[:, self.active], self.sizes[self.active], out=part[:, :-1])
        part[:, -1] = 1.0
        self.part = part
        sizes = self.sizes[self.active]
        self.form = self.quadratic[np.ix_(self.active, self.active)] / np.outer(sizes, sizes)

    def solve(self, penalty: float, tolerance: float, *, max_steps: int = 2000) -> OutputSolution:
        """Solve for one lambda to a relative duality gap of ``tolerance``."""
        self.penalty = penalty / self.sizes
        self.width = COLD_WIDTH if self.is_cold else WARM_WIDTH
        self.is_cold = False
        self.reach = FIRST_REACH * self.width
        self.steps, self.lower, self.certificate = 0, -np.inf, self.base
        history: list[tuple[int, float, float]] = []
        self._evaluate()
        best = self._measure()
        self.negligible = NEGLIGIBLE * (best.objective - self.lower)
        while best.gap > tolerance and self.steps < max_steps and len(history) < MAX_ROUNDS:
            if history:
                self._move_multipliers()
            while self.steps < max_steps and self._newton_step():
                pass
            best = min(self._measure(), best, key=lambda solution: solution.objective)
            best.gap, best.dual = self._gap(best.objective), self.certificate
            self.negligible = NEGLIGIBLE * (best.objective - self.lower)
            history.append((int(np.count_nonzero(best.coef)), best.objective, best.gap))
        # A start that is good enough is a history too.
        history = history or [(int(np.count_nonzero(best.coef)), best.objective, best.gap)]
        best.steps, best.history = self.steps, history
        return best

    def _evaluate(self) -> None:
        """Dual variables and gradient at the current point, of the columns that are active."""
        self.point = np.append(self.alpha[self.active] * self.sizes[self.active], self.b)
        self.scores = self.part @ self.point
        self._take_slopes()

    def _take_slopes(self) -> None:
        self.beta = self._row_slopes(self.scores)
        self.t = self._term_slopes(self.point[:-1])
        self.value = self._smoothed(self.point, self.scores, self.beta, self.t)
        self.gradient = -((self.target * self.beta) @ self.part)
        self.gradient[:-1] += self.penalty[self.active] * self.t
        self.gradient[:-1] += self.form @ self.point[:-1]

    def _smoothed(
        self, point: np.ndarray, scores: np.ndarray, beta: np.ndarray, t: np.ndarray
    ) -> float:
        """Value of the smoothed problem, which the Newton steps lower."""
        terms, penalty = point[:-1], self.penalty[self.active]
        moved, moved_t = beta - self.base, t - self.base_t[self.active]
        loss = beta @ (1.0 - self.target * scores) - 0.5 * self.width * (
            moved @ (moved / self.cost)
        )
        size = penalty @ (t * terms - 0.5 * self.reach * moved_t**2)
        return float(loss + size + 0.5 * (terms @ (self.form @ terms)))

    def _row_slopes(self, scores: np.ndarray) -> np.ndarray:
        beta = self.cost * (1.0 - self.target * scores) + self.width * self.base
        return np.clip(beta / self.width, 0.0, self.cost)

    def _term_slopes(self, coef: np.ndarray) -> np.ndarray:
        t = coef + self.reach * self.base_t[self.active]
        return np.clip(t / self.reach, -1.0, 1.0)

    def _newton_step(self) -> bool:
        """Take a least-squares step; False when the smoothed problem is solved well enough."""
        free = np.flatnonzero((self.beta > 0) & (self.beta < self.cost))
        rows = self.part[free] * np.sqrt(self.cost[free] / self.width)[:, None]
        matrix = rows.T @ rows
        penalty = self.penalty[self.active]
        diagonal = np.append(penalty * (np.abs(self.t) < 1) / self.reach, 0.0)
        matrix[:-1, :-1] += self.form
        # Where fewer rows are free than terms the matrix is singular: any descent will do.
        diagonal += RIDGE * self.cost.sum() / self.width
        matrix.flat[:: len(matrix) + 1] += diagonal
        step = np.linalg.solve(matrix, -self.gradient)
        descent = float(self.gradient @ step)
        moved, moved_t = self.beta - self.base, self.t - self.base_t[self.active]
        proximal = self.width * float(moved @ (moved / self.cost))
        proximal += self.reach * float(moved_t @ (penalty * moved_t))
        if not -descent > max(0.1 * proximal, self.negligible):
            return False
        change = self.part @ step
        length = slope_root(*self._along(step, change, descent))
        before = self.point, self.scores, self.value
        self.point = self.point + length * step
        self.scores = self.scores + length * change
        self.steps += 1
        self._take_slopes()
        if length == 0 or not has_fallen(self.value, before[2]):
            self.point, self.scores, _ = before
            self._take_slopes()
            return False
        return True

    def _along(
        self, step: np.ndarray, change: np.ndarray, descent: float
    ) -> tuple[Callable[[float], float], float, Callable[[float], float]]:
        """Slope along a step, that at its start, and the rise of the smoothed value."""
        signed, terms = self.target * change, step[:-1]
        weighted = self.penalty[self.active] * terms
        image = self.form @ terms
        slope, curvature = float(image @ self.point[:-1]), float(image @ terms)

        def derivative(length: float) -> float:
            beta = self._row_slopes(self.scores + length * change)
            t = self._term_slopes(self.point[:-1] + length * terms)
            return float(weighted @ t - signed @ beta) + slope + length * curvature

        def rise(length: float) -> float:
            point, scores = self.point + length * step, self.scores + length * change
            beta, t = self._row_slopes(scores), self._term_slopes(point[:-1])
            return self._smoothed(point, scores, beta, t) - self.value

        return derivative, descent, rise

    def _measure(self) -> OutputSolution:
        """Return the model without the terms that vanish, and take the bound of the dual point."""
        coef = np.where(np.abs(self.t) < 1, 0.0, self.point[:-1])
        self.alpha[:] = 0.0
        self.alpha[self.active] = coef / self.sizes[self.active]
        self.b = float(self.point[-1])
        values = self.part[:, :-1] @ coef
        central = central_intercept(values, self.target, self.cost)
        scores = values + central
        self._bound()
        slack = 1.0 - self.target * scores
        objective = float(self.cost @ np.maximum(slack, 0.0))
        objective += float(self.penalty @ np.abs(self.alpha * self.sizes))
        objective += 0.5 * float(self.alpha @ self.quadratic @ self.alpha)
        gap = self._gap(objective)
        self.are_missing = objective - self.local_bound < MISSING * (objective - self.lower)
        return OutputSolution(
            self.alpha.copy(), central, scores, self.certificate, objective, gap, 0, []
        )

    def _bound(self) -> None:
        """Lower bound of the objective from the current dual variables."""
        beta = balanced(self.beta, self.target)
        reduced = (self.target * beta) @ self.values
        # Of the point before anything is set to zero: its gradient is what beta balances.
        coef = self.point[:-1] / self.sizes[self.active]
        image = coef @ self.quadratic[self.active]
        reduced -= image
        norm = float(coef @ image[self.active])
        self.theta = reduced / self.sizes
        use = np.abs(self.theta / self.penalty)
        scale = 1.0 / max(1.0, float(use.max(initial=0.0)))
        local = 1.0 / max(1.0, float(use[self.active].max(initial=0.0)))
        self.local_bound = local * float(beta.sum()) - 0.5 * local**2 * norm
        beta = scale * beta
        bound = float(beta.sum()) - 0.5 * scale**2 * norm
        if bound > self.lower:
            self.lower, self.certificate = bound, beta

    def _gap(self, objective: float) -> float:
        return (objective - self.lower) / objective if objective > 0 else 0.0

    def _move_multipliers(self) -> None:
        """Accept the dual variables as multipliers, smooth less, and look at other columns."""
        use = self.theta / self.penalty
        base_t = np.clip(use, -1.0, 1.0)
        base_t[self.active] = self.t
        self.base, self.base_t = self.beta, base_t
        self.width = max(WIDTH_FACTOR * self.width, WIDTH_FLOOR)
        active = np.abs(self.point[:-1][np.abs(self.t) == 1])
        size = max(1.0, REACH * float(active.mean())) if len(active) else FIRST_REACH
        self.reach = size * self.width
        self.alpha[self.active] = self.point[:-1] / self.sizes[self.active]
        screened = np.maximum(np.abs(base_t), np.abs(use))[self.active] < SCREEN
        screened &= self.width < SETTLED
        self.alpha[self.active[screened]] = 0.0
        inactive = np.setdiff1d(np.arange(len(use)), self.active)
        added = inactive[np.abs(use[inactive]) > ACTIVATE] if self.are_missing else inactive[:0]
        if len(added) > max(FIRST_COLUMNS, len(self.active)):
            order = np.argsort(-np.abs(use[added]), kind="stable")
            added = added[order[: max(FIRST_COLUMNS, len(self.active))]]
        if screened.any() or len(added):
            self.active = np.sort(np.append(self.active[~screened], added))
            self._cut()
        self._evaluate()
