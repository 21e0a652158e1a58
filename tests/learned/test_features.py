"""Features that are switched off: of many models at once, and only where rows held out agree."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from zeronorm import SparseSVC
from zeronorm.kernels import Kernel
from zeronorm.learned.choice import Choice
from zeronorm.learned.descent import descend, grow
from zeronorm.learned.features import keep_features, zero_widths
from zeronorm.learned.joint import Form, JointModels, Used
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.path import Path
from zeronorm.learned.settings import Setting


@pytest.fixture(scope="module")
def models():
    """Three models of a product of two features among eight, of different rows and costs."""
    random = np.random.RandomState(0)
    X = random.randn(240, 8)
    targets = np.where(X[:, 1] * X[:, 4] + 0.3 * random.randn(240) > 0, 1.0, -1.0)[None]
    rows = Rows(X, targets, np.ones_like(targets))
    cost = np.array([1.0, 1.0, 0.03])[:, None] * np.ones((3, 240))
    cost[1, ::2] = 0.0
    found = JointModels(rows, Form(Kernel("rbf", 1.0), 8), cost, np.full(3, 1.0 / 8))
    for wanted in (1, 1, 2):
        grow(found, np.tile(X[:60], (3, 1, 1)), wanted)
        descend(found, max_steps=40, tolerance=1e-6)
    return found


def test_each_model_keeps_features_of_its_own(models):
    spread = models.rows.X.std(axis=0)
    together = zero_widths(models, spread)
    assert len({tuple(widths > 0) for widths in together.current_widths}) > 1
    for i in range(3):
        alone = zero_widths(models.take(np.array([i])), spread)
        assert np.array_equal(alone.current_widths[0] > 0, together.current_widths[i] > 0)
        assert alone.values[0] == pytest.approx(together.values[i], rel=1e-4)
        assert alone.objective()[0] == pytest.approx(together.objective()[i], rel=1e-4)


def test_some_models_have_the_objective_and_gradient_of_each_alone(models):
    kernel = np.ones((3, 8))
    kernel[0, 0] = kernel[2, 3:6] = 0.0
    anchor = models.parameters.log_widths + 0.1
    for pressure in (None, np.array([[0.5], [1.0], [2.0]])):
        masked = models.at(models.parameters, Used(kernel, np.ones(8), pressure, anchor))
        some = np.array([2, 0])
        values, gradient = masked.function(masked.parameters.take(some), some)
        for place, i in enumerate(some):
            alone = masked.take(np.array([i]))
            value, slope = alone.function(alone.parameters, np.arange(1))
            assert value[0] == pytest.approx(values[place], rel=1e-12)
            for one, all_of in zip(slope.arrays(), gradient.arrays(), strict=True):
                assert one[0] == pytest.approx(all_of[place], rel=1e-9, abs=1e-12)


def test_models_that_lose_too_much_stay_as_they_are(models, monkeypatch):
    """A model whose objective would rise keeps all features; the others are not held back."""
    monkeypatch.setattr(
        "zeronorm.learned.features.gain_of_terms", lambda models: -100.0 * models.values
    )
    spread = models.rows.X.std(axis=0)
    stays = zero_widths(models, spread)
    assert stays is models
    unknown = np.full(3, np.nan)
    monkeypatch.setattr("zeronorm.learned.features.gain_of_terms", lambda models: unknown)
    assert zero_widths(models, spread) is models

    def gain(models):
        return np.array([-100.0, 1.0, -100.0]) * models.values

    monkeypatch.setattr("zeronorm.learned.features.gain_of_terms", gain)
    one = zero_widths(models, spread)
    assert (one.current_widths > 0).all(axis=1).tolist() == [True, False, True]
    for i in (0, 2):
        assert np.array_equal(one.parameters.vectors[i], models.parameters.vectors[i])
        assert one.values[i] == models.values[i]
        assert one.objective()[i] == pytest.approx(models.objective()[i], rel=1e-12)


def wine(seed):
    """Three classes, 80 rows, 13 features that say much the same."""
    X, y = load_wine(return_X_y=True)
    parts = train_test_split(X, y, train_size=80, stratify=y, random_state=seed)
    scale = StandardScaler().fit(parts[0])
    return scale.transform(parts[0]), parts[2], scale.transform(parts[1]), parts[3]


def test_features_stay_where_rows_held_out_miss_them(monkeypatch):
    """Without them the objective on the training rows falls, and the error on others doubles."""
    model = SparseSVC(metric=True, linear=False, random_state=0)
    kept, dropped, n_used = [], [], []
    for seed in (1, 2, 3):
        X, y, X_test, y_test = wine(seed)
        kept.append(1.0 - model.fit(X, y).score(X_test, y_test))
        with monkeypatch.context() as patch:
            patch.setattr(Path, "may_drop_features", lambda path, kept: True)
            dropped.append(1.0 - model.fit(X, y).score(X_test, y_test))
            n_used.append(model.n_features_used_)
    assert max(n_used) < 13  # there is something to drop
    assert np.mean(kept) < np.mean(dropped)


def test_features_go_where_nobody_misses_them(monkeypatch):
    """The product of two features among twelve, and noise: others are not used, to the better."""
    random = np.random.RandomState(3)
    X, fresh = random.randn(300, 12), random.randn(2000, 12)
    y = X[:, 3] * X[:, 7] + 0.3 * random.randn(300) > 0
    labels = fresh[:, 3] * fresh[:, 7] > 0
    model = SparseSVC(4, linear=False, cv=3, random_state=0)
    score = model.fit(X, y).score(fresh, labels)
    used = np.flatnonzero(model.metric_).tolist()
    assert {3, 7} <= set(used) and len(used) <= 6
    monkeypatch.setattr(Path, "may_drop_features", lambda path, kept: False)
    assert model.fit(X, y).n_features_used_ == 12
    assert model.score(fresh, labels) < score


def test_max_features_holds_whatever_rows_held_out_say(monkeypatch):
    monkeypatch.setattr(Path, "may_drop_features", lambda path, kept: False)
    X, y, *_ = wine(0)
    model = SparseSVC(4, C=[1.0, 10.0], max_features=5, cv=3, random_state=0).fit(X, y)
    assert model.n_features_used_ <= 5


def test_as_many_features_as_there_are_is_no_restriction():
    X, y, *_ = wine(2)
    model = SparseSVC(4, C=[1.0, 10.0], metric=True, cv=3, random_state=0)
    without = model.fit(X, y).metric_
    assert np.array_equal(model.set_params(max_features=13).fit(X, y).metric_, without)


@pytest.mark.parametrize("may_drop", [True, False])
def test_a_model_that_is_learned_again_keeps_what_the_choice_kept(may_drop):
    """On a product of two features among twelve others would go."""
    random = np.random.RandomState(3)
    X = random.randn(150, 12)
    y = X[:, 3] * X[:, 7] > 0
    kernel = Kernel("rbf", 0.1)
    chosen = Choice(Setting(10.0, kernel, 12), 4, total=4, may_drop_features=may_drop)
    model = SparseSVC(random_state=0)
    model._choice = chosen
    again = model._with_choices(None).fit(X, y)
    assert (again.n_features_used_ < 12) == may_drop


def test_fewer_features_are_kept_to_of_one_model(models):
    one = keep_features(models.take(np.array([0])), 2, max_steps=30)
    assert np.flatnonzero(one.current_widths[0]).tolist() == [1, 4]
