"""The weights of a mixture: against another solver, with certificates that mean what they say."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from zeronorm.solvers.mixture.weights import (
    MixtureProblem,
    MixtureWeights,
    TermPenalty,
    minimise_over_simplex,
)
from zeronorm.solvers.reweighting.loop import reweight


def kernel_values(n=60, m=15, width=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    exponents = -cdist(X, X[:m], "sqeuclidean") / (2 * width**2)
    return np.exp(exponents - exponents.max(axis=1, keepdims=True))


def problem(seed=0, priced=True, **settings):
    rng = np.random.default_rng(seed)
    values = kernel_values(seed=seed, **settings)
    slope = rng.exponential(20.0, values.shape[1]) if priced else np.zeros(values.shape[1])
    return MixtureProblem(values, rng.uniform(0.5, 2.0, len(values)), slope)


def objective(problem, weights):
    return problem.negative_likelihood(problem.values @ weights) + problem.slope @ weights


def uniform(problem):
    m = problem.values.shape[1]
    return np.full(m, 1.0 / m)


@pytest.mark.parametrize("priced", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_same_objective_as_slsqp(seed, priced):
    task = problem(seed, priced)
    weights, gap = task.solve(uniform(task), 1e-9)
    other = minimize(
        lambda w: objective(task, np.maximum(w, 1e-12)),
        uniform(task),
        jac=lambda w: task.gradient(task.values @ np.maximum(w, 1e-12)),
        bounds=[(0, 1)] * len(weights),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert gap <= 1e-9
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert objective(task, weights) == pytest.approx(other.fun, abs=1e-5)
    assert objective(task, weights) <= other.fun + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_bounds_the_distance_to_the_optimum(seed):
    task = problem(seed)
    best = objective(task, task.solve(uniform(task), 1e-10)[0])
    for tolerance in (1.0, 1e-1, 1e-2, 1e-3):
        weights, gap = task.solve(uniform(task), tolerance)
        assert gap <= tolerance
        assert objective(task, weights) - best <= gap * task.mass.sum() + 1e-9


def test_every_em_step_lowers_the_objective():
    task = problem(1)
    values, weights = [], uniform(task)
    for _ in range(20):
        weights = task.em_steps(weights, 1)
        assert weights.sum() == pytest.approx(1.0)
        values.append(objective(task, weights))
    assert (np.diff(values) <= 1e-9).all()


def test_zeros_are_exact_and_wanted():
    task = problem(2, width=0.8, m=40)
    weights, _ = task.solve(uniform(task), 1e-9)
    gradient = task.gradient(task.values @ weights)
    level = weights @ gradient
    assert 0 < np.count_nonzero(weights) < 20
    assert (gradient[weights == 0] >= level - 1e-6).all()
    np.testing.assert_allclose(gradient[weights > 0], level, atol=1e-4)


def test_a_column_without_weight_comes_in_when_it_should():
    task = problem(3, width=2.0)
    start = np.zeros(15)
    start[0] = 1.0
    weights, gap = task.solve(start, 1e-9)
    assert gap <= 1e-9
    assert objective(task, weights) == pytest.approx(
        objective(task, task.solve(uniform(task), 1e-9)[0])
    )


@pytest.mark.parametrize("seed", range(6))
def test_quadratic_program_satisfies_its_conditions(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(30, 12))
    hessian, linear = root.T @ root + 1e-6 * np.eye(12), 10 * rng.normal(size=12)
    weights = minimise_over_simplex(hessian, linear, np.full(12, 1 / 12))
    gradient = hessian @ weights + linear
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ gradient - gradient.min() <= 1e-8


def test_nearly_equal_columns_do_no_harm():
    values = kernel_values(width=0.5)
    task = MixtureProblem(np.hstack([values, values * (1 - 1e-15)]), np.ones(60), np.zeros(30))
    single = MixtureProblem(values, np.ones(60), np.zeros(15))
    weights, gap = task.solve(uniform(task), 1e-8)
    assert gap <= 1e-8
    assert objective(task, weights) == pytest.approx(
        objective(single, single.solve(uniform(single), 1e-8)[0]), abs=1e-5
    )


@pytest.mark.parametrize("price", [0.1, 0.5, 2.0, 10.0])
def test_every_round_lowers_the_true_objective_and_fixed_points_are_stationary(price):
    values, mass = kernel_values(n=120, m=120, width=0.5, seed=4), np.ones(120)
    penalty = TermPenalty(1e-6)
    result = reweight(MixtureWeights(values, mass, price), penalty, max_rounds=300, tolerance=1e-7)
    history = np.array(result.history["objective"])
    assert result.is_converged(1e-7)
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert (np.diff(result.history["terms"]) <= 0).all()
    # w_j is proportional to the rows that term j answers for, less the price.
    weights = result.coef
    kept = values[:, result.terms]
    answers = weights * (kept.T @ (mass / (kept @ weights)))
    cost = price * weights / (weights + 1e-6)
    np.testing.assert_allclose((answers - cost) / (answers - cost).sum(), weights, atol=1e-5)


def test_a_higher_price_leaves_fewer_terms():
    terms = []
    for price in (0.1, 1.0, 5.0, 50.0):
        values = kernel_values(n=150, m=150, width=0.3, seed=5)
        work = MixtureWeights(values, np.ones(150), price)
        terms.append(len(reweight(work, TermPenalty(1e-6)).terms))
    assert terms == sorted(terms, reverse=True)
    assert terms[-1] < terms[0] / 2
