"""The report: facts beside scikit-learn's metrics, verdicts, escaping, and the three renderings."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from typer.testing import CliRunner

from tests.export.cases import HOSTILE, four_classes, get, mixed_frame
from zeronorm import RelevanceVectorClassifier, SparseKernelPCA, SparseSVC
from zeronorm.report import explain, make_report, write_html
from zeronorm.report.measurement import Answers, joined
from zeronorm.report.svg import Series, chart, ticks
from zeronorm.report.verdict import verdict
from zeronorm.tables.cli import app


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(300, 4, flip_y=0.1, random_state=0)
    model = make_pipeline(StandardScaler(), RelevanceVectorClassifier()).fit(X[:150], y[:150])
    return model, X[150:], y[150:]


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.text += data


def test_facts_are_those_of_scikit_learn(two):
    model, X, y = two
    facts = make_report(model, X, y).facts["measured"]
    scores, chances = model.decision_function(X), model.predict_proba(X)
    assert facts["error"] == pytest.approx(1 - model.score(X, y))
    assert facts["confusion"] == metrics.confusion_matrix(y, model.predict(X)).tolist()
    assert facts["curves"][0]["auc"] == pytest.approx(metrics.roc_auc_score(y, scores))
    area = metrics.auc(*np.transpose(facts["curves"][0]["roc"]))
    assert area == pytest.approx(facts["curves"][0]["auc"], abs=0.01)
    known = metrics.average_precision_score(y, scores)
    assert facts["curves"][0]["average_precision"] == pytest.approx(known)
    assert facts["calibration"]["brier"] == pytest.approx(
        metrics.brier_score_loss(y, chances[:, 1])
    )
    assert facts["calibration"]["log_loss"] == pytest.approx(metrics.log_loss(y, chances))
    bins = np.array(facts["calibration"]["bins"])
    assert bins[:, 2].sum() == len(y)
    assert bins[:, 2] @ bins[:, 1] == pytest.approx(y.sum())
    report = metrics.classification_report(y, model.predict(X), output_dict=True)
    for entry in facts["classes"]:
        assert entry["recall"] == pytest.approx(report[entry["label"]]["recall"])
        assert entry["precision"] == pytest.approx(report[entry["label"]]["precision"])


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X[::2], y[::2])
    facts = make_report(model, X[1::2], y[1::2]).facts
    scores = model.decision_function(X[1::2])
    for place, curve in enumerate(facts["measured"]["curves"]):
        known = metrics.roc_auc_score(y[1::2] == place, scores[:, place])
        assert curve["auc"] == pytest.approx(known)
    assert facts["measured"]["calibration"] is None
    pairs = SVC(decision_function_shape="ovo", kernel="linear").fit(X, y)
    report = make_report(pairs, X, y)
    assert report.facts["measured"]["curves"] == []  # three pairs are no scores of three classes
    assert report.facts["scores"] == ["0 against 1", "0 against 2", "1 against 2"]
    assert "<h2>Curves</h2>" not in report.to_html()
    assert facts["scores"] == ["0", "1", "2"]


def test_pairs_of_classes_that_are_decided_by_the_worst_of_each():
    X, y = four_classes()
    model = get("SparseSVC, pairs").model
    report = make_report(model, X, y)
    scores, facts = model.decision_function(X), report.facts
    for curve, label, column in zip(facts["measured"]["curves"], "abcd", scores.T, strict=True):
        assert curve["label"] == label
        assert curve["auc"] == pytest.approx(metrics.roc_auc_score(y == label, column))
    assert facts["measured"]["calibration"]["log_loss"] == pytest.approx(
        metrics.log_loss(y, model.predict_proba(X))
    )
    assert facts["scores"] == ["a", "b", "c", "d"]
    assert_allclose(facts["decision_range"], np.percentile(scores, [1, 99]), atol=1e-12)
    said = "above zero the first wins, below the second. The class whose worst comparison is best"
    assert said in facts["model"]["meaning"]
    assert said in str(report) and said in Page(report.to_html()).text
    shown = [example["split"]["output"].split(" against ") for example in facts["examples"]]
    assert all(label in pair for label, pair in zip("abcd", shown, strict=True))
    assert json.loads(report.to_json()) == facts


def test_of_pairs_the_closest_of_the_predicted_class_is_explained():
    X, _ = four_classes()
    model = get("SparseSVC, pairs").model
    facts = explain(model, X[0], X).facts
    pairs = {s["output"]: s["value"] for s in facts["outputs"]}
    mine = {name: v for name, v in pairs.items() if facts["prediction"] in name.split(" against ")}
    closest = min(mine, key=lambda name: abs(mine[name]))
    assert len(pairs) == 6 and len(mine) == 3
    assert facts["prediction"] == model.predict(X[:1])[0]
    assert facts["outputs"][facts["shown"]]["output"] == closest
    assert f"Decision value ({closest})" in str(explain(model, X[0], X))
    assert list(facts["probabilities"].values()) == pytest.approx(model.predict_proba(X[:1])[0])


def test_of_many_classes_the_hardest_have_curves():
    X, y = make_blobs(360, 3, centers=9, cluster_std=3.0, random_state=0)
    model = SVC(decision_function_shape="ovr").fit(X[::2], y[::2])
    report = make_report(model, X[1::2], y[1::2])
    areas = {c["label"]: c["auc"] for c in report.facts["measured"]["curves"]}
    assert len(areas) == 9
    page = Page(report.to_html()).text
    assert page.count("shown are the 7 hardest of 9.") == 2
    shown = sorted(areas, key=areas.get)[:7]
    assert set(re.findall(r"(\d): area", page)) == set(shown)


def test_of_many_weights_the_largest_are_shown():
    X, y = make_blobs(120, 2, centers=6, random_state=0)
    model = SparseSVC(8, C=1.0, gamma=1.0, linear=False, random_state=0).fit(X, y)
    report = make_report(model, X, y)
    term = report.facts["model"]["terms"][0]
    said = re.search(r"Weight (.*?) and less for 2 others", Page(report.to_html()).text)[1]
    largest = np.argsort(-np.abs(term["weight"]))[:4]
    assert re.findall(r"for (\d)", said) == [str(code) for code in largest]


def test_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    model = SVR(C=10).fit(X[:40], y[:40])
    facts = make_report(model, X[40:], y[40:]).facts
    predicted = model.predict(X[40:])
    assert facts["measured"]["rmse"] == pytest.approx(
        metrics.root_mean_squared_error(y[40:], predicted)
    )
    assert facts["measured"]["r2"] == pytest.approx(metrics.r2_score(y[40:], predicted))
    noise = make_report(model, X[40:], rng.normal(10, 1, 40)).facts
    assert noise["verdict"][0].startswith("No better than guessing")


def test_a_model_without_answers_and_one_that_is_not_measured(two):
    model, X, _ = two
    report = make_report(model, X)
    assert report.facts["verdict"][0].startswith("Nothing was measured")
    assert "<h2>Predictions</h2>" not in report.to_html()
    outliers = OneClassSVM().fit(X)
    assert "Prediction" in make_report(outliers, X).to_html()
    with pytest.raises(ValueError, match="take y=None"):
        make_report(outliers, X, np.ones(len(X)))
    components = SparseKernelPCA(2, n_terms=4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="SparseKernelPCA predicts nothing .* take y=None"):
        make_report(components, X, np.ones(len(X)))


def contender(name, errors, terms):
    return {"name": name, "fold_errors": errors, "terms": terms, "shown": {"error": "x"}}


def measured(error, guessing=0.4):
    classes = [{"label": "a", "recall": 0.9}, {"label": "b", "recall": 0.3}]
    return {"error": error, "standard_error": 0.01, "guessing": guessing, "commonest": "a",
            "balanced_error": 0.5, "classes": classes}  # fmt: skip


def test_the_verdict_in_words():
    svc, sparse = [0.10, 0.11, 0.12, 0.10], [0.15, 0.17, 0.16, 0.15]
    worse = verdict(measured(0.16), [contender("SVC", svc, "90"), contender("Sparse", sparse, "3")])
    assert worse[0].startswith("SVC is better by more than the standard error")
    assert "use it" in worse[0] and "kernel terms of Sparse (3 instead of 90)" in worse[0]
    better = verdict(measured(0.1), [contender("SVC", sparse, "90"), contender("Sparse", svc, "3")])
    assert better[0].startswith("Sparse is better than SVC by 5.0 ± 0.4 points")
    equal = [0.10, 0.12, 0.11, 0.11]
    same = verdict(measured(0.11), [contender("SVC", svc, "9"), contender("Sparse", equal, "3")])
    assert "differ by no more than the standard error" in same[0]
    assert same[-1] == "Of the rows of class 'b' it finds 30.0 % only."
    guess = verdict(measured(0.395), [contender("SVC", svc, "9"), contender("Sparse", equal, "3")])
    assert guess[0].startswith("No better than guessing")
    assert len(guess) == 3 and "use it" not in " ".join(guess)
    assert verdict(measured(0.2), [])[0].startswith("It is wrong on 20.0 % ± 1.0")


def test_the_verdict_on_numbers():
    both = [contender("SVR", [2.0, 2.1, 2.2], "90"), contender("Sparse", [1.0, 1.1, 1.3], "3")]
    found = {"rmse": 1.1, "guessing": 3.0, "r2": 0.8, "n_rows": 90}
    good = verdict(found, both)
    assert good[0].startswith("Sparse is better than SVR by 0.9667 ± 0.03333 of root mean square")
    assert good[0].endswith("; kernel terms: 3 instead of 90: use it.")
    assert "explains 80.0 % of the variance on 90 rows" in good[1]
    guess = verdict(found | {"rmse": 3.1, "r2": -0.1}, both)
    assert guess[0].startswith("No better than guessing") and "use it" not in guess[1]


def test_folds_are_joined_in_the_order_of_the_rows():
    parts = [
        Answers(np.array([5, 1]), np.array([50.0, 10.0])),
        Answers(np.array([0]), np.array([0.0])),
    ]
    found = joined(parts, np.array([5, 1, 0]))
    assert found.predicted.tolist() == [0, 1, 5] and found.scores.tolist() == [0, 10, 50]
    assert found.probabilities is None


def test_hostile_names_and_labels_stay_text():
    frame, y = mixed_frame()
    labels = np.array(["<img src=x onerror=alert(1)>", '"><script>alert(2)</script>'])[
        y.astype(int)
    ]
    steps = clone(get("mixed").model)
    fitted = make_pipeline(steps[0], steps[1], SVC()).fit(frame, labels)
    report = make_report(fitted, frame, labels, title="</title><script>alert(3)</script>")
    text = report.to_html()
    page = Page(text)
    assert page.tags.count("script") == 1 and "img" not in page.tags and "b" not in page.tags
    assert not [a for a in page.attributes if a[1].startswith("on")]
    for name in (HOSTILE[0], HOSTILE[3], *np.unique(labels), "</title><script>alert(3)</script>"):
        assert name in page.text
    found = report.to_markdown()
    assert "<script" not in found.split("```")[0] and "&lt;script" in found
    assert json.loads(report.to_json())["measured"]["commonest"] in labels


def test_the_page_asks_for_nothing(two, tmp_path):
    model, X, y = two
    write_html(model, X, y, tmp_path / "r.html", feature_names=["a", "b", "c", "d"], title="T")
    text = (tmp_path / "r.html").read_text()
    assert "default-src 'none'" in text and len(text) < 1_000_000
    assert not re.search(r"https?:|@import|url\(", text)
    links = [a for a in Page(text).attributes if a[1] in ("src", "href", "action")]
    assert links == [("link", "href", "data:,")]
    assert text == make_report(model, X, y, feature_names=list("abcd"), title="T").to_html()


def test_a_large_model_is_not_run_in_the_page():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 90))
    y = rng.integers(0, 2, 400)
    report = make_report(SVC(gamma=1.0).fit(X, y), X, y)
    text = report.to_html()
    assert report.code is None and len(text) < 1_000_000
    assert "too large to be run" in text and "<script" not in text


def test_bad_input_gets_a_sentence(two):
    model, X, y = two
    with pytest.raises(ValueError, match="There are 150 rows in X and answers of shape .3,. in y"):
        make_report(model, X, y[:3])
    with pytest.raises(ValueError, match="does not know the class '7' of y"):
        make_report(model, X, np.full(len(X), 7))
    steps = make_pipeline(StandardScaler(), PCA(2), SVC()).fit(X, y)
    with pytest.raises(ValueError, match="'pca', PCA"):
        make_report(steps, X, y)


def test_ticks_are_round():
    assert_allclose(ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert_allclose(ticks(-3, 17), [0, 5, 10, 15])
    assert ticks(2, 2) == [2]
    assert "NaN" not in chart([Series([(1, 1)])], "<x>", "y", "one point")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("report")
    lines = ["age,<b>city</b>,buys"]
    for _ in range(90):
        age, city = rng.integers(18, 90), rng.choice(["Paris", "Lyon"])
        lines.append(f"{age},{city},{'yes' if age + 20 * (city == 'Paris') > 60 else 'no'}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    return folder


def fit(folder, *arguments):
    given = ["fit", folder / "data.csv", "--target", "buys", "--folds", "3", "--n-jobs", "1"]
    return CliRunner().invoke(app, [str(a) for a in (*given, *arguments)])


def test_the_command_line_writes_a_report(table):
    found = fit(table, "--terms", 2, "--report", table / "r.json")
    assert found.exit_code == 0 and "Wrote " in found.stderr
    facts = json.loads((table / "r.json").read_text())
    assert [c["name"] for c in facts["comparison"]] == ["SVC", "SparseSVC"]
    # Confusions are those of the held-out rows of the comparison.
    table_of = np.array(facts["measured"]["confusion"])
    errors = facts["comparison"][-1]["fold_errors"]
    assert facts["measured"]["error"] == pytest.approx(np.mean(errors))
    assert table_of.sum() - table_of.trace() == round(90 * np.mean(errors))
    assert "3-fold cross-validation" in facts["how"]


def test_bad_reports_of_the_command_line(table):
    for name, sentence in (
        ("r.pdf", "--report is a .html, .md or .json file, not 'r.pdf'."),
        ("data.csv", "not 'data.csv'"),
        ("none/r.html", "there is no folder"),
    ):
        found = fit(table, "--report", table / name)
        assert found.exit_code == 2 and sentence in found.stderr.replace("\n", " ")


def test_typical_decisions_are_explained(two):
    model, X, y = two
    examples = make_report(model, X, y).facts["examples"]
    assert [example["title"] for example in examples] == ["A typical 0", "A typical 1"]
    for label, example in enumerate(examples):
        row, split = X[example["row"]], example["split"]
        assert model.predict([row])[0] == label
        assert split == explain(model, row, X).facts["outputs"][0]
        members = model.decision_function(X[model.predict(X) == label])
        assert split["value"] == pytest.approx(np.sort(members)[len(members) // 2])
    iris, species = load_iris(return_X_y=True)
    votes = make_report(SVC().fit(iris, species), iris).facts["examples"]
    assert [example["title"] for example in votes] == [f"A typical {c}" for c in range(3)]
    numbers = make_report(SVR().fit(iris, iris[:, 0]), iris).facts["examples"]
    values = [example["split"]["value"] for example in numbers]
    assert values == sorted(values) and len(values) == 3
