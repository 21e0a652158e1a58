"""A choice by a score of the user's, and by splits that know more than rows and labels.

Models are compared on rows that they have not seen by a loss of the house (``criteria.py``), or by
any scorer of scikit-learn: then the loss of a fold is the best score there is, less its score. A
scorer is given an estimator. The values of a model on the rows that it has not seen are known
already, so that this one only repeats them.

What else is given to ``fit`` goes where scikit-learn sends it: ``groups`` to the splitter, weights
to the scorer, and with metadata routing enabled whatever they have asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metadata_routing import process_routing

from zeronorm.arrays import is_other_array, take, to_numpy
from zeronorm.base.targets import TargetUnits
from zeronorm.checks import is_integer, is_number, shown
from zeronorm.decisions import Classes

#: The best score, and that of a scorer which is a loss turned around.
BEST = (1.0, 0.0)


def routed(estimator: Any, method: str, **params: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what of the parameters of a method goes to the splitter, and what to the scorer.

    Without metadata routing ``groups`` go to the splitter, as in ``GridSearchCV``, and weights to
    the scorer, as in ``LogisticRegressionCV``.
    """
    if get_config()["enable_metadata_routing"]:
        found = process_routing(estimator, method, **params)
        return dict(found.splitter.get("split", {})), dict(found.scorer.get("score", {}))
    given = {name: value for name, value in params.items() if value is not None}
    split = {name: given.pop(name) for name in ("groups",) if name in given and method == "fit"}
    if unknown := given.keys() - {"sample_weight"}:
        raise TypeError(
            f"{type(estimator).__name__}.{method} takes sample_weight"
            f"{' and groups' if method == 'fit' else ''}; got {', '.join(sorted(unknown))}. Other "
            "metadata needs sklearn.set_config(enable_metadata_routing=True)."
        )
    return split, given


def rows_of(params: dict[str, Any], n_rows: int, rows: np.ndarray) -> dict[str, Any]:
    """Return parameters for some of the rows: what has one entry for each row is cut to them."""
    cut = {}
    for name, value in params.items():
        values = np.asarray(to_numpy(value) if is_other_array(value) else value)
        if values.shape[:1] != (n_rows,) and name in ("groups", "sample_weight"):
            raise ValueError(
                f"{name} has shape {values.shape}; it needs one entry for each of the {n_rows} "
                "rows."
            )
        cut[name] = values[rows] if values.shape[:1] == (n_rows,) else value
    return cut


@dataclass(frozen=True)
class RoutedSplitter:
    """A splitter with what it is given besides rows and labels."""

    splitter: Any
    params: dict[str, Any]

    def split(self, X: Any, y: Any) -> Any:
        """Split the rows."""
        return self.splitter.split(X, y, **self.params)


def with_params(cv: Any, params: dict[str, Any]) -> Any:
    """Return how to split, with what the splitter is given besides."""
    if not params:
        return cv
    if is_integer(cv) or not hasattr(cv, "split"):
        raise ValueError(
            f"{', '.join(params)} would have no part in cv={shown(cv)}: give a splitter that takes "
            "groups, such as cv=StratifiedGroupKFold(5) or GroupKFold(5) of "
            "sklearn.model_selection."
        )
    return RoutedSplitter(cv, params)


class HeldOutClassifier(ClassifierMixin, BaseEstimator):
    """What a classifier says of rows that it has not seen; ``link`` makes its probabilities."""

    def __init__(self, classes: np.ndarray, values: np.ndarray, link: Any) -> None:
        self.classes, self.values, self.link = classes, values, link
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values."""
        values = _all_of(self.values, X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes."""
        return Classes(self.classes).predict(self.decision_function(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities, by a link that is learned from these rows."""
        return self.link()(self.decision_function(X))


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """What a regressor says of rows that it has not seen, in units of the targets."""

    def __init__(self, units: TargetUnits, values: np.ndarray, link: Any) -> None:
        self.units, self.values, self.link = units, values, link

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions."""
        values = self.units.centre + self.units.scale * _all_of(self.values, X)
        return values[:, 0] if values.shape[1] == 1 else values


def _all_of(values: np.ndarray, X: Any) -> np.ndarray:
    if X.shape[0] != len(values):
        raise ValueError(
            f"scoring has asked a model about {X.shape[0]} rows; to choose it must be asked about "
            f"the {len(values)} that the scorer was given, all at once."
        )
    return values


@dataclass(frozen=True)
class Scoring:
    """A scorer, and what it is given: rows, truth and further parameters, one for each row.

    ``answers`` makes an estimator of values and of a function that learns a link.
    """

    scorer: Any
    answers: Callable[[np.ndarray, Callable[[], Any]], Any]
    data: Any
    truth: np.ndarray
    params: dict[str, Any]

    def take(self, rows: np.ndarray) -> Scoring:
        """Return the scoring of some of the rows."""
        params = rows_of(self.params, len(self.truth), rows)
        return replace(self, data=take(self.data, rows), truth=self.truth[rows], params=params)

    def losses(
        self, values: list[Any], indices: list[np.ndarray], link: Callable[[], Any]
    ) -> np.ndarray:
        """Return the loss of a model on each of some sets of rows, of its values there."""
        learned = cache(link)  # once, and only if the scorer asks for probabilities
        folds = zip(values, indices, strict=True)
        return np.array([self._loss(*fold, learned) for fold in folds], dtype=float)

    def _loss(self, values: Any, rows: np.ndarray, link: Callable[[], Any]) -> float:
        some = self.take(rows)
        model = self.answers(to_numpy(values).astype(float), link)
        try:
            score = some.scorer(model, some.data, some.truth, **some.params)
        except ValueError as error:
            raise ValueError(f"scoring failed on rows held out: {error}") from error
        if not is_number(score):
            raise ValueError(
                f"scoring must give one finite number; on rows held out it gave {shown(score)}. "
                "Take fewer folds, or stratified ones, if classes are missing in some."
            )
        return BEST[_is_loss(self.scorer)] - float(score)


def best_score(scoring: Scoring | None) -> float | None:
    """Return the best score there is, which losses are what is missing to; None without one."""
    return None if scoring is None else BEST[_is_loss(scoring.scorer)]


def _is_loss(scorer: Any) -> bool:
    """Whether a scorer is a loss that was turned around, as ``neg_log_loss`` is."""
    return getattr(scorer, "_sign", 1) < 0
