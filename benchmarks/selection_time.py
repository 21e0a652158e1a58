"""Time of feature selection: lymphoma to 20 genes, and a hundred thousand features.

    python -m benchmarks.selection_time [--repeats 15] [--render]

Lymphoma: 60 training rows × 4026 genes, standardised; median over repeated fits of several splits,
the methods taking turns in the same run, one BLAS thread. The error is that of ``SVC``, linear,
C = 1, on the 20 genes and the 36 test rows, mean over the splits. RFE is scikit-learn's with
``SVC(kernel="linear")``; with ``step=1`` it is fitted once a split. Wide: 100 rows × 100 000
features, normal noise and five features that differ between the classes, to 20 features, with the
largest memory of the process above that of the data. The paper (its own computer): FSV 139 s,
l2-AROM 2.39 s, RFE 1.22 s.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.weston_tables import errors, gene_split, standardised
from zeronorm import AROMSelector, CorrelationSelector, FSVSelector, R2W2Selector

SEED, SPLITS, SIZE = 0, 10, 20
WIDE_ROWS, WIDE_FEATURES = 100, 100_000
METHODS = {
    "l2-AROM": AROMSelector(SIZE),
    "l1-AROM": AROMSelector(SIZE, "l1"),
    "FSV": FSVSelector(SIZE),
    "R2W2": R2W2Selector(SIZE),
    "CORR": CorrelationSelector(SIZE),
    "RFE, step=0.5": RFE(SVC(kernel="linear"), n_features_to_select=SIZE, step=0.5),
    "RFE, step=1": RFE(SVC(kernel="linear"), n_features_to_select=SIZE, step=1),
}
WIDE_METHODS = ("l2-AROM", "l1-AROM", "FSV", "CORR", "RFE, step=0.5")


def timed(method: str, X, y):
    selector = clone(METHODS[method])
    start = time.perf_counter()
    selector.fit(X, y)
    return time.perf_counter() - start, selector.get_support(indices=True)


def lymphoma(repeats: int) -> list[dict]:
    rows = []
    for split in range(SPLITS):
        train, test = standardised(*gene_split("lymphoma", split))
        for turn in range(repeats):
            for method in METHODS:
                if method == "RFE, step=1" and turn:
                    continue
                seconds, chosen = timed(method, *train)
                row = {"data": "lymphoma", "method": method, "split": split, "seconds": seconds}
                rows.append(row | {"error": errors(train, test, chosen)["error"]})
        print(f"split {split}", flush=True)
    return rows


def wide_data():
    y = np.arange(WIDE_ROWS) % 2
    X = np.random.default_rng(SEED).normal(size=(WIDE_ROWS, WIDE_FEATURES))
    X[:, :5] += 2.0 * y[:, None]
    return X, y


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def wide(method: str) -> dict:
    """One fit, in this process, which should be a fresh one."""
    X, y = wide_data()
    before = peak_megabytes()
    seconds, chosen = timed(method, X, y)
    found = {"seconds": seconds, "megabytes": peak_megabytes() - before, "peak": peak_megabytes()}
    return {"data": "wide", "method": method, "found": int(np.sum(chosen < 5)), **found}


def wide_in_fresh_processes() -> list[dict]:
    rows = []
    for method in WIDE_METHODS:
        program = (
            "import json; from benchmarks.selection_time import wide; "
            f"print(json.dumps(wide({method!r})))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(done.stdout))
        print(rows[-1], flush=True)
    return rows


def render() -> str:
    head, rows = record.read("selection_time")
    lines, medians = [], {}
    for method in METHODS:
        some = [r for r in rows if r["data"] == "lymphoma" and r["method"] == method]
        medians[method] = float(np.median([row["seconds"] for row in some]))
        error = np.mean([row["error"] for row in some])
        ratio = medians[method] / medians["l2-AROM"]
        lines.append(
            [method, record.duration(medians[method]), f"{ratio:.2f}", f"{100 * error:.1f}"]
        )
    header = ["method", "time", "times l2-AROM", "error %"]
    parts = [
        f"Commit {head['commit']}, seed {head['seed']}.",
        f"Lymphoma to {SIZE} genes:\n\n{record.markdown(header, lines)}",
    ]
    lines = [
        [
            row["method"],
            record.duration(row["seconds"]),
            f"{row['megabytes']:.0f} MB ({row['peak']:.0f} MB with all)",
            f"{row['found']} of 5",
        ]
        for row in rows
        if row["data"] == "wide"
    ]
    header = ["method", "time", "memory", "found"]
    parts.append(f"{WIDE_ROWS} rows × {WIDE_FEATURES}:\n\n{record.markdown(header, lines)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--render", action="store_true", help="only print the recorded tables")
    options = parser.parse_args()
    if not options.render:
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = wide_in_fresh_processes() + lymphoma(options.repeats)
        record.write("selection_time", rows, SEED)
    print(render())


if __name__ == "__main__":
    main()
