"""Descent on the vectors: gradients by finite differences, optima by other solvers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from zeronorm.kernels import Kernel
from zeronorm.learned.prototypes import Prototypes
from zeronorm.learned.tasks import LargeMargin, Projection
from zeronorm.solvers import gram
from zeronorm.solvers.losses import Hinge

KERNELS = {
    "rbf": Kernel("rbf", gamma=0.4),
    "linear": Kernel("linear"),
    "quadratic": Kernel("poly", gamma=0.5, degree=2, coef0=1.0),
    "cubic": Kernel("poly", gamma=0.3, degree=3, coef0=0.5),
}
TASKS = ("margin", "projection")


def problem(task, n=50, d=3, outputs=2, seed=0):
    """Rows, and a task of several outputs on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if task == "projection":
        return X, Projection(rng.normal(size=(n, outputs)))
    scores = X @ rng.normal(size=(d, outputs)) + 0.5 * rng.normal(size=(n, outputs))
    cost = rng.uniform(0.5, 2.0, size=n)
    return X, LargeMargin([Hinge(target, cost) for target in np.where(scores > 0, 1.0, -1.0).T])


def placed(task, kernel, count=4, **options):
    X, what = problem(task, **options)
    # The linear kernel has no room for more independent vectors than features.
    count = min(count, X.shape[1]) if kernel.name == "linear" else count
    return Prototypes(X, what, kernel, np.random.default_rng(1).normal(size=(count, X.shape[1])))


def by_differences(function, point, step=1e-5):
    slope = np.empty_like(point)
    for index in np.ndindex(*point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[index] += step
        behind[index] -= step
        slope[index] = (function(ahead) - function(behind)) / (2 * step)
    return slope


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_gradient_by_the_vectors(task, kernel):
    # Weights spread out over rows and vectors, so that no entry of the gradient vanishes.
    state = placed(task, kernel)
    vectors, (gradient, _) = state.vectors.copy(), state.gradient()

    def value(point):
        state.move(kernel, point)
        return state.value

    expected = by_differences(value, vectors)
    scale = np.abs(expected).max()
    assert kernel.name == "linear" or scale > 1e-3
    np.testing.assert_allclose(gradient, expected, atol=2e-5 * max(scale, abs(state.value)))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernel", [k for k in KERNELS.values() if k.name != "linear"], ids=str)
def test_gradient_by_gamma(task, kernel):
    state = placed(task, kernel)
    vectors, (_, gradient) = state.vectors, state.gradient()

    def value(gamma):
        state.move(kernel.with_gamma(float(gamma[0])), vectors)
        return state.value

    expected = by_differences(value, np.array([kernel.gamma]))[0]
    assert abs(expected) > 1e-3
    assert gradient == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_sparse_rows_are_dense_rows(task):
    X, what = problem(task)
    X[np.abs(X) < 0.7] = 0.0
    vectors = np.random.default_rng(1).normal(size=(3, X.shape[1]))
    states = [Prototypes(rows, what, KERNELS["rbf"], vectors) for rows in (X, sparse.csr_array(X))]
    assert states[0].value == pytest.approx(states[1].value, rel=1e-9)
    np.testing.assert_allclose(states[0].gradient()[0], states[1].gradient()[0], atol=1e-9)


@pytest.mark.parametrize("learn_gamma", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_descent_never_raises_the_objective(task, kernel, learn_gamma):
    if learn_gamma and kernel.name == "linear":
        pytest.skip("the linear kernel has no gamma")
    state = placed(task, kernel)
    values = [state.value]
    for _ in range(6):
        state.descend(max_steps=2, tolerance=1e-12, learn_gamma=learn_gamma)
        values.append(state.value)
    assert (np.diff(values) <= 1e-9 * abs(values[0])).all()
    assert values[-1] < values[0] or kernel.name == "linear"
    # The state is the best point itself, not a later one.
    fresh = Prototypes(state.X, state.task, state.kernel, state.vectors)
    assert fresh.value == pytest.approx(state.value, rel=1e-6)
    assert (state.kernel.gamma != kernel.gamma) == learn_gamma


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_projection_has_the_closed_form(kernel):
    state = placed("projection", kernel)
    own = kernel.matrix(state.vectors, state.vectors)
    cross = kernel.matrix(state.vectors, state.X)
    expected = np.linalg.solve(own, cross @ state.task.signed_dual)
    np.testing.assert_allclose(state.coef, expected, rtol=1e-4, atol=1e-5)
    # The objective is the squared distance, halved, up to the norm of what is represented.
    a, beta = state.task.signed_dual, state.coef
    gram = kernel.matrix(state.X, state.X)
    norm = np.sum(a * (gram @ a))
    distance = norm - 2 * np.sum(beta * (cross @ a)) + np.sum(beta * (own @ beta))
    assert 0.5 * distance == pytest.approx(state.value + 0.5 * norm, rel=1e-4, abs=1e-6 * norm)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_the_certified_solution_is_an_svm_with_the_modified_kernel(kernel, cost):
    X, task = problem("margin", outputs=1)
    (hinge,) = task.hinges
    hinge.cost = np.full(len(X), cost)
    vectors = np.random.default_rng(1).normal(size=(3, X.shape[1]))
    state = Prototypes(X, task, kernel, vectors)
    state.accept(task.certified(state.features, 1e-8))
    assert state.solution.gap <= 1e-8
    cross = kernel.matrix(X, vectors)
    modified = cross @ np.linalg.solve(kernel.matrix(vectors, vectors), cross.T)  # (20)
    svc = SVC(kernel="precomputed", C=cost, tol=1e-8).fit(modified, hinge.target)
    # Where all dual variables are at their bounds, any intercept within an interval is optimal.
    theirs = svc.decision_function(modified)
    np.testing.assert_allclose(
        state.scores(X)[:, 0] - state.intercept, theirs - svc.intercept_, rtol=1e-4, atol=1e-4
    )
    a = np.zeros(len(X))
    a[svc.support_] = svc.dual_coef_[0]
    loss = cost * np.maximum(0.0, 1.0 - hinge.target * theirs).sum()
    assert state.value == pytest.approx(0.5 * a @ modified @ a + loss, rel=1e-6)
    # The rounded hinge lies below the hinge, by half a width a row at most.
    rounded = task.solve(state.features, None).value
    assert rounded <= state.value <= rounded + 0.25 * hinge.cost.sum() + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_growth_takes_the_candidate_that_helps_a_projection_most(seed):
    """To first order is exact here: the objective is quadratic in what a vector adds."""
    state = placed("projection", KERNELS["rbf"], seed=seed)
    rng = np.random.default_rng(seed + 100)
    # Some near the vectors that are there: little of them is new, but that little counts fully.
    near = np.repeat(state.vectors, 3, axis=0) + 0.4 * rng.normal(size=(12, 3))
    candidates = np.vstack([near, rng.normal(size=(6, 3))])
    trials = [
        Prototypes(state.X, state.task, state.kernel, np.vstack([state.vectors, [one]])).value
        for one in candidates
    ]
    assert state.grow(candidates, 1) == 1
    np.testing.assert_array_equal(state.vectors[-1], candidates[np.argmin(trials)])
    assert state.value == pytest.approx(min(trials), rel=1e-9)


def test_growth_stops_where_no_candidate_is_new():
    state = placed("margin", KERNELS["rbf"])
    assert state.grow(state.vectors.copy(), 3) == 0
    flat = placed("margin", KERNELS["linear"], count=2)
    before = flat.value
    assert flat.grow(np.random.default_rng(2).normal(size=(9, 3)), 5) == 1
    assert len(flat.vectors) == 3 and flat.value <= before


def test_vectors_that_meet_and_kernels_that_are_not_positive():
    kernel = KERNELS["rbf"]
    twice = np.zeros((3, 2))
    factor = gram.factor(kernel.matrix(twice, twice), 1e-8, "rbf")
    np.testing.assert_allclose(factor @ factor.T, np.ones((3, 3)), atol=1e-6)
    with pytest.raises(ValueError, match="positive semidefinite kernel; 'sigmoid'"):
        kernel = Kernel("sigmoid", gamma=1.0, coef0=-2.0)
        gram.factor(kernel.matrix(np.eye(3), np.eye(3)), 1e-8, "sigmoid")
