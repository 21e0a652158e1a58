"""Descent by Adam, on all rows and by batches, against L-BFGS and finite differences."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from zeronorm import SparseSVC
from zeronorm.base.training_set import TrainingRows
from zeronorm.exceptions import LongFitWarning
from zeronorm.kernels import Kernel
from zeronorm.learned import many_rows as many_rows_module
from zeronorm.learned.descent import add_vectors, descend, grow
from zeronorm.learned.joint import Form, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.many_rows import Race, further_sizes
from zeronorm.learned.settings import Setting
from zeronorm.learned.stochastic import (
    BatchProblem,
    Cycle,
    descend_by_batches,
    descend_in_cycles,
)
from zeronorm.learned.units import Units


def rows_of(X, y, dtype=np.float64):
    n_classes = y.max() + 1
    codes = np.arange(n_classes) if n_classes > 2 else np.array([1])
    targets = np.where(y == codes[:, None], 1.0, -1.0).astype(dtype)
    return Rows(((X - X.mean(axis=0)) / X.std()).astype(dtype), targets, np.ones_like(targets))


def problem_of(X, y, *, C=1.0, widths=1, linear=1.0, dtype=np.float64):
    rows = rows_of(X, y, dtype)
    form = Form(Kernel("rbf", 1.0), widths, linear=linear)
    cost = np.ones(len(rows), dtype)
    return BatchProblem(rows, cost, form, np.array([C], dtype), np.ones(1, dtype))


def start_of(problem, n_terms, seed=0):
    everything = np.arange(len(problem.source))
    nothing = Parameters.nothing(1, problem.source, problem.form)
    models = problem.on_rows(everything, nothing)
    drawn = np.random.RandomState(seed).permutation(everything)[: 4 * n_terms]
    grow(models, problem.source.X[drawn][None], n_terms)
    return models.parameters


def objective(problem, parameters):
    return float(problem.on_rows(np.arange(len(problem.source)), parameters).objective()[0])


@pytest.mark.parametrize("batch", [200, 10_000])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_reaches_the_objective_of_all_rows(n_classes, batch):
    X, y = make_blobs(400, 4, centers=n_classes, cluster_std=4.0, random_state=0)
    problem = problem_of(X, y, widths=4)
    start = start_of(problem, 6)
    models = problem.on_rows(np.arange(len(X)), start.copy())
    descend(models, max_steps=500, tolerance=1e-9)
    cycle = Cycle(1_500, batch)
    found = descend_by_batches(problem, start, cycle, np.random.RandomState(0))
    assert objective(problem, found) <= 1.01 * models.values[0]
    assert objective(problem, found) < objective(problem, start)


def test_two_hundred_classes():
    X, y = make_blobs(1_000, 5, centers=200, cluster_std=0.1, random_state=0)
    problem = problem_of(X, y, C=10.0, dtype=np.float32)
    start = start_of(problem, 20)
    found = descend_by_batches(problem, start, Cycle(60, 250), np.random.RandomState(0))
    assert objective(problem, found) < 0.9 * objective(problem, start)


def test_is_repeatable_and_leaves_the_start_alone():
    X, y = make_moons(200, noise=0.2, random_state=0)
    problem = problem_of(X, y)
    start = start_of(problem, 4)
    before = start.copy()
    found = [
        descend_by_batches(problem, start, Cycle(50, 60), np.random.RandomState(seed))
        for seed in (0, 0, 1)
    ]
    assert np.array_equal(found[0].vectors, found[1].vectors)
    assert not np.array_equal(found[0].vectors, found[2].vectors)
    for array, same in zip(start.arrays(), before.arrays(), strict=True):
        assert np.array_equal(array, same)


def test_a_class_that_is_absent_from_batches():
    random = np.random.RandomState(0)
    X = np.vstack([random.normal(size=(300, 2)), random.normal(4.0, 0.1, size=(2, 2))])
    problem = problem_of(X, np.repeat([0, 1], [300, 2]), C=10.0)
    start = start_of(problem, 3)
    found = descend_by_batches(problem, start, Cycle(300, 20), random)
    assert objective(problem, found) < objective(problem, start)


@pytest.mark.parametrize("peak", [1e3, 1e6])
def test_never_ends_above_its_start(peak):
    X, y = make_moons(200, noise=0.2, random_state=0)
    problem = problem_of(X, y)
    models = problem.on_rows(np.arange(len(X)), start_of(problem, 4))
    descend(models, max_steps=300, tolerance=1e-9)
    before = objective(problem, models.parameters)
    descend_in_cycles(models, Cycle(20, peak=peak))
    assert models.values[0] <= before
    assert np.isclose(objective(problem, models.parameters), models.values[0])


def test_a_hostile_step_ends_in_a_clear_error():
    X, y = make_moons(100, noise=0.2, random_state=0)
    problem = problem_of(X, y)
    with pytest.raises(ValueError, match="has diverged"):
        descend_by_batches(
            problem, start_of(problem, 3), Cycle(5, peak=1e300), np.random.RandomState(0)
        )


def test_batches_stand_for_all_rows():
    # The mean over batches that share out all rows is the gradient on all of them.
    X, y = make_moons(120, noise=0.2, random_state=0)
    problem = problem_of(X, y, widths=2)
    start, one = start_of(problem, 3), np.arange(1)
    whole = problem.on_rows(np.arange(120), start).function(start, one)
    parts = [problem.on_rows(np.arange(i, 120, 3), start).function(start, one) for i in range(3)]
    assert np.isclose(np.mean([value for value, _ in parts]), whole[0][0])
    for i, array in enumerate(whole[1].arrays()):
        assert np.allclose(np.mean([part.arrays()[i] for _, part in parts], axis=0), array)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_the_same_steps_in_other_libraries(library):
    xp = pytest.importorskip(library)
    pytest.importorskip("array_api_compat")
    X, y = make_moons(90, noise=0.2, random_state=0)
    problem = problem_of(X, y, widths=2)
    start = start_of(problem, 3)
    rows = problem.source
    moved = Rows(*(xp.asarray(array) for array in (rows.X, rows.targets, rows.factors)))
    there = replace(problem, source=moved, cost=xp.asarray(problem.cost))
    start_there = Parameters(*(xp.asarray(array) for array in start.arrays()))
    cycle = Cycle(25, 30)
    ours = descend_by_batches(problem, start, cycle, np.random.RandomState(0))
    theirs = descend_by_batches(there, start_there, cycle, np.random.RandomState(0))
    for one, other in zip(ours.arrays(), theirs.arrays(), strict=True):
        assert np.allclose(one, np.asarray(other), atol=1e-6)


def test_new_vectors_do_not_change_the_function():
    X, y = make_moons(80, noise=0.2, random_state=0)
    problem = problem_of(X, y)
    models = problem.on_rows(np.arange(80), start_of(problem, 3))
    before = models.scores(models.rows)
    add_vectors(models, problem.source.X[None, :5] + 0.1)
    assert models.size == 8
    assert np.allclose(models.scores(models.rows), before, atol=1e-6)


@pytest.fixture(scope="module")
def many_rows():
    X, y = make_blobs(4_900, 60, centers=60, cluster_std=6.0, random_state=0)
    return X, y % 3


FEW_SETTINGS = {"C": [1.0, 10.0], "metric": False, "linear": False}


@pytest.mark.parametrize("given", [FEW_SETTINGS, {"C": 1.0, "gamma": "scale"}])
def test_many_terms_on_many_rows(many_rows, given):
    X, y = many_rows
    parameters = {"max_iter": 5, "random_state": 0} | given
    model, again = (SparseSVC(64, **parameters).fit(X[:-500], y[:-500]) for _ in range(2))
    assert model.n_terms_ <= 64
    assert np.array_equal(model.support_vectors_, again.support_vectors_)
    # Few terms, judged by a draw of the rows, and a linear model.
    few = SparseSVC(8, **parameters).fit(X[:-500], y[:-500])
    assert model.score(X[-500:], y[-500:]) > few.score(X[-500:], y[-500:])
    assert (model.calibration_ is None) == (given is not FEW_SETTINGS)
    assert (len(model.path_) == 0) == (given is not FEW_SETTINGS)


def test_as_many_terms_as_the_rows_warrant(many_rows):
    X, y = many_rows
    given = {"C": 10.0, "gamma": "scale", "linear": False, "max_iter": 5}
    model = SparseSVC(random_state=0, **given).fit(X[:-500], y[:-500])
    assert model.path_["terms"].max() > 8  # more than are judged by a draw of the rows
    assert model.score(X[-500:], y[-500:]) > 0.8


def test_sizes_double_and_five_hundred_is_among_them():
    assert further_sizes(32, 1_100) == [64, 128, 256, 500, 1_000]
    assert further_sizes(32, 63) == []


@pytest.fixture
def short(monkeypatch):
    """Rounds of few steps."""
    monkeypatch.setattr(many_rows_module, "ROUNDS", ((20, 2), (20, 2)))
    monkeypatch.setattr(many_rows_module, "SIZE_STEPS", 40)


def race_of(X, y, clock, max_steps=100):
    """A race between two costs, by a clock."""
    codes = y % 2
    kernel = Kernel("rbf", 1.0 / (X.shape[1] * X.var()))
    targets = np.where(codes == 1, 1.0, -1.0)[:, None]
    rows = TrainingRows(np.arange(len(X)), X, codes, targets, np.ones(len(X)), kernel)
    settings = [Setting(C, kernel, 1, False) for C in (1.0, 10.0)]
    random = np.random.RandomState(0)
    units = Units.of(rows)
    return Race(rows, units, settings, random, np.float32, max_steps=max_steps, clock=clock)


@pytest.mark.parametrize(("tick", "is_long"), [(1.0, True), (0.01, False)])
def test_a_long_race_is_announced(short, tick, is_long, recwarn):
    X, y = make_blobs(600, 5, centers=8, random_state=0)
    race = race_of(X, y, clock=count(0.0, tick).__next__)
    race.of_size(40, lambda *_: None)
    said = [str(one.message) for one in recwarn if one.category is LongFitWarning]
    assert len(said) == is_long
    if is_long:
        # A step of 40 terms on all 540 rows, no more than there are, takes a tick. Left are two
        # models of 40 terms, 40 steps each, of one 100, and ten times all rows for coefficients.
        step = 40 * (540 * 6 + 40**2)
        work = (2 * 40 + 100) * step + 10 * 540 * 40 * (5 + 40)
        minutes = round(tick * work / step / 60)
        assert f"40 terms on 600 rows will take about {minutes} minutes" in said[0]


def test_only_what_is_certain_to_come_is_announced(short, recwarn):
    """480 steps of a twentieth of a second are no minute, whatever further sizes would take.

    The last descent is announced when its third cycle, of 1 600 steps, has begun; and once.
    """
    X, y = make_blobs(600, 5, centers=8, cluster_std=3.0, random_state=0)
    race = race_of(X, y, clock=count(0.0, 0.05).__next__, max_steps=6_000)
    race.of_any_size(64, lambda *_: None)
    assert max(race.judged.sizes) > 16 and not recwarn.list
    for taken in (400, 800):
        race.announce(32, 0, taken)
    assert not recwarn.list
    for taken in (1_600, 3_200):
        race.announce(32, 0, taken)
    (only,) = recwarn.list
    assert only.category is LongFitWarning and "about 2 minutes here, or more" in str(only.message)


@pytest.mark.filterwarnings("ignore::zeronorm.exceptions.LongFitWarning")
def test_a_fit_without_loss_does_not_grow(short):
    """Where nothing is left to gain, further sizes are not tried."""
    X, y = make_blobs(800, 5, centers=[[-5] * 5, [5] * 5], random_state=0)
    race = race_of(X, y, clock=count().__next__)
    kept = race.of_any_size(2_000, lambda *_: None)
    assert race.judged.sizes[kept] == 16
    assert max(race.judged.sizes) == 32


@pytest.mark.parametrize(("shift", "steps"), [(10.0, [400]), (0.0, [400, 800, 1_600, 3_200])])
def test_the_last_descent_ends_when_it_no_longer_helps(short, monkeypatch, shift, steps):
    X, y = make_blobs(600, 5, centers=8, cluster_std=3.0, random_state=0)
    race = race_of(X, y, clock=count().__next__, max_steps=6_000)
    race.of_size(8, lambda *_: None)
    seen = []

    def moved(problem, parameters, cycle, random, report):
        seen.append(cycle.steps)
        other = parameters.copy()
        other.intercept += shift
        return other

    def judged(problem, parameters):
        loss = np.full((1, 5), 1.0 + parameters.intercept.sum() if shift else 1e-9 / len(seen))
        return loss, loss, np.zeros((1, 1, 60))

    monkeypatch.setattr(many_rows_module, "descend_by_batches", moved)
    monkeypatch.setattr(race, "_judged", judged)
    done = race.finish(race.judged.best[8][0], None, lambda *_: None)
    assert seen == steps
    assert done.steps == sum(steps)
    assert np.array_equal(done.parameters.vectors, race.judged.best[8][2].vectors)
