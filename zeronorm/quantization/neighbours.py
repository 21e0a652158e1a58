"""Rows within a radius of each other, and the smallest radius that a number of points allows.

The radius r* of the best k points is found among the distances of the rows. Farthest-first
traversal (Gonzalez 1985) takes the row farthest from all taken so far: its first k points reach
every row within some r, and with the next one there are k + 1 rows at least r apart, two of which
have a centre in common, whatever the k centres are. So r/2 <= r* <= r, and the bisection asks the
solver for a cover at the distances in between. A cover that it finds may have a smaller radius than
was asked for, and that counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from zeronorm.blocks import row_blocks
from zeronorm.distances import finite_distances
from zeronorm.solvers.cover import Cover

#: Most pairs of rows within the radius, each an entry of the linear program, and most distances
#: that are kept to choose a radius from.
MOST_PAIRS, MOST_DISTANCES = 2 * 10**7, 10**8

#: Rows whose distances to all others are computed at once.
BLOCK_ROWS = 256

#: Finds a cover with at most so many points, or one with more.
Solve = Callable[[sparse.csr_array, int], Cover]


def neighbours(rows: np.ndarray, radius: float) -> sparse.csr_array:
    """Return a sparse matrix with a one for every pair of rows within the radius.

    Raises
    ------
    ValueError
        If there are more than :data:`MOST_PAIRS`.
    """
    parts, count = [], 0
    for block in row_blocks(len(rows), BLOCK_ROWS):
        parts.append(_ones(finite_distances(rows[block], rows) <= radius))
        count += parts[-1].nnz
        if count > MOST_PAIRS:
            raise ValueError(
                f"More than {MOST_PAIRS} pairs of the {len(rows)} distinct rows lie within the "
                f"radius of {radius:g}, too many for the memory: take a smaller radius, or fit "
                "fewer rows, for example a random sample."
            )
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _ones(is_near: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(is_near.astype(np.int8))


def smallest_radius(rows: np.ndarray, count: int, solve: Solve) -> tuple[float, Cover]:
    """Return the smallest radius found whose cover has at most ``count`` points, and the cover.

    Raises
    ------
    ValueError
        If there are more than :data:`MOST_DISTANCES` distances.
    """
    if len(rows) <= count:
        return 0.0, Cover(np.arange(len(rows)), len(rows))
    if len(rows) ** 2 > MOST_DISTANCES:
        raise ValueError(
            f"n_vectors needs all distances between the {len(rows)} distinct rows, which do not "
            f"fit in memory beyond {int(MOST_DISTANCES**0.5)} rows: give a radius, or fit fewer "
            "rows, for example a random sample."
        )
    table = finite_distances(rows, rows)
    best = Cover(_farthest_first(table, count), 1)
    radius = _radius(table, best.points)
    radii = np.unique(table[(table >= radius / 2) & (table <= radius)])
    low, high = 0, int(np.searchsorted(radii, radius))
    while low < high:
        middle = (low + high) // 2
        found = solve(_ones(table <= radii[middle]), count)
        if len(found.points) > count:
            low = middle + 1
        else:
            best, radius = found, _radius(table, found.points)
            high = int(np.searchsorted(radii, radius))
    return radius, best


def _farthest_first(table: np.ndarray, count: int) -> np.ndarray:
    # Starting in the middle: the row from which the farthest row is nearest.
    points = [int(table.max(axis=1).argmin())]
    nearest = table[points[0]].copy()
    for _ in range(1, count):
        points.append(int(nearest.argmax()))
        np.minimum(nearest, table[points[-1]], out=nearest)
    return np.unique(points)


def _radius(table: np.ndarray, points: np.ndarray) -> float:
    """Distance of the farthest row to the nearest of the points."""
    return float(table[points].min(axis=0).max())
