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

from zeronorm.solvers.newton.line_search import slope_root

#: A full step is taken if the slope at its end is at most this share of that at its start.
FULL_STEP = 0.5

#: A constraint counts as violated beyond this share of its target; at the edge, its alpha is zero.
EDGE = 1e-12


class Geometry(Protocol):
    """The matrix Phi; a vector v is whatever ``step`` returns, and is only passed back."""

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
        self.gram = gram

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
        self.values, self.scale = values, scale

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
        indices = np.arange(len(matrix) - n_bias, len(matrix))
        sign = 1.0 if matrix[indices[0], indices[0]] > 0 else -1.0
        matrix[indices, indices] += sign * 1e-10 * max(1.0, float(np.abs(matrix[indices]).max()))
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
    edge = wanted - EDGE * np.abs(wanted)

    def newton(active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        v, b = geometry.step(active, cost, wanted, bias, total)
        return v, b, geometry.scores(v)

    active = np.arange(n) if start is None else np.flatnonzero(start < edge)
    if len(active) == 0:
        active = np.arange(n)
    v, b, inner = newton(active)
    steps, is_exact = 1, True
    while steps < max_steps:
        scores = inner + bias @ b
        violated = np.flatnonzero(scores < edge)
        if is_exact and np.array_equal(violated, active):
            break
        active = violated
        new_v, new_b, new_inner = newton(active)
        steps += 1
        change = new_inner + bias @ new_b - scores
        flat = geometry.inner(v, inner, new_v - v) + float(total @ (new_b - b))
        bend = geometry.inner(new_v - v, new_inner - inner, new_v - v)
        line = _Line(wanted - scores, change, cost, flat, bend)
        descent = line.slope(0.0)
        if not descent < 0:
            break
        # Most full steps still descend at their end; only the others need a search.
        at_end = line.slope(1.0)
        is_exact = abs(at_end) <= FULL_STEP * -descent and (at_end <= 0 or line.rise(1.0) <= 0)
        length = 1.0 if is_exact else slope_root(line.slope, descent, line.rise)
        if length == 0:
            break
        v, b = v + length * (new_v - v), b + length * (new_b - b)
        inner = inner + length * (new_inner - inner)
    scores = inner + bias @ b
    alpha = cost * np.maximum(wanted - scores, 0.0)
    slack = alpha @ (alpha / cost)
    primal = 0.5 * (geometry.inner(v, inner, v) + slack) + float(total @ b)
    # What the intercepts' equation lacks counts at the price b.
    lack = float(np.abs((alpha @ bias - total) * b).sum())
    dual = float(wanted @ alpha) - 0.5 * (geometry.squared_norm(alpha) + slack) - lack
    size = max(abs(primal), np.finfo(float).tiny)
    return SlackSolution(alpha, b, scores, float(primal), float((primal - dual) / size), steps)


class _Line:
    """The function along a step that changes the scores by ``change``.

    ``flat`` and ``bend`` are the first and second derivative of everything but the slacks.
    """

    def __init__(
        self, slack: np.ndarray, change: np.ndarray, cost: np.ndarray, flat: float, bend: float
    ) -> None:
        self.slack, self.change, self.weighted = slack, change, cost * change
        self.cost, self.flat, self.bend = cost, flat, bend
        self.loss = self._loss(slack)

    def slope(self, length: float) -> float:
        """Return the derivative at a length."""
        left = np.maximum(self.slack - length * self.change, 0.0)
        return self.flat + length * self.bend - float(self.weighted @ left)

    def rise(self, length: float) -> float:
        """Return the value at a length less that at the start."""
        inner = length * self.flat + 0.5 * length**2 * self.bend
        return inner + self._loss(self.slack - length * self.change) - self.loss

    def _loss(self, slack: np.ndarray) -> float:
        left = np.maximum(slack, 0.0)
        return 0.5 * float(self.cost @ (left * left))
