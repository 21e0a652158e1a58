"""Fit time as a ratio to SVC.fit, in the same run, on the seven sets of Huang et al. (2010).

    python -m benchmarks.fit_time [--render]

Each method is timed at the pair (C, gamma) that the inner searches of ``ssvc_table`` chose most
often for it by the rule that counts (SVC: for accuracy), on nine tenths of the rows, one BLAS
thread; median of repeated fits. "All" lets every row be a candidate, as in the paper; otherwise
300 landmarks are, the default.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import Counter

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from benchmarks import record
from benchmarks.data import SSVC_SETS, load_ssvc_set
from benchmarks.ssvc_table import METHODS, SEED
from zeronorm.model_selection import count_terms

REPEATS = 9
#: The paper's ratios to its SVC, variants A and W (the same problems as B).
PUBLISHED = {
    "A": dict(zip(SSVC_SETS, (23, 10, 20, 49, 29, 13, 29), strict=True)),
    "B": dict(zip(SSVC_SETS, (176, 634, 208, 357, 722, 444, 313), strict=True)),
}


def chosen_parameters() -> dict:
    """Pair most often chosen: for accuracy by SVC, by the rule that counts otherwise."""
    _, rows = record.read("ssvc_table")
    counts: dict = {}
    for row in rows:
        if row["rule"] == ("best" if row["method"] == "SVC" else "one_se"):
            key = row["set"], row["method"]
            counts.setdefault(key, Counter())[row["C"], row["gamma"]] += 1
    return {key: counter.most_common(1)[0][0] for key, counter in counts.items()}


def median_seconds(models: dict, X, y, repeats: int = REPEATS) -> dict:
    """Fit the models in turn, so that a busy moment of the machine meets all of them."""
    seconds: dict = {name: [] for name in models}
    for model in models.values():
        model.fit(X, y)
    for _ in range(repeats):
        for name, model in models.items():
            start = time.perf_counter()
            model.fit(X, y)
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def run() -> list[dict]:
    warnings.simplefilter("ignore", ConvergenceWarning)
    parameters = chosen_parameters()
    rows = []
    for name in SSVC_SETS:
        X, y = load_ssvc_set(name, SEED)
        X, y = StandardScaler().fit_transform(X)[: int(0.9 * len(X))], y[: int(0.9 * len(X))]
        models = {}
        for method, (estimator, _) in METHODS.items():
            C, gamma = parameters[name, method]
            models[method] = clone(estimator).set_params(C=C, gamma=gamma)
            if method != "SVC":
                models[f"{method}, all"] = clone(models[method]).set_params(candidates="all")
        seconds = median_seconds(models, X, y)
        for method, model in models.items():
            rows.append(
                {
                    "set": name,
                    "rows": len(X),
                    "method": method,
                    "C": model.C,
                    "gamma": model.gamma,
                    "seconds": seconds[method],
                    "ratio": seconds[method] / seconds["SVC"],
                    "terms": count_terms(model),
                }
            )
            print(rows[-1], flush=True)
    return rows


def render() -> str:
    head, rows = record.read("fit_time")
    cells = {(row["set"], row["method"]): row for row in rows}
    lines = []
    for name in SSVC_SETS:
        svc = cells[name, "SVC"]
        line = [name, str(svc["rows"]), f"{1000 * svc['seconds']:.1f} ms"]
        for method in ("A", "B"):
            line += [f"{cells[name, m]['ratio']:.1f}" for m in (method, f"{method}, all")]
            line.append(str(PUBLISHED[method][name]))
        lines.append(line)
    medians = ["median", "", ""]
    for method in ("A", "B"):
        for m in (method, f"{method}, all"):
            medians.append(f"{np.median([cells[name, m]['ratio'] for name in SSVC_SETS]):.1f}")
        medians.append(f"{np.median(list(PUBLISHED[method].values())):.0f}")
    header = ["set", "rows", "SVC.fit"]
    header += ["A / SVC", "A, all / SVC", "published", "B / SVC", "B, all / SVC", "published (W)"]
    return f"Commit {head['commit']}.\n\n" + record.markdown(header, [*lines, medians])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    if not parser.parse_args().render:
        record.write("fit_time", run(), SEED)
    print(render())


if __name__ == "__main__":
    main()
