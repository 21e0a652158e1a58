"""What a cell means: a number in one of several spellings, a date or a time.

A *form* says how the cells of a column are written, and turns one into a float; NaN is a cell that
it cannot read. Which form a column has is found by counting: the one that reads most cells.

Numbers may have a decimal point or comma, groups of three digits (1,234.5 and 1.234,5 and 1 234,5
and 1'234.5), a currency and a per cent sign. "1,234" alone could be either: then the other columns
of the file decide, and what stands between its cells. Dates are in :mod:`zeronorm.tables.dates`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zeronorm.tables.dates import DatePart
from zeronorm.tables.table import TableError, listing, plural

#: Signs and codes that may stand before or after an amount.
CURRENCIES = "€$£¥₹₽₩₺₫₪₴"
CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|BRL"
_MONEY = rf"(?:[{CURRENCIES}]|(?:{CODES}))"
_DECORATED = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{_MONEY})?\s*(?P<inner>[-+−]?)"
    rf"(?P<body>[\d.,'’\s]*\d[\d.,'’\s]*?(?:[eE][-+]?\d+)?)\s*(?P<after>{_MONEY}|%)?"
)
#: The body of a number with this decimal mark: digits, in groups of three or not, and a fraction.
_BODIES = {
    mark: re.compile(
        rf"(?:[1-9]\d{{0,2}}(?P<group>[{other}'’\s])\d{{3}}(?:(?P=group)\d{{3}})*|\d*)"
        rf"(?:[{mark}]\d*)?(?:[eE][-+]?\d+)?"
    )
    for mark, other in ((".", ","), (",", "."))
}


@dataclass(frozen=True)
class NumberForm:
    """Numbers with this decimal mark, and perhaps groups of digits, currencies or per cent."""

    decimal: str = "."

    what = "numbers"

    def value(self, cell: str) -> float:
        """Return the number in a cell; NaN if there is none."""
        return _value(_DECORATED.fullmatch(cell), self.decimal)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"decimal": self.decimal}


@dataclass(frozen=True)
class PlainForm:
    """Numbers as programs write them, with a decimal point and nothing else."""

    what = "numbers"

    def value(self, cell: str) -> float:
        """Return the number in a cell; NaN if there is none, or none that is finite."""
        if "_" in cell:  # Python reads 1_000 as a number; in a file it is a name
            return math.nan
        try:
            number = float(cell)
        except ValueError:
            return math.nan
        return number if math.isfinite(number) else math.nan

    def to_dict(self) -> None:
        """Return nothing: numbers are plain unless it is said."""
        return None


PLAIN = PlainForm()
Form = PlainForm | NumberForm | DatePart


def form_from_dict(data: Any) -> Form:
    """Return the form that `to_dict` described; `ValueError` if it is damaged."""
    if data is None:
        return PLAIN
    if isinstance(data, dict) and data.get("decimal") in (".", ",") and len(data) == 1:
        return NumberForm(data["decimal"])
    if isinstance(data, dict) and data.keys() == {"date", "part"}:
        return DatePart(data["date"], data["part"])
    raise ValueError(f"{data!r} is no form of cells")


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, finite or not."""
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def is_infinite(cell: str) -> bool:
    """Whether a cell is a number without end, or one beyond those that a computer has."""
    return is_number(cell) and math.isinf(float(cell))


def n_read(counts: Mapping[str, int], form: Form) -> int:
    """Return how many cells a form reads; `counts` says how often each spelling occurs."""
    return sum(count for cell, count in counts.items() if not math.isnan(form.value(cell)))


def has_decimal_comma(cells: Iterable[str]) -> bool:
    """Whether most cells are numbers with a decimal comma, and one of them can be nothing else."""
    known = list(cells)
    if not any("," in cell for cell in known):
        return False
    by_comma = [not math.isnan(NumberForm(",").value(cell)) for cell in known]
    by_point = [not math.isnan(NumberForm(".").value(cell)) for cell in known]
    only = sum(comma and not point for comma, point in zip(by_comma, by_point, strict=True))
    return bool(only) and sum(by_comma) > max(sum(by_point), len(known) // 2)


def number_form(counts: Mapping[str, int], decimal: str) -> tuple[Form, int]:
    """Return the form that reads most of the cells, and how many it reads.

    Parameters
    ----------
    counts : mapping of str to int
        Spellings, and how often each occurs.
    decimal : {".", ","}
        The decimal mark where both read as many.
    """
    plain = n_read(counts, PLAIN)
    total = sum(counts.values())
    if decimal == "." and plain == total:
        return PLAIN, plain
    found = {mark: n_read(counts, NumberForm(mark)) for mark in ".,"}
    other = "," if decimal == "." else "."
    best = other if found[other] > found[decimal] else decimal
    if plain >= found[best] and not (best == "," and _differs(counts)):
        return PLAIN, plain
    return NumberForm(best), found[best]


def _differs(counts: Mapping[str, int]) -> bool:
    """Whether a comma as decimal mark makes other numbers of these cells than a point does."""
    comma = NumberForm(",")
    return any(comma.value(cell) != PLAIN.value(cell) for cell in counts)


def decorations(cells: Iterable[str], form: NumberForm) -> dict[str, str]:
    """Return what is special about these numbers, each with a cell that has it."""
    found: dict[str, str] = {}
    for cell in cells:
        match = _DECORATED.fullmatch(cell)
        if match is None or math.isnan(_value(match, form.decimal)):
            continue
        body = _BODIES[form.decimal].fullmatch(match["body"])
        assert body is not None
        if form.decimal == "," and "," in match["body"]:
            found.setdefault("Decimal comma", cell)
        if body["group"]:
            found.setdefault("Thousands separator", cell)
        if match["after"] == "%":
            found.setdefault("Per cent sign", cell)
        elif match["before"] or match["after"]:
            found.setdefault("Currency", cell)
    return found


def _value(match: re.Match[str] | None, decimal: str) -> float:
    if match is None or (match["sign"] and match["inner"]):
        return math.nan
    if match["before"] and match["after"] and match["after"] != "%":
        return math.nan
    body = _BODIES[decimal].fullmatch(match["body"])
    if body is None:
        return math.nan
    digits = match["body"]
    if body["group"]:
        digits = digits.replace(body["group"], "")
    sign = -1.0 if (match["sign"] or match["inner"]) in ("-", "−") else 1.0
    number = PLAIN.value(digits.replace(decimal, "."))
    return sign * number


def counted(cells: Iterable[str], missing: frozenset[str]) -> Counter[str]:
    """Return how often each spelling occurs, those of missing cells left out."""
    counts = Counter(cells)
    for cell in missing & counts.keys():
        del counts[cell]
    return counts


#: Categories that are all unknown are worth a note from so many cells on: a few may be by chance.
MANY_UNKNOWN = 10


@dataclass
class _Count:
    what: str
    n_known: int = 0
    n_bad: int = 0
    line: int = 0
    cell: str = ""

    def add(self, n_known: int, bad: list[tuple[int, str]]) -> None:
        if bad and not self.n_bad:
            self.line, self.cell = bad[0]
        self.n_known += n_known
        self.n_bad += len(bad)


@dataclass
class BadCells:
    """How many cells of each column are not what the column holds, and the first of them.

    Cells of categories that no model knows are counted apart: they are good, but may be misspelled.

    Parameters
    ----------
    is_strict : bool
        Whether one such cell is an error.
    """

    is_strict: bool = False
    counts: dict[str, _Count] = field(default_factory=dict)
    categories: dict[str, _Count] = field(default_factory=dict)

    def add(
        self, path: str, column: str, what: str, n_known: int, bad: list[tuple[int, str]]
    ) -> None:
        """Count cells of a piece of a file.

        Parameters
        ----------
        path, column : str
            Where they are.
        what : str
            What the column holds: numbers, or dates.
        n_known : int
            How many cells are not missing.
        bad : list of (line, cell)
            Those that are something else.

        Raises
        ------
        TableError
            If there is one and none is allowed, or if all cells so far are of that kind.
        """
        count = self.counts.setdefault(column, _Count(what))
        count.add(n_known, bad)
        first = f"line {count.line} is '{count.cell}'"
        if count.n_bad and self.is_strict:
            raise TableError(
                f"{path}: {_share(column, count)}; {first}, and --strict allows no such cell."
            )
        if count.n_bad == count.n_known > 1:
            raise TableError(
                f"{path}: none of the {count.n_known} cells of '{column}' is one of {what} as they "
                f"are read here; {first}. If numbers are written in another way, give --decimal."
            )

    def add_categories(self, column: str, n_known: int, unknown: list[tuple[int, str]]) -> None:
        """Count the categories in a piece of a file: those not missing, and those unknown."""
        self.categories.setdefault(column, _Count("categories")).add(n_known, unknown)

    def notes(self) -> list[str]:
        """Return a sentence for each column that has such cells, one for unknown categories."""
        return self._notes_on_categories() + [
            f"{_share(column, count)}; line {count.line} is '{count.cell}': such cells count as "
            "missing (--strict refuses them)."
            for column, count in self.counts.items()
            if count.n_bad
        ]

    def _notes_on_categories(self) -> list[str]:
        strange = {
            column: count
            for column, count in self.categories.items()
            if count.n_bad == count.n_known >= MANY_UNKNOWN
        }
        if not strange:
            return []
        name, first = next(iter(strange.items()))
        return [
            f"No cell of {plural(len(strange), 'column')} {listing(strange)} is a category that "
            f"the model knows (in '{name}', line {first.line} is '{first.cell}'), so they tell "
            "it nothing; see how they are spelled where it was trained."
        ]


def _share(column: str, count: _Count) -> str:
    return f"{count.n_known - count.n_bad} of {count.n_known} cells of '{column}' are {count.what}"
