"""Checks of single parameters, each with a sentence, and an estimator that a failed fit leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_integer(value: Any) -> bool:
    """Whether ``value`` is an integer, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a finite real number, and not a truth value."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def is_text(value: Any) -> bool:
    """Whether ``value`` is a string that can be written to a file: half a character cannot."""
    try:
        return isinstance(value, str) and value.encode("utf-8") is not None
    except UnicodeEncodeError:
        return False


def is_auto(value: Any) -> bool:
    """Whether ``value`` is the word "auto"."""
    return isinstance(value, str) and value == "auto"


def check_terms_or_auto(value: Any) -> None:
    """Raise ValueError unless ``value``, a number of terms, is "auto" or an integer above zero."""
    if is_auto(value):
        return
    if not is_integer(value):
        raise ValueError(f"n_terms must be 'auto' or an integer; got {value!r}.")
    check_integer("n_terms", value, least=1)


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Raise ValueError unless ``value`` is an integer of at least ``least``."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a finite number above zero."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite positive number; got {value!r}.")


def check_share(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a number above 0 and at most 1."""
    if not is_number(value) or not 0 < value <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1; got {value!r}.")


def check_not_negative(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a finite number of at least zero."""
    if not is_number(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0; got {value!r}.")


def check_terms(n_terms: int, n_rows: int) -> None:
    """Raise ValueError if there are to be more terms than training rows."""
    if n_terms > n_rows:
        raise ValueError(f"n_terms={n_terms} is more than the {n_rows} training rows.")


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if the block fails, or is interrupted."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def is_valid(estimator: Any, X: Any) -> bool:
    """Whether X is a plain array in which scikit-learn would find nothing to change or to refuse.

    Its validation takes several times as long as a few kernel terms of some hundred rows.
    """
    if type(X) is not np.ndarray or X.dtype not in (np.float64, np.float32):
        return False
    n_features = getattr(estimator, "n_features_in_", None)
    fits = X.ndim == 2 and X.shape[0] > 0 and X.shape[1] == n_features
    if not fits or hasattr(estimator, "feature_names_in_"):  # of whose absence there is a warning
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(X, axis=None)))
