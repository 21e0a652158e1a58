"""What a reduction needs to know of a fitted kernel classifier: its function, rule and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import NuSVC
from sklearn.utils.validation import check_is_fitted

from zeronorm.base.labels import class_weights
from zeronorm.decisions import DecisionRule, pairs_of
from zeronorm.expansion import KernelExpansion
from zeronorm.libsvm import CLASSIFIERS, expansion_of
from zeronorm.model import Model


class GivenModel:
    """A fitted kernel classifier.

    Parameters
    ----------
    estimator : fitted classifier
        SVC, NuSVC or one of zeronorm, as it is or in a FrozenEstimator.
    """

    def __init__(self, estimator: Any) -> None:
        self.model = innermost(estimator)
        expansion = KernelExpansion.from_estimator(estimator)
        model = Model.from_estimator(estimator)
        if not hasattr(model, "classes_"):
            raise ValueError(f"{type(self.model).__name__} is no classifier: it has no classes_.")
        self.classes = model.classes_
        # The same function where vectors are equal, or have no coefficient.
        shorter = expansion.merge().prune()
        self.expansion = shorter if shorter.n_terms < expansion.n_terms else expansion
        self.rule = model.decision.rule
        self.n_features = model.n_features_in_

    @property
    def is_libsvm(self) -> bool:
        """Whether it was trained by libsvm."""
        return isinstance(self.model, CLASSIFIERS)

    def with_terms(
        self, vectors: np.ndarray, coef: np.ndarray, intercept: np.ndarray
    ) -> KernelExpansion:
        """Return an expansion of the same kernel, linear part and shape with other terms."""
        return self.expansion.with_terms(vectors, coef, intercept)

    def costs(self) -> np.ndarray:
        """C of every output.

        NuSVC has none, and an infinite one (a hard margin) costs nothing that can be counted; the
        solution is that of an SVC whose C is the largest coefficient.
        """
        n_outputs = self.expansion.n_outputs
        C = getattr(self.model, "C_", getattr(self.model, "C", None))
        if isinstance(self.model, NuSVC) or (self.is_libsvm and C == np.inf):
            found = expansion_of(self.model)
            factors = np.repeat(self.model.class_weight_, self.model.n_support_)
            return (np.abs(found.coef) / factors[:, None]).max(axis=0)
        if C is None:
            raise ValueError(
                f"{type(self.model).__name__} has no C to train the coefficients again with; take "
                "method='reduced_set'."
            )
        return np.full(n_outputs, float(C))

    def search_cost(self) -> float:
        """Return the C to begin a search with: the model's, or one where it has none."""
        has_cost = isinstance(self.model, NuSVC) or hasattr(self.model, "C")
        return float(self.costs().max()) if has_cost else 1.0

    def class_factors(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Factor of C for each class."""
        if self.is_libsvm:
            return np.asarray(self.model.class_weight_)
        return class_weights(self.model.class_weight, self.classes, codes, weight)


def innermost(estimator: Any) -> Any:
    """Return the classifier that was trained, out of what is around it."""
    if isinstance(estimator, FrozenEstimator):
        return innermost(estimator.estimator)
    if hasattr(estimator, "decision_rule_"):  # a reducer: what it made smaller
        return innermost(estimator.estimator_)
    return estimator


def output_problems(rule: DecisionRule, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and labels -1/+1 that each output is trained on."""
    if rule.n_classes > 2 and rule.is_pairs:
        found = []
        for first, second in pairs_of(rule.n_classes):
            rows = np.flatnonzero((codes == first) | (codes == second))
            found.append((rows, np.where(codes[rows] == first, 1.0, -1.0)))
        return found
    positive = [1] if rule.n_classes == 2 else range(rule.n_classes)
    all_rows = np.arange(len(codes))
    return [(all_rows, np.where(codes == code, 1.0, -1.0)) for code in positive]


def check_kernel_machine(estimator: Any) -> None:
    """Raise ValueError for what is no kernel classifier, where that can be seen before fitting."""
    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if isinstance(inner, Pipeline):
        raise ValueError(
            "A pipeline is no kernel classifier; its last step may be. Reduce that: in a pipeline, "
            "put the reducer last, around the classifier; of a fitted one, take "
            "FrozenEstimator(pipeline[-1]) and fit with pipeline[:-1].transform(X)."
        )
    if isinstance(inner, BaseSearchCV):
        raise ValueError(f"Take the best_estimator_ of the {type(inner).__name__}.")
    if not hasattr(inner, "fit") or isinstance(inner, type):
        raise ValueError(f"estimator must be a kernel classifier such as SVC(); got {inner!r}.")
    if inner is not estimator:
        check_is_fitted(inner)
