"""Links: what turns decision values into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, softmax

from zeronorm.arrays import is_numpy, namespace
from zeronorm.checks import is_number

#: Functions that turn a decision value into the probability of its class.
LINKS = {"logistic": expit, "probit": ndtr}


@dataclass(frozen=True)
class Calibration:
    """A link that was learned: the softmax of ``slope * values``, of two classes a sigmoid.

    The most probable class is the one with the largest value, so that it is what is predicted.
    """

    slope: float

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Probability of every class, of rows with these decision values."""
        if not is_numpy(values):
            return _softmax(self.slope * values)
        logits = self.slope * values.reshape(len(values), -1)
        if logits.shape[1] == 1:
            return np.hstack([expit(-logits), expit(logits)])
        return softmax(logits, axis=1)

    @classmethod
    def from_dict(cls, data: Any) -> Calibration:
        """Rebuild it from its field; ValueError if that is damaged."""
        slope: Any = data.get("slope") if isinstance(data, dict) and len(data) == 1 else None
        if not is_number(slope) or not slope > 0:
            raise ValueError("The decision is damaged: its link is not a positive slope.")
        return cls(float(slope))


def _softmax(logits: Any) -> Any:
    """Softmax of the logits of every row, of any library; of one column with a zero beside it."""
    xp = namespace(logits)
    if logits.ndim == 1:
        logits = xp.stack([xp.zeros_like(logits), logits], axis=1)
    powers = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def probabilities(values: np.ndarray, link: str | Calibration) -> np.ndarray:
    """Probability of every class; those of one class against the rest are scaled to sum to one."""
    if isinstance(link, Calibration):
        return link(values)
    probability = LINKS[link]
    values = values.reshape(len(values), -1)
    if values.shape[1] == 1:
        return np.hstack([probability(-values), probability(values)])
    # Far from every class all are tiny: the largest is then still the largest.
    each = np.maximum(probability(values), np.finfo(float).tiny)
    return each / each.sum(axis=1, keepdims=True)
