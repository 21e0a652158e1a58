"""Columns that are scaled, weighed and dropped, as feature selection asks; and their order at last.

Dense data are held as they are, in single precision where they come in it, one line in memory for
each column, and taken around their means in double precision a block of columns at a time: there
is no other copy of them. Sparse ones are never made dense; the results are the same, because
intercepts are free.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.blocks import row_blocks
from zeronorm.solvers.solution import History

#: Numbers in a block of columns: they stay in the second-level cache.
BLOCK_VALUES = 2**17


class Columns:
    """A data matrix that loses columns as selection goes on.

    Parameters
    ----------
    values : ndarray or sparse matrix of shape (n, m)
        The data.
    multiplicity : ndarray of shape (m,), optional
        How many features a column stands for: those of a polynomial kernel that are equal.
    weight : ndarray of shape (n,), optional
        How many rows each row stands for.
    block_values : int
        Numbers in a block of columns, about.

    Attributes
    ----------
    deviations : ndarray of shape (m,)
        Standard deviation of each column; exactly zero where it does not vary.
    offset : ndarray of shape (m,)
        What is taken off each column.
    """

    def __init__(
        self,
        values: Any,
        multiplicity: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        block_values: int = BLOCK_VALUES,
    ) -> None:
        self.weight, self.block_values = weight, block_values
        self.is_sparse = sparse.issparse(values)
        self.n_rows, self.n_columns = values.shape
        share = None if weight is None else weight / weight.sum()
        if self.is_sparse:
            self._take_sparse(values, share)
        else:
            self._take_dense(values, share)
        self.multiplicity = np.ones(values.shape[1]) if multiplicity is None else multiplicity

    def _take_sparse(self, values: Any, share: np.ndarray | None) -> None:
        self._matrix = sparse.csc_array(values, dtype=np.float64, copy=True)
        self._matrix.sum_duplicates()
        self._matrix.eliminate_zeros()
        share = np.full(self.n_rows, 1.0 / self.n_rows) if share is None else share
        mean, square = self._matrix.T @ share, self.square_sums(share)
        self.deviations = np.sqrt(np.maximum(square - mean**2, 0.0))
        # What is left of a column that does not vary is rounding.
        self.deviations[self.deviations <= 1e-7 * np.sqrt(square)] = 0.0
        self.offset = np.zeros(self.n_columns)

    def _take_dense(self, values: np.ndarray, share: np.ndarray | None) -> None:
        dtype = np.float32 if values.dtype == np.float32 else np.float64
        self._lines = np.empty((self.n_columns, self.n_rows), dtype)
        self.offset, self.deviations = np.empty(self.n_columns), np.empty(self.n_columns)
        for part in self._parts():
            self._lines[part] = values[:, part].T
            if share is None:
                self.offset[part] = self._lines[part].mean(axis=1, dtype=np.float64)
            else:
                self.offset[part] = np.einsum("ji,i->j", self._lines[part], share)
            block = self.around_means(part)
            weighted = block / self.n_rows if share is None else block * share
            self.deviations[part] = np.sqrt(np.einsum("ji,ji->j", block, weighted))
        self.deviations[self.deviations <= 1e-12 * np.abs(self.offset)] = 0.0

    def _parts(self) -> Iterator[slice]:
        """Yield blocks of columns."""
        return row_blocks(self.n_columns, max(1, self.block_values // self.n_rows))

    def around_means(self, part: slice) -> np.ndarray:
        """Return a block of columns around their means, each a line."""
        return np.subtract(self._lines[part], self.offset[part, None], dtype=np.float64)

    @property
    def values(self) -> Any:
        """All columns as they count: a sparse matrix, or an array made anew, around the means."""
        return self._matrix if self.is_sparse else self.around_means(slice(None)).T

    def keep(self, columns: np.ndarray) -> None:
        """Forget the columns where the mask is False."""
        kept = np.flatnonzero(columns)
        self.n_columns = len(kept)
        if self.is_sparse:
            self._matrix = self._matrix[:, kept]
        else:
            # In place: what is kept moves forward, to where nothing is that is still to be read.
            for part in self._parts():
                self._lines[part] = self._lines[kept[part]]
            self._lines = self._lines[: len(kept)]
        self.deviations = self.deviations[kept]
        self.offset = self.offset[kept]
        self.multiplicity = self.multiplicity[kept]

    def some(self, indices: np.ndarray) -> Columns:
        """Return a copy with some of the columns."""
        part = copy.copy(self)
        part.n_columns = len(indices)
        if self.is_sparse:
            part._matrix = self._matrix[:, indices]
        else:
            part._lines = self._lines[indices]
        part.deviations, part.offset = self.deviations[indices], self.offset[indices]
        part.multiplicity = self.multiplicity[indices]
        return part

    def gram(self, scaling: np.ndarray) -> np.ndarray:
        """Inner products of the rows, columns scaled."""
        if self.is_sparse:
            scaled = self.scaled(scaling)
            return (scaled @ scaled.T).toarray()
        gram, factors = np.zeros((self.n_rows, self.n_rows)), self._factors(scaling)
        for part in self._parts():
            block = self.around_means(part)
            block *= factors[part, None]
            gram += block.T @ block
        return gram

    def _factors(self, scaling: np.ndarray) -> np.ndarray:
        return scaling * np.sqrt(self.multiplicity)

    def scaled(self, scaling: np.ndarray) -> Any:
        """Return the columns scaled, in a form whose rows are quick to take."""
        if self.is_sparse:
            return (self._matrix @ sparse.diags_array(self._factors(scaling))).tocsr()
        return np.multiply(self.values, self._factors(scaling), order="C")

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        """Product of the transpose with one or several vectors over the rows."""
        if self.is_sparse:
            return np.asarray(self._matrix.T @ rows)
        products = np.empty((self.n_columns, *rows.shape[1:]))
        for part in self._parts():
            products[part] = self.around_means(part) @ rows
        return products

    def outputs(self, coef: np.ndarray) -> np.ndarray:
        """Product with coefficients, one column for each output."""
        if self.is_sparse:
            return np.asarray(self._matrix @ coef)
        outputs = np.zeros((self.n_rows, coef.shape[1]))
        for part in self._parts():
            outputs += self.around_means(part).T @ coef[part]
        return outputs

    def square_sums(self, weight: np.ndarray) -> np.ndarray:
        """Sum of the squares of each column, rows weighted."""
        if self.is_sparse:
            return np.asarray(self._matrix.multiply(self._matrix).T @ weight)
        sums = np.empty(self.n_columns)
        for part in self._parts():
            sums[part] = np.square(self.around_means(part)) @ weight
        return sums


def first_equal_column(columns: Columns) -> np.ndarray:
    """For each column, the index of the first one equal to it; constant ones are left alone."""
    first = np.arange(columns.n_columns)
    varying = np.flatnonzero(columns.deviations > 0)
    # Equal columns have equal products with whatever vector; few others have.
    probe = np.random.RandomState(0).normal(size=columns.n_rows)
    products = columns.adjoint(probe - probe.mean())[varying]
    # The likely case, by sorting without indices, which is quicker: no two are near.
    reach = 1e-9 * np.sqrt(columns.n_rows)
    gaps = np.diff(np.sort(products))
    if gaps.min(initial=np.inf) > reach * columns.deviations.max(initial=0.0):
        return first
    order = np.argsort(products, kind="stable")
    sizes = columns.deviations[varying[order]]
    near = np.flatnonzero(np.diff(products[order]) <= reach * sizes[1:])
    candidates = np.unique(varying[order[np.concatenate([near, near + 1])]])
    seen: dict[bytes, int] = {}
    for member in candidates.tolist():
        first[member] = seen.setdefault(_bytes_of(columns, member), member)
    return first


def _bytes_of(columns: Columns, index: int) -> bytes:
    """Return what tells one column from another."""
    # Adding zero turns -0.0 into 0.0, so that equal numbers have equal bytes.
    if columns.is_sparse:
        values = columns.values
        part = slice(*values.indptr[index : index + 2])
        return values.indices[part].tobytes() + b"|" + (values.data[part] + 0.0).tobytes()
    return (columns.around_means(slice(index, index + 1)) + 0.0).tobytes()


@dataclass
class Selection:
    """What a method returns of the columns it was given.

    ``order`` has all of them, best first; ``count`` is the number that the method itself would
    keep, ``scaling`` the weight it gives to each column; ``history`` has one entry a round.
    """

    order: np.ndarray
    count: int
    scaling: np.ndarray
    n_iter: int = 0
    history: History = field(default_factory=History)
    warning: str | None = None

    def record(self, **values: float) -> None:
        """Add a round to the history."""
        self.n_iter += 1
        self.history.record(**values)


def descending(keys: np.ndarray) -> np.ndarray:
    """Order by the last key, largest first; of equals by the one before, and so on."""
    order = np.argsort(-keys[-1], kind="stable")
    if len(order) > 1 and (np.diff(keys[-1][order]) == 0).any():
        return np.lexsort(-keys)
    return order
