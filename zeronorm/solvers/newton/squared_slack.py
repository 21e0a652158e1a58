"""Soft constraints with squared slacks: the quadratic program of one round of l2-AROM.

Weston et al. (2003), Problem 8 with the ridge of section 3.2, in the form that serves two classes,
one against the rest, the constraints of Weston & Watkins and the smallest enclosing ball alike:

    min over v, b   1/2 |v|^2 + e'b + sum_a c_a/2 max(0, t_a - f_a)^2,     f = Phi v + B b.

Each row a of Phi and B is one constraint f_a >= t_a (t = 1 for margins), the columns of B are
intercepts, which are not penalised. Its dual, with G = Phi Phi', has one variable a constraint:

    max over alpha >= 0   t'alpha - 1/2 alpha' (G + diag(1/c)) alpha,     B'alpha = e;

the ridge 1/c on the kernel is the squared slack. Method: Newton steps with a line search. The
function is quadratic as long as the same constraints are violated, so a step that changes none of
them ends at the exact solution; a few do, fewer from the solution of a similar problem. A step
solves the violated constraints' equations, of their number (``Gram``) or of the number of columns
(``Features``), whichever is smaller. Certificate: the gap between primal and dual value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from zeronorm.solvers.losses import Smoothed
from zeronorm.solvers.newton.descent import NewtonDescent

#: A constraint counts as violated beyond this share of its target; at the edge, its alpha is zero.
EDGE = 1e-12


class Geometry(Protocol):
    """The matrix Phi; a vector v is whatever ``step`` returns, and is only passed back.

    ``length`` is the number of entries that it has.
    """

    length: int

    def step(
        self,
        active: np.ndarray,
        cost: np.ndarray,
        wanted: np.ndarray,
        bias: np.ndarray,
        total: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Minimiser (v, b) if exactly the ``active`` constraints are violated."""

    def scores(self, v: np.ndarray) -> np.ndarray:
        """Product Phi v."""

    def inner(self, v: np.ndarray, scores: np.ndarray, other: np.ndarray) -> float:
        """Inner product of v, whose product with Phi is ``scores``, with another."""

    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""


class Gram:
    """Phi known by G = Phi Phi' alone; v = Phi' alpha is held as alpha."""

    def __init__(self, gram: np.ndarray) -> None:
        self.gram, self.length = gram, len(gram)

    def step(
        self,
        active: np.ndarray,
        cost: np.ndarray,
        wanted: np.ndarray,
        bias: np.ndarray,
        total: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve (G + 1/c) alpha + B b = t, B' alpha = e on the active constraints."""
        count, n_bias = len(active), bias.shape[1]
        matrix = np.zeros((count + n_bias, count + n_bias))
        matrix[:count, :count] = self.gram[active[:, None], active]
        matrix.flat[: count * (count + n_bias) : count + n_bias + 1] += 1.0 / cost[active]
        matrix[:count, count:] = bias[active]
        matrix[count:, :count] = bias[active].T
        solution = solve_bordered(matrix, np.concatenate([wanted[active], total]), n_bias)
        alpha = np.zeros(len(self.gram))
        alpha[active] = solution[:count]
        return alpha, solution[count:]

    def scores(self, v: np.ndarray) -> np.ndarray:
        """Product Phi v."""
        return self.gram @ v

    def inner(self, v: np.ndarray, scores: np.ndarray, other: np.ndarray) -> float:
        """Inner product of v, whose product with Phi is ``scores``, with another."""
        return float(scores @ other)

    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""
        return float(alpha @ (self.gram @ alpha))


class Features:
    """Phi itself, dense or sparse, with columns scaled: for more constraints than columns."""

    def __init__(self, values: Any, scale: np.ndarray) -> None:
        self.values, self.scale, self.length = values, scale, len(scale)

    def step(
        self,
        active: np.ndarray,
        cost: np.ndarray,
        wanted: np.ndarray,
        bias: np.ndarray,
        total: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve (I + Phi'c Phi) v + Phi'c B b = Phi'c t, and the same for B without I."""
        count, n_bias = len(self.scale), bias.shape[1]
        rows, weights, border = self.values[active], cost[active], bias[active]
        weighted = weights[:, None] * border
        if sparse.issparse(rows):
            square = (rows.T @ rows.multiply(weights[:, None])).toarray()
        else:
            square = rows.T @ (rows * weights[:, None])
        matrix = np.empty((count + n_bias, count + n_bias))
        matrix[:count, :count] = square * self.scale * self.scale[:, None]
        matrix.flat[: count * (count + n_bias) : count + n_bias + 1] += 1.0
        matrix[:count, count:] = self.scale[:, None] * (rows.T @ weighted)
        matrix[count:, :count] = matrix[:count, count:].T
        matrix[count:, count:] = border.T @ weighted
        right = weights * wanted[active]
        sides = np.concatenate([self.scale * (rows.T @ right), border.T @ right - total])
        solution = solve_bordered(matrix, sides, n_bias)
        return solution[:count], solution[count:]

    def scores(self, v: np.ndarray) -> np.ndarray:
        """Product Phi v."""
        return self.values @ (self.scale * v)

    def inner(self, v: np.ndarray, scores: np.ndarray, other: np.ndarray) -> float:
        """Inner product of v, whose product with Phi is ``scores``, with another."""
        return float(v @ other)

    def squared_norm(self, alpha: np.ndarray) -> float:
        """Square of the norm of Phi' alpha."""
        v = self.scale * (self.values.T @ alpha)
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


@dataclass
class SlackSolution:
    """Solution; ``alpha`` are the dual variables, ``gap`` is (primal - dual) / primal."""

    alpha: np.ndarray
    intercept: np.ndarray
    scores: np.ndarray
    objective: float
    gap: float
    steps: int


def solve_squared_slack(
    geometry: Geometry,
    bias: np.ndarray,
    cost: np.ndarray,
    *,
    wanted: np.ndarray | None = None,
    total: np.ndarray | None = None,
    start: np.ndarray | None = None,
    max_steps: int = 200,
) -> SlackSolution:
    """Minimise the function of the module docstring.

    Parameters
    ----------
    geometry : Geometry
        Phi, of shape (n, m).
    bias : ndarray of shape (n, n_bias)
        B.
    cost : ndarray of shape (n,)
        c, positive.
    wanted : ndarray of shape (n,), optional
        t; ones by default.
    total : ndarray of shape (n_bias,), optional
        e; zeros by default.
    start : ndarray of shape (n,), optional
        Scores f of a similar problem, which say what is violated.
    max_steps : int
        Most Newton steps; the solution then comes back with the gap it has.
    """
    n, n_bias = bias.shape
    wanted = np.ones(n) if wanted is None else wanted
    total = np.zeros(n_bias) if total is None else total
    state = _Descent(geometry, bias, cost, wanted, total, start)
    while not state.is_solved and state.steps < max_steps and state.newton_step():
        pass
    return state.solution()


class _Descent(NewtonDescent):
    """Newton steps; a point is v, then b. A step goes to the minimum if the same are violated."""

    full_step = 0.5  # most full steps still descend at their end; only the others need a search

    def __init__(
        self,
        geometry: Geometry,
        bias: np.ndarray,
        cost: np.ndarray,
        wanted: np.ndarray,
        total: np.ndarray,
        start: np.ndarray | None,
    ) -> None:
        self.geometry, self.bias, self.wanted, self.total = geometry, bias, wanted, total
        self.cost, self.loss = cost, Smoothed(cost, np.inf)
        self.edge = EDGE * np.abs(wanted)
        active = np.arange(len(wanted)) if start is None else self._violated(wanted - start)
        self.active = active if len(active) else np.arange(len(wanted))
        self.steps = 1
        point, scores = self._minimum(self.active)
        self.move(point, wanted - scores - bias @ point[self.n_inner :])

    @property
    def n_inner(self) -> int:
        """Length of v."""
        return self.geometry.length

    def _violated(self, slack: np.ndarray) -> np.ndarray:
        return np.flatnonzero(slack > self.edge)

    @property
    def is_solved(self) -> bool:
        """Whether the violated constraints are those that the last full step was solved for."""
        is_full = self.steps == 1 or self.length == 1.0
        return is_full and np.array_equal(self._violated(self.slack), self.active)

    def _minimum(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        v, b = self.geometry.step(active, self.cost, self.wanted, self.bias, self.total)
        return np.concatenate([v, b]), self.geometry.scores(v)

    def quadratic(self, point: np.ndarray) -> float:
        """Half the squared norm of v, and the price of the intercepts."""
        v, b = point[: self.n_inner], point[self.n_inner :]
        return 0.5 * self.geometry.inner(v, self.inner, v) + float(self.total @ b)

    def derivatives(self, step: np.ndarray, change: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the quadratic part along a step."""
        v, b = step[: self.n_inner], step[self.n_inner :]
        slope = self.geometry.inner(self.point[: self.n_inner], self.inner, v)
        inner = -change - self.bias @ b
        return slope + float(self.total @ b), self.geometry.inner(v, inner, v)

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Go to the minimum for the constraints that are violated now."""
        self.active = self._violated(self.slack)
        point, scores = self._minimum(self.active)
        slack = self.wanted - scores - self.bias @ point[self.n_inner :]
        return point - self.point, slack - self.slack

    def move(self, point: np.ndarray, slack: np.ndarray, dual: np.ndarray | None = None) -> None:
        """Go to a point with these slacks."""
        self.inner = self.wanted - slack - self.bias @ point[self.n_inner :]
        super().move(point, slack, dual)

    def solution(self) -> SlackSolution:
        """Return what was found, with the gap between primal and dual value."""
        b, alpha = self.point[self.n_inner :], self.dual
        slack = float(alpha @ (alpha / self.cost))
        # What the intercepts' equation lacks counts at the price b.
        lack = float(np.abs((alpha @ self.bias - self.total) * b).sum())
        norm = self.geometry.squared_norm(alpha)
        dual = float(self.wanted @ alpha) - 0.5 * (norm + slack) - lack
        gap = (self.value - dual) / max(abs(self.value), np.finfo(float).tiny)
        scores = self.wanted - self.slack
        return SlackSolution(alpha, b, scores, self.value, float(gap), self.steps)
