"""Read CSV files into arrays: what each column is, its cells as floats, the target as class codes.

Nothing here learns from the values: what does (fills, means, scales, levels) is a transformer in
:mod:`zeronorm.tables.model`, so that it can be fitted inside the folds of a cross-validation.
"""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

#: Cells that mean "not known", as pandas and R write them, and the "?" of the UCI repository.
MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "?"})

#: More different texts than this in one column look like names or identifiers, not categories.
MAX_LEVELS = 100

#: Most characters in a line, so that a file that is no table does not fill the memory; a million
#: columns fit. A cell has at most `csv.field_size_limit()`, 131 072.
MAX_LINE = 2**24

MISSING_CODE = -1.0
UNKNOWN_CODE = -2.0


class TableError(ValueError):
    """What is wrong with a file, in one sentence its owner can act on."""


@dataclass(frozen=True)
class Table:
    """The cells of a CSV file as text, column by column.

    Parameters
    ----------
    path : str
        Where the cells come from, for messages.
    cells : dict of str to sequence of str
        The cells of each column, by its name, without surrounding blanks.
    lines : sequence of int
        The line of the file each row starts on, for messages.
    """

    path: str
    cells: dict[str, Sequence[str]]
    lines: Sequence[int]

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
        raise TableError(
            f"{self.path} has no column '{name}'; {hint}its columns are: {_listing(self.cells)}."
        )

    def rows(self, kept: NDArray[np.bool_]) -> Table:
        """Return the table of those rows where `kept` is true."""
        cells: dict[str, Sequence[str]] = {
            name: tuple(itertools.compress(column, kept)) for name, column in self.cells.items()
        }
        return Table(self.path, cells, tuple(itertools.compress(self.lines, kept)))

    def to_csv(self, names: Collection[str]) -> str:
        """Return the text of a CSV file with these columns, in the order of this table."""
        wanted = set(names)
        kept = [name for name in self.cells if name in wanted]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(kept)
        writer.writerows(zip(*(self.cells[name] for name in kept), strict=True))
        return text.getvalue()


@dataclass(frozen=True)
class Column:
    """A column that is used for prediction: numbers, or categories with these spellings.

    Parameters
    ----------
    name : str
        Its name in the header.
    levels : tuple of str or None
        The spellings of the categories, whose positions are their codes; None for numbers.
    """

    name: str
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Target:
    """The classes of the rows: ``classes[codes[i]]`` is the class of row i, or none if negative."""

    codes: NDArray[np.intp]
    classes: tuple[str, ...]


def read_table(path: str | Path) -> Table:
    """Read a CSV file with a header line.

    The delimiter is a comma, a semicolon or a tab: the one that the header holds most of. Empty
    lines are passed over, and so are columns without a name (the row index that pandas writes).

    Parameters
    ----------
    path : str or Path
        A text file in UTF-8, or a pipe; no line is longer than `MAX_LINE`.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read as a table with at least one row.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _read_rows(str(path), file)
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} is not text in UTF-8; save it as CSV in UTF-8.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None


def _read_rows(path: str, file: TextIO) -> Table:
    lines = _bounded_lines(path, file)
    start, first = next(((n, t) for n, t in enumerate(lines, start=1) if t.strip()), (1, ""))
    delimiter = max(",;\t", key=first.count)
    records = _records(path, itertools.chain([first], lines), delimiter, start)
    header = next(records, None)
    if header is None:
        raise TableError(f"{path} is empty; it needs a header line and at least one row.")
    names = header[1]
    _check_names(path, names)

    rows, starts = [], []
    for line, row in records:
        if len(row) != len(names):
            found = f"{len(row)} {_plural(len(row), 'field')}"
            raise TableError(f"{path}, line {line}: {found} where the header has {len(names)}.")
        rows.append(row)
        starts.append(line)
    if not rows:
        raise TableError(f"{path} has a header but no rows.")
    columns = zip(*rows, strict=True)
    return Table(path, {n: c for n, c in zip(names, columns, strict=True) if n}, starts)


def _bounded_lines(path: str, file: TextIO) -> Iterator[str]:
    for number in itertools.count(1):
        line = file.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise TableError(
                f"{path}, line {number}: longer than {MAX_LINE} characters; is it a CSV file?"
            )
        if not line:
            return
        yield line


def _records(
    path: str, lines: Iterable[str], delimiter: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line it starts on, cells without surrounding blanks) for every record.

    The first of the lines is line `first` of the file.
    """
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    start = first
    try:
        for record in reader:
            if record:
                yield start, [cell.strip() for cell in record]
            start = first + reader.line_num
    except csv.Error as error:
        raise TableError(f"{path}, line {start}: not a line of a CSV file ({error}).") from None


def _check_names(path: str, names: Sequence[str]) -> None:
    if not any(names):
        raise TableError(f"{path} has no column names in its first line.")
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise TableError(f"{path} has more than one column called '{name}'.")
        seen.add(name)


def infer_columns(
    table: Table, leave_out: Collection[str] = (), as_category: Collection[str] = ()
) -> tuple[list[Column], list[str]]:
    """Decide what each column is.

    A column whose known cells all read as numbers is one of numbers, any other one of categories.
    Columns that are empty, and categories with more than `MAX_LEVELS` levels, are of no use.

    Parameters
    ----------
    table : Table
        The training rows.
    leave_out : collection of str
        Columns that are not to be used, the target among them.
    as_category : collection of str
        Columns of categories that are coded as numbers.

    Returns
    -------
    columns : list of Column
        The columns to use.
    notes : list of str
        One sentence for each column that was passed over.

    Raises
    ------
    TableError
        If no column is left.
    """
    for name in (*leave_out, *as_category):
        table.column(name)
    columns: list[Column] = []
    notes: list[str] = []
    for name, cells in table.cells.items():
        if name in leave_out:
            continue
        levels = set(cells) - MISSING
        text = name in as_category or not all(map(_is_number, levels))
        if not levels:
            notes.append(f"Column '{name}' is left out: it is empty.")
        elif text and len(levels) > MAX_LEVELS:
            example = min(filter(lambda level: not _is_number(level), levels), default=min(levels))
            notes.append(
                f"Column '{name}' is left out: its {len(levels)} different texts (such as "
                f"'{example}') are too many to be categories (more than {MAX_LEVELS})."
            )
        else:
            columns.append(Column(name, tuple(sorted(levels)) if text else None))
    if not columns:
        raise TableError(f"{table.path} has no column to predict from. {' '.join(notes)}".rstrip())
    return columns, notes


def to_matrix(table: Table, columns: Sequence[Column]) -> NDArray[np.float64]:
    """Return the cells of `columns` as floats.

    Missing numbers are NaN. Categories are the positions of their spellings among the column's
    levels, `MISSING_CODE` or `UNKNOWN_CODE`.

    Raises
    ------
    TableError
        If columns are absent from the table, or a cell of a column of numbers is not a finite
        number.
    """
    absent = [column.name for column in columns if column.name not in table.cells]
    if absent:
        raise TableError(
            f"{table.path} lacks {_plural(len(absent), 'column')} {_listing(absent)}; "
            f"its columns are: {_listing(table.cells)}."
        )
    matrix = np.empty((table.n_rows, len(columns)))
    for j, column in enumerate(columns):
        cells = table.cells[column.name]
        if column.levels is None:
            matrix[:, j] = _numbers(table, column.name)
        else:
            codes = {level: float(code) for code, level in enumerate(column.levels)}
            codes |= dict.fromkeys(MISSING, MISSING_CODE)
            matrix[:, j] = [codes.get(cell, UNKNOWN_CODE) for cell in cells]
    return matrix


def read_target(table: Table, name: str) -> Target:
    """Return the classes in column `name`: two or more, sorted, each spelled as in the file.

    Where all of them are numbers, ``1`` and ``1.0`` are the same class, spelled as it is first.
    """
    cells = table.column(name)
    known = [cell for cell in dict.fromkeys(cells) if cell not in MISSING]
    value_of = float if all(map(_is_number, known)) else str
    spelling: dict[float | str, str] = {}
    for cell in known:
        spelling.setdefault(value_of(cell), cell)
    if len(spelling) < 2:
        found = f"only one class, '{known[0]}'" if known else "no class at all"
        raise TableError(f"Column '{name}' of {table.path} holds {found}; it takes two or more.")
    position = {value: code for code, value in enumerate(sorted(spelling))}
    code_of = {cell: position[value_of(cell)] for cell in known}
    codes = np.array([code_of.get(cell, -1) for cell in cells], dtype=np.intp)
    return Target(codes, tuple(spelling[value] for value in position))


def _to_number(cell: str) -> float:
    if "_" in cell:  # Python reads 1_000 as a number; in a file it is a name
        raise ValueError(cell)
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(_to_number(cell))
    except ValueError:
        return False


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    cells = table.cells[name]
    try:
        values = np.array([math.nan if cell in MISSING else _to_number(cell) for cell in cells])
    except ValueError:
        bad = next(i for i, cell in enumerate(cells) if not (cell in MISSING or _is_number(cell)))
    else:
        if not np.isinf(values).any():
            return values
        bad = int(np.argmax(np.isinf(values)))
    raise TableError(
        f"{table.path}, line {table.lines[bad]}: '{cells[bad]}' in column '{name}' "
        "is not a finite number."
    )


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else noun + "s"


def _listing(names: Collection[str], most: int = 12) -> str:
    """Return the first names, quoted, and how many more there are."""
    shown = ", ".join(f"'{name}'" for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
