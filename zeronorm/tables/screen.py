"""The tables that the commands print, and how numbers stand in them."""

from __future__ import annotations

import numpy as np
from rich.table import Table as ScreenTable
from rich.text import Text
from sklearn.metrics import recall_score

from zeronorm.report.wording import percent
from zeronorm.tables.comparison import Comparison, Result
from zeronorm.tables.contenders import CONTENDERS
from zeronorm.tables.metrics import OF_TASK
from zeronorm.tables.model import TableModel
from zeronorm.tables.selection import ColumnChoice
from zeronorm.tables.target import Numbers, Target

#: At most so many classes have a line of their own.
MOST_CLASSES = 12
NOTHING = "–"


def comparison_table(found: Comparison, title: str) -> ScreenTable:
    """Return the table that `fit` prints: one column for each contender."""
    screen = ScreenTable(title=Text(title), caption=Text(how_measured(found)))
    screen.add_column()
    guess = guessing_lines(found)
    if guess:
        screen.add_column("mean", justify="right")
    for result in found.results:
        screen.add_column(result.name, justify="right")
    for label, cells in comparison_lines(found).items():
        first = [guess.get(label, NOTHING)] if guess else []
        screen.add_row(Text(label), *first, *cells)
    return screen


def guessing_lines(found: Comparison) -> dict[str, str]:
    """Return what always answering the mean of the training rows gives; for numbers."""
    metrics = OF_TASK[found.plan.task]
    return {
        metrics[name].label: metrics[name].shown(float(values.mean()), 0.0).partition(" ±")[0]
        for name, values in found.guess.items()
    }


def how_measured(found: Comparison) -> str:
    """Say how the comparison was made, and what guessing would give."""
    plan, target, notes = found.plan, found.target, []
    what = "Error"
    if isinstance(target, Target):
        poor = [one.name for one in found.results if _is_guessing(one, target)]
        notes = [guessing(target)]
        if poor:
            notes.append(f"{' and '.join(poor)} {'is' if len(poor) == 1 else 'are'} no better.")
        notes.append("Recall: the share of the rows of a class that was found.")
    else:
        what = "RMSE (root mean square error) and R²"
        notes = ["mean: always the mean of the training rows."]
    tuning = CONTENDERS[plan.task][0].tuning
    if tuning is not None and found.n_rows > tuning.rows:
        by_draw = f"SVR is tuned on a draw of {tuning.rows} rows."
        by_fits = f"Choices are made by fits on at most {tuning.rows} rows."
        notes.append(by_draw if plan.task == "regression" else by_fits)
    if plan.metric == "log_loss":
        notes.append("An SVC has no probabilities; it is tuned by its error.")
    notes.append("Times are of one core." if plan.device is None else f"Device: {plan.device}.")
    if plan.held_back:
        rows = f"{plan.held_back:,}".replace(",", " ")
        way = f"on {rows} drawn rows that were held back, everything chosen on the others"
    else:
        way = f"{plan.folds}-fold cross-validation, everything chosen inside the training folds"
    return f"{what}: {way}, ± standard error. {' '.join(notes)}"


def comparison_lines(found: Comparison) -> dict[str, list[str]]:
    """Return the lines of the comparison: a label, and a text for each contender."""
    results, models, target = found.results, found.models, found.target
    finals = [result.final for result in results]
    lines = {}
    for name in found.results[0].values:
        metric = OF_TASK[found.plan.task][name]
        lines[metric.label] = [metric.shown(r.mean(name), r.standard_error(name)) for r in results]
    if isinstance(target, Target) and len(target.classes) <= MOST_CLASSES:
        shares = [recalls(result, target) for result in results]
        for code, label in enumerate(target.classes):
            lines[f"recall of '{label}'"] = [percent(share[code]) for share in shares]
    parameters = [final.chosen() for final in finals]
    return lines | {
        "kernel terms": [_terms(table) for table in models],
        "time to tune": [duration(final.tuning_seconds) for final in finals],
        "time to fit": [duration(final.fit_seconds) for final in finals],
        "time to predict 100 000 rows": [duration(r.prediction_seconds) for r in results],
        "size of the saved model": [_size(len(model.to_json().encode())) for model in models],
        ", ".join(parameters[0]): [", ".join(map(_short, one.values())) for one in parameters],
        "fitted on": [_row_count(final.fitted_rows, found.n_rows) for final in finals],
    }


def recalls(result: Result, target: Target) -> list[float]:
    """Return the share of the rows of each class that was found."""
    labels = range(len(target.classes))
    found = recall_score(target.codes, result.held_out.predicted, labels=labels, average=None)
    return [float(share) for share in found]


def choice_table(choice: ColumnChoice, target: Target | Numbers, title: str) -> ScreenTable:
    """Return the table that `select` prints: one line for each column, best first."""
    judge, what = "a linear SVM", "Error"
    if isinstance(target, Numbers):
        judge, what = "ridge regression", "Share of the variance that is not explained, 1 - R²,"
    guess = guessing(target) if isinstance(target, Target) else "Always the mean: 100 %."
    screen = ScreenTable(
        title=Text(title),
        caption=Text(
            f"{what} of {judge} on this column and those above it, {choice.folds}-fold "
            "cross-validation with the selection redone in every fold, ± standard error. "
            f"{guess} ◀ marks the fewest columns within one standard error of the lowest."
        ),
    )
    screen.add_column("", justify="right")
    screen.add_column("column")
    screen.add_column("error" if isinstance(target, Target) else "1 - R²", justify="right")
    screen.add_column("")
    measured = zip(choice.sizes, choice.errors, choice.standard_errors, strict=True)
    texts = {size: f"{percent(error)} ± {100 * spread:.1f}" for size, error, spread in measured}
    for rank, name in enumerate(choice.names, start=1):
        mark = f"◀ take these {rank}" if rank == choice.recommended else ""
        screen.add_row(str(rank), Text(name), texts.get(rank, ""), mark)
    return screen


def guessing(target: Target) -> str:
    """Say what guessing gives."""
    return f"Always guessing the commonest class: {percent(_guessing_error(target))}."


def _guessing_error(target: Target) -> float:
    return 1.0 - float(np.bincount(target.codes).max()) / len(target.codes)


def _is_guessing(result: Result, target: Target) -> bool:
    """Whether guessing is within one standard error, or better."""
    return result.mean("error") + result.standard_error("error") >= _guessing_error(target)


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):g}"  # two digits, and 100 rather than 1e+02


def _terms(table: TableModel) -> str:
    has_linear = table.model.expansion_.linear is not None
    return f"{table.model.n_terms_} and a linear part" if has_linear else f"{table.model.n_terms_}"


def duration(seconds: float) -> str:
    """Return a time as people say it."""
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
