"""The best set of so many features, by exchanges: descent on the zero-norm problem itself.

With slack, Problem 5 of Weston et al. (2003) for at most k features is

    min over sets S of k features   J(S) = min over w, b   1/2 |w|^2 + C/2 sum_i xi_i^2,

w_j being zero outside S, or the same with squared residuals, for numbers. By duality J is a maximum
of functions that are linear in z, z_j being one for the features in S and zero for the others,

    J(z) = max over a   D(a) - 1/2 sum_j z_j (x_j'a)^2,

so that it is convex, and for any two sets J(S') >= J(S) + 1/2 (sum over S - sum over S') s_j, with
s_j = (x_j'a)^2 at the dual solution a of S (several outputs: their sum). So a set can only be
better if it has features of larger s, and if the k largest s are those of S, no set is better:
that certifies it.

An exchange takes features of small s out and others of large s in, several at once, then single
ones, and is taken if J falls. Where none of those tried does, the set is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.elimination.rounds import RoundProblem, RoundSolution

#: Features of least use inside, and of most outside, of which single pairs are exchanged.
WEAKEST, STRONGEST = 3, 6

#: Share of J by which it must fall: solutions are not exact to more than their gap.
LEAST_FALL = 1e-6


@dataclass
class FeatureSet:
    """A set of features among all columns, and its solution."""

    features: np.ndarray
    solution: RoundSolution
    columns: Columns

    @property
    def objective(self) -> float:
        """J of the set."""
        return self.solution.objective

    @cached_property
    def strength(self) -> np.ndarray:
        """Return s of all columns, which takes a look at all of them."""
        slopes = self.columns.adjoint(self.solution.dual)
        return self.columns.multiplicity * np.square(slopes).sum(axis=1)


class Exchange:
    """Exchanges among all columns.

    Parameters
    ----------
    columns : Columns
        All features.
    targets : ndarray of shape (n, n_outputs)
        Labels, or numbers.
    cost : ndarray of shape (n,)
        C of every row.
    kind : type
        ``SquaredSlack`` or ``SquaredResiduals``.
    """

    def __init__(
        self, columns: Columns, targets: np.ndarray, cost: np.ndarray, kind: type[RoundProblem]
    ) -> None:
        self.columns, self.targets, self.cost, self.kind = columns, targets, cost, kind

    def best_of(self, sets: list[np.ndarray]) -> FeatureSet:
        """Descend from each of these sets, and return the one with the least J."""
        return min((self.descend(one) for one in sets), key=lambda found: found.objective)

    def first(self, count: int) -> np.ndarray:
        """Return the features of largest s where there is none yet."""
        return _largest(self.evaluate(np.zeros(0, dtype=np.intp)).strength, count)

    def descend(self, features: np.ndarray) -> FeatureSet:
        """Exchange features as long as J falls."""
        best = self.evaluate(features)
        while True:
            limit = (1.0 - LEAST_FALL) * best.objective
            tried = (self.evaluate(one) for one in self._neighbours(best))
            lower = next((one for one in tried if one.objective < limit), None)
            if lower is None:
                return best
            best = lower

    def _neighbours(self, at: FeatureSet) -> Iterator[np.ndarray]:
        """Yield sets that may be better: half of the features exchanged, a quarter, ..., one."""
        inside = at.features[np.argsort(at.strength[at.features], kind="stable")]
        outside = _largest(at.strength, len(inside) + max(len(inside), STRONGEST))
        outside = outside[~np.isin(outside, inside)]
        count = min(max(1, len(inside) // 2), len(outside))
        while count >= 1:
            if at.strength[outside[count - 1]] > at.strength[inside[count - 1]]:
                yield np.concatenate([inside[count:], outside[:count]])
            count //= 2
        for out in inside[:WEAKEST]:
            for new in outside[:STRONGEST]:
                if at.strength[new] > at.strength[out]:
                    yield np.append(inside[inside != out], new)

    def evaluate(self, features: np.ndarray) -> FeatureSet:
        """Solve with these features alone."""
        problem = self.kind(self.columns.some(features), self.targets, self.cost)
        return FeatureSet(features, problem.solve(np.ones(len(features))), self.columns)


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the largest values, in their order; of equals the first."""
    if count >= len(values):
        return np.argsort(-values, kind="stable")
    least = np.partition(values, len(values) - count)[len(values) - count]
    some = np.flatnonzero(values >= least)
    return some[np.argsort(-values[some], kind="stable")][:count]
