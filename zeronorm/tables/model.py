"""A classifier together with the preprocessing of its table, in one readable JSON file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

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
from zeronorm.tables.cells import BadCells
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.encoding import TableEncoder, checked_field
from zeronorm.tables.table import Table, TableError

FORMAT = "zeronorm-table-model"
#: Version 3 has columns with a form or a source. A file without any is written as version 2, which
#: earlier zeronorms read.
VERSION = 3


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

    @classmethod
    def of_numbers(cls, target: str, encoder: TableEncoder, regressor: Any) -> TableModel:
        """Return the model of a regressor."""
        model = Model.from_estimator(regressor)
        return cls(target, encoder, Model(model.function, model.decision))

    def predict(self, table: Table, bad_cells: BadCells | None = None) -> list[Any]:
        """Return the prediction for every row of `table`, which need not have the target column.

        Parameters
        ----------
        table : Table
            The rows.
        bad_cells : BadCells, optional
            Counts cells that are no numbers, see :func:`to_matrix`.

        Raises
        ------
        TableError
            If the table lacks columns, or the model has no finite value for a row.
        """
        return self.model.decision.predict(self.outputs(table, bad_cells)).tolist()

    def outputs(self, table: Table, bad_cells: BadCells | None = None) -> NDArray[np.float64]:
        """Return the values of the model's function, shape (rows, outputs), as `predict` does."""
        matrix = to_matrix(table, self.encoder.columns, bad_cells)
        values = self.model.function.outputs(self.encoder.transform(matrix))
        is_finite = np.isfinite(values).all(axis=1)
        if not is_finite.all():
            raise TableError(
                f"{table.path}, line {table.lines[int(np.argmin(is_finite))]}: the "
                f"{self.model.function.kernel_name} kernel of the model gives no finite value for "
                "this row, so it has no prediction; check the row and the kernel's parameters in "
                "the model."
            )
        return values

    def to_dict(self) -> dict[str, Any]:
        """Describe the model as plain data (numbers, strings, lists)."""
        columns = self.encoder.to_list()
        is_plain = not any("form" in column or "source" in column for column in columns)
        return {
            "format": FORMAT,
            "version": 2 if is_plain else VERSION,
            "written_by": f"zeronorm {__version__}",
            "target": self.target,
            "columns": columns,
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
        if version not in (1, 2, VERSION):
            raise ValueError(
                f"written in version {version!r} of the format; "
                f"this zeronorm ({__version__}) reads versions 1 to {VERSION}"
            )
        of_version = ("classes", "expansion") if version == 1 else ("model",)
        keys = ("format", "version", "written_by", "target", "columns", *of_version)
        data = without_checksum(data, keys)
        encoder = TableEncoder.from_list(checked_field(data, "columns", list))
        model = (
            _first_model(data)
            if version == 1
            else Model.from_dict(checked_field(data, "model", dict))
        )
        if "predict" not in model.decision.answers:
            raise ValueError("the model has no predictions")
        return cls(checked_field(data, "target", str), encoder, model)

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
    classes = checked_field(data, "classes", list)
    if len(classes) < 2 or not all(isinstance(name, str) for name in classes):
        raise ValueError("'classes' are not two or more texts")
    expansion = KernelExpansion.from_dict(checked_field(data, "expansion", dict))
    votes = expansion.vote_classes is not None
    return Model(expansion, Classes(classes, DecisionRule(len(classes), votes, votes)))


def check_output(path: str | Path) -> None:
    """Raise `TableError` now if :func:`save_text` could not write `path` later."""
    with writable(path):  # a name may be too long, links may point at each other
        target = link_target(path)
        if not target.parent.is_dir():
            raise TableError(f"{path} cannot be written: there is no folder {target.parent}.")
        if target.exists() and not target.is_file():  # a folder, or a device such as /dev/null
            raise TableError(f"{path} cannot be written: it is not a file.")
        if not os.access(target.parent, os.W_OK):
            raise TableError(f"{path} cannot be written: the folder {target.parent} is read-only.")


def save_text(path: str | Path, text: str) -> None:
    """Write `text` to `path`, all of it or nothing; `TableError` if that is impossible."""
    check_output(path)
    with writable(path):
        write_text(path, text)


@contextmanager
def writable(path: str | Path) -> Iterator[None]:
    """Let a file that cannot be written be a `TableError`."""
    try:
        yield
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror}.") from None
