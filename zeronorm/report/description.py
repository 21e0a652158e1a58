"""A fitted model in words and numbers that people know: original units, names, real rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zeronorm.export.description import Description, Feature, Lookup
from zeronorm.report.attribution import shares
from zeronorm.report.rows import (
    Seen,
    described,
    in_original_units,
    look_at,
    outputs_of,
    squared_distances,
    term_values,
    typical,
)
from zeronorm.report.text import description_text
from zeronorm.report.wording import Facts, cell_text, meaning, output_names, plain, short
from zeronorm.tables.table import Table

#: Rows that are shown beside each term.
NEAREST = 3
#: Shares of columns are averaged over at most so many rows: each costs integrals for every term.
SHARED_ROWS = 1_000


class ModelDescription(Facts):
    """What :func:`describe` found: ``facts`` is the dictionary, ``str`` the text."""

    def __str__(self) -> str:
        return description_text(self.facts)


def describe(
    model: Any, X: Any = None, feature_names: Sequence[Any] | None = None
) -> ModelDescription:
    """Describe a fitted model so that people can read it.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model or TableModel
        Any estimator of zeronorm; ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR`` or ``OneClassSVM``; a
        pipeline that ends in one of them, whose scalers and encoders are undone; what
        :func:`zeronorm.load` returns.
    X : array-like, data frame or Table, optional
        Raw rows as the model takes them: they give the nearest rows, shares and the importance of
        the columns. Of more than 10 000 rows so many evenly spaced ones are looked at.
    feature_names : sequence of str, optional
        Names of the raw columns, where the model does not know them.

    Returns
    -------
    ModelDescription
        It prints as text; ``facts`` is a plain dictionary with

        - ``terms``: of each kernel term its ``place`` in original units (of a category the nearest
          level), the ``weight`` in each output and, with X, whether a number is beyond those of
          all rows (``is_beyond``: learned vectors may be), the ``nearest`` rows, its ``share``
          (how far its contribution strays from its mean, of all such), and for classes what
          part of the predictions ``changes`` if the mean stands in its place;
        - ``linear``: the linear part by column, most important first: the change for one unit of
          the column, and for one of the units in which the model was trained;
        - ``metric``: the widths of an rbf kernel by column, most important first, and the
          ``distance`` in the column at which a term falls to 1/e;
        - ``columns``: with X, how much each column moves the decisions: the mean size of its
          share in them by :func:`explain`, of all; over at most 1 000 evenly spaced rows.

    See Also
    --------
    explain : The shares of terms and columns in one decision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.report import describe
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), ZeroNormSVC(random_state=0)).fit(X, y == 1)
    >>> found = describe(model, X)
    >>> found.facts["columns"][0]["column"]
    'petal width (cm)'
    """
    description = described(model, feature_names)
    function = description.function
    facts: dict[str, Any] = {
        "summary": description.summary,
        "source": description.source,
        "kind": description.kind,
        "kernel": function.kind,
        "labels": description.labels,
        "meaning": meaning(description),
        "outputs": output_names(description),
        "intercept": plain(function.intercept),
        "n_columns": len(description.columns),
    }
    order = _order(description)
    seen = None
    if X is not None:
        seen = look_at(model, description, X)
        facts |= {"n_rows": len(seen.rows), "row_word": "line" if isinstance(X, Table) else "row"}
        if description.kind != "density":
            facts["columns"] = column_importance(description, seen.Z)
            names = [column.name for column in description.columns]
            order = [names.index(entry["column"]) for entry in facts["columns"]]
    facts["terms"] = _terms(description, order, seen)
    facts["linear"] = _linear(description)
    facts["metric"] = _metric(description)
    return ModelDescription(facts)


def column_importance(description: Description, Z: np.ndarray) -> list[dict[str, Any]]:
    """Return how far each column moves the outputs away from those of the typical row."""
    reference = typical(description, Z)
    Z = Z[:: -(-len(Z) // SHARED_ROWS)]
    total = np.zeros(len(description.columns))
    for output in range(description.function.n_outputs):
        by_feature = shares(description.function, Z, reference, output)
        for column, indices in description.features_by_column.items():
            total[column] += np.abs(by_feature[:, indices].sum(axis=1)).mean()
    scale = total.sum() or 1.0
    return [
        {"column": description.columns[i].name, "share": float(total[i] / scale)}
        for i in sorted(description.features_by_column, key=lambda i: -total[i])
    ]


def _order(description: Description) -> list[int]:
    """Order columns by what the model itself tells: widths, linear part or products."""
    function = description.function
    importance = np.zeros(len(description.features))
    unit = function.unit
    for part in (
        None if function.widths is None else function.widths * unit**2,
        None if function.linear is None else np.abs(function.linear * unit[:, None]).max(axis=1),
        np.abs(function.vectors).sum(axis=0) * unit if function.offsets is not None else None,
    ):
        if part is not None and len(part) and part.max() > 0:
            importance += part / part.max()
    groups = description.features_by_column
    return sorted(groups, key=lambda column: -importance[groups[column]].max())


def _terms(description: Description, order: list[int], seen: Seen | None) -> list[dict[str, Any]]:
    function = description.function
    terms: list[dict[str, Any]] = [
        {"term": number, "weight": plain(weights)}
        for number, weights in enumerate(function.coef, start=1)
    ]
    for index, term in enumerate(terms):
        if function.kind == "monomials":
            factors = function.factors[index]
            term["product"] = " · ".join(_factor(description, *factor) for factor in factors)
        else:
            term["place"] = in_original_units(description, function.points[index], order)
    if seen is None or not terms:
        return sorted(terms, key=lambda term: -max(map(abs, term["weight"])))
    _add_nearest(description, terms, seen)
    _mark_beyond(description, terms, seen)
    if description.kind == "density":
        return sorted(terms, key=lambda term: -term["weight"][0])
    _add_shares(description, terms, seen.Z)
    return sorted(terms, key=lambda term: -term["share"])


def _factor(description: Description, index: int, power: int) -> str:
    feature = description.features[index]
    name = description.columns[feature.column].name
    if isinstance(feature, Lookup):
        levels = [cell_text(level) for level, _ in feature.told_apart]
        name = f"[{name} is {' or '.join(levels)}]" if levels else f"[{name}]"
    elif not feature.is_plain:
        name = f"[({name} - {short(feature.centre)}) / {short(feature.scale)}]"
    return name if power == 1 else f"{name}^{power}"


def _add_nearest(description: Description, terms: list[dict[str, Any]], seen: Seen) -> None:
    function = description.function
    if function.points is None:
        return
    distances = squared_distances(function, seen.Z, function.points)
    names = [column.name for column in description.columns]
    for term, column in zip(terms, distances.T, strict=True):
        nearest = np.argsort(column, kind="stable")[:NEAREST]
        term["nearest"] = [
            {
                "row": int(seen.taken[i]),
                "distance": float(np.sqrt(column[i])),
                "cells": dict(zip(names, seen.rows[i], strict=True)),
            }
            for i in nearest
        ]


def _mark_beyond(description: Description, terms: list[dict[str, Any]], seen: Seen) -> None:
    """Mark numbers of places that are beyond those of all rows, as learned vectors may be."""
    ends = {}
    for index, column in enumerate(description.columns):
        known = [row[index] for row in seen.rows if isinstance(row[index], float)]
        if known:
            ends[column.name] = min(known), max(known)
    for term in terms:
        for entry in term.get("place", []):
            if "value" in entry and entry["column"] in ends:
                low, high = ends[entry["column"]]
                slack = 1e-9 * max(abs(low), abs(high))  # a row's own value, after rounding
                entry["is_beyond"] = not low - slack <= entry["value"] <= high + slack


def _add_shares(description: Description, terms: list[dict[str, Any]], Z: np.ndarray) -> None:
    function, outputs = description.function, outputs_of(description, Z)
    values = term_values(function, Z)
    values = values - values.mean(axis=0)
    sizes = np.abs(values).mean(axis=0) * np.abs(function.coef).sum(axis=1)
    total = sizes.sum()
    if function.linear is not None:
        total += np.abs((Z - Z.mean(axis=0)) @ function.linear).mean(axis=0).sum()
    for index, term in enumerate(terms):
        term["share"] = float(sizes[index] / (total or 1.0))
        if description.is_classifier:
            without = outputs - values[:, index : index + 1] * function.coef[index]
            codes = [description.decision.rule.codes(some) for some in (outputs, without)]
            term["changes"] = float(np.mean(codes[0] != codes[1]))


def _linear(description: Description) -> list[dict[str, Any]]:
    """Return the linear part, most important first; one entry for each feature."""
    function = description.function
    if function.linear is None:
        return []
    found = []
    parts = zip(description.features, function.linear, function.unit, strict=True)
    for feature, weights, unit in parts:
        sizes = {"per_unit": plain(weights * feature.factor), "unit": float(unit)}
        found.append(_named(description, feature) | sizes | {"weight": plain(weights * unit)})
    return sorted(found, key=lambda entry: -max(map(abs, entry["weight"])))


def _named(description: Description, feature: Feature) -> dict[str, Any]:
    """Name the column of a feature, and the levels that one of categories tells apart."""
    entry: dict[str, Any] = {"column": description.columns[feature.column].name}
    if isinstance(feature, Lookup):
        entry["levels"] = [cell_text(level) for level, _ in feature.told_apart] or ["missing"]
    return entry


def _metric(description: Description) -> list[dict[str, Any]]:
    """Return the widths of an rbf kernel by column, the narrowest first."""
    function = description.function
    if function.widths is None or not function.n_terms:
        return []
    found = []
    parts = zip(description.features, function.widths, function.unit, strict=True)
    for feature, width, unit in parts:
        if width > 0:
            distance = float(1.0 / np.sqrt(width) / abs(feature.factor))
            sizes = {"distance": distance, "width": float(width * unit**2)}
            found.append(_named(description, feature) | sizes)
    return sorted(found, key=lambda entry: -entry["width"])
