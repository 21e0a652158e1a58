"""What a descent by batches costs: multiplications are counted, seconds follow from those before.

A step of a model of m terms multiplies, for each row of its batch, vectors with features and
coefficients with outputs, and once, whatever the batch, factors and inverts the Gram matrix of its
vectors:

    batch * m * (features + outputs) + m^3.

How long that takes depends on the machine, so that it is measured while models are still small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

#: Seconds from which on a fit is announced.
LONG = 60.0

#: Times that the last solution of the coefficients goes through all rows, about.
PASSES = 10


@dataclass
class Effort:
    """Multiplications and seconds so far.

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
    work: float = 0.0
    seconds: float = 0.0

    def of_steps(self, terms: int, steps: int, batch: int) -> float:
        """Multiplications of so many steps of one model."""
        return float(steps) * terms * (batch * (self.n_features + self.n_outputs) + terms**2)

    def of_coefficients(self, terms: int) -> float:
        """Multiplications of the last solution, with a matrix for each output."""
        width = self.n_features + self.n_outputs * terms
        return float(PASSES) * self.n_rows * terms * width

    @contextmanager
    def measured(self, work: float) -> Iterator[None]:
        """Count work, and the seconds that the block takes for it."""
        start = self.clock()
        yield
        self.seconds += self.clock() - start
        self.work += work

    def predicted(self, work: float) -> float:
        """Seconds that so much work will take; none if nothing was measured."""
        return work * self.seconds / self.work if self.work else 0.0


def announcement(seconds: float, terms: int, n_rows: int) -> str | None:
    """Return a sentence for a fit that will take long."""
    if seconds < LONG:
        return None
    return (
        f"Up to {terms} terms on {n_rows} rows will take up to about {max(2, round(seconds / 60))} "
        "minutes here. Give a smaller n_terms to wait less, or verbose=1 to watch."
    )
