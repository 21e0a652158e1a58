"""What a column is, and its cells as floats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zeronorm.tables.cells import PLAIN, BadCells, Form, PlainForm
from zeronorm.tables.dates import DatePart, days_of
from zeronorm.tables.table import MISSING, Table, TableError, listing, plural

MISSING_CODE = -1.0
UNKNOWN_CODE = -2.0

#: From here on different whole numbers, such as those of accounts, are the same float.
MOST_EXACT = 2.0**53


@dataclass(frozen=True)
class Column:
    """A column that is used for prediction: numbers, or categories with these spellings.

    Parameters
    ----------
    name : str
        What it is called.
    levels : tuple of str or None
        The spellings of the categories, whose positions are their codes; None for numbers.
    form : Form
        How the numbers are written.
    source : str, optional
        The name in the header, if it is another one: several columns come from one of dates.
    """

    name: str
    levels: tuple[str, ...] | None = None
    form: Form = PLAIN
    source: str | None = None

    @property
    def header(self) -> str:
        """Its name in the header."""
        return self.name if self.source is None else self.source


def to_matrix(
    table: Table, columns: Sequence[Column], bad_cells: BadCells | None = None
) -> NDArray[np.float64]:
    """Return the cells of `columns` as floats.

    Missing numbers are NaN, and so are cells of a column of numbers that are none. Categories are
    the positions of their spellings among the column's levels, or of the levels that they mean (see
    :func:`levels_meant`), `MISSING_CODE` or `UNKNOWN_CODE`.

    Parameters
    ----------
    table : Table
        The rows.
    columns : sequence of Column
        What to read.
    bad_cells : BadCells, optional
        Counts cells that are no numbers, and may refuse them, and categories that are unknown.

    Raises
    ------
    TableError
        If columns are absent from the table, if no cell of a column of numbers is one, or, where
        that is not allowed, if a single one is not.
    """
    absent = [c for c in dict.fromkeys(c.header for c in columns) if c not in table.cells]
    if absent:
        raise TableError(
            f"{table.path} lacks {plural(len(absent), 'column')} {listing(absent)}; "
            f"its columns are: {listing(table.cells)}."
        )
    bad_cells = BadCells() if bad_cells is None else bad_cells
    matrix = np.empty((table.n_rows, len(columns)))
    dates: dict[str, NDArray[np.float64]] = {}  # several columns come from one of dates
    for j, column in enumerate(columns):
        if column.levels is not None:
            matrix[:, j] = _codes(table, column.header, column.levels, bad_cells)
        elif isinstance(column.form, DatePart):
            if column.header not in dates:
                dates[column.header] = _numbers(table, column, bad_cells)
            matrix[:, j] = column.form.of_days(dates[column.header])
        else:
            matrix[:, j] = _numbers(table, column, bad_cells)
    return matrix


def _codes(
    table: Table, name: str, levels: Sequence[str], bad_cells: BadCells
) -> NDArray[np.float64]:
    """Return the codes of a column of categories."""
    cells = table.cells[name]
    codes = {level: float(code) for code, level in enumerate(levels)}
    codes |= {cell: codes[level] for cell, level in levels_meant(levels, cells).items()}
    codes |= dict.fromkeys(MISSING, MISSING_CODE)
    found = np.array([codes.get(cell, UNKNOWN_CODE) for cell in cells])
    unknown = [(table.lines[i], cells[i]) for i in np.flatnonzero(found == UNKNOWN_CODE).tolist()]
    bad_cells.add_categories(name, int(np.sum(found != MISSING_CODE)), unknown)
    return found


def levels_meant(levels: Sequence[str], cells: Iterable[str]) -> dict[str, str]:
    """Return the levels that cells mean which are none of them as they are spelled.

    A number is the level that is the same number: pandas writes 1 as 1.0 once the column has a gap.
    True and true are one level: earlier releases read the one in CSV as the other in Parquet. What
    could be two levels is neither.
    """
    by_meaning: dict[float | str, list[str]] = {}
    for level in levels:
        if (meaning := _meaning(level)) is not None:
            by_meaning.setdefault(meaning, []).append(level)
    if not by_meaning:
        return {}
    found = {}
    for cell in set(cells) - set(levels) - MISSING:
        meaning = _meaning(cell)
        same = [] if meaning is None else by_meaning.get(meaning, [])
        if len(same) == 1:
            found[cell] = same[0]
    return found


def _meaning(text: str) -> float | str | None:
    """Return the number or the truth value in a text; None if it is any other."""
    if text.lower() in ("true", "false"):
        return text.lower()
    number = PLAIN.value(text)
    return number if abs(number) < MOST_EXACT else None  # no number is not less either


def as_levels(table: Table, columns: Sequence[Column]) -> Table:
    """Return the table with categories spelled as the levels that they mean.

    For what looks them up by their texts and not by `to_matrix`.
    """
    cells = dict(table.cells)
    for column in columns:
        if column.levels is not None and column.header in cells:
            before = cells[column.header]
            meant = levels_meant(column.levels, before)
            cells[column.header] = [meant.get(cell, cell) for cell in before]
    return replace(table, cells=cells)


def _numbers(table: Table, column: Column, bad_cells: BadCells) -> NDArray[np.float64]:
    """Return the numbers of a column, of dates their days."""
    cells = table.cells[column.header]
    form = column.form
    if isinstance(form, PlainForm):
        values = _plain_numbers(cells)
    else:
        value_of = partial(days_of, order=form.order) if isinstance(form, DatePart) else form.value
        values = np.array([math.nan if cell in MISSING else value_of(cell) for cell in cells])
    gaps = np.flatnonzero(np.isnan(values)).tolist()
    bad = [(table.lines[i], cells[i]) for i in gaps if cells[i] not in MISSING]
    n_known = len(cells) - len(gaps) + len(bad)
    bad_cells.add(table.path, column.header, form.what, n_known, bad)
    return values


def _plain_numbers(cells: Sequence[str]) -> NDArray[np.float64]:
    """Return plain numbers; all at once where every cell is one, which is ten times faster."""
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        values = np.array([math.nan])
    if np.isfinite(values).all() and not any("_" in cell for cell in cells):
        return values
    return np.array([math.nan if cell in MISSING else PLAIN.value(cell) for cell in cells])
