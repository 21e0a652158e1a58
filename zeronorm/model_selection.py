"""Choosing parameters when both the error and the number of terms count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, is_regressor
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import check_is_fitted

from zeronorm.checks import check_one_of, shown


def count_terms(estimator: Any) -> int:
    """Count the kernel terms of a fitted classifier: ours, an SVC, or the last of a pipeline.

    The inner products of a linear part, one for each output, are counted with them.
    """
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    if hasattr(estimator, "n_terms_"):
        return int(estimator.n_terms_) + len(getattr(estimator, "linear_coef_", ()))
    if hasattr(estimator, "support_"):
        return len(estimator.support_)
    raise ValueError(f"{type(estimator).__name__} has no kernel terms to count.")


def scorer_of(scoring: Any) -> Any:
    """Return the scorer that a parameter names or is; None of none, ValueError of anything else."""
    if scoring is None or callable(scoring):
        return scoring
    if isinstance(scoring, str) and scoring in get_scorer_names():
        return get_scorer(scoring)
    raise ValueError(
        "scoring must be None, the name of a scorer of scikit-learn "
        f"(sklearn.metrics.get_scorer_names()), or a callable; got {shown(scoring)}."
    )


def accuracy_and_terms(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """Score for :class:`~sklearn.model_selection.GridSearchCV`: accuracy and terms."""
    accuracy = accuracy_score(y, estimator.predict(X))
    return {"accuracy": accuracy, "terms": float(count_terms(estimator))}


def standard_error(folds: np.ndarray, repeats: int = 1) -> np.ndarray:
    """Return the standard error of the mean over the first axis; zero of one fold only.

    Folds that were drawn several times hold the same rows again: they count once.
    """
    if len(folds) < 2:
        return np.zeros(folds.shape[1:])
    return folds.std(axis=0, ddof=1) / np.sqrt(len(folds) / repeats)


def sparsest_good(accuracy: np.ndarray, terms: np.ndarray, rule: str, repeats: int = 1) -> int:
    """Index of the candidate that a rule keeps; among equally sparse ones the more accurate.

    Parameters
    ----------
    accuracy : ndarray of shape (n_folds, n_candidates)
        Accuracy on each fold.
    terms : ndarray of shape (n_candidates,)
        Numbers of terms.
    rule : {"one_se", "paired_se", "best"}
        "one_se": the sparsest within one standard error of the best one's mean (Breiman et al.,
        1984). "paired_se": with the standard error of the difference from the best, fold by fold:
        what makes a fold hard for all candidates does not count, which picks larger and more
        accurate models. "best": the most accurate.
    repeats : int
        How often the folds were drawn.
    """
    mean = accuracy.mean(axis=0)
    best = np.lexsort((terms, -mean))[0]
    if rule == "best":
        return int(best)
    compared = accuracy[:, best] if rule == "one_se" else accuracy[:, [best]] - accuracy
    good = np.flatnonzero(mean >= mean.max() - standard_error(compared, repeats))
    return int(good[np.lexsort((-mean[good], terms[good]))[0]])


#: The rules of :func:`sparsest_good`.
RULES = ("one_se", "paired_se", "best")


def check_rule(rule: Any, rules: tuple[str, ...] = RULES) -> None:
    """Raise ValueError unless this is one of the rules."""
    check_one_of("rule", rule, rules)


def chosen(cv_results: dict[str, Any], rule: str = "one_se", score: str = "accuracy") -> int:
    """Index of the candidate that a rule keeps of the results of a grid search."""
    names = (f"split{i}_test_{score}" for i in range(len(cv_results)))
    accuracy = np.array([cv_results[name] for name in names if name in cv_results])
    return sparsest_good(accuracy, np.asarray(cv_results["mean_test_terms"]), rule)


@dataclass
class ScoreAndTerms:
    """Score for :class:`~sklearn.model_selection.GridSearchCV`: that of a scorer, and terms."""

    scorer: Any

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> dict[str, float]:
        """Return both."""
        score = self.scorer(estimator, X, y, **params)
        return {"score": score, "terms": float(count_terms(estimator))}

    def get_metadata_routing(self) -> Any:
        """Return what the scorer asks for."""
        return get_routing_for_object(self.scorer)


class _SparseSearch(GridSearchCV):
    """A grid search whose own score is that of the chosen model: the accuracy, or its scorer's."""

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score; scikit-learn's own looks for a metric called like the refit rule."""
        check_is_fitted(self)
        if isinstance(self.scoring, ScoreAndTerms):
            if get_config()["enable_metadata_routing"]:
                params = process_routing(self, "score", **params).scorer.score
            return float(self.scoring.scorer(self.best_estimator_, X, y, **params))
        return float(accuracy_score(y, self.predict(X), **params))


def sparse_search(
    estimator: BaseEstimator,
    param_grid: Any,
    *,
    rule: str = "one_se",
    scoring: Any = None,
    cv: Any = 5,
    n_jobs: int | None = None,
) -> GridSearchCV:
    """Return an unfitted grid search that keeps the sparsest good model.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A kernel classifier, alone or at the end of a pipeline; or a regressor, with ``scoring``.
    param_grid : dict or list of dict
        As in :class:`~sklearn.model_selection.GridSearchCV`.
    rule : {"one_se", "paired_se", "best"}, default="one_se"
        Keep the sparsest model within one standard error of the best cross-validated accuracy,
        the sparsest within one standard error of the fold-by-fold difference from the best, or
        the most accurate.
    scoring : str or callable, optional
        A scorer of scikit-learn whose score takes the place of the accuracy ("score" in
        ``cv_results_``), in the rule and in ``score``.
    cv, n_jobs
        As in :class:`~sklearn.model_selection.GridSearchCV`, whose ``fit`` takes ``groups`` for a
        splitter of groups, and other metadata where routing is enabled.

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
    check_rule(rule)
    if scoring is None and is_regressor(estimator):
        raise ValueError(
            f"{type(estimator).__name__} predicts numbers, which have no accuracy: give scoring, "
            "such as scoring='r2'."
        )
    scorer, refit = scorer_of(scoring), partial(chosen, rule=rule)
    if scorer is not None:
        refit = partial(refit, score="score")
    return _SparseSearch(
        estimator,
        param_grid,
        scoring=accuracy_and_terms if scorer is None else ScoreAndTerms(scorer),
        refit=refit,
        cv=cv,
        n_jobs=n_jobs,
        error_score="raise",
    )
