"""One-class machines: SparseOneClassSVM beside OneClassSVM, on classes with outliers."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from benchmarks import record
from benchmarks.data import load_keel
from benchmarks.study import Study
from benchmarks.text import markdown, with_error
from benchmarks.timing import best_seconds
from benchmarks.tuning import standardised
from zeronorm import SparseOneClassSVM

ABOUT = """
The larger class of each set is learned, half of its rows in each of ten random splits; the other
half and the smaller class, the outliers, are judged. nu is 0.1, gamma the default of both, features
are standardised by the training part. Area under the curve; ± is the standard error over splits.
Decision values of the test part (145 to 3 472 rows), and of 10 000 rows (the test part over and
over), one core, fastest of seven calls.
"""
SEED, SPLITS, NU, ROWS, MANY = 0, 10, 0.1, 2_000, 10_000
SETS = ("glass1", "yeast1", "vehicle1", "vowel0", "page-blocks0", "haberman", "ecoli1", "segment0")
METHODS = {"OneClassSVM": OneClassSVM(nu=NU), "SparseOneClassSVM": SparseOneClassSVM(NU)}


def one_split(name: str, split: int) -> list[dict]:
    X, labels = load_keel(name)
    values, counts = np.unique(labels, return_counts=True)
    inside = labels == values[counts.argmax()]
    order = np.random.default_rng(split).permutation(np.flatnonzero(inside))
    train = order[: min(ROWS, len(order) // 2)]
    test = np.setdiff1d(np.arange(len(X)), train)
    (A, _), (B, truth) = standardised((X[train], inside[train]), (X[test], inside[test]))
    models = {method: clone(model).fit(A) for method, model in METHODS.items()}
    many = B[np.arange(MANY) % len(B)]
    seconds, seconds_many = (
        best_seconds({k: lambda m=m, X=rows: m.decision_function(X) for k, m in models.items()}, 7)
        for rows in (B, many)
    )
    return [
        {
            "method": method,
            "area": float(roc_auc_score(truth, model.decision_function(B))),
            "terms": len(model.support_vectors_),
            "outside": float(np.mean(model.predict(A) < 0)),
            "seconds": seconds[method],
            "seconds_many": seconds_many[method],
        }
        for method, model in models.items()
    ]


def tables(rows: list[dict]) -> str:
    found = record.cells(rows, "set", "method")
    lines, areas, shares = [], [], []
    speeds = {"seconds": [], "seconds_many": []}
    for name in dict.fromkeys(row["set"] for row in rows):
        dense, ours = (found[name, method] for method in METHODS)
        line = [name]
        for cell in (dense, ours):
            terms = np.mean([row["terms"] for row in cell])
            line.append(f"{with_error([row['area'] for row in cell], digits=3)} ({terms:.0f})")
        lines.append(line)
        areas.append(np.mean([a["area"] - b["area"] for a, b in zip(ours, dense, strict=True)]))
        shares += [a["terms"] / b["terms"] for a, b in zip(ours, dense, strict=True)]
        for key, ratios in speeds.items():
            ratios += [b[key] / a[key] for a, b in zip(ours, dense, strict=True)]
    text = (
        f"Area {np.mean(areas):+.4f} on average, {min(areas):+.4f} at worst, with "
        f"{100 * np.mean(shares):.1f} % of the vectors; prediction of the test part "
        f"{np.median(speeds['seconds']):.0f} times as fast (median), of 10 000 rows "
        f"{np.median(speeds['seconds_many']):.0f} times (median, "
        f"{min(speeds['seconds_many']):.0f} at least)."
    )
    return f"{markdown(['area (terms)', *METHODS], lines)}\n\n{text}"


STUDY = Study(
    "one_class",
    title="One-class machines",
    about=ABOUT,
    factors={"set": SETS, "split": range(SPLITS)},
    quick={"split": range(1)},
    protocol=one_split,
    tables=tables,
    timed=True,
    seed=SEED,
)
