"""The column that is to be predicted: classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zeronorm.tables.cells import (
    Form,
    NumberForm,
    counted,
    is_number,
    n_read,
    number_form,
)
from zeronorm.tables.table import MISSING, Table, TableError

TASKS = ("classification", "regression")

#: More different numbers than this in the target are quantities, not classes; fractions are from
#: half as many on.
MOST_NUMBER_CLASSES = 20


@dataclass(frozen=True)
class Target:
    """The classes of the rows: ``classes[codes[i]]`` is the class of row i, or none if negative."""

    codes: NDArray[np.intp]
    classes: tuple[str, ...]

    task = "classification"

    @property
    def y(self) -> NDArray[np.intp]:
        """What a classifier is fitted on."""
        return self.codes

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows whose class is known."""
        return self.codes >= 0

    def rows(self, kept: NDArray[Any]) -> Target:
        """Return the target of some rows."""
        return Target(self.codes[kept], self.classes)


@dataclass(frozen=True)
class Numbers:
    """Numbers to predict, NaN where they are not known."""

    y: NDArray[np.float64]

    task = "regression"

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows whose number is known."""
        return ~np.isnan(self.y)

    def rows(self, kept: NDArray[Any]) -> Numbers:
        """Return the target of some rows."""
        return Numbers(self.y[kept])


def guess_task(table: Table, name: str, decimal: str | None = None) -> str:
    """Return what the column `name` asks for: classes, unless it holds many different numbers."""
    counts = counted(table.column(name), MISSING)
    form, n_numbers = number_form(counts, decimal or ".")
    if not counts or n_numbers < sum(counts.values()):
        return "classification"
    values = {form.value(cell) for cell in counts}
    is_whole = all(value.is_integer() for value in values)
    most = MOST_NUMBER_CLASSES if is_whole else MOST_NUMBER_CLASSES // 2
    return "regression" if len(values) > most else "classification"


def read_target(table: Table, name: str) -> Target:
    """Return the classes in column `name`: two or more, sorted, each spelled as in the file.

    Where all of them are numbers, ``1`` and ``1.0`` are the same class, spelled as it is first.
    """
    cells = table.column(name)
    known = [cell for cell in dict.fromkeys(cells) if cell not in MISSING]
    value_of = float if all(map(is_number, known)) else str
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


def read_numbers(table: Table, name: str, decimal: str | None = None) -> Numbers:
    """Return the numbers in column `name`, at least two different ones.

    A number to predict is not guessed: a cell that is none is an error, a missing one is not.
    """
    values = numbers_of(table, name, form_of_numbers(table, name, decimal))
    check_numbers(values, table.path, name)
    return Numbers(values)


def form_of_numbers(table: Table, name: str, decimal: str | None = None) -> Form:
    """Return how the numbers in column `name` are written."""
    counts = counted(table.column(name), MISSING)
    form, n_numbers = number_form(counts, decimal or ".")
    if decimal is not None and n_read(counts, NumberForm(decimal)) >= n_numbers:
        return NumberForm(decimal)
    return form


def numbers_of(table: Table, name: str, form: Form) -> NDArray[np.float64]:
    """Return the numbers in column `name`, NaN where they are missing."""
    cells = table.column(name)
    values = np.array([np.nan if cell in MISSING else form.value(cell) for cell in cells])
    for i in np.flatnonzero(np.isnan(values)).tolist():
        if cells[i] not in MISSING:
            raise TableError(
                f"{table.path}, line {table.lines[i]}: '{cells[i]}' in column '{name}' is no "
                "finite number; leave the cell empty, or give --task classification if these are "
                "classes."
            )
    return values


def check_numbers(values: NDArray[np.float64], path: str, name: str) -> None:
    """Raise `TableError` unless there are two different numbers."""
    known = values[~np.isnan(values)]
    if len(known) == 0 or known.min() == known.max():
        found = f"only one number, '{known[0]:g}'" if len(known) else "no number at all"
        raise TableError(f"Column '{name}' of {path} holds {found}; there is nothing to predict.")
