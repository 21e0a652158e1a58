"""What a method of feature selection returns: the columns in their order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Selection:
    """What a method returns of the columns it was given.

    ``order`` has all of them, best first; ``count`` is the number that the method itself would
    keep, ``scaling`` the weight it gives to each column; ``history`` has one entry a round.
    """

    order: np.ndarray
    count: int
    scaling: np.ndarray
    n_iter: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    warning: str | None = None

    def record(self, **values: float) -> None:
        """Add a round to the history."""
        self.n_iter += 1
        for name, value in values.items():
            self.history.setdefault(name, []).append(value)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the history as arrays."""
        return {name: np.array(values) for name, values in self.history.items()}


def descending(keys: np.ndarray) -> np.ndarray:
    """Order by the last key, largest first; of equals by the one before, and so on."""
    order = np.argsort(-keys[-1], kind="stable")
    if len(order) > 1 and (np.diff(keys[-1][order]) == 0).any():
        return np.lexsort(-keys)
    return order
