"""The synthetic problem of Mannor et al. (2005): two normal clouds in the plane, linear kernel.

    python -m benchmarks.mannor_synthetic [--quick] [--jobs 2] [--render]

x given y is normal with mean y (1, 1) and covariance V D Vᵀ, D = diag(1, 2), V a random rotation;
300 training rows, 1000 test rows. The paper has one draw and chooses C on the test rows; here there
are 20 draws, and C = λ/(1 − λ), λ = 0.1 ... 0.9, is chosen by 5-fold cross-validation inside the
training rows, by the rules of ``mannor_tables``. The Bayes error of the problem as printed is 8 to
16 %, depending on V; the published 24 % cannot belong to it. They fit if D holds standard
deviations and the long axis is that of the means (Bayes error 24.0 %): the problem called "wide",
which is run beside the printed one. ± is the standard error over the draws.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler

from benchmarks import record
from benchmarks.mannor_tables import CHOICES, costs, tuned, with_error
from zeronorm.datasets import make_clouds

SEED = 0  # draw d has seed d
DRAWS = 20
TRAIN, TEST = 300, 1000
PROBLEMS = ("as printed", "wide")
#: Error % and share of the rows %.
PUBLISHED = {"SVC": (24.5, 56.7), "OneNorm": (24.5, 0.667), "CE": (24.3, 0.333)}


def draw(problem: str, seed: int):
    """Training part and test part."""
    X, y = make_clouds(TRAIN + TEST, wide=problem == "wide", random_state=seed)
    return (X[:TRAIN], y[:TRAIN]), (X[TRAIN:], y[TRAIN:])


def one_task(problem: str, method: str, seed: int) -> list[dict]:
    train, test = draw(problem, seed)
    centred = StandardScaler(with_std=False)
    rows = tuned(method, {"kernel": "linear"}, {"C": costs()}, centred, train, test, seed)
    place = {"problem": problem, "draw": seed}
    short = ((row["rule"], row["terms"], row["error"]) for row in rows)
    print(problem, seed, method, *short, flush=True)
    return [place | row for row in rows]


def run(draws: int, jobs: int) -> list[dict]:
    tasks = [(p, m, seed) for p in PROBLEMS for seed in range(draws) for m in PUBLISHED]
    results = Parallel(n_jobs=jobs)(delayed(one_task)(*task) for task in tasks)
    return [row for rows in results for row in rows]


def table(head: dict, rows: list[dict]) -> str:
    lines = []
    for problem in PROBLEMS:
        for method, (error, share) in PUBLISHED.items():
            for rule in CHOICES:
                cell = [
                    row
                    for row in rows
                    if (row["problem"], row["method"], row["rule"]) == (problem, method, rule)
                ]
                lines.append(
                    [
                        problem,
                        f"{method}, {rule}",
                        with_error(np.array([row["error"] for row in cell])),
                        f"{error:.1f}",
                        with_error(np.array([row["share"] for row in cell]), digits=2),
                        f"{share:.3g}",
                        f"{np.mean([row['terms'] for row in cell]):.1f}",
                    ]
                )
    header = ["problem", "method", "error %", "published", "share %", "published"]
    return f"Commit {head['commit']}.\n\n" + record.markdown([*header, "terms"], lines)


def render() -> str:
    return table(*record.read("mannor_synthetic"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws, not recorded")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if options.quick:
        print(table(record.provenance(SEED), run(2, options.jobs)))
        return
    if not options.render:
        record.write("mannor_synthetic", run(DRAWS, options.jobs), SEED)
    print(render())


if __name__ == "__main__":
    main()
