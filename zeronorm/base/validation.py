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
from zeronorm.exceptions import FeatureScaleWarning, warn
from zeronorm.expansion import KernelExpansion

#: Factor beyond which the scales of features differ.
FAR_APART = 100.0

#: Numbers that are looked at for that, about: of more rows, every so many.
LOOKED_AT = 1_000_000

#: Most names in the hint.
NAMED = 3


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


def hint_at_scales(estimator: Any, X: Any, looked_at: int = LOOKED_AT) -> None:
    """Warn if features of plain rows are on scales so different that the small ones have no part.

    Kernels of distances and inner products add the features up: one that varies a hundred times as
    much as another has ten thousand times its part in a squared distance. A linear kernel is spared
    the hint: its weights undo any scale, and only the penalty notices. Of sparse rows nothing is
    said.

    What counts as the scale of a feature is its standard deviation, and its range: both must
    differ. A column of a rare category has a small deviation, but the range of every category;
    standardised columns with long tails have large ranges, but the same deviation.
    """
    if not isinstance(X, np.ndarray) or min(X.shape) < 2:
        return
    rows = X[:: max(1, X.size // looked_at)]
    with np.errstate(all="ignore"):  # numbers at the end of the range are another error's part
        reach = np.asarray(rows.max(axis=0), dtype=float) - rows.min(axis=0)
        if FAR_APART * reach[reach > 0].min(initial=np.inf) >= reach.max():
            return  # what the ranges rule out need not be asked of the deviations
        deviation = np.asarray(rows.std(axis=0), dtype=float)
        largest = int(deviation.argmax())
        is_small = (reach > 0) & (FAR_APART * deviation < deviation[largest])
        small = np.flatnonzero(is_small & (FAR_APART * reach < reach[largest]))
    if len(small) == 0 or not np.isfinite(deviation).all():
        return
    small = small[np.argsort(deviation[small], kind="stable")]
    names = getattr(estimator, "feature_names_in_", None)

    def named(column: int) -> str:
        return f"column {column}" if names is None else f"'{names[column]}'"

    listed = ", ".join(f"{named(column)} by {deviation[column]:.2g}" for column in small[:NAMED])
    more = f" and {len(small) - NAMED} more by little" if len(small) > NAMED else ""
    name = type(estimator).__name__
    warn(
        f"The scales of the features differ by more than {FAR_APART:g} times: {named(largest)} "
        f"varies by {deviation[largest]:.2g}, {listed}{more}, which will hardly count. If these "
        "units mean nothing, standardise the features: make_pipeline(StandardScaler(), "
        f"{name}(...)).",
        FeatureScaleWarning,
    )


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
