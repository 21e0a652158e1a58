"""Tables, bars and figures of a page. Every text that comes in is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from zeronorm.report.wording import plural


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
