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

#: Most Newton steps, and the share of the value that may be left to gain.
MAX_NEWTON, PRECISION = 50, 1e-7


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
        bent = np.flatnonzero(self.is_bent)
        some = self.rows[bent]
        matrix = (some * self.stiffness[bent, None]).T @ some
        diagonal = matrix.diagonal() + self.penalty
        # The intercept has no curvature where no row is on the bend.
        matrix.flat[:: len(matrix) + 1] = diagonal + 1e-12 * diagonal.max()
        step = np.linalg.solve(matrix, -gradient)
        descent = float(gradient @ step)
        if not -descent > PRECISION * self.value:
            return False
        change = self.target * (self.rows @ step)
        length = self._line_search(step, change, descent)
        self.point = self.point + length * step
        self.slack = self.slack - length * change
        before = self.is_bent
        self._evaluate()
        # A full step that changes no row's piece has landed on the exact minimum.
        return not (length == 1.0 and np.array_equal(before, self.is_bent))

    def _line_search(self, step: np.ndarray, change: np.ndarray, descent: float) -> float:
        inner = step[:-1]
        slope, curvature = inner @ self.point[:-1], inner @ inner

        def derivative(length: float) -> float:
            dual = self.stiffness * (self.slack - length * change)
            np.maximum(dual, 0.0, out=dual)
            np.minimum(dual, self.cost, out=dual)
            return float(slope + length * curvature - dual @ change)

        return slope_root(derivative, descent)
