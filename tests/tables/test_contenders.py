"""The tuned machine, against a plain `GridSearchCV` of the whole pipeline."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from zeronorm.tables import contenders
from zeronorm.tables.columns import Column
from zeronorm.tables.contenders import SVC_TUNING, SVR_TUNING, Plan, Rows, choose_svc, choose_svr
from zeronorm.tables.encoding import TableEncoder


def made_rows(n_classes):
    """Return rows with a gap and a column in other units; numbers to predict if no classes."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=150)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    X[4, 1] = np.nan
    X[:, 2] *= 1e3
    return Rows(X, y, TableEncoder([Column(name) for name in "abc"]))


def searched(rows, plan, machine, scoring, **grid):
    pipeline = Pipeline([("encode", rows.encoder), ("machine", machine)])
    names = {f"machine__{name}": values for name, values in grid.items()}
    folds = rows.folds(contenders.INNER_FOLDS, plan.random_state)
    found = GridSearchCV(pipeline, names, cv=folds, scoring=scoring).fit(rows.X, rows.y)
    return {name: found.best_params_[f"machine__{name}"] for name in grid}


@pytest.mark.parametrize(
    ("n_classes", "metric", "scoring"),
    [
        (2, "error", "accuracy"),
        (4, "balanced", "balanced_accuracy"),
        (2, "auc", "roc_auc"),
        (3, "log_loss", "accuracy"),
    ],
)
def test_svc(n_classes, metric, scoring):
    rows, plan = made_rows(n_classes), Plan(metric=metric, random_state=3)
    chosen = choose_svc(rows, plan)
    gammas = contenders._gammas(rows, SVC_TUNING)
    assert len(gammas) == 4
    expected = searched(rows, plan, SVC(), scoring, C=SVC_TUNING.C_values, gamma=gammas)
    assert {name: getattr(chosen, name) for name in expected} == expected
    assert chosen.kernel == "rbf"


def test_svr():
    rows, plan = made_rows(0), Plan(task="regression", metric="mae", random_state=1)
    chosen = choose_svr(rows, plan)
    spread = rows.y.std()
    expected = searched(
        rows,
        plan,
        SVR(tol=1e-3 * spread),
        "neg_mean_absolute_error",
        C=[C * spread for C in SVR_TUNING.C_values],
        epsilon=[epsilon * spread for epsilon in SVR_TUNING.epsilons],
        gamma=contenders._gammas(rows, SVR_TUNING),
    )
    assert {name: getattr(chosen, name) for name in expected} == expected
