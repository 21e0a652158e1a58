"""What 10^8 and 10^10 rows would cost: ``python -m benchmarks.cluster_predictions``.

Prints the tables of docs/scaling.md that are predictions, from constants that
``benchmarks/cluster_cost.py`` has measured.
"""

from __future__ import annotations

from zeronorm.dask.cost import Machine, Work, predict

#: Nanoseconds a0 to a7 of ``zeronorm/dask/cost.py``: one thread of a processor, and one H200 that
#: blocks are brought to, both in double precision.
PROCESSOR = (114.0, 2.35, 0.0818, 0.932, 0.0322, 61.3, 2.59, 0.0166)
GPU = (44.1, 1.99, 0.00057, 0.0339, 0.0, 14.3, 0.0, 0.0000561)

#: The scheduler's seconds for a block, those of a task of the tree, and of what a sample takes.
TASK, HOP, SAMPLE = 0.0057, 0.02, 10.0

#: Bytes a second that a worker reads, and that its link carries: 10 Gbit/s.
READING, LINK = 200e6, 1.25e9

#: Features, terms and outputs of the two problems.
PROBLEMS = ((20, 32, 1), (100, 300, 10))


def machine(constants: tuple[float, ...], reading: float = READING) -> Machine:
    """Return workers with these nanoseconds a row."""
    row = tuple(1e-9 * constant for constant in constants)
    return Machine(row, TASK, HOP, SAMPLE, reading, LINK)


def shown(seconds: float) -> str:
    """Return a time as people say it."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.0f} s"


def bottleneck(work: Work, constants: tuple[float, ...], workers: int) -> str:
    """Return what takes longest: reading is told from computing by workers that read at once."""
    found = predict(work, machine(constants), workers)
    name = found.bottleneck
    if name == "computing":
        alone = predict(work, machine(constants, float("inf")), workers).computing
        name = "products" if alone > 0.5 * found.computing else "reading"
    return f"{name}; more workers than blocks" if workers > work.blocks else name


def main() -> None:
    """Print the tables."""
    for label, constants in (("processors", PROCESSOR), ("GPUs", GPU)):
        print(f"\n{label}: rows, workers, then of each problem time and bottleneck")
        for rows in (1e8, 1e10):
            for workers in (10, 100, 1000):
                cells = [f"{rows:.0e}", f"{workers}"]
                for problem in PROBLEMS:
                    work = Work(rows, *problem)
                    total = predict(work, machine(constants), workers).total
                    cells += [shown(total), bottleneck(work, constants, workers)]
                print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
