"""Files that are larger than the memory: read once, piece by piece, into a file of numbers.

The first piece decides what the columns are, as :func:`zeronorm.tables.reading.infer_columns` does
of a whole table; the pieces after it are read in that way. New categories are added as they come,
cells that are no numbers are counted. What is kept on the disk, in a temporary folder, are the
numbers of :func:`zeronorm.tables.reading.to_matrix`, and then, for the rows to learn from, features
in single precision, which the sparse machines take without a copy.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from zeronorm.tables.cells import BadCells, Form
from zeronorm.tables.columns import Column, to_matrix
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.ending import print_notes
from zeronorm.tables.memory import is_too_large, needed_memory
from zeronorm.tables.reading import AT_LEAST, MAX_LEVELS, infer_columns
from zeronorm.tables.sources import Source
from zeronorm.tables.table import MISSING, Table, TableError, listing
from zeronorm.tables.target import (
    Numbers,
    Target,
    check_numbers,
    form_of_numbers,
    guess_task,
    numbers_of,
    read_target,
)
from zeronorm.tables.training import Reading, Training, check_rows, progress

#: Rows of a piece; the first one decides what the columns are.
PIECE_ROWS = 50_000
#: Rows from which fills, means, scales and levels are learned.
SAMPLE_ROWS = 100_000
#: Rows whose features are made at a time.
BLOCK_ROWS = 20_000
#: More different spellings of classes than this are none.
MOST_SPELLINGS = 10_000

Update = Callable[[float, str], None]


def must_stream(source: Source) -> bool:
    """Whether a file does not go into memory as a table of texts."""
    size = os.fstat(source.file.fileno()).st_size
    return is_too_large(needed_memory(size, source.is_compressed, source.n_cells))


@dataclass
class _Answers:
    """The column to predict, piece by piece: spellings of classes, or numbers."""

    name: str
    form: Form | None
    spellings: dict[str, int] = field(default_factory=dict)
    parts: list[NDArray[Any]] = field(default_factory=list)

    def add(self, table: Table) -> NDArray[np.bool_]:
        """Keep the known answers of a piece; return which rows they are of."""
        if self.form is not None:
            values = numbers_of(table, self.name, self.form)
            known = ~np.isnan(values)
            self.parts.append(values[known])
            return known
        codes = self.spellings
        for cell in table.column(self.name):
            if cell not in MISSING:
                codes.setdefault(cell, len(codes))
        if len(codes) > MOST_SPELLINGS:
            raise TableError(
                f"Column '{self.name}' of {table.path} holds more than {MOST_SPELLINGS} different "
                "values, too many to be classes; is it the right column?"
            )
        found = np.array([codes.get(cell, -1) for cell in table.column(self.name)], dtype=np.int32)
        self.parts.append(found[found >= 0])
        return found >= 0

    def target(self, path: str) -> Target | Numbers:
        """Return the answers of all rows."""
        all_parts = np.concatenate(self.parts)
        if self.form is not None:
            check_numbers(all_parts, path, self.name)
            return Numbers(all_parts)
        cells = tuple(self.spellings)
        classes = read_target(Table(path, {self.name: cells}, range(len(cells))), self.name)
        return Target(classes.codes[all_parts], classes.classes)


@dataclass
class _Levels:
    """Columns whose categories grow as pieces come."""

    columns: list[Column]
    crowded: set[str] = field(default_factory=set)

    def add(self, table: Table) -> None:
        """Take the categories of a piece that no piece before it had."""
        for index, column in enumerate(self.columns):
            if column.levels is None:
                continue
            new = sorted(set(table.column(column.header)) - MISSING - set(column.levels))
            room = MAX_LEVELS - len(column.levels)
            if len(new) > room:
                self.crowded.add(column.name)
            if new[:room]:
                self.columns[index] = replace(column, levels=(*column.levels, *new[:room]))

    def notes(self) -> list[str]:
        """Say where categories were too many."""
        return [
            f"Column '{name}' has more than {MAX_LEVELS} different texts; those that came last "
            "count as unknown."
            for name in sorted(self.crowded)
        ]


def read_to_disk(source: Source, reading: Reading, folder: Path) -> Training:
    """Read a file with a bar that shows how far, check its rows, and say what is done."""
    with progress("reading") as update:
        training = read_streamed(source, reading, folder, update)
    check_rows(training.target, reading)
    n_rows = len(training.X)
    training.notes.append(
        f"{source.name} is read piece by piece; the numbers of {n_rows} rows are on disk."
    )
    print_notes(training.notes)
    return training


def read_streamed(source: Source, reading: Reading, folder: Path, update: Update) -> Training:
    """Read a file once, piece by piece, into a file of numbers in `folder`."""
    tables = source.tables(PIECE_ROWS)
    first = next(tables)
    notes: list[str] = []
    answers = _answers(first, reading, notes)
    columns, found = infer_columns(
        first, {reading.target, *reading.drop}, reading.category, reading.decimal, True
    )
    notes += found
    levels, bad_cells = _Levels(columns), BadCells(reading.strict)
    n_seen = n_kept = 0
    with _file(folder / "rows") as file:
        for table in itertools.chain([first], tables):
            kept = answers.add(table)
            levels.add(table)
            rows = to_matrix(table, levels.columns, bad_cells)[kept]
            file.write(np.ascontiguousarray(rows).data)
            n_seen, n_kept = n_seen + table.n_rows, n_kept + len(rows)
            update(source.share, f"{n_seen:,} rows read".replace(",", " "))
    if n_kept < n_seen:
        notes.append(
            f"Left out {n_seen - n_kept} of {n_seen} rows: their '{reading.target}' is missing."
        )
    _check_numbers(bad_cells, source.name, first.n_rows)
    target = answers.target(source.name)
    shape = (n_kept, len(levels.columns))
    X = np.memmap(folder / "rows", dtype=np.float64, mode="r", shape=shape)
    notes = [*source.notes, *notes, *bad_cells.notes(), *levels.notes()]
    return Training(X, target, levels.columns, notes)


def _answers(first: Table, reading: Reading, notes: list[str]) -> _Answers:
    name = reading.target
    task = reading.task or guess_task(first, name, reading.decimal)
    if task == "classification":
        return _Answers(name, None)
    if reading.task is None:
        notes.append(
            f"'{name}' holds many different numbers, so numbers are predicted; give --task "
            "classification if they are classes."
        )
    return _Answers(name, form_of_numbers(first, name, reading.decimal))


def _check_numbers(bad_cells: BadCells, path: str, n_first: int) -> None:
    """Raise `TableError` if columns are not what the first piece let them seem."""
    wrong = [
        column
        for column, count in bad_cells.counts.items()
        if count.n_known - count.n_bad < AT_LEAST * count.n_known
    ]
    if wrong:
        raise TableError(
            f"{path}: in the first {n_first} rows {listing(wrong)} held numbers, but not further "
            "down; leave out what is no number (--drop), or say that it is a category (--category)."
        )


@contextmanager
def _file(path: Path) -> Iterator[BinaryIO]:
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as error:
        raise TableError(
            f"The numbers of the file cannot be kept in {path.parent}: {error.strerror}; set "
            "TMPDIR to a folder with more room."
        ) from None


def write_features(
    training: Training,
    encoder: TableEncoder,
    left_out: NDArray[np.intp],
    folder: Path,
    update: Update,
) -> NDArray[np.float32]:
    """Write the features of all rows but some to the disk, in single precision.

    Parameters
    ----------
    training : Training
        The rows.
    encoder : TableEncoder
        Fitted.
    left_out : array of int
        Rows without features, sorted.
    folder : Path
        Where to write.
    update : callable
        Takes the share that is done and a word.
    """
    n_rows = len(training.X)
    width = sum(encoding.n_features for encoding in encoder.encodings_)
    with _file(folder / "features") as file:
        for start in range(0, n_rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, n_rows)
            kept = np.ones(stop - start, dtype=bool)
            kept[left_out[(left_out >= start) & (left_out < stop)] - start] = False
            features = encoder.transform(training.X[start:stop][kept])
            file.write(np.ascontiguousarray(features, dtype=np.float32).data)
            update(stop / n_rows, f"{stop:,} rows scaled".replace(",", " "))
    shape = (n_rows - len(left_out), width)
    return np.memmap(folder / "features", dtype=np.float32, mode="r", shape=shape)


def rows_as_text(source: Source, reading: Reading, wanted: NDArray[np.intp]) -> Table:
    """Read the file again, for some of its rows with a known answer (sorted) as texts."""
    parts, start = [], 0
    for table in source.tables(PIECE_ROWS):
        known = np.array([cell not in MISSING for cell in table.column(reading.target)])
        numbers = np.cumsum(known) - 1 + start
        parts.append(table.rows(known & np.isin(numbers, wanted)))
        start += int(known.sum())
    cells: dict[str, Sequence[str]] = {
        name: [cell for part in parts for cell in part.cells[name]] for name in parts[0].cells
    }
    lines = [line for part in parts for line in part.lines]
    return Table(parts[0].path, cells, lines, parts[0].separator)
