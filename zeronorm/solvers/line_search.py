"""A line search for convex functions whose derivative is piecewise linear."""

from __future__ import annotations

from collections.abc import Callable


def slope_root(slope: Callable[[float], float], descent: float) -> float:
    """Near root of the derivative along a step, which never falls.

    Regula falsi with the Illinois rule, from the full step; a tenth of the first slope,
    ``descent`` < 0, is near enough.
    """
    low, at_low, high, at_high, length, side = 0.0, descent, float("inf"), 0.0, 1.0, 0
    for _ in range(60):
        derivative = slope(length)
        if abs(derivative) <= -0.1 * descent:
            break
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
    return length
