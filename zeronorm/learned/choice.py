"""The choice of everything: which settings and sizes are tried, in which order, and what is kept.

Few rows are split into folds, of very many one draw is learned from (``path.py``); many terms on
many rows are chosen by others held out (``holdout.py``). What is chosen comes with what it was
chosen from: errors of all sizes, held-out values, and the models of the folds, from which the last
fit starts (``final.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zeronorm.arrays import namespace, to_numpy
from zeronorm.base.progress import within
from zeronorm.base.training_set import PairRows, TrainingRows
from zeronorm.checks import is_integer
from zeronorm.kernels import Kernel
from zeronorm.learned.continuation import easy_cost
from zeronorm.learned.coordinates import Span, Units
from zeronorm.learned.criteria import Criterion
from zeronorm.learned.folds import Folds, FoldSizes, make_folds
from zeronorm.learned.growth import grow_on, grow_to_size, grow_while_it_helps
from zeronorm.learned.holdout import Finished, HoldoutEffort, HoldoutSearch
from zeronorm.learned.joint import Parameters
from zeronorm.learned.one_draw import DrawSizes, OneDraw, draw_once
from zeronorm.learned.path import Path, PathEffort
from zeronorm.learned.reference import (
    SVM_COSTS,
    SVM_FACTORS,
    cross_validate_landmarks,
    cross_validate_svm,
    far_behind,
)
from zeronorm.learned.results import ONE, QUARTER, Results
from zeronorm.learned.scoring import Scoring, best_score
from zeronorm.learned.settings import PAIR_CLASSES, Setting

#: Costs that single precision has room for, squared and summed.
SMALLEST, LARGEST = 1e-8, 1e8

#: Widths of the reference, as multiples of gamma="scale".
REFERENCE_FACTORS = (0.1, 0.3, 1.0)

#: A model has at most one term for so many rows to learn from (and support vectors of an SVM:
#: ``criteria.py``).
ROWS_PER_TERM = 10

#: While that is not enough, and models are behind the SVM, they may have so many times as many.
MORE_BEHIND = (2, 4)


@dataclass(frozen=True)
class Effort:
    """How many rows, sizes and steps a choice takes."""

    folds: FoldSizes = FoldSizes()
    draw: DrawSizes = DrawSizes()
    path: PathEffort = PathEffort()
    holdout: HoldoutEffort = HoldoutEffort()


@dataclass(frozen=True)
class Choice:
    """What was chosen: setting and number of kernel terms; a sentence if it is doubtful.

    ``calibration`` turns values into probabilities or intervals, ``path`` is what was found of each
    size, ``starts`` are the models of the folds, ``total`` counts the linear part too, ``finished``
    is the model where it was learned by batches, and ``held_out`` are values of all training rows
    by models that had not seen them, where these are known. ``may_drop_features`` says whether the
    last fit goes without those that matter little.
    """

    setting: Setting
    size: int
    doubt: str | None = None
    calibration: Any = None
    path: dict[str, np.ndarray] = field(default_factory=dict)
    starts: Parameters | None = None
    total: int = 0
    finished: Finished | None = None
    held_out: np.ndarray | None = None
    may_drop_features: bool = True


@dataclass
class Search:
    """A search for the best setting and size, by cross-validation or by rows held out.

    Parameters
    ----------
    training : TrainingRows
        Rows of unit cost, with gamma="scale".
    random : RandomState
        Draws folds and candidates.
    criterion : Criterion
        What models are compared by.
    scoring : Scoring, optional
        A score to choose by instead of the loss of the criterion.
    n_jobs : int, optional
        Workers; the result does not depend on it.
    max_steps : int
        Most steps of a model that is learned by batches, once it is chosen.
    max_features : int, optional
        Most features that such a model may use.
    update : callable
        Takes the share that is done, and a text.
    effort : Effort
        Rows, sizes and steps.
    """

    training: TrainingRows
    random: np.random.RandomState
    criterion: Criterion
    scoring: Scoring | None
    n_jobs: int | None
    max_steps: int
    max_features: int | None
    update: Callable[[float, str], Any]
    effort: Effort = Effort()

    def __post_init__(self) -> None:
        self.training = self.training.compact()
        self.units = Units.of(self.training)

    def choose(self, settings: list[Setting], size: int | None, cv: Any, rule: str) -> Choice:
        """Choose a setting and a size.

        Parameters
        ----------
        settings : list of Setting
            What to choose from.
        size : int, optional
            Most inner products that a prediction may cost; without, this is chosen too.
        cv : int, splitter or list of splits
            How to split. Splits that are given are kept to, however many rows there are.
        rule : str
            Which size to keep: "loss", or one of ``model_selection.py``.
        """
        self.dtype = precision(self.training, settings)
        may_hold_out = is_integer(cv)
        if size is None:
            return self._of_any_size(settings, cv, rule, may_hold_out)
        if self._needs_batches(size) and (may_hold_out or len(settings) == 1):
            return self._by_holdout(settings, size)
        path, n_outputs = self._path(cv), self.training.targets.shape[1]
        path.most = size
        settings = [one for one in settings if not one.linear or size >= n_outputs] or settings
        grow_to_size(path, settings, size, easy_cost(self.training.n_all), self.update)
        results = path.results
        kept = min(results.indices(), key=results.mean_loss)  # it may have so many, and need fewer
        return self._chosen(path, kept, results.best_of_each_size(results.sizes[kept]))

    def _of_any_size(
        self, settings: list[Setting], cv: Any, rule: str, may_hold_out: bool
    ) -> Choice:
        """Choose setting and size, beside what an SVM reaches in the span of landmarks."""
        path = self._path(cv)
        self.update(0.0, "what an SVM reaches")
        reference, support = self._reference(path.folds, settings)
        n_rows, fewer = len(self.training.codes), self.criterion.fewer
        learned = int(path.folds.train.sum(axis=1).min())
        largest = min(support * n_rows / fewer, learned / ROWS_PER_TERM)
        by_class = np.bincount(self.training.codes, weights=self.training.cost)
        rarest = float(by_class.min() / by_class.sum())
        few = self.criterion.always_allowed(self.training.targets.shape[1], rarest)
        path.most = min(learned, max(few, int(largest)))
        most = int(min(support / fewer, 1.0 / ROWS_PER_TERM) * n_rows)
        may_hold_out = may_hold_out and self._needs_batches(most)
        if may_hold_out:
            path.most = min(path.most, self.effort.holdout.batch_terms)
        lowest = float(reference.mean.min())
        wants_more = grow_while_it_helps(path, settings, lowest, self.update)
        if wants_more and may_hold_out:
            return self._by_holdout(settings, None, most)
        svm = self._svm(path.folds, settings) if wants_more else None
        for times in MORE_BEHIND:
            if svm is not None and path.is_behind(svm):
                grow_on(path, min(learned, int(times * largest)), self.update)
        results = path.results
        kept = results.chosen(rule)
        chosen = self._chosen(path, kept, results.best_of_each_size())
        if self.scoring is not None:
            return chosen  # a higher error may be what is wanted
        return replace(chosen, doubt=far_behind(results, kept, reference, self.criterion, svm))

    def _svm(self, folds: Folds, settings: list[Setting]) -> np.ndarray | None:
        """Return the errors of the full SVM, of few rows and classes.

        Of more of either, larger models gained nothing.
        """
        is_few = len(self.training.codes) <= self.effort.folds.few_rows
        has_few_classes = self.training.targets.shape[1] < PAIR_CLASSES
        if not (is_few and has_few_classes) or self.scoring is not None:
            return None
        self.update(0.7, "what the full SVM reaches")
        Cs = sorted({setting.C for setting in settings})
        Cs = [C for C in SVM_COSTS if Cs[0] <= C <= Cs[-1]] or Cs
        kernels = self._kernels(settings, SVM_FACTORS)
        return cross_validate_svm(folds, self.units, Cs, kernels, self.n_jobs)

    def _needs_batches(self, size: int) -> bool:
        return self.effort.holdout.needs_batches(self.training, size)

    def _path(self, cv: Any) -> Path:
        """Split the rows, and return a path on which no setting has gone yet."""
        training = self.training
        arguments = training, self.units, cv, self.random, self.dtype, self.criterion, self.scoring
        has_very_many = len(training.codes) >= self.effort.draw.very_many_rows
        folds = (
            draw_once(*arguments, self.effort.draw)
            if is_integer(cv) and has_very_many
            else make_folds(*arguments, self.effort.folds)
        )
        if found := Span.of(training):
            _, rotated = found
            folds.rotated = folds.with_rows(
                Units.of(rotated).rows(rotated, slice(None), self.dtype)
            )
        path = Path(folds, self.units, self.n_jobs, self.effort.path)
        is_one_draw = isinstance(folds, OneDraw)
        tolerated = self.criterion.tolerated if self.scoring is None else 0.0
        path.results = Results(
            repeats=folds.repeats,
            unclear=ONE if is_one_draw else QUARTER,
            standard_errors=ONE if is_one_draw else self.criterion.standard_errors,
            tolerated=tolerated,
            best_score=best_score(self.scoring),
        )
        return path

    def _reference(self, folds: Folds, settings: list[Setting]) -> tuple[Results, float]:
        """Cross-validate the SVM in the span of landmarks, for some of the settings.

        The other number is the share of rows that are support vectors.
        """
        kernels, Cs = self._kernels(settings, REFERENCE_FACTORS), sorted({s.C for s in settings})
        Cs, loss = Cs[1:-1] if len(Cs) > 3 else Cs, settings[0].loss
        return cross_validate_landmarks(folds, self.units, Cs, kernels, self.n_jobs, loss)

    def _kernels(self, settings: list[Setting], factors: tuple[float, ...]) -> list[Kernel]:
        """Return the kernels of the settings; where widths are learned, multiples of "scale"."""
        kernel = self.training.kernel
        if kernel.name == "rbf" and any(setting.widths for setting in settings):
            return [kernel.with_gamma(factor * kernel.gamma) for factor in factors]
        return list(dict.fromkeys(setting.kernel for setting in settings))

    def _chosen(self, path: Path, kept: int, table: dict[str, np.ndarray]) -> Choice:
        """Put together what the folds say of the model that is kept."""
        results, folds = path.results, path.folds
        setting, total = results.settings[kept], results.sizes[kept]
        _, values, starts = results.best[total]
        held_out = namespace(values[0]).concat(values, axis=0)
        link = self.criterion.link(to_numpy(held_out), *folds.held_out())
        if self._needs_batches(total):
            return replace(self._by_holdout([setting], total), calibration=link, path=table)
        by_row = folds.by_row(values, len(self.training.codes))
        terms = starts.vectors.shape[1]
        found = setting, terms, None, link, table, starts, total
        may_drop = path.may_drop_features(kept)
        return Choice(*found, held_out=by_row, may_drop_features=may_drop)

    def _by_holdout(self, settings: list[Setting], size: int | None, most: int = 0) -> Choice:
        """Choose by rows held out, and learn what was chosen, by mini-batches."""
        # Of many rows pairs of classes are learned only where there is nothing else to choose.
        settings = [one for one in settings if not one.pairs] or settings
        search = HoldoutSearch(
            PairRows.of(self.training) if settings[0].pairs else self.training,
            self.units,
            # Many rows say enough of what is best without a tube: of several losses the first.
            [one for one in settings if one.loss == settings[0].loss],
            self.random,
            self.dtype,
            self.criterion,
            self.scoring,
            max_steps=self.max_steps,
            effort=self.effort.holdout,
        )
        if size is None:
            kept = search.of_any_size(most, within(self.update, 0.1, 0.4))
        else:
            kept = search.of_size(size, within(self.update, 0.0, 0.5))
        results = search.results
        setting, total = results.settings[kept], results.sizes[kept]
        table = results.best_of_each_size(None if size is None else total)
        done = search.finish(kept, self.max_features, within(self.update, 0.5, 0.4))
        link = self.criterion.link(to_numpy(done.values), *search.held_out())
        terms = done.parameters.vectors.shape[1]
        return Choice(setting, terms, None, link, table, None, total, done)


def precision(training: TrainingRows, settings: list[Setting]) -> Any:
    """Return the type of numbers to choose by: single precision, where it has room for the costs.

    Only rows of the rbf kernel have units in which nothing is large (``coordinates.py``).
    """
    extremes = float(training.cost.min()), float(training.cost.max())
    costs = [setting.C * cost for setting in settings for cost in extremes]
    has_room = min(costs) >= SMALLEST and max(costs) <= LARGEST
    return np.float32 if training.kernel.name == "rbf" and has_room else np.float64
