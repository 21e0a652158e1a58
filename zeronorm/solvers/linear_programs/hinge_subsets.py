"""The score of a set of kernel terms, by linear programs that differ in their bounds only.

Mannor, Peleg & Rubinstein (2005): S(sigma) = |sigma| + sum_i c_i hinge_i, where the coefficients of
the terms in sigma are the best there are (problem 7),

    min over alpha, b   sum_i c_i max(0, 1 - y_i (K alpha + b)_i),    0 <= s_j alpha_j <= u_j,

alpha_j = 0 outside sigma, and s_j the label of row j (or |alpha_j| <= u_j). The dual is

    max over beta   sum(beta) - sum_(j in sigma) u_j max(0, s_j K_j' (y beta)),
                    y'beta = 0,   0 <= beta_i <= c_i.                                         (*)

Other margins than one make it a problem of regression: the epsilon-insensitive loss is two hinges
for each row (``insensitive`` in ``solvers/losses.py``). The sum of the beta is then that of the
margins times the beta.

A set enters through the prices u_j alone, so one persistent HiGHS model serves all sets, warm. And
*which* beta are feasible does not depend on the set: every beta that was ever found bounds the
score of every other set from below, by one inner product. As terms whose coefficient turns out to
be zero are not counted, the bound is on the best subset of sigma: in (*) a term that gains less
than one is left out. Best are the beta of the convex relaxation |sigma| >= sum |alpha_j| / u_j.

Where several alpha are best (separable data), the one with the smallest sizes counts, through a
cost ``tie`` too small to matter otherwise: the score depends on the set, not on the way there.
Columns are scaled to a largest value of one, so that alpha_j bounds what a term contributes.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace

import numpy as np

from zeronorm.solvers.cross_entropy.scores import Scores
from zeronorm.solvers.design import column_sizes
from zeronorm.solvers.intercept import balanced, central_intercept
from zeronorm.solvers.linear_programs import highs
from zeronorm.solvers.linear_programs.hinge_lp import Box, solve_one_norm
from zeronorm.solvers.losses import Hinge

#: A term that contributes less than this to every decision value is freed (the paper's 1e-6).
FREE = 1e-6

#: Cost of the size of the coefficients, beside costs of one, that decides between equally good
#: ones; less where they are so large that it would change the loss by more than CHANGE.
TIE = 1e-7
CHANGE = 1e-6

#: Price of the loss in the final coefficients, their sizes having a price of one.
PRICE = 1e4

#: The certificate of the final coefficients is against all that are up to this many times as large.
NEARBY = 10.0

#: No term may contribute more than this to a decision value, whatever its cap.
LARGEST = 1e6

#: How many of the last solutions give bounds.
POOL = 128


class HingeSubsets:
    """Scores sets of columns; a ``BoundedScore`` of :mod:`~zeronorm.solvers.cross_entropy.search`.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1 of each output; the outputs share the set.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    caps : ndarray of shape (m,)
        Largest size of each coefficient.
    signs : ndarray of shape (m, n_outputs), optional
        Sign of each coefficient; by default both are allowed.
    margins : ndarray of shape (n, n_outputs), optional
        Margin of each hinge; by default one.
    """

    def __init__(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        cost: np.ndarray,
        caps: np.ndarray,
        signs: np.ndarray | None = None,
        margins: np.ndarray | None = None,
    ) -> None:
        sizes = column_sizes(values)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        self.values = values / self.sizes
        self.targets, self.cost, self.signs, self.margins = targets, cost, signs, margins
        self.caps = np.minimum(caps * self.sizes, LARGEST)
        self.token = uuid.uuid4().hex
        self.heights = np.empty(0)
        self.slopes = np.empty((0, values.shape[1]))
        # Sizes are weighed unevenly, or there would be ties again; by what no order can change.
        self.weights = 0.5 + cost @ np.abs(self.values) / cost.sum()

    def hinges(self) -> list[Hinge]:
        """Return the hinges of each output."""
        if self.margins is None:
            return [Hinge(target, self.cost) for target in self.targets.T]
        pairs = zip(self.targets.T, self.margins.T, strict=True)
        return [Hinge(target, self.cost, margin) for target, margin in pairs]

    def evaluate(self, vectors: np.ndarray) -> Scores:
        """Score sets: the rows of a boolean matrix. Returns the terms that are really used."""
        score, relaxation = _programs(self)
        alpha, intercept, _ = _over_outputs(score, vectors)
        used = (np.abs(alpha) >= FREE).any(axis=0)
        alpha *= used
        # The duals of the score's own programs bound supersets badly; one of its convex relaxation
        # cuts more than all of them.
        _, _, beta = _over_outputs(relaxation, vectors[:1])
        cuts = self._cuts(beta, self.caps)
        return Scores(used.sum(axis=1) + self.losses(alpha, intercept), used, cuts)

    def losses(self, alpha: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Hinge loss of each set, over all outputs."""
        losses = np.zeros(alpha.shape[1])
        for k, hinge in enumerate(self.hinges()):
            slack = hinge.slack(alpha[k] @ self.values.T + intercept[k][:, None])
            losses += np.maximum(slack, 0.0, out=slack) @ self.cost
        return losses

    def _cuts(self, beta: np.ndarray, caps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make bounds of dual variables: heights and slopes."""
        heights, slopes = np.zeros(beta.shape[1]), np.zeros((beta.shape[1], len(self.caps)))
        for k, hinge in enumerate(self.hinges()):
            feasible = np.array([balanced(row, hinge.target) for row in beta[k]])
            heights += [hinge.linear(row) for row in feasible]
            gains = (feasible * hinge.target) @ self.values
            gains = np.abs(gains) if self.signs is None else self.signs[:, k] * gains
            slopes += caps * np.maximum(gains, 0.0)
        return heights, slopes

    def learn(self, cuts: tuple[np.ndarray, np.ndarray]) -> None:
        """Keep the bounds of an evaluation."""
        heights, slopes = cuts
        self.heights = np.concatenate([self.heights, heights])[-POOL:]
        # A term is only counted where it gains more than one.
        self.slopes = np.concatenate([self.slopes, np.maximum(slopes - 1.0, 0.0)])[-POOL:]

    def bounds(self, vectors: np.ndarray) -> np.ndarray:
        """Lower bound of the score of every row."""
        if not len(self.heights):
            return np.full(len(vectors), -np.inf)
        return (self.heights - vectors.astype(float) @ self.slopes.T).max(axis=1)

    def coefficients(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Solve for one set, and certify it.

        Of the best coefficients the smallest, of the best intercepts the middle one: no two ways
        to the solution differ.

        Returns
        -------
        coef, intercept, loss, gap
            Coefficients of all columns (m × outputs), and what the loss may be too high, relative
            to the score.
        """
        try:
            solution = self._certified(vector, *self._penalised(vector))
        except highs.LinearProgramError:
            solution = None
        if solution is None or solution[-1] > CHANGE:
            alpha, _, beta = _over_outputs(_programs(self)[0], vector[None, :])
            careful = self._certified(vector, alpha[:, 0], beta[:, 0])
            if solution is None or careful[-1] < solution[-1]:
                solution = careful
        return solution

    def _penalised(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and dual variables by one linear program, sizes having a small cost.

        Many times faster on many rows than moving the bounds of the persistent model.
        """
        columns = np.flatnonzero(vector)
        weights = self.weights[columns]
        # A term of either sign is two terms, one of each.
        copies = 2 if self.signs is None else 1
        values = np.tile(self.values[:, columns] / weights, copies)
        caps = np.tile(self.caps[columns] * weights, copies)
        alpha = np.zeros((self.targets.shape[1], len(vector)))
        beta = np.zeros((self.targets.shape[1], len(self.cost)))
        for k, hinge in enumerate(self.hinges()):
            both = np.repeat([1.0, -1.0], len(columns))
            box = Box(both if self.signs is None else self.signs[columns, k], caps)
            found = solve_one_norm(values, replace(hinge, cost=PRICE * self.cost), box)
            alpha[k, columns] = found.coef.reshape(copies, -1).sum(axis=0) / weights
            beta[k] = found.dual / PRICE
        return alpha, beta

    def _certified(
        self, vector: np.ndarray, alpha: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Choose the intercepts, compute the loss, and compare it with what beta bounds it by."""
        alpha = alpha * (np.abs(alpha) >= FREE).any(axis=0)
        pairs = zip(alpha, self.hinges(), strict=True)
        intercept = np.array([central_intercept(self.values @ a, hinge) for a, hinge in pairs])
        loss = float(self.losses(alpha[:, None], intercept[:, None])[0])
        # Nearby alpha are enough: where a convex function has its minimum among these, it has it.
        caps = np.minimum(self.caps, NEARBY * max(1.0, float(np.abs(alpha).max(initial=0.0))))
        heights, slopes = self._cuts(beta[:, None], caps)
        bound = max(0.0, float(heights[0] - slopes[0] @ vector))
        gap = (loss - bound) / max(1.0, vector.sum() + loss)
        return alpha.T / self.sizes[:, None], intercept, loss, gap


def _over_outputs(
    programs: list[_SubsetProgram], vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients (outputs × sets × terms), intercepts and dual variables."""
    parts = zip(*(program.solve(vectors) for program in programs), strict=True)
    alpha, intercept, beta = map(np.array, parts)
    return alpha, intercept, beta


class _SubsetProgram:
    """Problem (*) for one output, on a persistent model: a set moves the prices of its terms.

    Variables beta / max(cost), then for each term how much its constraint is violated, above and,
    where both signs are allowed, below. The coefficients are the multipliers.
    """

    def __init__(self, problem: HingeSubsets, output: int, limits: np.ndarray) -> None:
        hinge, cost = problem.hinges()[output], problem.cost
        target = hinge.target
        n, m = problem.values.shape
        self.unit, self.cost, self.caps = float(cost.max()), cost, problem.caps
        self.signs = np.ones(m) if problem.signs is None else problem.signs[:, output]
        self.sides = 2 if problem.signs is None else 1
        self.elastic = np.arange(n, n + self.sides * m, dtype=np.int32)
        self.model = highs.new_model()
        self.model.setOptionValue("simplex_scale_strategy", 0)  # the columns are scaled already
        costs = np.concatenate([-hinge.margin * np.ones(n), np.tile(self.caps, self.sides)])
        most = np.concatenate([cost / self.unit, np.full(self.sides * m, np.inf)])
        highs.add_columns(self.model, costs, 0.0, most)
        highs.add_rows(self.model, target[None, :], np.arange(n), 0.0, 0.0)
        columns = problem.values.T * target * self.signs[:, None]
        rows = np.column_stack([columns, -np.ones(m), np.ones(m)][: 1 + self.sides])
        elastic = self.elastic.reshape(self.sides, m)
        indices = np.column_stack([np.tile(np.arange(n), (m, 1)), *elastic])
        highs.add_rows(self.model, rows, indices, -limits if self.sides == 2 else -np.inf, limits)
        highs.run(self.model)
        self.basis = self.model.getBasis()

    def solve(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients with plain signs, intercepts and dual variables of some sets.

        Begins from the basis of all terms: the result does not depend on what was before.
        """
        self.model.setBasis(self.basis)
        prices = np.tile(np.where(vectors, self.caps, 0.0), self.sides)
        multipliers = np.empty((len(vectors), 1 + len(self.caps)))
        values = np.empty((len(vectors), len(self.cost) + prices.shape[1]))
        for i, price in enumerate(prices):
            self.model.changeColsCost(len(price), self.elastic, price)
            highs.run(self.model)
            solution = self.model.getSolution()
            multipliers[i], values[i] = solution.row_dual, solution.col_value
        # HiGHS minimises minus the sum of the beta, hence the sign.
        smallest = -self.caps if self.sides == 2 else 0.0
        alpha = self.signs * np.where(vectors, np.clip(-multipliers[:, 1:], smallest, self.caps), 0)
        beta = np.clip(self.unit * values[:, : len(self.cost)], 0.0, self.cost)
        return alpha, -multipliers[:, 0], beta


#: Each worker keeps the models of the problem it saw last: threads and processes alike.
_WORKER = threading.local()


def _programs(problem: HingeSubsets) -> tuple[list[_SubsetProgram], list[_SubsetProgram]]:
    """Programs of the score and of its convex relaxation, one of each for every output."""
    if getattr(_WORKER, "token", None) != problem.token:
        outputs = range(problem.targets.shape[1])
        score = [_SubsetProgram(problem, k, TIE * problem.weights) for k in outputs]
        tie = _harmless_tie(problem, score)
        if tie < TIE:
            score = [_SubsetProgram(problem, k, tie * problem.weights) for k in outputs]
        # |sigma| >= sum |alpha| / cap, shared by the outputs.
        shares = 1.0 / (len(outputs) * problem.caps * float(problem.cost.max()))
        relaxation = [_SubsetProgram(problem, k, shares) for k in outputs]
        _WORKER.programs, _WORKER.token = (score, relaxation), problem.token
    return _WORKER.programs


def _harmless_tie(problem: HingeSubsets, programs: list[_SubsetProgram]) -> float:
    """Cost of the coefficients' sizes that leaves the loss of all terms together as it is."""
    everything = np.ones((1, len(problem.caps)), dtype=bool)
    alpha, intercept, _ = _over_outputs(programs, everything)
    size = float(problem.cost.max()) * float((np.abs(alpha) @ problem.weights).sum())
    allowed = CHANGE * max(1.0, float(problem.losses(alpha, intercept)[0]))
    return min(TIE, allowed / size) if size > 0 else TIE
