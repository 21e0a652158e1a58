"""The command line: ``zeronorm fit``, ``predict``, ``show``, ``select`` and ``export``.

What a command does is in a module of its own, imported when it runs: ``--version`` and ``--help``
take a moment, scikit-learn a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from zeronorm import __version__
from zeronorm.tables import options

app = typer.Typer(
    help="Sparse kernel machines for tables: CSV and Parquet files.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


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
    """Sparse kernel machines for tables: CSV and Parquet files."""


@app.command()
def fit(
    data: options.TrainingData,
    target: options.TargetColumn,
    out: options.SavedModel = None,
    report: options.ReportFile = None,
    task: options.Task = None,
    metric: options.MetricName = None,
    class_weight: options.ClassWeight = None,
    terms: options.Terms = None,
    folds: options.Folds = 5,
    drop: options.Drop = [],  # noqa: B006 (typer copies it)
    category: options.Category = [],  # noqa: B006
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    strict: options.Strict = False,
    stream: options.Stream = None,
    as_json: options.FactsAsJson = False,
    n_jobs: options.Processes = -1,
    device: options.Device = None,
    random_state: options.Seed = 0,
) -> None:
    """Compare a tuned SVC with a sparse classifier on DATA, and save the sparse one.

    Where the column to predict holds numbers, these are SVR and a sparse regressor. Text columns
    become categories, dates numbers; gaps are filled, numbers are standardised; all of that is
    saved with the model, so that `zeronorm predict` takes the raw file.
    """
    from zeronorm.tables import fitting
    from zeronorm.tables.training import Reading

    reading = Reading(data, target, task, folds, drop, category, sep, decimal, strict)
    made = out, report, metric, class_weight, terms, as_json, device, stream
    fitting.run(reading, fitting.Options(*made, n_jobs, random_state))


@app.command()
def predict(
    model: options.FittedModel,
    data: options.NewData,
    out: options.Predictions = None,
    proba: options.Proba = False,
    scores: options.Scores = False,
    keep: options.KeepColumn = [],  # noqa: B006 (typer copies it)
    threshold: options.Threshold = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    strict: options.Strict = False,
) -> None:
    """Predict every row of NEW, as a CSV file.

    The columns may stand in any order; those that the model does not know are passed over.
    """
    from zeronorm.tables import predicting

    wanted = predicting.Options(proba, scores, tuple(keep), threshold, sep, decimal, strict)
    predicting.run(model, data, out, wanted)


@app.command()
def show(
    model: options.AnyModel,
    data: options.ShownData = None,
    line: options.Line = None,
    as_json: options.AsJson = False,
) -> None:
    """Print what MODEL.json has learned, in the units of the columns; or explain one decision."""
    from zeronorm.tables import showing

    showing.run(model, data, line, as_json)


@app.command()
def select(
    data: options.TrainingData,
    target: options.TargetColumn,
    features: options.Features = 20,
    norm: options.Norm = "l2",
    out: options.Reduced = None,
    task: options.Task = None,
    folds: options.Folds = 5,
    drop: options.Drop = [],  # noqa: B006 (typer copies it)
    category: options.Category = [],  # noqa: B006
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    strict: options.Strict = False,
    as_json: options.FactsAsJson = False,
    stream: options.Stream = None,
    n_jobs: options.Processes = -1,
    random_state: options.Seed = 0,
) -> None:
    """Select the columns of DATA that tell its target best, by AROM, best first.

    Beside them stands the cross-validated error of a linear model on so many columns, selected
    anew in every fold. A column of categories, or of dates, is selected as a whole.
    """
    from zeronorm.tables import selecting
    from zeronorm.tables.training import Reading

    reading = Reading(data, target, task, folds, drop, category, sep, decimal, strict)
    selecting.run(reading, features, norm, out, as_json, stream, n_jobs, random_state)


@app.command()
def export(
    model: options.AnyModel,
    to: options.To,
    out: options.Out,
    precision: options.Precision = None,
    own_exp: options.OwnExp = False,
    arduino: options.Arduino = False,
    name: options.Name = None,
    data: options.MeasuredData = None,
    table: options.TableName = None,
    dialect: options.Dialect = None,
    keep: options.KeepKey = [],  # noqa: B006 (typer copies it)
) -> None:
    """Write MODEL.json in another language: C, ONNX, SQL or JavaScript.

    What comes before the model (gaps filled, categories, scales) goes along, so that what is
    written takes raw columns; of a column of dates it takes the numbers that it becomes.
    """
    from zeronorm.tables import exporting

    given = {"precision": precision, "own_exp": own_exp, "arduino": arduino, "name": name,
             "data": data, "table": table, "dialect": dialect, "keep": keep}  # fmt: skip
    exporting.run(model, to, out, given)
