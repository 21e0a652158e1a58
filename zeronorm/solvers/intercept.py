"""The intercept, which has no penalty: its best value, what it asks of duals, doing without it."""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.losses import Hinge


def balanced(beta: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Scale the heavier class of dual variables down, so that ``target @ beta`` is zero."""
    excess = float(target @ beta)
    if excess == 0:
        return beta
    heavy = np.where(target == np.sign(excess), beta, 0.0)
    return beta - (abs(excess) / heavy.sum()) * heavy


def without_intercept(values: np.ndarray, hinge: Hinge) -> tuple[np.ndarray, Hinge]:
    """Return a problem whose best intercept is zero, and which is the same otherwise.

    Two rows are added that no term reaches, one of each class, and that ask for no margin. Their
    hinges are b and -b, where positive, at a cost that no gain of the other rows outweighs. So
    every solver keeps its intercept, its certificate and its dual.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows with the candidate vectors.
    hinge : Hinge
        Targets, costs and margins.
    """
    far = np.zeros((2, values.shape[1]))
    total = np.full(2, hinge.cost.sum())
    margin = np.broadcast_to(hinge.margin, hinge.target.shape)
    return np.vstack([values, far]), Hinge(
        np.append(hinge.target, [1.0, -1.0]),
        np.append(hinge.cost, total),
        np.append(margin, [0, 0]),
    )


def central_intercept(values: np.ndarray, hinge: Hinge, width: float = 0.0) -> float:
    """Return the middle of the intercepts with the least hinge loss, the terms being given.

    The slope of the loss by b grows by ``cost`` at each row's corner: from minus the cost of the
    positive rows to the cost of the negative ones. It may be zero over a whole interval, as with
    classes of equal cost and a small C; the middle is then the fair choice.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Decision values without the intercept.
    hinge : Hinge
        Targets, costs and margins.
    width : float
        Width over which the hinge is rounded off, from the corner inwards.
    """
    if width > 0:
        return _rounded_intercept(values, hinge, width)
    target, cost = hinge.target, hinge.cost
    corners = target * hinge.margin
    corners -= values
    if (cost == cost[0]).all():
        # As many corners below it as there are positive rows: the others need no order.
        below = int(np.count_nonzero(target > 0))
        ends = [max(0, below - 1), min(below, len(target) - 1)]
        corners.partition(ends)
        return float(corners[ends].sum()) / 2.0
    order = np.argsort(corners, kind="stable")
    slopes = cost[order].cumsum() - float(cost @ (target > 0))
    rounding = 1e-12 * float(cost.sum())
    first = int(slopes.searchsorted(-rounding))
    # Beyond a corner the slope is what it became there, up to the next one.
    last = min(int(slopes.searchsorted(rounding, side="right")), len(order) - 1)
    return float(corners[order[[first, last]]].sum()) / 2.0


def _rounded_intercept(values: np.ndarray, hinge: Hinge, width: float) -> float:
    """Return the middle of the best intercepts of a hinge that is rounded off over a width."""
    target, cost = hinge.target, hinge.cost
    starts = hinge.scores(np.where(target > 0, width, 0.0)) - values
    corners = np.concatenate([starts, starts + width])
    rates = np.concatenate([cost, -cost]) / width
    order = np.argsort(corners, kind="stable")
    corners = corners[order]
    rising = np.cumsum(rates[order])[:-1] * np.diff(corners)
    slopes = np.concatenate([[0.0], np.cumsum(rising)]) - float(cost @ (target > 0))
    rounding = 1e-12 * float(cost.sum())
    first = int(np.searchsorted(slopes, -rounding))
    last = int(np.searchsorted(slopes, rounding, side="right"))
    if first < last:
        return float(corners[first] + corners[last - 1]) / 2.0
    before = corners[last - 1]
    share = -slopes[last - 1] / (slopes[first] - slopes[last - 1])
    return float(before + share * (corners[first] - before))
