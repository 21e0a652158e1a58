"""The weighted problem with a second quadratic term, and with a sample of the rows."""

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.solvers.problems import inseparable, kernel_problem
from zeronorm.solvers.design import Design
from zeronorm.solvers.losses import Hinge
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.reweighting.loop import Penalty, reweight
from zeronorm.solvers.reweighting.weighted_hinge import HingeRidge


def test_mixed_objective_equals_libsvm_on_the_equivalent_kernel():
    K, y, scale = kernel_problem(inseparable)
    C, form = 3.0, np.diag(1 / scale**2) + 0.7 * K
    problem = HingeRidge(K, Hinge(y, np.full(len(y), C)), quadratic=0.7 * K)
    ours = problem.solve(scale**2, 1e-9)
    svc = SVC(kernel="precomputed", C=C, tol=1e-10)
    svc.fit(K @ np.linalg.solve(form, K), y)
    coef = np.linalg.solve(form, K[:, svc.support_] @ svc.dual_coef_[0])

    def value(alpha, b):
        return 0.5 * alpha @ form @ alpha + C * np.maximum(1 - y * (K @ alpha + b), 0).sum()

    own = value(ours.coef, ours.intercept)
    assert own == pytest.approx(value(coef, svc.intercept_[0]), rel=1e-6)
    expected_loss = own - 0.5 * np.sum(ours.coef**2 / scale**2)
    assert ours.loss == pytest.approx(expected_loss, rel=1e-9)


def test_columns_can_be_dropped():
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 2.0)
    problem = HingeRidge(K, Hinge(y, cost))
    problem.solve(scale**2, 1e-9)
    keep = np.arange(K.shape[1]) % 2 == 0
    problem.keep(keep)
    found = problem.solve(scale[keep] ** 2, 1e-9)
    alone = solve_hinge_ridge(Design(K[:, keep], scale[keep]), Hinge(y, cost), tolerance=1e-9)
    np.testing.assert_allclose(found.coef, scale[keep] * alone.coef, atol=1e-5)


def sampled(K, y, cost):
    """A problem whose steering rounds see a third of the rows."""
    return HingeRidge(K, Hinge(y, cost), sample=np.arange(0, len(y), 3))


def test_only_steering_rounds_see_a_sample():
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 2.0)
    problem = sampled(K, y, cost)
    rough = problem.solve(scale**2, 0.1, steering=True)
    assert rough.gap == np.inf
    assert problem.solve(scale**2, 0.1).gap <= 0.1
    tight = problem.solve(scale**2, 1e-9)
    alone = solve_hinge_ridge(Design(K, scale), Hinge(y, cost), tolerance=1e-9)
    assert tight.gap <= 1e-9
    np.testing.assert_allclose(tight.coef, scale * alone.coef, atol=1e-5)


def test_the_loss_of_a_sampled_round_is_that_of_all_rows():
    K, y, scale = kernel_problem(inseparable)
    problem = sampled(K, y, np.full(len(y), 2.0))
    problem.solve(scale**2, 0.1, steering=True)
    keep = np.arange(K.shape[1]) % 3 > 0
    problem.keep(keep)
    found = problem.solve(scale[keep] ** 2, 0.1, steering=True)
    scores = K[:, keep] @ found.coef + found.intercept
    assert found.gap == np.inf
    assert found.loss == pytest.approx(2.0 * np.maximum(1 - y * scores, 0).sum())


def test_the_loop_ends_with_a_certificate_of_all_rows():
    K, y, _ = kernel_problem(inseparable)
    problem = sampled(K, y, np.full(len(y), 2.0))
    found = reweight(problem, Penalty(0.0, 2), tolerance=1e-6)
    assert found.history["gap"][0] == np.inf
    assert found.is_converged(1e-6)
    objective = np.array(found.history["objective"])
    assert (np.diff(objective) <= 1e-8 * np.abs(objective[:-1])).all()
    # The certificate, from nothing but the coefficients: they solve their own weighted problem.
    scale = Penalty(0.0, 2, floor=np.array(1e-9)).scale(found.coef)
    again = solve_hinge_ridge(
        Design(K[:, found.terms], np.sqrt(scale)), Hinge(y, np.full(len(y), 2.0)), tolerance=1e-9
    )
    np.testing.assert_allclose(np.abs(again.coef), 1.0, atol=1e-2)


def test_a_loose_tolerance_of_the_user_still_counts_all_rows():
    K, y, _ = kernel_problem(inseparable)
    problem = sampled(K, y, np.full(len(y), 2.0))
    found = reweight(problem, Penalty(2.0, 2), tolerance=0.1)
    assert found.gap <= 0.1 and found.is_converged(0.1)


def test_costs_of_the_sample_are_those_of_all_rows():
    K, y, _ = kernel_problem(inseparable)
    cost, rows = np.random.default_rng(0).uniform(1, 2, len(y)), np.arange(0, len(y), 4)
    view = HingeRidge(K, Hinge(y, cost), sample=rows).sample
    for sign in (-1.0, 1.0):
        share = np.mean(y[rows] == sign) * len(rows) / np.sum(y == sign)
        np.testing.assert_allclose(
            view.hinge.cost[y[rows] == sign], cost[rows][y[rows] == sign] / share
        )


def test_a_hopelessly_flat_kernel_ends_honestly():
    K, y, _ = kernel_problem(inseparable, gamma=1e-7)
    found = reweight(HingeRidge(K, Hinge(y, np.full(len(y), 1e4))), Penalty(0.0, 2))
    objective = np.array(found.history["objective"])
    assert np.isfinite(found.coef).all() and np.isfinite(found.intercept).all()
    assert (np.diff(objective) <= 1e-8 * np.abs(objective[:-1])).all()
