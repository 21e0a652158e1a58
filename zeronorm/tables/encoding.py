"""What is learned of each column before a kernel sees it: fills, means, scales and levels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from zeronorm.tables.cells import form_from_dict
from zeronorm.tables.columns import MISSING_CODE, Column
from zeronorm.tables.table import MISSING


@dataclass(frozen=True)
class NumberEncoding:
    """Missing numbers get `fill`; then subtract `mean` and divide by `scale`."""

    fill: float
    mean: float
    scale: float

    n_features = 1

    @classmethod
    def learn(cls, values: NDArray[np.float64]) -> NumberEncoding:
        """Fill with the median; standardise to mean 0 and variance 1."""
        known = values[~np.isnan(values)]
        if known.size == 0:
            return cls(0.0, 0.0, 1.0)
        fill = float(np.median(known))
        filled = np.where(np.isnan(values), fill, values)
        if filled.min() == filled.max():  # the computed deviation would be rounding error, not zero
            return cls(fill, fill, 1.0)
        # Squares of very large or small numbers leave the range of floats; relative ones do not.
        peak = float(np.abs(filled).max())
        relative = filled / peak
        scale = float(relative.std()) * peak or 1.0
        return cls(fill, float(relative.mean()) * peak, scale)

    def encode(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one column of finite numbers, at most a million deviations from the mean."""
        filled = np.where(np.isnan(values), self.fill, values)
        with np.errstate(over="ignore"):
            standard = ((filled - self.mean) / self.scale)[:, None]
        return np.clip(standard, -1e6, 1e6)


@dataclass(frozen=True)
class CategoryEncoding:
    """One column for each level that the training rows hold; any other level is all zeros."""

    codes: tuple[float, ...]

    @property
    def n_features(self) -> int:
        """Number of columns it makes."""
        return len(self.codes)

    @classmethod
    def learn(cls, values: NDArray[np.float64]) -> CategoryEncoding:
        """Take the levels that occur; a missing category is a level like any other."""
        return cls(tuple(np.unique(values).tolist()))

    def encode(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return columns of zeros and ones."""
        return (values[:, None] == np.array(self.codes)).astype(np.float64)


Encoding = NumberEncoding | CategoryEncoding


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the matrix of :func:`zeronorm.tables.reading.to_matrix` into features for a kernel.

    Numbers are filled with the median and standardised; categories become one column each.

    Parameters
    ----------
    columns : sequence of Column
        What the columns of the matrix are.

    Attributes
    ----------
    encodings_ : list of NumberEncoding or CategoryEncoding
        What was learned of each column.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    def fit(self, X: ArrayLike, y: Any = None) -> TableEncoder:
        """Learn fills, means, scales and levels from the rows of `X`."""
        matrix = np.asarray(X, dtype=np.float64)
        self.encodings_: list[Encoding] = [
            (NumberEncoding if column.levels is None else CategoryEncoding).learn(values)
            for column, values in zip(self.columns, matrix.T, strict=True)
        ]
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the features of the rows of `X`."""
        check_is_fitted(self)
        matrix = np.asarray(X, dtype=np.float64)
        return np.hstack(
            [e.encode(values) for e, values in zip(self.encodings_, matrix.T, strict=True)]
        )

    def to_list(self) -> list[dict[str, Any]]:
        """Return what was learned as plain JSON values."""
        return [_column_to_dict(c, e) for c, e in zip(self.columns, self.encodings_, strict=True)]

    @classmethod
    def from_list(cls, items: list[dict[str, Any]]) -> TableEncoder:
        """Return the fitted encoder that `to_list` described; `ValueError` if it is damaged."""
        pairs = [_column_from_dict(item) for item in items]
        encoder = cls([column for column, _ in pairs])
        encoder.encodings_ = [encoding for _, encoding in pairs]
        return encoder


def _column_to_dict(column: Column, encoding: Encoding) -> dict[str, Any]:
    if isinstance(encoding, NumberEncoding):
        written = {"form": column.form.to_dict(), "source": column.source}
        given = {key: value for key, value in written.items() if value is not None}
        return {"name": column.name, "kind": "number", **vars(encoding), **given}
    assert column.levels is not None
    levels = [None if code == MISSING_CODE else column.levels[int(code)] for code in encoding.codes]
    return {"name": column.name, "kind": "category", "levels": levels}


def _column_from_dict(item: Any) -> tuple[Column, Encoding]:
    name = checked_field(item, "name", str)
    kind = checked_field(item, "kind", str)
    if kind == "number":
        source = item.get("source")
        if not (source is None or isinstance(source, str)):
            raise ValueError(f"the source of column '{name}' is no name")
        form = form_from_dict(item.get("form"))
        return Column(name, None, form, source), _number_from_dict(item, name)
    if kind != "category":
        raise ValueError(f"column '{name}' is of an unknown kind, '{kind}'")
    levels = checked_field(item, "levels", list)
    spelled = [level for level in levels if level is not None]
    if not all(isinstance(level, str) for level in spelled) or len(set(levels)) < len(levels):
        raise ValueError(f"the levels of column '{name}' are not different texts")
    # Cells lose their blanks, and some spellings mean a missing one: no cell would ever match.
    unreadable = [level for level in spelled if level in MISSING or level != level.strip()]
    if unreadable:
        raise ValueError(f"the level '{unreadable[0]}' of column '{name}' cannot be met in a file")
    code_of = {level: float(code) for code, level in enumerate(spelled)} | {None: MISSING_CODE}
    return Column(name, tuple(spelled)), CategoryEncoding(tuple(map(code_of.__getitem__, levels)))


def _number_from_dict(item: dict[str, Any], name: str) -> NumberEncoding:
    numbers = [checked_field(item, key, (int, float)) for key in ("fill", "mean", "scale")]
    if not (all(abs(number) <= sys.float_info.max for number in numbers) and numbers[2] > 0):
        raise ValueError(f"the scaling of column '{name}' is not finite and positive")
    return NumberEncoding(*map(float, numbers))


def checked_field(item: Any, key: str, kind: type | tuple[type, ...]) -> Any:
    """Return what stands under a key of a dictionary; `ValueError` unless it is of this kind."""
    if not isinstance(item, dict) or key not in item:
        raise ValueError(f"'{key}' is missing")
    if not isinstance(item[key], kind) or isinstance(item[key], bool):
        raise ValueError(f"'{key}' is a {type(item[key]).__name__}")
    return item[key]
