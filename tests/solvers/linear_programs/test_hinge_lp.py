"""The weighted linear programs against scipy.optimize.linprog, which gets them in primal form."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel

from tests.data import cancer
from tests.independent import minimum
from tests.solvers.problems import COSTS, PROBLEMS, inseparable, kernel_problem
from zeronorm.solvers.linear_programs.highs import LinearProgramError
from zeronorm.solvers.linear_programs.hinge_lp import (
    Box,
    HingeLP,
    solve_largest_coefficient,
    solve_one_norm,
)
from zeronorm.solvers.losses import Hinge


def by_linprog(K, y, cost, weights):
    """Optimal value of problem (14), variables (alpha+, alpha-, b, slack)."""
    n, m = K.shape
    signed = y[:, None] * K
    constraints = -np.hstack([signed, -signed, y[:, None], np.eye(n)])
    costs = np.concatenate([weights, weights, [0.0], cost])
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n
    found = linprog(costs, A_ub=constraints, b_ub=-np.ones(n), bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun


def value(coef, b, K, y, cost, weights):
    return weights @ np.abs(coef) + cost @ np.maximum(1 - y * (K @ coef + b), 0)


@pytest.mark.parametrize("multiplicative", [False, True], ids=["B", "W"])
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda f: f.__name__)
def test_objective_equals_linprog(make, C, multiplicative):
    K, y, scale = kernel_problem(make)
    cost = np.full(len(y), C)
    found = HingeLP(K, Hinge(y, cost), multiplicative).solve(scale, 0.0)
    own = value(found.coef, found.intercept, K, y, cost, 1 / scale)
    assert own == pytest.approx(by_linprog(K, y, cost, 1 / scale), rel=1e-7)
    assert found.gap <= 1e-7
    assert found.loss == pytest.approx(own - np.abs(found.coef) @ (1 / scale), abs=1e-7)


@pytest.mark.parametrize("multiplicative", [False, True], ids=["B", "W"])
def test_warm_rounds_equal_cold_ones(multiplicative):
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 10.0)
    warm = HingeLP(K, Hinge(y, cost), multiplicative)
    keep = np.ones(K.shape[1], dtype=bool)
    for round_number in range(4):
        weights = np.roll(scale, round_number)[keep]
        found = warm.solve(weights, 0.0)
        cold = HingeLP(K[:, keep], Hinge(y, cost)).solve(weights, 0.0)
        values = [
            value(r.coef, r.intercept, K[:, keep], y, cost, 1 / weights) for r in (found, cold)
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-8)
        used = found.coef != 0
        used[: len(used) // 3] = True
        warm.keep(used)
        keep[np.flatnonzero(keep)[~used]] = False


def test_zeros_are_exact():
    K, y, scale = kernel_problem(inseparable)
    found = HingeLP(K, Hinge(y, np.full(len(y), 1.0))).solve(scale, 0.0)
    size = np.abs(found.coef)
    assert (size == 0).sum() > 0.8 * len(size)
    assert size[size > 0].min() > 1e-6


def test_infinity_norm_equals_linprog():
    K, y, _ = kernel_problem(inseparable)
    cost = np.full(len(y), 0.5)
    best = solve_largest_coefficient(K, Hinge(y, cost))
    coef, b = best.coef, best.intercept
    n, m = K.shape
    rows = -np.hstack([y[:, None] * K, y[:, None], np.zeros((n, 1)), np.eye(n)])
    box = np.hstack([np.eye(m), np.zeros((m, 1)), -np.ones((m, 1)), np.zeros((m, n))])
    other = np.hstack([-np.eye(m), np.zeros((m, 1)), -np.ones((m, 1)), np.zeros((m, n))])
    found = linprog(
        np.concatenate([np.zeros(m + 1), [1.0], cost]),
        A_ub=np.vstack([rows, box, other]),
        b_ub=np.concatenate([-np.ones(n), np.zeros(2 * m)]),
        bounds=[(None, None)] * (m + 1) + [(0, None)] * (n + 1),
    )
    own = np.abs(coef).max() + cost @ np.maximum(1 - y * (K @ coef + b), 0)
    assert own == pytest.approx(found.fun, rel=1e-7)
    assert best.objective == pytest.approx(own)
    assert best.gap <= 1e-7


# --- the one-norm machines ---------------------------------------------------------------------


def assert_solves(found, K, y, cost, box, rel=1e-7):
    """The solution keeps the rules, is worth what it says, and costs what linprog finds."""
    own = value(found.coef, found.intercept, K, y, cost, np.ones(K.shape[1]))
    expected = minimum(K, y, cost, **({} if box is None else vars(box)))
    assert own == pytest.approx(expected, rel=rel)
    assert found.objective == pytest.approx(own, abs=1e-9 * max(1, own))
    assert found.gap <= 1e-7
    if box is not None:
        assert (box.signs * found.coef >= 0).all() and (np.abs(found.coef) <= box.caps).all()


@pytest.mark.parametrize("boxed", [False, True], ids=["free", "box"])
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda f: f.__name__)
def test_one_norm_equals_linprog(make, C, boxed):
    K, y, _ = kernel_problem(make)
    cost = np.full(len(y), C)
    box = Box(y, cost) if boxed else None
    assert_solves(solve_one_norm(K, Hinge(y, cost), box), K, y, cost, box)


@pytest.mark.parametrize("boxed", [False, True], ids=["free", "box"])
@pytest.mark.parametrize("seed", range(4))
def test_one_norm_of_random_values_equals_linprog(seed, boxed):
    """No kernel, more columns than rows or fewer, uneven costs and caps, signs of any kind."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(5, 60, size=2)
    K, y = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-2, 2, size=m), rng.choice([-1.0, 1.0], n)
    K[:, 0] = 0.0
    cost = 10.0 ** rng.uniform(-3, 2, size=n)
    box = Box(rng.choice([-1.0, 1.0], m), 10.0 ** rng.uniform(-3, 2, size=m)) if boxed else None
    assert_solves(solve_one_norm(K, Hinge(y, cost), box), K, y, cost, box)


def test_caps_bind_and_cost_something():
    K, y, _ = kernel_problem(inseparable)
    cost = np.full(len(y), 10.0)
    values = []
    for cap in (1e6, 1.0, 0.1):
        box = Box(y, np.full(len(y), cap))
        found = solve_one_norm(K, Hinge(y, cost), box)
        assert_solves(found, K, y, cost, box)
        assert (np.abs(found.coef) == cap).any() == (cap <= 1.0)
        values.append(found.objective)
    assert values[0] < values[1] < values[2]


@pytest.mark.parametrize("boxed", [False, True], ids=["free", "box"])
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda f: f.__name__)
def test_one_norm_is_a_vertex_without_tiny_terms(make, C, boxed):
    K, y, _ = kernel_problem(make)
    cost = np.full(len(y), C)
    found = solve_one_norm(K, Hinge(y, cost), Box(y, cost) if boxed else None)
    size = np.abs(found.coef)
    margin = y * (K @ found.coef + found.intercept)
    # Terms that are neither zero nor at their caps are held by rows exactly at the margin.
    is_inside = (size > 0) & (size < (1 - 1e-9) * cost if boxed else True)
    assert is_inside.sum() <= (np.abs(margin - 1.0) < 1e-7).sum()
    assert (size == 0).any() and (size[size > 0] > 1e-9 * size.max()).all()


def test_multipliers_that_are_zero_up_to_rounding_are_zero():
    # Hardly any row is near another: a degenerate vertex, where HiGHS leaves terms of 1e-16.
    X, y = cancer()
    size = np.abs(
        solve_one_norm(
            rbf_kernel(X, gamma=2.0), Hinge(np.where(y == 1, 1.0, -1.0), np.ones(len(y)))
        ).coef
    )
    assert (size > 0).any() and (size[size > 0] > 1e-12).all()


@pytest.mark.parametrize("boxed", [False, True], ids=["free", "box"])
@pytest.mark.parametrize(("n", "C"), [(120, 0.01), (120, 1.0), (120, 1000.0), (569, 1.0)])
def test_badly_scaled_kernel_values(n, C, boxed):
    X, y = cancer(n)
    y = np.where(y == 1, 1.0, -1.0)
    K, cost = (X @ X.T + 1.0) ** 5, np.full(n, C)  # from 1e-9 to 1e11
    box = Box(y, cost) if boxed else None
    found = solve_one_norm(K, Hinge(y, cost), box)
    assert found.gap <= 1e-6
    if n == 120:  # linprog takes minutes beyond
        own = value(found.coef, found.intercept, K, y, cost, np.ones(n))
        expected = minimum(K, y, cost, **({} if box is None else vars(box)))
        # linprog's slacks of 1e-7 are too low a price, beside an optimum of 4e-5.
        assert own <= expected * (1 + 2e-5)


def test_one_norm_without_columns_is_the_intercept():
    y = np.array([1.0, 1.0, -1.0])
    found = solve_one_norm(
        np.empty((3, 0)), Hinge(y, np.full(3, 2.0)), Box(np.empty(0), np.empty(0))
    )
    assert (found.coef.shape, found.objective, found.gap) == ((0,), 4.0, 0.0)


def failing_program(monkeypatch, fails):
    """Make linear programs fail where ``fails`` says so of their unit; return the units tried."""
    tried, solve = [], HingeLP.minimise

    def sometimes(self, *args, **kwargs):
        tried.append(self.unit)
        if fails(self.unit):
            raise LinearProgramError("HiGHS failed")
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(HingeLP, "minimise", sometimes)
    return tried


def test_one_norm_falls_back_to_another_unit(monkeypatch):
    K, y, _ = kernel_problem(inseparable)
    K, cost = 1e5 * K, np.full(len(y), 10.0)
    tried = failing_program(monkeypatch, lambda unit: unit < 10.0)
    found = solve_one_norm(K, Hinge(y, cost))
    assert tried[1] < tried[0] < tried[2] == 10.0 and len(tried) == 3
    own = value(found.coef, found.intercept, K, y, cost, np.ones(K.shape[1]))
    assert own == pytest.approx(minimum(K, y, cost), rel=1e-6)


def test_one_norm_keeps_what_it_has_if_the_second_unit_fails(monkeypatch):
    K, y, _ = kernel_problem(inseparable)
    K, cost = 1e5 * K, np.full(len(y), 10.0)
    tried = failing_program(monkeypatch, lambda unit: len(tried) > 1)
    certify = HingeLP.certify
    monkeypatch.setattr(  # not good enough: asks for the second unit
        HingeLP, "certify", lambda *args: (certify(*args)[0], 1e-3)
    )
    found = solve_one_norm(K, Hinge(y, cost))
    assert len(tried) == 2 and tried[0] != tried[1] and found.gap == 1e-3
    assert found.objective == pytest.approx(minimum(K, y, cost), rel=1e-6)


def test_one_norm_gives_up_if_no_unit_works(monkeypatch):
    K, y, _ = kernel_problem(inseparable)
    tried = failing_program(monkeypatch, lambda unit: True)
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        solve_one_norm(K, Hinge(y, np.full(len(y), 10.0)))
    assert len(tried) == 4
