"""Checks of single parameters, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def shown(value: Any) -> str:
    """Write a value as Python does: NumPy's numbers and texts without their types."""
    with np.printoptions(legacy="1.25"):
        return repr(value)


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


def is_sequence(value: Any) -> bool:
    """Whether ``value`` is a sequence, such as a list or an array of one dimension, but no text."""
    is_flat = getattr(value, "ndim", 1) == 1
    return isinstance(value, Iterable) and not isinstance(value, str) and is_flat


def check_integer(name: str, value: Any, *, least: int, words: Sequence[str] = ()) -> None:
    """Raise ValueError unless it is one of the words, or an integer of at least ``least``."""
    if isinstance(value, str) and value in words:
        return
    if not is_integer(value) or value < least:
        text = ", ".join(map(repr, words)) + " or " if words else ""
        raise ValueError(
            f"{name} must be {text}an integer of at least {least}; got {shown(value)}."
        )


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a finite number above zero."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite positive number; got {shown(value)}.")


def check_stopping(estimator: Any) -> None:
    """Check ``tol`` and ``max_iter``, where an estimator has them."""
    if hasattr(estimator, "tol"):
        check_positive("tol", estimator.tol)
    if hasattr(estimator, "max_iter"):
        check_integer("max_iter", estimator.max_iter, least=1)


def check_share(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a number above 0 and at most 1."""
    if not is_number(value) or not 0 < value <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1; got {shown(value)}.")


def check_not_negative(name: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is a finite number of at least zero."""
    if not is_number(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0; got {shown(value)}.")


def check_word(name: str, value: Any, *words: str) -> None:
    """Raise ValueError unless ``value`` is one of a few words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be {_either(list(map(repr, words)))}; got {shown(value)}.")


def check_one_of(name: str, value: Any, words: Iterable[str]) -> None:
    """Raise ValueError unless ``value`` is one of the words of a list."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}; got {shown(value)}.")


def _either(said: Sequence[str]) -> str:
    return f"{', '.join(said[:-1])} or {said[-1]}"


def check_choice(
    name: str, value: Any, words: Sequence[str], *, may_be_zero: bool = False, several: bool = True
) -> None:
    """Raise ValueError unless it is one of the words, a number, or (if ``several``) more of these.

    Numbers are finite and positive, or zero where they may be.
    """
    if isinstance(value, str) and value in words:
        return
    numbers = list(value) if several and is_sequence(value) else [value]
    if numbers and all(is_number(one) and (one > 0 or may_be_zero and one == 0) for one in numbers):
        return
    kind = "finite number of at least 0" if may_be_zero else "finite positive number"
    said = [*map(repr, words), f"a {kind}"]
    said += ["a sequence of such numbers"] if several else []
    raise ValueError(f"{name} must be {_either(said)}; got {shown(value)}.")


def check_terms(n_terms: int, n_rows: int) -> None:
    """Raise ValueError if there are to be more terms than training rows that count."""
    if n_terms > n_rows:
        raise ValueError(f"n_terms={n_terms} is more than the {n_rows} training rows.")


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
