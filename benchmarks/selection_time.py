"""Time of feature selection: lymphoma to 20 genes, a hundred thousand features, and a million."""

import time

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import load_gene_split
from benchmarks.study import Study
from benchmarks.text import duration, markdown
from benchmarks.timing import in_own_process, median_seconds, peak_mib
from benchmarks.tuning import held_out_error, standardised
from zeronorm import AROMSelector, CorrelationSelector, FSVSelector, R2W2Selector

ABOUT = """
Lymphoma: 60 training rows × 4026 genes, standardised; median over repeated fits of several splits,
the methods taking turns in the same run, one BLAS thread. The error is that of `SVC`, linear,
C = 1, on the 20 genes and the 36 test rows, mean over the splits. RFE is scikit-learn's with
`SVC(kernel="linear")`; with `step=1` it is fitted once a split. Wide: 100 rows × 100 000
features, normal noise and five features that differ between the classes, to 20 features, with the
largest memory of the process above that of the data; and 1 000 000 features in single precision,
0.4 GB, by l2-AROM. The paper (its own computer): FSV 139 s,
l2-AROM 2.39 s, RFE 1.22 s.
"""
SEED, SIZE = 0, 20
WIDE_ROWS, WIDE_FEATURES, MOST_FEATURES = 100, 100_000, 1_000_000
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
#: Methods, splits and repeats; the quick one is without RFE one by one, 20 s a split.
LYMPHOMA = {"lymphoma": (METHODS, 3, 9), "lymphoma, quick": (list(METHODS)[:-1], 2, 3)}


def measure(data: str) -> list[dict]:
    """All methods in one task, so that they take turns."""
    if data == "wide":
        return [in_own_process("benchmarks.selection_time:wide", name) for name in WIDE_METHODS]
    if data == "million":
        return [in_own_process("benchmarks.selection_time:million")]
    names, splits, repeats = LYMPHOMA[data]
    rows = []
    for split in range(splits):
        train, test = standardised(*load_gene_split("lymphoma", split))
        models = {name: clone(METHODS[name]) for name in names}
        for name, seconds in median_seconds(models, *train, repeats).items():
            chosen = models[name].get_support(indices=True)
            error = held_out_error(SVC(kernel="linear"), train, test, chosen)
            rows.append({"method": name, "split": split, "seconds": seconds, "error": error})
    return rows


def wide(method: str) -> dict:
    """A hundred thousand features, in double precision."""
    X = np.random.default_rng(SEED).normal(size=(WIDE_ROWS, WIDE_FEATURES))
    return fitted(method, X)


def million() -> dict:
    """Ten times as many, in single precision."""
    size = WIDE_ROWS, MOST_FEATURES
    X = np.random.default_rng(SEED).standard_normal(size, dtype=np.float32)
    return fitted("l2-AROM", X)


def fitted(method: str, X) -> dict:
    """One fit, in this process, which should be a fresh one."""
    y = np.arange(WIDE_ROWS) % 2
    X[:, :5] += 2 * y[:, None].astype(X.dtype)
    before, start = peak_mib(), time.perf_counter()
    selector = METHODS[method].fit(X, y)
    seconds, peak = time.perf_counter() - start, peak_mib()
    found = int(np.sum(selector.get_support(indices=True) < 5))
    return {"method": method, "found": found, "seconds": seconds,
            "megabytes": peak - before, "peak": peak}  # fmt: skip


def tables(rows: list[dict]) -> str:
    parts = []
    found = record.cells((row for row in rows if row["data"] in LYMPHOMA), "method")
    if found:
        medians = {name: np.median([r["seconds"] for r in some]) for name, some in found.items()}
        lines = [
            [name, duration(medians[name]), f"{medians[name] / medians['l2-AROM']:.2f}",
             f"{100 * np.mean([row['error'] for row in found[name]]):.1f}"]
            for name in METHODS
            if name in found
        ]  # fmt: skip
        header = ["method", "time", "times l2-AROM", "error %"]
        parts.append(f"Lymphoma to {SIZE} genes:\n\n{markdown(header, lines)}")
    for data, features in (("wide", WIDE_FEATURES), ("million", MOST_FEATURES)):
        lines = [
            [row["method"], duration(row["seconds"]),
             f"{row['megabytes']:.0f} MB ({row['peak']:.0f} MB with all)", f"{row['found']} of 5"]
            for row in rows
            if row["data"] == data
        ]  # fmt: skip
        if lines:
            header = ["method", "time", "memory", "found"]
            parts.append(f"{WIDE_ROWS} rows × {features}:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


STUDY = Study(
    "selection_time",
    title="Time of feature selection",
    about=ABOUT,
    factors={"data": ("wide", "million", "lymphoma")},
    quick={"data": ("wide", "lymphoma, quick")},
    protocol=measure,
    tables=tables,
    timed=True,
    seed=SEED,
)
