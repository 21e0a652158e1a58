"""The hinge linear programs, on persistent HiGHS models.

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
"""

from __future__ import annotations

import highspy
import numpy as np

from zeronorm.solvers.reweighting import Round

#: Constraints added at once, at the start and later.
BATCH = 32

#: A constraint counts as violated beyond this share of its bound.
PRICE_TOLERANCE = 1e-9


class LinearProgramError(RuntimeError):
    """HiGHS did not find the optimum of a problem that has one."""


class HingeLP:
    """The weighted problem for the reweighting loop, with one or several outputs.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1 of each output.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    multiplicative : bool
        False: weights on the coefficients (B). True: unit weights, columns rescaled (W).
    """

    def __init__(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        cost: np.ndarray,
        multiplicative: bool = False,
    ) -> None:
        self.values = values
        self.multiplicative = multiplicative
        self.programs = [_DualProgram(target, cost) for target in targets.T]

    @property
    def n_columns(self) -> int:
        """Number of terms that are left."""
        return self.values.shape[1]

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.values = np.ascontiguousarray(self.values[:, columns])
        for program in self.programs:
            program.keep(columns)

    def solve(self, scale: np.ndarray, tolerance: float) -> Round:
        """Solve with the weights ``1 / scale``; an LP is exact, whatever the tolerance."""
        del tolerance  # the loop's interface; the simplex method ends at a vertex
        if self.multiplicative:
            factor, bounds = scale, np.ones(len(scale))
        else:
            factor, bounds = np.ones(len(scale)), 1.0 / scale
        coef = np.empty((self.n_columns, len(self.programs)))
        intercept = np.empty(len(self.programs))
        loss, gap = 0.0, 0.0
        for k, program in enumerate(self.programs):
            w, intercept[k] = program.solve(self.values, factor, bounds)
            coef[:, k] = factor * w
            loss_k, gap_k = program.certify(self.values, coef[:, k], intercept[k], factor, bounds)
            loss, gap = loss + loss_k, max(gap, gap_k)
        return Round(coef, intercept, loss, gap)


class _DualProgram:
    """One persistent model: a variable per row of the data, a constraint per working term."""

    def __init__(self, target: np.ndarray, cost: np.ndarray) -> None:
        self.target, self.cost = target, cost
        n = len(target)
        self.columns = np.arange(n, dtype=np.int32)
        self.working = np.empty(0, dtype=np.intp)
        self.factor: np.ndarray | None = None
        self.beta = np.zeros(n)
        self.model = new_model()
        nothing = np.empty(0, dtype=np.int32)
        self.model.addCols(
            n, -np.ones(n), np.zeros(n), cost.astype(float), 0, nothing, nothing, np.empty(0)
        )
        self._add_rows(target[None, :], np.zeros(1))

    def _add_rows(self, rows: np.ndarray, bounds: np.ndarray) -> None:
        count, n = rows.shape
        starts = np.arange(0, count * n, n, dtype=np.int32)
        indices = np.tile(self.columns, count)
        self.model.addRows(count, -bounds, bounds, rows.size, starts, indices, rows.ravel())

    def _delete_rows(self, working: np.ndarray) -> None:
        """Delete the constraints at these places of the working set."""
        if len(working):
            # Row 0 is the constraint of the intercept.
            self.model.deleteRows(len(working), (working + 1).astype(np.int32))
            self.working = np.delete(self.working, working)

    def keep(self, columns: np.ndarray) -> None:
        self._delete_rows(np.flatnonzero(~columns[self.working]))
        self.working = (np.cumsum(columns) - 1)[self.working]
        if self.factor is not None:
            self.factor = self.factor[columns]

    def solve(
        self, values: np.ndarray, factor: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Multipliers of the constraints on ``values * factor``, and the intercept."""
        self._update(values, factor, bounds)
        self._run()
        while self._enter_violated(values, factor, bounds):
            self._run()
        multipliers = np.array(self.model.getSolution().row_dual)
        w = np.zeros(len(bounds))
        # HiGHS minimises -sum(beta), hence the signs.
        w[self.working] = -multipliers[1:]
        return w, -float(multipliers[0])

    def _update(self, values: np.ndarray, factor: np.ndarray, bounds: np.ndarray) -> None:
        """Bring the working constraints to the new factors and bounds."""
        if self.factor is not None and not np.array_equal(self.factor, factor):
            # The matrix itself changes (variant W): enter the same constraints anew.
            working = self.working
            basis = self.model.getBasis()
            self._delete_rows(np.arange(len(working)))
            self._enter(values, factor, bounds, working)
            self.model.setBasis(basis)
        else:
            for place, j in enumerate(self.working):
                self.model.changeRowBounds(place + 1, -bounds[j], bounds[j])
        self.factor = factor

    def _run(self) -> None:
        run(self.model)
        self.beta = np.clip(np.array(self.model.getSolution().col_value), 0.0, self.cost)

    def _enter(
        self, values: np.ndarray, factor: np.ndarray, bounds: np.ndarray, terms: np.ndarray
    ) -> None:
        rows = (values[:, terms] * factor[terms]).T * self.target
        self._add_rows(np.ascontiguousarray(rows), bounds[terms])
        self.working = np.concatenate([self.working, terms])

    def _enter_violated(self, values: np.ndarray, factor: np.ndarray, bounds: np.ndarray) -> int:
        """Add the most violated constraints; return how many."""
        excess = np.abs((self.target * self.beta) @ values) * factor / bounds - 1.0
        excess[self.working] = 0.0
        violated = np.flatnonzero(excess > PRICE_TOLERANCE)
        if len(violated) > BATCH:
            worst = np.argpartition(-excess[violated], BATCH)[:BATCH]
            violated = np.sort(violated[worst])
        if len(violated):
            self._enter(values, factor, bounds, violated)
        return len(violated)

    def certify(
        self,
        values: np.ndarray,
        coef: np.ndarray,
        intercept: float,
        factor: np.ndarray,
        bounds: np.ndarray,
    ) -> tuple[float, float]:
        """Hinge loss and relative duality gap, from the data and not from the solver's word."""
        slack = np.maximum(1.0 - self.target * (values @ coef + intercept), 0.0)
        loss = float(self.cost @ slack)
        primal = loss + float(np.sum(bounds * np.abs(coef) / factor))
        excess = np.max(np.abs((self.target * self.beta) @ values) * factor / bounds, initial=1.0)
        imbalance = abs(float(self.target @ self.beta)) * abs(intercept)
        dual = float(self.beta.sum()) / max(excess, 1.0) - imbalance
        return loss, (primal - dual) / primal if primal > 0 else 0.0


def new_model() -> highspy.Highs:
    """Return a silent, single-threaded HiGHS model with tight tolerances."""
    model = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "simplex"),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
    ):
        model.setOptionValue(name, value)
    return model


def run(model: highspy.Highs) -> None:
    """Solve from the current basis, then cold if that fails, then give up with a clear error."""
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        model.clearSolver()
        model.run()
    status = model.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise LinearProgramError(
            f"HiGHS ended with status {model.modelStatusToString(status)!r}, also from a cold "
            "start. The data are probably badly scaled: standardise the features."
        )


def solve_largest_coefficient(
    values: np.ndarray, target: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray, float, float, float]:
    """Minimise ``max|alpha| + sum(cost * hinge)``: the infinity-norm machine, one exact LP.

    Returns
    -------
    coef, intercept, objective, gap
    """
    n, m = values.shape
    # Variables alpha (m), b, t, slack (n); rows: hinge (n), t - alpha >= 0 (m), t + alpha >= 0 (m).
    infinite = highspy.kHighsInf
    model = new_model()
    count = m + 2 + n
    lower = np.concatenate([np.full(m + 1, -infinite), np.zeros(1 + n)])
    costs = np.concatenate([np.zeros(m + 1), [1.0], cost])
    nothing = np.empty(0, dtype=np.int32)
    model.addCols(count, costs, lower, np.full(count, infinite), 0, nothing, nothing, np.empty(0))
    hinge = np.column_stack([values * target[:, None], target, np.ones(n)])
    indices = np.column_stack([np.tile(np.r_[0 : m + 1], (n, 1)), m + 2 + np.arange(n)])
    _add(model, hinge, indices, 1.0)
    terms = np.column_stack([np.arange(m), np.full(m, m + 1)])
    for sign in (-1.0, 1.0):
        _add(model, np.column_stack([np.full(m, sign), np.ones(m)]), terms, 0.0)
    run(model)
    solution = model.getSolution()
    point = np.array(solution.col_value)
    coef, intercept = point[:m], float(point[m])
    slack = np.maximum(1.0 - target * (values @ coef + intercept), 0.0)
    objective = float(np.abs(coef).max(initial=0.0) + cost @ slack)
    beta = np.clip(np.array(solution.row_dual)[:n], 0.0, cost)
    # Dual: |K' (y beta)|_1 <= 1 and y'beta = 0.
    excess = max(1.0, float(np.abs((target * beta) @ values).sum()))
    dual = beta.sum() / excess - abs(float(target @ beta) * intercept)
    return coef, intercept, objective, (objective - dual) / objective if objective > 0 else 0.0


def _add(model: highspy.Highs, rows: np.ndarray, indices: np.ndarray, lower: float) -> None:
    count, width = rows.shape
    starts = np.arange(0, count * width, width, dtype=np.int32)
    model.addRows(
        count,
        np.full(count, lower),
        np.full(count, highspy.kHighsInf),
        rows.size,
        starts,
        np.ascontiguousarray(indices, dtype=np.int32).ravel(),
        np.ascontiguousarray(rows).ravel(),
    )
