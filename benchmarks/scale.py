"""Large sets: SparseSVC on all rows, beside an SVC on as many rows as it manages in that time.

    python -m benchmarks.scale [--sets ...] [--render]

Each fit runs in a process of its own, so that its peak memory is its own, data included. SparseSVC
chooses the number of terms, C and gamma itself (for fashion_mnist the number of terms is given).
SVC has the C and gamma of the best of nine pairs by 3 folds on 2 000 of the training rows; that
search does not count in its time. Its rows double until a fit takes longer than SparseSVC took in
all, choosing included; the largest that does not is shown. skin_nonskin: four fifths to learn
from, repeated rows as they are; adult_a9a and fashion_mnist: their own test rows; waveform:
generated, 1 000 000 rows, 20 000 to judge by.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import data_folder, load_npz
from zeronorm import SparseSVC
from zeronorm.datasets import make_waveform
from zeronorm.sampling import stratified_rows

SEED = 0
TERMS = {"skin_nonskin": "auto", "adult_a9a": "auto", "fashion_mnist": 100, "waveform": "auto"}
FIRST_ROWS = 1_000
TUNING_ROWS = 2_000
GRID = {"C": (1.0, 10.0, 100.0), "gamma": (0.1, 0.3, 1.0)}  # gamma in units of "scale"


def load(name: str):
    """Training rows and test rows, scaled by the training rows."""
    if name == "waveform":
        X, y = make_waveform(1_000_000, random_state=SEED)
        X_test, y_test = make_waveform(20_000, random_state=SEED + 1)
    else:
        X, y = load_npz(name)
        with np.load(data_folder() / f"{name}.npz") as file:
            if "train_idx" in file:
                train, test = file["train_idx"], file["test_idx"]
            else:
                rows = np.random.default_rng(SEED).permutation(len(X))
                train, test = rows[: len(X) * 4 // 5], rows[len(X) * 4 // 5 :]
        X, y, X_test, y_test = X[train], y[train], X[test], y[test]
    if name == "fashion_mnist":
        X /= 255.0
        return X, y, X_test / 255.0, y_test
    scaler = StandardScaler(copy=False).fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def one_fit(name: str, method: str, rows: int | None, parameters: dict) -> dict:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test = load(name)
    if rows is not None:
        _, codes = np.unique(y, return_inverse=True)
        places = stratified_rows(codes, rows, np.random.RandomState(SEED))
        X, y = X[places], y[places]
    if method == "SVC":
        model = SVC(cache_size=500, **parameters)
    else:
        model = SparseSVC(random_state=SEED, **parameters)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    error = float(np.mean(model.predict(X_test) != y_test))
    done = time.perf_counter()
    return {
        "set": name,
        "method": method,
        "commit": record.provenance(SEED)["commit"],
        "rows": len(X),
        "features": X.shape[1],
        "parameters": parameters,
        "terms": len(model.support_vectors_),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "test_rows": len(X_test),
        "error": error,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_before_fit_mib": before / 1024,
    }


def in_own_process(*task) -> dict:
    command = [sys.executable, "-m", "benchmarks.scale", "--one", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = json.loads(done.stdout)
    print(row, flush=True)
    return row


def svc_parameters(name: str) -> dict:
    X, y, _, _ = load(name)
    _, codes = np.unique(y, return_inverse=True)
    places = stratified_rows(codes, TUNING_ROWS, np.random.RandomState(SEED + 1))
    X, y = X[places], y[places]
    scale = 1.0 / (X.shape[1] * X.var())
    grid = GRID | {"gamma": [factor * scale for factor in GRID["gamma"]]}
    return GridSearchCV(SVC(), grid, cv=3, n_jobs=2).fit(X, y).best_params_


def run(sets: list[str]) -> list[dict]:
    rows = []
    for name in sets:
        ours = in_own_process(name, "SparseSVC", None, {"n_terms": TERMS[name]})
        rows.append(ours)
        parameters, size, last = svc_parameters(name), FIRST_ROWS, None
        while size <= ours["rows"]:
            row = in_own_process(name, "SVC", size, parameters)
            if row["fit_seconds"] > ours["fit_seconds"] and last is not None:
                break
            last, size = row, 2 * size
        rows.append(last)
    return rows


def render() -> str:
    head, rows = record.read("scale")
    header = ["set", "method", "rows", "terms", "error %", "fit s", "predict s", "peak MiB"]
    lines = [
        [
            row["set"],
            row["method"],
            f"{row['rows']:,}",
            str(row["terms"]),
            f"{100 * row['error']:.2f}",
            f"{row['fit_seconds']:.1f}",
            f"{row['predict_seconds']:.2f}",
            f"{row['peak_mib']:.0f} (data {row['peak_before_fit_mib']:.0f})",
        ]
        for row in rows
    ]
    return f"Commits {record.commits(rows, head)}.\n\n" + record.markdown(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(TERMS), default=list(TERMS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one_fit(*json.loads(options.one))))
        return
    if not options.render:
        rows = record.kept("scale", lambda row: row["set"] not in options.sets)
        record.write("scale", rows + run(options.sets), SEED)
    print(render())


if __name__ == "__main__":
    main()
