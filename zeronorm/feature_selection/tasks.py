"""What features are selected for: classes, several labels a row, or numbers.

A task turns y into targets of the linear problems (labels -1 and +1, or numbers with a spread of
one), and says how good the selected features are on other rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from zeronorm.base.labels import check_labels, class_codes, signed_targets, target_kind
from zeronorm.base.targets import TargetUnits, numeric_targets
from zeronorm.feature_selection.sizes import svm_accuracies

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class ClassTask:
    """One class for each row; ``labels`` are class numbers, ``weight`` what each row counts."""

    classes: np.ndarray
    labels: np.ndarray
    weight: np.ndarray | None = None

    def weight_of(self, rows: Any) -> np.ndarray | None:
        """Return the weights of some rows, None where all count alike."""
        return None if self.weight is None else self.weight[rows]

    def targets(self, rows: Any = slice(None)) -> np.ndarray:
        """Return signed targets of some rows: of the classes that are among them."""
        classes, present = np.unique(self.labels[rows], return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "A training fold holds one class only: take fewer folds (cv), or give the number "
                "of features."
            )
        return signed_targets(present, len(classes))

    def scores(
        self, X: Any, train: np.ndarray, test: np.ndarray, subsets: Sequence[np.ndarray], C: float
    ) -> tuple[list[float], int]:
        """Accuracy of a linear SVM on each subset of features, and how many were not solved."""
        weights = self.weight_of(train), self.weight_of(test)
        return svm_accuracies(X, self.labels, (train, test), subsets, C, weights)


@dataclass(frozen=True)
class LabelTask:
    """Several labels for each row: a table of zeros and ones, of which each column is a problem."""

    labels: np.ndarray

    def weight_of(self, rows: Any) -> None:
        """Return None: all rows count alike."""

    def targets(self, rows: Any = slice(None)) -> np.ndarray:
        """Return signed targets of some rows: of the labels that vary among them."""
        some = self.labels[rows]
        varies = some.min(axis=0) < some.max(axis=0)
        if not varies.any():
            raise ValueError(
                "No label is there for some rows and not for others: there is nothing to select "
                "features for."
            )
        return np.where(some[:, varies] > 0, 1.0, -1.0)

    def scores(
        self, X: Any, train: np.ndarray, test: np.ndarray, subsets: Sequence[np.ndarray], C: float
    ) -> tuple[list[float], int]:
        """Accuracy of linear SVMs, the mean over the labels; and how many were not solved."""
        found, unfinished = [], 0
        for label in self.labels.T:
            if len(np.unique(label[train])) < 2:
                found.append([float(np.mean(label[test] == label[train][0]))] * len(subsets))
                continue
            scores, count = svm_accuracies(X, label, (train, test), subsets, C)
            found.append(scores)
            unfinished += count
        return [float(score) for score in np.mean(found, axis=0)], unfinished


@dataclass(frozen=True)
class NumberTask:
    """Numbers (n x targets) to predict."""

    labels: np.ndarray

    def weight_of(self, rows: Any) -> None:
        """Return None: all rows count alike."""

    def targets(self, rows: Any = slice(None)) -> np.ndarray:
        """Return the numbers of some rows, with a mean of zero and a spread of one."""
        some = self.labels[rows]
        return TargetUnits.of(some, np.ones(len(some)), is_robust=False).numbers(some)

    def scores(
        self, X: Any, train: np.ndarray, test: np.ndarray, subsets: Sequence[np.ndarray], C: float
    ) -> tuple[list[float], int]:
        """R² of ridge regression on each subset of features, the mean over the targets."""
        units = TargetUnits.of(self.labels[train], np.ones(len(train)), is_robust=False)
        known, truth = units.numbers(self.labels[train]), units.numbers(self.labels[test])
        variance = np.maximum(np.var(truth, axis=0), np.finfo(float).tiny)
        found = []
        for chosen in subsets:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of matrices that are nearly singular
                ridge = Ridge(1.0 / C).fit(_doubles(X[train][:, chosen]), known)
            values = ridge.predict(_doubles(X[test][:, chosen])).reshape(truth.shape)
            found.append(float(np.mean(1.0 - np.mean((values - truth) ** 2, axis=0) / variance)))
        return found, 0


def _doubles(X: Any) -> Any:
    """Return rows in double precision, dense or sparse."""
    return X.astype(np.float64, copy=False)


def task_of(y: np.ndarray, task: str = "auto") -> ClassTask | LabelTask | NumberTask:
    """Return the task that a target asks for, or that is said."""
    kind = target_kind(y)
    if task == "regression" or task == "auto" and kind.startswith("continuous"):
        return NumberTask(numeric_targets(y))
    if kind == "multilabel-indicator":
        return LabelTask(np.asarray(y))
    check_labels(y)
    classes, codes = class_codes(y)
    return ClassTask(classes, codes)
