"""A search among the model's own vectors: the second phase of the cross-entropy method.

Mannor, Peleg & Rubinstein (2005) offer their search after any machine: over sets σ of its vectors,

    min over σ   |σ| + C Σ loss,

where the coefficients of a set are the best there are, by a linear program. The loss is the hinge
of each class against the rest (``CrossEntropySVC``); for numbers the ε-insensitive one, the target
being measured in spreads; for a one-class machine, which has no labels, the hinge of its own
decisions on the rows.

C is that of the model to begin with (1 / ν of a one-class machine), or more while too much changes.
Terms beyond ``n_terms``, or that ``max_error`` can spare, are then dropped one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from zeronorm.base.training_set import gap_warning
from zeronorm.classifiers.cross_entropy import BLOCK_ROWS, ROOM, CrossEntropySVC
from zeronorm.decisions import DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.given_model import GivenClasses
from zeronorm.reduction.problem import (
    TRAINS_AGAIN,
    Reduced,
    Reduction,
    Request,
    SubsetProblem,
    warned,
)
from zeronorm.solvers.cross_entropy.search import best_set
from zeronorm.solvers.linear_programs.hinge_lp import one_norm_support

#: Factor between the costs that are tried, and most tries.
COST_STEP, COST_TRIES = 3.0, 4


def search_among_vectors(
    reduction: Reduction,
    request: Request,
    *,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Reduced:
    """Find few of the model's vectors by the cross-entropy method."""
    given = reduction.given
    given.expansion.without_linear(TRAINS_AGAIN)
    is_small = request.n_terms is not None and not request.excess(given.expansion.n_terms)
    if given.expansion.n_terms <= 1 or (is_small and request.max_error is None):
        return reduction.as_it_is()
    search = SubsetSearch(reduction, request, n_jobs, block_rows)
    tried: list[Reduced] = []
    for _ in range(COST_TRIES):
        found = search.at_cost()
        tried.append(search.compared(found))
        if request.excess(found.expansion.n_terms) or request.is_met(tried[-1]):
            break
        search.C *= COST_STEP
    if request.n_terms is not None or request.max_error is not None:
        for fewer in search.one_term_less(found):
            last = tried[-1]
            if not request.excess(last.expansion.n_terms):
                if request.max_error is None or not request.is_met(last):
                    break
            tried.append(search.compared(fewer))
    allowed = [one for one in tried if not request.excess(one.expansion.n_terms)]
    met = [one for one in allowed if request.is_met(one)]
    if request.max_error is not None and met:
        return min(met, key=lambda one: one.expansion.n_terms)
    if not met and not request.excess(given.expansion.n_terms):
        return reduction.as_it_is()
    return warned(reduction, min(allowed, key=lambda one: one.changed), request)


class SubsetSearch:
    """Searches among the vectors of one model, for the cost C that it is set to."""

    def __init__(
        self, reduction: Reduction, request: Request, n_jobs: int | None, block_rows: int
    ) -> None:
        self.reduction, self.request = reduction, request
        self.n_jobs, self.block_rows = n_jobs, block_rows
        assert reduction.rows is not None
        self.given, self.data = reduction.given, reduction.rows
        self.problem: SubsetProblem = self.given.subset_problem(self.data)
        self.X: Any = self.data.X[self.problem.rows]
        self.C = float(self.given.search_cost(self.data))
        self.seed = check_random_state(request.random_state).randint(2**31 - 1)
        self.rule: DecisionRule | None = None
        if isinstance(self.given, GivenClasses):
            self.rule = DecisionRule(len(self.given.classes))

    def compared(self, found: Reduced) -> Reduced:
        """Compare what was found with the model, and write it into the history."""
        own = self.problem.in_own_units(found.expansion, self.X)
        reduced = self.reduction.compared(own, self.rule)
        reduced.n_iter, reduced.warning = found.n_iter, found.warning
        self.reduction.history.record(terms=own.n_terms, changed=reduced.changed, cost=self.C)
        return reduced

    def at_cost(self) -> Reduced:
        """Search the best set; what is found is in the units of the problem."""
        return self._among_classes() if self.rule is not None else self._among_hinges()

    def _among_classes(self) -> Reduced:
        given, data = self.given, self.data
        search = CrossEntropySVC(
            C=self.C,
            candidates=given.expansion,
            class_weight=given.model.class_weight,
            tol=self.request.tol,
            max_iter=self.request.max_iter,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        search.fit(data.X, data.y, data.weight if data.is_weighted else None)
        return Reduced(search.expansion_, self.rule, n_iter=search.n_iter_)

    def _among_hinges(self) -> Reduced:
        """Search among the vectors that the one-norm machine uses, as in the paper.

        On a sample where there are many rows; the coefficients of the best set are solved on all.
        """
        problem, C = self.problem, self.C
        expansion = self.given.expansion
        values = expansion.kernel_values(self.X)
        part, part_values = problem, values
        if len(problem.cost) > self.block_rows:
            order = np.random.RandomState(self.seed).permutation(len(problem.rows))
            some = np.sort(order[: self.block_rows // problem.copies])
            part, part_values = problem.take(some), values[some]
        design, cost = part.design(part_values), C * part.cost
        columns, size = one_norm_support(design, part.targets, cost, margins=part.margins)
        largest = max(size, float(np.abs(expansion.coef / problem.scale).max(initial=0.0)))
        caps = np.full(len(columns), max(ROOM * largest, C * float(problem.cost.max())))
        found, best = best_set(
            part.subsets(part_values[:, columns], C, caps),
            len(columns),
            n_jobs=self.n_jobs,
            max_rounds=self.request.max_iter,
            random_state=self.seed,
        )
        chosen = columns[best]
        score = problem.subsets(values[:, chosen], C, caps[best])
        coef, intercept, _, gap = score.coefficients(np.ones(len(chosen), dtype=bool))
        warning = gap_warning("The search among the vectors", gap, self.request.tol)
        if not found.is_settled:
            warning = (
                f"The search among the vectors stopped after {found.rounds} rounds before the "
                "level of the elite converged. Raise max_iter."
            )
        fewer = _used(expansion, chosen, coef, intercept)
        return Reduced(fewer, None, n_iter=found.rounds, warning=warning)

    def one_term_less(self, found: Reduced) -> Iterator[Reduced]:
        """Yield functions with fewer and fewer terms: each time the one that costs least goes."""
        expansion = found.expansion
        cost = self.C * float(self.problem.cost.max())
        room = max(ROOM * float(np.abs(expansion.coef).max(initial=0.0)), cost)
        caps = np.full(expansion.n_terms, room)
        score = self.problem.subsets(expansion.kernel_values(self.X), self.C, caps)
        there: np.ndarray = np.ones(expansion.n_terms, dtype=bool)
        while there.any():
            indices = np.flatnonzero(there)
            sets = np.tile(there, (len(indices), 1))
            sets[np.arange(len(indices)), indices] = False
            scores = score.evaluate(sets)
            there = scores.vectors[scores.values.argmin()]
            coef, intercept, _, _ = score.coefficients(there)
            there = np.asarray(coef.any(axis=1))
            fewer = _used(expansion, np.arange(expansion.n_terms), coef, intercept)
            yield Reduced(fewer, self.rule, n_iter=found.n_iter)


def _used(expansion: Any, columns: np.ndarray, coef: np.ndarray, intercept: Any) -> KernelExpansion:
    """Return the function of the terms that have a coefficient."""
    used = coef.any(axis=1)
    vectors = expansion.vectors[columns[used]]
    return KernelExpansion(vectors, coef[used], intercept, expansion.kernel)
