"""How many features: the cross-validated error of each number, the selection redone in each fold.

A method ranks the features of a fold once; the best r of them, for every r, are one classifier
each. No test row has any part in the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.svm import SVC


def size_path(n_features: int) -> list[int]:
    """Numbers of features to try: each about 1.4 times the one before."""
    sizes = np.unique(np.round(2.0 ** np.arange(0, 0.5 + np.log2(n_features), 0.5)).astype(int))
    return [int(size) for size in sizes if size < n_features] + [n_features]


def cross_validated_sizes(
    selector: Any,
    X: Any,
    codes: np.ndarray,
    sizes: Sequence[int],
    *,
    C: float = 1.0,
    cv: Any = 5,
    n_jobs: int | None = None,
) -> dict[str, np.ndarray]:
    """Accuracy of a linear SVM on the best features of each size.

    Parameters
    ----------
    selector : selector
        One of this package, with the parameters it is to have; it is not fitted itself.
    X, codes
        Training rows and class numbers.
    sizes : sequence of int
        Numbers of features.
    C : float
        Cost of the SVMs.
    cv, n_jobs
        As in :class:`~sklearn.model_selection.GridSearchCV`.

    Returns
    -------
    dict
        "n_features", "mean_test_accuracy", "standard_error" and the accuracy of each fold, named
        as in ``GridSearchCV.cv_results_``; "mean_test_terms" are the sizes again, for the rules
        of :mod:`zeronorm.model_selection`.
    """
    folds = list(check_cv(cv, codes, classifier=True).split(np.zeros(len(codes)), codes))
    parts = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_accuracies)(clone(selector), X, codes, train, test, sizes, C)
        for train, test in folds
    )
    accuracy = np.array(parts)
    error = accuracy.std(axis=0, ddof=1) / np.sqrt(len(folds)) if len(folds) > 1 else 0.0
    results = {f"split{i}_test_accuracy": line for i, line in enumerate(accuracy)}
    return results | {
        "n_features": np.array(sizes),
        "mean_test_terms": np.array(sizes),
        "mean_test_accuracy": accuracy.mean(axis=0),
        "standard_error": np.broadcast_to(error, len(sizes)).copy(),
    }


def _accuracies(
    selector: Any,
    X: Any,
    codes: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    sizes: Sequence[int],
    C: float,
) -> list[float]:
    if len(np.unique(codes[train])) < 2:
        raise ValueError(
            "A training fold holds one class only: take fewer folds (cv), or give the number of "
            "features."
        )
    order = selector._order_of(X[train], codes[train], min(sizes))
    subsets = [np.sort(order[:size]) for size in sizes]
    parts = X[train], codes[train], X[test], codes[test]
    return svm_accuracies(*parts, subsets, C)


def svm_accuracies(
    X: Any,
    codes: np.ndarray,
    X_test: Any,
    codes_test: np.ndarray,
    subsets: Sequence[np.ndarray],
    C: float,
) -> list[float]:
    """Accuracy on test rows of a linear SVM on each subset of the features."""
    found = []
    for chosen in subsets:
        classifier = SVC(kernel="linear", C=C).fit(X[:, chosen], codes)
        found.append(float(np.mean(classifier.predict(X_test[:, chosen]) == codes_test)))
    return found
