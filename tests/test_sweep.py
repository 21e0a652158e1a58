"""A fast part of the sweep, of every classifier against SVC; and the sweep as an instrument.

``make sweep`` runs all of it.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC

from tests.fuzz.estimators import all_estimators
from tests.sweep import __main__ as command
from tests.sweep.comparison import CLASSIFIERS, LEFT_OUT, Trial, compare, with_room
from tests.sweep.problems import PROBLEMS, make_problem
from zeronorm.exceptions import FeatureScaleWarning

GAP = 0.15

#: Cheap problems of different kinds; `make sweep` has more of them, and more draws.
CASES = [
    (problem, seed)
    for problem, seeds in {
        "blobs-2": (0,), "blobs-2-raw": (1,), "equal": (0, 1, 2), "equal-raw": (0,),
        "tiny-2": (0,), "few-of-each": (5,), "rare-8": (1,), "rare-4": (1,), "moons": (0,),
        "circles": (1,), "one-feature": (0,), "contradictory": (0,), "near-duplicates": (1,),
        "iris-pair": (1,), "iris-pair-raw": (0,), "cancer": (0,), "scales-raw": (0,),
        "heavy-tails": (0,),
    }.items()
    for seed in seeds
]  # fmt: skip

#: SparseSVC, which learns a hundred models for each, does without those that have a sister above.
SISTERS = {("equal", 1), ("equal-raw", 0), ("rare-8", 1), ("blobs-2-raw", 1), ("iris-pair", 1)}

#: Less effort than by default, which `make sweep` has.
CHEAP = {"SparseKernelFisher": {"max_iter": 15}}

#: The least mean difference from SVC in balanced accuracy.
LEAST = {"SparseSVC": -0.01, "SparseProbitClassifier": -0.03}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_never_far_behind_in_silence(name):
    cases = [case for case in CASES if name != "SparseSVC" or case not in SISTERS]
    model = clone(CLASSIFIERS[name])
    model.set_params(**CHEAP.get(name, {}))
    trials = [trial for case in cases for trial in compare(*case, {name: model})]
    bad = command.faults(trials, GAP)
    if bad:
        pytest.fail("\n".join(command.describe(trial, GAP) for trial in bad))
    assert not [trial for trial in trials if trial.verdict(GAP) == "needless"]
    assert np.nanmean([trial.difference for trial in trials]) > LEAST.get(name, -0.02)


def test_every_classifier_is_compared_or_left_out_with_a_reason():
    found = {e.__name__ for e in all_estimators() if issubclass(e, ClassifierMixin)}
    assert found == {type(model).__name__ for model in CLASSIFIERS.values()} | LEFT_OUT.keys()


# --- the problems ------------------------------------------------------------------------------


def same(one, other):
    if sparse.issparse(one):
        one, other = one.toarray(), other.toarray()
    return np.array_equal(one, other)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_depends_on_its_name_and_seed_alone(name):
    problem, again, another = make_problem(name, 3), make_problem(name, 3), make_problem(name, 4)
    for part in ("X", "y", "X_fresh", "y_fresh"):
        assert same(getattr(problem, part), getattr(again, part))
    assert not same(problem.X, another.X)
    # Both parts hold all classes, and no training row is among the fresh ones by construction.
    assert set(np.unique(problem.y)) == set(np.unique(problem.y_fresh))
    assert problem.X.shape[0] == len(problem.y) and problem.X_fresh.shape[0] == len(problem.y_fresh)


def counts(name, seed=0):
    return np.unique(make_problem(name, seed).y, return_counts=True)[1]


@pytest.mark.parametrize("classes", [2, 3, 7, 13, 30, 50])
def test_blobs_have_so_many_classes(classes):
    assert len(counts(f"blobs-{classes}")) == classes


@pytest.mark.parametrize("seed", range(10))
def test_equal_classes_are_equal_to_the_row(seed):
    first, second = counts("equal", seed)
    assert first == second and 10 <= first + second <= 100


@pytest.mark.parametrize("per_cent", [8, 4, 2, 1])
def test_rare_classes_are_as_rare_as_they_say(per_cent):
    common, rare = counts(f"rare-{per_cent}")
    assert abs(100 * rare / (common + rare) - per_cent) < 0.5 and rare >= 8


@pytest.mark.parametrize("seed", range(5))
def test_small_problems_are_small(seed):
    assert 8 <= counts("tiny-2", seed).sum() <= 20
    few = counts("few-of-each", seed)
    assert few.sum() < 3 * len(few)


def test_other_problems_are_what_their_names_say():
    offset, scales = make_problem("offset", 0), make_problem("scales-raw", 0)
    assert np.abs(offset.X - 1e6).max() < 100
    assert np.ptp(np.log10(scales.X.std(axis=0))) > 1
    assert make_problem("one-feature", 0).X.shape[1] == 1
    assert make_problem("wide", 0).X.shape == (60, 400)
    assert sparse.issparse(make_problem("sparse", 0).X)
    assert make_problem("words", 0).y.dtype.kind == "U"
    assert len(np.unique(make_problem("contradictory", 0).X, axis=0)) <= 16
    assert np.abs(make_problem("heavy-tails", 0).X).max() > 5
    assert set(np.unique(make_problem("categories", 0).X)) == {0.0, 1.0}
    standard = make_problem("moons", 0).X
    np.testing.assert_allclose([standard.mean(), standard.std()], [0.0, 1.0], atol=1e-9)


def test_weights_are_what_makes_the_weighted_problem_possible():
    data = make_problem("weights", 0)
    fresh = data.X_fresh, data.y_fresh
    weighted = SVC(C=10.0).fit(data.X, data.y, data.sample_weight).score(*fresh)
    assert weighted > SVC(C=10.0).fit(data.X, data.y).score(*fresh) + 0.05


# --- the comparison ----------------------------------------------------------------------------


class Guessing(ClassifierMixin, BaseEstimator):
    """Predicts the commonest class, after it has said or raised what it is told to."""

    def __init__(self, says=None, raises=None, n_terms=8):
        self.says = says
        self.raises = raises
        self.n_terms = n_terms

    def fit(self, X, y, sample_weight=None):
        if self.says is not None:
            warnings.warn("no better than guessing", self.says, stacklevel=2)
        if self.raises is not None:
            raise self.raises("this does not work, and here is why")
        self.classes_, number = np.unique(y, return_counts=True)
        self.commonest_ = self.classes_[number.argmax()]
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.commonest_)


class Alarming(SVC):
    """The reference itself, with a guard that has no reason."""

    def fit(self, X, y, sample_weight=None):
        warnings.warn("no better than guessing", UserWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


def verdict(model, problem="moons"):
    (trial,) = compare(problem, 0, {"one": model})
    return trial.verdict(GAP)


def test_a_guessing_classifier_is_found():
    (trial,) = compare("moons", 0, {"one": Guessing()})
    assert trial.verdict(GAP) == "silent" and trial.found == trial.guessing == 0.5
    assert trial.difference == 0.5 - trial.reference < -0.3
    assert command.faults([trial], GAP) == [trial]
    assert "--only one --problems moons --seeds 0:1" in command.describe(trial, GAP)


@pytest.mark.parametrize("category", [UserWarning, ConvergenceWarning])
def test_a_warning_is_no_silence(category):
    assert verdict(Guessing(says=category)) == "warned"


@pytest.mark.parametrize("category", [RuntimeWarning, FeatureScaleWarning])
def test_a_warning_of_numpy_or_at_the_data_says_nothing(category):
    assert verdict(Guessing(says=category)) == "silent"


def test_refusals_and_accidents_are_told_apart():
    assert verdict(Guessing(raises=ValueError)) == "refused"
    assert verdict(Guessing(raises=IndexError)) == "accident"
    # LinAlgError is a ValueError, but nobody wrote it for the user.
    assert verdict(Guessing(raises=np.linalg.LinAlgError)) == "accident"


def test_the_reference_is_as_good_as_itself():
    assert verdict(SVC(C=10.0)) == "fine"
    assert verdict(Alarming(C=10.0)) == "needless"


def test_balanced_accuracy_is_scikit_learns():
    (trial,) = compare("rare-4", 0, {"one": SVC(C=1.0)})
    data = make_problem("rare-4", 0)
    expected = balanced_accuracy_score(
        data.y_fresh, SVC().fit(data.X, data.y).predict(data.X_fresh)
    )
    assert trial.found == pytest.approx(expected)


def test_a_number_of_terms_has_room_for_the_classes():
    assert with_room(Guessing(), make_problem("moons", 0)).n_terms == 8
    assert with_room(Guessing(), make_problem("blobs-13", 0)).n_terms == 26
    tiny = make_problem("tiny-2", 0)
    assert with_room(Guessing(), tiny).n_terms == min(8, len(tiny.y) // 2)
    assert with_room(CLASSIFIERS["SparseSVC"], tiny).n_terms == "auto"


# --- the command -------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "status"), [(Guessing(), 1), (SVC(C=10.0), 0)])
def test_the_command_lists_faults_and_ends_with_their_status(monkeypatch, capsys, model, status):
    monkeypatch.setattr(command, "CLASSIFIERS", {"one": model})
    options = ["--problems", "moons,equal", "--seeds", "0:2", "--jobs", "1"]
    assert command.main(options) == status
    out = capsys.readouterr().out
    assert out.count("silently behind") == (4 if status else 0)
    one, yardstick = out.splitlines()[-2:]
    assert one.split()[:3] == ["one", "4", "4" if status else "0"]
    assert yardstick.startswith("SVC without a tenth")


def test_an_unknown_problem_is_named(capsys):
    with pytest.raises(SystemExit):
        command.main(["--problems", "moon"])
    assert "unknown: moon" in capsys.readouterr().err


def test_the_table_counts_verdicts():
    trials = [
        Trial("a", "moons", 0, 0.5, 0.9, 0.9),
        Trial("a", "moons", 1, 0.5, 0.9, 0.6),
        Trial("a", "moons", 2, 0.5, 0.9, 0.6, said=("careful",)),
        Trial("a", "moons", 3, 0.5, 0.9, np.nan, refusal="no"),
    ]
    cells = command.table(trials, GAP).splitlines()[-1].split()
    assert cells == ["a", "4", "1", "1", "1", "0", "0", "-0.200", "-0.30"]
