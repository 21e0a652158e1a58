"""Rows as they are given: validated, in any library; moved to a device, and results back from it.

By scikit-learn's convention, under ``config_context(array_api_dispatch=True)`` everything follows
X. The parameter ``device`` is for those with NumPy arrays: rows go there, and results come back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import validate_data

from zeronorm.arrays import (
    as_on,
    device_name,
    dtype_on,
    is_mapped,
    is_numpy,
    is_other_array,
    is_same_device,
    on_device,
)
from zeronorm.base.training_set import DENSE_ENTRIES
from zeronorm.checks import is_valid, shown
from zeronorm.device_expansion import DeviceExpansion
from zeronorm.expansion import KernelExpansion


def validated(estimator: Any, X: Any) -> Any:
    """Validate rows to predict for, in single or double precision."""
    if is_valid(estimator, X):
        return X
    dtype = _dtypes(X, (np.float64, np.float32))
    return validate_data(estimator, X, accept_sparse="csr", dtype=dtype, reset=False)


def validated_rows(estimator: Any, X: Any) -> Any:
    """Validate training rows without labels, in double precision."""
    return validate_data(estimator, X, accept_sparse="csr", dtype=np.float64)


def validated_training(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Validate training rows and labels; NumPy's rows become double, others are as they are.

    Rows of a file that is mapped into memory stay there, in single precision too, where the learner
    takes them block by block.
    """
    _check_in_memory(estimator, X)
    stays = estimator._learns_by_blocks and is_mapped(X)
    dtype = _dtypes(X, (np.float64, np.float32) if stays else np.float64)
    return validate_data(estimator, X, y, accept_sparse="csr", dtype=dtype, **options)


def _check_in_memory(estimator: Any, X: Any) -> None:
    """Raise TypeError if X is a Dask collection, and there is a class for those."""
    if estimator._on_dask is not None and hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X is a Dask collection, all of which {type(estimator).__name__} would load into "
            f"memory. zeronorm.dask.{estimator._on_dask} learns from its blocks; "
            "X.compute() loads them."
        )


def _dtypes(X: Any, of_numpy: Any) -> Any:
    """Return the types of numbers to ask for."""
    if is_other_array(X) and get_config()["array_api_dispatch"]:
        return [dtype_on(kind, X) for kind in (np.float64, np.float32)]
    return of_numpy


def check_device(device: Any) -> None:
    """Raise ValueError unless it is None or the name of a device that exists."""
    if device is None or isinstance(device, str) and device == "cpu":
        return
    if not isinstance(device, str):
        raise ValueError(
            f"device must be None or a name such as 'cpu', 'cuda' or 'cuda:0'; got {shown(device)}."
        )
    on_device(device)


def is_moved(X: Any, device: str | None) -> bool:
    """Whether rows have to go elsewhere; NumPy's are on the "cpu" as they are."""
    return device is not None and not (device == "cpu" and is_numpy(X))


def moved(X: Any, device: str | None) -> Any:
    """Return rows on a device, and as they are where none is given."""
    if device is None or not is_moved(X, device):
        return X
    if sparse.issparse(X) and np.prod(X.shape) > DENSE_ENTRIES:
        raise ValueError(
            f"device={shown(device)} takes sparse rows of at most {DENSE_ENTRIES} entries, zeros "
            f"included, and X has shape {X.shape}: leave device out."
        )
    return as_on(X, on_device(device))


def on_device_of(expansion: KernelExpansion, X: Any) -> KernelExpansion:
    """Return an expansion whose arrays are of the library and on the device of X."""
    return expansion if is_numpy(X) else DeviceExpansion(expansion, X)


def decision_values(estimator: Any, X: Any, device: str | None, method: str) -> Any:
    """Evaluate the expansion of an estimator at validated rows.

    Raises
    ------
    ValueError
        If the rows are elsewhere than the model, and no device is given.
    """
    expansion = estimator.expansion_
    if device is not None and is_moved(X, device):
        there = DeviceExpansion(expansion.to_numpy(), on_device(device))
        return there.scores(there.moved_outputs(X))
    if not is_same_device(X, expansion.intercept):
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(): X is an array of {device_name(X)}, the "
            f"model has those of {device_name(expansion.intercept)}."
        )
    return expansion.decision_function(X)
