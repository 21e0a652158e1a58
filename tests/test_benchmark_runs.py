"""A study and its records: what is run, what is kept, and of which commit it is."""

import json
import subprocess

import numpy as np
import pytest

from benchmarks import data, record
from benchmarks.study import Study, shown


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
        monkeypatch.setattr(record, "commit", lambda: "def")
        a_study().run(resume=True)
        assert calls == [("two", fold) for fold in range(3)]
        head, rows = record.read("a_study")
        assert [row["commit"] for row in rows] == ["abc"] * 3 + ["def"] * 3
        assert set(head["runs"]) == {"abc", "def"}

    def test_a_killed_run_goes_on_and_shows_nothing_twice(self, folder, monkeypatch):
        """What it left, its journal, is written by hand: the last line was cut off."""
        monkeypatch.setattr(record, "commit", lambda: "abc")
        a_study().run()
        monkeypatch.setattr(record, "commit", lambda: "def")
        head, rows = record.read("a_study")
        again = [{**row, "error": 0.9, "commit": "def"} for row in rows if row["set"] == "one"]
        record.write("a_study", 0, {**head["runs"], "def": record.circumstances()}, rows)
        record.append("a_study", again)
        with record.journal_of("a_study").open("a") as file:
            file.write('{"set": "two", "fo')
        assert record.read("a_study")[1] == rows  # until the run has ended
        calls.clear()
        a_study().run()
        assert calls == [("two", fold) for fold in range(3)]
        head, rows = record.read("a_study")
        assert len(rows) == 6 and set(head["runs"]) == {"def"}
        assert [row["error"] for row in rows] == [0.9, 0.9, 0.9, 0.0, 0.25, 0.5]
        assert not record.journal_of("a_study").exists()

    def test_old_rows_stay_where_a_task_cannot_be_done_now(self, folder, monkeypatch):
        def uninstalled(name, fold):
            if name == "two":
                data.imported("no_such_package")
            return protocol(name, fold)

        monkeypatch.setattr(record, "commit", lambda: "abc")
        a_study().run()
        monkeypatch.setattr(record, "commit", lambda: "def")
        (left_out,) = a_study(protocol=uninstalled).run()
        assert left_out == "a_study, two: needs no_such_package, which is not installed"
        rows = record.read("a_study")[1]
        assert [row["commit"] for row in rows] == ["def"] * 3 + ["abc"] * 3

    def test_what_a_study_no_longer_has_is_dropped(self, folder, monkeypatch):
        monkeypatch.setattr(record, "commit", lambda: "abc")
        a_study().run()
        a_study(factors={"set": ("one",), "fold": range(2)}).run()
        assert len(record.read("a_study")[1]) == 2
        monkeypatch.setattr(record, "commit", lambda: "def")
        a_study(protocol=lambda name, fold: [], factors={"set": ("one",), "fold": range(2)}).run()
        assert record.read("a_study")[1] == []

    def test_the_longest_tasks_come_first_unless_times_count(self, folder):
        """One at a time, so that they end in the order in which they were begun."""
        study = a_study(timed=False, factors={"set": ("one", "two", "new"), "fold": range(2)})
        seconds = {("one", 0): 1.0, ("two", 0): 5.0, ("two", 1): 3.0}
        rows = [
            {"set": name, "fold": fold, "task_seconds": value, "commit": "abc"}
            for (name, fold), value in seconds.items()
        ]
        record.write("a_study", 0, {"abc": {}}, rows)
        study.run(jobs=1)
        longest = [("two", 0), ("two", 1), ("one", 0), ("one", 1)]  # the last is like the third
        assert calls == [("new", 0), ("new", 1), *longest]

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


class TestCommit:
    @pytest.fixture
    def git(self, tmp_path, monkeypatch):
        """A repository with code and records."""
        monkeypatch.setattr(record, "ROOT", tmp_path)
        for name, value in (("NAME", "a"), ("EMAIL", "a@b")):
            for who in ("AUTHOR", "COMMITTER"):
                monkeypatch.setenv(f"GIT_{who}_{name}", value)
        for place in ("zeronorm/code.py", "benchmarks/study.py", "benchmarks/results/one.jsonl"):
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place).write_text("1")

        def call(*arguments):
            return subprocess.run(
                ["git", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
            ).stdout.strip()

        call("init")
        call("add", ".")
        call("commit", "-m", "all")
        return call

    def test_a_commit_of_records_is_no_new_one(self, git, tmp_path):
        first = git("rev-parse", "--short", "HEAD")
        assert record.commit() == first
        (tmp_path / "benchmarks/results/one.jsonl").write_text("2")
        assert record.commit() == first
        git("commit", "-am", "records")
        assert record.commit() == first != git("rev-parse", "--short", "HEAD")

    @pytest.mark.parametrize("place", ["zeronorm/code.py", "benchmarks/study.py"])
    def test_changed_code_is_marked_until_it_is_committed(self, git, tmp_path, place):
        (tmp_path / place).write_text("2")
        assert record.commit() == git("rev-parse", "--short", "HEAD") + "+changes"
        git("commit", "-am", "code")
        assert record.commit() == git("rev-parse", "--short", "HEAD")

    def test_without_a_repository_it_has_to_be_named(self, tmp_path, monkeypatch):
        monkeypatch.setattr(record, "ROOT", tmp_path)
        monkeypatch.delenv(record.COMMIT, raising=False)
        with pytest.raises(SystemExit, match="name the commit of this code in ZERONORM_COMMIT"):
            record.commit()
        monkeypatch.setenv(record.COMMIT, "abc")
        assert record.commit() == "abc"

    def test_a_repository_is_believed_before_a_name(self, git, monkeypatch):
        monkeypatch.setenv(record.COMMIT, "abc")
        assert record.commit() == git("rev-parse", "--short", "HEAD")


def test_what_is_seen_while_it_runs_may_be_a_word():
    assert shown([{"terms": "auto", "error": 0.25, "device": "GPU"}]) == "terms auto error 0.25"
    assert shown([]) == ""
