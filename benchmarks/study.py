"""A study: every combination of its factors goes through its protocol, which returns metrics.

::

    STUDY = Study(
        "peers",
        title="Our methods and their peers",
        factors={"set": SETS, "method": METHODS, "fold": range(10)},
        quick={"fold": range(1)},
        protocol=one_fold,      # (set, method, fold) -> rows of metrics
        tables=tables,          # rows -> Markdown
    )

``python -m benchmarks run peers`` runs it. Each result is on file as soon as it is there, so that
a run that was interrupted, or killed, goes on where it stopped.
"""

import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import joblib
from sklearn.exceptions import ConvergenceWarning

from benchmarks import record
from benchmarks.data import MissingData
from zeronorm.exceptions import PoorFitWarning


def anything(*task) -> bool:
    return True


@dataclass(frozen=True)
class Study:
    """Factors × protocol, and how the results are shown."""

    name: str
    title: str
    about: str
    factors: dict[str, Iterable]
    #: One value of each factor in, rows of metrics out; they get the values of the task added.
    protocol: Callable[..., list[dict]]
    #: Recorded rows in, Markdown out.
    tables: Callable[[list[dict]], str]
    #: Factors of ``--quick`` that have fewer values: about a tenth of the work.
    quick: dict[str, Iterable] = field(default_factory=dict)
    #: Which combinations make sense.
    where: Callable[..., bool] = anything
    #: Published figures beside ours, from recorded rows (studies of a paper's table).
    figures: Callable[[list[dict]], list] | None = None
    #: Draws pictures from recorded rows into a folder and returns their paths.
    draw: Callable | None = None
    #: Times are measured: the tasks run one after the other.
    timed: bool = False
    seed: int = 0

    def tasks(self, quick: bool = False, only: dict[str, list[str]] | None = None) -> list[tuple]:
        """The combinations, narrowed to some values of some factors."""
        unknown = set(only or {}) - set(self.factors)
        if unknown:
            raise SystemExit(
                f"{self.name} has no factor {', '.join(sorted(unknown))}; it has "
                f"{', '.join(self.factors)}."
            )
        values = {**self.factors, **(self.quick if quick else {})}
        combinations = itertools.product(*values.values())
        found = [task for task in combinations if self.where(*task)]
        for name, wanted in (only or {}).items():
            place = list(self.factors).index(name)
            found = [task for task in found if str(task[place]) in wanted]
        return found

    def seconds(self, rows: list[dict]) -> Callable[[tuple], float]:
        """What a task takes, infinity where no record tells.

        A task stands for those that differ from it in its last factor only, folds or splits.
        """
        known = {self.task_of(row): row["task_seconds"] for row in rows if "task_seconds" in row}
        groups: dict = {}
        for task, value in known.items():
            groups.setdefault(task[:-1], []).append(value)
        means = {group: sum(values) / len(values) for group, values in groups.items()}
        return lambda task: known.get(task, means.get(task[:-1], math.inf))

    def hours(self, rows: list[dict]) -> float | None:
        """What the whole study takes one core, from the tasks whose time is on file."""
        tasks, seconds = self.tasks(), self.seconds(rows)
        known = [value for value in map(seconds, tasks) if value < math.inf]
        return sum(known) / len(known) * len(tasks) / 3600.0 if known else None

    def task_of(self, row: dict) -> tuple:
        return tuple(row[name] for name in self.factors)

    def settled(self, tasks: Iterable[tuple]) -> tuple[dict, list[dict]]:
        """Runs and rows on file: those of a journal in the place of older ones of the same task.

        What the study no longer has is not kept.
        """
        head, old = record.read(self.name)
        new = record.journal(self.name)
        again = {self.task_of(row) for row in new}
        order = {task: place for place, task in enumerate(dict.fromkeys([*self.tasks(), *tasks]))}
        rows = [row for row in old if self.task_of(row) not in again] + new
        rows = [row for row in rows if self.task_of(row) in order]
        return head["runs"], sorted(rows, key=lambda row: order[self.task_of(row)])

    def close(self, runs: dict, rows: list[dict]) -> None:
        """Write all, which ends a journal."""
        record.write(self.name, self.seed, runs, rows)
        record.journal_of(self.name).unlink(missing_ok=True)

    def run(
        self,
        *,
        quick: bool = False,
        only: dict[str, list[str]] | None = None,
        jobs: int = 2,
        resume: bool = False,
    ) -> list[str]:
        """Do the tasks that are not there yet and return what could not be done, and why.

        A task is there if its rows are of this very commit (and no code is changed), or, with
        ``resume``, if it has rows at all. Of a task that could not be done the old rows stay.
        """
        tasks = self.tasks(quick, only)
        runs, rows = self.settled(tasks)
        run, runs = record.this_run(runs)
        # Every run that may have rows is named before there are any: it may be interrupted.
        self.close(runs, rows)
        clean = not run.endswith("+changes")
        there = {self.task_of(row) for row in rows if resume or (clean and row["commit"] == run)}
        missing = [task for task in tasks if task not in there]
        print(f"{self.name}: {len(tasks)} tasks, {len(tasks) - len(missing)} on file", flush=True)
        if not self.timed:  # the longest first, so that no core is idle in the end
            missing.sort(key=self.seconds(rows), reverse=True)
        left_out: dict[str, set[str]] = {}
        empty: set[tuple] = set()
        try:
            self.do(missing, run, jobs, left_out, empty)
        finally:
            _, rows = self.settled(tasks)
            rows = [row for row in rows if self.task_of(row) not in empty]
            used = {row["commit"] for row in rows}
            self.close({name: one for name, one in runs.items() if name in used}, rows)
        return [
            f"{self.name}, {', '.join(sorted(names))}: {reason}"
            for reason, names in left_out.items()
        ]

    def do(self, tasks: list[tuple], run: str, jobs: int, left_out: dict, empty: set) -> None:
        """Every result into the journal; tasks that were left out, and those without a result."""
        start = time.perf_counter()
        results = joblib.Parallel(
            n_jobs=1 if self.timed else jobs, return_as="generator_unordered"
        )(joblib.delayed(one_task)(self.protocol, task) for task in tasks)
        for done, (task, new, seconds) in enumerate(results, 1):
            if isinstance(new, str):
                left_out.setdefault(new, set()).add(str(task[0]))
                new = []
            elif not new:
                empty.add(task)
            named = dict(zip(self.factors, task, strict=True))
            new = [{**named, **row, "commit": run} for row in new]
            if new:
                new[0]["task_seconds"] = seconds
                record.append(self.name, new)
            spent = time.perf_counter() - start
            print(f"  {done}/{len(tasks)} {spent:.0f} s", *task, shown(new), flush=True)


def one_task(protocol: Callable, task: tuple):
    """In a worker: the task, its rows or why there are none, and how long it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Whether a fit converged is a metric where it matters; a search tries what does not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", PoorFitWarning)
        try:
            found = protocol(*task)
        except MissingData as error:
            found = str(error)
    return task, found, time.perf_counter() - start


def shown(rows: list[dict]) -> str:
    """What there is to see while it runs."""
    first = rows[0] if rows else {}
    values = {key: first[key] for key in ("terms", "error", "seconds") if key in first}
    words = (value if isinstance(value, str) else f"{value:.4g}" for value in values.values())
    return " ".join(f"{key} {word}" for key, word in zip(values, words, strict=True))
