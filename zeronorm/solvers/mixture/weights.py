"""The weighted problem of a sparse kernel density: the weights of given mixture components.

    min over w   -sum_i mass_i log(sum_j values_ij w_j) + sum_j slope_j w_j
    subject to   w >= 0,  sum_j w_j = 1

is convex. Newton's method solves it: each step minimises the second-order model over the simplex
(a small quadratic program, by an active set) and is followed by a line search. Only the columns
that have weight, or should have, take part. The objective lies at most

    w'gradient - min_j gradient_j

above the optimum, because it is convex and a linear function is least at a corner of the simplex;
this is the certificate. A weight that is zero is exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from zeronorm.blocks import row_blocks
from zeronorm.solvers.reweighting.loop import Penalty, Round

#: EM steps before the Newton steps: from a cold start they find out which columns matter; later
#: they follow the new weights, which may ask for a far smaller one than Newton's model can see.
COLD_STEPS, WARM_STEPS = 20, 2

#: Most Newton steps; a handful is usual.
NEWTON_STEPS = 100

#: Most columns without weight that join a Newton step.
ENTRANTS = 50

#: The mean log-likelihood is found at least this exactly, even in rounds that only steer: a zero
#: is final. Newton's method gets there as fast as anywhere.
STRICT = 1e-6

#: Added to the model's curvature, relatively, so that equal columns do not make it singular.
#: It is centred at the last point and does not move the solution.
DAMPING = 1e-8

#: What one row's log-likelihood cannot be told apart by, relatively.
ROUNDING = 1e-13

#: So many Newton steps are taken on trust once the objective no longer changes measurably.
BLIND_STEPS = 3

#: A mixture value below this is as good as zero: its inverse would overflow.
SMALLEST = 1e-280


class TermPenalty(Penalty):
    """Sum over the terms of log(1 + w_j / smoothing); dropped is what the solver puts to zero.

    The weights of a mixture vanish exactly, so nothing small has to be called zero. A tiny weight
    that is left belongs to the only term that reaches some row; without it the likelihood is nil.
    """

    def __init__(self, smoothing: float) -> None:
        self.smoothing = smoothing
        super().__init__(p=0.0, power=1)

    @property
    def floor(self) -> np.ndarray:
        """Size at which a term is dropped: zero, whatever the loop proposes."""
        return self._floor

    @floor.setter
    def floor(self, proposed: np.ndarray) -> None:
        self._floor = np.zeros(len(proposed))

    def scale(self, coef: np.ndarray) -> np.ndarray:
        """Inverse weights of the next round."""
        return np.abs(coef) + self.smoothing

    def value(self, coef: np.ndarray) -> float:
        """Sum of the penalties."""
        return float(np.log1p(np.abs(coef) / self.smoothing).sum())


class MixtureWeights:
    """The weighted problem for the reweighting loop: ``price`` times its objective is the above.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Value of each component at each row, up to a factor for each row; the largest of a row
        is one.
    mass : ndarray of shape (n,)
        Positive weight of each row.
    price : float
        What a unit of the penalty costs, in units of log-likelihood.
    """

    def __init__(self, values: np.ndarray, mass: np.ndarray, price: float) -> None:
        self.values = values
        self.mass = mass
        self.price = price
        self.column_sizes = values.max(axis=0)
        # Nearly equal, but not quite: equal columns, each as good as another, would stay equal.
        self.weights = np.linspace(1.0, 1.1, values.shape[1])
        self.weights /= self.weights.sum()
        self.is_cold = True

    def keep(self, columns: np.ndarray) -> None:
        """Forget the other terms, whose weights are zero."""
        self.values = self.values[:, columns]
        self.column_sizes = self.column_sizes[columns]
        self.weights = self.weights[columns]

    def solve(self, scale: np.ndarray, tolerance: float, *, steering: bool = False) -> Round:
        """Solve with the weights ``1 / scale``; the gap is that of the mean log-likelihood."""
        slope = self.price / scale
        problem = MixtureProblem(self.values, self.mass, slope)
        start = problem.em_steps(self.weights, COLD_STEPS if self.is_cold else WARM_STEPS)
        if self.is_cold:
            start = self._most_responsible(start)
            self.is_cold = False
        self.weights, gap = problem.solve(start, min(tolerance, STRICT))
        loss = problem.negative_likelihood(self.values @ self.weights) / self.price
        return Round(self.weights.copy(), 0.0, loss, gap)

    def _most_responsible(self, weights: np.ndarray) -> np.ndarray:
        """Keep the components that have the largest responsibility for some row; zero the others.

        Every row is still reached, and the first Newton system is small.
        """
        is_largest = np.zeros(len(weights), dtype=bool)
        for rows in row_blocks(len(self.values)):
            is_largest[np.argmax(self.values[rows] * weights, axis=1)] = True
        kept = np.where(is_largest, weights, 0.0)
        return kept / kept.sum()


@dataclass
class MixtureProblem:
    """One convex problem: see the top of this module."""

    values: np.ndarray
    mass: np.ndarray
    slope: np.ndarray

    def negative_likelihood(self, mixture: np.ndarray) -> float:
        """Return what is to be small, but for the slope, of the mixture's values at the rows."""
        if not mixture.min() > SMALLEST:
            return np.inf
        return -float(self.mass @ np.log(mixture))

    def gradient(self, mixture: np.ndarray) -> np.ndarray:
        """Gradient with respect to the weights."""
        return self.slope - self.values.T @ (self.mass / mixture)

    def em_steps(self, weights: np.ndarray, steps: int) -> np.ndarray:
        """Take EM steps; each lowers the objective and leaves no weight at zero that was not.

        With r_j the sum over the rows of the responsibilities of term j, the next weights minimise
        sum_j slope_j w_j - r_j log w_j, so w_j = r_j / (slope_j + multiplier).
        """
        for _ in range(steps):
            responsibilities = weights * (self.values.T @ (self.mass / (self.values @ weights)))
            weights = _weights_of(responsibilities, self.slope)
        return weights

    def solve(self, weights: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
        """Minimise from a start that reaches every row.

        Returns
        -------
        weights, gap
            The objective is within ``gap`` times the total mass of the optimum.
        """
        total = self.mass.sum()
        mixture = self.values @ weights
        best, best_gap = weights, np.inf
        blind_steps = 0
        for _ in range(NEWTON_STEPS):
            gradient = self.gradient(mixture)
            gap = float(weights @ gradient - gradient.min()) / total
            if gap < best_gap:
                best, best_gap = weights, gap
            if gap <= tolerance:
                break
            target = self._newton_target(weights, mixture, gradient)
            moved = self._search(weights, mixture, gradient, target)
            if (
                moved is None
                and blind_steps < BLIND_STEPS
                and self._is_level(gradient, weights, target)
            ):
                # The values can no longer tell, but the gradient, and so the gap, still can.
                moved = target
                blind_steps += 1
            if moved is None:
                # Rounding spoilt the model: to the best corner is a way down as well.
                corner = np.zeros_like(weights)
                corner[np.argmin(gradient)] = 1.0
                moved = self._search(weights, mixture, gradient, corner)
            if moved is None:
                break
            weights = moved
            mixture = self.values @ weights
        return best, max(best_gap, 0.0)

    def _newton_target(
        self, weights: np.ndarray, mixture: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Where the second-order model is least."""
        outside = np.flatnonzero((weights == 0) & (gradient < weights @ gradient))
        if len(outside) > ENTRANTS:
            outside = outside[np.argsort(gradient[outside], kind="stable")[:ENTRANTS]]
        columns = np.sort(np.concatenate([np.flatnonzero(weights), outside]))
        scaled = self.values[:, columns] * (np.sqrt(self.mass) / mixture)[:, None]
        hessian = scaled.T @ scaled
        hessian.flat[:: len(columns) + 1] *= 1.0 + DAMPING
        start = weights[columns]
        target = np.zeros_like(weights)
        target[columns] = minimise_over_simplex(hessian, gradient[columns] - hessian @ start, start)
        return target

    def _is_level(self, gradient: np.ndarray, weights: np.ndarray, target: np.ndarray) -> bool:
        """Whether the way to the target is too flat to be measured."""
        fall = abs(float(gradient @ (target - weights)))
        reached = (self.values @ target).min() > SMALLEST
        return bool(fall <= ROUNDING * self.mass.sum() and reached)

    def _search(
        self, weights: np.ndarray, mixture: np.ndarray, gradient: np.ndarray, target: np.ndarray
    ) -> np.ndarray | None:
        """Go towards the target as far as the objective falls as it should; None if it does not."""
        direction = target - weights
        fall = float(gradient @ direction)
        if not fall < -ROUNDING * self.mass.sum():
            return None
        change, cost = self.values @ direction, float(self.slope @ direction)
        start = self.negative_likelihood(mixture)
        step = 1.0
        while step > 1e-10:
            rise = self.negative_likelihood(mixture + step * change) - start + step * cost
            if rise <= 0.1 * step * fall:
                # The full step takes the target itself, so that its zeros are zeros.
                moved = target if step == 1.0 else weights + step * direction
                return moved / moved.sum()
            step *= 0.5
        return None


def _weights_of(responsibilities: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return responsibilities / (slope + multiplier), whose sum the multiplier makes one."""
    present = responsibilities > 0
    part, prices = responsibilities[present], slope[present]
    cheapest = prices.min()
    prices = prices - cheapest
    # At the upper end the sum is at most one, at the lower end the cheapest alone makes it one.
    low, high = part[prices == 0].sum(), part.sum()
    multiplier = high

    def excess(value: float) -> float:
        return float((part / (prices + value)).sum() - 1.0)

    # Where prices are rounding beside the responsibilities, the ends are the root.
    if prices.max() > 0 and excess(low) > 0 > excess(high):
        multiplier = brentq(excess, low, high)
    weights = np.zeros_like(responsibilities)
    weights[present] = part / (prices + multiplier)
    return weights / weights.sum()


def minimise_over_simplex(hessian: np.ndarray, linear: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Minimise 1/2 w'Hw + linear'w over w >= 0, sum w = 1, by a primal active set.

    Every step lowers the model; the weights stay in the simplex, so that stopping early does no
    harm.

    Parameters
    ----------
    hessian : ndarray of shape (k, k)
        Positive definite.
    linear : ndarray of shape (k,)
        The rest of the model.
    start : ndarray of shape (k,)
        A point of the simplex.
    """

    def model(point: np.ndarray) -> float:
        return float(point @ (0.5 * (hessian @ point) + linear))

    weights, value = start, model(start)
    free = weights > 0
    is_first = True
    # A large system is not worth many pivots: the next Newton step goes on from here.
    for _ in range(50 + 20_000 // len(linear)):
        target, multiplier = _least_on_face(hessian, linear, free)
        if target.min() >= 0:
            weights, value = target, model(target)
            reduced_cost = np.where(free, 0.0, hessian @ weights + linear - multiplier)
            strongest = reduced_cost.min()
            if strongest >= -1e-10 * (abs(multiplier) + np.abs(linear).max()):
                break
            # Many at a time to begin with; one at a time ends.
            free = (weights > 0) | (reduced_cost <= (0.1 * strongest if is_first else strongest))
            is_first = False
            continue
        # To let go of many at once is worth a try, as long as the model falls.
        clipped = np.maximum(target, 0.0)
        clipped /= clipped.sum()
        clipped_value = model(clipped)
        if clipped_value < value:
            weights, value = clipped, clipped_value
        else:
            weights = _step_to_boundary(weights, target)
            value = model(weights)
        free = weights > 0
    return weights


def _least_on_face(
    hessian: np.ndarray, linear: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, float]:
    """Minimise over the sum alone, with the others at zero; return also the multiplier."""
    columns = np.flatnonzero(free)
    right = np.column_stack([linear[columns], np.ones(len(columns))])
    solved = np.linalg.solve(hessian[np.ix_(columns, columns)], right)
    multiplier = (1.0 + solved[:, 0].sum()) / solved[:, 1].sum()
    target = np.zeros_like(linear)
    target[columns] = multiplier * solved[:, 1] - solved[:, 0]
    return target, float(multiplier)


def _step_to_boundary(weights: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Go towards the target until the first weight vanishes."""
    falling = np.flatnonzero(target < 0)
    share = weights[falling] / (weights[falling] - target[falling])
    moved = weights + share.min() * (target - weights)
    moved[falling[np.argmin(share)]] = 0.0
    np.maximum(moved, 0.0, out=moved)
    return moved / moved.sum()
