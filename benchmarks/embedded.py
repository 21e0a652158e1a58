"""Models on microcontrollers: flash, RAM and instructions of a prediction, beside the SVC."""

import functools

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import chips
from benchmarks.cross_validation import SEED
from benchmarks.data import MissingData
from benchmarks.study import Study
from benchmarks.text import markdown
from zeronorm import KernelExpansion, SparseSVC
from zeronorm.decisions import Classes
from zeronorm.export import to_c
from zeronorm.export.reading import describe
from zeronorm.kernels import Kernel
from zeronorm.model import Model

ABOUT = """
`to_c(model, own_exp=True)`, compiled with `-Os` for a Cortex-M0 (no floating point: routines of the
compiler do it, and their bytes count) and a Cortex-M4F, run in QEMU (`-icount shift=0`: the clock
counts instructions). Flash is what the model adds to an empty program. RAM is the stack of a
prediction; there are no static bytes. The scaler is folded into the model. Data of scikit-learn,
three quarters to train, parameters of `SVC` by a 5-fold search over nine pairs, `SparseSVC` by its
own choice; the error is that of Python on the rest. The coefficients of an `SVC` for ten classes
are one for each of its 45 pairs, most of them zero; packed as libsvm has them it would be
smaller. Every output is, bit by bit, that of the same header on the machine
that ran the study.
"""
LOADERS = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
TEN = "ten vectors × 20"
GRID = {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": [0.3, 1.0, 3.0]}
ROWS = 20


@functools.cache
def fitted(data: str, method: str):
    """A model, rows for it, and its error."""
    if data == TEN:
        rng = np.random.default_rng(SEED)
        kernel = Kernel("rbf", gamma=0.05)
        ten = KernelExpansion(rng.normal(size=(10, 20)), rng.normal(size=10), 0.1, kernel)
        return Model(ten, Classes(np.array(["no", "yes"]))), rng.normal(size=(ROWS, 20)), None
    X, y = LOADERS[data](return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=SEED)
    if method == "SVC":
        grid = {**GRID, "svc__gamma": [g / X.shape[1] for g in GRID["svc__gamma"]]}
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid)
        model = search.fit(X, y).best_estimator_
    else:
        model = make_pipeline(StandardScaler(), SparseSVC(random_state=SEED)).fit(X, y)
    return model, X_test[:ROWS], 1.0 - model.score(X_test, y_test)


def measure(data: str, method: str, precision: str, chip: str) -> list[dict]:
    if not chips.are_there():
        raise MissingData(chips.NEEDS)
    model, rows, error = fitted(data, method)
    description = describe(model)
    row = {
        "terms": description.function.n_terms,
        "linear": description.function.linear is not None,
        "features": len(description.features),
        "classes": len(description.labels),
    }
    if error is not None:
        row["error"] = error
    header = to_c(model, precision=precision, own_exp=True)
    try:
        found = chips.on_chip(header, rows, chips.CHIPS[chip])
    except chips.TooLarge:
        return [row | {"fits": False}]
    same = bool((found.bits.ravel() == chips.on_host(header, rows)).all())
    if not same:
        raise RuntimeError(f"{data}, {method}, {precision}: other bits on the {chip}.")
    ram = found.static + found.stack
    return [row | {"fits": True, "flash": found.flash, "ram": ram,
                   "instructions": found.instructions}]  # fmt: skip


def cells(rows: list[dict]) -> dict:
    return {(r["data"], r["method"], r["precision"], r["chip"]): r for r in rows}


def model_cells(row: dict) -> list[str]:
    error = f"{100 * row['error']:.1f}" if "error" in row else ""
    terms = f"{row['terms']:,}" + (" + linear" if row["linear"] else "")
    return [terms, str(row["features"]), str(row["classes"]), error]


def costs(row: dict | None) -> list[str]:
    if row is None:
        return [""] * 3
    if not row["fits"]:
        return ["more than 256 kB", "", ""]
    return [f"{row['flash']:,}", f"{row['ram']:,}", f"{row['instructions']:,.0f}"]


def tables(rows: list[dict]) -> str:
    parts, found = [], cells(rows)
    for chip in chips.CHIPS:
        for precision in ("float", "int16"):
            lines = [
                [data, method, *model_cells(row), *costs(row)]
                for (data, method, p, c), row in found.items()
                if (p, c) == (precision, chip)
            ]
            header = ["data", "model", "terms", "features", "classes", "error %"]
            header += ["flash, bytes", "RAM, bytes", "instructions"]
            if lines:
                parts.append(f"{chip}, {precision}:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


def short_table(rows: list[dict]) -> str:
    """The table of the guide: the chip without floating point in integers, the other in float."""
    found = cells(rows)
    lines = []
    for data, method in dict.fromkeys((row["data"], row["method"]) for row in rows):
        small, large = (
            found.get((data, method, *key))
            for key in (("int16", "Cortex-M0"), ("float", "Cortex-M4F"))
        )
        if small is not None:
            name = data if method == "SparseSVC" else f"{data}, `SVC`"
            lines.append([name, *model_cells(small), *costs(small), *costs(large)])
    header = ["", "terms", "features", "classes", "error %"]
    header += [f"{chip}: {what}" for chip in ("M0, int16", "M4F, float")
               for what in ("flash", "RAM", "instructions")]  # fmt: skip
    return markdown(header, lines)


STUDY = Study(
    "embedded",
    title="On microcontrollers",
    about=ABOUT,
    factors={
        "data": (TEN, *LOADERS),
        "method": ("SparseSVC", "SVC"),
        "precision": ("float", "int16"),
        "chip": tuple(chips.CHIPS),
    },
    quick={"data": (TEN,)},
    where=lambda data, method, precision, chip: data != TEN or method == "SparseSVC",
    protocol=measure,
    tables=tables,
    timed=True,  # one after the other: a model is fitted once
    seed=SEED,
)
