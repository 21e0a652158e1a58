"""Where tables come from: files, compressed or not, in several encodings, pipes, Parquet.

A file is read as records, one list of cells a row, in pieces of many rows; :func:`read_table`
joins all pieces. Text is UTF-8, UTF-16 (told by its first bytes) or, if it is neither, the Latin
alphabet of Windows, which is said in a note.
"""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from zeronorm.tables.records import begin
from zeronorm.tables.table import Table, TableError

#: Most cells in a piece of a file that is read piece by piece.
MOST_CELLS = 2**21

#: Encodings that a text without a mark at its beginning is tried in. The last one takes any bytes.
ENCODINGS = ("utf-8", "cp1252", "latin-1")
LATIN = "is not UTF-8 and was read as Latin-1 (Windows-1252); if letters look wrong, save as UTF-8"


def title_of(path: str | Path) -> str:
    """Return what messages call a file; ``-`` is standard input."""
    return "standard input" if str(path) == "-" else str(path)


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
        return source.table()


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
        if self.is_parquet:
            return self.n_read / self.n_rows
        size = os.fstat(self.file.fileno()).st_size
        return min(1.0, self.file.tell() / size) if size else 0.0

    @property
    def n_cells(self) -> int | None:
        """Number of cells, where the file tells it."""
        if not self.is_parquet:
            return None
        from zeronorm.tables.parquet import open_parquet

        found = open_parquet(self.name, self.stream).metadata
        return found.num_rows * found.num_columns

    def table(self) -> Table:
        """Return all of it."""
        (table,) = self.pieces(None)
        return table

    def pieces(self, size: int | None) -> Iterator[Table]:
        """Yield the rows, `size` at a time, or all at once; `TableError` if there is none."""
        if self.is_parquet:
            from zeronorm.tables.parquet import open_parquet, parquet_pieces

            file = open_parquet(self.name, self.stream)
            self.n_rows, self.n_read = file.metadata.num_rows, 0
            for piece in parquet_pieces(self.name, file, size):
                self.n_read += piece.n_rows
                yield piece
            return
        text = io.TextIOWrapper(self.stream, encoding=self.encoding, newline="")
        try:
            yield from self._text_pieces(text, size)
        finally:
            if not self.stream.closed:
                text.detach()  # the file is closed by who opened it

    def tables(self, size: int) -> Iterator[Table]:
        """Return the pieces from the first row on, also after they were read."""
        self.stream.seek(0)
        return self.pieces(size)

    def _text_pieces(self, text: TextIO, size: int | None) -> Iterator[Table]:
        names, separator, records = begin(self.name, text, self.sep)
        is_empty = True
        size = None if size is None else rows_at_once(size, names)
        while batch := list(itertools.islice(records, size)):
            is_empty = False
            lines, rows = zip(*batch, strict=True)
            yield Table(self.name, cells_of(names, rows), list(lines), separator, self.notes)
        if is_empty:
            raise TableError(f"{self.name} has a header but no rows.")


def rows_at_once(size: int, names: Sequence[str]) -> int:
    """Return how many rows a piece has: at most `size`, and fewer if they are long."""
    return max(1, min(size, MOST_CELLS // len(names)))


def cells_of(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the cells of rows column by column, those of columns without a name left out."""
    return {n: c for n, c in zip(names, zip(*rows, strict=True), strict=True) if n}


@contextmanager
def _readable(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file; what comes through a pipe is kept in a temporary one, to be read again."""
    is_input = str(path) == "-"
    with nullcontext(sys.stdin.buffer) if is_input else open(path, "rb") as stream:
        if not (is_input or stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)):
            yield stream
            return
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
