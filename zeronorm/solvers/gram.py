"""Matrices of inner products: whether they are semidefinite, equations, whitened features."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

#: Up to so many equations LAPACK is called as SciPy has it, a third of the time of NumPy's call. It
#: carries a BLAS of its own: with more equations, on few cores, the thread pools of the two would
#: wait for each other, which costs more than half of the work saved.
FEW_EQUATIONS = 64

#: An eigenvalue below this share of the trace, and negative, is more than rounding.
NEGATIVE = 1e-8

#: A further vector must have this share of its squared length outside the span of the others.
NEW_SHARE = 1e-3


def check_semidefinite(gram: np.ndarray, purpose: str, name: str) -> None:
    """Raise ValueError unless a kernel matrix is symmetric and positive semidefinite."""
    if not np.allclose(gram, gram.T):
        raise ValueError(f"{purpose} needs a symmetric kernel matrix.")
    smallest = float(np.linalg.eigvalsh(gram)[0])
    if smallest < -NEGATIVE * np.trace(gram):
        raise ValueError(
            f"{purpose} needs a positive semidefinite kernel; {name!r} has an eigenvalue of "
            f"{smallest:.3g} on these data."
        )


def solve_definite(matrix: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Solve equations whose matrix is symmetric and positive definite, up to rounding."""
    if len(matrix) <= FEW_EQUATIONS:
        _, solution, status = dposv(matrix, sides)
        if status == 0:
            return solution
    return np.linalg.solve(matrix, sides)


def factor(gram: np.ndarray, ridge: float, name: str) -> np.ndarray:
    """Triangular L of K + ridge = L L'; a larger ridge where rounding asks for it."""
    gram = gram.copy()
    gram.flat[:: len(gram) + 1] += ridge
    try:
        return np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        check_semidefinite(gram, "Vectors that are learned", name)
    smallest = float(np.linalg.eigvalsh(gram)[0])
    gram.flat[:: len(gram) + 1] += 2.0 * abs(smallest) + 1e-13 * np.trace(gram)
    return np.linalg.cholesky(gram)


def whitened(values: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Features Phi = K L'^-1, whose inner products are the kernel in the span of the vectors."""
    return values @ np.linalg.inv(factor).T


def root(gram: np.ndarray) -> np.ndarray:
    """Return R with R R' the matrix, from its eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))
