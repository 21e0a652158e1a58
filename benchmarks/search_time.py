"""Time of the cross-entropy search and of the one-norm machines.

    python -m benchmarks.search_time [--quick] [--parts ...] [--render]

Search: whole fits of ``CrossEntropySVC`` on 150 rows, Gaussian kernel, σ = 3, C = 1 (prepared as in
``mannor_tables``, split 0), one worker, median of five; the number of linear programs its search
scores, with all savings, with the cache of equal sets alone, and with neither, counted in the same
search; and what the sets would cost with ``scipy.optimize.linprog`` (problem (7), primal form, the
columns of the set only), from 60 random ones of those scored: an estimate. Workers: two against
one, in turn, median of three. One linear program: OneNorm is ``OneNormSVC``, LP is
``LinearProgrammingSVC``, on Waveform, standardised, all rows as candidates, C = 1, gamma = 0.3/21.
Times of linprog are of its calls alone; fits include the kernel matrix. Many rows: 20 000 of
Waveform as they are, C = 0.05 (SVC: its defaults), error on 10 000 fresh rows. One BLAS thread.
"""

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Iterator
from unittest import mock

import numpy as np
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import load_mannor_split
from benchmarks.fit_time import median_seconds
from benchmarks.mannor_tables import scaler
from zeronorm import CrossEntropySVC, LinearProgrammingSVC, OneNormSVC
from zeronorm.datasets import make_waveform
from zeronorm.model_selection import count_terms
from zeronorm.solvers.cross_entropy import Judge

SEED = 0
SIGMA = 3.0
SAMPLE = 60
GAMMA = 0.3 / 21
SEARCH = CrossEntropySVC(C=1.0, gamma=1 / (2 * SIGMA**2), random_state=SEED)
#: Which savings a search makes.
SAVINGS = {
    "all": {},
    "cache": {"use_bounds": False},
    "none": {"use_bounds": False, "use_cache": False},
}
MACHINES = {"OneNorm": OneNormSVC, "LP": LinearProgrammingSVC}
FULL = {
    "sets": ("ionosphere", "sonar", "pima"),
    "repeats": 5,
    "job_sets": ("ionosphere", "sonar"),
    "job_repeats": 3,
    "sizes": (150, 1000, 5000),
    "linprog_largest": 1000,
    "many": (20_000, 0.05),
}
QUICK = {
    "sets": ("ionosphere",),
    "repeats": 1,
    "job_sets": ("ionosphere",),
    "job_repeats": 1,
    "sizes": (150, 500),
    "linprog_largest": 150,
    "many": (1_200, 1.0),
}


def training_rows(name: str):
    (X, y), _ = load_mannor_split(name, SEED)
    return scaler(name, "rbf").fit_transform(X), y


def timed_linprog(columns, target, cost, price, caps) -> tuple[float, float]:
    """Seconds and optimum of min price Σ α + Σ cost ξ, with ``columns`` signed by the labels."""
    n, m = columns.shape
    rows = -np.column_stack([columns, target, np.eye(n)])
    objective = np.concatenate([np.full(m, price), [0.0], cost])
    lower = np.concatenate([np.zeros(m), [-np.inf], np.zeros(n)])
    upper = np.concatenate([caps, np.full(1 + n, np.inf)])
    bounds = np.column_stack([lower, upper])
    start = time.perf_counter()
    found = linprog(objective, A_ub=rows, b_ub=np.full(n, -1.0), bounds=bounds, method="highs")
    seconds = time.perf_counter() - start
    if found.status != 0:
        raise RuntimeError(found.message)
    return seconds, float(found.fun)


def judged_fit(X, y, savings: str) -> tuple[CrossEntropySVC, Judge, float]:
    """Fit with some of the savings; the judge of its search knows what was scored."""
    judges = []

    def make(*arguments, **options) -> Judge:
        judges.append(Judge(*arguments, **options, **SAVINGS[savings]))
        return judges[-1]

    model = clone(SEARCH)
    with mock.patch("zeronorm.classifiers.cross_entropy.Judge", make):
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    (judge,) = judges
    return model, judge, seconds


def linprog_per_set(judge: Judge) -> tuple[float, float]:
    """Mean seconds of linprog for sets that the judge has scored, and how far the losses differ."""
    score = judge.score
    target, keys = score.targets[:, 0], list(judge.known)
    places = np.random.default_rng(SEED).permutation(len(keys))[:SAMPLE]
    seconds, differences = [], []
    for key in (keys[place] for place in places):
        bits = np.unpackbits(np.frombuffer(key, np.uint8), count=len(score.caps)).astype(bool)
        columns = score.values[:, bits] * score.signs[bits, 0] * target[:, None]
        took, loss = timed_linprog(columns, target, score.cost, 0.0, score.caps[bits])
        value, used = judge.known[key]
        seconds.append(took)
        differences.append(abs(float(value) - int(used.sum()) - loss))
    return float(np.mean(seconds)), max(differences)


def search_rows(sizes: dict) -> Iterator[dict]:
    for name in sizes["sets"]:
        X, y = training_rows(name)
        row = {"part": "search", "set": name}
        row["seconds"] = median_seconds({name: clone(SEARCH)}, X, y, sizes["repeats"])[name]
        for savings in SAVINGS:
            model, judge, seconds = judged_fit(X, y, savings)
            if savings == "all":
                first = model
                row |= {
                    "candidates": int(model.n_candidates_),
                    "terms": model.n_terms_,
                    "rounds": model.n_iter_,
                    "draws": int(model.history_["draws"].sum()),
                }
            else:
                row[f"seconds_{savings}"] = seconds
                row[f"same_{savings}"] = bool(np.array_equal(first.support_, model.support_))
            row[f"scored_{savings}"] = judge.n_scored
            row[f"scored_in_rounds_{savings}"] = int(model.history_["scored"].sum())
            if judge.known:
                per_set, difference = linprog_per_set(judge)
                row[f"linprog_{savings}"] = per_set
                row[f"difference_{savings}"] = difference
        yield row


def job_rows(sizes: dict) -> Iterator[dict]:
    for name in sizes["job_sets"]:
        X, y = training_rows(name)
        models = {jobs: clone(SEARCH).set_params(n_jobs=jobs) for jobs in (1, 2)}
        seconds = median_seconds(models, X, y, sizes["job_repeats"])
        one, two = models.values()
        same = np.array_equal(one.support_, two.support_) and one.objective_ == two.objective_
        yield {
            "part": "jobs",
            "set": name,
            "seconds_1": seconds[1],
            "seconds_2": seconds[2],
            "same": bool(same and np.array_equal(one.dual_coef_, two.dual_coef_)),
        }


def program_rows(sizes: dict) -> Iterator[dict]:
    for n_rows in sizes["sizes"]:
        X, y = make_waveform(n_rows, random_state=SEED)
        X = StandardScaler().fit_transform(X)
        for name, machine in MACHINES.items():
            start = time.perf_counter()
            model = machine(C=1.0, gamma=GAMMA, candidates="all").fit(X, y)
            seconds = time.perf_counter() - start
            row = {"part": "program", "rows": n_rows, "method": name, "seconds": seconds}
            row |= {"terms": model.n_terms_, "objective": model.objective_}
            if n_rows <= sizes["linprog_largest"]:
                columns = rbf_kernel(X, gamma=GAMMA) * y[:, None]
                columns = columns * y if name == "OneNorm" else np.hstack([columns, -columns])
                caps = np.full(columns.shape[1], 1.0 if name == "OneNorm" else np.inf)
                took, optimum = timed_linprog(columns, y, np.ones(n_rows), 1.0, caps)
                row |= {"linprog": took, "linprog_objective": optimum}
            yield row


def many_rows(sizes: dict) -> Iterator[dict]:
    n_rows, C = sizes["many"]
    X, y = make_waveform(n_rows, random_state=SEED)
    X_test, y_test = make_waveform(10_000, random_state=SEED + 1)
    models = {
        "CE": CrossEntropySVC(C=C, sample_size=100, random_state=SEED),
        "OneNorm, 300 candidates": OneNormSVC(C=C, candidates=300, random_state=SEED),
        "SVC": SVC(),
    }
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        row = {"part": "many", "rows": n_rows, "method": name, "C": model.C}
        row |= {"seconds": seconds, "terms": count_terms(model)}
        row["error"] = float(np.mean(model.predict(X_test) != y_test))
        if name == "CE":
            row |= {"candidates": int(model.n_candidates_), "rounds": model.n_iter_}
        yield row


PARTS = {"search": search_rows, "jobs": job_rows, "program": program_rows, "many": many_rows}


def run(parts: list[str], sizes: dict, keep) -> list[dict]:
    """Print rows as they come, and hand all of them to ``keep`` after each part."""
    rows: list[dict] = []
    for part in parts:
        for row in PARTS[part](sizes):
            rows.append(row | {"commit": record.provenance(SEED)["commit"]})
            print(rows[-1], flush=True)
        keep(rows)
    return rows


def search_table(rows: list[dict]) -> str:
    header = ["set", "fit", "candidates", "terms", "rounds", "sets drawn", "scored"]
    header += ["scored, cache only", "scored, neither", "fit, cache only", "fit, neither"]
    header += ["linprog a set", "linprog, scored", "linprog, cache only"]
    lines = []
    for row in rows:
        estimates = [row[f"scored_{s}"] * row[f"linprog_{s}"] for s in ("all", "cache")]
        lines.append(
            [
                row["set"],
                record.duration(row["seconds"]),
                *(str(row[key]) for key in ("candidates", "terms", "rounds", "draws")),
                *(
                    f"{row[f'scored_in_rounds_{s}']} + "
                    f"{row[f'scored_{s}'] - row[f'scored_in_rounds_{s}']}"
                    for s in SAVINGS
                ),
                *(
                    record.duration(row[f"seconds_{s}"]) + ("" if row[f"same_{s}"] else " (*)")
                    for s in ("cache", "none")
                ),
                record.duration(row["linprog_all"]),
                *(f"{record.duration(e)} (× {e / row['seconds']:.1f})" for e in estimates),
            ]
        )
    text = (
        "Search. Scored sets: those of the rounds + those of the descent at the end. The last two "
    )
    text += "columns are estimates for all of them, with their ratios to the fit"
    if not all(row[f"same_{s}"] for row in rows for s in ("cache", "none")):
        text += "; (*): another result, as the descent looks at other swaps"
    return f"{text}:\n\n{record.markdown(header, lines)}"


def jobs_table(rows: list[dict]) -> str:
    lines = [
        [
            row["set"],
            record.duration(row["seconds_1"]),
            record.duration(row["seconds_2"]),
            f"{row['seconds_1'] / row['seconds_2']:.2f}",
            "yes" if row["same"] else "no",
        ]
        for row in rows
    ]
    header = ["set", "one worker", "two workers", "speed-up", "same result"]
    return f"Workers:\n\n{record.markdown(header, lines)}"


def program_table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        line = [f"{row['rows']:,}", row["method"], record.duration(row["seconds"])]
        line += [str(row["terms"]), f"{row['objective']:.6g}"]
        if "linprog" in row:
            ratio = f"{row['linprog'] / row['seconds']:.1f}"
            line += [record.duration(row["linprog"]), f"{row['linprog_objective']:.6g}", ratio]
        lines.append(line + [""] * (8 - len(line)))
    header = ["rows", "method", "fit", "terms", "objective", "linprog", "its objective", "ratio"]
    return f"One linear program:\n\n{record.markdown(header, lines)}"


def many_table(rows: list[dict]) -> str:
    lines = [
        [
            f"{row['rows']:,}",
            row["method"],
            record.duration(row["seconds"]),
            str(row["terms"]),
            f"{100 * row['error']:.2f}",
        ]
        for row in rows
    ]
    header = ["rows", "method", "fit", "terms", "error %"]
    return f"Many rows:\n\n{record.markdown(header, lines)}"


TABLES = {
    "search": search_table,
    "jobs": jobs_table,
    "program": program_table,
    "many": many_table,
}


def tables(rows: list[dict]) -> str:
    text = [f"Commit {', '.join(sorted({row['commit'] for row in rows}))}."]
    for part, table in TABLES.items():
        if any(row["part"] == part for row in rows):
            text.append(table([row for row in rows if row["part"] == part]))
    return "\n\n".join(text)


def render() -> str:
    return tables(record.read("search_time")[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, not recorded")
    parser.add_argument(
        "--parts", nargs="*", choices=list(PARTS), default=list(PARTS), help="keep the others' rows"
    )
    parser.add_argument("--render", action="store_true", help="only print the recorded tables")
    options = parser.parse_args()
    if options.quick:
        print(tables(run(options.parts, QUICK, keep=lambda rows: None)))
        return
    if not options.render:
        is_there = (record.RESULTS / "search_time.jsonl").exists()
        kept = record.read("search_time")[1] if is_there else []
        kept = [row for row in kept if row["part"] not in options.parts]
        run(options.parts, FULL, lambda rows: record.write("search_time", kept + rows, SEED))
    print(render())


if __name__ == "__main__":
    main()
