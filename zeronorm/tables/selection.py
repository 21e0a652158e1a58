"""The columns of a table that tell its classes apart, and the error with each number of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from zeronorm.feature_selection.arom import AROMSelector
from zeronorm.feature_selection.sizes import size_path, svm_accuracies, warn_of_unfinished
from zeronorm.tables.comparison import Plan, Rows


@dataclass(frozen=True)
class ColumnChoice:
    """The selected columns, best first, and the cross-validated error for some numbers of them."""

    order: NDArray[np.intp]
    names: list[str]
    sizes: list[int]
    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    folds: int
    warning: str | None


def choose_columns(
    rows: Rows,
    plan: Plan,
    n_columns: int,
    norm: str = "l2",
    update: Callable[[float], None] = lambda share: None,
) -> ColumnChoice:
    """Select columns on all rows, and measure on folds in which the selection is redone.

    Parameters
    ----------
    rows : Rows
        The training rows; every class has at least ``plan.folds`` of them.
    plan : Plan
        Folds, processes, seed.
    n_columns : int
        How many columns.
    norm : {"l2", "l1"}
        Of the rounds of AROM.
    update : callable, optional
        Takes the share that is done.

    Returns
    -------
    ColumnChoice
    """
    sizes = size_path(n_columns)
    outer = StratifiedKFold(plan.folds, shuffle=True, random_state=plan.random_state)
    # One BLAS thread: those of several processes would only wait for each other.
    with threadpool_limits(limits=1):
        found = joblib.Parallel(n_jobs=plan.n_jobs, return_as="generator")(
            joblib.delayed(_fold_errors)(rows, train, test, sizes, norm)
            for train, test in outer.split(rows.X, rows.y)
        )
        parts = []
        for part in found:
            parts.append(part)
            update(len(parts) / (plan.folds + 1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            order, _ = _column_order(rows, norm)
            errors = np.array([part for part, _ in parts])
            warn_of_unfinished(sum(count for _, count in parts), errors.size)
    return ColumnChoice(
        order[:n_columns],
        [rows.encoder.columns[place].name for place in order[:n_columns]],
        sizes,
        errors.mean(axis=0),
        errors.std(axis=0, ddof=1) / np.sqrt(plan.folds),
        plan.folds,
        str(caught[0].message) if caught else None,
    )


def _column_order(rows: Rows, norm: str) -> tuple[NDArray[np.intp], Any]:
    """Order of the columns, and the fitted encoder.

    A column of categories is several features; the best of them favours it.
    """
    encoder = clone(rows.encoder).fit(rows.X)
    selector = AROMSelector(1, norm).fit(encoder.transform(rows.X), rows.y)
    column_of = np.repeat(np.arange(len(encoder.encodings_)), _widths(encoder))
    in_order = column_of[np.argsort(selector.ranking_)]
    _, first = np.unique(in_order, return_index=True)
    return in_order[np.sort(first)], encoder


def _widths(encoder: Any) -> list[int]:
    return [encoding.n_features for encoding in encoder.encodings_]


def _fold_errors(
    rows: Rows,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    sizes: list[int],
    norm: str,
) -> tuple[list[float], int]:
    """Test error for each size, and how many of the SVMs were not solved."""
    part = rows.take(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the final one, it is reported
        order, encoder = _column_order(part, norm)
    column_of = np.repeat(np.arange(len(order)), _widths(encoder))
    subsets = [np.flatnonzero(np.isin(column_of, order[:size])) for size in sizes]
    features, test_features = encoder.transform(part.X), encoder.transform(rows.X[test])
    accuracies, n_unfinished = svm_accuracies(
        features, part.y, test_features, rows.y[test], subsets, 1.0
    )
    return [1.0 - accuracy for accuracy in accuracies], n_unfinished
