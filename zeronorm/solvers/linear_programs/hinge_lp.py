"""The hinge linear programs, on persistent HiGHS models (``highs.py``).

Weighted problem of SSVC_B, Huang et al. (2010), problem (10), with an intercept that is not
penalised:

    min over alpha, b   sum_j lambda_j |alpha_j| + sum_i c_i max(0, 1 - y_i (K alpha + b)_i).

It is solved through its dual (15), which has one bounded variable per row of the data:

    max over beta   sum(beta),   |K' (y beta)|_j <= lambda_j,   y'beta = 0,   0 <= beta_i <= c_i.

Only a few of the constraints |.|_j <= lambda_j bind, so they enter one batch at a time: solve,
price all of them with one product K' (y beta), add the most violated, solve again. Adding a
constraint or moving its bounds keeps the basis dual feasible: HiGHS's dual simplex goes on from
where it was. alpha and b are the multipliers; a constraint that does not bind has an exact zero.

Variant W (Weston et al., 2003) solves the same problem with the columns of K multiplied by z and
all weights one; alpha = z * w.

With all weights one and no reweighting this is the linear programming machine of Kecman & Hadzic;
the one-norm machine, Mannor et al. (2005), problem (8), fixes the sign s_j of each coefficient and
caps its size, 0 <= s_j alpha_j <= u_j. Its dual needs one constraint a column instead of two, and
lets it be broken at the price u_j:

    max over beta   sum(beta) - sum_j u_j max(0, s_j K_j' (y beta) - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from zeronorm.solvers.design import column_sizes
from zeronorm.solvers.intercept import balanced, central_intercept
from zeronorm.solvers.linear_programs.highs import (
    LinearProgramError,
    add_columns,
    add_rows,
    new_model,
    run,
)
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.reweighting.loop import Round
from zeronorm.solvers.solution import Solution

#: Constraints added at once, at the start and later.
BATCH = 32

#: A constraint counts as violated beyond this share of its bound.
PRICE_TOLERANCE = 1e-9

#: Kernel values beyond this need another unit than the cost (see ``solve_one_norm``).
LARGE = 1e3

#: A term that adds less than this to any decision value is a zero of the linear program.
ROUNDING = 1e-12


@dataclass
class Box:
    """What the one-norm machine asks of its coefficients: 0 <= signs * alpha <= caps."""

    signs: np.ndarray
    caps: np.ndarray


def solve_one_norm(
    values: np.ndarray, target: np.ndarray, cost: np.ndarray, box: Box | None = None
) -> Solution:
    """Minimise ``sum|alpha| + sum(cost * hinge)``, coefficients free or in a box.

    Where kernel values are large (polynomials reach 1e11), the optimum and with it beta lie far
    below ``cost``, out of reach of HiGHS's absolute tolerances. So beta is first measured in a
    cautious unit, and once more in units of the objective found, if the certificate asks for it.
    """
    limits = np.ones(values.shape[1])
    largest = float(cost.max())
    sizes = column_sizes(values)
    size = float(sizes.max(initial=0.0))
    unit = largest if size <= LARGE else min(largest, size**-0.5)
    best: Solution | None = None
    # Where HiGHS fails, the rows or the variables are beyond its range.
    others = iter((1e-2 * unit, largest, 1e-4 * unit))
    for is_last in (False, False, False, True):
        program = _DualProgram(target, cost, unit, box)
        try:
            coef, intercept = program.solve(values, limits, renew=False)
        except LinearProgramError:
            if best is not None:
                break
            if is_last:
                raise
            unit = next(others)
            continue
        # At a degenerate vertex some multipliers are zero up to rounding, margins being about one.
        coef[np.abs(coef) * sizes < ROUNDING] = 0.0
        stretch = 1.0 / (1.0 - _rounding_slack(values, target, coef, intercept))
        coef, intercept = stretch * coef, stretch * intercept
        if box is not None:
            coef = np.clip(coef, -box.caps, box.caps)
        loss, gap = program.certify(values, coef, intercept, limits)
        objective = loss + float(np.abs(coef).sum())
        if best is None or gap < best.gap:
            scores, steps = values @ coef + intercept, program.iterations
            best = Solution(coef, intercept, scores, program.beta, objective, gap, steps)
            best.record()
        if best.gap <= PRICE_TOLERANCE or objective == 0:
            break
        unit = min(largest, objective)
    assert best is not None
    return best


def one_norm_support(
    values: np.ndarray, targets: np.ndarray, cost: np.ndarray, boxes: Sequence[Box | None]
) -> tuple[np.ndarray, float]:
    """Columns that the one-norm machine of some output uses, and its largest coefficient."""
    parts = [
        solve_one_norm(values, target, cost, box).coef
        for target, box in zip(targets.T, boxes, strict=True)
    ]
    support = np.flatnonzero(np.any(parts, axis=0))
    # In an order that does not depend on that of the rows: equal data give equal searches.
    order = np.argsort(cost @ values[:, support], kind="stable")
    return support[order], float(np.abs(parts).max(initial=0.0))


def _rounding_slack(
    values: np.ndarray, target: np.ndarray, coef: np.ndarray, intercept: float
) -> float:
    """Largest slack, if all are so small that they can only come from rounding; otherwise 0.

    With a large C even a slack of 1e-9 would count beside the coefficients of separable data.
    """
    slack = float(np.max(1.0 - target * (values @ coef + intercept), initial=0.0))
    return slack if slack <= 1e-6 else 0.0


class HingeLP:
    """The weighted problem for the reweighting loop.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    target : ndarray of shape (n,)
        Labels -1 and +1.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    multiplicative : bool
        False: weights on the coefficients (B). True: unit weights, columns rescaled (W).
    """

    def __init__(
        self,
        values: np.ndarray,
        target: np.ndarray,
        cost: np.ndarray,
        multiplicative: bool = False,
    ) -> None:
        self.values = values
        self.column_sizes = column_sizes(values)
        self.multiplicative = multiplicative
        self.program = _DualProgram(target, cost)

    @property
    def dual(self) -> np.ndarray:
        """Dual variables of the last solution."""
        return self.program.beta

    @property
    def n_columns(self) -> int:
        """Number of terms that are left."""
        return self.values.shape[1]

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = np.compress(columns, self.values, axis=1)
        self.column_sizes = self.column_sizes[columns]
        self.program.keep(columns)

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with the weights ``1 / scale``; an LP is exact, whatever the tolerance."""
        del tolerance, steering  # the loop's interface; the simplex method ends at a vertex
        limits = 1.0 / scale
        coef, intercept = self.program.solve(self.values, limits, renew=self.multiplicative)
        return Round(coef, intercept, *self.program.certify(self.values, coef, intercept, limits))


class _DualProgram:
    """One persistent model: a variable per row of the data, a constraint per working term.

    The variables are beta / unit, by default in units of max(cost). A constraint
    |K_j' (y beta)| <= limit enters divided by its limit, so that HiGHS's absolute tolerances are
    relative ones, whatever the scale of the data. With ``box`` the constraints have one side and
    give way at a price: an elastic variable for each.
    """

    def __init__(
        self,
        target: np.ndarray,
        cost: np.ndarray,
        unit: float | None = None,
        box: Box | None = None,
    ) -> None:
        self.target, self.cost, self.box = target, cost, box
        self.unit = float(cost.max()) if unit is None else unit
        n = len(target)
        self.columns = np.arange(n, dtype=np.int32)
        self.working = np.empty(0, dtype=np.intp)
        self.entered = np.empty(0)
        self.beta = np.zeros(n)
        self.iterations = 0
        self.model = new_model()
        add_columns(self.model, -np.ones(n), np.zeros(n), cost / self.unit)
        self._add_rows(target[None, :], 0.0)

    def _add_rows(self, rows: np.ndarray, bound: float) -> None:
        indices = np.broadcast_to(self.columns, rows.shape)
        add_rows(self.model, rows, indices, -bound, bound)

    def _enter(self, values: np.ndarray, limits: np.ndarray, terms: np.ndarray) -> None:
        rows = values[:, terms].T * (self.unit * self.target)
        rows /= limits[terms, None]
        if self.box is None:
            self._add_rows(rows, 1.0)
        else:
            self._add_elastic_rows(
                rows * self.box.signs[terms, None], (self.box.caps * limits)[terms]
            )
        self.working = np.concatenate([self.working, terms])
        self.entered = np.concatenate([self.entered, limits[terms]])

    def _add_elastic_rows(self, rows: np.ndarray, prices: np.ndarray) -> None:
        """Add constraints ``rows @ variables - t <= 1``, with ``prices`` for the elastic t >= 0."""
        count = len(rows)
        first = self.model.getNumCol()
        add_columns(
            self.model, prices / self.unit, np.zeros(count), np.full(count, highspy.kHighsInf)
        )
        indices = np.broadcast_to(self.columns, rows.shape)
        elastic = first + np.arange(count)[:, None]
        add_rows(
            self.model,
            np.hstack([rows, np.full((count, 1), -1.0)]),
            np.hstack([indices, elastic]),
            -highspy.kHighsInf,
            1.0,
        )

    def _leave(self, indices: np.ndarray) -> None:
        """Delete the constraints at these indices of the working set."""
        if len(indices):
            # Row 0 is the constraint of the intercept.
            self.model.deleteRows(len(indices), (indices + 1).astype(np.int32))
            self.working = np.delete(self.working, indices)
            self.entered = np.delete(self.entered, indices)

    def keep(self, columns: np.ndarray) -> None:
        self._leave(np.flatnonzero(~columns[self.working]))
        self.working = (np.cumsum(columns) - 1)[self.working]

    def solve(
        self, values: np.ndarray, limits: np.ndarray, renew: bool
    ) -> tuple[np.ndarray, float]:
        """Multipliers of the constraints |K' (y beta)| <= limits, and the intercept.

        With ``renew`` the working constraints enter anew, divided by their new limits; otherwise
        their bounds move, unless they would move too far for the tolerances.
        """
        ratio = limits[self.working] / self.entered
        if renew or (len(ratio) and not (1e-2 < ratio.min() and ratio.max() < 1e2)):
            working, basis = self.working, self.model.getBasis()
            self._leave(np.arange(len(working)))
            self._enter(values, limits, working)
            self.model.setBasis(basis)
        else:
            for place, bound in enumerate(ratio):
                self.model.changeRowBounds(place + 1, -bound, bound)
        while self._run() and self._enter_violated(values, limits):
            pass
        multipliers = np.array(self.model.getSolution().row_dual)
        coef = np.zeros(len(limits))
        # HiGHS minimises -sum(beta / unit), hence the signs.
        coef[self.working] = -self.unit * multipliers[1:] / self.entered
        if self.box is not None:
            coef = self.box.signs * np.clip(coef, 0.0, self.box.caps)
        # Of an interval of optimal intercepts the multiplier is an end.
        return coef, central_intercept(values @ coef, self.target, self.cost)

    def _run(self) -> bool:
        """Solve with the working constraints; False if the iterations were used up."""
        is_optimal = run(self.model)
        self.iterations += self.model.getInfo().simplex_iteration_count
        values = np.array(self.model.getSolution().col_value)[: len(self.cost)]
        self.beta = np.clip(self.unit * values, 0.0, self.cost)
        return is_optimal

    def _enter_violated(self, values: np.ndarray, limits: np.ndarray) -> int:
        """Add the most violated constraints; return how many."""
        excess = self._slopes(values, self.beta) / limits - 1.0
        excess[self.working] = 0.0
        violated = np.flatnonzero(excess > PRICE_TOLERANCE)
        if len(violated) > BATCH:
            worst = np.argpartition(-excess[violated], BATCH)[:BATCH]
            violated = np.sort(violated[worst])
        if len(violated):
            self._enter(values, limits, violated)
        return len(violated)

    def _slopes(self, values: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Left sides of the constraints: what a coefficient away from zero would gain."""
        slopes = (self.target * beta) @ values
        return np.abs(slopes) if self.box is None else self.box.signs * slopes

    def certify(
        self, values: np.ndarray, coef: np.ndarray, intercept: float, limits: np.ndarray
    ) -> tuple[float, float]:
        """Hinge loss and relative duality gap, from the data and not from the solver's word."""
        loss = Hinge(self.target, self.cost).value(values @ coef + intercept)
        primal = loss + float(limits @ np.abs(coef))
        beta = balanced(self.beta, self.target)
        slopes = self._slopes(values, beta)
        dual = float(beta.sum()) / float(np.max(slopes / limits, initial=1.0))
        if self.box is not None:
            broken = self.box.caps @ np.maximum(slopes - limits, 0.0)
            dual = max(dual, float(beta.sum() - broken))
        return loss, (primal - dual) / primal if primal > 0 else 0.0


def solve_largest_coefficient(values: np.ndarray, target: np.ndarray, cost: np.ndarray) -> Solution:
    """Minimise ``max|alpha| + sum(cost * hinge)``: the infinity-norm machine, one exact LP."""
    n, m = values.shape
    # In units in which the largest kernel value and the largest cost are one. More than n m for
    # t is more than all rows together would pay: a higher price changes nothing.
    sizes = column_sizes(values)
    size = float(sizes.max(initial=0.0)) or 1.0
    unit = float(cost.max())
    price = n * m if n * m * size * unit <= 1.0 else 1.0 / (size * unit)
    # Variables u = alpha + t (m), t, b, slack (n); rows: hinge (n), 2t - u >= 0 (m). With alpha
    # itself, which is free, the dual simplex method takes a hundred times as long.
    model = new_model()
    add_columns(
        model,
        np.concatenate([np.zeros(m), [price, 0.0], cost / unit]),
        np.concatenate([np.zeros(m + 1), [-highspy.kHighsInf], np.zeros(n)]),
        np.full(m + 2 + n, highspy.kHighsInf),
    )
    scaled = values * (target / size)[:, None]
    hinge = np.column_stack([scaled, -scaled.sum(axis=1), target, np.ones(n)])
    indices = np.column_stack([np.tile(np.r_[0 : m + 2], (n, 1)), m + 2 + np.arange(n)])
    add_rows(model, hinge, indices, 1.0, highspy.kHighsInf)
    terms = np.column_stack([np.arange(m), np.full(m, m)])
    add_rows(model, np.tile([-1.0, 2.0], (m, 1)), terms, 0.0, highspy.kHighsInf)
    run(model)
    solution = model.getSolution()
    point = np.array(solution.col_value)
    coef = (point[:m] - point[m]) / size
    coef[np.abs(coef) * sizes < ROUNDING] = 0.0
    intercept = central_intercept(values @ coef, target, cost)
    scores = values @ coef + intercept
    objective = float(np.abs(coef).max(initial=0.0)) + Hinge(target, cost).value(scores)
    beta = np.clip(np.array(solution.row_dual)[:n] * unit, 0.0, cost)
    beta = balanced(beta, target)
    # Dual: |K' (y beta)|_1 <= 1 and y'beta = 0.
    dual = beta.sum() / max(1.0, float(np.abs((target * beta) @ values).sum()))
    gap = (objective - dual) / objective if objective > 0 else 0.0
    best = Solution(coef, intercept, scores, beta, objective, gap)
    best.record()
    return best
