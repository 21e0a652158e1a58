"""One round of AROM: a problem on rescaled columns, for one or several outputs.

Weston et al. (2003): Problem 7 (``LinearProgram``), Problem 8 with a ridge (``SquaredSlack``) or a
hinge (``HingeSlack``), Problem 11 where there are several outputs, and Problem 10 with squares
(``JointSquaredSlack``). The 2-norm works on the n x n matrix of inner products, or on the columns
once there are fewer of them. Each starts from the solution of the last round.

Section 4 names regression: the constraints y_i (w·x_i + b) ≥ 1 become |y_i - w·x_i - b| = 0, with
slack. With the 2-norm and squared slacks a round is ridge regression (``SquaredResiduals``),

    min over w, b   1/2 |w|^2 + C/2 sum_i (y_i - z * x_i · w - b)^2,

which one system of linear equations solves: of the rows, (K + I/C) a + b = y with 1'a = 0 and
w = Z'a, or of the columns where they are fewer. With the 1-norm and the slacks themselves it is the
linear program of the epsilon-insensitive loss without a tube (``AbsoluteResiduals``). Each target
is by itself, and all share the scaling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.solvers.design import Design
from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.gram import root
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP
from zeronorm.solvers.losses import Hinge, insensitive
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.squared_hinge_ridge import ColumnDescent, GramDescent

#: Relative gap from which on the coefficients are taken from the solver's own weights, if it can.
POOR = 1e-6


@dataclass
class RoundSolution:
    """Solution of one round.

    ``coef`` (features × outputs) is z * w: coefficients for the data as they are. ``slopes`` say
    how near to use an unused feature is; ``slack`` are the slacks, row by row; ``dual`` (rows x
    outputs) are the dual variables with their signs.
    """

    coef: np.ndarray
    intercept: np.ndarray
    slopes: np.ndarray
    slack: np.ndarray
    objective: float
    gap: float
    dual: np.ndarray


class RoundProblem(ABC):
    """The problem of a round: what the loop needs of it.

    Parameters
    ----------
    columns : Columns
        The features; those that are dropped are dropped here.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1.
    cost : ndarray of shape (n,)
        Positive cost of each row's slack.
    """

    slack_power = 2  # of the penalty that is majorised where slacks are counted

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        self.columns, self.targets, self.cost = columns, targets, cost
        self.last: list[Any] = [None] * targets.shape[1]  # where the next round starts

    @abstractmethod
    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""

    def size(self, scaling: np.ndarray) -> float:
        """Root of the mean squared length of the rescaled rows: the 2-norm."""
        lengths = scaling * self.columns.deviations
        return float(np.sqrt((lengths * lengths) @ self.columns.multiplicity))

    def keep(self, columns: np.ndarray) -> None:
        """Forget the features where the mask is False; starts by rows stay."""
        self.columns.keep(columns)

    def joined(
        self, scaling: np.ndarray, parts: list[Any], dual: np.ndarray, margins: np.ndarray
    ) -> RoundSolution:
        """Put the outputs of an SVM together: w = z X' dual, a row has its largest slack.

        The solver certifies its dual variables. Of columns as large as 1e8 rounding may leave
        little of their products in w, so that it is the gap of what is returned that counts. Where
        it is poor and the solver has the weights themselves, these are taken.
        """
        slopes, intercept = self.columns.adjoint(dual), np.hstack([p.intercept for p in parts])
        bound = sum(part.objective * (1.0 - part.gap) for part in parts)
        gap = self.gap(scaling, slopes, intercept, bound)
        if gap > POOR and (weights := self.weights(parts, slopes.shape)) is not None:
            others = weights / (scaling * np.sqrt(self.columns.multiplicity))[:, None]
            if (better := self.gap(scaling, others, intercept, bound)) < gap:
                slopes, gap = others, better
        return RoundSolution(
            (scaling**2)[:, None] * slopes,
            intercept,
            scaling * np.abs(slopes).sum(axis=1),
            largest_slack(margins),
            sum(part.objective for part in parts),
            max(gap, *(part.gap for part in parts)),
            dual,
        )

    def gap(
        self, scaling: np.ndarray, slopes: np.ndarray, intercept: np.ndarray, bound: float
    ) -> float:
        """Relative gap between the objective of w = z slopes and a bound from below."""
        multiplicity = self.columns.multiplicity[:, None]
        coef = (scaling**2)[:, None] * slopes * multiplicity
        norm = 0.5 * float(np.sum(multiplicity * (scaling[:, None] * slopes) ** 2))
        value = norm + self.loss(self.columns.outputs(coef) + intercept)
        if not np.isfinite(value):
            return 1.0  # what the gap comes to where the objective overflows
        return float((value - bound) / max(abs(value), np.finfo(float).tiny))

    def weights(self, parts: list[Any], shape: tuple[int, ...]) -> np.ndarray | None:
        """Return the weights of the solver (columns x outputs), where it has them."""
        found = [one for part in parts if (one := getattr(part, "weights", None)) is not None]
        return np.concatenate(found).reshape(shape[::-1]).T if len(found) == len(parts) else None

    def loss(self, outputs: np.ndarray) -> float:
        """Cost of the slacks of these outputs (n x outputs) of the rows."""
        slack = np.maximum(1.0 - self.targets * outputs, 0.0)
        return self.cost_of(slack)

    def cost_of(self, slack: np.ndarray) -> float:
        """Sum up half the squared slacks, weighed."""
        return 0.5 * float(self.cost @ (slack * slack).sum(axis=1))


class SquaredSlack(RoundProblem):
    """Problem 8 with the ridge; each output by itself (Problem 11), on one Gram matrix."""

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        super().__init__(columns, targets, cost)
        # For each problem, the rows of its constraints, and the signs of the outputs in them.
        self.constraints: list[tuple[Any, np.ndarray]] = [
            (slice(None), target[:, None]) for target in targets.T
        ]

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns, parts, duals = self.columns, [], []
        n_constraints, n_outputs = self.constraints[0][1].shape
        is_wide = n_constraints <= columns.n_columns * n_outputs
        values = columns.gram(scaling) if is_wide else columns.scaled(scaling)
        for k, (rows, signs) in enumerate(self.constraints):
            inner = values[rows][:, rows] if is_wide else values[rows]
            kind = GramDescent if is_wide else ColumnDescent
            part = kind(inner, signs, self.cost[rows], start=self.last[k]).solve()
            self.last[k] = part.scores
            parts.append(part)
            signed = part.dual[:, None] * signs
            duals.append(signed.reshape(columns.n_rows, -1, n_outputs).sum(axis=1))
        margins = np.hstack([part.scores.reshape(columns.n_rows, -1) for part in parts])
        return self.joined(scaling, parts, np.hstack(duals), margins)


class JointSquaredSlack(SquaredSlack):
    """Problem 10 with squares: the constraints of Weston & Watkins, all classes at once.

    ``targets`` is +1 in the column of a row's class and -1 elsewhere.
    """

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        super().__init__(columns, targets, cost)
        own = targets > 0
        # One constraint for each row and each class that is not its own.
        rows, rival = np.nonzero(~own)
        signs = own[rows].astype(float)
        signs[np.arange(len(rival)), rival] = -1.0
        self.constraints = [(rows, signs)]

    def loss(self, outputs: np.ndarray) -> float:
        """Cost of the slacks of these outputs: of each class against that of the row."""
        own = self.targets > 0
        slack = np.maximum(1.0 - outputs[own][:, None] + outputs, 0.0)
        slack[own] = 0.0
        return self.cost_of(slack)


class HingeSlack(RoundProblem):
    """Problem 8 with the hinge: an ordinary SVM, by the solver of the sparse classifiers."""

    def cost_of(self, slack: np.ndarray) -> float:
        """Sum up the slacks, weighed."""
        return float(self.cost @ slack.sum(axis=1))

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns = self.columns
        if columns.is_sparse or columns.n_rows <= columns.n_columns:
            design = Design(root(columns.gram(scaling)))
        else:
            design = Design(columns.scaled(scaling))
        for k, target in enumerate(self.targets.T):
            last = self.last[k]
            if last is not None:
                last.coef = design.adjoint(target * last.dual)[:-1]
            self.last[k] = solve_hinge_ridge(design, Hinge(target, self.cost), start=last)
        dual = self.targets * np.column_stack([part.dual for part in self.last])
        margins = self.targets * np.column_stack([part.scores for part in self.last])
        return self.joined(scaling, self.last, dual, margins)


class LinearProgram(RoundProblem):
    """Problem 7 with the hinge: linear programs, each output by itself."""

    slack_power = 1

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        super().__init__(columns, targets, cost)
        self.solved_cost = cost
        self.programs: list[HingeLP] = []

    def size(self, scaling: np.ndarray) -> float:
        """Largest standard deviation of a rescaled column: the norm dual to the 1-norm."""
        return float((scaling * self.columns.deviations).max())

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other features."""
        super().keep(columns)
        for program in self.programs:
            program.keep(columns)

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        if not self.programs or self.cost is not self.solved_cost:
            self.programs, self.solved_cost = self.new_programs(), self.cost
        found = [program.solve(scaling, 0.0) for program in self.programs]
        coef = np.column_stack([part.coef for part in found])
        intercept = np.array([part.intercept for part in found])
        scores = self.programs[0].values @ coef + intercept
        duals = np.column_stack([program.dual for program in self.programs])
        dual, slack = self.signed_dual_and_slack(duals, scores)
        return RoundSolution(
            coef,
            intercept,
            scaling * np.abs(self.columns.adjoint(dual)).sum(axis=1),
            slack,
            sum(part.loss for part in found) + float((np.abs(coef) / scaling[:, None]).sum()),
            max(part.gap for part in found),
            dual,
        )

    def new_programs(self) -> list[HingeLP]:
        """Return the program of each output."""
        columns = self.columns
        values: Any = SparseValues(columns.values) if columns.is_sparse else columns.values
        return [
            HingeLP(values, Hinge(target, self.cost), multiplicative=True)
            for target in self.targets.T
        ]

    def signed_dual_and_slack(
        self, duals: np.ndarray, scores: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Signed dual variables of the rows (n x outputs), and the largest slack of each."""
        return self.targets * duals, largest_slack(self.targets * scores)


class SquaredResiduals(RoundProblem):
    """Ridge regression of every target; ``targets`` are numbers with a spread of about one."""

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        columns, y = self.columns, self.targets
        if columns.n_rows <= columns.n_columns:
            dual, intercept = self._by_rows(columns.gram(scaling))
        else:
            dual, intercept = self._by_columns(columns.scaled(scaling))
        slopes = columns.adjoint(dual)
        weights = scaling[:, None] * np.sqrt(columns.multiplicity)[:, None] * slopes
        residual = dual / self.cost[:, None]
        norm = 0.5 * float(np.sum(weights * weights))
        loss = 0.5 * float(np.sum(residual * dual))
        # Where equations are solved exactly the dual value is the primal one.
        gap = 2.0 * (norm + loss) - float(np.sum(dual * y))
        return RoundSolution(
            (scaling**2)[:, None] * slopes,
            intercept,
            scaling * np.abs(slopes).sum(axis=1),
            np.abs(residual).max(axis=1),
            norm + loss,
            abs(gap) / (norm + loss) if norm + loss > 0 else 0.0,
            dual,
        )

    def _by_rows(self, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve the equations of the rows, and of the intercept."""
        n = len(gram)
        matrix = np.ones((n + 1, n + 1))
        matrix[:n, :n] = gram
        matrix.flat[: n * (n + 1) : n + 2] += 1.0 / self.cost
        matrix[n, n] = 0.0
        sides = np.vstack([self.targets, np.zeros((1, self.targets.shape[1]))])
        solved = np.linalg.solve(matrix, sides)
        return solved[:n], solved[n]

    def _by_columns(self, values: Any) -> tuple[np.ndarray, np.ndarray]:
        """Solve the equations of the weights, of columns around their means."""
        values = values.toarray() if sparse.issparse(values) else values
        share = self.cost / self.cost.sum()
        mean, centre = share @ values, share @ self.targets
        around, y = values - mean, self.targets - centre
        matrix = (around * self.cost[:, None]).T @ around
        matrix.flat[:: len(matrix) + 1] += 1.0
        weights = np.linalg.solve(matrix, (around * self.cost[:, None]).T @ y)
        return self.cost[:, None] * (y - around @ weights), centre - mean @ weights


class AbsoluteResiduals(LinearProgram):
    """Linear programs: the 1-norm, and the sizes of the residuals, two hinges for each row."""

    def new_programs(self) -> list[HingeLP]:
        """Return the program of each target."""
        if self.columns.is_sparse:
            twice: Any = SparseValues(sparse.vstack([self.columns.values] * 2, format="csc"))
        else:
            twice = np.vstack([self.columns.values] * 2)
        return [
            HingeLP(twice, insensitive(target, self.cost, 0.0), multiplicative=True)
            for target in self.targets.T
        ]

    def signed_dual_and_slack(
        self, duals: np.ndarray, scores: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Signed dual variables of the rows (n x targets), and the largest residual of each."""
        n = self.columns.n_rows
        return duals[:n] - duals[n:], np.abs(self.targets - scores[:n]).max(axis=1)


def largest_slack(margins: np.ndarray) -> np.ndarray:
    """Slack of each row: the largest of its constraints."""
    return np.maximum(1.0 - margins, 0.0).max(axis=1)


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
