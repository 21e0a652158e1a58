"""Tasks: what is asked of the space that some vectors span, for fixed vectors.

A task is given the features Phi of the rows (``prototypes.py``) and finds the weights v and the
signed dual variables a, from which the derivative by the vectors follows. The vectors move from one
such problem to the next; where hinges are part of it they are rounded off meanwhile, and for the
final vectors solved as they are, to a duality gap (``certified``).

Where the targets of the rows are known, as those of kernel PCA and of Fisher's discriminants, no
task is needed: that is the regression of ``SparseSVR`` (``fit_numbers`` in ``final.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from zeronorm.solvers.design import Design
from zeronorm.solvers.losses import Hinge, one_class, with_offset
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.rounded_hinge import solve_rounded_hinge
from zeronorm.solvers.solution import Solution


@dataclass
class SpanSolution:
    """Optimum for fixed vectors: value, v (m x outputs), a (n x outputs), b, duality gap."""

    value: float
    weights: np.ndarray
    signed_dual: np.ndarray
    intercept: np.ndarray
    gap: float = np.inf


class Task(Protocol):
    """What is asked of the small space that the vectors span.

    ``total_cost`` of the rows makes a mean loss of the objective, None where it has none.
    """

    total_cost: float | None

    def solve(self, features: np.ndarray, start: np.ndarray | None) -> SpanSolution:
        """Optimum for the features Phi; ``start`` are weights v that may be near."""


class Projection:
    """The reduced set: w = sum a_i phi(x_i) is to be represented.

    Parameters
    ----------
    signed_dual : ndarray of shape (n, n_outputs)
        The coefficients a.
    """

    total_cost: float | None = None

    def __init__(self, signed_dual: np.ndarray) -> None:
        self.signed_dual = signed_dual

    def solve(self, features: np.ndarray, start: np.ndarray | None) -> SpanSolution:
        """Project (30)."""
        return self.projected(features.T @ self.signed_dual)

    def projected(self, weights: np.ndarray) -> SpanSolution:
        """Return the solution with these weights v."""
        value = -0.5 * float(np.sum(weights * weights))
        return SpanSolution(value, weights, self.signed_dual, np.zeros(weights.shape[1]))


class LargeMargin:
    """The classifier: every output an SVM in the small space.

    Parameters
    ----------
    hinges : list of Hinge
        Targets and costs of each output.
    """

    total_cost: float | None

    def __init__(self, hinges: list[Hinge]) -> None:
        self.hinges, self.intercept = hinges, np.zeros(len(hinges))
        self.total_cost = sum(float(hinge.cost.sum()) for hinge in hinges)

    def solve(self, features: np.ndarray, start: np.ndarray | None) -> SpanSolution:
        """Solve with the rounded hinge, from the last intercept."""
        design = Design(features)
        point = np.zeros((features.shape[1] + 1, len(self.intercept)))
        point[-1] = self.intercept
        if start is not None:
            point[:-1] = start
        found = self._joined(
            solve_rounded_hinge(design, hinge, near)
            for hinge, near in zip(self.hinges, point.T, strict=True)
        )
        self.intercept = found.intercept
        return found

    def certified(self, features: np.ndarray, tolerance: float) -> SpanSolution:
        """Solve with the hinge as it is, to a relative duality gap."""
        design = Design(features)
        return self._joined(
            solve_hinge_ridge(design, hinge, tolerance=tolerance) for hinge in self.hinges
        )

    def _joined(self, solutions: Iterable[Solution]) -> SpanSolution:
        outputs = list(solutions)
        pairs = zip(outputs, self.hinges, strict=True)
        return SpanSolution(
            sum(output.objective for output in outputs),
            np.column_stack([output.coef for output in outputs]),
            np.column_stack([output.dual * hinge.target for output, hinge in pairs]),
            np.array([output.intercept for output in outputs]),
            max(output.gap for output in outputs),
        )


class OneClassMachine(LargeMargin):
    """The one-class machine, as hinges of which the last is that of the offset (``one_class``).

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
        super().__init__([one_class(cost, total, most)])
        self.total, self.constant = total, total * most
        self.total_cost = None  # its objective is no sum of losses

    def solve(self, features: np.ndarray, start: np.ndarray | None) -> SpanSolution:
        """Solve with corners rounded off, from the last intercept."""
        return self._of_rows(super().solve(with_offset(features), start))

    def certified(self, features: np.ndarray, tolerance: float) -> SpanSolution:
        """Solve as it is, to a duality gap relative to the objective with its constant."""
        return self._of_rows(super().certified(with_offset(features), tolerance))

    def _of_rows(self, found: SpanSolution) -> SpanSolution:
        value, signed_dual = found.value - self.constant, found.signed_dual[:-1]
        return replace(found, value=value, signed_dual=signed_dual)
