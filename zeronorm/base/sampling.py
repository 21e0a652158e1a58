"""Drawing rows so that every class is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from zeronorm.solvers.k_means import k_means

#: Rows from which on a few of them are drawn without a shuffle of all.
MANY_ROWS = 100_000

#: Up to this share of them numbers are drawn until they are different.
FEW_OF_MANY = 0.1

#: Squared distances that differ by less, relatively, are equal.
TIED = 1e-9


def other_rows(n_rows: int, indices: np.ndarray) -> np.ndarray:
    """Return the rows that are not among these; sorted."""
    is_left = np.ones(n_rows, dtype=bool)
    is_left[indices] = False
    return np.flatnonzero(is_left)


def renumbered(codes: np.ndarray) -> np.ndarray:
    """Return codes without gaps: 0, 1, ... in the same order, each of them present."""
    is_present = np.bincount(codes) > 0
    return (np.cumsum(is_present) - 1)[codes]


def is_repeated(rows: np.ndarray) -> np.ndarray:
    """Which rows may not be the only ones of their kind: the first two numbers occur again."""
    order = np.lexsort(rows.T[1::-1])
    ordered, repeated = rows[order, :2], np.zeros(len(rows), dtype=bool)
    is_next = (ordered[1:] == ordered[:-1]).all(axis=1)
    repeated[order[1:][is_next]] = True
    repeated[order[:-1][is_next]] = True
    return repeated


def fair_share(count: int, n_classes: int) -> int:
    """Half of what each class would have of ``count`` rows if all had the same: a floor for them.

    In proportion alone, a class of 2 % has two of a hundred landmarks, and is not described.
    """
    return count // (2 * n_classes)


def stratified_rows(
    codes: np.ndarray, count: int, random: np.random.RandomState, *, least: int | None = None
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
    least : int, optional
        Smallest number of rows of a class; by default its fair share, and at least one.

    Returns
    -------
    ndarray
        Sorted indices.
    """
    shares = class_shares(np.bincount(codes), count, least)
    chosen = [
        _drawn(np.flatnonzero(codes == label), share, random) for label, share in enumerate(shares)
    ]
    return np.sort(np.concatenate(chosen))


class StratifiedDraw:
    """Draws rows of every class again and again; see :func:`stratified_rows`.

    Of many rows it draws from a part, in which every class has its fair share: to look for a class
    among all of them takes long.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class numbers 0, 1, ..., each of them present.
    random : RandomState
        Source of the draws.
    """

    def __init__(self, codes: np.ndarray, random: np.random.RandomState) -> None:
        self.rows, self.codes, self.random = np.arange(len(codes)), codes, random
        if len(codes) > MANY_ROWS:
            self.rows = stratified_rows(codes, MANY_ROWS, random)
            self.codes = codes[self.rows]

    def __call__(self, count: int) -> np.ndarray:
        """Return the sorted indices of so many rows."""
        return self.rows[stratified_rows(self.codes, count, self.random)]


def class_shares(sizes: np.ndarray, count: int, least: int | None = None) -> np.ndarray:
    """How many of ``count`` rows to draw from classes of these sizes; see ``stratified_rows``."""
    if least is None:
        least = max(1, fair_share(count, len(sizes)))
    floors = np.minimum(least, sizes)
    exact = count * sizes / sizes.sum()
    shares = np.clip(np.floor(exact).astype(int), floors, sizes)
    while shares.sum() < min(count, sizes.sum()):
        shares[np.argmax(np.where(shares < sizes, exact - shares, -np.inf))] += 1
    while shares.sum() > max(count, floors.sum()):
        shares[np.argmax(np.where(shares > floors, shares, -1))] -= 1
    return shares


def _drawn(rows: np.ndarray, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw some of the rows; to shuffle all of them, as ``choice`` does, takes long with many."""
    if len(rows) < MANY_ROWS:
        return random.choice(rows, size=count, replace=False)
    return rows[_different(len(rows), count, random)]


def _different(n_rows: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw so many different row numbers of many, in random order.

    Numbers that come again are drawn anew: where few are drawn that is ten times as fast as what
    scikit-learn does.
    """
    if count > FEW_OF_MANY * n_rows:
        return random.permutation(sample_without_replacement(n_rows, count, random_state=random))
    drawn = random.randint(n_rows, size=count)
    while True:
        _, first = np.unique(drawn, return_index=True)
        if len(first) == count:
            return drawn
        drawn = np.append(drawn[np.sort(first)], random.randint(n_rows, size=count - len(first)))


def central_rows(data: Any, count: int, random: np.random.RandomState) -> np.ndarray:
    """Return the rows nearest to the centres of k-means, one for each; sorted.

    Parameters
    ----------
    data : array or sparse matrix of shape (n, d)
        Distinct rows.
    count : int
        How many rows, at most n.
    random : RandomState
        Start of k-means, and draws what it leaves open where rows are too near to each other.
    """
    n_rows = data.shape[0]
    if count in (0, n_rows):
        return np.arange(count)
    if sparse.issparse(data):
        data = data[:, np.unique(data.indices)].toarray()
    start = np.random.RandomState(random.randint(2**31 - 1))
    labels, distances = k_means(_in_units(data), count, start)
    least = np.full(count, np.inf)
    np.minimum.at(least, labels, distances)
    # The two rows of a pair are as near as each other: the first of them, whatever rounding says.
    nearest = np.flatnonzero(distances <= (1.0 + TIED) * least[labels])
    found = nearest[np.unique(labels[nearest], return_index=True)[1]]
    more = random.choice(other_rows(n_rows, found), size=count - len(found), replace=False)
    return np.sort(np.append(found, more))


def _in_units(data: np.ndarray) -> np.ndarray:
    """Return rows whose squared distances neither overflow nor lose what rows have in common."""
    half = data / 2.0
    data = half - (half.max(axis=0) / 2.0 + half.min(axis=0) / 2.0)
    largest = float(abs(data).max())
    return data / largest if largest > 0 else data


def shuffled_rows(n_rows: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw at most ``count`` of the rows, in random order; many more are not shuffled for that."""
    if n_rows < max(MANY_ROWS, count):
        return random.permutation(n_rows)[:count]
    return _different(n_rows, count, random)


def stratified_blocks(
    codes: np.ndarray, n_blocks: int, random: np.random.RandomState
) -> list[np.ndarray]:
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


def stratified_folds(
    codes: np.ndarray, count: int, random: np.random.RandomState
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split the rows into training and test rows of each fold; every class is learned in each.

    A class of one row is learned in every fold, and tested in none.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class numbers 0, 1, ...
    count : int
        How many folds; fewer if the smallest class of several rows has fewer.
    random : RandomState
        Shuffles the rows.

    Yields
    ------
    train, test : ndarray
        Sorted indices.
    """
    sizes = np.bincount(codes)
    divided = np.flatnonzero(sizes[codes] > 1)
    count = min(count, int(np.min(sizes[sizes > 1], initial=count)))
    if len(divided) == 0:
        raise ValueError(
            "No class has more than one row, which leaves nothing to cross-validate with; "
            "set n_terms, C and gamma to numbers."
        )
    for block in stratified_blocks(codes[divided], count, random):
        test = divided[block]
        yield other_rows(len(codes), test), test


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


def splits_among(splits: Any, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return splits of all rows, by number or by a mask, as splits of those that count.

    Parameters
    ----------
    splits : iterable of pairs
        Training and test rows.
    rows : ndarray of int
        Numbers of the rows that count.
    """
    return [(_among(rows, train), _among(rows, test)) for train, test in splits]


def _among(rows: np.ndarray, chosen: Any) -> np.ndarray:
    chosen = np.asarray(chosen)
    if chosen.dtype == bool:
        chosen = np.flatnonzero(chosen)
    return np.flatnonzero(np.isin(rows, chosen))
