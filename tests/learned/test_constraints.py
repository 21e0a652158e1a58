"""Learned vectors within the range of the data, and on rows: what is promised, and optimality."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification, make_gaussian_quantiles
from sklearn.svm import LinearSVC

from tests.data import iris, moons, wine, with_effort
from zeronorm import SparseSVC, SparseSVR, load, save
from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.constraints import (
    feature_ranges,
    nearest_rows,
    with_vectors_on_rows,
)
from zeronorm.learned.descent import ScaledVariables, descend, grow
from zeronorm.learned.holdout import HoldoutEffort
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.stochastic import Cycle, descend_in_cycles

QUICK = {"n_init": 1, "max_iter": 20, "cv": 2, "random_state": 0}


def is_inside(vectors, X):
    return ((vectors >= X.min(axis=0)) & (vectors <= X.max(axis=0))).all()


def linear_slope(n=60, seed=0):
    """A class on either end of a slope."""
    X = np.random.RandomState(seed).uniform(-1, 1, (n, 3))
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


def cases():
    X, y = linear_slope()
    yield "slope", {"n_terms": 2, "C": 100.0, "linear": False}, X, y
    yield "metric", {"n_terms": 3, "C": 100.0, "linear": False, "metric": True}, X, y
    yield "cycles", {"n_terms": 9, "C": 10.0}, X, y
    yield "chosen", {"C": [1.0, 100.0]}, X, y
    yield "features", {"n_terms": 3, "C": [10.0, 100.0], "max_features": 2}, X, y
    yield "poly", {"n_terms": 3, "C": 10.0, "kernel": "poly", "gamma": 0.5, "coef0": 1.0}, X, y
    yield "linear", {"n_terms": 2, "C": 1.0, "kernel": "linear"}, X, y
    yield "classes", {"n_terms": 4, "C": 10.0}, *wine()
    yield "sparse", {"n_terms": 3, "C": 10.0}, sparse.csr_array(np.where(X > 0, X, 0.0)), y
    yield "wide", {"n_terms": 3, "C": [1.0, 10.0]}, *make_classification(40, 90, random_state=0)


CASES = [case[1:] for case in cases()]
NAMES = [case[0] for case in cases()]


@pytest.mark.parametrize(("given", "X", "y"), CASES, ids=NAMES)
def test_inside(given, X, y):
    dense = X.toarray() if sparse.issparse(X) else X
    model = SparseSVC(**QUICK | given, vectors="inside").fit(X, y)
    assert is_inside(model.support_vectors_, dense)
    assert not hasattr(model, "support_")


@pytest.mark.parametrize(("given", "X", "y"), CASES, ids=NAMES)
def test_rows(given, X, y):
    dense = X.toarray() if sparse.issparse(X) else X
    model = SparseSVC(**QUICK | given, vectors="rows").fit(X, y)
    assert np.array_equal(model.support_vectors_, dense[model.support_])
    assert len(set(model.support_)) == model.n_terms_
    assert model.decision_function(X).shape[0] == len(y)


def test_free_vectors_do_leave_the_range():
    """What the other two are for."""
    X, y = moons(100)
    given = {"n_terms": 5, "C": 1.0, "kernel": "poly", "gamma": 0.2, "coef0": 1.0}
    assert not is_inside(SparseSVC(**QUICK, **given).fit(X, y).support_vectors_, X)
    inside = SparseSVC(**QUICK, **given, vectors="inside").fit(X, y)
    assert is_inside(inside.support_vectors_, X)


def test_by_batches():
    short = HoldoutEffort(many_rows=300, rounds=((30, 2), (30, 1)), size_steps=40)
    X, y = make_gaussian_quantiles(n_samples=400, n_features=3, n_classes=2, random_state=0)
    found = {}
    for place in ("inside", "rows"):
        model = SparseSVC(9, C=[0.1, 1.0], **QUICK, vectors=place)
        with_effort(model, holdout=short).fit(X, y)
        found[place] = model
        assert model.score(X, y) > 0.9
        assert model.calibration_ is not None
    assert is_inside(found["inside"].support_vectors_, X)
    assert np.array_equal(found["rows"].support_vectors_, X[found["rows"].support_])


def test_regression_and_weights():
    random = np.random.RandomState(0)
    X = random.uniform(-3, 3, (150, 2))
    y = np.sin(X[:, 0]) + 0.1 * random.normal(size=150)
    weight = (np.arange(150) % 3 > 0).astype(float)
    model = SparseSVR(6, C=10.0, epsilon=0.1, **QUICK, vectors="rows").fit(X, y, weight)
    assert np.array_equal(model.support_vectors_, X[model.support_])
    assert (weight[model.support_] > 0).all()
    assert model.score(X, y) > 0.8
    inside = SparseSVR(6, C=10.0, epsilon=0.1, **QUICK, vectors="inside").fit(X, y, weight)
    assert is_inside(inside.support_vectors_, X[weight > 0])


def test_the_coefficients_on_rows_are_the_optimum():
    """One width that stays: scikit-learn solves the same in the features of the same vectors."""
    X, y = moons(150)
    given = {"C": 10.0, "gamma": 2.0, "metric": False, "linear": False}
    model = SparseSVC(5, **QUICK, **given, vectors="rows").fit(X, y)
    kernel = Kernel("rbf", gamma=2.0)
    gram = kernel.matrix(model.support_vectors_, model.support_vectors_)
    features = np.linalg.solve(np.linalg.cholesky(gram), kernel.matrix(model.support_vectors_, X))
    other = LinearSVC(C=5.0, loss="squared_hinge", dual=False, intercept_scaling=1e3, tol=1e-8)
    other.fit(features.T, y)
    values = other.decision_function(features.T)
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-2)


def box_models(seed=0):
    X, y = linear_slope(80, seed)
    targets = np.where(y > 0, 1.0, -1.0)[None, :]
    box = X.min(axis=0), X.max(axis=0)
    rows = Rows(X, targets, np.ones_like(targets), box)
    models = JointModels(rows, Form(Kernel("rbf"), 1), np.full((2, 80), 100.0), np.ones(2))
    grow(models, np.stack([X[:20], X[20:40]]), 3)
    return models, box


@pytest.mark.parametrize("in_cycles", [False, True])
def test_the_descent_in_a_box_ends_at_a_stationary_point(in_cycles):
    """No direction within the box leads downhill; scipy finds nothing lower from there."""
    models, box = box_models()
    before = models.objective()
    if in_cycles:
        descend_in_cycles(models, Cycle(60))
        assert (models.objective() <= before).all()
    descend(models, max_steps=600, tolerance=1e-10)
    vectors = models.parameters.vectors
    assert ((vectors >= box[0]) & (vectors <= box[1])).all()
    assert np.isclose(vectors, box[0]).any() or np.isclose(vectors, box[1]).any()
    assert (models.values < 0.7 * before).all()
    one = models.take(np.array([0]))
    scaling = ScaledVariables(one)
    bounds = scaling.bounds()

    def function(point):
        value, gradient = scaling.function(point[None, :], np.arange(1))
        return float(value[0]), gradient[0]

    ends = list(zip(bounds.lower[0], bounds.upper[0], strict=True))
    start = scaling.start()[0]
    other = minimize(function, start, jac=True, bounds=ends, options={"maxiter": 300})
    assert other.fun > (1.0 - 1e-3) * one.values[0]
    free = np.where(bounds.free(start, function(start)[1], np.arange(1)), function(start)[1], 0.0)
    assert np.abs(free).max() < 1e-2 * one.values[0]


def test_nearest_rows_are_the_best_assignment():
    """By all ways to give four vectors different rows; one row is there twice."""
    random = np.random.RandomState(0)
    X = random.normal(size=(7, 3))
    X[4] = X[2]
    rows = Rows(X, np.ones((1, 7)), np.ones((1, 7)))
    parameters = Parameters(
        np.stack([X[[2, 2, 4, 5]] + 0.1 * random.normal(size=(4, 3))]),
        np.zeros((1, 4, 1)),
        np.zeros((1, 1)),
        np.zeros((1, 0, 1)),
        np.array([[0.0, 1.0, -2.0]]),
    )
    for form in (Form(Kernel("rbf"), 3), Form(Kernel("poly", degree=2, coef0=1.0))):
        cut = parameters.log_widths[:, : form.widths]
        own = Parameters(*parameters.arrays()[:4], cut)
        models = JointModels(rows, form, np.ones((1, 7)), np.array([0.7]), own)
        arguments = models.parameters.vectors, models.current_widths, rows
        distances = models.kernel.squared_distances(*arguments)[0]
        widths = np.broadcast_to(models.current_widths[0], 3)
        if form.kernel.name == "rbf":
            apart = own.vectors[0][:, None, :] - X[None, :, :]
            np.testing.assert_allclose(distances, (widths * apart**2).sum(axis=2), atol=1e-12)
        found = nearest_rows(models, rows)
        different = [0, 1, 2, 3, 5, 6]
        best = min(
            sum(distances[i, row] for i, row in enumerate(chosen))
            for chosen in itertools.permutations(different, 4)
        )
        assert len(set(found)) == 4 and not {2, 4} <= set(found)
        assert sum(distances[i, row] for i, row in enumerate(found)) == pytest.approx(best)


def test_ranges():
    X = np.random.RandomState(0).normal(size=(5000, 3))
    for data in (X, sparse.csr_array(np.where(X > 1, X, 0.0))):
        dense = data.toarray() if sparse.issparse(data) else data
        low, high = feature_ranges(data)
        np.testing.assert_array_equal(low, dense.min(axis=0))
        np.testing.assert_array_equal(high, dense.max(axis=0))


def test_models_are_judged_on_rows_that_they_have_learned_from():
    models, _ = box_models()
    learn = np.arange(80) % 2 == np.arange(2)[:, None]
    before = models.parameters.copy()
    placed = with_vectors_on_rows(models, learn)
    for kept, given in zip(models.parameters.arrays(), before.arrays(), strict=True):
        np.testing.assert_array_equal(kept, given)
    X = models.rows.X
    for fold, vectors in enumerate(placed.parameters.vectors):
        rows = [int(np.flatnonzero((X == vector).all(axis=1))[0]) for vector in vectors]
        assert learn[fold, rows].all() and len(set(rows)) == 3
    values = placed.values.copy()
    solve_coefficients(placed, max_steps=200, tolerance=1e-12)
    np.testing.assert_allclose(values, placed.values, rtol=1e-3)


def test_saving_cloning_and_pickling(tmp_path):
    X, y = iris()
    model = SparseSVC(4, C=10.0, **QUICK, vectors="rows").fit(X, y)
    assert clone(model).vectors == "rows"
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert (again.predict(X) == model.predict(X)).all()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).support_, model.support_)
    model.set_params(vectors="free").fit(X, y)
    assert not hasattr(model, "support_")


@pytest.mark.parametrize("vectors", ["outside", None, True, 1])
def test_no_place(vectors):
    with pytest.raises(ValueError, match="vectors must be 'free', 'inside' or 'rows'"):
        SparseSVC(vectors=vectors).fit(*moons(40))
