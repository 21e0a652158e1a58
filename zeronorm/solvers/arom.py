"""Zero-norm minimisation by multiplicative rescaling: l2-AROM and l1-AROM.

Weston et al. (2003), section 3. The number of features of a linear classifier is approached by
sum_j log |w_j| (Problem 6), and that by a sequence of problems on rescaled data:

    1. z = 1.
    2. Solve   min |w|_p + slack   on the rows x_i * z     (Problem 7: p = 1; Problem 8: p = 2).
    3. z <- z * w; several classes share z <- z * sum_k |w_k|  (Problems 10, 11).  Go to 2.

Slack (section 3.2, (2)): ``slack_norm`` 2 is the ridge of the paper, C/2 sum xi^2; 1 is the hinge,
C sum xi; 0 counts the slacks, sum log xi, by the same rescaling: the cost of a row's slack is
divided by its last slack. What certifies a round is its duality gap.

With a finite C the scale of z matters: z * w has w = 1 next time, so that the penalty of a round
would be the number of features, and where that is far beyond C n the first rounds would find it
cheapest to drop them all. So z is scaled in every round such that the rows keep their size, in the
norm that is dual to that of w: C means the same in all rounds, what it means for an SVM on the
data. With C infinite, as in the paper, it makes no difference.

A vanishing feature does so fast: z_j <- z_j^2 g_j, g_j being its slope. All work is on what is
left, and p = 2 works on the n x n matrix of inner products, whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from zeronorm.solvers.columns import Columns
from zeronorm.solvers.hinge_lp import HingeLP
from zeronorm.solvers.hinge_qp import Start, solve_hinge_ridge
from zeronorm.solvers.rows import ScaledRows
from zeronorm.solvers.squared_slack import Features, Gram, solve_squared_slack

#: A feature counts as zero when its contribution is this small beside the largest. The next round
#: would square it: to come back, its slope would have to be a thousand times the others'.
ZERO = 1e-3

#: Two vertices of a linear program may call for each other forever. So many rounds in which no
#: feature vanishes and the scales do not come to rest mean that the features have settled.
PATIENCE = 20

#: A slack of this size, margins being one, counts as none where slacks are counted.
NO_SLACK = 1e-2


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

    def size(self, scaling: np.ndarray) -> float:
        """Size of the rescaled rows."""

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""

    def keep(self, columns: np.ndarray) -> None:
        """Forget the features where the mask is False."""


class _Euclidean:
    """p = 2: rows are measured by the 2-norm."""

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
            rows = ScaledRows(factor, np.ones(len(values)))
        else:
            rows = ScaledRows(columns.values, scaling * np.sqrt(columns.multiplicity))
        for k, target in enumerate(self.targets.T):
            last, start = self.last[k], None
            if last is not None:
                start = Start(last.dual, last.intercept, rows.adjoint(target * last.dual))
            self.last[k] = solve_hinge_ridge(rows, target, self.cost, start=start)
        parts = self.last
        duals = [t * part.dual for t, part in zip(self.targets.T, parts, strict=True)]
        coef, slopes = self._of_dual(scaling, np.column_stack(duals))
        margins = self.targets * np.column_stack([part.scores for part in parts])
        return RoundSolution(
            coef,
            np.array([part.intercept for part in parts]),
            slopes,
            np.maximum(1.0 - margins, 0.0).max(axis=1),
            sum(part.primal for part in parts),
            max(part.gap for part in parts),
        )


class LinearProgram:
    """Problem 7 with the hinge: linear programs, each output by itself."""

    def __init__(self, columns: Columns, targets: np.ndarray, cost: np.ndarray) -> None:
        self.columns, self.targets = columns, targets
        self.cost = self.solved_cost = cost
        self.program: HingeLP | None = None

    def size(self, scaling: np.ndarray) -> float:
        """Largest standard deviation of a rescaled column: the norm dual to the 1-norm."""
        return float((scaling * self.columns.deviations).max())

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other features."""
        self.columns.keep(columns)
        if self.program is not None:
            self.program.keep(columns)

    def solve(self, scaling: np.ndarray) -> RoundSolution:
        """Solve with the columns multiplied by ``scaling``."""
        if self.program is None or self.cost is not self.solved_cost:
            values: Any = self.columns.values
            if self.columns.is_sparse:
                values = SparseValues(values)
            self.program = HingeLP(values, self.targets, self.cost, multiplicative=True)
            self.solved_cost = self.cost
        found = self.program.solve(scaling, 0.0)
        duals = [t * p.beta for t, p in zip(self.targets.T, self.program.programs, strict=True)]
        slopes = scaling * np.abs(self.columns.adjoint(np.column_stack(duals))).sum(axis=1)
        margins = self.targets * (self.program.values @ found.coef + found.intercept)
        objective = found.loss + float((np.abs(found.coef) / scaling[:, None]).sum())
        slack = np.maximum(1.0 - margins, 0.0).max(axis=1)
        return RoundSolution(found.coef, found.intercept, slopes, slack, objective, found.gap)


class SparseValues:
    """A sparse matrix that the linear programs take for a dense one: they need a few columns."""

    __array_ufunc__ = None  # so that NumPy leaves products to __rmatmul__

    def __init__(self, values: Any) -> None:
        self.values = values
        self.shape = values.shape

    def __getitem__(self, places: Any) -> np.ndarray:
        return self.values[places].toarray()

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


@dataclass
class Elimination:
    """Result of the loop, for all features that it began with.

    ``order`` has the features, best first; ``left`` those that are not zero, by their places;
    ``scaling`` the final z, zero for the others. ``change`` is the relative change of z in the
    last round that dropped none, ``is_settled`` whether z, or at least what is left, has come to
    rest; ``history`` has one entry a round.
    """

    order: np.ndarray
    left: np.ndarray
    scaling: np.ndarray
    solution: RoundSolution
    change: float
    is_settled: bool = False
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"features": [], "objective": [], "gap": []}
    )

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.history["features"])


def eliminate(
    problem: RoundProblem,
    *,
    stop_at: int,
    count_slacks: bool = False,
    max_rounds: int = 100,
    tolerance: float = 1e-4,
) -> Elimination:
    """Rescale and solve until ``stop_at`` features or fewer are left, or z settles.

    The order of the features: later dropped is better; of those that are left, or dropped in the
    same round, the larger contribution (|z| times the standard deviation of the column) counts,
    then that of the round before, then how near to use the feature is.
    """
    n_features = problem.columns.n_columns
    left = np.arange(n_features)
    scaling = np.ones(n_features)
    size = problem.size(scaling)
    cost = problem.cost
    dropped: list[np.ndarray] = []
    standstill = 0
    result = Elimination(left, left, scaling, None, np.inf)  # type: ignore[arg-type]
    while True:
        solution = problem.solve(scaling)
        deviations = problem.columns.deviations
        before, new = scaling * deviations, np.abs(solution.coef).sum(axis=1)
        contribution = new * deviations
        largest = contribution.max(initial=0.0)
        if largest > 0:
            contribution = contribution / largest
        round_number = result.rounds + 1
        result.history["features"].append(int(np.count_nonzero(contribution > ZERO)))
        result.history["objective"].append(solution.objective)
        result.history["gap"].append(solution.gap)
        result.solution, result.left, result.scaling = solution, left, scaling
        keep = contribution > ZERO
        new = np.where(keep, new, 0.0)
        new_size = problem.size(new)
        if not new_size > 0:
            break
        new *= size / new_size
        if not keep.all():
            out = ~keep
            ranks = np.stack([solution.slopes * deviations, before, contribution])[:, out]
            standstill = 0
            dropped.append(left[out][descending(ranks)])
            problem.keep(keep)
            left, new = left[keep], new[keep]
            result.left, result.scaling = left, new
        else:
            last_change, result.change = result.change, _change(before, contribution)
            standstill += result.change > 0.9 * last_change
            result.is_settled = result.change <= tolerance or standstill >= PATIENCE
        if len(left) <= stop_at or result.is_settled or round_number >= max_rounds:
            break
        scaling = new
        if count_slacks:
            problem.cost = slack_cost(problem, cost, solution.slack, round_number)
    # Nothing is left of a problem that needs no feature at all; the slopes still rank them.
    last = np.stack([solution.slopes * deviations, before, contribution])
    if len(last[0]) > len(left):
        last = last[:, keep]
    result.order = np.concatenate([left[descending(last)], *reversed(dropped)])
    full = np.zeros(n_features)
    full[result.left] = result.scaling
    result.scaling = full
    return result


def descending(keys: np.ndarray) -> np.ndarray:
    """Order by the last key, largest first; of equals by the one before, and so on."""
    order = np.argsort(-keys[-1], kind="stable")
    if len(order) > 1 and (np.diff(keys[-1][order]) == 0).any():
        return np.lexsort(-keys)
    return order


def slack_cost(
    problem: RoundProblem, cost: np.ndarray, slack: np.ndarray, round_number: int
) -> np.ndarray:
    """Weights with which the next problem counts slacks: a tangent of sum log slack.

    What counts as none is halved from round to round: all at once, the first solution's errors
    would be for good.
    """
    none = max(NO_SLACK, 0.5**round_number)
    power = 1 if isinstance(problem, LinearProgram) else 2
    return cost * (1.0 + none**power) / (slack**power + none**power)


def _change(before: np.ndarray, after: np.ndarray) -> float:
    """Relative change of the contributions, whatever their scale."""
    norms = np.linalg.norm(before), np.linalg.norm(after)
    if min(norms) == 0:
        return np.inf
    return float(np.linalg.norm(before / norms[0] - after / norms[1]))


def fit_once(
    problem: RoundProblem, scaling: np.ndarray, *, count_slacks: bool = False, max_rounds: int = 50
) -> RoundSolution:
    """Solve with a given scaling; where slacks are counted, until their number settles.

    Then the solution with the fewest errors (slacks beyond one) on the way is returned.
    """
    best = solution = problem.solve(scaling)
    if not count_slacks:
        return best
    cost = problem.cost
    for round_number in range(1, max_rounds + 1):
        problem.cost = slack_cost(problem, cost, solution.slack, round_number)
        old, solution = solution.slack, problem.solve(scaling)
        if np.sum(solution.slack >= 1) <= np.sum(best.slack >= 1):
            best = solution
        is_final = 0.5**round_number <= NO_SLACK
        if is_final and np.abs(old - solution.slack).max() <= NO_SLACK**2:
            break
    return best
