"""Descent by Adam, on all rows and by batches, against L-BFGS and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from zeronorm import SparseSVC, recording
from zeronorm.kernels import Kernel
from zeronorm.learned.descent import add_vectors, descend, grow
from zeronorm.learned.joint import Form, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.stochastic import (
    BatchProblem,
    Cycle,
    InTurn,
    descend_by_batches,
    descend_in_cycles,
)
from zeronorm.recording import recorded


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


def test_lines_come_in_turn():
    lines = InTurn(np.arange(6.0).reshape(3, 2), np.zeros(1, np.float32))
    found = [lines.next() for _ in range(3)]
    assert np.array_equal(found, [[0, 1], [2, 3], [4, 5]]) and found[0].dtype == np.float32


def test_in_numpy_a_step_is_not_recorded():
    def step():
        return None

    assert recorded(step, np.zeros(1)) is step


def test_a_recorded_descent_is_the_same(monkeypatch):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    X, y = make_blobs(4_900, 6, centers=12, cluster_std=3.0, random_state=0)
    given = {"C": 1.0, "gamma": "scale", "max_iter": 20, "random_state": 0, "device": "cuda"}
    found = SparseSVC(12, **given).fit(X, y % 3).decision_function(X)
    monkeypatch.setattr(recording, "UNRECORDED", 10**9)
    assert np.allclose(SparseSVC(12, **given).fit(X, y % 3).decision_function(X), found, atol=1e-6)
