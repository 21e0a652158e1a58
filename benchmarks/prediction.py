"""Prediction speed: few terms against NumPy by hand and against the SVC they replace."""

import numpy as np
from sklearn.base import clone

from benchmarks.cross_validation import SEED
from benchmarks.data import HUANG_SETS, training_part
from benchmarks.methods import METHODS
from benchmarks.ssvc_table import chosen_parameters
from benchmarks.study import Study
from benchmarks.text import duration, markdown
from benchmarks.timing import best_seconds
from zeronorm import KernelExpansion, SparseSVC, ZeroNormSVC
from zeronorm.datasets import make_ringnorm
from zeronorm.kernels import Kernel

ABOUT = """
Ten terms: 200 000 rows × 20 features (Ringnorm). "By hand" is the best blocked NumPy we could
write: in place, no checks, one exponential per row and term. The single row goes through
`expansion_`. The sets of Huang et al. (2010): `SparseSVC` by its own choice beside the `SVC` with
the parameters that `ssvc_table` chose most often, `predict` of 20 000 rows drawn from the set.
One core, fastest of repeated calls.
"""
ROWS, SET_ROWS = 200_000, 20_000
REPEATS = 15
TEN_TERMS = "ten terms"


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


def ten_terms() -> list[dict]:
    X_train, y_train = make_ringnorm(2_000, random_state=SEED)
    X, _ = make_ringnorm(ROWS, random_state=SEED + 1)
    gamma = 0.05
    vectors, coef = X_train[:10], np.random.default_rng(SEED).normal(size=10)
    ten = KernelExpansion(vectors, coef, 0.1, Kernel("rbf", gamma=gamma))
    as_classifier = ZeroNormSVC(gamma=gamma, random_state=SEED).fit(X_train, y_train)
    as_classifier.expansion_ = ten
    row, single = X[:1], X.astype(np.float32)
    seconds = best_seconds(
        {
            "by hand": lambda: by_hand(X, vectors, coef, 0.1, gamma),
            "expansion": lambda: ten.decision_function(X),
            "expansion, float32 rows": lambda: ten.decision_function(single),
            "classifier.decision_function": lambda: as_classifier.decision_function(X),
        },
        REPEATS,
    )

    def many_single_rows():
        for _ in range(1000):
            ten.decision_function(row)

    seconds["one row, expansion"] = best_seconds({"": many_single_rows}, 9)[""] / 1000
    return [
        {"what": what, "rows": 1 if what.startswith("one") else ROWS, "seconds": value, "terms": 10}
        for what, value in seconds.items()
    ]


def one_set(name: str) -> list[dict]:
    X, y = training_part(name)
    svc = clone(METHODS["SVC"][0]).set_params(**chosen_parameters()[name, "SVC"])
    models = {"SVC": svc.fit(X, y), "SparseSVC": SparseSVC(random_state=SEED).fit(X, y)}
    rows = X[np.random.default_rng(SEED).integers(len(X), size=SET_ROWS)]
    calls = {what: (lambda m=model: m.predict(rows)) for what, model in models.items()}
    return [
        {"what": what, "rows": SET_ROWS, "seconds": value,
         "terms": len(models[what].support_vectors_)}
        for what, value in best_seconds(calls, 5).items()
    ]  # fmt: skip


def measure(data: str) -> list[dict]:
    return ten_terms() if data == TEN_TERMS else one_set(data)


def tables(rows: list[dict]) -> str:
    ten = [row for row in rows if row["data"] == TEN_TERMS]
    parts = []
    if ten:
        hand = next(row["seconds"] for row in ten if row["what"] == "by hand")
        lines = [
            [row["what"], duration(row["seconds"]),
             "" if row["rows"] == 1 else f"{row['seconds'] / hand:.2f}"]
            for row in ten
        ]  # fmt: skip
        parts.append(markdown([f"ten terms, {ROWS:,} rows × 20", "time", "times by hand"], lines))
    lines = []
    for name in HUANG_SETS:
        own = {row["what"]: row for row in rows if row["data"] == name}
        if own:
            seconds = [own[what]["seconds"] for what in ("SVC", "SparseSVC")]
            terms = [str(own[what]["terms"]) for what in ("SVC", "SparseSVC")]
            ratio = f"{seconds[0] / seconds[1]:.0f}"
            lines.append([name, *terms, *(duration(value) for value in seconds), ratio])
    header = ["set", "SVC's terms", "SparseSVC's", "SVC, time", "SparseSVC, time", "times faster"]
    parts.append(f"{SET_ROWS:,} rows:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


STUDY = Study(
    "prediction",
    title="Prediction",
    about=ABOUT,
    factors={"data": (TEN_TERMS, *HUANG_SETS)},
    quick={"data": (TEN_TERMS, "thyroid")},
    protocol=measure,
    tables=tables,
    timed=True,
    seed=SEED,
)
