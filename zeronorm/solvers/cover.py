"""Few points that cover all rows.

The fewest are a problem of integers,

    min |w|_0,     A w >= 1,   w >= 0        (Weston, Elisseeff & Schölkopf 2001),

where A has a one where the point of the column covers the row. It is approached as everywhere here:
|w|_0 by sum_j log w_j, and that by repeated weighted linear programs (``reweighting/loop.py``),

    min over w   sum_j lambda_j w_j,     A w >= 1,   w >= 0.

What is left of w is a cover; points are dropped whose rows are all covered by others. The greedy
cover (Chvátal 1979) is the alternative: the smaller of the two is taken. The first linear program,
all weights being one, bounds the size of every cover from below, and where it meets the size found,
that is the minimum. The certificate of a program is its dual,

    max over y   sum_i y_i,     A' y <= lambda,   y >= 0:

both solutions of HiGHS are moved into their constraints, so that the gap holds whatever HiGHS did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from zeronorm.solvers.linear_programs import highs
from zeronorm.solvers.reweighting.loop import Penalty, Round, reweight

if TYPE_CHECKING:
    import highspy

#: A bound of the size of a cover this much above an integer may be that integer and rounding.
ROUNDING = 1e-6

#: Range of the weights with which a further start begins.
PRICES = 0.8, 1.2


@dataclass
class Cover:
    """Points that cover all rows; no cover has fewer than ``bound``; rounds of reweighting."""

    points: np.ndarray
    bound: int
    rounds: int = 0


def small_cover(
    covers: sparse.csr_array,
    n_init: int,
    max_rounds: int,
    random: np.random.RandomState,
    enough: int = 1,
) -> Cover:
    """Cover all rows with few points, never more than the greedy cover has.

    Parameters
    ----------
    covers : sparse matrix of shape (n, n)
        One where a point (column) covers a row: symmetric, with ones on the diagonal.
    n_init : int
        Most starts of the reweighting, the first with equal weights; none is made once the cover is
        known to be the smallest.
    max_rounds : int
        Most rounds of reweighting of each start.
    random : RandomState
        Draws the weights with which the later starts begin.
    enough : int
        The search also ends where a cover has no more points than this, or cannot have so few.
    """
    best = Cover(greedy_cover(covers), 1)
    if len(best.points) <= enough:
        return best
    relaxed = CoverLP(covers)
    relaxed.solve(np.ones(covers.shape[1]), 0.0)
    best.bound = math.ceil(relaxed.bound - ROUNDING)
    if best.bound > enough > 1:
        return best
    for start in range(n_init):
        if len(best.points) <= max(enough, best.bound):
            break
        # Points that a cover as small as is wanted can have, by their reduced costs.
        most = len(best.points) - 1 if enough == 1 else enough
        columns = np.flatnonzero(relaxed.bound + relaxed.reduced_costs <= most + ROUNDING)
        some = covers[:, columns]
        if np.diff(some.indptr).min() == 0:
            best.bound = most + 1
            break
        prices = random.uniform(*PRICES, size=len(columns)) if start > 0 else None
        result = reweight(CoverLP(some, prices), Penalty(0.0, 1), max_rounds=max_rounds)
        best.rounds += result.rounds
        points = columns[result.terms[np.argsort(-result.coef, kind="stable")]]
        points = without_redundant(covers, points)
        if len(points) < len(best.points):
            best.points = points
    return best


def greedy_cover(covers: sparse.csr_array) -> np.ndarray:
    """Take the point that covers most of what is not covered yet, until all is."""
    is_open = np.ones(covers.shape[0], dtype=bool)
    gains = np.diff(covers.indptr).astype(np.int64)
    points = []
    while is_open.any():
        points.append(int(gains.argmax()))
        new = _neighbours(covers, points[-1])
        new = new[is_open[new]]
        is_open[new] = False
        gains -= np.bincount(covers[new].indices, minlength=len(gains))
    return without_redundant(covers, np.array(points))


def without_redundant(covers: sparse.csr_array, points: np.ndarray) -> np.ndarray:
    """Drop points whose rows the others cover, beginning with the last; return the rest, sorted."""
    times = np.zeros(covers.shape[0], dtype=np.intp)
    for point in points:
        times[_neighbours(covers, point)] += 1
    kept = []
    for point in points[::-1]:
        rows = _neighbours(covers, point)
        if times[rows].min() > 1:
            times[rows] -= 1
        else:
            kept.append(int(point))
    return np.sort(kept)


def _neighbours(covers: sparse.csr_array, point: int) -> np.ndarray:
    """Rows that a point covers: the matrix is symmetric."""
    return covers.indices[covers.indptr[point] : covers.indptr[point + 1]]


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
        highs.run(model)
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
            self._model = highs.new_model()
            highs.add_columns(self._model, cost, 0.0, np.inf)
            highs.add_sparse_rows(self._model, self.covers, 1.0, np.inf)
        else:
            columns = np.arange(len(cost), dtype=np.int32)
            self._model.changeColsCost(len(cost), columns, cost)
        return self._model
