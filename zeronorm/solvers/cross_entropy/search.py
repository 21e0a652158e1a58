"""The cross-entropy method for minimising over vectors of zeros and ones.

Rubinstein & Kroese (2004), as in Mannor, Peleg & Rubinstein (2005), Algorithm 2.1. A vector of
probabilities v says how likely each bit is one. Round t:

    draw N vectors from v and score them;
    level_t = the ceil(rho N)-th smallest score, the elite are the vectors at or below it;
    v <- beta * (mean of the elite) + (1 - beta) * v,                                      (4), (5)

until the level has been the same for d further rounds. The *fully adaptive* variant (FACE;
de Boer, Kroese, Mannor & Rubinstein, 2005) fixes the number of elite vectors and draws only as
many as it takes to improve the level or the best score, within limits: N and rho = elite / N adapt.

Two things are added that change no result of a round, only its price. Equal vectors are scored
once (the paper's cache). And only the elite matters: where the score knows a lower bound, vectors
are scored in the order of their bounds, and those whose bound is above the level that is already
reached are never scored. What is scored is split in a way that does not depend on the number of
workers, so neither does the result.

Afterwards :func:`descend` can look whether changing or swapping single bits helps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zeronorm.solvers.cross_entropy.scores import BoundedScore, Scorer, is_below, rounding, smallest
from zeronorm.solvers.solution import History

#: FACE draws between ``sample_size / ADAPT`` and ``sample_size * ADAPT`` vectors in a round.
ADAPT = 4


@dataclass
class Minimum:
    """Result of a search.

    ``vector`` and ``score`` are the best seen, ``probabilities`` the last distribution,
    ``is_settled`` says that the level converged before the rounds ran out. ``history`` has one
    entry a round: "level", "best" (score so far), "ones" (in the best vector), "draws", "scored"
    (vectors that had to be evaluated).
    """

    vector: np.ndarray
    score: float
    probabilities: np.ndarray
    is_settled: bool = False
    history: History = field(
        default_factory=lambda: History("level", "best", "ones", "draws", "scored")
    )

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.history["level"])


def minimise(
    score: Callable[[np.ndarray], Any] | BoundedScore | Scorer,
    start: np.ndarray,
    *,
    sample_size: int | None = None,
    elite_share: float = 0.03,
    smoothing: float = 0.7,
    patience: int = 3,
    adaptive: bool = False,
    max_rounds: int = 100,
    first: np.ndarray | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    report: Callable[[Minimum], None] | None = None,
) -> Minimum:
    """Search the vector of zeros and ones with the lowest score.

    Parameters
    ----------
    score : callable, BoundedScore or Scorer
        Function to minimise: takes a boolean matrix, returns one number for each row.
    start : array of shape (n_bits,)
        Probability of a one, for each bit: the distribution to begin with.
    sample_size : int, optional
        Vectors drawn in each round, N; by default five for each bit, and at least 100.
    elite_share : float
        rho; at least two vectors are the elite.
    smoothing : float
        beta, the weight of the elite in the new distribution.
    patience : int
        Stop when the level has been the same for this many further rounds.
    adaptive : bool
        The fully adaptive variant: draw a quarter of ``sample_size``, and go on, up to four times
        it, until the level or the best score improves.
    max_rounds : int
        Most rounds.
    first : array of shape (n_first, n_bits), optional
        Vectors that are scored with the first sample; the result is no worse than they are.
    random_state : int, Generator or None
        Seed of the draws.
    n_jobs : int, optional
        Workers that score, as in joblib; the result does not depend on it.
    report : callable, optional
        Called with the :class:`Minimum` so far after each round.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> import numpy as np
    >>> from zeronorm.solvers.cross_entropy.search import minimise
    >>> target = np.arange(12) % 3 == 0
    >>> found = minimise(lambda V: (V != target).sum(axis=1), np.full(12, 0.5), random_state=0)
    >>> found.score, bool((found.vector == target).all())
    (0.0, True)
    """
    scorer = score if isinstance(score, Scorer) else Scorer(score, n_jobs=n_jobs)
    random = np.random.default_rng(random_state)
    probabilities = np.array(start, dtype=float)
    n_draws = max(5 * len(probabilities), 100) if sample_size is None else sample_size
    n_elite = max(2, math.ceil(elite_share * n_draws))
    sizes = (max(n_elite, n_draws // ADAPT), n_draws * ADAPT) if adaptive else (n_draws,) * 2
    result = Minimum(np.zeros(len(probabilities), dtype=bool), np.inf, probabilities)
    fresh = np.empty((0, len(probabilities)), bool) if first is None else np.asarray(first, bool)
    while result.rounds < max_rounds and not result.is_settled:
        scored = scorer.n_scored
        values, vectors, level = _sample(scorer, result, fresh, n_elite, sizes, random)
        fresh = fresh[:0]
        if is_below(values.min(), result.score):
            best = _first_best(values)
            result.score, result.vector = float(values[best]), vectors[best].copy()
        mean = vectors[values <= level + rounding(level)].mean(axis=0)
        result.probabilities = smoothing * mean + (1.0 - smoothing) * result.probabilities
        result.history.record(
            level=level,
            best=result.score,
            ones=int(result.vector.sum()),
            draws=len(values),
            scored=scorer.n_scored - scored,
        )
        levels = result.history["level"][-patience - 1 :]
        result.is_settled = len(levels) > patience and not is_below(min(levels), max(levels))
        if report is not None:
            report(result)
    return result


def _sample(
    scorer: Scorer,
    result: Minimum,
    first: np.ndarray,
    n_elite: int,
    sizes: tuple[int, int],
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw and score vectors until level or best score improve, or there are as many as allowed.

    ``sizes`` are how many to draw at a time, and at most. Returned are scores, vectors and level.
    """
    least, most = sizes
    previous = result.history["level"][-1] if result.rounds else np.inf
    values, vectors = np.empty(0), first[:0]
    while True:
        drawn = random.random((least, first.shape[1])) < result.probabilities
        # The level of what is there already holds for what comes: a cut vector stays cut.
        new = scorer(np.concatenate([first, drawn]), n_elite, smallest(values, n_elite))
        first = first[:0]
        values, vectors = np.concatenate([values, new[0]]), np.concatenate([vectors, new[1]])
        level = smallest(values, n_elite)
        is_better = is_below(level, previous) or is_below(values.min(), result.score)
        if is_better or len(values) >= most:
            return values, vectors, level


def _first_best(values: np.ndarray) -> int:
    """Index of the first of the equally good: rounding must not choose."""
    return int(np.flatnonzero(values <= values.min() + rounding(values.min()))[0])


def best_set(
    score: BoundedScore,
    n_columns: int,
    *,
    sample_size: int | None = None,
    polish: bool = True,
    n_jobs: int | None = None,
    **options: Any,
) -> tuple[Minimum, np.ndarray]:
    """Search the best set of columns, from all of them; then try single changes and swaps.

    Parameters
    ----------
    score : BoundedScore
        The score of sets.
    n_columns : int
        Number of columns.
    sample_size : int, optional
        Sets drawn in each round; by default five for each column, from 100 to 500.
    polish : bool
        Whether single changes follow the search.
    n_jobs : int, optional
        Workers that score.
    options
        Of :func:`minimise`.

    Returns
    -------
    found, vector
        How the search went, and the set.
    """
    n_draws = int(np.clip(5 * n_columns, 100, 500)) if sample_size is None else sample_size
    scorer = Scorer(score, n_jobs=n_jobs)
    start, everything = np.full(n_columns, 0.5), np.ones((1, n_columns), dtype=bool)
    with scorer.parallel:
        found = minimise(scorer, start, sample_size=n_draws, first=everything, **options)
        if not polish:
            return found, found.vector
        return found, descend(scorer, found.vector, found.score, most=n_draws)[0]


def descend(
    scorer: Scorer, vector: np.ndarray, score: float, *, most: int, max_rounds: int = 100
) -> tuple[np.ndarray, float]:
    """Change single bits, then swap a one with a zero, as long as the score falls.

    Parameters
    ----------
    scorer : Scorer
        Scores the neighbours.
    vector, score
        Where to begin.
    most : int
        At most this many swaps are looked at in a round, those with the lowest bounds.
    max_rounds : int
        Most steps.

    Returns
    -------
    vector, score
        No single change improves it further, nor one of the swaps looked at.
    """
    for _ in range(max_rounds):
        for neighbours in (_flips(vector), _swaps(vector)):
            if len(neighbours) > max(most, len(vector)):
                order = np.argsort(scorer.score.bounds(neighbours), kind="stable")
                neighbours = neighbours[np.sort(order[:most])]
            if not len(neighbours):
                continue
            values, improved = scorer(neighbours, 1, score)
            best = _first_best(values)
            if is_below(values[best], score):
                vector, score = improved[best].copy(), float(values[best])
                break
        else:
            break
    return vector, score


def _flips(vector: np.ndarray) -> np.ndarray:
    return vector ^ np.eye(len(vector), dtype=bool)


def _swaps(vector: np.ndarray) -> np.ndarray:
    ones, zeros = np.flatnonzero(vector), np.flatnonzero(~vector)
    neighbours = np.repeat(vector[None, :], len(ones) * len(zeros), axis=0)
    rows = np.arange(len(neighbours))
    neighbours[rows, np.repeat(ones, len(zeros))] = False
    neighbours[rows, np.tile(zeros, len(ones))] = True
    return neighbours
