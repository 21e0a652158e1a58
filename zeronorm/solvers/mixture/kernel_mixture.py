"""Mixtures of Gaussian kernels at given indices: their weights, and the bandwidth.

Everything starts from the squared distances of rows and candidates; they are computed once and
serve every bandwidth and every fold. Densities are handled by their logarithms, and each row is
scaled by its nearest candidate, so that no bandwidth is too small and no dimension too high.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from zeronorm.blocks import row_blocks
from zeronorm.solvers.mixture.weights import MixtureWeights, TermPenalty
from zeronorm.solvers.reweighting.loop import Reweighted, reweight

#: The penalty is smooth below this share of one row's weight.
SMOOTHING = 1e-4

#: Folds of the cross-validation, and most rows that it looks at.
FOLDS, FOLD_ROWS = 5, 5000

#: Accuracy of the fits in it.
ROUGH, ROUGH_ROUNDS = 1e-2, 50

#: The search for a bandwidth: ratio of two neighbours, how many in a row must be worse before it
#: turns back, and the farthest it goes from where it starts.
RATIO, PATIENCE, FARTHEST = 2 ** (1 / 3), 3, 1e4


def log_height(bandwidth: float, n_features: int) -> float:
    """Logarithm of a kernel's value at its centre."""
    return -n_features * (np.log(bandwidth) + 0.5 * np.log(2.0 * np.pi))


def log_mixture(squared: np.ndarray, weights: np.ndarray, bandwidth: float) -> np.ndarray:
    """Logarithm of the mixture at each row, in units of a kernel's height."""
    # A squared distance may be infinite; divided twice, a tiny bandwidth does not overflow.
    with np.errstate(over="ignore", divide="ignore"):
        exponents = squared / bandwidth / (-2.0 * bandwidth)
    return logsumexp(exponents + np.log(weights), axis=1)


def log_density(
    X: np.ndarray, vectors: np.ndarray, weights: np.ndarray, bandwidth: float
) -> np.ndarray:
    """Logarithm of the density at each row; minus infinity where even it overflows."""
    values = np.empty(len(X))
    for block in row_blocks(len(X)):
        with np.errstate(over="ignore"):
            squared = cdist(X[block], vectors, "sqeuclidean")
        values[block] = log_mixture(squared, weights, bandwidth)
    return values + log_height(bandwidth, vectors.shape[1])


@dataclass
class KernelMixture:
    """Rows, and candidates among them, by their squared distances.

    ``squared`` has shape (rows, candidates), ``mass`` is the weight of each row, ``indices`` says
    which rows the candidates are.
    """

    squared: np.ndarray
    mass: np.ndarray
    indices: np.ndarray
    n_features: int

    def fit(self, bandwidth: float, C: float, tolerance: float, max_rounds: int) -> Reweighted:
        """Find few weights of large likelihood; the objective is the negative log-likelihood."""
        with np.errstate(over="ignore"):
            values = self.squared / bandwidth / (-2.0 * bandwidth)
        nearest = values.max(axis=1)
        if not np.isfinite(nearest).all():
            raise ValueError(
                f"With a bandwidth of {bandwidth:g} some rows are out of reach of all candidates, "
                "even by the logarithm of a kernel; take a larger one."
            )
        values -= nearest[:, None]
        np.exp(values, out=values)
        total = float(self.mass.sum())
        # In a unit of weight that is a power of two: only C times the weights matters, and no
        # digit changes.
        unit = 2.0 ** np.round(np.log2(self.mass.max()))
        problem = MixtureWeights(values, self.mass / unit, 1.0 / (C * unit))
        penalty = TermPenalty(SMOOTHING / total)
        result = reweight(problem, penalty, max_rounds=max_rounds, tolerance=tolerance)
        # The loop knows neither the scaling of the rows nor the height of the kernels.
        constant = -float(self.mass @ nearest) - total * log_height(bandwidth, self.n_features)
        objectives = result.history["objective"]
        result.history["objective"] = [value / C + constant for value in objectives]
        return result

    def held_out_likelihood(self, C: float) -> Callable[[float], float]:
        """Log-likelihood of held-out rows in cross-validation, as a function of the bandwidth."""
        folds = list(self._folds())

        def total(bandwidth: float) -> float:
            likelihood = 0.0
            for training, squared, mass in folds:
                result = training.fit(bandwidth, C, ROUGH, ROUGH_ROUNDS)
                logarithms = log_mixture(squared[:, result.terms], result.coef, bandwidth)
                height = log_height(bandwidth, self.n_features)
                likelihood += float(mass @ (logarithms + height))
            return likelihood

        return total

    def _folds(self) -> Iterator[tuple[KernelMixture, np.ndarray, np.ndarray]]:
        """Yield rows to learn from, and distances and weights of rows held out.

        The rows are sorted, so every fold has its share of all regions, and none is random. Of many
        rows, some are looked at.
        """
        rows = np.arange(len(self.squared))
        if len(rows) > FOLD_ROWS:
            spread = np.linspace(0, len(rows) - 1, FOLD_ROWS).astype(np.intp)
            rows = np.union1d(spread, self.indices)
        for fold in range(min(FOLDS, len(rows))):
            test = rows[fold::FOLDS]
            training = np.setdiff1d(rows, test)
            columns = np.flatnonzero(~np.isin(self.indices, test))
            if len(columns) == 0:  # a single landmark, in this fold
                continue
            cut = self.squared[:, columns]
            indices = np.searchsorted(training, self.indices[columns])
            known = KernelMixture(cut[training], self.mass[training], indices, self.n_features)
            yield known, cut[test], self.mass[test]


def climb(score: Callable[[float], float], start: float) -> float:
    """Return where the score is largest, on a grid of constant ratio around ``start``.

    From the start down, then up, each way until no longer an improvement: small bandwidths are
    slow to fit, and far from the best none is worth a look.
    """
    best, highest = start, score(start)
    for ratio in (1.0 / RATIO, RATIO):
        at, worse = start, 0
        while worse < PATIENCE and 1.0 / FARTHEST < at / start < FARTHEST:
            at *= ratio
            value = score(at)
            if value > highest:
                best, highest, worse = at, value, 0
            else:
                worse += 1
    return best
