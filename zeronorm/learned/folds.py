"""Folds of training rows: what models learn from, and what they are tested on.

All folds share one set of rows; those that a fold must not learn from have no cost in it. So the
models of all folds are learned together (``joint.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
from zeronorm.base.training_set import TrainingRows, pair_targets, rescaled_cost
from zeronorm.checks import is_integer
from zeronorm.learned.coordinates import Units
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.joint import Form, JointModels
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.scoring import Scoring


@dataclass(frozen=True)
class FoldSizes:
    """How many rows folds have, and how often they are drawn."""

    #: Folds share at most so many rows, and are tested on so many others besides.
    shared_rows: int = 2_500
    other_rows: int = 5_000

    #: Up to so many rows the folds are drawn so often: which are held out together matters there.
    few_rows: int = 500
    repeats: int = 2


@dataclass
class Part:
    """Test rows: classes, weights, which rows test which fold (folds x rows), and the criterion."""

    rows: Rows
    codes: np.ndarray
    weight: np.ndarray
    test: np.ndarray
    criterion: Criterion = CLASSES

    @cached_property
    def truth(self) -> Any:
        """What is known of the rows: classes or targets, on their device."""
        return self.criterion.truth(self.codes, self.rows)

    @cached_property
    def test_weight(self) -> Any:
        """Weight of each row for each fold that it tests (folds x rows), on their device."""
        return as_on(self.weight * self.test, self.rows.like)


@dataclass
class Folds:
    """Folds of rows in the units of the learner; one model for each fold and setting.

    ``cost`` is that of every row where C is one; ``train`` (folds x rows) tells which rows a fold
    learns from. ``rotated`` are the same folds of wide data in coordinates of their span.
    ``repeats`` tells how often the folds were drawn. ``scoring`` is the score that replaces the
    loss, for all rows of the parts; ``ends_on_rows`` says that models are tested with vectors that
    are rows.
    """

    shared: Part
    others: Part | None
    cost: np.ndarray
    train: np.ndarray
    seed: int
    rotated: Folds | None = None
    repeats: int = 1
    scoring: Scoring | None = None
    ends_on_rows: bool = False
    #: Rows that were drawn as candidates, by fold and number: every setting asks for the same.
    _drawn: dict[tuple[int, int], np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        return len(self.train)

    def with_rows(self, rows: Rows) -> Folds:
        """Return the same folds of the shared rows in other coordinates."""
        return replace(self, shared=replace(self.shared, rows=rows))

    def seen_by(self, form: Form) -> Folds:
        """Return the folds that models of this form learn from."""
        folds = self if self.rotated is None or form.widths > 1 else self.rotated
        return folds.of_pairs if form.pairs else folds

    @cached_property
    def of_pairs(self) -> Folds:
        """The same folds, with pairs of classes for outputs."""
        rows = self.shared.rows
        signs = pair_targets(self.shared.codes, rows.n_outputs).T
        targets, factors = (as_on(part, rows.like, rows.dtype) for part in (signs, abs(signs)))
        return self.with_rows(replace(rows, targets=targets, factors=factors, pairs=True))

    def active_rows(self, models: JointModels) -> float:
        """Share of the rows a model learns from that are support vectors of some output."""
        scores, targets = models.scores(self.shared.rows), self.shared.rows.targets
        is_support = self.shared.criterion.is_support(scores, targets)
        is_active = to_numpy(namespace(scores).any(is_support, axis=1))
        return float(np.sum(is_active & self.train) / self.train.sum())

    def costs(self, Cs: list[float]) -> Any:
        """Costs of the rows for every C and every fold of it."""
        by_fold = self.train * self.cost
        costs = np.concatenate([C * by_fold for C in Cs])
        return as_on(costs, self.shared.rows.like, self.shared.rows.dtype)

    def candidates(self, fold: int, count: int) -> Any:
        """Draw rows among which a fold looks for new vectors: the same for every setting."""
        if (fold, count) not in self._drawn:
            random = np.random.RandomState((self.seed + 7919 * fold + count) % (2**32))
            train = np.flatnonzero(self.train[fold])
            if len(train) > count:
                codes = renumbered(self.shared.codes[train])
                train = train[stratified_rows(codes, count, random)[:count]]
            # As many for every fold, so that they fit into one array.
            self._drawn[fold, count] = train[np.arange(count) % len(train)]
        return self.shared.rows.dense(self._drawn[fold, count])

    def all_candidates(self, count: int) -> Any:
        """Draw rows among which each fold looks for new vectors, (folds, count, d)."""
        drawn = [self.candidates(fold, count) for fold in range(len(self))]
        return namespace(drawn[0]).stack(drawn, axis=0)

    def workers(self, n_jobs: int | None) -> int | None:
        """Return how many processes to use: a device is one, and works in parallel by itself."""
        return n_jobs if is_numpy(self.shared.rows.like) else 1

    def evaluate(self, models: JointModels) -> tuple[np.ndarray, np.ndarray, list[Any]]:
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
            scores = models.decision_values(part.rows)
            xp, weight = namespace(scores), take(part.test_weight, fold)
            errors, per_row = part.criterion.row_losses(scores, part.truth)
            error = error + to_numpy(xp.sum(weight * cast(errors, weight.dtype), axis=1))
            loss = loss + to_numpy(xp.sum(weight * cast(per_row, double(weight)), axis=2))
            total = total + to_numpy(xp.sum(weight, axis=1))
            values.append([take(scores[i, :, :].T, part.test[fold[i]]) for i in range(len(models))])
        joined = [xp.concat(blocks, axis=0) for blocks in zip(*values, strict=True)]
        error = error / total
        if self.scoring is not None:
            return error, self._scored(joined), joined
        loss = lowest((loss / total).reshape(len(loss), -1, len(self))).ravel()
        return error, self.shared.criterion.combined(loss, error), joined

    def _scored(self, values: list[Any]) -> np.ndarray:
        """Return the losses that a score makes of these values, of one setting after the other."""
        assert self.scoring is not None
        test = np.concatenate([part.test for part in self.parts], axis=1)
        indices = [np.flatnonzero(one) for one in test]
        found = []
        for start in range(0, len(values), len(self)):
            own = [to_numpy(value) for value in values[start : start + len(self)]]
            link = partial(self._link, own)
            found.append(self.scoring.losses(own, indices, link))
        return np.concatenate(found)

    def _link(self, values: list[np.ndarray]) -> Any:
        return self.shared.criterion.link(np.concatenate(values), *self.held_out())

    @property
    def parts(self) -> list[Part]:
        """Sets of test rows."""
        return [self.shared] if self.others is None else [self.shared, self.others]

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Truth and weights of the rows that ``evaluate`` gives values of, fold by fold."""
        truth, weight = [], []
        for fold in range(len(self)):
            for part in self.parts:
                truth.append(to_numpy(part.truth)[part.test[fold]])
                weight.append(part.weight[part.test[fold]])
        return np.concatenate(truth), np.concatenate(weight)

    def by_row(self, values: list[Any], n_rows: int) -> np.ndarray | None:
        """Return the values that ``evaluate`` gives, row by row; None if folds share a draw only.

        NaN for rows that no fold is tested on.
        """
        if len(self.shared.codes) < n_rows:
            return None
        found = np.full((n_rows, self.shared.rows.n_outputs), np.nan)
        for rows, said in zip(self.shared.test, values, strict=True):
            found[rows] = to_numpy(said)
        return found


def evaluate(
    models: JointModels, part: Part, scoring: Scoring | None = None
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Error and loss of models on each set of rows (models x sets), and their values."""
    scores = models.decision_values(part.rows)
    errors, per_row = part.criterion.row_losses(scores, part.truth)
    weight = part.test_weight.T
    weight = weight / namespace(weight).sum(weight, axis=0)
    error = to_numpy(cast(errors, weight.dtype) @ weight)
    if scoring is not None:
        indices = [np.flatnonzero(one) for one in part.test]
        found = []
        for values in to_numpy(scores):
            link = partial(part.criterion.link, values.T, to_numpy(part.truth), part.weight)
            parts = [values.T[rows] for rows in indices]
            found.append(scoring.losses(parts, indices, link))
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
    sizes: FoldSizes = FoldSizes(),
) -> Folds:
    """Split the rows: into so many folds, or as a splitter or a list of splits says.

    A number of folds is drawn twice where rows are few. The indices of a list are those of the rows
    given to ``fit``. Of many rows the folds share a draw, whose costs are rescaled to all rows;
    others, which none learns from, are divided among the folds as further test rows.
    """
    n_rows, repeats = len(training.codes), 1
    given = None if is_integer(cv) else _given_splits(cv, training)
    drawn = np.arange(n_rows)
    if n_rows > sizes.shared_rows:
        drawn = stratified_rows(training.codes, sizes.shared_rows, random)
    codes, rest = training.codes[drawn], np.zeros(0, dtype=int)
    if given is None:
        repeats = sizes.repeats if n_rows <= sizes.few_rows else 1
        splits = [fold for _ in range(repeats) for fold in stratified_folds(codes, cv, random)]
        rest = other_rows(n_rows, drawn)
        rest = rest[random.permutation(len(rest))[: sizes.other_rows]]
    else:
        splits = splits_among(given, drawn)
    _check_splits(splits, codes, n_classes=training.codes.max() + 1)
    train, test = np.zeros((2, len(splits), len(drawn)), dtype=bool)
    for fold, (train_rows, test_rows) in enumerate(splits):
        train[fold, train_rows] = test[fold, test_rows] = True
    others = None
    if len(rest) >= len(splits):
        turn = np.arange(len(rest)) % len(splits) == np.arange(len(splits))[:, None]
        others = part_of(training, units, rest, turn, dtype, criterion)
    return Folds(
        part_of(training, units, drawn, test, dtype, criterion),
        others,
        rescaled_cost(training.codes, training.cost, drawn, training.cost[drawn]),
        train,
        random.randint(2**31 - 1),
        repeats=repeats,
        scoring=scoring and scoring.take(drawn if others is None else np.append(drawn, rest)),
        ends_on_rows=training.ends_on_rows,
    )


def _given_splits(cv: Any, training: TrainingRows) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits that a splitter makes, or that a list has of the rows that count."""
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros((len(training.codes), 1)), training.codes))
    try:
        return splits_among(cv, training.rows)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Each split of cv must be two lists of row numbers: {error}.") from error


def _check_splits(
    splits: list[tuple[np.ndarray, np.ndarray]], codes: np.ndarray, n_classes: int
) -> None:
    """Raise ValueError unless every split has test rows, and training rows of every class."""
    for train, test in splits:
        if len(test) == 0 or len(np.unique(codes[train])) < n_classes:
            raise ValueError(
                "A split of cv leaves a class out of the rows to learn from, or has no rows to "
                "judge by. Take fewer folds, or stratified ones."
            )
    if len(splits) < 2:
        raise ValueError("cv gives fewer than two splits, which leaves no standard error.")


def part_of(
    training: TrainingRows,
    units: Units,
    indices: np.ndarray,
    test: np.ndarray,
    dtype: Any,
    criterion: Criterion,
) -> Part:
    """Return some of the training rows, and which of them test which fold."""
    rows = units.rows(training, indices, dtype)
    return Part(rows, training.codes[indices], training.cost[indices], test, criterion)
