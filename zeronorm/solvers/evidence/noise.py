"""Sparse Bayesian regression: the prior variances, and the noise beside them.

For a given variance of the noise σ², the prior variances of largest marginal likelihood are found
as in ``search.py``; the posterior is normal, so that nothing is approximated. The noise then has
the best value for these, in closed form but for γ (Tipping 2001, (18)):

    σ² = Σ c_i (y_i - f_i)² / (Σ c_i - Σ_j γ_j),      γ_j = 1 - Σ_jj / v_j,

and so on in turn, until it rests. With the best of each pair so far kept, L never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.evidence.model import Basis, Gaussian
from zeronorm.solvers.evidence.search import SparseBayes, maximise_evidence

#: Noise to begin with, and the least, as shares of the variance of the targets; most rounds, and
#: the relative change of the noise at which it rests.
FIRST_NOISE, LEAST_NOISE, ROUNDS, RESTING = 0.1, 1e-6, 30, 1e-3


#: A variance of the targets that is not more than rounding.
NO_SPREAD = 1e-12


@dataclass
class Regression:
    """What was found: functions, weights and variances, the noise, and the weights' covariance."""

    found: SparseBayes
    noise: float
    covariance: np.ndarray


def learn_regression(
    values: np.ndarray,
    target: np.ndarray,
    cost: np.ndarray,
    *,
    noise: float | None = None,
    tolerance: float = 1e-3,
    max_rounds: int = 500,
) -> Regression:
    """Maximise the marginal likelihood of a linear model with normal noise.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Functions at the rows; a constant joins them.
    target : ndarray of shape (n,)
        Numbers with a spread of about one.
    cost : ndarray of shape (n,)
        How often each row was seen.
    noise : float, optional
        Variance of the noise; without, it is learned.
    tolerance, max_rounds
        As in :func:`maximise_evidence`.
    """
    basis = Basis(values, cost)

    def at(variance: float, start: SparseBayes | None = None) -> Regression:
        likelihood = Gaussian(target, cost, variance)
        found = maximise_evidence(basis, likelihood, tolerance, max_rounds, start)
        if not (np.isfinite(found.variance) & (found.variance > 0)).all():
            raise ValueError(
                "The kernel values are too small or too large for the squares of their weights. "
                "Standardise the features, or take another gamma."
            )
        return Regression(found, variance, _covariance(values, cost, found, variance))

    if noise is not None:
        return at(noise)
    mean = float(np.average(target, weights=cost))
    spread = float(np.average((target - mean) ** 2, weights=cost))
    spread = spread if spread > NO_SPREAD else 1.0
    best = at(FIRST_NOISE * spread)
    for _ in range(ROUNDS):
        update = max(_best_noise(values, target, cost, best), LEAST_NOISE * spread)
        is_resting = abs(update - best.noise) <= RESTING * best.noise
        new = at(update, best.found)
        if _evidence(new) <= _evidence(best):
            break
        best = new
        if is_resting:
            break
    return best


def _evidence(regression: Regression) -> float:
    return regression.found.history["objective"][-1]


def _design(values: np.ndarray, found: SparseBayes) -> np.ndarray:
    """Functions in the model at the rows; the last index is the constant."""
    columns = np.ones((len(values), len(found.indices)))
    inside = found.indices < values.shape[1]
    columns[:, inside] = values[:, found.indices[inside]]
    return columns


def _covariance(
    values: np.ndarray, cost: np.ndarray, found: SparseBayes, noise: float
) -> np.ndarray:
    """Posterior covariance of the weights in the model."""
    root = np.sqrt(found.variance)
    scaled = _design(values, found) * root * np.sqrt(cost / noise)[:, None]
    return np.linalg.inv(scaled.T @ scaled + np.eye(len(root))) * np.outer(root, root)


def _best_noise(values: np.ndarray, target: np.ndarray, cost: np.ndarray, at: Regression) -> float:
    found = at.found
    residual = target - _design(values, found) @ found.weights
    determined = float(np.sum(1.0 - at.covariance.diagonal() / found.variance))
    return float(cost @ residual**2) / max(float(cost.sum()) - determined, 1e-12)
