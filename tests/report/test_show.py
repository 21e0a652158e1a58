"""The command ``zeronorm show``."""

import json

import pytest
from typer.testing import CliRunner

from tests.export.cases import get, table_model
from zeronorm import save
from zeronorm.report import describe
from zeronorm.tables.cli import app
from zeronorm.tables.columns import Column


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder with a model, and a file of its rows."""
    folder, case = tmp_path_factory.mktemp("show"), table_model()
    lines = ["age;amount;colour"]
    case.model.encoder.columns[1] = Column("amount")  # a name that needs no quotes
    case.model.save(folder / "model.json")
    lines += [";".join("" if v is None else str(v) for v in row) for row in case.rows[:30]]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder


def run(*arguments):
    found = CliRunner().invoke(app, ["show", *map(str, arguments)])
    return found.exit_code, found.stdout, found.stderr


def test_the_model_as_text_and_as_json(files):
    code, text, _ = run(files / "model.json")
    assert code == 0 and "age" in text and "nearest" not in text
    code, text, _ = run(files / "model.json", "--data", files / "rows.csv")
    assert code == 0 and "nearest lines: " in text
    code, text, _ = run(files / "model.json", "--json")
    assert code == 0 and json.loads(text)["labels"] == ["low", "mid"]


def test_one_decision(files):
    code, text, _ = run(files / "model.json", "--data", files / "rows.csv", "--line", 8, "--json")
    split = json.loads(text)["outputs"][0]
    total = split["reference"] + sum(entry["share"] for entry in split["columns"])
    assert code == 0 and total == pytest.approx(split["value"], abs=1e-9)
    known = table_model().scores[6]  # line 2 is row 0
    assert split["value"] == pytest.approx(known, abs=1e-9)


def test_a_model_that_was_saved_in_python(tmp_path):
    model = get("SparseSVC").model
    save(model, tmp_path / "model.json")
    code, text, _ = run(tmp_path / "model.json")
    assert code == 0
    rest = str(describe(model)).split("\n", 1)[1]
    assert text.split("\n", 1)[1].strip() == rest.strip()


def test_bad_input_gets_a_sentence(files, tmp_path):
    model, rows = files / "model.json", files / "rows.csv"
    save(get("SparseSVC").model, tmp_path / "other.json")
    for arguments, sentence in (
        ([tmp_path / "none.json"], "There is no file"),
        ([model, "--line", 3], "--line is a line of --data DATA.csv"),
        ([model, "--data", rows, "--line", 99], "begins on line 99."),
        ([tmp_path / "other.json", "--data", rows], "--data goes with a model that"),
    ):
        code, out, error = run(*arguments)
        assert (code, out) == (2, "") and sentence in error
