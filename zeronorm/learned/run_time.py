"""How long a descent by batches will take: multiplications, times the seconds of a trial step.

A step of a model of m terms multiplies, for each row of its batch, vectors with features and
coefficients with outputs, and once, whatever the batch, factors and inverts the Gram matrix of its
vectors:

    batch * m * (features + outputs) + m^3.

Seconds for a multiplication depend on the machine and the size, so one step of the largest model
is timed: the time of a small one is mostly overhead, above all on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from zeronorm.learned.stochastic import BATCH, LARGE_BATCH

#: Seconds from which on a fit is announced.
LONG = 60.0

#: Times that the last solution of the coefficients goes through all rows, about.
PASSES = 10


@dataclass
class RunTime:
    """Multiplications and seconds of the descents of a problem.

    Parameters
    ----------
    n_rows, n_features, n_outputs : int
        Sizes of the problem.
    clock : callable
        Tells the time in seconds.
    """

    n_rows: int
    n_features: int
    n_outputs: int
    clock: Callable[[], float] = perf_counter

    def of_steps(self, terms: int, steps: int, batch: int) -> float:
        """Multiplications of steps of one model; a batch has no more rows than there are."""
        batch = min(batch, self.n_rows)
        return float(steps) * terms * (batch * (self.n_features + self.n_outputs) + terms**2)

    def to_come(self, terms: int, steps: int, last: int, batch: int = LARGE_BATCH) -> float:
        """Multiplications of steps, of those of the last descent, and of the last solution."""
        work = self.of_steps(terms, steps, BATCH) + self.of_steps(terms, last, batch)
        width = self.n_features + self.n_outputs * terms  # of that, a matrix for each output
        return work + float(PASSES) * self.n_rows * terms * width

    def seconds(self, work: float, trial: Callable[[], Any], trial_work: float) -> float:
        """Predict how long so much work will take, by a trial of known work, the second of two."""
        trial()
        start = self.clock()
        trial()
        return work * (self.clock() - start) / trial_work


def announcement(seconds: float, terms: int, n_rows: int) -> str | None:
    """Return a sentence for a fit that will take long."""
    if seconds < LONG:
        return None
    return (
        f"{terms} terms on {n_rows} rows will take about {max(2, round(seconds / 60))} minutes "
        "here, or more. Give a smaller n_terms to wait less, or verbose=1 to watch."
    )
