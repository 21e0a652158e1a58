"""SparseSVC follows X: array API dispatch with array-api-strict and torch, and ``device=``."""

import pickle
import sys
import warnings
from unittest import SkipTest

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import make_blobs, make_moons
from sklearn.utils import estimator_checks

import zeronorm
from tests.data import with_effort
from zeronorm import SparseSVC
from zeronorm.arrays import is_numpy, to_numpy
from zeronorm.exceptions import PoorFitWarning
from zeronorm.learned.coordinates import KEPT
from zeronorm.learned.holdout import HoldoutEffort

SMALL = {"n_terms": 3, "C": 1.0, "gamma": "scale", "max_iter": 10, "n_init": 1, "random_state": 0}


@pytest.fixture(params=["array_api_strict", "torch"])
def asarray(request, monkeypatch):
    """Function that makes arrays of a library, with dispatch on."""
    library = pytest.importorskip(request.param)
    pytest.importorskip("array_api_compat")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or scikit-learn does not dispatch
    with config_context(array_api_dispatch=True):
        yield library.asarray


def moons(n=60):
    return make_moons(n, noise=0.2, random_state=0)


def test_common_checks(monkeypatch):
    """Those of scikit-learn; with all that is chosen, tiny data may give another size."""
    for library in ("array_api_strict", "torch", "array_api_compat"):
        pytest.importorskip(library)
    if not hasattr(estimator_checks, "_yield_array_api_checks"):
        pytest.skip("scikit-learn has no such checks yet")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    model, passed = SparseSVC(**{**SMALL, "max_iter": 3, "n_terms": 2}), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFitWarning)
        for check in estimator_checks._yield_array_api_checks(model):
            try:
                check("SparseSVC", model)
            except SkipTest:
                continue
            passed.add(check.keywords.get("array_namespace"))
    assert passed >= {"numpy", "array_api_strict", "torch"}


def test_everything_follows_x(asarray):
    X, y = moons()
    model = SparseSVC(**{**SMALL, "C": [0.1, 1.0], "cv": 2}, metric=True, linear=True)
    X_other = asarray(X)
    model.fit(X_other, asarray(y))
    arrays = ("support_vectors_", "dual_coef_", "intercept_", "linear_coef_", "metric_")
    for name in arrays:
        assert type(getattr(model, name)) is type(X_other), name
    numpy_model = zeronorm.model.Model.from_estimator(model)
    for method in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        found = getattr(model, method)(X_other)
        assert type(found) is type(X_other), method
        np.testing.assert_allclose(to_numpy(found), getattr(numpy_model, method)(X), rtol=1e-9)
    assert isinstance(model.score(X_other, asarray(y)), float)


def test_pairs_of_classes(asarray):
    X, y = make_blobs(80, centers=5, n_features=3, cluster_std=2.0, random_state=0)
    options = {**SMALL, "C": [1.0, 10.0], "cv": 2, "multi_class": "ovo"}
    model = SparseSVC(**options).fit(asarray(X), asarray(y))
    assert tuple(model.dual_coef_.shape) == (10, model.n_terms_)
    numpy_model = zeronorm.model.Model.from_estimator(model)
    for method in ("decision_function", "predict", "predict_proba"):
        found = getattr(model, method)(asarray(X))
        np.testing.assert_allclose(to_numpy(found), getattr(numpy_model, method)(X), rtol=1e-9)


@pytest.mark.parametrize("kept", [KEPT, 0], ids=["kept", "made in blocks"])
def test_many_rows_are_learned_by_batches_of_any_library(asarray, kept):
    """The choice by rows held out; few steps, so that rounding has no time to grow."""
    rounds = ((5, 2), (5, 2))
    effort = HoldoutEffort(many_rows=200, rounds=rounds, size_steps=5, first_terms=8, kept=kept)
    X, y = make_blobs(400, 3, centers=8, cluster_std=2.0, random_state=0)
    X, y = X.astype(np.float32), y % 2
    given = {**SMALL, "n_terms": 12, "C": [0.1, 1.0], "max_iter": 2}
    expected, found = (with_effort(SparseSVC(**given), holdout=effort) for _ in range(2))
    expected.fit(X, y), found.fit(asarray(X), asarray(y))
    assert expected.n_iter_ == found.n_iter_ == 12
    values = to_numpy(found.decision_function(asarray(X)))
    np.testing.assert_allclose(values, expected.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_model_as_numpy(asarray, n_classes):
    """Few steps from the same start: rounding has no time to grow."""
    X, y = make_blobs(80, centers=n_classes, cluster_std=3.0, random_state=1)
    X = X.astype(np.float32)
    expected = SparseSVC(**SMALL).fit(X, y)
    found = SparseSVC(**SMALL).fit(asarray(X), asarray(y))
    values = to_numpy(found.decision_function(asarray(X)))
    np.testing.assert_allclose(values, expected.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(to_numpy(found.predict(asarray(X))), expected.predict(X))


@pytest.mark.parametrize("vectors", ["inside", "rows"])
def test_vectors_have_their_place(asarray, vectors):
    X, y = moons()
    model = SparseSVC(**SMALL | {"n_terms": 9}, vectors=vectors).fit(asarray(X), asarray(y))
    found = to_numpy(model.support_vectors_)
    assert ((found >= X.min(axis=0)) & (found <= X.max(axis=0))).all()
    if vectors == "rows":
        np.testing.assert_array_equal(found, X[model.support_])


def test_texts_as_labels_stay_in_numpy(asarray):
    X, y = moons()
    labels = np.array(["no", "yes"])[y]
    model = SparseSVC(**SMALL).fit(asarray(X), labels)
    assert set(model.predict(asarray(X))) <= {"no", "yes"}


def test_sample_weights_and_pickle(asarray, tmp_path):
    X, y = moons()
    weight = np.linspace(0.0, 2.0, len(y))
    model = SparseSVC(**SMALL).fit(asarray(X), asarray(y), asarray(weight))
    expected = SparseSVC(**SMALL).fit(X, y, weight).decision_function(X)
    np.testing.assert_allclose(to_numpy(model.decision_function(asarray(X))), expected, atol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(to_numpy(again.decision_function(asarray(X))), expected, atol=1e-5)
    zeronorm.save(model, tmp_path / "model.json")
    loaded = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.decision_function(X), expected, atol=1e-5)


def test_rows_elsewhere_than_the_model_are_an_error(asarray):
    X, y = moons()
    model = SparseSVC(**SMALL).fit(asarray(X), asarray(y))
    with pytest.raises(ValueError, match=r"SparseSVC\.predict\(\) must use the same namespace"):
        model.predict(X)
    model = SparseSVC(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match="X is an array of .* the model has those of numpy"):
        model.decision_function(asarray(X))


def test_device_brings_numpy_back():
    """PyTorch knows "cpu:0" as a device of its own: the same way as that to a GPU."""
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    X, y = moons()
    model = SparseSVC(**SMALL, device="cpu:0").fit(X, y)
    assert is_numpy(model.dual_coef_) and is_numpy(model.classes_)
    expected = SparseSVC(**SMALL).fit(X, y)
    values = model.decision_function(X)
    assert is_numpy(values) and is_numpy(model.predict(X))
    np.testing.assert_allclose(values, expected.decision_function(X), atol=1e-5)
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(model.decision_function(rows), values)
    assert SparseSVC(**SMALL, device="cpu:0").fit(rows, y).n_terms_ == 3


def test_many_sparse_rows_and_unknown_devices_are_sentences():
    X, y = moons()
    with pytest.raises(ValueError, match="device must be None or a name"):
        SparseSVC(**SMALL, device=0).fit(X, y)
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    with pytest.raises(ValueError, match="There is no device 'nonsense'"):
        SparseSVC(**SMALL, device="nonsense").fit(X, y)
    with pytest.raises(ValueError, match="takes sparse rows of at most 4000000 entries"):
        SparseSVC(**SMALL, device="cpu:0").fit(sparse.csr_matrix((60, 70_000)), y)


def test_without_torch_the_device_says_what_to_install(monkeypatch):
    X, y = moons()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'zeronorm\[gpu\]'"):
        SparseSVC(**SMALL, device="cuda").fit(X, y)
    assert SparseSVC(**SMALL, device="cpu").fit(X, y).n_terms_ == 3
