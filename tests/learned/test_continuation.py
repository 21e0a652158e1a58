"""Costs that rise: the schedule, and the minima found."""

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.data import checkerboard, spirals
from zeronorm import SparseSVC, SparseSVR
from zeronorm.learned.continuation import MOST_RISES, RISE, cost_shares, easy_cost


@pytest.mark.parametrize("n_rows", [10, 1_000_000])
@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0, 1e4, 1e90])
def test_shares_rise_to_one_in_few_steps(C, n_rows):
    shares = np.array(cost_shares(C, n_rows))
    assert shares[-1] == 1.0 and len(shares) <= MOST_RISES + 1
    assert shares[0] * C <= easy_cost(n_rows) * (1 + 1e-12) or len(shares) == 1
    ratios = shares[1:] / shares[:-1]
    assert (ratios > 1.0).all()
    if C / easy_cost(n_rows) < RISE**MOST_RISES:
        assert (ratios <= RISE * (1 + 1e-12)).all()


@pytest.mark.parametrize("metric", [False, True])
@pytest.mark.parametrize("C", [10.0, 100.0])
def test_a_large_cost_does_not_end_in_a_nearly_linear_function(C, metric):
    """It did: with a kernel so wide that a quarter of the rows was wrong, where SVC has none."""
    for seed in range(3):
        X, y = spirals(300, seed)
        model = SparseSVC(12, C=C, metric=metric, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.99 < SVC(C=10).fit(X, y).score(X, y)
        costs = model.history_["C"]
        assert costs[0] == pytest.approx(1.0) and costs[-1] == C
        assert (np.diff(costs) >= 0).all()


def test_the_choice_for_a_given_size_does_not_drop_what_is_good_later():
    """Few terms say nothing about the board; large costs were ahead there by chance."""
    X, y = checkerboard(seed=7)
    for seed in range(3):
        model = SparseSVC(8, random_state=seed).fit(X, y)
        assert model.path_["error"][0] < 0.15
        assert model.score(X, y) > 0.95


def test_a_regressor_of_a_large_cost():
    random = np.random.RandomState(0)
    X = random.uniform(-3, 3, (200, 2))
    y = np.sin(2.0 * X[:, 0]) * np.cos(2.0 * X[:, 1])
    model = SparseSVR(16, C=1000.0, epsilon=0.05, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
