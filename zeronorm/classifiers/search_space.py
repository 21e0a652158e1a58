"""What the cross-entropy search looks at: sets of some columns, and the machine of one set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.base.training_set import Fit, TrainingProblem
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets


@dataclass
class SearchSpace:
    """What is searched: some ``columns``; ``caps`` and ``signs`` are those of all columns."""

    columns: np.ndarray
    caps: np.ndarray
    signs: np.ndarray | None

    def score(
        self, values: np.ndarray, targets: np.ndarray, cost: np.ndarray, columns: Any = None
    ) -> HingeSubsets:
        """Return the score of sets of these columns."""
        columns = self.columns if columns is None else columns
        signs = None if self.signs is None else self.signs[columns]
        return HingeSubsets(values[:, columns], targets, cost, self.caps[columns], signs)

    def fit(self, problem: TrainingProblem, columns: np.ndarray) -> Fit:
        """Return the best coefficients of one set, on all rows."""
        score = self.score(problem.values, problem.targets, problem.cost, columns)
        coef, intercept, loss, gap = score.coefficients(np.ones(len(columns), dtype=bool))
        used = np.flatnonzero(coef.any(axis=1))
        history = {"gap": np.array([gap])}
        return Fit(columns[used], coef[used], intercept, len(used) + loss, 1, history)
