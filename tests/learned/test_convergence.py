"""A descent that was cut short is warned of where the model suffers, and only there."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from tests.data import iris, spirals
from zeronorm import SparseLargeMarginClassifier, SparseSVC, SparseSVR
from zeronorm.learned.convergence import Descent
from zeronorm.learned.final import FALLING


def sentences(fit):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in given if issubclass(one.category, ConvergenceWarning)]


@pytest.mark.parametrize(
    ("descent", "is_warned_of"),
    [
        (Descent(50, 0.01, True, 0.1), True),  # 50 * 0.01 * 0.1 = 0.05
        (Descent(50, 0.01, True, 0.021), True),
        (Descent(50, 0.01, True, 0.019), False),  # of next to nothing
        (Descent(50, 0.5e-3, True, 0.9), False),  # hardly a fall
        (Descent(50, 0.01, False, 0.1), False),  # converged
        (Descent(50, 0.01, True), True),  # there is no mean loss
    ],
)
def test_the_line_between(descent, is_warned_of):
    sentence = descent.warning(1e-3)
    assert (sentence is not None) == is_warned_of
    if sentence and descent.mean_loss is not None:
        gain = 50 * descent.progress * descent.mean_loss
        assert f"lower the mean loss of a row by {gain:.2g}" in sentence


def test_still_moving_a_little_is_a_note():
    """All rows are right already, and a large C lets the objective fall on."""
    X, y = iris()
    model = SparseSVC(8, C=1000.0, metric=True, random_state=0)
    assert not sentences(lambda: model.fit(X, y))
    assert model.history_["fall"].max() > FALLING
    assert model.score(X, y) == 1.0
    assert model.history_["fall"][-1] == 0.0  # the coefficients have converged


def test_vectors_that_have_not_converged_are_a_warning():
    X, y = spirals(200, seed=2)
    given = {"C": 10.0, "metric": True, "n_init": 1, "random_state": 0}
    model = SparseSVC(6, max_iter=4, **given)
    (sentence,) = sentences(lambda: model.fit(X, y))
    assert "After 4 steps the vectors still moved" in sentence and "mean loss of a row" in sentence
    assert model.history_["fall"].max() > FALLING
    longer = SparseSVC(6, max_iter=500, **given)
    assert not sentences(lambda: longer.fit(X, y))
    assert longer.objective_ < 0.9 * model.objective_
    assert longer.score(X, y) > model.score(X, y) + 0.05


def test_a_regressor():
    X = np.random.RandomState(0).uniform(-3, 3, (150, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1]
    given = {"C": 100.0, "epsilon": 0.1, "n_init": 1, "random_state": 0}
    assert sentences(lambda: SparseSVR(6, max_iter=2, **given).fit(X, y))
    assert not sentences(lambda: SparseSVR(6, **given).fit(X, y))


def test_the_model_of_the_paper():
    X, y = make_classification(300, 10, n_informative=5, random_state=1)
    model = SparseLargeMarginClassifier(8, C=100.0, max_iter=2, random_state=0)
    assert sentences(lambda: model.fit(X, y))
    assert model.history_["fall"].max() > model.tol
    X, y = iris()
    model = SparseLargeMarginClassifier(5, C=1000.0, random_state=0)
    assert not sentences(lambda: model.fit(X, y))
    assert model.history_["fall"].max() > model.tol
