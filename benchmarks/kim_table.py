"""The comparison of Kim (2009): Pima, linear kernel, and two classes of Iris, Gaussian kernel."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import load, read
from benchmarks.statistics import Figure
from benchmarks.study import Study
from benchmarks.text import figure_tables
from benchmarks.tuning import in_units, judged
from zeronorm import IRWLSClassifier, RelevanceVectorClassifier

ABOUT = """
Random halves, 50 (the paper: 100), features standardised on the training half.
SVC gets C (and for Iris gamma) by 10-fold cross-validation for accuracy, as in the paper; so does
RVC (RelevanceVectorClassifier) its gamma for Iris, and for Pima it has nothing to choose. SKC
(IRWLSClassifier, all rows as candidates) chooses lam (and gamma) by its own criteria without folds:
"gcv" is the paper's (3.9), "loo" the default of the class. The Iris pair is versicolor and
virginica; the paper's text says setosa, which a line separates from either. ± is the standard error
over the splits. The paper's RVC on Pima has the error of the wrong class (its labels were flipped),
so there is no published figure.
"""
SEED, SPLITS = 0, 50  # split s is drawn with seed s
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # times 1 / number of features
RVC = RelevanceVectorClassifier(candidates="all")
SKC_GCV, SKC_LOO = (
    IRWLSClassifier("gcv", criterion=criterion, candidates="all") for criterion in ("gcv", "loo")
)
LINEAR = {"kernel": "linear"}
#: The classifier, what is set, and what is chosen by cross-validation.
METHODS = {
    "pima": {
        "SVC": (SVC(), LINEAR, {"C": COSTS}),
        "SKC, gcv": (SKC_GCV, LINEAR, {}),
        "SKC, loo": (SKC_LOO, LINEAR, {}),
        "RVC": (RVC, LINEAR, {}),
    },
    "iris": {
        "SVC": (SVC(), {}, {"C": COSTS, "gamma": GAMMAS}),
        "SKC, gcv": (SKC_GCV, {"gamma": "gcv"}, {}),
        "SKC, loo": (SKC_LOO, {"gamma": "gcv"}, {}),
        "RVC": (RVC, {}, {"gamma": GAMMAS}),
    },
}
#: Error % and terms, and their standard errors.
PUBLISHED = {
    "pima": {"SVC": (23.45, 201.49), "SKC": (23.42, 10.53)},
    "iris": {"SVC": (6.12, 25.02), "SKC": (6.16, 21.65), "RVC": (7.02, 3.77)},
}
PUBLISHED_ERRORS = {
    "pima": {"SVC": (0.17, 1.10), "SKC": (0.16, 0.167)},
    "iris": {"SVC": (0.23, 0.31), "SKC": (0.29, 0.83), "RVC": (0.32, 0.10)},
}


def one_split(name: str, split: int) -> list[dict]:
    X, y = read("diabetes") if name == "pima" else load("iris_pair")
    order = np.random.default_rng(split).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    X = StandardScaler().fit(X[train]).transform(X)
    folds = StratifiedKFold(10, shuffle=True, random_state=split)
    rows = []
    for method, (estimator, settings, grid) in METHODS[name].items():
        model = clone(estimator).set_params(**settings)
        if grid:
            search = GridSearchCV(model, in_units(grid, X.shape[1]), cv=folds, refit=False)
            model.set_params(**search.fit(X[train], y[train]).best_params_)
        row = judged(model, (X[train], y[train]), (X[test], y[test]))
        rows.append({"method": method, **row})
    return rows


def figures(rows: list[dict]) -> list[Figure]:
    found = record.cells(rows, "set", "method")
    return [
        Figure(
            f"Kim, {label}", name, method, [factor * row[metric] for row in found[name, method]],
            PUBLISHED[name].get(method.split(",")[0], (None, None))[place],
            PUBLISHED_ERRORS[name].get(method.split(",")[0], (0.0, 0.0))[place],
            is_ours=method != "SVC",
        )
        for place, (metric, label, factor) in enumerate(
            (("error", "error %", 100.0), ("terms", "terms", 1.0))
        )
        for name, methods in METHODS.items()
        for method in methods
        if (name, method) in found
    ]  # fmt: skip


def tables(rows: list[dict]) -> str:
    return figure_tables(figures(rows))


STUDY = Study(
    "kim_table",
    title="The comparison of Kim (2009)",
    about=ABOUT,
    factors={"set": METHODS, "split": range(SPLITS)},
    quick={"split": range(2)},
    protocol=one_split,
    tables=tables,
    figures=figures,
    seed=SEED,
)
