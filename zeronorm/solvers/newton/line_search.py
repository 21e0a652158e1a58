"""A line search for convex functions whose derivative is piecewise linear, and what it must hold.

A small slope alone does not make a point of the line a good one: a step that is far too long may
end where the function hardly rises any more, high above its start. By convexity a point with a
negative slope lies below the start; any other must show that it does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zeronorm.solvers.losses import SlackLoss

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
