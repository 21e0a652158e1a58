"""Fit time as a ratio to SVC.fit, in the same run, on the seven sets of Huang et al. (2010).

    python -m benchmarks.fit_time [--render]

Each method is timed at the pair (C, gamma) that the inner search of ``ssvc_table`` chose most
often for it, on nine tenths of the rows, one BLAS thread; median of repeated fits.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import Counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

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
    """Pair most often chosen, by the rule that looks at the error alone."""
    _, rows = record.read("ssvc_table")
    counts: dict = {}
    for row in rows:
        if row["rule"] == "best":
            key = row["set"], row["method"]
            counts.setdefault(key, Counter())[row["C"], row["gamma"]] += 1
    return {key: counter.most_common(1)[0][0] for key, counter in counts.items()}


def median_seconds(models: dict, X, y) -> dict:
    """Fit the models in turn, so that a busy moment of the machine meets all of them."""
    seconds: dict = {name: [] for name in models}
    for model in models.values():
        model.fit(X, y)
    for _ in range(REPEATS):
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
            models[method] = type(estimator)(**estimator.get_params()).set_params(C=C, gamma=gamma)
        # The kernel of the SVC itself may be another one; also time it at the sparse pair.
        same = SVC(**{key: models["A"].get_params()[key] for key in ("C", "gamma")})
        seconds = median_seconds({**models, "SVC, pair of A": same}, X, y)
        for method, model in {**models, "SVC, pair of A": same}.items():
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
            line += [f"{cells[name, method]['ratio']:.1f}", str(PUBLISHED[method][name])]
        lines.append(line)
    medians = ["median", "", ""]
    for method in ("A", "B"):
        ratios = [cells[name, method]["ratio"] for name in SSVC_SETS]
        published = np.median(list(PUBLISHED[method].values()))
        medians += [f"{np.median(ratios):.1f}", f"{published:.0f}"]
    header = ["set", "rows", "SVC.fit", "A / SVC", "published", "B / SVC", "published (W)"]
    return f"Commit {head['commit']}.\n\n" + record.markdown(header, [*lines, medians])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    if not parser.parse_args().render:
        record.write("fit_time", run(), SEED)
    print(render())


if __name__ == "__main__":
    main()
