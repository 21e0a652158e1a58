"""Options of the commands, and what they print: facts, probabilities, thresholds, metrics."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.metrics import recall_score, roc_auc_score

from tests.tables.test_cli import assert_one_sentence, narrow_searches, write_csv
from zeronorm.tables import cli
from zeronorm.tables.columns import Column
from zeronorm.tables.contenders import CONTENDERS, Plan, Rows, make_sparse
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.metrics import OF_CLASSES
from zeronorm.tables.model import TableModel
from zeronorm.tables.selection import ColumnChoice
from zeronorm.tables.sources import read_table


def rare_rows(n_rows=120, seed=0):
    """Two numbers and an id; one class in six is rare and overlaps."""
    rng = np.random.default_rng(seed)
    is_rare = np.arange(n_rows) % 6 == 0
    X = rng.normal(size=(n_rows, 2)) + 1.2 * is_rare[:, None]
    labels = np.where(is_rare, "rare", "usual")
    return [
        [f"id{i}", f"{a:.3f}", f"{b:.3f}", label]
        for i, (a, b, label) in enumerate(zip(*X.T, labels, strict=True))
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file, a model of it, and what `fit --json` prints, learned once."""
    folder = tmp_path_factory.mktemp("options")
    path = write_csv(folder / "data.csv", ["id", "a", "b", "kind"], rare_rows())
    model = folder / "model.json"
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        narrow_searches(patch)
        patch.setattr("sys.stdout", out)
        options = ["--folds", "3", "--n-jobs", "1", "--json", "--metric", "auc"]
        cli.main(["fit", str(path), "--target", "kind", "--out", str(model), *options])
    assert not stop.value.code
    return path, model, out.getvalue()


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
        return stop.value.code or 0, *capsys.readouterr()

    return call


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


class TestFit:
    def test_facts_are_json(self, made):
        facts = json.loads(made[2])
        assert facts["task"] == "classification" and facts["rows"] == 120
        assert facts["classes"] == {"rare": 20, "usual": 100}
        assert facts["guessing_error"] == pytest.approx(1 / 6)
        assert [machine["name"] for machine in facts["machines"]] == ["SVC", "SparseSVC"]
        for machine in facts["machines"]:
            assert set(machine["measured"]) == {"error", "auc"}
            assert machine["tuning_seconds"] > 0 and machine["fit_seconds"] > 0
            assert set(machine["recall"]) == {"rare", "usual"}
        sparse = facts["machines"][1]
        saved = TableModel.load(made[1])
        assert sparse["kernel_terms"] == saved.model.n_terms_
        assert sparse["model_bytes"] == made[1].stat().st_size
        assert facts["saved"] == str(made[1])
        assert "'id' is left out" in facts["notes"][0]
        # The share of wrong rows is the mean of the folds, and so are the recalls over all rows.
        wrong = sum(
            facts["classes"][label] * (1 - share) for label, share in sparse["recall"].items()
        )
        assert wrong / 120 == pytest.approx(sparse["measured"]["error"]["mean"])

    def test_lines_of_recall_metric_and_times(self, run, made, monkeypatch):
        narrow_searches(monkeypatch)
        options = ("--folds", 3, "--n-jobs", 1, "--terms", 3, "--metric", "balanced")
        code, out, _ = run(
            "fit", made[0], "--target", "kind", "--class-weight", "balanced", *options
        )
        assert code == 0
        for label in ("recall of 'rare'", "recall of 'usual'", "balanced accuracy", "time to tune"):
            assert sum(label in line for line in out.splitlines()) == 1
        rare = next(line for line in out.splitlines() if "recall of 'rare'" in line)
        before = {m["name"]: m["recall"]["rare"] for m in json.loads(made[2])["machines"]}
        found = [float(cell.strip(" %")) / 100 for cell in rare.split("│")[2:4]]
        assert found[1] > before["SparseSVC"]  # what the weights are for

    def test_class_weights_reach_both_machines(self):
        rows = Rows(np.random.default_rng(0).normal(size=(40, 1)), np.arange(40) % 2, None)
        plan = Plan(class_weight="balanced")
        rows = Rows(rows.X, rows.y, TableEncoder([Column("x")]))
        for contender in CONTENDERS["classification"]:
            assert contender.choose(rows, plan).class_weight == "balanced"

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--metric", "rmse"], "--metric rmse does not go with classification"),
            (["--metric", "f2"], "--metric is one of error, accuracy, balanced, auc, log_loss"),
            (["--class-weight", "heavy"], "--class-weight is balanced, not 'heavy'"),
            (["--task", "ranking"], "--task is classification or regression, not 'ranking'"),
            (["--task", "regression"], "line 2: 'rare' in column 'kind' is no finite number"),
            (["--decimal", ";"], "--decimal is '.' or ',', not ';'"),
            (["--sep", "xx"], "--sep is one character"),
        ],
    )
    def test_options_without_meaning(self, run, made, options, sentence):
        code, out, err = run("fit", made[0], "--target", "kind", *options)
        assert code == 2 and out == "" and sentence in err

    def test_strict(self, run, tmp_path):
        rows = rare_rows()
        rows[7][1] = "n/a?"
        path = write_csv(tmp_path / "data.csv", ["id", "a", "b", "kind"], rows)
        result = run("fit", path, "--target", "kind", "--strict")
        assert_one_sentence(*result, r"119 of 120 cells of 'a' are numbers; line 9 is 'n/a\?'")


class TestMetrics:
    """Against scikit-learn's own."""

    def test_values(self):
        from zeronorm.report.measurement import Answers

        rng = np.random.default_rng(0)
        y, predicted = rng.integers(3, size=50), rng.integers(3, size=50)
        scores = rng.normal(size=(50, 3))
        answers = Answers(predicted, scores, None)
        areas = [roc_auc_score(y == k, scores[:, k]) for k in range(3)]
        assert OF_CLASSES["auc"].value(answers, y) == pytest.approx(np.mean(areas))
        recall = recall_score(y, predicted, average="macro")
        assert OF_CLASSES["balanced"].value(answers, y) == pytest.approx(recall)
        assert OF_CLASSES["error"].value(answers, y) == np.mean(predicted != y)
        assert OF_CLASSES["log_loss"].value(answers, y) is None
        two = Answers(y > 0, scores[:, 0], None)
        assert OF_CLASSES["auc"].value(two, y > 0) == pytest.approx(
            roc_auc_score(y > 0, scores[:, 0])
        )

    def test_a_score_is_larger_for_the_better(self):
        from sklearn.svm import SVC

        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        X = y[:, None] + rng.normal(size=(60, 1))
        good, bad = SVC().fit(X, y), SVC().fit(X, 1 - y)
        for name in ("accuracy", "balanced", "auc"):
            score = OF_CLASSES[name].score
            assert score(good, X, y) > 0.6 > score(bad, X, y)
        assert OF_CLASSES["error"].score(good, X, y) > -0.4 > OF_CLASSES["error"].score(bad, X, y)


class TestPredict:
    def test_columns(self, run, made):
        path, model, _ = made
        code, out, _ = run("predict", model, path, "--proba", "--scores", "--keep", "id")
        assert code == 0
        found = records(out)
        assert list(found[0]) == ["id", "kind", "P(rare)", "P(usual)", "score(usual)"]
        assert [record["id"] for record in found] == list(read_table(path).cells["id"])
        for record in found:
            chances = float(record["P(rare)"]), float(record["P(usual)"])
            assert sum(chances) == pytest.approx(1.0, abs=1e-5)
            assert record["kind"] == ("usual" if float(record["score(usual)"]) > 0 else "rare")
        fitted = TableModel.load(model)
        expected = fitted.model.predict_proba(
            fitted.encoder.transform(_matrix(fitted, read_table(path)))
        )
        assert [float(r["P(usual)"]) for r in found] == pytest.approx(expected[:, 1], abs=1e-5)

    def test_a_threshold(self, run, made):
        path, model, _ = made
        counts = []
        for threshold in (0.2, 0.5, 0.95):
            out = run("predict", model, path, "--proba", "--threshold", threshold)[1]
            for record in records(out):
                says = float(record["P(usual)"]) >= threshold
                assert record["kind"] == ("usual" if says else "rare")
            counts.append(sum(record["kind"] == "usual" for record in records(out)))
        assert counts[0] >= counts[1] > counts[2]

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--threshold", "1.5"], "--threshold is between 0 and 1, not 1.5"),
            (["--keep", "ids"], "has no column 'ids'; did you mean 'id'"),
            (["--keep", "kind"], "--keep 'kind' is the name of what is predicted"),
        ],
    )
    def test_options_without_meaning(self, run, made, options, sentence):
        assert_one_sentence(*run("predict", made[1], made[0], *options), sentence)

    def test_other_spellings_of_numbers(self, run, made, tmp_path):
        table = read_table(made[0])
        rows = [
            [a.replace(".", ","), b.replace(".", ",")]
            for a, b in zip(table.cells["a"], table.cells["b"], strict=True)
        ]
        path = tmp_path / "comma.csv"
        path.write_text("a;b\n" + "".join(f"{a};{b}\n" for a, b in rows))
        result = run("predict", made[1], path)
        assert_one_sentence(*result, "none of the 120 cells of 'a' .* give --decimal")
        assert run("predict", made[1], path, "--decimal", ",") == run("predict", made[1], made[0])

    def test_bad_cells_are_told_or_refused(self, run, made, tmp_path):
        path = tmp_path / "new.csv"
        path.write_text("a,b\n1,2\nx?,3\n,4\n")
        code, out, err = run("predict", made[1], path)
        assert code == 0 and len(records(out)) == 3
        assert err.startswith("1 of 2 cells of 'a' are numbers; line 3 is 'x?'")
        assert_one_sentence(*run("predict", made[1], path, "--strict"), "line 3 is 'x\\?'")


def _matrix(model, table):
    from zeronorm.tables.columns import to_matrix

    return to_matrix(table, model.encoder.columns)


class TestSelect:
    def test_the_recommended_size(self):
        errors, spreads = np.array([0.4, 0.21, 0.2, 0.2]), np.full(4, 0.02)
        choice = ColumnChoice(list("abcd"), [1, 2, 3, 4], errors, spreads, 5, None)
        assert choice.recommended == 2

    def test_it_is_marked(self, run, made):
        options = ("--target", "kind", "--folds", 3, "--n-jobs", 1)
        code, out, _ = run("select", made[0], *options)
        assert code == 0
        facts = json.loads(run("select", made[0], *options, "--json")[1])
        (marked,) = [line for line in out.splitlines() if "take these" in line]
        assert f"◀ take these {facts['recommended']}" in marked
        assert facts["columns"][facts["recommended"] - 1] in marked
        assert set(facts["columns"]) == {"a", "b"}
        assert [entry["columns"] for entry in facts["measured"]] == [1, 2]


@pytest.mark.parametrize(
    ("metric", "classes", "scoring"),
    [
        ("error", 2, None),
        ("balanced", 2, "balanced_accuracy"),
        ("auc", 2, "roc_auc"),
        ("auc", 3, "roc_auc_ovr"),
        ("log_loss", 3, "neg_log_loss"),
    ],
)
def test_the_sparse_machine_chooses_by_the_metric(metric, classes, scoring):
    rows = Rows(np.zeros((6, 1)), np.arange(6) % classes, None)
    assert make_sparse(rows, Plan(metric=metric)).scoring == scoring
