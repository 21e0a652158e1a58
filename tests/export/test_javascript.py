"""The exported module, run by node, beside Python."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from tests.export.cases import BUILDERS, HOSTILE, get, strict_pipeline, two_classes
from zeronorm.export import to_javascript
from zeronorm.export.javascript import declaration

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node: apt-get install nodejs")

DRIVER = """\
import { readFileSync } from "node:fs";
const found = [];
for (const [path, rows] of JSON.parse(readFileSync(0, "utf8"))) {
  const model = await import(path);
  const all = (name) => (model[name] ? rows.map((row) => model[name](row)) : null);
  found.push({
    columns: model.columns, classes: model.classes, decision: all("decision"),
    predict: all("predict"), probabilities: all("probabilities"),
  });
}
console.log(JSON.stringify(found));
"""


def run(jobs, folder):
    """Run all models, each with its rows, in one process: node takes long to start."""
    (folder / "driver.mjs").write_text(DRIVER)
    paths = [str(folder / f"model{i}.mjs") for i in range(len(jobs))]
    for path, (model, _) in zip(paths, jobs, strict=True):
        to_javascript(model, path)
    given = json.dumps([[path, rows] for path, (_, rows) in zip(paths, jobs, strict=True)])
    command = [NODE, folder / "driver.mjs"]
    answer = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=60
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    jobs = [(get(name).model, get(name).rows) for name in BUILDERS]
    return dict(zip(BUILDERS, run(jobs, tmp_path_factory.mktemp("javascript")), strict=True))


@needs_node
@pytest.mark.parametrize("name", BUILDERS)
def test_as_python(name, answers):
    case, found = get(name), answers[name]
    assert found["columns"] == case.names
    assert case.error(found["decision"]) < 1e-12
    if case.predictions is None:
        assert found["predict"] is None
    elif isinstance(case.predictions[0], (float, list)):
        assert case.error(found["predict"]) < 1e-12
    else:
        assert case.wrong(found["predict"]) == 0
    if case.probabilities is None:
        assert found["probabilities"] is None
    else:
        np.testing.assert_allclose(
            found["probabilities"], case.probabilities, rtol=1e-9, atol=1e-300
        )


@needs_node
def test_rows_by_name(tmp_path):
    case = get("names")
    rows = [dict(zip(case.names, row, strict=True)) for row in case.rows]
    assert case.error(run([(case.model, rows)], tmp_path)[0]["decision"]) < 1e-12


@needs_node
def test_no_prediction_without_a_number(tmp_path):
    X, y = two_classes()
    rows = [[0.1, None, 0.2], [0.1, "text", 0.2], [], {"x0": 1}, [0.1, " ", 0.2]]
    (found,) = run([(SVC().fit(X, y), rows)], tmp_path)
    assert found["predict"] == [None] * 5


@needs_node
def test_no_prediction_for_a_level_that_is_not_known(tmp_path):
    model, rows = strict_pipeline()
    (found,) = run([(model, rows)], tmp_path)
    assert found["predict"][0] in (True, False)
    assert found["predict"][1:] == [None] * 4


@needs_node
@pytest.mark.parametrize("spelled", [("False", "True"), ("false", "true"), ("no", "yes")])
def test_truth_values_for_texts(spelled, tmp_path):
    texts = np.array(spelled, dtype=object)[np.arange(20) % 2][:, None]
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, SVC(C=10)).fit(texts, np.arange(20) % 2)
    (found,) = run([(model, [[False], [True], *texts[:2].tolist()])], tmp_path)
    known = spelled if spelled[0] != "no" else ("unknown", "unknown")
    rows = np.array([*known, *spelled], dtype=object)[:, None]
    np.testing.assert_allclose(np.ravel(found["decision"]), model.decision_function(rows))


@needs_node
def test_blank_numbers_are_no_level(tmp_path):
    """Number(" ") is zero, which here is a level."""
    codes = np.array([0.0, 1.0, np.nan] * 10)[:, None]
    model = make_pipeline(OneHotEncoder(), SVC(C=10)).fit(codes, np.isnan(codes[:, 0]))
    (found,) = run([(model, [[0], [None], [""], [" "]])], tmp_path)
    assert found["predict"] == [False, True, True, True]


def test_integers_that_javascript_does_not_have():
    X, y = two_classes()
    for label in (2**53, -(2**53)):
        with pytest.raises(ValueError, match=f"{label} is beyond the integers of JavaScript"):
            to_javascript(SVC().fit(X, np.where(y == "no", 0, label)))


def test_types_of_several_targets():
    assert "predict(row: Row): number[] | null;" in declaration(get("SparseSVR, targets").model)
    assert "predict" not in declaration(get("SparseKernelPCA").model)


def test_files(tmp_path):
    case = get("names")
    text = to_javascript(case.model, tmp_path / "model.js")
    assert (tmp_path / "model.js").read_text() == text
    types = (tmp_path / "model.d.ts").read_text()
    assert types == declaration(case.model)
    assert 'export type Label = "no" | "yes";' in types
    assert "probabilities" not in types
    assert "</script>" not in to_javascript(get("mixed").model)
    assert HOSTILE[0] in json.loads(text.split("export const columns = ")[1].split(";\nexport")[0])


def test_what_is_not_there_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="cannot be exported"):
        to_javascript(SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1]), tmp_path / "m.js")
    assert not list(tmp_path.iterdir())
