"""The command ``zeronorm show``: a saved model, or one decision of it, in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from zeronorm.report.description import describe
from zeronorm.report.explanation import explain
from zeronorm.report.wording import Facts
from zeronorm.tables.columns import as_levels
from zeronorm.tables.ending import clean_end, one_sentence_errors, screen
from zeronorm.tables.exporting import check_has_table, loaded
from zeronorm.tables.sources import read_table
from zeronorm.tables.table import Table, TableError


def run(path: Path, data: Path | None, line: int | None, as_json: bool) -> None:
    """Print what :func:`shown` finds."""
    with clean_end():
        text = shown(path, data, line, as_json)
    with one_sentence_errors(), screen():
        typer.echo(text, nl=False)


def shown(path: Path, data: Path | None, line: int | None, as_json: bool) -> str:
    """Return what ``zeronorm show`` prints.

    Parameters
    ----------
    path : Path
        The model.
    data : Path or None
        Rows.
    line : int or None
        The line of the row to explain; None for the model as a whole.
    as_json : bool
        Whether the facts are wanted.

    Raises
    ------
    TableError
        What is wrong, in a sentence.
    """
    if line is not None and data is None:
        raise TableError("--line is a line of --data DATA.csv, which was not given.")
    model = loaded(path)
    table = None
    if data is not None:
        check_has_table(model)
        table = as_levels(read_table(data), model.encoder.columns)
    try:
        found: Facts
        if line is None:
            found = describe(model, table)
        else:
            assert table is not None
            found = explain(model, _row(table, line), table)
    except ValueError as error:
        raise TableError(str(error)) from None
    return found.to_json() if as_json else f"{found}\n"


def _row(table: Table, line: int) -> Table:
    kept = np.asarray(table.lines) == line
    if not kept.any():
        raise TableError(f"No row of {table.path} begins on line {line}.")
    return table.rows(kept)
