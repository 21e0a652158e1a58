"""New vectors, or fewer of the model's own without a change: two ways to make a model smaller.

The third, a search among the model's own vectors, is ``subset_search.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_random_state

from zeronorm.arrays import on_device
from zeronorm.base.candidates import ALL_CANDIDATES
from zeronorm.base.training_set import check_cost, gap_warning
from zeronorm.base.validation import is_moved
from zeronorm.checks import shown
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.prototypes import Prototypes
from zeronorm.learned.reduced_set import ReducedSet, independent_terms
from zeronorm.reduction.problem import TRAINS_AGAIN, Reduced, Reduction, Request, warned
from zeronorm.solvers.design import Design
from zeronorm.solvers.gram import check_semidefinite, whitened
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge

#: Share of the model's terms that new vectors may have if nothing else is asked.
SHARE = 0.1

#: Relative progress of a step at which they have converged, as a share of ``tol``.
CONVERGED = 1e-3


# New vectors: the reduced set, and the modified reduced set.


def place_vectors(reduction: Reduction, request: Request, *, train_again: bool) -> Reduced:
    """Replace the vectors by fewer that lie elsewhere."""
    given = reduction.given
    n_given = given.expansion.n_terms
    check_can_move(given.expansion)
    if train_again:
        given.expansion.without_linear(TRAINS_AGAIN)
    most = request.n_terms
    if most is None and request.max_error is None:
        most = int(np.ceil(SHARE * n_given))
    is_small = most is not None and n_given <= most
    if n_given <= 1 or (is_small and request.max_error is None):
        return reduction.as_it_is()
    random = check_random_state(request.random_state)
    parts = given.expansion.vectors, given.expansion.coef, given.expansion.kernel
    is_placed = given.device is not None and is_moved(given.expansion.vectors, given.device)
    like = on_device(given.device) if is_placed else None
    reduced_set = ReducedSet(*parts, random, like)

    def at(size: int) -> Reduced:
        current, descent = reduced_set.reach(
            size, max_steps=request.max_iter, tolerance=CONVERGED * request.tol
        )
        warning = descent.warning(request.tol)
        if train_again:
            expansion, gap = trained_again(reduction, current, request.tol)
            warning = gap_warning("The model trained again", gap, request.tol) or warning
        else:
            expansion = given.expansion.with_terms(current.vectors, current.coef)
            intercept = expansion.intercept + given.lost(expansion, reduction.rows)
            expansion = given.expansion.with_terms(current.vectors, current.coef, intercept)
        found = reduction.compared(expansion)
        found.n_iter, found.warning = descent.steps, warning
        residual = reduced_set.distance(expansion.vectors, expansion.coef)
        reduction.history.record(terms=expansion.n_terms, changed=found.changed, residual=residual)
        return found

    if request.max_error is None:
        assert most is not None
        return at(most)
    largest = n_given - 1 if most is None else min(most, n_given - 1)
    found = smallest(at, largest, request.max_error)
    if not request.is_met(found) and not request.excess(n_given):
        return reduction.as_it_is()
    return warned(reduction, found, request)


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
        solutions.append(solve_hinge_ridge(design, hinge, tolerance=tolerance))
    weights = np.column_stack([one.coef for one in solutions])
    intercept = np.array([one.intercept for one in solutions])
    coef = np.linalg.solve(current.factor.T, weights)
    gap = max(one.gap for one in solutions)
    return given.expansion.with_terms(current.vectors, coef, intercept), gap


# The model's own vectors.


def drop_dependent(reduction: Reduction, request: Request) -> Reduced:
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
            expansion = expansion.with_terms(expansion.vectors[kept], coef)
    found = reduction.compared(expansion)
    reduction.history.record(terms=expansion.n_terms, changed=found.changed)
    if request.excess(expansion.n_terms):
        found.warning = (
            f"{expansion.n_terms} of the {given.expansion.n_terms} vectors are independent, more "
            f"than n_terms={request.n_terms}. method='reduced_set' goes below, at the price of "
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
