"""The model: a function and its decision."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils import get_tags

from zeronorm import AROMSelector, CrossEntropySVC, KernelExpansion, ZeroNormSVC
from zeronorm.decisions import Classes, Density, Number, OneClass
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.polynomial import SparsePolynomial

X, y = load_iris(return_X_y=True)


def expansion(n_outputs=1, kernel=Kernel("rbf"), **options):  # noqa: B008
    vectors = [[0.0], [1.0]] if kernel.is_precomputed else [[0.0, 1.0], [1.0, 0.0]]
    return KernelExpansion(vectors, np.ones((2, n_outputs)), np.zeros(n_outputs), kernel, **options)


def test_it_is_the_expansion_and_what_its_values_mean():
    svc = SVC().fit(X, y)
    model = Model.from_estimator(svc)
    assert isinstance(model.expansion_, KernelExpansion)
    assert model.n_terms_ == len(svc.support_)
    assert model.n_features_in_ == 4
    assert model.classes_.tolist() == [0, 1, 2]
    assert repr(model).startswith("Model(classes, KernelExpansion(")


def test_a_model_comes_back_as_it_is():
    model = Model(expansion(), Number())
    assert Model.from_estimator(model) is model
    assert Model.from_estimator(FrozenEstimator(model)) is model


def test_a_selector_is_no_model():
    with pytest.raises(ValueError, match="AROMSelector is no fitted kernel machine"):
        Model.from_estimator(AROMSelector().fit(X, y))


def test_a_callable_kernel_works_until_it_is_saved():
    svc = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    model = Model.from_estimator(svc)
    np.testing.assert_array_equal(model.predict(X), svc.predict(X))
    with pytest.raises(ValueError, match="cannot be saved"):
        model.to_dict()


def test_the_estimator_is_left_as_it_was():
    classifier = ZeroNormSVC().fit(X, y)
    before = copy.deepcopy(classifier.__dict__)
    Model.from_estimator(classifier)
    assert before.keys() == classifier.__dict__.keys()


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_and_pickles(copied):
    model = Model.from_estimator(SVC().fit(X, y))
    np.testing.assert_array_equal(copied(model).predict(X), model.predict(X))


def test_scorers_and_estimators_take_it():
    model = Model.from_estimator(SVC().fit(X, y))
    assert get_scorer("accuracy")(model, X, y) > 0.9
    sparser = CrossEntropySVC(candidates=model, random_state=0, sample_size=20).fit(X, y)
    assert sparser.n_terms_ < model.n_terms_


def test_tags():
    assert get_tags(Model(expansion(), Number())).estimator_type == "regressor"
    assert get_tags(Model(expansion())).estimator_type is None
    precomputed = expansion(kernel=Kernel("precomputed"))
    assert get_tags(Model(precomputed, Number(), n_features_in=5)).input_tags.pairwise
    assert not get_tags(Model(expansion(), Density(1.0))).input_tags.sparse


def test_methods_that_it_does_not_have():
    number = Model.from_estimator(SVR().fit(X, y))
    with pytest.raises(AttributeError, match="has no attribute 'decision_function'"):
        number.decision_function(X)
    assert not hasattr(number, "classes_")
    assert not hasattr(Model(expansion(), Density(1.0)), "predict")


MISFITS = {
    "classes for a number": (expansion(), Classes(list("abc")), {}, "3 classes do not go with 1"),
    "an outlier of two outputs": (expansion(2), OneClass(0.0), {}, "one-class .* with 2 outputs"),
    "no votes": (expansion(3, vote_classes=3), Classes(list("abc")), {}, "do not go with 3"),
    "a linear density": (expansion(1, Kernel("linear")), Density(1.0), {}, "needs an rbf kernel"),
    "a polynomial density": (
        SparsePolynomial([[(0, 1)]], np.ones((1, 1)), np.zeros(1)),
        Density(1.0),
        {},
        "needs an rbf kernel",
    ),
    "other features": (expansion(), Number(), {"n_features_in": 3}, "takes 2 features"),
    "too few columns": (
        expansion(kernel=Kernel("precomputed")),
        Number(),
        {"n_features_in": 1},
        "takes 2 features, the model 1",
    ),
    "one name": (expansion(), Number(), {"feature_names_in": ["a"]}, "are not 2 texts"),
    "numbers as names": (expansion(), Number(), {"feature_names_in": [1, 2]}, "are not 2 texts"),
}


@pytest.mark.parametrize(
    ("function", "decision", "options", "sentence"), MISFITS.values(), ids=MISFITS
)
def test_parts_that_do_not_fit(function, decision, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Model(function, decision, **options)


def test_powers_of_integers():
    square = SparsePolynomial([[(0, 2)]], np.ones((1, 1)), np.zeros(1))
    assert square.outputs(np.array([[10**10]])) == 1e20
    single = np.array([[1e20]], dtype=np.float32)
    assert square.outputs(single) == np.float64(single[0, 0]) ** 2


def test_a_one_class_score_that_is_not_finite():
    X = np.random.RandomState(0).randn(30, 2)
    model = Model.from_estimator(OneClassSVM(kernel="poly").fit(X))
    for method in (model.predict, model.decision_function, model.score_samples):
        with pytest.raises(ValueError, match="not finite"):
            method([[1e200, -1e200]])
