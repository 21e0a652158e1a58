"""DaskSparseSVC on rows made block by block: ``python -m benchmarks.cluster_fit 5000000 2``.

The arguments are rows, workers and perhaps rows of a block. It prints one line of JSON: seconds of
the fit and of every pass (on the clock, and of the workers' processors), the memory of all
processes, and the error on fresh rows. No study of RESULTS.md: what it found goes into
cluster.json.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import psutil  # type: ignore[import-untyped]
from distributed import Client

from zeronorm.dask import DaskSparseSVC, passes, rows, sums

FEATURES, TERMS, WRONG = 20, 32, 0.05


def made_rows(block_id: tuple[int, ...], size: int, total: int) -> np.ndarray:
    """Rows of a block."""
    count = min(size, total - block_id[0] * size)
    random = np.random.Generator(np.random.SFC64(block_id[0]))
    return random.standard_normal((count, FEATURES))


def made_labels(X: np.ndarray) -> np.ndarray:
    """Labels of rows, some of them wrong."""
    values = np.sin(1.5 * X[:, 0]) + np.sin(1.5 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    is_wrong = np.random.Generator(np.random.SFC64(len(X))).random(len(X)) < WRONG
    return ((values > 0) ^ is_wrong).astype(np.int8)


def collections(total: int, size: int) -> tuple[da.Array, da.Array]:
    """Return rows and labels that nobody has made yet."""
    chunks = (size,) * (total // size) + ((total % size,) if total % size else ())
    options: dict[str, Any] = {"dtype": float, "meta": np.zeros((0, 0))}
    X = da.map_blocks(made_rows, chunks=(chunks, (FEATURES,)), size=size, total=total, **options)
    meta = np.zeros(0, np.int8)
    return X, X.map_blocks(made_labels, drop_axis=1, dtype=np.int8, meta=meta)


class Timed:
    """Notes what passes take."""

    def __init__(self) -> None:
        self.found: list[tuple[str, float, float]] = []

    def __call__(self, client: Client, calls: Any, add: Callable[..., Any]) -> Any:
        """Do a pass."""
        calls = list(calls)
        before, start = self._processors(client), time.perf_counter()
        result = passes.summed(client, calls, add)
        seconds = time.perf_counter() - start
        used = self._processors(client) - before
        self.found.append((calls[0][1].__name__, round(seconds, 2), round(used, 2)))
        return result

    @staticmethod
    def _processors(client: Client) -> float:
        return sum(client.run(time.process_time).values())


def watch(peak: list[int]) -> None:
    """Note the largest memory of this process and those that it has started."""
    own = psutil.Process()
    while True:
        total = 0
        for process in (own, *own.children(recursive=True)):
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        peak[0] = max(peak[0], total)
        time.sleep(1.0)


def main(total: int, workers: int, size: int = 250_000) -> None:
    """Fit once, and print what it took."""
    timed, peak = Timed(), [0]
    rows.summed = sums.summed = timed
    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as client:
        client.run(__import__, "zeronorm.dask")  # what an import takes is no part of a pass
        threading.Thread(target=watch, args=(peak,), daemon=True).start()
        model = DaskSparseSVC(TERMS, C=2e4 / total, metric=True, linear=False, random_state=0)
        start = time.perf_counter()
        model.fit(*collections(total, size))
        seconds = time.perf_counter() - start
    fresh = made_rows((10**6,), 100_000, 10**18)
    found = {
        "rows": total,
        "workers": workers,
        "block": size,
        "fit": round(seconds, 1),
        "passes": timed.found,
        "MB": peak[0] >> 20,
        "error": float((model.to_local().predict(fresh) != made_labels(fresh)).mean()),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
