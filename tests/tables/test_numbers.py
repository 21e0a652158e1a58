"""Numbers to predict: the comparison, the model file, and every other command."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.svm import SVR

from tests.tables.test_cli import assert_one_sentence, narrow_searches, tune, write_csv
from zeronorm import SparseSVR
from zeronorm.tables import cli, contenders
from zeronorm.tables.columns import Column
from zeronorm.tables.comparison import guess_mean
from zeronorm.tables.contenders import Plan, Rows, choose_svr
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.sources import read_table


def rows_of(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    x, kind = rng.normal(size=n_rows), np.arange(n_rows) % 3
    y = 1000 + 100 * np.sin(2 * x) + 50 * kind + 5 * rng.normal(size=n_rows)
    when = np.datetime64("2024-01-01") + np.arange(n_rows)
    return [
        [f"{a:.3f}", "uvw"[k], str(day), f"{value:.2f}".replace(".", ",")]
        for a, k, day, value in zip(x, kind, when, y, strict=True)
    ]


HEADER = ["x", "kind", "when", "price"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    data = write_csv(folder / "data.csv", HEADER, rows_of())
    model, report, out = folder / "model.json", folder / "report.html", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        narrow_searches(patch)
        tune(patch, "regression", epsilons=(0.1,))
        patch.setattr(SparseSVR, "_C_values", (10.0,))
        patch.setattr("sys.stdout", out)
        options = ["--folds", "3", "--n-jobs", "1", "--terms", "6", "--metric", "mae"]
        files = ["--out", str(model), "--report", str(report)]
        cli.main(["fit", str(data), "--target", "price", *options, *files])
    assert not stop.value.code
    return data, model, report, out.getvalue()


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
        return stop.value.code or 0, *capsys.readouterr()

    return call


def line_of(text, label):
    """The cells of the line of a printed table that begins with this label."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"│ {label} ")]
    return [cell.strip() for cell in line.split("│")[2:-1]]


def test_the_table(made):
    out = made[3]
    head = next(line for line in out.splitlines() if "SparseSVR" in line)
    assert [cell.strip() for cell in head.split("┃")[2:-1]] == ["mean", "SVR", "SparseSVR"]
    rmse = [float(cell.split()[0]) for cell in line_of(out, "RMSE")]
    assert rmse[1] < rmse[0] and rmse[2] < rmse[0] / 2
    r2 = [float(cell.split()[0]) for cell in line_of(out, "R²")]
    assert r2[0] < 0.1 and r2[2] > 0.8
    assert line_of(out, "kernel terms")[0] == "–"
    assert len(line_of(out, "mean absolute error")) == 3
    assert len(line_of(out, "C, gamma, epsilon")[1].split(", ")) == 3


def test_the_mean_of_the_training_rows():
    y = np.arange(30.0)
    plan = Plan(3, task="regression", metric="rmse")
    found = guess_mean(y, plan)
    expected = []
    for train, test in contenders.folds_of(y, 3, 0):
        expected.append(np.sqrt(np.mean((y[test] - y[train].mean()) ** 2)))
    assert found["rmse"].tolist() == pytest.approx(expected)


def test_units_of_the_target_do_not_matter():
    """C, epsilon and tol of the tuned SVR follow the spread: the problem is the same.

    To the last bit with a power of two, so that no two settings change places by rounding.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80)
    predicted = []
    for factor in (1.0, 1024.0):
        rows = Rows(X, factor * y, TableEncoder([Column("x")]))
        chosen = choose_svr(rows, Plan(task="regression", metric="rmse"))
        predicted.append(chosen.fit(X, factor * y).predict(X) / factor)
    assert predicted[0] == pytest.approx(predicted[1], abs=1e-9)
    assert isinstance(chosen, SVR)


def test_predictions(run, made):
    data, model, _, _ = made
    code, out, err = run("predict", model, data, "--keep", "when")
    assert (code, err) == (0, "")
    found = list(csv.DictReader(io.StringIO(out)))
    known = [float(cell.replace(",", ".")) for cell in read_table(data).cells["price"]]
    predicted = [float(record["price"]) for record in found]
    assert np.corrcoef(known, predicted)[0, 1] > 0.95
    assert found[0]["when"] == "2024-01-01"
    for option in ("--proba", "--scores", "--threshold=0.5"):
        assert run("predict", model, data, option)[0] == 2


def test_the_model_file(made):
    data, model, _, _ = made
    document = json.loads(model.read_text())
    assert document["version"] == 3
    by_name = {column["name"]: column for column in document["columns"]}
    assert by_name["when (weekday, sin)"]["form"] == {"date": "ymd", "part": "weekday, sin"}
    assert by_name["when (weekday, sin)"]["source"] == "when"
    assert by_name["x"].keys() == {"name", "kind", "fill", "mean", "scale"}
    again = TableModel.from_dict(json.loads(TableModel.load(model).to_json()))
    assert again.predict(read_table(data)) == TableModel.load(model).predict(read_table(data))


def test_the_report(made):
    text = made[2].read_text()
    assert "root mean square error" in text and "Predicted against known values" in text
    assert "unexplained variance" in text or "Error against terms" not in text
    assert "SparseSVR" in text and "of root mean square error" in text


def test_show_and_export(run, made, tmp_path):
    data, model, _, _ = made
    code, out, _ = run("show", model, "--data", data)
    assert code == 0 and "kind = u" in out and "The value is the prediction." in out
    assert run("show", model, "--data", data, "--line", 5)[0] == 0
    header = tmp_path / "price.h"
    code, _, err = run("export", model, "--to", "c", "--out", header, "--data", data)
    assert (
        code == 0 and "It takes the numbers of column 'when', not its dates: 'when (days)'" in err
    )
    assert "root of the mean square" in header.read_text()
    assert "when (weekday, sin)" in header.read_text()
    for language, name in (("sql", "m.sql"), ("javascript", "m.js")):
        assert run("export", model, "--to", language, "--out", tmp_path / name)[0] == 0


def test_select(run, made, tmp_path):
    reduced = tmp_path / "reduced.csv"
    options = ("--target", "price", "--features", 2, "--folds", 3, "--n-jobs", 1)
    code, out, err = run("select", made[0], *options, "--out", reduced)
    assert code == 0
    assert "1 - R²" in out and "ridge regression" in " ".join(out.split())
    names = [line.split("│")[2].strip() for line in out.splitlines() if line.startswith("│")]
    assert names[0] == "kind" and len(names) == 2
    assert set(read_table(reduced).cells) == {"price", *names}


def test_the_task_can_be_said(run, tmp_path, monkeypatch):
    narrow_searches(monkeypatch)
    rows = [[f"{x:.2f}", 1 + int(x > 0)] for x in np.random.default_rng(0).normal(size=60)]
    path = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    options = ("--target", "y", "--folds", 3, "--n-jobs", 1, "--terms", 2)
    assert "recall of '1'" in run("fit", path, *options)[1]
    out = run("fit", path, *options, "--task", "regression")[1]
    assert "RMSE" in out and "SparseSVR" in out
    rows = [[f"{x:.2f}", f"{x:.1f}"] for x in np.random.default_rng(0).normal(size=60)]
    path = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    sentence = "Class .* has fewer rows"
    assert_one_sentence(*run("fit", path, *options, "--task", "classification"), sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--class-weight", "balanced"], "--class-weight goes with classes"),
        (["--metric", "auc"], "--metric auc does not go with regression"),
    ],
)
def test_options_of_classes(run, made, options, sentence):
    code, out, err = run("fit", made[0], "--target", "price", *options)
    assert code == 2 and out == "" and sentence in err


def test_many_rows_are_drawn_for_the_tuned_machine(run, made, monkeypatch):
    narrow_searches(monkeypatch)
    monkeypatch.setattr(SparseSVR, "_C_values", (10.0,))
    tune(monkeypatch, "regression", max_rows=40, rows=30)
    options = ("--target", "price", "--folds", 3, "--n-jobs", 1, "--terms", 2)
    out = run("fit", made[0], *options)[1]
    assert line_of(out, "fitted on") == ["–", "40 of 90 rows", "90 rows"]
    assert "SVR is tuned on a draw of 30 rows." in " ".join(out.split())


def test_few_rows(run, tmp_path):
    rows = [[i, f"{i}.5"] for i in range(12)]
    path = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    result = run("fit", path, "--target", "y", "--folds", 7)
    assert_one_sentence(*result, "fewer than two for each of the 7 folds")


def test_one_number_far_out(run, tmp_path, monkeypatch):
    """A target of 1e12 among small ones: a finite model, or a sentence."""
    narrow_searches(monkeypatch)
    rows = [[f"{i / 7:.2f}", f"{i % 13}.5"] for i in range(60)]
    rows[5][1] = "1e12"
    path = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    options = ("--target", "y", "--folds", 3, "--n-jobs", 1, "--terms", 2)
    code, out, _ = run("fit", path, *options, "--json")
    assert code == 0
    machines = json.loads(out)["machines"]
    assert all(np.isfinite(m["measured"]["rmse"]["mean"]) for m in machines)


def test_the_whole_program(made, tmp_path):
    """As a shell runs it: the file comes through a pipe, numbers have commas."""
    program = [sys.executable, "-c", "from zeronorm.tables.cli import main; main()"]
    data = made[0].read_bytes()
    done = subprocess.run([*program, "predict", made[1], "-"], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 91
