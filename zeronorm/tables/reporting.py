"""The report of ``zeronorm fit --report``: what was compared, on rows that no model had seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zeronorm.report.facts import ModelReport, make_report
from zeronorm.tables.comparison import Comparison
from zeronorm.tables.screen import comparison_lines, how_measured
from zeronorm.tables.table import Table, TableError
from zeronorm.tables.target import Target

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


def report_text(path: Path, found: Comparison, table: Table, title: str) -> str:
    """Return the text of the report on the last of the contenders, for a file of this name.

    Parameters
    ----------
    path : Path
        The file.
    found : Comparison
        What was found.
    table : Table
        The rows that were judged.
    title : str
        The title of the page.
    """
    best, target = found.results[-1], found.target
    held_out, known = best.held_out, target.y
    if isinstance(target, Target):
        labels = np.array(target.classes, dtype=object)
        held_out, known = replace(held_out, predicted=labels[held_out.predicted]), labels[known]
    report = make_report(
        found.models[-1],
        table,
        known,
        title=title,
        held_out=held_out,
        how=_how(found),
        comparison=_comparison(found),
        path=getattr(best.final.machine, "path_", None),
    )
    return WRITERS[path.suffix.lower()](report)


def _how(found: Comparison) -> str:
    how = how_measured(found)
    shown = "Confusions and curves" if isinstance(found.target, Target) else "Predictions"
    if found.plan.held_back:
        return f"{how} {shown} are of the same rows. The model is learned from all others."
    return (
        f"{how} {shown} are of the same held-out rows: each row is judged by the model of the fold "
        "that it was kept out of. The terms, and the model in this report, are learned from all "
        "rows."
    )


def _comparison(found: Comparison) -> list[dict[str, Any]]:
    lines = comparison_lines(found)
    return [
        {
            "name": result.name,
            "fold_errors": result.fold_errors.tolist(),
            "terms": lines["kernel terms"][index],
            "shown": {label: cells[index] for label, cells in lines.items()},
        }
        for index, result in enumerate(found.results)
    ]
