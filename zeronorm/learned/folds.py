"""Folds of training rows: what is learned from, and what models are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.base.sampling import stratified_folds, stratified_rows
from zeronorm.base.training_set import TrainingRows
from zeronorm.checks import is_integer
from zeronorm.learned.prototypes import Prototypes

#: A fold learns from at most so many rows, and judges by so many others.
LEARNING_ROWS, JUDGING_ROWS = 2_000, 2_000


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, and rows to judge by."""

    learn: TrainingRows
    judge: TrainingRows
    seed: int

    def judged(self, current: Prototypes) -> tuple[float, float, np.ndarray]:
        """Share of the judging rows, by weight, that are wrong, mean hinge loss, and values."""
        scores = current.scores(self.judge.data)
        several = scores.shape[1] > 1
        codes = scores.argmax(axis=1) if several else (scores[:, 0] > 0).astype(np.intp)
        error = float(np.average(codes != self.judge.codes, weights=self.judge.cost))
        slack = np.maximum(1.0 - self.judge.targets * scores, 0.0)
        loss = float(np.sum(self.judge.output_cost * slack) / self.judge.cost.sum())
        return error, loss, scores.astype(np.float32)


def make_folds(training: TrainingRows, cv: Any, random: np.random.RandomState) -> list[Fold]:
    """Split the rows: into so many folds, or as a splitter or a list of splits says.

    The indices of a list are those of the rows given to ``fit``. Of many rows each fold learns
    from a draw, which stands for all rows, and judges by another.
    """
    n_rows = len(training.codes)
    if is_integer(cv):
        splits = list(stratified_folds(training.codes, cv, random))
    elif hasattr(cv, "split"):
        splits = list(cv.split(np.zeros((n_rows, 1)), training.codes))
    else:
        try:
            splits = [(_indices(training, learn), _indices(training, judge)) for learn, judge in cv]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Each split of cv must be two lists of row numbers: {error}."
            ) from error
    folds = []
    for learn, judge in splits:
        if len(judge) == 0 or len(np.unique(training.codes[learn])) < training.codes.max() + 1:
            raise ValueError(
                "A split of cv leaves a class out of the rows to learn from, or has no rows to "
                "judge by. Take fewer folds, or stratified ones."
            )
        folds.append(_fold(training, learn, judge, random))
    if len(folds) < 2:
        raise ValueError("cv gives fewer than two splits, which leaves no standard error.")
    return folds


def _fold(
    training: TrainingRows, learn: np.ndarray, judge: np.ndarray, random: np.random.RandomState
) -> Fold:
    """Draw the rows of a fold, where there are too many."""
    if len(learn) > LEARNING_ROWS:
        learn = learn[stratified_rows(training.codes[learn], LEARNING_ROWS, random)]
        # As many margin errors as all rows would make: C means the same as in the final fit.
        rows = training.sample(learn)
    else:
        rows = training.take(learn)
    if len(judge) > JUDGING_ROWS:
        judge = judge[random.permutation(len(judge))[:JUDGING_ROWS]]
    return Fold(rows.compact(), training.take(judge).compact(), random.randint(2**31 - 1))


def _indices(training: TrainingRows, rows: np.ndarray) -> np.ndarray:
    """Return where these rows, by number or by a mask, are among those that count."""
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    return np.flatnonzero(np.isin(training.rows, rows))
