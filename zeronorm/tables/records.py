"""From lines of text to records: separators, quotes, the header."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from zeronorm.tables.table import TableError, plural

#: Most characters in a line, so that a file that is no table does not fill the memory; a million
#: columns fit. A cell has at most `csv.field_size_limit()`, 131 072.
MAX_LINE = 2**24

#: What may stand between cells, and what it may be called on the command line.
SEPARATORS = ",;\t|"
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|",
                   "bar": "|", "space": " "}  # fmt: skip


def check_separator(text: str | None) -> str | None:
    """Return the character that an option means; `TableError` if it is none."""
    if text is None:
        return None
    found = SEPARATOR_NAMES.get(text, text)
    if len(found) != 1 or found in "\"'\r\n" or found.isalnum():
        raise TableError(
            f"--sep is one character, such as ';', or comma, semicolon, tab, pipe or space; not "
            f"'{text}'."
        )
    return found


def begin(
    path: str, file: TextIO, sep: str | None, *, max_line: int = MAX_LINE
) -> tuple[list[str], str, Iterator[tuple[int, list[str]]]]:
    """Read the header; return names, separator and the records below, each with its line."""
    lines = _bounded_lines(path, file, max_line)
    start, first = next(((n, t) for n, t in enumerate(lines, start=1) if t.strip()), (1, ""))
    separator = sep or _separator_of(first)
    records = _records(path, itertools.chain([first], lines), separator, start)
    header = next(records, None)
    if header is None:
        raise TableError(f"{path} is empty; it needs a header line and at least one row.")
    names = header[1]
    check_names(path, names)
    return names, separator, _of_width(path, records, names)


def _of_width(
    path: str, records: Iterable[tuple[int, list[str]]], names: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    for line, row in records:
        if len(row) != len(names):
            found = f"{len(row)} {plural(len(row), 'field')}"
            raise TableError(f"{path}, line {line}: {found} where the header has {len(names)}.")
        yield line, row


def _separator_of(header: str) -> str:
    bare = re.sub(r'"[^"]*"', "", header) if '"' in header else header
    return max(SEPARATORS, key=bare.count)


def _bounded_lines(path: str, file: TextIO, max_line: int) -> Iterator[str]:
    for number in itertools.count(1):
        line = file.readline(max_line + 1)
        if len(line) > max_line:
            raise TableError(
                f"{path}, line {number}: longer than {max_line} characters; is it a CSV file?"
            )
        if not line:
            return
        yield line


def _records(
    path: str, lines: Iterable[str], separator: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line it starts on, cells without surrounding blanks) for every record.

    The first of the lines is line `first` of the file.
    """
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    start = first
    try:
        for record in reader:
            if record:
                yield start, [cell.strip() for cell in record]
            start = first + reader.line_num
    except csv.Error as error:
        reason = "a quotation mark is not closed" if "end of data" in str(error) else str(error)
        raise TableError(f"{path}, line {start}: not a line of a CSV file ({reason}).") from None


def check_names(path: str, names: Sequence[str]) -> None:
    """Raise `TableError` unless there are names of columns, and no name twice."""
    if not any(names):
        raise TableError(f"{path} has no column names in its first line.")
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise TableError(f"{path} has more than one column called '{name}'; rename one.")
        seen.add(name)
