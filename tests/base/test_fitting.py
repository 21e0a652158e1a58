"""What surrounds every fit: BLAS threads are limited on small problems, and put back."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from tests.data import moons
from tests.fuzz.estimators import all_estimators
from zeronorm import ZeroNormSVC
from zeronorm.base import fitting
from zeronorm.base.fitting import _controller, n_numbers, one_thread


@pytest.fixture
def two_threads():
    """BLAS has two threads, as users have it; the tests themselves run with one."""
    with _controller().limit(limits=2):
        assert threads() == {2}
        yield


def threads():
    return {library["num_threads"] for library in _controller().info()}


def fit_and_look():
    """Threads that BLAS has during a fit."""
    seen = set()

    def kernel(A, B):
        seen.update(threads())
        return rbf_kernel(A, B)

    ZeroNormSVC(kernel=kernel).fit(*moons(40))
    return seen


def test_a_small_fit_has_one_thread(two_threads):
    assert fit_and_look() == {1}
    assert threads() == {2}


def test_a_large_fit_has_them_all(two_threads):
    X, _ = moons(40)
    with fitting.fitting(ZeroNormSVC(), X, few_numbers=10):
        assert threads() == {2}


def test_they_are_put_back_after_an_error(two_threads):
    with pytest.raises(ValueError, match="C must be"):
        ZeroNormSVC(C=-1.0).fit(*moons(40))
    assert threads() == {2}


def test_fits_in_threads_of_their_own_leave_the_number_alone(two_threads):
    """It is that of the process, and another fit may rely on it."""
    seen = []
    other = threading.Thread(target=lambda: seen.append(fit_and_look()))
    other.start()
    other.join(timeout=60)
    assert seen == [{2}]
    assert threads() == {2}


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: estimator.__name__)
def test_every_estimator_does(estimator, monkeypatch):
    calls, real = [], one_thread
    monkeypatch.setattr(fitting, "one_thread", lambda: calls.append(1) or real())
    cheap = {"n_terms": 2, "max_iter": 2, "n_init": 1, "C": 1.0, "epsilon": 0.1}
    names = estimator().get_params()
    model = estimator(**{name: value for name, value in cheap.items() if name in names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*moons(30))
    assert calls


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.ones((3, 4)), 12),
        (np.ones((3, 4)).tolist(), 0),
        (pd.DataFrame(np.ones((3, 4))), 12),
        (sparse.csr_array(np.eye(3)), 3),
        (None, 0),
    ],
)
def test_how_many_numbers(X, expected):
    assert n_numbers(X) == expected
