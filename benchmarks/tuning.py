"""Choice of parameters inside a training part, and judgement on a test part, for all studies."""

import time
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from zeronorm.model_selection import chosen, count_terms, sparse_search


def in_units(grid: dict, n_features: int) -> dict:
    """A grid whose gammas are multiples of 1 / number of features."""
    units = {"gamma": 1.0 / n_features}
    return {name: [v * units[name] for v in values] if name in units else list(values)
            for name, values in grid.items()}  # fmt: skip


def standardised(train, test):
    """Both parts by the means and deviations of the training part."""
    scale = StandardScaler().fit(train[0])
    return (scale.transform(train[0]), train[1]), (scale.transform(test[0]), test[1])


def pipeline_of(scale, model) -> Pipeline:
    return Pipeline([("scale", scale), ("model", clone(model))])


def choices(pipeline: Pipeline, grid: dict, train, folds, rules: Sequence[str]) -> dict[str, dict]:
    """Parameters of the last step by each rule, from one search on the same inner folds."""
    if not grid:
        return {rule: {} for rule in rules}
    values = {f"model__{name}": some for name, some in grid.items()}
    search = sparse_search(pipeline, values, cv=folds).set_params(refit=False)
    results = search.fit(*train).cv_results_
    return {rule: results["params"][chosen(results, rule)] for rule in rules}


def held_out_error(model, train, test, features=slice(None)) -> float:
    """Share of wrong labels of the test part, after a fit with some of the features."""
    model.fit(train[0][:, features], train[1])
    return float(np.mean(model.predict(test[0][:, features]) != test[1]))


def judged(model, train, test) -> dict:
    """Fit and measure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(*train)
        seconds = time.perf_counter() - start
    return {
        "error": float(np.mean(model.predict(test[0]) != test[1])),
        "terms": count_terms(model),
        "converged": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        "seconds": seconds,
    }


def tuned(pipeline, grid: dict, train, test, folds, rules: Sequence[str], final=None) -> list[dict]:
    """Choose inside the training part, refit by each rule, judge once on the test part.

    ``final`` is another pipeline for the refit (one that searches longer, say).
    """
    chosen = choices(pipeline, grid, train, folds, rules)
    rows: list[dict] = []
    for rule, parameters in chosen.items():
        same = next((r for r in rows if chosen[r["rule"]] == parameters), None)
        if same is None:
            model = clone(final or pipeline).set_params(**parameters)
            named = {key.removeprefix("model__"): value for key, value in parameters.items()}
            same = {**judged(model, train, test), "parameters": named}
        rows.append({**same, "rule": rule})
    return rows
