"""The command ``zeronorm select``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer
from rich.console import Console

from zeronorm.files import replacing
from zeronorm.tables.contenders import Plan, Rows
from zeronorm.tables.ending import clean_end, ignore_signals, print_notes, screen, start_workers
from zeronorm.tables.model import check_output, writable
from zeronorm.tables.records import check_separator
from zeronorm.tables.screen import choice_table
from zeronorm.tables.selection import ColumnChoice, choose_columns
from zeronorm.tables.sources import Source
from zeronorm.tables.streaming import PIECE_ROWS, must_stream, read_to_disk
from zeronorm.tables.table import TableError
from zeronorm.tables.target import Numbers, Target
from zeronorm.tables.training import Reading, check_out, check_processes, progress, read_training

#: Columns are selected by at most so many rows: the time of an SVM grows with their square.
MOST_ROWS = 5_000


def run(
    reading: Reading,
    features: int,
    norm: str,
    out: Path | None,
    as_json: bool,
    stream: bool | None,
    n_jobs: int,
    random_state: int,
) -> None:
    """Read, select, print, and write the reduced file."""
    with clean_end():
        check_processes(n_jobs)
        reading.check()
        if norm not in ("l1", "l2"):
            raise TableError(f"--norm is 'l2' or 'l1', not '{norm}'.")
        if out is not None:
            check_out(out, reading.data)
        with Source.opened(reading.data, check_separator(reading.sep)) as source:
            large = must_stream(source) if stream is None else stream
            rows, target, notes = _drawn(source, reading, large, random_state)
            n_columns = len({column.header for column in rows.encoder.columns})
            if features > n_columns:
                print_notes([f"There are {n_columns} columns to select from; all are taken."])
                features = n_columns
            with progress("selecting") as update:
                start_workers(n_jobs)
                plan = Plan(reading.folds, n_jobs, random_state, task=target.task)
                choice = choose_columns(rows, plan, features, norm, update)
            told = [choice.warning] if choice.warning else []
            print_notes(told)
            with screen():
                if as_json:
                    typer.echo(_json(choice, target, reading, notes + told))
                else:
                    Console().print(choice_table(choice, target, reading.title))
            if out is not None:
                _write(source, [reading.target, *choice.names], out)
                print_notes([f"Saved '{reading.target}' and {len(choice.names)} columns as {out}."])


def _drawn(
    source: Source, reading: Reading, large: bool, random_state: int
) -> tuple[Rows, Target | Numbers, list[str]]:
    """Read the file, and return a draw of its rows, all answers, and the notes."""
    if large:
        with tempfile.TemporaryDirectory(prefix="zeronorm-") as folder:
            training = read_to_disk(source, reading, Path(folder))
            drawn = training.rows.draw(MOST_ROWS, random_state, reading.folds)
            drawn = replace(drawn, X=np.array(drawn.X))  # the folder goes
    else:
        training = read_training(source, reading)
        drawn = training.rows.draw(MOST_ROWS, random_state, reading.folds)
    target, notes = training.target, training.notes
    if len(drawn.y) < len(target.y):
        note = f"Columns are selected by a draw of {len(drawn.y)} of the {len(target.y)} rows."
        print_notes([note])
        notes = [*notes, note]
    return drawn, target, notes


def _write(source: Source, names: Collection[str], out: Path) -> None:
    """Write some columns of the file, which is read again for them."""
    check_output(out)
    with writable(out), replacing(out) as file:
        for i, table in enumerate(source.tables(PIECE_ROWS)):
            file.write(table.to_csv(names, has_header=i == 0).encode())
        ignore_signals()


def _json(
    choice: ColumnChoice, target: Target | Numbers, reading: Reading, notes: list[str]
) -> str:
    measured = zip(choice.sizes, choice.errors, choice.standard_errors, strict=True)
    facts = {
        "data": str(reading.data),
        "target": reading.target,
        "task": target.task,
        "rows": len(target.y),
        "folds": choice.folds,
        "columns": choice.names,
        "recommended": choice.recommended,
        "measured": [
            {"columns": size, "error": float(error), "standard_error": float(spread)}
            for size, error, spread in measured
        ],
        "notes": notes,
    }
    return json.dumps(facts, indent=2, ensure_ascii=False)
