"""The options of the commands. Nothing heavy is imported here: ``zeronorm --help`` is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# What `fit` and `select` both take.
TrainingData = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Rows with known answers: CSV, also as .gz, or Parquet; - is standard input.",
    ),
]
TargetColumn = Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")]
Task = Annotated[
    str | None,
    typer.Option(
        metavar="TASK", help="classification or regression, if the guess between them is wrong."
    ),
]
Folds = Annotated[int, typer.Option(min=3, help="Folds on which the error is measured.")]
Drop = Annotated[
    list[str], typer.Option(metavar="COLUMN", help="Leave this column out. May be repeated.")
]
Category = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help="Numbers in it are categories. May be repeated."),
]
Processes = Annotated[int, typer.Option(help="Processes to use; -1 is one a core.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of folds and draws.")]

# How files are read.
Sep = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What stands between cells: ; or tab, for instance."),
]
Decimal = Annotated[
    str | None, typer.Option(metavar=".|,", help="The decimal mark of numbers, if not found out.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse cells that are no numbers in columns of numbers.")
]
FactsAsJson = Annotated[bool, typer.Option("--json", help="Print facts as JSON, for scripts.")]

# `fit`.
SavedModel = Annotated[
    Path | None, typer.Option(metavar="MODEL.json", help="Where to save the sparse model.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option(metavar="REPORT.html", help="Where to write a report; .html, .md or .json."),
]
Terms = Annotated[
    int | None,
    typer.Option(min=1, help="Kernel terms of the sparse model; otherwise it chooses."),
]
MetricName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What both machines choose by and are judged by, besides the error: accuracy, "
        "balanced, auc or log_loss; for numbers rmse, r2 or mae.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(metavar="balanced", help="Rows of rare classes count as much as those of others."),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Where the sparse machine computes, e.g. cuda."),
]

Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read the file piece by piece, its numbers on the disk; otherwise done if as text it "
        "would take more than half of the available memory.",
        show_default=False,
    ),
]

# `predict`.
FittedModel = Annotated[Path, typer.Argument(metavar="MODEL.json", help="What `fit --out` saved.")]
NewData = Annotated[
    Path,
    typer.Argument(metavar="NEW", help="Rows to predict: CSV or Parquet; - is standard input."),
]
Predictions = Annotated[
    Path | None,
    typer.Option(metavar="PREDICTIONS.csv", help="Where to write; otherwise to the screen."),
]
Proba = Annotated[
    bool, typer.Option("--proba", help="Add a column with the probability of each class.")
]
Scores = Annotated[bool, typer.Option("--scores", help="Add the decision values.")]
KeepColumn = Annotated[
    list[str],
    typer.Option("--keep", metavar="COLUMN", help="Copy this column, an id. May be repeated."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="P", help="Two classes: say the second one from this probability on (0.5)."
    ),
]

# `show`, `export`.
AnyModel = Annotated[
    Path, typer.Argument(metavar="MODEL.json", help="What `fit --out` or zeronorm.save wrote.")
]
ShownData = Annotated[
    Path | None,
    typer.Option(
        metavar="DATA.csv", help="Rows that tell what the terms are near to and what they decide."
    ),
]
Line = Annotated[
    int | None,
    typer.Option(min=2, help="Explain the decision for the row on this line of DATA.csv instead."),
]
AsJson = Annotated[bool, typer.Option("--json", help="The facts as JSON instead of text.")]
LANGUAGES = ("c", "onnx", "sql", "javascript")
To = Annotated[str, typer.Option(metavar="|".join(LANGUAGES), help="The language.")]
Out = Annotated[Path, typer.Option(metavar="FILE", help="Where to write.")]
Precision = Annotated[
    str | None,
    typer.Option(help="C: double, float or int16 (double). ONNX: float or double (float)."),
]
OwnExp = Annotated[
    bool, typer.Option("--own-exp", help="C: an exponential of its own, for chips without one.")
]
Arduino = Annotated[
    bool, typer.Option("--arduino", help="C: FILE becomes a folder that the Arduino IDE opens.")
]
Name = Annotated[str | None, typer.Option(help="C: what all names begin with (that of FILE).")]
MeasuredData = Annotated[
    Path | None,
    typer.Option(
        metavar="DATA.csv", help="C: rows on which to measure the error that the header states."
    ),
]
TableName = Annotated[str | None, typer.Option(help="SQL: the table with the columns (data).")]
Dialect = Annotated[
    str | None, typer.Option(help="SQL: duckdb, sqlite, postgresql or standard (standard).")
]
KeepKey = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help="SQL: keep this column, a key. May be repeated."),
]

# `select`.
Features = Annotated[int, typer.Option(min=1, help="How many columns to select.")]
Norm = Annotated[str, typer.Option(help="Norm of the rounds, l2 or l1.")]
Reduced = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "--out",
        metavar="REDUCED.csv",
        help="Where to write the target and the selected columns.",
    ),
]
