"""Bad, extreme and degenerate input of ZeroNormSVC: a clear error or a finite model.

``test_fuzz.py`` asks the same of every estimator; here are the cases worth a name.

Every test runs with RuntimeWarning as an error: no overflow or NaN of NumPy may escape.
"""

import datetime
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tests.data import moons
from tests.fuzz.contract import refusal
from zeronorm import ZeroNormSVC

SETTINGS = [
    {},
    {"C": 1e3},
    {"variant": "B"},
    {"variant": "W"},
    {"p": 2.0},
    {"p": np.inf},
    {"rkhs_weight": 1.0},
    {"kernel": "linear"},
    {"kernel": "linear", "variant": "B"},
    {"kernel": "poly", "variant": "W", "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "degree": 3},
    {"kernel": "sigmoid"},
    {"gamma": 1.0},
    {"gamma": "auto", "candidates": 2, "random_state": 0},
]
EXTREMES = [
    0.0, -0.0, 1.0, -1.0, 2.5, 1e-150, -1e-150, 1e150, -1e150, 1e-300, 1e300, 5e-324, 1.7e308,
    np.nan, np.inf, -np.inf,
]  # fmt: skip

# Deterministic, and no shrinking: the examples are small, and a failing fit may be a slow one.
few = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def fit_and_check(X, y, options, **fit_options):
    """Fit; if that works, the model must be finite and usable."""
    # Few rounds: whether such problems converge is not the question here.
    model = ZeroNormSVC(**{"max_iter": 3} | options)
    if refusal(lambda: model.fit(X, y, **fit_options), X) is None:
        return None
    for name in ("support_vectors_", "dual_coef_", "intercept_", "objective_"):
        assert np.isfinite(getattr(model, name)).all(), f"{name} is not finite"
    for name, values in model.history_.items():
        # A gap may be infinite where no certificate was found, but then there was a warning.
        assert not np.isnan(values).any(), f"{name} of the history has NaN"
    check_prediction(model, X)
    return model


def check_prediction(model, X):
    values = refusal(lambda: model.decision_function(X), X)
    if values is not None:
        assert np.isfinite(values).all()
        assert np.isin(model.predict(X), model.classes_).all()
    return values


def matrices(max_rows=10, max_columns=3):
    shape = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=max_rows)
    shape = shape.map(lambda s: (s[0], min(s[1], max_columns)))
    return arrays(np.float64, shape, elements=st.sampled_from(EXTREMES))


def labels(n):
    return arrays(np.int64, n, elements=st.integers(0, 2))


# --- fit ---------------------------------------------------------------------------------------


@few
@given(st.data())
def test_fit_on_arbitrary_numbers(data):
    X = data.draw(matrices())
    model = fit_and_check(X, data.draw(labels(len(X))), data.draw(st.sampled_from(SETTINGS)))
    assert model is None or np.isfinite(X).all()


@few
@given(st.data())
def test_fit_on_finite_numbers_of_any_size(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 3))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    X = data.draw(arrays(np.float64, (n, d), elements=numbers))
    fit_and_check(X, data.draw(labels(n)), data.draw(st.sampled_from(SETTINGS)))


@few
@given(
    exponents=st.lists(
        st.sampled_from([-150, -100, -20, -8, 0, 8, 20, 100, 150]), min_size=2, max_size=2
    ),
    options=st.sampled_from(SETTINGS),
    as_sparse=st.booleans(),
)
def test_columns_of_very_different_scale(exponents, options, as_sparse):
    X, y = moons(24)
    X = X * 10.0 ** np.array(exponents)
    fit_and_check(sparse.csr_matrix(X) if as_sparse else X, y, options)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e-4, 1e4, 1e20, 1e150], ids=str)
def test_whole_tables_of_one_scale(scale, options):
    """The rbf kernel with gamma="scale" does not see the scale at all, as long as squares exist."""
    X, y = moons(30)
    model = fit_and_check(X * scale, y, options)
    default_gamma = options.get("kernel", "rbf") == "rbf" and "gamma" not in options
    if default_gamma and 1e-100 < scale < 1e100:
        assert model.score(X * scale, y) == fit_and_check(X, y, options).score(X, y)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e12, 1e300], ids=str)
def test_costs_of_any_size(C, options):
    fit_and_check(*moons(24), options | {"C": C})


@few
@given(
    cost=st.sampled_from([1e-300, 1e-12, 1.0, 1e6, 1e300]),
    weights=arrays(np.float64, 24, elements=st.sampled_from([0.0, 1e-200, 1e-9, 1.0, 1e9, 1e200])),
    options=st.sampled_from(SETTINGS),
)
def test_weights_of_any_size(cost, weights, options):
    X, y = moons(24)
    fit_and_check(X, y, options | {"C": cost}, sample_weight=weights)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], [0]),
        ([[1.0, 2.0], [3.0, 4.0]], [1, 1]),
        ([[1.0], [2.0], [3.0]], ["a", "a", "a"]),
    ],
    ids=["one row", "two rows, one class", "one class"],
)
def test_one_class_is_refused(X, y, options):
    with pytest.raises(ValueError, match="one class|1 sample|class"):
        ZeroNormSVC(**options).fit(X, y)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0, 0.0], [1.0, 0.0]], [0, 1]),
        ([[1.0, 2.0], [1.0, 2.0]], [0, 1]),
        ([[0.0, 0.0]] * 5, [0, 1, 0, 1, 0]),
        ([[0.1, 0.1]] * 7, [0, 1, 2, 0, 1, 2, 0]),
        ([[0.0, 7.0], [1.0, 7.0], [0.0, 7.0], [1.0, 7.0]], [0, 1, 1, 0]),
        ([[float(i), 3.0] for i in range(8)], [0, 0, 0, 0, 1, 1, 1, 1]),
    ],
    ids=["two rows", "one row, two labels", "zeros", "equal rows, three labels", "contradictory",
         "constant column"],
)  # fmt: skip
def test_degenerate_but_legal(X, y, options):
    """Nothing is wrong with these: they must give a model."""
    assert fit_and_check(np.array(X), np.array(y), options) is not None


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("offset", [1e4, -1e8, 1e15], ids=str)
def test_rows_far_from_zero(offset, options):
    fit_and_check(offset + np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 1, 0], options)


@pytest.mark.parametrize("place", [(0, 0), (29, 1)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_matrix, lambda X: X.astype(object)])
def test_missing_and_infinite_values_are_named(as_format, value, place):
    X, y = moons(30)
    model = ZeroNormSVC().fit(X, y)
    X[place] = value
    for action in (lambda: ZeroNormSVC().fit(as_format(X), y), lambda: model.predict(as_format(X))):
        with pytest.raises(ValueError, match="NaN|infinity"):
            action()


# --- predict -----------------------------------------------------------------------------------


@cache
def fitted(place):
    """The model with the settings at this place of SETTINGS."""
    return ZeroNormSVC(**SETTINGS[place]).fit(*moons(40))


PLACES = range(len(SETTINGS))


@few
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 6), st.just(2)), elements=st.sampled_from(EXTREMES)
    ),
    st.sampled_from(PLACES),
    st.sampled_from([np.asarray, sparse.csr_matrix, lambda X: X.tolist()]),
)
def test_predict_arbitrary_numbers(X, place, as_format):
    values = check_prediction(fitted(place), as_format(X))
    assert values is None or np.isfinite(X).all()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(SETTINGS[place]))
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-150, 1e30, 1e150, 1e300], ids=str)
def test_predict_far_away(scale, place):
    values = check_prediction(fitted(place), moons(40)[0] * scale)
    if scale <= 1.0:
        assert values is not None


@few
@given(arrays(np.float32, (3, 2), elements=st.floats(width=32)))
def test_predict_float32(X):
    check_prediction(fitted(0), X)


# --- things that are no table of numbers -------------------------------------------------------

NO_TABLES = {
    "none": None,
    "number": 3.0,
    "text": "abc",
    "vector": np.arange(10.0),
    "cube": np.zeros((10, 2, 2)),
    "no rows": np.empty((0, 2)),
    "no columns": np.empty((10, 0)),
    "empty list": [],
    "complex": np.ones((10, 2)) * 1j,
    "words": np.full((10, 2), "word"),
    "words as objects": np.full((10, 2), "word", dtype=object),
    "nothing as objects": np.full((10, 2), None, dtype=object),
    "lists as objects": np.array([[[1, 2], [3]]] * 10, dtype=object),
    "ragged": [[1.0, 2.0], [1.0]],
    "dictionary": {"a": [1, 2]},
    "dates": np.full((10, 2), datetime.datetime(2020, 1, 1), dtype=object),
    "records": np.zeros(10, dtype=[("a", float), ("b", float)]),
    "sparse vector": sparse.coo_array(np.arange(10.0)),
}


@pytest.mark.parametrize("X", NO_TABLES.values(), ids=NO_TABLES)
def test_no_table_is_refused(X):
    # TypeError is what scikit-learn raises for some of these.
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for action in (lambda: ZeroNormSVC().fit(X, [0, 1] * 5), lambda: fitted(0).predict(X)):
            with pytest.raises((ValueError, TypeError)) as caught:
                action()
            assert len(str(caught.value)) > 20 and not isinstance(caught.value, NotFittedError)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0, 1], [2, 3], [4, 0], [1, 1]], dtype=object),
        np.array([["0", "1"], ["2", "3"], ["4", "0"], ["1", "1"]], dtype=object),
        np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=bool),
        np.array([[0, 1], [2, 3], [4, 0], [1, 1]], dtype=np.int8),
        np.array([[0, 1], [2, 3], [4, 0], [1, 1]], dtype=np.float16),
        [[0, 1], [2, 3], [4, 0], [1, 1]],
        np.asfortranarray(np.arange(8.0).reshape(4, 2)),
        np.arange(32.0).reshape(8, 4)[::2, ::2],
    ],
    ids=["objects", "numerals", "bool", "int8", "float16", "lists", "fortran", "strided"],
)
@pytest.mark.parametrize("variant", ["A", "B", "W"])
def test_tables_of_numbers_in_disguise(X, variant):
    y = [0, 1, 0, 1]
    plain = np.array(X).astype(float)
    a, b = ZeroNormSVC(variant).fit(X, y), ZeroNormSVC(variant).fit(plain, y)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(plain))


@pytest.mark.parametrize(
    "y",
    [
        None,
        [0, 1],
        [0.5 * i for i in range(10)],
        [np.nan] + [0, 1, 1] * 3,
        [np.inf] + [0.0, 1.0, 1.0] * 3,
        np.eye(10),
        [[0, 1]] * 10,
        [None, 1] * 5,
        "ab",
        [],
        [[0], [1, 2]] * 5,
        [1j, 0] * 5,
    ],
    ids=["none", "short", "continuous", "nan", "infinite", "matrix", "pairs", "missing", "text",
         "empty", "ragged", "complex"],
)  # fmt: skip
def test_bad_labels(y):
    X = np.arange(20.0).reshape(10, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises((ValueError, TypeError)):
            ZeroNormSVC().fit(X, y)


def test_a_column_of_labels_is_flattened_with_scikit_learns_warning():
    X, y = moons(40)
    with pytest.warns(UserWarning, match="column-vector y"):
        model = ZeroNormSVC().fit(X, y[:, None])
    np.testing.assert_array_equal(model.predict(X), ZeroNormSVC().fit(X, y).predict(X))


@pytest.mark.parametrize("n_features", [1, 3])
def test_predict_with_another_number_of_features(n_features):
    model = ZeroNormSVC().fit(*moons(40))
    with pytest.raises(ValueError, match=f"{n_features} features, but ZeroNormSVC is expecting 2"):
        model.predict(np.ones((2, n_features)))
