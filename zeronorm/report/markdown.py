"""The facts of a report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from zeronorm.report.text import description_text
from zeronorm.report.wording import percent, short


def document(facts: dict[str, Any]) -> str:
    """Return the report; what comes from data or names is escaped."""
    measured = facts["measured"]
    parts = [f"# {plain_text(facts['title'])}", *map(plain_text, facts["verdict"])]
    if facts["comparison"]:
        labels = list(facts["comparison"][0]["shown"])
        rows = [[label, *(c["shown"][label] for c in facts["comparison"])] for label in labels]
        names = [entry["name"] for entry in facts["comparison"]]
        parts += ["## What was compared", table(["", *names], rows)]
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
    labels = [entry["label"] for entry in measured["classes"]]
    rows: list[list[str]] = [
        [label, *map(str, counts)]
        for label, counts in zip(labels, measured["confusion"], strict=True)
    ]
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
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    shown = [
        [*map(plain_text, lines[0])],
        lines[1],
        *([*map(plain_text, row)] for row in lines[2:]),
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in shown)
