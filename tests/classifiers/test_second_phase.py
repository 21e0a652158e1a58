"""CrossEntropySVC among the vectors of a given classifier: Mannor et al.'s second phase."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils import get_tags

from tests.data import contradictory, iris, moons, noisy
from zeronorm import (
    CrossEntropySVC,
    KernelExpansion,
    LinearProgrammingSVC,
    OneNormSVC,
    ZeroNormSVC,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

GIVEN = {
    "SVC": SVC(C=2.0, gamma=0.5),
    "linear SVC": SVC(kernel="linear"),
    "poly SVC": SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.5),
    "SVC with large coefficients": SVC(C=1000.0, gamma=0.5),
    "NuSVC": NuSVC(nu=0.4, gamma=0.5),
    "ZeroNormSVC": ZeroNormSVC(C=20.0, gamma=0.5),
    "OneNormSVC": OneNormSVC(C=3.0, gamma=0.5),
    "LinearProgrammingSVC": LinearProgrammingSVC(gamma=0.5),
    "CrossEntropySVC": CrossEntropySVC(gamma=0.5, random_state=0),
}


def search(given, **options):
    """A quick one: few draws a round."""
    return CrossEntropySVC(candidates=given, sample_size=40, random_state=0, **options)


def hinges(model, X, y, C):
    signs = np.where(y == 1, 1.0, -1.0)
    return C * np.maximum(0.0, 1.0 - signs * model.decision_function(X)).sum()


def distinct(vectors):
    return {tuple(vector) for vector in vectors}


def assert_thinned_out(model, given, X, y):
    """Fewer terms, from among those given, and no worse an objective."""
    vectors = distinct(KernelExpansion.from_estimator(given).vectors)
    assert model.n_terms_ <= len(vectors) and model.n_candidates_ <= len(vectors)
    assert distinct(model.support_vectors_) <= vectors
    assert len(distinct(model.support_vectors_)) == model.n_terms_
    assert not hasattr(model, "support_")
    assert model.objective_ <= len(vectors) + hinges(given, X, y, model.C) + 1e-6
    own = model.n_terms_ + hinges(model, X, y, model.C)
    assert model.objective_ == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize(("make", "C"), [(moons, 0.3), (moons, 3.0), (contradictory, 1.0)])
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_a_given_classifier_is_thinned_out_and_left_alone(given, make, C):
    X, y = make(40)
    given = clone(given).fit(X, y)
    before = pickle.dumps(given)
    model = search(given, C=C).fit(X, y)
    assert_thinned_out(model, given, X, y)
    assert model.expansion_.kernel == KernelExpansion.from_estimator(given).kernel
    assert pickle.dumps(given) == before


def test_an_expansion_and_a_frozen_classifier_are_the_classifier():
    X, y = moons(50)
    svc = SVC(gamma=0.5).fit(X, y)
    models = [
        search(given).fit(X, y)
        for given in (svc, KernelExpansion.from_svc(svc), FrozenEstimator(svc))
    ]
    for model in models:
        assert_thinned_out(model, svc, X, y)
        np.testing.assert_allclose(
            model.decision_function(X), models[0].decision_function(X), atol=1e-9
        )


def test_the_own_kernel_parameters_do_not_count():
    X, y = moons(50)
    svc = SVC(gamma=0.5).fit(X, y)
    plain, other = (
        search(svc, **kernel).fit(X, y)
        for kernel in ({}, {"kernel": "poly", "degree": 7, "gamma": 9.0, "coef0": 3.0})
    )
    np.testing.assert_array_equal(plain.decision_function(X), other.decision_function(X))
    assert other.expansion_.kernel.gamma == 0.5


def test_other_rows_than_the_classifiers_own():
    X, y = moons(100)
    given = SVC(gamma=0.5).fit(X[::2], y[::2])
    model = search(given).fit(X[1::2], y[1::2])
    assert_thinned_out(model, given, X[1::2], y[1::2])
    assert 0 < model.n_terms_ < len(given.support_) / 2


def test_a_precomputed_kernel():
    X, y = moons(50)
    K = rbf_kernel(X, gamma=0.5)
    given = SVC(kernel="precomputed").fit(K, y)
    model = search(given)
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(CrossEntropySVC(candidates=SVC())).input_tags.pairwise
    model.fit(K, y)
    assert_thinned_out(model, given, K, y)
    assert distinct(model.support_vectors_) <= {(row,) for row in given.support_}
    with pytest.raises(ValueError, match="must be square"):
        clone(model).set_params(candidates=given).fit(K[:, :20], y)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_several_classes(shape):
    # One-against-one vectors, given; one against the rest, learned.
    X, y = iris()
    X, y = X[::4], y[::4]
    given = SVC(gamma=0.5, decision_function_shape=shape).fit(X, y)
    model = search(given, C=5.0).fit(X, y)
    assert model.n_terms_ < len(given.support_)
    assert distinct(model.support_vectors_) <= distinct(given.support_vectors_)
    assert model.dual_coef_.shape == (3, model.n_terms_) and not hasattr(model, "support_")
    assert model.score(X, y) >= given.score(X, y) - 0.03
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    loss = 5.0 * np.maximum(0.0, 1.0 - targets * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(model.n_terms_ + loss, rel=1e-9)


@pytest.mark.parametrize("given", [SVC(C=0.05), NuSVC(nu=0.55)], ids=str)
def test_more_vectors_than_are_searched_directly(given):
    X, y = noisy(240)
    given = clone(given).fit(X, y)
    assert len(given.support_) > CrossEntropySVC._direct
    model = search(given).fit(X, y)
    assert model.n_candidates_ < len(given.support_)
    assert_thinned_out(model, given, X, y)


def test_many_vectors_are_kept_where_the_thinned_ones_are_worse():
    """The one-norm machine may drop what the given coefficients need."""
    X, y = moons(60)
    kept = []
    for C in (0.02, 0.1, 0.5):
        given = ZeroNormSVC(C=100.0, gamma=0.5).fit(X, y)
        assert given.n_terms_ > 3
        model = search(given, C=C)
        model._direct = 3
        model.fit(X, y)
        assert_thinned_out(model, given, X, y)
        kept.append(model.n_terms_ > model.n_candidates_)
    assert any(kept)


def test_blocks_of_rows():
    X, y = moons(120)
    given = SVC(gamma=0.5).fit(X[::2], y[::2])
    model = search(given)
    model._block_rows = 60
    model.fit(X, y)
    assert_thinned_out(model, given, X, y)


def test_weights_count():
    X, y = noisy(40)
    given = SVC(gamma=0.2).fit(X, y)
    weight = np.random.default_rng(0).integers(1, 5, size=len(y)).astype(float)
    model = search(given, C=0.5).fit(X, y, sample_weight=weight)
    signs = np.where(y == 1, 1.0, -1.0)
    own = [
        0.5 * weight @ np.maximum(0.0, 1.0 - signs * one.decision_function(X))
        for one in (model, given)
    ]
    assert model.objective_ == pytest.approx(model.n_terms_ + own[0], rel=1e-9)
    assert model.objective_ <= len(given.support_) + own[1]


def test_a_second_fit_forgets_the_rows_of_the_first():
    X, y = moons(50)
    model = CrossEntropySVC(random_state=0).fit(X, y)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    model.set_params(candidates=SVC(gamma=0.5).fit(X, y)).fit(X, y)
    assert not hasattr(model, "support_")
    model.set_params(candidates="auto").fit(X, y)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)


def test_cross_validation_with_a_frozen_classifier():
    X, y = moons(60)
    given = SVC(gamma=0.5).fit(X, y)
    model = search(FrozenEstimator(given))
    scores = cross_val_score(model, X, y, cv=3, error_score="raise")
    assert scores.mean() > 0.8
    # Without the wrapper it is cloned, and comes out unfitted: said, with the remedy.
    with pytest.raises(ValueError, match="put it in a FrozenEstimator"):
        cross_val_score(model.set_params(candidates=given), X, y, cv=3, error_score="raise")


NO_CANDIDATES = {
    "unfitted SVC": lambda X, y: SVC(),
    "unfitted, of the library": lambda X, y: OneNormSVC(),
    "unfitted, frozen": lambda X, y: FrozenEstimator(SVC()),
    "LinearSVC": lambda X, y: LinearSVC().fit(X, y),
    "forest": lambda X, y: RandomForestClassifier(2).fit(X, y),
    "pipeline": lambda X, y: make_pipeline(StandardScaler(), SVC()).fit(X, y),
    "class": lambda X, y: SVC,
}


@pytest.mark.parametrize("make", NO_CANDIDATES.values(), ids=NO_CANDIDATES)
def test_what_has_no_vectors_is_refused(make):
    X, y = moons(40)
    model = CrossEntropySVC(candidates=make(X, y))
    with pytest.raises(ValueError, match="is no fitted kernel machine"):
        model.fit(X, y)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_rows_with_other_features_are_refused_in_a_sentence(kernel):
    X, y = moons(40)
    given = SVC(kernel=kernel).fit(np.column_stack([X, X[:, 0]]), y)
    model = CrossEntropySVC(candidates=given)
    with pytest.raises(ValueError, match="columns") as caught:
        model.fit(X, y)
    assert "2" in str(caught.value) and "3" in str(caught.value)
    assert not hasattr(model, "n_features_in_")
