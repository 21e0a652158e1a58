"""What feature selection asks of the data: columns that are scaled, weighed and dropped.

Dense data are held around their column means, sparse ones as they are, and never made dense; the
results are the same, because intercepts are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


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

    Attributes
    ----------
    deviations : ndarray of shape (m,)
        Standard deviation of each column; exactly zero where it does not vary.
    offset : ndarray of shape (m,)
        What was taken off each column.
    """

    def __init__(
        self,
        values: Any,
        multiplicity: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> None:
        self.weight = weight
        share = None if weight is None else weight / weight.sum()
        self.is_sparse = sparse.issparse(values)
        if self.is_sparse:
            self.values = sparse.csc_array(values, copy=True)
            self.values.sum_duplicates()
            self.values.eliminate_zeros()
            mean, square = (_means(part, share) for part in (self.values, self.squares()))
            self.deviations = np.sqrt(np.maximum(square - mean**2, 0.0))
            # What is left of a column that does not vary is rounding.
            self.deviations[self.deviations <= 1e-7 * np.sqrt(square)] = 0.0
            self.offset = np.zeros(len(mean))
        else:
            mean = _means(values, share)
            # One line in memory for each column: what is dropped is then quickly cut out.
            lines = np.subtract(values.T, mean[:, None], order="C")
            self.values = lines.T
            if share is None:
                variance = np.einsum("ji,ji->j", lines, lines) / len(values)
            else:
                variance = np.einsum("ji,ji,i->j", lines, lines, share)
            self.deviations = np.sqrt(variance)
            self.buffer = np.empty(0)
            self.deviations[self.deviations <= 1e-12 * np.abs(mean)] = 0.0
            self.offset = mean
        self.multiplicity = np.ones(values.shape[1]) if multiplicity is None else multiplicity

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns that are left."""
        return self.values.shape[1]

    def keep(self, columns: np.ndarray) -> None:
        """Forget the columns where the mask is False."""
        if self.is_sparse:
            self.values = self.values[:, columns]
        else:
            self.values = self.values.T[np.flatnonzero(columns)].T
        self.deviations = self.deviations[columns]
        self.offset = self.offset[columns]
        self.multiplicity = self.multiplicity[columns]

    def gram(self, scaling: np.ndarray) -> np.ndarray:
        """Inner products of the rows, columns scaled."""
        if self.is_sparse:
            scaled = self.scaled(scaling)
            return (scaled @ scaled.T).toarray()
        # Fresh memory for every round would cost as much as the product itself.
        if len(self.buffer) < self.values.size:
            self.buffer = np.empty(self.values.size)
        scaled = self.buffer[: self.values.size].reshape(self.n_columns, self.n_rows)
        factors = scaling * np.sqrt(self.multiplicity)
        np.multiply(self.values.T, factors[:, None], out=scaled)
        return scaled.T @ scaled

    def scaled(self, scaling: np.ndarray) -> Any:
        """Return the columns scaled, in a form whose rows are quick to take."""
        factors = scaling * np.sqrt(self.multiplicity)
        if self.is_sparse:
            return (self.values @ sparse.diags_array(factors)).tocsr()
        return np.multiply(self.values, factors, order="C")

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        """Product of the transpose with one or several vectors over the rows, each of sum zero."""
        return np.asarray(self.values.T @ rows)

    def squares(self) -> Any:
        """Return the squares of the values."""
        return self.values.multiply(self.values) if self.is_sparse else self.values**2


def _means(values: Any, share: np.ndarray | None) -> np.ndarray:
    """Mean of each column, of which each row has a share."""
    return np.asarray(values.mean(axis=0) if share is None else values.T @ share).ravel()


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
    values = columns.values
    if columns.is_sparse:
        part = slice(*values.indptr[index : index + 2])
        return values.indices[part].tobytes() + b"|" + (values.data[part] + 0.0).tobytes()
    # Adding zero turns -0.0 into 0.0, so that equal numbers have equal bytes.
    return (values[:, index] + 0.0).tobytes()
