"""Choosing parameters when both the error and the number of terms count."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def count_terms(estimator: Any) -> int:
    """Count the kernel terms of a fitted classifier: ours, an SVC, or the last of a pipeline."""
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    if hasattr(estimator, "n_terms_"):
        return int(estimator.n_terms_)
    if hasattr(estimator, "support_"):
        return len(estimator.support_)
    raise ValueError(f"{type(estimator).__name__} has no kernel terms to count.")


def accuracy_and_terms(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """Score for :class:`~sklearn.model_selection.GridSearchCV`: accuracy and terms."""
    accuracy = accuracy_score(y, estimator.predict(X))
    return {"accuracy": accuracy, "terms": float(count_terms(estimator))}


def one_standard_error(cv_results: dict[str, Any]) -> int:
    """Index of the sparsest candidate whose accuracy is within one standard error of the best.

    The standard error is that of the best candidate's mean over the folds (Breiman et al., 1984).
    Among equally sparse candidates the more accurate wins. A refit rule for
    :class:`~sklearn.model_selection.GridSearchCV` with :func:`accuracy_and_terms` as its score.
    """
    folds = _fold_accuracies(cv_results)
    best = best_accuracy(cv_results)
    return _sparsest(cv_results, folds.mean(axis=0), _standard_error(folds[:, [best]]))


def paired_standard_error(cv_results: dict[str, Any]) -> int:
    """Index of the sparsest candidate that is not clearly worse than the best, fold by fold.

    Like :func:`one_standard_error`, but with the standard error of the difference from the best
    on the same folds: what makes a fold hard for all candidates does not count. Picks larger and
    more accurate models.
    """
    folds = _fold_accuracies(cv_results)
    difference = folds[:, [best_accuracy(cv_results)]] - folds
    return _sparsest(cv_results, folds.mean(axis=0), _standard_error(difference))


def _fold_accuracies(cv_results: dict[str, Any]) -> np.ndarray:
    names = (f"split{i}_test_accuracy" for i in range(len(cv_results)))
    return np.array([cv_results[name] for name in names if name in cv_results])


def _standard_error(folds: np.ndarray) -> np.ndarray:
    if len(folds) < 2:
        return np.zeros(folds.shape[1])
    return folds.std(axis=0, ddof=1) / np.sqrt(len(folds))


def _sparsest(cv_results: dict[str, Any], mean: np.ndarray, error: np.ndarray) -> int:
    """Index of the sparsest candidate within ``error`` of the best; the more accurate of equals."""
    good = np.flatnonzero(mean >= mean.max() - error)
    terms = np.asarray(cv_results["mean_test_terms"])[good]
    return int(good[np.lexsort((-mean[good], terms))[0]])


def best_accuracy(cv_results: dict[str, Any]) -> int:
    """Index of the most accurate candidate; among equals the sparsest."""
    accuracy = np.asarray(cv_results["mean_test_accuracy"])
    return int(np.lexsort((cv_results["mean_test_terms"], -accuracy))[0])


RULES = {
    "one_se": one_standard_error,
    "paired_se": paired_standard_error,
    "best": best_accuracy,
}


class _SparseSearch(GridSearchCV):
    """A grid search whose own score is the accuracy of the chosen model."""

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Accuracy; scikit-learn's own looks for a metric called like the refit rule."""
        check_is_fitted(self)
        return float(accuracy_score(y, self.predict(X), **params))


def sparse_search(
    estimator: BaseEstimator,
    param_grid: Any,
    *,
    rule: str = "one_se",
    cv: Any = 5,
    n_jobs: int | None = None,
) -> GridSearchCV:
    """Return an unfitted grid search that keeps the sparsest good model.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A kernel classifier, alone or at the end of a pipeline.
    param_grid : dict or list of dict
        As in :class:`~sklearn.model_selection.GridSearchCV`.
    rule : {"one_se", "paired_se", "best"}, default="one_se"
        Keep the sparsest model within one standard error of the best cross-validated accuracy,
        the sparsest within one standard error of the fold-by-fold difference from the best, or
        the most accurate.
    cv, n_jobs
        As in :class:`~sklearn.model_selection.GridSearchCV`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.model_selection import sparse_search
    >>> X, y = make_moons(120, noise=0.2, random_state=0)
    >>> search = sparse_search(ZeroNormSVC(), {"C": [1, 10], "gamma": [0.5, 2]}, cv=3).fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")
    return _SparseSearch(
        estimator,
        param_grid,
        scoring=accuracy_and_terms,
        refit=RULES[rule],
        cv=cv,
        n_jobs=n_jobs,
        error_score="raise",
    )
