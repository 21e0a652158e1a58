"""Newton steps on a smoothed hinge with a ridge penalty: for hinge_ridge and rounded_hinge.

    F(v, b) = 1/2 |v|^2 + sum_i loss_i(1 - y_i (Phi v + b)_i)

Only the rows whose dual variable is free, between its bounds, curve F; the Newton matrix is
free × free or m × m, whichever is smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.solvers.design import Design, blocks
from zeronorm.solvers.gram import solve_definite
from zeronorm.solvers.losses import Hinge, Smoothed
from zeronorm.solvers.newton.descent import HingeDescent

#: Beyond this size beside the identity, the Newton matrix is factored without being formed: sums of
#: such squares would leave less than six digits of it.
ILL_CONDITIONED = 1e10

#: What goes on the diagonal of a Newton matrix, relatively: nearly equal rows would make it
#: singular. The direction stays one of descent, and no certificate depends on it.
HIDDEN = 1e-13


class RidgeDescent(HingeDescent):
    """Newton steps on the function of the module docstring."""

    is_exact = False

    def __init__(self, design: Design, hinge: Hinge, loss: Smoothed, point: np.ndarray) -> None:
        self.penalised = np.ones(len(point))
        self.penalised[-1] = 0.0
        super().__init__(design, hinge, loss, point)

    def move(self, point: np.ndarray, slack: np.ndarray, *known: Any) -> None:
        """Go to a point with these slacks, and see which rows are free there."""
        super().move(point, slack, *known)
        self.is_free = self.loss.is_free(slack, self.dual)
        self._dual_weights: np.ndarray | None = None

    @property
    def dual_weights(self) -> np.ndarray:
        """The weights that belong to the dual variables; the gradient is the distance from them."""
        if self._dual_weights is None:
            self._dual_weights = self.design.adjoint(self.hinge.target * self.dual)
        return self._dual_weights

    def newton_step(self) -> bool:
        """Take a step; a full one that changes no row's piece ends at the exact minimum."""
        is_free, dual = self.is_free, self.dual
        has_moved = super().newton_step()
        self.is_exact = (
            has_moved
            and self.length == 1.0
            and bool((is_free == self.is_free).all())
            and bool(((dual == self.loss.cap) == (self.dual == self.loss.cap)).all())
        )
        return has_moved

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Newton's step, and by how much it changes the slacks."""
        free = self.is_free.nonzero()[0]
        gradient = self.penalised * self.point - self.dual_weights
        if len(free) == 0:
            step = self.without_curvature(gradient)
        elif len(free) <= len(gradient) - 1:
            step = self._few_rows(free, gradient)
        else:
            step = self._many_rows(free, gradient)
        return step, self.slack_change(step)

    def without_curvature(self, gradient: np.ndarray) -> np.ndarray:
        """Go down the slope; b towards the nearest row that would become free."""
        return np.append(-gradient[:-1], -np.sign(gradient[-1]))

    def _many_rows(self, free: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Solve the equations of the weights."""
        matrix = self.design.gram(self.loss.stiffness[free], free)
        diagonal = diagonal_of(matrix)
        largest = float(diagonal.max())
        if largest > ILL_CONDITIONED and diagonal[:-1].max(initial=0.0) > ILL_CONDITIONED:
            return self._careful(free, gradient)
        diagonal += self.penalised
        diagonal += HIDDEN * largest
        return solve_definite(matrix, -gradient)

    def _few_rows(self, free: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Solve the equations of the free rows, and take the weights from them."""
        stiffness = self.loss.stiffness[free]
        some = self.design.take(free)
        matrix = some @ some.T
        diagonal = diagonal_of(matrix)
        if diagonal.max() * stiffness.max() > ILL_CONDITIONED:
            return self._careful(free, gradient)
        diagonal += 1.0 / stiffness
        diagonal += HIDDEN * diagonal.max()
        sides = np.ones((len(free), 2))
        sides[:, 0] = some @ gradient[:-1]
        first, ones = solve_definite(matrix, sides).T
        step_b = (first.sum() - gradient[-1]) / ones.sum()
        return np.append((first - step_b * ones) @ some - gradient[:-1], step_b)

    def _careful(self, free: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Newton direction from a triangular factor of its matrix, which is never formed.

        Huge coefficients that cancel each other (a large C, a flat kernel) make the squares in
        the matrix drown the identity that it is added to; the factor keeps both.
        """
        factor = np.eye(len(gradient) - 1, len(gradient))
        for part in blocks(len(free)):
            rows = np.column_stack([self.design.take(free[part]), np.ones(len(free[part]))])
            rows *= np.sqrt(self.loss.stiffness[free[part]])[:, None]
            factor = np.asarray(np.linalg.qr(np.vstack([factor, rows]), mode="r"))
        return np.linalg.solve(factor, np.linalg.solve(factor.T, -gradient))


def diagonal_of(matrix: np.ndarray) -> np.ndarray:
    """Diagonal of a square matrix that lies in one piece, to be changed in place."""
    return matrix.reshape(-1)[:: len(matrix) + 1]
