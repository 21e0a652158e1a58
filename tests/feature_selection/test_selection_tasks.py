"""AROMSelector for numbers and for several labels a row: rounds by other solvers, what is found."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import zeronorm
from zeronorm import AROMClassifier, AROMSelector, OneNormSVC, SVCReducer
from zeronorm.datasets import make_weston_toy
from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.elimination.rounds import AbsoluteResiduals, SquaredResiduals


def linear(n=60, d=100, noise=0.1, seed=0):
    """Three of the features make up the target."""
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    return X, X[:, [3, 7, 11]] @ [2.0, -1.0, 1.0] + 5.0 + noise * random.randn(n)


@pytest.mark.parametrize("d", [10, 100])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_round_of_squares_is_ridge_regression(d, as_sparse):
    X, y = linear(d=d + 20)
    X = X[:, :d]
    Y = np.column_stack([y, -2.0 * y + X[:, 0]])
    scaling = np.random.RandomState(1).rand(d)
    columns = Columns(sparse.csr_matrix(X) if as_sparse else X)
    found = SquaredResiduals(columns, Y, np.full(60, 3.0)).solve(scaling)
    ridge = Ridge(1.0 / 3.0).fit(X * scaling, Y)
    np.testing.assert_allclose(found.coef, scaling[:, None] * ridge.coef_.T, atol=1e-8)
    residuals = Y - ridge.predict(X * scaling)
    expected = 0.5 * np.sum(ridge.coef_**2) + 1.5 * np.sum(residuals**2)
    assert found.objective == pytest.approx(expected, rel=1e-8) and found.gap < 1e-8
    np.testing.assert_allclose(found.slack, np.abs(residuals).max(axis=1), atol=1e-8)


def test_a_round_of_sizes_is_a_linear_program():
    X, y = linear(n=30, d=12)
    scaling = np.random.RandomState(1).rand(12) + 0.1
    found = AbsoluteResiduals(Columns(X), y[:, None], np.full(30, 0.5)).solve(scaling)
    Z = (X - X.mean(axis=0)) * scaling
    sides = np.column_stack([Z, -Z, np.ones(30)])
    upper = np.vstack([np.hstack([-sides, -np.eye(30)]), np.hstack([sides, -np.eye(30)])])
    bounds = [(0, None)] * 24 + [(None, None)] + [(0, None)] * 30
    costs = np.concatenate([np.ones(24), [0.0], np.full(30, 0.5)])
    other = linprog(costs, upper, np.concatenate([-y, y]), bounds=bounds)
    assert found.objective == pytest.approx(other.fun, rel=1e-7) and found.gap < 1e-7


@pytest.mark.parametrize("norm", ["l2", "l1", "auto"])
@pytest.mark.parametrize("n", [60, 300])
def test_the_features_of_a_number_are_found(norm, n):
    X, y = linear(n=n)
    selector = AROMSelector(3, norm).fit(X, 1e6 * y)
    assert selector.get_support(indices=True).tolist() == [3, 7, 11]
    assert not hasattr(selector, "classes_")
    settled = AROMSelector(norm=norm).fit(X, y)
    assert set(np.flatnonzero(settled.support_)) >= {3, 7, 11} and settled.n_features_ < 40


def test_how_many_features_a_number_needs():
    X, y = linear(n=80, d=30)
    selector = AROMSelector("auto", C=10.0).fit(X, y)
    assert 3 <= selector.n_features_ <= 6 and selector.support_[[3, 7, 11]].all()
    assert selector.cv_results_["mean_test_accuracy"].max() > 0.98


def test_several_targets_share_their_features():
    X, y = linear()
    Y = np.column_stack([y, X[:, 20] + X[:, 3]])
    assert AROMSelector(4).fit(X, Y).get_support(indices=True).tolist() == [3, 7, 11, 20]


def test_several_labels_share_their_features(tmp_path):
    X, _ = linear(n=200, d=40)
    Y = np.column_stack([X[:, 2] > 0, X[:, 5] + X[:, 2] > 0, X[:, 9] > 0.5]).astype(int)
    for norm in ("l2", "l1"):
        selector = AROMSelector(3, norm).fit(X, Y)
        assert selector.get_support(indices=True).tolist() == [2, 5, 9]
    chosen = AROMSelector("auto", cv=3).fit(X, Y)
    assert chosen.support_[[2, 5, 9]].all()
    zeronorm.save(selector, tmp_path / "selection.json")
    np.testing.assert_array_equal(
        zeronorm.load(tmp_path / "selection.json").transform(X), X[:, [2, 5, 9]]
    )


def test_tasks_that_are_guessed_and_said():
    X, y = linear()
    whole = np.round(y)
    assert hasattr(AROMSelector(2).fit(X, (y > y.mean()).astype(int)), "classes_")
    assert not hasattr(AROMSelector(2, task="regression").fit(X, whole), "classes_")
    again = AROMSelector(3, task="regression").fit(X, whole)
    assert again.get_support(indices=True).tolist() == [3, 7, 11]
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        AROMSelector(2, task="classification").fit(X, y)
    with pytest.raises(ValueError, match="task must be one of"):
        AROMSelector(task="counting").fit(X, y)
    with pytest.raises(ValueError, match="Numbers are predicted with squared slacks"):
        AROMSelector(slack_norm=0).fit(X, y)
    with pytest.raises(ValueError, match="nothing to select features for"):
        AROMSelector().fit(X, np.zeros((60, 2), dtype=int))


@pytest.mark.parametrize(
    ("n", "d", "wanted", "options", "expected"),
    [
        (80, 20, 15, {}, "l1"),
        (80, 20, 4, {"slack_norm": 2}, "l2"),
        (40, 60, 4, {}, "l1"),
        (40, 60, 5, {}, "l2"),
        (40, 60, None, {}, "l2"),
        (40, 60, 0.05, {}, "l1"),
        (40, 60, "auto", {}, "l2"),
    ],
)
def test_norm_by_the_shape_of_the_data(n, d, wanted, options, expected):
    """l1 where rows outnumber features, or ten times those asked for; l2 elsewhere."""
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    y = (X[:, 0] + 0.5 * random.randn(n) > 0).astype(int)
    auto = AROMSelector(wanted, "auto", **options).fit(X, y)
    same = AROMSelector(wanted, expected, **options).fit(X, y)
    if wanted in (15, 4, 5, 0.05) and not options:
        # Features may have been exchanged; the others keep their order.
        orders = (np.argsort(one.ranking_) for one in (auto, same))
        ours, theirs = (order[~auto.support_[order]] for order in orders)
        np.testing.assert_array_equal(ours, theirs)
        return
    np.testing.assert_array_equal(auto.ranking_, same.ranking_)
    classifiers = (AROMClassifier(wanted, norm, **options) for norm in ("auto", expected))
    ours, theirs = (one.fit(X, y) for one in classifiers)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)


def test_costs_beyond_what_solvers_can_square():
    X, y = make_weston_toy(16, random_state=0)
    for selector in (AROMSelector(C=1e300), AROMClassifier(C=1e300)):
        with pytest.raises(ValueError, match="Take a smaller C"):
            selector.fit(X, y)
    for C in (1e12, 1e60, 1e98):  # the hard margin of the paper
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of a gap that rounding leaves
            hard = AROMSelector(C=C).fit(X, y)
        assert np.isfinite(hard.history_["gap"]).all()


def test_labels_that_cannot_be_compared():
    y = np.array(["a", 1] * 8, dtype=object)
    X = np.random.default_rng(0).normal(size=(16, 3))
    for estimator in (AROMSelector(), AROMClassifier(), OneNormSVC(), SVCReducer(SVC())):
        with pytest.raises(TypeError, match="all of them numbers, or all of them strings"):
            estimator.fit(X, y)
