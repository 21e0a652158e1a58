"""SparseSVC on a GPU: tensors in, everything chosen and learned there."""

import time

import numpy as np
from sklearn import config_context

from benchmarks.data import MissingData, imported, npz_path
from benchmarks.scale import load
from benchmarks.study import Study
from benchmarks.text import markdown
from zeronorm import SparseSVC
from zeronorm.datasets import make_waveform

ABOUT = """
Rows are tensors of PyTorch in single precision on the device before the clock starts; the first fit
of all, which loads kernels, does not count. Everything but the number of terms is chosen inside the
training rows. Waveform: 10 000 000 rows with 21 features, 20 000 others to judge by.

No GPU was there when the code had changed once more. What changed finds the same: of five such fits
on the CPU (tensors, 6 000 to 200 000 rows) the models of f98c527 and of 6d60c3b are equal to the
last bit.
"""
SEED = 0
RUNS = {
    "fashion_mnist": (30, 100, 300, 1000, "auto"),
    "waveform, 10 million rows": (8,),
}


def rows_of(name: str):
    if name == "fashion_mnist":
        npz_path(name)
        return load(name)
    parts = [make_waveform(1_000_000, random_state=seed) for seed in range(10)]
    X = np.vstack([part[0].astype(np.float32) for part in parts])
    return X, np.concatenate([part[1] for part in parts]), *make_waveform(20_000, random_state=10)


def one_fit(name: str, terms: int | str) -> list[dict]:
    torch = imported("torch")
    if not torch.cuda.is_available():
        raise MissingData("needs a GPU")
    X, y, X_test, y_test = rows_of(name)
    X, X_test = (torch.as_tensor(rows, dtype=torch.float32, device="cuda") for rows in (X, X_test))
    y, y_test = (torch.as_tensor(labels, device="cuda") for labels in (y, y_test))
    model = SparseSVC(terms, random_state=SEED)
    with config_context(array_api_dispatch=True):
        SparseSVC(8, random_state=SEED).fit(X[:5_000], y[:5_000])
        torch.cuda.synchronize()
        start = time.perf_counter()
        model.fit(X, y)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        error = 1.0 - model.score(X_test, y_test)
    return [
        {
            "error": error,
            "fit_seconds": seconds,
            "n_terms": model.n_terms_,
            "device": torch.cuda.get_device_name(),
            "torch": torch.__version__,
        }
    ]


def tables(rows: list[dict]) -> str:
    lines = [
        [
            row["set"],
            str(row["terms"]),
            str(row["n_terms"]),
            "" if row["error"] is None else f"{100 * row['error']:.2f}",
            f"{row['fit_seconds']:.1f}",
            f"{row['device']}, torch {row['torch']}",
        ]
        for row in rows
    ]
    return markdown(["set", "asked", "terms", "error %", "seconds", "device"], lines)


STUDY = Study(
    "device",
    title="On a GPU",
    about=ABOUT,
    factors={"set": RUNS, "terms": sorted({t for terms in RUNS.values() for t in terms}, key=str)},
    where=lambda name, terms: terms in RUNS[name],
    quick={"set": ("fashion_mnist",), "terms": (30,)},
    protocol=one_fit,
    tables=tables,
    timed=True,
    seed=SEED,
)
