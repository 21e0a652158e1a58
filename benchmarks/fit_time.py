"""Fit time as a ratio to SVC.fit, in the same run, on the seven sets of Huang et al. (2010).

    python -m benchmarks.fit_time [--slow] [--render]

Each method is timed at the parameters that the inner searches of ``ssvc_table`` chose most often
for it by the rule that counts (SVC: for accuracy), on nine tenths of the rows, one BLAS thread;
median of repeated fits. "All" lets every row be a candidate, as in the papers; otherwise 300
landmarks are, the default. fastrvm, a C++ implementation, has the gamma of RVM; with so wide
kernels it finds no term at all on some sets, so both are also timed with the gamma of SVC. sklearn-
rvm (with RVM's gamma; ``--slow``: minutes a fit, one fit on one set). "IRWLS choice" is the choice
among 25 pairs (lam, gamma) and the fit, beside a GridSearchCV of SVC over 25 pairs and 5 folds;
SparseSVC, too, chooses everything. SLMC has 10 terms and the C and gamma of SVC.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import Counter
from collections.abc import Callable

import fastrvm
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import SSVC_SETS, load_ssvc_set
from benchmarks.ssvc_table import GAMMAS, METHODS, SEED
from zeronorm import SparseLargeMarginClassifier, SparseSVC
from zeronorm.model_selection import count_terms

REPEATS = 9
SLOW_SET = "banana"
SLMC_TERMS = 10
#: Seconds of fits after which a method is not fitted again.
PATIENCE = 4.0
#: The paper's ratios to its SVC; those of B are of variant W, the same problems.
PUBLISHED = {
    method: dict(zip(SSVC_SETS, ratios, strict=True))
    for method, ratios in {
        "A": (23, 10, 20, 49, 29, 13, 29),
        "B": (176, 634, 208, 357, 722, 444, 313),
        "RVM": (90, 92, 153, 80, 77, 139, 228),
        "SPC": (16, 14, 23, 14, 12, 28, 34),
        "SC": (101, 108, 77, 116, 40, 107, 132),
    }.items()
}


def chosen_parameters() -> dict:
    """Parameters most often chosen: for accuracy by SVC, by the rule that counts otherwise."""
    _, rows = record.read("ssvc_table")
    counts: dict = {}
    for row in rows:
        if row["rule"] == ("best" if row["method"] == "SVC" else "one_se"):
            names = METHODS[row["method"]][1]
            choice = tuple((name, row[name]) for name in names)
            counts.setdefault((row["set"], row["method"]), Counter())[choice] += 1
    return {key: dict(counter.most_common(1)[0][0]) for key, counter in counts.items()}


def median_seconds(models: dict, X, y, repeats: int = REPEATS) -> dict:
    """Fit the models in turn, so that a busy moment of the machine meets all of them.

    Those that take seconds are fitted fewer times.
    """
    seconds: dict = {name: [] for name in models}
    models["SVC"].fit(X, y)  # the first of all pays for what is loaded then
    for _ in range(repeats):
        for name, model in models.items():
            if sum(seconds[name]) > PATIENCE:
                continue
            start = time.perf_counter()
            model.fit(X, y)
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def models_of(name: str, parameters: dict, X, y) -> dict:
    models = {}
    for method, (estimator, grid) in METHODS.items():
        if (name, method) not in parameters:
            continue
        if not grid:  # it chooses for itself: the choice is timed, and a fit with what it chose
            chooser = clone(estimator)
            fitted = clone(chooser).fit(X, y)
            values = {"lam": fitted.lam_, "gamma": fitted.expansion_.kernel.gamma}
            models[f"{method} choice"] = chooser
            grid_of_svc = {"C": METHODS["SVC"][1]["C"], "gamma": [g / X.shape[1] for g in GAMMAS]}
            models["SVC grid search"] = GridSearchCV(SVC(), grid_of_svc, cv=5)
        else:
            values = parameters[name, method]
        models[method] = clone(estimator).set_params(**values)
        if method != "SVC":
            models[f"{method}, all"] = clone(models[method]).set_params(candidates="all")
    models["SLMC"] = SparseLargeMarginClassifier(
        SLMC_TERMS, random_state=SEED, **parameters[name, "SVC"]
    )
    models["SparseSVC"] = SparseSVC(random_state=SEED)
    if (name, "RVM") in parameters:
        models["fastrvm"] = fastrvm.RVC(fit_intercept=True, **parameters[name, "RVM"])
        gamma = parameters[name, "SVC"]["gamma"]
        models["RVM, SVC's gamma"] = clone(models["RVM"]).set_params(gamma=gamma)
        models["RVM, all, SVC's gamma"] = clone(models["RVM, all"]).set_params(gamma=gamma)
        models["fastrvm, SVC's gamma"] = fastrvm.RVC(fit_intercept=True, gamma=gamma)
    return models


def run(slow: bool, wanted: Callable[[str], bool]) -> list[dict]:
    warnings.simplefilter("ignore", ConvergenceWarning)
    parameters = chosen_parameters()
    rows = []
    for name in SSVC_SETS:
        X, y = load_ssvc_set(name, SEED)
        X, y = StandardScaler().fit_transform(X)[: int(0.9 * len(X))], y[: int(0.9 * len(X))]
        models = models_of(name, parameters, X, y)
        models = {key: model for key, model in models.items() if key == "SVC" or wanted(key)}
        seconds = median_seconds(models, X, y)
        if slow and name == SLOW_SET:
            from sklearn_rvm import EMRVC

            models["sklearn-rvm"] = EMRVC(**parameters[name, "RVM"])
            start = time.perf_counter()
            models["sklearn-rvm"].fit(X, y)
            seconds["sklearn-rvm"] = time.perf_counter() - start
        for method, model in models.items():
            row = {
                "set": name,
                "rows": len(X),
                "method": method,
                "parameters": parameters.get((name, method.split(",")[0]), {}),
                "seconds": seconds[method],
                "ratio": seconds[method] / seconds["SVC"],
                "terms": terms_of(model),
            }
            rows.append(row)
            print(row, flush=True)
    return rows


def terms_of(model) -> int:
    if hasattr(model, "relevance_"):  # of the rivals
        return len(model.relevance_)
    return count_terms(getattr(model, "best_estimator_", model))


def render() -> str:
    head, rows = record.read("fit_time")
    cells = {(row["set"], row["method"]): row for row in rows}
    methods = list(dict.fromkeys(row["method"] for row in rows))
    ratios = [m for m in methods if m != "SVC" and "choice" not in m and "search" not in m]
    ratios = [m for m in ratios if m not in ("sklearn-rvm", "SparseSVC") and "gamma" not in m]
    header = ["method", *SSVC_SETS, "median", "published"]
    first = ["SVC.fit, ms"]
    first += [f"{1000 * cells[name, 'SVC']['seconds']:.1f}" for name in SSVC_SETS]
    lines = [[*first, "", ""]]
    for method in ratios:
        values = [cells[name, method]["ratio"] for name in SSVC_SETS]
        published = PUBLISHED.get(method.split(",")[0])
        lines.append(
            [
                f"{method} / SVC",
                *(f"{value:.1f}" for value in values),
                f"{np.median(values):.1f}",
                f"{np.median(list(published.values())):.0f}" if published else "",
            ]
        )
    pairs = [
        ("fastrvm", "RVM"),
        ("fastrvm", "RVM, all"),
        ("fastrvm, SVC's gamma", "RVM, SVC's gamma"),
        ("fastrvm, SVC's gamma", "RVM, all, SVC's gamma"),
        ("sklearn-rvm", "RVM"),
        ("SVC grid search", "IRWLS choice"),
        ("SVC grid search", "SparseSVC"),
    ]
    for rival, ours in pairs:
        names = [s for s in SSVC_SETS if (s, rival) in cells and (s, ours) in cells]
        if names:
            both = {s: cells[s, rival]["seconds"] / cells[s, ours]["seconds"] for s in names}
            texts = (f"{both[s]:.1f}" if s in both else "" for s in SSVC_SETS)
            lines.append([f"{rival} / {ours}", *texts, f"{np.median(list(both.values())):.1f}", ""])
    return f"Commits {record.commits(rows, head)}.\n\n" + record.markdown(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slow", action="store_true", help="also sklearn-rvm, on one set")
    parser.add_argument("--methods", nargs="*", help="these alone; the others' rows are kept")
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if not options.render:

        def is_timed(method: str) -> bool:
            return options.methods is None or method in options.methods

        commit = record.provenance(SEED)["commit"]
        new = [row | {"commit": commit} for row in run(options.slow, is_timed)]
        rows = record.kept("fit_time", lambda row: not is_timed(row["method"]))
        rows += [row for row in new if is_timed(row["method"])]
        record.write("fit_time", rows, SEED)
    print(render())


if __name__ == "__main__":
    main()
