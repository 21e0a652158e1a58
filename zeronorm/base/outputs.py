"""Several outputs, each solved by itself, as one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from zeronorm.base.training_set import Fit


class Output(Protocol):
    """What a solver returns for one output; a line of its history is terms, objective, gap."""

    coef: np.ndarray
    intercept: float
    gap: float
    steps: int

    @property
    def objective(self) -> float:
        """Value of the objective."""

    @property
    def history(self) -> list[tuple[int, float, float]]:
        """Terms, objective and relative gap of every round."""


def join_outputs(parts: Sequence[Output], tolerance: float, name: str, advice: str) -> Fit:
    """Put the outputs together; a warning if one of them has too large a gap."""
    coef = np.column_stack([part.coef for part in parts])
    terms = np.flatnonzero(coef.any(axis=1))
    gap = max(part.gap for part in parts)
    warning = None
    if not gap <= tolerance:
        warning = f"{name} has a duality gap of {gap:.1e} (tol={tolerance:g}). {advice}"
    rounds = max(len(part.history) for part in parts)
    # An output that is done earlier stays as it is.
    lines = [[part.history[min(i, len(part.history) - 1)] for part in parts] for i in range(rounds)]
    columns = np.array(lines, dtype=float)
    history = {
        "terms": columns[:, :, 0].sum(axis=1).astype(np.intp),
        "objective": columns[:, :, 1].sum(axis=1),
        "gap": columns[:, :, 2].max(axis=1),
    }
    history["terms"][-1] = len(terms)  # outputs share vectors
    return Fit(
        terms,
        coef[terms],
        np.array([part.intercept for part in parts]),
        float(history["objective"][-1]),
        max(1, sum(part.steps for part in parts)),
        history,
        warning,
    )
