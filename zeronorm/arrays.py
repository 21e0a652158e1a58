"""Arrays of any library: the one place that knows about namespaces and devices.

NumPy arrays and SciPy's sparse matrices need nothing else. Other arrays (torch's, on a GPU) are
reached through the array API standard, by ``array_api_compat``, which is asked for only when such
an array comes. Small things, such as one number for each model, stay in NumPy wherever a loop looks
at them; ``to_numpy`` and ``as_on`` go back and forth.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from mmap import mmap
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import get_lapack_funcs

from zeronorm.recording import is_recording

DOUBLE = np.dtype(np.float64)

#: Triangles smaller than this are inverted together, larger ones one by one.
LARGE_TRIANGLE = 16

#: Masks of matrices with at most so many columns are kept.
SMALL_MASK = 256

#: Types of arrays that have been met: whether they are NumPy's, and their modules. Small problems
#: ask a hundred thousand times.
_IS_NUMPY: dict[type, bool] = {np.ndarray: True}
_NAMESPACES: dict[type, Any] = {}

#: What to say where a library is missing.
INSTALL = "install it with: pip install 'zeronorm[gpu]'"


def is_numpy(array: Any) -> bool:
    """Whether an array is NumPy's, or a sparse matrix of SciPy."""
    kind = type(array)
    if kind not in _IS_NUMPY:
        _IS_NUMPY[kind] = issubclass(kind, (np.ndarray, np.generic)) or sparse.issparse(array)
    return _IS_NUMPY[kind]


def is_mapped(array: Any) -> bool:
    """Whether an array is a file that is mapped into memory, or a view of one."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap)


def is_other_array(array: Any) -> bool:
    """Whether something is an array of a library other than NumPy and SciPy."""
    return not is_numpy(array) and (_is_torch(array) or hasattr(array, "__array_namespace__"))


def _compat() -> Any:
    try:
        return importlib.import_module("array_api_compat")
    except ImportError:
        raise ImportError(
            f"Arrays that are not NumPy's need the package array-api-compat; {INSTALL}"
        ) from None


def _is_torch(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "torch"


def namespace(array: Any) -> Any:
    """Return the module with the functions for an array."""
    if is_numpy(array):
        return np
    kind = type(array)
    if kind not in _NAMESPACES:
        _NAMESPACES[kind] = _compat().array_namespace(array)
    return _NAMESPACES[kind]


def device_of(array: Any) -> Any:
    """Return where an array lives; NumPy's are on the "cpu"."""
    return "cpu" if is_numpy(array) else array.device


def is_same_device(one: Any, other: Any) -> bool:
    """Whether two arrays are of the same library and on the same device."""
    if is_numpy(one) or is_numpy(other):
        return is_numpy(one) and is_numpy(other)
    return namespace(one) is namespace(other) and device_of(one) == device_of(other)


def device_name(array: Any) -> str:
    """Name library and device of an array, for a sentence."""
    name = namespace(array).__name__.removeprefix("array_api_compat.")
    return f"{name} on {device_of(array)}"


def has_double(array: Any) -> bool:
    """Whether the device of an array has double precision."""
    return getattr(device_of(array), "type", None) != "mps"


def dtype_on(dtype: Any, like: Any) -> Any:
    """Return the type of numbers that NumPy calls so, for arrays like this one."""
    if is_numpy(like):
        return np.dtype(dtype)
    name = dtype_name(dtype)
    name = "float32" if name == "float64" and not has_double(like) else name
    return getattr(namespace(like), name)


def dtype_name(dtype: Any) -> str:
    """Return what NumPy calls a type of numbers of any library."""
    if isinstance(dtype, (np.dtype, type, str)):
        return np.dtype(dtype).name
    return str(dtype).rpartition(".")[2]


def double(like: Any) -> Any:
    """Return the type with the most digits that the device of an array has."""
    return DOUBLE if type(like) is np.ndarray else dtype_on(np.float64, like)


def epsilon(array: Any) -> float:
    """Return the rounding error of the numbers of an array."""
    return float(np.finfo(dtype_name(array.dtype)).eps)


def cast(array: Any, dtype: Any) -> Any:
    """Return an array in another type of numbers, itself if it has it."""
    if is_numpy(array):
        return array.astype(dtype, copy=False)
    return namespace(array).astype(array, dtype_on(dtype, array), copy=False)


def copied(array: Any) -> Any:
    """Return a copy."""
    return array.copy() if is_numpy(array) else namespace(array).asarray(array, copy=True)


def to_numpy(array: Any) -> np.ndarray:
    """Return an array as NumPy's; one that is stays as it is."""
    if is_numpy(array):
        return array
    if _is_torch(array):
        return array.detach().cpu().numpy()
    if hasattr(array, "get"):  # CuPy
        return array.get()
    info = namespace(array).__array_namespace_info__()
    return np.asarray(array.to_device(info.default_device()))


def as_on(array: Any, like: Any, dtype: Any = None) -> Any:
    """Return an array in the library and on the device of another, in a type that may be given."""
    if is_numpy(like):
        array = to_numpy(array)
    elif not is_same_device(array, like):
        array = to_numpy(array)
        array = array.toarray() if sparse.issparse(array) else array
        if array.dtype == np.float64 and not has_double(like):
            array = array.astype("float32")
        if not array.flags.writeable or min(array.strides, default=0) < 0:
            array = array.copy()  # torch would share its memory
        array = namespace(like).asarray(array, device=device_of(like))
    return array if dtype is None else cast(array, dtype)


def on_device(device: str) -> Any:
    """Return an empty tensor of torch on a device, for ``as_on``.

    Raises
    ------
    ImportError
        If torch is not installed; the sentence says how to install it.
    ValueError
        If there is no such device.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ImportError(f"device={device!r} needs PyTorch; {INSTALL}") from None
    _compat()
    try:
        return torch.zeros(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(f"There is no device {device!r} for PyTorch here: {reason}.") from None


def zeros(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Return zeros beside an array, by default of its type."""
    dtype = like.dtype if dtype is None else dtype_on(dtype, like)
    if is_numpy(like):
        return np.zeros(shape, dtype)
    return namespace(like).zeros(shape, dtype=dtype, device=device_of(like))


def take(array: Any, indices: Any) -> Any:
    """Return rows (of the first axis): by a slice, by numbers or by a mask of NumPy.

    All rows, in their order, may be the array itself.
    """
    if is_numpy(array):
        is_plain = type(array) is np.ndarray and array.flags.c_contiguous
        if is_plain and type(indices) is np.ndarray and indices.dtype != bool:
            return array.take(indices, axis=0)  # several times as fast; of others it copies all
        return array[indices]
    if isinstance(indices, slice):
        return array[indices, ...]
    if is_numpy(indices):
        indices = np.flatnonzero(indices) if indices.dtype == bool else indices
        if len(indices) == array.shape[0] and (indices == np.arange(len(indices))).all():
            return array  # to bring the indices over would take longer than a step
        indices = as_on(np.asarray(indices, dtype=np.int64), array)
    if _is_torch(array):
        return array.index_select(0, indices)  # no index is negative: nothing to look for
    return namespace(array).take(array, indices, axis=0)


def put(array: Any, indices: np.ndarray, rows: Any) -> None:
    """Replace the rows with these numbers."""
    if is_numpy(array):
        array[indices] = rows
    elif len(indices) == array.shape[0] and (indices == np.arange(len(indices))).all():
        array[...] = rows
    elif _is_torch(array):
        array[as_on(indices, array)] = rows
    else:  # the standard has no such thing
        for i, index in enumerate(indices.tolist()):
            array[index, ...] = rows[i, ...] if hasattr(rows, "shape") else rows


def one_each(array: Any, indices: Any) -> Any:
    """Return ``array[i, indices[i]]`` for every i; the indices are beside the array."""
    if is_numpy(array):
        return array[np.arange(len(array)), indices]
    xp, (count, size) = namespace(array), array.shape[:2]
    first = size * xp.arange(count, dtype=indices.dtype, device=device_of(array))
    flat = xp.reshape(array, (count * size, *array.shape[2:]))
    return xp.take(flat, first + indices, axis=0)


def diagonal(matrices: Any) -> Any:
    """Return the diagonals of a stack of matrices."""
    if is_numpy(matrices):
        return np.einsum("...ii->...i", matrices)  # a view that may be written to
    return namespace(matrices).linalg.diagonal(matrices)


def with_diagonal(matrices: Any, values: Any) -> Any:
    """Return a stack of matrices with other diagonals; it may be the same array."""
    if is_numpy(matrices):
        np.einsum("...ii->...i", matrices)[...] = values
        return matrices
    xp, size = namespace(matrices), matrices.shape[-1]
    flat = xp.reshape(matrices, (*matrices.shape[:-2], size * size))
    flat[..., :: size + 1] = values
    return xp.reshape(flat, matrices.shape)


def lower_triangles(matrices: Any) -> Any:
    """Return a stack of matrices with zeros above the diagonals."""
    if is_numpy(matrices) and matrices.shape[-1] <= SMALL_MASK:
        # np.tril makes its mask anew each time, of small matrices most of its work.
        return np.where(_below_diagonal(*matrices.shape[-2:]), matrices, matrices.dtype.type(0))
    return namespace(matrices).tril(matrices)


@lru_cache(maxsize=32)
def _below_diagonal(rows: int, columns: int) -> np.ndarray:
    return np.tri(rows, columns, dtype=bool)


def in_place(function: Callable[..., Any], array: Any) -> Any:
    """Apply a function to every number of an array that is used up."""
    if is_numpy(array) or _is_torch(array):
        return function(array, out=array)
    return function(array)


def exp_at_most_one(values: Any) -> Any:
    """Return exp(min(values, 0)) of an array that is used up."""
    if is_numpy(values):
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values)
    xp = namespace(values)
    return in_place(xp.exp, xp.clip(values, None, 0.0))


def at_least(array: Any, least: float) -> Any:
    """Return the numbers of an array, those below a bound replaced by it."""
    if is_numpy(array):
        return np.maximum(array, least)
    return namespace(array).clip(array, least, None)


def cholesky(matrices: Any) -> Any:
    """Return the lower triangular factors, or None if a matrix is not positive definite.

    While a step is recorded nobody can look: the factor of such a matrix is then NaN.
    """
    if _is_torch(matrices) and is_recording():
        torch = importlib.import_module("torch")
        factors, info = torch.linalg.cholesky_ex(matrices)
        return torch.where((info > 0)[..., None, None], np.nan, factors)
    try:
        return namespace(matrices).linalg.cholesky(matrices)
    except (np.linalg.LinAlgError, RuntimeError) as error:
        # torch has an error of its own, which only its name tells from a lack of memory.
        if "LinAlgError" not in type(error).__name__:
            raise
        return None


def solved(matrices: Any, right: Any) -> Any:
    """Return the solutions of a stack of systems of linear equations, one right side each.

    On the CPU torch's threads may get in each other's way where there are several systems of more
    than a hundred equations: it fails, or is wrong (pytorch/pytorch#142815). So one at a time.
    """
    xp, size = namespace(matrices), matrices.shape[-1]
    if not _is_torch(matrices) or device_of(matrices).type != "cpu":
        return xp.linalg.solve(matrices, right)
    stacks = xp.reshape(matrices, (-1, size, size)), xp.reshape(right, (-1, size, 1))
    each = [xp.linalg.solve(*system) for system in zip(*stacks, strict=True)]
    return xp.reshape(xp.stack(each), right.shape)


def triangular_inverse(factors: Any) -> Any:
    """Return the inverses of a stack of lower triangular matrices.

    LAPACK has a function for it, several times as fast as that for any matrix; so has torch.
    """
    xp, size = namespace(factors), factors.shape[-1]
    if _is_torch(factors):
        one = xp.eye(size, dtype=factors.dtype, device=device_of(factors))
        return importlib.import_module("torch").linalg.solve_triangular(factors, one, upper=False)
    if not is_numpy(factors) or size < LARGE_TRIANGLE:
        return xp.linalg.inv(factors)
    (invert,) = get_lapack_funcs(("trtri",), (factors,))
    # A lower triangle by rows is an upper one by columns, which LAPACK takes without a copy.
    return np.stack([invert(factor.T, lower=0)[0].T for factor in factors])


def all_finite(array: Any) -> bool:
    """Whether every number is finite."""
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))
