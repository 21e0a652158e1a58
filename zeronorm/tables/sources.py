"""Where tables come from: files, compressed or not, in several encodings, pipes, Parquet.

A file is read as records, one list of cells a row, in pieces of many rows; :func:`read_table`
joins all pieces. Text is UTF-8, UTF-16 (told by its first bytes) or, if it is neither, the Latin
alphabet of Windows, which is said in a note.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from zeronorm.tables.table import Table, TableError, plural

#: Most characters in a line, so that a file that is no table does not fill the memory; a million
#: columns fit. A cell has at most `csv.field_size_limit()`, 131 072.
MAX_LINE = 2**24

#: What may stand between cells, and what it may be called on the command line.
SEPARATORS = ",;\t|"
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|",
                   "bar": "|", "space": " "}  # fmt: skip

#: Encodings that a text without a mark at its beginning is tried in. The last one takes any bytes.
ENCODINGS = ("utf-8", "cp1252", "latin-1")
LATIN = "is not UTF-8 and was read as Latin-1 (Windows-1252); if letters look wrong, save as UTF-8"


@dataclass(frozen=True)
class Piece:
    """Some rows of a file: the names of the columns, the cells of each row, and their lines."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    separator: str = ","

    def table(self, path: str, notes: tuple[str, ...] = ()) -> Table:
        """Return the cells column by column, those of columns without a name left out."""
        columns = zip(*self.rows, strict=True)
        cells: dict[str, Sequence[str]] = {
            n: c for n, c in zip(self.names, columns, strict=True) if n
        }
        return Table(path, cells, self.lines, self.separator, notes)


def title_of(path: str | Path) -> str:
    """Return what messages call a file; ``-`` is standard input."""
    return "standard input" if str(path) == "-" else str(path)


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


def read_table(path: str | Path, sep: str | None = None) -> Table:
    """Read a table with a header: CSV text, compressed by gzip or not, or Parquet.

    What stands between cells is a comma, a semicolon, a tab or a vertical bar: the one that the
    header holds most of. Empty lines are passed over, and so are columns without a name (the row
    index that pandas writes).

    Parameters
    ----------
    path : str or Path
        A file, a pipe, or "-" for standard input; no line is longer than `MAX_LINE`.
    sep : str, optional
        What stands between cells, if it is to be something else.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read as a table with at least one row.
    """
    with Source.opened(path, sep) as source:
        (piece,) = source.pieces(None)
        return piece.table(source.name, source.notes)


class Source:
    """A table in a file.

    Parameters
    ----------
    name : str
        What messages call it.
    stream : binary file
        Its bytes, from the first one on.
    sep : str or None
        What stands between cells; None to find out.

    Attributes
    ----------
    is_parquet : bool
        Whether it is a Parquet file and no text.
    notes : tuple of str
        What a user should hear of how it is read.
    """

    def __init__(self, name: str, stream: BinaryIO, sep: str | None = None) -> None:
        self.name = name
        self.sep = sep
        self.notes: tuple[str, ...] = ()
        head = _peek(stream)
        if head.startswith(b"PK\x03\x04"):
            raise TableError(
                f"{name} is a spreadsheet or a ZIP archive; save the table as CSV and take that."
            )
        self.is_parquet = head.startswith(b"PAR1")
        self.is_compressed = head.startswith(b"\x1f\x8b")
        self.file = stream
        self.stream = cast(BinaryIO, gzip.open(stream)) if self.is_compressed else stream
        if not self.is_parquet:
            self.encoding = _encoding(name, self.stream)
            if self.encoding in ("cp1252", "latin-1"):
                self.notes = (f"{name} {LATIN}.",)

    @classmethod
    @contextmanager
    def opened(cls, path: str | Path, sep: str | None = None) -> Iterator[Source]:
        """Open a file, or a copy of what comes through a pipe; `TableError` if it is impossible."""
        name = title_of(path)
        try:
            with _readable(path) as stream:
                yield cls(name, stream, sep)
        except FileNotFoundError:
            raise TableError(f"There is no file {path}.") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise TableError(f"{name} is a damaged gzip file: {error}.") from None
        except UnicodeError as error:  # of UTF-16 that is cut in the middle
            raise TableError(f"{name} is damaged: {error}.") from None
        except OSError as error:
            raise TableError(f"{name} cannot be read: {error.strerror or error}.") from None

    @property
    def share(self) -> float:
        """Return how much of the file has been read, between 0 and 1; 0 where nobody knows."""
        size = os.fstat(self.file.fileno()).st_size
        return min(1.0, self.file.tell() / size) if size and not self.is_parquet else 0.0

    def pieces(self, size: int | None) -> Iterator[Piece]:
        """Yield the rows, `size` at a time, or all at once; `TableError` if there is none."""
        if self.is_parquet:
            from zeronorm.tables.parquet import parquet_pieces

            yield from parquet_pieces(self.name, self.stream, size)
            return
        text = io.TextIOWrapper(self.stream, encoding=self.encoding, newline="")
        try:
            yield from self._text_pieces(text, size)
        finally:
            text.detach()  # the file is closed by who opened it

    def _text_pieces(self, text: TextIO, size: int | None) -> Iterator[Piece]:
        names, separator, records = _begin(self.name, text, self.sep)
        is_empty = True
        while batch := list(itertools.islice(records, size)):
            is_empty = False
            lines, rows = zip(*batch, strict=True)
            yield Piece(names, rows, list(lines), separator)
        if is_empty:
            raise TableError(f"{self.name} has a header but no rows.")


@contextmanager
def _readable(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file; what comes through a pipe is kept in a temporary one, to be read again."""
    if str(path) == "-":
        with _spooled(sys.stdin.buffer) as stream:
            yield stream
        return
    with open(path, "rb") as stream:
        if stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            with _spooled(stream) as copy:
                yield copy
        else:
            yield stream


@contextmanager
def _spooled(stream: BinaryIO) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy, 2**20)
        copy.seek(0)
        with open(copy.fileno(), "rb", closefd=False) as again:
            yield again


def _peek(stream: BinaryIO) -> bytes:
    """Return the first bytes without taking them."""
    return cast(io.BufferedReader, stream).peek(4096)[:4096]


def _encoding(name: str, stream: BinaryIO) -> str:
    """Return the encoding of a text, which is then at its beginning again.

    All of a file is looked at, so that its last line is not found to be something else after an
    hour; of a device, which may have no end, the beginning.
    """
    head = _peek(stream)
    marked = _marked_encoding(head)
    if marked is not None or stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
        return marked or "utf-8"
    found = next(encoding for encoding in ENCODINGS if _decodes(stream, encoding))
    if found != "utf-8" and any(byte < 32 and byte not in b"\t\n\r\f" for byte in head):
        raise TableError(f"{name} is not a text file; save the table as CSV in UTF-8.")
    return found


def _decodes(stream: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := stream.read(2**20):
            decoder.decode(block)
        decoder.decode(b"", final=True)
        return True
    except UnicodeDecodeError:
        return False
    finally:
        stream.seek(0)


def _marked_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes tell; None if they do not."""
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # Without a mark: plain letters in UTF-16 have a zero in every other byte.
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, letters = head[first::2], head[1 - first :: 2]
        if len(head) > 1 and not any(zeros[:40]) and all(letters[:40]):
            return encoding
    return None


def _begin(
    path: str, file: TextIO, sep: str | None
) -> tuple[list[str], str, Iterator[tuple[int, list[str]]]]:
    """Read the header; return names, separator and the records below, each with its line."""
    lines = _bounded_lines(path, file)
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


def _bounded_lines(path: str, file: TextIO) -> Iterator[str]:
    for number in itertools.count(1):
        line = file.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise TableError(
                f"{path}, line {number}: longer than {MAX_LINE} characters; is it a CSV file?"
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
        raise TableError(f"{path}, line {start}: not a line of a CSV file ({error}).") from None


def check_names(path: str, names: Sequence[str]) -> None:
    """Raise `TableError` unless there are names of columns, and no name twice."""
    if not any(names):
        raise TableError(f"{path} has no column names in its first line.")
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise TableError(f"{path} has more than one column called '{name}'.")
        seen.add(name)
