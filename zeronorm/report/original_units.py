"""Points among the features, as values of the raw columns: scalers and encoders undone."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.export.description import Description, Feature, Lookup
from zeronorm.report.wording import short


def columns_used(description: Description) -> list[int]:
    """Return the columns that some feature is made of, in their order."""
    return sorted({feature.column for feature in description.features})


def features_by_column(description: Description) -> dict[int, list[int]]:
    """Return the indices of the features of every column that is used."""
    found: dict[int, list[int]] = {column: [] for column in columns_used(description)}
    for index, feature in enumerate(description.features):
        found[feature.column].append(index)
    return found


def in_original_units(
    description: Description, point: np.ndarray, order: list[int]
) -> list[dict[str, Any]]:
    """Return a point in original units, one entry for each column, in this order.

    A number is a value of its column. A category is the level that is nearest in the units of the
    features, with its distance: a learned vector need not be at any level.
    """
    groups = features_by_column(description)
    return [_entry(description, column, groups[column], point) for column in order]


def _entry(
    description: Description, column: int, indices: list[int], point: np.ndarray
) -> dict[str, Any]:
    entry: dict[str, Any] = {"column": description.columns[column].name}
    numbers = [i for i in indices if not isinstance(description.features[i], Lookup)]
    if numbers:
        feature = description.features[numbers[0]]
        assert not isinstance(feature, Lookup)
        value = float(point[numbers[0]] / feature.factor + feature.centre)
        return entry | {"value": value, "text": short(value)}
    levels: list[Any] = [*description.levels_of(column), None]
    codes = np.array([[_code(description.features[i], x) for i in indices] for x in levels])
    assert description.function.unit is not None
    unit = description.function.unit[indices]
    away = np.sqrt(((codes - point[indices]) ** 2 / unit**2).sum(axis=1))
    nearest = int(np.argmin(np.where(np.isnan(away), np.inf, away)))
    level = levels[nearest]
    text = "missing" if level is None else short(level) if isinstance(level, float) else level
    return entry | {"level": level, "distance": float(away[nearest]), "text": text}


def _code(feature: Feature, level: Any) -> float:
    assert isinstance(feature, Lookup)
    if level is None:
        return feature.missing
    known = dict(zip(feature.levels, feature.values, strict=True))
    return known.get(level, feature.unknown)
