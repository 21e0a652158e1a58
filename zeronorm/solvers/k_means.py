"""k-means: points that are the means of the rows nearest to them.

The starts of Arthur & Vassilvitskii (2007), each the best of a few draws, then Lloyd's rounds. It
draws, moves and ends as scikit-learn's ``KMeans(n_init=1)`` does, which on some hundred rows and a
few centres takes two to three times as long (``docs/decisions.md``).
"""

from __future__ import annotations

import numpy as np

#: Most rounds, and the squared movement of all centres to stop at, in units of the mean variance.
MAX_ROUNDS, SETTLED = 300, 1e-4


def k_means(
    rows: np.ndarray, count: int, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows by the nearest of ``count`` means; return the means' numbers and the distances.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The rows, at least ``count``, of moderate size: distances are squared.
    count : int
        How many means.
    random : RandomState
        Draws the starts.

    Returns
    -------
    labels : ndarray of shape (n,)
        Number of the mean nearest to each row; one without rows is not among them.
    distances : ndarray of shape (n,)
        Squared distance of each row from that mean.
    """
    rows = rows - rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", rows, rows)
    centres = rows[_far_apart(rows, squares, count, random)]
    enough = SETTLED * float(squares.mean()) / rows.shape[1]
    labels = _nearest(rows, centres)
    for _ in range(MAX_ROUNDS):
        moved = _means(rows, labels, centres)
        shift, centres = moved - centres, moved
        before, labels = labels, _nearest(rows, centres)
        if np.vdot(shift, shift) <= enough or (labels == before).all():
            break
    apart = rows - centres[labels]
    return labels, np.einsum("ij,ij->i", apart, apart)


def _far_apart(
    rows: np.ndarray, squares: np.ndarray, count: int, random: np.random.RandomState
) -> list[int]:
    """Draw rows one after the other, by their squared distances from those drawn before.

    Of a few draws, the one that leaves the least sum of these distances.
    """
    n_draws = 2 + int(np.log(count))
    drawn = [int(random.random_sample() * len(rows))]
    nearest = _squared_distances(rows, squares, drawn)[0]
    for _ in range(1, count):
        sums = nearest.cumsum()
        tried = sums.searchsorted(random.random_sample(n_draws) * sums[-1])
        tried = np.minimum(tried, len(rows) - 1)
        distances = np.minimum(nearest, _squared_distances(rows, squares, tried))
        best = int(distances.sum(axis=1).argmin())
        nearest = distances[best]
        drawn.append(int(tried[best]))
    return drawn


def _squared_distances(rows: np.ndarray, squares: np.ndarray, some: list[int]) -> np.ndarray:
    """Squared distances of some rows (lines) from all, by inner products."""
    distances = (-2.0 * rows[some]) @ rows.T
    distances += squares
    distances += squares[some][:, None]
    return np.maximum(distances, 0.0, out=distances)


def _nearest(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the number of the centre nearest to each row."""
    distances = rows @ (-2.0 * centres.T)
    distances += np.einsum("ij,ij->i", centres, centres)
    return distances.argmin(axis=1)


def _means(rows: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Mean of the rows of each centre; one that has none goes to a row that is far from its own."""
    sums = (labels == np.arange(len(centres))[:, None]).astype(float) @ rows
    sizes = np.bincount(labels, minlength=len(centres)).astype(float)
    if not sizes.all():
        empty = np.flatnonzero(sizes == 0)
        apart = rows - centres[labels]
        far = np.argsort(-np.einsum("ij,ij->i", apart, apart), kind="stable")[: len(empty)]
        np.subtract.at(sums, labels[far], rows[far])
        np.subtract.at(sizes, labels[far], 1.0)
        sums[empty], sizes[empty] = rows[far], 1.0
        sizes = np.maximum(sizes, 1.0)
    sums /= sizes[:, None]
    return sums
