"""One round of AROM: an SVM or linear program on rescaled columns, for one or several outputs.

Weston et al. (2003): Problem 7 (``LinearProgram``), Problem 8 with a ridge (``SquaredSlack``) or a
hinge (``HingeSlack``), Problem 11 where there are several outputs, and Problem 10 with squares
(``JointSquaredSlack``). The 2-norm works on the n x n matrix of inner products, or on the columns
once there are fewer of them. Each starts from the solution of the last round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from zeronorm.solvers.design import Design
from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.squared_slack import Features, Gram, solve_squared_slack


@dataclass
class RoundSolution:
    """Solution of one round.

    ``coef`` (features × outputs) is z * w: coefficients for the data as they are. ``slopes`` say
    how near to use an unused feature is; ``slack`` are the slacks, row by row.
    """

    coef: np.ndarray
    intercept: np.ndarray
    slopes: np.ndarray
    slack: np.ndarray
    objective: float
    gap: float


class RoundProblem(Protocol):
    """What the loop needs of a problem."""

    columns: Columns
    cost: np.ndarray
    slack_power: int

    def size(self, scaling: np.ndarray) -> float:
        """Size of the rescaled rows."""

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""

    def keep(self, columns: np.ndarray) -> None:
        """Forget the features where the mask is False."""


class _Euclidean:
    """p = 2: rows are measured by the 2-norm."""

    slack_power = 2  # of the penalty that is majorised where slacks are counted

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        self.columns, self.targets, self.cost = columns, targets, cost
        self.last: list[Any] = [None] * targets.shape[1]

    def size(self, scaling: np.ndarray) -> float:
        """Root of the mean squared length of the rescaled rows."""
        lengths = scaling * self.columns.deviations
        return float(np.sqrt((lengths * lengths) @ self.columns.multiplicity))

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other features; the last solutions are starts by rows and stay."""
        self.columns.keep(columns)

    def _of_dual(self, scaling: np.ndarray, dual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients z * w = z^2 X' a, and slopes."""
        slopes = self.columns.adjoint(dual)
        return (scaling**2)[:, None] * slopes, scaling * np.abs(slopes).sum(axis=1)


class SquaredSlack(_Euclidean):
    """Problem 8 with the ridge; each output by itself (Problem 11), on one Gram matrix."""

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns = self.columns
        is_wide = columns.n_rows <= columns.n_columns
        gram = columns.gram(scaling) if is_wide else None
        rows = None if is_wide else columns.row_major()
        factors = scaling * np.sqrt(columns.multiplicity)
        parts = []
        for k, target in enumerate(self.targets.T):
            if gram is not None:
                geometry: Gram | Features = Gram(gram * target * target[:, None])
            else:
                geometry = Features(_times_rows(rows, target), factors)
            part = solve_squared_slack(geometry, target[:, None], self.cost, start=self.last[k])
            self.last[k] = part.scores
            parts.append(part)
        dual = np.column_stack([t * p.alpha for t, p in zip(self.targets.T, parts, strict=True)])
        coef, slopes = self._of_dual(scaling, dual)
        return RoundSolution(
            coef,
            np.concatenate([part.intercept for part in parts]),
            slopes,
            np.max([np.maximum(1.0 - part.scores, 0.0) for part in parts], axis=0),
            sum(part.objective for part in parts),
            max(part.gap for part in parts),
        )


class JointSquaredSlack(_Euclidean):
    """Problem 10 with squares: the constraints of Weston & Watkins, all classes at once.

    ``targets`` is +1 in the column of a row's class and -1 elsewhere.
    """

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        super().__init__(columns, targets, cost)
        n, n_classes = targets.shape
        own = targets > 0
        # One constraint for each row and each class that is not its own.
        self.row, rival = np.nonzero(~own)
        self.signs = own[self.row].astype(float)
        self.signs[np.arange(len(rival)), rival] = -1.0

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns, signs, row = self.columns, self.signs, self.row
        n_classes = signs.shape[1]
        if len(row) <= columns.n_columns * n_classes:
            gram = columns.gram(scaling)
            geometry: Gram | Features = Gram(gram[row[:, None], row] * (signs @ signs.T))
        else:
            rows = columns.row_major()[row]
            blocks = [_times_rows(rows, signs[:, k]) for k in range(n_classes)]
            join = sparse.hstack(blocks, "csr") if columns.is_sparse else np.hstack(blocks)
            geometry = Features(join, np.tile(scaling * np.sqrt(columns.multiplicity), n_classes))
        part = solve_squared_slack(geometry, signs, self.cost[row], start=self.last[0])
        self.last[0] = part.scores
        dual = np.zeros((columns.n_rows, n_classes))
        np.add.at(dual, row, part.alpha[:, None] * signs)
        coef, slopes = self._of_dual(scaling, dual)
        slack = np.zeros(columns.n_rows)
        np.maximum.at(slack, row, np.maximum(1.0 - part.scores, 0.0))
        return RoundSolution(coef, part.intercept, slopes, slack, part.objective, part.gap)


class HingeSlack(_Euclidean):
    """Problem 8 with the hinge: an ordinary SVM, by the solver of the sparse classifiers."""

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns = self.columns
        if columns.is_sparse or columns.n_rows <= columns.n_columns:
            values, vectors = np.linalg.eigh(columns.gram(scaling))
            factor = vectors * np.sqrt(np.maximum(values, 0.0))
            design = Design(factor)
        else:
            design = Design(columns.values, scaling * np.sqrt(columns.multiplicity))
        for k, target in enumerate(self.targets.T):
            last = self.last[k]
            if last is not None:
                last.coef = design.adjoint(target * last.dual)[:-1]
            self.last[k] = solve_hinge_ridge(design, target, self.cost, start=last)
        parts = self.last
        duals = [t * part.dual for t, part in zip(self.targets.T, parts, strict=True)]
        coef, slopes = self._of_dual(scaling, np.column_stack(duals))
        margins = self.targets * np.column_stack([part.scores for part in parts])
        return RoundSolution(
            coef,
            np.array([part.intercept for part in parts]),
            slopes,
            np.maximum(1.0 - margins, 0.0).max(axis=1),
            sum(part.objective for part in parts),
            max(part.gap for part in parts),
        )


class LinearProgram:
    """Problem 7 with the hinge: linear programs, each output by itself."""

    slack_power = 1

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        self.columns, self.targets = columns, targets
        self.cost = self.solved_cost = cost
        self.programs: list[HingeLP] = []

    def size(self, scaling: np.ndarray) -> float:
        """Largest standard deviation of a rescaled column: the norm dual to the 1-norm."""
        return float((scaling * self.columns.deviations).max())

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other features."""
        self.columns.keep(columns)
        for program in self.programs:
            program.keep(columns)

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        if not self.programs or self.cost is not self.solved_cost:
            values: Any = self.columns.values
            if self.columns.is_sparse:
                values = SparseValues(values)
            self.programs = [
                HingeLP(values, target, self.cost, multiplicative=True) for target in self.targets.T
            ]
            self.solved_cost = self.cost
        found = [program.solve(scaling, 0.0) for program in self.programs]
        coef = np.column_stack([part.coef for part in found])
        intercept = np.array([part.intercept for part in found])
        duals = self.targets * np.column_stack([program.dual for program in self.programs])
        slopes = scaling * np.abs(self.columns.adjoint(duals)).sum(axis=1)
        margins = self.targets * (self.programs[0].values @ coef + intercept)
        objective = sum(part.loss for part in found)
        objective += float((np.abs(coef) / scaling[:, None]).sum())
        slack = np.maximum(1.0 - margins, 0.0).max(axis=1)
        return RoundSolution(
            coef, intercept, slopes, slack, objective, max(part.gap for part in found)
        )


class SparseValues:
    """A sparse matrix that the linear programs take for a dense one: they need a few columns."""

    __array_ufunc__ = None  # so that NumPy leaves products to __rmatmul__

    def __init__(self, values: Any) -> None:
        self.values = values
        self.shape = values.shape

    def __getitem__(self, indices: Any) -> np.ndarray:
        return self.values[indices].toarray()

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        return self.values @ other

    def __rmatmul__(self, other: np.ndarray) -> np.ndarray:
        return self.values.T @ other

    def max(self, axis: int) -> np.ndarray:
        """Largest value of each column."""
        return self.values.max(axis=axis).toarray().ravel()

    def min(self, axis: int) -> np.ndarray:
        """Smallest value of each column."""
        return self.values.min(axis=axis).toarray().ravel()

    def compress(self, columns: np.ndarray, axis: int, out: None = None) -> SparseValues:
        """Return some columns."""
        return SparseValues(self.values[:, columns])


def _times_rows(values: Any, factors: np.ndarray) -> Any:
    if sparse.issparse(values):
        return sparse.csr_array(values.multiply(factors[:, None]))
    return values * factors[:, None]
