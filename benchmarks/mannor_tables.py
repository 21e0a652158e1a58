"""Tables 2-4 of Mannor et al. (2005): five sets, three kernels, 10 random splits.

    python -m benchmarks.mannor_tables [--quick] [--jobs 2] [--resume] [--render]
        [--sets ...] [--kernels ...] [--methods ...] [--splits 10]

150 training rows, the rest is the test part. Features are centred, and for the polynomial and the
Gaussian kernel divided by their standard deviations (Ionosphere: centred only), as measured on the
training part. Nine values of one parameter are compared by 5-fold cross-validation inside the
training part: C = λ/(1 − λ), λ = 0.1 ... 0.9, for the linear kernel and the polynomial one of
degree 5 (Bupa: C = λ); σ = 1 ... 5 with C = 1 for the Gaussian kernel. "best", the paper's rule,
takes the most accurate value, among equals the sparsest; "one_se", the default of
``sparse_search``, the sparsest within one standard error of the best. OneNorm is ``OneNormSVC``, LP
is ``LinearProgrammingSVC`` (not in the paper), both with all rows as candidates; CE is
``CrossEntropySVC``, "CE free" the same with ``signs="free"`` (not in the paper). For both the
parameter is chosen with a lighter search on the same folds (100 sets a round, no polish); the fit
that is judged has the defaults. Shares are terms in % of the 150 rows; ± is the standard error over
the splits; published figures are in parentheses.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import MANNOR_SETS, load_mannor_split
from zeronorm import CrossEntropySVC, LinearProgrammingSVC, OneNormSVC
from zeronorm.model_selection import RULES, count_terms, sparse_search

SEED = 0  # split s is drawn with seed s, and so are its folds and its searches
SPLITS = 10
LAMBDAS = np.arange(1, 10) / 10
SIGMAS = np.linspace(1, 5, 9)
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
    "LP": (LinearProgrammingSVC(candidates="all"), {}),
    "CE": (CrossEntropySVC(), LIGHT),
    "CE free": (CrossEntropySVC(signs="free"), LIGHT),
}
CHOICES = ("best", "one_se")
#: What makes a task of the study another one.
TASK = ("set", "kernel", "method", "split")
#: Error % and share of the rows % of SVM, one-norm SVM and CE in the paper.
PUBLISHED = {
    "linear": {
        "ionosphere": ((14.7, 36.4), (13.0, 15.1), (14.6, 7.7)),
        "pima": ((24.3, 51.2), (24.6, 4.9), (24.8, 3.9)),
        "wdbc": ((5.7, 10.1), (5.9, 4.8), (5.9, 3.7)),
        "bupa": ((32.6, 71.9), (32.5, 4.0), (33.4, 3.1)),
        "sonar": ((25.9, 53.7), (25.5, 14.7), (25.5, 10.3)),
    },
    "poly": {
        "ionosphere": ((15.3, 36.1), (13.7, 20.5), (12.5, 7.1)),
        "pima": ((33.2, 48.8), (30.6, 29.5), (30.2, 11.2)),
        "wdbc": ((6.0, 21.9), (8.5, 15.1), (5.6, 2.5)),
        "bupa": ((33.7, 58.0), (36.3, 33.9), (37.9, 14.4)),
        "sonar": ((15.9, 70.3), (20.3, 51.1), (23.3, 6.9)),
    },
    "rbf": {
        "ionosphere": ((9.8, 76.3), (6.2, 19.3), (6.6, 14.1)),
        "pima": ((27.5, 67.9), (25.2, 12.9), (25.4, 8.5)),
        "wdbc": ((7.5, 42.4), (4.6, 14.4), (4.7, 9.7)),
        "bupa": ((34.4, 93.4), (36.9, 28.3), (36.9, 10.4)),
        "sonar": ((46.7, 100.0), (24.3, 41.7), (24.5, 22.5)),
    },
}
PUBLISHED_METHODS = ("SVC", "OneNorm", "CE")


def scaler(name: str, kernel: str) -> StandardScaler:
    return StandardScaler(with_std=kernel != "linear" and name != "ionosphere")


def costs() -> list[float]:
    return [float(value) for value in LAMBDAS / (1 - LAMBDAS)]


def grid(name: str, kernel: str) -> dict:
    if kernel == "rbf":
        return {"gamma": [float(1 / (2 * sigma**2)) for sigma in SIGMAS]}
    return {"C": [float(value) for value in LAMBDAS] if name == "bupa" else costs()}


def tuned(method: str, settings: dict, values: dict, scale, train, test, seed: int) -> list[dict]:
    """Choose inside the training part, refit by each rule, and judge once on the test part."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    estimator, light = METHODS[method]
    estimator = clone(estimator).set_params(random_state=seed, **settings)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = sparse_search(
        Pipeline([("scale", scale), ("model", clone(estimator).set_params(**light))]),
        {f"model__{key}": value for key, value in values.items()},
        cv=folds,
    )
    results = search.set_params(refit=False).fit(*train).cv_results_
    model = Pipeline([("scale", scale), ("model", estimator)])
    places = {rule: RULES[rule](results) for rule in CHOICES}
    fits = {
        place: judged(clone(model).set_params(**results["params"][place]), train, test)
        for place in set(places.values())
    }
    return [{"method": method, "rule": rule, **fits[place]} for rule, place in places.items()]


def judged(model: Pipeline, train, test) -> dict:
    """Fit and measure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(*train)
        seconds = time.perf_counter() - start
    last = model[-1]
    found = {
        "error": float(np.mean(model.predict(test[0]) != test[1])),
        "terms": count_terms(model),
        "share": count_terms(model) / len(train[1]),
        "C": last.C,
        "gamma": None if last.kernel == "linear" else last.gamma,
        "converged": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        "seconds": seconds,
    }
    if isinstance(last, CrossEntropySVC):
        found |= {
            "candidates": int(last.n_candidates_),
            "rounds": int(last.n_iter_),
            "objective": float(last.objective_),
        }
    return found


def one_task(name: str, kernel: str, method: str, split: int) -> list[dict]:
    start = time.perf_counter()
    train, test = load_mannor_split(name, split)
    settings, values, scale = KERNELS[kernel], grid(name, kernel), scaler(name, kernel)
    rows = tuned(method, settings, values, scale, train, test, split)
    place = {"set": name, "kernel": kernel, "split": split}
    short = ((row["rule"], row["terms"], round(row["error"], 4)) for row in rows)
    print(*place.values(), method, *short, f"{time.perf_counter() - start:.1f} s", flush=True)
    return [place | row for row in rows]


class Cells:
    """Recorded values by set, kernel, method and rule, one for each split."""

    def __init__(self, rows: list[dict]) -> None:
        self.cells: dict = {}
        for row in rows:
            cell = row["set"], row["kernel"], row["method"], row["rule"]
            self.cells.setdefault(cell, {})[row["split"]] = row

    def there(self, kernel: str, methods, rule: str) -> list[str]:
        """Sets for which all of these methods have results."""
        return [s for s in MANNOR_SETS if all((s, kernel, m, rule) in self.cells for m in methods)]

    def values(self, name: str, kernel: str, method: str, rule: str, key: str) -> np.ndarray:
        cell = self.cells[name, kernel, method, rule]
        return np.array([cell[split][key] for split in sorted(cell)], dtype=float)

    def mean(self, names, kernel: str, method: str, rule: str, key: str) -> float:
        """Mean over sets."""
        parts = [self.values(name, kernel, method, rule, key).mean() for name in names]
        return float(np.mean(parts))

    def difference(self, name: str, kernel: str, rule: str) -> np.ndarray:
        """CE's error less that of OneNorm, split by split."""
        ce, one = (self.cells[name, kernel, method, rule] for method in ("CE", "OneNorm"))
        splits = sorted(ce.keys() & one.keys())
        return np.array([ce[split]["error"] - one[split]["error"] for split in splits])


def published(names, kernel: str, method: str, place: int) -> float:
    """Mean over sets; place 0 is the error, 1 the share."""
    column = PUBLISHED_METHODS.index(method)
    return float(np.mean([PUBLISHED[kernel][name][column][place] for name in names]))


def with_error(values: np.ndarray, sign: str = "", digits: int = 1) -> str:
    """Mean and, from two values on, its standard error, in %."""
    if len(values) < 2:
        return f"{100 * values.mean():{sign}.{digits}f}"
    mean, error = record.mean_and_error(100 * values)
    return f"{mean:{sign}.{digits}f} ± {error:.{digits}f}"


def kernel_table(cells: Cells, kernel: str, rule: str) -> str:
    methods = [m for m in METHODS if cells.there(kernel, [m], rule)]
    names = cells.there(kernel, methods, rule)
    header = ["set"] + [f"{method}: {what}" for method in methods for what in ("error", "share")]
    lines = []
    for name in names:
        line = [name]
        for method in methods:
            for place, key in enumerate(("error", "share")):
                text = with_error(cells.values(name, kernel, method, rule, key))
                if method in PUBLISHED_METHODS:
                    text += f" ({published([name], kernel, method, place):.1f})"
                line.append(text)
        lines.append(line)
    line = ["mean"]
    for method in methods:
        for place, key in enumerate(("error", "share")):
            text = f"{100 * cells.mean(names, kernel, method, rule, key):.1f}"
            if method in PUBLISHED_METHODS:
                text += f" ({published(names, kernel, method, place):.1f})"
            line.append(text)
    splits = {len(cells.cells[n, kernel, m, rule]) for n in names for m in methods}
    title = f"Kernel {kernel}, rule {rule}, {'-'.join(map(str, sorted(splits)))} splits:"
    return f"{title}\n\n{record.markdown(header, [*lines, line])}"


def summary(cells: Cells) -> str:
    """CE beside the paper's CE and beside OneNorm, for each kernel."""
    lines, differences = [], []
    for rule in CHOICES:
        for kernel in KERNELS:
            names = cells.there(kernel, ("CE", "OneNorm"), rule)
            if not names:
                continue
            ratios, known = [], []
            for name in names:
                terms = [cells.mean([name], kernel, m, rule, "terms") for m in ("CE", "OneNorm")]
                if terms[1]:
                    ratios.append(terms[0] / terms[1])
                shares = [published([name], kernel, m, 1) for m in ("CE", "OneNorm")]
                known.append(shares[0] / shares[1])
            seconds = [cells.values(n, kernel, "CE", rule, "seconds") for n in names]
            lines.append(
                [
                    f"{kernel}, {rule}",
                    f"{100 * cells.mean(names, kernel, 'CE', rule, 'share'):.1f} "
                    f"({published(names, kernel, 'CE', 1):.1f})",
                    f"{np.mean(ratios):.2f} ({np.mean(known):.2f})" if ratios else "",
                    f"{cells.mean(names, kernel, 'CE', rule, 'candidates'):.1f}",
                    f"{cells.mean(names, kernel, 'CE', rule, 'rounds'):.1f}",
                    record.duration(float(np.median(np.concatenate(seconds)))),
                ]
            )
            parts = [
                with_error(cells.difference(n, kernel, rule), "+") if n in names else ""
                for n in MANNOR_SETS
            ]
            differences.append([f"{kernel}, {rule}", *parts])
    header = ["kernel, rule", "CE: share", "CE / OneNorm, terms", "candidates", "rounds", "fit"]
    text = "CE: mean share; ratio of its terms to OneNorm's, mean of the sets' ratios; "
    text += "candidates and rounds of the search; median time of a fit.\n\n"
    text += record.markdown(header, lines)
    text += "\n\nError % of CE less that of OneNorm on the same splits:\n\n"
    return text + record.markdown(["kernel, rule", *MANNOR_SETS], differences)


def render() -> str:
    head, rows = record.read("mannor_tables")
    cells = Cells(rows)
    parts = [f"Commits {record.commits(rows, head)}; seeds: the splits'."]
    for kernel in KERNELS:
        for rule in CHOICES:
            if any(cells.there(kernel, [method], rule) for method in METHODS):
                parts.append(kernel_table(cells, kernel, rule))
    parts.append(summary(cells))
    warned = sorted({"/".join(str(r[field]) for field in TASK) for r in rows if not r["converged"]})
    parts.append(f"Fits that gave a ConvergenceWarning: {', '.join(warned) or 'none'}.")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one split of one set, rbf only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", choices=list(MANNOR_SETS), default=list(MANNOR_SETS))
    parser.add_argument("--kernels", nargs="*", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--resume", action="store_true", help="keep rows of any commit")
    parser.add_argument("--render", action="store_true", help="only print the recorded tables")
    options = parser.parse_args()
    if options.quick:
        options.sets, options.kernels, options.splits = ["pima"], ["rbf"], 1
    if not options.render:
        tasks = [
            (name, kernel, method, split)
            for split in range(options.splits)
            for name in options.sets
            for kernel in options.kernels
            for method in options.methods
        ]
        record.run_tasks(
            "mannor_tables", TASK, tasks, one_task, SEED, jobs=options.jobs, resume=options.resume
        )
    print(render())


if __name__ == "__main__":
    main()
