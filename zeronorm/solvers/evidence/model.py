"""The model of sparse Bayesian learning: likelihood, basis functions, Laplace approximation.

The model is f = Σ w_j φ_j with independent priors w_j ~ N(0, v_j), v_j = 1/α_j in the papers. A
variance of zero (α_j infinite) takes a basis function out of the model. The last function is the
constant. For given v the posterior is taken as normal around its mode (Laplace; Tipping 2001,
section 3), which gives the log marginal likelihood

    L(v) = log p(t | f̂) - ½ Σ ŵ_j² / v_j - ½ log |I + V^½ Φ'BΦ V^½|,                       (1)

where e and B are the first and the negative second derivatives of log p at f̂, and the determinant
carries that of the priors. All is computed in u, w = V^½ u, where this matrix has no eigenvalue
below one: no variance is too small or too large for its Cholesky factor. The gradient is

    ∂L/∂v_j = ½ (Q_j² - S_j - Q_j R_j),      Q_j = φ_j'e,   S_j = φ_j'(B - BΦΣΦ'B)φ_j,     (2)

for functions in the model and outside alike. Q and S are those of Tipping & Faul (2003), (24) and
(25); R_j = φ_j'(I - BΦΣΦ')(∂B/∂f · var f), which they leave out, is what the motion of the mode
does to the determinant. With R the gradient is that of L itself.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from zeronorm.solvers.design import blocks, column_sizes
from zeronorm.solvers.evidence.likelihoods import Gaussian, Likelihood

#: A function with no more than this left of its squared size is a combination of others: of the
#: sixteen digits of a double, the difference that this is computed by has six left.
IN_SPAN = 1e-10

#: Newton decrement of the mode, and change of a score, that make a step the last one, which is
#: then exact to about their squares: far below any tolerance of L.
MODE_DECREMENT, MODE_CHANGE = 1e-7, 2e-3

#: Most steps to the mode, where ten are usual; and the lengths of a step that are tried.
MODE_STEPS, HALVINGS = 100, 0.5 ** np.arange(40)

#: Rows by which the functions of the first model are chosen, at most: six times as many as
#: there are to be functions tell which of them span the others.
SAMPLE_ROWS = 300


class Basis:
    """All basis functions at all rows: the columns of a matrix, and a one.

    Columns are taken in units of their standard deviation over the rows. That changes no model,
    as each function has its own variance; it gives limits a meaning. The scaled matrix is formed
    only where squares would overflow. ``is_live`` tells which functions are not constant,
    ``own_squares`` are the sums of their squares, weighted as given.
    """

    def __init__(self, values: np.ndarray, weight: np.ndarray) -> None:
        largest = column_sizes(values)
        largest = np.where(largest > 0, largest, 1.0)
        is_extreme = largest.max() > 1e100 or largest.min() < 1e-100
        self.values = values / largest if is_extreme else values
        self.constant = values.shape[1]
        size = column_sizes(self.values)
        deviation = self._deviation(weight)
        self.is_live = np.append(deviation > np.sqrt(IN_SPAN) * size, True)
        deviation = np.where(self.is_live[:-1], deviation, np.inf)
        self.scale = 1.0 / deviation
        self.own_squares = np.append(self._own_squares * self.scale**2, weight.sum())
        self.unit = np.append(deviation * (largest / np.where(size > 0, size, 1.0)), 1.0)
        self._flatness = np.append(np.where(self.is_live[:-1], deviation / size, 0.0), 1.0)

    def _deviation(self, weight: np.ndarray) -> np.ndarray:
        """Return the standard deviation of every column."""
        share = weight / weight.sum()
        mean = share @ self.values
        square = self._sum_of_squares(share)
        self._own_squares = weight.sum() * square
        variance = square - np.square(mean)
        # Where little is left, the difference is not exact enough.
        again = np.flatnonzero(variance < 1e-4 * square)
        variance[again] = 0.0
        for part in blocks(len(share) if len(again) else 0):
            variance[again] += share[part] @ np.square(self.values[part][:, again] - mean[again])
        return np.sqrt(variance)

    def _sum_of_squares(self, weights: np.ndarray) -> np.ndarray:
        total = np.zeros(self.constant)
        for part in blocks(len(weights)):
            total += weights[part] @ np.square(self.values[part])
        return total

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return some functions at all rows."""
        columns = np.ones((len(self.values), len(indices)))
        inside = indices < self.constant
        columns[:, inside] = self.values[:, indices[inside]] * self.scale[indices[inside]]
        return columns

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        """Products of vectors over the rows (one a line) with all functions."""
        products = np.empty((len(rows), self.constant + 1))
        np.matmul(rows, self.values, out=products[:, :-1])
        products[:, :-1] *= self.scale
        products[:, -1] = rows.sum(axis=1)
        return products

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Weighted sum of squares of every function."""
        return np.append(self._sum_of_squares(weights) * self.scale**2, weights.sum())

    def spanning(self, weights: np.ndarray, limit: int) -> np.ndarray:
        """Up to ``limit`` functions that span the others best, and the constant.

        By a pivoted QR decomposition: the next one is that with the most left beside those before
        it, in units of its largest value, as a function that is flat everywhere spans little. A
        sample of the rows is enough to tell.
        """
        rows = self._sample(weights)
        root = np.sqrt(weights[rows])
        sample = np.column_stack([self.values[rows] * self.scale, np.ones(len(rows))])
        sample *= root[:, None] * self._flatness
        least = IN_SPAN * np.square(sample).sum(axis=0).max()
        constant = root / np.linalg.norm(root)
        sample -= np.outer(constant, constant @ sample)
        triangle, order = qr(sample, mode="r", pivoting=True)
        left = np.square(triangle.diagonal()[:limit])
        return np.append(self.constant, order[: len(left)][left > least])

    def _sample(self, weights: np.ndarray) -> np.ndarray:
        """Return rows at equal steps of weight, in an order that their values alone decide."""
        if len(weights) <= SAMPLE_ROWS:
            return np.arange(len(weights))
        order = np.argsort(self.values @ self.scale, kind="stable")
        reached = np.cumsum(weights[order])
        steps = (np.arange(SAMPLE_ROWS) + 0.5) * (reached[-1] / SAMPLE_ROWS)
        return order[np.unique(np.searchsorted(reached, steps))]


def quality_of(Q: np.ndarray, R: np.ndarray | None) -> np.ndarray:
    """Return Q² - QR of (2); without R, where the curvature is the same for all scores."""
    return np.square(Q) if R is None else Q * (Q - R)


class Posterior:
    """Normal approximation of the posterior of the weights, with its log evidence L.

    Parameters
    ----------
    likelihood : Likelihood
        What the rows say.
    indices : ndarray of shape (n_terms,)
        Which functions are in the model.
    columns : ndarray of shape (n_rows, n_terms)
        These, at all rows.
    variance : ndarray of shape (n_terms,)
        Positive prior variances.
    start : ndarray of shape (n_terms,), optional
        Weights to start from.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        indices: np.ndarray,
        columns: np.ndarray,
        variance: np.ndarray,
        start: np.ndarray | None = None,
    ) -> None:
        self.likelihood = likelihood
        self.indices, self.columns, self.variance = indices, columns, variance
        self.root = np.sqrt(variance)
        self.design = columns * self.root
        self.whitened = np.zeros(len(indices)) if start is None else start / self.root
        if isinstance(likelihood, Gaussian):
            self.evidence = self._solve_mode(likelihood)
        else:
            self.evidence = self._find_mode(likelihood)

    def _solve_mode(self, likelihood: Gaussian) -> float:
        """Solve for the mode of a normal posterior, and once more for what rounding left."""
        weighted = self.design * likelihood.root[:, None]
        self.gram = weighted.T @ weighted
        system = self.gram.copy()
        system.flat[:: len(system) + 1] += 1.0
        factor = np.linalg.cholesky(system)
        self.inverse_factor = np.linalg.inv(factor)
        gradient = (likelihood.root * likelihood.target) @ weighted
        self.whitened = self.inverse_factor.T @ (self.inverse_factor @ gradient)
        here = likelihood.derivatives(self.design @ self.whitened)
        gradient = here.score_gradient @ self.design - self.whitened
        self.whitened += self.inverse_factor.T @ (self.inverse_factor @ gradient)
        here = self.at_mode = likelihood.derivatives(self.design @ self.whitened)
        value = here.value - 0.5 * float(self.whitened @ self.whitened)
        return value - float(np.log(factor.diagonal()).sum())

    def _find_mode(self, likelihood: Likelihood) -> float:
        """Newton's method with step halving, the objective being concave; returns L."""
        scores = self.design @ self.whitened
        here = likelihood.derivatives(scores)
        value = here.value - 0.5 * float(self.whitened @ self.whitened)
        is_last, identity = False, np.eye(len(self.indices))
        for _ in range(MODE_STEPS):
            weighted = self.design * np.sqrt(here.curvature)[:, None]
            self.gram = weighted.T @ weighted
            if is_last:
                break
            gradient = here.score_gradient @ self.design - self.whitened
            step = np.linalg.solve(self.gram + identity, gradient)
            change = self.design @ step
            # B must not change either: a wide posterior has scores that move far by little.
            is_last = bool(gradient @ step <= MODE_DECREMENT)
            is_last = is_last and np.abs(change).max(initial=0.0) <= MODE_CHANGE
            before = value
            for length in HALVINGS:
                whitened = self.whitened + length * step
                here = likelihood.derivatives(scores + length * change)
                value = here.value - 0.5 * float(whitened @ whitened)
                # The last step is below what rounding leaves of the value.
                if value > before or is_last:
                    break
            else:
                # Rounding hides what is left to gain: where rows weigh much, long before the
                # decrement is small.
                is_last = True
            self.whitened, scores = whitened, scores + length * change
        self.at_mode = here
        factor = np.linalg.cholesky(self.gram + identity)
        self.inverse_factor = np.linalg.inv(factor)
        return value - float(np.log(factor.diagonal()).sum())

    @property
    def weights(self) -> np.ndarray:
        """Posterior mode."""
        return self.root * self.whitened

    def differentiate(self) -> None:
        """Q, S and R of (2) for the functions in the model, in the coordinates u.

        There Q is the mode itself and S = G (I + G)^-1, whose diagonal tells how well each
        weight is determined (γ of Tipping 2001, (17)); ``gradient`` is with respect to log v.
        """
        inverse = self.inverse = self.inverse_factor.T @ self.inverse_factor
        sparsity = self.gram @ inverse
        self.sparsity = 0.5 * (sparsity + sparsity.T)
        self.undetermined = inverse.diagonal()
        self.shift: np.ndarray | None = None
        self.drag: np.ndarray | None = None
        if self.at_mode.slope is not None:
            spread = np.square(self.design @ self.inverse_factor.T).sum(axis=1)
            self.shift = self.at_mode.slope * spread
            self.drag = inverse @ (self.shift @ self.design)
        self.quality = quality_of(self.whitened, self.drag)
        self.gradient = 0.5 * (self.quality - self.sparsity.diagonal())

    def hessian(self) -> np.ndarray:
        """Second derivatives of -L with respect to log v, for fixed B."""
        hessian = self.sparsity * (np.outer(self.whitened, self.whitened) - 0.5 * self.sparsity)
        hessian.flat[:: len(hessian) + 1] -= self.gradient
        return hessian

    def noise_derivatives(self) -> tuple[float, np.ndarray, float]:
        """Return ∂L/∂log σ², its derivatives by all log v, and that by log σ² (normal noise).

        With weighted residuals r the first is ½ (r'r - n + Σ γ). By C = I + ZZ', Z the weighted
        design, it is ½ y'C⁻²y - ½ tr C⁻¹ in units of the noise, from which the others follow with
        C⁻¹Z = Z A, A = (I + G)⁻¹.
        """
        u, rows = self.whitened, self.at_mode
        misfit = float(np.square(rows.score_gradient) @ (1.0 / rows.curvature))
        first = 0.5 * (misfit - self.likelihood.cost.sum() + self.sparsity.trace())
        along = self.inverse @ u
        once, twice = self.inverse.diagonal(), np.square(self.inverse).sum(axis=0)
        mixed = 0.5 * (once - twice) - u * along
        second = u @ along - 0.5 * (misfit + (once - twice).sum())
        return float(first), mixed, float(second)
