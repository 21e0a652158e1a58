"""The rules that weigh accuracy against terms, on tables made by hand, and the search itself."""

from functools import cache, partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import moons
from zeronorm import ZeroNormSVC, ZeroNormSVR
from zeronorm.model_selection import (
    accuracy_and_terms,
    chosen,
    count_terms,
    sparse_search,
    standard_error,
)

one_standard_error = partial(chosen, rule="one_se")
paired_standard_error = partial(chosen, rule="paired_se")
best_accuracy = partial(chosen, rule="best")


def results(folds, terms):
    """``cv_results_`` of a search: one row of ``folds`` per candidate."""
    folds = np.array(folds, dtype=float)
    table = {f"split{i}_test_accuracy": column for i, column in enumerate(folds.T)}
    table |= {f"split{i}_test_terms": np.array(terms) for i in range(folds.shape[1])}
    return table | {
        "mean_test_accuracy": folds.mean(axis=1),
        "std_test_accuracy": folds.std(axis=1),
        "mean_test_terms": np.array(terms, dtype=float),
        "params": [{}] * len(folds),
    }


# The best candidate's accuracies .85, .90, .95: mean .90, standard error .05 / sqrt(3) = .0289.
BEST = [0.85, 0.90, 0.95]


@pytest.mark.parametrize(
    ("other", "terms", "expected"),
    [
        ([0.88, 0.88, 0.88], 5, 1),  # within one standard error, sparser
        ([0.872, 0.872, 0.872], 5, 1),
        ([0.870, 0.870, 0.870], 5, 0),  # beyond
        ([0.88, 0.88, 0.88], 20, 0),  # within, but not sparser
        ([0.88, 0.88, 0.88], 10, 0),  # equally sparse: the more accurate
        ([0.50, 0.50, 0.50], 1, 0),
    ],
)
def test_one_standard_error(other, terms, expected):
    assert one_standard_error(results([BEST, other], [10, terms])) == expected
    assert one_standard_error(results([other, BEST], [terms, 10])) == 1 - expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([0.84, 0.90, 0.94], 0),  # worse by .0067 on average, standard error .0033
        ([0.84, 0.91, 0.94], 1),  # worse by .0033, standard error .0067
        ([0.80, 0.90, 0.92], 0),
    ],
)
def test_paired_standard_error(other, expected):
    table = results([BEST, other], [10, 5])
    # All of them are within the plain standard error.
    assert one_standard_error(table) == 1
    assert paired_standard_error(table) == expected


def test_the_search_scores_by_accuracy():
    X, y = moons()
    search = sparse_search(ZeroNormSVC(), {"C": [1.0, 3.0]}, cv=3).fit(X, y)
    assert search.score(X, y) == np.mean(search.predict(X) == y)


def test_one_standard_error_of_equal_folds_keeps_the_best():
    table = results([[0.9] * 3, [0.89] * 3, [0.9] * 3], [9, 1, 8])
    assert one_standard_error(table) == 2


def test_one_standard_error_takes_the_sparsest_of_many():
    rng = np.random.default_rng(0)
    folds, terms = rng.uniform(0.7, 1.0, size=(40, 10)), rng.permutation(40) + 1
    best = folds[np.argmax(folds.mean(axis=1))]
    limit = best.mean() - np.std(best, ddof=1) / np.sqrt(10)
    expected = min((t, i) for i, t in enumerate(terms) if folds[i].mean() >= limit)[1]
    assert one_standard_error(results(folds, terms)) == expected
    assert expected != np.argmax(folds.mean(axis=1))


def test_rows_that_are_held_out_twice_count_once():
    once = np.array([0.1, 0.3, 0.2, 0.6])
    twice = np.concatenate([once, once])
    assert standard_error(twice, 2) == pytest.approx(twice.std(ddof=1) / 2.0)
    assert standard_error(twice) < 0.75 * standard_error(twice, 2)


def test_one_fold_has_no_standard_error():
    with np.errstate(all="ignore"):
        assert one_standard_error(results([[0.9], [0.8]], [10, 1])) == 0


@pytest.mark.parametrize(
    ("folds", "terms", "expected"),
    [([[0.8], [0.9]], [1, 99], 1), ([[0.9], [0.9], [0.9]], [5, 3, 4], 1), ([[0.5]], [3], 0)],
)
def test_best_accuracy(folds, terms, expected):
    assert best_accuracy(results(folds, terms)) == expected


def test_count_terms():
    X, y = moons()
    ours, svc = ZeroNormSVC().fit(X, y), SVC().fit(X, y)
    pipeline = make_pipeline(StandardScaler(), ZeroNormSVC()).fit(X, y)
    assert count_terms(ours) == ours.expansion_.n_terms
    assert count_terms(svc) == len(svc.support_vectors_)
    assert count_terms(pipeline) == pipeline[-1].n_terms_


@pytest.mark.parametrize("other", [LogisticRegression(), SVC(), ZeroNormSVC()], ids=str)
def test_no_terms_to_count(other):
    with pytest.raises(ValueError, match="no kernel terms to count"):
        count_terms(other)


def test_score():
    X, y = moons()
    model = SVC().fit(X, y)
    score = accuracy_and_terms(model, X, y)
    assert score == {"accuracy": model.score(X, y), "terms": len(model.support_)}


@cache
def searched(rule, piped):
    model, grid = ZeroNormSVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.3, 2.0]}
    if piped:
        model = make_pipeline(StandardScaler(), model)
        grid = {f"zeronormsvc__{name}": values for name, values in grid.items()}
    return sparse_search(model, grid, rule=rule, cv=4).fit(*moons(60))


@pytest.mark.parametrize("rule", ["one_se", "best"])
@pytest.mark.parametrize("piped", [False, True])
def test_search_keeps_what_the_rule_says(rule, piped):
    X, y = moons(60)
    search = searched(rule, piped)
    choose = {"one_se": one_standard_error, "best": best_accuracy}[rule]
    assert search.best_index_ == choose(search.cv_results_)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    last = search.best_estimator_[-1] if piped else search.best_estimator_
    assert last.C == next(v for k, v in search.best_params_.items() if k.endswith("C"))
    assert search.predict(X).shape == y.shape


def test_one_se_is_at_most_as_dense_as_best():
    terms = {}
    for rule in ("one_se", "best"):
        search = searched(rule, False)
        terms[rule] = search.cv_results_["mean_test_terms"][search.best_index_]
    assert terms["one_se"] <= terms["best"]


def test_search_with_one_split():
    X, y = moons()
    split = ShuffleSplit(n_splits=1, random_state=0)
    search = sparse_search(ZeroNormSVC(), {"C": [0.1, 1.0]}, cv=split).fit(X, y)
    assert search.best_index_ in (0, 1)


@pytest.mark.parametrize("rule", ["", "one-se", None, 1])
def test_unknown_rule(rule):
    with pytest.raises(ValueError, match="rule must be one of one_se, paired_se, best"):
        sparse_search(ZeroNormSVC(), {}, rule=rule)


def test_a_failing_candidate_is_not_hidden():
    X, y = moons()
    with pytest.raises(ValueError, match="C must be"):
        sparse_search(ZeroNormSVC(), {"C": [1.0, -1.0]}, cv=3).fit(X, y)


def test_a_regressor_needs_a_score():
    X, y = moons(60)
    with pytest.raises(ValueError, match="ZeroNormSVR predicts numbers, .* scoring='r2'"):
        sparse_search(ZeroNormSVR(), {"C": [1.0]})
    search = sparse_search(ZeroNormSVR(), {"C": [1.0, 10.0]}, scoring="r2", cv=3).fit(X, X[:, 0])
    assert search.score(X, X[:, 0]) == pytest.approx(search.best_estimator_.score(X, X[:, 0]))
