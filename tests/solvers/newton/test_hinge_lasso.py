"""The hinge with a one-norm against linprog and SLSQP."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from tests.independent import minimum
from tests.solvers.problems import PROBLEMS, contradictory, duplicated, inseparable, kernel_problem
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_lasso import HingeLasso

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

PENALTIES = [1e-3, 0.03, 1.0, 10.0, 100.0]


def random_columns():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 30)), np.where(rng.uniform(size=50) < 0.4, 1.0, -1.0)


def more_columns_than_rows():
    rng = np.random.default_rng(1)
    return rng.normal(size=(30, 80)), np.where(rng.uniform(size=30) < 0.5, 1.0, -1.0)


def polynomial():
    """Columns whose largest values differ by two orders."""
    X, y = inseparable()
    return polynomial_kernel(X, degree=3, gamma=1.0, coef0=1.0), y


def zero_column():
    K, y, _ = kernel_problem(inseparable)
    K[:, [0, 7]] = 0.0
    return K, y


def one_column():
    K, y, _ = kernel_problem(inseparable)
    return K[:, 3:4].copy(), y


def only_zeros():
    return np.zeros((12, 3)), np.where(np.arange(12) < 5, 1.0, -1.0)


MATRICES = {make.__name__: lambda make=make: kernel_problem(make)[:2] for make in PROBLEMS} | {
    make.__name__: make
    for make in (
        random_columns,
        more_columns_than_rows,
        polynomial,
        zero_column,
        one_column,
        only_zeros,
    )
}


def uneven_cost(n):
    """Costs that differ by 1e3."""
    cost = 10.0 ** np.random.default_rng(2).uniform(-1.5, 1.5, size=n)
    cost[:2] = 10.0**-1.5, 10.0**1.5
    return cost


def nothing(K):
    """No quadratic term: the problem is a linear program."""
    return np.zeros((K.shape[1], K.shape[1]))


def by_hand(coef, b, K, y, cost, penalty, form=None):
    """Objective, row by row."""
    value = penalty * np.abs(coef).sum()
    for row, label, each in zip(K, y, cost, strict=True):
        value += each * max(0.0, 1 - label * (row @ coef + b))
    return value if form is None else value + 0.5 * coef @ form @ coef


def check_solution(found, K, y, cost, penalty, form=None):
    own = by_hand(found.coef, found.intercept, K, y, cost, penalty, form)
    assert found.objective == pytest.approx(own, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(found.scores, K @ found.coef + found.intercept, atol=1e-9)


def certified_gap(found, K, y, cost, penalty):
    """Gap from the dual point alone, after a look whether it is feasible."""
    beta = found.dual
    assert (beta >= 0).all() and (beta <= cost * (1 + 1e-12)).all()
    assert abs(y @ beta) <= 1e-10 * beta.sum()
    assert np.abs(K.T @ (y * beta)).max() <= penalty * (1 + 1e-10)
    own = by_hand(found.coef, found.intercept, K, y, cost, penalty)
    return (own - beta.sum()) / own


# --- the linear program ------------------------------------------------------------------------


@pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)
def test_objective_is_linprogs(make, penalty, uneven):
    K, y = make()
    cost = uneven_cost(len(y)) if uneven else np.ones(len(y))
    found = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(penalty, 1e-4)
    check_solution(found, K, y, cost, penalty)
    assert certified_gap(found, K, y, cost, penalty) == pytest.approx(found.gap, abs=1e-9)
    optimum = minimum(K, y, cost, price=penalty)
    assert optimum * (1 - 1e-6) <= found.objective
    assert found.objective * (1 - found.gap) <= optimum * (1 + 1e-6)
    # With hardly any penalty, or columns of very different size, it may end early.
    assert found.gap <= 1e-4


@pytest.mark.parametrize("penalty", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("make", [make for make in MATRICES.values() if make is not polynomial])
def test_objective_is_linprogs_to_many_digits(make, penalty):
    K, y = make()
    cost = np.ones(len(y))
    found = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(penalty, 1e-7)
    assert found.gap <= 1e-7
    assert found.objective == pytest.approx(minimum(K, y, cost, price=penalty), rel=2e-7)


@pytest.mark.parametrize("penalty", [0.03, 1.0])
@pytest.mark.parametrize(("scale", "degree"), [(1.0, 4), (2.0, 5)])
def test_hopeless_scaling_is_owned_up_to(scale, degree, penalty):
    """Columns that differ by three to six orders: the gap may stay large, but then it says so."""
    X, y = inseparable()
    K, cost = polynomial_kernel(scale * X, degree=degree, gamma=1.0, coef0=1.0), np.ones(len(y))
    found = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(penalty, 1e-4)
    check_solution(found, K, y, cost, penalty)
    optimum = minimum(K, y, cost, price=penalty)
    assert found.gap >= 1.0 - optimum / found.objective - 1e-6
    assert certified_gap(found, K, y, cost, penalty) == pytest.approx(found.gap, abs=1e-9)


def test_the_constant_alone():
    """Without a useful column the best constant is the larger class's label."""
    K, y = only_zeros()
    found = HingeLasso(K, Hinge(y, np.ones(12)), nothing(K)).solve(1.0, 1e-8)
    assert not found.coef.any() and found.intercept == pytest.approx(-1.0, abs=1e-6)
    assert found.objective == pytest.approx(2.0 * 5)


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_the_largest_useful_penalty(make):
    """Above the largest gradient of a dual solution of the constant model nothing enters.

    With equal classes that solution is beta = cost, and the threshold is known.
    """
    K, y, _ = kernel_problem(make)
    few = min((y > 0).sum(), (y < 0).sum())
    K, y = (np.concatenate([part[y > 0][:few], part[y < 0][:few]]) for part in (K, y))
    cost = np.ones(len(y))
    threshold = np.abs(K.T @ y).max()
    above = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(1.01 * threshold, 1e-9)
    below = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(0.9 * threshold, 1e-7)
    assert not above.coef.any() and above.objective == pytest.approx(len(y))
    assert below.coef.any() and below.objective < len(y) * (1 - 1e-4)


# --- the certificate and the record ------------------------------------------------------------


@pytest.mark.parametrize("max_steps", [0, 1, 3, 10, 2000])
@pytest.mark.parametrize("make", [inseparable, contradictory], ids=lambda make: make.__name__)
def test_gap_is_what_the_dual_point_proves(make, max_steps):
    K, y, _ = kernel_problem(make)
    cost = uneven_cost(len(y))
    found = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(0.5, 1e-6, max_steps=max_steps)
    check_solution(found, K, y, cost, 0.5)
    gap = certified_gap(found, K, y, cost, 0.5)
    assert found.gap == pytest.approx(gap, abs=1e-10)
    assert found.steps <= max_steps
    # Few steps do not solve these problems, and the gap says so.
    assert found.gap > 1e-2 if max_steps <= 10 else found.gap <= 1e-6


@pytest.mark.parametrize("penalty", [0.01, 1.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_history_falls_and_ends_at_the_solution(make, penalty):
    K, y, _ = kernel_problem(make)
    found = HingeLasso(K, Hinge(y, np.ones(len(y))), nothing(K)).solve(penalty, 1e-5)
    terms, objective, gap = (np.array(found.history[key]) for key in ("terms", "objective", "gap"))
    assert len(objective) > 1
    assert (np.diff(objective) <= 0).all() and (np.diff(gap) <= 0).all()
    assert (terms[-1], objective[-1]) == (np.count_nonzero(found.coef), found.objective)
    assert gap[-1] == found.gap <= 1e-5


@pytest.mark.parametrize("make", [inseparable, duplicated], ids=lambda make: make.__name__)
def test_zeros_are_exact(make):
    """What is left is far from zero, and its dual constraints are active: no threshold hides."""
    K, y, _ = kernel_problem(make)
    found = HingeLasso(K, Hinge(y, np.ones(len(y))), nothing(K)).solve(1.0, 1e-8)
    chosen = found.coef != 0
    assert 0 < chosen.sum() < len(y) / 4
    assert np.abs(found.coef[chosen]).min() > 1e-4 * np.abs(found.coef).max()
    reduced = K.T @ (y * found.dual)
    np.testing.assert_allclose(reduced[chosen], np.sign(found.coef[chosen]), rtol=1e-4)


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_a_warm_path_equals_cold_solves(make):
    K, y, _ = kernel_problem(make)
    cost = np.ones(len(y))
    path = HingeLasso(K, Hinge(y, cost), nothing(K))
    for penalty in (10.0, 3.0, 1.0, 0.3, 0.1, 1.0, 30.0):
        warm = path.solve(penalty, 1e-6)
        cold = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(penalty, 1e-6)
        assert max(warm.gap, cold.gap) <= 1e-6
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
        check_solution(warm, K, y, cost, penalty)


def test_more_columns_than_are_looked_at_first():
    """Other columns are screened until their dual constraints are violated."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.where(np.arange(60) % 2, 1.0, -1.0)
    X[:, 0] += 0.7 * y
    centres = rng.normal(size=(400, 2))
    K, cost = rbf_kernel(X, centres, gamma=1.0), np.ones(60)
    for penalty in (0.1, 1.0):
        found = HingeLasso(K, Hinge(y, cost), nothing(K)).solve(penalty, 1e-6)
        assert found.gap <= 1e-6
        assert found.objective == pytest.approx(minimum(K, y, cost, price=penalty), rel=2e-6)


def test_the_arguments_are_left_alone():
    K, y, _ = kernel_problem(inseparable)
    cost, form = np.ones(len(y)), K.copy()
    copies = [part.copy() for part in (K, y, cost, form)]
    HingeLasso(K, Hinge(y, cost), form).solve(1.0, 1e-4)
    for part, copy in zip((K, y, cost, form), copies, strict=True):
        np.testing.assert_array_equal(part, copy)


# --- the quadratic term ------------------------------------------------------------------------


def quadratic_problem(make):
    """Kernel values of some rows with some of them, labels, and the kernel matrix of the latter."""
    X, y = make()
    rows = np.unique(np.append(np.arange(0, len(y), 2), np.flatnonzero(y > 0)[:1]))
    X, y = X[rows], y[rows]
    vectors = np.unique(X, axis=0)[::3]
    return rbf_kernel(X, vectors, gamma=0.7), y, rbf_kernel(vectors, gamma=0.7)


def by_quadratic_programs(K, y, cost, penalty, form):
    """Optimal value from SLSQP, in alpha+, alpha-, b and the slacks."""
    n, m = K.shape
    signed = y[:, None] * np.hstack([K, -K, np.ones((n, 1))])
    price = np.concatenate([np.full(2 * m, penalty), [0.0], cost])

    def objective(point):
        alpha = point[:m] - point[m : 2 * m]
        image = form @ alpha
        slope = price.copy()
        slope[: 2 * m] += np.append(image, -image)
        return price @ point + 0.5 * alpha @ image, slope

    rows = np.hstack([signed, np.eye(n)])
    start = np.append(np.zeros(2 * m + 1), np.ones(n))
    found = minimize(
        objective,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda point: rows @ point - 1, "jac": lambda _: rows},
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert found.success
    alpha, b = found.x[:m] - found.x[m : 2 * m], found.x[2 * m]
    return by_hand(alpha, b, K, y, cost, penalty, form=form)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_quadratic_term_against_slsqp(make, penalty):
    K, y, form = quadratic_problem(make)
    cost = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    found = HingeLasso(K, Hinge(y, cost), form).solve(penalty, 1e-6)
    check_solution(found, K, y, cost, penalty, form=form)
    optimum = by_quadratic_programs(K, y, cost, penalty, form)
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(optimum, rel=1e-4)
    assert found.objective <= optimum * (1 + 2e-6)


@pytest.mark.parametrize("max_steps", [1, 5, 20, 2000])
@pytest.mark.parametrize("make", [inseparable, duplicated], ids=lambda make: make.__name__)
def test_quadratic_bound_lies_below_the_optimum(make, max_steps):
    K, y, form = quadratic_problem(make)
    cost = np.ones(len(y))
    found = HingeLasso(K, Hinge(y, cost), form).solve(0.3, 1e-7, max_steps=max_steps)
    optimum = by_quadratic_programs(K, y, cost, 0.3, form)
    assert found.objective * (1 - found.gap) <= optimum * (1 + 1e-9)
    assert optimum <= found.objective * (1 + 1e-5)
    assert max_steps > 20 or found.gap > 1e-7
