"""The columns of a table that tell its target, and the error with each number of them."""

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
from threadpoolctl import threadpool_limits

from zeronorm.feature_selection.arom import AROMSelector
from zeronorm.feature_selection.sizes import size_path, warn_of_unfinished
from zeronorm.feature_selection.tasks import task_of
from zeronorm.model_selection import standard_error
from zeronorm.tables.contenders import Plan, Rows
from zeronorm.tables.encoding import TableEncoder


@dataclass(frozen=True)
class ColumnChoice:
    """The selected columns, best first, and the cross-validated error for some numbers of them.

    The error is the share of wrong classes, or of the variance that is not explained.
    """

    names: list[str]
    sizes: list[int]
    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    folds: int
    warning: str | None

    @property
    def recommended(self) -> int:
        """The fewest columns whose error is within one standard error of the lowest."""
        best = int(np.argmin(self.errors))
        limit = self.errors[best] + self.standard_errors[best]
        return self.sizes[int(np.argmax(self.errors <= limit))]


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
    # One BLAS thread: those of several processes would only wait for each other.
    with threadpool_limits(limits=1):
        found = joblib.Parallel(n_jobs=plan.n_jobs, return_as="generator")(
            joblib.delayed(_fold_errors)(rows, train, test, sizes, norm, plan.task)
            for train, test in rows.folds(plan.folds, plan.random_state)
        )
        parts = []
        for part in found:
            parts.append(part)
            update(len(parts) / (plan.folds + 1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            order, _ = _column_order(rows, norm, plan.task)
            errors = np.array([part for part, _ in parts])
            warn_of_unfinished(sum(count for _, count in parts), errors.size)
    headers = _headers(rows.encoder)
    return ColumnChoice(
        [headers[i] for i in order[:n_columns]],
        sizes,
        errors.mean(axis=0),
        standard_error(errors),
        plan.folds,
        str(caught[0].message) if caught else None,
    )


def _headers(encoder: TableEncoder) -> list[str]:
    """Return the columns of the file; those of dates are several columns of the encoder."""
    return list(dict.fromkeys(column.header for column in encoder.columns))


def _header_of_features(encoder: Any) -> NDArray[np.intp]:
    """Return the number of the column of the file that each feature comes from."""
    index_of = {name: i for i, name in enumerate(_headers(encoder))}
    pairs = zip(encoder.columns, encoder.encodings_, strict=True)
    return np.concatenate([np.full(e.n_features, index_of[c.header]) for c, e in pairs])


def _column_order(rows: Rows, norm: str, task: str) -> tuple[NDArray[np.intp], Any]:
    """Order of the columns, and the fitted encoder.

    A column of categories or dates is several features; the best of them favours it.
    """
    encoder = clone(rows.encoder).fit(rows.X)
    selector = AROMSelector(1, norm, task=task).fit(encoder.transform(rows.X), rows.y)
    in_order = _header_of_features(encoder)[np.argsort(selector.ranking_)]
    _, first = np.unique(in_order, return_index=True)
    return in_order[np.sort(first)], encoder


def _fold_errors(
    rows: Rows,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    sizes: list[int],
    norm: str,
    task: str,
) -> tuple[list[float], int]:
    """Test error for each size, and how many of the SVMs were not solved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the final one, it is reported
        order, encoder = _column_order(rows.take(train), norm, task)
    column_of = _header_of_features(encoder)
    subsets = [np.flatnonzero(np.isin(column_of, order[:size])) for size in sizes]
    features = encoder.transform(rows.X)
    scores, n_unfinished = task_of(rows.y, task).scores(features, train, test, subsets, 1.0)
    return [1.0 - score for score in scores], n_unfinished
