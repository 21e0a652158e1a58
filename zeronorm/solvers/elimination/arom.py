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

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.elimination.columns import Selection, descending
from zeronorm.solvers.elimination.rounds import RoundProblem, RoundSolution

#: A feature counts as zero when its contribution is this small beside the largest. The next round
#: would square it: to come back, its slope would have to be a thousand times the others'.
ZERO = 1e-3

#: Two vertices of a linear program may call for each other forever. So many rounds in which no
#: feature vanishes and the scales do not converge mean that the features have settled.
PATIENCE = 20

#: A slack of this size, margins being one, counts as none where slacks are counted.
NO_SLACK = 1e-2


@dataclass
class Elimination(Selection):
    """Result of the loop; ``scaling`` is the final z.

    ``change`` is the relative change of z in the last round that dropped none, ``is_settled``
    whether as few columns are left as were asked for, or z, or at least what is left, converged.
    """

    change: float = np.inf
    is_settled: bool = False


def eliminate(
    problem: RoundProblem,
    *,
    stop_at: int,
    count_slacks: bool = False,
    max_rounds: int = 100,
    tolerance: float = 1e-4,
) -> Elimination:
    """Rescale and solve until ``stop_at`` features or fewer are left, or z settles.

    If z settles with more, because rows that no plane separates keep them in use, each further
    round drops the weakest; with ``stop_at`` 0 that is where it ends.

    The order of the features: later dropped is better; of those that are left, or dropped in the
    same round, the larger contribution (|z| times the standard deviation of the column) counts,
    then that of the round before, then how near to use the feature is.
    """
    n_features = problem.columns.n_columns
    left, scaling = np.arange(n_features), np.ones(n_features)
    size, cost = problem.size(scaling), problem.cost
    result = Elimination(left, n_features, np.zeros(n_features))
    dropped: list[np.ndarray] = []
    standstill, is_forced = 0, False
    while True:
        solution = problem.solve(scaling)
        before, contribution, ranks = _contributions(problem, scaling, solution)
        keep = contribution > ZERO
        if is_forced and keep.all():
            keep[contribution.argmin()] = False
        features = int(np.count_nonzero(keep))
        result.record(features=features, objective=solution.objective, gap=solution.gap)
        new = np.where(keep, np.abs(solution.coef).sum(axis=1), 0.0)
        new_size = problem.size(new)
        if not new_size > 0:
            # The slack alone is cheapest: no feature is needed. The slopes still rank them.
            result.order, left, new = left[descending(ranks)], left[:0], new[:0]
            result.is_settled = True
            break
        new *= size / new_size
        if keep.all():
            last_change, result.change = result.change, _change(before, contribution)
            standstill += result.change > 0.9 * last_change
            has_converged = result.change <= tolerance or standstill >= PATIENCE
            is_forced = has_converged and stop_at > 0
            result.is_settled = has_converged and stop_at == 0
        else:
            standstill = 0
            dropped.append(left[~keep][descending(ranks[:, ~keep])])
            problem.keep(keep)
            left, new, ranks = left[keep], new[keep], ranks[:, keep]
        result.order = left[descending(ranks)]
        result.is_settled = result.is_settled or len(left) <= stop_at
        if result.is_settled or (result.n_iter >= max_rounds and not is_forced):
            break
        scaling = new
        if count_slacks:
            problem.cost = slack_cost(problem, cost, solution.slack, result.n_iter)
    result.order = np.concatenate([result.order, *reversed(dropped)])
    result.count, result.scaling[left] = len(left), new
    return result


def _contributions(
    problem: RoundProblem, scaling: np.ndarray, solution: RoundSolution
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contributions of the features before and after a round, and the keys of their order."""
    deviations = problem.columns.deviations
    before, after = scaling * deviations, np.abs(solution.coef).sum(axis=1) * deviations
    after /= max(after.max(initial=0.0), np.finfo(float).tiny)
    return before, after, np.stack([solution.slopes * deviations, before, after])


def slack_cost(
    problem: RoundProblem, cost: np.ndarray, slack: np.ndarray, round_number: int
) -> np.ndarray:
    """Weights with which the next problem counts slacks: a tangent of sum log slack.

    What counts as none is halved from round to round: all at once, the first solution's errors
    would be for good.
    """
    none = max(NO_SLACK, 0.5**round_number)
    power = problem.slack_power
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
