"""L-BFGS for many small smooth problems at once.

``scipy.optimize`` minimises one function at a time, and with a few dozen variables nearly all of
its time is spent between the arithmetic. Cross-validation asks for hundreds of such problems of the
same shape; here they take their steps together, as rows of one array, each with its own step length
and its own memory, and leave when they have converged.

Each problem: the direction of Nocedal (1980) in the compact form of Byrd, Nocedal & Schnabel
(1994), formula (3.13), and steps that are halved until the value falls enough (Armijo). A value
that does not fall ends the problem where it was lowest, so that none ends above its start. There is
no search for longer steps: the variables should be scaled so that a step of one is about right.

Variables may have bounds: a step is cut off at them, variable by variable, and promises the slope
along what is left of it. A variable that is at its bound and would go beyond has no part in the
direction (the two-metric projection of Bertsekas 1982): the inverse Hessian estimate is taken
between the others alone, so that a short step always goes downhill.

Points, gradients and memory are arrays of any library, and stay where they are; what is decided by,
a few numbers for each problem, is NumPy's.

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

#: Share of the slope by which the value must fall, and the least share of a step tried next.
ARMIJO, SHORTEST = 1e-4, 0.1

#: A problem ends after so many steps in a row that lower its value by too little, or after so many
#: refused ones.
IDLE, REFUSED = 2, 12

#: A pair is remembered if the gradient rises along the step by this share of its change, and by
#: this much: of smaller numbers there is no inverse.
CURVED, SMALLEST = 1e-8, 1e-250


@dataclass
class Minima:
    """Where the problems ended: points, values, gradients, steps taken, and whether they rest."""

    points: Any
    values: np.ndarray
    gradients: Any
    steps: np.ndarray
    is_converged: np.ndarray


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
        upper = np.triu(products)
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


def _downhill(points: Any, gradients: Any, problems: np.ndarray, bounds: Bounds | None) -> Any:
    """Return the gradient, zero where a bound does not let it have its way."""
    if bounds is None:
        return gradients
    is_free = bounds.free(points, gradients, problems)
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
    n_problems = start.shape[0]
    points, everything = copied(start), np.arange(n_problems)
    if bounds is not None:
        points = bounds.nearest(points, everything)
    values, gradients = function(points, everything)
    values = np.array(to_numpy(values), dtype=float)
    memory = _Memory(start)
    steps = np.zeros(n_problems, dtype=int)
    idle, refused = np.zeros(n_problems, dtype=int), np.zeros(n_problems, dtype=int)
    length = np.ones(n_problems)
    pull = _downhill(points, gradients, everything, bounds)
    directions, slopes = -pull, -_inner(pull, pull)
    is_converged = slopes == 0
    active = np.flatnonzero(~is_converged & np.isfinite(values))
    for _ in range(max_steps):
        if len(active) == 0:
            break
        long = as_on(length[active, None], start, start.dtype)
        trial = take(points, active) + long * take(directions, active)
        if bounds is not None:
            trial = bounds.nearest(trial, active)
        found, slope = function(trial, active)
        found = np.asarray(to_numpy(found), dtype=float)
        promised = length[active] * slopes[active]
        if bounds is not None:
            promised = _inner(take(gradients, active), trial - take(points, active))
        fell = found - values[active]
        is_good = (fell <= ARMIJO * promised) & (promised < 0)
        good, bad = active[is_good], active[~is_good]
        if len(good):
            moved, turned = take(trial, is_good), take(slope, is_good)
            memory.remember(good, moved - take(points, good), turned - take(gradients, good))
            is_small = -fell[is_good] <= tolerance * np.abs(values[good])
            idle[good] = np.where(is_small, idle[good] + 1, 0)
            put(points, good, moved)
            put(gradients, good, turned)
            values[good] = found[is_good]
            steps[good] += 1
            refused[good] = 0
            length[good] = 1.0
        if len(bad):
            # The parabola through both values and the slope; a value that is none, far too long.
            curved = np.where(np.isfinite(fell[~is_good]), fell[~is_good] - promised[~is_good], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(curved > 0, -0.5 * promised[~is_good] / curved, SHORTEST)
            length[bad] *= np.clip(share, SHORTEST, 0.5)
            refused[bad] += 1
            restarted = bad[refused[bad] == REFUSED // 2]
            if len(restarted):
                memory.forget(restarted)
                length[restarted] = 1.0
        turning = np.concatenate([good, bad[refused[bad] == REFUSED // 2]])
        if len(turning):
            at = _downhill(take(points, turning), take(gradients, turning), turning, bounds)
            new = memory.direction(turning, at)
            if bounds is not None:  # what is at rest stays there
                new = namespace(at).where(at == 0, at, new)
            put(directions, turning, new)
            slopes[turning] = _inner(new, at)
            uphill = turning[~(slopes[turning] < 0)]
            if len(uphill):
                memory.forget(uphill)
                at = _downhill(take(points, uphill), take(gradients, uphill), uphill, bounds)
                put(directions, uphill, -at)
                slopes[uphill] = -_inner(at, at)
        is_converged[active] = (idle[active] >= IDLE) | (slopes[active] >= 0)
        active = active[~is_converged[active] & (refused[active] < REFUSED)]
    return Minima(points, values, gradients, steps, is_converged)
