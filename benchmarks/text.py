"""Recorded numbers as Markdown."""

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.statistics import Figure, mean_and_error


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def short(ratio: float) -> str:
    """A ratio, of two digits or to the unit."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def with_error(values: Sequence[float], sign: str = "", digits: int = 1) -> str:
    """Mean ± standard error; the mean alone of a single value."""
    mean, error = mean_and_error(values)
    text = f"{mean:{sign}.{digits}f}"
    return text if np.isnan(error) else f"{text} ± {error:.{digits}f}"


def figure(one: Figure, digits: int = 1) -> str:
    """Ours ± its error (published, difference in standard errors)."""
    text = f"{one.mean:.{digits}f}"
    if not np.isnan(one.error):
        text += f" ± {one.error:.{digits}f}"
    if one.published is None:
        return text
    distance = "" if np.isnan(one.distance) else f", {one.distance:+.1f}"
    return f"{text} ({one.published:.4g}{distance})"


def figure_tables(figures: Sequence[Figure]) -> str:
    """One Markdown table for each ``table`` of the figures."""
    parts = []
    for table in dict.fromkeys(one.table for one in figures):
        here = [one for one in figures if one.table == table]
        columns = list(dict.fromkeys(one.column for one in here))
        cells = {(one.row, one.column): one for one in here}
        lines = [
            [row, *(figure(cells[row, c]) if (row, c) in cells else "" for c in columns)]
            for row in dict.fromkeys(one.row for one in here)
        ]
        parts.append(f"{table}:\n\n{markdown(['', *columns], lines)}")
    return "\n\n".join(parts)
