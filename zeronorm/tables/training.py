"""From a file to training rows: what `fit` and `select` both begin with."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zeronorm.base.progress import progress_bar
from zeronorm.files import link_target
from zeronorm.tables.cells import BadCells
from zeronorm.tables.columns import Column, to_matrix
from zeronorm.tables.contenders import Rows
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.ending import print_notes
from zeronorm.tables.model import check_output
from zeronorm.tables.reading import MAX_LEVELS, infer_columns
from zeronorm.tables.records import check_separator
from zeronorm.tables.sources import Source, title_of
from zeronorm.tables.table import Table, TableError
from zeronorm.tables.target import (
    TASKS,
    Numbers,
    Target,
    guess_task,
    read_numbers,
    read_target,
)


@dataclass(frozen=True)
class Reading:
    """Which file, what of it, and how it is read: options of the command line.

    Parameters
    ----------
    data : Path
        The file; ``-`` is standard input.
    target : str
        The column to predict.
    task : str or None
        Whether it holds classes or numbers; None to guess.
    folds : int
        As many rows as this are needed of every class.
    drop, category : collections of str
        Columns to leave out, and such in which numbers are categories.
    sep, decimal : str or None
        What stands between cells, and the decimal mark; None to find out.
    strict : bool
        Whether a cell that is no number, in a column of numbers, is an error.
    """

    data: Path
    target: str
    task: str | None = None
    folds: int = 5
    drop: Collection[str] = ()
    category: Collection[str] = ()
    sep: str | None = None
    decimal: str | None = None
    strict: bool = False

    def check(self) -> None:
        """Raise `TableError` if an option has no meaning."""
        if self.task not in (None, *TASKS):
            raise TableError(f"--task is {' or '.join(TASKS)}, not '{self.task}'.")
        for option, names in (("--drop", self.drop), ("--category", self.category)):
            if self.target in names:
                raise TableError(
                    f"{option} '{self.target}' names the column to predict, which is never "
                    "predicted from; leave the option out, or give another --target."
                )
        check_separator(self.sep)
        check_decimal(self.decimal)

    @property
    def title(self) -> str:
        """What the tables on the screen are called."""
        name = title_of(self.data) if str(self.data) == "-" else self.data.name
        return f"{name}: {self.target}"


@dataclass(frozen=True)
class Training:
    """What was read of a file.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Raw rows whose answer is known, in double precision; a memmap where they are on the disk.
    target : Target or Numbers
        Their answers.
    columns : list of Column
        What the columns are.
    notes : list of str
        What a user should hear.
    table : Table, optional
        The rows as texts, where they are kept.
    """

    X: NDArray[np.float64]
    target: Target | Numbers
    columns: list[Column]
    notes: list[str]
    table: Table | None = None

    @property
    def rows(self) -> Rows:
        """The rows with a preprocessing that is not fitted yet."""
        return Rows(self.X, self.target.y, TableEncoder(self.columns))


def read_training(source: Source, reading: Reading) -> Training:
    """Read all of a file; the notes are printed."""
    table = source.table()
    notes = list(table.notes)
    target = _target(table, reading, notes)
    known = target.known
    if not known.all():
        name = reading.target
        notes.append(f"Left out {np.sum(~known)} of {len(known)} rows: their '{name}' is missing.")
        table, target = table.rows(known), target.rows(known)
    check_rows(target, reading)
    columns, found = infer_columns(
        table, {reading.target, *reading.drop}, reading.category, reading.decimal
    )
    notes += found
    bad_cells = BadCells(reading.strict)
    X = to_matrix(table, columns, bad_cells)
    notes += bad_cells.notes()
    print_notes(notes)
    return Training(X, target, columns, notes, table)


def _target(table: Table, reading: Reading, notes: list[str]) -> Target | Numbers:
    name = reading.target
    task = reading.task or guess_task(table, name, reading.decimal)
    if task == "classification":
        return read_target(table, name)
    numbers = read_numbers(table, name, reading.decimal)
    if reading.task is None:
        count = len(np.unique(numbers.y[numbers.known]))
        notes.append(
            f"'{name}' holds {count} different numbers, so numbers are predicted; give --task "
            "classification if they are classes."
        )
    return numbers


def check_rows(target: Target | Numbers, reading: Reading) -> None:
    """Raise `TableError` unless there are enough rows, of every class."""
    name, folds = reading.target, reading.folds
    if isinstance(target, Numbers):
        if len(target.y) < 2 * folds:
            raise TableError(
                f"{title_of(reading.data)} has {len(target.y)} rows with a known '{name}', fewer "
                f"than two for each of the {folds} folds; {_remedy(folds, 'bring more rows')}."
            )
        return
    if len(target.classes) > MAX_LEVELS:
        raise TableError(
            f"Column '{name}' of {title_of(reading.data)} holds {len(target.classes)} different "
            f"values, too many to be classes (more than {MAX_LEVELS}); is it the right column?"
        )
    sizes = np.bincount(target.codes)
    if sizes.min() < folds:
        raise TableError(
            f"Class '{target.classes[sizes.argmin()]}' of column '{name}' has fewer rows "
            f"({sizes.min()}) than there are folds ({folds}); "
            f"{_remedy(folds, 'bring more of its rows, or take them out')}."
        )


def _remedy(folds: int, other: str) -> str:
    """Return what to do about too few rows for so many folds."""
    return f"lower --folds (3 at the least), or {other}" if folds > 3 else other


def check_decimal(decimal: str | None) -> None:
    """Raise `TableError` unless it is a decimal mark."""
    if decimal not in (None, ".", ","):
        raise TableError(f"--decimal is '.' or ',', not '{decimal}'.")


def check_processes(n_jobs: int) -> None:
    """Raise `TableError` unless it is a number of processes."""
    if n_jobs == 0:
        raise TableError("--n-jobs 0 is no number of processes; take 1 or more, or -1.")


def check_out(out: Path, *inputs: Path) -> None:
    """Say now, not after minutes of work, that the output cannot be written."""
    check_output(out)
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise TableError(f"{out} is an input; give the output another name.")


def check_apart(option: str, first: Path, second: Path) -> None:
    """Raise `TableError` if an option names the file of another output, which it would replace."""
    targets = [os.path.normcase(link_target(path)) for path in (first, second)]
    # Names that differ are one file all the same where capitals do not count.
    is_one_file = first.exists() and second.exists() and first.samefile(second)
    if targets[0] == targets[1] or is_one_file:
        raise TableError(
            f"{option} {second} is the file of --out too, and one would replace the other; give "
            "one of them another name."
        )


def progress(description: str) -> AbstractContextManager[Callable[..., None]]:
    """Show a bar on a terminal, and nothing elsewhere."""
    from rich.console import Console

    screen = Console(stderr=True)
    return progress_bar(description, enabled=screen.is_terminal, console=screen)
