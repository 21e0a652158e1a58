"""What all parts of a statement share: dialects, names, constants, the chain of queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    zero. ``has_nan``: a column may hold NaN, which is then missing. ``text`` is the type of texts,
    empty where it has no common name, ``type_of`` tells the type of a column where one may hold
    truth values, and ``trim`` takes white space off both ends of a text.
    """

    name: str
    longest: int
    fence: str = ""
    greatest: str = "GREATEST"
    is_strict: bool = False
    has_nan: bool = False
    text: str = ""
    type_of: str = ""
    trim: str = "TRIM({0})"


#: White space of ASCII, as in Python.
BLANKS = (*range(9, 14), *range(28, 33))
#: Codes, so that a statement which is copied keeps them.
CHARACTERS = " || ".join(f"CHR({code})" for code in BLANKS)
CODES = ", ".join(map(str, BLANKS))

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        # A million characters is what SQLite is built with. DuckDB takes more, but its time to
        # plan grows with the square: 4 s for 740 000.
        Dialect(
            "duckdb",
            1_000_000,
            has_nan=True,
            text="TEXT",
            type_of="TYPEOF({0})",
            trim=f"TRIM({{0}}, {CHARACTERS})",
        ),
        Dialect(
            "sqlite",
            1_000_000,
            " LIMIT -1 OFFSET 0",
            "MAX",
            text="TEXT",
            trim=f"TRIM({{0}}, CHAR({CODES}))",
        ),
        Dialect(
            "postgresql",
            4_000_000,
            " OFFSET 0",
            is_strict=True,
            has_nan=True,
            text="TEXT",
            type_of="CAST(PG_TYPEOF({0}) AS TEXT)",
            trim=f"BTRIM({{0}}, {CHARACTERS})",
        ),
        Dialect("standard", 1_000_000),
    )
}


class Query:
    """A chain of queries; each adds its columns to those that the next one needs.

    ``taken`` are names that no query may have.
    """

    def __init__(self, dialect: Dialect, table: str, taken: Sequence[str] = ()) -> None:
        self.dialect = dialect
        self.parts: list[str] = []
        self.source = table
        # A query with the name of a table would hide it; names differ by more than their case.
        self.prefix = "step"
        while any(re.fullmatch(rf"{self.prefix}\d+", name, re.IGNORECASE) for name in taken):
            self.prefix += "_"

    def add(self, columns: dict[str, str]) -> None:
        """Add a query with these columns."""
        selected = _selected(columns)
        name = f"{self.prefix}{len(self.parts)}"
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
