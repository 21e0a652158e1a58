"""Figure 1 of Weston et al. (2003): polynomials of degree 2 in ten inputs, sparse and not.

    python -m benchmarks.weston_figure [--quick] [--jobs 2] [--resume] [--render]

Test error % on 500 rows, 30 trials, 20 to 100 training rows; a random target is drawn anew in every
trial. SVM has the kernel x·x' + (x·x')², AROM is ``AROMClassifier(kernel="poly")``, both with
C = 1000 (the paper: a hard margin); "AROM, C = 1" has the default. "linear" is a linear SVM.
The paper shows curves and no figures: AROM is far better on (a)-(d), comparable on (e) and (f).
± is the standard error over the trials.
"""

import argparse
import os
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from benchmarks import record
from zeronorm import AROMClassifier
from zeronorm.datasets import POLYNOMIAL_TARGETS, make_polynomial_target

SEED = 0  # trial t is drawn with seed t
ROWS, TRIALS, TEST = (20, 50, 75, 100), 30, 500
HARD = 1e3
#: What makes a task of the study another one.
TASK = ("target", "rows", "trial")


def kernel(A, B):
    product = A @ B.T
    return product + product**2


METHODS = {
    "SVM": SVC(kernel=kernel, C=HARD),
    "AROM": AROMClassifier(kernel="poly", degree=2, C=HARD),
    "AROM, C = 1": AROMClassifier(kernel="poly", degree=2),
    "linear": SVC(kernel="linear", C=HARD, max_iter=10**6),
}


def one_task(target: str, n_rows: int, trial: int) -> list[dict]:
    warnings.simplefilter("ignore", ConvergenceWarning)
    draw = trial
    while True:
        X, y = make_polynomial_target(n_rows + TEST, target, random_state=draw)
        if len(set(y[:n_rows])) == 2:
            break
        draw += 1000  # a target that is nearly always of one sign
    rows = []
    for method, model in METHODS.items():
        model.fit(X[:n_rows], y[:n_rows])
        error = float(np.mean(model.predict(X[n_rows:]) != y[n_rows:]))
        row = {"target": target, "rows": n_rows, "trial": trial, "method": method, "error": error}
        rows.append(row | {"terms": int(getattr(model, "n_terms_", 0))})
    return rows


def render() -> str:
    head, rows = record.read("weston_figure")
    parts = [f"Commits {record.commits(rows, head)}; seeds: the trials'."]
    lines = []
    for target in POLYNOMIAL_TARGETS:
        for n_rows in ROWS:
            line = [target, str(n_rows)]
            for method in METHODS:
                some = [
                    r
                    for r in rows
                    if (r["target"], r["rows"], r["method"]) == (target, n_rows, method)
                ]
                if len(some) > 1:
                    mean, error = record.mean_and_error([100 * row["error"] for row in some])
                    terms = np.mean([row["terms"] for row in some])
                    text = f"{mean:.1f} ± {error:.1f}"
                    line.append(text + (f" ({terms:.0f} terms)" if terms else ""))
                else:
                    line.append("")
            lines.append(line)
    parts.append(record.markdown(["target", "rows", *METHODS], lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two trials")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="keep rows of any commit")
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if not options.render:
        tasks = [
            (target, n_rows, trial)
            for trial in range(2 if options.quick else TRIALS)
            for target in POLYNOMIAL_TARGETS
            for n_rows in ROWS
        ]
        record.run_tasks(
            "weston_figure", TASK, tasks, one_task, SEED, jobs=options.jobs, resume=options.resume
        )
    print(render())


if __name__ == "__main__":
    main()
