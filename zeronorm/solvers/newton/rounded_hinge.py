"""The hinge loss rounded off, with a ridge penalty: a smooth stand-in that Newton solves fast.

    min over v, b   1/2 |v|^2 + sum_i c_i h(1 - y_i (Phi v + b)_i)

The rounded hinge h(s) of a slack s is s^2 / (2 WIDTH) from 0 to WIDTH, then s - WIDTH / 2. The
function is piecewise quadratic: near a solution one Newton step is exact.

Only rows on the bend curve the function along the intercept. Where there are none, a Newton step
says nothing about it; the intercept then goes to the middle of its best values, for the weights as
they are. That is also where a cold start begins: at zero weights the best intercept has all rows of
the heavier class on the bend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.design import central_intercept
from zeronorm.solvers.newton.line_search import has_fallen, slope_root

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
    signed_dual: np.ndarray


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
    intercept, value = _intercept_alone(target, cost)
    # A start that is worse than no weights at all would be a long way round.
    if not state.value <= value:
        state = _State(rows, target, cost, np.append(np.zeros(len(start) - 1), intercept))
    for _ in range(MAX_NEWTON):
        if not state.newton_step():
            break
    state.centre()
    return RoundedSolution(state.value, state.point, target * state.dual)


def _intercept_alone(target: np.ndarray, cost: np.ndarray) -> tuple[float, float]:
    """Best intercept and its value without weights.

    The rows of the heavier class are then on the bend, so far that their pulls balance the others;
    with equal classes, the middle of all that is as good.
    """
    excess, total = float(target @ cost), float(cost.sum())
    lighter, heavier = 0.5 * (total - abs(excess)), 0.5 * (total + abs(excess))
    if abs(excess) <= 1e-12 * total:
        return 0.0, (1.0 - 0.5 * WIDTH) * total
    slack = WIDTH * lighter / heavier
    value = lighter * (2.0 - slack - 0.5 * WIDTH) + heavier * slack**2 / (2.0 * WIDTH)
    return float(np.sign(excess)) * (1.0 - slack), value


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
        self._move(start, 1.0 - target * (rows @ start))

    def _duals(self, slack: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(self.stiffness * slack, 0.0), self.cost)

    def value_at(self, point: np.ndarray, slack: np.ndarray) -> float:
        """Value of a point with these slacks."""
        return self._value(point, slack, self._duals(slack))

    def _value(self, point: np.ndarray, slack: np.ndarray, dual: np.ndarray) -> float:
        loss = dual @ slack - 0.5 * (dual @ (dual / self.stiffness))
        return float(loss + 0.5 * (point[:-1] @ point[:-1]))

    def _move(self, point: np.ndarray, slack: np.ndarray) -> None:
        self.point, self.slack, self.dual = point, slack, self._duals(slack)
        self.is_bent = self.dual == self.stiffness * slack
        self.value = self._value(point, slack, self.dual)

    def centre(self) -> None:
        """Move the intercept to the middle of its best values, where no row is on the bend."""
        if self.is_bent.any():
            return
        scores = self.target * (1.0 - self.slack) - self.point[-1]
        point = self.point.copy()
        point[-1] = central_intercept(scores, self.target, self.cost, WIDTH)
        before = self.point, self.slack, self.value
        self._move(point, 1.0 - self.target * (scores + point[-1]))
        if not has_fallen(self.value, before[2]):
            self._move(*before[:2])

    def newton_step(self) -> bool:
        """Take a step; False if the minimum is reached."""
        self.centre()
        gradient = self.penalty * self.point - (self.target * self.dual) @ self.rows
        bent = self.stiff_rows[self.is_bent]
        matrix = bent.T @ bent
        diagonal = matrix.diagonal() + self.penalty
        # Without a row on the bend the intercept has no curvature, and is where it is best.
        matrix.flat[:: len(matrix) + 1] = diagonal + 1e-12 * diagonal.max()
        step = np.linalg.solve(matrix, -gradient)
        descent = float(gradient @ step)
        if not descent < 0:
            return False
        is_last = -descent <= PRECISION * self.value
        change = self.target * (self.rows @ step)
        point, slack, value, is_bent = self.point, self.slack, self.value, self.is_bent
        self._move(point + step, slack - change)
        if self.value <= value + ENOUGH * descent:
            # A full step that changes no row's piece has landed on the exact minimum.
            return not (is_last or np.array_equal(is_bent, self.is_bent))
        inner = step[:-1]
        flat, bend = inner @ point[:-1], inner @ inner
        length = slope_root(
            lambda t: float(flat + t * bend - self._duals(slack - t * change) @ change),
            descent,
            lambda t: self.value_at(point + t * step, slack - t * change) - value,
        )
        self._move(point + length * step, slack - length * change)
        if not has_fallen(self.value, value):  # rounding: the point before was as good
            self._move(point, slack)
            return False
        return length > 0 and not is_last
