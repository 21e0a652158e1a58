"""Growth with the number of rows: Waveform, our classifiers against SVC.

    python -m benchmarks.growth [--largest 100000] [--svc-largest 20000] [--methods ...] [--render]

Each fit runs in a process of its own, so that its peak memory is its own. The classifiers get
their parameters from a search inside 2 000 other rows (SVC the most accurate, the others the
sparsest within one standard error); SparseSVC and IRWLS choose in every fit, which counts in its
time. The C of A (ZeroNormSVC) and SC is the price of a margin error in terms; it is divided by the
square root of the growth in rows, so that a term has to be worth as many standard errors of the
loss at every size. All but SVC and SparseSVC choose among 300 landmarks. The error is on 10 000
fresh rows. BLAS threads as the machine has them.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.svm import SVC

from benchmarks import record
from zeronorm import (
    IRWLSClassifier,
    RelevanceVectorClassifier,
    SparseProbitClassifier,
    SparseSVC,
    SparsityControlledSVC,
    ZeroNormSVC,
)
from zeronorm.datasets import make_waveform
from zeronorm.model_selection import count_terms, sparse_search

SEED = 0
SIZES = (1_000, 5_000, 20_000, 100_000)
TUNING_ROWS = 2_000
GAMMAS = (0.003, 0.01, 0.03)
MODELS = {
    "SVC": (SVC(cache_size=500), {"C": (0.1, 1.0, 10.0), "gamma": GAMMAS}),
    "A": (ZeroNormSVC(random_state=SEED), {"C": (0.3, 1.0, 3.0), "gamma": GAMMAS}),
    "SparseSVC": (SparseSVC(random_state=SEED), {}),
    "IRWLS": (IRWLSClassifier("gcv", gamma="gcv", random_state=SEED), {}),
    "SC": (
        SparsityControlledSVC(random_state=SEED),
        {"C": (0.3, 1.0, 3.0), "lam": (0.3, 1.0, 3.0), "gamma": GAMMAS},
    ),
    "SPC": (SparseProbitClassifier(random_state=SEED), {"gamma": GAMMAS}),
    "RVM": (RelevanceVectorClassifier(random_state=SEED), {"gamma": GAMMAS}),
}
#: Not fitted on more rows than this.
LARGEST = {"IRWLS": 20_000, "SC": 20_000, "SPC": 20_000, "RVM": 20_000}
#: Methods whose C is a price in terms.
PRICED = ("A", "SC")


def chosen(method: str) -> dict:
    """Parameters by cross-validation inside rows that are no part of the study."""
    model, grid = MODELS[method]
    if not grid:
        return {}
    X, y = make_waveform(TUNING_ROWS, random_state=SEED + 1)
    rule = "best" if method == "SVC" else "one_se"
    return sparse_search(model, grid, rule=rule, n_jobs=2).fit(X, y).best_params_


def one_fit(method: str, n_rows: int, parameters: dict) -> dict:
    X, y = make_waveform(n_rows, random_state=SEED)
    X_test, y_test = make_waveform(10_000, random_state=SEED + 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if method in PRICED:
        parameters = parameters | {"C": parameters["C"] * (TUNING_ROWS / n_rows) ** 0.5}
    model = MODELS[method][0].set_params(**parameters)
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    error = float(np.mean(model.predict(X_test) != y_test))
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "method": method,
        "commit": record.provenance(SEED)["commit"],
        "rows": n_rows,
        **parameters,
        "fit_seconds": fitted - start,
        "predict_10000_seconds": done - fitted,
        "error": error,
        "terms": count_terms(model),
        "peak_mib": peak / 1024,
        "peak_before_fit_mib": before / 1024,
    }


def run(largest: int, svc_largest: int, methods: list[str]) -> list[dict]:
    rows = []
    for method in methods:
        parameters = chosen(method)
        for n_rows in SIZES:
            limit = svc_largest if method == "SVC" else min(largest, LARGEST.get(method, largest))
            if n_rows > limit:
                continue
            task = json.dumps([method, n_rows, parameters])
            command = [sys.executable, "-m", "benchmarks.growth", "--one", task]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
            print(rows[-1], flush=True)
    return rows


def render() -> str:
    head, rows = record.read("growth")
    header = ["rows", "method", "fit s", "predict 10 000 s", "terms", "error %", "peak MiB"]
    lines = [
        [
            f"{row['rows']:,}",
            row["method"],
            f"{row['fit_seconds']:.2f}",
            f"{row['predict_10000_seconds']:.3f}",
            str(row["terms"]),
            f"{100 * row['error']:.2f}",
            f"{row['peak_mib']:.0f}",
        ]
        for row in sorted(rows, key=lambda row: (row["rows"], row["method"]))
    ]
    return f"Commits {record.commits(rows, head)}.\n\n" + record.markdown(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--svc-largest", type=int, default=SIZES[-1])
    parser.add_argument("--methods", nargs="*", default=list(MODELS), help="keep the others' rows")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one_fit(*json.loads(options.one))))
        return
    if not options.render:
        rows = record.kept("growth", lambda row: row["method"] not in options.methods)
        rows += run(options.largest, options.svc_largest, options.methods)
        record.write("growth", rows, SEED)
    print(render())


if __name__ == "__main__":
    main()
