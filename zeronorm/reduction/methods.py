"""The ways in which a reducer makes a model smaller, each with a limit on terms or on changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.utils import check_random_state

from zeronorm.base.candidates import ALL_CANDIDATES
from zeronorm.base.labels import signed_targets
from zeronorm.base.training_set import check_cost, gap_warning
from zeronorm.checks import shown
from zeronorm.classifiers.cross_entropy import ROOM, CrossEntropySVC
from zeronorm.decisions import DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.prototypes import Prototypes
from zeronorm.learned.reduced_set import ReducedSet, independent_terms
from zeronorm.reduction.problem import Limits, Reduced, Reduction
from zeronorm.solvers.design import Design
from zeronorm.solvers.gram import check_semidefinite, whitened
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge

#: Share of the model's terms that new vectors may have if nothing else is asked.
SHARE = 0.1

#: Relative progress of a step at which the vectors rest, as a share of ``tol``.
RESTING = 1e-3

#: Why a model with a linear part is refused by two of the methods.
TRAINS_AGAIN = "Only method='reduced_set' and method='exact' train no coefficients again"

#: Factor between the costs that the cross-entropy search tries, and most tries.
COST_STEP, COST_TRIES = 3.0, 4


# New vectors: the reduced set, and the modified reduced set.


def place_vectors(reduction: Reduction, limits: Limits, *, train_again: bool) -> Reduced:
    """Replace the vectors by fewer that lie elsewhere."""
    given = reduction.given
    n_given = given.expansion.n_terms
    check_can_move(given.expansion)
    if train_again:
        given.expansion.without_linear(TRAINS_AGAIN)
    most = limits.n_terms
    if most is None and limits.max_error is None:
        most = int(np.ceil(SHARE * n_given))
    is_small = most is not None and n_given <= most
    if n_given <= 1 or (is_small and limits.max_error is None):
        return reduction.as_it_is()
    random = check_random_state(limits.random_state)
    reduced_set = ReducedSet(
        given.expansion.vectors, given.expansion.coef, given.expansion.kernel, random
    )

    def at(size: int) -> Reduced:
        current, descent = reduced_set.reach(
            size, max_steps=limits.max_iter, tolerance=RESTING * limits.tol
        )
        warning = descent.warning(limits.tol)
        if train_again:
            expansion, gap = trained_again(reduction, current, limits.tol)
            warning = gap_warning("The model trained again", gap, limits.tol) or warning
        else:
            expansion = given.with_terms(current.vectors, current.coef, given.expansion.intercept)
            lost = given.lost(expansion, reduction.rows)
            intercept = given.expansion.intercept + lost
            expansion = given.with_terms(current.vectors, current.coef, intercept)
        found = reduction.judged(expansion)
        found.n_iter, found.warning = descent.steps, warning
        residual = reduced_set.distance(expansion.vectors, expansion.coef)
        reduction.record(terms=expansion.n_terms, changed=found.changed, residual=residual)
        return found

    if limits.max_error is None:
        assert most is not None
        return at(most)
    largest = n_given - 1 if most is None else min(most, n_given - 1)
    found = smallest(at, largest, limits.max_error)
    if not limits.is_met(found) and not limits.excess(n_given):
        return reduction.as_it_is()
    return warned(reduction, found, limits)


def check_can_move(expansion: KernelExpansion) -> None:
    """Raise ValueError unless the vectors of this kernel can be placed anywhere."""
    if expansion.kernel.name not in ("linear", "poly", "rbf"):
        raise ValueError(
            "New vectors need a kernel with a derivative that is positive semidefinite, 'rbf', "
            f"'poly' or 'linear'; this model's is {shown(expansion.kernel.name)}. "
            "method='cross_entropy' and method='exact' keep the vectors that are there."
        )


def smallest(at: Callable[[int], Reduced], largest: int, max_error: float) -> Reduced:
    """Find the smallest size that is good enough: by doubling, then by halving the interval.

    If none is, the one with the fewest changed decisions comes back.
    """
    too_small, size = 0, 1
    tried = [at(size)]
    while tried[-1].changed > max_error:
        # Fewer vectors than asked for: no more would add anything.
        if size == largest or tried[-1].expansion.n_terms < size:
            return min(tried, key=lambda one: one.changed)
        too_small, size = size, min(2 * size, largest)
        tried.append(at(size))
    best = tried[-1]
    while size - too_small > 1:
        middle = (too_small + size) // 2
        between = at(middle)
        if between.changed <= max_error:
            best, size = between, middle
        else:
            too_small = middle
    return best


def warned(reduction: Reduction, found: Reduced, limits: Limits) -> Reduced:
    """Add a warning if what was asked for is not there."""
    if not limits.is_met(found):
        said = reduction.given.changed_text(found.changed)
        found.warning = (
            f"With {found.expansion.n_terms} terms {said}, more than "
            f"max_error={limits.max_error} allows. Raise n_terms or max_error."
        )
    return found


def trained_again(
    reduction: Reduction, current: Prototypes, tolerance: float
) -> tuple[KernelExpansion, float]:
    """Train the coefficients of given vectors again (31); also the largest duality gap."""
    given, rows = reduction.given, reduction.rows
    assert rows is not None
    solutions = []
    for part, hinge in given.hinges(rows):
        check_cost(hinge.cost)
        values = given.expansion.kernel.matrix(rows.X[part], current.vectors)
        design = Design(given.design(whitened(values, current.factor)))
        solutions.append(
            solve_hinge_ridge(
                design, hinge.target, hinge.cost, tolerance=tolerance, margin=hinge.margin
            )
        )
    weights = np.column_stack([one.coef for one in solutions])
    intercept = np.array([one.intercept for one in solutions])
    coef = np.linalg.solve(current.factor.T, weights)
    return given.with_terms(current.vectors, coef, intercept), max(one.gap for one in solutions)


# The model's own vectors: the second phase of the cross-entropy method, and exact reduction.


def search_among_vectors(
    reduction: Reduction, limits: Limits, *, n_jobs: int | None = None
) -> Reduced:
    """Find few of the model's vectors by the cross-entropy method, one class against the rest.

    The search weighs terms against C Σ hinge, with the model's C, or more while too many decisions
    change. Terms beyond ``n_terms``, or that ``max_error`` can spare, are then dropped one by one.
    """
    given, rows = reduction.given, reduction.rows
    assert rows is not None
    given.expansion.without_linear(TRAINS_AGAIN)
    is_small = limits.n_terms is not None and not limits.excess(given.expansion.n_terms)
    if given.expansion.n_terms <= 1 or (is_small and limits.max_error is None):
        return reduction.as_it_is()
    seed = check_random_state(limits.random_state).randint(2**31 - 1)
    rule = DecisionRule(len(given.classes))

    def judged(expansion: KernelExpansion, cost: float, n_iter: int) -> Reduced:
        found = reduction.judged(expansion, rule)
        found.n_iter = n_iter
        reduction.record(terms=expansion.n_terms, changed=found.changed, cost=cost)
        return found

    C = given.search_cost()
    tried: list[Reduced] = []
    for _ in range(COST_TRIES):
        search = CrossEntropySVC(
            C=C,
            candidates=given.expansion,
            class_weight=given.model.class_weight,
            tol=limits.tol,
            max_iter=limits.max_iter,
            random_state=seed,
            n_jobs=n_jobs,
        )
        search.fit(rows.X, rows.y, rows.weight if rows.is_weighted else None)
        tried.append(judged(search.expansion_, C, search.n_iter_))
        if limits.excess(search.n_terms_) or limits.is_met(tried[-1]):
            break
        C *= COST_STEP
    if limits.n_terms is not None or limits.max_error is not None:
        for expansion in one_term_less(reduction, tried[-1].expansion, C):
            last = tried[-1]
            if not limits.excess(last.expansion.n_terms):
                if limits.max_error is None or not limits.is_met(last):
                    break
            tried.append(judged(expansion, C, last.n_iter))
    allowed = [one for one in tried if not limits.excess(one.expansion.n_terms)]
    met = [one for one in allowed if limits.is_met(one)]
    if limits.max_error is not None and met:
        return min(met, key=lambda one: one.expansion.n_terms)
    if not met and not limits.excess(given.expansion.n_terms):
        return reduction.as_it_is()
    return warned(reduction, min(allowed, key=lambda one: one.changed), limits)


def one_term_less(
    reduction: Reduction, expansion: KernelExpansion, C: float
) -> Iterator[KernelExpansion]:
    """Yield expansions with fewer and fewer terms: each time the one that costs least goes."""
    assert reduction.rows is not None
    X, codes, weight = reduction.given.weighted_rows(reduction.rows)
    targets, cost = signed_targets(codes, len(reduction.given.classes)), C * weight
    room = max(ROOM * float(np.abs(expansion.coef).max(initial=0.0)), float(cost.max()))
    caps = np.full(expansion.n_terms, room)
    score = HingeSubsets(expansion.kernel_values(X), targets, cost, caps)
    there: np.ndarray = np.ones(expansion.n_terms, dtype=bool)
    while there.any():
        indices = np.flatnonzero(there)
        sets = np.tile(there, (len(indices), 1))
        sets[np.arange(len(indices)), indices] = False
        scores = score.evaluate(sets)
        there = scores.vectors[scores.values.argmin()]
        coef, intercept, _, _ = score.coefficients(there)
        there = np.asarray(coef.any(axis=1))
        yield KernelExpansion(expansion.vectors[there], coef[there], intercept, expansion.kernel)


def drop_dependent(reduction: Reduction, limits: Limits) -> Reduced:
    """Drop the vectors that are combinations of the others; the function stays what it is."""
    given = reduction.given
    expansion = given.expansion
    if expansion.n_terms > ALL_CANDIDATES:
        raise ValueError(
            f"method='exact' with {expansion.n_terms} vectors asks for a kernel matrix of "
            f"{8e-9 * expansion.n_terms**2:.0f} GB; take method='reduced_set'."
        )
    if expansion.n_terms > 1:
        kept, coef = independent_terms(own_gram(reduction), expansion.coef)
        if len(kept) < expansion.n_terms:
            expansion = given.with_terms(expansion.vectors[kept], coef, expansion.intercept)
    found = reduction.judged(expansion)
    reduction.record(terms=expansion.n_terms, changed=found.changed)
    if limits.excess(expansion.n_terms):
        found.warning = (
            f"{expansion.n_terms} of the {given.expansion.n_terms} vectors are independent, more "
            f"than n_terms={limits.n_terms}. method='reduced_set' goes below, at the price of "
            "another function."
        )
    return found


def own_gram(reduction: Reduction) -> np.ndarray:
    """Kernel matrix of the model's vectors; ValueError if it is not positive semidefinite."""
    expansion = reduction.given.expansion
    kernel = expansion.kernel
    if kernel.is_precomputed:
        columns = expansion.vectors[:, 0].astype(np.intp)
        rows = reduction.rows
        if rows is None or rows.X.shape[0] != rows.X.shape[1]:
            raise ValueError(
                "method='exact' with a precomputed kernel needs the square kernel matrix of the "
                "training rows: fit(K)."
            )
        gram = rows.X[columns][:, columns]
        gram = gram.toarray() if hasattr(gram, "toarray") else gram
    else:
        gram = kernel.matrix(expansion.vectors, expansion.vectors)
    if kernel.name not in ("linear", "rbf"):
        check_semidefinite(gram, "method='exact'", kernel.name)
    return gram
