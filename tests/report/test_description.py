"""Models in words: original units, nearest rows, shares; one decision split up."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from tests.export.cases import BUILDERS, get, mixed_frame, table_model
from zeronorm import AROMClassifier, SparseSVC, ZeroNormSVC, load, save
from zeronorm.report import describe, explain
from zeronorm.tables.table import Table


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, (y == 1).to_numpy()


@pytest.fixture(scope="module")
def pipeline(iris):
    return make_pipeline(StandardScaler(), ZeroNormSVC(C=3, random_state=0)).fit(*iris)


def test_terms_that_are_rows_are_shown_as_these_rows(iris, pipeline):
    X, _ = iris
    facts = describe(pipeline, X).facts
    model = pipeline[-1]
    assert len(facts["terms"]) == model.n_terms_
    for term in facts["terms"]:
        row = X.iloc[model.support_[term["term"] - 1]]
        shown = {entry["column"]: entry["value"] for entry in term["place"]}
        assert_allclose([shown[name] for name in X.columns], row, rtol=1e-12)
        assert term["nearest"][0]["distance"] < 1e-7
        assert_allclose(list(term["nearest"][0]["cells"].values()), row)
        assert_allclose(term["weight"], model.dual_coef_[:, term["term"] - 1])


def test_nearest_rows_have_the_largest_kernel_values(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SparseSVC(3, random_state=0)).fit(X, y)
    values = model[-1].expansion_.kernel_values(model[:-1].transform(X))
    for term in describe(model, X).facts["terms"]:
        column = values[:, term["term"] - 1]
        best = np.argsort(-column, kind="stable")[:3]
        assert_allclose(column[[n["row"] for n in term["nearest"]]], column[best])
        assert_allclose([np.exp(-(n["distance"] ** 2)) for n in term["nearest"]], column[best])


def test_shares_and_changes_are_those_of_the_definition(iris, pipeline):
    X, _ = iris
    facts = describe(pipeline, X).facts
    expansion = pipeline[-1].expansion_
    parts = expansion.kernel_values(pipeline[:-1].transform(X)) * expansion.coef[:, 0]
    parts -= parts.mean(axis=0)
    sizes, decisions = np.abs(parts).mean(axis=0), pipeline.decision_function(X)
    for term in facts["terms"]:
        place = term["term"] - 1
        assert term["share"] == pytest.approx(sizes[place] / sizes.sum())
        changed = np.mean((decisions - parts[:, place] > 0) != (decisions > 0))
        assert term["changes"] == pytest.approx(changed)
    order = [term["share"] for term in facts["terms"]]
    assert order == sorted(order, reverse=True)


def test_a_linear_model_in_original_units(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    facts = describe(model, X).facts
    assert facts["terms"] == [] and facts["metric"] == []
    weights = {entry["column"]: entry for entry in facts["linear"]}
    for i, name in enumerate(X.columns):
        higher = X.iloc[:1].copy()
        higher[name] += 1.0
        step = model.decision_function(higher) - model.decision_function(X.iloc[:1])
        assert_allclose(weights[name]["per_unit"], step)
        assert_allclose(weights[name]["weight"], model[-1].coef_[:, i])
    strongest = max(facts["linear"], key=lambda entry: abs(entry["weight"][0]))
    assert facts["linear"][0] == strongest
    # Shares of columns are then deviations from the median times the weight.
    move = {n: np.abs(X[n] - X[n].median()).mean() * abs(weights[n]["per_unit"][0]) for n in X}
    for entry in facts["columns"]:
        assert entry["share"] == pytest.approx(move[entry["column"]] / sum(move.values()))


def test_the_distance_of_the_metric_is_in_units_of_the_column(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SVC(gamma=0.3)).fit(X, y)
    found = {entry["column"]: entry["distance"] for entry in describe(model).facts["metric"]}
    assert_allclose([found[n] for n in X.columns], model[0].scale_ / np.sqrt(0.3))


@pytest.mark.parametrize("name", ["poly", "sigmoid"])
def test_vectors_of_other_kernels_are_places_too(name, iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SVC(kernel=name, gamma=0.2, coef0=0.5)).fit(X, y)
    for term in describe(model).facts["terms"]:
        row = X.iloc[model[-1].support_[term["term"] - 1]]
        shown = {entry["column"]: entry["value"] for entry in term["place"]}
        assert_allclose([shown[n] for n in X.columns], row)


def test_categories_are_shown_as_their_levels():
    case = get("mixed")
    model = case.model
    frame, _ = mixed_frame()
    facts = describe(model, frame).facts
    for term in facts["terms"]:
        row = frame.iloc[model[-1].support_[term["term"] - 1]]
        shown = {entry["column"]: entry for entry in term["place"]}
        assert shown["code"]["level"] == row["code"]
        assert shown["code"]["distance"] == pytest.approx(0.0, abs=1e-12)
        if isinstance(row["size"], str):
            assert shown["size"]["level"] == row["size"]


def test_a_sparse_polynomial_is_written_out():
    X, y = np.random.default_rng(0).normal(size=(80, 3)), None
    y = X[:, 0] * X[:, 1] > 0
    found = describe(AROMClassifier(1, kernel="poly").fit(X, y), X, ["a", "b", "c"])
    assert found.facts["terms"][0]["product"] == "a · b"
    assert "1. a · b" in str(found)


@pytest.mark.parametrize("name", BUILDERS)
def test_every_model_is_described_in_json_and_text(name):
    case = get(name)
    for X in (None, case.rows[:30]):
        found = describe(case.model, X)
        assert json.loads(found.to_json()) == json.loads(json.dumps(found.facts))
        text = str(found)
        assert found.facts["meaning"] in text and "nan" not in text.lower().split()
        if X is not None and name != "density":
            total = sum(entry["share"] for entry in found.facts["columns"])
            assert total == pytest.approx(1.0) or name == "no terms"


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "density"])
def test_both_splits_of_a_decision_add_up(name):
    case = get(name)
    for X in (None, case.rows):
        for row in (case.rows[0], case.rows[25]):
            facts = explain(case.model, row, X).facts
            for split in facts["outputs"]:
                columns = split["reference"] + sum(e["share"] for e in split["columns"])
                terms = split["constant"] + split["linear"]
                terms += sum(entry["share"] for entry in split["terms"])
                assert columns == pytest.approx(split["value"], rel=1e-9, abs=1e-9)
                assert terms == pytest.approx(split["value"], rel=1e-9, abs=1e-9)


def test_the_value_is_the_decision_and_the_text_says_so(iris, pipeline):
    X, _ = iris
    found = explain(pipeline, X.iloc[70], X)
    decision = pipeline.decision_function(X.iloc[[70]])[0]
    assert found.facts["outputs"][0]["value"] == pytest.approx(decision, abs=1e-9)
    assert found.facts["prediction"] == pipeline.predict(X.iloc[[70]])[0]
    assert f"{decision:+.3g}" in str(found) and "petal width (cm) = 1.8" in str(found)


def test_a_row_may_come_in_many_forms(iris, pipeline):
    X, _ = iris
    row = X.iloc[3]
    known = explain(pipeline, row).facts
    for form in (row.to_dict(), row.to_numpy(), list(row), X.iloc[[3]], X.iloc[[3], ::-1]):
        assert explain(pipeline, form).facts == known


def test_probabilities_and_saved_models(iris, tmp_path):
    X, y = iris
    model = SparseSVC(2, cv=3, n_init=1, random_state=0).fit(X, y)
    found = explain(model, X.iloc[0]).facts["probabilities"]
    assert_allclose(list(found.values()), model.predict_proba(X.iloc[:1])[0])
    save(model, tmp_path / "model.json")
    assert explain(load(tmp_path / "model.json"), X.iloc[0]).facts["probabilities"] == found


def test_the_table_of_the_command_line():
    case = table_model()
    names = case.names
    texts = [["" if v is None else str(v) for v in row] for row in case.rows[:40]]
    cells = {name: [row[i].strip() for row in texts] for i, name in enumerate(names)}
    table = Table("t.csv", cells, range(2, 42))
    by_line, by_row = describe(case.model, table).facts, describe(case.model, case.rows[:40]).facts
    assert (by_line.pop("row_word"), by_row.pop("row_word")) == ("line", "row")
    for term, other in zip(by_line["terms"], by_row["terms"], strict=True):
        near, lines = other["nearest"], [entry.pop("row") for entry in term["nearest"]]
        assert lines == [entry.pop("row") + 2 for entry in near]
    assert by_line == by_row
    with pytest.raises(ValueError, match="command line's models only"):
        describe(get("rbf").model, table)


def test_many_rows_are_thinned_out():
    X = np.random.default_rng(0).normal(size=(25_000, 2))
    model = SVR(C=0.1).fit(X[:30], X[:30, 0])
    facts = describe(model, X).facts
    assert facts["n_rows"] == 10_000
    rows = [near["row"] for term in facts["terms"] for near in term["nearest"]]
    assert max(rows) > 10_000


def test_bad_input_gets_a_sentence(iris, pipeline):
    X, y = iris
    with pytest.raises(ValueError, match="3 feature_names, and the model takes 4 columns"):
        describe(pipeline, feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="X has 3 columns, and the model takes 4"):
        describe(pipeline, X.to_numpy()[:, :3])
    with pytest.raises(ValueError, match="must have rows and columns"):
        describe(pipeline, [1.0, 2.0])
    with pytest.raises(ValueError, match="X has no rows"):
        describe(pipeline, X.iloc[:0])
    with pytest.raises(ValueError, match="'petal width .cm.' of row 0 is missing"):
        explain(pipeline, [1.0, 2.0, 3.0, None])
    with pytest.raises(ValueError, match="'many' in column .* is no number"):
        explain(pipeline, [1.0, 2.0, 3.0, "many"])
    with pytest.raises(ValueError, match="One row is explained at a time; there are 2"):
        explain(pipeline, X.iloc[:2])
    with pytest.raises(ValueError, match="The row has no 'sepal length"):
        explain(pipeline, {"petal width (cm)": 1.0})
    with pytest.raises(ValueError, match="no sum of terms"):
        explain(get("density").model, get("density").rows[0])


def test_a_predicted_number_has_four_digits():
    model = SVR(C=10.0).fit(np.arange(30.0)[:, None], 100 + np.arange(30.0) / 7)
    value = model.predict([[3.0]])[0]
    assert str(explain(model, [3.0])).startswith(f"Prediction: {value:.4g}.\n")
    assert explain(model, [3.0]).facts["prediction"] == pytest.approx(value, rel=1e-12)


def test_the_parts_of_a_large_number_add_up_as_they_stand_there():
    X = np.random.RandomState(0).uniform(size=(40, 2))
    model = SVR(kernel="linear", C=1e6).fit(X, 1e5 + X @ [3e5, -1e5])
    text = str(explain(model, X[0], X))
    assert "Decision value" not in text
    digits = [line.replace("\N{THIN SPACE}", "").split() for line in text.splitlines()]
    (value,) = (int(words[1]) for words in digits if words[:1] == ["Value:"])
    start = next(i for i, words in enumerate(digits) if words[:2] == ["By", "column,"]) + 1
    assert sum(int(words[0]) for words in digits[start : start + 3]) == pytest.approx(value, abs=2)


def test_pandas_gaps_are_missing():
    case = get("mixed")
    rows = pd.DataFrame([case.rows[0]], columns=case.names)
    rows.loc[0, "size"] = pd.NA
    assert explain(case.model, rows).facts["row"]["size"] is None


def test_columns_of_the_same_name():
    X = np.random.RandomState(0).randn(60, 3)
    model = ZeroNormSVC(random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="2 columns are called 'a'; give feature_names"):
        describe(model, X, ["a", "a", "b"])
    frame = pd.DataFrame(X, columns=["a", "a", "b"])
    found = describe(model, frame, ["first", "second", "third"])
    assert found.facts == describe(model, X, ["first", "second", "third"]).facts


def test_a_number_that_is_infinite_is_called_so():
    X = np.random.RandomState(0).randn(60, 2)
    model = ZeroNormSVC(random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="Column 'x0' of row 0 is missing, infinite, or"):
        explain(model, [np.inf, 0.0])
