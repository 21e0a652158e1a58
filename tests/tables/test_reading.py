"""Reading CSV files, the encoder, and the model file."""

import copy
import io
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from zeronorm import KernelExpansion
from zeronorm.decisions import Classes
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.tables.cells import BadCells, NumberForm
from zeronorm.tables.columns import MISSING_CODE, UNKNOWN_CODE, Column, to_matrix
from zeronorm.tables.dates import DatePart
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel, check_output, save_text
from zeronorm.tables.reading import MAX_LEVELS, infer_columns
from zeronorm.tables.records import begin
from zeronorm.tables.sources import read_table
from zeronorm.tables.table import TableError
from zeronorm.tables.target import read_target


@pytest.fixture
def table_of(tmp_path):
    """Write text to a file and read it as a table."""

    def read(text):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table(path)

    return read


class TestReading:
    def test_cells_by_column(self, table_of):
        table = table_of('a,b\n1, x \n2,"y, z"\n')
        assert table.cells == {"a": ("1", "2"), "b": ("x", "y, z")}
        assert table.n_rows == 2

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_delimiters(self, table_of, delimiter):
        table = table_of(f"a{delimiter}b\n1{delimiter}2\n")
        assert table.cells == {"a": ("1",), "b": ("2",)}

    def test_byte_order_mark_windows_line_ends_and_empty_lines(self, table_of):
        table = table_of(b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n\r\n")
        assert table.cells == {"a": ("1", "3"), "b": ("2", "4")}
        assert table.lines == [2, 4]

    def test_a_record_over_several_lines(self, table_of):
        table = table_of('a,b\n"x\ny",1\nz,2\n')
        assert table.cells["a"] == ("x\ny", "z")
        assert table.lines == [2, 4]

    def test_a_column_without_a_name_is_passed_over(self, table_of):
        assert list(table_of(",a\n0,1\n1,2\n").cells) == ["a"]

    def test_empty_lines_before_the_header(self, table_of):
        table = table_of("\n \na;b\n1;2\n\n3;4\n")
        assert table.cells == {"a": ("1", "3"), "b": ("2", "4")}
        assert table.lines == [4, 6]

    def test_very_many_columns(self, table_of):
        """Hours if every name were looked for among all the others."""
        names = [f"c{i}" for i in range(400_000)]
        header, row = ",".join(names), ",".join("1" * len(names))
        table = table_of(f"{header}\n{row}\n")
        assert list(table.cells) == names
        assert table.to_csv(names) == f"{header}\n{row}\n"
        with pytest.raises(TableError, match="more than one column called 'c399999'"):
            table_of(f"{header},c399999\n{row},1\n")

    def test_lines_and_cells_without_end(self, table_of):
        with pytest.raises(TableError, match="line 2: not a line of a CSV file .*field limit"):
            table_of("a,b\n1," + "x" * 200_000 + "\n")
        with pytest.raises(TableError, match="line 2: not a line of a CSV file .*field limit"):
            table_of('a,b\n1,"' + "many\nlines\n" * 20_000)

        def records_of(text):
            return list(begin("data.csv", io.StringIO(text), None, max_line=100)[2])

        assert len(records_of("a,b\n1," + " " * 97 + "\n")) == 1
        for text, line in [("\0" * 1000, 1), ("a,b\n1,2\n" + "1," * 51 + "\n", 3)]:
            with pytest.raises(TableError, match=f"line {line}: longer than 100 characters"):
                records_of(text)

    def test_a_device_is_not_read_to_the_end(self):
        with pytest.raises(TableError, match="/dev/zero, line 1: longer than"):
            read_table("/dev/zero")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("a,b\n", "has a header but no rows"),
            ("a,b\n1,2\n3\n", "line 3: 1 field where the header has 2"),
            ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields where the header has 2"),
            ("a,b,a\n1,2,3\n", "more than one column called 'a'; rename one"),
            (",\n1,2\n", "no column names"),
            ('a,b\n1,2\n"3,4\n5,6\n', "line 3: not a line of a CSV file .a quotation mark"),
            (b"a,b\n1,caf\xe9\n\x01\x02", "is not a text file"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_sentence(self, table_of, text, sentence):
        with pytest.raises(TableError, match=sentence) as caught:
            table_of(text)
        assert "data.csv" in str(caught.value)
        assert str(caught.value).endswith(".")

    def test_no_file_and_a_folder(self, tmp_path):
        with pytest.raises(TableError, match="There is no file"):
            read_table(tmp_path / "none.csv")
        with pytest.raises(TableError, match="cannot be read"):
            read_table(tmp_path)

    def test_absent_column_names_the_nearest(self, table_of):
        table = table_of("width,height\n1,2\n")
        with pytest.raises(TableError, match="did you mean 'width'") as caught:
            table.column("widht")
        assert "'width', 'height'" in str(caught.value)


class TestColumns:
    def test_numbers_and_categories(self, table_of):
        table = table_of("n,t,mixed,y\n1,red,1,a\n-2e3,,x,b\nNA,blue,?,a\n")
        columns, notes = infer_columns(table, leave_out={"y"})
        assert columns == [Column("n"), Column("t", ("blue", "red")), Column("mixed", ("1", "x"))]
        assert notes == []
        expected = [[1, 1, 0], [-2000, MISSING_CODE, 1], [np.nan, 0, MISSING_CODE]]
        assert_array_equal(to_matrix(table, columns), expected)

    def test_numbers_as_categories(self, table_of):
        columns, _ = infer_columns(table_of("zip,n\n10,1\n20,2\n"), as_category=["zip"])
        assert columns == [Column("zip", ("10", "20")), Column("n")]

    def test_useless_columns_are_left_out_with_a_note(self, table_of):
        rows = "".join(f"name{i},,{i}\n" for i in range(MAX_LEVELS + 1))
        columns, notes = infer_columns(table_of("id,gap,n\n" + rows))
        assert columns == [Column("n")]
        assert "'id' is left out: its 101 different texts (such as 'name0')" in notes[0]
        assert notes[1] == "Column 'gap' is left out: it is empty."

    def test_texts_that_all_differ_are_left_out(self, table_of):
        header, rows = "id,n\n", [f"name{i},{i}\n" for i in range(21)]
        assert infer_columns(table_of(header + "".join(rows)))[0] == [Column("n")]
        # Few may be categories, and so may many of which one occurs twice.
        assert len(infer_columns(table_of(header + "".join(rows[1:])))[0]) == 2
        assert len(infer_columns(table_of(header + "".join([*rows, rows[0]])))[0]) == 2

    def test_no_column_left(self, table_of):
        with pytest.raises(TableError, match="no column to predict from. Column 'gap' is left"):
            infer_columns(table_of("gap,y\n,a\n,b\n"), leave_out={"y"})

    def test_names_of_options_must_exist(self, table_of):
        with pytest.raises(TableError, match="no column 'z'"):
            infer_columns(table_of("a,b\n1,2\n"), leave_out={"z"})

    def test_new_rows_in_any_order_with_unknown_levels(self, table_of):
        columns = [Column("n"), Column("t", ("blue", "red"))]
        table = table_of("extra,t,n\n?,green,1\n?,red,\n")
        assert_array_equal(to_matrix(table, columns), [[1, UNKNOWN_CODE], [np.nan, 1]])

    @pytest.mark.parametrize("cell", ["abc", "inf", "1e999", "1_0x", "1_0"])
    def test_a_cell_that_is_no_finite_number(self, table_of, cell):
        found = BadCells()
        table = table_of(f"n\n1\n2\n{cell}\n")
        assert_array_equal(to_matrix(table, [Column("n")], found)[:, 0], [1, 2, np.nan])
        assert len(found.notes()) == 1
        assert f"2 of 3 cells of 'n' are numbers; line 4 is '{cell}'" in found.notes()[0]
        with pytest.raises(TableError, match=f"line 4 is '{cell}', and --strict allows no such"):
            to_matrix(table, [Column("n")], BadCells(is_strict=True))

    def test_absent_columns_are_named(self, table_of):
        with pytest.raises(TableError, match="lacks columns 'p', 'q'; its columns are: 'a'"):
            to_matrix(table_of("a\n1\n"), [Column("p"), Column("a"), Column("q")])


class TestTarget:
    def test_texts(self, table_of):
        target = read_target(table_of("y,n\nno,1\nyes,2\nno,3\n,4\n"), "y")
        assert target.classes == ("no", "yes")
        assert target.codes.tolist() == [0, 1, 0, -1]

    def test_numbers_in_order_of_value_and_spelled_as_first_seen(self, table_of):
        target = read_target(table_of("y,n\n10,1\n2.0,1\n2,1\n10.0,1\n"), "y")
        assert target.classes == ("2.0", "10")
        assert target.codes.tolist() == [1, 0, 0, 1]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [("y\na\na\n", "only one class, 'a'"), ('y\n""\nNA\n', "no class at all")],
    )
    def test_fewer_than_two_classes(self, table_of, text, sentence):
        with pytest.raises(TableError, match=sentence):
            read_target(table_of(text), "y")


class TestEncoder:
    columns = (Column("n"), Column("t", ("blue", "green", "red")))

    def test_what_it_learns_from_the_rows_it_sees(self):
        X = np.array([[1.0, 0], [3.0, 2], [np.nan, MISSING_CODE], [2.0, 0]])
        encoder = TableEncoder(self.columns).fit(X)
        features = encoder.transform(X)
        assert_allclose(features[:, 0].mean(), 0, atol=1e-15)
        assert_allclose(features[:, 0].std(), 1)
        assert features[2, 0] == features[3, 0]  # the gap is filled with the median
        # Missing, blue and red occur; green does not.
        expected = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
        assert_array_equal(features[:, 1:], expected)

    def test_levels_not_seen_in_fit_are_all_zeros(self):
        encoder = TableEncoder(self.columns).fit(np.array([[1.0, 0], [2.0, 2]]))
        new = np.array([[1.0, 1], [1.0, UNKNOWN_CODE], [1.0, MISSING_CODE]])
        assert_array_equal(encoder.transform(new)[:, 1:], np.zeros((3, 2)))

    @pytest.mark.parametrize(
        "values",
        [
            [0.1] * 7,
            [np.nan] * 3,
            [5.0, np.nan],
            [1e308, -1e308, 0],
            [1e-300, 3e-300, np.nan],
            [0.0, 5e-324],
        ],
    )
    def test_any_column_becomes_finite(self, values):
        X = np.array(values)[:, None]
        encoder = TableEncoder([Column("n")]).fit(X)
        extremes = np.array([[1.7e308], [-1.7e308], [0.0], [np.nan]])
        assert np.isfinite(encoder.transform(np.vstack([X, extremes]))).all()
        assert np.abs(encoder.transform(X)).max() < 10

    def test_it_can_be_cloned(self):
        assert clone(TableEncoder(self.columns)).columns == self.columns


def example_model():
    columns = [Column("n"), Column("t", ("blue", "red"))]
    X = np.array([[1.0, 0], [3.0, 1], [np.nan, MISSING_CODE]])
    encoder = TableEncoder(columns).fit(X)
    vectors = encoder.transform(X)
    expansion = KernelExpansion(vectors, [1.0, -1.0, 0.5], 0.1, Kernel("rbf", gamma=0.5))
    return TableModel("y", encoder, Model(expansion, Classes(["no", "yes"])))


def model_with_forms():
    columns = [
        Column("n", form=NumberForm(",")),
        Column("w (days)", form=DatePart("ymd"), source="w"),
    ]
    X = np.array([[1.0, 19000.0], [3.0, 19500.0]])
    encoder = TableEncoder(columns).fit(X)
    expansion = KernelExpansion(encoder.transform(X), [1.0, -1.0], 0.1, Kernel("rbf", gamma=0.5))
    return TableModel("y", encoder, Model(expansion, Classes(["no", "yes"])))


class TestModelFile:
    def test_round_trip(self, tmp_path, table_of):
        model = example_model()
        path = tmp_path / "model.json"
        model.save(path)
        loaded = TableModel.load(path)
        table = table_of("t,n\nblue,1\nred,3\n,\ngreen,2\n")
        assert loaded.predict(table) == model.predict(table)
        assert loaded.to_dict() == model.to_dict()
        X = to_matrix(table, model.encoder.columns)
        assert_array_equal(loaded.encoder.transform(X), model.encoder.transform(X))

    def test_it_is_plain_readable_json(self):
        text = example_model().to_json()
        document = json.loads(text)
        assert document["format"] == "zeronorm-table-model"
        assert document["version"] == 2
        assert document["model"]["decision"]["labels"] == ["no", "yes"]
        assert document["columns"][1] == {
            "name": "t",
            "kind": "category",
            "levels": [None, "blue", "red"],
        }
        assert max(map(len, text.splitlines())) < 200

    def test_several_classes_by_the_largest_output(self, table_of):
        model = example_model()
        f = model.model.expansion_
        expansion = KernelExpansion(f.vectors, np.eye(3), np.zeros(3), f.kernel)
        model = TableModel("y", model.encoder, Model(expansion, Classes(["a", "b", "c"])))
        assert model.predict(table_of("n,t\n1,blue\n3,red\n,\n")) == ["a", "b", "c"]

    @pytest.mark.parametrize(
        "text",
        ["", "not json", "[1, 2]", '{"format": "other"}', "[" * 100_000, "\x00\x01", '"text"'],
    )
    def test_foreign_files(self, tmp_path, text):
        path = tmp_path / "model.json"
        path.write_text(text)
        with pytest.raises(TableError, match=r"model.json is damaged, or not a model that"):
            TableModel.load(path)

    def test_bytes_that_are_no_text(self, tmp_path):
        path = tmp_path / "model.json"
        path.write_bytes(b"\x80\x04\x95pickle")
        with pytest.raises(TableError, match="damaged"):
            TableModel.load(path)

    def test_another_version_is_named(self, tmp_path):
        path = tmp_path / "model.json"
        save_text(path, json.dumps(example_model().to_dict() | {"version": 99}))
        with pytest.raises(TableError, match="version 99 of the format; this zeronorm"):
            TableModel.load(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(TableError, match="There is no file"):
            TableModel.load(tmp_path / "none.json")

    def test_forms_of_cells_are_saved(self, table_of):
        model = model_with_forms()
        document = model.to_dict()
        assert document["version"] == 3
        assert document["columns"][0]["form"] == {"decimal": ","}
        assert document["columns"][1]["source"] == "w"
        table = table_of('n,w\n"1,5",2024-01-05\n"2,5",\n')
        loaded = TableModel.from_dict(json.loads(json.dumps(document)))
        assert loaded.encoder.columns == model.encoder.columns
        assert loaded.predict(table) == model.predict(table)
        assert_array_equal(to_matrix(table, loaded.encoder.columns)[:, 0], [1.5, 2.5])

    @pytest.mark.parametrize("has_forms", [False, True])
    def test_any_damage_is_a_value_error_or_harmless(self, table_of, has_forms):
        """Replace every single value in the file by nonsense, and remove every key."""
        table = table_of("n,t,w\n1,blue,2024-01-05\n,,\n")
        document = (model_with_forms() if has_forms else example_model()).to_dict()
        nonsense = [None, "x", -1, 10**400, float("nan"), [], {}, [[]], [[1]], True]
        for path in list(_paths(document)):
            for value in [*nonsense, _REMOVE]:
                damaged = copy.deepcopy(document)
                _replace(damaged, path, value)
                try:
                    predictions = TableModel.from_dict(damaged).predict(table)
                except ValueError:
                    continue
                assert set(predictions) <= {"no", "yes", "x"}, (path, value)

    def test_output_that_cannot_be_written(self, tmp_path):
        with pytest.raises(TableError, match="there is no folder"):
            check_output(tmp_path / "none" / "model.json")
        with pytest.raises(TableError, match="it is not a file"):
            check_output(tmp_path)
        with pytest.raises(TableError, match="it is not a file"):
            check_output("/dev/null")

    def test_output_through_a_link(self, tmp_path):
        link = tmp_path / "link.json"
        link.symlink_to(tmp_path / "none" / "model.json")
        with pytest.raises(TableError, match="there is no folder .*none"):
            check_output(link)
        (tmp_path / "none").mkdir()
        example_model().save(link)
        assert link.is_symlink()
        assert TableModel.load(tmp_path / "none" / "model.json").model.classes_.tolist() == [
            "no",
            "yes",
        ]

    def test_output_names_that_lead_nowhere(self, tmp_path):
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(TableError, match="loop cannot be written: Too many levels"):
            check_output(tmp_path / "loop")
        with pytest.raises(TableError, match="cannot be written: File name too long"):
            check_output(tmp_path / ("n" * 300))

    def test_a_failed_write_leaves_nothing_new(self, tmp_path, monkeypatch):
        path = tmp_path / "model.json"
        path.write_text("old")

        def full_disk(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.replace", full_disk)
        with pytest.raises(TableError, match="No space left on device"):
            save_text(path, "new")
        assert [p.name for p in tmp_path.iterdir()] == ["model.json"]
        assert path.read_text() == "old"


_REMOVE = object()


def _paths(node, path=()):
    """Yield the path of every value in a document, a list by its first element only."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node[:1])
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _paths(value, (*path, key))
        else:
            yield (*path, key)


def _replace(document, path, value):
    for key in path[:-1]:
        document = document[key]
    if value is _REMOVE:
        del document[path[-1]]
    else:
        document[path[-1]] = value
