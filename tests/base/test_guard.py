"""No model that only guesses goes out without a word, and no word where guessing is best."""

import itertools
import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import ttest_ind
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tests.data import moons
from zeronorm import (
    AROMClassifier,
    CrossEntropySVC,
    IRWLSClassifier,
    LinearProgrammingSVC,
    OneNormSVC,
    ReducedSVC,
    RelevanceVectorClassifier,
    SparseLargeMarginClassifier,
    SparseProbitClassifier,
    SparseSVC,
    SparsityControlledSVC,
    SVCReducer,
    ZeroNormSVC,
)
from zeronorm.base import guard
from zeronorm.base.training_set import rescaled_cost
from zeronorm.exceptions import PoorFitWarning
from zeronorm.kernels import Kernel
from zeronorm.learned import machine
from zeronorm.learned.reference import far_behind
from zeronorm.learned.results import Results
from zeronorm.learned.settings import Setting


def said(model, X, y, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **options)
    return [str(w.message) for w in caught if issubclass(w.category, PoorFitWarning)]


#: Each with a parameter that makes it guess on the moons.
GUESSING = [
    ZeroNormSVC(C=1e-4),
    ZeroNormSVC("B", C=1e-4),
    ZeroNormSVC(gamma=1e7),
    OneNormSVC(C=1e-4),
    LinearProgrammingSVC(C=1e-4),
    SparsityControlledSVC(C=1e-5),
    IRWLSClassifier(1e6),
    ReducedSVC(2, gamma=1e7, random_state=0),
    SparseLargeMarginClassifier(1, gamma=1e7, random_state=0),
    SparseProbitClassifier(gamma=1e7),
    CrossEntropySVC(C=1e-3, sample_size=20, random_state=0),
    SparseSVC(1, C=1.0, gamma=1e7, random_state=0),
]


@pytest.mark.parametrize("model", GUESSING, ids=repr)
def test_a_model_that_guesses_says_so_with_the_numbers(model):
    X, y = moons(80)
    (message,) = said(model, X, y)
    assert message.startswith(f"{type(model).__name__} has learned little")
    share = 100 * min(np.mean(y == 0), np.mean(y == 1))
    assert f"is wrong on {share:.1f} %" in message and "SVC(C=10)" in message
    assert "gamma" in message and "class_weight" in message


def test_a_model_far_behind_that_does_not_quite_guess_says_so():
    random = np.random.RandomState(0)
    X = random.normal(size=(700, 10))
    y = X[:, 0] * X[:, 1] > 0
    model = ReducedSVC(14, C=10, random_state=0)
    (message,) = said(model, X, y)
    assert 0.55 < model.score(X, y) < 0.75 and "in cross-validation" in message


#: Those that are fitted in no time, as they are by default.
PLAIN = [
    ZeroNormSVC(),
    LinearProgrammingSVC(),
    IRWLSClassifier(),
    ReducedSVC(random_state=0),
    RelevanceVectorClassifier(),
    SparseProbitClassifier(),
    SparseLargeMarginClassifier(3, random_state=0),
]


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05], ids=str)
@pytest.mark.parametrize("model", PLAIN, ids=repr)
def test_quiet_where_nothing_is_to_be_learned(model, share):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (np.arange(80) < 80 * share).astype(int)
    assert said(model, X, y) == []


@pytest.mark.parametrize("model", [ZeroNormSVC(C=10), SparseProbitClassifier()], ids=repr)
def test_quiet_where_all_is_well(model):
    for X, y in (moons(80), load_iris(return_X_y=True), make_blobs(60, centers=6, random_state=0)):
        assert said(model, X, y) == []


def wide(seed):
    X, y = make_classification(36, 400, n_informative=20, class_sep=2, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


#: Those that have too few terms for rows that are all far from each other.
POOR_ON_WIDE = [
    RelevanceVectorClassifier(),
    SparseProbitClassifier(),
    ReducedSVC(4, C=10, random_state=0),
    ReducedSVC(18, C=10, random_state=0),
]

#: Those whose coefficients have penalties of their own, and no intercept there.
LEARNED_ON_WIDE = [
    ZeroNormSVC(C=3),
    ZeroNormSVC("B", C=3),
    OneNormSVC(C=10),
    LinearProgrammingSVC(C=3),
    IRWLSClassifier("gcv", gamma="gcv"),
]


@pytest.mark.parametrize("model", POOR_ON_WIDE, ids=repr)
def test_wide_data_that_few_terms_do_not_describe(model):
    """Said of most draws, with other advice."""
    found = [said(model, *wide(seed)) for seed in range(2005, 2015)]
    messages = [message for messages in found for message in messages]
    assert len(messages) >= 8
    assert all("kernel='linear'" in message for message in messages)


@pytest.mark.parametrize("model", LEARNED_ON_WIDE, ids=repr)
def test_wide_data_that_many_terms_describe(model):
    assert [said(model, *wide(seed)) for seed in range(2000, 2006)] == [[]] * 6


@pytest.mark.parametrize("seed", [2022, 2038, 2047])
def test_guessing_twice_is_enough(seed):
    """The SVC tells the classes apart, but is right on too few rows more to win by their number."""
    (message,) = said(LinearProgrammingSVC(C=3), *wide(seed))
    assert "wrong on 0.0 % of 36 training rows, in cross-validation on" in message


@pytest.mark.parametrize("model", [*POOR_ON_WIDE, *LEARNED_ON_WIDE, *PLAIN[3:]], ids=repr)
def test_quiet_on_wide_data_without_meaning(model):
    rng = np.random.default_rng(0)
    assert said(model, rng.normal(size=(36, 400)), np.arange(36) % 2) == []


@pytest.mark.parametrize(
    "model", [SparsityControlledSVC(C=10), ZeroNormSVC(C=3, kernel="linear")], ids=repr
)
def test_quiet_on_wide_data_that_is_learned(model):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 100)) + 0.6 * y[:, None]
    assert said(model, X, y) == []


def test_wide_data_that_was_judged_already(monkeypatch):
    """SparseSVC has cross-validated itself: it is not learned again."""
    learn, calls = machine.fit_setting, []

    def counted(*arguments, **options):
        calls.append(1)
        return learn(*arguments, **options)

    monkeypatch.setattr(machine, "fit_setting", counted)
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 30)) + 1.0 * y[:, None]
    assert said(SparseSVC(random_state=0, linear=False), X, y) == [] and len(calls) == 1


def test_classes_apart_by_welch():
    """By as many standard errors as scipy says, on either side of the limit."""
    rng = np.random.default_rng(0)
    codes = np.arange(30) % 3 // 2  # ten of class one, twenty of class zero
    found = []
    for shift in np.linspace(-1.0, 2.0, 31):
        values = rng.normal(size=30) * (1 + codes) + shift * codes
        statistic = ttest_ind(values[codes == 1], values[codes == 0], equal_var=False).statistic
        found.append(guard._are_apart(values, codes, guard.CLEARLY))
        assert found[-1] == (statistic >= guard.CLEARLY)
        assert guard._are_apart(values, codes, guard.HARDLY) == (statistic >= guard.HARDLY)
    assert 5 < sum(found) < 26


def test_a_small_difference_is_none_however_certain():
    """Of 400 rows 20 more are right: 4.5 standard deviations, five points."""
    codes, one = np.arange(400) % 4, np.ones(400, dtype=bool)
    other = np.arange(400) >= 20
    assert guard._is_beyond_chance(one, other, guard.CLEARLY)
    assert not guard._is_better(one, other, codes, guard.CLEARLY)
    assert guard._is_better(one, np.arange(400) >= 40, codes, guard.CLEARLY)
    # Of a rare class a few rows are much.
    rare = (np.arange(400) < 10).astype(int)
    assert guard._is_better(one, np.arange(400) >= 4, rare, guard.CLEARLY)


@pytest.mark.parametrize("bar", [guard.HARDLY, guard.CLEARLY])
def test_more_right_rows_never_speak_against_the_one_that_has_them(bar):
    """Of this the guard makes use, which learns again no longer than the verdict is open."""
    right = np.array(list(itertools.product([False, True], repeat=5)))
    codes = np.array([0, 0, 1, 1, 1])
    for found in (guard._is_beyond_chance, lambda *args: guard._is_better(*args[:2], codes, bar)):
        table = np.array([[found(one, other, bar) for other in right] for one in right])
        for i, j in itertools.product(range(len(right)), repeat=2):
            if (right[i] <= right[j]).all():
                assert (table[i] <= table[j]).all() and (table[:, i] >= table[:, j]).all()


def test_learned_again_no_longer_than_the_verdict_is_open(monkeypatch):
    """Nothing that is said, or is not, differs from what all folds say."""
    calls, judged_in_turn = [], guard._judged_in_turn

    def counted(judgement, folds, rows):
        calls.append(0)
        for found in judged_in_turn(judgement, folds, rows):
            calls[-1] += 1
            yield found

    def all_folds(judgement, folds, rows):
        *_, last = judged_in_turn(judgement, folds, rows)
        calls.append(len(folds))
        yield last

    counts, found = [], []
    for instead in (counted, all_folds):
        monkeypatch.setattr(guard, "_judged_in_turn", instead)
        calls.clear()
        found.append([said(clone(model), X, y) for model, X, y in suspicious()])
        counts.append(sum(calls))
    assert found[0] == found[1] and [] in found[0] and any(found[0])
    assert counts[0] < counts[1]


def suspicious():
    """Models that are poor on their training rows, some for a reason that no SVC has."""
    for seed in range(4):
        X, y = make_classification(60, 6, class_sep=0.4, flip_y=0.2, random_state=seed)
        yield LinearProgrammingSVC(C=0.3), X, y
        yield IRWLSClassifier(30.0), X, y
        X, y = make_blobs(50, centers=4, cluster_std=6.0, random_state=seed)
        yield IRWLSClassifier(), X, y


def test_a_row_that_speaks_for_itself_alone_is_no_evidence():
    """Narrow kernels fit every training row, and say nothing of the others."""
    X, y = moons(60)
    model = OneNormSVC(C=100, gamma=1e5)
    (message,) = said(model, X, y)
    assert model.score(X, y) == 1.0  # the training rows are all right
    assert "0.0 % of 60 training rows, in cross-validation on" in message


def test_classes_that_are_never_found():
    X, y = make_blobs(120, centers=8, cluster_std=0.3, random_state=3)
    (message,) = said(ZeroNormSVC(C=1e-3), X, y)
    assert "always guessing" in message.lower()


@pytest.mark.parametrize("kernel", ["precomputed", rbf_kernel], ids=["precomputed", "callable"])
def test_other_kernels(kernel):
    X, y = moons(60)
    data = rbf_kernel(X) if kernel == "precomputed" else X
    assert len(said(ZeroNormSVC(C=1e-4, kernel=kernel), data, y)) == 1
    assert said(ZeroNormSVC(C=10, kernel=kernel), data, y) == []
    if kernel == "precomputed":
        assert len(said(ZeroNormSVC(C=1e-4, kernel=kernel), csr_matrix(data), y)) == 1


def test_weights_count():
    """By weight the second class is the commonest, and labels are told by name."""
    X, y = moons(60)
    names = np.array(["no", "yes"])[y]
    (message,) = said(ZeroNormSVC(C=1e-6), X, names, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert "guessing 'yes' is wrong on 25.0 %" in message


def test_a_final_fit_that_fails_is_noticed(monkeypatch):
    """Good in cross-validation, bad on all rows: the fault of a solver, which must not go out."""
    learn = machine.fit_setting
    calls = []

    def failing(training, *arguments, **options):
        learned = learn(training, *arguments, **options)
        if not calls:
            learned.expansion.intercept[:] = 1e3
        calls.append(1)
        return learned

    monkeypatch.setattr(machine, "fit_setting", failing)
    (message,) = said(SparseSVC(2, C=10.0, gamma=1.0, random_state=0), *moons(80))
    assert "it is wrong on 50.0 % of 80 training rows" in message
    assert len(calls) == 1  # one class only: no need to learn again


def test_a_choice_has_cross_validated_already(monkeypatch):
    """The models of the folds say what the rows could be told by; nothing is learned again."""
    learn, calls = machine.fit_setting, []

    def failing(training, *arguments, **options):
        learned = learn(training, *arguments, **options)
        learned.expansion.coef[:] *= -1.0
        learned.expansion.intercept[:] *= -1.0
        calls.append(1)
        return learned

    monkeypatch.setattr(machine, "fit_setting", failing)
    model = SparseSVC(3, C=(1.0, 10.0), gamma=1.0, linear=False, random_state=0)
    (message,) = said(model, *moons(80))
    assert re.search(r"wrong on 9\d.\d % of 80 training rows, in cross-validation on \d\.", message)
    assert len(calls) == 1


def results(errors):
    found = Results()
    found.add(Setting(1.0, Kernel("rbf")), 3, np.array(errors), np.zeros(len(errors)))
    return found


@pytest.mark.parametrize(
    ("ours", "reference", "is_far"),
    [
        ([0.30, 0.35, 0.32], [0.10, 0.15, 0.12], True),
        ([0.12, 0.14, 0.13], [0.10, 0.15, 0.12], False),
        # Much on average, but by one fold alone.
        ([0.10, 0.10, 0.70], [0.10, 0.12, 0.10], False),
    ],
)
def test_a_choice_far_behind_what_it_saw_to_be_possible(ours, reference, is_far):
    message = far_behind(results(ours), 0, results(reference))
    assert (message is not None) == is_far
    if is_far:
        assert "32.3 %" in message and "12.3 %" in message


def test_rare_and_equal_classes_are_learned():
    """What 0.1 guessed on: iris without its middle class, and four in a hundred."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y != 1], y[y != 1]
    assert SparseSVC(random_state=0).fit(X, y).score(X, y) == 1.0
    for model in (
        SparseLargeMarginClassifier(2, C=0.1, gamma=0.00175, random_state=0),
        ReducedSVC(3, C=0.1, gamma=0.00175, random_state=0),
    ):
        assert model.fit(X, y).score(X, y) == 1.0
    rng = np.random.default_rng(0)
    y = (np.arange(600) < 24).astype(int)
    X = rng.normal(size=(600, 4)) + 2.5 * y[:, None]
    model = SparseSVC(random_state=0, cv=3).fit(X[::2], y[::2])
    svc = SVC(C=10).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) >= svc.score(X[1::2], y[1::2]) - 0.01
    assert model.predict(X[1::2]).sum() > 0


def test_a_reduction_that_is_another_model_says_so():
    X, y = make_blobs(120, centers=8, cluster_std=0.3, random_state=3)
    with pytest.warns(PoorFitWarning, match="1 terms .* % of the decisions are not those of the"):
        SVCReducer(SVC(C=10), n_terms=1, random_state=0).fit(X, y)
    assert said(SVCReducer(SVC(C=10), n_terms=12, random_state=0), X, y) == []


def test_features_that_tell_nothing():
    """A linear classifier on xor guesses, and says so; on noise it keeps quiet."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    (message,) = said(AROMClassifier(1), X, (X[:, 0] * X[:, 1] > 0).astype(int))
    assert message.startswith("AROMClassifier has learned little")
    assert said(AROMClassifier(1), X, rng.integers(0, 2, 160)) == []
    assert said(AROMClassifier(1), X, (X[:, 0] > 0).astype(int)) == []


def test_costs_that_stand_for_all_rows_are_finite_whatever_their_size():
    """A class whose drawn rows weigh next to nothing stands for rows that weigh much."""
    codes, cost = np.array([0, 0, 1, 1]), np.array([1e-300, 1e12, 1.0, 3.0])
    found = rescaled_cost(codes, cost, np.array([0, 2]), cost[[0, 2]])
    np.testing.assert_allclose(found, [1e12, 4.0])
