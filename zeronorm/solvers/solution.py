"""What solvers return: the solution of a problem with one output, and a record of the rounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


class History(dict[str, list[float]]):
    """One value a round under each name; names that are given are there before the first round."""

    def __init__(self, *names: str) -> None:
        super().__init__({name: [] for name in names})

    def record(self, **values: float) -> None:
        """Add a round."""
        for name, value in values.items():
            self.setdefault(name, []).append(value)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return it as arrays."""
        return {name: np.array(values) for name, values in self.items()}


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
    history: History = field(default_factory=History)

    def record(self) -> None:
        """Add this solution to its history."""
        terms = int(np.count_nonzero(self.coef))
        self.history.record(terms=terms, objective=self.objective, gap=self.gap)
