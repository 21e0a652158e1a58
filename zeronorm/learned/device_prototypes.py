"""The reduced set where sums over the given vectors are made on a device.

Of the given function Psi = sum_i a_i phi(x_i), of thousands of vectors, the descent of
``prototypes.py`` asks for two things only: its values at the few vectors, K^zx a, and their
derivatives there. Both are sums over i, which are made on the device, in double precision where it
has it, a block of the x_i at a time; all else is as small as the result and stays in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from zeronorm.arrays import as_on, double, to_numpy, zeros
from zeronorm.blocks import row_blocks
from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import DEVICE_BLOCK
from zeronorm.learned.kernel_sets import Rows, SetsKernel
from zeronorm.learned.prototypes import Prototypes
from zeronorm.learned.tasks import Projection
from zeronorm.solvers.gram import factor


class DeviceFunction:
    """A given expansion on a device: its values anywhere, and their derivatives.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The x_i.
    coef : ndarray of shape (n, n_outputs)
        The a_i of every output.
    kernel : Kernel
        A differentiable, positive semidefinite kernel.
    like : array
        An array of the library and the device.
    """

    def __init__(self, vectors: np.ndarray, coef: np.ndarray, kernel: Kernel, like: Any) -> None:
        self.vectors, self.coef, self.kernel = vectors, coef, kernel
        # Squared distances are made of products, which are more exact around the centre.
        self.centre = vectors.mean(axis=0) if kernel.name == "rbf" else np.zeros(vectors.shape[1])
        dtype = double(like)
        self.rows = as_on(vectors - self.centre, like, dtype)
        self.by_row = as_on(np.ascontiguousarray(coef.T), like, dtype)
        metric = np.ones(1) if kernel.metric is None else np.array(kernel.metric)
        self.widths = as_on(kernel.gamma * metric[None, :], like, dtype)
        self.sets = SetsKernel(kernel)

    def _blocks(self, points: np.ndarray) -> Iterator[tuple[Any, Rows, Any]]:
        """Yield the points with blocks of the vectors, and the kernel of both."""
        there = as_on((points - self.centre)[None], self.rows, self.rows.dtype)
        size = max(1, DEVICE_BLOCK // max(1, *points.shape))
        for part in row_blocks(len(self.vectors), size):
            own = self.by_row[:, part]
            rows = Rows(self.rows[part, :], own, own)
            yield there, rows, self.sets.values(there, self.widths, rows)

    def values(self, points: np.ndarray) -> np.ndarray:
        """Return the values of all outputs at some points, (points, outputs)."""
        total = sum((kernel @ rows.targets.mT)[0] for _, rows, kernel in self._blocks(points))
        return to_numpy(total)

    def gradient(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Differentiate the sum of values times weights, both (points, outputs), by the points."""
        by_value = as_on(weights[None], self.rows, self.rows.dtype)
        size, total = len(points), 0.0
        none = zeros((1, size, size), self.rows)  # of the points with each other nothing is asked
        for there, rows, kernel in self._blocks(points):
            slopes = by_value @ rows.targets
            by_point, _ = self.sets.derivatives(
                there, self.widths, rows, kernel, none, slopes, 0.0 * none
            )
            total = total + by_point[0, ...]
        return to_numpy(total)


class DevicePrototypes(Prototypes):
    """The vectors of a reduced set, of which the given function is on a device.

    Parameters
    ----------
    function : DeviceFunction
        What is to be represented.
    vectors : ndarray of shape (m, d)
        Where the vectors are.
    """

    def __init__(self, function: DeviceFunction, vectors: np.ndarray) -> None:
        self.function = function
        super().__init__(function.vectors, Projection(function.coef), function.kernel, vectors)

    def place(self, kernel: Kernel, vectors: np.ndarray) -> None:
        """Put the vectors somewhere, and take the values of the function there."""
        self.kernel, self.vectors = kernel, vectors
        self.gram = kernel.matrix(vectors, vectors)
        self.factor = factor(self.gram, self.ridge, kernel.name)
        self.cross = self.function.values(vectors)

    def solve(self, near: np.ndarray | None = None) -> None:
        """Project (30); there is one solution, wherever one begins."""
        weights = solve_triangular(self.factor, self.cross, lower=True)
        self.accept(Projection(self.function.coef).projected(weights))

    def vector_gradient(self) -> np.ndarray:
        """Return the derivative of the objective by the vectors; the width stays."""
        both = self.coef @ self.coef.T
        by_gram = self.kernel.gradient(self.vectors, self.vectors, both, self.gram)
        return by_gram - self.function.gradient(self.vectors, self.coef)

    def _values_at(self, candidates: np.ndarray) -> Callable[[], np.ndarray]:
        values = self.function.values(candidates)
        return lambda: values
