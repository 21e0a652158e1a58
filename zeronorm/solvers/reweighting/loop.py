"""Reweighting: solve a weighted problem, take new weights from its solution, drop what vanished.

The loop of Huang et al. (2010), implementations A and B, for any problem of the form

    min over alpha   loss(alpha) + sum_j penalty(size of alpha_j).

``penalty`` is a concave function g of u = |alpha_j|^power (power 2 in A, 1 in B). Its tangent at
the last solution is a weight, g(u) <= g(u0) + g'(u0)(u - u0), so every weighted problem lies above
the true objective and touches it at the last solution: solving it well enough to get below that
lowers the true objective, and the loop sees to it that it does. A term whose coefficients reach
zero is dropped; the later problems have fewer columns.

A penalty such as log |alpha_j| has its lowest value where there are no terms. While the loss is
shared by many terms, each of them is worth less than its price, and all may vanish together where a
few of them would be worth theirs. :class:`Annealing` minimises mostly the loss first: with a smooth
and weak penalty, then a sharp one, which few terms survive, and only then a strong one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from zeronorm.solvers.solution import History

#: A term counts as zero when its largest contribution to a decision value is this small beside the
#: largest of the first solution. At p = 0 vanishing terms shrink quadratically (alpha <- alpha^2 g
#: in A) or are exact zeros of a linear program (B), so the result does not depend on it; towards
#: p = 1 A's terms shrink ever more slowly, and from there on none vanishes.
ZERO = 1e-9

#: Relative duality gap asked of the early rounds, whose solutions only steer the weights.
ROUGH = 0.1

#: Annealing starts with this strength of the penalty, which doubles whenever the coefficients
#: change by less than the second number, relatively.
WEAK, SETTLED = 0.1, 0.05

#: Annealing multiplies the size up to which the penalty is smooth by the first number each round,
#: from the largest term's size to the second share of it; then it is as sharp as it gets.
SHARPENING, SHARP = 0.3, 1e-2


@dataclass
class Round:
    """What a weighted problem returns: a solution and its certificate."""

    coef: np.ndarray
    intercept: float
    loss: float
    gap: float


class WeightedProblem(Protocol):
    """What the loop needs of a problem.

    ``column_sizes`` are the largest values of the columns, so that a coefficient times its column
    size bounds what the term contributes.
    """

    column_sizes: np.ndarray

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with the weights ``1 / scale`` to a relative gap of ``tolerance``.

        A ``steering`` round only has to find the next weights; it may do with part of the rows.
        """

    def keep(self, columns: np.ndarray) -> None:
        """Forget the terms where the mask ``columns`` is False."""


@dataclass
class Penalty:
    """Sum over the terms of (1/p) |alpha_j|^p, at p = 0 of log |alpha_j|, smooth at zero.

    Parameters
    ----------
    p : float
        Exponent; p = ``power`` needs no reweighting.
    power : {1, 2}
        Which weighted problem majorises it: lambda |alpha| or 1/2 lambda alpha^2.

    Notes
    -----
    ``floor`` (one for each term) is where its size |alpha_j| counts as zero. With
    u = |alpha_j|^power and e = (stretch floor)^power:
    g(u) = ((u + e)^q - e^q) / (power q), q = p / power, and g(u) = log(1 + u/e) / power at q = 0.
    ``strength`` is a factor of it.
    """

    p: float
    power: int
    floor: np.ndarray = field(default_factory=lambda: np.zeros(1))
    stretch: float = 1.0
    strength: float = 1.0

    def scale(self, coef: np.ndarray) -> np.ndarray:
        """Inverse weights, 1 / g' (up to the factor power): no division, whatever vanishes."""
        u = np.abs(coef) ** self.power + (self.stretch * self.floor) ** self.power
        return u ** (1.0 - self.p / self.power) / self.strength

    def value(self, coef: np.ndarray) -> float:
        """Sum of the penalties."""
        size, zero, q = np.abs(coef), self.stretch * self.floor, self.p / self.power
        if q == 0:  # divided first: the squares of tiny coefficients are zero
            return self.strength * float(np.log1p((size / zero) ** self.power).sum() / self.power)
        u, e = size**self.power, zero**self.power
        return self.strength * float(((u + e) ** q - e**q).sum() / (self.power * q))


class Annealing:
    """Makes a penalty sharp, then strong, while the loop goes on; see the module docstring."""

    def __init__(self, penalty: Penalty) -> None:
        self.penalty = penalty
        penalty.stretch, penalty.strength = 1.0 / ZERO, WEAK

    @property
    def is_over(self) -> bool:
        """Whether the penalty is what it will be."""
        return self.penalty.stretch == 1.0 and self.penalty.strength == 1.0

    def advance(self, change: float) -> None:
        """Prepare the next round, the coefficients having changed by so much, relatively."""
        penalty = self.penalty
        if penalty.stretch > 1.0:
            is_sharp = penalty.stretch * ZERO <= SHARP
            penalty.stretch = 1.0 if is_sharp else SHARPENING * penalty.stretch
        elif change <= SETTLED:
            penalty.strength = min(1.0, 2.0 * penalty.strength)


@dataclass
class Reweighted:
    """Result of the loop.

    ``terms`` are the columns that are left of the ``n_columns`` of the original problem, ``change``
    the relative change of the coefficients in the last round, ``gap`` the last certificate,
    ``is_stuck`` says that rounding kept the last round from lowering the objective, ``history``
    has one entry a round (its "strength" is that of the penalty, below one only while annealed).
    ``open_gap`` is that of a round that dropped terms without being solved even roughly: no later
    one closes it, and ``gap`` is not less.
    """

    n_columns: int
    terms: np.ndarray
    coef: np.ndarray
    intercept: float
    change: float = np.inf
    gap: float = np.inf
    is_stuck: bool = False
    open_gap: float = 0.0
    history: History = field(default_factory=lambda: History("terms"))

    @property
    def all_coef(self) -> np.ndarray:
        """Coefficients of all columns of the original problem."""
        coef = np.zeros(self.n_columns)
        coef[self.terms] = self.coef
        return coef

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.history["terms"])

    def is_converged(self, tolerance: float) -> bool:
        """Whether the coefficients and the last weighted problem have settled."""
        return self.change <= tolerance and self.gap <= tolerance


def reweight(
    problem: WeightedProblem,
    penalty: Penalty,
    *,
    max_rounds: int = 50,
    tolerance: float = 1e-4,
    anneal: bool = False,
) -> Reweighted:
    """Run the loop until the coefficients settle.

    Parameters
    ----------
    problem : WeightedProblem
        Solved first with all weights equal, to one where there is no second round, otherwise so
        that the result does not depend on the scale of the kernel.
    penalty : Penalty
        Gives size, weights and value; its ``floor`` is set from the first solution.
    max_rounds : int
        Most rounds.
    tolerance : float
        Stop when the relative change of the coefficients and the relative duality gap of the
        weighted problem are at most this.
    anneal : bool
        Start with a smooth and weak penalty (:class:`Annealing`).
    """
    single = penalty.p == penalty.power
    annealing = Annealing(penalty) if anneal and not single else None
    terms = np.arange(len(problem.column_sizes))
    equal = np.ones(len(terms)) if single else equal_scale(problem, penalty.power)
    equal = equal / penalty.strength
    rough = tolerance if single else max(ROUGH, tolerance)
    first = problem.solve(equal, rough, steering=rough > tolerance)
    penalty.floor = _floor(np.abs(first.coef), problem.column_sizes)
    result = Reweighted(len(terms), terms, first.coef, first.intercept, gap=first.gap)
    result.change = 0.0 if single else np.inf
    objective, loss = _drop_and_record(problem, penalty, result, first.loss), first.loss
    while result.rounds < max_rounds and not single:
        if annealing is not None and not annealing.is_over:
            annealing.advance(result.change)
            objective = penalty.value(result.coef) + loss
        rough = max(min(0.9 * rough, result.change / 2), tolerance)
        steering = rough > tolerance
        solution, is_lower = _descend(problem, penalty, result.coef, objective, rough, steering)
        result.gap = solution.gap
        if not is_lower:
            result.is_stuck = True
            break
        old, result.coef, result.intercept = result.coef, solution.coef, solution.intercept
        square, step = float(result.coef @ result.coef), result.coef - old
        result.change = float(np.sqrt(step @ step / square)) if square > 0 else 0.0
        objective, loss = _drop_and_record(problem, penalty, result, solution.loss), solution.loss
        if result.is_converged(tolerance) and (annealing is None or annealing.is_over):
            break
    result.gap = max(result.gap, result.open_gap)
    return result


def equal_scale(problem: WeightedProblem, power: int) -> np.ndarray:
    """Inverse weights, all equal, under which a solution does not depend on the kernel's scale."""
    unit = np.clip(problem.column_sizes.max(initial=0.0), 1e-100, 1e100)
    return np.full(len(problem.column_sizes), unit**-power)


def _floor(size: np.ndarray, column_sizes: np.ndarray) -> np.ndarray:
    """Return the size at which each term counts as zero."""
    largest = float((size * column_sizes).max(initial=0.0))
    # A column of zeros contributes nothing, whatever its coefficient.
    safe = np.where(column_sizes > 0, column_sizes, np.inf)
    floor = np.where(np.isfinite(safe), ZERO * largest / safe, np.inf)
    return np.maximum(floor, np.finfo(float).tiny)


def _descend(
    problem: WeightedProblem,
    penalty: Penalty,
    coef: np.ndarray,
    objective: float,
    rough: float,
    steering: bool,
) -> tuple[Round, bool]:
    """Solve the next weighted problem, more exactly if the true objective would not fall.

    Also say whether it falls: not where the problem is too badly conditioned to go on.
    """
    scale = penalty.scale(coef)
    is_retry = False
    while True:
        solution = problem.solve(scale, rough, steering=steering)
        rise = penalty.value(solution.coef) + solution.loss - objective
        if rise <= 1e-9 * abs(objective):
            return solution, True
        is_certified = np.isfinite(solution.gap)
        if rough < 1e-10 or (is_retry and not solution.gap <= rough):
            return solution, False
        if not is_certified and not steering:
            return solution, False
        # Without a certificate the round looked at part of the rows: all of them come first.
        if is_certified:
            rough, is_retry = min(rough, solution.gap) / 10, True
        steering = False


def _drop_and_record(
    problem: WeightedProblem, penalty: Penalty, result: Reweighted, loss: float
) -> float:
    keep = np.abs(result.coef) > penalty.floor
    if not keep.all():
        if ROUGH < result.gap < np.inf:  # an infinite one is that of a sample of the rows
            result.open_gap = max(result.open_gap, result.gap)
        problem.keep(keep)
        result.terms, result.coef = result.terms[keep], result.coef[keep]
        penalty.floor = penalty.floor[keep]
    objective = penalty.value(result.coef) + loss
    result.history.record(
        terms=len(result.terms), objective=objective, gap=result.gap, strength=penalty.strength
    )
    return objective
