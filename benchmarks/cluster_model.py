"""What a fit on a cluster costs: seconds from rows, features, terms, outputs, workers and links.

A pass over the rows takes, on each of ``workers`` threads, for its share of the rows, in seconds,

    rows * (a0 + a1 d + a2 d m + a3 m + a4 m^2 + a5 o + a6 m o + a7 m^2 o) + rows * 8 d / reading,

with d features, m columns (terms, and features of a linear part) and o outputs: copies of the rows,
kernel values, features L^-1 k, scores, and the products of Newton's method. At the same time the
scheduler hands out one task for each block, one after the other, and results of 8 o (m + 1)^2 bytes
a block are added in a tree of groups (``zeronorm/dask/passes.py``), each group over one link. The
longest of the three is the bottleneck, and on top of it comes the way from the last block to the
root.

Vectors are learned from a sample on one machine, in a time that does not grow with the rows.
``cluster_cost.py`` measures the constants; ``docs/scaling.md`` has what they predict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Of the tree of sums, ``zeronorm.dask.passes.FAN_IN``; this module does without Dask.
FAN_IN = 8


@dataclass(frozen=True)
class Work:
    """What is to be learned, in blocks of ``block_rows`` rows; ``passes`` over all of them."""

    rows: float
    features: int
    terms: int
    outputs: int = 1
    block_rows: float = 500_000
    passes: int = 5

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return max(1, math.ceil(self.rows / self.block_rows))

    @property
    def sums_bytes(self) -> float:
        """Size of the sums of one block."""
        return 8.0 * self.outputs * (self.terms + 1) ** 2

    def parts(self) -> tuple[float, ...]:
        """Work of a row that the constants of :class:`Machine` are seconds of."""
        d, m, o = self.features, self.terms, self.outputs
        return 1.0, d, d * m, m, m * m, o, m * o, m * m * o


@dataclass(frozen=True)
class Machine:
    """Seconds that things take.

    ``row`` are the constants a0 to a7 of the module docstring; ``task`` is the scheduler's time for
    a block, ``hop`` that of a task of the tree; ``sample`` the seconds of everything that is
    learned from the sample; ``reading`` and ``link`` bytes a second of each worker.
    """

    row: tuple[float, ...]
    task: float
    hop: float
    sample: float
    reading: float = math.inf
    link: float = 1.25e9


@dataclass(frozen=True)
class Prediction:
    """Seconds of a fit, and of the parts of a pass, of which the longest counts."""

    total: float
    computing: float
    scheduling: float
    adding: float

    @property
    def bottleneck(self) -> str:
        """Which part of a pass takes longest."""
        parts = {
            "computing": self.computing,
            "scheduling": self.scheduling,
            "adding": self.adding,
        }
        return max(parts, key=lambda name: parts[name])


def predict(work: Work, machine: Machine, workers: int) -> Prediction:
    """Return the seconds that a fit takes with so many workers of one thread each."""
    row = sum(seconds * part for seconds, part in zip(machine.row, work.parts(), strict=True))
    row += 8.0 * work.features / machine.reading
    # Blocks are not divided: the last round of them takes as long as any other.
    rounds = math.ceil(work.blocks / workers)
    computing = rounds * min(work.rows, work.block_rows) * row
    scheduling = work.blocks * machine.task
    travelled = work.sums_bytes / machine.link if workers > 1 else 0.0
    adding = rounds * travelled
    depth = math.ceil(math.log(work.blocks, FAN_IN)) if work.blocks > 1 else 0
    last = depth * (machine.hop + FAN_IN * travelled)
    each = max(computing, scheduling, adding) + last
    return Prediction(machine.sample + work.passes * each, computing, scheduling, adding)
