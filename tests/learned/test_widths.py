"""One width for each feature, learned with the vectors: gradients, the prior, the classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import zeronorm
from tests.data import moons
from tests.learned.test_prototypes import TASKS, by_differences, problem
from zeronorm import SparseLargeMarginClassifier
from zeronorm.kernels import Kernel
from zeronorm.learned.prototypes import Prototypes
from zeronorm.learned.widths import GAMMA_RANGE, further_variables, prior

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

AS = {"dense": np.asarray, "csr": sparse.csr_array}
METRICS = {"none": None, "ones": np.ones(3), "metric": (0.4, 2.0, 1.1), "zero": (0.4, 0.0, 2.0)}


def placed(task, metric, as_format="dense"):
    X, what = problem(task)
    X[np.abs(X) < 0.5] = 0.0
    vectors = np.random.default_rng(1).normal(size=(4, 3))
    return Prototypes(AS[as_format](X), what, Kernel("rbf", gamma=0.4, metric=metric), vectors)


@pytest.mark.parametrize("as_format", AS)
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("task", TASKS)
def test_gradient_by_the_log_widths(task, metric, as_format):
    state = placed(task, metric, as_format)
    vectors, (by_vectors, by_widths) = state.vectors, state.width_gradient()
    widths = np.ones(3) if metric is None else np.array(metric)

    def value(shift):
        state.move(Kernel("rbf", gamma=0.4, metric=widths * np.exp(shift)), vectors)
        return state.value

    expected = by_differences(value, np.zeros(3))
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(by_widths, expected, atol=1e-4 * np.abs(expected).max())
    fresh = placed(task, metric, as_format)
    np.testing.assert_allclose(by_vectors, fresh.gradient()[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_gradient_of_what_the_descent_sees(metric):
    """The same variables as in the descent, the prior among the derivatives."""
    state = placed("margin", metric)
    vectors, widths = state.vectors, further_variables(state.kernel, 3, "metric")
    point = np.linspace(-0.4, 0.3, widths.count)
    state.move(widths.kernel(point), vectors)
    _, gradient = widths.gradient(state)

    def value(there):
        state.move(widths.kernel(there), vectors)
        return state.value + widths.prior(state.kernel)

    expected = by_differences(value, point)
    np.testing.assert_allclose(gradient, expected, atol=1e-4 * np.abs(expected).max())


def test_the_prior_is_on_deviations_from_the_mean():
    assert prior(Kernel("rbf", gamma=3.0)) == 0.0
    assert prior(Kernel("rbf", metric=(5.0, 5.0, 5.0))) == pytest.approx(0.0)
    logs = np.array([1.0, -2.0, 0.5])
    expected = 0.5 * np.sum((logs - logs.mean()) ** 2)
    for gamma, metric in [(1.0, np.exp(logs)), (7.0, 3.0 * np.exp(logs))]:
        assert prior(Kernel("rbf", gamma=gamma, metric=metric)) == pytest.approx(expected)
    assert prior(Kernel("rbf", metric=(np.e, 0.0, 1.0))) == pytest.approx(0.25)
    # No part of a descent that leaves the metric alone.
    assert further_variables(Kernel("rbf", metric=(1.0, 9.0)), 2, True).prior(None) == 0.0


def test_gamma_is_the_geometric_mean():
    widths = further_variables(Kernel("rbf", gamma=2.0, metric=(1.0, 8.0, 1.0)), 3, "metric")
    kernel = widths.kernel(np.zeros(3))
    assert kernel.gamma == pytest.approx(4.0)
    np.testing.assert_allclose(kernel.gamma * np.array(kernel.metric), [2.0, 16.0, 2.0])
    kernel = further_variables(Kernel("rbf", gamma=2.0), 3, "metric").kernel(np.log([1, 2, 4]))
    np.testing.assert_allclose(kernel.gamma * np.array(kernel.metric), [2.0, 4.0, 8.0])


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_descent_lowers_what_it_sees_within_bounds(metric):
    state = placed("margin", metric)
    before, first = state.penalised, state.kernel
    for _ in range(4):
        done = state.descend(max_steps=5, tolerance=1e-12, learn_gamma="metric")
        assert done.steps and state.penalised <= before * (1 + 1e-9)
        before = state.penalised
    start = np.ones(3) if metric is None else np.array(metric)
    start, found = first.gamma * start, state.kernel.gamma * np.array(state.kernel.metric)
    np.testing.assert_array_equal(found == 0, start == 0)
    counts = start > 0
    assert (np.abs(np.log(found[counts] / start[counts])) <= 4 * np.log(GAMMA_RANGE) + 1e-9).all()
    assert np.ptp(np.log(found[counts] / start[counts])) > 1e-3
    fresh = Prototypes(state.X, state.task, state.kernel, state.vectors)
    assert fresh.value == pytest.approx(state.value, rel=1e-6)


@pytest.mark.parametrize("learn_gamma", [False, True])
def test_equal_widths_are_one_width(learn_gamma):
    states = [placed("margin", metric) for metric in (None, np.ones(3))]
    for state in states:
        state.descend(max_steps=10, tolerance=1e-10, learn_gamma=learn_gamma)
    plain, metric = states
    assert metric.value == pytest.approx(plain.value, rel=1e-6)
    np.testing.assert_allclose(metric.vectors, plain.vectors, atol=1e-4)
    assert metric.kernel.metric == (1.0, 1.0, 1.0)
    assert metric.kernel.gamma == pytest.approx(plain.kernel.gamma, rel=1e-6)


# --- the classifier ------------------------------------------------------------------------------


def one_that_matters(n=200, d=5, which=2, seed=0):
    """Classes that alternate along one feature; the others are noise of the same scale."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, size=(n, d))
    return X, (np.sin(3.0 * X[:, which]) > 0).astype(int)


def learner(n_terms=4, **options):
    options = {"random_state": 0, "C": 10.0, "learn_gamma": "metric", **options}
    return SparseLargeMarginClassifier(n_terms, **options)


@pytest.mark.parametrize("which", [0, 3])
def test_the_feature_that_matters_gets_the_largest_width(which):
    X, y = one_that_matters(which=which)
    model = learner().fit(X, y)
    assert model.metric_.shape == (5,) and model.metric_.argmax() == which
    assert model.metric_[which] > 3 * np.delete(model.metric_, which).max()
    kernel = model.expansion_.kernel
    np.testing.assert_allclose(model.metric_, kernel.gamma * np.array(kernel.metric))
    rows, labels = one_that_matters(1000, which=which, seed=1)
    plain = learner(learn_gamma=True).fit(X, y)
    assert model.score(rows, labels) > plain.score(rows, labels) + 0.05


def test_a_refit_has_no_stale_metric():
    X, y = moons(80)
    model = learner().fit(X, y)
    assert hasattr(model, "metric_")
    model.set_params(learn_gamma=False).fit(X, y)
    assert not hasattr(model, "metric_") and model.expansion_.kernel.metric is None
    fresh = learner(learn_gamma=False).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))


def test_the_objective_is_without_the_prior():
    X, y = moons(100)
    model = learner(C=3.0).fit(X, y)
    f = model.expansion_
    slack = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * model.decision_function(X))
    norm = np.sum(f.coef * (f.kernel.matrix(f.vectors, f.vectors) @ f.coef))
    assert model.objective_ == pytest.approx(0.5 * norm + 3.0 * slack.sum(), rel=1e-6)


def test_sparse_rows_are_dense_rows():
    X, y = one_that_matters()
    X[np.abs(X) < 0.3] = 0.0
    dense = learner(max_iter=10, tol=1e-2).fit(X, y)
    thin = learner(max_iter=10, tol=1e-2)
    thin._dense_entries = 0  # few enough to become plain arrays
    thin.fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.metric_, dense.metric_, rtol=1e-2)


@pytest.mark.parametrize("init", ["greedy", "kmeans"])
def test_several_classes_files_and_starts(init, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = learner(6, init=init, n_init=2).fit(X, y)
    assert model.score(X, y) > 0.95 and model.metric_.shape == (4,)
    zeronorm.save(model, tmp_path / "model.json")
    again = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.expansion_.kernel == model.expansion_.kernel
