"""Labels and weights as fit is given them: checked, as class codes, as targets of -1 and +1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from zeronorm.arrays import is_other_array, to_numpy
from zeronorm.base.sampling import renumbered
from zeronorm.checks import shown


def check_labels(y: Any) -> None:
    """Raise ValueError if y are no classes, TypeError as :func:`target_kind` does."""
    if _are_few_integers(y):
        return
    with _comparable():
        check_classification_targets(y)


def _are_few_integers(y: Any) -> bool:
    """Whether y are integers of so small a range that scikit-learn has nothing to say of them.

    To see that itself it sorts them. It warns where there are half as many classes as rows.
    """
    is_plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind == "i" and len(y) > 0
    return is_plain and int(y.max()) - int(y.min()) < len(y) // 2


def target_kind(y: Any) -> str:
    """Return the kind of a target, as scikit-learn names it.

    Raises
    ------
    TypeError
        If there are labels of types that cannot be compared, such as 1 and "a".
    """
    if _are_few_integers(y):
        return "binary" if len(np.unique(y)) <= 2 else "multiclass"
    with _comparable():
        return type_of_target(y, input_name="y")


@contextmanager
def _comparable() -> Iterator[None]:
    try:
        yield
    except TypeError as error:
        if "not supported between" not in str(error):  # what Python says of labels like 1 and "a"
            raise
        raise TypeError(
            f"y has labels that cannot be put in an order ({error}): make all of them numbers, or "
            "all of them strings."
        ) from error


def class_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes, two at least, and the code of each label among them."""
    classes, codes = _integer_codes(y) or np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"The training data hold one class only, {shown(classes[0])}; at least two are needed."
        )
    return classes, codes


def _integer_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Classes and codes of integers that are close together, without sorting them."""
    if y.dtype.kind != "i" or int(y.max()) - int(y.min()) > len(y):
        return None
    first = int(y.min())
    above = y.astype(np.int64) - first
    classes = (np.flatnonzero(np.bincount(above)) + first).astype(y.dtype)
    return classes, renumbered(above)


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the weights as an array, ones by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    if is_other_array(sample_weight):
        sample_weight = to_numpy(sample_weight)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it needs one number for each of the "
            f"{n_rows} rows, shape ({n_rows},)."
        )
    if weight.min() < 0:
        raise ValueError("sample_weight must not be negative.")
    if weight.max() == 0:
        raise ValueError("All sample weights are zero; at least one row must count.")
    return weight


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Weight of each class; "balanced" counts rows by their weights."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weight)
        return weight.sum() / (len(classes) * total)
    if class_weight is None:
        return np.ones(len(classes))
    if not isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict with the factor of each class; got "
            f"{shown(class_weight)}."
        )
    return compute_class_weight(class_weight, classes=classes, y=classes[codes])


def signed_targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Labels as -1/+1: one column for two classes, one against the rest beyond."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
