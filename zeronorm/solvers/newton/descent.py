"""The Newton loop: a quadratic function plus a loss of the slacks, which are linear in the point.

    F(point) = quadratic(point) + loss(slack(point))

The loss is one of ``losses.py``. For the piecewise quadratic ones a Newton step is exact as long as
no row changes its piece, so that a few steps end at the minimum itself. Every step is searched
along its line, and must not raise F: a descent that rises is a bug, and ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from zeronorm.solvers.losses import Hinge, Smoothed
from zeronorm.solvers.newton.line_search import NEAR, Line, has_fallen, slope_root


class NewtonDescent(ABC):
    """A point that moves by Newton steps.

    A subclass knows the quadratic part and the Newton direction; it sets ``loss`` and calls
    ``move`` before the first step.

    Attributes
    ----------
    point, slack, dual : ndarray
        Where it is, with the slacks and the derivatives of the loss by them.
    value : float
        F there.
    full_step : float
        The full step is taken if its slope is at most this share of the first one.
    descent, length : float
        Slope of F along the last step, at its start, and how far it went.
    steps : int
        Steps so far.
    """

    loss: Any
    full_step = NEAR
    steps = 0
    descent = length = 0.0

    @abstractmethod
    def quadratic(self, point: np.ndarray) -> float:
        """Value of the quadratic part."""

    @abstractmethod
    def derivatives(self, step: np.ndarray, change: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the quadratic part along a step."""

    @abstractmethod
    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Newton's step, and by how much it changes the slacks."""

    def is_negligible(self, descent: float) -> bool:
        """Whether a step with this slope is not worth taking."""
        return False

    def move(
        self,
        point: np.ndarray,
        slack: np.ndarray,
        dual: np.ndarray | None = None,
        loss: float | None = None,
    ) -> None:
        """Go to a point with these slacks, and evaluate F; dual variables and loss may be known."""
        self.point, self.slack = point, slack
        self.dual = self.loss.dual(slack) if dual is None else dual
        self.loss_value = self.loss.total(slack, self.dual) if loss is None else loss
        self.value = self.quadratic(point) + self.loss_value

    def newton_step(self) -> bool:
        """Take a step; False if there is nothing to gain, or rounding has left no way down."""
        try:
            step, change = self.direction()
        except np.linalg.LinAlgError:
            return False
        first, second = self.derivatives(step, change)
        self.descent = first + float(self.dual @ change)
        if not self.descent < 0 or self.is_negligible(self.descent):
            return False
        line = Line(self.loss, self.slack, change, first, second, self.loss_value)
        self.length = self.search(line, step)
        before, value = (self.point, self.slack, self.dual, self.loss_value), self.value
        self.arrive(self.point + self.length * step, line)
        self.steps += 1
        if self.length > 0 and has_fallen(self.value, value):
            return True
        self.move(*before)
        return False

    def arrive(self, point: np.ndarray, line: Line) -> None:
        """Move to the point at the end of the search along a line."""
        length = self.length
        self.move(point, line.go(length), line.dual_at(length), line.loss_at(length))

    def search(self, line: Line, step: np.ndarray) -> float:
        """Length of the step."""
        return slope_root(line.slope, self.descent, line.rise, self.full_step)


class HingeDescent(NewtonDescent):
    """A descent whose loss is the smoothed hinge on a design; the intercept is the last number.

    Parameters
    ----------
    design : Design
        Rows by columns.
    hinge : Hinge
        Targets and costs.
    loss : Smoothed
        The hinge, smoothed.
    point : ndarray of shape (m + 1,)
        Where to start.
    """

    def __init__(self, design: Any, hinge: Hinge, loss: Smoothed, point: np.ndarray) -> None:
        self.design, self.hinge, self.loss = design, hinge, loss
        self.move(point, hinge.slack(design.apply(point)))

    def slack_change(self, step: np.ndarray) -> np.ndarray:
        """By how much a step changes the slacks of the rows."""
        change = self.design.apply(step)
        change *= self.hinge.target
        return np.negative(change, out=change)

    def scores(self) -> np.ndarray:
        """Decision values of the rows."""
        return self.hinge.scores(self.slack)
