"""Rows in blocks."""

from __future__ import annotations

from collections.abc import Iterator

#: Rows per block. 2048 rows of a few hundred kernel values stay in the second-level cache.
BLOCK_ROWS = 2048


def row_blocks(n_rows: int, rows: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield the slices that cut ``n_rows`` rows into blocks."""
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))
