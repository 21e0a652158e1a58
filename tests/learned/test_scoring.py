"""Choosing by a score, by groups, and what metadata routing sends where."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_gaussian_quantiles
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    roc_auc_score,
)
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.data import moons, with_effort
from zeronorm import SparseSVC, SparseSVR, ZeroNormSVC
from zeronorm.learned.holdout import HoldoutEffort
from zeronorm.learned.scoring import rows_of
from zeronorm.model_selection import sparse_search

QUICK = {"C": [0.1, 10.0], "cv": 3, "n_init": 1, "max_iter": 30, "random_state": 0}


class Spy:
    """A scorer that writes down what it is given."""

    def __init__(self, score=lambda model, X, y: np.mean(model.predict(X) == y)):
        self.score, self.seen = score, []

    def __call__(self, model, X, y, **params):
        self.seen.append((X, y, params))
        return self.score(model, X, y)


def test_the_score_of_the_accuracy_is_one_less_the_error():
    X, y = moons(120)
    model = SparseSVC(**QUICK, scoring="accuracy").fit(X, y)
    np.testing.assert_allclose(model.path_["score"], 1.0 - model.path_["error"], atol=1e-12)
    np.testing.assert_allclose(model.path_["score_standard_error"], model.path_["standard_error"])


def test_a_scorer_sees_rows_labels_and_what_the_model_says_of_them():
    """Rows that a fold has not learned from, in the units they have, with the labels they have."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    found = []

    def score(model, rows, labels):
        chances = model.predict_proba(rows)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        predicted = model.classes_[chances.argmax(axis=1)]
        assert np.array_equal(predicted, model.predict(rows))
        assert model.decision_function(rows).shape == (len(rows), 3)
        found.append(np.mean(predicted == labels))
        return found[-1]

    spy = Spy(score)
    SparseSVC(2, **QUICK | {"linear": False}, scoring=spy).fit(X, names)
    known = {tuple(row): name for row, name in zip(X, names, strict=True)}
    for rows, labels, _ in spy.seen:
        assert len(rows) == 50
        assert all(known[tuple(row)] == label for row, label in zip(rows, labels, strict=True))
    assert np.mean(found) > 0.7


def test_a_rule_goes_by_the_score():
    """The size is the one that the rule finds in the table of scores, by the definition."""
    X, y = moons(80, noise=0.35)
    for scoring in ("roc_auc",):
        best = SparseSVC(**QUICK, scoring=scoring, rule="best").fit(X, y)
        one = SparseSVC(**QUICK, scoring=scoring, rule="one_se").fit(X, y)
        table = best.path_
        for key in ("score", "terms"):
            np.testing.assert_array_equal(table[key], one.path_[key])
        top = table["score"].argmax()
        total = best.n_terms_ + len(getattr(best, "linear_coef_", ()))
        assert total == table["terms"][top]
        good = table["score"] >= table["score"][top] - table["score_standard_error"][top]
        total = one.n_terms_ + len(getattr(one, "linear_coef_", ()))
        assert total == table["terms"][good].min()


def test_the_score_of_a_fold_is_that_of_a_model_of_its_rows():
    """One term, one setting left: fitted again on the rows of each fold, scored by scikit-learn."""
    X, y = moons(300)
    cv = list(StratifiedKFold(3).split(X, y))
    given = {"n_terms": 1, "gamma": 2.0, "metric": False, "linear": False, "random_state": 0}
    model = SparseSVC(**given, C=[0.001, 1.0], cv=cv, scoring="roc_auc").fit(X, y)
    assert model.C_ == 1.0
    scores = []
    for learn, judge in cv:
        fold = SparseSVC(**given, C=1.0).fit(X[learn], y[learn])
        scores.append(roc_auc_score(y[judge], fold.decision_function(X[judge])))
    assert model.path_["score"][0] == pytest.approx(np.mean(scores), abs=0.01)


def test_many_rows_are_scored_on_those_held_back():
    X, y = make_gaussian_quantiles(n_samples=500, n_features=3, n_classes=3, random_state=0)
    spy = Spy(lambda model, X, y: -log_loss(y, model.predict_proba(X)))
    weight = np.random.RandomState(0).uniform(0.5, 1.0, len(y))
    model = with_effort(SparseSVC(9, **QUICK, scoring=spy), holdout=HoldoutEffort(many_rows=300))
    model.fit(X, y, weight)
    assert model.path_["score"].shape == (1,)
    assert {len(rows) for rows, _, _ in spy.seen} == {10}  # a tenth of them, in five parts
    known = {tuple(row): one for row, one in zip(X, weight, strict=True)}
    for rows, _, params in spy.seen:
        assert [known[tuple(row)] for row in rows] == list(params["sample_weight"])


def test_a_regressor_is_scored_in_units_of_its_target():
    X = np.random.RandomState(0).uniform(-3, 3, (120, 1))
    y = 1000.0 + 50.0 * np.sinc(X[:, 0])
    model = SparseSVR(3, **QUICK, scoring="neg_mean_absolute_error").fit(X, y)
    assert -20.0 < model.path_["score"][0] < 0.0
    assert model.score(X, y) == -mean_absolute_error(y, model.predict(X))
    both = SparseSVR(3, **QUICK, scoring="r2").fit(X, np.stack([y, -y], axis=1))
    assert 0.5 < both.path_["score"][0] <= 1.0


def test_score_is_that_of_the_scorer():
    X, y = moons(100)
    model = SparseSVC(2, **QUICK, scoring="roc_auc").fit(X, y)
    assert model.score(X, y) == roc_auc_score(y, model.decision_function(X))
    assert model.set_params(scoring=None).score(X, y) == accuracy_score(y, model.predict(X))


@pytest.mark.parametrize("scoring", [3, ["accuracy"], {"a": "accuracy"}])
def test_no_scorer(scoring):
    with pytest.raises(ValueError, match="scoring must be None, the name of a scorer"):
        SparseSVC(scoring=scoring).fit(*moons(40))
    with pytest.raises(ValueError, match="scoring must be None, the name of a scorer"):
        sparse_search(ZeroNormSVC(), {}, scoring=scoring)


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("accurate", "scoring must be None, the name of a scorer of scikit-learn"),
        (Spy(lambda model, X, y: float("nothing")), "scoring failed on rows held out: .*nothing"),
        (Spy(lambda model, X, y: np.nan), "one finite number"),
        (Spy(lambda model, X, y: "good"), "one finite number"),
        (Spy(lambda model, X, y: np.mean(model.predict(X[:3]))), "asked a model about 3 rows"),
    ],
)
def test_a_scorer_that_cannot_score(scoring, message):
    with pytest.raises(ValueError, match=message):
        SparseSVC(2, **QUICK, scoring=scoring).fit(*moons(40))


class GroupSpy(GroupKFold):
    """Groups in order, and a list of the splits that were made."""

    made: list = []

    def split(self, X, y=None, groups=None):
        for learn, judge in super().split(X, y, groups):
            self.made.append((groups[learn], groups[judge]))
            yield learn, judge


def test_groups_go_to_the_splitter_without_the_rows_that_do_not_count():
    X, y = moons(90)
    groups, weight = np.arange(90) // 9, np.ones(90)
    weight[groups == 4] = 0.0
    GroupSpy.made.clear()
    SparseSVC(2, **QUICK | {"cv": GroupSpy(3)}).fit(X, y, weight, groups=groups)
    assert len(GroupSpy.made) == 3
    for learn, judge in GroupSpy.made:
        assert not set(learn) & set(judge)
        assert set(learn) | set(judge) == set(range(10)) - {4}


def test_the_same_groups_with_routing():
    X, y = moons(90)
    groups, model = np.arange(90) // 9, SparseSVC(2, **QUICK | {"cv": GroupKFold(3)})
    plain = clone(model).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(model).fit(X, y, groups=groups)
        piped = make_pipeline(StandardScaler(), clone(model)).fit(X, y, groups=groups)
        outer = {"cv": GroupKFold(2), "params": {"groups": groups}}
        assert cross_val_score(model, X, y, **outer).shape == (2,)
    np.testing.assert_array_equal(plain.support_vectors_, routed.support_vectors_)
    assert piped[-1].path_["terms"].tolist() == [2]


def test_routing_gives_a_scorer_what_it_has_asked_for():
    X, y = moons(60)
    cost = np.arange(60.0) + 1.0
    seen = []

    def costly(truth, predicted, cost):
        seen.append(cost)
        return -float(cost @ (truth != predicted))

    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(costly).set_score_request(cost=True)
        model = SparseSVC(2, **QUICK, scoring=scorer).fit(X, y, cost=cost)
        assert all(len(part) == 20 for part in seen)
        assert model.score(X, y, cost=cost) == costly(y, model.predict(X), cost)
        with pytest.raises(TypeError, match="price"):
            SparseSVC(2, **QUICK, scoring=scorer).fit(X, y, price=cost)


@pytest.mark.parametrize("cv", [3, [(np.arange(20), np.arange(20, 40))] * 2])
def test_groups_without_a_splitter_that_takes_them(cv):
    X, y = moons(40)
    with pytest.raises(ValueError, match="groups would have no part in cv"):
        SparseSVC(2, **QUICK | {"cv": cv}).fit(X, y, groups=np.arange(40))


def test_other_metadata_needs_routing():
    X, y = moons(40)
    with pytest.raises(TypeError, match="takes sample_weight and groups; got price"):
        SparseSVC(2, **QUICK).fit(X, y, price=y)
    with pytest.raises(TypeError, match="score takes sample_weight; got groups"):
        SparseSVC(2, **QUICK).fit(X, y).score(X, y, groups=y)


def test_groups_of_the_wrong_length():
    with pytest.raises(ValueError, match="one entry for each of the 40 rows"):
        SparseSVC(2, **QUICK | {"cv": GroupKFold(2)}).fit(*moons(40), groups=[1, 2])
    assert rows_of({"price": 3.0}, 40, np.arange(2)) == {"price": 3.0}


def test_a_search_by_a_score():
    X, y = moons(90, noise=0.3)
    grid = {"C": [0.1, 1.0, 10.0]}
    search = sparse_search(ZeroNormSVC(), grid, rule="best", scoring="roc_auc", cv=3).fit(X, y)
    assert search.best_index_ == search.cv_results_["mean_test_score"].argmax()
    assert search.score(X, y) == roc_auc_score(y, search.decision_function(X))
    sparse = sparse_search(ZeroNormSVC(), grid, scoring="roc_auc", cv=3).fit(X, y)
    terms = sparse.cv_results_["mean_test_terms"]
    assert terms[sparse.best_index_] <= terms[search.best_index_]


def test_a_search_with_groups_and_routed_weights():
    X, y = moons(60)
    groups, weight = np.arange(60) // 10, np.random.RandomState(0).uniform(size=60)
    search = sparse_search(ZeroNormSVC(), {"C": [1.0, 3.0]}, cv=GroupKFold(3))
    assert search.fit(X, y, groups=groups).n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = ZeroNormSVC().set_fit_request(sample_weight=True)
        search = sparse_search(model, {"C": [1.0, 3.0]}, scoring=scorer, cv=GroupKFold(3))
        search.fit(X, y, groups=groups, sample_weight=weight)
        found = search.score(X, y, sample_weight=weight)
    assert found == accuracy_score(y, search.predict(X), sample_weight=weight)


def test_a_warning_is_given_at_the_line_of_the_user():
    X, y = moons(40)
    with pytest.warns(UserWarning) as given:
        SparseSVC(1, C=1e-6, gamma=1e-3, linear=False, n_init=1, random_state=0).fit(X, y)
    assert {warning.filename for warning in given} == {__file__}
