"""The study of rivals: what is measured of a model, and how sets are counted."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks import evidence, evidence_tables
from benchmarks.data import HARD_SETS, RARE_SETS
from zeronorm import SparseSVC
from zeronorm.learned.settings import C_VALUES


@pytest.fixture(scope="module")
def parts():
    X, y = load_iris(return_X_y=True)
    return (X[::2], y[::2]), (X[1::2], y[1::2])


class TestMeasurement:
    @pytest.mark.parametrize(
        "model", [SVC(C=0.01), DecisionTreeClassifier(max_depth=2, random_state=0)]
    )
    def test_area_of_two_classes_only(self, parts, model):
        train, test = ((X[y > 0], y[y > 0]) for X, y in parts)
        model.fit(*train)
        values = (
            model.decision_function(test[0])
            if isinstance(model, SVC)
            else model.predict_proba(test[0])[:, 1]
        )
        positive, negative = values[test[1] == 2], values[test[1] == 1]
        gaps = positive[:, None] - negative
        expected = np.mean((gaps > 0) + 0.5 * (gaps == 0))
        assert evidence.area(model, *test) == pytest.approx({"auc": expected})
        assert evidence.area(model.fit(*parts[0]), *parts[1]) == {}

    def test_sizes(self, parts):
        train, _ = parts
        leaves = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(*train)
        assert evidence.size_of(leaves) == 4
        net = MLPClassifier((5,), solver="lbfgs", max_iter=5, random_state=0)
        with pytest.warns(UserWarning):
            assert evidence.size_of(net.fit(*train)) == 5
        assert evidence.size_of(LogisticRegression().fit(*train)) == 3
        boosted = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=2).fit(*train)
        assert evidence.size_of(boosted) == 2 * 3 * 2

    def test_what_is_shipped_and_what_it_costs(self, parts):
        pytest.importorskip("skl2onnx")
        train, test = parts
        ours = SparseSVC(3, C=1.0, random_state=0)
        search = GridSearchCV(LogisticRegression(), {"C": (0.1, 1.0)})
        for model in (ours, search):
            row = evidence.judged(model, train, test, np.ones(len(train[1])))
            assert 0.0 <= row["error"] < 0.2 and "auc" not in row
            assert row["balanced_error"] == pytest.approx(row["error"], abs=0.02)
            assert row["bytes"] > 200 and row["onnx_bytes"] > 200 and row["test_rows"] == 75

    def test_as_many_settings_for_the_network_as_for_ours(self):
        forms = 4  # a metric or not, a linear part or not
        assert len(ParameterGrid(evidence.NETWORK_GRID)) == len(C_VALUES) * forms

    def test_sizes_that_are_asked_for(self):
        assert [b for b, _ in evidence.models("segment", "SparseSVC", 4)] == [None, 4, 8, 16, 32]
        assert [b for b, _ in evidence.models("segment", "MLP", 4)] == [4, 8, 16, 32]
        ((_, search),) = evidence.models("car_vgood", "boosting", 4)
        assert search.scoring == "balanced_accuracy"
        assert len(HARD_SETS) + len(RARE_SETS) >= 10


def row(name, method, error, budget=None, **others):
    costs = {"balanced_error": error, "auc": 0.9, "size": 4, "bytes": 100, "microseconds": 1.0,
             "seconds": 2.0, "test_rows": 400, "split": 0}  # fmt: skip
    return {"set": name, "method": method, "budget": budget, "error": error, **costs, **others}


class TestTables:
    ROWS = (
        row("segment", "SparseSVC", 0.10),
        row("segment", "boosting", 0.05, bytes=1000),
        row("chess_all", "SparseSVC", 0.20),
        row("chess_all", "boosting", 0.19, bytes=3000),
        row("banana", "SparseSVC", 0.10),
        row("banana", "boosting", 0.15, bytes=2000),
        row("banana", "logistic", 0.15),
    )

    def test_a_comparison(self):
        found = evidence_tables.by_model(list(self.ROWS))
        one = evidence_tables.Comparison.of(found, ("boosting", None))
        assert one.gaps == pytest.approx({"segment": 0.05, "chess_all": 0.01, "banana": -0.05})
        assert one.beyond == ["segment"]  # 0.01 is less than sqrt(0.19 * 0.81 / 400)
        assert one.ahead == ["banana"]
        assert one.errors() == pytest.approx((40 / 3, 13.0))
        assert one.ratio("bytes") == 20.0

    def test_where_boosting_gains_most_comes_first(self):
        text = evidence_tables.tables(list(self.ROWS))
        assert "more accurate by more than one standard error on 1 of 3 sets (segment)" in text
        lines = [line for line in text.splitlines() if line.startswith("| segment | 5.0 | 10.0 |")]
        assert lines == ["| segment | 5.0 | 10.0 | +5.0 | 10 | 1 | 1.0 |"]
        assert text.index("| segment |") < text.index("| chess_all |") < text.index("| banana |")

    def test_the_tuned_machine_is_compared_by_error_and_vectors(self):
        rows = [
            row("segment", "SVC", 0.05, size=40),
            row("chess_all", "SVC", 0.30, size=200),
            *self.ROWS,
        ]
        text = evidence_tables.svc_summary(evidence_tables.by_model(rows))
        assert "`SVC` is more accurate by more than one standard error on 1 of 2 sets" in text
        assert "Mean error: 17.5 and 15.0 %; `SparseSVC` has 6.0 % of its vectors" in text

    def test_a_rare_class_is_judged_by_balanced_error_and_area(self):
        rare = [
            row("abalone19", "SparseSVC", 0.3, balanced_error=0.2, auc=0.8),
            row("abalone19", "boosting", 0.1, balanced_error=0.4, auc=0.7),
        ]
        text = evidence_tables.tables([*self.ROWS, *rare])
        assert "more accurate by more than one standard error on 1 of 3 sets" in text
        assert "the lower balanced error on 0 of 1 and the higher AUC on 0." in text
        assert "| abalone19 | 20.0, 0.800 | 40.0, 0.700 |" in text

    def test_equal_sizes_are_compared_with_ours_of_that_size(self):
        rows = [row("a", "SparseSVC", 0.1, 4), row("a", "MLP", 0.3, 4), row("a", "MLP", 0.1, 8)]
        text = evidence_tables.equal_sizes(evidence_tables.by_model(rows))
        assert "| MLP, 4 hidden units | 1 | 30.0 | 10.0 | 1 | 1 |" in text
        assert "8 hidden units" not in text
