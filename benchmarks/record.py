"""Results as data: JSON lines with what is needed to repeat them, and tables made from them."""

import json
import os
import platform
import subprocess
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
