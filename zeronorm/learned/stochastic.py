"""Descent by Adam, on all rows or by mini-batches: the joint problem of ``joint.py``.

L-BFGS goes to the next minimum. With more than a few vectors that is a poor one, and a descent with
steps so long that it is not caught there ends far lower (satimage, 3 800 rows, 60 terms: 7 326
after 200 steps of L-BFGS, 6 868 after 1 000, 4 745 after 600 of these). The steps are those of Adam
(Kingma & Ba 2015): a running mean of the gradient, each entry divided by the root of a running mean
of its square. Parameters of a kind have one step size, in units of what they do to the function:

- vectors move by a share of the length of the kernel, 1 / sqrt(sum of the gammas);
- weights of the orthonormal basis, intercepts and the linear part by a share of one, the margin
  (rows have about unit length in the units of the learner);
- logarithms of widths by a share of one.

The step size of a cycle rises and falls, by half a cosine each (Smith & Topin 2019), so that a
cycle ends near a minimum. The weights are those of the whitened basis: the same descent in the
plain coefficients ends one or two points of error higher.

A step may see a batch of rows only, with costs rescaled to all rows: then its time does not depend
on the number of rows.

A cycle never ends above its start: if it has risen, it is done again with a smaller step, and at
last not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from zeronorm.arrays import all_finite, as_on, is_numpy, namespace, take, to_numpy
from zeronorm.base.sampling import MANY_ROWS, shuffled_rows
from zeronorm.learned.joint import Form, JointModels, Parameters, Used
from zeronorm.recording import recorded
from zeronorm.solvers.lbfgs import within_box

#: Rows of a batch where models are compared, and where one descends to its end.
BATCH, LARGE_BATCH = 1_000, 4_000

#: Step sizes of vectors, weights, intercept, linear part and log widths; and that of the last by
#: batches. Few rows tell little of widths, and models with long steps fit their noise.
STEP_SIZES, BATCH_WIDTHS = (0.3, 1.0, 1.0, 0.3, 0.02), 0.2

#: Running means of gradients and of their squares keep this much.
MEAN_SHARE, SQUARE_SHARE = 0.9, 0.99

#: Share of a cycle in which the step size rises, and its ends as shares of the peak.
RISE, FIRST, LAST = 0.2, 0.04, 0.001

#: Rows that start and end of a cycle by batches are compared on; most times it is done again, with
#: so much of the step size.
COMPARED, ATTEMPTS, SMALLER = 8_000, 4, 0.25

#: Steps between checks that the loss is finite: each makes the host wait for the device.
CHECK_EVERY = 10

#: Takes parameters, and gives objectives and gradient of every model on the rows of a step.
Function = Callable[[Parameters], tuple[np.ndarray, Parameters]]


@dataclass(frozen=True)
class Cycle:
    """So many steps; the largest is ``peak`` times the usual one. By batches, of so many rows."""

    steps: int
    batch: int = BATCH
    peak: float = 1.0

    def step_size(self, step: int) -> float:
        """Size of one of the steps, as a share of the usual one."""
        done = step / max(1, self.steps)
        if done < RISE:
            height = FIRST + (1.0 - FIRST) * 0.5 * (1.0 - np.cos(np.pi * done / RISE))
        else:
            fall = (done - RISE) / (1.0 - RISE)
            height = LAST + (1.0 - LAST) * 0.5 * (1.0 + np.cos(np.pi * fall))
        return float(self.peak * height)


class Adam:
    """Running means of gradients and of their squares, for arrays that change in place.

    The means of all arrays are one: a device takes as long for a few numbers as for many.

    Parameters
    ----------
    arrays : sequence of ndarray
        What is to move.
    sizes : sequence of ndarray or float
        Step size of each, or of its entries.
    shares : sequence of float
        What to take of the step sizes, for each step to come.
    """

    def __init__(self, arrays: Any, sizes: Any, shares: Any) -> None:
        self.arrays = arrays
        parts = zip(arrays, sizes, strict=True)
        self.sizes = _joined([0.0 * array + size for array, size in parts])
        self.mean, self.square = 0.0 * self.sizes, 0.0 * self.sizes
        # Sums of few gradients are no means yet: they are divided by what they have seen.
        steps = np.arange(1, len(shares) + 1)
        first, second = 1.0 - MEAN_SHARE**steps, 1.0 - SQUARE_SHARE**steps
        self.plan = InTurn(np.stack([shares / first, second], axis=1), self.sizes)

    def step(self, value: Any, gradients: Any) -> None:
        """Move all arrays against these gradients, if the objectives are finite."""
        xp, gradient, line = namespace(value), _joined(gradients), self.plan.next()
        rate, second = line[0], line[1]
        self.mean *= MEAN_SHARE
        self.mean += (1.0 - MEAN_SHARE) * gradient
        gradient *= gradient
        self.square *= SQUARE_SHARE
        self.square += (1.0 - SQUARE_SHARE) * gradient
        move = rate * self.sizes
        move *= self.mean
        move /= (self.square / second) ** 0.5 + float(np.finfo(np.float32).tiny)
        move = xp.where(xp.all(xp.isfinite(value)), move, 0.0)
        start = 0
        for array in self.arrays:
            end = start + math.prod(array.shape)
            array -= xp.reshape(move[start:end], array.shape)
            start = end


class InTurn:
    """Lines of a table, one after the other; on a device, without a look at which is next.

    Parameters
    ----------
    lines : ndarray
        The table.
    like : array
        In which library and on which device they are wanted; numbers in its type.
    """

    def __init__(self, lines: np.ndarray, like: Any) -> None:
        dtype = like.dtype if lines.dtype.kind == "f" else None
        self.lines, self.index = as_on(lines, like, dtype), as_on(np.zeros(1, np.int64), like)

    def next(self) -> Any:
        """Return the next line."""
        line = take(self.lines, self.index)[0, ...]
        self.index += 1
        return line


def _joined(arrays: Any) -> Any:
    """Return the numbers of all arrays as one array."""
    xp = namespace(arrays[0])
    return xp.concat([xp.reshape(array, (-1,)) for array in arrays])


@dataclass
class BatchProblem:
    """Models of one form on many rows, of which batches are seen.

    Parameters
    ----------
    source : Rows or TrainingSource
        All rows, or where blocks of them can be taken from.
    cost : ndarray of shape (n,)
        Cost of every row where C is one.
    form : Form
        What the functions are made of.
    Cs, gammas : ndarray of shape (n_models,)
        C, and the width to begin with, of every model.
    used : Used, optional
        Features that the models may use.
    """

    source: Any
    cost: np.ndarray
    form: Form
    Cs: Any
    gammas: Any
    used: Used | None = None

    def on_rows(self, indices: np.ndarray, parameters: Parameters) -> JointModels:
        """Return the models on some rows, with costs rescaled to all rows."""
        like = self.source.like
        if not is_numpy(like):
            indices = as_on(indices, like)  # once for all that is taken
        rows = self.source.take(indices)
        cost = take(self.cost, indices) * (len(self.source) / indices.shape[0])
        costs = as_on(self.Cs, like)[:, None] * as_on(cost, like)
        return JointModels(rows, self.form, costs, self.gammas, parameters, self.used)

    def take(self, models: np.ndarray) -> BatchProblem:
        """Return the problem of some of the models."""
        return replace(self, Cs=self.Cs[models], gammas=self.gammas[models])


def descend_in_cycles(models: JointModels, cycle: Cycle, *, retry: bool = True) -> None:
    """Let all parameters of the models go downhill, every step on all rows.

    Those that end above their start try again with smaller steps. Without ``retry`` they stay where
    they were, which is enough if another descent follows.
    """

    def move(some: np.ndarray, parameters: Parameters, smaller: Cycle) -> np.ndarray:
        part, indices = models.take(some), np.arange(len(some))
        gammas, box = to_numpy(part.gamma), models.rows.box
        run_cycle(lambda at: part.function(at, indices), parameters, gammas, smaller, box=box)
        part.parameters = parameters
        return part.objective()

    found = _never_above(move, models.parameters, models.objective(), cycle, retry)
    models.parameters, models.values = found


def descend_by_batches(
    problem: BatchProblem,
    parameters: Parameters,
    cycle: Cycle,
    random: np.random.RandomState,
    report: Callable[[float], Any] | None = None,
) -> Parameters:
    """Let all parameters of the models go downhill, a batch of rows at a time.

    Parameters
    ----------
    problem : BatchProblem
        Rows, costs and form.
    parameters : Parameters
        Where to begin; they stay as they are.
    cycle : Cycle
        How many steps, of which size.
    random : RandomState
        Draws the batches.
    report : callable, optional
        Is told after each step what share of the steps is done.
    """
    n_rows, like = len(problem.source), problem.source.like
    compared = np.sort(shuffled_rows(n_rows, COMPARED, random))
    box = problem.source.take(compared[:1]).box
    batches = _batches(n_rows, min(cycle.batch, n_rows), cycle.steps, random)

    def move(some: np.ndarray, moved: Parameters, smaller: Cycle) -> np.ndarray:
        part, indices = problem.take(some), np.arange(len(some))
        # C and widths where the rows are: each step asks for them.
        there = replace(part, Cs=as_on(part.Cs, like), gammas=as_on(part.gammas, like))
        next_batch = batches.__next__
        if not is_numpy(like):
            next_batch = InTurn(np.stack(list(islice(batches, cycle.steps))), like).next

        def function(at: Parameters) -> tuple[np.ndarray, Parameters]:
            return there.on_rows(next_batch(), at).function(at, indices)

        how = BATCH_WIDTHS, report, box, problem.source.is_on_device
        run_cycle(function, moved, part.gammas, smaller, *how)
        return part.on_rows(compared, moved).objective()

    before = problem.on_rows(compared, parameters).objective()
    return _never_above(move, parameters, before, cycle)[0]


def _batches(
    n_rows: int, size: int, steps: int, random: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Yield indices of batches without end: rows in turn, in another order each time.

    Of more rows than so many steps see each batch is drawn by itself.
    """
    while n_rows > max(MANY_ROWS, steps * size):
        yield np.sort(random.randint(n_rows, size=size))
    while True:
        order = random.permutation(n_rows)
        for start in range(0, len(order) - size + 1, size):
            yield np.sort(order[start : start + size])


def _never_above(
    move: Callable[[np.ndarray, Parameters, Cycle], np.ndarray],
    start: Parameters,
    before: np.ndarray,
    cycle: Cycle,
    retry: bool = True,
) -> tuple[Parameters, np.ndarray]:
    """Move models, again with smaller steps those whose objective has not fallen, or is not finite.

    ``move`` takes the indices of models, copies of their parameters, which it changes, and a cycle;
    it gives their objectives back. Parameters and objectives of all models are returned.
    """
    result, values, left = start.copy(), before.copy(), np.arange(len(before))
    for attempt in range(ATTEMPTS):
        moved = start.take(left).copy()
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that is not finite ends it
            after = move(left, moved, replace(cycle, peak=cycle.peak * SMALLER**attempt))
        fallen = np.flatnonzero(after <= before[left])  # not where it is NaN
        result.put(left[fallen], moved.take(fallen))
        values[left[fallen]] = after[fallen]
        again = ~(after <= before[left]) if retry else ~np.isfinite(after)
        left, after = left[again], after[again]
        if len(left) == 0:
            return result, values
    if not np.isfinite(after).all():
        raise ValueError(
            "The descent by Adam has diverged: the loss is not finite even with a step of "
            f"{cycle.peak * SMALLER ** (ATTEMPTS - 1):.1e} times the usual one. Standardise the "
            "features, or take a smaller C."
        )
    return result, values


def run_cycle(
    function: Function,
    parameters: Parameters,
    gammas: np.ndarray,
    cycle: Cycle,
    log_widths: float = STEP_SIZES[-1],
    report: Callable[[float], Any] | None = None,
    box: tuple[Any, Any] | None = None,
    records: bool = True,
) -> None:
    """Take the steps of a cycle, in place, until the end or a loss that is not finite.

    Where vectors have to stay in a box, each step is cut off at its sides. Steps on a GPU are
    recorded, unless they need rows that are made in NumPy.
    """
    length = STEP_SIZES[0] / np.sqrt(gammas * parameters.vectors.shape[2])
    vectors = parameters.vectors
    sizes = [as_on(length[:, None, None], vectors, vectors.dtype), *STEP_SIZES[1:-1], log_widths]
    adam = Adam(parameters.arrays(), sizes, [cycle.step_size(i) for i in range(cycle.steps)])

    def step() -> Any:
        value, gradient = function(parameters)
        adam.step(value, gradient.arrays())
        if box is not None:
            vectors[...] = within_box(vectors, *box)
        return value

    advance = recorded(step, vectors) if records else step
    for done in range(1, cycle.steps + 1):
        value = advance()
        if done % CHECK_EVERY == 0 and not all_finite(value):
            if advance is step:
                return
            advance = step  # a larger ridge may help, which cannot be recorded
        if report is not None:
            report(done / cycle.steps)
