"""Files larger than the memory: the same numbers as of a table that was read at once."""

import gzip
import io
import json
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables.test_cli import assert_one_sentence, narrow_searches
from zeronorm.tables import cli, memory, predicting, selecting, streaming
from zeronorm.tables.columns import MISSING_CODE, to_matrix
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.large import held_back_rows
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.sources import Source, read_table
from zeronorm.tables.streaming import must_stream, read_streamed, rows_as_text, write_features
from zeronorm.tables.table import TableError
from zeronorm.tables.target import read_target
from zeronorm.tables.training import Reading

N_ROWS = 400


def text_of(n_rows=N_ROWS, target=None):
    """Rows in the order of time: the last ones have a category and dates of their own."""
    rng = np.random.default_rng(0)
    label = np.arange(n_rows) % 3 > 0
    x = rng.normal(size=n_rows) + 2 * label
    lines = ["x,kind,when,y"]
    for i in range(n_rows):
        kind = "uvw"[i % 3] if i < 300 else "late"
        when = np.datetime64("2023-01-01") + 2 * i
        answer = ["no", "yes"][int(label[i])] if target is None else f"{100 * x[i]:.3f}"
        lines.append(f"{'?' if i % 50 == 7 else f'{x[i]:.4f}'},{kind},{when},{answer}")
    lines[5] = lines[5].rpartition(",")[0] + ","
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(streaming, "PIECE_ROWS", 150)
    monkeypatch.setattr(streaming, "BLOCK_ROWS", 90)
    monkeypatch.setattr(predicting, "PIECE_ROWS", 70)
    monkeypatch.setattr(selecting, "PIECE_ROWS", 130)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text_of())
    return path


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
        return stop.value.code or 0, *capsys.readouterr()

    return call


def streamed_of(path, folder, **options):
    told = []
    with Source.opened(path) as source:
        reading = Reading(path, "y", **options)
        found = read_streamed(source, reading, folder, lambda *step: told.append(step))
    return found, told


class TestReading:
    def test_the_same_numbers_as_at_once(self, data, tmp_path):
        found, told = streamed_of(data, tmp_path)
        table = read_table(data)
        target = read_target(table, "y")
        known = target.codes >= 0
        assert_array_equal(found.target.codes, target.codes[known])
        assert found.target.classes == target.classes
        columns, _ = infer_columns(table, {"y"})
        assert [column.name for column in found.columns if column.header != "when"] == ["x", "kind"]
        X = to_matrix(table, columns)[known]
        names = [column.name for column in found.columns]
        for j, column in enumerate(columns):
            values = found.X[:, names.index(column.name)]
            if column.levels is None:
                assert_array_equal(values, X[:, j])
            else:  # another order of the levels
                spelled = found.columns[names.index(column.name)].levels
                of_streamed = [None if v == MISSING_CODE else spelled[int(v)] for v in values]
                assert of_streamed == [
                    None if v == MISSING_CODE else column.levels[int(v)] for v in X[:, j]
                ]
        assert found.X.dtype == np.float64 and isinstance(found.X, np.memmap)
        assert told[-1] == (1.0, "400 rows read")
        assert "Left out 1 of 400 rows: their 'y' is missing." in found.notes

    def test_categories_and_circles_that_come_later(self, data, tmp_path):
        found, _ = streamed_of(data, tmp_path)
        kind = next(column for column in found.columns if column.name == "kind")
        assert kind.levels == ("u", "v", "w", "late")
        parts = [column.form.part for column in found.columns if column.header == "when"]
        assert "time of year, sin" in parts  # though the first piece spans 300 days

    def test_one_number_in_two_spellings_is_two_categories_of_training(self, tmp_path):
        """As at once: a later piece does not fall under the levels of the first one."""
        path = tmp_path / "d.csv"
        rows = [f"{i},{i % 3}{'' if i < 200 else '.0'},{i % 2}" for i in range(400)]
        path.write_text("x,kind,y\n" + "\n".join(rows))
        found, _ = streamed_of(path, tmp_path, category=["kind"])
        table = read_table(path)
        columns, _ = infer_columns(table, {"y"}, ["kind"])
        assert set(found.columns[1].levels) == set(columns[1].levels)
        matrices = (found.X, found.columns), (to_matrix(table, columns), columns)
        spelled = [[c[1].levels[int(code)] for code in X[:, 1]] for X, c in matrices]
        assert spelled[0] == spelled[1] == list(table.cells["kind"])

    def test_too_many_categories(self, tmp_path):
        path = tmp_path / "d.csv"
        rows = [f"{i},k{i % 5 if i < 150 else i},{i % 2}" for i in range(400)]
        path.write_text("x,kind,y\n" + "\n".join(rows))
        found, _ = streamed_of(path, tmp_path)
        assert len(found.columns[1].levels) == 100
        assert any("'kind' has more than 100 different texts" in note for note in found.notes)

    def test_cells_that_are_no_numbers_are_counted_over_all_pieces(self, tmp_path):
        path = tmp_path / "d.csv"
        cells = [f"{i}.5" for i in range(400)]
        cells[160] = cells[390] = "x?"
        path.write_text("x,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells)))
        found, _ = streamed_of(path, tmp_path)
        assert "398 of 400 cells of 'x' are numbers; line 162 is 'x?'" in found.notes[-1]
        with pytest.raises(TableError, match="line 162 is 'x\\?', and --strict"):
            streamed_of(path, tmp_path, strict=True)

    def test_a_column_that_is_something_else_further_down(self, tmp_path):
        path = tmp_path / "d.csv"
        rows = [f"{i if i < 160 else f'n{i}'},{i % 2}" for i in range(400)]
        path.write_text("x,y\n" + "\n".join(rows))
        with pytest.raises(TableError, match="in the first 150 rows 'x' held numbers, but not"):
            streamed_of(path, tmp_path)

    def test_numbers_to_predict(self, tmp_path):
        path = tmp_path / "d.csv"
        path.write_text(text_of(target="numbers"))
        found, _ = streamed_of(path, tmp_path)
        cells = read_table(path).cells["y"]
        assert found.target.y.tolist() == [float(cell) for cell in cells if cell]
        path.write_text(text_of(target="numbers") + "1,u,2024-01-01,many\n")
        with pytest.raises(TableError, match="line 402: 'many' in column 'y'"):
            streamed_of(path, tmp_path)

    def test_features_of_the_rows_to_learn_from(self, data, tmp_path):
        found, _ = streamed_of(data, tmp_path)
        encoder = TableEncoder(found.columns).fit(found.X)
        test = held_back_rows(len(found.X), 0)
        assert len(test) == len(found.X) // 5 and (np.diff(test) > 0).all()
        features = write_features(found, encoder, test, tmp_path, lambda *_: None)
        assert features.dtype == np.float32 and isinstance(features, np.memmap)
        expected = np.delete(encoder.transform(found.X), test, axis=0)
        assert_allclose(features, expected, rtol=1e-6, atol=1e-6)

    def test_rows_as_text(self, data):
        reading, wanted = Reading(data, "y"), np.array([0, 3, 200, 398])
        with Source.opened(data) as source:
            table = rows_as_text(source, reading, wanted)
        whole = read_table(data)
        whole = whole.rows(np.array([cell != "" for cell in whole.cells["y"]]))
        kept = np.isin(np.arange(whole.n_rows), wanted)
        assert {n: list(c) for n, c in table.cells.items()} == {
            n: list(c) for n, c in whole.rows(kept).cells.items()
        }
        assert table.lines == list(whole.rows(kept).lines)

    def test_no_room_on_the_disk(self, data, tmp_path, monkeypatch):
        class Full(io.BytesIO):
            def write(self, content):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(streaming, "open", lambda *_: Full(), raising=False)
        with pytest.raises(TableError, match="No space left on device; set TMPDIR"):
            streamed_of(data, tmp_path)


class TestMemory:
    def test_a_file_that_does_not_go_into_memory(self, data, monkeypatch):
        size = data.stat().st_size
        with Source.opened(data) as source:
            for available, expected in ((size, True), (1000 * size, False), (None, False)):
                monkeypatch.setattr(memory, "available_memory", lambda a=available: a)
                assert must_stream(source) is expected

    def test_what_a_table_needs(self):
        assert memory.needed_memory(100, True, None) > memory.needed_memory(100, False, None) > 1000
        assert memory.needed_memory(100, False, 10**6) > 10**7
        assert memory.available_memory() is None or memory.available_memory() > 10**6


class TestCommands:
    OPTIONS = ("--target", "y", "--n-jobs", 1, "--folds", 3)

    def fit(self, run, monkeypatch, path, *options):
        narrow_searches(monkeypatch)
        return run("fit", path, *self.OPTIONS, *options)

    def test_classes(self, run, data, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        model, report = tmp_path / "m.json", tmp_path / "r.json"
        options = ("--stream", "--json", "--out", model, "--report", report, "--metric", "auc")
        code, out, err = self.fit(run, monkeypatch, data, *options)
        assert code == 0, err
        facts = json.loads(out)
        assert facts["rows"] == 399 and facts["rows_held_back"] == 79 and facts["folds"] is None
        svc, sparse = facts["machines"]
        assert sparse["fitted_rows"] == 320
        assert all(m["measured"]["error"]["mean"] < 0.25 for m in (svc, sparse))
        assert "is read piece by piece; the numbers of 399 rows are on disk." in err
        found = json.loads(report.read_text())
        assert found["measured"]["n_rows"] == 79
        assert found["measured"]["error"] == pytest.approx(sparse["measured"]["error"]["mean"], 0.1)
        # Nothing temporary is left, and the model reads the raw file.
        assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "m.json", "r.json"]
        predicted = TableModel.load(model).predict(read_table(data))
        known = read_table(data).cells["y"]
        assert np.mean([p == k for p, k in zip(predicted, known, strict=True)]) > 0.8

    def test_numbers(self, run, tmp_path, monkeypatch):
        path = tmp_path / "d.csv.gz"
        path.write_bytes(gzip.compress(text_of(target="numbers").encode("utf-16")))
        code, out, err = self.fit(run, monkeypatch, path, "--stream", "--terms", 3)
        assert code == 0, err
        text = " ".join(out.split())
        assert "on 79 drawn rows that were held back" in text
        rmse = next(line for line in out.splitlines() if line.startswith("│ RMSE"))
        mean, _, sparse = (float(cell.split()[0]) for cell in rmse.split("│")[2:5])
        assert sparse < mean / 3

    def test_it_is_chosen_by_the_memory(self, run, data, monkeypatch):
        monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
        code, _, err = self.fit(run, monkeypatch, data, "--terms", 2)
        assert code == 0 and "piece by piece" in err
        code, _, err = self.fit(run, monkeypatch, data, "--terms", 2, "--no-stream")
        assert code == 0 and "piece by piece" not in err

    def test_nothing_is_left_after_an_error(self, run, data, tmp_path, monkeypatch):
        folder = tmp_path / "temporary"
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))

        def fail(*_):
            assert list(folder.iterdir())
            raise KeyboardInterrupt

        monkeypatch.setattr("zeronorm.tables.fitting.compare_large", fail)
        code, _, err = self.fit(run, monkeypatch, data, "--stream")
        assert code == 130 and err.endswith("Interrupted; nothing was written.\n")
        assert not list(folder.iterdir())

    def test_a_class_that_is_drawn_away(self, run, data, monkeypatch):
        data.write_text(data.read_text() + "1,u,2024-01-01,rare\n" * 3)

        def last(n_rows, random_state):
            return np.arange(n_rows - 79, n_rows)

        monkeypatch.setattr("zeronorm.tables.fitting.held_back_rows", last)
        code, _, err = self.fit(run, monkeypatch, data, "--stream")
        assert code == 2 and "Class 'rare' is so rare that all of its rows" in err

    def test_bad_files(self, run, data, tmp_path, monkeypatch):
        empty = tmp_path / "e.csv"
        empty.write_text("x,y\n")
        assert_one_sentence(*self.fit(run, monkeypatch, empty, "--stream"), "has a header but no")
        data.write_text(text_of() + "1,2\n")
        sentence = "line 402: 2 fields where the header has 4"
        assert_one_sentence(*self.fit(run, monkeypatch, data, "--stream"), sentence)

    def test_predictions_piece_by_piece(self, run, data, tmp_path, monkeypatch):
        model = tmp_path / "m.json"
        assert self.fit(run, monkeypatch, data, "--terms", 2, "--out", model)[0] == 0
        code, out, _ = run("predict", model, data, "--keep", "when")
        monkeypatch.setattr(predicting, "PIECE_ROWS", 10_000)
        assert (code, out) == run("predict", model, data, "--keep", "when")[:2]
        assert len(out.splitlines()) == N_ROWS + 1
        written = tmp_path / "p.csv"
        assert run("predict", model, data, "--keep", "when", "--out", written)[0] == 0
        assert written.read_text() == out
        # An error in a late piece: nothing is written.
        data.write_text(text_of() + "1,2\n")
        monkeypatch.setattr(predicting, "PIECE_ROWS", 70)
        late = tmp_path / "late.csv"
        assert_one_sentence(*run("predict", model, data, "--out", late), "line 402: 2 fields")
        assert not late.exists() and not list(tmp_path.glob(".zeronorm*"))

    def test_columns_selected_piece_by_piece(self, run, data, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        found = []
        for name, option in (("a.csv", "--stream"), ("b.csv", "--no-stream")):
            options = (option, "--features", 2, "--out", tmp_path / name)
            code, out, err = run("select", data, *self.OPTIONS, *options)
            assert code == 0
            assert ("is read piece by piece" in err) == (option == "--stream")
            found.append((out, (tmp_path / name).read_text()))
        assert found[0][1] == found[1][1]
        assert len(found[0][1].splitlines()) == N_ROWS + 1
        names = [[line.split("│")[2].strip() for line in out.splitlines() if "│ 1" in line]
                 for out, _ in found]  # fmt: skip
        assert names[0] == names[1] == ["kind"]
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv", "data.csv"]

    def test_columns_are_selected_by_a_draw_of_many_rows(self, run, data):
        data.write_text(text_of(6_000))  # of nearly all the kind is "late", which says nothing
        for option in ("--stream", "--no-stream"):
            code, out, _ = run("select", data, *self.OPTIONS, "--json", "--features", 1, option)
            facts = json.loads(out)
            assert code == 0 and facts["columns"] == ["x"] and facts["rows"] == 5_999
            assert facts["notes"][-1] == "Columns are selected by a draw of 5000 of the 5999 rows."

    def test_selection_is_streamed_if_memory_is_short(self, run, data, monkeypatch):
        monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
        code, _, err = run("select", data, *self.OPTIONS, "--features", 1)
        assert code == 0 and "is read piece by piece" in err

    def test_parquet(self, run, data, tmp_path, monkeypatch):
        pytest.importorskip("pyarrow")
        from pyarrow import csv, parquet

        path = tmp_path / "d.parquet"
        parquet.write_table(csv.read_csv(data), path)
        code, out, _ = self.fit(run, monkeypatch, path, "--stream", "--json", "--terms", 2)
        assert code == 0
        expected = json.loads(
            self.fit(run, monkeypatch, data, "--stream", "--json", "--terms", 2)[1]
        )
        found = json.loads(out)
        for key in ("rows", "classes", "columns"):
            assert found[key] == expected[key]
        for one, other in zip(found["machines"], expected["machines"], strict=True):
            assert one["measured"]["error"] == pytest.approx(other["measured"]["error"])


def test_memory_stays_within_bounds(tmp_path):
    """A file of 24 MB as text in memory takes 300 MB; prediction of it takes next to nothing."""
    path = tmp_path / "large.csv"
    row = ",".join(["0.1234567"] * 20)
    path.write_text(",".join(f"c{i}" for i in range(20)) + "\n" + f"{row}\n" * 120_000)
    program = f"""
import resource
from zeronorm.tables.sources import Source
import numpy

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

with Source.opened({str(path)!r}) as source:
    before = peak()
    count = sum(piece.n_rows for piece in source.pieces(5000))
assert count == 120_000
print((peak() - before) / 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert float(done.stdout) < 60, done.stderr
