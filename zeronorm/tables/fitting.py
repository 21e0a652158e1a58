"""The command ``zeronorm fit``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from zeronorm.base.validation import check_device
from zeronorm.tables import reporting
from zeronorm.tables.columns import Column
from zeronorm.tables.comparison import Comparison, Result, compare, guess_mean
from zeronorm.tables.contenders import Plan
from zeronorm.tables.ending import clean_end, ignore_signals, print_notes, screen, start_workers
from zeronorm.tables.large import compare_large, held_back_rows
from zeronorm.tables.metrics import OF_TASK
from zeronorm.tables.model import TableModel, save_text
from zeronorm.tables.records import check_separator
from zeronorm.tables.screen import comparison_table, recalls
from zeronorm.tables.sources import Source
from zeronorm.tables.streaming import must_stream, read_to_disk, rows_as_text
from zeronorm.tables.table import Table, TableError
from zeronorm.tables.target import Numbers, Target
from zeronorm.tables.training import (
    Reading,
    Training,
    check_apart,
    check_out,
    check_processes,
    progress,
    read_training,
)


@dataclass(frozen=True)
class Options:
    """What is to be made of the rows, and how: options of the command line."""

    out: Path | None = None
    report: Path | None = None
    metric: str | None = None
    class_weight: str | None = None
    terms: int | None = None
    as_json: bool = False
    device: str | None = None
    stream: bool | None = None
    n_jobs: int = -1
    random_state: int = 0


def run(reading: Reading, options: Options) -> None:
    """Read, compare, print, and write what is to be written."""
    with clean_end():
        _check(reading, options)
        with Source.opened(reading.data, check_separator(reading.sep)) as source:
            large = must_stream(source) if options.stream is None else options.stream
            fit_all = _fit_large if large else _fit_in_memory
            found, training = fit_all(source, reading, options)
        told = [note for result in found.results for note in result.final.notes]
        print_notes(told)
        _print(found, training.columns, options, reading, [*training.notes, *told])
        _write(found, training.table, options, reading)


def _fit_in_memory(
    source: Source, reading: Reading, options: Options
) -> tuple[Comparison, Training]:
    training = read_training(source, reading)
    target = training.target
    n_rows = len(target.y)
    plan = _plan(target.task, n_rows - -(-n_rows // reading.folds), reading, options)
    with progress("tuning and fitting") as update:
        start_workers(options.n_jobs)
        results = compare(training.rows, plan, update)
    guess = guess_mean(target.y, plan) if isinstance(target, Numbers) else {}
    models = [model_of(reading.target, target, result) for result in results]
    return Comparison(results, models, target, n_rows, plan, guess), training


def _fit_large(source: Source, reading: Reading, options: Options) -> tuple[Comparison, Training]:
    with tempfile.TemporaryDirectory(prefix="zeronorm-") as name:
        folder = Path(name)
        training = read_to_disk(source, reading, folder)
        n_rows = len(training.X)
        test = held_back_rows(n_rows, options.random_state)
        plan = _plan(training.target.task, n_rows - len(test), reading, options)
        plan = replace(plan, held_back=len(test))
        with progress("tuning and fitting") as update:
            start_workers(options.n_jobs)
            results, guess = compare_large(training, test, plan, folder, update)
        if options.report is not None:
            training = replace(training, table=rows_as_text(source, reading, test))
    judged = training.target.rows(test)
    models = [model_of(reading.target, judged, result) for result in results]
    return Comparison(results, models, judged, n_rows, plan, guess), training


def _check(reading: Reading, options: Options) -> None:
    check_processes(options.n_jobs)
    reading.check()
    try:
        check_device(options.device)
    except (ImportError, ValueError) as error:
        raise TableError(str(error)) from None
    if options.class_weight not in (None, "balanced"):
        raise TableError(f"--class-weight is balanced, not '{options.class_weight}'.")
    known = [name for metrics in OF_TASK.values() for name in metrics]
    if options.metric not in (None, *known):
        raise TableError(f"--metric is one of {', '.join(known)}, not '{options.metric}'.")
    if options.out is not None:
        check_out(options.out, reading.data)
    if options.report is not None:
        reporting.check_ending(options.report)
        check_out(options.report, reading.data)
        if options.out is not None:
            check_apart("--report", options.out, options.report)


def _plan(task: str, n_learned: int, reading: Reading, options: Options) -> Plan:
    """Return the plan for rows of which so many are learned from."""
    usual = next(iter(OF_TASK[task]))
    if options.metric is not None and options.metric not in OF_TASK[task]:
        raise TableError(
            f"--metric {options.metric} does not go with {task}; its metrics are "
            f"{', '.join(OF_TASK[task])}."
        )
    if options.class_weight is not None and task == "regression":
        raise TableError(f"--class-weight goes with classes; '{reading.target}' holds numbers.")
    if options.terms is not None and options.terms > n_learned:
        raise TableError(
            f"--terms {options.terms} is more than the {n_learned} rows of a training fold; take "
            "fewer terms."
        )
    return Plan(
        reading.folds,
        options.n_jobs,
        options.random_state,
        options.terms or "auto",
        options.device,
        options.report is not None,
        task,
        options.metric or usual,
        options.class_weight,
    )


def model_of(name: str, target: Target | Numbers, result: Result) -> TableModel:
    """Return what a contender learned, as a model of raw rows."""
    final = result.final
    if isinstance(target, Numbers):
        return TableModel.of_numbers(name, final.encoder, final.machine)
    return TableModel.of_classes(name, target.classes, final.encoder, final.machine)


def _print(
    found: Comparison,
    columns: Sequence[Column],
    options: Options,
    reading: Reading,
    notes: Sequence[str],
) -> None:
    with screen():
        if options.as_json:
            facts = _facts(found, columns, reading)
            facts |= {"notes": list(notes), "saved": str(options.out) if options.out else None}
            typer.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            Console().print(comparison_table(found, reading.title))


def _write(found: Comparison, table: Table | None, options: Options, reading: Reading) -> None:
    text = ""
    if options.report is not None:
        assert table is not None
        text = reporting.report_text(options.report, found, table, reading.title)
    if options.out is not None:
        ignore_signals()
        found.models[-1].save(options.out)
        print_notes([f"Saved {found.results[-1].name} as {options.out}."])
    if options.report is not None:
        ignore_signals()
        save_text(options.report, text)
        print_notes([f"Wrote {options.report}."])


def _facts(found: Comparison, columns: Sequence[Column], reading: Reading) -> dict[str, Any]:
    """Return what the table says, and a little more, as plain JSON values."""
    target, plan = found.target, found.plan
    facts: dict[str, Any] = {
        "data": str(reading.data),
        "target": reading.target,
        "task": plan.task,
        "rows": found.n_rows,
        "columns": [column.name for column in columns],
        "folds": None if plan.held_back else plan.folds,
        "rows_held_back": plan.held_back or None,
        "metric": plan.metric,
    }
    if isinstance(target, Target):
        counts = {label: int((target.codes == k).sum()) for k, label in enumerate(target.classes)}
        facts |= {"classes": counts, "guessing_error": 1.0 - max(counts.values()) / len(target.y)}
    else:
        facts |= {"guessing": {name: float(v.mean()) for name, v in found.guess.items()}}
    machines = zip(found.results, found.models, strict=True)
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
