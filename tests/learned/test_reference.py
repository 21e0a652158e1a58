"""What a choice is compared with: the full SVM, and when larger models are tried because of it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from tests.data import moons, with_effort
from zeronorm import SparseSVC
from zeronorm.base.training_set import TrainingRows
from zeronorm.kernels import Kernel
from zeronorm.learned import choice
from zeronorm.learned.coordinates import Units
from zeronorm.learned.criteria import OfClasses, OfNumbers
from zeronorm.learned.folds import FoldSizes, make_folds
from zeronorm.learned.growth import grow_on, grow_while_it_helps
from zeronorm.learned.path import Path, PathEffort
from zeronorm.learned.reference import cross_validate_svm, far_behind
from zeronorm.learned.results import Results
from zeronorm.learned.settings import Setting

RBF = Kernel("rbf", 1.0)


def folds_of(X, y, cost, criterion=None, **sizes):
    kernel = Kernel("rbf", 1.0 / (X.shape[1] * X.var()))
    targets = np.where(y == 1, 1.0, -1.0)[:, None]
    rows = TrainingRows(np.arange(len(X)), X, y, targets, cost, kernel)
    units, random = Units.of(rows), np.random.RandomState(0)
    made = make_folds(
        rows,
        units,
        3,
        random,
        np.float64,
        criterion or OfClasses(),
        sizes=FoldSizes(**sizes),
    )
    return made, units, kernel


def clusters(n_rows, seed):
    """Two classes of many clusters each: few terms do not do."""
    return make_classification(
        n_rows, 12, n_informative=10, n_clusters_per_class=16, class_sep=2.0, random_state=seed
    )


def test_errors_are_those_of_an_svc_with_the_best_cost_and_width():
    X, y = moons(150)
    cost = np.random.RandomState(1).uniform(0.5, 2.0, size=150)
    folds, units, scale = folds_of(X, y, cost)
    expected = []
    for factor in (0.3, 1.0, 3.0):
        for C in (1.0, 10.0):
            errors = []
            for train, test in zip(folds.train, folds.shared.test, strict=True):
                svc = SVC(C=C, gamma=factor * scale.gamma)
                svc.fit(X[train], y[train], sample_weight=cost[train])
                wrong = svc.predict(X[test]) != y[test]
                errors.append((cost[test] * wrong).sum() / cost[test].sum())
            expected.append(errors)
    kernels = [scale.with_gamma(factor * scale.gamma) for factor in (0.3, 1.0, 3.0)]
    found = cross_validate_svm(folds, units, [1.0, 10.0], kernels, None)
    assert len(folds) == 6  # drawn twice
    np.testing.assert_allclose(found, min(expected, key=np.mean))
    again = cross_validate_svm(folds, units, [1.0, 10.0], kernels, 2)
    np.testing.assert_allclose(again, found)


@pytest.mark.parametrize("why", ["numbers", "kernel", "many rows", "a draw"])
def test_there_is_not_always_an_svm_to_compare_with(why):
    X, y = moons(150)
    criteria = {"numbers": OfNumbers(1.0), "many rows": OfClasses(counted_rows=100)}
    sizes = {"shared_rows": 100} if why == "a draw" else {}
    folds, units, scale = folds_of(X, y, np.ones(150), criteria.get(why), **sizes)
    kernel = Kernel("poly", 1.0) if why == "kernel" else scale
    assert cross_validate_svm(folds, units, [1.0], [kernel], None) is None


def test_an_svm_that_takes_too_long_is_taken_as_far_as_it_came():
    X, y = moons(150)
    folds, units, scale = folds_of(X, y, np.ones(150), OfClasses(svc_steps=1))
    errors = cross_validate_svm(folds, units, [1.0], [scale], None)
    assert errors.shape == (6,) and (errors <= 1.0).all()


def results(errors, losses):
    found = Results()
    for size, (error, loss) in enumerate(zip(errors, losses, strict=True), start=1):
        found.add(Setting(1.0, RBF), size, np.array(error), np.array(loss), [None], object())
    return found


@pytest.mark.parametrize(
    ("svm", "is_behind"),
    [
        ([0.10, 0.12, 0.11], True),
        ([0.20, 0.22, 0.21], False),
        # Better on average, but by one fold alone.
        ([0.20, 0.22, 0.00], False),
        # Better on every fold, by less than a point.
        ([0.191, 0.212, 0.201], False),
        # Better than the model with two terms, not than the one with the lowest loss.
        ([0.22, 0.24, 0.23], False),
    ],
)
def test_the_model_with_the_lowest_loss_is_compared(svm, is_behind):
    X, y = moons(60)
    folds, units, _ = folds_of(X, y, np.ones(60))
    path = Path(folds, units, None)
    assert not path.is_behind(np.array(svm))  # nothing was found
    path.results = results([[0.20, 0.22, 0.21], [0.3, 0.3, 0.3]], [[1, 1, 1], [2, 2, 2]])
    assert path.is_behind(np.array(svm)) == is_behind


@pytest.mark.parametrize("seed", range(3))
def test_models_behind_an_svm_may_have_twice_as_many_terms_and_again(seed, monkeypatch):
    X, y = clusters(1200, seed)
    train, test = slice(200), slice(200, None)
    given = {"C": (1.0, 10.0), "metric": False, "linear": False, "n_init": 1, "random_state": 0}
    found = []
    is_behind = Path.is_behind
    monkeypatch.setattr(Path, "is_behind", lambda *a: found.append(is_behind(*a)) or found[-1])
    behind = SparseSVC(**given).fit(X[train], y[train])
    # Where 200 rows are not few, there is no comparison.
    tenth = with_effort(SparseSVC(**given), folds=FoldSizes(few_rows=199))
    tenth.fit(X[train], y[train])
    n_vectors = len(SVC(C=10.0).fit(X[train], y[train]).support_)
    largest = behind.path_["terms"].max()
    assert len(found) == 2 and found[0]  # looked at once for each doubling
    assert tenth.path_["terms"].max() <= n_vectors / 7
    assert n_vectors / 7 < largest <= n_vectors / (1.75 if found[1] else 3.5)
    assert largest > n_vectors / 3.5 or not found[1]
    assert behind.n_terms_ > tenth.n_terms_
    assert behind.score(X[test], y[test]) > tenth.score(X[test], y[test])


@pytest.fixture
def asked(monkeypatch):
    """Costs, kernels and errors of each comparison; models always want more terms."""
    found = []

    def spy(folds, units, Cs, kernels, n_jobs):
        found.append((Cs, kernels, cross_validate_svm(folds, units, Cs, kernels, n_jobs)))
        return found[-1][-1]

    def wants_more(*arguments):
        return grow_while_it_helps(*arguments) or True

    monkeypatch.setattr(choice, "cross_validate_svm", spy)
    monkeypatch.setattr(choice, "grow_while_it_helps", wants_more)
    return found


def quick(**given):
    given = {"C": 1.0, "metric": False, "max_iter": 5, "n_init": 1, "random_state": 0} | given
    return SparseSVC(**given)


def test_costs_and_widths_of_the_svm_are_those_that_are_given(asked):
    X, y = clusters(120, 0)
    scale = 1.0 / (12 * X.var())
    quick(C="cv", linear=False).fit(X, y)
    quick(C=0.001, gamma=0.7).fit(X, y)
    quick(C=[0.1, 3.0, 30.0], gamma=[0.1, 0.2]).fit(X, y)
    (_, learned, _), *given = asked
    assert [Cs for Cs, *_ in asked] == [[1.0, 10.0], [0.001], [1.0, 10.0]]
    assert [one.gamma / scale for one in learned] == pytest.approx([0.3, 1.0, 3.0])
    assert [[one.gamma for one in kernels] for _, kernels, _ in given] == [[0.7], [0.1, 0.2]]
    assert all(errors is not None for *_, errors in asked)


def test_no_svm_is_asked_where_a_score_decides(asked):
    X, y = clusters(120, 0)
    quick(scoring="f1").fit(X, y)
    assert not asked


def test_there_is_no_svm_of_other_kernels(asked):
    X, y = clusters(120, 0)
    quick(kernel="poly").fit(X, y)
    assert [errors for *_, errors in asked] == [None]


def test_of_four_classes_a_tenth_is_kept_to(asked):
    X, y = make_classification(
        200, 12, n_informative=10, n_classes=4, n_clusters_per_class=4, random_state=0
    )
    quick(linear=False).fit(X, y)
    assert not asked


class Grown(Path):
    """A path that notes the largest size of each stage."""

    def __init__(self, most):
        self.stages, self.most, self.reached = PathEffort().stages, most, []

    def advance(self, sizes):
        self.reached.append(min(sizes[-1], self.most))

    def keep(self, count):
        pass


@pytest.mark.parametrize(
    ("first", "then", "reached"),
    [
        (11, 22, [16, 22]),  # in the stage of 12 and 16, and as far as they may in the next
        (8, 10, [8, 10]),
        (3, 7, [4, 7]),
        (4, 4, []),
    ],
)
def test_models_that_grow_on_reach_the_size_that_is_allowed(first, then, reached):
    path, said = Grown(first), []
    grow_on(path, then, lambda share, text: said.append(text))
    assert path.reached == reached
    assert said == [f"{size} terms" for size in reached]


def test_a_choice_far_behind_the_full_svm_says_so():
    ours = results([[0.30, 0.35, 0.32]], [[1, 1, 1]])
    reference = results([[0.28, 0.36, 0.31]], [[1, 1, 1]])
    assert far_behind(ours, 0, reference) is None
    message = far_behind(ours, 0, reference, svm=np.array([0.10, 0.15, 0.12]))
    assert "32.3 %, that of an SVC 12.3 %" in message
    # The better of both counts,
    reference = results([[0.1, 0.15, 0.12]], [[1, 1, 1]])
    message = far_behind(ours, 0, reference, svm=np.full(3, 0.3))
    assert "in the span of 100 training rows 12.3 %" in message
    # if it is clear that it is better.
    message = far_behind(ours, 0, reference, svm=np.array([0.0, 0.35, 0.0]))
    assert "in the span of 100 training rows 12.3 %" in message
