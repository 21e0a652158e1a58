"""Limits of predicted numbers: how far outside of what it has seen a model may go.

A linear part grows without end. A row with an error of typing in one feature, fifty deviations
out, is then predicted far outside of all targets, where a machine of bounded kernels goes back to
its constant. So predictions are cut off at some distance from the range of the training targets,
as in Quinlan's Cubist, whose rules have linear parts too. Within it nothing changes.

J. R. Quinlan: Learning with continuous classes. Proceedings of the 5th Australian Joint Conference
on Artificial Intelligence (1992); the limits are the option "extrapolation" of its successor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, namespace
from zeronorm.checks import is_number


@dataclass(frozen=True)
class Limits:
    """Lowest and highest prediction of every target."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def around(cls, targets: np.ndarray, share: float) -> Limits:
        """Return the range of targets (n x targets), wider by this share of it at either end."""
        low, high = targets.min(axis=0), targets.max(axis=0)
        with np.errstate(over="ignore"):
            room = share * (high - low)
            ends = np.nan_to_num(np.stack([low - room, high + room]))  # no infinity in files
        return cls(*(tuple(end) for end in ends.tolist()))

    def clipped(self, values: Any) -> Any:
        """Cut predictions off, shape (rows,) of one target or (rows, targets)."""
        xp = namespace(values)
        low, high = (as_on(np.array(end), values, values.dtype) for end in (self.low, self.high))
        values = xp.where(values < low, low, values)
        return xp.where(values > high, high, values)

    @classmethod
    def from_fields(cls, limits: Any) -> Limits:
        """Rebuild limits from two lists of numbers; ValueError if they are damaged."""
        is_pair = isinstance(limits, list) and len(limits) == 2
        if not (is_pair and all(isinstance(end, list) and end for end in limits)):
            raise ValueError("The decision is damaged: limits are not two lists.")
        low, high = limits
        if len(low) != len(high) or not all(map(is_number, (*low, *high))):
            raise ValueError("The decision is damaged: limits are not numbers, two of a target.")
        if any(one > other for one, other in zip(low, high, strict=True)):
            raise ValueError("The decision is damaged: a limit is above the other one.")
        return cls(tuple(map(float, low)), tuple(map(float, high)))
