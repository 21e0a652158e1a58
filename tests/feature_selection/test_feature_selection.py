"""The selectors: exactly r, equivariance, pipelines, no leak, wide and sparse data, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import cancer, iris, wine
from zeronorm import (
    AROMClassifier,
    AROMSelector,
    CorrelationSelector,
    FSVSelector,
    R2W2Selector,
)
from zeronorm.datasets import make_weston_toy

SELECTORS = {
    "l2": AROMSelector(),
    "l2 hinge": AROMSelector(slack_norm=1),
    "l2 counted": AROMSelector(slack_norm=0),
    "l1": AROMSelector(norm="l1"),
    "l1 counted": AROMSelector(norm="l1", slack_norm=0),
    "joint": AROMSelector(multi_class="joint"),
    "FSV": FSVSelector(),
    "R2W2": R2W2Selector(),
    "CORR": CorrelationSelector(),
}
AROM = ["l2", "l2 hinge", "l1", "joint"]


def selector(name, n_features=None, **options):
    return clone(SELECTORS[name]).set_params(n_features_to_select=n_features, **options)


def random_data(n=25, d=12, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.arange(n) % n_classes


def order(fitted):
    return [int(j) for j in np.argsort(fitted.ranking_)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", SELECTORS)
def test_exactly_r_for_every_r(name, n_classes):
    X, y = random_data(n_classes=n_classes)
    before: set = set()
    for r in range(1, X.shape[1] + 1):
        fitted = selector(name, r).fit(X, y)
        chosen = set(fitted.get_support(indices=True).tolist())
        assert len(chosen) == r == fitted.n_features_
        assert fitted.transform(X).shape == (25, r)
        assert sorted(fitted.ranking_) == list(range(1, 13))
        if name != "R2W2":  # whose descent depends on how many are wanted
            assert before <= chosen
        before = chosen


@pytest.mark.parametrize("name", SELECTORS)
def test_features_in_another_order(name):
    X, y = make_weston_toy(40, n_features=30, random_state=0)
    indices = np.random.default_rng(0).permutation(30)
    plain = selector(name, 4).fit(X, y)
    moved = selector(name, 4).fit(X[:, indices], y)
    assert set(indices[moved.get_support()]) == set(np.flatnonzero(plain.get_support()))
    assert moved.scaling_ == pytest.approx(plain.scaling_[indices], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", SELECTORS)
def test_classes_with_other_names(name):
    X, y = make_weston_toy(40, n_features=30, random_state=0)
    plain = selector(name, 4).fit(X, y)
    for labels in (-y, np.where(y > 0, "a", "b")):
        assert list(selector(name, 4).fit(X, labels).get_support()) == list(plain.get_support())


@pytest.mark.parametrize("name", ["l2", "joint", "l1", "CORR"])
def test_several_classes_with_other_names(name):
    X, y = wine()
    plain = selector(name, 4).fit(X, y)
    other = selector(name, 4).fit(X, np.array(["c", "a", "b"])[y])
    assert list(other.get_support()) == list(plain.get_support())


@pytest.mark.parametrize("name", SELECTORS)
def test_sparse_is_dense(name):
    X, y = make_weston_toy(40, n_features=30, random_state=1)
    X[np.abs(X) < 0.8] = 0.0
    dense = selector(name, 5).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix):
        thin = selector(name, 5).fit(form(X), y)
        assert list(thin.get_support()) == list(dense.get_support())
        assert sparse.issparse(thin.transform(form(X)))


@pytest.mark.parametrize("name", SELECTORS)
def test_the_data_are_left_alone(name):
    X, y = random_data()
    before = X.copy()
    selector(name, 3).fit(X, y)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("name", ["l2", "l1", "FSV", "R2W2"])
def test_two_features_that_tell_more_together(name):
    X, y = make_weston_toy(200, random_state=0)
    assert list(selector(name, 2).fit(X, y).get_support(indices=True)) == [2, 5]
    assert list(selector("CORR", 2).fit(X, y).get_support(indices=True)) == [1, 2]


class TestHowMany:
    def test_none_settles(self):
        X, y = make_weston_toy(200, random_state=0)
        fitted = selector("l1").fit(X, y)
        assert fitted.n_features_ == np.count_nonzero(fitted.scaling_) < 30
        assert fitted.history_["features"][-1] == fitted.n_features_
        assert fitted.history_["gap"].max() <= 1e-6

    @pytest.mark.parametrize("norm", ["l1", "l2"])
    def test_a_cost_too_small_for_any_feature(self, norm):
        X, y = make_weston_toy(40, random_state=0)
        fitted = AROMSelector(norm=norm, C=1e-9).fit(X, y)
        assert fitted.n_features_ == 1
        assert selector("l1", 7, C=1e-9).fit(X, y).get_support().sum() == 7

    def test_a_share(self):
        X, y = random_data()
        assert selector("l2", 0.25).fit(X, y).n_features_ == 3
        assert selector("l2", 1e-9).fit(X, y).n_features_ == 1
        assert selector("l2", 1.0).fit(X, y).n_features_ == 12

    @pytest.mark.parametrize("name", ["l2", "CORR", "FSV"])
    def test_auto(self, name):
        X, y = make_weston_toy(120, random_state=0)
        fitted = selector(name, "auto").fit(X, y)
        results = fitted.cv_results_
        accuracy, best = results["mean_test_accuracy"], results["mean_test_accuracy"].argmax()
        least = accuracy[best] - results["standard_error"][best]
        good = results["n_features"][accuracy >= least]
        assert fitted.n_features_ == good.min() < 100
        folds = [results[f"split{i}_test_accuracy"] for i in range(5)]
        assert np.mean(folds, axis=0) == pytest.approx(accuracy)

    def test_auto_does_not_depend_on_the_processes(self):
        X, y = make_weston_toy(60, random_state=0)
        one, two = (selector("l2", "auto", n_jobs=n).fit(X, y) for n in (1, 2))
        assert np.array_equal(one.ranking_, two.ranking_)
        assert np.array_equal(
            one.cv_results_["mean_test_accuracy"], two.cv_results_["mean_test_accuracy"]
        )

    def test_another_fit_forgets(self):
        X, y = random_data()
        fitted = selector("l2", "auto", cv=3).fit(X, y)
        fitted.set_params(n_features_to_select=2).fit(X, y)
        assert not hasattr(fitted, "cv_results_")

    def test_rounds_that_run_out(self):
        X, y = random_data(60)
        with pytest.warns(ConvergenceWarning, match="stopped after 3 rounds with .* features"):
            selector("l2", max_iter=3).fit(X, y)
        assert selector("l2", 2, max_iter=100).fit(X, y).n_features_ == 2
        with pytest.warns(ConvergenceWarning, match="2 linear programs"):
            selector("FSV", max_iter=2).fit(X, y)
        with pytest.warns(ConvergenceWarning, match="bound of"):
            selector("R2W2", max_iter=1).fit(X, y)


class TestNoTrouble:
    @pytest.mark.parametrize("name", SELECTORS)
    def test_constants_and_copies(self, name):
        X, y = make_weston_toy(60, n_features=20, random_state=0)
        plain = selector(name, 3).fit(X, y)
        copies = np.column_stack([np.full(60, 0.1), X, X[:, :6], np.zeros(60)])
        fitted = selector(name, 3).fit(copies, y)
        assert list(fitted.get_support(indices=True)) == list(
            1 + np.flatnonzero(plain.get_support())
        )
        assert fitted.scaling_[1:21] == pytest.approx(plain.scaling_, rel=1e-6)
        # Copies, then constants, after all that is of use.
        assert set(order(fitted)[20:26]) == set(range(21, 27))
        assert set(order(fitted)[26:]) == {0, 27}
        everything = selector(name, 28).fit(copies, y)
        assert everything.get_support().all()

    @pytest.mark.parametrize("name", SELECTORS)
    def test_nothing_varies(self, name):
        X, y = np.ones((10, 4)), np.arange(10) % 2
        fitted = selector(name, 2).fit(X, y)
        assert fitted.get_support().sum() == 2
        assert not fitted.scaling_.any()
        assert selector(name).fit(X, y).n_features_ == 1

    @pytest.mark.parametrize("name", SELECTORS)
    def test_rows_that_contradict_each_other(self, name):
        X, y = np.repeat(np.arange(4.0), 6)[:, None] * [1.0, -2.0], np.arange(24) % 2
        assert selector(name, 1).fit(X, y).n_features_ == 1

    @pytest.mark.parametrize("name", ["l2", "l1", "FSV", "CORR"])
    def test_large_offsets(self, name):
        X, y = make_weston_toy(60, n_features=20, random_state=0)
        plain, moved = selector(name, 3).fit(X, y), selector(name, 3).fit(X + 1e6, y)
        assert list(plain.get_support()) == list(moved.get_support())

    @pytest.mark.parametrize("name", ["l2", "l1", "R2W2"])
    def test_large_units(self, name):
        """The units of all features together only change what C means."""
        X, y = make_weston_toy(60, n_features=20, random_state=0)
        for unit in (1e-4, 1e5):
            fitted = selector(name, 3, C=1.0 / unit**2 if name != "l1" else 1.0 / unit)
            assert list(fitted.fit(unit * X, y).get_support()) == list(
                selector(name, 3).fit(X, y).get_support()
            )

    @pytest.mark.parametrize("name", SELECTORS)
    @pytest.mark.filterwarnings("error::RuntimeWarning")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_extreme_numbers(self, name):
        """A sentence or a selection, and no warning of NumPy's."""
        rng = np.random.default_rng(0)
        for size in (1e-300, 1e-150, 1e-20, 1e20, 1e150):
            X = size * rng.choice([0.0, 1.0, -1.0, 2.5, 1e-8], size=(12, 3))
            try:
                fitted = selector(name, 1).fit(X, np.arange(12) % 3)
            except ValueError as error:
                assert "tandardise the features" in str(error)
            else:
                assert fitted.get_support().sum() == 1


class TestWide:
    def test_a_hundred_thousand_features(self):
        rng = np.random.default_rng(0)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 100_000))
        X[:, 17] += 4.0 * y
        X[:, 99_000] -= 4.0 * y
        fitted = selector("l2", 5).fit(X, y)
        assert {17, 99_000} <= set(fitted.get_support(indices=True))
        assert fitted.n_iter_ < 30

    @pytest.mark.parametrize("name", ["l2", "l1", "FSV", "CORR"])
    def test_sparse_and_wide(self, name):
        """A dense copy would take 1.6 GB."""
        rng = np.random.default_rng(0)
        shape, size = (200, 1_000_000), 200_000
        places = tuple(rng.integers(most, size=size) for most in shape)
        X = sparse.coo_array((rng.random(size), places), shape=shape).tocsr()
        y = np.arange(200) % 2
        telling = sparse.csr_array((2.0 * y)[:, None] + 1.0)
        X = sparse.hstack([X, telling], "csr")
        fitted = selector(name, 3).fit(X, y)
        assert fitted.get_support()[-1]


class TestTogetherWithScikitLearn:
    def test_pipeline_and_grid_search(self):
        X, y = cancer()
        pipe = make_pipeline(StandardScaler(), AROMSelector(), SVC(kernel="linear"))
        grid = {"aromselector__n_features_to_select": [2, 8], "aromselector__norm": ["l1", "l2"]}
        search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.9

    def test_names(self):
        pd = pytest.importorskip("pandas")
        X, y = iris()
        table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
        fitted = AROMSelector(2).set_output(transform="pandas").fit(table, y)
        assert list(fitted.transform(table).columns) == list(fitted.get_feature_names_out())
        assert set(fitted.get_feature_names_out()) == {"c", "d"}

    def test_the_reduced_data_can_be_put_back(self):
        X, y = iris()
        fitted = AROMSelector(2).fit(X, y)
        back = fitted.inverse_transform(fitted.transform(X))
        assert np.array_equal(back[:, fitted.support_], X[:, fitted.support_])
        assert not back[:, ~fitted.support_].any()

    @pytest.mark.parametrize("name", ["l2", "l1", "CORR"])
    def test_no_leak(self, name):
        """Pure noise: selected inside the folds, the error is that of guessing."""
        rng = np.random.default_rng(0)
        scores, cheating = [], []
        for _ in range(5):
            X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
            pipe = make_pipeline(selector(name, 10), SVC(kernel="linear"))
            scores.append(cross_val_score(pipe, X, y, cv=5).mean())
            chosen = selector(name, 10).fit_transform(X, y)
            cheating.append(cross_val_score(SVC(kernel="linear"), chosen, y, cv=5).mean())
        assert abs(np.mean(scores) - 0.5) < 0.08
        assert np.mean(cheating) > 0.7

    def test_no_leak_in_auto(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(100, 300)), np.arange(100) % 2
        results = AROMSelector("auto").fit(X, y).cv_results_
        assert abs(results["mean_test_accuracy"].mean() - 0.5) < 0.1


def test_correlation_is_the_score_of_the_paper():
    X, y = cancer()
    fitted = CorrelationSelector(5).fit(X, y)
    for j in range(X.shape[1]):
        plus, minus = X[y == 1, j], X[y == 0, j]
        score = (plus.mean() - minus.mean()) ** 2 / (plus.var() + minus.var())
        assert fitted.scaling_[j] == pytest.approx(score)
    X, y = iris()
    best = np.argmax(f_classif(X, y)[0])
    assert CorrelationSelector(1).fit(X, y).get_support()[best]


def test_correlation_of_classes_without_spread():
    X = np.column_stack([np.arange(10) % 2, np.random.default_rng(0).normal(size=10)])
    fitted = CorrelationSelector(1).fit(X, np.arange(10) % 2)
    assert list(fitted.get_support()) == [True, False]
    assert np.isfinite(fitted.scaling_).all()


def test_fsv_lowers_its_objective():
    X, y = make_weston_toy(30, random_state=3)
    history = FSVSelector(C=10.0).fit(X, y).history_
    assert (np.diff(history["objective"]) <= 1e-7).all()
    assert history["gap"].max() <= 1e-6


BAD = [
    ({"n_features_to_select": 0}, "must be an integer of at least 1"),
    ({"n_features_to_select": -3}, "must be an integer of at least 1"),
    ({"n_features_to_select": 13}, "is 13, but X has 12 feature"),
    ({"n_features_to_select": 1.5}, "above 0 and at most 1"),
    ({"n_features_to_select": 0.0}, "above 0 and at most 1"),
    ({"n_features_to_select": float("nan")}, "above 0 and at most 1"),
    ({"n_features_to_select": True}, "must be None, 'auto'"),
    ({"n_features_to_select": "all"}, "must be None, 'auto'"),
    ({"n_features_to_select": [1]}, "must be None, 'auto'"),
    ({"C": 0.0}, "C must be a finite positive number"),
    ({"C": np.inf}, "C must be a finite positive number"),
    ({"C": "1"}, "C must be a finite positive number"),
]
BAD_ROUNDS = [
    ({"norm": "l0"}, "norm must be 'l2', 'l1' or 'auto'"),
    ({"norm": 2}, "norm must be 'l2', 'l1' or 'auto'"),
    ({"multi_class": "crammer"}, "multi_class must be 'ovr' or 'joint'"),
    ({"slack_norm": 3}, "slack_norm must be 'auto', 0, 1 or 2"),
    ({"slack_norm": "hinge"}, "slack_norm must be 'auto', 0, 1 or 2"),
    ({"slack_norm": True}, "slack_norm must be 'auto', 0, 1 or 2"),
    ({"norm": "l1", "slack_norm": 2}, "slack_norm=2 makes the rounds quadratic"),
    ({"multi_class": "joint", "norm": "l1"}, "goes with norm='l2'"),
    ({"multi_class": "joint", "slack_norm": 1}, "goes with norm='l2'"),
    ({"tol": 0}, "tol must be a finite positive number"),
    ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD)
@pytest.mark.parametrize("name", ["l2", "FSV", "R2W2", "CORR"])
def test_bad_parameters(name, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(SELECTORS[name]).set_params(**options).fit(*random_data())


@pytest.mark.parametrize(("options", "sentence"), BAD_ROUNDS)
def test_bad_rounds(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        AROMSelector(**options).fit(*random_data())


def test_bad_parameters_of_the_rivals():
    for rival in (FSVSelector(alpha=0), R2W2Selector(tol=-1), FSVSelector(max_iter=0)):
        with pytest.raises(ValueError, match="must be"):
            rival.fit(*random_data())


@pytest.mark.parametrize("name", ["l2", "l1", "FSV", "R2W2", "CORR"])
def test_bad_data(name):
    X, y = random_data()
    with pytest.raises(ValueError, match="one class only"):
        selector(name, 2).fit(X, np.zeros(25))
    if name not in ("l2", "l1"):  # AROMSelector takes numbers
        with pytest.raises(ValueError, match="continuous"):
            selector(name, 2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="NaN"):
        selector(name, 2).fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="12 features"):
        selector(name, 2).fit(X, y).transform(X[:, :3])


def test_folds_with_one_class():
    X, y = random_data(6)
    folds = [([0, 2], [1, 3])]
    with pytest.raises(ValueError, match="one class only: take fewer folds"):
        selector("l2", "auto", cv=folds).fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_auto_on_scales_that_stall_libsvm(n_jobs):
    """Scales of 1, 1e3 and 1e4: libsvm's own limit lets these fits run for minutes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 1e3, 1e4]
    y = X[:, 0] + rng.normal(size=40) > 0
    with pytest.warns(ConvergenceWarning, match=r"10 of the 15 linear SVMs .* stopped after"):
        fitted = selector("l2", "auto", n_jobs=n_jobs).fit(X, y)
    assert list(fitted.get_support(indices=True)) == [0]


@pytest.mark.parametrize("estimator", [AROMSelector(2), AROMClassifier(2), FSVSelector(2)])
def test_a_fit_that_fails_leaves_the_last_one(estimator):
    X, y = make_weston_toy(40, random_state=0)
    fitted = clone(estimator).fit(X, y)
    before = fitted.__dict__.copy()
    with pytest.raises(ValueError, match="class"):
        fitted.fit(X[:, :5], np.zeros(40))
    assert fitted.n_features_in_ == X.shape[1]
    assert fitted.__dict__.keys() == before.keys()
    assert all(fitted.__dict__[name] is value for name, value in before.items())
