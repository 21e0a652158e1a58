"""Growth of time and memory with the number of rows, of terms or candidates, and of features."""

import functools
import time

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.statistics import growth_exponent
from benchmarks.study import Study
from benchmarks.text import duration, markdown
from benchmarks.timing import in_own_process, peak_mib
from zeronorm import (
    AROMSelector,
    CorrelationSelector,
    FSVSelector,
    IRWLSClassifier,
    R2W2Selector,
    RelevanceVectorClassifier,
    SparseLargeMarginClassifier,
    SparseProbitClassifier,
    SparseSVC,
    SparsityControlledSVC,
    ZeroNormSVC,
)
from zeronorm.datasets import make_waveform
from zeronorm.model_selection import sparse_search

ABOUT = """
Each fit runs in a process of its own, so that its peak memory is its own. One BLAS thread.

**Rows**: Waveform. The classifiers get their parameters from a search inside 2 000 other rows (SVC
the most accurate, the others the sparsest within one standard error); SparseSVC and IRWLS choose in
every fit, which counts in their time. The C of A (ZeroNormSVC) and SC is the price of a margin
error in terms; it is divided by the square root of the growth in rows, so that a term has to be
worth as many standard errors of the loss at every size. All but SVC and SparseSVC choose among 300
landmarks. The error is on 10 000 fresh rows. SVC with 100 000 rows is of an earlier run.

**Terms**: Waveform, 4 000 rows. SLMC and SparseSVC learn so many vectors; the others choose among
so many candidates.

**Features**: two normal clouds, 1 000 rows for the classifiers, 100 rows for the selectors (20
features to keep). Prediction is of 10 000 rows; with 10 000 features of 1 000 rows, times ten.

An exponent is the slope of log time, or log memory above that of the data, against log size, over
the three largest sizes; one fit each. Memory that grows by less than 10 MiB has none.
"""
SEED = 0
TUNING_ROWS = 2_000
TERMS_ROWS = 4_000
GAMMAS = (0.003, 0.01, 0.03)
GAMMA = 0.01
#: The sizes, and what takes part.
SIZES = {
    "rows": (1_000, 5_000, 20_000, 100_000),
    "terms": (10, 30, 100, 300),
    "features": (10, 100, 1_000, 10_000),
}
TUNED = {
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
#: By number of terms or candidates.
COUNTED = {
    "SLMC": lambda m: SparseLargeMarginClassifier(m, gamma=GAMMA, random_state=SEED),
    "SparseSVC": lambda m: SparseSVC(m, random_state=SEED),
    "A": lambda m: ZeroNormSVC(gamma=GAMMA, candidates=m, random_state=SEED),
    "B": lambda m: ZeroNormSVC("B", gamma=GAMMA, candidates=m, random_state=SEED),
    "SPC": lambda m: SparseProbitClassifier(gamma=GAMMA, candidates=m, random_state=SEED),
    "RVM": lambda m: RelevanceVectorClassifier(gamma=GAMMA, candidates=m, random_state=SEED),
}
CLASSIFIERS = {
    "SVC": SVC(),
    "SparseSVC": SparseSVC(random_state=SEED),
    "SLMC": SparseLargeMarginClassifier(10, random_state=SEED),
    "A": ZeroNormSVC(random_state=SEED),
    "SPC": SparseProbitClassifier(random_state=SEED),
    "RVM": RelevanceVectorClassifier(random_state=SEED),
}
SELECTORS = {
    "l2-AROM": AROMSelector(20),
    "l1-AROM": AROMSelector(20, "l1"),
    "FSV": FSVSelector(20),
    "R2W2": R2W2Selector(20),
    "CORR": CorrelationSelector(20),
    "RFE, step=0.5": RFE(SVC(kernel="linear"), n_features_to_select=20, step=0.5),
}
METHODS = tuple(dict.fromkeys([*TUNED, *COUNTED, *CLASSIFIERS, *SELECTORS]))
#: Largest sizes of those that would take long.
LARGEST = {
    ("rows", "SVC"): 20_000,
    ("rows", "IRWLS"): 20_000,
    ("rows", "SC"): 20_000,
    ("rows", "SPC"): 20_000,
    ("rows", "RVM"): 20_000,
    ("terms", "SparseSVC"): 30,
    ("features", "R2W2"): 1_000,
}
#: Methods whose C is a price in terms.
PRICED = ("A", "SC")


def takes_part(along: str, method: str, size: int) -> bool:
    kinds = {"rows": [TUNED], "terms": [COUNTED], "features": [CLASSIFIERS, SELECTORS]}
    if not any(method in kind for kind in kinds[along]) or size not in SIZES[along]:
        return False
    if method in SELECTORS and size < 100:
        return False
    return size <= LARGEST.get((along, method), size)


@functools.cache
def chosen(method: str) -> dict:
    """Parameters by cross-validation inside rows that are no part of the study."""
    model, grid = TUNED[method]
    if not grid:
        return {}
    X, y = make_waveform(TUNING_ROWS, random_state=SEED + 1)
    rule = "best" if method == "SVC" else "one_se"
    return sparse_search(model, grid, rule=rule).fit(X, y).best_params_


def clouds(n_rows: int, n_features: int, seed: int):
    """Two normal clouds whose means are two apart."""
    random = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    X = random.normal(size=(n_rows, n_features))
    X += (2.0 * y[:, None] - 1.0) / np.sqrt(n_features)
    return X, y


def measured(along: str, method: str, size: int, parameters: dict) -> dict:
    """One fit and one prediction, in this process."""
    if along == "features":
        few = method in SELECTORS
        model = (SELECTORS if few else CLASSIFIERS)[method]
        X, y = clouds(100 if few else 1_000, size, SEED)
        X_test, y_test = clouds(1_000 if size > 1_000 else 10_000, size, SEED + 1)
    else:
        n_rows = size if along == "rows" else TERMS_ROWS
        X, y = make_waveform(n_rows, random_state=SEED)
        X_test, y_test = make_waveform(10_000, random_state=SEED + 2)
        if along == "rows" and method in PRICED:
            parameters = parameters | {"C": parameters["C"] * (TUNING_ROWS / n_rows) ** 0.5}
        model = TUNED[method][0] if along == "rows" else COUNTED[method](size)
        model.set_params(**parameters)
    before, start = peak_mib(), time.perf_counter()
    model.fit(X, y)
    row = {"parameters": parameters, "fit_seconds": time.perf_counter() - start}
    row |= {"peak_mib": peak_mib(), "peak_before_fit_mib": before}
    if method in SELECTORS:
        return row
    start = time.perf_counter()
    predicted = model.predict(X_test)
    row["predict_seconds"] = (time.perf_counter() - start) * 10_000 / len(X_test)
    row["error"] = float(np.mean(predicted != y_test))
    row["terms"] = len(model.support_vectors_)
    return row


def one_task(along: str, method: str, size: int) -> list[dict]:
    parameters = chosen(method) if along == "rows" else {}
    return [in_own_process("benchmarks.growth:measured", along, method, size, parameters)]


def exponents(rows: list[dict]) -> str:
    lines = []
    for (along, method), some in record.cells(rows, "along", "method").items():
        some = sorted(some, key=lambda row: row["size"])[-3:]
        if len(some) < 3:
            continue
        sizes = [row["size"] for row in some]
        memory = [row["peak_mib"] - row["peak_before_fit_mib"] for row in some]
        columns = [
            [row["fit_seconds"] for row in some],
            memory if min(memory) > 1.0 and max(memory) - min(memory) > 10.0 else [],
            [row["predict_seconds"] for row in some if "predict_seconds" in row],
        ]
        texts = [f"{growth_exponent(sizes, values):.2f}" if values else "" for values in columns]
        lines.append([along, method, f"{sizes[0]:,} to {sizes[-1]:,}", *texts])
    header = ["growth with", "method", "sizes", "fit time", "memory", "prediction"]
    return markdown(header, lines)


def tables(rows: list[dict]) -> str:
    parts = [f"Exponents:\n\n{exponents(rows)}"]
    for along in SIZES:
        some = [row for row in rows if row["along"] == along]
        if not some:
            continue
        lines = []
        for row in sorted(some, key=lambda row: (row["size"], METHODS.index(row["method"]))):
            line = [f"{row['size']:,}", row["method"], duration(row["fit_seconds"])]
            if "terms" in row:
                line += [duration(row["predict_seconds"]), str(row["terms"])]
                line.append(f"{100 * row['error']:.2f}")
            else:
                line += ["", "", ""]
            memory = f"{row['peak_mib']:.0f} (data {row['peak_before_fit_mib']:.0f})"
            lines.append([*line, memory])
        header = [along, "method", "fit", "predict 10 000", "terms", "error %", "peak MiB"]
        parts.append(markdown(header, lines))
    return "\n\n".join(parts)


STUDY = Study(
    "growth",
    title="Growth with rows, terms and features",
    about=ABOUT,
    factors={
        "along": SIZES,
        "method": METHODS,
        "size": tuple(dict.fromkeys(size for sizes in SIZES.values() for size in sizes)),
    },
    quick={
        "method": ("SVC", "SparseSVC", "A", "l2-AROM"),
        "size": (10, 30, 100, 300, 1_000),
    },
    protocol=one_task,
    where=takes_part,
    tables=tables,
    timed=True,
    seed=SEED,
)
