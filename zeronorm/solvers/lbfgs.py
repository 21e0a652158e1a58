"""L-BFGS for many small smooth problems at once.

``scipy.optimize`` minimises one function at a time, and with a few dozen variables nearly all of
its time is spent between the arithmetic. Cross-validation asks for hundreds of such problems of the
same shape; here they take their steps together, as rows of one array, each with its own step length
and its own memory, and leave when they have converged.

Each problem: the direction of Nocedal (1980) in the compact form of Byrd, Nocedal & Schnabel
(1994), formula (3.13), and steps that are halved until the value falls enough (Armijo). A value
that does not fall ends the problem where it was lowest, so that none ends above its start. There is
no search for longer steps: the variables should be scaled so that a step of one is about right.

Variables may have bounds: a step is cut off at them, variable by variable, and its predicted gain
is the slope along what is left of it. A variable that is at its bound and would go beyond has no
part in the direction (the two-metric projection of Bertsekas 1982): the inverse Hessian estimate is
taken between the others alone, so that a short step always goes downhill.

Points, gradients and memory are arrays of any library, on their device; the few numbers for each
problem that decisions depend on are NumPy's.

Dimitri Bertsekas: Projected Newton methods for optimization problems with simple constraints. SIAM
Journal on Control and Optimization 20 (1982).

Jorge Nocedal: Updating quasi-Newton matrices with limited storage. Mathematics of Computation 35
(1980).

Richard Byrd, Jorge Nocedal, Robert Schnabel: Representations of quasi-Newton matrices and their use
in limited memory methods. Mathematical Programming 63 (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, copied, double, namespace, put, take, to_numpy, zeros

#: Pairs of steps and gradient differences that are remembered.
MEMORY = 10

#: Which products of the pairs make the upper triangle.
UPPER = np.tri(MEMORY, dtype=bool).T

#: Share of the slope by which the value must fall, and the least share of a step tried next.
ARMIJO, SHORTEST = 1e-4, 0.1

#: A problem ends after so many steps in a row that lower its value by too little, or after so many
#: refused ones.
IDLE, REFUSED = 2, 12

#: A pair is remembered if the gradient rises along the step by this share of its change, and by
#: this much: of smaller numbers there is no inverse.
CURVED, SMALLEST = 1e-8, 1e-250


@dataclass
class Bounds:
    """Least and largest value of every variable of every problem; infinite where there is none."""

    lower: Any
    upper: Any

    def nearest(self, points: Any, problems: np.ndarray) -> Any:
        """Return the points of some problems, cut off at the bounds."""
        return within_box(points, take(self.lower, problems), take(self.upper, problems))

    def free(self, points: Any, gradients: Any, problems: np.ndarray) -> Any:
        """Whether each variable may go downhill: it is not at a bound beyond which that leads."""
        is_low = (points <= take(self.lower, problems)) & (gradients > 0)
        return ~(is_low | (points >= take(self.upper, problems)) & (gradients < 0))


def within_box(points: Any, lower: Any, upper: Any) -> Any:
    """Return points, cut off at bounds."""
    xp = namespace(points)
    points = xp.where(points < lower, lower, points)
    return xp.where(points > upper, upper, points)


class _Memory:
    """The last pairs of every problem, oldest first; those not yet there are zero."""

    def __init__(self, start: Any) -> None:
        n_problems, size = start.shape
        self.steps = zeros((n_problems, MEMORY, size), start)
        self.changes = zeros((n_problems, MEMORY, size), start)
        self.products = np.zeros((n_problems, MEMORY, MEMORY))  # of steps and changes
        self.changes_gram = np.zeros((n_problems, MEMORY, MEMORY))
        self.scale = np.ones(n_problems)

    def remember(self, problems: np.ndarray, step: Any, change: Any) -> None:
        """Add a pair for each of these problems, where the function is convex along the step."""
        along, size = _inner(step, change), _inner(change, change)
        is_curved = (along > CURVED * size) & (along > SMALLEST)
        if not is_curved.any():
            return
        which: Any = slice(None)
        if not is_curved.all() or len(problems) < len(self.scale):
            which = problems[is_curved]
            step, change = take(step, is_curved), take(change, is_curved)
        changes, steps = _shifted(self.changes, which, change), _shifted(self.steps, which, step)
        for table in (self.products, self.changes_gram):
            table[which, :-1, :-1] = table[which, 1:, 1:]
        self.products[which, :, -1] = to_numpy(steps @ change[:, :, None])[:, :, 0]
        self.products[which, -1, :] = to_numpy(changes @ step[:, :, None])[:, :, 0]
        row = to_numpy(changes @ change[:, :, None])[:, :, 0]
        self.changes_gram[which, :, -1] = self.changes_gram[which, -1, :] = row
        self.scale[which] = along[is_curved] / size[is_curved]

    def forget(self, problems: np.ndarray) -> None:
        """Start these problems anew."""
        for array in (self.steps, self.changes, self.products, self.changes_gram):
            put(array, problems, 0.0)
        self.scale[problems] = 1.0

    def direction(self, problems: np.ndarray, gradient: Any) -> Any:
        """Return minus the inverse Hessian estimate times the gradient."""
        # All of them need no copies.
        which = slice(None) if len(problems) == len(self.scale) else problems
        steps, changes = take(self.steps, which), take(self.changes, which)
        scale = self.scale[which]
        products = self.products[which]
        upper = np.where(UPPER, products, 0.0)
        diagonal = np.einsum("bmm->bm", products)
        np.einsum("bmm->bm", upper)[...] += diagonal == 0  # pairs not yet there
        column = gradient[:, :, None]
        by_steps, by_changes = to_numpy(steps @ column), to_numpy(changes @ column)
        solved = np.linalg.solve(upper, by_steps)
        middle = np.einsum("bm,bmi->bmi", diagonal, solved)
        middle += scale[:, None, None] * (self.changes_gram[which] @ solved - by_changes)
        first = np.linalg.solve(np.swapaxes(upper, 1, 2), middle)
        # Small factors in the precision of the pairs, or those would be copied.
        xp, dtype = namespace(gradient), gradient.dtype
        first = as_on(-first, gradient, dtype)
        solved = as_on(scale[:, None, None] * solved, gradient, dtype)
        moved = xp.matmul(xp.permute_dims(steps, (0, 2, 1)), first)[:, :, 0]
        moved += xp.matmul(xp.permute_dims(changes, (0, 2, 1)), solved)[:, :, 0]
        moved -= as_on(scale[:, None], gradient, dtype) * gradient
        return moved


def _inner(one: Any, other: Any) -> np.ndarray:
    """Inner product of the vectors of every problem."""
    if isinstance(one, np.ndarray):
        return np.einsum("bp,bp->b", one, other).astype(float)
    xp = namespace(one)
    return to_numpy(xp.astype(xp.sum(one * other, axis=1), double(one)))


def _shifted(pairs: Any, which: Any, new: Any) -> Any:
    """Put a vector for each of some problems behind the others, the oldest of which goes."""
    if isinstance(pairs, np.ndarray):
        pairs[which, :-1] = pairs[which, 1:]
        pairs[which, -1] = new
        return pairs[which]
    xp = namespace(pairs)
    moved = xp.concat([take(pairs, which)[:, 1:, :], new[:, None, :]], axis=1)
    if isinstance(which, slice):
        pairs[...] = moved
    else:
        put(pairs, which, moved)
    return moved


class Minima:
    """All problems on their way down, and where they ended.

    Attributes
    ----------
    points, values, gradients : array
        Where the problems are.
    steps, is_converged : ndarray
        Steps that each has taken, and whether it has converged.
    """

    def __init__(
        self,
        function: Callable[[Any, np.ndarray], tuple[Any, Any]],
        start: Any,
        bounds: Bounds | None,
    ) -> None:
        n_problems = start.shape[0]
        problems = np.arange(n_problems)
        self.function, self.bounds = function, bounds
        self.points = copied(start) if bounds is None else bounds.nearest(start, problems)
        values, self.gradients = function(self.points, problems)
        self.values = np.array(to_numpy(values), dtype=float)
        self.memory, self.length = _Memory(start), np.ones(n_problems)
        self.steps, self.idle, self.refused = np.zeros((3, n_problems), dtype=int)
        projected = self._projected_gradients(problems)
        self.directions, self.slopes = -projected, -_inner(projected, projected)
        self.is_converged = self.slopes == 0

    def step(self, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Try a step of every active problem; those that go on are returned."""
        before, length = take(self.points, active), self.length[active]
        long = as_on(length[:, None], before, before.dtype)
        trial = before + long * take(self.directions, active)
        predicted = length * self.slopes[active]
        if self.bounds is not None:
            trial = self.bounds.nearest(trial, active)
            predicted = _inner(take(self.gradients, active), trial - before)
        values, gradients = self.function(trial, active)
        values = np.asarray(to_numpy(values), dtype=float)
        change = values - self.values[active]
        is_good = (change <= ARMIJO * predicted) & (predicted < 0)
        good, bad = active[is_good], active[~is_good]
        if len(good):
            is_small = -change[is_good] <= tolerance * np.abs(self.values[good])
            self.idle[good] = np.where(is_small, self.idle[good] + 1, 0)
            self.values[good] = values[is_good]
            self._accept(good, take(trial, is_good), take(gradients, is_good))
        if len(bad):
            self._shorten(bad, change[~is_good], predicted[~is_good])
        restarted = bad[self.refused[bad] == REFUSED // 2]
        if len(restarted):
            self.memory.forget(restarted)
            self.length[restarted] = 1.0
        self._turn(np.concatenate([good, restarted]))
        self.is_converged[active] = (self.idle[active] >= IDLE) | (self.slopes[active] >= 0)
        return active[~self.is_converged[active] & (self.refused[active] < REFUSED)]

    def _accept(self, problems: np.ndarray, points: Any, gradients: Any) -> None:
        """Move problems to points where their values have fallen enough."""
        step = points - take(self.points, problems)
        self.memory.remember(problems, step, gradients - take(self.gradients, problems))
        put(self.points, problems, points)
        put(self.gradients, problems, gradients)
        self.steps[problems] += 1
        self.refused[problems] = 0
        self.length[problems] = 1.0

    def _shorten(self, problems: np.ndarray, change: np.ndarray, predicted: np.ndarray) -> None:
        """Take less of a step, by the parabola through both values and the slope.

        After a value that is not finite, as little as is allowed.
        """
        curved = np.where(np.isfinite(change), change - predicted, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(curved > 0, -0.5 * predicted / curved, SHORTEST)
        self.length[problems] *= np.clip(share, SHORTEST, 0.5)
        self.refused[problems] += 1

    def _turn(self, problems: np.ndarray) -> None:
        """Give problems new directions; where that would be uphill, the steepest descent."""
        if len(problems) == 0:
            return
        projected = self._projected_gradients(problems)
        new = self.memory.direction(problems, projected)
        if self.bounds is not None:  # what is at its bound stays there
            new = namespace(new).where(projected == 0, projected, new)
        put(self.directions, problems, new)
        self.slopes[problems] = _inner(new, projected)
        uphill = problems[~(self.slopes[problems] < 0)]
        if len(uphill):
            self.memory.forget(uphill)
            projected = self._projected_gradients(uphill)
            put(self.directions, uphill, -projected)
            self.slopes[uphill] = -_inner(projected, projected)

    def _projected_gradients(self, problems: np.ndarray) -> Any:
        """Return gradients, zero where a variable is at its bound and would go beyond."""
        gradients = take(self.gradients, problems)
        if self.bounds is None:
            return gradients
        is_free = self.bounds.free(take(self.points, problems), gradients, problems)
        return namespace(gradients).where(is_free, gradients, 0.0 * gradients)


def minimise_together(
    function: Callable[[Any, np.ndarray], tuple[Any, Any]],
    start: Any,
    *,
    max_steps: int,
    tolerance: float,
    bounds: Bounds | None = None,
) -> Minima:
    """Minimise several functions of the same number of variables.

    Parameters
    ----------
    function : callable
        ``function(points, problems)`` returns values and gradients of the problems with these
        indices at these points.
    start : array of shape (n_problems, n_variables)
        Where to start.
    max_steps : int
        Most evaluations of each function after the first.
    tolerance : float
        A problem ends when its steps lower the value by less than this share of it.
    bounds : Bounds, optional
        Between which the variables stay.
    """
    descent = Minima(function, start, bounds)
    active = np.flatnonzero(~descent.is_converged & np.isfinite(descent.values))
    for _ in range(max_steps):
        if len(active) == 0:
            break
        active = descent.step(active, tolerance)
    del descent.memory  # most of the numbers, and of no use any more
    return descent
