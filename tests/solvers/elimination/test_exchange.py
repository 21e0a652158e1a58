"""Exchanges of features: J against every set, the bound that certifies, several outputs."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from zeronorm import AROMSelector
from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.elimination.exchange import Exchange
from zeronorm.solvers.elimination.rounds import SquaredResiduals, SquaredSlack

KINDS = [SquaredSlack, SquaredResiduals]


def problem(kind, seed=0, n=40, d=9, n_outputs=1, C=0.5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) @ random.normal(size=(d, d))
    X = X / X.std(axis=0)
    numbers = X @ random.normal(size=(d, n_outputs)) + random.normal(size=(n, n_outputs))
    targets = np.sign(numbers) if kind is SquaredSlack else numbers / numbers.std(axis=0)
    cost = C * random.uniform(0.5, 1.5, n)
    return X, targets, cost, Exchange(Columns(X), targets, cost, kind)


def objective(kind, X, targets, cost):
    """J of all the columns, by scipy."""

    def value(point, target):
        w, b = point[:-1], point[-1]
        total, slope = 0.5 * w @ w, np.append(w, 0.0)
        scores = X @ w + b
        if kind is SquaredSlack:
            slack = np.maximum(0.0, 1.0 - target * scores)
            push = -target * slack * cost
        else:
            slack = scores - target
            push = slack * cost
        slope += np.append(X.T @ push, push.sum())
        return total + 0.5 * cost @ slack**2, slope

    found = 0.0
    for target in targets.T:
        start = np.zeros(X.shape[1] + 1)
        found += minimize(value, start, (target,), jac=True, options={"gtol": 1e-9}).fun
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_objective_of_a_set_is_scipys(kind, n_outputs):
    X, targets, cost, exchange = problem(kind, n_outputs=n_outputs)
    for features in ([0], [2, 5, 7], list(range(9))):
        found = exchange.evaluate(np.array(features)).objective
        assert found == pytest.approx(objective(kind, X[:, features], targets, cost), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_bound_holds_for_every_set(kind, n_outputs):
    *_, exchange = problem(kind, n_outputs=n_outputs)
    at = exchange.evaluate(np.array([1, 4, 6]))
    before = at.strength[at.features].sum()
    for features in combinations(range(9), 3):
        bound = at.objective + 0.5 * (before - at.strength[list(features)].sum())
        assert exchange.evaluate(np.array(features)).objective >= bound - 1e-6 * at.objective


@pytest.mark.parametrize("kind", KINDS)
def test_exchanges_find_the_best_of_all_sets(kind):
    """In most draws; J never rises, and a set that the bound certifies is the best."""
    found_best = 0
    for seed in range(12):
        *_, exchange = problem(kind, seed)
        sets = [np.array(features) for features in combinations(range(9), 3)]
        least = min(exchange.evaluate(one).objective for one in sets)
        start = np.array([0, 1, 2])
        best = exchange.best_of([start, exchange.first(3)])
        assert best.objective <= exchange.evaluate(start).objective
        is_best = best.objective <= least * (1 + 1e-6)
        if set(np.argsort(-best.strength)[:3]) == set(best.features):
            assert is_best
        found_best += is_best
    assert found_best >= 11


def test_a_column_that_stands_for_several():
    X, targets, cost, _ = problem(SquaredSlack, d=5)
    times = np.array([1, 3, 1, 2, 1])
    exchange = Exchange(Columns(X, times), targets, cost, SquaredSlack)
    whole = Exchange(Columns(np.repeat(X, times, axis=1)), targets, cost, SquaredSlack)
    one, other = exchange.evaluate(np.array([1, 2])), whole.evaluate(np.array([1, 2, 3, 4]))
    assert one.objective == pytest.approx(other.objective, rel=1e-6)
    parts = np.split(other.strength, np.cumsum(times)[:-1])
    np.testing.assert_allclose(one.strength, [part.sum() for part in parts], rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_auto_has_the_lower_objective(kind):
    falls = 0
    for seed in range(4):
        X, targets, _, _ = problem(kind, seed, n=60, d=30)
        y = targets[:, 0]
        exchange = Exchange(Columns(X), targets, np.full(60, 0.1), kind)
        ours, start, as_sparse = (
            AROMSelector(4, norm).fit(rows, y).get_support(indices=True)
            for norm, rows in (("auto", X), ("l1", X), ("auto", sparse.csr_array(X)))
        )
        values = [exchange.evaluate(one).objective for one in (ours, start, as_sparse)]
        assert len(ours) == 4 and values[0] <= values[1] * (1 + 1e-6)
        assert values[2] == pytest.approx(values[0], rel=1e-3)
        falls += values[0] < 0.999 * values[1]
    assert falls >= 1
