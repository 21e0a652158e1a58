"""The choice where rows are many: settings race by mini-batches, judged by rows held back.

Cross-validation on a draw of the rows (``path.py``) says what a few terms can do. Hundreds of terms
learn from all rows what no draw shows, so these are judged by rows that are held back:

1. Models of every setting start with few terms and descend for a cycle (``stochastic.py``); those
   with the highest errors drop out, the others descend again.
2. The best grow, to the size that is asked for, or each time to twice as many terms as long as that
   lowers the loss by a worthwhile share.

3. The one that is kept descends in longer and longer cycles, until the loss on the rows held back
   no longer falls.

Every cycle starts where the last one ended, so that nothing is learned twice. The coefficients are
solved afterwards, on all rows (``final.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, broadcast, copied, namespace, to_numpy
from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import TrainingRows
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.descent import add_vectors, grow
from zeronorm.learned.features import keep_features, spread_of, zero_widths
from zeronorm.learned.folds import Part, judge
from zeronorm.learned.joint import JointModels, Parameters, Used
from zeronorm.learned.path import STEPS, Judged
from zeronorm.learned.settings import Setting
from zeronorm.learned.stochastic import BatchProblem, Cycle, descend_by_batches
from zeronorm.learned.units import TrainingSource, Units

#: Rows held back: a share of all, and at most so many; dealt into parts, for standard errors.
HELD_SHARE, HELD_ROWS, PARTS = 0.1, 5_000, 5

#: Rows on which vectors are chosen and coefficients begin; more vectors at once than this are any
#: rows.
START_ROWS, GREEDY = 2_000, 64

#: Terms of the first round, steps of each round, and how many settings go on.
FIRST_TERMS, ROUNDS = 32, ((100, 5), (300, 2))

#: Steps with each further size.
SIZE_STEPS = 400

#: Twice as many terms must lower the loss by this share; and by the other to be more than so many:
#: thousands are slow to learn and to serve.
WORTHWHILE, MANY_WORTHWHILE, MANY_TERMS = 0.025, 0.1, 500

#: Steps of the first of the last cycles; each has twice as many as the one before, and all together
#: have so many for each step of max_iter.
LAST_STEPS, BATCH_STEPS = 800, 12

#: Rows on which it is decided which features are not needed.
FEATURE_ROWS = 4_000

#: Rows from which on a draw for cross-validation shows too few of them, and numbers of a model
#: beyond which it does.
MANY_ROWS, MANY_NUMBERS = 10_000, 2_500

#: Numbers of the rows in single precision up to which they are made once.
KEPT = 2**28


@dataclass
class Source:
    """Some of the training rows in the units of the learner, for batches."""

    source: Any
    indices: np.ndarray

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, indices: Any) -> Any:
        """Return some of the rows."""
        return self.source.take(self.indices[indices])


def batch_source(training: TrainingRows, units: Units, dtype: Any) -> Any:
    """All rows in the units of the learner: made once if they fit, else batch by batch."""
    if np.prod(training.data.shape, dtype=float) <= KEPT:
        return units.rows(training, slice(None), dtype)
    return TrainingSource(training, units, dtype)


def needs_batches(training: TrainingRows, size: int) -> bool:
    """Whether models of this size have more numbers than a draw of the rows can tell."""
    return len(training.codes) >= MANY_ROWS and size > terms_on_folds(training)


def terms_on_folds(training: TrainingRows) -> int:
    """Return the number of terms whose numbers a draw of the rows can tell."""
    return int(MANY_NUMBERS / (training.data.shape[1] + training.targets.shape[1]))


@dataclass
class Finished:
    """The model that was kept: parameters, values on the rows held back, features, steps."""

    parameters: Parameters
    values: np.ndarray
    used: Used | None
    steps: int


class Race:
    """Models of several settings that learn from all rows but those held back.

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
        What models are judged by.
    """

    def __init__(
        self,
        training: TrainingRows,
        units: Units,
        settings: list[Setting],
        random: np.random.RandomState,
        dtype: Any,
        criterion: Criterion = CLASSES,
    ) -> None:
        self.training, self.units, self.random = training, units, random
        n_rows = len(training.codes)
        count = min(HELD_ROWS, int(HELD_SHARE * n_rows))
        held = stratified_rows(training.codes, count, random, least=1)
        source = batch_source(training, units, dtype)
        self.learn = np.setdiff1d(np.arange(n_rows), held)
        self.source = Source(source, self.learn)
        turn = random.permutation(len(held)) % PARTS
        masks = turn == np.arange(PARTS)[:, None]
        held_cost, codes = training.cost[held], training.codes[held]
        self.held = Part(source.take(held), codes, held_cost, masks, criterion)
        self.settings, self.judged = settings, Judged()
        self.states: dict[Setting, Parameters] = {}

    @property
    def n_outputs(self) -> int:
        """Number of outputs, and inner products of a linear part."""
        return self.training.targets.shape[1]

    @property
    def first_size(self) -> int:
        """Inner products of the first models, of which a linear part is at most a half."""
        return max(FIRST_TERMS, 2 * self.n_outputs)

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Truth and weights of the rows that models are judged by."""
        return to_numpy(self.held.truth), self.held.weight

    def advance(self, settings: list[Setting], size: int, steps: int, update: Any) -> None:
        """Let models grow to a size, inner products of a linear part included, and descend."""
        groups = list(self._groups(settings))
        for i, group in enumerate(groups):
            terms = max(0, size - (self.n_outputs if group[0].linear else 0))
            problem = self.problem(group)
            parameters = self._grown(problem, group, terms)
            report = within(update, i / len(groups), 1.0 / len(groups), self._standing(size))
            cycle = Cycle(steps)
            parameters = descend_by_batches(problem, parameters, cycle, self.random, report)
            error, loss, scores = self._judged(problem, parameters)
            for k, setting in enumerate(group):
                self.states[setting] = own = parameters.take(np.array([k]))
                values = [scores[k, :, :].T]
                self.judged.add(setting, size, error[k], loss[k], values, own)

    def _standing(self, size: int) -> str:
        """Where things stand, in words."""
        if not self.judged.sizes:
            return f"{size} terms"
        best = min(range(len(self.judged.sizes)), key=self.judged.mean_loss)
        error, loss = self.judged.mean[best], self.judged.mean_loss(best)
        return f"{size} terms, lowest error {error:.4f}, loss {loss:.4f} on rows held back"

    def problem(self, group: list[Setting]) -> BatchProblem:
        """Return the problem of settings of one form."""
        Cs = np.array([setting.C for setting in group])
        gammas = np.array([self.units.gamma(setting.kernel) for setting in group])
        cost = as_on(self.training.cost[self.learn], self.held.rows.like)
        return BatchProblem(self.source, cost, group[0].form, Cs, gammas)

    def _groups(self, settings: list[Setting]) -> Iterator[list[Setting]]:
        """Yield the settings of each form."""
        forms = dict.fromkeys(setting.form for setting in settings)
        for form in forms:
            yield [setting for setting in settings if setting.form == form]

    def _grown(self, problem: BatchProblem, group: list[Setting], terms: int) -> Parameters:
        """Parameters of the models with so many terms, coefficients solved roughly."""
        codes = self.training.codes[self.learn]
        some = stratified_rows(codes, START_ROWS, self.random)
        known = [self.states[setting].arrays() for setting in group if setting in self.states]
        start = None
        if known:
            xp = namespace(known[0][0])
            start = Parameters(*(xp.concat(arrays, axis=0) for arrays in zip(*known, strict=True)))
        models = grown(problem, start, some, codes, terms, self.random)
        return models.parameters

    def _judged(
        self, problem: BatchProblem, parameters: Parameters
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Errors, losses and scores of models on the rows held back."""
        rows = self.held.rows
        cost = np.ones((len(problem.Cs), len(rows)))
        gammas, used = problem.gammas, problem.used
        return judge(JointModels(rows, problem.form, cost, gammas, parameters, used), self.held)

    def best(self, size: int, count: int) -> list[Setting]:
        """Return the settings with the lowest losses of a size, the best of each form first.

        A metric is learned slowly, and ahead only in the end.
        """
        indices = [i for i, one in enumerate(self.judged.sizes) if one == size]
        ranked = [self.judged.settings[i] for i in sorted(indices, key=self.judged.mean_loss)]
        of_each_form = {setting.form: setting for setting in reversed(ranked)}
        first = [setting for setting in ranked if of_each_form[setting.form] == setting]
        return list(dict.fromkeys((*first, *ranked)))[:count]

    def of_size(self, size: int, update: Callable[[float, str], Any]) -> int:
        """Choose a setting for a given size; the index among what was judged."""
        first = min(size, self.first_size)
        settings = [one for one in self.settings if not one.linear or self.n_outputs <= first // 2]
        settings = settings or self.settings
        if len(settings) > 1:
            for i, (steps, staying) in enumerate(ROUNDS):
                self.advance(settings, first, steps, within(update, 0.3 * i, 0.3))
                settings = self.best(first, staying)
        if len(settings) == 1 or size > first:
            self.advance(settings, size, SIZE_STEPS, within(update, 0.6, 0.4))
        return self.judged.best[size][0]

    def of_any_size(self, most: int, update: Callable[[float, str], Any]) -> int:
        """Choose a setting and a size; the index among what was judged."""
        size = min(most, self.first_size)
        kept = self.of_size(size, within(update, 0.0, 0.3))
        settings, share = self.best(size, ROUNDS[-1][1]), 0.3
        while 2 * size <= most:
            size = MANY_TERMS if size < MANY_TERMS < 2 * size else 2 * size
            part = 0.5 * (1.0 - share)
            self.advance(settings, size, SIZE_STEPS, within(update, share, part))
            share += part
            last = self.judged.best[size][0]
            before, after = self.judged.mean_loss(kept), self.judged.mean_loss(last)
            if after > (1.0 - (WORTHWHILE if size <= MANY_TERMS else MANY_WORTHWHILE)) * before:
                break
            kept = last
        return kept

    def finish(self, kept: int, max_steps: int, max_features: int | None, update: Any) -> Finished:
        """Let the model that is kept descend, in longer and longer cycles, while that helps."""
        setting, size = self.judged.settings[kept], self.judged.sizes[kept]
        problem = self.problem([setting])
        _, (values,), parameters = self.judged.best[size]
        error, loss = self.judged.mean[kept], self.judged.mean_loss(kept)
        used, parameters = self._features(problem, parameters, setting, max_features)
        if used is not None:
            problem.used, loss = used, np.inf  # with fewer features, it is another model
        taken, steps = 0, LAST_STEPS
        while taken < max_steps:
            steps = min(steps, max_steps - taken)
            text = f"{size} terms, error {error:.4f} on rows held back"
            inner = within(update, taken / max_steps, steps / max_steps, text)
            moved = descend_by_batches(problem, parameters, Cycle(steps), self.random, inner)
            errors, losses, scores = self._judged(problem, moved)
            taken += steps
            if losses.mean() >= loss:
                break
            error, loss, steps = errors.mean(), losses.mean(), 2 * steps
            parameters, values = moved, scores[0, :, :].T
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
        some = stratified_rows(self.training.codes[self.learn], FEATURE_ROWS, self.random)
        models = problem.on_rows(some, parameters)
        models.values = models.objective()
        if setting.widths > 1 and models.size:
            # What some of the rows say of the parameters is not wanted.
            models.used = zero_widths(models, spread_of(models.rows), max_steps=STEPS).used
        if max_features is not None:
            models = keep_features(models, max_features, max_steps=STEPS)
        return models.used, models.parameters


def grown(
    problem: BatchProblem,
    start: Parameters | None,
    some: np.ndarray,
    codes: np.ndarray,
    terms: int,
    random: np.random.RandomState,
) -> JointModels:
    """Return models with so many terms on some rows, coefficients solved roughly.

    A few vectors are chosen among rows by what they promise, further ones are any rows.
    """
    if start is None:
        rows = problem.source.take(some)
        start = Parameters.nothing(len(problem.Cs), rows, problem.form)
    models = problem.on_rows(some, start)
    steps, tolerance = 10, 1e-3
    solve_coefficients(models, max_steps=steps, tolerance=tolerance)
    while models.size < terms:
        wanted = terms - models.size
        count = min(wanted, GREEDY) if models.size < GREEDY else wanted
        draw = stratified_rows(codes, 4 * count if count <= GREEDY else count, random)
        chosen = problem.source.take(random.permutation(draw))
        dense = chosen.dense(slice(None))
        candidates = copied(broadcast(dense[None, :, :], (len(models), *dense.shape)))
        if count > GREEDY:
            add_vectors(models, candidates[:, :count, :])
        elif grow(models, candidates, count) == 0:
            break
        solve_coefficients(models, max_steps=steps, tolerance=tolerance)
    return models


def within(
    update: Callable[[float, str], Any], start: float, part: float, text: str = ""
) -> Callable[..., Any]:
    """Return an update for a part of the whole, with its own text if none is given."""
    return lambda share, word=text: update(start + part * share, word)
