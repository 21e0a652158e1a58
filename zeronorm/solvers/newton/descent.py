"""The Newton loop: a quadratic function plus a loss of the slacks, which are linear in the point.

    F(point) = quadratic(point) + loss(slack(point))

The loss is one of ``losses.py``. For the piecewise quadratic ones a Newton step is exact as long as
no row changes its piece, so that a few steps end at the minimum itself. Every step is searched
along its line, and must not raise F: a descent that rises is a bug, and ends.

A small slope alone does not make a point of the line a good one: a step that is far too long may
end where the function hardly rises any more, high above its start. By convexity a point with a
negative slope lies below the start; any other must show that it does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from zeronorm.solvers.intercept import central_intercept
from zeronorm.solvers.losses import Hinge, SlackLoss, Smoothed

#: A slope of this share of the first one is near enough to zero.
NEAR = 0.1

#: What rounding may add to a value, relatively.
ROUNDING = 1e-11


class Line:
    """A quadratic function plus a loss, along a step.

    Parameters
    ----------
    loss : SlackLoss
        The loss.
    slack, change : ndarray
        Slacks at the start, and by how much the whole step changes them.
    slope, curvature : float
        First and second derivative, along the step, of everything but the loss.
    loss_there : float
        The loss at the start.
    """

    def __init__(
        self,
        loss: SlackLoss,
        slack: np.ndarray,
        change: np.ndarray,
        slope: float,
        curvature: float,
        loss_there: float,
    ) -> None:
        self.loss, self.slack, self.change = loss, slack, change
        self.first, self.second, self.loss_there = slope, curvature, loss_there
        self.length = np.nan
        self.total: float | None = None
        self.dual: np.ndarray | None = None

    def go(self, length: float) -> np.ndarray:
        """Return the slacks at a length; the last ones are kept."""
        if length != self.length:
            self.length, self.total, self.dual = length, None, None
            self.there = self.slack + length * self.change
        return self.there

    def dual_at(self, length: float) -> np.ndarray:
        """Return the derivatives of the loss at a length; the last ones are kept."""
        there = self.go(length)
        if self.dual is None:
            self.dual = self.loss.dual(there)
        return self.dual

    def loss_at(self, length: float) -> float:
        """Return the loss at a length; the last one is kept."""
        there = self.go(length)
        if self.total is None:
            dual = self.dual_at(length) if self.loss.needs_dual else there
            self.total = self.loss.total(there, dual)
        return self.total

    def slope(self, length: float) -> float:
        """Return the derivative at a length."""
        return float(self.first + length * self.second + self.dual_at(length) @ self.change)

    def rise(self, length: float) -> float:
        """Return the value at a length less that at the start."""
        quadratic = length * self.first + 0.5 * length**2 * self.second
        return quadratic + self.loss_at(length) - self.loss_there


def slope_root(
    slope: Callable[[float], float],
    descent: float,
    rise: Callable[[float], float],
    full_step: float = NEAR,
) -> float:
    """Length of a step near the minimum along it, below the start.

    Regula falsi with the Illinois rule for the root of the derivative, from the full step.

    Parameters
    ----------
    slope : callable
        Derivative along the step, of a length; it never falls.
    descent : float
        ``slope(0)``, negative.
    rise : callable
        Value at a length, less the value at the start.
    full_step : float
        The full step is taken if its slope is at most this share of the first one.

    Returns
    -------
    float
        The length; zero if rounding leaves no lower point.
    """
    low, at_low, high, at_high, length, side = 0.0, descent, float("inf"), 0.0, 1.0, 0
    near = full_step
    for _ in range(100):
        derivative = slope(length)
        is_near = abs(derivative) <= -near * descent
        if is_near and (derivative <= 0 or rise(length) <= 0):
            return length
        near = NEAR
        # The same side twice: halve the other end's value, or convergence would be slow.
        if derivative > 0:
            at_low *= 0.5 if side > 0 else 1.0
            high, at_high, side = length, derivative, 1
        else:
            at_high *= 0.5 if side < 0 else 1.0
            low, at_low, side = length, derivative, -1
        if high == float("inf"):
            length = 3.0 * length
        else:
            length = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < length < high:
            break
    return low


def has_fallen(value: float, before: float) -> bool:
    """Whether a step along a descent direction has not raised a value, up to rounding."""
    return value <= before + ROUNDING * abs(before)


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

    def quadratic(self, point: np.ndarray) -> float:
        """Value of the quadratic part: half the squared norm of all but the intercept."""
        return 0.5 * float(point[:-1] @ point[:-1])

    def derivatives(self, step: np.ndarray, change: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the quadratic part along a step."""
        weights = step[:-1]
        return float(self.point[:-1] @ weights), float(weights @ weights)

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

    def centre(self, width: float = 0.0) -> None:
        """Move the intercept to the middle of its best values, of a hinge rounded by ``width``."""
        before, value = (self.point, self.slack, self.dual), self.value
        values = self.scores() - self.point[-1]
        middle = central_intercept(values, self.hinge, width)
        self.move(np.append(self.point[:-1], middle), self.hinge.slack(values + middle))
        if not has_fallen(self.value, value):
            self.move(*before)
