"""How much memory a table would take, and how much there is."""

from __future__ import annotations

import os
from pathlib import Path

#: Memory that a cell takes while a table is read, in bytes, and how much of it that is for each
#: byte of a CSV file: 110 to 145, and 15 to 19, on two files of numbers, texts and dates.
BYTES_A_CELL, BYTES_A_BYTE = 130, 16
#: Text takes so many times the room of its gzip file, as a rule.
COMPRESSION = 4
#: The table itself may have at most this share of the available memory; fits need the rest.
SHARE = 0.5


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping; None where nobody knows."""
    found = [_of_system(), _of_group()]
    known = [value for value in found if value is not None]
    return min(known) if known else None


def _of_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return None
    except OSError:  # not Linux
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """Return what is left to the container that this runs in."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)


def needed_memory(size: int, is_compressed: bool, n_cells: int | None) -> int:
    """Return the bytes that a table takes in memory.

    Parameters
    ----------
    size : int
        Bytes of its file.
    is_compressed : bool
        Whether that is a gzip file.
    n_cells : int or None
        Number of cells, where the file tells it, as Parquet does.
    """
    if n_cells is not None:
        return BYTES_A_CELL * n_cells
    return BYTES_A_BYTE * size * (COMPRESSION if is_compressed else 1)


def is_too_large(needed: int) -> bool:
    """Whether a table that needs so much does not go into memory."""
    available = available_memory()
    return available is not None and needed > SHARE * available
