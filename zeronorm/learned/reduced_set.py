"""A given expansion with fewer terms: the reduced set, and the terms that are not needed at all.

Reduced set (Burges 1996): of the function Psi = sum_i a_i phi(x_i), find Z and beta that minimise

    |Psi - sum_j beta_j phi(z_j)|^2                                 (Wu et al. 2005, (4) and (29))

For fixed Z, beta = (K^z)^-1 K^zx a (30). The vectors start one after the other at the given one of
the largest predicted gain, and are moved together (``prototypes.py``).

Independent terms (Downs, Gates & Masters 2001): where phi(x_j) is a linear combination of the
others, its coefficient goes to them, and the function stays what it is. A Cholesky factorisation
with pivoting finds which.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from zeronorm.blocks import row_blocks
from zeronorm.kernels import Kernel
from zeronorm.learned.convergence import Descent
from zeronorm.learned.device_prototypes import DeviceFunction, DevicePrototypes
from zeronorm.learned.prototypes import GROWING_STEPS, GROWING_TOLERANCE, Prototypes
from zeronorm.learned.tasks import Projection

#: Given vectors among which the next are looked for, at most.
CANDIDATES = 1000

#: A squared length below this share of the longest is zero: first try, factor, and last try.
DEPENDENT, STRICTER, STRICTEST = 1e-12, 1e-2, 1e-17

#: Largest change of a value of the function, as a share of the largest value.
UNCHANGED = 1e-8


class ReducedSet:
    """Fewer vectors for a given expansion; sets found before are starts for larger ones.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The x_i.
    coef : ndarray of shape (n, n_outputs)
        The a_i of every output.
    kernel : Kernel
        A differentiable, positive semidefinite kernel.
    random : RandomState
        Draws candidates where the given vectors are many.
    like : array, optional
        One of the library and the device where sums over the given vectors are to be made.
    n_candidates : int
        Given vectors among which the next are looked for, at most.
    """

    def __init__(
        self,
        vectors: np.ndarray,
        coef: np.ndarray,
        kernel: Kernel,
        random: np.random.RandomState,
        like: Any = None,
        n_candidates: int = CANDIDATES,
    ) -> None:
        self.vectors, self.coef, self.kernel, self.random = vectors, coef, kernel, random
        self.placed = None if like is None else DeviceFunction(vectors, coef, kernel, like)
        self.values = self._values(vectors)
        self.squared_norm = float(np.sum(coef * self.values))
        self.found: dict[int, np.ndarray] = {}
        self.n_candidates = n_candidates

    def reach(self, size: int, *, max_steps: int, tolerance: float) -> tuple[Prototypes, Descent]:
        """Return ``size`` vectors that have converged, and how the last descent went.

        They are fewer if no given vector adds anything to those that are there.
        """
        sizes = sorted(self.found)
        smaller = bisect_right(sizes, size)
        current = self._at(self.found[sizes[smaller - 1]] if smaller else self._first())
        while len(current.vectors) < size:
            wanted = min(len(current.vectors), size - len(current.vectors))
            added = current.grow(self._candidates(), wanted)
            current.descend(max_steps=GROWING_STEPS, tolerance=GROWING_TOLERANCE)
            if added < wanted:
                break
        done = current.descend(max_steps=max_steps, tolerance=tolerance)
        self.found[len(current.vectors)] = current.vectors
        return current, done

    def distance(self, vectors: np.ndarray, coef: np.ndarray) -> float:
        """Squared distance of another expansion, as a share of the squared norm of this one."""
        if not self.squared_norm > 0:
            return 0.0
        cross = np.sum(coef * self._values(vectors))
        own = np.sum(coef * (self.kernel.matrix(vectors, vectors) @ coef))
        return max(0.0, float(1.0 + (own - 2.0 * cross) / self.squared_norm))

    def _values(self, points: np.ndarray) -> np.ndarray:
        """Values of the given function, without a matrix of all vectors with all points."""
        if self.placed is not None:
            return self.placed.values(points)
        values = np.empty((len(points), self.coef.shape[1]))
        for rows in row_blocks(len(points)):
            values[rows] = self.kernel.matrix(points[rows], self.vectors) @ self.coef
        return values

    def _at(self, vectors: np.ndarray) -> Prototypes:
        if self.placed is not None:
            return DevicePrototypes(self.placed, vectors)
        return Prototypes(self.vectors, Projection(self.coef), self.kernel, vectors)

    def _first(self) -> np.ndarray:
        """Where one vector alone takes most of the norm away."""
        lengths = self.kernel.diagonal(self.vectors)
        tiny = np.finfo(float).tiny
        taken = np.einsum("ij,ij->i", self.values, self.values) / np.maximum(lengths, tiny)
        return self.vectors[[taken.argmax()]]

    def _candidates(self) -> np.ndarray:
        n_vectors = len(self.vectors)
        if n_vectors <= self.n_candidates:
            return self.vectors
        return self.vectors[self.random.choice(n_vectors, self.n_candidates, replace=False)]


def independent_terms(gram: np.ndarray, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop the terms whose vectors are combinations of the others in feature space.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel matrix of the vectors, positive semidefinite.
    coef : ndarray of shape (n, n_outputs)
        Coefficients.

    Returns
    -------
    kept, coef
        Sorted indices of the terms that stay, and their coefficients. The values of the function
        at all vectors are what they were, to ``UNCHANGED``.
    """
    values = gram @ coef
    allowed = UNCHANGED * np.abs(values).max(axis=0, initial=0.0)
    share = DEPENDENT
    while share >= STRICTEST:
        kept, moved = _without_dependent(gram, coef, share * float(gram.diagonal().max()))
        if (np.abs(gram[:, kept] @ moved - values) <= allowed).all():
            return kept, moved
        share *= STRICTER
    return np.arange(len(coef)), coef


def _without_dependent(
    gram: np.ndarray, coef: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    factor, pivots, rank, status = lapack.dpstrf(gram, lower=1, tol=tolerance)
    if status < 0:
        raise ValueError(f"dpstrf refused its argument {-status}.")
    order = pivots - 1
    # phi(dropped) = M' phi(kept) with M = L11'^-1 L21', so the coefficients move by M.
    moved = coef[order[:rank]] + solve_triangular(
        factor[:rank, :rank], factor[rank:, :rank].T @ coef[order[rank:]], lower=True, trans="T"
    )
    sequence = np.argsort(order[:rank])
    return order[:rank][sequence], moved[sequence]
