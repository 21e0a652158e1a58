"""The hinge linear programs, on persistent HiGHS models (``highs.py``).

Weighted problem of SSVC_B, Huang et al. (2010), problem (10), with a free intercept:

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

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.design import column_sizes
from zeronorm.solvers.intercept import balanced, central_intercept
from zeronorm.solvers.linear_programs import highs
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


def solve_one_norm(values: np.ndarray, hinge: Hinge, box: Box | None = None) -> Solution:
    """Minimise ``sum|alpha| + sum(cost * hinge)``, coefficients free or in a box.

    Where kernel values are large (polynomials reach 1e11), the optimum and with it beta lie far
    below ``cost``, out of reach of HiGHS's absolute tolerances. So beta is first measured in a
    cautious unit, and once more in units of the objective found, if the certificate asks for it.
    """
    limits, largest = np.ones(values.shape[1]), hinge.unit
    sizes = column_sizes(values)
    size = float(sizes.max(initial=0.0))
    unit = largest if size <= LARGE else min(largest, size**-0.5)
    # Where HiGHS fails, the rows or the variables are beyond its range.
    others = [1e-2 * unit, largest, 1e-4 * unit]
    best: Solution | None = None
    for _ in range(1 + len(others)):
        program = HingeLP(values, hinge, unit=unit, box=box)
        try:
            coef, intercept = program.minimise(limits)
        except highs.LinearProgramError:
            if best is not None:
                break
            if not others:
                raise
            unit = others.pop(0)
            continue
        # At a degenerate vertex some multipliers are zero up to rounding, margins being about one.
        coef[np.abs(coef) * sizes < ROUNDING] = 0.0
        # Slacks that are rounding are undone: with a large C even 1e-9 would count.
        if np.isin(hinge.margin, (0.0, 1.0)).all():
            slack = float(hinge.slack(values @ coef + intercept).max(initial=0.0))
            stretch = 1.0 / (1.0 - slack) if slack <= 1e-6 else 1.0
            coef, intercept = stretch * coef, stretch * intercept
        if box is not None:
            coef = np.clip(coef, -box.caps, box.caps)
        scores = values @ coef + intercept
        loss, gap = program.certify(coef, scores, limits)
        objective = loss + float(np.abs(coef).sum())
        if best is None or gap < best.gap:
            steps = program.iterations
            best = Solution(coef, intercept, scores, program.dual, objective, gap, steps)
            best.record()
        if best.gap <= PRICE_TOLERANCE or objective == 0:
            break
        unit = min(largest, objective)
    assert best is not None
    return best


def one_norm_support(
    values: np.ndarray,
    targets: np.ndarray,
    cost: np.ndarray,
    signs: np.ndarray | None = None,
    caps: np.ndarray | None = None,
    margins: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Columns that the one-norm machine of some output uses, and its largest coefficient.

    ``signs`` has a column for each output; without it and ``caps`` the coefficients are free.
    ``margins`` has one too; without it they are one.
    """
    parts = []
    for k, target in enumerate(targets.T):
        box = None if signs is None or caps is None else Box(signs[:, k], caps)
        hinge = Hinge(target, cost, 1.0 if margins is None else margins[:, k])
        parts.append(solve_one_norm(values, hinge, box).coef)
    support = np.flatnonzero(np.any(parts, axis=0))
    # In an order that does not depend on that of the rows: equal data give equal searches.
    order = np.argsort(cost @ values[:, support], kind="stable")
    return support[order], float(np.abs(parts).max(initial=0.0))


class HingeLP:
    """The weighted problem on one persistent model of its dual, for the reweighting loop.

    The model has a variable per row of the data and a constraint per working term. The variables
    are beta / unit. A constraint |K_j' (y beta)| <= limit enters divided by its limit, so that
    HiGHS's absolute tolerances are relative ones, whatever the scale of the data. In a box the
    constraints have one side and give way at a price: an elastic variable for each.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    hinge : Hinge
        Targets, costs and margins.
    multiplicative : bool
        False: weights on the coefficients (B). True: unit weights, columns rescaled (W).
    unit : float, optional
        What the dual variables are measured in; by default the largest cost (``Hinge.unit``).
    box : Box, optional
        Signs and largest sizes of the coefficients.

    Attributes
    ----------
    dual : ndarray of shape (n,)
        Dual variables beta of the last solution.
    """

    def __init__(
        self,
        values: np.ndarray,
        hinge: Hinge,
        multiplicative: bool = False,
        *,
        unit: float | None = None,
        box: Box | None = None,
    ) -> None:
        self.values, self.column_sizes = values, column_sizes(values)
        self.hinge, self.box, self.multiplicative = hinge, box, multiplicative
        self.unit = hinge.unit if unit is None else unit
        self.working = np.empty(0, dtype=np.intp)
        self.entered = np.empty(0)
        n, cost = len(hinge.cost), hinge.cost
        self.dual = np.zeros(n)
        self.iterations = 0
        self.model = highs.new_model()
        highs.add_columns(self.model, -hinge.margin * np.ones(n), 0.0, cost / self.unit)
        highs.add_rows(self.model, hinge.target[None, :], np.arange(n), 0.0, 0.0)

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = np.compress(columns, self.values, axis=1)
        self.column_sizes = self.column_sizes[columns]
        self._leave(np.flatnonzero(~columns[self.working]))
        self.working = (np.cumsum(columns) - 1)[self.working]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with the weights ``1 / scale``; an LP is exact, whatever the tolerance."""
        del tolerance, steering  # the loop's interface; the simplex method ends at a vertex
        limits = 1.0 / scale
        coef, intercept = self.minimise(limits)
        scores = self.values @ coef + intercept
        return Round(coef, intercept, *self.certify(coef, scores, limits))

    def minimise(self, limits: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients, which are the multipliers of |K' (y beta)| <= limits, and the intercept.

        In the multiplicative variant the working constraints enter anew, divided by their new
        limits; otherwise their bounds move, unless they would move too far for the tolerances.
        """
        ratio = limits[self.working] / self.entered
        is_far = len(ratio) and not (1e-2 < ratio.min() and ratio.max() < 1e2)
        if self.multiplicative or is_far:
            working, basis = self.working, self.model.getBasis()
            self._leave(np.arange(len(working)))
            self._enter(working, limits)
            self.model.setBasis(basis)
        else:
            for row, bound in enumerate(ratio, start=1):
                self.model.changeRowBounds(row, -bound, bound)
        while self._run() and self._enter_violated(limits):
            pass
        multipliers = np.array(self.model.getSolution().row_dual)
        coef = np.zeros(len(limits))
        # HiGHS minimises -sum(margin * beta / unit), hence the signs.
        coef[self.working] = -self.unit * multipliers[1:] / self.entered
        if self.box is not None:
            coef = self.box.signs * np.clip(coef, 0.0, self.box.caps)
        # Of an interval of optimal intercepts the multiplier is an end.
        return coef, central_intercept(self.values @ coef, self.hinge)

    def _run(self) -> bool:
        """Solve with the working constraints; False if the iterations were used up."""
        is_optimal = highs.run(self.model)
        self.iterations += self.model.getInfo().simplex_iteration_count
        beta = np.array(self.model.getSolution().col_value)[: len(self.dual)]
        self.dual = np.clip(self.unit * beta, 0.0, self.hinge.cost)
        return is_optimal

    def _enter_violated(self, limits: np.ndarray) -> bool:
        """Add the most violated constraints; False if there are none."""
        excess = self._slopes(self.dual) / limits - 1.0
        excess[self.working] = 0.0
        violated = np.flatnonzero(excess > PRICE_TOLERANCE)
        if len(violated) > BATCH:
            worst = np.argpartition(-excess[violated], BATCH)[:BATCH]
            violated = np.sort(violated[worst])
        if len(violated):
            self._enter(violated, limits)
        return len(violated) > 0

    def _enter(self, terms: np.ndarray, limits: np.ndarray) -> None:
        """Add the constraints of these terms to the working set."""
        rows = self.values[:, terms].T * (self.unit * self.hinge.target)
        rows /= limits[terms, None]
        indices = np.broadcast_to(np.arange(len(self.dual)), rows.shape)
        if self.box is None:
            highs.add_rows(self.model, rows, indices, -1.0, 1.0)
        else:
            # rows @ variables - t <= 1, with a price for the elastic t >= 0.
            elastic = self.model.getNumCol() + np.arange(len(terms))
            highs.add_columns(self.model, (self.box.caps * limits)[terms] / self.unit, 0.0, np.inf)
            rows = np.column_stack([rows * self.box.signs[terms, None], -np.ones(len(terms))])
            highs.add_rows(self.model, rows, np.column_stack([indices, elastic]), -np.inf, 1.0)
        self.working = np.concatenate([self.working, terms])
        self.entered = np.concatenate([self.entered, limits[terms]])

    def _leave(self, indices: np.ndarray) -> None:
        """Delete the constraints at these indices of the working set."""
        if len(indices):
            # Row 0 is the constraint of the intercept.
            self.model.deleteRows(len(indices), (indices + 1).astype(np.int32))
            self.working = np.delete(self.working, indices)
            self.entered = np.delete(self.entered, indices)

    def _slopes(self, beta: np.ndarray) -> np.ndarray:
        """Left sides of the constraints: what a coefficient away from zero would gain."""
        slopes = (self.hinge.target * beta) @ self.values
        return np.abs(slopes) if self.box is None else self.box.signs * slopes

    def certify(
        self, coef: np.ndarray, scores: np.ndarray, limits: np.ndarray
    ) -> tuple[float, float]:
        """Hinge loss and relative duality gap, from the data and not from the solver's word."""
        loss = self.hinge.value(scores)
        primal = loss + float(limits @ np.abs(coef))
        beta = balanced(self.dual, self.hinge.target)
        slopes = self._slopes(beta)
        total = self.hinge.linear(beta)
        dual = total / float(np.max(slopes / limits, initial=1.0))
        if self.box is not None:
            broken = self.box.caps @ np.maximum(slopes - limits, 0.0)
            dual = max(dual, total - float(broken))
        return loss, _relative_gap(primal, dual)


def solve_largest_coefficient(values: np.ndarray, hinge: Hinge) -> Solution:
    """Minimise ``max|alpha| + sum(cost * hinge)``: the infinity-norm machine, one exact LP."""
    (n, m), target, cost = values.shape, hinge.target, hinge.cost
    # In units in which the largest kernel value and the largest cost are one. More than n m for
    # t is more than all rows together would pay: a higher price changes nothing.
    sizes = column_sizes(values)
    size = float(sizes.max(initial=0.0)) or 1.0
    unit = float(cost.max())
    price = n * m if n * m * size * unit <= 1.0 else 1.0 / (size * unit)
    # Variables u = alpha + t (m), t, b, slack (n); rows: hinge (n), 2t - u >= 0 (m). With alpha
    # itself, which is free, the dual simplex method takes a hundred times as long.
    model = highs.new_model()
    costs = np.concatenate([np.zeros(m), [price, 0.0], cost / unit])
    highs.add_columns(model, costs, np.where(np.arange(m + 2 + n) == m + 1, -np.inf, 0.0), np.inf)
    scaled = values * (target / size)[:, None]
    rows = np.column_stack([scaled, -scaled.sum(axis=1), target, np.ones(n)])
    indices = np.column_stack([np.tile(np.r_[0 : m + 2], (n, 1)), m + 2 + np.arange(n)])
    highs.add_rows(model, rows, indices, 1.0, np.inf)
    terms = np.column_stack([np.arange(m), np.full(m, m)])
    highs.add_rows(model, np.tile([-1.0, 2.0], (m, 1)), terms, 0.0, np.inf)
    highs.run(model)
    solution = model.getSolution()
    point = np.array(solution.col_value)
    coef = (point[:m] - point[m]) / size
    coef[np.abs(coef) * sizes < ROUNDING] = 0.0
    intercept = central_intercept(values @ coef, hinge)
    scores = values @ coef + intercept
    objective = float(np.abs(coef).max(initial=0.0)) + hinge.value(scores)
    beta = balanced(np.clip(np.array(solution.row_dual)[:n] * unit, 0.0, cost), target)
    # Dual: |K' (y beta)|_1 <= 1 and y'beta = 0.
    dual = beta.sum() / max(1.0, float(np.abs((target * beta) @ values).sum()))
    best = Solution(coef, intercept, scores, beta, objective, _relative_gap(objective, dual))
    best.record()
    return best


def _relative_gap(primal: float, dual: float) -> float:
    return (primal - dual) / primal if primal > 0 else 0.0
