"""Rows to choose by where there are very many: one draw to learn from, and others to test on.

Folds (``folds.py``) learn each model several times, so that few rows can be learned from and tested
on. Of very many rows none has to be both: each model is learned once, from all rows of a draw, and
tested on several sets of others. That takes a fifth of the time, from more rows.

What the sets say of a difference between models is less than what folds say: all of them have
learned from the same rows. So a difference counts from one standard error on, and not from a
quarter (``path.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import to_numpy
from zeronorm.base.sampling import other_rows, shuffled_rows, stratified_rows
from zeronorm.base.training_set import TrainingRows, rescaled_cost
from zeronorm.learned.coordinates import Units
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.folds import Folds, evaluate, part_of
from zeronorm.learned.joint import JointModels
from zeronorm.learned.scoring import Scoring


@dataclass(frozen=True)
class DrawSizes:
    """From so many rows on there is one draw, of so many; and so many others test its models."""

    very_many_rows: int = 20_000
    drawn_rows: int = 4_000
    test_rows: int = 10_000


@dataclass
class OneDraw(Folds):
    """One fold: rows that one model of each setting learns from, and sets of others to test it on.

    No row is in both; ``shared`` has no test rows.
    """

    def evaluate(self, models: JointModels) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """Error and loss of models on each set of rows (models x sets); and their values."""
        assert self.others is not None
        error, loss, scores = evaluate(models, self.others, self.scoring)
        return error, loss, [scores[i, :, :].T for i in range(len(models))]

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Truth and weights of the rows that ``evaluate`` gives values of."""
        assert self.others is not None
        return to_numpy(self.others.truth), self.others.weight


def draw_once(
    training: TrainingRows,
    units: Units,
    n_sets: int,
    random: np.random.RandomState,
    dtype: Any,
    criterion: Criterion = CLASSES,
    scoring: Scoring | None = None,
    sizes: DrawSizes = DrawSizes(),
) -> OneDraw:
    """Draw rows to learn from, and so many sets of others.

    The C that is best for few rows, of the same weight together as all, is too small for all: the
    drawn rows weigh less, by the root of their share.
    """
    codes = training.codes
    drawn = stratified_rows(codes, sizes.drawn_rows, random)
    rest = other_rows(len(codes), drawn)
    rest = rest[shuffled_rows(len(rest), sizes.test_rows, random)]
    turn = np.arange(len(rest)) % n_sets == np.arange(n_sets)[:, None]
    train = np.ones((1, len(drawn)), dtype=bool)
    cost = rescaled_cost(codes, training.cost, drawn, training.cost[drawn])
    return OneDraw(
        part_of(training, units, drawn, ~train, dtype, criterion),
        part_of(training, units, rest, turn, dtype, criterion),
        np.sqrt(len(drawn) / len(codes)) * cost,
        train,
        random.randint(2**31 - 1),
        scoring=scoring and scoring.take(rest),
        ends_on_rows=training.ends_on_rows,
    )
