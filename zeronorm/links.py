"""Links: what turns decision values into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, softmax

from zeronorm.checks import is_number

#: Functions that turn a decision value into the probability of its class.
LINKS = {"logistic": expit, "probit": ndtr}


@dataclass(frozen=True)
class Calibration:
    """A link that was learned: probabilities of ``slope * values + offsets``.

    Those of two classes are a logistic function (Platt's sigmoid), of several the softmax (one
    temperature and a bias for each class).
    """

    slope: float
    offsets: tuple[float, ...]

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Probability of every class, of rows with these decision values."""
        logits = self.slope * values.reshape(len(values), -1) + np.array(self.offsets)
        if logits.shape[1] == 1:
            return np.hstack([expit(-logits), expit(logits)])
        return softmax(logits, axis=1)

    @classmethod
    def from_dict(cls, data: Any) -> Calibration:
        """Rebuild it from its fields; ValueError if they are damaged."""
        if not isinstance(data, dict) or data.keys() != {"slope", "offsets"}:
            raise ValueError("The decision is damaged: its link is not a slope and offsets.")
        offsets = data["offsets"]
        if not isinstance(offsets, list) or not all(map(is_number, [data["slope"], *offsets])):
            raise ValueError("The decision is damaged: its link holds what is not a number.")
        return cls(float(data["slope"]), tuple(map(float, offsets)))


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
