"""The design: rows by columns, and what solvers ask of all rows.

Everything that the Newton solvers need of all n rows is a product with the design, or a sum over
blocks of its rows, written here: rows that live elsewhere need another design, and nothing else.
The linear programs hold all rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zeronorm.blocks import row_blocks

#: Rows per block of the weighted sums: a block of a few hundred columns stays within the cache.
BLOCK_ROWS = 8192

#: Up to so many values (128 kB) a design is formed: a copy of it takes less than a few products.
FEW_VALUES = 16_384


def column_sizes(values: np.ndarray) -> np.ndarray:
    """Largest absolute value of each column."""
    return np.maximum(values.max(axis=0), -values.min(axis=0))


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield slices of at most :data:`BLOCK_ROWS` rows."""
    return row_blocks(n_rows, BLOCK_ROWS)


class Design:
    """Columns of values, scaled, and a last column of ones: the intercept.

    The scaled matrix itself is formed only where it is small: its products are then single ones. A
    point has m + 1 numbers, the intercept last.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values, or features.
    scale : ndarray of shape (m,), optional
        Factor of each column.
    """

    def __init__(self, values: np.ndarray, scale: np.ndarray | None = None) -> None:
        self.values, self.scale = values, scale
        self.formed = None if values.size > FEW_VALUES else self._form()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, without the column of ones."""
        return self.values.shape[0], self.values.shape[1]

    def _form(self) -> np.ndarray:
        """Scaled columns and the ones."""
        formed = np.empty((self.values.shape[0], self.values.shape[1] + 1))
        np.multiply(self.values, 1.0 if self.scale is None else self.scale, out=formed[:, :-1])
        formed[:, -1] = 1.0
        return formed

    def apply(self, point: np.ndarray) -> np.ndarray:
        """Product with a point: one score for each row."""
        if self.formed is not None:
            return self.formed @ point
        weights = point[:-1] if self.scale is None else self.scale * point[:-1]
        scores = self.values @ weights
        scores += point[-1]
        return scores

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        """Product of the transpose with a vector over the rows."""
        if self.formed is not None:
            return rows @ self.formed
        products = np.empty(self.values.shape[1] + 1)
        np.matmul(rows, self.values, out=products[:-1])
        products[-1] = rows.sum()
        if self.scale is not None:
            products[:-1] *= self.scale
        return products

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Scaled columns of a few rows, without the ones."""
        if self.formed is not None:
            return self.formed[rows, :-1]
        some = self.values.take(rows, axis=0)
        if self.scale is not None:
            some *= self.scale
        return some

    def gram(self, weights: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Sum of the rows' outer products, weighted; shape (m + 1, m + 1).

        Parameters
        ----------
        weights : ndarray
            One for each of the rows that count, not negative.
        rows : ndarray of int, optional
            Which rows count; without it all of them, of which no copy is made first.
        """
        roots = np.sqrt(weights)[:, None]
        if self.formed is not None:
            block = roots * (self.formed if rows is None else self.formed.take(rows, axis=0))
            return block.T @ block
        size = self.values.shape[1] + 1
        gram = np.zeros((size, size))
        for part in blocks(len(roots)):
            some = self.values[part] if rows is None else self.values.take(rows[part], axis=0)
            block = np.empty((len(some), size))
            np.multiply(some, roots[part], out=block[:, :-1])
            block[:, -1:] = roots[part]
            gram += block.T @ block
        if self.scale is not None:
            gram[:-1] *= self.scale[:, None]
            gram[:, :-1] *= self.scale
        return gram
