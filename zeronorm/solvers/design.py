"""What a solver asks of all rows of the data.

Every quantity of the smooth solver that needs all n rows is a product with the kernel matrix, or
a sum over its row blocks, written in :class:`ScaledRows`: rows that live elsewhere would need
that class. The linear programs hold all rows themselves.
"""

from __future__ import annotations

import numpy as np

#: Rows per block of the weighted sums of outer products.
GRAM_ROWS = 8192


def column_sizes(values: np.ndarray) -> np.ndarray:
    """Largest absolute value of each column."""
    return np.maximum(values.max(axis=0), -values.min(axis=0))


def per_output(cost: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Costs of shape (n, n_outputs), of costs that have it or are the same for all outputs."""
    return np.broadcast_to(cost if cost.ndim == 2 else cost[:, None], targets.shape)


def balanced(beta: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Scale the heavier class of dual variables down, so that ``target @ beta`` is zero."""
    excess = float(target @ beta)
    if excess == 0:
        return beta
    heavy = np.where(target == np.sign(excess), beta, 0.0)
    return beta - (abs(excess) / heavy.sum()) * heavy


def central_intercept(
    values: np.ndarray, target: np.ndarray, cost: np.ndarray, width: float = 0.0
) -> float:
    """Return the middle of the intercepts with the least hinge loss, the terms being given.

    The slope of the loss by b grows by ``cost`` at each row's corner: from minus the cost of the
    positive rows to the cost of the negative ones. It may be zero over a whole interval, as with
    classes of equal cost and a small C; the middle is then the fair choice.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Decision values without the intercept.
    target : ndarray of shape (n,)
        Labels -1 and +1.
    cost : ndarray of shape (n,)
        Positive cost of each row's hinge.
    width : float
        Width over which the hinge is rounded off, from the corner inwards.
    """
    starts = np.where(target > 0, 1.0 - width, -1.0) - values
    if width == 0:
        order = np.argsort(starts, kind="stable")
        corners, slopes = starts[order], np.cumsum(cost[order])
    else:
        corners = np.concatenate([starts, starts + width])
        rates = np.concatenate([cost, -cost]) / width
        order = np.argsort(corners, kind="stable")
        corners = corners[order]
        rising = np.cumsum(rates[order])[:-1] * np.diff(corners)
        slopes = np.concatenate([[0.0], np.cumsum(rising)])
    slopes = slopes - float(cost[target > 0].sum())
    rounding = 1e-12 * float(cost.sum())
    first = int(np.searchsorted(slopes, -rounding))
    last = int(np.searchsorted(slopes, rounding, side="right"))
    if width == 0:
        # Beyond a corner the slope is what it became there, up to the next one.
        return float(corners[first] + corners[min(last, len(corners) - 1)]) / 2.0
    if first < last:
        return float(corners[first] + corners[last - 1]) / 2.0
    before = corners[last - 1]
    share = -slopes[last - 1] / (slopes[first] - slopes[last - 1])
    return float(before + share * (corners[first] - before))


class ScaledRows:
    """The matrix ``values * scale``: kernel values, one column per term, columns scaled.

    The scaled matrix itself is never formed.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Kernel values.
    scale : ndarray of shape (n_columns,)
        Factor of each column.
    """

    def __init__(self, values: np.ndarray, scale: np.ndarray) -> None:
        self.values = values
        self.scale = scale

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    def apply(self, weights: np.ndarray) -> np.ndarray:
        """Product with a vector of column weights."""
        return self.values @ (self.scale * weights)

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        """Product of the transpose with a vector over the rows, or with several (one a line)."""
        return self.scale * (rows @ self.values)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the scaled matrix of a few rows."""
        return self.values[rows] * self.scale

    def gram(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted sums over the given rows of the outer products and of the rows themselves."""
        m = self.shape[1]
        gram = np.zeros((m, m))
        total = np.zeros(m)
        roots = np.sqrt(weights)
        for start in range(0, len(rows), GRAM_ROWS):
            part = slice(start, start + GRAM_ROWS)
            block = self.values[rows[part]]
            block *= roots[part, None]
            gram += block.T @ block
            total += roots[part] @ block
        gram *= self.scale
        gram *= self.scale[:, None]
        return gram, self.scale * total
