"""The command ``zeronorm select``."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.console import Console

from zeronorm.tables.contenders import Plan
from zeronorm.tables.ending import clean_end, ignore_signals, print_notes, screen, start_workers
from zeronorm.tables.model import save_text
from zeronorm.tables.records import check_separator
from zeronorm.tables.screen import choice_table
from zeronorm.tables.selection import ColumnChoice, choose_columns
from zeronorm.tables.sources import Source
from zeronorm.tables.table import TableError
from zeronorm.tables.training import (
    Reading,
    Training,
    check_out,
    check_processes,
    progress,
    read_training,
)


def run(
    reading: Reading,
    features: int,
    norm: str,
    out: Path | None,
    as_json: bool,
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
            training = read_training(source, reading)
        n_columns = len({column.header for column in training.columns})
        if features > n_columns:
            print_notes([f"There are {n_columns} columns to select from; all are taken."])
            features = n_columns
        with progress("selecting") as update:
            start_workers(n_jobs)
            plan = Plan(reading.folds, n_jobs, random_state, task=training.target.task)
            choice = choose_columns(training.rows, plan, features, norm, update)
        print_notes([choice.warning] if choice.warning else [])
        with screen():
            if as_json:
                typer.echo(_json(choice, training, reading))
            else:
                Console().print(choice_table(choice, training.target, reading.title))
        if out is not None:
            reduced = training.whole.to_csv([reading.target, *choice.names])
            ignore_signals()
            save_text(out, reduced)
            print_notes([f"Saved '{reading.target}' and {len(choice.names)} columns as {out}."])


def _json(choice: ColumnChoice, training: Training, reading: Reading) -> str:
    measured = zip(choice.sizes, choice.errors, choice.standard_errors, strict=True)
    facts = {
        "data": str(reading.data),
        "target": reading.target,
        "task": training.target.task,
        "rows": len(training.target.y),
        "folds": choice.folds,
        "columns": choice.names,
        "recommended": choice.recommended,
        "measured": [
            {"columns": size, "error": float(error), "standard_error": float(spread)}
            for size, error, spread in measured
        ],
        "notes": training.notes + ([choice.warning] if choice.warning else []),
    }
    return json.dumps(facts, indent=2, ensure_ascii=False)
