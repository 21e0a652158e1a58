"""Drawing rows so that every class is there."""

from __future__ import annotations

import numpy as np


def stratified_rows(
    codes: np.ndarray, count: int, random: np.random.RandomState, *, least: int = 1
) -> np.ndarray:
    """Draw ``count`` rows, from each class in proportion, but ``least`` of it where it has them.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class numbers 0, 1, ..., each of them present.
    count : int
        How many rows; fewer than ``least`` of every class are not drawn, even beyond the count.
    random : RandomState
        Source of the draw.
    least : int
        Smallest number of rows of a class.

    Returns
    -------
    ndarray
        Sorted indices.
    """
    sizes = np.bincount(codes)
    floors = np.minimum(least, sizes)
    exact = count * sizes / sizes.sum()
    shares = np.clip(np.floor(exact).astype(int), floors, sizes)
    while shares.sum() < min(count, len(codes)):
        shares[np.argmax(np.where(shares < sizes, exact - shares, -np.inf))] += 1
    while shares.sum() > max(count, floors.sum()):
        shares[np.argmax(np.where(shares > floors, shares, -1))] -= 1
    chosen = [
        random.choice(np.flatnonzero(codes == label), size=share, replace=False)
        for label, share in enumerate(shares)
    ]
    return np.sort(np.concatenate(chosen))


def deal_rows(codes: np.ndarray, n_blocks: int, random: np.random.RandomState) -> list[np.ndarray]:
    """Split all rows into blocks of nearly equal size, each class spread over them evenly.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class numbers.
    n_blocks : int
        How many blocks.
    random : RandomState
        Shuffles the rows of a class.

    Returns
    -------
    list of ndarray
        Sorted indices of each block.
    """
    shuffled = random.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return [np.sort(by_class[start::n_blocks]) for start in range(n_blocks)]


def resampled_rows(codes: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Draw a bootstrap resample: as many rows as there are, of each class its own number.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class numbers 0, 1, ..., each of them present.
    random : RandomState
        Source of the draw.

    Returns
    -------
    ndarray
        Sorted indices, some of them repeated.
    """
    classes = (np.flatnonzero(codes == label) for label in range(codes.max() + 1))
    return np.sort(np.concatenate([random.choice(rows, size=len(rows)) for rows in classes]))
