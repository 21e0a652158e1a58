"""What models are compared by on test rows: errors and losses of classes, or of numbers.

Each row has an error, which is reported and which rules look at, and a loss that says more where
rows are few, which settings are compared by. Where the scores of a model have no natural unit the
loss is taken in several, and the lowest counts.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from zeronorm.arrays import as_on, at_least, cast, namespace, to_numpy
from zeronorm.kernels import Kernel
from zeronorm.learned.calibration import calibrate
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.residuals import Residuals
from zeronorm.links import Calibration

#: What an error adds to the loss of classifiers; a row on the boundary adds one.
ERROR_WEIGHT = 2.0

#: Slopes of the sigmoid of a classifier's margins, of which the best is taken.
SLOPES = (1.0, 2.0, 4.0, 8.0, 16.0)

#: Residuals beyond so many deviations of the target count by their size, not by its square.
FAR_OUT = 3.0

#: Of more rows than support vectors are counted of, so many times as many are within the margin of
#: the reference, about.
WITHIN_MARGIN = 1.4

#: Terms that a regressor is always allowed, and a classifier with a class of a smaller share.
FEW_TERMS, RARE = 8, 0.05

#: A row is a support vector of the reference if its residual is larger, the default of SVR.
TUBE = 0.1


class Criterion(Protocol):
    """What models are compared by.

    ``fewer``: a model has at most one term for so many support vectors of the reference.
    ``standard_errors`` and ``tolerated``: the rule "loss" takes fewer terms for so many standard
    errors, or this share of the lowest loss. ``words``: what the error is called, and the estimator
    of scikit-learn that does the same.
    """

    fewer: ClassVar[int]
    standard_errors: ClassVar[float]
    tolerated: ClassVar[float]
    words: ClassVar[tuple[str, str]]

    def always_allowed(self, n_outputs: int, rarest: float) -> int:
        """Return the number of terms that a model may have, however few support vectors.

        ``rarest`` is the share of the rarest class.
        """

    def truth(self, codes: np.ndarray, rows: Rows) -> Any:
        """Return what is known of the rows: what :meth:`row_losses` and :meth:`link` take."""

    def row_losses(self, scores: Any, truth: Any) -> tuple[Any, Any]:
        """Error of each row (models x rows), and its loss in each unit (units x models x rows)."""

    def combined(self, loss: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return what models are compared by, of their lowest mean loss and their error."""

    def is_support(self, scores: Any, targets: Any) -> Any:
        """Whether an SVM with these scores has each row as a support vector of each output."""

    def support_share(
        self, rows: Rows, codes: np.ndarray, cost: np.ndarray, kernel: Kernel, active: float
    ) -> float:
        """Return the share of rows that an SVM keeps, with these costs and this kernel.

        ``active`` is the share of the reference, by :meth:`is_support`.
        """

    def svm(self, kernel: Kernel, n_rows: int) -> Any:
        """Return an SVM of scikit-learn for so many rows, whose weights are costs; or None."""

    def link(self, values: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> Any:
        """Learn what held-out rows say beyond the values of the model."""


@dataclass(frozen=True)
class OfClasses:
    """Wrong classes; and the cross-entropy of the margins, with as much again for an error.

    There is an SVC to compare with for at most so many rows, ``counted_rows``, after at most
    ``svc_steps`` of its steps for each.
    """

    counted_rows: int = 2_500
    svc_steps: int = 100

    fewer: ClassVar[int] = 10
    standard_errors: ClassVar[float] = 0.5
    tolerated: ClassVar[float] = 0.0
    words: ClassVar[tuple[str, str]] = ("error", "SVC")

    def always_allowed(self, n_outputs: int, rarest: float) -> int:
        """Return two more than outputs, or a few: a rare class has few vectors in any case."""
        return n_outputs + 2 if rarest >= RARE else max(FEW_TERMS, n_outputs + 2)

    def truth(self, codes: np.ndarray, rows: Rows) -> Any:
        """Class numbers, on the device of the rows."""
        return as_on(codes, rows.like)

    def row_losses(self, scores: Any, truth: Any) -> tuple[Any, Any]:
        """Whether each row is wrong (models x rows), and its loss in several units of the scores.

        The loss is the bits that the class takes to say, once a sigmoid of the margin is known: it
        says more than whether a row is wrong, and what the probabilities will be worth. A small C
        makes scores small, so the sigmoid has several slopes.
        """
        xp, margin = namespace(scores), margins(scores, truth)
        losses = [_bits(slope * margin) for slope in SLOPES]
        return predicted(scores) != truth, xp.stack(losses)

    def combined(self, loss: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Add the errors, which are what the model is for."""
        return loss + ERROR_WEIGHT * error

    def is_support(self, scores: Any, targets: Any) -> Any:
        """Whether rows are within the margin."""
        return scores * targets < 1.0

    def support_share(
        self, rows: Rows, codes: np.ndarray, cost: np.ndarray, kernel: Kernel, active: float
    ) -> float:
        """Count the vectors of an SVC; of more rows than folds share, those within the margin."""
        svc = self.svm(kernel, len(codes))
        if svc is None:
            return active / WITHIN_MARGIN
        with warnings.catch_warnings():  # a count that is about right will do
            warnings.simplefilter("ignore", ConvergenceWarning)
            svc.fit(to_numpy(rows.X), codes, sample_weight=cost)
        return len(svc.support_) / len(codes)

    def svm(self, kernel: Kernel, n_rows: int) -> SVC | None:
        """Return an SVC with this width; of many rows it would take as long as all the rest."""
        if kernel.name != "rbf" or n_rows > self.counted_rows:
            return None
        return SVC(C=1.0, gamma=kernel.gamma, max_iter=self.svc_steps * n_rows)

    def link(self, values: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> Calibration:
        """Learn probabilities."""
        return calibrate(values, truth, weight)


#: The criterion of classifiers.
CLASSES = OfClasses()


@dataclass(frozen=True)
class OfNumbers:
    """Share of the variance that is not explained, the mean over the targets.

    ``guessing`` is the mean square of the targets, around their middle. Unless ``is_squared`` the
    residuals of single rows far out count by their size: one outlier decides nothing.
    """

    guessing: float
    is_squared: bool = False

    fewer: ClassVar[int] = 33
    standard_errors: ClassVar[float] = 0.25
    tolerated: ClassVar[float] = 0.06
    words: ClassVar[tuple[str, str]] = ("share of the variance that is not explained", "SVR")

    def always_allowed(self, n_outputs: int, rarest: float) -> int:
        """Return a few, for any number of targets."""
        return FEW_TERMS

    def truth(self, codes: np.ndarray, rows: Rows) -> Any:
        """Targets, on the device of the rows."""
        return rows.targets.T

    def row_losses(self, scores: Any, truth: Any) -> tuple[Any, Any]:
        """Share of each row in what is not explained; the loss is the same."""
        xp = namespace(scores)
        squares = self.squares(scores - truth.T)
        errors = xp.mean(squares, axis=1) / self.guessing
        return errors, errors[None, :, :]

    def squares(self, residuals: Any) -> Any:
        """Square residuals, as far as they are not too far out."""
        xp = namespace(residuals)
        if self.is_squared:
            return residuals * residuals
        inner = xp.clip(residuals, -FAR_OUT, FAR_OUT)
        beyond = at_least(xp.abs(residuals) - FAR_OUT, 0.0)
        return inner * inner + 2.0 * FAR_OUT * beyond

    def combined(self, loss: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return the loss."""
        return loss

    def is_support(self, scores: Any, targets: Any) -> Any:
        """Whether rows are outside the tube of an SVR with its default."""
        return namespace(scores).abs(scores - targets) > TUBE

    def support_share(
        self, rows: Rows, codes: np.ndarray, cost: np.ndarray, kernel: Kernel, active: float
    ) -> float:
        """Return the share of the reference."""
        return active

    def svm(self, kernel: Kernel, n_rows: int) -> None:
        """Return none: numbers were not compared with an SVR."""

    def link(self, values: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> Residuals:
        """Keep the residuals, for intervals."""
        return Residuals(values.astype(np.float64), truth.astype(np.float64), weight)


def _bits(logits: Any) -> Any:
    """Return -log2 of the sigmoid."""
    xp = namespace(logits)
    return (at_least(-logits, 0.0) + xp.log1p(xp.exp(-xp.abs(logits)))) / float(np.log(2.0))


def margins(scores: Any, codes: Any) -> Any:
    """How far each row is on the right side (models x rows): negative where it is wrong.

    The decision value of two classes, half the lead of the own class over the next beyond.
    """
    xp = namespace(scores)
    if scores.shape[1] == 1:
        return xp.where(codes == 1, scores[:, 0, :], -scores[:, 0, :])
    is_own = codes == as_on(np.arange(scores.shape[1])[:, None], codes)
    own = xp.sum(xp.where(is_own, scores, 0.0), axis=1)
    return 0.5 * (own - xp.max(xp.where(is_own, -np.inf, scores), axis=1))


def predicted(scores: Any) -> Any:
    """Class numbers of decision values (models x outputs x rows)."""
    if scores.shape[1] > 1:
        return namespace(scores).argmax(scores, axis=1)
    return cast(scores[:, 0, :] > 0, np.int64)
