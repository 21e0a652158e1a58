"""What 10^8 and 10^10 rows would cost, by the model and the constants that were measured."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.cluster_model import Machine, Work, predict
from benchmarks.text import markdown

#: Seconds of a task of the tree, and of what a sample takes.
HOP, SAMPLE = 0.02, 10.0
#: Bytes a second that a worker reads, and that its link carries: 10 Gbit/s.
READING, LINK = 200e6, 1.25e9
#: Features, terms and outputs of the two problems.
PROBLEMS = {
    "20 features, 32 terms, 2 classes": (20, 32, 1),
    "100 features, 300 terms, 10 classes": (100, 300, 10),
}
ROWS = {"10⁸": 1e8, "10¹⁰": 1e10}


def machine(constants: list[float], task: float, reading: float = READING) -> Machine:
    """Return workers with these nanoseconds a row; `task` is the scheduler's time of a block."""
    return Machine(tuple(1e-9 * one for one in constants), task, HOP, SAMPLE, reading, LINK)


def row_seconds(constants: list[float], work: Work) -> float:
    """Return the seconds of a row in a pass of sums."""
    return 1e-9 * sum(one * part for one, part in zip(constants, work.parts(), strict=True))


def shown(seconds: float) -> str:
    """Return a time as people say it."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.0f} s"


def bottleneck(work: Work, workers_of: Machine, workers: int) -> str:
    """Return what takes longest: reading is told from computing by workers that read at once."""
    found = predict(work, workers_of, workers)
    name = found.bottleneck
    if name == "computing":
        alone = predict(work, replace(workers_of, reading=float("inf")), workers).computing
        name = "products" if alone > 0.5 * found.computing else "reading"
    name = "scheduler" if name == "scheduling" else name
    return f"{name}; more workers than blocks" if workers > work.blocks else name


def table(workers_of: Machine) -> str:
    """Return time and bottleneck of the problems on clusters of such workers."""
    lines = []
    for label, rows in ROWS.items():
        for workers in (10, 100, 1000):
            line = [label, f"{workers:,}".replace(",", " ")]
            for problem in PROBLEMS.values():
                work = Work(rows, *problem)
                line += [
                    shown(predict(work, workers_of, workers).total),
                    bottleneck(work, workers_of, workers),
                ]
            lines.append(line)
    header = [cell for name in PROBLEMS for cell in (name, "bottleneck")]
    return markdown(["rows", "workers", *header], lines)
