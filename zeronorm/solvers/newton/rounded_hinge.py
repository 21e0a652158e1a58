"""Hinge rounded off and ridge penalty: the smooth surrogate that is solved while vectors move.

    min over v, b   1/2 |v|^2 + sum_i c_i h(1 - y_i (Phi v + b)_i)

The rounded hinge h(s) of a slack s is s^2 / (2 WIDTH) from 0 to WIDTH, then s - WIDTH / 2.

Only rows on the bend curve the function along the intercept. Where there are none, a Newton step
says nothing about it; the intercept then goes to the middle of its best values, for the weights as
they are. That is also where a cold start begins: at zero weights the best intercept has all rows of
the heavier class on the bend.
"""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.design import Design
from zeronorm.solvers.intercept import central_intercept
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.descent import Line
from zeronorm.solvers.newton.ridge_descent import RidgeDescent
from zeronorm.solvers.solution import Solution

#: Width over which the hinge is rounded off.
WIDTH = 0.5

#: Most Newton steps; the one whose slope is less than this share of the value is the last.
MAX_NEWTON, PRECISION = 50, 1e-6

#: A full step is taken if it lowers the value by this share of its slope.
ENOUGH = 0.1


def solve_rounded_hinge(design: Design, hinge: Hinge, start: np.ndarray) -> Solution:
    """Minimise by Newton steps with a line search.

    Parameters
    ----------
    design : Design of shape (n, m)
        Features.
    hinge : Hinge
        Targets, costs and margins.
    start : ndarray of shape (m + 1,)
        Where to start, the intercept last.
    """
    state = _Rounded(design, hinge, hinge.smoothed(WIDTH), start)
    intercept, value = _intercept_alone(hinge)
    # A start that is worse than no weights at all would be a long way round.
    if not state.value <= value:
        nothing = np.append(np.zeros(len(start) - 1), intercept)
        state.move(nothing, hinge.slack(np.full(len(hinge.target), intercept)))
    for _ in range(MAX_NEWTON):
        is_going = state.newton_step() and not state.is_exact
        if not is_going or -state.descent <= PRECISION * state.value:
            break
    state.centre()
    point = state.point
    return Solution(point[:-1], float(point[-1]), state.scores(), state.dual, state.value)


def _intercept_alone(hinge: Hinge) -> tuple[float, float]:
    """Best intercept and its value without weights.

    With equal margins the rows of the heavier class are then on the bend, so far that their slopes
    balance the others; with equal classes, the middle of all that is as good.
    """
    target, cost = hinge.target, hinge.cost
    if not isinstance(hinge.margin, float):
        best = central_intercept(np.zeros(len(target)), hinge, WIDTH)
        slacks, loss = hinge.slack(np.full(len(target), best)), hinge.smoothed(WIDTH)
        return best, loss.total(slacks, loss.dual(slacks))
    excess, total = float(target @ cost), float(cost.sum())
    lighter, heavier = 0.5 * (total - abs(excess)), 0.5 * (total + abs(excess))
    if abs(excess) <= 1e-12 * total:
        return 0.0, (1.0 - 0.5 * WIDTH) * total
    slack = WIDTH * lighter / heavier
    value = lighter * (2.0 - slack - 0.5 * WIDTH) + heavier * slack**2 / (2.0 * WIDTH)
    return float(np.sign(excess)) * (1.0 - slack), value


class _Rounded(RidgeDescent):
    """The descent, with an intercept that is best wherever no row is on the bend."""

    def newton_step(self) -> bool:
        """Take a step."""
        self.centre()
        return super().newton_step()

    def search(self, line: Line, step: np.ndarray) -> float:
        """Take the full step where it lowers the value enough, as most do."""
        return 1.0 if line.rise(1.0) <= ENOUGH * self.descent else super().search(line, step)

    def without_curvature(self, gradient: np.ndarray) -> np.ndarray:
        """Go down the slope; the intercept is where it is best."""
        return np.append(-gradient[:-1], 0.0)

    def centre(self, width: float = WIDTH) -> None:
        """Move the intercept to the middle of its best values, where no row is on the bend."""
        if not self.is_free.any():
            super().centre(width)
