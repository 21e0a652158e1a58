"""SVCReducer: what it takes, what it leaves alone, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from tests.data import contradictory, iris, moons, noisy, standardised
from tests.reduction.helpers import LEARNED, METHODS, kept, reduced
from zeronorm import (
    KernelExpansion,
    RelevanceVectorClassifier,
    SparseKernelDensity,
    SparseLargeMarginClassifier,
    SVCReducer,
    ZeroNormSVC,
)
from zeronorm.learned.reduced_set import ReducedSet

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [moons, iris])
def test_the_given_model_is_left_as_it_was(method, make):
    X, y = make()
    X, y = X[::3], y[::3]
    svc = SVC(gamma=0.5).fit(X, y)
    before = pickle.dumps(svc)
    small = (
        reduced(svc, X, y, n_terms=8, method=method)
        if method != "exact"
        else reduced(svc, X, y, method=method)
    )
    small.predict(X)
    assert pickle.dumps(svc) == before
    assert small.estimator_.estimator is svc and small.estimator.estimator is svc
    # A plain one is cloned and fitted; the given one stays unfitted.
    plain = SVC(gamma=0.5)
    again = SVCReducer(plain, n_terms=8, random_state=0).fit(X, y)
    assert not hasattr(plain, "support_") and hasattr(again.estimator_, "support_")
    np.testing.assert_array_equal(again.estimator_.support_, svc.support_)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("ties", [False, True])
def test_decisions_are_made_as_the_model_makes_them(shape, ties):
    if ties and shape == "ovo":
        pytest.skip("SVC does not break ties of pairs")
    # Many rows far from everything, where votes are tied more often.
    X, y = standardised(load_digits, 300)
    rng = np.random.default_rng(0)
    far = rng.normal(scale=1.5, size=(500, X.shape[1]))
    svc = SVC(gamma=0.01, decision_function_shape=shape, break_ties=ties).fit(X, y)
    small = reduced(svc, n_terms=len(svc.support_))
    np.testing.assert_array_equal(small.predict(far), svc.predict(far))
    np.testing.assert_allclose(small.decision_function(far), svc.decision_function(far), atol=1e-6)
    fewer = reduced(svc, n_terms=20)
    assert fewer.decision_function(far).shape == svc.decision_function(far).shape


def test_labels_of_any_kind():
    X, y = moons(100)
    names = np.array(["no", "yes"])[y]
    svc = SVC().fit(X, names)
    small = reduced(svc, X, names, method="modified")
    assert list(small.classes_) == ["no", "yes"] and small.score(X, names) > 0.8


@pytest.mark.parametrize(
    "model",
    [
        NuSVC(nu=0.3),
        ZeroNormSVC(C=10.0, gamma=2.0),
        SparseLargeMarginClassifier(8, C=10.0, random_state=0),
        RelevanceVectorClassifier(gamma=3.0),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("make", [moons, iris])
def test_other_models(model, make):
    X, y = make()
    model = clone(model).fit(X, y)
    size = KernelExpansion.from_estimator(model).n_terms
    small = reduced(model, n_terms=max(1, size - 1))
    assert small.n_terms_ < size and kept(small, model, X) > 0.85
    assert small.decision_function(X).shape == model.decision_function(X).shape
    # A reduced model can be reduced again.
    smaller = reduced(small, n_terms=max(1, size // 2))
    assert smaller.decision_function(X).shape == model.decision_function(X).shape
    np.testing.assert_array_equal(reduced(small, n_terms=size).predict(X), small.predict(X))


def test_sparse_rows():
    X, y = noisy(100)
    X[np.abs(X) < 0.4] = 0.0
    thin = sparse.csr_matrix(X)
    svc = SVC(gamma=0.2).fit(thin, y)
    small = reduced(svc, thin, y, n_terms=6, method="modified")
    same = reduced(SVC(gamma=0.2).fit(X, y), X, y, n_terms=6, method="modified")
    np.testing.assert_allclose(small.decision_function(thin), same.decision_function(X), atol=1e-3)


def test_kernels_whose_vectors_cannot_move():
    X, y = contradictory(80)
    K = rbf_kernel(X, gamma=0.3)

    def function(A, B):
        return rbf_kernel(A, B, gamma=0.3)

    matrix, called = SVC(kernel="precomputed").fit(K, y), SVC(kernel=function).fit(X, y)
    for model, rows in ((matrix, K), (called, X), (SVC(kernel="sigmoid").fit(X, y), X)):
        for method in LEARNED:
            with pytest.raises(ValueError, match="New vectors need a kernel with a derivative"):
                reduced(model, rows, y, method=method)
        small = reduced(model, rows, y, method="cross_entropy")
        assert small.n_terms_ < len(model.support_)
    for model, rows in ((matrix, K), (called, X)):
        small = reduced(model, rows, y, method="exact")
        assert small.n_terms_ <= 16 < len(model.support_)
        np.testing.assert_allclose(
            small.decision_function(rows), model.decision_function(rows), atol=1e-6
        )
    with pytest.raises(ValueError, match="needs the square kernel matrix"):
        reduced(matrix, method="exact")
    # libsvm takes a sigmoid that is no inner product; a part of it may not depend linearly.
    other = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="exact' needs a positive semidefinite kernel; 'sigmoid'"):
        reduced(other, method="exact")


def test_feature_names_and_pipelines():
    pandas = pytest.importorskip("pandas")
    X, y = moons(100)
    table = pandas.DataFrame(X, columns=["east", "north"])
    svc = SVC().fit(table, y)
    alone = reduced(svc, n_terms=5)
    assert list(alone.feature_names_in_) == ["east", "north"] and alone.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        alone.predict(table[["north", "east"]])


def test_in_a_pipeline_and_a_search():
    X, y = moons(120)
    pipeline = make_pipeline(StandardScaler(), SVCReducer(SVC(), n_terms=6, random_state=0))
    search = GridSearchCV(pipeline, {"svcreducer__estimator__gamma": [0.5, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8 and search.best_estimator_[-1].n_terms_ == 6


def test_probabilities_by_calibration():
    X, y = moons(200)
    svc = SVC().fit(X[::2], y[::2])
    small = SVCReducer(FrozenEstimator(svc), n_terms=6)
    model = CalibratedClassifierCV(small, cv=3).fit(X[1::2], y[1::2])
    sure = model.predict_proba(X)
    assert -np.log(sure[np.arange(200), y]).mean() < 0.4
    ready = CalibratedClassifierCV(FrozenEstimator(small.fit())).fit(X[1::2], y[1::2])
    assert ready.score(X, y) > 0.85


def test_many_vectors_are_sampled_for_candidates():
    f = KernelExpansion.from_estimator(SVC(gamma=0.2).fit(*noisy(200)))

    def eight(seed, n_candidates):
        """Return eight vectors, and the squared distance from what is given."""
        random = np.random.RandomState(seed)
        given = ReducedSet(f.vectors, f.coef, f.kernel, random, n_candidates=n_candidates)
        found, _ = given.reach(8, max_steps=200, tolerance=1e-7)
        return found.vectors, given.distance(found.vectors, found.coef)

    _, of_all = eight(0, len(f.vectors))
    few, same, other = (eight(seed, 20) for seed in (0, 0, 1))
    np.testing.assert_array_equal(few[0], same[0])
    assert not np.array_equal(few[0], other[0])
    assert few[1] < 2 * of_all + 0.01


def test_a_constant_and_rows_far_out():
    X, y = moons(60)
    constant = ZeroNormSVC(C=1e-3).fit(X, y)
    assert constant.n_terms_ == 0
    for method in METHODS:
        small = reduced(constant, X, y, method=method)
        assert small.n_terms_ == 0 and kept(small, constant, X) == 1.0
    for method in ("reduced_set", "exact"):
        assert reduced(constant, method=method).n_terms_ == 0
    cubic = reduced(SVC(kernel="poly", degree=5).fit(X, y), n_terms=3)
    for judge in (cubic.predict, cubic.decision_function):
        with pytest.raises(ValueError, match="Some decision values are not finite"):
            judge(np.full((1, 2), 1e150))


def test_too_few_steps_are_said():
    X, y = moons(150)
    svc = SVC(gamma=5.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="After 1 steps the vectors still moved"):
        reduced(svc, n_terms=10, max_iter=1, tol=1e-8)


# Unhappy input.

PARAMETERS = {
    "none": ({"n_terms": 0}, "n_terms must be an integer of at least 1; got 0"),
    "negative": ({"n_terms": -2}, "n_terms must be an integer of at least 1"),
    "no integer": ({"n_terms": 2.0}, "n_terms must be an integer"),
    "too much": ({"max_error": 1.0}, "max_error must be a number of at least 0 and below 1"),
    "less than nothing": ({"max_error": -0.1}, "max_error must be a number"),
    "no number": ({"max_error": "1%"}, "max_error must be a number"),
    "method": ({"method": "magic"}, "method must be one of reduced_set, modified"),
    "tol": ({"tol": 0.0}, "tol must be a finite positive number"),
    "steps": ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
}


@pytest.mark.parametrize(("options", "sentence"), PARAMETERS.values(), ids=PARAMETERS)
def test_unhappy_parameters_get_a_sentence(options, sentence):
    X, y = moons(40)
    small = SVCReducer(FrozenEstimator(SVC().fit(X, y)), **options)
    with pytest.raises(ValueError, match=sentence):
        small.fit(X, y)
    assert not hasattr(small, "n_features_in_")


NO_MACHINE = {
    "forest": (lambda X, y: RandomForestClassifier(2).fit(X, y), "no fitted kernel machine"),
    "LinearSVC": (lambda X, y: LinearSVC().fit(X, y), "no fitted kernel machine"),
    "density": (
        lambda X, y: SparseKernelDensity().fit(X),
        "must be a classifier such as SVC|no classifier",
    ),
    "pipeline": (
        lambda X, y: make_pipeline(StandardScaler(), SVC()).fit(X, y),
        "Reduce that: in a pipeline, put the reducer last",
    ),
    "search": (
        lambda X, y: GridSearchCV(SVC(), {"C": [1.0]}).fit(X, y),
        "Take the best_estimator_ of the GridSearchCV",
    ),
    "class": (lambda X, y: SVC, "must be a kernel machine such as SVC"),
}


@pytest.mark.parametrize(("make", "sentence"), NO_MACHINE.values(), ids=NO_MACHINE)
@pytest.mark.parametrize("frozen", [False, True])
def test_what_is_no_kernel_machine_is_refused(make, sentence, frozen):
    X, y = moons(40)
    model = make(X, y)
    with pytest.raises(ValueError, match=sentence):
        SVCReducer(FrozenEstimator(model) if frozen else model).fit(X, y)


def test_missing_and_unfitting_data():
    X, y = moons(60)
    svc = SVC().fit(X, y)
    with pytest.raises(ValueError, match="goes in a FrozenEstimator"):
        SVCReducer(svc).fit()
    for method in ("modified", "cross_entropy"):
        with pytest.raises(ValueError, match=f"method='{method}' needs the data"):
            reduced(svc, method=method)
        with pytest.raises(ValueError, match="requires y to be passed"):
            reduced(svc, X, method=method)
    with pytest.raises(ValueError, match="but no X"):
        reduced(svc, None, y)
    with pytest.raises(ValueError, match="X has 1 features; the model takes 2"):
        reduced(svc, X[:, :1], y)
    with pytest.raises(ValueError, match=r"y holds the classes \[0\]; the model has \[0, 1\]"):
        reduced(svc, X[y == 0], y[y == 0], method="modified")
    with pytest.raises(ValueError, match=r"y holds the classes \[0, 1, 2\]"):
        reduced(svc, X, np.arange(60) % 3, method="cross_entropy")
    with pytest.raises(NotFittedError):
        SVCReducer(FrozenEstimator(SVC())).fit(X, y)
    with pytest.raises(NotFittedError):
        SVCReducer(FrozenEstimator(svc)).predict(X)
    with pytest.raises(ValueError, match="RelevanceVectorClassifier has no C"):
        rvm = RelevanceVectorClassifier(gamma=3.0).fit(X, y)
        reduced(rvm, X, y, method="modified", n_terms=1)
