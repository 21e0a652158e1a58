"""Times and peak memory, measured so that a busy moment of the machine misleads nobody."""

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.record import ROOT

#: Seconds of fits after which a model is not fitted again.
PATIENCE = 4.0


def median_seconds(models: dict, X, y, repeats: int = 9) -> dict:
    """Median time of fits, the models in turn; those that take seconds are fitted less often."""
    seconds: dict = {name: [] for name in models}
    next(iter(models.values())).fit(X, y)  # the first of all pays for what is loaded then
    for _ in range(repeats):
        for name, model in models.items():
            if sum(seconds[name]) > PATIENCE:
                continue
            start = time.perf_counter()
            model.fit(X, y)
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def best_seconds(functions: dict[str, Callable], repeats: int) -> dict:
    """Fastest of repeated calls, in turn."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_mib() -> float:
    """Largest memory of this process so far.

    Linux says it for this process alone; ``ru_maxrss`` counts the parent's, which it was copied of.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def in_own_process(function: str, *arguments):
    """Call ``"package.module:function"`` in a fresh process, so that its peak memory is its own.

    Arguments and result are JSON.
    """
    program = "from benchmarks.timing import called; called()"
    done = subprocess.run(
        [sys.executable, "-c", program, function, json.dumps(arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(f"{function}{arguments} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def called() -> None:
    """In the fresh process."""
    module, name = sys.argv[1].split(":")
    function = getattr(importlib.import_module(module), name)
    print(json.dumps(function(*json.loads(sys.argv[2]))))
