"""The weighted problem of SSVC_A as the reweighting loop sees it, on many rows.

The early rounds of the loop only steer the weights; on many rows they are solved on a sample, whose
costs are scaled up to those of all rows. Once few columns are left, or the round is to count, all
rows do: the certificate of the last rounds is that of the whole problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.design import Design, column_sizes
from zeronorm.solvers.gram import root
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.newton.ridge_descent import ILL_CONDITIONED
from zeronorm.solvers.reweighting.loop import Round
from zeronorm.solvers.solution import Solution

#: Steering rounds look at so many rows, where there are more than twice as many; with no more
#: columns than this, all rows are looked at anyway.
SAMPLE_ROWS, SAMPLE_LEAST_COLUMNS = 4000, 48

Map = Callable[[np.ndarray], np.ndarray]


@dataclass
class _View:
    """Some or all rows of the problem, with their last solution."""

    values: np.ndarray
    hinge: Hinge
    last: Solution | None = None


class HingeRidge:
    """The weighted problem for the reweighting loop.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    hinge : Hinge
        Targets, costs and margins.
    quadratic : ndarray of shape (m, m), optional
        Positive semidefinite Q: adds 1/2 alpha' Q alpha.
    sample : ndarray, optional
        Rows that steering rounds with many columns do with, some of either class.
    """

    def __init__(
        self,
        values: np.ndarray,
        hinge: Hinge,
        quadratic: np.ndarray | None = None,
        sample: np.ndarray | None = None,
    ) -> None:
        self.all_rows = _View(values, hinge)
        # Columns of all rows that are left; they are cut out when next needed.
        self.columns = np.arange(values.shape[1])
        self.sample: _View | None = None
        if sample is not None:
            codes = (hinge.target > 0).astype(np.intp)
            factor = (np.bincount(codes) / np.bincount(codes[sample]))[codes[sample]]
            self.sample = _View(values[sample], hinge.take(sample, factor * hinge.cost[sample]))
        self.column_sizes = column_sizes(values)
        self.quadratic = quadratic
        self.coef, self.intercept, self.is_cold = np.zeros(values.shape[1]), 0.0, True

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms."""
        self.columns, self.coef = self.columns[columns], self.coef[columns]
        self.column_sizes = self.column_sizes[columns]
        if self.sample is not None:
            self.sample.values = np.compress(columns, self.sample.values, axis=1)
        if self.quadratic is not None:
            self.quadratic = self.quadratic[np.ix_(columns, columns)]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with Lambda = diag(1 / scale), from the last solution.

        A ``steering`` round may look at a sample of the rows; its gap is infinite, because it has
        no certificate.
        """
        if not (steering and len(self.columns) > SAMPLE_LEAST_COLUMNS):
            self.sample = None  # once all rows have counted, part of them would be a step back
        view = self.all_rows if self.sample is None else self.sample
        if view is self.all_rows and len(self.columns) < view.values.shape[1]:
            view.values = np.take(view.values, self.columns, axis=1)
            self.columns = np.arange(len(self.columns))
        design, to_coef, from_coef = self._features(view.values, np.sqrt(scale))
        start = None if self.is_cold else self._start(view, from_coef(self.coef), design)
        view.last = solve_hinge_ridge(design, view.hinge, start=start, tolerance=tolerance)
        self.coef, self.intercept = to_coef(view.last.coef), view.last.intercept
        self.is_cold = False
        gap = view.last.gap if view is self.all_rows else np.inf
        return Round(self.coef, self.intercept, self._loss(view), gap)

    def _start(self, view: _View, weights: np.ndarray, design: Design) -> Solution:
        if view.last is not None:
            view.last.coef = weights
            return view.last
        # First time on these rows: the dual of the smoothed hinge at the current point.
        scores = design.apply(np.append(weights, self.intercept))
        dual = view.hinge.smoothed(1.0).dual(view.hinge.slack(scores))
        return Solution(weights, self.intercept, scores, dual, np.inf)

    def _loss(self, solved: _View) -> float:
        """Everything but the penalty, on all rows."""
        view = self.all_rows
        if solved is view and view.last is not None:
            weights = view.last.coef
            loss = view.last.objective - 0.5 * float(weights @ weights)
        else:
            padded = np.zeros(view.values.shape[1])
            padded[self.columns] = self.coef
            loss = view.hinge.value(view.values @ padded + self.intercept)
        if self.quadratic is not None:
            loss += 0.5 * float(self.coef @ self.quadratic @ self.coef)
        return loss

    def _features(self, values: np.ndarray, scale: np.ndarray) -> tuple[Design, Map, Map]:
        """Features in which the whole quadratic term is 1/2 |v|^2; v to alpha, and back."""
        if self.quadratic is None:
            return Design(values, scale), lambda v: scale * v, lambda a: a / scale
        # alpha = scale * u; the form in u is I + S Q S = L L', and v = L' u.
        factor = _factor(self.quadratic, scale)
        inverse = np.linalg.inv(factor)
        design = Design((values * scale) @ inverse.T)
        return design, lambda v: scale * (v @ inverse), lambda a: (a / scale) @ factor


def _factor(quadratic: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Triangular factor of I + S Q S, not formed where the identity would drown in it."""
    form = quadratic * scale * scale[:, None]
    if form.diagonal().max(initial=0.0) <= ILL_CONDITIONED:
        form.flat[:: len(scale) + 1] += 1.0
        return np.linalg.cholesky(form)
    stacked = np.vstack([np.eye(len(scale)), (root(quadratic) * scale[:, None]).T])
    return np.asarray(np.linalg.qr(stacked, mode="r")).T
