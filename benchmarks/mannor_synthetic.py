"""The synthetic problem of Mannor et al. (2005): two normal clouds in the plane, linear kernel."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks import record
from benchmarks.mannor import KERNELS, METRICS, costs, tuned
from benchmarks.record import per_cent
from benchmarks.statistics import Figure
from benchmarks.study import Study
from benchmarks.text import figure_tables, markdown, with_error
from zeronorm.datasets import make_clouds

ABOUT = """
x given y is normal with mean y (1, 1) and covariance V D Vᵀ, D = diag(1, 2), V a random rotation;
300 training rows, 1000 test rows. The paper has one draw and chooses C on the test rows; here there
are 20 draws, and C = λ/(1 − λ), λ = 0.1 ... 0.9, is chosen by 5-fold cross-validation inside the
training rows, by the rules of `mannor_tables`. The Bayes error of the problem as printed is 8 to
16 %, depending on V; the published 24 % cannot belong to it. They fit if D holds standard
deviations and the long axis is that of the means (Bayes error 24.0 %): the problem called "wide",
which is run beside the printed one. Only "wide" is compared with the published figures. ± is the
standard error over the draws, which are also the seeds.
"""
SEED = 0
DRAWS = 20
TRAIN, TEST = 300, 1000
PROBLEMS = ("as printed", "wide")
#: Error % and share of the rows %.
PUBLISHED = {"SVC": (24.5, 56.7), "OneNorm": (24.5, 0.667), "CE": (24.3, 0.333)}


def one_draw(problem: str, method: str, seed: int) -> list[dict]:
    X, y = make_clouds(TRAIN + TEST, wide=problem == "wide", random_state=seed)
    train, test = (X[:TRAIN], y[:TRAIN]), (X[TRAIN:], y[TRAIN:])
    centred = StandardScaler(with_std=False)
    return tuned(method, KERNELS["linear"], {"C": costs()}, centred, train, test, seed)


def figures(rows: list[dict]) -> list[Figure]:
    """Ours by the paper's rule, beside the paper's."""
    found = record.cells(rows, "problem", "method", "rule")
    return [
        Figure(
            f"Mannor et al., synthetic problem, {metric} %", problem, method,
            per_cent(found[key], metric), known[place] if problem == "wide" else None,
            is_ours=method != "SVC",
        )
        for place, metric in enumerate(METRICS)
        for problem in PROBLEMS
        for method, known in PUBLISHED.items()
        if (key := (problem, method, "best")) in found
    ]  # fmt: skip


def tables(rows: list[dict]) -> str:
    lines = [
        [
            *place,
            with_error(per_cent(cell, "error")),
            with_error(per_cent(cell, "share"), digits=2),
            f"{np.mean([row['terms'] for row in cell]):.1f}",
        ]
        for place, cell in record.cells(rows, "problem", "method", "rule").items()
    ]
    header = ["problem", "method", "rule", "error %", "share %", "terms"]
    return f"{figure_tables(figures(rows))}\n\nBoth rules:\n\n{markdown(header, lines)}"


STUDY = Study(
    "mannor_synthetic",
    title="The synthetic problem of Mannor et al. (2005)",
    about=ABOUT,
    factors={"problem": PROBLEMS, "method": PUBLISHED, "draw": range(DRAWS)},
    quick={"draw": range(2)},
    protocol=one_draw,
    tables=tables,
    figures=figures,
    seed=SEED,
)
