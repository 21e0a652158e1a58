"""Kernel values, derivatives and parameters, against scikit-learn and finite differences."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from zeronorm.blocks import BLOCK_ROWS, row_blocks
from zeronorm.kernels import Kernel, resolve_gamma

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DIFFERENTIABLE = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.3),
    Kernel("poly", gamma=0.4, degree=3, coef0=1.0),
    Kernel("poly", gamma=0.4, degree=1, coef0=0.5),
    Kernel("poly", gamma=0.05, degree=2.5, coef0=2.0),
    Kernel("sigmoid", gamma=0.2, coef0=-0.3),
]
FORMATS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csr_array": sparse.csr_array}


def name_of(kernel):
    return f"{kernel.name}-{kernel.degree:g}"


def data(n_rows=30, n_vectors=7, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, rng.normal(size=(n_vectors, n_features))


def sklearn_values(kernel, X, V):
    used = {"linear": (), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
    names = used.get(kernel.name, ("gamma", "degree", "coef0"))
    parameters = {name: getattr(kernel, name) for name in names}
    return pairwise_kernels(X, V, metric=kernel.name, **parameters)


@pytest.mark.parametrize("n_rows", [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 5000])
def test_row_blocks_cover_every_row_once(n_rows):
    blocks = [range(n_rows)[rows] for rows in row_blocks(n_rows)]
    assert [i for block in blocks for i in block] == list(range(n_rows))
    assert all(0 < len(block) <= BLOCK_ROWS for block in blocks)


@pytest.mark.parametrize("of_V", FORMATS)
@pytest.mark.parametrize("of_X", FORMATS)
@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=name_of)
def test_values_equal_scikit_learn(kernel, of_X, of_V):
    X, V = data()
    if kernel.degree == 2.5:  # a broken power needs products above -coef0 / gamma
        X, V = np.abs(X), np.abs(V)
    values = kernel.matrix(FORMATS[of_X](X), FORMATS[of_V](V))
    assert isinstance(values, np.ndarray) and values.dtype == np.float64
    np.testing.assert_allclose(values, sklearn_values(kernel, X, V), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("kernel", DIFFERENTIABLE[:4], ids=name_of)
def test_values_over_several_blocks(kernel, as_format):
    X, V = data(n_rows=2 * BLOCK_ROWS + 3, n_vectors=3)
    values = kernel.matrix(FORMATS[as_format](X), V)
    np.testing.assert_allclose(values, sklearn_values(kernel, X, V), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("kernel", DIFFERENTIABLE[:4], ids=name_of)
def test_float32_input_is_computed_in_float64(kernel, as_format):
    X, V = data()
    X = X.astype(np.float32)
    values = kernel.matrix(FORMATS[as_format](X), V)
    expected = sklearn_values(kernel, X.astype(np.float64), V)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=name_of)
def test_prepared_values_equal_matrix_and_leave_the_input_alone(kernel):
    X, V = map(np.abs, data())
    before = X.copy(), V.copy()
    values_of = kernel.prepare(V)
    for rows in (slice(0, 1), slice(3, 9), slice(5, 5)):
        np.testing.assert_allclose(values_of(X[rows]), kernel.matrix(X, V)[rows], rtol=1e-12)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(V, before[1])


def test_rbf_values_never_exceed_one():
    X = 1e4 + np.random.default_rng(0).normal(size=(50, 3))
    values = Kernel("rbf", gamma=5.0).matrix(X, X)
    assert values.max() <= 1.0


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=name_of)
def test_diagonal(kernel, as_format):
    X = np.abs(data()[0])
    expected = np.diag(sklearn_values(kernel, X, X))
    np.testing.assert_allclose(kernel.diagonal(FORMATS[as_format](X)), expected, rtol=1e-12)


def test_diagonal_of_precomputed_and_callable():
    X = data()[0]
    gram = sklearn_values(Kernel("rbf", gamma=0.3), X, X)
    for matrix in (gram, sparse.csr_matrix(gram)):
        np.testing.assert_array_equal(Kernel("precomputed").diagonal(matrix), np.diag(gram))
    own = Kernel("callable", function=lambda A, B: A @ B.T + 1.0)
    np.testing.assert_allclose(own.diagonal(X), (X * X).sum(axis=1) + 1.0)


@pytest.mark.parametrize("of_X", FORMATS)
@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=name_of)
def test_gradient_against_finite_differences(kernel, of_X):
    X, V = map(np.abs, data(n_rows=9, n_vectors=3))
    weights = np.random.default_rng(1).normal(size=(9, 3))
    gradient = kernel.gradient(FORMATS[of_X](X), V, weights)
    step, numeric = 1e-5, np.empty_like(V)
    for place in np.ndindex(V.shape):
        shift = np.zeros_like(V)
        shift[place] = step
        above, below = (np.sum(weights * kernel.matrix(X, V + s)) for s in (shift, -shift))
        numeric[place] = (above - below) / (2 * step)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", DIFFERENTIABLE[:4], ids=name_of)
def test_gradient_is_a_sum_over_blocks(kernel):
    X, V = data(n_rows=BLOCK_ROWS + 5, n_vectors=2)
    weights = np.random.default_rng(1).normal(size=(len(X), 2))
    parts = [kernel.gradient(X[i : i + 1000], V, weights[i : i + 1000]) for i in (0, 1000, 2000)]
    np.testing.assert_allclose(kernel.gradient(X, V, weights), sum(parts), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "kernel", [Kernel("precomputed"), Kernel("callable", function=np.dot)], ids=["pre", "callable"]
)
def test_no_gradient_without_a_formula(kernel):
    assert not kernel.is_differentiable
    with pytest.raises(ValueError, match="no derivative"):
        kernel.gradient(np.eye(2), np.eye(2), np.eye(2))


def test_gradient_of_degree_zero_is_zero():
    X, V = np.zeros((2, 3)), np.ones((1, 3))
    kernel = Kernel("poly", degree=0)
    np.testing.assert_array_equal(kernel.gradient(X, V, np.ones((2, 1))), np.zeros((1, 3)))


@pytest.mark.parametrize("as_format", FORMATS)
def test_precomputed_selects_columns(as_format):
    matrix = np.random.default_rng(0).normal(size=(BLOCK_ROWS + 2, 6))
    columns = np.array([[4], [0], [4]])
    values = Kernel("precomputed").matrix(FORMATS[as_format](matrix), columns)
    np.testing.assert_array_equal(values, matrix[:, [4, 0, 4]])


def test_callable_gets_rows_and_vectors():
    X, V = data()
    kernel = Kernel("callable", function=lambda A, B: np.minimum(A[:, None], B[None]).sum(axis=2))
    expected = [[sum(min(a, b) for a, b in zip(x, v, strict=True)) for v in V] for x in X]
    np.testing.assert_allclose(kernel.matrix(X, V), expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: (A @ B.T).T,
        lambda A, B: (A @ B.T)[:, 0],
        lambda A, B: (A @ B.T)[:-1],
        lambda A, B: 1.0,
    ],
    ids=["transposed", "vector", "row missing", "scalar"],
)
def test_callable_with_a_wrong_shape(function):
    X, V = data()
    with pytest.raises(ValueError, match="kernel function returned shape"):
        Kernel("callable", function=function).matrix(X, V)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Kernel("linear"), [[1e200, 1.0], [1.0, 2.0]]),
        (Kernel("rbf"), [[1e200, 1.0], [1.0, 2.0]]),
        (Kernel("poly", degree=3), [[1e60, 1.0], [1.0, 2.0]]),
        (Kernel("poly", degree=0.5), [[1.0, 0.0], [-1.0, 0.0]]),
        (Kernel("callable", function=lambda A, B: np.full((2, 2), np.nan)), np.eye(2)),
        (Kernel("callable", function=lambda A, B: np.full((2, 2), np.inf)), np.eye(2)),
        (
            Kernel("callable", function=lambda A, B: np.array([[np.inf, -np.inf], [0, 0]])),
            np.eye(2),
        ),
    ],
    ids=["linear", "rbf", "poly", "root of negative", "nan", "inf", "both infinities"],
)
def test_values_that_are_not_finite(kernel, X):
    X = np.array(X)
    with pytest.raises(ValueError, match="not finite on these data"):
        kernel.matrix(X, X)


def test_large_finite_values_are_fine():
    """Their sum overflows, which is nobody's business."""
    X = np.full((4, 1), 1e154)
    np.testing.assert_array_equal(Kernel("linear").matrix(X, X), np.full((4, 4), 1e308))


# --- gamma -------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7, 2])
def test_gamma_is_that_of_svc(gamma, as_format):
    X = FORMATS[as_format](data()[0])
    svc = SVC(gamma=gamma).fit(X, np.arange(30) % 2)
    assert resolve_gamma(gamma, X) == pytest.approx(svc._gamma, rel=1e-12)


@pytest.mark.parametrize("as_format", FORMATS)
def test_weights_count_as_repeated_rows(as_format):
    X = data()[0]
    weights = np.random.default_rng(2).integers(0, 4, size=len(X))
    repeated = resolve_gamma("scale", np.repeat(X, weights, axis=0))
    weighted = resolve_gamma("scale", FORMATS[as_format](X), weights.astype(float))
    assert weighted == pytest.approx(repeated, rel=1e-12)
    assert weighted != pytest.approx(resolve_gamma("scale", X), rel=1e-3)


@pytest.mark.parametrize("as_format", FORMATS)
def test_gamma_of_constant_data_is_one(as_format):
    assert resolve_gamma("scale", FORMATS[as_format](np.full((5, 2), 3.0))) == 1.0


def test_gamma_of_overflowing_data():
    with pytest.raises(ValueError, match="variance of X overflows"):
        resolve_gamma("scale", np.array([[1e200], [-1e200]]))


@pytest.mark.parametrize(
    "gamma", [0, 0.0, -1.0, np.nan, np.inf, "Scale", "", None, True, [1.0], 1j]
)
def test_bad_gamma(gamma):
    with pytest.raises(ValueError, match="gamma must be"):
        resolve_gamma(gamma, np.eye(3))


# --- construction and description --------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "gauss"}, "Unknown kernel 'gauss'"),
        ({"name": "RBF"}, "Unknown kernel 'RBF'"),
        ({"name": None}, "Unknown kernel None"),
        ({"name": "callable"}, "needs the function"),
        ({"name": "callable", "function": 3}, "needs the function"),
        ({"name": "rbf", "gamma": np.nan}, "gamma must be a finite number"),
        ({"name": "rbf", "gamma": "scale"}, "gamma must be a finite number"),
        ({"name": "poly", "degree": np.inf}, "degree must be a finite number"),
        ({"name": "poly", "degree": True}, "degree must be a finite number"),
        ({"name": "poly", "degree": -1}, "degree must not be negative"),
        ({"name": "sigmoid", "coef0": None}, "coef0 must be a finite number"),
        ({"name": "sigmoid", "coef0": -np.inf}, "coef0 must be a finite number"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        Kernel(**arguments)


def test_from_params():
    X = data()[0]
    scale = resolve_gamma("scale", X)
    assert Kernel.from_params("rbf", X=X) == Kernel("rbf", gamma=scale)
    poly = Kernel.from_params("poly", gamma=0.5, degree=2, coef0=1.0, X=X)
    assert poly == Kernel("poly", gamma=0.5, degree=2, coef0=1.0)
    assert Kernel.from_params("precomputed", X=X).name == "precomputed"
    assert Kernel.from_params(np.dot, X=X) == Kernel("callable", function=np.dot)
    weights = np.arange(len(X)) % 3.0
    weighted = Kernel.from_params("rbf", X=X, sample_weight=weights)
    assert weighted.gamma == resolve_gamma("scale", X, weights)


@pytest.mark.parametrize("kernel", [None, 3, "gauss", ["rbf"], b"rbf"])
def test_from_params_bad_kernel(kernel):
    with pytest.raises(ValueError, match="kernel"):
        Kernel.from_params(kernel, X=np.eye(2))


def test_kernel_is_immutable_and_can_be_pickled():
    kernel = Kernel("poly", gamma=0.1, degree=2)
    with pytest.raises(AttributeError):
        kernel.gamma = 2.0
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize("kernel", [*DIFFERENTIABLE, Kernel("precomputed")], ids=name_of)
def test_dict_round_trip(kernel):
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel


def test_callable_has_no_description():
    with pytest.raises(ValueError, match="cannot be saved"):
        Kernel("callable", function=np.dot).to_dict()


@pytest.mark.parametrize(
    "damage",
    [
        None,
        [],
        "rbf",
        {},
        {"name": "rbf", "gamma": 1.0, "degree": 3},
        {"name": "callable", "gamma": 1.0, "degree": 3, "coef0": 0.0},
        {"name": "os.system", "gamma": 1.0, "degree": 3, "coef0": 0.0},
        {"name": ["rbf"], "gamma": 1.0, "degree": 3, "coef0": 0.0},
        {"name": "rbf", "gamma": "1.0", "degree": 3, "coef0": 0.0},
        {"name": "rbf", "gamma": None, "degree": 3, "coef0": 0.0},
        {"name": "rbf", "gamma": np.nan, "degree": 3, "coef0": 0.0},
        {"name": "rbf", "gamma": 10**400, "degree": 3, "coef0": 0.0},
        {"name": "rbf", "gamma": -1.0, "degree": 3, "coef0": 0.0},
        {"name": "poly", "gamma": 1.0, "degree": -3, "coef0": 0.0},
    ],
)
def test_damaged_dict(damage):
    with pytest.raises(ValueError):
        Kernel.from_dict(damage)


def test_a_function_that_returns_a_sparse_matrix():
    X = sparse.random(30, 6, density=0.3, format="csr", random_state=0)
    kernel = Kernel("callable", function=lambda A, B: A @ B.T)
    np.testing.assert_allclose(kernel.matrix(X, X[:5]), (X @ X[:5].T).toarray())
