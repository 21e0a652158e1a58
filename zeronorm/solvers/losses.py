"""Losses: what a row costs, as a function of its slack or its margin.

The slack of a row is s = 1 - target * score for the hinge; a loss that is piecewise quadratic in
its slack has a dual form with one variable beta, and here is smoothed in one way only:

    max over low <= beta <= cap of   beta s - (beta - base)^2 / (2 stiffness),

whose maximiser is  beta = clip(base + stiffness * s, low, cap).  With

    low = 0, cap = cost, stiffness = cost / width       this is the hinge, rounded off over a width;
    low = 0, cap = infinity, stiffness = cost           the squared hinge;
    low = -price, cap = price                           the absolute value of a coefficient.

``base`` are multipliers of an augmented Lagrangian, zero elsewhere. The derivative by the slack is
beta, the second derivative is the stiffness where beta is free, between its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import log_ndtr


class SlackLoss(Protocol):
    """A convex loss of slacks, summed over the rows: what a line search needs of it.

    ``needs_dual`` says whether ``total`` looks at the derivatives.
    """

    needs_dual: ClassVar[bool]

    def dual(self, slack: np.ndarray) -> np.ndarray:
        """Differentiate by each slack."""

    def total(self, slack: np.ndarray, dual: np.ndarray) -> float:
        """Sum of the losses; ``dual`` are the derivatives at these slacks."""


@dataclass
class Smoothed:
    """The smoothed form of the module docstring, for each row; without ``base`` it is zero."""

    stiffness: np.ndarray
    cap: np.ndarray | float
    low: np.ndarray | float = 0.0
    base: np.ndarray | None = None

    needs_dual: ClassVar[bool] = True

    def dual(self, slack: np.ndarray) -> np.ndarray:
        """Differentiate by each slack."""
        dual = self._unbounded(slack)
        np.maximum(dual, self.low, out=dual)
        return np.minimum(dual, self.cap, out=dual)

    def _unbounded(self, slack: np.ndarray) -> np.ndarray:
        dual = self.stiffness * slack
        if self.base is not None:
            dual += self.base
        return dual

    def total(self, slack: np.ndarray, dual: np.ndarray) -> float:
        """Sum of the losses; ``dual`` are the derivatives at these slacks."""
        return float(dual @ slack) - 0.5 * self.proximal(dual)

    def proximal(self, dual: np.ndarray) -> float:
        """Sum of (dual - base)^2 / stiffness."""
        moved = dual if self.base is None else dual - self.base
        return float(moved @ (moved / self.stiffness))

    def is_free(self, slack: np.ndarray, dual: np.ndarray) -> np.ndarray:
        """Whether the loss is curved at each slack, the ends of that piece included."""
        return self._unbounded(slack) == dual


@dataclass
class Hinge:
    """The hinge max(0, margin - target * score), times the cost of each row.

    Targets are -1 and +1; the margin is one in classification. With other margins regression and
    the one-class machine are problems of the same kind: :func:`insensitive`, :func:`one_class`.
    """

    target: np.ndarray
    cost: np.ndarray
    margin: np.ndarray | float = 1.0

    @property
    def unit(self) -> float:
        """Largest cost of a row that asks for a margin, or else of any: what duals are like."""
        asks = np.broadcast_to(self.margin, self.cost.shape) != 0
        return float(self.cost[asks].max(initial=0.0)) or float(self.cost.max())

    def slack(self, scores: np.ndarray) -> np.ndarray:
        """Return what each row lacks of its margin; negative beyond it."""
        return self.margin - self.target * scores

    def scores(self, slack: np.ndarray) -> np.ndarray:
        """Return the scores with these slacks."""
        return self.target * (self.margin - slack)

    def linear(self, dual: np.ndarray) -> float:
        """Linear part of the dual objective: the sum of the margins, weighted by the duals."""
        return float(dual.sum() if isinstance(self.margin, float) else self.margin @ dual)

    def take(self, rows: np.ndarray | slice, cost: np.ndarray) -> Hinge:
        """Return the hinges of some rows, with other costs."""
        margin = self.margin if isinstance(self.margin, float) else self.margin[rows]
        return Hinge(self.target[rows], cost, margin)

    def value(self, scores: np.ndarray) -> float:
        """Sum of the losses."""
        return float(self.cost @ np.maximum(self.slack(scores), 0.0))

    def smoothed(self, width: float, base: np.ndarray | None = None) -> Smoothed:
        """Round the corner off over this width."""
        return Smoothed(self.cost / width, self.cost, 0.0, base)


def insensitive(target: np.ndarray, cost: np.ndarray, epsilon: float) -> Hinge:
    """Return the epsilon-insensitive loss max(0, |y - f| - eps) as hinges, two for each row.

    The first half keeps the score from being too low, f >= y - eps, the second from being too high,
    -f >= -y - eps; at most one of the two is above zero. The design has its rows twice.
    """
    sides = np.repeat([1.0, -1.0], len(target))
    return Hinge(sides, np.tile(cost, 2), sides * np.tile(target, 2) - epsilon)


def one_class(cost: np.ndarray, total: float, most: float) -> Hinge:
    """Return the losses max(0, rho - f) of the one-class machine, less total * rho, as hinges.

    The intercept is -rho, the score f - rho. The last hinge is of a row without features, whose
    score is the intercept alone: total * max(0, most - rho), which is -total * rho but for a
    constant, as long as rho stays below ``most``. Its dual variable is ``total``, and so is the sum
    of the others: the constraint of Schölkopf et al. (2001), (8).
    """
    target, margin = np.ones(len(cost) + 1), np.zeros(len(cost) + 1)
    target[-1], margin[-1] = -1.0, most
    return Hinge(target, np.append(cost, total), margin)


def with_offset(features: np.ndarray) -> np.ndarray:
    """Return the features of the rows for :func:`one_class`, and none of the row of the offset."""
    return np.vstack([features, np.zeros_like(features[:1])])


class Probit:
    """Minus the logarithm of the normal distribution function of the margin, times the costs.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Weight of each row's loss.
    """

    needs_dual: ClassVar[bool] = False

    def __init__(self, cost: np.ndarray) -> None:
        self.cost = cost

    def dual(self, slack: np.ndarray) -> np.ndarray:
        """Differentiate by each slack, which is minus the margin."""
        return self.derivatives(slack)[0]

    def total(self, slack: np.ndarray, dual: np.ndarray | None = None) -> float:
        """Sum of the losses."""
        return -float(self.cost @ log_ndtr(-slack))

    def derivatives(self, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second by each slack."""
        return self.expanded(slack)[1:]

    def expanded(self, slack: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Sum of the losses, and their first and second derivatives.

        With h = density / distribution of the margin the latter are h and h (h + margin).
        """
        logarithm = log_ndtr(-slack)
        hazard = np.exp(-0.5 * slack**2 - logarithm) / np.sqrt(2.0 * np.pi)
        first = self.cost * hazard
        # Far on the wrong side h + margin is a small difference of large numbers; it is positive.
        second = first * np.maximum(hazard - slack, 0.0)
        return -float(self.cost @ logarithm), first, second
