"""Figure 1 of Weston et al. (2003): polynomials of degree 2 in ten inputs, sparse and not."""

import numpy as np
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.study import Study
from benchmarks.text import markdown, with_error
from zeronorm import AROMClassifier
from zeronorm.datasets import POLYNOMIAL_TARGETS, make_polynomial_target

ABOUT = """
Test error % on 500 rows, 30 trials, 20 to 100 training rows; a random target is drawn anew in every
trial. SVM has the kernel x·x' + (x·x')², AROM is `AROMClassifier(kernel="poly")`, both with
C = 1000 (the paper: a hard margin); "AROM, C = 1" has the default. "linear" is a linear SVM.
The paper shows curves and no figures: AROM is far better on (a)-(d), comparable on (e) and (f).
± is the standard error over the trials; trial t is drawn with seed t.
"""
ROWS, TRIALS, TEST = (20, 50, 75, 100), 30, 500
HARD = 1e3


def kernel(A, B):
    product = A @ B.T
    return product + product**2


METHODS = {
    "SVM": SVC(kernel=kernel, C=HARD),
    "AROM": AROMClassifier(kernel="poly", degree=2, C=HARD),
    "AROM, C = 1": AROMClassifier(kernel="poly", degree=2),
    "linear": SVC(kernel="linear", C=HARD, max_iter=10**6),
}


def one_trial(target: str, n_rows: int, trial: int) -> list[dict]:
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
        rows.append({"method": method, "error": error, "terms": int(getattr(model, "n_terms_", 0))})
    return rows


def cell(rows: list[dict]) -> str:
    """Error and terms of one method."""
    text = with_error([100 * row["error"] for row in rows])
    terms = np.mean([row["terms"] for row in rows])
    return f"{text} ({terms:.0f} terms)" if terms else text


def tables(rows: list[dict]) -> str:
    found = record.cells(rows, "target", "rows", "method")
    lines = [
        [target, str(n_rows), *(cell(found[target, n_rows, method]) for method in METHODS)]
        for target in POLYNOMIAL_TARGETS
        for n_rows in ROWS
        if (target, n_rows, "SVM") in found
    ]
    return markdown(["target", "rows", *METHODS], lines)


STUDY = Study(
    "weston_figure",
    title="Figure 1 of Weston et al. (2003)",
    about=ABOUT,
    factors={"target": POLYNOMIAL_TARGETS, "rows": ROWS, "trial": range(TRIALS)},
    quick={"trial": range(2)},
    protocol=one_trial,
    tables=tables,
)
