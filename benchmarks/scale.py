"""Large sets: SparseSVC on all rows, beside an SVC on as many rows as it manages in that time."""

import time

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.data import load_npz, npz_path
from benchmarks.study import Study
from benchmarks.text import markdown
from benchmarks.timing import in_own_process, peak_mib
from zeronorm import SparseSVC
from zeronorm.base.sampling import stratified_rows
from zeronorm.datasets import make_waveform

ABOUT = """
Each fit runs in a process of its own, so that its peak memory is its own, data included. SparseSVC
chooses the number of terms, C and gamma itself (for fashion_mnist the number of terms is given).
SVC has the C and gamma of the best of nine pairs by 3 folds on 2 000 of the training rows; that
search does not count in its time. Its rows double until a fit takes longer than SparseSVC took in
all, choosing included; the largest that does not is shown. skin_nonskin: four fifths to learn
from, repeated rows as they are; adult_a9a and fashion_mnist: their own test rows; waveform:
generated, 1 000 000 rows, 20 000 to judge by.
"""
SEED = 0
TERMS = {"skin_nonskin": "auto", "adult_a9a": "auto", "fashion_mnist": 100, "waveform": "auto"}
FIRST_ROWS = 1_000
TUNING_ROWS = 2_000
GRID = {"C": (1.0, 10.0, 100.0), "gamma": (0.1, 0.3, 1.0)}  # gamma in units of "scale"


#: For --quick, a set of the same kind.
SMALL = "waveform, small"


def load(name: str):
    """Training rows and test rows, scaled by the training rows."""
    if name.startswith("waveform"):
        X, y = make_waveform(20_000 if name == SMALL else 1_000_000, random_state=SEED)
        X_test, y_test = make_waveform(20_000, random_state=SEED + 1)
    else:
        file = load_npz(name)
        X, y = file["X"], file["y"]
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
    X, y, X_test, y_test = load(name)
    if rows is not None:
        X, y = drawn(X, y, rows, SEED)
    if method == "SVC":
        model = SVC(cache_size=500, **parameters)
    else:
        model = SparseSVC(random_state=SEED, **parameters)
    before = peak_mib()
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    error = float(np.mean(model.predict(X_test) != y_test))
    done = time.perf_counter()
    return {
        "method": method,
        "rows": len(X),
        "features": X.shape[1],
        "parameters": parameters,
        "terms": len(model.support_vectors_),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "test_rows": len(X_test),
        "error": error,
        "peak_mib": peak_mib(),
        "peak_before_fit_mib": before,
    }


def drawn(X, y, rows: int, seed: int):
    """Some of the rows, classes in proportion."""
    _, codes = np.unique(y, return_inverse=True)
    indices = stratified_rows(codes, rows, np.random.RandomState(seed))
    return X[indices], y[indices]


def svc_parameters(name: str) -> dict:
    X, y, _, _ = load(name)
    X, y = drawn(X, y, TUNING_ROWS, SEED + 1)
    scale = 1.0 / (X.shape[1] * X.var())
    grid = GRID | {"gamma": [factor * scale for factor in GRID["gamma"]]}
    return GridSearchCV(SVC(), grid, cv=3).fit(X, y).best_params_


def one_set(name: str) -> list[dict]:
    if not name.startswith("waveform"):
        npz_path(name)  # missing data are to be missing here, not in another process
    one = "benchmarks.scale:one_fit"
    ours = in_own_process(one, name, "SparseSVC", None, {"n_terms": TERMS.get(name, "auto")})
    parameters, size, last = svc_parameters(name), FIRST_ROWS, None
    while size <= ours["rows"]:
        row = in_own_process(one, name, "SVC", size, parameters)
        if row["fit_seconds"] > ours["fit_seconds"] and last is not None:
            break
        last, size = row, 2 * size
    return [ours, last]


def tables(rows: list[dict]) -> str:
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
    return markdown(header, lines)


STUDY = Study(
    "scale",
    title="Large sets",
    about=ABOUT,
    factors={"set": TERMS},
    quick={"set": (SMALL,)},
    protocol=one_set,
    tables=tables,
    timed=True,
    seed=SEED,
)
