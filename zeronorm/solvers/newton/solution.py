"""The solution of a problem with one output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class OutputSolution:
    """Solution for one output, with its certificate.

    ``coef`` has exact zeros, ``scores`` are the decision values of the rows, ``dual`` their dual
    variables, ``gap`` is the relative duality gap; a line of ``history`` is terms, objective, gap.
    """

    coef: np.ndarray
    intercept: float
    scores: np.ndarray
    dual: np.ndarray
    objective: float
    gap: float
    steps: int
    history: list[tuple[int, float, float]]
