"""What cells mean: numbers in many spellings, dates, and cells that are neither."""

import math
from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zeronorm.tables.cells import PLAIN, BadCells, NumberForm, form_from_dict
from zeronorm.tables.columns import Column, to_matrix
from zeronorm.tables.dates import PARTS, DatePart, days_of
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.table import Table, TableError
from zeronorm.tables.target import guess_task, read_numbers


def table_of(separator=",", **columns):
    n_rows = len(next(iter(columns.values())))
    return Table("data.csv", columns, range(2, n_rows + 2), separator)


def only(separator=",", decimal=None, **columns):
    """The columns that were found, their numbers, and the notes."""
    table = table_of(separator, **columns)
    found, notes = infer_columns(table, decimal=decimal)
    return found, to_matrix(table, found), notes


@pytest.mark.parametrize(
    ("cell", "by_point", "by_comma"),
    [
        ("12", 12, 12),
        ("1.5", 1.5, None),
        ("1,5", None, 1.5),
        ("1.234", 1.234, 1234),
        ("1,234", 1234, 1.234),
        ("0,126", None, 0.126),  # no group of three begins with a zero
        ("1,234.5", 1234.5, None),
        ("1.234,5", None, 1234.5),
        ("1 234,5", None, 1234.5),
        ("1 234,5", None, 1234.5),  # a narrow blank, as French has it
        ("1'234.50", 1234.5, None),
        ("12,34,567", None, None),
        ("1.234.567", None, 1234567),
        ("-1,5", None, -1.5),
        ("−2", -2, -2),
        ("€ 3.50", 3.5, None),
        ("-$1,200", -1200, -1.2),
        ("$-1,200", -1200, -1.2),
        ("3,50 EUR", None, 3.5),
        ("12.5 %", 12.5, None),
        ("12,5%", None, 12.5),
        ("1.5e3", 1500, None),
        ("1,5e3", None, 1500),
        (".5", 0.5, None),
        ("$ 3 €", None, None),
        ("--1", None, None),
        ("%", None, None),
        (",", None, None),
        ("1_000", None, None),
        ("12 apples", None, None),
        ("1e999", None, None),
    ],
)
def test_numbers(cell, by_point, by_comma):
    for mark, expected in ((".", by_point), (",", by_comma)):
        value = NumberForm(mark).value(cell)
        assert math.isnan(value) if expected is None else value == expected, (cell, mark)


class TestColumnsOfNumbers:
    def test_a_few_cells_that_are_none(self):
        cells = [f"{i}.5" for i in range(300)]
        cells[7], cells[9] = "n/a?", "-"
        found, X, notes = only(x=cells)
        assert found == [Column("x")] and notes == []
        assert np.flatnonzero(np.isnan(X[:, 0])).tolist() == [7, 9]
        table, bad_cells = table_of(x=cells), BadCells()
        to_matrix(table, found, bad_cells)
        (note,) = bad_cells.notes()
        assert note.startswith("298 of 300 cells of 'x' are numbers; line 9 is 'n/a?': ")
        with pytest.raises(TableError, match="298 of 300 .* line 9 is 'n/a\\?', and --strict"):
            to_matrix(table, found, BadCells(is_strict=True))

    def test_counts_go_on_from_piece_to_piece(self):
        bad_cells = BadCells()
        for cells in (["1", "x", "2"], ["", "3", "y"]):
            to_matrix(table_of(x=cells), [Column("x")], bad_cells)
        assert "3 of 5 cells of 'x' are numbers; line 3 is 'x'" in bad_cells.notes()[0]

    def test_a_text_among_few_numbers_is_a_category(self):
        """As the "3+" of a number of children: it says something that no number does."""
        found, _, _ = only(x=["0", "1", "2"] * 31 + ["3+"] * 7)
        assert found == [Column("x", ("0", "1", "2", "3+"))]

    def test_half_of_the_cells_are_enough_where_the_column_would_be_lost(self):
        many = [f"{i}" for i in range(150)]
        assert only(x=[*many, *["none"] * 100])[0] == [Column("x")]
        with pytest.raises(TableError, match="no column to predict from"):
            only(x=[*many, *(f"name {i}" for i in range(160))])

    def test_infinite_numbers_are_missing(self):
        found, X, _ = only(x=["1", "inf", "2"])
        assert found == [Column("x")]
        assert_array_equal(X[:, 0], [1, np.nan, 2])

    @pytest.mark.parametrize(
        ("cells", "values", "note"),
        [
            (["1,5", "2,25"], [1.5, 2.25], "Decimal comma in column 'x': '1,5' is read as 1.5."),
            (["$1,200.50", "$7"], [1200.5, 7], "Currency in column 'x': '$1,200.50' is read as"),
            (["10 %", "5.5 %"], [10, 5.5], "Per cent sign in column 'x': '10 %' is read as 10."),
            (["1,200,000", "7"], [1200000, 7], "Thousands separator in column 'x': '1,200,000'"),
        ],
    )
    def test_spellings_are_recognised_and_said(self, cells, values, note):
        found, X, notes = only(x=cells)
        assert X[:, 0].tolist() == values
        assert any(note in one for one in notes), notes

    def test_a_comma_that_could_be_either(self):
        """The separator of the file, its other columns and the option decide, in this order."""
        either = ["1,234", "5,678"]
        assert only(x=either)[1][:, 0].tolist() == [1234, 5678]
        assert "Give --decimal , if that is wrong." in only(x=either)[2][0]
        assert only(";", x=either)[1][:, 0].tolist() == [1.234, 5.678]
        assert only(x=either, z=["1,5", "2,5"])[1][:, 0].tolist() == [1.234, 5.678]
        assert only(x=either, decimal=",")[1][:, 0].tolist() == [1.234, 5.678]
        assert only(";", x=either, decimal=".")[1][:, 0].tolist() == [1234, 5678]

    def test_points_between_thousands_in_a_file_with_decimal_commas(self):
        """All of these cells are plain numbers too, but 999 would then be the largest."""
        _, X, _ = only(";", x=["1.234", "999", "12.000"], z=["1,5", "2,5", "3,5"])
        assert X[:, 0].tolist() == [1234, 999, 12000]
        _, X, _ = only(";", x=["1.25", "999", "12.000"], z=["1,5", "2,5", "3,5"])
        assert X[:, 0].tolist() == [1.25, 999, 12]

    def test_plain_numbers_stay_plain(self):
        for separator in ",;":
            found, _, notes = only(separator, x=["1", "2.5", "-3e5"], n=["7", "8", "9"])
            assert found == [Column("x"), Column("n")] and notes == []


def days(*date):
    return (datetime(*date) - datetime(1970, 1, 1)) / timedelta(days=1)


class TestDates:
    @pytest.mark.parametrize(
        ("cell", "order", "date"),
        [
            ("2024-02-29", "ymd", (2024, 2, 29)),
            ("2024/2/9", "ymd", (2024, 2, 9)),
            ("29.02.2024", "dmy", (2024, 2, 29)),
            ("9/2/2024", "dmy", (2024, 2, 9)),
            ("9/2/2024", "mdy", (2024, 9, 2)),
            ("9 Feb 2024", "dmy", (2024, 2, 9)),
            ("February 9, 2024", "mdy", (2024, 2, 9)),
            ("2024-02-29T13:45", "ymd", (2024, 2, 29, 13, 45)),
            ("2024-02-29 13:45:30.5", "ymd", (2024, 2, 29, 13, 45, 30, 500000)),
            ("2024-02-29T13:45:00Z", "ymd", (2024, 2, 29, 13, 45)),
            ("2024-02-29T13:45:00+02:00", "ymd", (2024, 2, 29, 11, 45)),
            ("2/29/2024 1:45 PM", "mdy", (2024, 2, 29, 13, 45)),
            ("2/29/2024 12:05 AM", "mdy", (2024, 2, 29, 0, 5)),
            ("18:00", "time", (1970, 1, 1, 18)),
        ],
    )
    def test_spellings(self, cell, order, date):
        assert_allclose(days_of(cell, order), days(*date), rtol=0, atol=1e-9)

    @pytest.mark.parametrize(
        ("cell", "order"),
        [
            ("2023-02-29", "ymd"),
            ("2024-13-01", "ymd"),
            ("2024-01-01 25:00", "ymd"),
            ("13:00 PM", "time"),
            ("2024-01/01", "ymd"),
            ("192.168.0.1", "dmy"),
            ("2024", "ymd"),
        ],
    )
    def test_what_is_no_date(self, cell, order):
        assert math.isnan(days_of(cell, order))

    def test_circles_go_round(self):
        by_part = {part: DatePart("ymd", part) for part in PARTS}
        monday = "2024-01-01"
        assert by_part["weekday, sin"].value(monday) == pytest.approx(0.0, abs=1e-9)
        assert by_part["weekday, cos"].value(monday) == pytest.approx(1.0)
        for part in PARTS[3:5]:
            values = [by_part[part].value(f"2024-01-{day:02d}") for day in (3, 10, 17)]
            assert_allclose(values, values[0], atol=1e-9)
        evening, morning = "2024-01-01 23:59", "2024-01-02 00:01"
        for part in PARTS[1:3]:
            assert abs(by_part[part].value(evening) - by_part[part].value(morning)) < 0.01
        assert by_part["time of day, sin"].value("2024-01-01 06:00") == pytest.approx(1.0)

    def test_a_column_becomes_several(self):
        start = datetime(2022, 1, 3)
        cells = [f"{start + timedelta(hours=7 * i):%Y-%m-%d %H:%M}" for i in range(2000)]
        found, X, notes = only(when=cells)
        assert [column.name for column in found] == [f"when ({part})" for part in PARTS]
        assert {column.header for column in found} == {"when"}
        assert_allclose(np.diff(X[:, 0]), 7 / 24, atol=1e-9)
        assert "Column 'when' holds dates, 2022-01-03 to 2023-08-09" in notes[0]

    def test_only_circles_that_dates_go_round(self):
        found, _, _ = only(when=["2024-01-01", "2024-01-05"])
        assert [column.form.part for column in found] == ["days"]
        found, _, _ = only(when=["2024-01-01", "2024-02-05"])
        assert [column.form.part for column in found] == ["days", "weekday, sin", "weekday, cos"]

    def test_day_or_month_first(self):
        _, X, notes = only(when=["03/04/2024", "05/04/2024"])
        assert X[0, 0] == days(2024, 3, 4)
        assert "'03/04/2024' is read as 2024-03-04, the month first" in notes[0]
        _, X, notes = only(when=["03/04/2024", "25/04/2024"])
        assert X[0, 0] == days(2024, 4, 3)
        assert "first" not in notes[0]

    def test_dates_that_are_none(self):
        cells = [f"2024-01-{i:02d}" for i in range(1, 31)] + ["soon"]
        table = table_of(when=cells)
        found, _ = infer_columns(table)
        bad_cells = BadCells()
        X = to_matrix(table, found, bad_cells)
        assert np.isnan(X[-1]).all() and not np.isnan(X[:-1]).any()
        assert len(bad_cells.notes()) == 1  # though the column became several
        assert "30 of 31 cells of 'when' are dates; line 32 is 'soon'" in bad_cells.notes()[0]


def test_forms_are_saved():
    for form in (PLAIN, NumberForm(","), DatePart("dmy", "weekday, sin")):
        assert form_from_dict(form.to_dict()) == form
    for damaged in ("x", {}, {"decimal": ";"}, {"date": "ymd"}, {"date": "ydm", "part": "days"}, 1):
        with pytest.raises(ValueError):
            form_from_dict(damaged)


class TestNumbersToPredict:
    @pytest.mark.parametrize(
        ("cells", "task"),
        [
            (["a", "b"] * 20, "classification"),
            ([str(i % 20) for i in range(100)], "classification"),
            ([str(i) for i in range(21)], "regression"),
            ([f"{i}.5" for i in range(11)], "regression"),
            ([f"{i % 3}.5" for i in range(100)], "classification"),
            ([f"{i},5" for i in range(30)], "regression"),
            ([*map(str, range(30)), "many"], "classification"),
        ],
    )
    def test_the_guess(self, cells, task):
        assert guess_task(table_of(y=cells), "y") == task

    def test_values(self):
        assert_array_equal(read_numbers(table_of(y=["1,5", "", "2"]), "y").y, [1.5, np.nan, 2])

    @pytest.mark.parametrize(
        ("cells", "sentence"),
        [
            (["1", "2", "x"], "line 4: 'x' in column 'y' is no finite number"),
            (["1", "2", "inf"], "line 4: 'inf' in column 'y' is no finite number"),
            (["1", "1.0"], "only one number, '1'"),
            (["", "NA"], "no number at all"),
        ],
    )
    def test_nothing_to_predict(self, cells, sentence):
        with pytest.raises(TableError, match=sentence):
            read_numbers(table_of(y=cells), "y")
