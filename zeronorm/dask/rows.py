"""Rows of a Dask collection as the learner sees them: checked, and a sample of them.

Vectors are learned from a sample that is drawn across all blocks: of every class in proportion, and
its fair share at least (``base/sampling.py``). Which rows these are does not depend on how blocks
are cut. Its cost is rescaled to all rows. The coefficients are solved on every row (``sums.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.random import sample_without_replacement

from zeronorm.base.labels import signed_targets
from zeronorm.base.sampling import class_shares
from zeronorm.base.targets import NumericRows, TargetUnits, numeric_targets
from zeronorm.base.training_set import TrainingRows
from zeronorm.dask.blocks import Blocks, check_shape, plain_rows, plain_weights
from zeronorm.dask.passes import summed
from zeronorm.kernels import Kernel


class Labels:
    """Class labels of any type."""

    def plain(self, index: int, y: Any, n_rows: int) -> np.ndarray:
        """Return the labels of a block, checked."""
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        check_shape(index, "y", labels.shape, n_rows)
        try:
            if n_rows:
                check_classification_targets(labels)
        except ValueError as error:
            raise ValueError(f"Block {index} of y: {error}") from None
        return labels

    def groups(self, y: np.ndarray) -> np.ndarray:
        """Return what a sample has to have of: the labels."""
        return y


class Numbers:
    """Numbers, of one target or several."""

    def plain(self, index: int, y: Any, n_rows: int) -> np.ndarray:
        """Return the numbers of a block, checked."""
        check_shape(index, "y", np.shape(y), n_rows, has_columns=True)
        try:
            return numeric_targets(np.asarray(y)) if n_rows else np.asarray(y, dtype=float)
        except ValueError as error:
            raise ValueError(f"Block {index} of y: {error}") from None

    def groups(self, y: np.ndarray) -> np.ndarray:
        """Return zeros: there are no classes."""
        return np.zeros(len(y), dtype=int)


#: What is learned of a row.
Target = Labels | Numbers


@dataclass(frozen=True)
class Facts:
    """What all blocks say first: groups, rows that count (blocks x groups), weights of each."""

    groups: np.ndarray
    counts: np.ndarray
    totals: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""
        return int(self.counts.sum())


def find_facts(blocks: Blocks, target: Target) -> Facts:
    """Look at every row once; ValueError, in a sentence, if one cannot be learned from."""
    found = summed(blocks.client, blocks.calls(_block_facts, target), _joined)
    groups = np.unique(np.concatenate([labels for _, labels, _, _ in found]))
    counts = np.zeros((len(blocks), len(groups)), dtype=np.int64)
    totals = np.zeros(len(groups))
    for index, labels, count, weight in found:
        codes = np.searchsorted(groups, labels)
        counts[index, codes] = count
        totals[codes] += weight
    if not counts.any():
        raise ValueError("There is no row that counts: X is empty, or all weights are zero.")
    return Facts(groups, counts, totals)


def _block_facts(target: Target, index: int, X: Any, y: Any, weight: Any = None) -> list[Any]:
    data = plain_rows(index, X)
    weight = plain_weights(index, weight, data.shape[0])
    groups = target.groups(target.plain(index, y, data.shape[0]))[weight > 0]
    labels, codes = np.unique(groups, return_inverse=True)
    totals = np.bincount(codes, weights=weight[weight > 0], minlength=len(labels))
    return [(index, labels, np.bincount(codes, minlength=len(labels)), totals)]


def _joined(parts: list[list[Any]]) -> list[Any]:
    return [entry for part in parts for entry in part]


def take_sample(
    blocks: Blocks, target: Target, facts: Facts, count: int, random: np.random.RandomState
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Draw rows across all blocks, or take all, in their order, if they are no more than that.

    Returns
    -------
    tuple
        The rows, their labels and weights; the weights of a class sum to those of all its rows.
    """
    wanted = _draw(facts, count, random)
    shared = _block_sample, target, facts.groups
    calls = (blocks.call(index, *shared, wanted[index]) for index in sorted(wanted))
    parts = summed(blocks.client, calls, _joined)
    X, y, weight = zip(*parts, strict=True)
    stack = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    labels, weights = np.concatenate(y), np.concatenate(weight)
    if len(labels) < facts.n_rows:
        codes = np.searchsorted(facts.groups, target.groups(labels))
        weights = weights / np.bincount(codes, weights=weights)[codes] * facts.totals[codes]
    return stack, labels, weights


def _draw(facts: Facts, count: int, random: np.random.RandomState) -> dict[int, list[np.ndarray]]:
    """Which rows to take: of each block and group, numbers among its rows in this block."""
    sizes = facts.counts.sum(axis=0)
    shares = sizes if sizes.sum() <= count else class_shares(sizes, count)
    n_blocks, n_groups = facts.counts.shape
    wanted: dict[int, list[np.ndarray]] = {}
    for group, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        drawn = np.arange(size)
        if share < size:
            drawn = np.sort(sample_without_replacement(size, share, random_state=random))
        ends = np.cumsum(facts.counts[:, group])
        block_of = np.searchsorted(ends, drawn, side="right")
        for index in np.unique(block_of).tolist():
            start = ends[index] - facts.counts[index, group]
            own = wanted.setdefault(index, [np.zeros(0, dtype=np.int64)] * n_groups)
            own[group] = drawn[block_of == index] - start
    return wanted


def _block_sample(
    target: Target,
    groups: np.ndarray,
    ranks: list[np.ndarray],
    index: int,
    X: Any,
    y: Any,
    weight: Any = None,
) -> list[Any]:
    data = plain_rows(index, X)
    weight = plain_weights(index, weight, data.shape[0])
    labels = target.plain(index, y, data.shape[0])
    codes = np.searchsorted(groups, target.groups(labels))
    chosen = [
        np.flatnonzero((codes == group) & (weight > 0))[own]
        for group, own in enumerate(ranks)
        if len(own)
    ]
    rows = np.sort(np.concatenate(chosen))
    return [(data[rows], labels[rows], weight[rows])]


@dataclass(frozen=True)
class ClassRows(Labels):
    """How rows with labels become training rows."""

    kernel: Kernel
    classes: np.ndarray
    class_weight: np.ndarray

    def training(self, data: Any, y: np.ndarray, weight: np.ndarray) -> TrainingRows:
        """Return training rows of unit cost."""
        codes = np.searchsorted(self.classes, y)
        targets = signed_targets(codes, len(self.classes))
        cost = weight * self.class_weight[codes]
        return TrainingRows(np.arange(len(codes)), data, codes, targets, cost, self.kernel)


@dataclass(frozen=True)
class NumberRows(Numbers):
    """How rows with numbers become training rows."""

    kernel: Kernel
    units: TargetUnits | None = None

    def training(self, data: Any, y: np.ndarray, weight: np.ndarray) -> NumericRows:
        """Return training rows of unit cost."""
        rows = np.arange(len(weight))
        codes = np.zeros(len(weight), dtype=np.intp)
        training = NumericRows(rows, data, codes, y, weight, self.kernel)
        return training if self.units is None else self.units.rows(training)
