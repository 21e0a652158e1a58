"""Times of fit and prediction beside those of SVC, on the seven sets of Huang et al. (2010)."""

import time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks import record, rivals
from benchmarks.cross_validation import SEED
from benchmarks.data import HUANG_SETS, training_part
from benchmarks.methods import METHODS
from benchmarks.ssvc_table import chosen_parameters
from benchmarks.statistics import Figure
from benchmarks.study import Study
from benchmarks.text import duration, figure_tables, markdown, short
from benchmarks.timing import best_seconds, median_seconds
from benchmarks.tuning import in_units
from zeronorm import SparseLargeMarginClassifier, SparseSVC
from zeronorm.model_selection import count_terms

ABOUT = """
Each method is timed at the parameters that the inner searches of `ssvc_table` chose most often for
it by the rule that counts (SVC: for accuracy), on nine tenths of the rows, one BLAS thread; median
of repeated fits. "All" lets every row be a candidate, as in the papers; otherwise 300 landmarks
are, the default. fastrvm, a C++ implementation, has the gamma of RVM; with so wide kernels it finds
no term at all on some sets, so both are also timed with the gamma of SVC. sklearn-rvm takes minutes
a fit: one fit on one set, with RVM's gamma. "IRWLS choice" is the choice among 25 pairs
(lam, gamma) and the fit, beside a GridSearchCV of SVC over 25 pairs and 5 folds; SparseSVC, too,
chooses everything. SLMC has 10 terms and the C and gamma of SVC. Prediction: `predict` of 20 000
rows drawn from the set, fastest of five calls that take turns, and of one row, the mean of fifty
calls, fastest of five turns; SVC and SparseSVC are those of the fits above.
"""
SLOW_SET = "banana"
SLMC_TERMS = 10
#: Whose predictions are timed, and of how many rows.
PREDICTING, PREDICTED_ROWS, SINGLE_ROWS = ("SVC", "SparseSVC"), 20_000, 50
#: The paper's ratios to its SVC; those of B are of variant W, the same problems.
PUBLISHED = {
    method: dict(zip(HUANG_SETS, ratios, strict=True))
    for method, ratios in {
        "A": (23, 10, 20, 49, 29, 13, 29),
        "B": (176, 634, 208, 357, 722, 444, 313),
        "RVM": (90, 92, 153, 80, 77, 139, 228),
        "SPC": (16, 14, 23, 14, 12, 28, 34),
        "SC": (101, 108, 77, 116, 40, 107, 132),
    }.items()
}


def models_of(name: str, parameters: dict, X, y) -> dict:
    models = {"SVC": clone(METHODS["SVC"][0]).set_params(**parameters[name, "SVC"])}
    for method, (estimator, grid) in METHODS.items():
        if method == "SVC":
            continue
        if grid:
            values = parameters[name, method]
        else:  # it chooses for itself: the choice is timed, and a fit with what it chose
            fitted = clone(estimator).fit(X, y)
            values = {"lam": fitted.lam_, "gamma": fitted.expansion_.kernel.gamma}
            models[f"{method} choice"] = clone(estimator)
        models[method] = clone(estimator).set_params(**values)
        models[f"{method}, all"] = clone(models[method]).set_params(candidates="all")
    grid_of_svc = in_units(METHODS["SVC"][1], X.shape[1])
    models["SVC grid search"] = GridSearchCV(SVC(), grid_of_svc, cv=5)
    models["SLMC"] = SparseLargeMarginClassifier(
        SLMC_TERMS, random_state=SEED, **parameters[name, "SVC"]
    )
    models["SparseSVC"] = SparseSVC(random_state=SEED)
    models["fastrvm"] = rivals.FastRVM(**parameters[name, "RVM"])
    gamma = parameters[name, "SVC"]["gamma"]
    models["RVM, SVC's gamma"] = clone(models["RVM"]).set_params(gamma=gamma)
    models["RVM, all, SVC's gamma"] = clone(models["RVM, all"]).set_params(gamma=gamma)
    models["fastrvm, SVC's gamma"] = rivals.FastRVM(gamma)
    return models


def one_set(name: str) -> list[dict]:
    parameters = chosen_parameters()
    X, y = training_part(name)
    models = models_of(name, parameters, X, y)
    seconds = median_seconds(models, X, y)
    if name == SLOW_SET:
        models["sklearn-rvm"] = rivals.SklearnRVM(**parameters[name, "RVM"])
        start = time.perf_counter()
        models["sklearn-rvm"].fit(X, y)
        seconds["sklearn-rvm"] = time.perf_counter() - start
    predicting = predict_seconds({method: models[method] for method in PREDICTING}, X)
    return [
        {
            "rows": len(X),
            "method": method,
            "parameters": {
                key: value
                for key, value in model.get_params(deep=False).items()
                if key in ("C", "lam", "gamma", "n_terms", "candidates")
            },
            "seconds": seconds[method],
            "ratio": seconds[method] / seconds["SVC"],
            "terms": count_terms(getattr(model, "best_estimator_", model)),
            **predicting.get(method, {}),
        }
        for method, model in models.items()
    ]


def predict_seconds(models: dict, X: np.ndarray) -> dict:
    """By model: of all rows at once, and of one row."""
    rows = X[np.random.default_rng(SEED).integers(len(X), size=PREDICTED_ROWS)]
    singles = [rows[i : i + 1] for i in range(SINGLE_ROWS)]
    many = best_seconds({name: (lambda m=m: m.predict(rows)) for name, m in models.items()}, 5)
    one = best_seconds(
        {name: (lambda m=m: [m.predict(row) for row in singles]) for name, m in models.items()}, 5
    )
    return {
        name: {"predict_seconds": many[name], "predict_one_seconds": one[name] / SINGLE_ROWS}
        for name in models
    }


def figures(rows: list[dict]) -> list[Figure]:
    """Ratios to SVC.fit beside those of the paper; the last row is the median of the sets."""
    found = []
    for method, some in record.cells(rows, "method").items():
        published = PUBLISHED.get(method.split(",")[0])
        if published is None or "gamma" in method:
            continue
        ratios = {row["set"]: row["ratio"] for row in some}
        known = [published[name] for name in ratios]
        lines = {**ratios, "median": float(np.median(list(ratios.values())))}
        olds = {**published, "median": float(np.median(known))}
        found += [
            Figure(
                "Huang et al., fit time / SVC.fit",
                name,
                method,
                [ratio],
                olds[name],
                is_counted=name != "median",
            )
            for name, ratio in lines.items()
        ]
    return found


def tables(rows: list[dict]) -> str:
    seconds = {(row["set"], row["method"]): row["seconds"] for row in rows}
    sets = [name for name in HUANG_SETS if (name, "SVC") in seconds]
    lines = [["SVC.fit, ms", *(f"{1000 * seconds[name, 'SVC']:.1f}" for name in sets), ""]]
    pairs = [
        ("IRWLS", "SVC"),
        ("SLMC", "SVC"),
        ("fastrvm", "RVM"),
        ("fastrvm", "RVM, all"),
        ("fastrvm, SVC's gamma", "RVM, SVC's gamma"),
        ("fastrvm, SVC's gamma", "RVM, all, SVC's gamma"),
        ("sklearn-rvm", "RVM"),
        ("SVC grid search", "IRWLS choice"),
        ("SVC grid search", "SparseSVC"),
    ]
    for one, other in pairs:
        ratios = {
            name: seconds[name, one] / seconds[name, other]
            for name in sets
            if (name, one) in seconds and (name, other) in seconds
        }
        if ratios:
            texts = (f"{ratios[name]:.1f}" if name in ratios else "" for name in sets)
            lines.append([f"{one} / {other}", *texts, f"{np.median(list(ratios.values())):.1f}"])
    table = markdown(["", *sets, "median"], lines)
    parts = [figure_tables(figures(rows)), "Other ratios:", table]
    parts += [f"Prediction of {PREDICTED_ROWS:,} rows:", predictions(rows)]
    return "\n\n".join([*parts, "Of one row:", predictions(rows, "predict_one_seconds")])


def speed_ups(rows: list[dict], key: str = "predict_seconds") -> dict[str, float]:
    """Times faster to predict than SVC, by set."""
    found = {(row["set"], row["method"]): row.get(key) for row in rows}
    return {name: found[name, "SVC"] / found[name, "SparseSVC"] for name in HUANG_SETS
            if (name, "SVC") in found}  # fmt: skip


def predictions(rows: list[dict], key: str = "predict_seconds") -> str:
    found = {(row["set"], row["method"]): row for row in rows}
    lines = []
    for name, ratio in speed_ups(rows, key).items():
        both = [found[name, method] for method in PREDICTING]
        times = (duration(row[key]) for row in both)
        lines.append([name, *(str(row["terms"]) for row in both), *times, short(ratio)])
    header = ["set", "SVC's terms", "SparseSVC's", "SVC, time", "SparseSVC, time", "times faster"]
    return markdown(header, lines)


STUDY = Study(
    "times",
    title="Fit and prediction beside SVC",
    about=ABOUT,
    factors={"set": HUANG_SETS},
    quick={"set": ("thyroid",)},
    protocol=one_set,
    tables=tables,
    figures=figures,
    timed=True,
    seed=SEED,
)
