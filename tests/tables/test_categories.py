"""Categories that are spelled otherwise than in training: the level that is meant, or a note."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.tables.test_cli import HEADER, data, make_rows, model, run, saved_once, write_csv
from zeronorm.tables import predicting
from zeronorm.tables.cells import MANY_UNKNOWN
from zeronorm.tables.columns import (
    MISSING_CODE,
    UNKNOWN_CODE,
    Column,
    as_levels,
    levels_meant,
    to_matrix,
)
from zeronorm.tables.exporting import _as
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.sources import read_table
from zeronorm.tables.table import Table

__all__ = ["data", "model", "run", "saved_once"]  # fixtures


@pytest.mark.parametrize(
    ("levels", "cell", "meant"),
    [
        (("1", "2"), "1.0", "1"),
        (("1.0", "2.0"), "1", "1.0"),
        (("-1", "b"), "-1.00", "-1"),
        (("1", "3+"), "1e0", "1"),
        (("1", "1.0"), "1.00", None),  # which of the two?
        (("1", "2"), "3.0", None),
        (("a", "b"), "1", None),
        (("1", "1_0"), "10", None),  # a name, as everywhere
        (("inf", "1"), "Infinity", None),
        (("9007199254740993",), "9007199254740992.0", None),  # the same float, another account
        (("true", "false"), "True", "true"),
        (("True", "False"), "FALSE", "False"),
        (("true", "TRUE"), "True", None),
        (("yes", "no"), "Yes", None),
        ((), "1", None),
    ],
)
def test_the_level_that_is_meant(levels, cell, meant):
    assert levels_meant(levels, [cell]) == ({} if meant is None else {cell: meant})
    table = Table("t", {"c": [cell, ""]}, [2, 3])
    code = UNKNOWN_CODE if meant is None else levels.index(meant)
    assert_array_equal(to_matrix(table, [Column("c", levels)])[:, 0], [code, MISSING_CODE])
    assert as_levels(table, [Column("c", levels)]).cells["c"] == [meant or cell, ""]


def test_a_level_as_it_is_spelled_goes_first():
    levels = ("1", "1.0", "True", "true")
    table = Table("t", {"c": levels}, range(4))
    assert_array_equal(to_matrix(table, [Column("c", levels)])[:, 0], range(4))


def with_levels(path, levels):
    """Let the colours of a saved model have other names."""
    changed = TableModel.load(path)
    columns = [
        c if c.levels is None else replace(c, levels=levels) for c in changed.encoder.columns
    ]
    changed.encoder.columns = columns
    changed.save(path)
    return path


def rows_with(colours):
    rows, _ = make_rows(len(colours))
    return [[row[0], colour, row[2]] for row, colour in zip(rows, colours, strict=True)]


def test_numbers_with_a_gap_are_the_categories_of_training(run, model, tmp_path, monkeypatch):
    """pandas writes 1, 2 and a gap as 1.0, 2.0 and a gap."""
    with_levels(model, ("1", "2"))
    colours = ["1", "2", "", "3"] * 10
    new = write_csv(tmp_path / "new.csv", HEADER, rows_with(colours))
    expected = run("predict", model, new, "--scores")
    assert expected[0] == 0 and len(set(expected[1].splitlines())) > 20
    gappy = [colour and f"{colour}.0" for colour in colours]
    other = write_csv(tmp_path / "other.csv", HEADER, rows_with(gappy))
    assert run("predict", model, other, "--scores") == expected
    monkeypatch.setattr(predicting, "PIECE_ROWS", 7)
    assert run("predict", model, other, "--scores") == expected
    for line in ("2", "4"):
        shown = [run("show", model, "--data", file, "--line", line) for file in (new, other)]
        assert shown[0][0] == 0 and shown[0] == shown[1]


def test_one_note_where_every_category_is_unknown(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr(predicting, "PIECE_ROWS", 7)
    for colours, told in [
        (["rot", ""] * MANY_UNKNOWN, True),
        (["", "rot"] * (MANY_UNKNOWN - 1), False),  # too few to say
        ([""] * 30, False),
        (["rot"] * 30 + ["red"], False),
    ]:
        new = write_csv(tmp_path / "new.csv", HEADER, rows_with(colours))
        code, out, err = run("predict", model, new)
        assert code == 0 and len(out.splitlines()) == 1 + len(colours)
        if told:
            assert err.startswith("No cell of column 'colour' is a category that the model knows")
            assert "line 2 is 'rot'" in err and err.count("\n") == 1
        else:
            assert err == ""


def test_truths_in_parquet_are_those_that_pandas_writes(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    values = pyarrow.array([True, False, None, True])
    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.table({"b": values, "x": [1, 2, 3, 4]}), path)
    text = tmp_path / "data.csv"
    text.write_text("b,x\nTrue,1\nFalse,2\n,3\nTrue,4\n")
    tables = [read_table(file) for file in (path, text)]
    assert [list(table.cells["b"]) for table in tables] == [["True", "False", "", "True"]] * 2
    columns, _ = infer_columns(tables[0])
    assert columns == infer_columns(tables[1])[0]
    assert_array_equal(*[to_matrix(table, columns) for table in tables])
    # A model that an earlier release learned from Parquet.
    before = [Column("b", ("false", "true"))]
    for table in tables:
        assert_array_equal(to_matrix(table, before)[:, 0], [1, 0, MISSING_CODE, 1])


def test_measured_answers_are_the_classes_of_the_model():
    class Saved:
        class model:
            classes_ = np.array(["false", "true"], dtype=object)

    assert [_as(Saved, answer) for answer in ("True", "false", "1")] == ["true", "false", "1"]
