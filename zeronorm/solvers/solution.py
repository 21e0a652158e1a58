"""The solution of a problem with one output."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Solution:
    """Solution for one output, with its certificate.

    ``scores`` are the decision values of the rows, ``dual`` their dual variables, ``gap`` is the
    relative duality gap, infinite where none was taken; ``history`` has terms, objective and gap of
    each round.
    """

    coef: np.ndarray
    intercept: float
    scores: np.ndarray
    dual: np.ndarray
    objective: float
    gap: float = np.inf
    steps: int = 0
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"terms": [], "objective": [], "gap": []}
    )

    def record(self) -> None:
        """Add this solution to its history."""
        line = int(np.count_nonzero(self.coef)), self.objective, self.gap
        for key, value in zip(self.history, line, strict=True):
            self.history[key].append(value)
