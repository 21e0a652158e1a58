"""How many features: the cross-validated error of each number, the selection redone in each fold.

A method ranks the features of a fold once; the best r of them, for every r, are one classifier
each. No test row has any part in the ranking.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.svm import SVC

from zeronorm.exceptions import warn
from zeronorm.model_selection import standard_error

#: Most iterations of libsvm for one SVM, a few hundred times what standardised features need. Its
#: own limit, ten million, takes minutes over all folds and sizes where the scales differ widely.
MOST_ITERATIONS = 200_000


def size_path(n_features: int) -> list[int]:
    """Numbers of features to try: each about 1.4 times the one before."""
    sizes = np.unique(np.round(2.0 ** np.arange(0, 0.5 + np.log2(n_features), 0.5)).astype(int))
    return [int(size) for size in sizes if size < n_features] + [n_features]


def cross_validated_sizes(selector: Any, X: Any, task: Any) -> dict[str, np.ndarray]:
    """Accuracy of a linear SVM, or R² of a regression, on the best features of each size.

    Parameters
    ----------
    selector : selector
        One of this package, with the parameters it is to have; it is not fitted itself.
    X, task
        Training rows, and what features are selected for (``tasks.py``).

    Returns
    -------
    dict
        "n_features", "mean_test_accuracy", "standard_error" and the accuracy of each fold, named
        as in ``GridSearchCV.cv_results_``; "mean_test_terms" are the sizes again, for the rules
        of :mod:`zeronorm.model_selection`.
    """
    folds, sizes = _checked_folds(selector.cv, task), size_path(X.shape[1])
    parts = joblib.Parallel(n_jobs=selector.n_jobs)(
        joblib.delayed(_scores)(clone(selector), X, task, train, test, sizes)
        for train, test in folds
    )
    accuracy = np.array([part for part, _ in parts])
    warn_of_unfinished(sum(count for _, count in parts), accuracy.size)
    results = {f"split{i}_test_accuracy": line for i, line in enumerate(accuracy)}
    return results | {
        "n_features": np.array(sizes),
        "mean_test_terms": np.array(sizes),
        "mean_test_accuracy": accuracy.mean(axis=0),
        "standard_error": standard_error(accuracy),
    }


def _checked_folds(cv: Any, task: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers to learn from and to judge by; ValueError where a list of splits has others."""
    codes, has_classes = task.labels, hasattr(task, "classes")
    rows = np.arange(len(codes))
    try:
        folds = list(check_cv(cv, codes, classifier=has_classes).split(np.zeros(len(codes)), codes))
        folds = [(np.atleast_1d(rows[train]), np.atleast_1d(rows[test])) for train, test in folds]
    except (IndexError, TypeError) as error:
        raise ValueError(
            "cv must be an integer, a splitter or a list of splits, each of them two lists of row "
            f"numbers from 0 to {len(codes) - 1}: {error}."
        ) from error
    if not all(len(part) for fold in folds for part in fold):
        raise ValueError("A split of cv has no rows to learn from, or none to judge by.")
    return folds


def _scores(
    selector: Any,
    X: Any,
    task: Any,
    train: np.ndarray,
    test: np.ndarray,
    sizes: Sequence[int],
) -> tuple[list[float], int]:
    selector._task_kind = type(task)
    weight = task.weight_of(train)
    order = selector._select(X[train], task.targets(train), min(sizes), weight=weight).order
    subsets = [np.sort(order[:size]) for size in sizes]
    return task.scores(X, train, test, subsets, selector.C)


def svm_accuracies(
    X: Any,
    codes: np.ndarray,
    folds: tuple[np.ndarray, np.ndarray],
    subsets: Sequence[np.ndarray],
    C: float,
    weights: Sequence[np.ndarray | None] = (None, None),
) -> tuple[list[float], int]:
    """Accuracy on test rows of a linear SVM on each subset of the features.

    ``folds`` are the rows to learn from and those to judge by, each with weights. Returned is also
    how many of these SVMs libsvm did not solve within ``MOST_ITERATIONS``.
    """
    found, n_unfinished = [], 0
    train, test = (X[fold] for fold in folds)
    for chosen in subsets:
        # A number for gamma, though it has no part: "scale" may be negative by rounding, which
        # libsvm refuses.
        classifier = SVC(kernel="linear", gamma=1.0, C=C, max_iter=MOST_ITERATIONS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
            try:
                classifier.fit(train[:, chosen], codes[folds[0]], weights[0])
            except ValueError as error:
                if "not finite" not in str(error):
                    raise  # scikit-learn says what it is, 64-bit sparse indices for instance
                raise ValueError(
                    "The linear SVMs that judge the numbers of features cannot be fitted. "
                    f"{error} Or give the number of features."
                ) from error
        n_unfinished += classifier.fit_status_
        is_right = classifier.predict(test[:, chosen]) == codes[folds[1]]
        found.append(float(np.average(is_right, weights=weights[1])))
    return found, n_unfinished


def warn_of_unfinished(count: int, total: int) -> None:
    """Warn if some of the SVMs that judge the numbers of features are not what they should be."""
    if count:
        warn(
            f"{count} of the {total} linear SVMs that judge the numbers of features stopped after "
            f"{MOST_ITERATIONS} iterations of libsvm. Standardise the features, or take a smaller "
            "C.",
            ConvergenceWarning,
        )
