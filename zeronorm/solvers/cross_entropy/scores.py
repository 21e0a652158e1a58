"""Scores of vectors of zeros and ones: cached, cut short by bounds, and spread over workers.

The savings of Mannor et al. (2005): a vector is scored once, and one that could not enter the elite
is not scored at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

#: Vectors per task, and before the first look at the bounds; the second is after twice as many,
#: and so on. None of it depends on the workers.
TASK = 8
WAVE = 2 * TASK

#: Vectors that are put in an order at a time.
STRETCH = 128

#: Scores closer than this, relatively, count as equal: solvers leave rounding errors.
EQUAL = 1e-9


@dataclass
class Scores:
    """What evaluating some vectors gives.

    ``vectors`` may be better ones than were asked for (bits that turned out to be superfluous set
    to zero), with their scores in ``values``; ``cuts`` is what ``learn`` takes.
    """

    values: np.ndarray
    vectors: np.ndarray
    cuts: Any = None


class BoundedScore(Protocol):
    """A score that knows lower bounds. ``evaluate`` runs in the workers, the others do not."""

    def evaluate(self, vectors: np.ndarray) -> Scores:
        """Score every row of a boolean matrix."""

    def learn(self, cuts: Any) -> None:
        """Take in what an evaluation has taught about the bounds; nothing if there are none."""
        return

    def bounds(self, vectors: np.ndarray) -> np.ndarray:
        """Return a lower bound of the score of every row; minus infinity if none is known."""
        return np.full(len(vectors), -np.inf)


@dataclass
class _PlainScore(BoundedScore):
    """A function from boolean matrices to scores, without bounds."""

    function: Callable[[np.ndarray], Any]

    def evaluate(self, vectors: np.ndarray) -> Scores:
        values = np.asarray(self.function(vectors), dtype=float)
        if values.shape != (len(vectors),):
            raise ValueError(
                f"The score of {len(vectors)} vectors has shape {values.shape}; it must be one "
                f"number for each row, shape ({len(vectors)},)."
            )
        if np.isnan(values).any():
            raise ValueError("The score of a vector is not a number.")
        return Scores(values, vectors)


class Scorer:
    """Scores samples of vectors: each different one once, and only where it can matter.

    Parameters
    ----------
    score : callable or BoundedScore
        A function that takes a boolean matrix and returns one number for each row, or an object
        that also knows bounds.
    n_jobs : int, optional
        Workers, as in joblib. Threads are preferred; ``joblib.parallel_config`` decides.
    use_cache : bool
        Whether scores are remembered.
    use_bounds : bool
        Whether vectors are cut by their bounds.
    """

    def __init__(
        self,
        score: Callable[[np.ndarray], Any] | BoundedScore,
        *,
        n_jobs: int | None = None,
        use_cache: bool = True,
        use_bounds: bool = True,
    ) -> None:
        given: Any = score
        if not (hasattr(given, "evaluate") or callable(given)):
            raise ValueError(f"The score must be a function of a boolean matrix; got {given!r}.")
        self.score: BoundedScore = given if hasattr(given, "evaluate") else _PlainScore(given)
        # Left to itself, joblib would join small tasks to batches that keep one worker waiting.
        self.parallel = Parallel(n_jobs=n_jobs, prefer="threads", batch_size=1)
        self.use_cache, self.use_bounds = use_cache, use_bounds
        self.known: dict[bytes, tuple[float, np.ndarray]] = {}
        self.n_scored = 0

    def __call__(
        self, vectors: np.ndarray, n_elite: int, ceiling: float = np.inf
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score the rows of ``vectors``.

        Exact are the ``n_elite`` lowest scores, those equal to them, and no others above
        ``ceiling``; a score of infinity says that the vector was cut.

        Returns
        -------
        values, improved
            Scores, and the vectors that have them.
        """
        values, improved = np.full(len(vectors), np.inf), vectors.copy()
        indices: dict[bytes, list[int]] = {}
        for i, row in enumerate(np.packbits(vectors, axis=1)):
            key = row.tobytes() if self.use_cache else row.tobytes() + i.to_bytes(4, "big")
            indices.setdefault(key, []).append(i)
        for key in indices.keys() & self.known.keys():
            values[indices[key]], improved[indices[key]] = self.known[key]
        unscored = [key for key in indices if key not in self.known]
        wave = WAVE
        while unscored:
            firsts = np.array([indices[key][0] for key in unscored])
            level = min(smallest(values, n_elite), ceiling)
            chosen, later = self._next(vectors[firsts], level, wave)
            wave *= 2
            scored = self._evaluate(vectors[firsts[chosen]])
            for i, value, vector in zip(chosen, *scored, strict=True):
                key = unscored[i]
                values[indices[key]], improved[indices[key]] = value, vector
                if self.use_cache:
                    self.known[key] = (value, vector)
            unscored = [unscored[i] for i in later]
        return values, improved

    def _next(self, vectors: np.ndarray, level: float, wave: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors to score now and those to look at again; the rest is cut."""
        if not self.use_bounds:
            return np.arange(len(vectors)), np.empty(0, dtype=np.intp)
        bounds = self.score.bounds(vectors)
        order = np.argsort(bounds, kind="stable")
        order = order[bounds[order] <= level + rounding(level)]
        return order[:wave], order[wave:]

    def _evaluate(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Score vectors, neighbours one after the other."""
        self.n_scored += len(vectors)
        order = _neighbours_together(vectors)
        tasks = [order[start : start + TASK] for start in range(0, len(order), TASK)]
        results = self.parallel(delayed(self.score.evaluate)(vectors[task]) for task in tasks)
        values, improved = np.empty(len(vectors)), np.empty_like(vectors)
        for task, result in zip(tasks, results, strict=True):
            values[task], improved[task] = result.values, result.vectors
            self.score.learn(result.cuts)
        return values, improved


def _neighbours_together(vectors: np.ndarray) -> np.ndarray:
    """Order in which each vector is followed by the nearest of those that are left.

    Only within stretches of ``STRETCH`` vectors, so that the effort stays linear.
    """
    order = np.lexsort(vectors.T) if len(vectors) > STRETCH else np.arange(len(vectors))
    for start in range(0, len(order), STRETCH):
        part = order[start : start + STRETCH]
        signs = 2.0 * vectors[part] - 1.0
        nearness = signs @ signs.T
        path = [0]
        nearness[:, 0] = -np.inf
        for _ in range(len(part) - 1):
            path.append(int(nearness[path[-1]].argmax()))
            nearness[:, path[-1]] = -np.inf
        order[start : start + STRETCH] = part[path]
    return order


def smallest(values: np.ndarray, count: int) -> float:
    """Return the count-th smallest value; infinity if there are fewer."""
    if len(values) < count:
        return np.inf
    return float(np.partition(values, count - 1)[count - 1])


def rounding(value: float) -> float:
    """Return how far an equal score may lie from this one."""
    return EQUAL * max(1.0, abs(value)) if math.isfinite(value) else 0.0


def is_below(value: float, other: float) -> bool:
    """Whether a score is lower by more than rounding."""
    return bool(value < other - rounding(other))
