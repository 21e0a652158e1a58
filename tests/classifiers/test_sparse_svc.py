"""The flagship: choices inside the training data, and the path that shows them."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_circles, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import zeronorm
from tests.data import spirals, with_effort
from zeronorm import SparseLargeMarginClassifier, SparseSVC, SparseSVR, SparsityPathDisplay
from zeronorm.kernels import Kernel
from zeronorm.learned import choice, machine
from zeronorm.learned.folds import FoldSizes, make_folds
from zeronorm.learned.path import Path
from zeronorm.learned.results import Results
from zeronorm.learned.settings import C_VALUES, Setting
from zeronorm.solvers.gram import whitened

#: Few values to choose from, so that a test takes no time.
QUICK = {"C": (1.0, 10.0), "gamma": (0.3, 1.0), "cv": 3, "n_init": 1, "random_state": 0}


def moons(n=150, random_state=0):
    return make_moons(n, noise=0.2, random_state=random_state)


@pytest.fixture(scope="module")
def fitted():
    X, y = moons(200)
    return SparseSVC(random_state=0).fit(X, y), X, y


def test_as_accurate_as_a_tuned_svc_with_few_terms(fitted):
    model, X, y = fitted
    X_test, y_test = moons(2000, random_state=1)
    svc = SVC(C=10, gamma=1.0).fit(X, y)
    assert model.n_terms_ <= 8
    assert model.score(X_test, y_test) >= svc.score(X_test, y_test) - 0.015
    assert model.n_terms_ < len(svc.support_) / 4


def test_one_term_is_enough_for_circles():
    X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    model = SparseSVC(random_state=0).fit(X, y)
    assert model.expansion_.n_products <= 2
    assert model.score(X, y) > 0.97


def test_path_holds_sizes_errors_and_settings(fitted):
    model, _, _ = fitted
    path = model.path_
    assert path["terms"].tolist()[:3] == [1, 2, 3]
    assert set(path) == {"terms", "error", "standard_error", "C", "gamma", "metric", "linear"}
    assert all(len(values) == len(path["terms"]) for values in path.values())
    assert (path["error"] >= 0).all() and (path["error"] <= 1).all()
    assert model.expansion_.n_products in path["terms"]


def test_the_smallest_within_one_standard_error_is_kept():
    X, y = moons(200)
    model = SparseSVC(random_state=0, rule="one_se").fit(X, y)
    path = model.path_
    best = path["error"].argmin()
    limit = path["error"][best] + path["standard_error"][best]
    kept = path["terms"][path["error"] <= limit].min()
    assert model.expansion_.n_products == kept
    index = path["terms"].tolist().index(kept)
    assert model.C_ == path["C"][index]
    assert hasattr(model, "linear_coef_") == path["linear"][index]


@pytest.mark.parametrize("share", [0.5, 0.03])
def test_terms_are_at_most_a_tenth_of_the_vectors_of_an_svc(share):
    """But for a few that are always allowed, more where a class is rare."""
    X, y = make_classification(
        600, 6, n_informative=6, n_redundant=0, weights=[1 - share], n_clusters_per_class=3,
        flip_y=0, random_state=3,
    )  # fmt: skip
    X = StandardScaler().fit_transform(X)
    model = SparseSVC(rule="best", random_state=0).fit(X, y)
    fewest = min(len(SVC(C=C, gamma="scale").fit(X, y).support_) for C in (0.1, 1, 10, 100))
    most = max(len(SVC(C=C, gamma="scale").fit(X, y).support_) for C in (0.1, 1, 10, 100))
    allowed = 8 if share < 0.05 else 3
    assert max(model.path_["terms"]) <= max(allowed, most / 10)
    assert max(model.path_["terms"]) >= min(allowed, fewest / 10)


def test_fewer_terms_than_are_allowed_where_these_are_better():
    """One disc in the middle: sixteen terms learn the noise."""
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 2))
    y = ((X**2).sum(axis=1) < 1.4) ^ (random.uniform(size=200) < 0.25)
    model = SparseSVC(16, random_state=0).fit(X, y)
    assert 1 <= model.expansion_.n_products < 16
    assert model.path_["terms"].tolist() == [model.expansion_.n_products]
    exact = SparseSVC(16, C=1.0, gamma=1.0, random_state=0).fit(X, y)
    assert exact.n_terms_ == 16  # nothing is chosen


def test_rule_best_keeps_the_lowest_error():
    X, y = moons()
    model = SparseSVC(rule="best", **QUICK).fit(X, y)
    path = model.path_
    kept = path["terms"] == model.expansion_.n_products
    assert path["error"][kept][0] == path["error"].min()


def test_errors_of_the_path_are_those_of_models_fitted_on_the_folds():
    """The path is warm started and stops early; fits from scratch must come out alike."""
    X, y = moons(300)
    model = SparseSVC(C=10.0, gamma=1.0, cv=5, random_state=0).fit(X, y)
    size = 3
    errors = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        one = SparseLargeMarginClassifier(size, C=10.0, gamma=1.0, random_state=0)
        errors.append(1 - one.fit(X[train], y[train]).score(X[test], y[test]))
    index = model.path_["terms"].tolist().index(size)
    spread = np.std(errors, ddof=1) / np.sqrt(5)
    assert abs(model.path_["error"][index] - np.mean(errors)) < 2 * spread + 0.01


def test_a_fixed_number_of_terms_with_many_classes():
    # A linear part of seven outputs, ahead of two or four terms, must not keep out twelve.
    X, y = make_classification(
        900, 12, n_informative=6, n_classes=7, n_clusters_per_class=2, random_state=1
    )
    learn, judge = (X[:250], y[:250]), (X[250:], y[250:])
    given = {"n_terms": 12, "C": [1.0, 10.0], "cv": 3, "random_state": 0}
    chosen = SparseSVC(**given).fit(*learn)
    assert chosen.score(*judge) > SparseSVC(**given, linear=True).fit(*learn).score(*judge) + 0.05
    assert chosen.n_terms_ == 12


def test_a_fixed_number_of_terms():
    X, y = moons()
    model = SparseSVC(3, **QUICK).fit(X, y)
    assert model.expansion_.n_products == 3
    assert model.path_["terms"].tolist() == [3]
    assert model.C_ in QUICK["C"] and model.gamma_ == pytest.approx(model.path_["gamma"][0])
    plain = SparseSVC(3, linear=False, **QUICK).fit(X, y)
    assert plain.n_terms_ == 3 and not hasattr(plain, "linear_coef_")


def test_everything_given_is_solved_for_its_vectors():
    """Nothing is chosen; the coefficients are those of LinearSVC on the features of the vectors."""
    X, y = moons()
    model = SparseSVC(4, C=10.0, gamma=1.0, n_init=1, tol=1e-8, random_state=0).fit(X, y)
    assert model.path_ == {} and model.gamma_ == pytest.approx(1.0)
    assert not hasattr(model, "linear_coef_") and not hasattr(model, "metric_")
    kernel, vectors = model.expansion_.kernel, model.support_vectors_
    features = whitened(
        kernel.matrix(X, vectors), np.linalg.cholesky(kernel.matrix(vectors, vectors))
    )
    signs = np.where(y == 1, 1.0, -1.0)

    def objective(point):
        slack = np.maximum(1.0 - signs * (features @ point[:-1] + point[-1]), 0.0)
        value = 0.5 * point[:-1] @ point[:-1] + 5.0 * slack @ slack
        by_scores = -10.0 * signs * slack
        return value, np.append(point[:-1] + by_scores @ features, by_scores.sum())

    found = minimize(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert model.objective_ == pytest.approx(found.fun, rel=1e-5)


def test_the_same_whatever_the_workers():
    X, y = moons()
    one, two = (SparseSVC(n_jobs=n_jobs, **QUICK).fit(X, y) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.support_vectors_, two.support_vectors_)
    np.testing.assert_array_equal(one.path_["error"], two.path_["error"])


def test_several_classes_share_the_vectors():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), SparseSVC(**QUICK)).fit(X, names)
    assert model[-1].dual_coef_.shape == (3, model[-1].n_terms_)
    assert model.score(X, names) > 0.94


def test_sparse_rows_give_the_same_model():
    X, y = moons()
    X = np.where(np.abs(X) < 0.2, 0.0, X)
    dense = SparseSVC(**QUICK).fit(X, y)
    compact = SparseSVC(**QUICK).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(compact.support_vectors_, dense.support_vectors_, rtol=1e-6)
    # Too many to be turned into plain arrays: the kernels then see sparse rows.
    stays, plain = (
        SparseSVC(2, C=1.0, gamma=1.0, n_init=1, random_state=0) for _ in ("sparse", "plain")
    )
    stays._dense_entries = 10
    stays.fit(sparse.csr_matrix(X), y), plain.fit(X, y)
    np.testing.assert_allclose(stays.decision_function(X), plain.decision_function(X), atol=1e-3)


def test_class_weights_move_the_boundary():
    X, y = make_moons(300, noise=0.4, random_state=0)
    plain = SparseSVC(3, C=1.0, gamma=0.5, random_state=0).fit(X, y)
    heavy = SparseSVC(3, C=1.0, gamma=0.5, class_weight={1: 5.0}, random_state=0).fit(X, y)
    assert heavy.predict(X).sum() > plain.predict(X).sum() + 10


def test_probabilities_by_calibration():
    X, y = moons(200)
    model = CalibratedClassifierCV(SparseSVC(3, **QUICK), cv=3).fit(X, y)
    X_test, y_test = moons(1000, random_state=1)
    chance = model.predict_proba(X_test)[:, 1]
    assert np.mean((chance - y_test) ** 2) < 0.1


def test_many_rows_are_chosen_on_a_draw(monkeypatch):
    sizes = FoldSizes(few_rows=100, shared_rows=150, other_rows=60)
    seen = []

    def spy(*arguments):
        made = make_folds(*arguments)
        seen.append((made.train.shape, made.cost.sum(), len(made.others.codes)))
        return made

    monkeypatch.setattr(choice, "make_folds", spy)
    X, y = moons(400)
    given = with_effort(SparseSVC(**QUICK), folds=sizes).fit(X, y)
    assert given.C_ in QUICK["C"]
    # The drawn rows stand for all of them, so that C means the same in the final fit.
    assert seen == [((3, 150), pytest.approx(400), 60)]


def test_costs_of_many_rows_weigh_as_much_as_those_of_a_few():
    model = SparseSVC(1, **QUICK | {"C": "cv", "max_iter": 2}).fit(*moons(8_000))
    assert model.C_ in np.array(C_VALUES) * 2_000 / 8_000


def test_folds_of_few_rows_are_drawn_twice(monkeypatch):
    """Each row is held out twice, and not with the same others."""
    seen = []
    monkeypatch.setattr(
        choice, "make_folds", lambda *args: seen.append(make_folds(*args)) or seen[-1]
    )
    SparseSVC(**QUICK).fit(*moons(100))
    (few,) = seen
    held_out = few.shared.test
    assert (len(few), few.repeats) == (6, 2)
    assert (held_out.sum(axis=0) == 2).all() and (few.train ^ held_out).all()
    assert len(np.unique(held_out, axis=0)) == 6


def test_given_folds_are_the_ones_used():
    X, y = moons(60)
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    by_list, by_splitter = (
        SparseSVC(**QUICK | {"cv": cv}).fit(X, y)
        for cv in (splits, KFold(3, shuffle=True, random_state=1))
    )
    np.testing.assert_array_equal(by_list.path_["error"], by_splitter.path_["error"])
    weight = np.ones(60)
    weight[splits[0][1]] = 0.0
    with pytest.raises(ValueError, match="no rows to judge by"):
        SparseSVC(**QUICK | {"cv": splits}).fit(X, y, sample_weight=weight)


def test_a_class_of_one_row_is_always_learned_from():
    X, y = moons(40)
    X, y = np.vstack([X, [[5.0, 5.0]]]), np.append(y, 2)
    model = SparseSVC(6, **QUICK).fit(X, y)
    assert model.path_["error"][0] < 0.5  # it was cross-validated
    assert model.predict([[5.0, 5.0]]) == [2]


def test_progress_is_shown_on_demand(monkeypatch, capsys):
    X, y = moons(400)
    SparseSVC(**QUICK).fit(X, y)
    assert capsys.readouterr() == ("", "")
    seen = []

    @contextmanager
    def spy(description, *, enabled):
        yield lambda share, text="": seen.append((share, text))

    monkeypatch.setattr(machine, "progress_bar", spy)
    SparseSVC(verbose=1, **QUICK).fit(X, y)
    shares = [share for share, _ in seen]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 0.8
    assert any("terms, error" in text for _, text in seen)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_terms": 0}, "n_terms must be 'auto' or an integer of at least 1"),
        ({"n_terms": -3}, "n_terms must be 'auto' or an integer of at least 1"),
        ({"n_terms": 2.5}, "n_terms must be 'auto' or an integer"),
        ({"n_terms": 41}, "n_terms=41 is more than the 40 training rows"),
        ({"C": 0.0}, "C must be 'cv', a finite positive number or a sequence"),
        ({"C": ()}, "C must be .* a sequence of such numbers; got .."),
        ({"C": "auto"}, "C must be 'cv', .*; got 'auto'"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": [1.0, "scale"]}, "gamma must be 'cv', 'scale', .*sequence"),
        ({"kernel": "precomputed"}, "Learned vectors need a kernel with a derivative"),
        ({"kernel": "sigmoid"}, "positive semidefinite"),
        ({"rule": "two_se"}, "rule must be one of loss, one_se, paired_se, best"),
        ({"metric": "yes"}, "metric must be 'auto', True or False"),
        ({"linear": 1}, "linear must be 'auto', True or False"),
        ({"metric": True, "kernel": "poly"}, "Only kernel='rbf' has a metric"),
        ({"max_features": 0}, "max_features must be an integer of at least 1"),
        ({"max_features": 1, "metric": False}, "max_features needs a metric"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"cv": "five"}, "cv must be an integer of at least 2, a splitter or a list of splits"),
        ({"max_iter": 0}, "max_iter must be an integer"),
        ({"n_init": 0}, "n_init must be an integer"),
        ({"verbose": -1}, "verbose must be an integer"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, message):
    X, y = moons(40)
    with pytest.raises(ValueError, match=message):
        SparseSVC(**QUICK | parameters).fit(X, y)


def test_nothing_to_cross_validate_with():
    with pytest.raises(ValueError, match="No class has more than one row"):
        SparseSVC().fit([[0.0], [1.0]], [0, 1])


def test_fewer_than_two_splits():
    X, y = moons(40)
    with pytest.raises(ValueError, match="fewer than two splits"):
        SparseSVC(**QUICK | {"cv": [(np.arange(30), np.arange(30, 40))]}).fit(X, y)


def results_of(sizes, errors, losses, C=None):
    results = Results()
    for i, (size, error, loss) in enumerate(zip(sizes, errors, losses, strict=True)):
        setting = Setting(1.0 if C is None else C[i], Kernel("rbf"))
        results.add(setting, size, np.array(error), np.array(loss), [], [])
    return results


def test_of_equal_errors_the_lower_loss_wins():
    """Not the smallest C: few rows make many ties."""
    losses = [[0.9, 0.9], [0.3, 0.3], [0.2, 0.5]]
    results = results_of([2] * 3, [[0.0, 0.1]] * 3, losses, C=[0.1, 1.0, 10.0])
    assert results.chosen("one_se") == results.chosen("best") == results.chosen("loss") == 1
    assert results.best_of_each_size()["C"].tolist() == [1.0]


def test_rules_differ():
    """By error four terms are within a standard error; by loss eight are clearly better."""
    errors = [[0.2, 0.15, 0.2], [0.11, 0.1, 0.12], [0.11, 0.09, 0.12], [0.1, 0.09, 0.12]]
    losses = [[0.9, 0.8, 0.8], [0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.39, 0.42, 0.4]]
    results = results_of([2, 4, 8, 16], errors, losses)
    sizes = {rule: results.sizes[results.chosen(rule)] for rule in ("one_se", "loss", "best")}
    assert sizes == {"one_se": 4, "loss": 8, "best": 16}


def test_a_tolerated_share_of_the_loss():
    """Four terms are 3 % above eight in every fold, two 50 %."""
    losses = [[1.5, 1.51, 1.49], [1.03, 1.031, 1.029], [1.0, 1.0, 1.0]]
    results = results_of([2, 4, 8], losses, losses)
    assert results.sizes[results.chosen("loss")] == 8
    results.tolerated = 0.02
    assert results.sizes[results.chosen("loss")] == 8
    results.tolerated = 0.04
    assert results.sizes[results.chosen("loss")] == 4


@pytest.mark.parametrize(
    ("losses", "lowest", "goes_on"),
    [
        ([0.9, 0.8, 0.5, 0.4], 0.5, True),  # lower, clearly
        ([0.9, 0.4, 0.41, 0.42], 0.0, False),  # no lower, whatever could be had
        ([0.9, 0.4, 0.4, 0.3999], 0.0, True),  # hardly lower, but the reference is
        ([0.9, 0.4, 0.4, 0.3999], 0.5, False),
    ],
)
def test_growth_goes_on_while_the_loss_falls(losses, lowest, goes_on):
    path = Path([0, 0], None, None)
    path.states = {Setting(1.0, Kernel("rbf")): None}
    spread = np.array([0.0, 0.02])
    path.results = results_of([1, 2, 6, 8], [[0.2, 0.2]] * 4, [loss + spread for loss in losses])
    path.results.losses[-1] = path.results.losses[-1] + np.array([0.01, -0.01])
    assert path.goes_on(2, lowest) is goes_on


def test_settings_that_do_worst_drop_out():
    path = Path([0, 0], None, None)
    errors = [[0.3, 0.3], [0.1, 0.1], [0.2, 0.2], [0.05, 0.05]]
    path.results = results_of([1, 1, 1, 2], errors, [[1, 1]] * 4, C=[1, 2, 3, 1])
    path.states = dict.fromkeys(path.results.settings)
    path.keep(2)
    assert [setting.C for setting in path.states] == [1, 2]


def test_it_says_that_the_vectors_still_moved():
    """Cut short while the objective fell; and not a word where it had time."""
    X, y = spirals(200, seed=2)
    model = SparseSVC(6, C=10.0, metric=True, n_init=1, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"After 4 steps the vectors still moved"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.set_params(max_iter=500).fit(X, y)


class TestForms:
    def test_a_linear_problem_needs_no_kernel_term(self):
        random = np.random.RandomState(3)
        X = random.randn(300, 6)
        y = X @ [1.0, -2.0, 0.5, 0.0, 0.0, 1.0] + 0.3 * random.randn(300) > 0
        fresh = random.randn(2000, 6)
        labels = fresh @ [1.0, -2.0, 0.5, 0.0, 0.0, 1.0] > 0
        model = SparseSVC(random_state=0).fit(X, y)
        assert model.n_terms_ == 0 and model.linear_coef_.shape == (1, 6)
        peer = LinearSVC(C=1.0).fit(X, y)
        assert model.score(fresh, labels) >= peer.score(fresh, labels) - 0.01
        np.testing.assert_allclose(
            model.decision_function(X), X @ model.linear_coef_[0] + model.intercept_[0]
        )

    def test_two_features_of_fifty_two(self):
        """XOR of two features among fifty that are noise: the model uses the two."""
        random = np.random.RandomState(0)
        X, fresh = random.randn(400, 52), random.randn(2000, 52)
        model = SparseSVC(random_state=0).fit(X, X[:, 3] * X[:, 7] > 0)
        assert np.flatnonzero(model.metric_).tolist() == [3, 7] or model.n_features_used_ <= 4
        assert model.score(fresh, fresh[:, 3] * fresh[:, 7] > 0) > 0.92

    def test_no_more_features_than_asked_for(self):
        random = np.random.RandomState(0)
        X = random.randn(200, 10)
        y = X[:, 0] ** 2 + X[:, 1] ** 2 + 0.5 * X[:, 2] > 1.8
        model = SparseSVC(4, C=10.0, max_features=2, random_state=0).fit(X, y)
        assert model.n_features_used_ == 2
        assert np.flatnonzero(model.metric_).tolist() == [0, 1]
        far = X.copy()
        far[:, 2:] += 1e3
        np.testing.assert_allclose(model.decision_function(far), model.decision_function(X))

    def test_metric_is_in_the_units_of_the_features(self):
        """A feature measured in thousandths has a width a million times as small."""
        X, y = moons(150)
        given = {"C": 10.0, "metric": True, "linear": False, "n_init": 1, "random_state": 0}
        given |= {"tol": 1e-7, "max_iter": 1000}  # so that both come to the same minimum
        model = SparseSVC(4, **given).fit(X, y)
        values = np.exp(-np.sum(model.metric_ * (X[:, None] - model.support_vectors_) ** 2, axis=2))
        expected = values @ model.dual_coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), expected)
        scaled = SparseSVC(4, **given).fit(1000.0 * X, y)
        np.testing.assert_allclose(1e6 * scaled.metric_, model.metric_, rtol=0.05)

    @pytest.mark.parametrize("n_classes", [26, 50, 200])
    def test_many_classes(self, n_classes):
        random = np.random.RandomState(0)
        centres = 6.0 * random.randn(n_classes, 8)
        y = np.repeat(np.arange(n_classes), 4)
        X = centres[y] + random.randn(len(y), 8)
        quick = {"C": 10.0, "metric": False, "cv": 2, "n_init": 1, "max_iter": 10}
        model = SparseSVC(**quick, random_state=0).fit(X, y)
        fresh = centres + random.randn(n_classes, 8)
        assert np.mean(model.predict(fresh) == np.arange(n_classes)) > 0.9

    def test_a_class_of_two_rows(self):
        X, y = moons(60)
        X, y = np.vstack([X, [[4.0, 4.0], [4.2, 4.1]]]), np.append(y, [2, 2])
        model = SparseSVC(random_state=0).fit(X, y)
        assert model.predict([[4.1, 4.0]]) == [2]


class TestDisplay:
    def test_it_draws_the_path(self, fitted):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        model, _, _ = fitted
        _, ax = pyplot.subplots()
        display = SparsityPathDisplay.from_estimator(make_pipeline(model)).plot(ax=ax)
        assert display.ax_ is ax
        drawn = ax.containers[0][0].get_xydata()
        np.testing.assert_allclose(drawn[:, 0], model.path_["terms"])
        np.testing.assert_allclose(drawn[:, 1], 100 * model.path_["error"])
        assert f"kept: {model.expansion_.n_products} terms" in ax.get_legend_handles_labels()[1]
        pyplot.close(ax.figure)

    def test_without_a_path(self):
        X, y = moons(40)
        with pytest.raises(ValueError, match="SVC has no path of sizes"):
            SparsityPathDisplay.from_estimator(SVC().fit(X, y))
        given = SparseSVC(2, C=1.0, gamma=1.0).fit(X, y)
        with pytest.raises(ValueError, match="This SparseSVC had nothing to choose"):
            SparsityPathDisplay.from_estimator(given)
        given = SparseSVR(2, C=1.0, gamma=1.0, epsilon=0.1).fit(X, X[:, 0])
        with pytest.raises(ValueError, match="This SparseSVR had nothing to choose"):
            SparsityPathDisplay.from_estimator(given)


def test_a_refit_forgets_the_last_fit():
    """Fitted on other rows in between, the same estimator finds the same model again."""
    X, y = moons()
    model = SparseSVC(**QUICK).fit(X, y)
    again = clone(model).fit(X[:40] + 3.0, y[:40])
    other = again.support_vectors_
    again.fit(X, y)
    assert other.shape != model.support_vectors_.shape or not np.allclose(
        other, model.support_vectors_
    )
    np.testing.assert_array_equal(again.support_vectors_, model.support_vectors_)
    np.testing.assert_array_equal(again.path_["error"], model.path_["error"])


class TestProbabilities:
    def test_they_are_those_of_unseen_rows(self):
        """On fresh rows the mean probability of a class is its share, and the loss is small."""
        X, y = make_moons(600, noise=0.3, random_state=0)
        fresh, labels = make_moons(2000, noise=0.3, random_state=1)
        model = SparseSVC(random_state=0, cv=3, max_iter=50).fit(X, y)
        probability = model.predict_proba(fresh)
        assert probability.shape == (2000, 2)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0)
        assert probability[:, 1].mean() == pytest.approx(labels.mean(), abs=0.03)
        sure = probability.max(axis=1) > 0.9
        right = model.classes_[probability.argmax(axis=1)] == labels
        assert right[sure].mean() > 0.92 and right[~sure].mean() < 0.9
        peer = CalibratedClassifierCV(SVC(C=10), cv=3).fit(X, y).predict_proba(fresh)
        assert log_loss(labels, probability) < log_loss(labels, peer) + 0.02
        np.testing.assert_array_equal(model.predict_log_proba(fresh), np.log(probability))

    def test_several_classes_with_names(self):
        X, y = load_iris(return_X_y=True)
        names = np.array(["one", "two", "three"])[y]
        model = SparseSVC(random_state=0, cv=3, max_iter=20).fit(X, names)
        probability = model.predict_proba(X)
        assert probability.shape == (150, 3)
        assert np.mean(model.classes_[probability.argmax(axis=1)] == names) > 0.9

    def test_where_nothing_is_chosen_there_are_none(self):
        X, y = moons(60)
        model = SparseSVC(2, C=1.0, gamma=1.0, random_state=0)
        assert hasattr(model, "predict_proba")
        model.fit(X, y)
        assert not hasattr(model, "predict_proba") and model.calibration_ is None
        with pytest.raises(AttributeError) as caught:
            model.predict_proba(X)
        assert "Let it choose" in str(caught.value.__cause__)

    def test_they_are_saved(self, tmp_path):
        X, y = moons(100)
        model = SparseSVC(random_state=0, cv=2, max_iter=10).fit(X, y)
        zeronorm.save(model, tmp_path / "model.json")
        again = zeronorm.load(tmp_path / "model.json")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_costs_that_leave_single_digits():
    """Found by fuzz: three rows at C = 1e6 with large weights, and weights near the smallest."""
    random = np.random.RandomState(2)
    X = random.randn(3, 2)
    model = SparseSVC(C=1e6, random_state=0)
    try:
        model.fit(X, [0, 1, 0], sample_weight=[1e10, 1e12, 1e11])
    except ValueError as error:
        assert "badly scaled" in str(error) or "not finite" in str(error)
    else:
        assert np.isfinite(model.decision_function(X)).all()
    X = random.randn(16, 1)
    tiny = SparseSVC(random_state=0).fit(X, np.arange(16) % 3, sample_weight=np.full(16, 1e-290))
    assert np.isfinite(tiny.decision_function(X)).all()
