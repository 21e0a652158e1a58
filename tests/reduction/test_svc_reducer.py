"""SVCReducer: the same decisions with fewer terms, and the given model left alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, NuSVC

from tests.data import iris, moons, noisy, standardised, wine
from tests.reduction.helpers import LEARNED, METHODS, kept, reduced
from zeronorm import (
    KernelExpansion,
    ZeroNormSVC,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def gram_of(expansion, V=None):
    return expansion.kernel.matrix(expansion.vectors if V is None else V, expansion.vectors)


def distance(one, other):
    """Squared distance of two expansions in feature space, from the definition."""
    vectors = np.vstack([one.vectors, other.vectors])
    coef = np.vstack([one.coef, -other.coef])
    return np.sum(coef * (one.kernel.matrix(vectors, vectors) @ coef))


# How well decisions are kept.

DATA = {"iris": iris, "wine": wine, "digits": lambda: standardised(load_digits, 400)}


@pytest.mark.parametrize("method", LEARNED)
@pytest.mark.parametrize(("share", "least"), [(0.1, 0.95), (0.25, 0.99)])
@pytest.mark.parametrize("make", DATA.values(), ids=DATA)
def test_decisions_are_kept(make, share, least, method):
    X, y = make()
    svc = SVC().fit(X, y)
    terms = int(share * len(svc.support_))
    small = reduced(svc, X, y, n_terms=terms, method=method)
    assert small.n_terms_ == terms
    if method == "reduced_set":
        assert kept(small, svc, X) >= least
        # Without data it is the same model.
        alone = reduced(svc, n_terms=terms)
        np.testing.assert_array_equal(alone.support_vectors_, small.support_vectors_)
        np.testing.assert_array_equal(alone.intercept_, small.intercept_)
    else:
        # Trained again, it may correct the model's mistakes; it should not make many others.
        assert small.score(X, y) >= svc.score(X, y) - 0.02
    assert small.changed_ == pytest.approx(1.0 - kept(small, svc, X))


@pytest.mark.slow
def test_decisions_are_kept_on_all_digits():
    X, y = load_digits(return_X_y=True)
    svc = SVC().fit(X, y)
    small = reduced(svc, n_terms=len(svc.support_) // 10, max_iter=100)
    assert small.n_terms_ <= len(svc.support_) / 10
    assert kept(small, svc, X) >= 0.95


# What the methods compute.


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("make", [moons, iris])
def test_reduced_set_coefficients_have_the_closed_form(make, kernel):
    X, y = make()
    svc = SVC(kernel=kernel, gamma=0.5, degree=2, coef0=1.0).fit(X, y)
    small = reduced(svc, n_terms=2 if kernel == "linear" else 4)
    given, found = KernelExpansion.from_svc(svc), small.expansion_
    expected = np.linalg.solve(gram_of(found), gram_of(given, found.vectors) @ given.coef)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.coef, expected, rtol=1e-4, atol=1e-5 * scale)
    norm = np.sum(given.coef * (gram_of(given) @ given.coef))
    assert small.history_["residual"][-1] == pytest.approx(
        distance(given, found) / norm, rel=1e-3, abs=1e-9
    )
    # The vectors are moved: nearer than any choice among the model's own is likely to be.
    rng = np.random.default_rng(0)
    for _ in range(20):
        chosen = rng.choice(given.n_terms, found.n_terms, replace=False)
        own = given.vectors[chosen]
        gram = given.kernel.matrix(own, own) + 1e-9 * np.eye(len(own))
        beta = np.linalg.solve(gram, gram_of(given, own) @ given.coef)
        drawn = KernelExpansion(own, beta, found.intercept, found.kernel)
        assert distance(given, found) <= distance(given, drawn) + 1e-6 * norm


def test_the_mean_decision_value_is_kept():
    X, y = noisy(120)
    svc = SVC().fit(X, y)
    small = reduced(svc, n_terms=3)
    before, after = (m.decision_function(svc.support_vectors_).mean() for m in (svc, small))
    assert after == pytest.approx(before, abs=1e-9)


def test_residuals_fall_with_the_number_of_terms():
    X, y = moons(150)
    svc = SVC(C=10.0, gamma=2.0).fit(X, y)
    residuals = [reduced(svc, n_terms=m).history_["residual"][-1] for m in (1, 2, 4, 8, 16)]
    assert (np.diff(residuals) < 0).all() and residuals[-1] < 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_modified_coefficients_are_an_svm_with_the_modified_kernel(weighted):
    X, y = noisy(100)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=100) if weighted else None
    svc = SVC(C=2.0, gamma=0.2, class_weight={1: 3.0}).fit(X, y, sample_weight=weight)
    small = reduced(svc, X, y, weight, n_terms=5, method="modified", tol=1e-8, max_iter=500)
    found = small.expansion_
    cross = gram_of(found, X)
    modified = cross @ np.linalg.solve(gram_of(found), cross.T)
    other = SVC(kernel="precomputed", C=2.0, class_weight={1: 3.0}, tol=1e-8)
    other.fit(modified, y, sample_weight=weight)
    np.testing.assert_allclose(
        small.decision_function(X), other.decision_function(modified), atol=1e-3
    )


def test_modified_pairs_are_trained_on_their_own_classes():
    X, y = iris()
    svc = SVC(C=2.0, gamma=0.2, decision_function_shape="ovo").fit(X, y)
    small = reduced(svc, X, y, n_terms=5, method="modified", tol=1e-8, max_iter=500)
    cross = gram_of(small.expansion_, X)
    modified = cross @ np.linalg.solve(gram_of(small.expansion_), cross.T)
    other = SVC(kernel="precomputed", C=2.0, tol=1e-8, decision_function_shape="ovo")
    other.fit(modified, y)
    np.testing.assert_allclose(
        small.decision_function(X), other.decision_function(modified), atol=2e-3
    )


def test_modified_from_nu_svc_has_the_cost_of_the_same_machine():
    X, y = noisy(120)
    nu = NuSVC(nu=0.6, gamma=0.2).fit(X, y)
    C = np.abs(nu.dual_coef_).max()
    svc = SVC(C=C, gamma=0.2, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(nu.decision_function(X), svc.decision_function(X), atol=0.02)
    small = reduced(nu, X, y, n_terms=4, method="modified", tol=1e-8, max_iter=500)
    cross = gram_of(small.expansion_, X)
    modified = cross @ np.linalg.solve(gram_of(small.expansion_), cross.T)
    other = SVC(kernel="precomputed", C=C, tol=1e-8).fit(modified, y)
    np.testing.assert_allclose(
        small.decision_function(X), other.decision_function(modified), atol=1e-3
    )


def test_exact_reduction_of_repeated_rows_changes_nothing():
    X, y = moons(60)
    X, y = np.vstack([X, X, X]), np.concatenate([y, y, 1 - y])
    new = moons(300, seed=1)[0]
    for kernel in ("rbf", "poly", "linear"):
        svc = SVC(kernel=kernel, gamma=0.7).fit(X, y)
        small = reduced(svc, method="exact")
        assert small.n_terms_ <= len(np.unique(svc.support_vectors_, axis=0)) < len(svc.support_)
        before = svc.decision_function(new)
        np.testing.assert_allclose(
            small.decision_function(new), before, atol=1e-6 * np.abs(before).max()
        )
        np.testing.assert_array_equal(small.predict(X), svc.predict(X))
        assert small.changed_ == 0.0


@pytest.mark.parametrize(
    ("kernel", "dimension"),
    [({"kernel": "linear"}, 5), ({"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3}, 21)],
    ids=["linear", "quadratic"],
)
def test_exact_reduction_goes_down_to_the_dimension_of_feature_space(kernel, dimension):
    X, y = noisy(300)
    svc = SVC(**kernel).fit(X, y)
    small = reduced(svc, method="exact")
    assert len(svc.support_) > dimension >= small.n_terms_
    own = {tuple(vector) for vector in svc.support_vectors_}
    assert {tuple(vector) for vector in small.support_vectors_} <= own
    new = noisy(300, seed=5)[0]
    before = svc.decision_function(new)
    np.testing.assert_allclose(
        small.decision_function(new), before, atol=1e-6 * np.abs(before).max()
    )


def test_exact_reduction_of_independent_vectors_is_the_model():
    X, y = moons(80)
    svc = SVC(gamma=20.0).fit(X, y)
    small = reduced(svc, method="exact")
    assert small.n_terms_ == len(svc.support_)
    np.testing.assert_array_equal(small.support_vectors_, svc.support_vectors_)
    with pytest.warns(ConvergenceWarning, match=r"vectors are independent, more than n_terms=5"):
        reduced(svc, method="exact", n_terms=5)


def test_cross_entropy_chooses_among_the_vectors():
    X, y = moons(45)
    svc = SVC(gamma=1.0).fit(X, y)
    own = {tuple(vector) for vector in svc.support_vectors_}
    free, few = (reduced(svc, X, y, method="cross_entropy", n_terms=n) for n in (None, 3))
    for small in (free, few):
        assert {tuple(vector) for vector in small.support_vectors_} <= own
        assert small.score(X, y) > 0.85
    assert few.n_terms_ <= 3 < free.n_terms_ < len(own)
    near = reduced(svc, X, y, method="cross_entropy", max_error=0.1)
    assert near.changed_ == pytest.approx(1.0 - kept(near, svc, X)) and near.changed_ <= 0.1
    assert near.n_terms_ < len(own) / 2
    # Trained on the labels, it corrects the model; where that may not be, the model stays.
    same = reduced(svc, X, y, method="cross_entropy", max_error=0.0)
    assert kept(same, svc, X) == 1.0
    X, y = iris()
    several = reduced(SVC().fit(X[::4], y[::4]), X[::4], y[::4], method="cross_entropy")
    assert several.decision_function(X).shape == (150, 3) and several.score(X, y) > 0.9


# Limits.


@pytest.mark.parametrize("method", LEARNED)
def test_the_smallest_size_within_max_error(method):
    X, y = moons(200)
    svc = SVC(gamma=2.0).fit(X, y)
    terms = []
    for limit in (0.2, 0.05, 0.01):
        small = reduced(svc, X, y, max_error=limit, method=method)
        assert small.changed_ <= limit and 1.0 - kept(small, svc, X) <= limit + 1e-12
        tried = dict(zip(small.history_["terms"], small.history_["changed"], strict=True))
        assert tried[small.n_terms_] == small.changed_
        # The next smaller size was tried, and was not good enough.
        assert small.n_terms_ == 1 or tried[small.n_terms_ - 1] > limit
        terms.append(small.n_terms_)
    assert sorted(terms) == terms and terms[-1] < len(svc.support_) / 3


def test_max_error_without_data_is_measured_on_the_models_vectors():
    X, y = moons(200)
    svc = SVC(gamma=2.0).fit(X, y)
    small = reduced(svc, max_error=0.05)
    own = svc.support_vectors_
    assert np.mean(small.predict(own) != svc.predict(own)) == small.changed_ <= 0.05


def test_weights_count_in_the_share_of_changed_decisions():
    X, y = noisy(100)
    svc = SVC().fit(X, y)
    weight = np.random.default_rng(0).uniform(size=100)
    small = reduced(svc, X, None, weight, n_terms=2)
    is_other = small.predict(X) != svc.predict(X)
    assert 0 < small.changed_ == pytest.approx(np.average(is_other, weights=weight))


def test_both_limits():
    X, y = moons(200)
    svc = SVC(gamma=5.0, C=10.0).fit(X, y)
    small = reduced(svc, X, max_error=0.1, n_terms=30)
    assert small.n_terms_ < 30 and small.changed_ <= 0.1
    with pytest.warns(ConvergenceWarning, match=r"With \d terms .*% of the decisions change"):
        small = reduced(svc, X, max_error=0.0, n_terms=3)
    assert small.n_terms_ <= 3 and small.changed_ > 0


def test_a_tenth_by_default():
    X, y = moons(200)
    svc = SVC().fit(X, y)
    for method in LEARNED:
        small = reduced(svc, X, y, method=method)
        assert small.n_terms_ == -(-len(svc.support_) // 10)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_is_small_enough_comes_back_as_it_is(method):
    X, y = moons(100)
    for model in (SVC(gamma=30.0).fit(X, y), ZeroNormSVC().fit(X, y)):
        given = KernelExpansion.from_estimator(model)
        small = reduced(model, X, y, n_terms=given.n_terms, method=method)
        np.testing.assert_array_equal(small.support_vectors_, given.vectors)
        np.testing.assert_array_equal(small.dual_coef_, given.coef.T)
        np.testing.assert_allclose(
            small.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9
        )
        assert small.changed_ == 0.0


def test_no_size_is_good_enough_but_the_model_itself():
    X, y = moons(30)
    svc = SVC(gamma=200.0).fit(X, y)
    small = reduced(svc, X, max_error=0.0)
    assert kept(small, svc, X) == 1.0 and small.changed_ == 0.0
    assert len({len(values) for values in small.history_.values()}) == 1
