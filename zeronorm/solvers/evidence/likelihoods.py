"""What rows say of the scores: the likelihoods of sparse Bayesian learning, with derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Derivatives:
    """A log-likelihood at some scores, with its derivatives row by row.

    ``score_gradient`` is the first derivative, ``curvature`` minus the second, ``slope`` the
    derivative of the curvature; none where that is the same for all scores.
    """

    value: float
    score_gradient: np.ndarray
    curvature: np.ndarray
    slope: np.ndarray | None


class Logistic:
    """Labels -1 and +1 with odds exp(f); ``cost`` counts how often each row was seen.

    ``largest_variance`` is that of the part one basis function may have in the scores. A prior
    standard deviation of 100 makes log odds of any size; beyond, where classes can be separated,
    L hardly changes, and the posterior is not normal any more. ``unit_curvature`` is that of a row
    of cost one whose score is zero.
    """

    largest_variance, unit_curvature = 1e4, 0.25

    def __init__(self, target: np.ndarray, cost: np.ndarray) -> None:
        self.target, self.cost = target, cost

    def derivatives(self, scores: np.ndarray) -> Derivatives:
        """Value and derivatives at these scores."""
        margin = self.target * scores
        small = np.exp(-np.abs(margin))
        value = float(self.cost @ (np.minimum(margin, 0.0) - np.log1p(small)))
        rare = small / (1.0 + small)  # the smaller of both probabilities, exact if tiny
        wrong = np.where(margin > 0, rare, 1.0 - rare)
        curvature = self.cost * rare * (1.0 - rare)
        slope = self.target * curvature * (2.0 * wrong - 1.0)
        return Derivatives(value, self.target * self.cost * wrong, curvature, slope)


class Gaussian:
    """Numbers with normal noise of variance ``noise``; ``cost`` counts how often a row was seen.

    The posterior is normal, so that Laplace's approximation is exact. Targets are in units of their
    spread, in which no function needs a larger part than a hundred. The noise is learned with the
    prior variances if there is a ``least_noise``.
    """

    largest_variance = 1e4

    def __init__(
        self, target: np.ndarray, cost: np.ndarray, noise: float, least_noise: float | None = None
    ) -> None:
        self.target, self.cost = target, cost
        self.noise, self.least_noise, self.unit_curvature = noise, least_noise, 1.0 / noise
        self.precision = cost / noise
        self.root = np.sqrt(self.precision)
        self._constant = 0.5 * float(cost.sum()) * float(np.log(2.0 * np.pi * noise))

    def derivatives(self, scores: np.ndarray) -> Derivatives:
        """Value and derivatives at these scores."""
        residual = self.root * (self.target - scores)
        value = -0.5 * float(residual @ residual) - self._constant
        return Derivatives(value, self.root * residual, self.precision, None)

    @property
    def is_learned(self) -> bool:
        """Whether the noise is learned."""
        return self.least_noise is not None

    @property
    def is_least(self) -> bool:
        """Whether the noise is learned, and cannot be smaller."""
        return self.least_noise is not None and self.noise <= self.least_noise

    def with_noise(self, noise: float) -> Gaussian:
        """Return the same with another noise, not below the least."""
        least = self.least_noise
        return Gaussian(self.target, self.cost, max(noise, least or 0.0), least)


#: What rows may say.
Likelihood = Logistic | Gaussian
