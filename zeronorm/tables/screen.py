"""The tables that the commands print, and how numbers stand in them."""

from __future__ import annotations

from collections.abc import Sequence

import joblib
import numpy as np
from rich.table import Table as ScreenTable
from rich.text import Text

from zeronorm.tables.comparison import TUNING_ROWS, Plan, Result
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import Target
from zeronorm.tables.selection import ColumnChoice


def comparison_table(
    results: Sequence[Result],
    models: Sequence[TableModel],
    classes: Target,
    title: str,
    plan: Plan,
) -> ScreenTable:
    """Return the table that `fit` prints: one column for each contender."""
    screen = ScreenTable(title=Text(title), caption=Text(how_measured(classes, plan)))
    screen.add_column()
    for result in results:
        screen.add_column(result.name, justify="right")
    for label, cells in comparison_lines(results, models, len(classes.codes)).items():
        screen.add_row(label, *cells)
    return screen


def how_measured(classes: Target, plan: Plan) -> str:
    """Say how the comparison was made, and what guessing would give."""
    n_rows, n_processes = len(classes.codes), joblib.effective_n_jobs(plan.n_jobs)
    notes = [_guessing(classes)]
    if n_rows > TUNING_ROWS:
        notes.append(f"Choices are made by fits on at most {TUNING_ROWS} rows.")
    notes.append(
        "Times are of one core."
        if n_processes == 1
        else f"Choosing takes {n_processes} processes, predicting one core."
    )
    return (
        f"Error: {plan.folds}-fold cross-validation, everything chosen inside the training "
        f"folds, ± standard error. {' '.join(notes)}"
    )


def comparison_lines(
    results: Sequence[Result], models: Sequence[TableModel], n_rows: int
) -> dict[str, list[str]]:
    """Return the lines of the comparison: a label, and a text for each contender."""
    finals = [result.final for result in results]
    return {
        "error": [f"{_percent(r.error)} ± {100 * r.standard_error:.1f}" for r in results],
        "kernel terms": [_terms(table) for table in models],
        "time to choose and fit": [_duration(final.seconds) for final in finals],
        "time to predict 100 000 rows": [_duration(r.prediction_seconds) for r in results],
        "size of the saved model": [_size(len(model.to_json().encode())) for model in models],
        "C, gamma": [f"{_short(final.C)}, {_short(final.gamma)}" for final in finals],
        "fitted on": [_row_count(final.fitted_rows, n_rows) for final in finals],
    }


def choice_table(choice: ColumnChoice, classes: Target, title: str) -> ScreenTable:
    """Return the table that `select` prints: one line for each column, best first."""
    screen = ScreenTable(
        title=Text(title),
        caption=Text(
            "Error of a linear SVM on this column and those above it, "
            f"{choice.folds}-fold cross-validation with the selection redone in every fold, "
            f"± standard error. {_guessing(classes)}"
        ),
    )
    screen.add_column("", justify="right")
    screen.add_column("column")
    screen.add_column("error", justify="right")
    measured = zip(choice.sizes, choice.errors, choice.standard_errors, strict=True)
    texts = {size: f"{_percent(error)} ± {100 * spread:.1f}" for size, error, spread in measured}
    for rank, name in enumerate(choice.names, start=1):
        screen.add_row(str(rank), Text(name), texts.get(rank, ""))
    return screen


def _guessing(classes: Target) -> str:
    commonest = np.bincount(classes.codes).max() / len(classes.codes)
    return f"Always guessing the commonest class: {_percent(1 - commonest)}."


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):g}"  # two digits, and 100 rather than 1e+02


def _terms(table: TableModel) -> str:
    has_linear = table.model.expansion_.linear is not None
    return f"{table.model.n_terms_} and a linear part" if has_linear else f"{table.model.n_terms_}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _duration(seconds: float) -> str:
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s"


def _size(n_bytes: int) -> str:
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1000:.1f} kB"
    return f"{n_bytes / 1_000_000:.1f} MB"


def _row_count(used: int, total: int) -> str:
    """Return how many rows were used, and of how many where it was not all of them."""
    spaced = f"{used:,}".replace(",", " ")
    return f"{spaced} rows" if used == total else f"{spaced} of {total:,} rows".replace(",", " ")
