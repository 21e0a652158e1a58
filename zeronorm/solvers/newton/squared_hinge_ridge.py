"""Squared hinge loss and ridge penalty: the rounds of AROM with squared slacks, and R2W2Selector.

Weston et al. (2003), Problem 8 with the ridge of section 3.2. For two classes, data x_a, labels y_a
and costs c_a it is

    min over w, b   1/2 |w|^2 + sum_a c_a/2 max(0, 1 - y_a (w x_a + b))^2.

The form solved here serves several outputs w_k x + b_k as well (the constraints of Weston &
Watkins), and the smallest enclosing ball:

    min over v, b   1/2 |v|^2 + e'b + sum_a c_a/2 max(0, t_a - f_a)^2,     f = Phi v + B b.

Each constraint f_a >= t_a adds up the outputs of one row of data with signs. B are the signs, one
column an output; v has the w_k one after the other, and Phi one block of columns for each, the rows
of data times its signs. Two classes: B = y, Phi = y x, t = 1, e = 0.

Method: Newton steps with a line search. The function is quadratic as long as the same constraints
are violated (the active ones), so a step that changes none of them ends at the exact solution. A
step solves the equations of the active constraints, which are as many as they are (``GramDescent``,
from inner products) or as there are columns (``ColumnDescent``): the caller takes what is smaller.

Certificate: the gap to the dual value, which has one variable a constraint. With G = Phi Phi',

    max over alpha >= 0   t'alpha - 1/2 alpha' (G + diag(1/c)) alpha,     B'alpha = e.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.solvers.losses import Smoothed
from zeronorm.solvers.newton.descent import NewtonDescent

#: A constraint counts as violated beyond this share of its target; at the edge, its alpha is zero.
EDGE = 1e-12


@dataclass
class SquaredHingeSolution:
    """Solution; ``dual`` are the alpha, ``gap`` is (primal - dual) / primal.

    ``weights`` are v where it is held as such.
    """

    dual: np.ndarray
    intercept: np.ndarray
    scores: np.ndarray
    objective: float
    gap: float
    steps: int
    weights: np.ndarray | None = None


class SquaredHingeDescent(NewtonDescent):
    """Newton steps; a step goes to the minimum if the same constraints stay violated.

    A point is v, then b. How v is held, and how it is solved for, is up to the subclass.

    Parameters
    ----------
    signs : ndarray of shape (n, n_outputs)
        B: the sign of each output in each constraint.
    cost : ndarray of shape (n,)
        c, positive.
    wanted : float or ndarray of shape (n,)
        t: what the score of each constraint should reach.
    total : float
        e, the same for all outputs: what the signed dual variables sum to.
    start : ndarray of shape (n,), optional
        Scores f of a similar problem, which say what is violated.
    """

    full_step = 0.5  # most full steps still descend at their end; only the others need a search

    def __init__(
        self,
        signs: np.ndarray,
        cost: np.ndarray,
        *,
        wanted: np.ndarray | float = 1.0,
        total: float = 0.0,
        start: np.ndarray | None = None,
    ) -> None:
        n, self.n_outputs = signs.shape
        self.signs, self.cost, self.loss = signs, cost, Smoothed(cost, np.inf)
        self.wanted, self.total = np.full(n, wanted), np.full(self.n_outputs, total)
        self.edge = EDGE * np.abs(self.wanted)
        self.active = np.arange(n) if start is None else self._beyond_edge(self.wanted - start)
        if len(self.active) == 0:
            self.active = np.arange(n)
        self.steps = 1
        point = self.minimum()
        self.move(point, self.wanted - self.scores(point))

    @abstractmethod
    def minimum(self) -> np.ndarray:
        """Minimiser if exactly the active constraints are violated."""

    @abstractmethod
    def scores(self, point: np.ndarray) -> np.ndarray:
        """Scores f of a point."""

    @abstractmethod
    def metric(self, point: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Vector whose product with another v is the inner product of the two; f are ``scores``."""

    @abstractmethod
    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""

    def weights(self) -> np.ndarray | None:
        """Return v, where it is held as such."""
        return None

    def _beyond_edge(self, slack: np.ndarray) -> np.ndarray:
        return (slack > self.edge).nonzero()[0]

    def move(self, point: np.ndarray, slack: np.ndarray, *known: Any) -> None:
        """Go to a point with these slacks, and see which constraints are violated there."""
        super().move(point, slack, *known)
        self.violated = self._beyond_edge(slack)

    @property
    def is_solved(self) -> bool:
        """Whether the violated constraints are those that the last full step was solved for."""
        is_full = self.steps == 1 or self.length == 1.0
        return is_full and np.array_equal(self.violated, self.active)

    def quadratic(self, point: np.ndarray) -> float:
        """Half the squared norm of v, and the price of the intercepts."""
        v, b = point[: -self.n_outputs], point[-self.n_outputs :]
        return 0.5 * float(self.metric(point, self.wanted - self.slack) @ v) + float(self.total @ b)

    def derivatives(self, step: np.ndarray, change: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the quadratic part along a step."""
        v, b = step[: -self.n_outputs], step[-self.n_outputs :]
        slope = self.metric(self.point, self.wanted - self.slack) @ v + self.total @ b
        return float(slope), float(self.metric(step, -change) @ v)

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Go to the minimum for the constraints that are violated now."""
        self.active = self.violated
        point = self.minimum()
        return point - self.point, self.wanted - self.scores(point) - self.slack

    def solve(self, max_steps: int = 200) -> SquaredHingeSolution:
        """Minimise, in so many steps at most; a solution has the gap between primal and dual."""
        while not self.is_solved and self.steps < max_steps and self.newton_step():
            pass
        b, alpha = self.point[-self.n_outputs :], self.dual
        # What the intercepts' equation lacks counts at the price b.
        lack = float(np.abs((alpha @ self.signs - self.total) * b).sum())
        square = self.squared_norm(alpha) + float(alpha @ (alpha / self.cost))
        dual = float(self.wanted @ alpha) - 0.5 * square - lack
        gap = (self.value - dual) / max(abs(self.value), np.finfo(float).tiny)
        scores = self.wanted - self.slack
        found = alpha, b, scores, self.value, float(gap), self.steps
        return SquaredHingeSolution(*found, self.weights())


class GramDescent(SquaredHingeDescent):
    """G from the inner products of the rows; v = Phi' alpha is held as alpha."""

    def __init__(
        self, gram: np.ndarray, signs: np.ndarray, cost: np.ndarray, **options: Any
    ) -> None:
        self.gram = gram * (signs @ signs.T)
        super().__init__(signs, cost, **options)

    def minimum(self) -> np.ndarray:
        """Solve (G + 1/c) alpha + B b = t, B' alpha = e on the active constraints."""
        active, count = self.active, len(self.active)
        matrix = np.zeros((count + self.n_outputs, count + self.n_outputs))
        matrix[:count, :count] = self.gram[active[:, None], active]
        matrix.flat[: count * len(matrix) : len(matrix) + 1] += 1.0 / self.cost[active]
        matrix[:count, count:] = self.signs[active]
        matrix[count:, :count] = self.signs[active].T
        sides = np.append(self.wanted[active], self.total)
        solution = solve_bordered(matrix, sides, self.n_outputs)
        point = np.zeros(len(self.gram) + self.n_outputs)
        point[active], point[len(self.gram) :] = solution[:count], solution[count:]
        return point

    def scores(self, point: np.ndarray) -> np.ndarray:
        """Scores f of a point."""
        return self.gram @ point[: -self.n_outputs] + self.signs @ point[-self.n_outputs :]

    def metric(self, point: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return G alpha."""
        return scores - self.signs @ point[-self.n_outputs :]

    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""
        return float(alpha @ (self.gram @ alpha))


class ColumnDescent(SquaredHingeDescent):
    """Phi itself, from the rows, dense or sparse: for more constraints than columns."""

    def __init__(self, rows: Any, signs: np.ndarray, cost: np.ndarray, **options: Any) -> None:
        # Phi and, as its last columns, B.
        if sparse.issparse(rows):
            blocks = [rows.multiply(sign[:, None]) for sign in signs.T]
            self.columns = sparse.hstack([*blocks, signs], "csr")
        else:
            width, n_outputs = rows.shape[1], signs.shape[1]
            self.columns = np.empty((len(rows), n_outputs * (width + 1)))
            for k, sign in enumerate(signs.T):
                np.multiply(rows, sign[:, None], out=self.columns[:, k * width : (k + 1) * width])
            self.columns[:, -n_outputs:] = signs
        super().__init__(signs, cost, **options)

    def minimum(self) -> np.ndarray:
        """Solve (I + Phi'c Phi) v + Phi'c B b = Phi'c t, and the same for B without I."""
        rows, cost = self.columns[self.active], self.cost[self.active]
        if sparse.issparse(rows):
            matrix = (rows.T @ rows.multiply(cost[:, None])).toarray()
        else:
            matrix = rows.T @ (rows * cost[:, None])
        matrix.flat[: -self.n_outputs * len(matrix) : len(matrix) + 1] += 1.0
        sides = rows.T @ (cost * self.wanted[self.active])
        sides[-self.n_outputs :] -= self.total
        return solve_bordered(matrix, sides, self.n_outputs)

    def scores(self, point: np.ndarray) -> np.ndarray:
        """Scores f of a point."""
        return self.columns @ point

    def metric(self, point: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return v itself."""
        return point[: -self.n_outputs]

    def weights(self) -> np.ndarray | None:
        """Return v."""
        return self.point[: -self.n_outputs]

    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""
        v = (self.columns.T @ alpha)[: -self.n_outputs]
        return float(v @ v)


def solve_bordered(matrix: np.ndarray, sides: np.ndarray, n_bias: int) -> np.ndarray:
    """Solve the equations; where intercepts are not determined, the smallest ones.

    Intercepts are not, if their constraints are not violated, and never are in the constraints of
    Weston & Watkins, where only differences count: a hair on their diagonal decides.
    """
    if n_bias > 1:
        last = np.arange(len(matrix) - n_bias, len(matrix))
        sign = 1.0 if matrix[last[0], last[0]] > 0 else -1.0
        matrix[last, last] += sign * 1e-10 * max(1.0, float(np.abs(matrix[last]).max()))
    try:
        return np.linalg.solve(matrix, sides)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, sides, rcond=None)[0]
