"""A line search for convex functions whose derivative is piecewise linear, and what it must hold.

A small slope alone does not make a point of the line a good one: a step that is far too long may
end where the function hardly rises any more, high above its start. By convexity a point with a
negative slope lies below the start; any other must show that it does.
"""

from __future__ import annotations

from collections.abc import Callable

#: A slope of this share of the first one is near enough to zero.
NEAR = 0.1

#: What rounding may add to a value, relatively.
ROUNDING = 1e-11


def slope_root(
    slope: Callable[[float], float], descent: float, rise: Callable[[float], float]
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

    Returns
    -------
    float
        The length; zero if rounding leaves no lower point.
    """
    low, at_low, high, at_high, length, side = 0.0, descent, float("inf"), 0.0, 1.0, 0
    for _ in range(100):
        derivative = slope(length)
        is_near = abs(derivative) <= -NEAR * descent
        if is_near and (derivative <= 0 or rise(length) <= 0):
            return length
        # The same side twice: halve the other end's value, or the method would creep.
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
    """Whether a step that promised to lower a value has not raised it, up to rounding."""
    return value <= before + ROUNDING * abs(before)
