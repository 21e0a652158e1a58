"""The protocol of Mannor et al. (2005): kernels, machines, and the choice of one parameter."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.tuning import choices, judged, pipeline_of
from zeronorm import CrossEntropySVC, OneNormSVC

LAMBDAS = np.arange(1, 10) / 10
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "C": 1.0},
}
LIGHT = {"sample_size": 100, "polish": False}
#: The classifier, and what is changed while its parameter is chosen.
METHODS = {
    "SVC": (SVC(), {}),
    "OneNorm": (OneNormSVC(candidates="all"), {}),
    "CE": (CrossEntropySVC(), LIGHT),
}
CHOICES = ("best", "one_se")
METRICS = ("error", "share")


def scaler(name: str, kernel: str) -> StandardScaler:
    return StandardScaler(with_std=kernel != "linear" and name != "ionosphere")


def costs() -> list[float]:
    return [float(value) for value in LAMBDAS / (1 - LAMBDAS)]


def measured(model, train, test) -> dict:
    """Fit and measure; of CE also its search."""
    row = judged(model, train, test)
    row["share"] = row["terms"] / len(train[1])
    if isinstance(last := model[-1], CrossEntropySVC):
        row |= {"candidates": int(last.n_candidates_), "rounds": int(last.n_iter_)}
        row["objective"] = float(last.objective_)
    return row


def tuned(method: str, settings: dict, grid: dict, scale, train, test, seed: int) -> list[dict]:
    """Choose one parameter inside the training part, refit by each rule, judge on the test part."""
    estimator, light = METHODS[method]
    estimator = clone(estimator).set_params(random_state=seed, **settings)
    lighter = pipeline_of(scale, clone(estimator).set_params(**light))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    rows, fits = [], {}
    for rule, parameters in choices(lighter, grid, train, folds, CHOICES).items():
        ((key, value),) = parameters.items()
        if value not in fits:
            model = pipeline_of(scale, estimator).set_params(**parameters)
            fits[value] = measured(model, train, test)
            fits[value]["parameters"] = {key.removeprefix("model__"): value}
        rows.append({"rule": rule, **fits[value]})
    return rows
