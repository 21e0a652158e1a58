"""The rounds of AROM: each against another solver, and the loop against its definition."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import wine
from tests.independent import minimum
from zeronorm.datasets import make_weston_toy
from zeronorm.solvers.elimination.arom import PATIENCE, eliminate, fit_once
from zeronorm.solvers.elimination.columns import Columns, first_equal_column
from zeronorm.solvers.elimination.rounds import (
    HingeSlack,
    JointSquaredSlack,
    LinearProgram,
    SquaredSlack,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def toy(n=30, seed=0, **options):
    X, y = make_weston_toy(n, random_state=seed, **options)
    return X, y.astype(float)[:, None]


def three_classes(n=45, d=20, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d))
    X[:, :3] += 2.0 * np.eye(3)[codes]
    return X, np.where(codes[:, None] == np.arange(3), 1.0, -1.0)


SCALES = [np.ones(100), np.random.default_rng(0).uniform(0.1, 2.0, size=100)]


@pytest.mark.parametrize("scaling", SCALES, ids=["equal", "uneven"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_hinge_round_is_libsvm(scaling, C):
    X, y = toy()
    found = HingeSlack(Columns(X), y, np.full(30, C)).solve(scaling)
    rival = SVC(kernel="linear", C=C, tol=1e-8).fit(X * scaling, y.ravel())
    slack = np.maximum(0.0, 1.0 - y.ravel() * rival.decision_function(X * scaling))
    expected = 0.5 * (rival.coef_**2).sum() + C * slack.sum()
    assert found.objective == pytest.approx(expected, rel=1e-5)
    assert found.coef[:, 0] == pytest.approx(scaling * rival.coef_[0], abs=1e-4)


@pytest.mark.parametrize("scaling", SCALES, ids=["equal", "uneven"])
def test_a_squared_round_is_libsvm_with_a_ridge(scaling):
    """C/2 xi² is the ridge 1/C on the kernel of a hard-margin SVM."""
    X, y = toy()
    C = 0.1
    found = SquaredSlack(Columns(X), y, np.full(30, C)).solve(scaling)
    kernel = (X * scaling) @ (X * scaling).T + np.eye(30) / C
    rival = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(kernel, y.ravel())
    dual = np.zeros(30)
    dual[rival.support_] = rival.dual_coef_[0]
    assert found.objective == pytest.approx(0.5 * dual @ kernel @ dual, rel=1e-5)
    expected = scaling**2 * (X.T @ dual)
    assert found.coef[:, 0] == pytest.approx(expected, rel=1e-3, abs=1e-5 * expected.max())


@pytest.mark.parametrize("scaling", SCALES, ids=["equal", "uneven"])
@pytest.mark.parametrize("C", [0.5, 100.0])
def test_a_round_of_linear_programs_is_linprog(scaling, C):
    X, y = toy()
    found = LinearProgram(Columns(X), y, np.full(30, C)).solve(scaling)
    expected = minimum(X * scaling, y.ravel(), np.full(30, C))
    assert found.objective == pytest.approx(expected, rel=1e-6)
    assert found.gap <= 1e-6


def joint_objective(W, b, X, targets, C):
    """Weston and Watkins, by hand."""
    scores, own = X @ W + b, targets.argmax(axis=1)
    value = 0.5 * (W**2).sum()
    for i, row in enumerate(scores):
        for k, score in enumerate(row):
            if k != own[i]:
                value += 0.5 * C * max(0.0, 1.0 - (row[own[i]] - score)) ** 2
    return value


@pytest.mark.parametrize("d", [4, 60], ids=["tall", "wide"])
def test_a_joint_round_is_the_minimum(d):
    X, targets = three_classes(n=30, d=d)
    X -= X.mean(axis=0)
    found = JointSquaredSlack(Columns(X), targets, np.full(30, 0.5)).solve(np.ones(d))
    value = joint_objective(found.coef, found.intercept, X, targets, 0.5)
    assert value == pytest.approx(found.objective, rel=1e-6)

    def objective(point):
        return joint_objective(point[: 3 * d].reshape(d, 3), point[3 * d :], X, targets, 0.5)

    if d == 4:
        rival = minimize(objective, np.zeros(3 * d + 3), tol=1e-10).fun
        assert found.objective == pytest.approx(rival, rel=1e-5)
    assert abs(found.gap) <= 1e-6
    assert found.intercept.sum() == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("kind", [SquaredSlack, HingeSlack, LinearProgram])
def test_the_loop_is_the_definition(kind):
    """Weston's loop, on data that are really rescaled, with nothing dropped."""
    X, y = toy(20)
    C = 1e4
    result = eliminate(kind(Columns(X), y, np.full(20, C)), stop_at=5)
    z = np.ones(100)
    for _ in range(result.n_iter):
        found = kind(Columns(X * z), y, np.full(20, C)).solve(np.ones(100))
        z = z * np.abs(found.coef[:, 0])
        z /= z.max()
    assert sorted(np.argsort(-z, kind="stable")[:3]) == sorted(result.order[:3])
    mine = result.scaling / result.scaling.max()
    assert mine == pytest.approx(z, abs=1e-3)


@pytest.mark.parametrize("kind", [SquaredSlack, HingeSlack, LinearProgram])
def test_where_to_stop_changes_no_set(kind):
    X, y = toy(25)
    full = eliminate(kind(Columns(X), y, np.ones(25)), stop_at=1)
    assert sorted(full.order) == list(range(100))
    for stop_at in (2, 5, 17, 60):
        part = eliminate(kind(Columns(X), y, np.ones(25)), stop_at=stop_at)
        assert set(part.order[:stop_at]) == set(full.order[:stop_at])
        assert part.n_iter <= full.n_iter


@pytest.mark.parametrize("kind", [SquaredSlack, HingeSlack, LinearProgram])
def test_sparse_is_dense(kind):
    X, y = toy(30)
    X[np.abs(X) < 1.0] = 0.0
    dense = eliminate(kind(Columns(X), y, np.ones(30)), stop_at=1)
    thin = eliminate(kind(Columns(sparse.csr_array(X)), y, np.ones(30)), stop_at=1)
    assert list(thin.order[:10]) == list(dense.order[:10])
    assert thin.scaling == pytest.approx(dense.scaling, rel=1e-4, abs=1e-6)


def test_joint_sparse_is_dense():
    X, targets = three_classes(n=60, d=8)
    X[np.abs(X) < 0.5] = 0.0
    both = [
        JointSquaredSlack(Columns(values), targets, np.ones(60)).solve(np.ones(8)).objective
        for values in (X, sparse.csr_array(X))
    ]
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("kind", [SquaredSlack, LinearProgram])
def test_counted_slacks_are_fewer(kind):
    """Outliers turn the hinge away; their number does not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:5], y[:5] = [[-2.0, 2.0]], 1.0
    wrong = []
    for count in (False, True):
        problem = kind(Columns(X), y[:, None], np.ones(100))
        found = fit_once(problem, np.ones(2), count_slacks=count)
        scores = (X - X.mean(axis=0)) @ found.coef[:, 0] + found.intercept
        wrong.append(int(np.sum(scores * y <= 0)))
    assert 5 <= wrong[1] < wrong[0]


def test_scales_that_call_for_each_other_end():
    """Wine, three classes: the linear programs go to and fro between two solutions."""
    X, y = wine()
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    result = eliminate(LinearProgram(Columns(X), targets, np.ones(len(y))), stop_at=0)
    assert result.is_settled
    assert result.n_iter < 60
    assert len(set(result.history["features"][-PATIENCE:])) == 1


@pytest.mark.parametrize("kind", [SquaredSlack, HingeSlack, LinearProgram])
def test_where_the_scales_settle_with_too_many_the_weakest_go_one_by_one(kind):
    """Classes that overlap keep many features in use, and the largest are not the best few."""
    X, y = make_classification(
        300, 15, n_informative=6, n_redundant=6, class_sep=0.8, flip_y=0.05, random_state=3
    )
    X, targets = StandardScaler().fit_transform(X), np.where(y > 0, 1.0, -1.0)[:, None]

    def loss(chosen):
        """Objective of the machine on these features alone."""
        problem = kind(Columns(X[:, chosen]), targets, np.ones(len(y)))
        return problem.solve(np.ones(len(chosen))).objective

    settled = eliminate(kind(Columns(X), targets, np.ones(len(y))), stop_at=0)
    assert settled.is_settled and settled.count > 4
    losses = []
    for size in (1, 2, 3, 4):
        found = eliminate(kind(Columns(X), targets, np.ones(len(y))), stop_at=size)
        assert found.count == size
        assert sorted(found.order) == list(range(15))
        assert set(found.order[:size]) == set(np.flatnonzero(found.scaling))
        losses.append([loss(found.order[:size]), loss(settled.order[:size])])
    one_by_one, by_size = np.sum(losses, axis=0)
    assert one_by_one < by_size


class TestEqualColumns:
    def test_the_first_of_equals(self):
        X = np.random.default_rng(0).normal(size=(20, 6))
        X[:, 3] = X[:, 1]
        X[:, 5] = X[:, 1]
        X[:, 4] = X[:, 0] * (1 + 1e-9)  # nearly, but not equal
        for values in (X, sparse.csr_array(X)):
            assert list(first_equal_column(Columns(values))) == [0, 1, 2, 1, 4, 1]

    def test_none_and_all(self):
        X = np.random.default_rng(0).normal(size=(5, 1))
        assert list(first_equal_column(Columns(X))) == [0]
        assert list(first_equal_column(Columns(np.tile(X, 4)))) == [0, 0, 0, 0]

    def test_deviations_of_constants_are_exactly_zero(self):
        X = np.full((7, 3), 0.1)
        X[:, 2] = np.arange(7)
        for values in (X, sparse.csr_array(X)):
            assert list(Columns(values).deviations > 0) == [False, False, True]
