"""The command line, and the comparison it prints."""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.data import few_sizes
from zeronorm import SparseSVC, __version__
from zeronorm.base.progress import remaining
from zeronorm.exceptions import PoorFitWarning
from zeronorm.model import Model
from zeronorm.tables import cli, comparison, contenders, fitting, screen
from zeronorm.tables.columns import Column, to_matrix
from zeronorm.tables.comparison import compare, time_prediction
from zeronorm.tables.contenders import CONTENDERS, Contender, Plan, Rows
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.selection import choose_columns
from zeronorm.tables.sources import read_table
from zeronorm.tables.target import read_target


def make_rows(n_rows=90, seed=0, n_classes=2):
    """Rows of (size, colour, note) whose class can be learned; some cells are missing."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % n_classes
    size = 10.0 * labels + rng.normal(size=n_rows)
    colour = np.where(rng.random(n_rows) < 0.8, labels, 1 - labels % 2)
    rows = [
        [f"{s:.3f}", ["red", "green", "blue"][c], f"{rng.normal():.3f}"]
        for s, c in zip(size, colour, strict=True)
    ]
    for row in rows[::17]:
        row[rng.integers(3)] = ""
    return rows, labels


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


HEADER = ["size", "colour", "noise"]


def write_data(folder, n_rows=90):
    rows, labels = make_rows(n_rows)
    names = ["no", "yes"]
    labelled = [[*row, names[label]] for row, label in zip(rows, labels, strict=True)]
    return write_csv(folder / "data.csv", [*HEADER, "answer"], labelled)


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path)


def tune(monkeypatch, task, max_rows=None, **tuning):
    """Let the tuned machine be tuned otherwise, and fitted on fewer rows."""
    tuned, sparse = CONTENDERS[task]
    tuned = replace(
        tuned, tuning=replace(tuned.tuning, **tuning), max_rows=max_rows or tuned.max_rows
    )
    monkeypatch.setitem(CONTENDERS, task, (tuned, sparse))


def narrow_searches(monkeypatch):
    """Let the searches have one candidate each, so that a test takes no time."""
    for task in CONTENDERS:
        tune(monkeypatch, task, C_values=(1.0,), gamma_factors=(1.0,))
    monkeypatch.setattr(comparison, "PREDICTION_ROWS", 1_000)
    monkeypatch.setattr(SparseSVC, "_C_values", (1.0,))
    few_sizes(monkeypatch, ((0, 1, 2),))


@pytest.fixture
def small_grid(monkeypatch):
    narrow_searches(monkeypatch)


@pytest.fixture
def run(capsys):
    """Call the program; return its exit code and what it wrote to stdout and stderr."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call


@pytest.fixture
def fit(run, small_grid):
    def call(path, *options, target="answer"):
        return run("fit", path, "--target", target, "--folds", 3, "--n-jobs", 1, *options)

    return call


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory):
    """The model that `fit` saves of `data`, learned once for all tests that use or spoil it."""
    folder = tmp_path_factory.mktemp("saved")
    options = ["--target", "answer", "--folds", "3", "--n-jobs", "1"]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        narrow_searches(patch)
        data, model = write_data(folder), folder / "model.json"
        cli.main(["fit", str(data), *options, "--out", str(model)])
    assert not stop.value.code
    return model.read_bytes()


@pytest.fixture
def model(saved_once, tmp_path):
    """A file with that model."""
    path = tmp_path / "model.json"
    path.write_bytes(saved_once)
    return path


class TestFit:
    def test_one_table_with_both_classifiers(self, fit, data):
        code, out, err = fit(data)
        assert code == 0
        assert err == ""  # no bar where nobody looks at it
        header = next(line for line in out.splitlines() if "SparseSVC" in line)
        assert header.index("SVC") < header.index("SparseSVC")
        for label in (
            "│ error ",
            "kernel terms",
            "time to tune",
            "time to fit",
            "time to predict 100 000 rows",
            "size of the saved model",
        ):
            assert out.count(label) == 1
        assert out.count("±") == 3  # twice in the table, once in what it says below
        assert out.count("90 rows") == 2

    def test_the_full_grid(self, run, tmp_path):
        data = write_data(tmp_path, 30)
        code, out, _ = run("fit", data, "--target", "answer", "--folds", 3, "--n-jobs", 1)
        assert code == 0
        assert "kernel terms" in out

    def test_the_saved_model_is_the_sparse_one(self, fit, data, tmp_path):
        out_path = tmp_path / "model.json"
        code, out, err = fit(data, "--out", out_path)
        assert code == 0
        assert f"Saved SparseSVC as {out_path}." in err
        document = json.loads(out_path.read_text())
        terms = next(line for line in out.splitlines() if "kernel terms" in line)
        count = len(document["model"]["function"]["coef"])
        assert f" {count} " in terms
        size = next(line for line in out.splitlines() if "saved model" in line)
        assert f"{out_path.stat().st_size / 1000:.1f} kB" in size
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "model.json"]

    def test_rows_without_a_class_are_left_out(self, fit, data):
        text = data.read_text().splitlines()
        data.write_text("\n".join([*text, "1.0,red,0.0,", "2.0,red,0.0,NA"]))
        code, out, err = fit(data)
        assert code == 0
        assert err == "Left out 2 of 92 rows: their 'answer' is missing.\n"
        assert "90 rows" in out

    def test_names_and_empty_columns_are_left_out(self, fit, tmp_path):
        rows = [[i, f"person {i}", "", i % 2] for i in range(120)]
        path = write_csv(tmp_path / "d.csv", ["n", "name", "empty", "answer"], rows)
        code, _, err = fit(path, "--drop", "n", "--category", "n")
        assert code == 2
        code, _, err = fit(path)
        assert code == 0
        assert "Column 'name' is left out: its 120 different texts" in err
        assert "Column 'empty' is left out: it is empty." in err

    def test_a_large_file_is_tuned_on_a_draw(self, fit, data, monkeypatch):
        tune(monkeypatch, "classification", max_rows=40, rows=30)
        code, out, _ = fit(data)
        assert code == 0
        assert "Choices are made by fits on at most 30 rows." in " ".join(out.split())
        fitted = next(line for line in out.splitlines() if "fitted on" in line)
        assert fitted.count("40 of 90 rows") == 1
        assert fitted.count("90 rows") == 2

    def test_a_fit_that_does_not_converge_is_reported(self, fit, data, monkeypatch):
        impatient = [
            Contender(name, lambda *_: SVC(gamma=1.0, max_iter=1)) for name in ("SVC", "other")
        ]
        monkeypatch.setitem(CONTENDERS, "classification", impatient)
        code, _, err = fit(data)
        assert code == 0
        assert "SVC did not converge: Solver terminated early" in err
        assert "other did not converge" in err

    def test_a_fit_that_guesses_is_reported(self, fit, data, monkeypatch):
        class Guess(SVC):
            def fit(self, X, y):
                warnings.warn("No better than guessing.", PoorFitWarning, stacklevel=2)
                return super().fit(X, y)

        guessing = [Contender(name, lambda *_: Guess(gamma=1.0)) for name in ("SVC", "other")]
        monkeypatch.setitem(CONTENDERS, "classification", guessing)
        code, _, err = fit(data)
        assert code == 0
        assert err == "SVC: No better than guessing.\nother: No better than guessing.\n"

    def test_a_number_of_terms(self, fit, data):
        code, out, _ = fit(data, "--terms", 3)
        assert code == 0
        terms = next(line for line in out.splitlines() if "kernel terms" in line)
        assert terms.split()[-2] == "3"

    def test_more_terms_than_rows(self, fit, data):
        code, _, err = fit(data, "--terms", 61)
        assert code == 2
        assert "--terms 61 is more than the 60 rows of a training fold" in err


class TestRoundTrip:
    @pytest.mark.parametrize(
        "names", [["no", "yes"], ["1", "2"], ["0.0", "1.0"], ["a, b", 'say "c"'], ["x", "y", "z"]]
    )
    def test_raw_files_in_any_order(self, fit, run, tmp_path, names):
        n_classes = len(names)
        rows, labels = make_rows(n_classes=n_classes)
        labelled = [[names[k], *row] for row, k in zip(rows, labels, strict=True)]
        train = write_csv(tmp_path / "train.csv", ["answer", *HEADER], labelled)
        model = tmp_path / "model.json"
        assert fit(train, "--out", model)[0] == 0

        new_rows, new_labels = make_rows(seed=1, n_classes=n_classes)
        shuffled = [[row[2], "?", row[0], row[1]] for row in new_rows]
        shuffled[3][3] = "never seen"
        new = write_csv(tmp_path / "new.csv", ["noise", "extra", "size", "colour"], shuffled)
        code, out, err = run("predict", model, new)
        assert (code, err) == (0, "")
        predictions = list(csv.reader(io.StringIO(out)))
        assert predictions[0] == ["answer"]
        expected = [[names[label]] for label in new_labels]
        wrong = sum(p != e for p, e in zip(predictions[1:], expected, strict=True))
        assert wrong <= 9  # of 90; the gaps in the one telling column cost a few

    def test_out_writes_the_same_as_the_screen_gets(self, run, data, model, tmp_path):
        out_path = tmp_path / "predictions.csv"
        screen = run("predict", model, data)[1]
        code, out, err = run("predict", model, data, "--out", out_path)
        assert (code, out, err) == (0, "", "")
        assert out_path.read_text() == screen
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]

    def test_the_model_predicts_as_the_fitted_pipeline_does(self, small_grid, data):
        table = read_table(data)
        columns = [Column("size"), Column("colour", ("blue", "green", "red")), Column("noise")]
        X = to_matrix(table, columns)
        target = read_target(table, "answer")
        results = compare(Rows(X, target.codes, TableEncoder(columns)), Plan(folds=3))
        for result in results:
            final = result.final
            model = TableModel.of_classes("answer", target.classes, final.encoder, final.machine)
            restored = TableModel.from_dict(json.loads(model.to_json()))
            expected = [target.classes[code] for code in final.answers(X).predicted]
            assert restored.predict(table) == expected


class TestSelect:
    @pytest.fixture
    def select(self, run):
        def call(path, *options, target="answer"):
            return run("select", path, "--target", target, "--folds", 3, "--n-jobs", 1, *options)

        return call

    def test_columns_in_order_with_errors(self, select, data):
        code, out, err = select(data, "--features", 3)
        assert (code, err) == (0, "")
        lines = [line for line in out.splitlines() if line.startswith("│")]
        assert [line.split("│")[1].strip() for line in lines] == ["1", "2", "3"]
        names = [line.split("│")[2].strip() for line in lines]
        assert names[0] == "size" and set(names) == set(HEADER)
        assert all("%" in line and "±" in line for line in lines)
        assert "Always guessing the commonest class: 50.0 %" in " ".join(out.split())

    @pytest.mark.parametrize("norm", ["l1", "l2"])
    def test_the_reduced_file(self, select, run, data, tmp_path, norm):
        reduced = tmp_path / "reduced.csv"
        code, _, err = select(data, "--features", 2, "--output", reduced, "--norm", norm)
        assert code == 0
        assert err == f"Saved 'answer' and 2 columns as {reduced}.\n"
        whole, part = read_table(data).cells, read_table(reduced).cells
        assert len(part) == 3 and {"size", "answer"} < set(part)
        assert all(part[name] == whole[name] for name in part)
        assert list(part) == [name for name in whole if name in part]
        assert run("select", reduced, "--target", "answer", "--folds", 3, "--n-jobs", 1)[0] == 0

    def test_more_columns_than_there_are(self, select, data):
        code, out, err = select(data)
        assert code == 0
        assert err == "There are 3 columns to select from; all are taken.\n"

    def test_rows_without_a_class_stay_in_the_reduced_file(self, select, data, tmp_path):
        data.write_text(data.read_text() + "1.0,red,0.0,\n")
        reduced = tmp_path / "reduced.csv"
        code, _, err = select(data, "--features", 1, "--out", reduced)
        assert code == 0
        assert "Left out 1 of 91 rows" in err
        assert len(reduced.read_text().splitlines()) == 92

    def test_unsolved_svms_are_told(self, select, data, monkeypatch):
        monkeypatch.setattr("zeronorm.feature_selection.sizes.MOST_ITERATIONS", 1)
        code, _, err = select(data, "--features", 2)
        assert code == 0
        assert "linear SVMs that judge the numbers of features stopped" in " ".join(err.split())

    def test_columns_that_are_left_out(self, select, data):
        code, out, _ = select(data, "--features", 2, "--drop", "size", "--category", "noise")
        assert code == 0
        assert " size " not in out

    def test_several_classes_and_processes(self, run, tmp_path):
        rows, labels = make_rows(n_classes=3)
        labelled = [[*row, label] for row, label in zip(rows, labels, strict=True)]
        path = write_csv(tmp_path / "d.csv", [*HEADER, "answer"], labelled)
        arguments = ("select", path, "--target", "answer", "--features", 3)
        assert run(*arguments, "--n-jobs", 1) == run(*arguments, "--n-jobs", 2)

    def test_noise_is_not_told_apart(self, select, tmp_path):
        """The selection has no part of the test folds."""
        rng = np.random.default_rng(0)
        rows = [[*rng.normal(size=200).round(3), i % 2] for i in range(60)]
        names = [f"n{j}" for j in range(200)]
        path = write_csv(tmp_path / "noise.csv", [*names, "answer"], rows)
        code, out, _ = select(path, "--features", 10)
        assert code == 0
        errors = [float(m) for m in re.findall(r"(\d+\.\d) % ±", out)]
        assert 35 < np.mean(errors) < 65

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (("--norm", "l0"), "--norm is 'l2' or 'l1', not 'l0'"),
            (("--n-jobs", 0), "no number of processes"),
            (("--drop", "sise"), "did you mean 'size'"),
        ],
    )
    def test_bad_options(self, select, data, options, sentence):
        assert_one_sentence(*select(data, *options), sentence)

    def test_bad_files(self, select, data, tmp_path):
        assert_one_sentence(*select(tmp_path / "none.csv"), "There is no file")
        assert_one_sentence(*select(data, "--output", data), "is an input")
        assert_one_sentence(*select(data, target="anwser"), "did you mean 'answer'")
        assert_one_sentence(*select(data, "--out", tmp_path / "a" / "b.csv"), "there is no folder")
        assert select(data, "--features", 0)[0] == 2


FULL = "zeronorm: Standard output cannot be written: No space left on device.\n"


class TestBadInput:
    """One sentence on stderr, exit code 2, and nothing written."""

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (None, "There is no file"),
            ("", "is empty"),
            ("size,answer\n", "has a header but no rows"),
            ("size,answer\n1,no\n2\n", "line 3: 1 field where the header has 2"),
            ("size,answer\n1,no,3\n", "line 2: 3 fields where the header has 2"),
            ("size,size,answer\n1,2,no\n", "more than one column called 'size'"),
            ("size,anwser\n1,no\n", "has no column 'answer'; did you mean 'anwser'?"),
            ("p,q\n1,no\n", "its columns are: 'p', 'q'"),
            ("size,answer\n1,no\n2,no\n", "only one class, 'no'"),
            ("size,answer\n1,\n2,\n", "no class at all"),
            ("answer\nno\nyes\n" * 9, "no column to predict from"),
            ("size,answer\n" + "1,no\n2,yes\n" * 9 + "3,rare\n" * 2, "Class 'rare' .* fewer rows"),
            ("size,answer\n1,no\n2,yes\n", "than there are folds .3.; bring more of its rows, or"),
            ("0.5,-1,no\n1,2,yes\n", "first line, which has to hold the names of the columns, is"),
            ('size,answer\n"1,no\n2,yes\n', "line 2: .* .a quotation mark is not closed."),
            ("id,answer\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(30)), "none occurs tw"),
            (b"size,answer\n1,\xff\xfe\n\x00", "is not a text file"),
            ("size,answer\n" + "".join(f"1,n{i}\n" for i in range(101)), "too many to be classes"),
        ],
    )
    def test_training_file(self, fit, tmp_path, content, sentence):
        path = tmp_path / "bad.csv"
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        code, out, err = fit(path, "--out", tmp_path / "model.json")
        assert_one_sentence(code, out, err, sentence)
        assert [p.name for p in tmp_path.iterdir()] == (["bad.csv"] if content is not None else [])

    def test_no_better_than_guessing(self, fit, tmp_path):
        path = tmp_path / "d.csv"
        path.write_text("x,answer\n" + "1,no\n1,yes\n" * 10)
        code, out, _ = fit(path)
        assert code == 0
        told = "commonest class: 50.0 %. SVC and SparseSVC are no better."
        assert told in " ".join(out.split())

    def test_output_folder_that_does_not_exist(self, fit, data, tmp_path):
        result = fit(data, "--out", tmp_path / "none" / "model.json")
        assert_one_sentence(*result, "there is no folder")

    def test_a_device_without_torch(self, fit, data, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        assert_one_sentence(*fit(data, "--device", "cuda"), r"pip install 'zeronorm\[gpu\]'")

    def test_a_device(self, fit, data, tmp_path):
        pytest.importorskip("torch")
        pytest.importorskip("array_api_compat")
        path = tmp_path / "model.json"
        assert fit(data, "--device", "cpu:0", "--terms", 2, "--out", path)[0] == 0
        assert len(TableModel.load(path).predict(read_table(data))) == 90

    def test_no_processes_at_all(self, fit, data):
        assert_one_sentence(*fit(data, "--n-jobs", "0"), "--n-jobs 0 is no number of processes")

    def test_output_that_is_the_input(self, fit, data):
        before = data.read_text()
        assert_one_sentence(*fit(data, "--out", data), "is an input")
        assert data.read_text() == before

    @pytest.mark.parametrize("exists", [True, False])
    @pytest.mark.parametrize("spelling", ["q.json", "./q.json", "link.json", "folder/../q.json"])
    def test_two_outputs_in_one_file(self, fit, data, tmp_path, monkeypatch, spelling, exists):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()
        (tmp_path / "link.json").symlink_to("q.json")
        if exists:
            (tmp_path / "q.json").write_text("old")
        files = sorted(os.listdir(tmp_path))
        monkeypatch.setattr(fitting, "Source", None)  # nothing is read before
        for names in ((spelling, tmp_path / "q.json"), ("q.json", spelling)):
            told = fit(data, "--out", names[0], "--report", names[1])
            assert_one_sentence(*told, "--report .*q?.json is the file of --out too")
            assert "input" not in told[2]
        assert sorted(os.listdir(tmp_path)) == files
        assert not exists or (tmp_path / "q.json").read_text() == "old"

    @pytest.mark.parametrize("option", ["--drop", "--category"])
    def test_the_target_is_not_dropped(self, fit, run, data, option):
        sentence = f"{option} 'answer' names the column to predict"
        assert_one_sentence(*fit(data, option, "size", option, "answer"), sentence)
        told = run("select", data, "--target", "answer", option, "answer")
        assert_one_sentence(*told, sentence)

    @pytest.mark.parametrize("option", ["--drop", "--category"])
    def test_options_that_name_no_column(self, fit, data, option):
        assert_one_sentence(*fit(data, option, "colour "), "no column 'colour '; did you mean")

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (None, "There is no file"),
            ("", "is empty"),
            ("size,noise\n1,2\n", "lacks column 'colour'; its columns are: 'size', 'noise'"),
            ("size,colour,noise\n" + "big,red,1\n" * 2, "none of the 2 cells of 'size'.* 'big'"),
        ],
    )
    def test_new_rows(self, run, model, tmp_path, content, sentence):
        new, out_path = tmp_path / "new.csv", tmp_path / "out.csv"
        if content is not None:
            new.write_text(content)
        assert_one_sentence(*run("predict", model, new, "--out", out_path), sentence)
        assert not out_path.exists()

    @pytest.mark.parametrize("content", [None, "", "{}", '{"format": "zeronorm-expansion"}', "\0"])
    def test_model_file(self, run, data, tmp_path, content):
        model = tmp_path / "model.json"
        if content is not None:
            model.write_text(content)
        sentence = (
            "There is no file" if content is None else "model.json is damaged, or not a model"
        )
        assert_one_sentence(*run("predict", model, data), sentence)

    def test_a_truncated_model_file(self, run, data, model):
        text = model.read_text()
        model.write_text(text[: len(text) // 2])
        assert_one_sentence(*run("predict", model, data), "is damaged")

    def test_a_model_whose_kernel_has_no_finite_values(self, run, data, model, tmp_path):
        out_path = tmp_path / "out.csv"
        document = json.loads(model.read_text())
        del document["checksum"]
        function = document["model"]["function"]
        kernel = function["kernel"]
        function |= {"coef": [[1.0]], "vectors": [[1.0] * function["n_features"]]}
        kernel |= {"name": "poly", "degree": 2.5}  # of negative numbers
        kernel.pop("metric", None)
        model.write_text(json.dumps(document))
        result = run("predict", model, data, "--out", out_path)
        assert_one_sentence(*result, r"data.csv, line \d+: the poly kernel .* no finite value")
        assert not out_path.exists()
        assert_one_sentence(*run("predict", model, data), "no finite value")

    def test_an_edited_model_file(self, run, data, model):
        model.write_text(model.read_text().replace('"no"', '"on"'))
        result = run("predict", model, data)
        assert_one_sentence(*result, 'edited it on purpose, remove the line .* "checksum"')

    @pytest.mark.parametrize("place", [0, 1])
    def test_files_without_end(self, run, data, model, place):
        arguments = [model, data]
        arguments[place] = "/dev/zero"
        sentence = ["/dev/zero is a device", "/dev/zero, line 1: longer than"][place]
        assert_one_sentence(*run("predict", *arguments), sentence)

    def test_rows_from_a_pipe(self, run, data, model):
        source, sink = os.pipe()
        os.write(sink, data.read_bytes())
        os.close(sink)
        assert run("predict", model, f"/dev/fd/{source}") == run("predict", model, data)
        os.close(source)

    def test_a_link_as_output(self, fit, data, tmp_path):
        link, model = tmp_path / "link.json", tmp_path / "model.json"
        link.symlink_to(model)
        assert fit(data, "--out", link)[0] == 0
        assert link.is_symlink()
        assert TableModel.load(model).model.classes_.tolist() == ["no", "yes"]

    def test_a_disk_that_is_full(self, fit, data, tmp_path, monkeypatch):
        def full_disk(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.replace", full_disk)
        code, _, err = fit(data, "--out", tmp_path / "model.json")
        assert code == 2
        assert "No space left on device" in err
        assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]

    @pytest.mark.parametrize("command", ["fit", "select"])
    def test_an_output_that_is_full(self, run, small_grid, data, command, monkeypatch):
        with contextlib.suppress(OSError), open("/dev/full", "w") as full:
            monkeypatch.setattr("sys.stdout", full)
            code, _, err = run(command, data, "--target", "answer", "--folds", 3, "--n-jobs", 1)
            monkeypatch.undo()
        assert code == 2
        assert err.endswith(FULL)

    def test_a_process_whose_output_is_full(self, data, model):
        program = [sys.executable, "-c", "from zeronorm.tables.cli import main; main()"]
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*program, "predict", model, data], stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == 2
        assert done.stderr.decode() == FULL

    def test_interrupt(self, fit, data, tmp_path, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(fitting, "compare", interrupted)
        code, _, err = fit(data, "--out", tmp_path / "model.json")
        assert code == 130
        assert err == "Interrupted; nothing was written.\n"
        assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]

    @pytest.mark.parametrize("arguments", [["fit"], ["fit", "x.csv"], ["fly"], ["predict", "x"]])
    def test_usage(self, run, arguments):
        code, _, err = run(*arguments)
        assert code == 2
        assert "Traceback" not in err


def assert_one_sentence(code, out, err, sentence):
    assert code == 2
    assert out == ""
    assert re.search(sentence, err), err
    assert err.startswith("zeronorm: ")
    assert err.count("\n") == 1


class TestComparison:
    def test_parameters_are_never_tuned_on_the_test_fold(self, monkeypatch):
        n_rows, folds = 60, 3
        rng = np.random.default_rng(0)
        y = np.arange(n_rows) % 2
        X = np.column_stack([np.arange(n_rows), y + rng.normal(size=n_rows)])
        searched, fitted = [], []

        def choose(rows, plan):
            searched.append(set(rows.X[:, 0].astype(int)))
            return contenders.choose_svc(rows, plan)

        class Encoder(TableEncoder):
            def fit(self, X, y=None):
                fitted.append(set(X[:, 0].astype(int)))
                return super().fit(X)

        encoder = Encoder([Column("row"), Column("x")])
        rows = Rows(X, y, encoder)
        monkeypatch.setitem(CONTENDERS, "classification", [Contender("SVC", choose)])
        compare(rows, Plan(folds=folds))

        everything = set(range(n_rows))
        held_out = [everything - rows for rows in searched]
        assert [len(rows) for rows in held_out] == [0] + [n_rows // folds] * folds
        assert set.union(*held_out) == everything
        # Neither does the preprocessing ever see a row that its search does not.
        assert all(
            any(rows <= seen for seen in searched[1:])
            for rows in fitted[len(fitted) // (folds + 1) :]
        )

    def test_the_same_numbers_whatever_the_processes(self):
        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        rows = Rows((y + rng.normal(size=60))[:, None], y, TableEncoder([Column("x")]))
        one, two = (compare(rows, Plan(3, n_jobs, n_terms=2)) for n_jobs in (1, 2))
        for a, b in zip(one, two, strict=True):
            assert a.fold_errors.tolist() == b.fold_errors.tolist()
            models = [Model.from_estimator(r.final.machine).to_dict() for r in (a, b)]
            assert models[0] == models[1]

    def test_a_draw_keeps_every_class(self):
        y = np.repeat([0, 1, 2], [900, 95, 5])
        rows = Rows(np.arange(1000.0)[:, None], y, None)
        drawn = rows.draw(100, random_state=0)
        assert np.bincount(drawn.y).tolist() == [88, 9, 3]
        assert len(np.unique(drawn.X)) == 100
        assert rows.draw(1000, random_state=0) is rows
        assert rows.draw(None, random_state=0) is rows

    def test_the_sparse_classifier_is_fitted_once_on_all_rows(self, small_grid, monkeypatch):
        """It chooses by itself; neither its choice nor its scaling of C is done again."""
        seen = []
        fit = SparseSVC.fit

        def record(self, X, y):
            seen.append((len(y), self.C, self.gamma, self.n_terms))
            return fit(self, X, y)

        monkeypatch.setattr(SparseSVC, "fit", record)
        y = np.arange(200) % 2
        X = (3.0 * y + np.random.default_rng(0).normal(size=200))[:, None]
        rows = Rows(X, y, TableEncoder([Column("x")]))
        fitted = comparison.choose_and_fit(CONTENDERS["classification"][1], rows, Plan())
        assert seen == [(200, "cv", "cv", "auto")]
        assert fitted.fitted_rows == 200
        assert fitted.chosen() == {"C": fitted.machine.C_, "gamma": fitted.machine.gamma_}

    def test_times_of_tuning_and_of_fitting_are_apart(self):
        clock = iter([0.0, 7.5, 9.5]).__next__
        rows = Rows(np.array([[0.0], [1.0]]), np.array([0, 1]), TableEncoder([Column("x")]))
        contender = Contender("SVC", lambda *_: SVC())
        fitted = comparison.choose_and_fit(contender, rows, Plan(), clock)
        assert (fitted.tuning_seconds, fitted.fit_seconds) == (7.5, 2.0)

    def test_what_is_chosen_within_fit_is_tuning(self):
        class Chooses(SVC):
            choice_seconds = 1.5

        clock = iter([0.0, 0.0, 2.0]).__next__
        rows = Rows(np.array([[0.0], [1.0]]), np.array([0, 1]), TableEncoder([Column("x")]))
        fitted = comparison.choose_and_fit(Contender("", lambda *_: Chooses()), rows, Plan(), clock)
        assert (fitted.tuning_seconds, fitted.fit_seconds) == (1.5, 0.5)

    def test_prediction_is_timed_on_enough_rows(self):
        seen, clock = [], iter(range(100)).__next__
        assert time_prediction(lambda X: seen.append(X.shape), np.ones((7, 2)), clock) == 100.0
        assert seen == [(1000, 2)] * 3  # a second for 1 000 rows is slow: no more of them

    def test_progress_by_folds_and_contenders(self, small_grid):
        y = np.arange(30) % 2
        rows = Rows((y + np.linspace(0, 1, 30))[:, None], y, TableEncoder([Column("x")]))
        told = []
        compare(rows, Plan(folds=3), lambda share, text: told.append((share, text)))
        assert [share for share, _ in told] == [step / 8 for step in range(8)]
        assert told[0][1] == "SparseSVC, all rows" and told[-1][1] == "SVC, fold 3 of 3"

    def test_progress_of_a_selection(self):
        y = np.arange(30) % 2
        X = np.column_stack([y, np.linspace(0, 1, 30)])
        rows = Rows(X, y, TableEncoder([Column("x"), Column("z")]))
        told = []
        choose_columns(rows, Plan(folds=3), 2, update=told.append)
        assert told == [0.25, 0.5, 0.75]


def test_a_bar_on_a_terminal_only(fit, data, monkeypatch):
    assert "tuning and fitting" not in fit(data, "--terms", 1)[2]
    monkeypatch.setenv("FORCE_COLOR", "1")  # how rich is told that it writes to a terminal
    assert "tuning and fitting" in fit(data, "--terms", 1)[2]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.00123, "1.2 ms"), (0.45, "450 ms"), (12.34, "12.3 s")]
)
def test_durations(seconds, text):
    assert screen.duration(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(100, "100"), (0.046123, "0.046"), (3.4, "3.4")])
def test_short_numbers(number, text):
    assert screen._short(number) == text


@pytest.mark.parametrize(("n_bytes", "text"), [(950, "0.9 kB"), (2_500_000, "2.5 MB")])
def test_sizes(n_bytes, text):
    assert screen._size(n_bytes) == text


def test_version(run):
    assert run("--version") == (0, f"zeronorm {__version__}\n", "")


@pytest.mark.parametrize(
    ("share", "told_at", "elapsed", "text"),
    [
        (0.0, 0.0, 7.0, "-:--"),
        (0.25, 20.0, 20.0, "1:00"),
        (0.25, 20.0, 50.0, "0:30"),  # it goes on counting until more is told
        (0.25, 20.0, 500.0, "0:00"),
        (0.001, 10.0, 10.0, "2:46:30"),
    ],
)
def test_the_time_to_come(share, told_at, elapsed, text):
    assert remaining(share, told_at, elapsed) == text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("sql", "--table", ""), "--table is empty; give a name"),
        (("sql", "--dialect", ""), "--dialect is empty"),
        (("c", "--name", ""), "--name is empty"),
        (("c", "--table", ""), "--table is no option of --to c"),
        (("onnx", "--precision", "int16"), "--precision must be one of float, double"),
    ],
)
def test_options_of_export_without_a_meaning(run, model, tmp_path, options, sentence):
    if options[0] == "onnx":
        pytest.importorskip("onnx")
    out = tmp_path / "out"
    assert_one_sentence(*run("export", model, "--to", *options, "--out", out), sentence)
    assert not out.exists()
