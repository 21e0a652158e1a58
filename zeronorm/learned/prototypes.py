"""Expansion vectors that are free points: descent on the vectors themselves.

Wu, Schölkopf & Bakir (2005). The vectors Z = (z_1 ... z_m) span a small space, in which w lies:

    min over Z, beta, b   1/2 |w|^2 + sum_i c_i hinge(y_i f(x_i)),
    w = sum_j beta_j phi(z_j)                                                           (5)-(8)

For fixed Z this is an SVM with the kernel psi(x)' (K^z)^-1 psi(x') (20). With K^z = L L' its
features are Phi = K^xz L'^-1; v = L' beta has the norm of w; W(Z) is its optimum (11). At the
optimum v = Phi' a, where a = Y alpha are the signed dual variables, and by the envelope theorem

    dW = - a' (dK^xz) beta + 1/2 beta' (dK^z) beta,

which needs no n x n matrix. The reduced set of a given w = sum_i a_i phi(x_i), the Z and beta that
minimise |w - sum_j beta_j phi(z_j)|^2 (4), is the same problem with a fixed, not optimal, a: v =
Phi' a is formula (30), the objective is -1/2 |v|^2 up to a constant, and the same formula is its
gradient. So one descent serves both, and the one-class machine (``tasks.py``).

While the vectors move, the hinge is rounded off (``rounded_hinge.py``), which makes W smooth; for
the final vectors it is solved as it is, to a duality gap (``tasks.py``). A
constant ridge on the diagonal of K^z keeps it invertible when vectors meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from zeronorm.blocks import row_blocks
from zeronorm.kernels import Kernel
from zeronorm.learned.convergence import Descent
from zeronorm.learned.tasks import SpanSolution, Task
from zeronorm.learned.widths import GAMMA_RANGE, further_variables, prior
from zeronorm.solvers.gram import NEW_SHARE, factor, whitened

#: Ridge on K^z, as a share of the mean diagonal of the kernel.
RIDGE = 1e-8

#: Most steps, and the relative progress to stop at, while the set of vectors still grows.
GROWING_STEPS, GROWING_TOLERANCE = 15, 1e-5

#: Steps over which the last progress of a descent is taken.
LAST_STEPS = 6


class Prototypes:
    """Vectors, a kernel, and what is asked of them on the given rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows.
    task : Task
        What is asked.
    kernel : Kernel
        A differentiable, positive semidefinite kernel.
    vectors : ndarray of shape (m, d)
        Where the vectors are.
    coef : ndarray of shape (m, n_outputs), optional
        Coefficients that may be near.
    """

    def __init__(
        self,
        X: Any,
        task: Task,
        kernel: Kernel,
        vectors: np.ndarray,
        coef: np.ndarray | None = None,
    ) -> None:
        self.X, self.task = X, task
        # Where the kernel is zero for all rows, any ridge will do.
        self.ridge = RIDGE * (float(np.mean(kernel.diagonal(X))) or 1.0)
        self.move(kernel, vectors, coef)

    def move(self, kernel: Kernel, vectors: np.ndarray, near: np.ndarray | None = None) -> None:
        """Put the vectors somewhere, and solve the task there, from coefficients close by."""
        self.place(kernel, vectors)
        self.solve(near)

    def place(self, kernel: Kernel, vectors: np.ndarray) -> None:
        """Put the vectors somewhere, and take their values and features on the rows."""
        self.kernel, self.vectors = kernel, vectors
        self.values = kernel.matrix(self.X, vectors)
        self.gram = kernel.matrix(vectors, vectors)
        self.factor = factor(self.gram, self.ridge, kernel.name)
        self.features = whitened(self.values, self.factor)

    def features_of(self, X: Any) -> np.ndarray:
        """Return the features of other rows, made block by block."""
        features = np.empty((X.shape[0], len(self.vectors)))
        for rows in row_blocks(X.shape[0]):
            features[rows] = whitened(self.kernel.matrix(X[rows], self.vectors), self.factor)
        return features

    def solve(self, near: np.ndarray | None = None) -> None:
        """Solve the task for the vectors as they are."""
        start = None if near is None else self.factor.T @ near
        self.accept(self.task.solve(self.features, start))

    def accept(self, solution: SpanSolution) -> None:
        """Take a solution for these vectors as the current one."""
        self.solution = solution
        self.coef = np.linalg.solve(self.factor.T, solution.weights)

    @property
    def value(self) -> float:
        """The objective, W(Z)."""
        return self.solution.value

    @property
    def penalised(self) -> float:
        """What the descent that learns a metric lowers: the objective with the metric's prior."""
        return self.value + prior(self.kernel)

    @property
    def intercept(self) -> np.ndarray:
        """Constant of each output."""
        return self.solution.intercept

    def scores(self, X: Any) -> np.ndarray:
        """Decision values of other rows."""
        return self.kernel.matrix(X, self.vectors) @ self.coef + self.intercept

    def vector_gradient(self) -> np.ndarray:
        """Return the derivative of the objective by the vectors."""
        by_rows, by_gram = self._differentiate(self.kernel.gradient)
        return by_gram - by_rows

    def gradient(self) -> tuple[np.ndarray, float]:
        """Return the derivatives of the objective by the vectors and by gamma."""
        return self._with_widths(self.kernel.derivatives)

    def width_gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of the objective by the vectors and by the log widths."""
        return self._with_widths(self.kernel.width_derivatives)

    def _with_widths(self, derivatives: Callable[..., tuple[np.ndarray, Any]]) -> Any:
        (by_rows, width_rows), (by_gram, width_gram) = self._differentiate(derivatives)
        return by_gram - by_rows, 0.5 * width_gram - width_rows

    def _differentiate(self, derivatives: Callable[..., Any]) -> tuple[Any, Any]:
        """Differentiate a' K^xz beta, and beta' K^z beta as if its left vectors stayed.

        Each vector is on both sides of K^z, which makes up for the half in the objective.
        """
        signed_dual = self.solution.signed_dual
        rows: Any = np.flatnonzero(signed_dual.any(axis=1))  # beyond the margin it is zero
        if len(rows) == len(signed_dual):
            rows = slice(None)
        by_values = signed_dual[rows] @ self.coef.T
        of_rows = derivatives(self.X[rows], self.vectors, by_values, self.values[rows])
        both = self.coef @ self.coef.T
        return of_rows, derivatives(self.vectors, self.vectors, both, self.gram)

    def descend(
        self, *, max_steps: int, tolerance: float, learn_gamma: bool | str = False
    ) -> Descent:
        """Move the vectors downhill (L-BFGS), and the width, or a "metric", with them if asked.

        Stops when a step lowers the objective by less than ``tolerance``, relatively.
        """
        first, shape, size = self.kernel, self.vectors.shape, self.vectors.size
        if first.is_constant:
            return Descent(0, 0.0)
        unit, widths = _unit(first), further_variables(first, shape[1], learn_gamma)
        scale = max(abs(self.value), np.finfo(float).tiny)
        best = self.value + widths.prior(first), first, self.vectors, self.coef

        def at(point: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal best
            kernel, vectors = widths.kernel(point[size:]), unit * point[:size].reshape(shape)
            self.move(kernel, vectors, self.coef)
            value = self.value + widths.prior(kernel)
            if value < best[0]:
                best = value, self.kernel, self.vectors, self.coef
            by_vectors, by_widths = widths.gradient(self)
            return value / scale, np.append(unit * by_vectors, by_widths) / scale

        start, bounds = np.append(self.vectors / unit, np.zeros(widths.count)), None
        if widths.count:
            reach = np.log(GAMMA_RANGE)
            bounds = [(None, None)] * size + [(-reach, reach)] * widths.count
        options = {"maxiter": max_steps, "ftol": tolerance, "gtol": 0.0, "maxcor": 20}
        trail = [best[0]]
        minimize(
            at,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options=options,
            callback=lambda _: trail.append(best[0]),
        )
        if self.value + widths.prior(self.kernel) > best[0]:
            self.move(*best[1:])
        last = trail[-LAST_STEPS:]
        steps, progress = len(trail) - 1, (last[0] - last[-1]) / scale / max(1, len(last) - 1)
        cost = self.task.total_cost
        mean_loss = None if cost is None else self.value / cost
        return Descent(steps, progress, steps >= max_steps, mean_loss)

    def grow(self, candidates: np.ndarray, count: int) -> int:
        """Add the candidates that gain most, one after the other, and return how many.

        The predicted gain of a candidate is the fall of the objective, to first order, along the
        part of phi(candidate) that is orthogonal to the span of the vectors: the squared slope over
        the squared length of that part.
        """
        values = self._values_at(candidates)
        lengths = self.kernel.diagonal(candidates)
        for added in range(count):
            cross = self.kernel.matrix(candidates, self.vectors)
            inside = np.linalg.solve(self.factor, cross.T)
            beyond = lengths - np.einsum("ij,ij->j", inside, inside)
            slope = values() - cross @ self.coef
            is_new = beyond > NEW_SHARE * lengths + self.ridge
            if not is_new.any():
                return added
            gain = np.einsum("ij,ij->i", slope, slope) / np.where(is_new, beyond, np.inf)
            vectors = np.vstack([self.vectors, candidates[[gain.argmax()]]])
            self.move(self.kernel, vectors, np.vstack([self.coef, np.zeros_like(self.coef[:1])]))
        return count

    def _values_at(self, candidates: np.ndarray) -> Callable[[], np.ndarray]:
        """Return a function that says what sum_i a_i k(x_i, .) is there, for a as it is."""
        columns = self.kernel.matrix(self.X, candidates)
        return lambda: columns.T @ self.solution.signed_dual


def _unit(kernel: Kernel) -> Any:
    """Return the unit of the search: the length over which the kernel changes."""
    if kernel.name != "rbf":
        return 1.0
    metric = np.array(1.0 if kernel.metric is None else kernel.metric)
    return 1.0 / np.sqrt(kernel.gamma) / np.sqrt(np.where(metric > 0, metric, 1.0))
