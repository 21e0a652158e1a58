"""Regression: SparseSVR beside a tuned SVR, an MLP of the same size, and the relevance vectors."""

import time

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

from benchmarks import record
from benchmarks.data import load_npz
from benchmarks.study import Study
from benchmarks.text import markdown, with_error
from benchmarks.tuning import in_units, standardised
from zeronorm import RelevanceVectorRegressor, SparseSVR

ABOUT = """
Random splits: 1 000 training rows where there are more than twice as
many, else two thirds.
Features and target are standardised by the training part; the error is the root mean square on the
test part, 1 being that of the mean. `SVR` has C, gamma and epsilon from 48 triples by five-fold
cross-validation. `SparseSVR()` chooses everything itself. The MLP has as many hidden units as
`SparseSVR` has terms (a linear part is one), tanh, L-BFGS, and alpha of five by the same folds.
`RelevanceVectorRegressor` has gamma of five by its marginal likelihood. Nothing in the library was
decided on these sets. ± is the standard error over the splits. Some rows of diamonds have sizes
that cannot be (0 mm, or 59 mm); they stay in, and where they are among the test rows they have a
large part of every error. Terms as a share of SVR's vectors are the mean over the sets, and all
terms over all vectors: on sinc 3 % of its vectors would be one term, where Tipping (2001) has nine.
"""
SEED, SPLITS, ROWS = 0, 5, 1_000
SVR_GRID = {
    "C": (0.1, 1.0, 10.0, 100.0),
    "gamma": (0.1, 0.3, 1.0, 3.0),
    "epsilon": (0.03, 0.1, 0.3),
}
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # of the relevance vectors, times 1 / number of features
FRIEDMAN = {
    "friedman1": lambda seed: make_friedman1(2_500, noise=1.0, random_state=seed),
    "friedman2": lambda seed: make_friedman2(2_500, noise=125.0, random_state=seed),
    "friedman3": lambda seed: make_friedman3(2_500, noise=0.1, random_state=seed),
}
FILES = ("diamonds", "quakes", "caschool", "mcycle")
SETS = (*FILES, *FRIEDMAN, "sinc")
METHODS = ("SVR", "SparseSVR", "MLP", "RelevanceVectorRegressor")


def load(name: str, split: int):
    """X and y of a set; what is generated is drawn anew for each split."""
    if name in FILES:
        found = load_npz(f"regression_{name}")
        return found["X"], found["y"].astype(float)
    if name in FRIEDMAN:
        return FRIEDMAN[name](split)
    random = np.random.default_rng(split)
    X = random.uniform(-10.0, 10.0, (1_100, 1))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * random.normal(size=1_100)


def parts(name: str, split: int):
    """Training and test part, standardised by the first."""
    X, y = load(name, split)
    count = 100 if name == "sinc" else min(ROWS, 2 * len(X) // 3)
    order = np.random.default_rng(split).permutation(len(X))
    train, test = order[:count], order[count : count + 5_000]
    mean, deviation = y[train].mean(), y[train].std()
    y = (y - mean) / deviation
    return standardised((X[train], y[train]), (X[test], y[test]))


def fitted_row(method: str, model, train, test, terms) -> dict:
    """Fit and measure."""
    start = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - start
    error = float(np.sqrt(np.mean((model.predict(test[0]) - test[1]) ** 2)))
    return {"method": method, "error": error, "terms": terms(model), "seconds": seconds}


def one_split(name: str, fit: str, split: int) -> list[dict]:
    train, test = parts(name, split)
    folds = KFold(5, shuffle=True, random_state=split)
    return FITS[fit](train, test, split, {"cv": folds, "scoring": "neg_mean_squared_error"})


def tuned_svr(train, test, split: int, score: dict) -> list[dict]:
    svr = GridSearchCV(SVR(), in_units(SVR_GRID, train[0].shape[1]), **score)
    return [fitted_row("SVR", svr, train, test, lambda m: len(m.best_estimator_.support_))]


def ours_and_net(train, test, split: int, score: dict) -> list[dict]:
    """SparseSVR, and the MLP that has its size."""
    ours = SparseSVR(random_state=split)
    row = fitted_row("SparseSVR", ours, train, test, lambda m: m.expansion_.n_products)
    units = max(1, row["terms"])
    net = MLPRegressor(
        hidden_layer_sizes=(units,),
        activation="tanh",
        solver="lbfgs",
        max_iter=1_000,
        random_state=0,
    )
    net = GridSearchCV(net, {"alpha": ALPHAS}, **score)
    return [row, fitted_row("MLP", net, train, test, lambda m: units)]


def relevance_vectors(train, test, split: int, score: dict) -> list[dict]:
    """The relevance vectors of the gamma that has the largest marginal likelihood."""
    d = train[0].shape[1]
    relevance = [RelevanceVectorRegressor(gamma=gamma / d) for gamma in GAMMAS]
    start = time.perf_counter()
    best = max((m.fit(*train) for m in relevance), key=lambda m: m.log_marginal_likelihood_)
    seconds = time.perf_counter() - start
    error = float(np.sqrt(np.mean((best.predict(test[0]) - test[1]) ** 2)))
    row = {"method": "RelevanceVectorRegressor", "error": error, "terms": best.n_terms_}
    return [{**row, "seconds": seconds}]


#: What can be run again alone: ``--only fit=SparseSVR``.
FITS = {"SVR": tuned_svr, "SparseSVR": ours_and_net, "relevance": relevance_vectors}


def tables(rows: list[dict]) -> str:
    found = record.cells(rows, "set", "method")
    methods = [name for name in METHODS if any(row["method"] == name for row in rows)]
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        line = [name]
        for method in methods:
            cell = found[name, method]
            error = with_error([row["error"] for row in cell], digits=3)
            line.append(f"{error} ({np.mean([row['terms'] for row in cell]):.0f})")
        lines.append(line)
    summary = []
    for method in methods[1:]:
        ratios, counts = [], []
        for name in dict.fromkeys(row["set"] for row in rows):
            ours, theirs = found[name, method], found[name, "SVR"]
            mean = [np.mean([row["error"] for row in cell]) for cell in (ours, theirs)]
            terms = [np.mean([row["terms"] for row in cell]) for cell in (ours, theirs)]
            ratios.append(mean[0] / mean[1])
            counts.append(terms)
        ours, theirs = np.transpose(counts)
        shares = np.mean(ours / theirs), ours.sum() / theirs.sum()
        texts = (f"{100 * share:.1f}" for share in shares)
        summary.append([method, f"{np.mean(ratios):.3f}", f"{max(ratios):.3f}", *texts])
    first = markdown(["RMSE (terms)", *methods], lines)
    splits = {name: {row["split"] for row in rows if row["set"] == name} for name, *_ in lines}
    counts = ", ".join(f"{name} {len(some)}" for name, some in splits.items())
    first += f"\n\nSplits that have been run: {counts}."
    header = ["beside SVR", "RMSE, mean ratio", "largest", "terms, % of its vectors", "of all sets"]
    return f"{first}\n\n{markdown(header, summary)}"


STUDY = Study(
    "regression",
    title="Regression",
    about=ABOUT,
    factors={"set": SETS, "fit": tuple(FITS), "split": range(SPLITS)},
    quick={"split": range(1)},
    protocol=one_split,
    tables=tables,
    seed=SEED,
)
