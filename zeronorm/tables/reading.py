"""From cells to arrays: what each column is found to be.

Nothing here learns from the values: what does (fills, means, scales, levels) is a transformer in
:mod:`zeronorm.tables.model`, so that it can be fitted inside the folds of a cross-validation.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from zeronorm.tables.cells import (
    PLAIN,
    Form,
    NumberForm,
    counted,
    decorations,
    has_decimal_comma,
    is_infinite,
    is_number,
    n_read,
    number_form,
)
from zeronorm.tables.columns import Column
from zeronorm.tables.dates import (
    ORDERS,
    PARTS,
    DatePart,
    days_of,
    might_be_date,
    parts_of,
    shown_day,
)
from zeronorm.tables.table import MISSING, Table, TableError, listing, plural

#: More different texts than this in one column look like names or identifiers, not categories.
MAX_LEVELS = 100

#: A column is one of numbers, or dates, in spite of cells that are none, if so large a share is
#: and there are more different ones than this; else such a cell is a category ("3+" beside 0 to 2).
MOSTLY, FEW_NUMBERS = 0.9, 20
#: The share in a column that would be left out otherwise, of too many texts to be categories.
AT_LEAST = 0.5


@dataclass
class _Findings:
    """What is worth saying about the cells of columns, several columns in one sentence."""

    is_beginning: bool = False
    left_out: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    special: dict[tuple[str, str], tuple[list[str], str]] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """Return all of it."""
        special = [
            f"{what} in {plural(len(names), 'column')} {listing(names)}: {text}"
            for (what, _), (names, text) in self.special.items()
        ]
        return [*self.left_out, *special, *self.dates]


def infer_columns(
    table: Table,
    leave_out: Collection[str] = (),
    as_category: Collection[str] = (),
    decimal: str | None = None,
    is_beginning: bool = False,
) -> tuple[list[Column], list[str]]:
    """Decide what each column is.

    A column whose known cells read as numbers or as dates, all of them or nearly all, is one of
    numbers; any other is one of categories. Columns that are empty, and categories with more than
    `MAX_LEVELS` levels or as many as rows, are of no use.

    Parameters
    ----------
    table : Table
        The training rows.
    leave_out : collection of str
        Columns that are not to be used, the target among them.
    as_category : collection of str
        Columns of categories that are coded as numbers.
    decimal : {".", ","}, optional
        The decimal mark of all numbers; found out if it is not given.
    is_beginning : bool
        Whether more rows follow: dates may then go round circles that these do not.

    Returns
    -------
    columns : list of Column
        The columns to use.
    notes : list of str
        One sentence for each column that was passed over, and for what is read in another way
        than as plain numbers.

    Raises
    ------
    TableError
        If no column is left.
    """
    for name in (*leave_out, *as_category):
        table.column(name)
    used = {
        name: counted(cells, MISSING)
        for name, cells in table.cells.items()
        if name not in leave_out
    }
    usual = decimal or ("," if _looks_comma(table, used) else ".")
    columns: list[Column] = []
    findings = _Findings(is_beginning)
    for name, counts in used.items():
        if not counts:
            findings.left_out.append(f"Column '{name}' is left out: it is empty.")
            continue
        found = None if name in as_category else _numeric(name, counts, usual, decimal, findings)
        columns += _categories(name, counts, findings) if found is None else found
    notes = findings.sentences()
    if not columns:
        raise TableError(f"{table.path} has no column to predict from. {' '.join(notes)}".rstrip())
    return columns, notes


def _looks_comma(table: Table, used: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether a comma in this file is a decimal one, where it could be either.

    Commas between cells can stand in quoted ones only, which is where programs put the groups of
    digits of an amount.
    """
    return any(has_decimal_comma(counts) for counts in used.values()) or table.separator == ";"


def _numeric(
    name: str,
    counts: Mapping[str, int],
    usual: str,
    decimal: str | None,
    findings: _Findings,
) -> list[Column] | None:
    """Return the columns of numbers that a column is; None if its cells are categories."""
    form, n_numbers = number_form(counts, usual)
    is_plain = form is PLAIN and n_numbers == sum(counts.values())
    if decimal == "," or (decimal == "." and not is_plain):
        form, n_numbers = NumberForm(decimal), n_read(counts, NumberForm(decimal))
    # An infinite number is none to compute with, but it makes no category of a column.
    n_infinite = sum(n for cell, n in counts.items() if is_infinite(cell))
    if _are_mostly(n_numbers + n_infinite, counts, form):
        if isinstance(form, NumberForm):
            _say_special(name, counts, form, findings)
        return [Column(name, form=form)]
    if not all(map(might_be_date, list(counts)[:20])):
        return None
    read = {order: n_read(counts, DatePart(order)) for order in ORDERS}
    order = max(ORDERS, key=lambda one: read[one])
    if not read[order] or not _are_mostly(read[order], counts, None):
        return None
    return _date_columns(name, counts, order, read, findings)


def _are_mostly(n_good: int, counts: Mapping[str, int], form: Form | None) -> bool:
    """Whether so many cells are enough for a column of numbers, or of dates (no form)."""
    total = sum(counts.values())
    if n_good == total:
        return True
    share = n_good / total
    if form is None:
        return share >= MOSTLY
    n_different = sum(not math.isnan(form.value(cell)) for cell in counts)
    if len(counts) > MAX_LEVELS:
        return share >= AT_LEAST
    return share >= MOSTLY and n_different > FEW_NUMBERS


def _say_special(
    name: str, counts: Mapping[str, int], form: NumberForm, findings: _Findings
) -> None:
    other = NumberForm("." if form.decimal == "," else ",")
    is_doubtful = n_read(counts, other) == n_read(counts, form)
    for what, cell in decorations(counts, form).items():
        text = f"'{cell}' is read as {form.value(cell):.15g}."
        doubt = ""
        if is_doubtful and what in ("Decimal comma", "Thousands separator"):
            doubt = f" Give --decimal {other.decimal} if that is wrong."
        findings.special.setdefault((what, doubt), ([], text + doubt))[0].append(name)


def _date_columns(
    name: str,
    counts: Mapping[str, int],
    order: str,
    read: Mapping[str, int],
    findings: _Findings,
) -> list[Column]:
    days = {cell: days_of(cell, order) for cell in counts}
    known = [day for day in days.values() if not math.isnan(day)]
    parts = parts_of(known, order)
    if findings.is_beginning and order != "time":
        parts = list(PARTS)
    what = "times" if order == "time" else "dates"
    shown = [shown_day(day, order) for day in (min(known), max(known))]
    circles = list(dict.fromkeys(part.split(", ")[0] for part in parts[1:]))
    number = "a share of the day" if order == "time" else "a number of days"
    text = f"Column '{name}' holds {what}, {shown[0]} to {shown[1]}. It becomes {number}"
    text += f" and, as sine and cosine, {', '.join(circles)}." if circles else "."
    if order in ("mdy", "dmy") and read["mdy"] == read["dmy"]:
        example = next(cell for cell, day in days.items() if not math.isnan(day))
        text += (
            f" '{example}' is read as {shown_day(days[example], order)}, the month first; write "
            "dates as 2020-12-31 if that is wrong."
        )
    findings.dates.append(text)
    return [Column(f"{name} ({part})", form=DatePart(order, part), source=name) for part in parts]


def _categories(name: str, counts: Mapping[str, int], findings: _Findings) -> list[Column]:
    if len(counts) > MAX_LEVELS:
        reason = f"are too many to be categories (more than {MAX_LEVELS})"
    elif len(counts) > FEW_NUMBERS and max(counts.values()) == 1:
        reason = "are no categories: none occurs twice"
    else:
        return [Column(name, tuple(sorted(counts)))]
    example = min((cell for cell in counts if not is_number(cell)), default=min(counts))
    findings.left_out.append(
        f"Column '{name}' is left out: its {len(counts)} different texts (such as {example!r}) "
        f"{reason}."
    )
    return []
