"""The one-class machine as a task of learned vectors: for fixed ones, a problem of hinges.

``one_class`` in ``solvers/losses.py`` says how; ``prototypes.py`` moves the vectors.
"""

from __future__ import annotations

import numpy as np

from zeronorm.learned.prototypes import SpanSolution
from zeronorm.solvers.design import Design
from zeronorm.solvers.losses import one_class
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.rounded_hinge import solve_rounded_hinge
from zeronorm.solvers.solution import Solution


class OneClassTask:
    """The one-class machine in the span of some vectors, as ``prototypes.py`` asks for it.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Cost of each row, which sum to total / nu.
    total : float
        What the dual variables sum to.
    most : float
        More than the offset can be.
    """

    def __init__(self, cost: np.ndarray, total: float, most: float) -> None:
        self.hinge, self.total, self.most = one_class(cost, total, most), total, most
        self.intercept = 0.0

    def solve(self, features: np.ndarray, start: np.ndarray | None) -> SpanSolution:
        """Solve with corners rounded off, from the last intercept."""
        point = np.zeros(features.shape[1] + 1)
        point[-1] = self.intercept
        if start is not None:
            point[:-1] = start[:, 0]
        found = solve_rounded_hinge(_design(features), self.hinge, point)
        self.intercept = found.intercept
        return self._solution(found)

    def certified(self, features: np.ndarray, tolerance: float) -> SpanSolution:
        """Solve as it is, to a duality gap relative to the objective with its constant."""
        found = solve_hinge_ridge(_design(features), self.hinge, tolerance=tolerance)
        return self._solution(found)

    def _solution(self, found: Solution) -> SpanSolution:
        value = found.objective - self.total * self.most
        dual, intercept = found.dual[:-1, None], np.array([found.intercept])
        return SpanSolution(value, found.coef[:, None], dual, intercept, found.gap)


def _design(features: np.ndarray) -> Design:
    """Features of the rows, and none of the row of the offset."""
    return Design(np.vstack([features, np.zeros_like(features[:1])]))
