"""The constants of ``cluster_model.py``, measured here: ``python -m benchmarks.cluster_cost``.

With the name of a device (``cuda``) the blocks are summed there, in double precision.

No study of RESULTS.md: what it prints goes into cluster.json, from which docs/scaling.md is made.
Times of rows are those of the processor, so that a machine that is shared does not spoil them.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.cluster_model import Work
from zeronorm import SparseSVC
from zeronorm.dask.passes import summed
from zeronorm.dask.rows import ClassRows
from zeronorm.dask.sums import BlockProblem, block_sums
from zeronorm.learned.coordinates import Units
from zeronorm.learned.joint import Parameters
from zeronorm.learned.settings import Setting

#: Features, terms and outputs that are measured.
FEATURES, TERMS, OUTPUTS = (5, 20, 100), (8, 32, 128, 512), (1, 10)

#: Multiplications of a case, and fewest and most rows: of fewer than these the factorisation of the
#: vectors' kernel matrix, which is done once a block, would be what is measured.
MUCH, ROWS = 4e8, (20_000, 200_000)
DEVICE_MUCH, DEVICE_ROWS = 1e11, (200_000, 1_000_000)


def block_seconds(d: int, m: int, o: int, rows: int, device: str | None = None) -> float:
    """Seconds of the sums of one block, the least of three: of the processor, or of a device."""
    random = np.random.RandomState(0)
    X, y = random.randn(rows, d), random.randint(max(2, o), size=rows)
    training, classes = SparseSVC()._training_rows(X, y, None)
    shapes = (m, o), (o,), (0, o), (1,)  # weights, intercept, no linear part, one width
    parameters = Parameters(random.randn(1, m, d), *(np.zeros((1, *shape)) for shape in shapes))
    coding = ClassRows(training.kernel, classes, np.ones(len(classes)))
    form = Setting(1.0, training.kernel, 1).form
    units, gamma = Units.of(training), np.ones(1)
    problem = BlockProblem(form, gamma, parameters, None, units, 1e-3, coding, device)
    point = 0.1 * random.randn(1, m + 1, o)
    # A device's work is done when its results are here; what it takes to bring rows there counts.
    clock = time.process_time if device is None else time.perf_counter
    found = []
    for _ in range(3):
        start = clock()
        block_sums(problem, (point, np.float64), 0, X, y)
        found.append(clock() - start)
    return min(found)


def row_constants(device: str | None = None) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """Return the constants of a row, and what was measured beside what they say."""
    parts, seconds, cases = [], [], []
    much, fewest, most = (MUCH, *ROWS) if device is None else (DEVICE_MUCH, *DEVICE_ROWS)
    for d, m, o in itertools.product(FEATURES, TERMS, OUTPUTS):
        rows = int(np.clip(much / (d * m + m * m * o), fewest, most))
        cases.append((d, m, o, rows))
        parts.append(Work(rows, d, m, o).parts())
        seconds.append(block_seconds(d, m, o, rows, device) / rows)
    # Relative errors count: a row with few terms is as important as one with many.
    scaled = np.array(parts) / np.array(seconds)[:, None]
    constants, _ = nnls(scaled, np.ones(len(seconds)))
    said = np.array(parts) @ constants
    table = [(*case, a, b) for case, a, b in zip(cases, seconds, said, strict=True)]
    return constants, table


def show_rows(device: str | None = None) -> None:
    """Print the constants of a row, and how well they say what was measured."""
    constants, table = row_constants(device)
    print("a0..a7 (ns):", np.round(1e9 * constants, 3), device or "processor")
    print("features terms outputs rows   ns a row: measured, by the constants")
    for d, m, o, rows, measured, said in table:
        print(f"{d:5} {m:5} {o:5} {rows:8} {1e9 * measured:10.0f} {1e9 * said:10.0f}")


def task_seconds(client: Any, blocks: int = 2000) -> float:
    """Seconds a block of a pass in which nothing is done."""
    summed(client, ((int, i) for i in range(64)), len)
    start = time.perf_counter()
    summed(client, ((int, i) for i in range(blocks)), len)
    return (time.perf_counter() - start) / blocks


def delayed_pass(client: Any, blocks: int, seconds: float) -> float:
    """Seconds of a pass over blocks that each take so long, on workers that only wait."""
    start = time.perf_counter()
    summed(client, ((time.sleep, seconds) for _ in range(blocks)), len)
    return time.perf_counter() - start


def main(device: str | None = None) -> None:
    """Measure, and print: everything here, or the rows alone on a device."""
    from distributed import Client

    if device is not None:
        show_rows(device)
        return
    show_rows()
    for workers in (1, 2):
        with Client(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as client:
            print(workers, "workers: ms a task", 1e3 * task_seconds(client))
    # In one process, whose interpreter all workers share: more of them say nothing.
    for workers in (4, 16):
        options = {"processes": False, "n_workers": workers, "threads_per_worker": 1}
        with Client(dashboard_address=":0", **options) as client:
            task = task_seconds(client, 500)
            for blocks, seconds in ((64, 0.1), (256, 0.1), (640, 0.2)):
                found = delayed_pass(client, blocks, seconds)
                said = max(-(-blocks // workers) * seconds, blocks * task)
                print(
                    f"{workers} delayed workers, {blocks} blocks of {seconds} s, "
                    f"{1e3 * task:.1f} ms a task: {found:.2f} s, predicted {said:.2f} s"
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
