"""Whatever can be exported, as one :class:`~zeronorm.export.description.Description`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from zeronorm.checks import is_text
from zeronorm.decisions import Classes, Density
from zeronorm.export.description import Column, Description, Feature, Lookup, Number
from zeronorm.export.folding import folded
from zeronorm.export.steps import after_all
from zeronorm.model import Model
from zeronorm.solvers.mixture.kernel_mixture import log_height
from zeronorm.tables.columns import MISSING_CODE
from zeronorm.tables.encoding import NumberEncoding, TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import MISSING


def describe(model: Any) -> Description:
    """Describe a fitted model, with all that comes before it.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion, TableModel or Description
        Any estimator of zeronorm, an ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR`` or ``OneClassSVM``;
        a pipeline that ends in one of them; what :func:`zeronorm.load` returns.

    Returns
    -------
    Description

    Raises
    ------
    ValueError
        If it, or a step of the pipeline, cannot be exported.
    """
    if isinstance(model, Description):
        return model
    if isinstance(model, TableModel):
        return _described(model.model, *_of_table(model.encoder), "zeronorm fit")
    steps: list[tuple[str, Any]] = []
    if isinstance(model, BaseSearchCV):
        raise ValueError(f"Take the best_estimator_ of the {type(model).__name__}.")
    last = model
    while isinstance(last, (Pipeline, FrozenEstimator)):
        if isinstance(last, FrozenEstimator):
            last = last.estimator
        else:
            steps += last.steps[:-1]
            last = last.steps[-1][1]
    found = Model.from_estimator(last)
    names = _names(model, found)
    count = getattr(model if steps else found, "n_features_in_", len(names) or None)
    if count is None:
        raise ValueError("The number of columns that the model takes is not known.")
    features = after_all(steps, [Number(i) for i in range(count)], names)
    columns = _columns(names or [f"x{i}" for i in range(count)], features)
    return _described(found, columns, features, type(last).__name__)


def _described(
    model: Model, columns: tuple[Column, ...], features: Sequence[Feature], source: str
) -> Description:
    if hasattr(model, "n_features_in_") and len(features) != model.n_features_in_:
        raise ValueError(
            f"The steps make {len(features)} features, the model takes {model.n_features_in_}."
        )
    function, changed = folded(model.function, tuple(features))
    if isinstance(model.decision, Density):
        # The outputs are then the logarithm of the sum, plus this.
        height = log_height(model.decision.bandwidth, len(features))
        function = replace(function, intercept=np.array([height]))
    votes = getattr(model.function, "vote_classes", None)
    by = model.decision.rule if isinstance(model.decision, Classes) else model.function
    how = getattr(by, "pair_scores", "votes")
    return Description(columns, changed, function, model.decision, votes, how, source)


def _names(model: Any, found: Model) -> list[str]:
    """Names of the raw columns, where they have names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and not isinstance(model, Pipeline):
        names = getattr(found, "feature_names_in_", None)
    return [] if names is None else [str(name) for name in names]


def _columns(names: Sequence[str], features: Sequence[Feature]) -> tuple[Column, ...]:
    """Return the raw columns; which of them hold texts is told by what is done with them."""
    texts: set[int] = set()
    for feature in features:
        known = feature.levels if isinstance(feature, Lookup) else (feature.fill,)
        if any(isinstance(level, str) for level in known):
            texts.add(feature.column)
    for feature in features:
        levels = feature.levels if isinstance(feature, Lookup) else (None,)  # of a number none
        if feature.column in texts and not all(isinstance(level, str) for level in levels):
            raise ValueError(
                f"Column {names[feature.column]!r} holds texts, but the model takes numbers of "
                "it too; let an encoder take it."
            )
    for name in names:
        if not is_text(name):
            raise ValueError(f"The column name {name!r} cannot be written to a file.")
    return tuple(Column(name, i in texts) for i, name in enumerate(names))


def _of_table(encoder: TableEncoder) -> tuple[tuple[Column, ...], list[Feature]]:
    """Return columns and features of what the command line saved."""
    columns: list[Column] = []
    features: list[Feature] = []
    for index, (column, encoding) in enumerate(
        zip(encoder.columns, encoder.encodings_, strict=True)
    ):
        if isinstance(encoding, NumberEncoding):
            columns.append(Column(column.name))
            far = 1e6 * encoding.scale
            low, high = encoding.mean - far, encoding.mean + far
            features.append(Number(index, encoding.fill, low, high, encoding.mean, encoding.scale))
            continue
        spelled = column.levels or ()
        columns.append(Column(column.name, True, True, tuple(sorted(MISSING))))
        known = [code for code in encoding.codes if code != MISSING_CODE]
        levels = tuple(spelled[int(code)] for code in known)
        for code in encoding.codes:
            values = tuple(float(code == other) for other in known)
            features.append(Lookup(index, levels, values, float(code == MISSING_CODE), 0.0))
    return tuple(columns), features
