"""The command line: ``zeronorm fit``, ``predict``, ``show``, ``select`` and ``export``."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from zeronorm import __version__
from zeronorm.base.placement import check_device
from zeronorm.base.progress import progress_bar
from zeronorm.tables import exporting, reporting, showing
from zeronorm.tables.comparison import Plan, Rows, compare
from zeronorm.tables.ending import clean_end, one_sentence_errors, print_notes, screen
from zeronorm.tables.interruption import ignore_signals, start_workers
from zeronorm.tables.model import TableEncoder, TableModel, check_output, save_text
from zeronorm.tables.reading import (
    MAX_LEVELS,
    Table,
    TableError,
    Target,
    infer_columns,
    read_table,
    read_target,
    to_matrix,
)
from zeronorm.tables.screen import choice_table, comparison_table
from zeronorm.tables.selection import choose_columns

app = typer.Typer(
    help="Sparse kernel classifiers for CSV files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


# What `fit` and `select` both take.
TrainingData = Annotated[Path, typer.Argument(metavar="DATA.csv", help="Rows with known classes.")]
TargetColumn = Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")]
Folds = Annotated[int, typer.Option(min=3, help="Folds on which the error is measured.")]
Drop = Annotated[
    list[str], typer.Option(metavar="COLUMN", help="Leave this column out. May be repeated.")
]
Category = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help="Numbers in it are categories. May be repeated."),
]
Processes = Annotated[int, typer.Option(help="Processes to use; -1 is one a core.")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line with these arguments, or with those of the process, and exit."""
    app(arguments, prog_name="zeronorm")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zeronorm {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Sparse kernel classifiers for CSV files."""


@app.command()
def fit(
    data: TrainingData,
    target: TargetColumn,
    out: Annotated[
        Path | None, typer.Option(metavar="MODEL.json", help="Where to save the sparse model.")
    ] = None,
    report: reporting.ReportFile = None,
    folds: Folds = 5,
    terms: Annotated[
        int | None,
        typer.Option(min=1, help="Kernel terms of the sparse model; otherwise it chooses."),
    ] = None,
    drop: Drop = [],  # noqa: B006 (typer copies it)
    category: Category = [],  # noqa: B006
    n_jobs: Processes = -1,
    device: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Where the sparse classifier computes, e.g. cuda."),
    ] = None,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of folds and draws.")] = 0,
) -> None:
    """Compare a tuned SVC with a sparse classifier on DATA.csv, and save the sparse one.

    Text columns become categories, gaps are filled, numbers are standardised; all of that is saved
    with the model, so that `zeronorm predict` takes the raw file.
    """
    with clean_end():
        _check_processes(n_jobs)
        _check_device(device)
        if out is not None:
            _check_out(out, data)
        if report is not None:
            reporting.check_ending(report)
            _check_out(report, data, *([out] if out else []))
        table, classes = _training_rows(data, target, folds)
        columns, notes = infer_columns(table, leave_out={target, *drop}, as_category=category)
        print_notes(notes)
        rows = Rows(to_matrix(table, columns), classes.codes, TableEncoder(columns))
        _check_terms(terms, len(rows.y), folds)
        with _progress("choosing and fitting") as update:
            start_workers(n_jobs)
            plan = Plan(folds, n_jobs, random_state, terms or "auto", device, report is not None)
            results = compare(rows, plan, update)
        models = [
            TableModel.of_classes(target, classes.classes, r.final.encoder, r.final.classifier)
            for r in results
        ]
        print_notes(note for r in results for note in r.final.notes)
        title = f"{data.name}: {target}"
        with screen():
            Console().print(comparison_table(results, models, classes, title, plan))
        text = ""
        if report is not None:
            parts = (results, models, table, classes, title, plan)
            text = reporting.report_text(report, *parts)
        if out is not None:
            ignore_signals()
            models[-1].save(out)
            print_notes([f"Saved {results[-1].name} as {out}."])
        if report is not None:
            ignore_signals()
            save_text(report, text)
            print_notes([f"Wrote {report}."])


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="What `fit --out` saved.")],
    data: Annotated[Path, typer.Argument(metavar="NEW.csv", help="Rows to predict.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="PREDICTIONS.csv", help="Where to write; otherwise to the screen."),
    ] = None,
) -> None:
    """Predict the class of every row of NEW.csv, as a CSV file with one column.

    The columns may stand in any order; those that the model does not know are passed over.
    """
    with clean_end():
        if out is not None:
            _check_out(out, model, data)
        fitted = TableModel.load(model)
        predictions = fitted.predict(read_table(data))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([[fitted.target], *zip(predictions)])
        if out is not None:
            ignore_signals()
            save_text(out, text.getvalue())
    if out is None:
        with one_sentence_errors(), screen():
            typer.echo(text.getvalue(), nl=False)


@app.command()
def show(
    model: exporting.ModelFile,
    data: showing.Data = None,
    line: showing.Line = None,
    as_json: showing.AsJson = False,
) -> None:
    """Print what MODEL.json has learned, in the units of the columns; or explain one decision."""
    with clean_end():
        text = showing.shown(model, data, line, as_json)
    with one_sentence_errors(), screen():
        typer.echo(text, nl=False)


@app.command()
def select(
    data: TrainingData,
    target: TargetColumn,
    features: Annotated[int, typer.Option(min=1, help="How many columns to select.")] = 20,
    norm: Annotated[str, typer.Option(help="Norm of the rounds, l2 or l1.")] = "l2",
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "--out",
            metavar="REDUCED.csv",
            help="Where to write the target and the selected columns.",
        ),
    ] = None,
    folds: Folds = 5,
    drop: Drop = [],  # noqa: B006 (typer copies it)
    category: Category = [],  # noqa: B006
    n_jobs: Processes = -1,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the folds.")] = 0,
) -> None:
    """Select the columns of DATA.csv that tell the classes apart, by AROM, best first.

    Beside them stands the cross-validated error of a linear SVM on so many columns, selected anew
    in every fold. A column of categories is selected as a whole.
    """
    with clean_end():
        _check_processes(n_jobs)
        if norm not in ("l1", "l2"):
            raise TableError(f"--norm is 'l2' or 'l1', not '{norm}'.")
        if out is not None:
            _check_out(out, data)
        table, classes = _training_rows(data, target, folds)
        columns, notes = infer_columns(table, leave_out={target, *drop}, as_category=category)
        print_notes(notes)
        if features > len(columns):
            print_notes([f"There are {len(columns)} columns to select from; all are taken."])
            features = len(columns)
        rows = Rows(to_matrix(table, columns), classes.codes, TableEncoder(columns))
        with _progress("selecting") as update:
            start_workers(n_jobs)
            plan = Plan(folds, n_jobs, random_state)
            choice = choose_columns(rows, plan, features, norm, update)
        print_notes([choice.warning] if choice.warning else [])
        with screen():
            Console().print(choice_table(choice, classes, title=f"{data.name}: {target}"))
        if out is not None:
            chosen = {columns[place].name for place in choice.order}
            reduced = read_table(data).to_csv([target, *chosen])
            ignore_signals()
            save_text(out, reduced)
            print_notes([f"Saved '{target}' and {len(chosen)} columns as {out}."])


@app.command()
def export(
    model: exporting.ModelFile,
    to: exporting.To,
    out: exporting.Out,
    precision: exporting.Precision = None,
    own_exp: exporting.OwnExp = False,
    arduino: exporting.Arduino = False,
    name: exporting.Name = None,
    data: exporting.Data = None,
    table: exporting.TableName = None,
    dialect: exporting.Dialect = None,
    keep: exporting.Keep = [],  # noqa: B006 (typer copies it)
) -> None:
    """Write MODEL.json in another language: C, ONNX, SQL or JavaScript.

    What comes before the model (gaps filled, categories, scales) goes along, so that what is
    written takes raw columns.
    """
    with clean_end():
        options = {"precision": precision, "own_exp": own_exp, "arduino": arduino, "name": name,
                   "data": data, "table": table, "dialect": dialect, "keep": keep}  # fmt: skip
        if not arduino:  # a new folder, which says itself what is wrong with it
            _check_out(out, model, *([data] if data else []))
        text = exporting.write(model, to, out, options, before=ignore_signals)
        print_notes([text])


def _progress(description: str) -> AbstractContextManager[Callable[..., None]]:
    """Show a bar on a terminal, and nothing elsewhere."""
    screen = Console(stderr=True)
    return progress_bar(description, enabled=screen.is_terminal, console=screen)


def _check_terms(terms: int | None, n_rows: int, folds: int) -> None:
    fewest = n_rows - -(-n_rows // folds)
    if terms is not None and terms > fewest:
        raise TableError(
            f"--terms {terms} is more than the {fewest} rows of a training fold; take fewer terms."
        )


def _check_processes(n_jobs: int) -> None:
    if n_jobs == 0:
        raise TableError("--n-jobs 0 is no number of processes; take 1 or more, or -1.")


def _check_device(device: str | None) -> None:
    try:
        check_device(device)
    except (ImportError, ValueError) as error:
        raise TableError(str(error)) from None


def _check_out(out: Path, *inputs: Path) -> None:
    """Say now, not after minutes of work, that the output cannot be written."""
    check_output(out)
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise TableError(f"{out} is an input; give the output another name.")


def _training_rows(path: Path, target: str, folds: int) -> tuple[Table, Target]:
    """Return the rows whose class is known, with enough of every class."""
    table = read_table(path)
    classes = read_target(table, target)
    known = classes.codes >= 0
    if not known.all():
        print_notes(
            [f"Left out {np.sum(~known)} of {len(known)} rows: their '{target}' is missing."]
        )
        table, classes = table.rows(known), Target(classes.codes[known], classes.classes)
    if len(classes.classes) > MAX_LEVELS:
        raise TableError(
            f"Column '{target}' of {path} holds {len(classes.classes)} different values, too many "
            f"to be classes (more than {MAX_LEVELS}); is it the right column?"
        )
    sizes = np.bincount(classes.codes)
    if sizes.min() < folds:
        raise TableError(
            f"Class '{classes.classes[sizes.argmin()]}' of column '{target}' has fewer rows "
            f"({sizes.min()}) than there are folds ({folds}); lower --folds (3 at the least), "
            "or take its rows out."
        )
    return table, classes
