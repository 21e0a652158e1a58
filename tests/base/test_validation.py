"""Rows to judge: what scikit-learn's validation says, without it where it has nothing to say."""

import warnings

import numpy as np
import pytest
from sklearn.utils.validation import validate_data

from zeronorm import SparseOneClassSVM
from zeronorm.base.validation import validated
from zeronorm.checks import is_valid
from zeronorm.model import Model

PLAIN = np.random.default_rng(0).normal(size=(5, 2))


@pytest.fixture(scope="module")
def machine():
    return SparseOneClassSVM(0.5, 1).fit(PLAIN)


@pytest.mark.parametrize(
    ("X", "is_plain"),
    [
        (PLAIN, True),
        (PLAIN.astype(np.float32), True),
        (np.asfortranarray(PLAIN), True),
        (PLAIN[::2], True),
        (PLAIN.astype(">f8"), False),
        (PLAIN.astype(int), False),
        (PLAIN.tolist(), False),
        (np.full((2, 2), 1e308), False),  # the sum is not finite; the numbers are
        (np.ma.array(PLAIN), False),
    ],
)
def test_rows_that_are_taken(machine, X, is_plain):
    assert is_valid(machine, X) == is_plain
    options = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "reset": False}
    expected, found = validate_data(machine, X, **options), validated(machine, X)
    np.testing.assert_array_equal(found, expected)
    assert type(found) is np.ndarray and found.dtype == expected.dtype


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.where(np.eye(5, 2) > 0, np.nan, PLAIN), "contains NaN"),
        (np.where(np.eye(5, 2) > 0, -np.inf, PLAIN), "contains infinity"),
        (PLAIN[:0], "minimum of 1 is required"),
        (PLAIN[:, :1], "has 1 features"),
        (PLAIN[0], "Expected 2D array"),
        (PLAIN[None], "dim 3"),
        (PLAIN.astype(complex), "Complex data"),
    ],
)
def test_rows_that_are_refused(machine, X, sentence):
    model = Model.from_estimator(machine)
    for judge in (machine.predict, model.predict):
        with pytest.raises(ValueError, match=sentence):
            judge(X)


def test_names_that_are_missing_are_still_warned_of():
    pd = pytest.importorskip("pandas")
    machine = SparseOneClassSVM(0.5, 1).fit(pd.DataFrame(PLAIN, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        machine.predict(PLAIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseOneClassSVM(0.5, 1).fit(PLAIN).predict(PLAIN)
