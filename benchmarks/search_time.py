"""Time of the cross-entropy search and of the one-norm machines."""

import time
from collections.abc import Iterator
from functools import partial
from unittest import mock

import numpy as np
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import record
from benchmarks.data import load_mannor_split
from benchmarks.mannor import scaler
from benchmarks.study import Study
from benchmarks.text import duration, markdown
from benchmarks.timing import median_seconds
from zeronorm import CrossEntropySVC, LinearProgrammingSVC, OneNormSVC
from zeronorm.datasets import make_waveform
from zeronorm.model_selection import count_terms
from zeronorm.solvers.cross_entropy.scores import Judge

ABOUT = """
Search: whole fits of `CrossEntropySVC` on 150 rows, Gaussian kernel, σ = 3, C = 1 (prepared as in
`mannor_tables`, split 0), one worker, median of five at most; the number of linear programs its
search scores, with all savings, with the cache of equal sets alone, and with neither, counted in
the same search; and what the sets would cost with `scipy.optimize.linprog` (problem (7), primal
form, the columns of the set only), from 60 random ones of those scored: an estimate. Workers: two
against one, in turn, median of three at most. One linear program: OneNorm is `OneNormSVC`, LP is
`LinearProgrammingSVC`, on Waveform, standardised, all rows as candidates, C = 1, gamma = 0.3/21.
Times of linprog are of its calls alone; fits include the kernel matrix. Many rows: 20 000 of
Waveform as they are, C = 0.05 (SVC: its defaults), error on 10 000 fresh rows. One BLAS thread.
"""
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


def training_rows(name: str):
    (X, y), _ = load_mannor_split(name, SEED)
    return scaler(name, "rbf").fit_transform(X), y


def seconds_of(function, *arguments, **options):
    """How long a call takes, and what it returns."""
    start = time.perf_counter()
    found = function(*arguments, **options)
    return time.perf_counter() - start, found


def timed_linprog(columns, target, cost, price, caps) -> tuple[float, float]:
    """Seconds and optimum of min price Σ α + Σ cost ξ, with ``columns`` signed by the labels."""
    n, m = columns.shape
    rows = -np.column_stack([columns, target, np.eye(n)])
    objective = np.concatenate([np.full(m, price), [0.0], cost])
    lower = np.concatenate([np.zeros(m), [-np.inf], np.zeros(n)])
    upper = np.concatenate([caps, np.full(1 + n, np.inf)])
    options = {"b_ub": np.full(n, -1.0), "bounds": np.column_stack([lower, upper])}
    seconds, found = seconds_of(linprog, objective, A_ub=rows, **options, method="highs")
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
        seconds, _ = seconds_of(model.fit, X, y)
    (judge,) = judges
    return model, judge, seconds


def linprog_per_set(judge: Judge) -> tuple[float, float]:
    """Mean seconds of linprog for sets that the judge has scored, and how far the losses differ."""
    score = judge.score
    target, keys = score.targets[:, 0], list(judge.known)
    indices = np.random.default_rng(SEED).permutation(len(keys))[:SAMPLE]
    seconds, differences = [], []
    for key in (keys[place] for place in indices):
        bits = np.unpackbits(np.frombuffer(key, np.uint8), count=len(score.caps)).astype(bool)
        columns = score.values[:, bits] * score.signs[bits, 0] * target[:, None]
        took, loss = timed_linprog(columns, target, score.cost, 0.0, score.caps[bits])
        value, used = judge.known[key]
        seconds.append(took)
        differences.append(abs(float(value) - int(used.sum()) - loss))
    return float(np.mean(seconds)), max(differences)


def search_rows(sets, repeats: int) -> Iterator[dict]:
    for name in sets:
        X, y = training_rows(name)
        row = {"set": name, **median_seconds({"seconds": clone(SEARCH)}, X, y, repeats)}
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


def job_rows(sets, repeats: int) -> Iterator[dict]:
    for name in sets:
        X, y = training_rows(name)
        models = {f"seconds_{n}": clone(SEARCH).set_params(n_jobs=n) for n in (1, 2)}
        seconds = median_seconds(models, X, y, repeats)
        one, two = models.values()
        same = np.array_equal(one.support_, two.support_) and one.objective_ == two.objective_
        same = bool(same and np.array_equal(one.dual_coef_, two.dual_coef_))
        yield {"set": name, **seconds, "same": same}


def program_rows(sizes, linprog_largest: int) -> Iterator[dict]:
    for n_rows in sizes:
        X, y = make_waveform(n_rows, random_state=SEED)
        X = StandardScaler().fit_transform(X)
        for name, machine in MACHINES.items():
            model = machine(C=1.0, gamma=GAMMA, candidates="all")
            seconds, _ = seconds_of(model.fit, X, y)
            row = {"rows": n_rows, "method": name, "seconds": seconds}
            row |= {"terms": model.n_terms_, "objective": model.objective_}
            if n_rows <= linprog_largest:
                columns = rbf_kernel(X, gamma=GAMMA) * y[:, None]
                columns = columns * y if name == "OneNorm" else np.hstack([columns, -columns])
                caps = np.full(columns.shape[1], 1.0 if name == "OneNorm" else np.inf)
                took, optimum = timed_linprog(columns, y, np.ones(n_rows), 1.0, caps)
                row |= {"linprog": took, "linprog_objective": optimum}
            yield row


def many_rows(n_rows: int, C: float) -> Iterator[dict]:
    X, y = make_waveform(n_rows, random_state=SEED)
    X_test, y_test = make_waveform(10_000, random_state=SEED + 1)
    models = {
        "CE": CrossEntropySVC(C=C, sample_size=100, random_state=SEED),
        "OneNorm, 300 candidates": OneNormSVC(C=C, candidates=300, random_state=SEED),
        "SVC": SVC(),
    }
    for name, model in models.items():
        seconds, _ = seconds_of(model.fit, X, y)
        row = {"rows": n_rows, "method": name, "C": model.C}
        row |= {"seconds": seconds, "terms": count_terms(model)}
        row["error"] = float(np.mean(model.predict(X_test) != y_test))
        if name == "CE":
            row |= {"candidates": int(model.n_candidates_), "rounds": model.n_iter_}
        yield row


PARTS = {
    "search": partial(search_rows, ("ionosphere", "sonar", "pima"), 5),
    "jobs": partial(job_rows, ("ionosphere", "sonar"), 3),
    "program": partial(program_rows, (150, 1000, 5000), 1000),
    "many": partial(many_rows, 20_000, 0.05),
}
SMALL_PARTS = {
    "search, small": partial(search_rows, ("ionosphere",), 1),
    "jobs, small": partial(job_rows, ("ionosphere",), 1),
    "program, small": partial(program_rows, (150, 500), 150),
    "many, small": partial(many_rows, 1_200, 1.0),
}


def one_part(part: str) -> list[dict]:
    return list({**PARTS, **SMALL_PARTS}[part]())


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
                duration(row["seconds"]),
                *(str(row[key]) for key in ("candidates", "terms", "rounds", "draws")),
                *(
                    f"{row[f'scored_in_rounds_{s}']} + "
                    f"{row[f'scored_{s}'] - row[f'scored_in_rounds_{s}']}"
                    for s in SAVINGS
                ),
                *(
                    duration(row[f"seconds_{s}"]) + ("" if row[f"same_{s}"] else " (*)")
                    for s in ("cache", "none")
                ),
                duration(row["linprog_all"]),
                *(f"{duration(e)} (× {e / row['seconds']:.1f})" for e in estimates),
            ]
        )
    text = (
        "Search. Scored sets: those of the rounds + those of the descent at the end. The last two "
        "columns are estimates for all of them, with their ratios to the fit"
    )
    if not all(row[f"same_{s}"] for row in rows for s in ("cache", "none")):
        text += "; (*): another result, as the descent looks at other swaps"
    return f"{text}:\n\n{markdown(header, lines)}"


def jobs_table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        one, two = row["seconds_1"], row["seconds_2"]
        same = "yes" if row["same"] else "no"
        lines.append([row["set"], duration(one), duration(two), f"{one / two:.2f}", same])
    header = ["set", "one worker", "two workers", "speed-up", "same result"]
    return f"Workers:\n\n{markdown(header, lines)}"


FIT = ("rows", "method", "fit", "terms")


def fit_texts(row: dict) -> list[str]:
    return [f"{row['rows']:,}", row["method"], duration(row["seconds"]), str(row["terms"])]


def program_table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        line = [*fit_texts(row), f"{row['objective']:.6g}", "", "", ""]
        if "linprog" in row:
            ratio = f"{row['linprog'] / row['seconds']:.1f}"
            line[-3:] = duration(row["linprog"]), f"{row['linprog_objective']:.6g}", ratio
        lines.append(line)
    header = [*FIT, "objective", "linprog", "its objective", "ratio"]
    return f"One linear program:\n\n{markdown(header, lines)}"


def many_table(rows: list[dict]) -> str:
    lines = [[*fit_texts(row), f"{100 * row['error']:.2f}"] for row in rows]
    return f"Many rows:\n\n{markdown([*FIT, 'error %'], lines)}"


def tables(rows: list[dict]) -> str:
    """Of the parts that are there, small or not."""
    found = record.cells(({**row, "part": row["part"].split(",")[0]} for row in rows), "part")
    shown = {
        "search": search_table,
        "jobs": jobs_table,
        "program": program_table,
        "many": many_table,
    }
    return "\n\n".join(table(found[part]) for part, table in shown.items() if part in found)


STUDY = Study(
    "search_time",
    title="Time of the cross-entropy search",
    about=ABOUT,
    factors={"part": PARTS},
    quick={"part": SMALL_PARTS},
    protocol=one_part,
    tables=tables,
    timed=True,
    seed=SEED,
)
