"""Sparse Bayesian regression: the prior variances, and the noise beside them.

The search is that of ``search.py`` with a normal likelihood, for which nothing is approximated. The
variance of the noise σ² is one variable more of its Newton steps; at the maximum it is

    σ² = Σ c_i (y_i - f_i)² / (Σ c_i - Σ_j γ_j),      γ_j = 1 - Σ_jj / v_j

(Tipping 2001, (18)), or the least that is allowed. L never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.evidence.likelihoods import Gaussian
from zeronorm.solvers.evidence.model import Basis
from zeronorm.solvers.evidence.search import SparseBayes, maximise_evidence

#: Noise to begin with, and the least, as shares of the variance of the targets.
FIRST_NOISE, LEAST_NOISE = 0.1, 1e-6

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
    least = None
    if noise is None:
        mean = float(np.average(target, weights=cost))
        spread = float(np.average((target - mean) ** 2, weights=cost))
        spread = spread if spread > NO_SPREAD else 1.0
        noise, least = FIRST_NOISE * spread, LEAST_NOISE * spread
    likelihood = Gaussian(target, cost, noise, least)
    found = maximise_evidence(Basis(values, cost), likelihood, tolerance, max_rounds)
    if not (np.isfinite(found.variance) & (found.variance > 0)).all():
        raise ValueError(
            "The kernel values are too small or too large for the squares of their weights. "
            "Standardise the features, or take another gamma."
        )
    root, at = np.sqrt(found.variance), found.posterior
    learned = 1.0 / at.likelihood.unit_curvature
    return Regression(found, learned, at.inverse * np.outer(root, root))
