"""The hinge loss rounded off, with a ridge penalty: a smooth stand-in that Newton solves fast.

    min over v, b   1/2 |v|^2 + sum_i c_i h(1 - y_i (Phi v + b)_i)

The rounded hinge h(s) of a slack s is s^2 / (2 WIDTH) from 0 to WIDTH, then s - WIDTH / 2. The
function is piecewise quadratic: near a solution one Newton step is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.line_search import slope_root

#: Width over which the hinge is rounded off.
WIDTH = 0.5

#: Most Newton steps; the one that promises less than this share of the value is the last.
MAX_NEWTON, PRECISION = 50, 1e-6

#: A full step is taken if it lowers the value by this share of what its slope promises.
ENOUGH = 0.1


@dataclass
class RoundedSolution:
    """Value, weights (the intercept last), and minus the slope of the loss at each score."""

    value: float
    point: np.ndarray
    pull: np.ndarray


def solve_rounded_hinge(
    rows: np.ndarray, target: np.ndarray, cost: np.ndarray, start: np.ndarray
) -> RoundedSolution:
    """Minimise by Newton steps with a line search.

    Parameters
    ----------
    rows : ndarray of shape (n, m + 1)
        Features; the last column is one, and its weight, the intercept, has no penalty.
    target : ndarray of shape (n,)
        Labels -1 and +1.
    cost : ndarray of shape (n,)
        Positive cost of each row's loss.
    start : ndarray of shape (m + 1,)
        Where to start.
    """
    state = _State(rows, target, cost, start)
    # Far out no row may be on the bend, and a Newton step then says nothing.
    if not state.value <= (1.0 - 0.5 * WIDTH) * cost.sum():
        state = _State(rows, target, cost, np.zeros(len(start)))
    for _ in range(MAX_NEWTON):
        if not state.newton_step():
            break
    return RoundedSolution(state.value, state.point, target * state.dual)


class _State:
    """The current point, and what follows from it."""

    def __init__(
        self, rows: np.ndarray, target: np.ndarray, cost: np.ndarray, start: np.ndarray
    ) -> None:
        self.rows, self.target, self.cost = rows, target, cost
        self.stiffness = cost / WIDTH
        self.stiff_rows = rows * np.sqrt(self.stiffness)[:, None]
        self.penalty = np.ones(len(start))
        self.penalty[-1] = 0.0
        self.point, self.slack = start, 1.0 - target * (rows @ start)
        self._evaluate()

    def _evaluate(self) -> None:
        raw = self.stiffness * self.slack
        self.dual = np.minimum(np.maximum(raw, 0.0), self.cost)
        self.is_bent = self.dual == raw
        loss = self.dual @ self.slack - 0.5 * (self.dual @ (self.dual / self.stiffness))
        self.value = float(loss + 0.5 * (self.point[:-1] @ self.point[:-1]))

    def newton_step(self) -> bool:
        """Take a step; False if the minimum is reached."""
        gradient = self.penalty * self.point - (self.target * self.dual) @ self.rows
        bent = self.stiff_rows[self.is_bent]
        matrix = bent.T @ bent
        diagonal = matrix.diagonal() + self.penalty
        # The intercept has no curvature where no row is on the bend.
        matrix.flat[:: len(matrix) + 1] = diagonal + 1e-12 * diagonal.max()
        step = np.linalg.solve(matrix, -gradient)
        descent = float(gradient @ step)
        if not descent < 0:
            return False
        is_last = -descent <= PRECISION * self.value
        change = self.target * (self.rows @ step)
        point, slack, value, is_bent = self.point, self.slack, self.value, self.is_bent
        self.point, self.slack = point + step, slack - change
        self._evaluate()
        if self.value <= value + ENOUGH * descent:
            # A full step that changes no row's piece has landed on the exact minimum.
            return not (is_last or np.array_equal(is_bent, self.is_bent))
        length = self._line_search(point, slack, step, change, descent)
        self.point, self.slack = point + length * step, slack - length * change
        self._evaluate()
        return not is_last

    def _line_search(
        self,
        point: np.ndarray,
        slack: np.ndarray,
        step: np.ndarray,
        change: np.ndarray,
        descent: float,
    ) -> float:
        inner = step[:-1]
        slope, curvature = inner @ point[:-1], inner @ inner

        def derivative(length: float) -> float:
            dual = self.stiffness * (slack - length * change)
            np.maximum(dual, 0.0, out=dual)
            np.minimum(dual, self.cost, out=dual)
            return float(slope + length * curvature - dual @ change)

        return slope_root(derivative, descent)
