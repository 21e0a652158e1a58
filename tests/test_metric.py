"""The rbf kernel with one width for each feature: values, derivatives, description."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse

from tests.test_distances import AS, CASE, clouds
from zeronorm.blocks import BLOCK_ROWS
from zeronorm.kernels import Kernel

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

METRIC = (0.5, 3.0, 0.0, 1.7)


def data(n_rows=30, n_vectors=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, rng.normal(size=(n_vectors, 4))


def by_differences(X, V, gamma, metric):
    return np.exp(-gamma * np.square(X[:, None] - V) @ np.asarray(metric))


@pytest.mark.parametrize("vectors_as", AS)
@pytest.mark.parametrize("rows_as", AS)
@pytest.mark.parametrize("n_rows", [3, BLOCK_ROWS + 3])
def test_values_are_those_of_the_formula(rows_as, vectors_as, n_rows):
    X, V = data(n_rows)
    values = Kernel("rbf", gamma=0.3, metric=METRIC).matrix(AS[rows_as](X), AS[vectors_as](V))
    assert values == pytest.approx(by_differences(X, V, 0.3, METRIC), rel=1e-12)


def test_float32_rows_are_computed_in_float64():
    X, V = data()
    values = Kernel("rbf", metric=METRIC).matrix(X.astype(np.float32), V)
    expected = by_differences(X.astype(np.float32).astype(float), V, 1.0, METRIC)
    assert values == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_vectors", [1, 10, 90], ids="{} vectors".format)
@pytest.mark.parametrize("vectors_as", AS)
@pytest.mark.parametrize("rows_as", AS)
@CASE
def test_values_far_from_the_origin(offset, spread, gamma, rows_as, vectors_as, n_vectors):
    X, metric = clouds(offset, spread), (0.3, 1.9, 0.7)
    V = X[:n_vectors]
    kernel = Kernel("rbf", gamma=gamma, metric=metric)
    values = kernel.matrix(AS[rows_as](X), AS[vectors_as](V))
    assert values == pytest.approx(by_differences(X, V, gamma, metric), rel=1e-9, abs=1e-11)
    assert values.max() <= 1.0


@pytest.mark.parametrize("rows_as", AS)
@CASE
def test_ones_are_no_metric(offset, spread, gamma, rows_as):
    X = clouds(offset, spread)
    V, given = X[:10], AS[rows_as](X)
    plain = Kernel("rbf", gamma=gamma)
    ones = plain.with_metric(np.ones(3))
    assert ones.matrix(given, V) == pytest.approx(plain.matrix(given, V), rel=1e-12, abs=1e-12)
    weights = np.random.default_rng(1).normal(size=(len(X), 10))
    for one, other in zip(
        (*ones.derivatives(given, V, weights), *ones.width_derivatives(given, V, weights)),
        (*plain.derivatives(given, V, weights), *plain.width_derivatives(given, V, weights)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("huge", [1e200, -1e308])
@pytest.mark.parametrize("rows_as", AS)
def test_a_feature_of_width_zero_does_not_count(rows_as, huge):
    X, V = data()
    spoilt, moved = X.copy(), V.copy()
    spoilt[::2, 2], moved[1:, 2] = huge, -huge
    kernel = Kernel("rbf", gamma=0.4, metric=METRIC)
    rows = AS[rows_as](spoilt)
    np.testing.assert_array_equal(kernel.matrix(rows, moved), kernel.matrix(AS[rows_as](X), V))
    weights = np.random.default_rng(1).normal(size=(30, 7))
    for one, other in zip(
        kernel.width_derivatives(rows, moved, weights),
        kernel.width_derivatives(AS[rows_as](X), V, weights),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
        assert (one[..., 2] == 0).all()


def test_no_feature_counts():
    X, V = data()
    kernel = Kernel("rbf", metric=np.zeros(4))
    assert kernel.is_constant
    np.testing.assert_array_equal(kernel.matrix(X, V), np.ones((30, 7)))
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(30))
    assert (kernel.log_width_gradient(X, V, np.ones((30, 7))) == 0).all()


def numeric(function, point, step=1e-5):
    slope = np.empty_like(point)
    for place in np.ndindex(point.shape):
        shift = np.zeros_like(point)
        shift[place] = step
        slope[place] = (function(point + shift) - function(point - shift)) / (2 * step)
    return slope


@pytest.mark.parametrize("metric", [None, METRIC], ids=["plain", "metric"])
@pytest.mark.parametrize("rows_as", AS)
def test_derivatives_against_finite_differences(rows_as, metric):
    X, V = data(9, 3)
    rows, weights = AS[rows_as](X), np.random.default_rng(1).normal(size=(9, 3))
    kernel = Kernel("rbf", gamma=0.3, metric=metric)

    def value(used, vectors=V):
        return np.sum(weights * used.matrix(X, vectors))

    widths = np.ones(4) if metric is None else np.asarray(metric)
    by_vectors = numeric(lambda moved: value(kernel, moved), V)
    by_gamma = numeric(lambda gamma: value(kernel.with_gamma(gamma[0])), np.array([0.3]))[0]
    by_widths = numeric(lambda log: value(kernel.with_metric(widths * np.exp(log))), np.zeros(4))
    for values in (None, kernel.matrix(X, V)):
        found = kernel.derivatives(rows, V, weights, values)
        np.testing.assert_allclose(found[0], by_vectors, rtol=1e-6, atol=1e-8)
        assert found[1] == pytest.approx(by_gamma, rel=1e-6)
        found = kernel.width_derivatives(rows, V, weights, values)
        np.testing.assert_allclose(found[0], by_vectors, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found[1], by_widths, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kernel.log_width_gradient(rows, V, weights), found[1], rtol=1e-12)


@pytest.mark.parametrize("metric", [None, METRIC], ids=["plain", "metric"])
def test_the_widths_together_are_gamma(metric):
    """Over several blocks: all widths times a factor are gamma times that factor."""
    X, V = data(BLOCK_ROWS + 5, 3)
    weights = np.random.default_rng(1).normal(size=(len(X), 3))
    kernel = Kernel("rbf", gamma=0.3, metric=metric)
    by_gamma = kernel.derivatives(X, V, weights)[1]
    by_widths = kernel.log_width_gradient(X, V, weights)
    assert by_widths.sum() == pytest.approx(0.3 * by_gamma, rel=1e-9)


@pytest.mark.parametrize("rows_as", AS)
@CASE
def test_widths_far_from_the_origin(offset, spread, gamma, rows_as):
    X, metric = clouds(offset, spread), np.array([0.3, 1.9, 0.7])
    V = X[:10]
    weights = np.random.default_rng(1).normal(size=(len(X), 10))
    kernel = Kernel("rbf", gamma=gamma, metric=metric)
    slope = weights * by_differences(X, V, gamma, metric)
    squares = gamma * np.square(X[:, None] - V) * metric
    expected = -np.einsum("nm,nmd->d", slope, squares)
    found = kernel.log_width_gradient(AS[rows_as](X), V, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("columns", [3, 5])
def test_a_metric_of_another_length_gets_a_sentence(columns):
    kernel = Kernel("rbf", metric=METRIC)
    rows, fitting = np.ones((2, columns)), np.ones((2, 4))
    for X, V in [(rows, rows), (rows, fitting), (fitting, rows)]:
        with pytest.raises(ValueError, match=f"metric has 4 widths.*have {columns} columns"):
            kernel.matrix(X, V)


@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid", "precomputed"])
def test_only_rbf_has_a_metric(name):
    with pytest.raises(ValueError, match="Only the rbf kernel has a metric"):
        Kernel(name, metric=METRIC)
    with pytest.raises(ValueError, match="no width of each feature"):
        Kernel(name).log_width_gradient(np.eye(2), np.eye(2), np.eye(2))


BAD = [(), (1.0, -0.1), (1.0, np.nan), (np.inf,), ("1", 2.0), "12", 3.0, (True, 1.0), [[1.0, 2.0]]]


@pytest.mark.parametrize("metric", BAD, ids=str)
def test_bad_metric(metric):
    with pytest.raises(ValueError, match="metric must hold a finite number of at least 0"):
        Kernel("rbf", metric=metric)


def test_description():
    kernel = Kernel("rbf", gamma=0.2, metric=np.array(METRIC))
    assert kernel.metric == METRIC and hash(kernel) == hash(Kernel("rbf", 0.2, metric=METRIC))
    assert kernel.with_gamma(3.0).metric == METRIC
    assert kernel.with_metric(None) == Kernel("rbf", gamma=0.2)
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert "metric" not in Kernel("rbf").to_dict() and "metric" not in repr(Kernel("rbf"))
    assert "metric=(0.5, 3.0, 0.0, 1.7)" in repr(kernel)
    assert len(repr(kernel.with_metric(np.ones(1000)))) < 200


@pytest.mark.parametrize("metric", [None, 3.0, "12", {}, [], [-1.0], [None], [float("nan")]])
def test_damaged_metric(metric):
    with pytest.raises(ValueError, match="metric"):
        Kernel.from_dict(Kernel("rbf").to_dict() | {"metric": metric})
    with pytest.raises(ValueError, match="metric"):
        Kernel.from_dict(Kernel("linear").to_dict() | {"metric": [1.0]})


def test_sparse_rows_stay_as_they_are():
    X, V = data()
    rows = sparse.csr_array(X)
    Kernel("rbf", metric=METRIC).width_derivatives(rows, V, np.ones((30, 7)))
    np.testing.assert_array_equal(rows.toarray(), X)
