"""The facts of a report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from zeronorm.report.text import description_text
from zeronorm.report.wording import comparison_table, confusion_table, percent, short


def document(facts: dict[str, Any]) -> str:
    """Return the report; what comes from data or names is escaped."""
    measured = facts["measured"]
    parts = [f"# {plain_text(facts['title'])}", *map(plain_text, facts["verdict"])]
    if facts["comparison"]:
        parts += ["## What was compared", table(*comparison_table(facts["comparison"]))]
    if facts["path"]:
        path = facts["path"]
        sizes = zip(path["terms"], path["error"], path["standard_error"], strict=True)
        rows = [[f"{n:g}", f"{percent(e)} ± {100 * s:.1f}"] for n, e, s in sizes]
        parts += ["## Error against terms", table(["terms", "cross-validated error"], rows)]
    if measured is not None and "rmse" in measured:
        rows = [[key, short(measured[key])] for key in ("rmse", "mean_absolute_error", "r2")]
        parts += ["## Predictions", table(["", "value"], rows)]
    elif measured is not None:
        parts += ["## Predictions", *_classes(measured)]
    text = description_text(facts["model"]).replace("```", "'''")
    parts += ["## The model", f"```text\n{text}\n```", "## How it was measured"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return "\n\n".join([*parts, plain_text(facts["how"]), versions]) + "\n"


def _classes(measured: dict[str, Any]) -> list[str]:
    labels, rows = confusion_table(measured)
    parts = ["Rows are the known classes, columns the predicted ones.", table(["", *labels], rows)]
    if measured["curves"]:
        rows = [
            [c["label"], f"{c['auc']:.3f}", f"{c['average_precision']:.3f}"]
            for c in measured["curves"]
        ]
        parts.append(table(["class", "area under ROC", "average precision"], rows))
    if measured["calibration"]:
        found = measured["calibration"]
        parts.append(f"Brier score {found['brier']:.3f}, log loss {found['log_loss']:.3f}.")
    return parts


def plain_text(text: str) -> str:
    """Return text that Markdown shows as it is."""
    line = " ".join(str(text).split())
    line = re.sub(r"([\\`*_{}\[\]#|~])", r"\\\1", line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    first, *others = [[*map(plain_text, row)] for row in (head, *rows)]
    lines = [first, ["---"] + ["---:"] * (len(head) - 1), *others]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
