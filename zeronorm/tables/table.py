"""The cells of a table as text, and the error that says what is wrong with one."""

from __future__ import annotations

import csv
import difflib
import io
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Cells that mean "not known", as pandas and R write them, and the "?" of the UCI repository.
MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "?"})


class TableError(ValueError):
    """What is wrong with a file, in one sentence its owner can act on."""


@dataclass(frozen=True)
class Table:
    """The cells of a file as text, column by column.

    Parameters
    ----------
    path : str
        Where the cells come from, for messages.
    cells : dict of str to sequence of str
        The cells of each column, by its name, without surrounding blanks.
    lines : sequence of int
        The line of the file each row starts on, for messages.
    separator : str
        What stood between the cells: a hint on what a comma within them means.
    notes : tuple of str
        What a user should hear of how the file was read.
    """

    path: str
    cells: dict[str, Sequence[str]]
    lines: Sequence[int]
    separator: str = ","
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows below the header."""
        return len(self.lines)

    def column(self, name: str) -> Sequence[str]:
        """Return the cells of the column called `name`; `TableError` if there is none."""
        if name in self.cells:
            return self.cells[name]
        near = difflib.get_close_matches(name, self.cells, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        what = "columns are"
        if any(one.lstrip("-").replace(".", "", 1).isdigit() for one in self.cells):
            what = "first line, which has to hold the names of the columns, is"
        raise TableError(
            f"{self.path} has no column '{name}'; {hint}its {what}: {listing(self.cells)}."
        )

    def rows(self, kept: NDArray[np.bool_]) -> Table:
        """Return the table of those rows where `kept` is true."""
        cells: dict[str, Sequence[str]] = {
            name: tuple(itertools.compress(column, kept)) for name, column in self.cells.items()
        }
        lines = tuple(itertools.compress(self.lines, kept))
        return Table(self.path, cells, lines, self.separator, self.notes)

    def to_csv(self, names: Collection[str], has_header: bool = True) -> str:
        """Return the text of a CSV file with these columns, in the order of this table."""
        wanted = set(names)
        kept = [name for name in self.cells if name in wanted]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if has_header:
            writer.writerow(kept)
        writer.writerows(zip(*(self.cells[name] for name in kept), strict=True))
        return text.getvalue()


def plural(count: int, noun: str) -> str:
    """Return the noun, with an s unless there is one of it."""
    return noun if count == 1 else noun + "s"


def listing(names: Collection[str], most: int = 12) -> str:
    """Return the first names, quoted, and how many more there are."""
    shown = ", ".join(f"'{name}'" for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
