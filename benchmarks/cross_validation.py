"""Cross-validation as all studies with folds do it, and what is read from its recorded rows."""

from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

#: Of the draw of the rows, of the folds and of every method.
SEED = 0
#: Outer folds.
FOLDS = 10


def stratified(folds: int) -> StratifiedKFold:
    """Folds that are the same for every method."""
    return StratifiedKFold(folds, shuffle=True, random_state=SEED)


def drawn_twice(folds: int) -> RepeatedStratifiedKFold:
    """As many splits as SparseSVC makes by default of few rows."""
    return RepeatedStratifiedKFold(n_splits=folds, n_repeats=2, random_state=SEED)


def outer_split(X, y, fold: int):
    """Training part and test part."""
    train, test = list(stratified(FOLDS).split(X, y))[fold]
    return (X[train], y[train]), (X[test], y[test])


def values(rows: list[dict], key: str) -> list[float]:
    """Metric of each fold, errors in %."""
    factor = 100.0 if key == "error" else 1.0
    return [factor * row[key] for row in sorted(rows, key=lambda row: row["fold"])]


def on_common_folds(*cells: list[dict]) -> list[list[dict]]:
    """Rows of the folds that all have."""
    folds = set.intersection(*({row["fold"] for row in cell} for cell in cells))
    return [[row for row in cell if row["fold"] in folds] for cell in cells]
