"""A fitted kernel classifier as it is given: its function, how it decides, its costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from zeronorm.base.labels import class_weights
from zeronorm.expansion import KernelExpansion


@dataclass(frozen=True)
class Decision:
    """How the outputs of an expansion become classes.

    ``is_pairs``: the outputs are pairs of classes, one against one, and the class with most
    votes wins, the first of several; else the largest output wins. ``breaks_ties``: the summed
    confidences decide between classes with as many votes. ``zero_counts``: with two classes an
    output of zero is the second class, as in libsvm.
    """

    n_classes: int
    is_pairs: bool = False
    breaks_ties: bool = False
    zero_counts: bool = False

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of classes, in the order of the outputs."""
        return [(i, j) for i in range(self.n_classes) for j in range(i + 1, self.n_classes)]

    def codes(self, expansion: KernelExpansion, X: Any) -> np.ndarray:
        """Class numbers of the rows."""
        if self.breaks_ties:
            return expansion.decision_function(X).argmax(axis=1)
        values = output_values(expansion, X)
        if self.n_classes == 2:
            is_second = values[:, 0] >= 0 if self.zero_counts else values[:, 0] > 0
            return is_second.astype(np.intp)
        if not self.is_pairs:
            return values.argmax(axis=1)
        votes = np.zeros((len(values), self.n_classes), dtype=np.intp)
        for value, (first, second) in zip(values.T, self.pairs, strict=True):
            votes[:, first] += value > 0
            votes[:, second] += ~(value > 0)
        return votes.argmax(axis=1)

    def problems(self, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows and labels -1/+1 that each output is trained on."""
        if self.n_classes > 2 and self.is_pairs:
            found = []
            for first, second in self.pairs:
                rows = np.flatnonzero((codes == first) | (codes == second))
                found.append((rows, np.where(codes[rows] == first, 1.0, -1.0)))
            return found
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        all_rows = np.arange(len(codes))
        return [(all_rows, np.where(codes == code, 1.0, -1.0)) for code in positive]


def output_values(expansion: KernelExpansion, X: Any) -> np.ndarray:
    """Values of the outputs themselves, before any vote, shape (rows, outputs)."""
    if expansion.vote_classes is not None:
        expansion = KernelExpansion(
            expansion.vectors, expansion.coef, expansion.intercept, expansion.kernel
        )
    values = expansion.decision_function(X).reshape(X.shape[0], -1)
    check_finite(values, expansion)
    return values


def check_finite(values: np.ndarray, expansion: KernelExpansion) -> None:
    """Raise ValueError if decision values overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            "Some decision values are not finite: these rows lie far outside what the "
            f"{expansion.kernel.name} kernel can represent. Scale them like the training data."
        )


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
        if not hasattr(estimator, "classes_"):
            raise ValueError(f"{type(self.model).__name__} is no classifier: it has no classes_.")
        self.classes = np.asarray(estimator.classes_)
        # The same function where vectors are equal, or have no coefficient.
        shorter = expansion.merge().prune()
        self.expansion = shorter if shorter.n_terms < expansion.n_terms else expansion
        self.decision = decision_of(estimator, len(self.classes))
        # SVC does not look at X if its kernel is a function.
        self.n_features = getattr(estimator, "n_features_in_", expansion.vectors.shape[1])

    @property
    def is_libsvm(self) -> bool:
        """Whether it was trained by libsvm."""
        return isinstance(self.model, (SVC, NuSVC))

    def with_terms(
        self, vectors: np.ndarray, coef: np.ndarray, intercept: np.ndarray
    ) -> KernelExpansion:
        """Return an expansion of the same kernel and shape with other terms."""
        given = self.expansion
        return KernelExpansion(
            vectors, coef, intercept, given.kernel, vote_classes=given.vote_classes
        )

    def costs(self) -> np.ndarray:
        """C of every output.

        NuSVC has none, and an infinite one (a hard margin) costs nothing that can be counted; the
        solution is that of an SVC whose C is the largest coefficient.
        """
        n_outputs = self.expansion.n_outputs
        C = getattr(self.model, "C_", getattr(self.model, "C", None))
        if isinstance(self.model, NuSVC) or (self.is_libsvm and C == np.inf):
            found = KernelExpansion.from_svc(self.model)
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


def decision_of(estimator: Any, n_classes: int) -> Decision:
    """Return the rule by which a fitted classifier decides."""
    if isinstance(estimator, FrozenEstimator):
        return decision_of(estimator.estimator, n_classes)
    if hasattr(estimator, "decision_rule_"):
        return estimator.decision_rule_
    if not isinstance(estimator, (SVC, NuSVC)):
        return Decision(n_classes)
    several = n_classes > 2
    breaks_ties = several and estimator.break_ties and estimator.decision_function_shape == "ovr"
    return Decision(n_classes, is_pairs=several, breaks_ties=breaks_ties, zero_counts=True)


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
