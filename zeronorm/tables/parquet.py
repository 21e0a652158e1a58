"""Tables in Parquet files, by pyarrow, as the same text that a CSV file would hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from zeronorm.tables.records import check_names
from zeronorm.tables.sources import cells_of, rows_at_once
from zeronorm.tables.table import Table, TableError


def parquet_pieces(name: str, file: Any, size: int | None) -> Iterator[Table]:
    """Yield the rows of a Parquet file, `size` at a time, or all at once.

    Rows are numbered as the lines of a CSV file would be: the first one is on line 2. Columns of
    lists and the like, which no cell could hold, have no name and so are passed over.
    """
    if not file.metadata.num_rows:
        raise TableError(f"{name} has columns but no rows.")
    schema = file.schema_arrow
    names = [field.name.strip() if _is_flat(field.type) else "" for field in schema]
    check_names(name, names)
    size = None if size is None else rows_at_once(size, names)
    start = 2
    rows: list[tuple[str, ...]] = []
    for batch in file.iter_batches(min(size or 2**16, 2**16)):
        texts = [
            _texts(column) if n else [""] * len(column)
            for n, column in zip(names, batch, strict=True)
        ]
        rows += zip(*texts, strict=True)
        while size and len(rows) >= size:
            yield Table(name, cells_of(names, rows[:size]), range(start, start + size))
            start, rows = start + size, rows[size:]
    if rows:
        yield Table(name, cells_of(names, rows), range(start, start + len(rows)))


def open_parquet(name: str, stream: BinaryIO) -> Any:
    """Open a Parquet file; `TableError` if it is damaged, or pyarrow is not there."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise TableError(
            f"{name} is a Parquet file, which takes pyarrow: pip install 'zeronorm[parquet]'."
        ) from None
    try:
        return ParquetFile(stream)
    except pyarrow.ArrowException as error:
        raise TableError(f"{name} is a damaged Parquet file: {error}.") from None


def _is_flat(kind: Any) -> bool:
    from pyarrow import types

    return not (types.is_nested(kind) or types.is_binary(kind) or types.is_null(kind))


def _texts(column: Any) -> list[str]:
    """Return a column as texts; a missing value is an empty one, true is True as in pandas."""
    from pyarrow import compute, string, types

    kind = column.type
    if types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if types.is_floating(kind):  # shortest texts that are the same number again
        column = compute.if_else(compute.is_nan(column), None, column)
    if types.is_boolean(kind):  # arrow would say true, and the same table as CSV True
        column = compute.if_else(column, "True", "False")
    return [text.strip() if text else "" for text in column.cast(string()).to_pylist()]
