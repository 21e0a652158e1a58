"""Prediction speed: ten terms against NumPy by hand and against the SVC they replace.

    python -m benchmarks.prediction [--render]

200 000 rows × 20 features (Ringnorm). "By hand" is the best blocked NumPy we could write: in
place, no checks, one exponential per row and term. The single row goes through ``expansion_``.
"""

import argparse
import time

import numpy as np
from sklearn.svm import SVC

from benchmarks import record
from zeronorm import KernelExpansion, ZeroNormSVC
from zeronorm.datasets import make_ringnorm
from zeronorm.kernels import Kernel

SEED = 0
ROWS = 200_000
REPEATS = 15


def by_hand(X, vectors, coef, intercept, gamma, block=2048):
    doubled = 2 * gamma * vectors
    offsets = gamma * np.einsum("ij,ij->i", vectors, vectors)[:, None]
    out = np.empty(len(X))
    for start in range(0, len(X), block):
        rows = X[start : start + block]
        values = doubled @ rows.T
        values -= offsets
        values -= gamma * np.einsum("ij,ij->i", rows, rows)
        np.exp(values, out=values)
        np.matmul(coef, values, out=out[start : start + len(rows)])
    out += intercept
    return out


def best_seconds(functions: dict, repeats: int) -> dict:
    """Fastest of repeated calls, in turn."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def run() -> list[dict]:
    X_train, y_train = make_ringnorm(2_000, random_state=SEED)
    X, y = make_ringnorm(ROWS, random_state=SEED + 1)
    gamma = 0.05
    svc = SVC(gamma=gamma).fit(X_train, y_train)
    sparse = ZeroNormSVC(gamma=gamma, random_state=SEED).fit(X_train, y_train)
    # Exactly ten terms, for the comparison of speed alone.
    random = np.random.default_rng(SEED)
    vectors, coef = X_train[:10], random.normal(size=10)
    ten = KernelExpansion(vectors, coef, 0.1, Kernel("rbf", gamma=gamma))
    as_classifier = ZeroNormSVC(gamma=gamma, random_state=SEED).fit(X_train, y_train)
    as_classifier.expansion_ = ten
    row = X[:1]
    single = X.astype(np.float32)
    seconds = best_seconds(
        {
            "by hand, 10 terms": lambda: by_hand(X, vectors, coef, 0.1, gamma),
            "expansion, 10 terms": lambda: ten.decision_function(X),
            "expansion, 10 terms, float32 rows": lambda: ten.decision_function(single),
            "classifier.decision_function, 10 terms": lambda: as_classifier.decision_function(X),
            f"ZeroNormSVC, {sparse.n_terms_} terms": lambda: sparse.decision_function(X),
        },
        REPEATS,
    )
    seconds |= best_seconds({f"SVC, {len(svc.support_)} vectors": lambda: svc.predict(X)}, 1)

    def many_single_rows():
        for _ in range(1000):
            ten.decision_function(row)

    seconds["one row, expansion, 10 terms"] = best_seconds({"": many_single_rows}, 9)[""] / 1000
    errors = {
        f"ZeroNormSVC, {sparse.n_terms_} terms": float(np.mean(sparse.predict(X) != y)),
        f"SVC, {len(svc.support_)} vectors": float(np.mean(svc.predict(X) != y)),
    }
    return [
        {"what": name, "rows": 1 if name.startswith("one") else ROWS, "seconds": value}
        | ({"error": errors[name]} if name in errors else {})
        for name, value in seconds.items()
    ]


def render() -> str:
    head, rows = record.read("prediction")
    hand = next(row["seconds"] for row in rows if row["what"].startswith("by hand"))
    lines = [
        [
            row["what"],
            record.duration(row["seconds"]),
            "" if row["rows"] == 1 else f"{row['seconds'] / hand:.2f}",
            f"{100 * row['error']:.2f}" if "error" in row else "",
        ]
        for row in rows
    ]
    header = [f"{ROWS:,} rows × 20", "time", "times by hand", "error %"]
    return f"Commit {head['commit']}.\n\n" + record.markdown(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    if not parser.parse_args().render:
        record.write("prediction", run(), SEED)
    print(render())


if __name__ == "__main__":
    main()
