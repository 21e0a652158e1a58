"""What a reduction needs to know of a fitted kernel machine: its function, decision and costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.svm import NuSVC, NuSVR

from zeronorm.base.labels import class_weights, signed_targets
from zeronorm.base.targets import TargetUnits
from zeronorm.checks import is_number
from zeronorm.decisions import Number, OneClass
from zeronorm.expansion import KernelExpansion
from zeronorm.libsvm import CLASSIFIERS, expansion_of
from zeronorm.model import Model
from zeronorm.reduction.problem import GivenRows, SubsetProblem, output_values
from zeronorm.solvers.losses import Hinge, insensitive, one_class, with_offset

#: Share of changed decisions beyond which the smaller model is no longer that model.
MUCH = 0.2


class Given(ABC):
    """A fitted kernel machine: its function, and what is to be known to make it smaller.

    Parameters
    ----------
    estimator : fitted machine
        One of libsvm or of zeronorm, as it is or in a FrozenEstimator.
    """

    #: Where values of the function are computed.
    device: str | None = None

    #: How its values become answers, where that can change; classes alone have a rule.
    rule: Any = None

    def __init__(self, estimator: Any) -> None:
        self.model = innermost(estimator)
        expansion = KernelExpansion.from_estimator(estimator)
        model = Model.from_estimator(estimator)
        self._take_decision(model)
        # The same function where vectors are equal, or have no coefficient.
        shorter = expansion.merge().prune()
        self.expansion = shorter if shorter.n_terms < expansion.n_terms else expansion
        self.n_features = model.n_features_in_

    @abstractmethod
    def _take_decision(self, model: Model) -> None:
        """Look at what the values mean; ValueError if it is something else than expected."""

    @abstractmethod
    def answers(self, outputs: np.ndarray, rule: Any) -> np.ndarray:
        """Return what the model says about rows with these outputs."""

    def change(self, before: np.ndarray, after: np.ndarray, weight: Any) -> float:
        """How far other answers are from the model's: ``changed_``, and what max_error limits.

        It is the share of other decisions.
        """
        return float(np.average(before != after, weights=weight))

    def changed_text(self, changed: float) -> str:
        """Say how much has changed."""
        return f"{changed:.2%} of the decisions change"

    def doubt(self, reducer: Any) -> str | None:
        """Return a sentence if the smaller model is no longer this model."""
        if reducer.changed_ <= MUCH:
            return None
        return (
            f"With {reducer.n_terms_} terms {100 * reducer.changed_:.1f} % of the decisions are "
            "not those of the model. Take a larger n_terms, or max_error to find it."
        )

    def lost(self, expansion: KernelExpansion, rows: GivenRows | None) -> np.ndarray:
        """Return what another function lacks of the mean on the own vectors."""
        vectors = self.expansion.vectors
        own, others = (
            output_values(one, vectors, self.device) for one in (self.expansion, expansion)
        )
        return (own - others).mean(axis=0)

    @abstractmethod
    def hinges(self, rows: GivenRows) -> Iterator[tuple[np.ndarray, Hinge]]:
        """Yield the rows that each output is trained on again, and their hinges.

        There are more hinges than rows in regression (each row twice) and in the one-class machine
        (one of no features): ``design`` arranges the features accordingly.
        """

    def design(self, features: np.ndarray) -> np.ndarray:
        """Arrange features of rows as their hinges want them."""
        return features

    @abstractmethod
    def subset_problem(self, rows: GivenRows) -> SubsetProblem:
        """Return what sets of the vectors are judged by."""

    def search_cost(self, rows: GivenRows) -> float:
        """Return the C to begin a search with: the model's, or one where it has none."""
        return 1.0


class GivenClasses(Given):
    """A fitted kernel classifier."""

    def _take_decision(self, model: Model) -> None:
        if not hasattr(model, "classes_"):
            raise ValueError(f"{type(self.model).__name__} is no classifier: it has no classes_.")
        self.classes, self.rule = model.classes_, model.decision.rule

    def answers(self, outputs: np.ndarray, rule: Any) -> np.ndarray:
        """Return class numbers."""
        return rule.codes(outputs)

    def weighted_rows(self, rows: GivenRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows that count, their class numbers, and their weights times those of the classes."""
        counts = rows.counting
        codes = np.searchsorted(self.classes, rows.y[counts])
        weight = rows.weight[counts]
        if isinstance(self.model, CLASSIFIERS):
            factors = np.asarray(self.model.class_weight_)
        else:
            factors = class_weights(self.model.class_weight, self.classes, codes, weight)
        return counts, codes, weight * factors[codes]

    def hinges(self, rows: GivenRows) -> Iterator[tuple[np.ndarray, Hinge]]:
        """Yield rows and hinges of each class, or pair of classes."""
        counts, codes, weight = self.weighted_rows(rows)
        for C, (part, target) in zip(self.costs(), self.rule.problems(codes), strict=True):
            yield counts[part], Hinge(target, C * weight[part])

    def costs(self) -> np.ndarray:
        """C of every output.

        NuSVC has none, and an infinite one (a hard margin) costs nothing that can be counted; the
        solution is that of an SVC whose C is the largest coefficient.
        """
        C = getattr(self.model, "C_", getattr(self.model, "C", None))
        if isinstance(self.model, NuSVC) or (isinstance(self.model, CLASSIFIERS) and C == np.inf):
            found = expansion_of(self.model)
            factors = np.repeat(self.model.class_weight_, self.model.n_support_)
            return (np.abs(found.coef) / factors[:, None]).max(axis=0)
        if C is None:
            raise ValueError(
                f"{type(self.model).__name__} has no C to train the coefficients again with; take "
                "method='reduced_set'."
            )
        return np.full(self.expansion.n_outputs, float(C))

    def subset_problem(self, rows: GivenRows) -> SubsetProblem:
        """Return the hinges of each class against the rest."""
        counts, codes, weight = self.weighted_rows(rows)
        return SubsetProblem(counts, signed_targets(codes, len(self.classes)), weight)

    def search_cost(self, rows: GivenRows) -> float:
        """Return the C to begin a search with: the model's, or one where it has none."""
        has_cost = isinstance(self.model, NuSVC) or hasattr(self.model, "C")
        return float(self.costs().max()) if has_cost else 1.0


class GivenNumbers(Given):
    """A fitted kernel regressor."""

    def _take_decision(self, model: Model) -> None:
        if not isinstance(model.decision, Number):
            raise ValueError(
                f"{type(self.model).__name__} is no kernel regressor such as SVR: there are "
                "SVCReducer and OneClassReducer too."
            )

    def answers(self, outputs: np.ndarray, rule: Any) -> np.ndarray:
        """Return the predictions."""
        return outputs

    def change(self, before: np.ndarray, after: np.ndarray, weight: Any) -> float:
        """Root mean square of the change of predictions, in units of the target."""
        self.spread = float(np.sqrt(np.mean(np.var(before, axis=0))))
        squares = np.mean(np.square(after - before), axis=1)
        return float(np.sqrt(np.average(squares, weights=weight)))

    def changed_text(self, changed: float) -> str:
        """Say how much has changed."""
        return f"predictions change by {changed:.3g} (root mean square)"

    def doubt(self, reducer: Any) -> str | None:
        """Return a sentence if predictions change by much beside their spread."""
        spread = getattr(self, "spread", np.inf)  # nothing was compared
        if reducer.changed_ <= MUCH * spread:
            return None
        return (
            f"With {reducer.n_terms_} terms predictions are {reducer.changed_:.3g} from the "
            f"model's (root mean square), whose spread is {spread:.3g}. Take a larger n_terms, or "
            "max_error to find it."
        )

    def hinges(self, rows: GivenRows) -> Iterator[tuple[np.ndarray, Hinge]]:
        """Yield the hinges of both sides of the tube, for each target."""
        C, epsilon = self._cost_and_tube()
        counts, targets = self._targets(rows)
        for target in targets.T:
            yield counts, insensitive(target, C * rows.weight[counts], epsilon)

    def _cost_and_tube(self) -> tuple[float, float]:
        C: Any = getattr(self.model, "C", None)
        epsilon: Any = getattr(self.model, "epsilon", None)
        if isinstance(self.model, NuSVR) or not (is_number(C) and is_number(epsilon)):
            raise ValueError(
                f"{type(self.model).__name__} has no C and epsilon to train the coefficients again "
                "with; take method='reduced_set'."
            )
        return float(C), float(epsilon)

    def _targets(self, rows: GivenRows) -> tuple[np.ndarray, np.ndarray]:
        """Rows that count, and their targets (rows x targets)."""
        return rows.counting, rows.y.reshape(len(rows.y), -1)[rows.counting]

    def subset_problem(self, rows: GivenRows) -> SubsetProblem:
        """Return the hinges of both sides of the tube, targets in units of their spread."""
        _, epsilon = self._cost_and_tube()
        counts, targets = self._targets(rows)
        units = TargetUnits.of(targets, rows.weight[counts], is_robust=False)
        pairs = zip(units.numbers(targets).T, units.scale, strict=True)
        hinges = [insensitive(one, rows.weight[counts], epsilon / scale) for one, scale in pairs]
        return SubsetProblem(
            counts,
            np.column_stack([hinge.target for hinge in hinges]),
            hinges[0].cost,
            np.column_stack([hinge.margin for hinge in hinges]),
            copies=2,
            scale=units.scale,
            centre=units.centre,
        )

    def search_cost(self, rows: GivenRows) -> float:
        """Return the model's C for a target in units of its spread."""
        counts, targets = self._targets(rows)
        scale = TargetUnits.of(targets, rows.weight[counts], is_robust=False).scale
        return self._cost_and_tube()[0] / float(np.sqrt(np.mean(scale**2)))

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return the features twice: one hinge for each side of the tube."""
        return np.tile(features, (2, 1))


class GivenOneClass(Given):
    """A fitted one-class machine."""

    def _take_decision(self, model: Model) -> None:
        if not isinstance(model.decision, OneClass):
            raise ValueError(
                f"{type(self.model).__name__} is no one-class machine such as OneClassSVM: there "
                "are SVCReducer and SVRReducer too."
            )

    def answers(self, outputs: np.ndarray, rule: Any) -> np.ndarray:
        """Whether rows are inside."""
        return outputs[:, 0] > 0

    def lost(self, expansion: KernelExpansion, rows: GivenRows | None) -> np.ndarray:
        """Return what another function lacks to have as many rows outside; or, without, a mean."""
        if rows is None:
            return super().lost(expansion, rows)
        counts = rows.X[rows.counting]
        outside = int(np.sum(output_values(self.expansion, counts, self.device)[:, 0] <= 0))
        values = np.sort(output_values(expansion, counts, self.device)[:, 0])
        ends = values[max(0, outside - 1)], values[min(outside, len(values) - 1)]
        return np.array([-0.5 * (ends[0] + ends[1])])

    def hinges(self, rows: GivenRows) -> Iterator[tuple[np.ndarray, Hinge]]:
        """Yield the hinges of the machine, as libsvm scales it: a row of weight one costs one."""
        counts = rows.counting
        weight, nu = rows.weight[counts], float(self.model.nu)
        # The offset cannot be larger than all values; beyond twice the largest is beyond reach.
        values = self.expansion.outputs(rows.X[counts])[:, 0] - self.expansion.intercept[0]
        yield counts, one_class(weight, nu * float(weight.sum()), 2.0 * float(values.max()))

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return the features, and a row of none: that of the offset."""
        return with_offset(features)

    def subset_problem(self, rows: GivenRows) -> SubsetProblem:
        """Return the hinges of the machine's own decisions: it has no other labels."""
        counts = rows.counting
        values = output_values(self.expansion, rows.X[counts], self.device)[:, 0]
        targets = np.where(values > 0, 1.0, -1.0)
        if np.ptp(targets) == 0:
            raise ValueError(
                "The machine decides alike on all rows: there is nothing that a search among its "
                "vectors could tell apart. Take method='reduced_set', or rows of both kinds."
            )
        return SubsetProblem(counts, targets[:, None], rows.weight[counts], reference=values)

    def search_cost(self, rows: GivenRows) -> float:
        """Return 1 / nu: those outside, about the share nu, are then worth as much as all rows."""
        return 1.0 / float(self.model.nu)


def innermost(estimator: Any) -> Any:
    """Return the classifier that was trained, out of what is around it."""
    if isinstance(estimator, FrozenEstimator):
        return innermost(estimator.estimator)
    if hasattr(estimator, "changed_"):  # a reducer: what it made smaller
        return innermost(estimator.estimator_)
    return estimator
