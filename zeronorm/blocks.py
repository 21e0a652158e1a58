"""Rows in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Rows per block. 2048 rows of a few hundred kernel values stay in the second-level cache.
BLOCK_ROWS = 2048


def row_blocks(n_rows: int, rows: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield the slices that cut ``n_rows`` rows into blocks."""
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))


def by_blocks(
    block_of: Callable[[Any], np.ndarray], X: Any, n_columns: int, *, copy: bool
) -> np.ndarray:
    """Put together what a function makes of each block of rows, one line for each row.

    What it makes of a single block is taken as it is: to have it twice takes longer than to make
    it, where memory has to come from the system. A ``copy`` is for functions of others, which may
    return an array of their own.
    """
    n_rows = X.shape[0]
    if n_rows <= BLOCK_ROWS and not copy:
        return np.ascontiguousarray(block_of(X), dtype=np.float64)
    values = np.empty((n_rows, n_columns))
    for rows in row_blocks(n_rows):
        values[rows] = block_of(X[rows])
    return values
