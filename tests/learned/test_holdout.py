"""The choice by rows held out: sizes, announcements, and when the last descent ends."""

from itertools import count

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from zeronorm import SparseSVC
from zeronorm.base.training_set import TrainingRows
from zeronorm.exceptions import LongFitWarning
from zeronorm.kernels import Kernel
from zeronorm.learned import holdout
from zeronorm.learned.coordinates import Units
from zeronorm.learned.holdout import HoldoutEffort, HoldoutSearch, further_sizes
from zeronorm.learned.settings import Setting


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


#: Rounds of few steps.
SHORT = HoldoutEffort(rounds=((20, 2), (20, 2)), size_steps=40)


def search_of(X, y, clock, max_steps=100):
    """A search between two costs, by a clock."""
    codes = y % 2
    kernel = Kernel("rbf", 1.0 / (X.shape[1] * X.var()))
    targets = np.where(codes == 1, 1.0, -1.0)[:, None]
    rows = TrainingRows(np.arange(len(X)), X, codes, targets, np.ones(len(X)), kernel)
    settings = [Setting(C, kernel, 1, False) for C in (1.0, 10.0)]
    random = np.random.RandomState(0)
    units = Units.of(rows)
    options = {"max_steps": max_steps, "effort": SHORT, "clock": clock}
    return HoldoutSearch(rows, units, settings, random, np.float32, **options)


@pytest.mark.parametrize(("tick", "is_long"), [(1.0, True), (0.01, False)])
def test_a_long_search_is_announced(tick, is_long, recwarn):
    X, y = make_blobs(600, 5, centers=8, random_state=0)
    search = search_of(X, y, clock=count(0.0, tick).__next__)
    search.of_size(40, lambda *_: None)
    said = [str(one.message) for one in recwarn if one.category is LongFitWarning]
    assert len(said) == is_long
    if is_long:
        # A step of 40 terms on all 540 rows, no more than there are, takes a tick. Left are two
        # models of 40 terms, 40 steps each, of one 100, and ten times all rows for coefficients.
        step = 40 * (540 * 6 + 40**2)
        work = (2 * 40 + 100) * step + 10 * 540 * 40 * (5 + 40)
        minutes = round(tick * work / step / 60)
        assert f"40 terms on 600 rows will take about {minutes} minutes" in said[0]


def test_only_what_is_certain_to_come_is_announced(recwarn):
    """480 steps of a twentieth of a second are no minute, whatever further sizes would take.

    The last descent is announced when its third cycle, of 1 600 steps, has begun; and once.
    """
    X, y = make_blobs(600, 5, centers=8, cluster_std=3.0, random_state=0)
    search = search_of(X, y, clock=count(0.0, 0.05).__next__, max_steps=6_000)
    search.of_any_size(64, lambda *_: None)
    assert max(search.results.sizes) > 16 and not recwarn.list
    for taken in (400, 800):
        search.announce(32, 0, taken)
    assert not recwarn.list
    for taken in (1_600, 3_200):
        search.announce(32, 0, taken)
    (only,) = recwarn.list
    assert only.category is LongFitWarning and "about 2 minutes here, or more" in str(only.message)


@pytest.mark.filterwarnings("ignore::zeronorm.exceptions.LongFitWarning")
def test_a_fit_without_loss_does_not_grow():
    """Where nothing is left to gain, further sizes are not tried."""
    X, y = make_blobs(800, 5, centers=[[-5] * 5, [5] * 5], random_state=0)
    search = search_of(X, y, clock=count().__next__)
    kept = search.of_any_size(2_000, lambda *_: None)
    assert search.results.sizes[kept] == 16
    assert max(search.results.sizes) == 32


@pytest.mark.parametrize(("shift", "steps"), [(10.0, [400]), (0.0, [400, 800, 1_600, 3_200])])
def test_the_last_descent_ends_when_it_no_longer_helps(monkeypatch, shift, steps):
    X, y = make_blobs(600, 5, centers=8, cluster_std=3.0, random_state=0)
    search = search_of(X, y, clock=count().__next__, max_steps=6_000)
    search.of_size(8, lambda *_: None)
    seen = []

    def moved(problem, parameters, cycle, random, report):
        seen.append(cycle.steps)
        other = parameters.copy()
        other.intercept += shift
        return other

    def evaluate(problem, parameters):
        loss = np.full((1, 5), 1.0 + parameters.intercept.sum() if shift else 1e-9 / len(seen))
        return loss, loss, np.zeros((1, 1, 60))

    monkeypatch.setattr(holdout, "descend_by_batches", moved)
    monkeypatch.setattr(search, "_evaluate", evaluate)
    done = search.finish(search.results.best[8][0], None, lambda *_: None)
    assert seen == steps
    assert done.steps == sum(steps)
    assert np.array_equal(done.parameters.vectors, search.results.best[8][2].vectors)
