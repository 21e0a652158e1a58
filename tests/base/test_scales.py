"""The hint at features on very different scales: when it is given, what it says, how often."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from zeronorm import (
    LinearProgrammingSVC,
    OneNormSVC,
    SparseKernelDensity,
    SparseKernelPCA,
    SparseOneClassSVM,
    SparseSVC,
    SparseSVR,
    ZeroNormSVC,
)
from zeronorm.base.validation import hint_at_scales
from zeronorm.exceptions import FeatureScaleWarning

QUICK = {"n_terms": 2, "max_iter": 5, "random_state": 0}


def hints(fit):
    """The hints that a call gives."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in given if issubclass(one.category, FeatureScaleWarning)]


def uneven(n=60, factor=1000.0, seed=0):
    """Two features; the second varies by so many times as much."""
    X = np.random.RandomState(seed).normal(size=(n, 2)) * [1.0, factor]
    return X, (X[:, 0] > 0).astype(int)


def test_it_names_the_columns_and_the_scaler():
    X, y = load_wine(return_X_y=True, as_frame=True)
    (hint,) = hints(lambda: SparseSVC(**QUICK, C=[1.0, 10.0], cv=2).fit(X, y))
    assert "'proline' varies by 3.1e+02" in hint
    assert "'nonflavanoid_phenols' by 0.12, 'hue' by 0.23" in hint
    assert "make_pipeline(StandardScaler(), SparseSVC(...))" in hint
    (hint,) = hints(lambda: SparseSVC(**QUICK, C=1.0).fit(X.to_numpy(), y))
    assert "column 12 varies" in hint and "column 7 by 0.12" in hint and "more by little" in hint


@pytest.mark.parametrize(
    "estimator",
    [
        SparseSVC(**QUICK, C=1.0),
        SparseSVR(**QUICK, C=1.0, epsilon=0.1),
        ZeroNormSVC(),
        ZeroNormSVC(kernel="poly", coef0=1.0, gamma=1e-6),
        OneNormSVC(),
        SparseOneClassSVM(**QUICK),
        SparseKernelPCA(**QUICK),
        SparseKernelDensity(bandwidth=1.0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_once_in_a_fit(estimator):
    X, y = uneven()
    three = np.where(X[:, 1] > 0, 2, y)  # several classes, each a problem of its own
    for target in (y, three):
        assert len(hints(lambda target=target: estimator.fit(X, target))) == 1
    assert not hints(lambda: estimator.fit(StandardScaler().fit_transform(X), y))


def test_the_line_between():
    assert hints(lambda: ZeroNormSVC().fit(*uneven(400, 120.0)))
    assert not hints(lambda: ZeroNormSVC().fit(*uneven(400, 80.0)))


def no_scales():
    """Rows of which nothing is to be said."""
    random = np.random.RandomState(0)
    table = pd.DataFrame({"a": random.normal(size=2000), "b": ["rare"] + ["common"] * 1999})
    encoded = OneHotEncoder(sparse_output=False).fit_transform(table[["b"]])
    yield "one-hot", np.hstack([encoded, table[["a"]]])
    yield "long tail", StandardScaler().fit_transform(random.standard_cauchy((200_000, 3)))
    yield "constant", np.hstack([random.normal(size=(50, 2)), np.full((50, 1), 0.1)])
    yield "one column", 1000.0 * random.normal(size=(50, 1))
    yield "sparse", sparse.csr_array(uneven()[0])
    yield "too large to square", 1e200 * uneven()[0]
    yield "one row", uneven()[0][:1]


@pytest.mark.parametrize("rows", [rows for _, rows in no_scales()], ids=[n for n, _ in no_scales()])
def test_nothing_to_say(rows):
    assert not hints(lambda: hint_at_scales(SparseSVC(), rows))


def test_kernels_without_a_scale():
    X, y = uneven()
    assert not hints(lambda: LinearProgrammingSVC(kernel="linear").fit(X, y))
    assert not hints(lambda: ZeroNormSVC(kernel="precomputed").fit(X @ X.T, y))
    assert not hints(lambda: ZeroNormSVC(kernel=lambda A, B: A @ B.T).fit(X, y))


def test_a_pipeline_with_a_scaler_has_none():
    X, y = uneven()
    model = make_pipeline(StandardScaler(), SparseSVC(**QUICK, C=1.0))
    assert not hints(lambda: cross_val_score(model, X, y, cv=2))


def test_of_many_rows_some_are_looked_at():
    seen = []

    class Spied(np.ndarray):
        def std(self, axis):
            seen.append(self.shape)
            return np.asarray(self).std(axis=axis)

    X, _ = uneven(5000)
    assert hints(lambda: hint_at_scales(SparseSVC(), X.view(Spied), looked_at=200))
    assert seen == [(100, 2)]


def test_an_error_leaves_the_estimator_as_it_was():
    X, y = uneven()
    model = ZeroNormSVC().fit(StandardScaler().fit_transform(X), y)
    before = model.expansion_
    with warnings.catch_warnings(), pytest.raises(FeatureScaleWarning):
        warnings.simplefilter("error", FeatureScaleWarning)
        model.fit(X, y)
    assert model.expansion_ is before
