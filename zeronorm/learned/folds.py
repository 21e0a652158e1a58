"""Folds of training rows: what models learn from, and what they are judged by.

All folds share one set of rows; those that a fold must not learn from have no cost in it. So the
models of all folds are learned together (``joint.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, cast, double, is_numpy, namespace, take, to_numpy
from zeronorm.base.sampling import (
    other_rows,
    renumbered,
    splits_among,
    stratified_folds,
    stratified_rows,
)
from zeronorm.base.training_set import TrainingRows, rescaled_cost
from zeronorm.checks import is_integer
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.joint import Form, JointModels
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.scoring import Scoring
from zeronorm.learned.units import Units

#: Folds share at most so many rows, and are judged by so many others beside them.
SHARED_ROWS, OTHER_ROWS = 2_500, 5_000

#: Up to so many rows the folds are drawn so often: which rows are held out together matters there.
FEW_ROWS, REPEATS = 500, 2


@dataclass
class Part:
    """Rows to judge by: classes, weights, which fold judges by which (folds x rows), and how."""

    rows: Rows
    codes: np.ndarray
    weight: np.ndarray
    judge: np.ndarray
    criterion: Criterion = CLASSES

    @cached_property
    def truth(self) -> Any:
        """What is known of the rows: classes or targets, beside them."""
        return self.criterion.truth(self.codes, self.rows)

    @cached_property
    def judge_weight(self) -> Any:
        """Weight of each row for each fold that judges by it, beside the rows."""
        return as_on(self.weight * self.judge, self.rows.like)


@dataclass
class Folds:
    """Folds of rows in the units of the learner.

    ``cost`` is that of every row where C is one; ``learn`` (folds x rows) tells which rows a fold
    learns from. ``turned`` are the same folds of wide data in coordinates of their span.
    ``repeats`` tells how often the folds were drawn.
    ``scoring`` is what models are judged by instead of the loss, of all rows of the parts;
    ``ends_on_rows`` says that they are judged with vectors that are rows.
    """

    shared: Part
    others: Part | None
    cost: np.ndarray
    learn: np.ndarray
    seed: int
    turned: Folds | None = None
    repeats: int = 1
    scoring: Scoring | None = None
    ends_on_rows: bool = False

    def __len__(self) -> int:
        return len(self.learn)

    def with_rows(self, rows: Rows) -> Folds:
        """Return the same folds of the shared rows in other coordinates."""
        return replace(self, shared=replace(self.shared, rows=rows))

    def seen_by(self, form: Form) -> Folds:
        """Return the folds that models of this form learn from."""
        return self if self.turned is None or form.widths > 1 else self.turned

    def active_rows(self, models: JointModels) -> float:
        """Share of the rows a model learns from that are support vectors of some output."""
        scores, targets = models.scores(self.shared.rows), self.shared.rows.targets
        is_support = self.shared.criterion.is_support(scores, targets)
        is_active = to_numpy(namespace(scores).any(is_support, axis=1))
        return float(np.sum(is_active & self.learn) / self.learn.sum())

    def costs(self, Cs: list[float]) -> Any:
        """Costs of the rows for every C and every fold of it."""
        by_fold = self.learn * self.cost
        costs = np.concatenate([C * by_fold for C in Cs])
        return as_on(costs, self.shared.rows.like, self.shared.rows.dtype)

    def candidates(self, fold: int, count: int) -> Any:
        """Draw rows among which a fold looks for new vectors: the same for every setting."""
        random = np.random.RandomState((self.seed + 7919 * fold + count) % (2**32))
        learn = np.flatnonzero(self.learn[fold])
        if len(learn) > count:
            codes = renumbered(self.shared.codes[learn])
            learn = learn[stratified_rows(codes, count, random)[:count]]
        # As many for every fold, so that they fit into one array.
        chosen = take(self.shared.rows.X, learn[np.arange(count) % len(learn)])
        return chosen.toarray() if hasattr(chosen, "toarray") else chosen

    def all_candidates(self, count: int) -> Any:
        """Draw rows among which each fold looks for new vectors, (folds, count, d)."""
        drawn = [self.candidates(fold, count) for fold in range(len(self))]
        return namespace(drawn[0]).stack(drawn, axis=0)

    def workers(self, n_jobs: int | None) -> int | None:
        """Return how many processes to use: a device is one, and works in parallel by itself."""
        return n_jobs if is_numpy(self.shared.rows.like) else 1

    def judged(self, models: JointModels) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """Error and loss of models, fold by fold, on the rows each has not seen; and its values.

        The models are those of one setting after the other, each with one model for every fold.
        The loss is that of the criterion (``criteria.py``), in the units in which it is lowest over
        the folds, or what a score says.
        """
        error, total = np.zeros((2, len(models)))
        loss: Any = 0.0  # in each unit, of each model
        values = []
        fold = np.arange(len(models)) % len(self)
        for part in self.parts:
            scores = models.scores(part.rows)
            xp, weight = namespace(scores), take(part.judge_weight, fold)
            errors, per_row = part.criterion.row_losses(scores, part.truth)
            error = error + to_numpy(xp.sum(weight * cast(errors, weight.dtype), axis=1))
            loss = loss + to_numpy(xp.sum(weight * cast(per_row, double(weight)), axis=2))
            total = total + to_numpy(xp.sum(weight, axis=1))
            values.append(
                [take(scores[i, :, :].T, part.judge[fold[i]]) for i in range(len(models))]
            )
        joined = [xp.concat(blocks, axis=0) for blocks in zip(*values, strict=True)]
        error = error / total
        if self.scoring is not None:
            return error, self._scored(joined), joined
        loss = lowest((loss / total).reshape(len(loss), -1, len(self))).ravel()
        return error, self.shared.criterion.combined(loss, error), joined

    def _scored(self, values: list[Any]) -> np.ndarray:
        """Return the losses that a score makes of these values, of one setting after the other."""
        assert self.scoring is not None
        judge = np.concatenate([part.judge for part in self.parts], axis=1)
        places = [np.flatnonzero(one) for one in judge]
        found = []
        for start in range(0, len(values), len(self)):
            own = [to_numpy(value) for value in values[start : start + len(self)]]
            link = partial(self._link, own)
            found.append(self.scoring.losses(own, places, link))
        return np.concatenate(found)

    def _link(self, values: list[np.ndarray]) -> Any:
        return self.shared.criterion.link(np.concatenate(values), *self.held_out())

    @property
    def parts(self) -> list[Part]:
        """Sets of rows to judge by."""
        return [self.shared] if self.others is None else [self.shared, self.others]

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Truth and weights of the rows that ``judged`` gives values of, fold by fold."""
        truth, weight = [], []
        for fold in range(len(self)):
            for part in self.parts:
                truth.append(to_numpy(part.truth)[part.judge[fold]])
                weight.append(part.weight[part.judge[fold]])
        return np.concatenate(truth), np.concatenate(weight)

    def by_row(self, values: list[Any], n_rows: int) -> np.ndarray | None:
        """Return the values that ``judged`` gives, row by row; None if folds share a draw only.

        NaN of rows that no fold is judged by.
        """
        if len(self.shared.codes) < n_rows:
            return None
        found = np.full((n_rows, self.shared.rows.n_outputs), np.nan)
        for rows, said in zip(self.shared.judge, values, strict=True):
            found[rows] = to_numpy(said)
        return found


def judge(
    models: JointModels, part: Part, scoring: Scoring | None = None
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Error and loss of models on each set of rows (models x sets), and their values."""
    scores = models.scores(part.rows)
    errors, per_row = part.criterion.row_losses(scores, part.truth)
    weight = part.judge_weight.T
    weight = weight / namespace(weight).sum(weight, axis=0)
    error = to_numpy(cast(errors, weight.dtype) @ weight)
    if scoring is not None:
        places = [np.flatnonzero(one) for one in part.judge]
        found = []
        for values in to_numpy(scores):
            link = partial(part.criterion.link, values.T, to_numpy(part.truth), part.weight)
            parts = [values.T[rows] for rows in places]
            found.append(scoring.losses(parts, places, link))
        return error, np.array(found), scores
    loss = lowest(to_numpy(cast(per_row, weight.dtype) @ weight))
    return error, part.criterion.combined(loss, error), scores


def lowest(losses: np.ndarray) -> np.ndarray:
    """Return the losses (units x models x folds) of each model in the units of its lowest mean."""
    best = losses.mean(axis=2).argmin(axis=0)
    return losses[best, np.arange(losses.shape[1])]


def make_folds(
    training: TrainingRows,
    units: Units,
    cv: Any,
    random: np.random.RandomState,
    dtype: Any,
    criterion: Criterion = CLASSES,
    scoring: Scoring | None = None,
) -> Folds:
    """Split the rows: into so many folds, or as a splitter or a list of splits says.

    A number of folds is drawn twice where rows are few. The indices of a list are those of the rows
    given to ``fit``. Of many rows the folds share a draw, whose costs stand for all rows; others,
    which none learns from, are shared out among the folds to be judged by.
    """
    n_rows = len(training.codes)
    if is_integer(cv):
        splits = None
    elif hasattr(cv, "split"):
        splits = list(cv.split(np.zeros((n_rows, 1)), training.codes))
    else:
        try:
            splits = splits_among(cv, training.rows)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Each split of cv must be two lists of row numbers: {error}."
            ) from error
    drawn = np.arange(n_rows)
    if n_rows > SHARED_ROWS:
        drawn = stratified_rows(training.codes, SHARED_ROWS, random)
    repeats = REPEATS if splits is None and n_rows <= FEW_ROWS else 1
    if splits is None:
        codes = training.codes[drawn]
        draws = [stratified_folds(codes, cv, random) for _ in range(repeats)]
        places = [split for draw in draws for split in draw]
        rest = other_rows(n_rows, drawn)
        rest = rest[random.permutation(len(rest))[:OTHER_ROWS]]
    else:
        places = [
            (np.flatnonzero(np.isin(drawn, learn)), np.flatnonzero(np.isin(drawn, judge)))
            for learn, judge in splits
        ]
        rest = np.zeros(0, dtype=int)
    codes = training.codes[drawn]
    for learn, judge in places:
        if len(judge) == 0 or len(np.unique(codes[learn])) < training.codes.max() + 1:
            raise ValueError(
                "A split of cv leaves a class out of the rows to learn from, or has no rows to "
                "judge by. Take fewer folds, or stratified ones."
            )
    if len(places) < 2:
        raise ValueError("cv gives fewer than two splits, which leaves no standard error.")
    masks = np.zeros((2, len(places), len(drawn)), dtype=bool)
    for fold, split in enumerate(places):
        for mask, indices in zip(masks, split, strict=True):
            mask[fold, indices] = True
    others = None
    if len(rest) >= len(places):
        turn = np.arange(len(rest)) % len(places) == np.arange(len(places))[:, None]
        rows = units.rows(training, rest, dtype)
        others = Part(rows, training.codes[rest], training.cost[rest], turn, criterion)
    rows = units.rows(training, drawn, dtype)
    shared = Part(rows, codes, training.cost[drawn], masks[1], criterion)
    cost = rescaled_cost(training.codes, training.cost, drawn, training.cost[drawn])
    seed = random.randint(2**31 - 1)
    folds = Folds(shared, others, cost, masks[0], seed, repeats=repeats)
    folds.ends_on_rows = training.ends_on_rows
    if scoring is not None:
        judges = drawn if others is None else np.concatenate([drawn, rest])
        folds.scoring = scoring.take(judges)
    return folds
