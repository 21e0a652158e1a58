"""CrossEntropySVC against linprog and brute force, and against what its search promises.

A given classifier's vectors are in test_second_phase.py, many rows in test_many_rows.py.
"""

import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from tests.data import BINARY, cancer, contradictory, iris, moons, noisy, separable
from tests.independent import minimum, own_objective, values_of
from zeronorm import CrossEntropySVC, LinearProgrammingSVC, OneNormSVC
from zeronorm.solvers.linear_programs import highs, hinge_subsets
from zeronorm.solvers.linear_programs.highs import LinearProgramError
from zeronorm.solvers.linear_programs.hinge_lp import Box, solve_one_norm
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets
from zeronorm.solvers.losses import Hinge

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SIGNS = ["label", "free"]
KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
}


def signed(y):
    return np.where(y == 1, 1.0, -1.0)


def one_norm(signs):
    """The machine whose support is searched."""
    return OneNormSVC if signs == "label" else LinearProgrammingSVC


def one_norm_start(X, y, C, signs, kernel):
    """Kernel values of the one-norm support, its signs and caps: what is searched among."""
    start = one_norm(signs)(C=C, **kernel).fit(X, y)
    K = values_of(X, X[start.support_], kernel)
    if signs == "free":
        return K, None, None
    # Equal rows with equal labels are one term with the sum of their caps.
    equal = [np.sum((X == X[row]).all(axis=1) & (y == y[row])) for row in start.support_]
    return K, signed(y)[start.support_], C * np.array(equal)


def score(K, y, C, own, caps, chosen):
    chosen = np.array(chosen, dtype=bool)
    own, caps = (None if part is None else part[chosen] for part in (own, caps))
    cost = np.full(len(y), C)
    return chosen.sum() + minimum(K[:, chosen], signed(y), cost, price=0.0, signs=own, caps=caps)


# --- the objective -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "C"), [("rbf", 0.3), ("linear", 1.0), ("poly", 5.0)])
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_never_worse_than_the_one_norm_support(make, signs, name, C):
    X, y = make(40)
    kernel = KERNELS[name]
    model = CrossEntropySVC(C=C, signs=signs, random_state=0, **kernel).fit(X, y)
    start = one_norm(signs)(C=C, **kernel).fit(X, y)
    assert model.n_terms_ <= model.n_candidates_ == start.n_terms_
    # The machine's own coefficients; with fixed signs also the best ones for its support.
    loss = start.objective_ - np.abs(start.dual_coef_).sum()
    assert model.objective_ <= start.n_terms_ + loss + 1e-6
    if signs == "label":
        K, own, caps = one_norm_start(X, y, C, signs, kernel)
        assert model.objective_ <= score(K, y, C, own, caps, np.ones(K.shape[1])) + 1e-5
    cost = np.full(len(y), C)
    assert model.objective_ == pytest.approx(own_objective(model, X, y, cost, kernel), rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("make", [moons, noisy, cancer])
def test_even_a_hasty_search_is_no_worse_than_its_start(make, signs):
    X, y = make(40)
    hasty = {"sample_size": 2, "max_iter": 1, "polish": False, "random_state": 0}
    model = CrossEntropySVC(C=30.0, signs=signs, **hasty).fit(X, y)
    start = one_norm(signs)(C=30.0).fit(X, y)
    loss = start.objective_ - np.abs(start.dual_coef_).sum()
    assert model.objective_ <= start.n_terms_ + loss + 1e-6


@pytest.mark.parametrize("C", [1.0, 5.0])
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("seed", range(3))
def test_brute_force_finds_nothing_better_on_a_few_rows(seed, signs, C):
    X, y = moons(12, noise=0.4, seed=seed)
    kernel = KERNELS["rbf"]
    K, own, caps = one_norm_start(X, y, C, signs, kernel)
    every = itertools.product([0, 1], repeat=K.shape[1])
    expected = min(score(K, y, C, own, caps, chosen) for chosen in every)
    model = CrossEntropySVC(C=C, signs=signs, random_state=0, **kernel).fit(X, y)
    assert model.objective_ == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("make", [moons, contradictory])
def test_coefficients_keep_to_their_labels_and_caps(make):
    X, y = make()
    model = CrossEntropySVC(C=0.7, gamma=0.5, random_state=0).fit(X, y)
    equal = [np.sum((X == X[row]).all(axis=1) & (y == y[row])) for row in model.support_]
    sizes = signed(y)[model.support_] * model.dual_coef_[0]
    assert model.n_terms_ > 0 and (sizes > 0).all()
    assert (sizes <= 0.7 * np.array(equal) * (1 + 1e-12)).all()


def test_free_signs_are_used_and_worth_it():
    X, y = cancer()
    bound, free = (CrossEntropySVC(signs=signs, random_state=0).fit(X, y) for signs in SIGNS)
    assert free.objective_ < bound.objective_ and free.n_terms_ < bound.n_terms_
    sizes = signed(y)[free.support_] * free.dual_coef_[0]
    assert sizes.min() < 0 or np.abs(sizes).max() > 1.0


@pytest.mark.parametrize("make", [moons, cancer])
def test_fewer_terms_than_the_one_norm_machine(make):
    X, y = make()
    search, one_norm = CrossEntropySVC(random_state=0).fit(X, y), OneNormSVC().fit(X, y)
    assert 0 < search.n_terms_ < 0.75 * one_norm.n_terms_
    assert search.score(X, y) >= one_norm.score(X, y) - 0.03


def test_without_candidates_the_intercept_is_left():
    X, y = noisy()
    model = CrossEntropySVC(C=1e-6, random_state=0).fit(X, y)
    assert model.n_terms_ == model.n_candidates_ == 0
    assert model.objective_ == pytest.approx(2e-6 * np.bincount(y).min())
    np.testing.assert_array_equal(model.predict(X), np.bincount(y).argmax())


@pytest.mark.parametrize("signs", SIGNS)
def test_several_classes_share_one_set(signs):
    X, y = iris()
    X, y = X[::3], y[::3]
    model = CrossEntropySVC(C=5.0, gamma=0.5, signs=signs, random_state=0).fit(X, y)
    assert model.dual_coef_.shape == (3, model.n_terms_)
    assert model.dual_coef_.any(axis=0).all() and model.dual_coef_.any(axis=1).all()
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    own = own_objective(model, X, y, np.full(len(y), 5.0), KERNELS["rbf"])
    assert model.objective_ == pytest.approx(own, rel=1e-9)
    assert model.score(X, y) > 0.95
    # One set for all is what is counted: no worse than the union of the one-norm supports.
    # (OneNormSVC itself counts the rows of a class more often in the output of that class.)
    values = rbf_kernel(X, X, gamma=0.5)
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    terms, loss = set(), 0.0
    for target in targets.T:
        box = Box(target, np.full(len(y), 5.0)) if signs == "label" else None
        found = solve_one_norm(values, Hinge(target, np.full(len(y), 5.0)), box)
        terms |= set(np.flatnonzero(found.coef))
        loss += found.objective - np.abs(found.coef).sum()
    assert model.n_candidates_ == len(terms)
    assert model.objective_ <= len(terms) + loss + 1e-5


# --- weights, order, workers -------------------------------------------------------------------


@pytest.mark.parametrize("make", [moons, noisy, separable])
def test_weights_are_repeated_rows(make):
    X, y = make(40)
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    model = CrossEntropySVC(C=0.7, random_state=0, gamma=0.5)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    own = own_objective(weighted, X, y, 0.7 * times, KERNELS["rbf"])
    assert weighted.objective_ == pytest.approx(own, rel=1e-9)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )


def test_class_weights_are_factors_of_the_cost():
    X, y = noisy(50)
    model = CrossEntropySVC(class_weight="balanced", gamma=0.5, random_state=0).fit(X, y)
    cost = (len(y) / (2 * np.bincount(y)))[y]
    own = own_objective(model, X, y, cost, KERNELS["rbf"])
    assert model.objective_ == pytest.approx(own, rel=1e-9)
    assert model.objective_ != pytest.approx(
        CrossEntropySVC(gamma=0.5, random_state=0).fit(X, y).objective_
    )


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("make", [moons, separable, contradictory])
def test_the_order_of_the_rows_does_not_matter(make, signs):
    X, y = make()
    order = np.random.default_rng(0).permutation(len(X))
    model = CrossEntropySVC(random_state=0, signs=signs)
    a, b = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-7)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"adaptive": True}, {"polish": False}], ids=str)
def test_workers_change_nothing(options):
    X, y = cancer(60)
    a, b = (CrossEntropySVC(n_jobs=n, random_state=0, **options).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.dual_coef_, b.dual_coef_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(a.history_["scored"], b.history_["scored"])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-12)


def test_the_seed_decides():
    X, y = noisy(50)
    histories = [
        CrossEntropySVC(random_state=seed).fit(X, y).history_["level"].tolist()
        for seed in (0, 0, np.random.RandomState(0), 1)
    ]
    assert histories[0] == histories[1] == histories[2] != histories[3]


# --- what is reported --------------------------------------------------------------------------


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("adaptive", [False, True])
def test_history_has_one_entry_a_round(adaptive, polish):
    X, y = noisy()
    model = CrossEntropySVC(adaptive=adaptive, polish=polish, random_state=0).fit(X, y)
    history = model.history_
    assert set(history) == {"level", "objective", "terms", "draws", "scored"}
    assert {len(part) for part in history.values()} == {model.n_iter_}
    assert (np.diff(history["objective"]) <= 0).all()
    assert (history["level"] >= history["objective"] - 1e-9).all()
    assert (history["scored"] <= history["draws"]).all()
    last = history["objective"][-1]
    assert model.objective_ <= last + 1e-6
    if not polish:
        assert model.objective_ == pytest.approx(last, rel=1e-6)
        assert model.n_terms_ == history["terms"][-1]


def test_polishing_never_makes_it_worse_and_sometimes_helps():
    X, y = cancer(60)
    gains = []
    for seed in range(5):
        rough, polished = (
            CrossEntropySVC(polish=polish, sample_size=20, random_state=seed).fit(X, y).objective_
            for polish in (False, True)
        )
        gains.append(rough - polished)
    assert min(gains) > -1e-6 and max(gains) > 0.01


def test_too_few_rounds_are_said():
    X, y = cancer()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 rounds .* Raise max_iter"):
        model = CrossEntropySVC(max_iter=2, random_state=0).fit(X, y)
    assert model.n_iter_ == 2 == len(model.history_["level"])


@pytest.mark.guard
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_no_warning_when_it_comes_to_rest(make, signs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CrossEntropySVC(random_state=0, signs=signs).fit(*make())


def test_a_progress_bar_on_request_only(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # how rich is told that it writes to a terminal
    X, y = moons()
    CrossEntropySVC(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    CrossEntropySVC(random_state=0, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == "" and "searching" in err and "terms, best" in err


# --- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, LinearProgramError])
def test_a_search_that_breaks_off_leaves_the_estimator_as_it_was(error, n_jobs, monkeypatch):
    X, y = cancer(80)
    new = CrossEntropySVC(random_state=0, n_jobs=n_jobs)
    fitted = clone(new).fit(X, y)
    before, evaluate, calls = fitted.__dict__.copy(), HingeSubsets.evaluate, []

    def break_off(self, vectors):
        calls.append(len(vectors))
        if len(calls) > 3:
            raise error("in the middle of the search")
        return evaluate(self, vectors)

    monkeypatch.setattr(HingeSubsets, "evaluate", break_off)
    for model in (new, fitted):
        calls.clear()
        with pytest.raises(error):
            model.fit(X[::2], y[::2])
        assert len(calls) > 3
    assert new.__dict__ == clone(new).__dict__
    with pytest.raises(NotFittedError):
        new.predict(X)
    assert fitted.__dict__ == before


def test_a_failed_linear_program_is_raised_and_nothing_is_fitted(monkeypatch):
    def fail(model):
        raise LinearProgramError("HiGHS failed")

    model = CrossEntropySVC(random_state=0)
    patched = SimpleNamespace(**{**vars(highs), "run": fail})
    monkeypatch.setattr(hinge_subsets, "highs", patched)  # the programs of sets alone
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        model.fit(*moons())
    assert model.__dict__ == CrossEntropySVC(random_state=0).__dict__


BAD_PARAMETERS = {
    "C": [0.0, -1, np.nan, np.inf, "1", None, True],
    "tol": [0, -1e-3, np.nan, "1e-4", None],
    "candidates": [0, -5, 2.5, "some", None, True, np.nan, ["all"]],
    "signs": ["labels", "", None, 1, True, ["free"]],
    "sample_size": [0, 1, -5, 2.5, "all", None, True, np.nan],
    "elite_share": [0.0, -0.1, 1.1, np.nan, "0.1", None, True],
    "smoothing": [0.0, -0.1, 1.1, np.nan, "0.7", None, True],
    "patience": [0, -1, 1.5, "3", None, True],
    "max_iter": [0, -1, 1.5, "5", None, True, np.inf],
    "verbose": [-1, 0.5, "yes", None],
    "kernel": ["gauss", None],
    "gamma": [0.0, np.nan, "large"],
    "class_weight": ["some"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(k, v) for k, values in BAD_PARAMETERS.items() for v in values], ids=repr
)
def test_bad_parameter_is_a_sentence_that_names_it(name, value):
    with pytest.raises(ValueError, match=name):
        CrossEntropySVC(**{name: value}).fit(*moons(30))


@pytest.mark.parametrize(
    "changed",
    [
        {"C": 20.0},
        {"kernel": "linear"},
        {"gamma": 3.0},
        {"candidates": 20},
        {"signs": "free"},
        {"sample_size": 20},
        {"elite_share": 0.3},
        {"smoothing": 0.2},
        {"patience": 1},
        {"adaptive": True},
        {"class_weight": "balanced"},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_parameter_matters(changed):
    X, y = noisy(50)
    other = {"random_state": 0, "sample_size": 40}
    a, b = (CrossEntropySVC(**options).fit(X, y) for options in (other, other | changed))
    assert (
        a.n_iter_ != b.n_iter_
        or (a.history_["level"] != b.history_["level"]).any()
        or (a.objective_ != pytest.approx(b.objective_))
    )
