"""The sparse Bayesian solver against dense formulas, scipy's optimisers and finite differences."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit
from sklearn.metrics.pairwise import rbf_kernel

from tests.data import cancer, contradictory, moons, noisy, separable
from zeronorm.solvers.evidence.likelihoods import Gaussian, Logistic
from zeronorm.solvers.evidence.model import Basis, Posterior
from zeronorm.solvers.evidence.moves import Neighbourhood, gain_of_adding
from zeronorm.solvers.evidence.search import maximise_evidence

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SETS = {"moons": moons, "noisy": noisy, "contradictory": contradictory, "cancer": cancer}


def problem(make, gamma=None, seed=0):
    """Kernel values, labels -1 and +1, and uneven weights; rows are distinct."""
    X, y = make()
    distinct = np.unique(X, axis=0, return_index=True)[1]
    X, y = X[distinct], y[distinct]
    gamma = gamma or 1.0 / X.shape[1]
    cost = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    return rbf_kernel(X, gamma=gamma), np.where(y == 1, 1.0, -1.0), cost


def with_one(K):
    return np.column_stack([K, np.ones(len(K))])


def dense_mode(phi, target, cost, variance):
    """Most probable weights by scipy, in units of the prior."""
    root = np.sqrt(variance)
    phi = phi * root

    def loss(u):
        f = phi @ u
        score_gradient = cost * target * expit(-target * f)
        return -cost @ log_expit(target * f) + 0.5 * u @ u, u - phi.T @ score_gradient

    def hessian(u):
        p = expit(phi @ u)
        return phi.T @ ((cost * p * (1 - p))[:, None] * phi) + np.eye(len(u))

    start = np.zeros(len(variance))
    options = {"gtol": 1e-11, "maxiter": 200}
    return (
        root
        * minimize(loss, start, jac=True, hess=hessian, method="trust-exact", options=options).x
    )


def dense_evidence(phi, target, cost, variance):
    """Laplace's log evidence in its n × n form: as of a Gaussian process with covariance ΦVΦ'."""
    w = dense_mode(phi, target, cost, variance)
    f = phi @ w
    p = expit(f)
    root = np.sqrt(cost * p * (1 - p))
    covariance = (phi * variance) @ phi.T
    _, log_det = np.linalg.slogdet(np.eye(len(f)) + root[:, None] * covariance * root)
    score_gradient = cost * target * expit(-target * f)
    return cost @ log_expit(target * f) - 0.5 * f @ score_gradient - 0.5 * log_det


def regression(at, target, cost):
    """Targets and noise variances of the regression that stands for the likelihood, at a mode."""
    f = at.columns @ at.weights
    p = expit(f)
    B = cost * p * (1 - p)
    return f + cost * target * expit(-target * f) / B, 1.0 / B


def gaussian_evidence(t, noise, phi, variance):
    """log N(t; 0, noise + ΦVΦ'), but for a constant."""
    C = np.diag(noise) + (phi * variance) @ phi.T
    return -0.5 * np.linalg.slogdet(C)[1] - 0.5 * t @ cho_solve(cho_factor(C), t)


def a_posterior(K, target, cost, n_terms=6, seed=1):
    """Some model around which to look, and its basis."""
    rng = np.random.default_rng(seed)
    basis = Basis(K, cost)
    indices = np.append(rng.choice(len(K), n_terms, replace=False), len(K))
    variance = rng.uniform(0.5, 20.0, len(indices))
    at = Posterior(Logistic(target, cost), indices, basis.columns(indices), variance)
    at.differentiate()
    return basis, at


# --- the model -------------------------------------------------------------------------------


def test_derivatives_of_the_logistic_likelihood():
    rng = np.random.default_rng(0)
    target, cost = rng.choice([-1.0, 1.0], 30), rng.uniform(0.5, 2, 30)
    f = rng.normal(size=30) * 3
    likelihood = Logistic(target, cost)
    here = likelihood.derivatives(f)
    assert here.value == pytest.approx(cost @ log_expit(target * f))
    h = 1e-5
    for i in range(30):
        unit = np.eye(30)[i] * h
        up, down = likelihood.derivatives(f + unit), likelihood.derivatives(f - unit)
        assert here.score_gradient[i] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-5)
        pulls = (up.score_gradient - down.score_gradient)[i] / (2 * h)
        assert here.curvature[i] == pytest.approx(-pulls, rel=1e-5, abs=1e-9)
        slope = (up.curvature - down.curvature)[i] / (2 * h)
        assert here.slope[i] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_likelihood_of_absurd_scores_is_finite():
    here = Logistic(np.array([1.0, -1.0, 1.0]), np.ones(3)).derivatives(np.array([1e4, 1e4, -1e4]))
    assert here.value == pytest.approx(-2e4)
    np.testing.assert_array_equal(here.score_gradient, [0.0, -1.0, 1.0])


@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_mode_is_scipys(make):
    K, target, cost = problem(make)
    basis, at = a_posterior(K, target, cost)
    expected = dense_mode(at.columns, target, cost, at.variance)
    np.testing.assert_allclose(at.weights, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_evidence_is_that_of_the_dense_formula(make):
    K, target, cost = problem(make)
    _, at = a_posterior(K, target, cost)
    expected = dense_evidence(at.columns, target, cost, at.variance)
    assert at.evidence == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_gradient_is_that_of_the_dense_evidence(make):
    K, target, cost = problem(make)
    _, at = a_posterior(K, target, cost)
    for j in range(len(at.indices)):
        ends = [at.variance * np.exp(h * np.eye(len(at.variance))[j]) for h in (1e-3, -1e-3)]
        up, down = (dense_evidence(at.columns, target, cost, v) for v in ends)
        assert at.gradient[j] == pytest.approx((up - down) / 2e-3, abs=1e-5)


def test_hessian_is_that_of_the_regression():
    K, target, cost = problem(moons)
    _, at = a_posterior(K, target, cost, n_terms=3)
    t, noise = regression(at, target, cost)

    def value(change):
        return gaussian_evidence(t, noise, at.columns, at.variance * np.exp(change))

    h, unit = 1e-3, np.eye(4)
    hessian = at.hessian() + np.diag(at.gradient)
    plain = 0.5 * (at.whitened**2 - at.sparsity.diagonal())
    for i in range(4):
        for j in range(4):
            ends = [(a * unit[i] + b * unit[j]) * h for a in (1, -1) for b in (1, -1)]
            second = (value(ends[0]) - value(ends[1]) - value(ends[2]) + value(ends[3])) / 4 / h**2
            expected = -second + (plain[i] if i == j else 0.0)
            assert hessian[i, j] == pytest.approx(expected, abs=1e-4)


def a_regression(seed=0, noise=0.3):
    """Posterior of numbers with normal noise and uneven weights, and log N as a function."""
    rng = np.random.default_rng(seed)
    phi, target = rng.normal(size=(30, 4)), rng.normal(size=30)
    cost, variance = rng.uniform(0.5, 2.0, 30), rng.uniform(0.5, 3.0, 4)

    def evidence(change):
        """L at variances and noise times exp(change), in its n x n form."""
        factors = np.exp(change)
        rows = noise * factors[-1] / cost
        constant = 0.5 * cost.sum() * np.log(2 * np.pi * noise * factors[-1])
        constant -= 0.5 * np.log(rows).sum()  # that of the determinant of the rows
        return gaussian_evidence(target, rows, phi, variance * factors[:-1]) - constant

    at = Posterior(Gaussian(target, cost, noise, 1e-6), np.arange(4), phi, variance)
    at.differentiate()
    return at, evidence


def test_evidence_of_a_regression_is_that_of_the_dense_formula():
    at, evidence = a_regression()
    assert at.evidence == pytest.approx(evidence(np.zeros(5)), rel=1e-10)


def test_derivatives_by_the_noise_are_those_of_the_dense_evidence():
    at, evidence = a_regression()
    first, mixed, second = at.noise_derivatives()
    h, unit = 1e-3, np.eye(5)
    assert first == pytest.approx(
        (evidence(h * unit[4]) - evidence(-h * unit[4])) / 2 / h, rel=1e-4
    )
    for j, expected in enumerate([*mixed, second]):
        ends = [(a * unit[4] + b * unit[j]) * h for a in (1, -1) for b in (1, -1)]
        corners = [evidence(end) for end in ends]
        found = (corners[0] - corners[1] - corners[2] + corners[3]) / 4 / h**2
        assert found == pytest.approx(expected, abs=1e-4)


# --- functions outside the model -------------------------------------------------------------


@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_S_and_Q_are_those_of_the_dense_formulas(make):
    K, target, cost = problem(make)
    basis, at = a_posterior(K, target, cost)
    around = Neighbourhood(basis, at, np.full(len(K) + 1, 1e5))
    phi = basis.columns(around.indices)
    t, noise = regression(at, target, cost)
    C = cho_factor(np.diag(noise) + (at.columns * at.variance) @ at.columns.T)
    np.testing.assert_allclose(around.S, phi.T @ cho_solve(C, phi), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(around.Q, phi.T @ cho_solve(C, t), rtol=1e-5, atol=1e-6)


def test_slope_of_the_evidence_outside_the_model():
    K, target, cost = problem(noisy)
    basis, at = a_posterior(K, target, cost)
    around = Neighbourhood(basis, at, np.full(len(K) + 1, 1e5))
    outside = np.flatnonzero(around.variance == 0)[:8]
    assert len(outside) > 2
    for k in outside:
        phi = np.column_stack([at.columns, around.columns[:, k]])
        small = [dense_evidence(phi, target, cost, np.append(at.variance, v)) for v in (1e-4, 2e-4)]
        # Second order: the value at zero is at.evidence.
        slope = (4 * small[0] - small[1] - 3 * at.evidence) / 2e-4
        Q, R, S = around.Q[k], around.R[k], around.S[k, k]
        assert 0.5 * (Q * Q - S - Q * R) == pytest.approx(slope, rel=1e-2, abs=1e-3)
        # R matters: without it the slope is another.
        assert abs(Q * R) > 0


def test_gain_of_adding_is_the_maximum_over_the_variance():
    for Q, S in ((2.0, 1.0), (0.5, 0.1), (1.0, 3.0)):

        def loss(log_v, Q=Q, S=S):
            v = np.exp(log_v)
            return 0.5 * (np.log1p(v * S) - v * Q * Q / (1 + v * S))

        best = minimize_scalar(loss, bounds=(-20, 10), method="bounded", options={"xatol": 1e-9})
        found = gain_of_adding(np.array([Q * Q]), np.array([S]))[0]
        assert found == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize("make", [moons, noisy])
def test_moves_gain_what_they_promise_in_the_regression(make):
    K, target, cost = problem(make)
    basis, at = a_posterior(K, target, cost)
    around = Neighbourhood(basis, at, np.full(len(K) + 1, 1e5))
    around.R[:] = 0.0  # the regression has no motion of B
    t, noise = regression(at, target, cost)
    moves = around.moves(1e-3, most=8)
    assert len(moves) >= 2
    assert any(move.pair[0] >= 0 for move in moves)
    before = gaussian_evidence(t, noise, around.columns, around.variance)
    for move in moves:
        after = gaussian_evidence(t, noise, around.columns, move.variance)
        assert after - before == pytest.approx(move.gain, rel=1e-5)
        before = after
        # The weights are the regression's.
        C = cho_factor(np.diag(noise) + (around.columns * move.variance) @ around.columns.T)
        expected = move.variance * (around.columns.T @ cho_solve(C, t))
        np.testing.assert_allclose(move.weights, expected, rtol=1e-4, atol=1e-6)


def test_spanning_functions_leave_as_little_as_a_greedy_search():
    K, target, cost = problem(moons)
    basis = Basis(K, cost)
    chosen = basis.spanning(cost, 10)
    phi = np.sqrt(cost)[:, None] * with_one(K)  # the largest value of each column is one
    left, expected = phi.copy(), []
    place = len(K)
    for _ in range(11):
        expected.append(place)
        direction = left[:, place] / np.linalg.norm(left[:, place])
        left -= np.outer(direction, direction @ left)
        place = int((left**2).sum(axis=0).argmax())
    np.testing.assert_array_equal(chosen, expected)


# --- the search ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, tolerance", [(moons, 1e-7), (noisy, 1e-7), (contradictory, 1e-7), (cancer, 1e-3)]
)
def test_solution_is_a_maximum_of_the_dense_evidence(make, tolerance):
    # The classes of cancer can be separated: rounding allows no more there.
    K, target, cost = problem(make)
    result = maximise_evidence(Basis(K, cost), Logistic(target, cost), tolerance=tolerance)
    assert result.is_converged
    phi, indices = with_one(K), result.indices
    here = dense_evidence(phi[:, indices], target, cost, result.variance)
    assert result.history["objective"][-1] == pytest.approx(here, abs=1e-4)
    for j in range(len(indices)):
        ends = [result.variance * np.exp(h * np.eye(len(indices))[j]) for h in (1e-2, -1e-2)]
        up, down = (dense_evidence(phi[:, indices], target, cost, v) for v in ends)
        spread = np.sqrt(np.cov(phi[:, indices[j]], aweights=cost, ddof=0))
        if result.variance[j] * spread**2 >= Logistic.largest_variance * (1 - 1e-9):
            assert up > down  # the floor of the precisions
        else:
            assert (up - down) / 2e-2 == pytest.approx(0.0, abs=1e-3 + 10 * tolerance)
    # Without any one of them it is smaller.
    for j in range(len(indices)):
        fewer = np.delete(indices, j)
        variance = np.delete(result.variance, j)
        assert dense_evidence(phi[:, fewer], target, cost, variance) < here + 1e-6


@pytest.mark.parametrize("make", [moons, noisy])
def test_no_single_addition_raises_the_evidence(make):
    K, target, cost = problem(make)
    K, target, cost = K[:60, :60], target[:60], cost[:60]
    result = maximise_evidence(Basis(K, cost), Logistic(target, cost), tolerance=1e-5)
    phi, likelihood = with_one(K), Logistic(target, cost)
    start = np.append(result.weights, 0.0)
    for k in np.setdiff1d(np.arange(61), result.indices):
        indices = np.append(result.indices, k)

        def loss(log_v, indices=indices):
            variance = np.append(result.variance, np.exp(log_v))
            return -Posterior(likelihood, indices, phi[:, indices], variance, start).evidence

        best = minimize_scalar(loss, bounds=(-6, 8), method="bounded")
        assert -best.fun <= result.history["objective"][-1] + 1e-2


@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_evidence_never_falls(make):
    K, target, cost = problem(make)
    result = maximise_evidence(Basis(K, cost), Logistic(target, cost))
    rises = np.diff(result.history["objective"])
    assert len(rises) > 3
    assert rises.min() >= -1e-10 * abs(result.history["objective"][-1])


@pytest.mark.parametrize("factor", [1e-150, 1e-3, 1e8, 1e150])
def test_size_of_the_kernel_values_does_not_matter(factor):
    K, target, cost = problem(noisy)
    plain = maximise_evidence(Basis(K, cost), Logistic(target, cost))
    scaled = maximise_evidence(Basis(K * factor, cost), Logistic(target, cost))
    np.testing.assert_array_equal(np.sort(scaled.indices), np.sort(plain.indices))
    assert scaled.history["objective"][-1] == pytest.approx(
        plain.history["objective"][-1], abs=1e-5
    )
    kernel = plain.indices < len(K)
    ratio = scaled.weights[kernel] / plain.weights[kernel]
    np.testing.assert_allclose(ratio * factor, 1.0, rtol=1e-3)


def test_functions_in_the_span_of_the_constant_stay_out():
    K, target, cost = problem(separable)
    basis = Basis(np.hstack([np.ones_like(K[:, :3]), np.zeros_like(K[:, :2]), K]), cost)
    result = maximise_evidence(basis, Logistic(target, cost))
    assert result.is_converged
    assert not np.isin(result.indices, np.arange(5)).any()


def test_nothing_is_learned_from_labels_without_a_pattern():
    rng = np.random.default_rng(0)
    K = rbf_kernel(rng.normal(size=(40, 2)), gamma=1e-7)
    target = np.where(np.arange(40) % 2 == 1, 1.0, -1.0)
    result = maximise_evidence(Basis(K, np.ones(40)), Logistic(target, np.ones(40)))
    assert len(result.indices) == 0
    assert result.history["objective"][-1] == pytest.approx(40 * np.log(0.5))
    assert result.is_converged


def test_rounds_run_out_with_the_promise_of_the_next():
    K, target, cost = problem(noisy)
    result = maximise_evidence(Basis(K, cost), Logistic(target, cost), max_rounds=2)
    assert not result.is_converged
    assert len(result.history["objective"]) == 2
    assert np.isfinite(result.gain) and result.gain > 0.1
