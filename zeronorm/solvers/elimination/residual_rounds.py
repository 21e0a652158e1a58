"""One round of AROM for numbers: a regression on rescaled columns, for one or several targets.

Weston et al. (2003), section 4, name regression: the constraints y_i (w·x_i + b) ≥ 1 become
|y_i - w·x_i - b| = 0, with slack. With the 2-norm and squared slacks a round is ridge regression,

    min over w, b   1/2 |w|^2 + C/2 sum_i (y_i - z * x_i · w - b)^2,

which one system of linear equations solves: of the rows, (K + I/C) a + b = y with 1'a = 0 and
w = Z'a, or of the columns where they are fewer. With the 1-norm and the slacks themselves it is the
linear program of the epsilon-insensitive loss without a tube (``hinge_lp.py``). Each target is by
itself, and all share the scaling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.solvers.elimination.rounds import (
    LinearProgram,
    RoundProblem,
    RoundSolution,
    SparseValues,
)
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP
from zeronorm.solvers.losses import insensitive


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
        hinges = [insensitive(target, self.cost, 0.0) for target in self.targets.T]
        return [
            HingeLP(twice, hinge.target, hinge.cost, multiplicative=True, margin=hinge.margin)
            for hinge in hinges
        ]

    def signed_dual_and_slack(
        self, duals: np.ndarray, scores: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Signed dual variables of the rows (n x targets), and the largest residual of each."""
        n = self.columns.n_rows
        return duals[:n] - duals[n:], np.abs(self.targets - scores[:n]).max(axis=1)
