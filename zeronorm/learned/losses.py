"""What the values of joint models cost on a row: the loss of classification, and of regression.

Every loss here is a function of one slack s >= 0 for each row and output,

    h(s) = 1/2 s^2  up to a width,   width * s - 1/2 width^2  beyond,

which is the smoothed form of ``solvers/losses.py`` with a stiffness of one, without its base. The
slack says by how much, and the direction to which side, a score f should move:

    squared hinge         s = max(0, 1 - y f)          towards the label y;   width infinite
    rounded hinge         the same                                            width finite
    epsilon-insensitive   s = max(0, |y - f| - eps)    towards the target y

With a small width (and C / width for C) the second is the loss of SVR, with an infinite one it is
the squared loss outside the tube, and without a tube the squared loss. Between them it is Huber's.
All are convex and smooth, which is all that descent (``descent.py``, ``stochastic.py``) and
certificate (``coefficients.py``) ask for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, at_least, double, namespace
from zeronorm.learned.kernel_sets import Counted, Rows
from zeronorm.solvers.newton.rounded_hinge import WIDTH


class RowLoss(ABC):
    """A loss of rows; see the module docstring."""

    width: float = np.inf

    @abstractmethod
    def slack(self, scores: Any, targets: Any) -> tuple[Any, Any]:
        """Return the slack of every score, and the direction in which it should move.

        ``scores`` (models, outputs, n) are overwritten.
        """

    @abstractmethod
    def is_curved(self, scores: Any, targets: Any) -> Any:
        """Whether the loss has a curvature at these scores."""

    def total(self, scores: Any, rows: Rows | Counted, cost: Any) -> tuple[Any, Any]:
        """Return the loss of every model, and its derivative by the scores.

        Parameters
        ----------
        scores : ndarray of shape (models, outputs, n)
            Decision values; overwritten.
        rows : Rows
            Targets, and factors of the costs of every output.
        cost : ndarray of shape (models, n)
            Cost of every row.
        """
        xp, counted = namespace(scores), rows.counted
        if counted is not None:
            return self._total_of(counted, scores, cost)
        slack, direction = self.slack(scores, rows.targets)
        steepness = self._steepness(slack)
        slope = steepness * rows.factors
        slope *= cost[:, None, :]
        if steepness is not slack:
            slack = 2.0 * slack - steepness
        value = 0.5 * xp.sum(slope * slack, axis=(1, 2), dtype=double(slope))
        slope *= -direction
        return value, slope

    def _total_of(self, counted: Counted, scores: Any, cost: Any) -> tuple[Any, Any]:
        """Return the same, of scores of which few count: all others have a slope of zero."""
        chosen = np.take(scores.reshape(len(scores), 1, -1), counted.entries, axis=2)
        value, slope = self.total(chosen, counted, np.take(cost, counted.rows, axis=1))
        all_slopes = np.zeros(scores.shape, scores.dtype)
        all_slopes.reshape(len(scores), -1)[:, counted.entries] = slope[:, 0, :]
        return value, all_slopes

    def of_outputs(self, scores: Any, rows: Rows, cost: Any) -> Any:
        """Return the loss of every output (models, outputs)."""
        slack, _ = self.slack(scores, rows.targets)
        steepness = self._steepness(slack)
        weight = cost[:, None, :] * rows.factors
        if steepness is slack:
            return 0.5 * namespace(scores).sum(weight * slack * slack, axis=2)
        doubled = (2.0 * slack - steepness) * steepness
        return 0.5 * namespace(scores).sum(weight * doubled, axis=2)

    def second_order(self, scores: Any, rows: Rows, cost: Any) -> tuple[Any, Any]:
        """Second and first derivative of the loss by the scores (models, outputs, rows)."""
        weight = cost[:, None, :] * rows.factors
        is_curved = self.is_curved(scores, rows.targets)
        slack, direction = self.slack(scores, rows.targets)
        slope = -direction * self._steepness(slack) * weight
        return namespace(weight).where(is_curved, weight, 0.0), slope

    def _steepness(self, slack: Any) -> Any:
        """Differentiate h by the slack."""
        return slack if self.width == np.inf else namespace(slack).clip(slack, 0.0, self.width)


@dataclass(frozen=True)
class SquaredHinge(RowLoss):
    """Half the squared hinge of each output, for targets -1 and +1."""

    def slack(self, scores: Any, targets: Any) -> tuple[Any, Any]:
        """Return what each row lacks of a margin of one."""
        scores *= targets
        return at_least(1.0 - scores, 0.0), targets

    def is_curved(self, scores: Any, targets: Any) -> Any:
        """Whether a row is within the margin."""
        return scores * targets < 1.0


#: The loss of classifiers.
SQUARED_HINGE = SquaredHinge()


@dataclass(frozen=True)
class RoundedHinge(SquaredHinge):
    """The hinge, rounded off over a width: with C / width for C that of ``rounded_hinge.py``."""

    width: float = WIDTH

    def is_curved(self, scores: Any, targets: Any) -> Any:
        """Whether a row is within the margin, and not beyond the width."""
        margin = scores * targets
        return (margin < 1.0) & (margin > 1.0 - self.width)


@dataclass(frozen=True)
class Insensitive(RowLoss):
    """The epsilon-insensitive loss, its corner rounded off over a width; infinite: squared.

    ``epsilon`` is half the width of the tube: of all outputs, or of each.
    """

    epsilon: float | tuple[float, ...] = 0.0
    width: float = np.inf

    def slack(self, scores: Any, targets: Any) -> tuple[Any, Any]:
        """Return by how much each score is outside the tube around its target."""
        xp, residual = namespace(scores), targets - scores
        return at_least(xp.abs(residual) - self._tube(scores), 0.0), xp.sign(residual)

    def is_curved(self, scores: Any, targets: Any) -> Any:
        """Whether a row is outside the tube, and not beyond the width."""
        distance = namespace(scores).abs(targets - scores)
        tube = self._tube(scores)
        is_curved = (distance > tube) | (tube == 0.0)  # without a tube, at zero as well
        return is_curved if self.width == np.inf else is_curved & (distance < tube + self.width)

    def _tube(self, like: Any) -> Any:
        if isinstance(self.epsilon, tuple):
            return as_on(np.array(self.epsilon)[:, None], like, like.dtype)
        return self.epsilon
