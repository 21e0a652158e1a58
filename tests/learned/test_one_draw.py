"""The choice where rows are very many: one draw is learned from, others are tested on."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.model_selection import KFold

from tests.data import moons, with_effort
from zeronorm import SparseSVC, SparseSVR
from zeronorm.base.checked import CheckedExpansion
from zeronorm.base.guard import guessing_message
from zeronorm.base.training_set import TrainingRows
from zeronorm.kernels import Kernel
from zeronorm.learned import choice, holdout
from zeronorm.learned.coordinates import Units
from zeronorm.learned.criteria import ERROR_WEIGHT, SLOPES
from zeronorm.learned.holdout import HoldoutEffort
from zeronorm.learned.joint import Form, JointModels
from zeronorm.learned.one_draw import DrawSizes, OneDraw, draw_once
from zeronorm.learned.stochastic import Cycle

QUICK = {"C": (1.0, 10.0), "metric": False, "n_init": 1, "max_iter": 40, "random_state": 0}


#: 300 rows are very many.
SIZES = DrawSizes(very_many_rows=300, drawn_rows=120, test_rows=150)
FEW_ARE_MANY = {"draw": SIZES, "holdout": HoldoutEffort(very_many_rows=300)}


def training_rows(X, y):
    kernel = Kernel("rbf", 1.0 / (X.shape[1] * X.var()))
    targets = np.where(y == 1, 1.0, -1.0)[:, None]
    return TrainingRows(np.arange(len(X)), X, y, targets, np.ones(len(X)), kernel)


def test_no_row_is_learned_from_and_tested_on():
    X, y = moons(400)
    rows = training_rows(X, y)
    made = draw_once(rows, Units.of(rows), 4, np.random.RandomState(0), np.float64, sizes=SIZES)
    learned, tested = made.shared.rows.X, made.others.rows.X
    assert (len(learned), len(tested)) == (120, 150)
    assert len(np.unique(np.vstack([learned, tested]), axis=0)) == 270
    assert made.train.all() and not made.shared.test.any()
    # Each test row is in one of the sets, which are as large as each other.
    assert (made.others.test.sum(axis=0) == 1).all()
    assert np.ptp(made.others.test.sum(axis=1)) <= 1
    # The draw weighs as much as the geometric mean of its own rows and all.
    assert made.cost.sum() == pytest.approx(np.sqrt(120 * 400))


def test_errors_and_losses_of_the_sets():
    X, y = moons(400)
    rows = training_rows(X, y)
    made = draw_once(rows, Units.of(rows), 3, np.random.RandomState(0), np.float64, sizes=SIZES)
    form = Form(rows.kernel.with_gamma(1.0), linear=1.0)
    models = JointModels(made.shared.rows, form, made.costs([1.0, 2.0]), np.ones(2))
    models.parameters.linear[...] = np.random.RandomState(1).normal(size=(2, 2, 1))
    error, loss, values = made.evaluate(models)
    truth, weight = made.held_out()
    assert error.shape == loss.shape == (2, 3) and (weight == 1).all()
    for i in range(2):
        scores = made.others.rows.X @ models.parameters.linear[i, :, 0]
        np.testing.assert_allclose(values[i][:, 0], scores, rtol=1e-9)
        margin = np.where(truth == 1, scores, -scores)
        bits = [np.log2(1 + np.exp(-slope * margin)) for slope in SLOPES]
        sets = [np.flatnonzero(one) for one in made.others.test]
        means = np.array([[of_slope[one].mean() for one in sets] for of_slope in bits])
        wrong = np.array([np.mean(margin[one] <= 0) for one in sets])
        np.testing.assert_allclose(error[i], wrong, rtol=1e-9)
        lowest = means[means.mean(axis=1).argmin()]
        np.testing.assert_allclose(loss[i], lowest + ERROR_WEIGHT * wrong, rtol=1e-9)


@pytest.mark.parametrize("given", [{}, {"scoring": "balanced_accuracy"}, {"n_terms": 3}], ids=str)
def test_a_choice_by_one_draw(given, monkeypatch):
    made = []
    monkeypatch.setattr(choice, "draw_once", lambda *all: made.append(draw_once(*all)) or made[-1])
    X, y = moons(1_000)
    models = [with_effort(SparseSVC(cv=3, **QUICK | given), **FEW_ARE_MANY) for _ in range(2)]
    model, again = (one.fit(X[:500], y[:500]) for one in models)
    assert len(made) == 2 and all(isinstance(one, OneDraw) for one in made)
    np.testing.assert_array_equal(model.support_vectors_, again.support_vectors_)
    assert model.score(X[500:], y[500:]) > 0.85
    chance = model.predict_proba(X[500:])[:, 1]
    assert np.mean((chance - y[500:]) ** 2) < 0.12


def test_given_splits_are_kept_to(monkeypatch):
    monkeypatch.delattr(choice, "draw_once")
    X, y = moons(300)
    with pytest.raises(NameError, match="draw_once"):
        with_effort(SparseSVC(2, cv=2, **QUICK), **FEW_ARE_MANY).fit(X, y)
    with_effort(SparseSVC(2, cv=KFold(2), **QUICK), **FEW_ARE_MANY).fit(X, y)


def test_a_regression_by_one_draw():
    X, y = make_regression(400, 4, noise=5.0, random_state=0)
    model = SparseSVR(C=(1.0, 10.0), metric=False, max_iter=20, random_state=0)
    with_effort(model, **FEW_ARE_MANY).fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("is_many", [False, True])
def test_few_terms_on_very_many_rows_descend_for_a_shorter_time(is_many, monkeypatch):
    taken = []

    def spy(steps, batch=1_000):
        taken.append((steps, batch))
        return Cycle(steps, batch)

    very_many = 300 if is_many else 10_000
    effort = HoldoutEffort(many_rows=300, very_many_rows=very_many, last_steps=8)
    monkeypatch.setattr(holdout, "Cycle", spy)
    X, y = moons(400)
    model = SparseSVC(8, C=1.0, gamma=1.0, max_iter=2, random_state=0)
    with_effort(model, holdout=effort).fit(X, y)
    last = [steps for steps, batch in taken if batch == (2_000 if is_many else 4_000)]
    assert last[0] == (4 if is_many else 8) and sum(last) <= (6 if is_many else 12)


def test_many_rows_are_put_into_units_block_by_block():
    X = np.random.RandomState(0).normal(3.0, 2.0, size=(500, 3))
    for data in (X, np.asfortranarray(X), X.astype(np.float32)):
        rows = training_rows(data, (X[:, 0] > 3).astype(int))
        units = Units.of(rows)
        whole = units.rows(rows, slice(None), np.float32)
        blocks = replace(units, block=100).rows(rows, slice(None), np.float32)
        np.testing.assert_array_equal(blocks.X, whole.X)
        assert blocks.X.dtype == np.float32 and blocks.X.strides == whole.X.strides


def test_the_guard_judges_a_model_of_many_rows_by_its_training_rows():
    """It is not learned again; and what guesses is still found out."""

    def again(training):
        raise AssertionError("learned again")

    def doubt(model, X, y):
        """What the guard says, to whom 300 rows are many."""
        training = with_effort(model, **FEW_ARE_MANY)._training_rows(X, y, None)
        learned = model._learn(training)
        fitted = CheckedExpansion(training, learned, again, many_rows=300)
        return learned.doubt or guessing_message("SparseSVC", fitted, training.classes)

    X, y = moons(500)
    flipped = np.random.RandomState(0).rand(500) < 0.4  # more than half as wrong as guessing
    assert doubt(SparseSVC(**QUICK), X, np.where(flipped, 1 - y, y)) is None
    guessing = SparseSVC(1, C=(1e-6, 1e-5), gamma=1e7, linear=False, random_state=0)
    assert "has learned little" in doubt(guessing, X, y)
