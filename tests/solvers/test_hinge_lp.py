"""The weighted linear programs against scipy.optimize.linprog, which gets them in primal form."""

import highspy
import numpy as np
import pytest
from problems import COSTS, PROBLEMS, inseparable, kernel_problem
from scipy.optimize import linprog

from zeronorm.solvers import hinge_lp
from zeronorm.solvers.hinge_lp import HingeLP, LinearProgramError, solve_largest_coefficient


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
    found = HingeLP(K, y[:, None], cost, multiplicative).solve(scale, 0.0)
    own = value(found.coef[:, 0], found.intercept[0], K, y, cost, 1 / scale)
    assert own == pytest.approx(by_linprog(K, y, cost, 1 / scale), rel=1e-7)
    assert found.gap <= 1e-7
    assert found.loss == pytest.approx(own - np.abs(found.coef[:, 0]) @ (1 / scale), abs=1e-7)


@pytest.mark.parametrize("multiplicative", [False, True], ids=["B", "W"])
def test_warm_rounds_equal_cold_ones(multiplicative):
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 10.0)
    warm = HingeLP(K, y[:, None], cost, multiplicative)
    keep = np.ones(K.shape[1], dtype=bool)
    for round_number in range(4):
        weights = np.roll(scale, round_number)[keep]
        found = warm.solve(weights, 0.0)
        cold = HingeLP(K[:, keep], y[:, None], cost).solve(weights, 0.0)
        values = [
            value(r.coef[:, 0], r.intercept[0], K[:, keep], y, cost, 1 / weights)
            for r in (found, cold)
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-8)
        used = found.coef[:, 0] != 0
        used[: len(used) // 3] = True
        warm.keep(used)
        keep[np.flatnonzero(keep)[~used]] = False


def test_zeros_are_exact():
    K, y, scale = kernel_problem(inseparable)
    found = HingeLP(K, y[:, None], np.full(len(y), 1.0)).solve(scale, 0.0)
    size = np.abs(found.coef[:, 0])
    assert (size == 0).sum() > 0.8 * len(size)
    assert size[size > 0].min() > 1e-6


def test_infinity_norm_equals_linprog():
    K, y, _ = kernel_problem(inseparable)
    cost = np.full(len(y), 0.5)
    coef, b, objective, gap = solve_largest_coefficient(K, y, cost)
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
    assert objective == pytest.approx(own)
    assert gap <= 1e-7


def test_a_failed_warm_start_is_solved_cold_then_raised():
    model = hinge_lp.new_model()
    nothing = np.empty(0, dtype=np.int32)
    model.addCols(1, np.ones(1), np.zeros(1), np.ones(1), 0, nothing, nothing, np.empty(0))
    model.addRows(
        1,
        np.full(1, 5.0),
        np.full(1, highspy.kHighsInf),
        1,
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        np.ones(1),
    )
    with pytest.raises(LinearProgramError, match="Infeasible"):
        hinge_lp.run(model)


def test_a_limit_reached_warm_is_lifted_by_the_cold_run():
    class Stubborn:
        """A model whose first run fails."""

        def __init__(self):
            self.cold = False

        def run(self):
            pass

        def clearSolver(self):
            self.cold = True

        def getModelStatus(self):
            status = highspy.HighsModelStatus
            return status.kOptimal if self.cold else status.kUnknown

    model = Stubborn()
    hinge_lp.run(model)
    assert model.cold
