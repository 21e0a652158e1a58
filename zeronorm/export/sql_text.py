"""What all parts of a statement share: dialects, names, constants, the chain of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.checks import is_text
from zeronorm.export.text import number


@dataclass(frozen=True)
class Dialect:
    """What differs between databases.

    ``fence`` keeps a query from being merged into the one around it; ``greatest`` is the function
    of several values. ``is_strict``: an exponential of a very negative number is an error and not
    zero. ``has_nan``: a column may hold NaN, which is then missing.
    """

    name: str
    longest: int
    fence: str = ""
    greatest: str = "GREATEST"
    is_strict: bool = False
    has_nan: bool = False


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        # A million characters is what SQLite is built with. DuckDB takes more, but its time to
        # plan grows with the square: 4 s for 740 000.
        Dialect("duckdb", 1_000_000, has_nan=True),
        Dialect("sqlite", 1_000_000, " LIMIT -1 OFFSET 0", "MAX"),
        Dialect("postgresql", 4_000_000, " OFFSET 0", is_strict=True, has_nan=True),
        Dialect("standard", 1_000_000),
    )
}


class Query:
    """A chain of queries; each adds its columns to those that the next one needs."""

    def __init__(self, dialect: Dialect, table: str) -> None:
        self.dialect = dialect
        self.parts: list[str] = []
        self.source = table

    def add(self, columns: dict[str, str]) -> None:
        """Add a query with these columns."""
        selected = _selected(columns)
        name = f"step{len(self.parts)}"
        self.parts.append(
            f"{name} AS (\n  SELECT {selected}\n  FROM {self.source}{self.dialect.fence}\n)"
        )
        self.source = name

    def ended(self, columns: dict[str, str]) -> str:
        """Return the statement with these columns."""
        return (
            "WITH " + ", ".join(self.parts) + f"\nSELECT {_selected(columns)}\nFROM {self.source}"
        )


def _selected(columns: dict[str, str]) -> str:
    pairs = columns.items()
    return ",\n  ".join(name if text == name else f"{text} AS {name}" for name, text in pairs)


def quoted(name: str) -> str:
    """Return a name in quotes, whatever is in it."""
    if not is_text(name) or not name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a column or table.")
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a constant; numbers always with an exponent, which makes them floating point."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if np.isnan(value):
        return "CAST(NULL AS DOUBLE PRECISION)"
    text = number(value)
    return text if "e" in text else text + "e0"
