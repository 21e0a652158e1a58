"""Files mapped into memory: the model of the same rows in memory, and no copy of them."""

import tracemalloc

import numpy as np
import pytest

from tests.data import with_effort
from zeronorm import SparseSVC, SparseSVR, ZeroNormSVC
from zeronorm.arrays import is_mapped
from zeronorm.learned import coefficients
from zeronorm.learned.holdout import HoldoutEffort


def mapped(path, n, d):
    """A file of rows in single precision."""
    X = np.memmap(path / "rows", dtype=np.float32, mode="w+", shape=(n, d))
    X[:] = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    return X


def numbers(X):
    return np.asarray((X[:, :2].astype(float) ** 2).sum(axis=1) + X[:, 2])


@pytest.mark.parametrize("n", [600, 4500])  # by folds, and by batches
def test_a_mapped_file_gives_the_model_of_its_rows(tmp_path, n):
    X = mapped(tmp_path, n, 4)
    y = numbers(X) > 2
    there, here = (
        SparseSVC(8, C=0.5, random_state=0, max_iter=20, metric=False).fit(data, y)
        for data in (X, X.astype(float))
    )
    np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


def test_a_mapped_file_gives_the_regression_of_its_rows(tmp_path):
    X = mapped(tmp_path, 600, 4)
    options = {"C": 1.0, "epsilon": 0.1, "random_state": 0, "max_iter": 20}
    there, here = (SparseSVR(4, **options).fit(data, numbers(X)) for data in (X, X.astype(float)))
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-4, atol=1e-4)


def test_no_copy_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(coefficients, "BLOCK", 2**16)
    X = mapped(tmp_path, 100_000, 160)
    y = X[:, 0] > 0
    model = SparseSVC(8, C=0.01, random_state=0, max_iter=1, metric=False, linear=True)
    with_effort(model, holdout=HoldoutEffort(size_steps=5))
    tracemalloc.start()
    try:
        model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.75 * X.nbytes


def test_what_is_mapped(tmp_path):
    X = mapped(tmp_path, 10, 3)
    assert is_mapped(X) and is_mapped(X[2:]) and is_mapped(np.asarray(X))
    assert not is_mapped(X.astype(float)) and not is_mapped(np.array(X)) and not is_mapped([1.0])


def test_other_learners_take_a_copy_in_double_precision(tmp_path):
    X = mapped(tmp_path, 80, 3)
    model = ZeroNormSVC(random_state=0).fit(X, numbers(X) > 2)
    assert model.support_vectors_.dtype == np.float64
