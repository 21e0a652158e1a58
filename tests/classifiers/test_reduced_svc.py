"""ReducedSVC: rows drawn at random, coefficients beside libsvm's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tests.data import contradictory, iris, moons, noisy
from zeronorm import ReducedSVC
from zeronorm.classifiers.reduced import sorted_rows

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def penalised(model, X, y, C):
    """The objective by its definition."""
    beta = model.dual_coef_[0]
    gram = np.eye(len(beta))
    if model.modified:
        gram = model.expansion_.kernel.matrix(model.support_vectors_, model.support_vectors_)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    return 0.5 * beta @ gram @ beta + C * slack.sum()


@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("make", [moons, noisy, contradictory])
def test_the_original_machine_is_a_linear_svm_on_kernel_columns(make, C):
    X, y = make(90)
    model = ReducedSVC(8, False, C=C, gamma=0.5, tol=1e-8, random_state=0).fit(X, y)
    columns = rbf_kernel(X, X[model.support_], gamma=0.5)
    svc = SVC(kernel="linear", C=C, tol=1e-8).fit(columns, y)
    np.testing.assert_allclose(model.dual_coef_, svc.coef_, atol=1e-3 * np.abs(svc.coef_).max())
    signs = np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * svc.decision_function(columns))
    theirs = 0.5 * np.sum(svc.coef_**2) + C * slack.sum()
    assert model.objective_ == pytest.approx(theirs, rel=1e-5)
    assert model.objective_ == pytest.approx(penalised(model, X, y, C), rel=1e-6)


@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("make", [moons, noisy, contradictory])
def test_the_modified_machine_is_an_svm_with_the_modified_kernel(make, C):
    X, y = make(90)
    model = ReducedSVC(8, C=C, gamma=0.5, tol=1e-8, random_state=0).fit(X, y)
    cross = rbf_kernel(X, X[model.support_], gamma=0.5)
    modified = cross @ np.linalg.solve(cross[model.support_], cross.T)
    svc = SVC(kernel="precomputed", C=C, tol=1e-8).fit(modified, y)
    a = svc.dual_coef_[0]
    theirs = 0.5 * a @ modified[np.ix_(svc.support_, svc.support_)] @ a
    signs = np.where(y == 1, 1.0, -1.0)
    theirs += C * np.maximum(0.0, 1.0 - signs * svc.decision_function(modified)).sum()
    assert model.objective_ == pytest.approx(theirs, rel=1e-5)
    assert model.objective_ == pytest.approx(penalised(model, X, y, C), rel=1e-5)
    np.testing.assert_allclose(
        model.decision_function(X) - model.intercept_,
        svc.decision_function(modified) - svc.intercept_,
        atol=1e-3,
    )


def test_with_all_rows_the_modified_machine_is_the_svm():
    X, y = moons(80)
    model = ReducedSVC(80, C=3.0, gamma=0.5, tol=1e-8).fit(X, y)
    svc = SVC(C=3.0, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-3)
    # More vectors than the linear kernel has dimensions.
    flat = ReducedSVC(80, C=3.0, kernel="linear", tol=1e-8).fit(X, y)
    svc = SVC(C=3.0, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(flat.decision_function(X), svc.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("modified", [False, True])
def test_vectors_are_distinct_rows_with_classes_in_equal_shares(modified):
    X, y = noisy(200)
    model = ReducedSVC(20, modified, random_state=1).fit(X, y)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    assert len(set(model.support_)) == model.n_terms_ == 20
    assert (y[model.support_] == 1).sum() == 10
    kept = np.flatnonzero((y == 0) | (np.cumsum(y) <= 6))  # six of a class: all that it has
    model = ReducedSVC(20, modified, random_state=1).fit(X[kept], y[kept])
    assert (y[kept][model.support_] == 1).sum() == 6 and model.n_terms_ == 20
    few = contradictory(200)
    model = ReducedSVC(20, modified, random_state=1).fit(*few)
    assert model.n_terms_ == len(np.unique(few[0], axis=0)) == 16
    assert len(np.unique(model.support_vectors_, axis=0)) == 16


@pytest.mark.parametrize("terms", [6, 12, 40])
def test_rows_are_nearer_to_their_vectors_than_to_random_ones(terms):
    X, y = noisy(300)
    random = np.random.RandomState(0)

    def mean_distance(vectors):
        squares = ((X[:, None] - vectors) ** 2).sum(axis=2)
        return squares.min(axis=1).mean()

    found = ReducedSVC(terms, C=10.0, random_state=0).fit(X, y).support_vectors_
    drawn = [mean_distance(X[random.permutation(300)[:terms]]) for _ in range(50)]
    assert mean_distance(found) < min(drawn)


def test_one_term_of_three_classes_and_many_rows():
    X, y = iris()
    assert ReducedSVC(1, random_state=0).fit(X, y).n_terms_ == 1
    X, y = moons(3000)
    model = ReducedSVC(12, random_state=0).fit(X, y)
    assert model.n_terms_ == 12 and model.support_.max() > 1000
    assert model.score(X, y) > 0.85


def test_the_draw_follows_the_state():
    X, y = moons(100)
    first, second, other = (ReducedSVC(random_state=s).fit(X, y).support_ for s in (0, 0, 1))
    assert np.array_equal(first, second) and not np.array_equal(first, other)
    # Neither the order of the rows nor repetitions change it.
    order = np.random.default_rng(0).permutation(100)
    shuffled = ReducedSVC(random_state=0).fit(X[order], y[order])
    assert {tuple(v) for v in shuffled.support_vectors_} == {tuple(v) for v in X[first]}


@pytest.mark.parametrize("modified", [False, True])
def test_kernels_of_any_kind(modified):
    X, y = moons(60)
    by_name = ReducedSVC(60, modified, gamma=0.5, C=2.0, tol=1e-6).fit(X, y)
    K = rbf_kernel(X, gamma=0.5)
    matrix = ReducedSVC(60, modified, kernel="precomputed", C=2.0, tol=1e-6).fit(K, y)
    called = ReducedSVC(
        60, modified, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), C=2.0, tol=1e-6
    ).fit(X, y)
    for model, rows in ((matrix, K), (called, X)):
        np.testing.assert_allclose(
            model.decision_function(rows), by_name.decision_function(X), atol=1e-3
        )
    thin = ReducedSVC(60, modified, gamma=0.5, C=2.0, tol=1e-6).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.decision_function(X), by_name.decision_function(X), atol=1e-3)


def test_several_classes_share_the_vectors():
    X, y = iris()
    model = ReducedSVC(12, C=10.0, random_state=0).fit(X, y)
    assert model.dual_coef_.shape == (3, 12) and model.decision_function(X).shape == (150, 3)
    assert model.score(X, y) > 0.9


def test_weights_are_costs():
    X, y = noisy(80)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    options = {"C": 0.5, "gamma": 0.2, "tol": 1e-7, "random_state": 0}
    weighted = ReducedSVC(6, **options).fit(X, y, sample_weight=weight)
    repeated = ReducedSVC(6, **options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )
    assert weight[weighted.support_].min() > 0


UNHAPPY = {
    "none": ({"n_terms": 0}, "n_terms must be an integer of at least 1; got 0"),
    "negative": ({"n_terms": -1}, "n_terms must be an integer of at least 1"),
    "no integer": ({"n_terms": 3.0}, "n_terms must be an integer"),
    "text": ({"n_terms": "10"}, "n_terms must be an integer"),
    "more than rows": ({"n_terms": 41}, "n_terms=41 is more than the 40 training rows"),
    "modified": ({"modified": "no"}, "modified must be True or False; got 'no'"),
    "not positive": (
        {"kernel": "sigmoid", "coef0": -2.0},
        "modified=True needs a positive semidefinite kernel; 'sigmoid'",
    ),
    "not square": ({"kernel": "precomputed"}, "must be square"),
    "C": ({"C": -1.0}, "C must be a finite positive number"),
}


@pytest.mark.parametrize(("options", "sentence"), UNHAPPY.values(), ids=UNHAPPY)
def test_unhappy_input_gets_a_sentence(options, sentence):
    X, y = moons(40)
    model = ReducedSVC(**options)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_the_original_machine_takes_kernels_that_are_not_positive():
    X, y = moons(40)
    model = ReducedSVC(10, False, kernel="sigmoid", coef0=-2.0, C=10.0, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("seed", range(20))
def test_distinct_rows_come_in_sorted_order(seed):
    random = np.random.default_rng(seed)
    rows = random.integers(-1, 2, size=(30, 3)).astype(float)
    if seed % 2:  # of which the first feature tells some apart
        rows[::2, 0] = random.normal(size=15)
    rows[random.random(rows.shape) < 0.1] = -0.0
    expected = np.unique(rows + 0.0, axis=0, return_index=True)[1]
    assert np.array_equal(sorted_rows(rows), expected)
