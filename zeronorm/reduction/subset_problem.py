"""What a set of the model's own vectors is judged by, in the search among them.

Always hinges (``solvers/linear_programs/hinge_subsets.py``), in units in which margins are about
one: those of classes against the rest, of both sides of the tube around a number, or of the inside
and the outside of a one-class machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zeronorm.expansion import KernelExpansion
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets


@dataclass(frozen=True)
class SubsetProblem:
    """Hinges of rows, and the way back to the units of the model.

    ``rows`` are the indices of the rows that count; each has ``copies`` hinges, all first ones
    before the second ones. ``cost`` is for C = 1. The model's values are ``scale`` times those that
    are searched for, plus ``centre``; where ``reference`` has the model's values, their size tells
    the scale.
    """

    rows: np.ndarray
    targets: np.ndarray
    cost: np.ndarray
    margins: np.ndarray | None = None
    copies: int = 1
    scale: np.ndarray | float = 1.0
    centre: np.ndarray | float = 0.0
    reference: np.ndarray | None = None

    def take(self, some: np.ndarray) -> SubsetProblem:
        """Return the problem of some of the rows, which stand for all."""
        hinges = np.concatenate([some + copy * len(self.rows) for copy in range(self.copies)])
        cost = self.cost[hinges] * (self.cost.sum() / self.cost[hinges].sum())
        margins = None if self.margins is None else self.margins[hinges]
        return replace(
            self, rows=self.rows[some], targets=self.targets[hinges], cost=cost, margins=margins
        )

    def design(self, values: np.ndarray) -> np.ndarray:
        """Return the kernel values of the rows as their hinges want them."""
        return np.tile(values, (self.copies, 1))

    def subsets(self, values: np.ndarray, C: float, caps: np.ndarray) -> HingeSubsets:
        """Return the score of sets of vectors with these kernel values at the rows."""
        cost, margins = C * self.cost, self.margins
        return HingeSubsets(self.design(values), self.targets, cost, caps, margins=margins)

    def in_own_units(self, expansion: KernelExpansion, X: Any) -> KernelExpansion:
        """Return a function that was found in the units of the model; X are the rows."""
        scale = self.scale
        if self.reference is not None:
            values = expansion.outputs(X)[:, 0]
            square, product = float(values @ values), float(values @ self.reference)
            scale = product / square if square > 0 and product > 0 else 1.0
        coef, intercept = scale * expansion.coef, scale * expansion.intercept + self.centre
        return expansion.with_terms(expansion.vectors, coef, intercept)
