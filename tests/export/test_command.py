"""The command ``zeronorm export``."""

import sqlite3

import pytest

import zeronorm
from tests.export.cases import get
from zeronorm import AROMSelector
from zeronorm.export import to_c, to_javascript, to_sql
from zeronorm.tables import cli


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.json"
    get("table").model.save(path)
    return path


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main(["export", *map(str, arguments)])
        return ended.value.code, capsys.readouterr().err

    return call


def write_rows(path, header='age,"a""b; drop table data; --",colour,y'):
    lines = ["20,1000,red,low", "60,1001,blue,high", "?,1000,NA,low", "30,999,red,"]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def test_c(saved, run, tmp_path):
    out = tmp_path / "my-model.h"
    rows = write_rows(tmp_path / "rows.csv")
    options = ("--precision", "int16", "--own-exp", "--data", rows)
    code, told = run(saved, "--to", "c", "--out", out, *options)
    assert (code, told) == (0, f"Wrote {out}, {out.stat().st_size:,} bytes.\n")
    text = out.read_text()
    assert "int my_model_class(const float *x)" in text
    assert "of the 3 rows given" in text
    assert text.split("*/", 1)[1] == to_c(
        get("table").model, name="my_model", precision="int16", own_exp=True
    ).split("*/", 1)[1]  # fmt: skip


def test_arduino(saved, run, tmp_path):
    folder = tmp_path / "blink"
    code, told = run(saved, "--to", "c", "--out", folder, "--arduino", "--precision", "float")
    assert (code, told) == (0, f"Wrote the folder {folder}.\n")
    assert sorted(path.name for path in folder.iterdir()) == ["blink.h", "blink.ino"]
    code, told = run(saved, "--to", "c", "--out", folder, "--arduino")
    assert code == 2 and "exists and is not empty" in told


def test_sql(saved, run, tmp_path):
    out = tmp_path / "model.sql"
    options = ("--dialect", "sqlite", "--table", "my table", "--keep", "id", "--keep", "age")
    assert run(saved, "--to", "sql", "--out", out, *options)[0] == 0
    text = out.read_text()
    keep = ["id", "age"]
    assert text == to_sql(get("table").model, dialect="sqlite", table="my table", keep=keep)
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE "my table" (id, age, "a""b; drop table data; --", colour)')
    connection.execute("INSERT INTO \"my table\" VALUES (7, 33.5, NULL, 'green')")
    ((key, age, label, score),) = connection.execute(text)
    assert (key, age) == (7, 33.5) and label in ("low", "mid") and abs(score) < 10


def test_javascript(saved, run, tmp_path):
    out = tmp_path / "model.js"
    assert run(saved, "--to", "javascript", "--out", out)[0] == 0
    assert out.read_text() == to_javascript(get("table").model)
    assert (tmp_path / "model.d.ts").exists()


def test_onnx(saved, run, tmp_path):
    onnx = pytest.importorskip("onnx")
    out = tmp_path / "model.onnx"
    assert run(saved, "--to", "onnx", "--out", out, "--precision", "double")[0] == 0
    assert [i.name for i in onnx.load(out).graph.input][:1] == ["age"]


def test_a_model_that_save_wrote(run, tmp_path):
    zeronorm.save(get("SparseSVC").model, tmp_path / "saved.json")
    out = tmp_path / "saved.h"
    assert run(tmp_path / "saved.json", "--to", "c", "--out", out)[0] == 0
    assert "saved_probabilities" in out.read_text()
    rows = write_rows(tmp_path / "rows.csv")
    code, told = run(tmp_path / "saved.json", "--to", "c", "--out", out, "--data", rows)
    assert code == 2 and "goes with a model that 'zeronorm fit --out' wrote" in told


def test_the_same_class_in_another_spelling(run, tmp_path):
    """1.0 in the file is the class 1 of the model."""
    model = get("table").model
    numbered = type(model).of_classes("y", ["1", "2"], model.encoder, model.model)
    numbered.save(tmp_path / "model.json")
    rows = tmp_path / "rows.csv"
    write_rows(rows)
    rows.write_text(rows.read_text().replace("low", "1.0").replace("high", "2.0"))
    out = tmp_path / "model.h"
    assert run(tmp_path / "model.json", "--to", "c", "--out", out, "--data", rows)[0] == 0
    assert "error:     100.0 %" not in out.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", "cobol"), "--to is one of c, onnx, sql, javascript, not 'cobol'."),
        (("--to", "sql", "--own-exp"), "--own-exp is no option of --to sql."),
        (("--to", "c", "--dialect", "duckdb"), "--dialect is no option of --to c."),
        (("--to", "javascript", "--precision", "float"), "--precision is no option of"),
        (("--to", "c", "--precision", "half"), "precision must be one of double, float, int16"),
        (("--to", "c", "--name", "9x"), "letters, digits and underscores"),
        (("--to", "sql", "--dialect", "oracle"), "dialect must be one of"),
    ],
)
def test_wrong_options(saved, run, tmp_path, options, message):
    code, told = run(saved, "--out", tmp_path / "out", *options)
    assert code == 2 and told.startswith("zeronorm: ") and message in told
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_wrong_files(saved, run, tmp_path):
    def told(*arguments):
        code, text = run(*arguments)
        assert code == 2 and text.count("\n") == 1
        return text

    assert "There is no file" in told(tmp_path / "no.json", "--to", "c", "--out", tmp_path / "a.h")
    assert "is an input" in told(saved, "--to", "c", "--out", saved)
    assert "there is no folder" in told(saved, "--to", "c", "--out", tmp_path / "no" / "a.h")
    (tmp_path / "bad.json").write_text("{}")
    assert "bad.json" in told(tmp_path / "bad.json", "--to", "c", "--out", tmp_path / "a.h")
    rows = write_rows(tmp_path / "rows.csv", "age,b,colour,other")
    assert "has no column 'y'" in told(
        saved, "--to", "c", "--out", tmp_path / "a.h", "--data", rows
    )
    X, y = get("rbf").X[:40], get("rbf").predictions[:40]
    zeronorm.save(AROMSelector(1).fit(X, y), tmp_path / "selection.json")
    message = told(tmp_path / "selection.json", "--to", "c", "--out", tmp_path / "a.h")
    assert "predicts nothing" in message
    assert not (tmp_path / "a.h").exists()
