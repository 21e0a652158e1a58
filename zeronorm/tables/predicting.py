"""The command ``zeronorm predict``."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import typer
from numpy.typing import NDArray

from zeronorm.decisions import Classes
from zeronorm.files import replacing
from zeronorm.pairs import pairs_of
from zeronorm.tables.cells import BadCells, NumberForm, PlainForm
from zeronorm.tables.columns import Column
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.ending import (
    clean_end,
    ignore_signals,
    one_sentence_errors,
    print_notes,
    screen,
)
from zeronorm.tables.model import TableModel, writable
from zeronorm.tables.records import check_separator
from zeronorm.tables.sources import Source
from zeronorm.tables.table import Table, TableError
from zeronorm.tables.training import check_decimal, check_out, progress

#: So many rows are predicted at a time.
PIECE_ROWS = 20_000


@dataclass(frozen=True)
class Options:
    """What is written beside the predictions, and how the file is read: options."""

    proba: bool = False
    scores: bool = False
    keep: tuple[str, ...] = ()
    threshold: float | None = None
    sep: str | None = None
    decimal: str | None = None
    strict: bool = False


def run(path: Path, data: Path, out: Path | None, options: Options) -> None:
    """Read, predict and write, some rows at a time: a file may be larger than the memory."""
    with contextlib.ExitStack() as stack:
        with clean_end():
            if out is not None:
                check_out(out, path, data)
            check_decimal(options.decimal)
            model = TableModel.load(path)
            _check(model, options)
            model = _with_decimal(model, options.decimal)
            if out is None:
                # All of it or nothing, also on the screen.
                spooled = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=2**24))
                _predict(model, data, cast(BinaryIO, spooled), options)
            else:
                with writable(out), replacing(out) as stream:
                    _predict(model, data, stream, options)
                    ignore_signals()
        if out is None:
            with one_sentence_errors(), screen():
                spooled.seek(0)
                for block in iter(lambda: spooled.read(2**20), b""):
                    typer.echo(block, nl=False)


def _predict(model: TableModel, data: Path, stream: BinaryIO, options: Options) -> None:
    bad_cells = BadCells(options.strict)
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header(model, options))
    with (
        Source.opened(data, check_separator(options.sep)) as source,
        progress("predicting") as update,
    ):
        for table in source.pieces(PIECE_ROWS):
            writer.writerows(records(model, table, options, bad_cells))
            update(source.share, f"line {table.lines[-1]}")
    text.detach()
    print_notes([*source.notes, *bad_cells.notes()])


def _check(model: TableModel, options: Options) -> None:
    answers = model.model.decision.answers
    is_of_classes = isinstance(model.model.decision, Classes)
    if options.threshold is not None:
        if not is_of_classes or len(model.model.classes_) != 2:
            raise TableError("--threshold goes with a model of two classes.")
        if not 0.0 < options.threshold < 1.0:
            raise TableError(f"--threshold is between 0 and 1, not {options.threshold:g}.")
    if options.scores and not is_of_classes:
        raise TableError("--scores goes with classes; this model predicts numbers.")
    if (options.proba or options.threshold is not None) and "predict_proba" not in answers:
        raise TableError("The model has no probabilities: --proba and --threshold need them.")
    if model.target in options.keep:
        raise TableError(f"--keep '{model.target}' is the name of what is predicted.")


def _with_decimal(model: TableModel, decimal: str | None) -> TableModel:
    """Return the model for rows whose numbers have another decimal mark than the training rows."""
    if decimal is None:
        return model
    encoder = TableEncoder([_with_mark(column, decimal) for column in model.encoder.columns])
    encoder.encodings_ = model.encoder.encodings_
    return replace(model, encoder=encoder)


def _with_mark(column: Column, decimal: str) -> Column:
    is_number = column.levels is None and isinstance(column.form, (PlainForm, NumberForm))
    return replace(column, form=NumberForm(decimal)) if is_number else column


def header(model: TableModel, options: Options) -> list[str]:
    """Return the names of the columns of the predictions."""
    names = [*options.keep, model.target]
    if options.proba:
        names += [f"P({label})" for label in model.model.classes_]
    if options.scores:
        names += [f"score({name})" for name in _score_names(model)]
    return names


def _score_names(model: TableModel) -> list[str]:
    """Return the class that each decision value favours."""
    labels = model.model.classes_.tolist()
    if len(labels) == 2:
        return labels[1:]
    rule = model.model.decision.rule
    if rule.is_pairs and getattr(model.model.function, "vote_classes", None) is None:
        return [f"{labels[i]} against {labels[j]}" for i, j in pairs_of(len(labels))]
    return labels


def records(
    model: TableModel, table: Table, options: Options, bad_cells: BadCells
) -> list[tuple[Any, ...]]:
    """Return a record for every row: kept cells, the prediction, probabilities, scores."""
    columns: list[Sequence[Any]] = [table.column(name) for name in options.keep]
    outputs = model.outputs(table, bad_cells)
    decision = model.model.decision
    predicted = decision.predict(outputs)
    added: list[NDArray[np.float64]] = []
    if isinstance(decision, Classes):
        if options.proba or options.threshold is not None:
            chances = decision.predict_proba(outputs)
            added += list(chances.T) if options.proba else []
            if options.threshold is not None:
                predicted = decision.classes[(chances[:, 1] >= options.threshold).astype(int)]
        if options.scores:
            added += list(model.model.function.scores(outputs).reshape(len(outputs), -1).T)
    is_number = predicted.dtype.kind == "f"
    columns.append([f"{v:.10g}" for v in predicted] if is_number else predicted.tolist())
    columns += [[f"{value:.6g}" for value in column] for column in added]
    return list(zip(*columns, strict=True))
