"""Pictures: what they draw is what the model says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from tests.export.cases import get, mixed_frame
from zeronorm import SparseKernelDensity, SparseSVC, SparsityPathDisplay, ZeroNormSVC
from zeronorm.report import ContributionsDisplay, TermsDisplay, explain


@pytest.fixture
def ax():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close(figure)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(100, noise=0.2, random_state=0)
    X = 100 * X + 500
    return make_pipeline(StandardScaler(), ZeroNormSVC(C=3, random_state=0)).fit(X, y), X, y


def test_terms_and_boundary_are_those_of_the_model(moons, ax):
    model, X, y = moons
    display = TermsDisplay.from_estimator(model, X, y, feature_names=["a", "b"], resolution=15)
    assert_allclose(display.terms, X[model[-1].support_])
    points = np.array([[a, b] for b in display.grid[1] for a in display.grid[0]])
    assert_allclose(display.outputs.ravel(), model.decision_function(points), atol=1e-9)
    display.plot(ax)
    stars = next(c for c in ax.collections if c.get_label() == "terms")
    assert_allclose(stars.get_offsets(), display.terms)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert {"0", "1", "terms"} <= set(ax.get_legend_handles_labels()[1])


def test_terms_outside_of_the_data_are_inside_of_the_picture(ax):
    X, y = make_moons(100, noise=0.2, random_state=0)
    model = SVC().fit(X, y)
    near = X[:, 0] > 0
    display = TermsDisplay.from_estimator(model, X[near], y[near], resolution=9).plot(ax)
    assert display.terms[:, 0].min() < X[near, 0].min()
    for axis, (low, high) in enumerate([ax.get_xlim(), ax.get_ylim()]):
        assert low < display.terms[:, axis].min() and display.terms[:, axis].max() < high
        assert_allclose(display.grid[axis][[0, -1]], (low, high))


def test_other_columns_are_typical_and_classes_win(ax):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SVC().fit(X, y)
    pair = ["petal length (cm)", "sepal length (cm)"]
    display = TermsDisplay.from_estimator(model, X, y, columns=pair, resolution=10).plot(ax)
    rows = X.iloc[[0] * 100].copy()
    rows[:] = X.median()
    rows[pair[0]] = np.tile(display.grid[0], 10)
    rows[pair[1]] = np.repeat(display.grid[1], 10)
    assert_allclose(display.outputs.reshape(100, 3), model.decision_function(rows), atol=1e-9)


def test_numbers_densities_and_categories(ax):
    X = np.random.default_rng(0).normal(size=(60, 3))
    display = TermsDisplay.from_estimator(SVR().fit(X, X[:, 2] + X[:, 0]), X, resolution=5)
    assert display.names == ("x0", "x2")  # those that matter
    display.plot(ax)
    density = SparseKernelDensity().fit(X)
    assert TermsDisplay.from_estimator(density, X, resolution=5).names == ("x0", "x1")
    frame, _ = mixed_frame()
    with pytest.raises(ValueError, match="two columns of numbers that the model uses"):
        TermsDisplay.from_estimator(get("mixed").model, frame, columns=["size", "code"])
    with pytest.raises(ValueError, match="are products, not places"):
        TermsDisplay.from_estimator(get("polynomial").model, get("polynomial").rows)


@pytest.mark.parametrize("by", ["columns", "terms"])
def test_contributions_end_at_the_decision(moons, ax, by):
    model, X, _ = moons
    display = ContributionsDisplay.from_estimator(model, X[3], X, by=by, most=3).plot(ax)
    assert display.value == pytest.approx(model.decision_function(X[3:4])[0], abs=1e-9)
    split = explain(model, X[3], X).facts["outputs"][0]
    assert display.start == split["reference" if by == "columns" else "constant"]
    last = ax.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(display.value)
    assert len(display.names) == min(3, len(split[by]))
    with pytest.raises(ValueError, match="by is 'columns' or 'terms', not 'rows'"):
        ContributionsDisplay.from_estimator(model, X[0], by="rows")


def test_the_path_marks_the_size_that_counts_a_linear_part(ax):
    X, y = load_iris(return_X_y=True)
    model = SparseSVC(linear=True, random_state=0).fit(X, y == 2)
    assert model.expansion_.n_products == model.n_terms_ + 1
    display = SparsityPathDisplay.from_estimator(model).plot(ax)
    assert display.chosen == model.expansion_.n_products
    assert display.chosen in display.terms


def test_at_least_one_bar():
    X = np.random.RandomState(0).randn(60, 2)
    model = ZeroNormSVC(random_state=0).fit(X, X[:, 0] > 0)
    assert ContributionsDisplay.from_estimator(model, X[0], X, most=1).names == ["2 others"]
    with pytest.raises(ValueError, match="most must be an integer of at least 1"):
        ContributionsDisplay.from_estimator(model, X[0], X, most=0)
