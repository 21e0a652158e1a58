"""Parts of a page: tables, bars, figures, and the controls with which its model runs.

Every text that comes in is escaped here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from zeronorm.export.javascript import literal
from zeronorm.report.page import SLIDERS
from zeronorm.report.wording import cell_text, plural, short

#: At most so many columns get a control.
SLIDER_COLUMNS = 12


def table(head: Sequence[str], rows: Iterable[Sequence[str]], marked: bool = False) -> str:
    """Return a table of texts; ``marked`` sets off its diagonal."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for i, (name, *cells) in enumerate(rows):
        entries = [
            f'<td class="right">{escape(c)}</td>' if marked and i == j else f"<td>{escape(c)}</td>"
            for j, c in enumerate(cells)
        ]
        lines.append(f"<tr><th>{escape(name)}</th>{''.join(entries)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def bars(entries: Iterable[tuple[str, float, str]]) -> str:
    """Return horizontal bars: a name, a value and its text each."""
    entries = list(entries)
    most = max((abs(value) for _, value, _ in entries), default=0.0) or 1.0
    parts = [
        f'<div class="bar"><div class="name">{escape(name)}</div><div class="track">'
        f'<div class="fill{" less" * (value < 0)}" style="width:{100 * abs(value) / most:.1f}%">'
        f'</div></div><div class="amount">{escape(text)}</div></div>'
        for name, value, text in entries
    ]
    return f'<div class="bars">{"".join(parts)}</div>\n'


def figure(drawn: str, key: str, note: str) -> str:
    """Return a plot with its key and a note; both parts are HTML already, the note is text."""
    return f"<figure>{drawn}{key}<figcaption>{escape(note)}</figcaption></figure>\n"


def rest(entries: Sequence[Any], most: int, noun: str) -> str:
    """Say how many entries are not shown, if any are not."""
    left = len(entries) - most
    return f'<p class="quiet">And {plural(left, noun)} more.</p>' if left > 0 else ""


def controls(facts: dict[str, Any], code: str | None) -> str:
    """Return a control for each of the most important columns, and room for the answer."""
    if code is None:
        return "<p>The model is too large to be run in this page.</p>"
    order = [entry["column"] for entry in facts["model"].get("columns", [])]
    order = order or [entry["column"] for entry in facts["inputs"]]
    index_of = {entry["column"]: index for index, entry in enumerate(facts["inputs"])}
    made = [
        _control(index_of[name], facts["inputs"][index_of[name]]) for name in order[:SLIDER_COLUMNS]
    ]
    note = (
        "The model itself, running in this page. It starts at medians and the commonest categories."
    )
    return (
        f'<p class="quiet">{note}</p><div class="try"><div class="controls">{"".join(made)}'
        f'<button type="button" id="reset">Back to the start</button>'
        f"{rest(order, SLIDER_COLUMNS, 'column')}</div>"
        '<div class="answer card narrow"><p class="quiet">Prediction</p><p id="prediction">'
        "<noscript>This part needs JavaScript.</noscript></p>"
        '<div class="bars" id="values"></div></div></div>'
    )


def _control(index: int, entry: dict[str, Any]) -> str:
    name = escape(entry["column"])
    if "levels" in entry:
        options = [
            f'<option value="{escape(json.dumps(level))}"'
            f"{' selected' * (level == entry['start'])}>{escape(cell_text(level))}</option>"
            for level in [*entry["levels"], None]
        ]
        return (
            f'<label><span class="name">{name}</span>'
            f'<select data-column="{index}">{"".join(options)}</select></label>'
        )
    low, high, start = entry["low"], entry["high"], entry["start"]
    if not high > low:
        return ""
    step = "1" if entry["is_whole"] else "any"
    return (
        f'<label><span class="name">{name} <output id="at{index}">{short(start)}</output></span>'
        f'<input type="range" data-column="{index}" min="{low!r}" max="{high!r}" step="{step}" '
        f'value="{start!r}"></label>'
    )


def script(facts: dict[str, Any], code: str) -> str:
    """Return the script that runs the exported model when a control moves."""
    model = facts["model"]
    names = facts["scores"]
    if model["kind"] == "classes":
        names = [f"decision value of {name}" for name in names]
    start = [entry["start"] for entry in facts["inputs"]]
    return SLIDERS.substitute(
        code=code,
        start=literal(start),
        range=literal(facts["decision_range"]),
        names=literal(names),
        labels=literal([str(label) for label in model["labels"]]),
    )
