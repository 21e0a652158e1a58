"""The linear program of a cover, for the reweighting loop.

    min over w   sum_j lambda_j w_j,     A w >= 1,   w >= 0,

where A has a one where the point of the column covers the row. With all weights one its optimum
is a lower bound of the size of any cover, which has w_j = 0 or 1. The certificate is the dual,

    max over y   sum_i y_i,     A' y <= lambda,   y >= 0:

both solutions of HiGHS are moved into their constraints, so that the gap holds whatever HiGHS did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from zeronorm.solvers.linear_programs.highs import add_columns, add_sparse_rows, new_model, run
from zeronorm.solvers.reweighting.loop import Round

if TYPE_CHECKING:
    import highspy


class CoverLP:
    """The weighted problem on a HiGHS model that lives as long as no point is dropped.

    Parameters
    ----------
    covers : sparse matrix of shape (n, m)
        One where the point of the column covers the row; no row is empty.
    prices : ndarray of shape (m,), optional
        Factors of the weights of the first problem, whose solution is where the loop starts: others
        lead to other local optima.
    """

    def __init__(self, covers: sparse.csr_array, prices: np.ndarray | None = None) -> None:
        self.covers = covers.astype(np.float64)
        self.column_sizes = np.ones(covers.shape[1])
        self.prices = prices
        self.bound, self.reduced_costs = 0.0, np.zeros(covers.shape[1])
        self._model: highspy.Highs | None = None

    @property
    def n_columns(self) -> int:
        """Number of points that are left."""
        return int(self.covers.shape[1])

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other points."""
        self.covers = self.covers[:, np.flatnonzero(columns)]
        self.column_sizes = self.column_sizes[columns]
        self._model = None

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with the weights ``1 / scale``; the simplex method knows no rough solutions.

        ``bound`` is then what the dual solution proves: no w costs less, and none with w_j = 1 less
        than that and the reduced cost of j together.
        """
        if self.prices is not None:
            scale, self.prices = scale / self.prices, None
        cost = scale.min() / scale  # the largest is one, whatever the scale
        model = self._with_costs(cost)
        run(model)
        solution = model.getSolution()
        coef = np.maximum(np.asarray(solution.col_value), 0.0)
        coef /= min(1.0, float((self.covers @ coef).min()))
        dual = np.maximum(np.asarray(solution.row_dual), 0.0)
        dual /= max(1.0, float((self.covers.T @ dual / cost).max()))
        self.reduced_costs = (cost - self.covers.T @ dual) / scale.min()
        objective, bound = float(cost @ coef), float(dual.sum())
        self.bound = bound / scale.min()
        return Round(coef, 0.0, 0.0, max(0.0, objective - bound) / objective)

    def _with_costs(self, cost: np.ndarray) -> highspy.Highs:
        if self._model is None:
            self._model = new_model()
            add_columns(self._model, cost, 0.0, np.inf)
            add_sparse_rows(self._model, self.covers, 1.0, np.inf)
        else:
            columns = np.arange(len(cost), dtype=np.int32)
            self._model.changeColsCost(len(cost), columns, cost)
        return self._model
