"""The weighted problem with several outputs, a second quadratic term, and a sample of the rows."""

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.solvers.problems import inseparable, kernel_problem
from zeronorm.solvers.design import ScaledRows
from zeronorm.solvers.newton.hinge_ridge import solve_hinge_ridge
from zeronorm.solvers.reweighting import weighted_hinge as hinge_ridge
from zeronorm.solvers.reweighting.loop import Penalty, reweight
from zeronorm.solvers.reweighting.weighted_hinge import HingeRidge, sample_rows


def test_mixed_objective_equals_libsvm_on_the_equivalent_kernel():
    K, y, scale = kernel_problem(inseparable)
    C, form = 3.0, np.diag(1 / scale**2) + 0.7 * K
    problem = HingeRidge(K, y[:, None], np.full(len(y), C), quadratic=0.7 * K)
    ours = problem.solve(scale**2, 1e-9)
    svc = SVC(kernel="precomputed", C=C, tol=1e-10)
    svc.fit(K @ np.linalg.solve(form, K), y)
    coef = np.linalg.solve(form, K[:, svc.support_] @ svc.dual_coef_[0])

    def value(alpha, b):
        return 0.5 * alpha @ form @ alpha + C * np.maximum(1 - y * (K @ alpha + b), 0).sum()

    own = value(ours.coef[:, 0], ours.intercept[0])
    assert own == pytest.approx(value(coef, svc.intercept_[0]), rel=1e-6)
    expected_loss = own - 0.5 * np.sum(ours.coef[:, 0] ** 2 / scale**2)
    assert ours.loss == pytest.approx(expected_loss, rel=1e-9)


def test_outputs_are_solved_apart_and_columns_can_be_dropped():
    K, y, scale = kernel_problem(inseparable)
    targets = np.column_stack([y, -y, np.sign(np.arange(len(y)) % 3 - 0.5)])
    cost = np.full(len(y), 2.0)
    problem = HingeRidge(K, targets, cost)
    problem.solve(scale**2, 1e-9)
    keep = np.arange(K.shape[1]) % 2 == 0
    problem.keep(keep)
    together = problem.solve(scale[keep] ** 2, 1e-9)
    for k in range(3):
        alone = solve_hinge_ridge(
            ScaledRows(K[:, keep], scale[keep]), targets[:, k], cost, tolerance=1e-9
        )
        np.testing.assert_allclose(together.coef[:, k], scale[keep] * alone.weights, atol=1e-5)


@pytest.fixture
def sampled(monkeypatch):
    """Sampling from 80 rows on, as if they were many."""
    monkeypatch.setattr(hinge_ridge, "SAMPLE_ROWS", 30)
    monkeypatch.setattr(hinge_ridge, "SAMPLE_PER_CLASS", 5)
    monkeypatch.setattr(hinge_ridge, "SAMPLE_LEAST_COLUMNS", 20)


def test_only_steering_rounds_see_a_sample(sampled):
    K, y, scale = kernel_problem(inseparable)
    cost = np.full(len(y), 2.0)
    problem = HingeRidge(K, y[:, None], cost)
    rough = problem.solve(scale**2, 0.1, steering=True)
    assert rough.gap == np.inf
    assert problem.solve(scale**2, 0.1).gap <= 0.1
    tight = problem.solve(scale**2, 1e-9)
    alone = solve_hinge_ridge(ScaledRows(K, scale), y, cost, tolerance=1e-9)
    assert tight.gap <= 1e-9
    np.testing.assert_allclose(tight.coef[:, 0], scale * alone.weights, atol=1e-5)


def test_the_loss_of_a_sampled_round_is_that_of_all_rows(sampled):
    K, y, scale = kernel_problem(inseparable)
    problem = HingeRidge(K, y[:, None], np.full(len(y), 2.0))
    problem.solve(scale**2, 0.1, steering=True)
    keep = np.arange(K.shape[1]) % 3 > 0
    problem.keep(keep)
    found = problem.solve(scale[keep] ** 2, 0.1, steering=True)
    scores = K[:, keep] @ found.coef[:, 0] + found.intercept[0]
    assert found.gap == np.inf
    assert found.loss == pytest.approx(2.0 * np.maximum(1 - y * scores, 0).sum())


def test_the_loop_ends_with_a_certificate_of_all_rows(sampled):
    K, y, _ = kernel_problem(inseparable)
    problem = HingeRidge(K, y[:, None], np.full(len(y), 2.0))
    found = reweight(problem, Penalty(0.0, 2), tolerance=1e-6)
    assert found.history["gap"][0] == np.inf
    assert found.is_converged(1e-6)
    objective = np.array(found.history["objective"])
    assert (np.diff(objective) <= 1e-8 * np.abs(objective[:-1])).all()
    # The certificate, from nothing but the coefficients: they solve their own weighted problem.
    scale = Penalty(0.0, 2, floor=np.array(1e-9)).scale(found.coef)
    again = solve_hinge_ridge(
        ScaledRows(K[:, found.terms], np.sqrt(scale)), y, np.full(len(y), 2.0), tolerance=1e-9
    )
    np.testing.assert_allclose(np.abs(again.weights), 1.0, atol=1e-2)


def test_a_loose_tolerance_of_the_user_still_counts_all_rows(sampled):
    K, y, _ = kernel_problem(inseparable)
    problem = HingeRidge(K, y[:, None], np.full(len(y), 2.0))
    found = reweight(problem, Penalty(2.0, 2), tolerance=0.1)
    assert found.gap <= 0.1 and found.is_converged(0.1)


def test_a_sample_keeps_rare_classes_and_stands_for_all_rows():
    targets = np.full((1000, 3), -1.0)
    sizes = (900, 92, 8)
    targets[np.arange(1000), np.repeat([0, 1, 2], sizes)] = 1.0
    rows, factor = sample_rows(targets, 100, 20)
    classes = targets[rows].argmax(axis=1)
    assert np.bincount(classes).tolist() == [72, 20, 8]
    for label, size in enumerate(sizes):
        assert factor[classes == label].sum() == pytest.approx(size)
    assert (np.diff(rows) > 0).all()
    again, _ = sample_rows(targets, 100, 20)
    assert np.array_equal(rows, again)


def test_two_classes_are_sampled_by_their_sign():
    y = np.where(np.arange(500) < 10, 1.0, -1.0)[:, None]
    rows, factor = sample_rows(y, 50, 8)
    assert (y[rows] > 0).sum() == 8
    assert factor.sum() == pytest.approx(500)


def test_a_hopelessly_flat_kernel_ends_honestly():
    K, y, _ = kernel_problem(inseparable, gamma=1e-7)
    found = reweight(HingeRidge(K, y[:, None], np.full(len(y), 1e4)), Penalty(0.0, 2))
    objective = np.array(found.history["objective"])
    assert np.isfinite(found.coef).all() and np.isfinite(found.intercept).all()
    assert (np.diff(objective) <= 1e-8 * np.abs(objective[:-1])).all()
