"""The hat matrix of a hinge machine against the solution it belongs to and against real refits."""

import numpy as np
import pytest

from tests.solvers.problems import contradictory, duplicated, inseparable, kernel_problem
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.gcv import criteria, hat_matrix, working_problem
from zeronorm.solvers.newton.smooth_hinge_lasso import SmoothHingeLasso

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DELTA = 1e-4


def solved(make, penalty, cost=None):
    """A solution that is tightly solved, with its terms, working weights, labels and hat matrix."""
    K, y, _ = kernel_problem(make)
    cost = np.ones(len(y)) if cost is None else cost(len(y))
    found = SmoothHingeLasso(K, Hinge(y, cost), DELTA).solve(penalty, max_steps=100)
    assert found.gap <= 1e-9
    weight, labels = working_problem(found.scores, Hinge(y, cost), found.dual, DELTA)
    terms = np.flatnonzero(found.coef)
    left, right = hat_matrix(K[:, terms], found.coef[terms], weight, penalty)
    return K[:, terms], y, cost, found, weight, labels, left @ right


def uneven(n):
    return np.random.default_rng(1).uniform(0.5, 3.0, n)


MAKERS = [inseparable, contradictory, duplicated]


@pytest.mark.parametrize("cost", [None, uneven], ids=["even", "uneven"])
@pytest.mark.parametrize("penalty", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_hat_matrix_reproduces_the_scores(make, penalty, cost):
    K, y, cost, found, weight, labels, S = solved(make, penalty, cost)
    assert (weight >= 0).all() and (weight > 0).any()
    np.testing.assert_allclose(S @ labels, found.scores, atol=1e-3)
    # The working labels are the labels up to delta, and so is what comes of them.
    assert np.abs(labels - y).max() <= DELTA * (1 + 1e-9)
    reach = DELTA * np.abs(S).sum(axis=1).max()
    np.testing.assert_allclose(S @ y, found.scores, atol=1e-3 + reach)


@pytest.mark.parametrize("penalty", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_trace_counts_terms(make, penalty):
    K, y, cost, found, weight, labels, S = solved(make, penalty)
    assert 0.0 < np.trace(S) <= K.shape[1] + 1
    assert (np.diag(S) >= -1e-9).all() and (np.diag(S) <= 1 + 1e-9).all()
    # A row without weight has no say.
    assert not S[:, weight == 0].any()


@pytest.mark.parametrize("penalty", [0.3, 3.0])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_hat_matrix_is_the_ridge_problems(make, penalty):
    """Against the normal equations of (3.7), written with U = diag(1 / |alpha|)."""
    K, y, cost, found, weight, labels, S = solved(make, penalty)
    coef = found.coef[found.coef != 0]
    columns = np.column_stack([K, np.ones(len(y))])
    form = columns.T @ (weight[:, None] * columns)
    form += np.diag(np.append(penalty / np.abs(coef), 0.0))
    expected = columns @ np.linalg.solve(form, columns.T * weight)
    np.testing.assert_allclose(S, expected, atol=1e-6)


def test_working_problem_by_hand():
    """Behind the margin, on it, beyond it; and one on the margin with the full dual variable."""
    y = np.array([1.0, -1.0, 1.0, -1.0])
    scores = np.array([-1.0, -1.0, 3.0, -1.00005])
    cost, dual = np.full(4, 2.0), np.array([2.0, 0.7, 0.0, 2.0])
    weight, labels = working_problem(scores, Hinge(y, cost), dual, DELTA)
    np.testing.assert_allclose(weight, [1.0, 2.0 / (2 * DELTA), 0.0, 2.0 / (2 * DELTA)])
    np.testing.assert_allclose(labels, [1.0, -1.0 - DELTA, 1.0, -1.0 - DELTA])


def test_criteria_by_hand():
    scores, y = np.array([0.5, -1.0, 2.0, 0.0]), np.array([1.0, -1.0, 1.0, -1.0])
    cost = np.array([1.0, 2.0, 1.0, 1.0])
    gcv, loo = criteria(scores, Hinge(y, cost), 1.5)
    assert gcv == pytest.approx(5 * (0.25 + 0.0 + 1.0 + 1.0) / (5 - 1.5) ** 2)
    assert loo == pytest.approx((0.5 + 0.0 + 0.0 + 1.0 + 2 * 1.5) / 5)


def test_a_hinge_counts_two_at_most():
    """A row that is very wrong is one error, not a hundred."""
    one = np.ones(1)
    values = [criteria(np.array([score]), Hinge(one, 3 * one), 0.0)[1] for score in (-1, -99)]
    assert values[0] == values[1] == pytest.approx(2.0)


@pytest.mark.parametrize("trace", [4.0, 4.4, 1e9])
def test_as_many_degrees_of_freedom_as_rows_are_infinitely_bad(trace):
    assert criteria(np.zeros(4), Hinge(np.ones(4), np.ones(4)), trace)[0] == np.inf


def test_weights_are_multiplicities():
    """Trace, GCV and LOO of a row of weight k are those of k equal rows."""
    rng = np.random.default_rng(0)
    K, y = rng.normal(size=(20, 3)), np.where(rng.uniform(size=20) < 0.5, 1.0, -1.0)
    times = rng.integers(1, 4, size=20)
    coef, dual = np.array([0.4, -0.2, 0.7]), rng.uniform(0, 1, size=20).round(1)
    results = []
    for rows, cost in ((np.arange(20), times.astype(float)), (np.repeat(np.arange(20), times), 1)):
        cost = np.broadcast_to(cost, len(rows)).astype(float)
        scores = K[rows] @ coef
        weight, _ = working_problem(scores, Hinge(y[rows], cost), dual[rows] * cost, DELTA)
        left, right = hat_matrix(K[rows], coef, weight, 0.5)
        trace = np.einsum("ij,ji->", left, right)
        results.append((trace, *criteria(scores, Hinge(y[rows], cost), trace)))
    assert results[0] == pytest.approx(results[1])


def test_no_terms_leave_the_mean():
    """The hat matrix of the constant: the weighted mean of the labels that count."""
    weight = np.array([1.0, 3.0, 0.0])
    left, right = hat_matrix(np.empty((3, 0)), np.empty(0), weight, 1.0)
    np.testing.assert_allclose(left @ right, np.tile(weight / 4, (3, 1)))
