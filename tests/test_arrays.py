"""Arrays of any library: what NumPy does in one way, others do in another."""

import sys

import numpy as np
import pytest
from scipy import sparse

from zeronorm import arrays
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel


def strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


def torch(array):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").asarray(array)


LIBRARIES = pytest.mark.parametrize("other", [np.asarray, strict, torch])


def test_rows_of_any_layout_are_taken(tmp_path):
    values = np.arange(24.0).reshape(6, 4)
    mapped = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=values.shape)
    mapped[...] = values
    columns = np.repeat(values, 2, axis=1)[:, ::2]
    for array in (values, np.asfortranarray(values), columns, mapped, sparse.csr_array(values)):
        for rows in (np.array([4, 0, 4, -1]), np.zeros(0, dtype=int), np.arange(6) % 2 == 0):
            taken = arrays.take(array, rows)
            taken = taken.toarray() if sparse.issparse(taken) else taken
            np.testing.assert_array_equal(taken, values[rows])
    with pytest.raises(IndexError):
        arrays.take(values, np.array([6]))


@LIBRARIES
def test_rows_are_taken_and_put(other):
    values = np.arange(12.0).reshape(4, 3)
    array = other(values.copy())
    for rows in (np.array([2, 0]), np.arange(4), np.array([True, False, True, False]), slice(1, 3)):
        np.testing.assert_array_equal(arrays.to_numpy(arrays.take(array, rows)), values[rows])
    arrays.put(array, np.array([3, 1]), other(np.array([[7.0, 8.0, 9.0], [4.0, 5.0, 6.0]])))
    arrays.put(array, np.array([0]), 1.0)
    expected = [[1, 1, 1], [4, 5, 6], [6, 7, 8], [7, 8, 9]]
    np.testing.assert_array_equal(arrays.to_numpy(array), expected)
    picked = arrays.one_each(array, other(np.array([0, 2, 1, 1])))
    np.testing.assert_array_equal(arrays.to_numpy(picked), [1, 6, 7, 8])


@LIBRARIES
def test_diagonals_and_factors(other):
    matrices = np.stack([np.eye(3) + 1.0, 4.0 * np.eye(3)])
    array = arrays.with_diagonal(other(matrices.copy()), 5.0)
    np.testing.assert_array_equal(arrays.to_numpy(arrays.diagonal(array)), np.full((2, 3), 5.0))
    factor = arrays.to_numpy(arrays.cholesky(array))
    np.testing.assert_allclose(factor @ factor.mT, arrays.to_numpy(array))
    assert arrays.cholesky(other(-matrices)) is None


@pytest.fixture
def two_threads():
    """PyTorch with two threads, where it is there: with one some of its faults do not show."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@LIBRARIES
def test_many_systems_of_many_equations(other, two_threads):
    random = np.random.default_rng(0)
    matrices = random.normal(size=(2, 5, 160, 160)) + 30.0 * np.eye(160)
    wanted = random.normal(size=(2, 5, 160, 1))
    found = arrays.solved(other(matrices), other(matrices @ wanted))
    np.testing.assert_allclose(arrays.to_numpy(found), wanted, rtol=1e-9, atol=1e-9)


@LIBRARIES
def test_lower_triangles(other):
    matrices = np.random.default_rng(0).normal(size=(3, 4, 4))
    matrices[1, 0, 3], matrices[2, 1, 0] = np.nan, np.inf
    for one in (matrices, matrices.astype(np.float32), matrices[:, :3], matrices.mT):
        found = arrays.lower_triangles(other(np.ascontiguousarray(one)))
        np.testing.assert_array_equal(arrays.to_numpy(found), np.tril(one))
        assert arrays.dtype_name(found.dtype) == one.dtype.name


@LIBRARIES
def test_types_and_places(other):
    single = arrays.cast(other(np.ones(3)), np.float32)
    assert arrays.dtype_name(single.dtype) == "float32"
    assert arrays.epsilon(single) == np.finfo(np.float32).eps
    assert arrays.is_same_device(arrays.as_on(np.zeros(2), single), single)
    assert arrays.as_on(sparse.csr_matrix(np.eye(2)), single).shape == (2, 2)
    np.testing.assert_array_equal(arrays.to_numpy(arrays.zeros((2,), single)), [0.0, 0.0])
    values = arrays.exp_at_most_one(other(np.array([1.0, -1.0])))
    np.testing.assert_allclose(arrays.to_numpy(values), [1.0, np.exp(-1.0)])


def test_a_read_only_array_is_not_shared():
    values = np.broadcast_to(np.arange(3.0), (2, 3))
    moved = arrays.as_on(values, torch(np.zeros(1)))
    moved += 1.0
    np.testing.assert_array_equal(values, [[0, 1, 2], [0, 1, 2]])


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel("rbf", gamma=0.5),
        Kernel("rbf", gamma=0.5, metric=(1.0, 0.0, 2.0)),
        Kernel("poly", gamma=0.5, degree=2, coef0=1.0),
        Kernel("linear"),
        Kernel("sigmoid", gamma=0.1),
    ],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("other", [strict, torch])
def test_expansions_elsewhere_have_the_same_values(other, kernel):
    from zeronorm import device_expansion

    random = np.random.RandomState(0)
    linear = random.randn(3, 2)
    expansion = KernelExpansion(
        100.0 + random.randn(5, 3), random.randn(5, 2), [0.5, -1.0], kernel, linear=linear
    )
    X = 100.0 + random.randn(40, 3)
    X[7] = 1e4  # far beyond what products of the rbf kernel can tell
    elsewhere = device_expansion.DeviceExpansion(expansion, other(X), block=64)
    expected = expansion.outputs(X)
    found = arrays.to_numpy(elsewhere.outputs(other(X)))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_array_equal(elsewhere.moved_outputs(X), found)
    single = arrays.to_numpy(elsewhere.outputs(other(X.astype(np.float32))))
    np.testing.assert_allclose(single, expansion.outputs(X.astype(np.float32)), rtol=1e-9)
    assert elsewhere.to_dict() == expansion.to_dict()
    with pytest.raises(ValueError, match="move X there"):
        elsewhere.outputs(X)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs PyTorch.*zeronorm\[gpu\]"):
        arrays.on_device("cuda")
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"array-api-compat.*zeronorm\[gpu\]"):
        arrays.namespace(object())


def test_numpy_needs_nothing_else(monkeypatch):
    for name in ("torch", "array_api_compat"):
        monkeypatch.setitem(sys.modules, name, None)
    assert arrays.namespace(np.zeros(1)) is np
    assert arrays.namespace(sparse.csr_matrix(np.eye(2))) is np
