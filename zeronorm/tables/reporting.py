"""The report of ``zeronorm fit --report``: what was compared, on rows that no model had seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from zeronorm.report.facts import ModelReport, make_report
from zeronorm.tables.comparison import Plan, Result
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import Table, TableError, Target
from zeronorm.tables.screen import comparison_lines, how_measured

ReportFile = Annotated[
    Path | None,
    typer.Option(metavar="REPORT.html", help="Where to write a report; .html, .md or .json."),
]

#: What the endings of files mean.
WRITERS = {
    ".html": ModelReport.to_html,
    ".htm": ModelReport.to_html,
    ".md": ModelReport.to_markdown,
    ".json": ModelReport.to_json,
}


def check_ending(path: Path) -> None:
    """Raise TableError if the ending of the file names no kind of report."""
    if path.suffix.lower() not in WRITERS:
        raise TableError(f"--report is a .html, .md or .json file, not '{path.name}'.")


def report_text(
    path: Path,
    results: Sequence[Result],
    models: Sequence[TableModel],
    table: Table,
    classes: Target,
    title: str,
    plan: Plan,
) -> str:
    """Return the text of the report on the last of the contenders, for a file of this name."""
    best = results[-1]
    assert best.held_out is not None
    labels = np.array(classes.classes, dtype=object)
    report = make_report(
        models[-1],
        table,
        labels[classes.codes],
        title=title,
        held_out=replace(best.held_out, predicted=labels[best.held_out.predicted]),
        how=_how(classes, plan),
        comparison=_comparison(results, models, len(classes.codes)),
        path=getattr(best.final.classifier, "path_", None),
    )
    return WRITERS[path.suffix.lower()](report)


def _how(classes: Target, plan: Plan) -> str:
    return (
        f"{how_measured(classes, plan)} Confusions and curves are of the same held-out rows: each "
        "row is judged by the model of the fold that it was kept out of. The terms, and the model "
        "in this report, are learned from all rows."
    )


def _comparison(
    results: Sequence[Result], models: Sequence[TableModel], n_rows: int
) -> list[dict[str, Any]]:
    lines = comparison_lines(results, models, n_rows)
    return [
        {
            "name": result.name,
            "fold_errors": result.fold_errors.tolist(),
            "terms": lines["kernel terms"][place],
            "shown": {label: cells[place] for label, cells in lines.items()},
        }
        for place, result in enumerate(results)
    ]
