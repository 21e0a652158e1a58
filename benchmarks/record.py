"""Results as data: JSON lines with what is needed to repeat them, and tables made from them."""

import json
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import highspy
import joblib
import numpy as np
import scipy
import sklearn

import zeronorm

RESULTS = Path(__file__).resolve().parent / "results"


def provenance(seed: int) -> dict:
    """Seed, versions, commit and machine."""
    root = Path(__file__).resolve().parents[1]

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        return run.stdout.strip()

    changed = git("status", "--porcelain", "--", "zeronorm", "benchmarks/*.py")
    return {
        "seed": seed,
        "commit": git("rev-parse", "--short", "HEAD") + ("+changes" if changed else ""),
        "versions": {
            "python": platform.python_version(),
            "zeronorm": zeronorm.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "highspy": highspy.Highs().version(),
            "joblib": joblib.__version__,
        },
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
        },
    }


def write(study: str, rows: list[dict], seed: int) -> Path:
    """Write one line of provenance, then one line per result."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{study}.jsonl"
    lines = [{"study": study, **provenance(seed)}, *rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def run_tasks(
    study: str,
    fields: tuple[str, ...],
    tasks: list[tuple],
    one_task: Callable[..., list[dict]],
    seed: int,
    *,
    jobs: int,
    resume: bool,
) -> None:
    """Do the tasks that are not there yet; each result is on file as soon as it is there.

    A task is the values of ``fields``, which its rows hold. What other tasks have left on file
    stays. A task is there if its rows are of this very commit (and nothing is changed), or, with
    ``resume``, if it has rows at all.
    """
    commit = provenance(seed)["commit"]
    old = kept(study, lambda row: True)

    def task_of(row: dict) -> tuple:
        return tuple(row[field] for field in fields)

    clean = not commit.endswith("+changes")
    there = {task_of(row) for row in old if resume or (clean and row["commit"] == commit)}
    missing = [task for task in tasks if task not in there]
    rows = [row for row in old if task_of(row) not in missing]
    print(f"{len(tasks)} tasks, {len(tasks) - len(missing)} of them on file", flush=True)
    path = write(study, rows, seed)
    results = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(one_task)(*task) for task in missing
    )
    for new in results:
        new = [row | {"commit": commit} for row in new]
        with path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in new)
        rows += new
    write(study, sorted(rows, key=lambda row: [str(row[field]) for field in fields]), seed)


def kept(study: str, is_kept: Callable[[dict], bool]) -> list[dict]:
    """Rows of an earlier run that stay, each with the commit it is of."""
    if not is_there(study):
        return []
    head, rows = read(study)
    return [{"commit": head["commit"], **row} for row in rows if is_kept(row)]


def commits(rows: list[dict], head: dict) -> str:
    """Name the commits that the rows are of."""
    return ", ".join(sorted({row.get("commit", head["commit"]) for row in rows}))


def is_there(study: str) -> bool:
    """Whether a study has been run."""
    return (RESULTS / f"{study}.jsonl").exists()


def read(study: str) -> tuple[dict, list[dict]]:
    """Provenance and results of a study."""
    path = RESULTS / f"{study}.jsonl"
    if not path.exists():
        raise SystemExit(f"No results of {study!r} yet: run python -m benchmarks.{study} first.")
    head, *rows = (json.loads(line) for line in path.read_text().splitlines())
    return head, rows


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def mean_and_error(values) -> tuple[float, float]:
    """Mean and its standard error."""
    values = np.asarray(values, dtype=float)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
