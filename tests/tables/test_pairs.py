"""A model of a table whose outputs are pairs of classes: predicted, shown, exported."""

import csv
import io
import json
import sqlite3

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.export.cases import four_classes
from zeronorm import SparseSVC
from zeronorm.tables.cli import app
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.table import Table

NAMES = ["p", "q", "r"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder with a model and a file of its rows, and the model of the features."""
    folder, (X, y) = tmp_path_factory.mktemp("pairs"), four_classes()
    cells = [[repr(float(v)) for v in column] for column in X.T]
    table = Table("t.csv", dict(zip(NAMES, cells, strict=True)), range(len(X)))
    columns, _ = infer_columns(table)
    encoder = TableEncoder(columns).fit(to_matrix(table, columns))
    features = encoder.transform(to_matrix(table, columns))
    labels, codes = np.unique(y, return_inverse=True)
    model = SparseSVC(4, C=[1, 10], multi_class="ovo", random_state=0).fit(features, codes)
    TableModel.of_classes("y", labels.tolist(), encoder, model).save(folder / "model.json")
    lines = [",".join(NAMES), *(",".join(row) for row in zip(*cells, strict=True))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder, model, features


def run(*arguments):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    assert found.exit_code == 0, found.stderr
    return found.stdout


def numbers(rows, names):
    return np.array([[row[name] for name in names] for row in rows], dtype=float)


def test_predictions(files):
    folder, model, features = files
    text = run("predict", folder / "model.json", folder / "rows.csv", "--proba", "--scores")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["y"] for row in rows] == ["abcd"[code] for code in model.predict(features)]
    for name, method in (("P", model.predict_proba), ("score", model.decision_function)):
        found = numbers(rows, [f"{name}({label})" for label in "abcd"])
        np.testing.assert_allclose(found, method(features), rtol=1e-5, atol=1e-12)


def test_what_is_shown(files):
    folder, model, features = files
    assert "The class whose worst comparison is best" in run("show", folder / "model.json")
    text = run("show", folder / "model.json", "--data", folder / "rows.csv", "--line", 2, "--json")
    facts = json.loads(text)
    chances = list(facts["probabilities"].values())
    np.testing.assert_allclose(chances, model.predict_proba(features[:1])[0], rtol=1e-9)


def test_exported(files):
    folder, model, features = files
    out = folder / "model.sql"
    run("export", folder / "model.json", "--to", "sql", "--out", out, "--dialect", "sqlite")
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute("CREATE TABLE data (p REAL, q REAL, r REAL)")
    with (folder / "rows.csv").open() as stream:
        rows = list(csv.reader(stream))[1:]
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    try:
        found = connection.execute(out.read_text()).fetchall()
    except sqlite3.OperationalError:
        pytest.skip("needs an SQLite with mathematical functions")
    known = model.predict_proba(features)
    chances = numbers(found, [f"probability_{label}" for label in "abcd"])
    np.testing.assert_allclose(chances, known, rtol=1e-9)
