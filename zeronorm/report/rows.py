"""Raw rows, in whatever form they come, as features and values of a described model; and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zeronorm.export.description import Column, Description, Feature, Function, Lookup
from zeronorm.export.reading import describe as read_model
from zeronorm.export.steps import is_missing
from zeronorm.report.wording import cell_text, short
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import Table


def described(model: Any, feature_names: Sequence[Any] | None = None) -> Description:
    """Describe a fitted model, with other names of its columns if they are given."""
    description = read_model(model)
    names = [column.name for column in description.columns]
    if feature_names is not None:
        names = [str(name) for name in feature_names]
    if len(names) != len(description.columns):
        raise ValueError(
            f"There are {len(names)} feature_names, and the model takes "
            f"{len(description.columns)} columns."
        )
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:  # facts are found by the names of the columns
        raise ValueError(
            f"{count} columns are called {name!r}; give feature_names that tell them apart."
        )
    columns = zip(description.columns, names, strict=True)
    return replace(description, columns=tuple(replace(c, name=name) for c, name in columns))


#: At most so many rows are looked at; of more, evenly spaced ones.
MOST_ROWS = 10_000


def raw_rows(model: Any, description: Description, X: Any) -> tuple[list[list[Any]], np.ndarray]:
    """Return the cells of rows in the order of the columns, and which rows these are.

    A missing cell is None. Rows are numbered from 0, those of a Table by their lines in the file.

    Parameters
    ----------
    model : fitted model
        What the rows are for; only that of the command line takes a :class:`Table`.
    description : Description
        What it is.
    X : array-like, data frame or Table
        Rows as the model takes them. A data frame with all names of the columns may have them in
        any order, and others besides. Of more than ``MOST_ROWS`` evenly spaced ones are taken.
    """
    if isinstance(X, Table):
        if not isinstance(model, TableModel):
            raise ValueError("A Table holds rows of the command line's models only.")
        cells: list[Any] = list(to_matrix(X, model.encoder.columns).T)
        for index, column in enumerate(description.columns):
            if column.is_text:
                cells[index] = X.cells[column.name]
    elif hasattr(X, "columns"):
        cells = _columns_of(X, [column.name for column in description.columns])
    else:
        matrix = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=object)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it must have rows and columns.")
        cells = list(matrix.T)
    if len(cells) != len(description.columns):
        raise ValueError(
            f"X has {len(cells)} columns, and the model takes {len(description.columns)}."
        )
    count = len(cells[0]) if cells else 0
    if not count:
        raise ValueError("X has no rows.")
    taken = np.unique(np.linspace(0, count - 1, min(count, MOST_ROWS)).round().astype(int))
    plain = [
        _plain(column, [values[i] for i in taken])
        for column, values in zip(description.columns, cells, strict=True)
    ]
    rows = [list(row) for row in zip(*plain, strict=True)]
    return rows, np.asarray(X.lines)[taken] if isinstance(X, Table) else taken


def raw_row(model: Any, description: Description, row: Any) -> list[Any]:
    """Return the cells of one row: a sequence, a mapping by name, or a table with one row."""
    names = [column.name for column in description.columns]
    if isinstance(row, Mapping) or (hasattr(row, "index") and hasattr(row, "to_dict")):
        by_name = row if isinstance(row, Mapping) else row.to_dict()
        if not hasattr(row, "columns"):
            absent = [name for name in names if name not in by_name]
            if absent:
                raise ValueError(f"The row has no {absent[0]!r}; the columns are {names}.")
            row = [[by_name[name] for name in names]]
    elif not isinstance(row, Table) and not hasattr(row, "columns") and np.ndim(row) == 1:
        row = [list(row)]
    rows, _ = raw_rows(model, description, row)
    if len(rows) != 1:
        raise ValueError(f"One row is explained at a time; there are {len(rows)}.")
    return rows[0]


def _columns_of(frame: Any, names: list[str]) -> list[Any]:
    given = [str(name) for name in frame.columns]
    if set(names) <= set(given):
        return [list(frame[frame.columns[given.index(name)]]) for name in names]
    # By position: several columns may have one name.
    return list(np.asarray(frame, dtype=object).T)


def _plain(column: Column, cells: Any) -> list[Any]:
    """Return cells as texts or floats, None for a missing one."""
    found: list[Any] = []
    for cell in cells:
        if is_missing(cell):
            found.append(None)
        elif column.is_text:
            text = str(cell).strip() if column.is_stripped else str(cell)
            found.append(None if text in column.missing else text)
        else:
            try:
                found.append(float(cell))
            except (TypeError, ValueError):
                raise ValueError(f"{cell!r} in column {column.name!r} is no number.") from None
    return found


def features_of(description: Description, rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return the features of raw rows, shape (rows, features); NaN where there is none."""
    values = [[_value(f, row[f.column]) for f in description.features] for row in rows]
    return np.array(values, dtype=np.float64).reshape(len(rows), len(description.features))


def _value(feature: Feature, cell: Any) -> float:
    if isinstance(feature, Lookup):
        if cell is None:
            return feature.missing
        try:
            return feature.values[feature.levels.index(cell)]
        except ValueError:
            return feature.unknown
    cell = feature.fill if cell is None else cell
    if cell is None:
        return float("nan")
    return (min(max(cell, feature.low), feature.high) - feature.centre) * feature.factor


def in_original_units(
    description: Description, point: np.ndarray, order: list[int]
) -> list[dict[str, Any]]:
    """Return a point in original units, one entry for each column, in this order.

    A number is a value of its column. A category is the level that is nearest in the units of the
    features, with its distance: a learned vector need not be at any level.
    """
    groups = description.features_by_column
    return [_entry(description, column, groups[column], point) for column in order]


def _entry(
    description: Description, column: int, indices: list[int], point: np.ndarray
) -> dict[str, Any]:
    entry: dict[str, Any] = {"column": description.columns[column].name}
    numbers = [i for i in indices if not isinstance(description.features[i], Lookup)]
    if numbers:
        feature = description.features[numbers[0]]
        value = float(point[numbers[0]] / feature.factor + feature.centre)
        return entry | {"value": value, "text": short(value)}
    levels: list[Any] = [*description.levels_of(column), None]
    codes = np.array([[_value(description.features[i], x) for i in indices] for x in levels])
    unit = description.function.unit[indices]
    away = np.sqrt(((codes - point[indices]) ** 2 / unit**2).sum(axis=1))
    nearest = int(np.argmin(np.where(np.isnan(away), np.inf, away)))
    level, distance = levels[nearest], float(away[nearest])
    return entry | {"level": level, "distance": distance, "text": cell_text(level)}


def check_finite(description: Description, Z: np.ndarray) -> None:
    """Raise ValueError, with the column, if a feature is not a finite number."""
    bad = ~np.isfinite(Z)
    if bad.any():
        row, index = np.argwhere(bad)[0]
        name = description.columns[description.features[index].column].name
        raise ValueError(
            f"Column {name!r} of row {row} is missing, infinite, or a category that the model does "
            "not know, and nothing fills it in: the model has no value for this row."
        )


@dataclass(frozen=True)
class Seen:
    """Rows that were looked at: their cells, which rows they are, and their features."""

    rows: list[list[Any]]
    taken: np.ndarray
    Z: np.ndarray


def look_at(model: Any, description: Description, X: Any) -> Seen:
    """Return rows with their features; ValueError if the model has no value for one of them."""
    rows, taken = raw_rows(model, description, X)
    Z = features_of(description, rows)
    check_finite(description, Z)
    return Seen(rows, taken, Z)


def typical(description: Description, Z: np.ndarray) -> np.ndarray:
    """Return the typical row of features: medians of numbers, of categories the shares of levels.

    Medians, because a single cell far out would move a mean away from all rows.
    """
    middles = np.median(Z, axis=0)
    is_lookup = [isinstance(feature, Lookup) for feature in description.features]
    return np.where(is_lookup, Z.mean(axis=0), middles)


def term_values(function: Function, Z: np.ndarray) -> np.ndarray:
    """Return the values of the kernel terms at rows of features, shape (rows, terms)."""
    if not function.n_terms:
        return np.empty((len(Z), 0))
    if function.kind == "monomials":
        terms = [
            np.prod([Z[:, i] ** power for i, power in term], axis=0) for term in function.factors
        ]
        return np.stack(terms, axis=1)
    if function.kind == "rbf":
        return np.exp(-squared_distances(function, Z, function.vectors))
    products = Z @ function.vectors.T + function.offsets
    return np.tanh(products) if function.kind == "sigmoid" else products**function.degree


def squared_distances(function: Function, Z: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return squared distances in the metric of an rbf kernel, else in the features' own units."""
    widths = function.widths
    if widths is None:
        widths = 1.0 / function.unit**2
    # Vector by vector: products would lose what little distance there is between near rows.
    return np.stack([(Z - point) ** 2 @ widths for point in points], axis=1)


def outputs_of(description: Description, Z: np.ndarray) -> np.ndarray:
    """Return the outputs at rows of features, shape (rows, outputs)."""
    function = description.function
    values = term_values(function, Z)
    if description.kind == "density":
        distances = squared_distances(function, Z, function.vectors)
        least = distances.min(axis=1, keepdims=True)
        return function.intercept - least + np.log(np.exp(least - distances) @ function.coef)
    outputs = values @ function.coef + function.intercept
    return outputs if function.linear is None else outputs + Z @ function.linear
