"""The command ``zeronorm fit``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from zeronorm.base.placement import check_device
from zeronorm.tables import reporting
from zeronorm.tables.comparison import Result, compare, guess_mean
from zeronorm.tables.contenders import Plan
from zeronorm.tables.ending import clean_end, print_notes, screen
from zeronorm.tables.interruption import ignore_signals, start_workers
from zeronorm.tables.metrics import OF_TASK
from zeronorm.tables.model import TableModel, save_text
from zeronorm.tables.screen import comparison_table, recalls
from zeronorm.tables.table import TableError
from zeronorm.tables.target import Numbers, Target
from zeronorm.tables.training import (
    Reading,
    Training,
    check_out,
    check_processes,
    progress,
    read_training,
)


@dataclass(frozen=True)
class Wishes:
    """What is to be made of the rows: options of the command line."""

    out: Path | None = None
    report: Path | None = None
    metric: str | None = None
    class_weight: str | None = None
    terms: int | None = None
    as_json: bool = False
    device: str | None = None


def run(reading: Reading, wishes: Wishes, n_jobs: int, random_state: int) -> None:
    """Read, compare, print, and write what is to be written."""
    with clean_end():
        _check(reading, wishes, n_jobs)
        training = read_training(reading)
        plan = _plan(training, reading, wishes, n_jobs, random_state)
        with progress("tuning and fitting") as update:
            start_workers(n_jobs)
            results = compare(training.rows, plan, update)
        models = [_model(reading.target, training.target, result) for result in results]
        notes = [note for result in results for note in result.final.notes]
        print_notes(notes)
        _print(training, plan, results, models, wishes, reading, notes)
        _write(training, plan, results, models, wishes, reading)


def _check(reading: Reading, wishes: Wishes, n_jobs: int) -> None:
    check_processes(n_jobs)
    reading.check()
    try:
        check_device(wishes.device)
    except (ImportError, ValueError) as error:
        raise TableError(str(error)) from None
    if wishes.class_weight not in (None, "balanced"):
        raise TableError(f"--class-weight is balanced, not '{wishes.class_weight}'.")
    known = [name for metrics in OF_TASK.values() for name in metrics]
    if wishes.metric not in (None, *known):
        raise TableError(f"--metric is one of {', '.join(known)}, not '{wishes.metric}'.")
    if wishes.out is not None:
        check_out(wishes.out, reading.data)
    if wishes.report is not None:
        reporting.check_ending(wishes.report)
        check_out(wishes.report, reading.data, *([wishes.out] if wishes.out else []))


def _plan(
    training: Training, reading: Reading, wishes: Wishes, n_jobs: int, random_state: int
) -> Plan:
    task = training.target.task
    usual = next(iter(OF_TASK[task]))
    if wishes.metric is not None and wishes.metric not in OF_TASK[task]:
        raise TableError(
            f"--metric {wishes.metric} does not go with {task}; its metrics are "
            f"{', '.join(OF_TASK[task])}."
        )
    if wishes.class_weight is not None and task == "regression":
        raise TableError(f"--class-weight goes with classes; '{reading.target}' holds numbers.")
    n_rows = len(training.target.y)
    fewest = n_rows - -(-n_rows // reading.folds)
    if wishes.terms is not None and wishes.terms > fewest:
        raise TableError(
            f"--terms {wishes.terms} is more than the {fewest} rows of a training fold; take "
            "fewer terms."
        )
    return Plan(
        reading.folds,
        n_jobs,
        random_state,
        wishes.terms or "auto",
        wishes.device,
        wishes.report is not None,
        task,
        wishes.metric or usual,
        wishes.class_weight,
    )


def _model(name: str, target: Target | Numbers, result: Result) -> TableModel:
    final = result.final
    if isinstance(target, Numbers):
        return TableModel.of_numbers(name, final.encoder, final.machine)
    return TableModel.of_classes(name, target.classes, final.encoder, final.machine)


def _print(
    training: Training,
    plan: Plan,
    results: Sequence[Result],
    models: Sequence[TableModel],
    wishes: Wishes,
    reading: Reading,
    notes: Sequence[str],
) -> None:
    with screen():
        if wishes.as_json:
            facts = _facts(training, plan, results, models, reading)
            facts |= {"notes": [*training.notes, *notes]}
            facts |= {"saved": str(wishes.out) if wishes.out else None}
            typer.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            table = comparison_table(results, models, training.target, reading.title, plan)
            Console().print(table)


def _write(
    training: Training,
    plan: Plan,
    results: Sequence[Result],
    models: Sequence[TableModel],
    wishes: Wishes,
    reading: Reading,
) -> None:
    text = ""
    if wishes.report is not None:
        parts = (results, models, training.table, training.target, reading.title, plan)
        text = reporting.report_text(wishes.report, *parts)
    if wishes.out is not None:
        ignore_signals()
        models[-1].save(wishes.out)
        print_notes([f"Saved {results[-1].name} as {wishes.out}."])
    if wishes.report is not None:
        ignore_signals()
        save_text(wishes.report, text)
        print_notes([f"Wrote {wishes.report}."])


def _facts(
    training: Training,
    plan: Plan,
    results: Sequence[Result],
    models: Sequence[TableModel],
    reading: Reading,
) -> dict[str, Any]:
    """Return what the table says, and a little more, as plain JSON values."""
    target = training.target
    facts: dict[str, Any] = {
        "data": str(reading.data),
        "target": reading.target,
        "task": plan.task,
        "rows": len(target.y),
        "columns": [column.name for column in training.columns],
        "folds": plan.folds,
        "metric": plan.metric,
    }
    if isinstance(target, Target):
        counts = {label: int((target.codes == k).sum()) for k, label in enumerate(target.classes)}
        facts |= {"classes": counts, "guessing_error": 1.0 - max(counts.values()) / len(target.y)}
    else:
        means = {name: float(v.mean()) for name, v in guess_mean(target.y, plan).items()}
        facts |= {"guessing": means}
    machines = zip(results, models, strict=True)
    facts["machines"] = [_machine_facts(r, m, target) for r, m in machines]
    return facts


def _machine_facts(result: Result, model: TableModel, target: Target | Numbers) -> dict[str, Any]:
    final = result.final
    measured = {
        name: {"mean": result.mean(name), "standard_error": result.standard_error(name)}
        for name, values in result.values.items()
        if not np.isnan(values).any()  # an SVC has no probabilities
    }
    facts: dict[str, Any] = {
        "name": result.name,
        "measured": measured,
        "kernel_terms": model.model.n_terms_,
        "has_linear_part": model.model.expansion_.linear is not None,
        "tuning_seconds": final.tuning_seconds,
        "fit_seconds": final.fit_seconds,
        "seconds_to_predict_100000_rows": result.prediction_seconds,
        "model_bytes": len(model.to_json().encode()),
        "chosen": final.chosen(),
        "fitted_rows": final.fitted_rows,
    }
    if isinstance(target, Target):
        facts["recall"] = dict(zip(target.classes, recalls(result, target), strict=True))
    return facts
