"""A classifier together with the preprocessing of its table, in one readable JSON file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from zeronorm import __version__
from zeronorm.decisions import Classes, DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.files import (
    check_length,
    link_target,
    model_text,
    read_json,
    without_checksum,
    write_text,
)
from zeronorm.model import Model
from zeronorm.tables.reading import MISSING, MISSING_CODE, Column, Table, TableError, to_matrix

FORMAT = "zeronorm-table-model"
VERSION = 2


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
        return {"name": column.name, "kind": "number", **vars(encoding)}
    assert column.levels is not None
    levels = [None if code == MISSING_CODE else column.levels[int(code)] for code in encoding.codes]
    return {"name": column.name, "kind": "category", "levels": levels}


def _column_from_dict(item: Any) -> tuple[Column, Encoding]:
    name = _field(item, "name", str)
    kind = _field(item, "kind", str)
    if kind == "number":
        return Column(name), _number_from_dict(item, name)
    if kind != "category":
        raise ValueError(f"column '{name}' is of an unknown kind, '{kind}'")
    levels = _field(item, "levels", list)
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
    numbers = [_field(item, key, (int, float)) for key in ("fill", "mean", "scale")]
    if not (all(abs(number) <= sys.float_info.max for number in numbers) and numbers[2] > 0):
        raise ValueError(f"the scaling of column '{name}' is not finite and positive")
    return NumberEncoding(*map(float, numbers))


def _field(item: Any, key: str, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(item, dict) or key not in item:
        raise ValueError(f"'{key}' is missing")
    if not isinstance(item[key], kind) or isinstance(item[key], bool):
        raise ValueError(f"'{key}' is a {type(item[key]).__name__}")
    return item[key]


@dataclass(frozen=True)
class TableModel:
    """A model that predicts the target of raw CSV rows.

    Parameters
    ----------
    target : str
        The name of the column it predicts.
    encoder : TableEncoder
        The fitted preprocessing.
    model : Model
        What predicts from the features that the encoder makes.
    """

    target: str
    encoder: TableEncoder
    model: Model

    def __post_init__(self) -> None:
        if get_tags(self.model).input_tags.pairwise:
            raise ValueError("a precomputed kernel has no values for rows of a table")
        n_features = sum(encoding.n_features for encoding in self.encoder.encodings_)
        if self.model.n_features_in_ != n_features:
            raise ValueError(
                f"the columns make {n_features} features, the model takes "
                f"{self.model.n_features_in_}"
            )

    @classmethod
    def of_classes(
        cls, target: str, classes: Sequence[str], encoder: TableEncoder, classifier: Any
    ) -> TableModel:
        """Return the model of a classifier that was fitted on the numbers of the classes."""
        model = Model.from_estimator(classifier)
        decision = Classes(classes, model.decision.rule, model.decision.link)
        return cls(target, encoder, Model(model.function, decision))

    def predict(self, table: Table) -> list[Any]:
        """Return the prediction for every row of `table`, which need not have the target column.

        Raises
        ------
        TableError
            If the table lacks columns, or the model has no finite value for a row.
        """
        features = self.encoder.transform(to_matrix(table, self.encoder.columns))
        values = self.model.function.outputs(features)
        is_finite = np.isfinite(values).all(axis=1)
        if not is_finite.all():
            raise TableError(
                f"{table.path}, line {table.lines[int(np.argmin(is_finite))]}: the "
                f"{self.model.function.kernel_name} kernel of the model gives no finite value for "
                "this row, so it has no class; check the row and the kernel's parameters in the "
                "model."
            )
        return self.model.decision.predict(values).tolist()

    def to_dict(self) -> dict[str, Any]:
        """Describe the model as plain data (numbers, strings, lists)."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"zeronorm {__version__}",
            "target": self.target,
            "columns": self.encoder.to_list(),
            "model": self.model.to_dict(),
        }

    def to_json(self) -> str:
        """Return the text of the model file."""
        return model_text(self.to_dict())

    @classmethod
    def from_dict(cls, data: Any) -> TableModel:
        """Rebuild a model from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"'format' is not '{FORMAT}'")
        version = data.get("version")
        if version not in (1, VERSION):
            raise ValueError(
                f"written in version {version!r} of the format; "
                f"this zeronorm ({__version__}) reads versions 1 and {VERSION}"
            )
        of_version = ("classes", "expansion") if version == 1 else ("model",)
        keys = ("format", "version", "written_by", "target", "columns", *of_version)
        data = without_checksum(data, keys)
        encoder = TableEncoder.from_list(_field(data, "columns", list))
        model = _first_model(data) if version == 1 else Model.from_dict(_field(data, "model", dict))
        if "predict" not in model.decision.answers:
            raise ValueError("the model has no predictions")
        return cls(_field(data, "target", str), encoder, model)

    def save(self, path: str | Path) -> None:
        """Write the model to `path`, all of it or nothing; `TableError` if that is impossible."""
        text = self.to_json()
        try:
            check_length(text)
        except ValueError as error:
            raise TableError(f"{path} cannot be written: {error}") from None
        save_text(path, text)

    @classmethod
    def load(cls, path: str | Path) -> TableModel:
        """Read a model that :meth:`save` wrote; `TableError` if the file is anything else.

        Nothing in the file is ever executed. A file or a pipe of at most 256 MiB is read. A file
        that was changed after it was written does not match its checksum and is refused; without
        the line of the checksum (zeronorm 0.1 wrote none) it is taken as it is.
        """
        try:
            return cls.from_dict(read_json(path))
        except FileNotFoundError:
            raise TableError(f"There is no file {path}.") from None
        except OSError as error:
            raise TableError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise TableError(
                f"{path} is damaged, or not a model that 'zeronorm fit --out' wrote: {reason}."
            ) from None


def _first_model(data: dict[str, Any]) -> Model:
    """Read the model of version 1: classes by sign, by the largest or by votes."""
    classes = _field(data, "classes", list)
    if len(classes) < 2 or not all(isinstance(name, str) for name in classes):
        raise ValueError("'classes' are not two or more texts")
    expansion = KernelExpansion.from_dict(_field(data, "expansion", dict))
    votes = expansion.vote_classes is not None
    return Model(expansion, Classes(classes, DecisionRule(len(classes), votes, votes)))


def check_output(path: str | Path) -> None:
    """Raise `TableError` now if :func:`save_text` could not write `path` later."""
    try:
        target = link_target(path)
        if not target.parent.is_dir():
            raise TableError(f"{path} cannot be written: there is no folder {target.parent}.")
        if target.exists() and not target.is_file():  # a folder, or a device such as /dev/null
            raise TableError(f"{path} cannot be written: it is not a file.")
        if not os.access(target.parent, os.W_OK):
            raise TableError(f"{path} cannot be written: the folder {target.parent} is read-only.")
    except OSError as error:  # a name that is too long, links that point at each other
        raise TableError(f"{path} cannot be written: {error.strerror}.") from None


def save_text(path: str | Path, text: str) -> None:
    """Write `text` to `path`, all of it or nothing; `TableError` if that is impossible."""
    check_output(path)
    try:
        write_text(path, text)
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror}.") from None
