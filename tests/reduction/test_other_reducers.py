"""SVRReducer and OneClassReducer: the model itself with all terms, near it with few."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

import zeronorm
from zeronorm import OneClassReducer, SparseSVR, SVRReducer, ZeroNormSVR
from zeronorm.exceptions import PoorFitWarning


def wave(n=150, seed=0):
    random = np.random.RandomState(seed)
    X = random.uniform(-3, 3, (n, 1))
    return X, 10.0 * np.sinc(X[:, 0]) + 0.5 * random.randn(n)


def cloud(n=200, seed=0):
    return np.random.RandomState(seed).randn(n, 2)


@pytest.mark.parametrize("method", ["reduced_set", "exact"])
def test_all_terms_are_the_model(method):
    X, y = wave()
    for machine in (SVR(C=10.0, epsilon=0.3), NuSVR(C=10.0)):
        machine.fit(X, y)
        n_terms = len(machine.support_)
        same = SVRReducer(FrozenEstimator(machine), n_terms=n_terms, method=method).fit(X)
        np.testing.assert_allclose(same.predict(X), machine.predict(X), atol=1e-7)
        assert same.changed_ < 1e-7
    rows = cloud()
    machine = OneClassSVM(nu=0.2).fit(rows)
    n_terms = len(machine.support_)
    same = OneClassReducer(FrozenEstimator(machine), n_terms=n_terms, method=method).fit(rows)
    found = same.decision_function(rows)
    np.testing.assert_allclose(found, machine.decision_function(rows), atol=1e-7)
    np.testing.assert_allclose(same.score_samples(rows), machine.score_samples(rows), atol=1e-7)


def test_few_terms_predict_nearly_the_same():
    X, y = wave()
    svr = SVR(C=10.0, epsilon=0.3).fit(X, y)
    for method in ("reduced_set", "modified"):
        small = SVRReducer(FrozenEstimator(svr), n_terms=10, method=method).fit(X, y)
        assert small.n_terms_ == 10 < len(svr.support_)
        change = np.sqrt(np.mean((small.predict(X) - svr.predict(X)) ** 2))
        assert small.changed_ == pytest.approx(change) and change < 0.1


def test_trained_again_in_the_span_of_all_vectors_is_the_model():
    """The modified reduced set with as many vectors has nowhere else to go."""
    X, y = wave(60)
    svr = SVR(C=10.0, epsilon=0.3, tol=1e-8).fit(X, y)
    reducer = SVRReducer(
        FrozenEstimator(svr), n_terms=len(svr.support_) - 1, method="modified", tol=1e-7
    )
    np.testing.assert_allclose(reducer.fit(X, y).predict(X), svr.predict(X), atol=0.02)
    rows = cloud(60)
    machine = OneClassSVM(nu=0.3, tol=1e-8).fit(rows)
    reducer = OneClassReducer(
        FrozenEstimator(machine), n_terms=len(machine.support_) - 1, method="modified", tol=1e-8
    ).fit(rows)
    np.testing.assert_allclose(reducer.offset_, machine.offset_[0], rtol=1e-3)
    found = reducer.decision_function(rows)
    np.testing.assert_allclose(found, machine.decision_function(rows), atol=0.01)


def test_one_class_keeps_its_decisions():
    X = cloud(300)
    machine = OneClassSVM(nu=0.2).fit(X)
    for method in ("reduced_set", "modified"):
        small = OneClassReducer(FrozenEstimator(machine), n_terms=12, method=method).fit(X)
        assert small.changed_ == np.mean(small.predict(X) != machine.predict(X)) < 0.1
        assert abs(np.mean(small.predict(X) < 0) - 0.2) < 0.02
        assert (small.fit_predict(X) == small.predict(X)).all()


def test_errors_are_kept():
    X, y = wave()
    small = SVRReducer(SVR(C=10.0), max_error=0.5).fit(X, y)
    assert small.changed_ <= 0.5 and small.n_terms_ < 20
    assert (small.history_["changed"][small.history_["terms"] < small.n_terms_] > 0.5).all()
    with pytest.warns(PoorFitWarning, match="from the model's .root mean square., whose spread"):
        SVRReducer(SVR(C=10.0), n_terms=1).fit(X, y)
    small = OneClassReducer(OneClassSVM(nu=0.3), max_error=0.1).fit(cloud())
    assert small.changed_ <= 0.1


def test_models_of_the_house_several_targets_and_saving(tmp_path):
    X, y = wave()
    model = ZeroNormSVR(C=30.0).fit(X, np.column_stack([y, -y]))
    small = SVRReducer(FrozenEstimator(model), n_terms=9).fit()
    assert small.predict(X).shape == (150, 2)
    zeronorm.save(small, tmp_path / "model.json")
    again = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(again.predict(X), small.predict(X), rtol=1e-12)
    rows = cloud()
    one = OneClassReducer(OneClassSVM(nu=0.1), n_terms=10).fit(rows)
    zeronorm.save(one, tmp_path / "model.json")
    again = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(again.score_samples(rows), one.score_samples(rows), rtol=1e-9)
    np.testing.assert_array_equal(again.predict(rows), one.predict(rows))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda X, y: SVRReducer(SVC()).fit(X, y > 0), "must be a regressor such as SVR; got SVC"),
        (
            lambda X, y: SVRReducer(FrozenEstimator(SVC().fit(X, y > 0))).fit(X),
            "SVC is no kernel regressor",
        ),
        (lambda X, y: OneClassReducer(FrozenEstimator(SVR().fit(X, y))).fit(X),
         "SVR is no one-class machine"),
        (lambda X, y: SVRReducer(SVR(), method="search").fit(X, y), "method must be one of"),
        (lambda X, y: SVRReducer(NuSVR(), method="cross_entropy").fit(X, y),
         "has no C and epsilon"),
        (lambda X, y: SVRReducer(
            FrozenEstimator(SparseSVR(2, C=1.0, epsilon=0.0, gamma="scale", linear=True).fit(X, y)),
            method="cross_entropy").fit(X, y), "linear part"),
        (lambda X, y: OneClassReducer(FrozenEstimator(OneClassSVM().fit(X)),
            method="cross_entropy").fit(X[OneClassSVM().fit(X).decision_function(X) > 0.1]),
         "decides alike on all rows"),
        (lambda X, y: OneClassReducer(FrozenEstimator(OneClassSVM().fit(X)),
            method="cross_entropy").fit(), "method='cross_entropy' needs the data"),
        (lambda X, y: SVRReducer(SVR(), max_error=-1.0).fit(X, y), "max_error must be a finite"),
        (lambda X, y: SVRReducer(FrozenEstimator(SVR().fit(X, y)), method="modified").fit(),
         "method='modified' needs the data"),
        (lambda X, y: SVRReducer(
            FrozenEstimator(ZeroNormSVR(C=9.0).fit(X, np.c_[y, y])), method="modified").fit(X, y),
         "y has 1 targets; the model has 2"),
        (lambda X, y: SVRReducer(NuSVR(), method="modified").fit(X, y), "has no C and epsilon"),
        (lambda X, y: SVRReducer(
            FrozenEstimator(SparseSVR(2, C=1.0, epsilon=0.0, gamma="scale", linear=True).fit(X, y)),
            method="modified").fit(X, y), "linear part"),
        (lambda X, y: SVRReducer(FrozenEstimator(SVR().fit(X, y)), method="modified").fit(
            X, np.c_[y, y]), "y should be a 1d array"),
    ],
)  # fmt: skip
def test_what_does_not_fit(make, sentence):
    X, y = wave(60)
    with pytest.raises((ValueError, TypeError), match=sentence):
        make(X, y)
