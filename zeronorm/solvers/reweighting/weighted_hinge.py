"""The weighted problem of SSVC_A as the reweighting loop sees it: several outputs, many rows.

All outputs share the features Phi = K diag(s) of one round. The early rounds of the loop only
steer the weights; on many rows they are solved on a sample, whose costs are scaled up to stand
for all rows.
Once few columns are left, or the round is to count, all rows do: the certificate of the last
rounds is that of the whole problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from zeronorm.base.sampling import stratified_rows
from zeronorm.solvers.design import ScaledRows, column_sizes, per_output
from zeronorm.solvers.newton.hinge_ridge import (
    ILL_CONDITIONED,
    HingeRidgeSolution,
    Start,
    solve_hinge_ridge,
)
from zeronorm.solvers.reweighting.loop import Round

#: Rough rounds with many columns look at so many rows, at least this many of each class.
SAMPLE_ROWS, SAMPLE_PER_CLASS = 4000, 400

#: No more columns than this, and all rows are looked at anyway.
SAMPLE_LEAST_COLUMNS = 48

Map = Callable[[np.ndarray], np.ndarray]


@dataclass
class _View:
    """Some or all rows of the problem, with the last solution of each output.

    ``columns`` are the columns of ``values`` that are left; they are cut out when next needed.
    """

    values: np.ndarray
    targets: np.ndarray
    cost: np.ndarray
    columns: np.ndarray
    last: dict[int, HingeRidgeSolution] = field(default_factory=dict)

    def compact(self) -> np.ndarray:
        """Cut the columns out, and return them."""
        if len(self.columns) < self.values.shape[1]:
            self.values = np.take(self.values, self.columns, axis=1)
            self.columns = np.arange(len(self.columns))
        return self.values

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """Product with the coefficients, without cutting."""
        padded = np.zeros(self.values.shape[1])
        padded[self.columns] = coef
        return self.values @ padded


class HingeRidge:
    """The weighted problem for the reweighting loop, with one or several outputs.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    targets : ndarray of shape (n, n_outputs)
        Labels -1 and +1 of each output.
    cost : ndarray of shape (n,) or (n, n_outputs)
        Positive cost of each row's hinge.
    quadratic : ndarray of shape (m, m), optional
        Positive semidefinite Q: adds 1/2 alpha' Q alpha, for each output.
    """

    def __init__(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        cost: np.ndarray,
        quadratic: np.ndarray | None = None,
    ) -> None:
        columns, cost = np.arange(values.shape[1]), per_output(cost, targets)
        self.all_rows = _View(values, targets, cost, columns)
        self.sample: _View | None = None
        if len(values) > 2 * SAMPLE_ROWS:
            rows, factor = sample_rows(targets, SAMPLE_ROWS, SAMPLE_PER_CLASS)
            self.sample = _View(values[rows], targets[rows], factor[:, None] * cost[rows], columns)
        self.column_sizes = column_sizes(values)
        self.quadratic = quadratic
        self.coef = np.zeros((values.shape[1], targets.shape[1]))
        self.intercept = np.zeros(targets.shape[1])
        self.is_cold = True

    @property
    def n_columns(self) -> int:
        """Number of terms that are left."""
        return len(self.all_rows.columns)

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        for view in (self.all_rows, self.sample):
            if view is not None:
                view.columns = view.columns[columns]
        self.coef = self.coef[columns]
        self.column_sizes = self.column_sizes[columns]
        if self.quadratic is not None:
            self.quadratic = self.quadratic[np.ix_(columns, columns)]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with Lambda = diag(1 / scale), each output warm started from its last solution.

        A ``steering`` round may look at a sample of the rows; its gap is infinite, because it has
        no certificate.
        """
        view = self.all_rows
        if self.sample is not None and steering and self.n_columns > SAMPLE_LEAST_COLUMNS:
            view = self.sample
        else:
            self.sample = None  # once all rows have counted, part of them would be a step back
        rows, to_coef, from_coef = self._features(view.compact(), np.sqrt(scale))
        coef = np.empty_like(self.coef)
        for k, target in enumerate(view.targets.T):
            start = None if self.is_cold else self._start(view, k, from_coef(self.coef[:, k]), rows)
            solution = solve_hinge_ridge(
                rows, target, view.cost[:, k], start=start, tolerance=tolerance
            )
            view.last[k] = solution
            coef[:, k] = to_coef(solution.weights)
            self.intercept[k] = solution.intercept
        self.coef, self.is_cold = coef, False
        gap = max(solution.gap for solution in view.last.values())
        if view is self.sample:
            gap = np.inf
        return Round(coef, self.intercept.copy(), self._loss(view), gap)

    def _start(self, view: _View, k: int, weights: np.ndarray, rows: ScaledRows) -> Start:
        if k in view.last:
            return Start(view.last[k].dual, view.last[k].intercept, weights)
        # First time on these rows: the dual of the smoothed hinge at the current point.
        slack = 1.0 - view.targets[:, k] * (rows.apply(weights) + self.intercept[k])
        dual = view.cost[:, k] * np.clip(slack, 0.0, 1.0)
        return Start(dual, float(self.intercept[k]), weights)

    def _loss(self, solved: _View) -> float:
        """Everything but the penalty, on all rows."""
        view = self.all_rows
        loss = 0.0
        for k, target in enumerate(view.targets.T):
            if solved is view:
                scores = view.last[k].scores
            else:
                scores = view.scores(self.coef[:, k]) + self.intercept[k]
            loss += float(view.cost[:, k] @ np.maximum(1.0 - target * scores, 0.0))
        if self.quadratic is not None:
            loss += 0.5 * float(np.sum(self.coef * (self.quadratic @ self.coef)))
        return loss

    def _features(self, values: np.ndarray, scale: np.ndarray) -> tuple[ScaledRows, Map, Map]:
        """Features in which the whole quadratic term is 1/2 |v|^2; v to alpha, and back."""
        if self.quadratic is None:
            return ScaledRows(values, scale), lambda v: scale * v, lambda a: a / scale
        # alpha = scale * u; the form in u is I + S Q S = L L', and v = L' u.
        factor = _factor(self.quadratic, scale)
        inverse = np.linalg.inv(factor)
        rows = ScaledRows((values * scale) @ inverse.T, np.ones(len(scale)))
        return rows, lambda v: scale * (v @ inverse), lambda a: (a / scale) @ factor


def _factor(quadratic: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Triangular factor of I + S Q S, not formed where the identity would drown in it."""
    form = quadratic * scale * scale[:, None]
    if form.diagonal().max(initial=0.0) <= ILL_CONDITIONED:
        form.flat[:: len(scale) + 1] += 1.0
        return np.linalg.cholesky(form)
    values, vectors = np.linalg.eigh(quadratic)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    stacked = np.vstack([np.eye(len(scale)), (root * scale[:, None]).T])
    return np.asarray(np.linalg.qr(stacked, mode="r")).T


def sample_rows(targets: np.ndarray, size: int, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw about ``size`` rows, classes in proportion but never fewer than ``per_class`` of one.

    Returns
    -------
    rows, factor
        Sorted indices, and how many rows of its class each one stands for. The draw is the same
        for the same labels.
    """
    several = targets.shape[1] > 1
    labels = targets.argmax(axis=1) if several else (targets[:, 0] > 0).astype(np.intp)
    _, codes = np.unique(labels, return_inverse=True)
    rows = stratified_rows(codes, size, np.random.RandomState(0), least=per_class)
    factor = np.bincount(codes) / np.bincount(codes[rows])
    return rows, factor[codes[rows]]
