"""Files in every form: compressed, encoded, piped, Parquet; and hostile ones."""

import gzip
import io
import os
import threading

import numpy as np
import pytest

from zeronorm.tables.columns import to_matrix
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.records import check_separator
from zeronorm.tables.sources import Source, read_table
from zeronorm.tables.table import TableError

TEXT = "name,größe\nJosé,1\nZoë,2\n"
CELLS = {"name": ("José", "Zoë"), "größe": ("1", "2")}


@pytest.fixture
def write(tmp_path):
    def call(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return call


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_encodings(write, encoding, is_compressed):
    content = TEXT.encode(encoding)
    table = read_table(write(gzip.compress(content) if is_compressed else content))
    assert table.cells == CELLS
    assert table.notes == ()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_latin_letters_are_said(write, encoding):
    table = read_table(write(TEXT.encode(encoding)))
    assert table.cells == CELLS
    assert "is not UTF-8 and was read as Latin-1" in table.notes[0]


def test_latin_letters_far_down(write):
    """The beginning of a file does not tell; nor is anything read twice."""
    lines = "a,b\n" + "1,x\n" * 30_000 + "2,é\n"
    path = write(lines.encode("latin-1"))
    assert read_table(path).cells["b"][-1] == "é"
    with Source.opened(path) as source:
        assert sum(piece.n_rows for piece in source.pieces(1000)) == 30_001


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(write, separator):
    text = f'"a,b"{separator}c\n1{separator}2\n'
    table = read_table(write(text.encode()))
    assert list(table.cells) == ["a,b", "c"] and table.separator == separator


def test_a_given_separator(write):
    path = write(b"a b\n1,5 2\n")
    assert read_table(path, check_separator("space")).cells == {"a": ("1,5",), "b": ("2",)}
    assert check_separator("tab") == "\t" and check_separator(None) is None
    for wrong in ("", ";;", "x", '"'):
        with pytest.raises(TableError, match="--sep is one character"):
            check_separator(wrong)


def test_standard_input_and_a_pipe_with_a_name(write, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode("latin-1"))))
    table = read_table("-")
    assert table.cells == CELLS and table.path == "standard input"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(TEXT.encode())))
    writer.start()
    assert read_table(pipe).cells == CELLS
    writer.join()


def test_pieces_are_the_table(write):
    text = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(1000))
    path = write(text.encode())
    with Source.opened(path) as source:
        pieces = list(source.pieces(300))
        assert [piece.n_rows for piece in pieces] == [300, 300, 300, 100]
        assert source.share == 1.0
    assert [line for piece in pieces for line in piece.lines] == list(range(2, 1002))
    whole = read_table(path)
    assert tuple(cell for piece in pieces for cell in piece.cells["b"]) == whole.cells["b"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"PK\x03\x04rest", "is a spreadsheet or a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff", "is not a text file"),
        (gzip.compress(b"a,b\n1,2\n" * 9, mtime=0)[:-12], "is a damaged gzip file"),
        (b"\x1f\x8b nothing", "is a damaged gzip file|cannot be read"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "is damaged"),
    ],
)
def test_what_is_wrong_is_said(write, content, sentence):
    with pytest.raises(TableError, match=sentence) as caught:
        read_table(write(content))
    assert "data.csv" in str(caught.value)


def test_mixed_line_ends_and_quotes(write):
    table = read_table(write(b'a,b\r\n1,"x ""y"""\n2,"p\r\nq"\r3,z'))
    assert table.cells == {"a": ("1", "2", "3"), "b": ('x "y"', "p\r\nq", "z")}


def test_one_column(write):
    assert read_table(write(b"a\n1\n2\n")).cells == {"a": ("1", "2")}


def test_fifty_thousand_columns(write):
    names = ",".join(f"c{i}" for i in range(50_000))
    path = write("\n".join([names, *[",".join("1" * 50_000), ",".join("2" * 50_000)]]).encode())
    table = read_table(path)
    columns, notes = infer_columns(table)
    assert len(columns) == 50_000 and notes == []
    assert (to_matrix(table, columns) == np.array([[1.0], [2.0]])).all()


class TestParquet:
    def test_without_pyarrow(self, write, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        with pytest.raises(TableError, match=r"pip install 'zeronorm\[parquet\]'"):
            read_table(write(b"PAR1 and more", "data.parquet"))

    @pytest.fixture
    def parquet(self, tmp_path):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        def call(columns, **options):
            path = tmp_path / "data.parquet"
            parquet.write_table(pyarrow.table(columns), path, **options)
            return path

        return call

    def test_cells(self, parquet):
        pyarrow = pytest.importorskip("pyarrow")
        import datetime

        path = parquet(
            {
                "n": pyarrow.array([0.1, None, float("nan")]),
                "i": pyarrow.array([1, 2, None], pyarrow.int32()),
                "f": pyarrow.array([1.5, 2.5, 3.5], pyarrow.float32()),
                "t": ["x", None, " y "],
                "c": pyarrow.array(["u", "v", "u"]).dictionary_encode(),
                "b": [True, False, None],
                "d": [datetime.date(2024, 1, 5), None, datetime.date(2024, 2, 5)],
                "w": pyarrow.array([datetime.datetime(2024, 1, 5, 13, 30)] * 3),
                "list": [[1], [2], [3]],
            }
        )
        table = read_table(path)
        assert {name: list(cells) for name, cells in table.cells.items()} == {
            "n": ["0.1", "", ""],
            "i": ["1", "2", ""],
            "f": ["1.5", "2.5", "3.5"],
            "t": ["x", "", "y"],
            "c": ["u", "v", "u"],
            "b": ["True", "False", ""],
            "d": ["2024-01-05", "", "2024-02-05"],
            "w": ["2024-01-05 13:30:00.000000"] * 3,
        }
        columns, _ = infer_columns(table)
        by_header = {column.header: column for column in columns}
        assert by_header["d"].form.order == by_header["w"].form.order == "ymd"

    def test_numbers_are_the_same_again(self, parquet):
        values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
        table = read_table(parquet({"x": values}))
        columns, _ = infer_columns(table)
        assert (to_matrix(table, columns)[:, 0] == values).all()

    def test_pieces(self, parquet):
        path = parquet({"x": list(range(1000))}, row_group_size=170)
        with Source.opened(path) as source:
            pieces = list(source.pieces(300))
        assert [piece.n_rows for piece in pieces] == [300, 300, 300, 100]
        assert [int(cell) for piece in pieces for cell in piece.cells["x"]] == list(range(1000))
        assert [line for piece in pieces for line in piece.lines] == list(range(2, 1002))

    def test_what_is_wrong_is_said(self, parquet, write):
        with pytest.raises(TableError, match="has columns but no rows"):
            read_table(parquet({"x": []}))
        with pytest.raises(TableError, match="is a damaged Parquet file"):
            read_table(write(b"PAR1 and nothing else"))
