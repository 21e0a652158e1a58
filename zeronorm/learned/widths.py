"""What of the kernel is learned with the vectors: nothing, one width, or one for each feature.

The further variables of the descent are logarithms, from zero on: factors of what was there. With
one width for each feature, a few rows can be fitted by stretching any of them. So the logarithms
ρ_i of the widths have a Gaussian prior of standard deviation one around their mean, and the descent
sees

    W(Z, ρ) + 1/2 sum_i (ρ_i - mean ρ)^2.

The mean itself, one width for all, is as free as before.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from zeronorm.kernels import Kernel

#: A learned width changes by at most this factor in one descent.
GAMMA_RANGE = 100.0


class Differentiable(Protocol):
    """What has derivatives of its objective: by its vectors and gamma, or the log widths."""

    kernel: Kernel

    def vector_gradient(self) -> np.ndarray:
        """Return the derivative by the vectors alone."""

    def gradient(self) -> tuple[np.ndarray, float]:
        """Return the derivatives by the vectors and by gamma."""

    def width_gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives by the vectors and by the logarithm of each width."""


class NoWidth:
    """The kernel stays as it is.

    Parameters
    ----------
    first : Kernel
        The kernel at the start.
    n_features : int
        Number of features.
    """

    #: Number of further variables.
    count = 0

    def __init__(self, first: Kernel, n_features: int) -> None:
        self.first, self.n_features = first, n_features

    def kernel(self, point: np.ndarray) -> Kernel:
        """Return the kernel at these values of the variables."""
        return self.first

    def prior(self, kernel: Kernel) -> float:
        """Return what the descent adds to the objective."""
        return 0.0

    def gradient(self, state: Differentiable) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of what the descent sees, by the vectors and the variables."""
        return state.vector_gradient(), np.empty(0)


class OneWidth(NoWidth):
    """Gamma is learned."""

    count = 1

    def kernel(self, point: np.ndarray) -> Kernel:
        """Return the kernel with another gamma."""
        return self.first.with_gamma(self.first.gamma * float(np.exp(point[0])))

    def gradient(self, state: Differentiable) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives by the vectors and by the logarithm of gamma."""
        by_vectors, by_gamma = state.gradient()
        return by_vectors, np.array([state.kernel.gamma * by_gamma])


class WidthPerFeature(NoWidth):
    """The metric of an rbf kernel is learned, gamma with it; widths of zero stay zero."""

    def __init__(self, first: Kernel, n_features: int) -> None:
        super().__init__(first, n_features)
        metric = np.ones(n_features) if first.metric is None else np.array(first.metric)
        self.free = np.flatnonzero(metric)
        self.count = len(self.free)
        self.logarithms = np.log(first.gamma) + np.log(metric[self.free])

    def kernel(self, point: np.ndarray) -> Kernel:
        """Return the kernel with other widths; gamma is their geometric mean."""
        logarithms = self.logarithms + point
        middle = logarithms.mean()
        metric = np.zeros(self.n_features)
        metric[self.free] = np.exp(logarithms - middle)
        return self.first.with_gamma(float(np.exp(middle))).with_metric(metric)

    def prior(self, kernel: Kernel) -> float:
        """Return the prior of the widths."""
        return prior(kernel)

    def gradient(self, state: Differentiable) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives by the vectors and by the log widths, the prior's among them."""
        by_vectors, by_widths = state.width_gradient()
        return by_vectors, by_widths[self.free] + deviations(state.kernel)


def deviations(kernel: Kernel) -> np.ndarray:
    """Log widths of the features that count, less their mean; none without a metric."""
    widths = np.array(kernel.metric or ())
    logarithms = np.log(widths[widths > 0])
    return logarithms - logarithms.mean() if len(logarithms) else logarithms


def prior(kernel: Kernel) -> float:
    """Return (1/2) Σ (ρ_i - mean ρ)², which is zero where there is one width."""
    away = deviations(kernel)
    return 0.5 * float(away @ away)


def further_variables(kernel: Kernel, n_features: int, learn_gamma: Any) -> NoWidth:
    """Return what is learned of the kernel: nothing, gamma (True), or the "metric"."""
    if isinstance(learn_gamma, str) and learn_gamma == "metric":
        return WidthPerFeature(kernel, n_features)
    return OneWidth(kernel, n_features) if learn_gamma else NoWidth(kernel, n_features)
