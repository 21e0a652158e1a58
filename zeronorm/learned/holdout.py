"""The choice where rows are many: models learn by mini-batches, and are tested on rows held out.

Cross-validation on a draw of the rows (``path.py``) says what a few terms can do. Hundreds of terms
learn from all rows what no draw shows, so these are tested on rows that are held out, by
successive halving:

1. Models of every setting start with few terms and descend for a cycle (``stochastic.py``); those
   with the highest losses drop out, the others descend again.
2. The best grow, to the size that is asked for, or each time to twice as many terms as long as that
   lowers the loss by a worthwhile share.
3. The one that is kept descends in longer and longer cycles, until the loss on the rows held out
   no longer falls.

Every cycle starts where the last one ended, so that nothing is learned twice. The coefficients are
solved afterwards, on all rows (``final.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, is_numpy, to_numpy, zeros
from zeronorm.base.progress import within
from zeronorm.base.sampling import StratifiedDraw, other_rows, stratified_rows
from zeronorm.base.training_set import TrainingRows
from zeronorm.exceptions import LongFitWarning, warn
from zeronorm.learned.constraints import move_to_rows
from zeronorm.learned.coordinates import KEPT, SomeRows, Units, batch_source
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.descent import grown
from zeronorm.learned.features import keep_features, spread_of, zero_widths
from zeronorm.learned.folds import Part, evaluate
from zeronorm.learned.joint import JointModels, Parameters, Used
from zeronorm.learned.one_draw import DrawSizes
from zeronorm.learned.path import TOLERANCE, PathEffort
from zeronorm.learned.results import Results
from zeronorm.learned.run_time import RunTime, announcement
from zeronorm.learned.scoring import Scoring, best_score
from zeronorm.learned.settings import BATCH_ROWS, Setting, by_form
from zeronorm.learned.stochastic import BATCH, LARGE_BATCH, BatchProblem, Cycle, descend_by_batches

#: Rows held out: a share of all, and at most so many; in so many parts, for standard errors.
HELD_SHARE, HELD_ROWS, PARTS = 0.1, 5_000, 5

#: Rows on which vectors are chosen and coefficients begin, and where features are found needless.
START_ROWS, FEATURE_ROWS = 2_000, 4_000

#: Twice as many terms must lower the loss by this share; and by the other to be more than so many:
#: thousands are slow to learn and to serve. Less than the doubling before they hardly ever do.
WORTHWHILE, MANY_WORTHWHILE, MANY_TERMS = 0.025, 0.1, 500

#: Steps of all last cycles for each of max_iter; one that lowers the loss by less is the last.
BATCH_STEPS, ENOUGH = 6, 0.002

#: Of models with so many terms or fewer, on very many rows, a part of these steps and batches.
FEW_TERMS, PART = 64, 2


@dataclass(frozen=True)
class HoldoutEffort:
    """Which models are learned by batches, and by how many steps."""

    #: Models with more rows than these and as many terms, or more, are learned by batches.
    many_rows: int = BATCH_ROWS
    batch_terms: int = 8

    #: Terms of the first round, if so many are asked for, and where none are; steps of each round,
    #: and how many settings go on; steps with each further size.
    first_terms: int = 32
    fewest_terms: int = 16
    rounds: tuple[tuple[int, int], ...] = ((100, 5), (300, 2))
    size_steps: int = 400

    #: Steps of the first of the last cycles, each twice as long as the one before; and how many
    #: rows are very many, on which they are shorter.
    last_steps: int = 400
    very_many_rows: int = DrawSizes.very_many_rows

    #: Numbers in the rows up to which these are put into their units once.
    kept: int = KEPT

    def needs_batches(self, training: TrainingRows, size: int) -> bool:
        """Whether models of this size are learned by batches."""
        return len(training.codes) > self.many_rows and size >= self.batch_terms


@dataclass
class Finished:
    """The model that was kept: parameters, values on the rows held out, features, steps."""

    parameters: Parameters
    values: np.ndarray
    used: Used | None
    steps: int


class HoldoutSearch:
    """A search among settings whose models learn from all rows but those held out.

    Parameters
    ----------
    training : TrainingRows
        Rows of unit cost, with gamma="scale".
    units : Units
        Their units.
    settings : list of Setting
        What to choose from.
    random : RandomState
        Draws rows and batches.
    dtype : dtype
        Precision to learn with.
    criterion : Criterion
        What models are compared by.
    scoring : Scoring, optional
        A score to choose by instead of its loss.
    max_steps : int
        Most steps of the model that is kept.
    effort : HoldoutEffort
        Terms and steps.
    clock : callable
        Tells the time, for the announcement of a fit that will take long.
    """

    def __init__(
        self,
        training: TrainingRows,
        units: Units,
        settings: list[Setting],
        random: np.random.RandomState,
        dtype: Any,
        criterion: Criterion = CLASSES,
        scoring: Scoring | None = None,
        *,
        max_steps: int,
        effort: HoldoutEffort = HoldoutEffort(),
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.training, self.units, self.random = training, units, random
        self.n_outputs, n_rows = training.targets.shape[1], len(training.codes)
        self.n_linear = 0 if settings[0].pairs else self.n_outputs  # inner products of such a part
        count = min(HELD_ROWS, int(HELD_SHARE * n_rows))
        held = stratified_rows(training.codes, count, random, least=1)
        source = batch_source(training, units, dtype, effort.kept)
        self.train = other_rows(n_rows, held)
        self.source = SomeRows(source, self.train)
        self.draw = StratifiedDraw(training.codes[self.train], random)
        turn = random.permutation(len(held)) % PARTS
        masks = turn == np.arange(PARTS)[:, None]
        held_cost, codes = training.cost[held], training.codes[held]
        self.held = Part(source.take(held), codes, held_cost, masks, criterion)
        self.cost = as_on(training.cost[self.train], self.held.rows.like)
        self.scoring = None if scoring is None else scoring.take(held)
        self.settings, self.results = settings, Results(best_score=best_score(scoring))
        self.states: dict[Setting, Parameters] = {}
        self.max_steps, self.effort, self.is_announced = max_steps, effort, False
        self.run_time = RunTime(len(self.train), training.data.shape[1], self.n_outputs, clock)

    def first_size(self, terms: int) -> int:
        """Inner products of the first models, of which a linear part is at most a half."""
        return max(terms, 2 * self.n_linear)

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Truth and weights of the rows held out."""
        return to_numpy(self.held.truth), self.held.weight

    def advance(self, settings: list[Setting], size: int, steps: int, update: Any) -> None:
        """Let models grow to a size, inner products of a linear part included, and descend."""
        groups = by_form(settings)
        for i, group in enumerate(groups):
            terms = max(0, size - (self.n_linear if group[0].linear else 0))
            problem = self.problem(group)
            report = within(update, i / len(groups), 1.0 / len(groups), self._progress(size))
            start = Parameters.joined([self.states[one] for one in group if one in self.states])
            some = self.draw(START_ROWS)
            parameters = grown(problem, start, some, self.draw, terms, self.random).parameters
            parameters = descend_by_batches(problem, parameters, Cycle(steps), self.random, report)
            error, loss, scores = self._evaluate(problem, parameters)
            for k, setting in enumerate(group):
                self.states[setting] = own = parameters.take(np.array([k]))
                values = [scores[k, :, :].T]
                self.results.add(setting, size, error[k], loss[k], values, own)

    def _progress(self, size: int) -> str:
        """Size and lowest loss so far, in words."""
        if not self.results.sizes:
            return f"{size} terms"
        best = min(range(len(self.results.sizes)), key=self.results.mean_loss)
        error, loss = self.results.mean[best], self.results.mean_loss(best)
        return f"{size} terms, lowest error {error:.4f}, loss {loss:.4f} on rows held back"

    def problem(self, group: list[Setting]) -> BatchProblem:
        """Return the problem of settings of one form."""
        Cs = np.array([setting.C for setting in group])
        gammas = np.array([self.units.gamma(setting.kernel) for setting in group])
        return BatchProblem(self.source, self.cost, group[0].form, Cs, gammas)

    def _evaluate(
        self, problem: BatchProblem, parameters: Parameters
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Errors, losses and scores of models on the rows held out."""
        rows = self.held.rows
        cost = np.ones((len(problem.Cs), len(rows)))
        gammas, used = problem.gammas, problem.used
        models = JointModels(rows, problem.form, cost, gammas, parameters, used)
        return evaluate(models, self.held, self.scoring)

    def best(self, size: int, count: int) -> list[Setting]:
        """Return the settings with the lowest losses of a size, the best of each form first.

        A metric is learned slowly, and ahead only in the end.
        """
        indices = [i for i, one in enumerate(self.results.sizes) if one == size]
        ranked = [self.results.settings[i] for i in sorted(indices, key=self.results.mean_loss)]
        of_each_form = {setting.form: setting for setting in reversed(ranked)}
        first = [setting for setting in ranked if of_each_form[setting.form] == setting]
        return list(dict.fromkeys((*first, *ranked)))[:count]

    def of_size(self, size: int, update: Callable[[float, str], Any]) -> int:
        """Choose a setting for a given size; its index among the results is returned."""
        first = min(size, self.first_size(self.effort.first_terms))
        settings = [one for one in self.settings if not one.linear or self.n_linear <= first // 2]
        settings = settings or self.settings
        if len(settings) > 1:
            for i, (steps, staying) in enumerate(self.effort.rounds):
                self.advance(settings, first, steps, within(update, 0.3 * i, 0.3))
                settings = self.best(first, staying)
        if len(settings) == 1 or size > first:
            self.announce(size, len(settings) * self.effort.size_steps)
            self.advance(settings, size, self.effort.size_steps, within(update, 0.6, 0.4))
        return self.results.best[size][0]

    def of_any_size(self, most: int, update: Callable[[float, str], Any]) -> int:
        """Choose a setting and a size; their index among the results is returned."""
        size = min(most, self.first_size(self.effort.fewest_terms))
        kept = self.of_size(size, within(update, 0.0, 0.3))
        settings, share, gain = self.best(size, self.effort.rounds[-1][1]), 0.3, 1.0
        for size in further_sizes(self.results.sizes[kept], most):
            wanted = WORTHWHILE if size <= MANY_TERMS else MANY_WORTHWHILE
            if gain < wanted:
                break
            part = 0.5 * (1.0 - share)
            self.announce(size, len(settings) * self.effort.size_steps)
            self.advance(settings, size, self.effort.size_steps, within(update, share, part))
            share += part
            last = self.results.best[size][0]
            gain = _share(self.results.mean_loss(kept), self.results.mean_loss(last))
            if gain >= wanted:
                kept = last
        return kept

    def announce(self, size: int, steps: int, last: int | None = None) -> None:
        """Warn, once, if models of a size take long: by what is certain to come, not the most.

        A step on a device tells nothing of those that are recorded (``recording.py``).
        """
        if self.is_announced or not is_numpy(self.source.like):
            return
        run_time, problem = self.run_time, self.problem(self.settings[:1])
        rows = np.arange(min(BATCH, len(self.train)))
        start = Parameters.nothing(1, self.source.take(rows), problem.form)
        start.vectors = self.source.take(rows[:size]).dense(slice(None))[None, :, :]
        start.weights = zeros((1, start.vectors.shape[1], self.n_outputs), start.vectors)

        def step() -> None:
            problem.on_rows(rows, start).function(start, np.arange(1))

        part = self._part(size)
        last = min(self.effort.last_steps // part if last is None else last, self.max_steps)
        work = run_time.to_come(size, steps, last, LARGE_BATCH // part)
        one = run_time.of_steps(start.vectors.shape[1], 1, BATCH)
        seconds = run_time.seconds(work, step, one)
        if sentence := announcement(seconds, size, len(self.training.codes)):
            self.is_announced = True
            warn(sentence, LongFitWarning)

    def _part(self, size: int) -> int:
        """By what the steps of the last descent, and its batches, are divided."""
        n_rows, very_many = len(self.training.codes), self.effort.very_many_rows
        return PART if size <= FEW_TERMS and n_rows >= very_many else 1

    def finish(self, kept: int, max_features: int | None, update: Any) -> Finished:
        """Let the model that is kept descend, in longer and longer cycles, while that helps."""
        setting, size = self.results.settings[kept], self.results.sizes[kept]
        problem, part = self.problem([setting]), self._part(size)
        steps, max_steps = self.effort.last_steps // part, max(1, self.max_steps // part)
        _, (values,), parameters = self.results.best[size]
        error, loss = self.results.mean[kept], self.results.mean_loss(kept)
        used, parameters = self._features(problem, parameters, setting, max_features)
        if used is not None:
            problem.used, loss = used, np.inf  # with fewer features, it is another model
        taken, gain = 0, 1.0
        while taken < max_steps and gain >= ENOUGH:
            steps = min(steps, max_steps - taken)
            if taken:
                self.announce(size, 0, steps)
            text = f"{size} terms, error {error:.4f} on rows held back"
            inner = within(update, taken / max_steps, steps / max_steps, text)
            cycle = Cycle(steps, LARGE_BATCH // part)
            moved = descend_by_batches(problem, parameters, cycle, self.random, inner)
            errors, losses, scores = self._evaluate(problem, moved)
            gain, taken, steps = _share(loss, losses.mean()), taken + steps, 2 * steps
            if gain > 0.0:
                error, loss = errors.mean(), losses.mean()
                parameters, values = moved, scores[0, :, :].T
        if self.training.ends_on_rows:
            models = problem.on_rows(self.draw(FEATURE_ROWS), parameters)
            move_to_rows(models, self.source, max_steps=PathEffort.steps, tolerance=TOLERANCE)
            parameters = models.parameters
            values = self._evaluate(problem, parameters)[2][0, :, :].T
        return Finished(parameters, values, problem.used, taken)

    def _features(
        self,
        problem: BatchProblem,
        parameters: Parameters,
        setting: Setting,
        max_features: int | None,
    ) -> tuple[Used | None, Parameters]:
        """Return which features are needed, found on some of the rows, and parameters for them."""
        if setting.widths <= 1 and max_features is None:
            return None, parameters
        models = problem.on_rows(self.draw(FEATURE_ROWS), parameters)
        models.values = models.objective()
        if setting.widths > 1 and models.size:
            # What some of the rows say of the parameters is not wanted.
            models.used = zero_widths(models, spread_of(models.rows)).used
        if max_features is not None:
            models = keep_features(models, max_features)
        return models.used, models.parameters


def _share(before: float, after: float) -> float:
    """Return by which share a loss has fallen; of one that is infinite, by all of it."""
    if before in (0.0, np.inf):
        return float(before > 0.0)
    return (before - after) / abs(before)  # a score may be above its best


def further_sizes(size: int, most: int) -> list[int]:
    """Return sizes that double, :data:`MANY_TERMS` among them."""
    sizes = []
    while 2 * size <= most:
        size = MANY_TERMS if size < MANY_TERMS < 2 * size else 2 * size
        sizes.append(size)
    return sizes
