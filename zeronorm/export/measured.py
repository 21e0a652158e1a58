"""What rows with known answers tell about a model: its error, and the size of its features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.export.description import Description, Lookup
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import Table


def measured_error(model: Any, description: Description, X: Any, y: Any) -> str:
    """Return the error on these rows in words; it says so if there are none.

    Parameters
    ----------
    model : fitted model
        What predicts.
    description : Description
        What it is.
    X, y : array-like, or a Table and its answers, or None
        The rows.
    """
    if y is None:
        return "not measured: no rows with known answers were given"
    if X is None:
        raise ValueError("y was given without X: the error is measured on rows and their answers.")
    if not hasattr(model, "predict"):
        raise ValueError(f"{type(model).__name__} predicts nothing, so y has no use.")
    predicted, known = np.asarray(model.predict(X)), np.asarray(y)
    if predicted.shape != known.shape:
        raise ValueError(
            f"y has shape {known.shape}; for these rows the model has answers of shape "
            f"{predicted.shape}."
        )
    if description.kind == "number":
        root = float(np.sqrt(np.mean((predicted - known) ** 2)))
        return f"{root:.3g} (root of the mean square) on the {len(known)} rows given"
    return f"{100 * float(np.mean(predicted != known)):.1f} % of the {len(known)} rows given"


def feature_sizes(model: Any, description: Description, X: Any) -> np.ndarray:
    """Return the largest size of each feature on these rows."""
    if isinstance(model, TableModel) and isinstance(X, Table):
        X = to_matrix(X, model.encoder.columns)
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=object)
    if rows.ndim != 2 or rows.shape[1] != len(description.columns) or not len(rows):
        raise ValueError(
            f"X has shape {rows.shape}; it must have rows, and {len(description.columns)} columns."
        )
    sizes = []
    for feature in description.features:
        if isinstance(feature, Lookup):
            known = np.array([*feature.values, feature.missing, feature.unknown])
            sizes.append(np.nanmax(np.abs(known), initial=0.0))
            continue
        column = rows[:, feature.column].astype(np.float64)
        column = np.where(
            np.isnan(column), np.nan if feature.fill is None else feature.fill, column
        )
        values = (np.clip(column, feature.low, feature.high) - feature.centre) * feature.factor
        sizes.append(np.nanmax(np.abs(values), initial=0.0))
    return np.array(sizes)
