"""The last fit: vectors learned on samples of the rows, coefficients solved on all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from zeronorm.arrays import as_on, cast, namespace, take, to_numpy
from zeronorm.base.sampling import stratified_rows
from zeronorm.base.targets import NumericRows
from zeronorm.base.training_set import (
    Learned,
    PairRows,
    TrainingRows,
    gap_warning,
    rescaled_cost,
)
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.choice import precision
from zeronorm.learned.coefficients import certify
from zeronorm.learned.constraints import move_to_rows
from zeronorm.learned.continuation import cost_shares
from zeronorm.learned.convergence import Descent
from zeronorm.learned.coordinates import TrainingSource, Units, rotated
from zeronorm.learned.descent import descend, grow
from zeronorm.learned.features import keep_features, spread_of, zero_widths
from zeronorm.learned.holdout import Finished
from zeronorm.learned.joint import JointModels, Parameters, Used
from zeronorm.learned.learner import nested_samples
from zeronorm.learned.losses import Insensitive
from zeronorm.learned.path import CANDIDATES, CANDIDATES_EACH, CYCLE_TERMS, TOLERANCE
from zeronorm.learned.settings import Setting
from zeronorm.learned.stochastic import LARGE_BATCH, Cycle, descend_in_cycles
from zeronorm.solvers.lbfgs import within_box
from zeronorm.solvers.solution import History

#: Steps of a cycle for each of L-BFGS.
CYCLES = 3

#: Most steps after vectors were added, and after the cost was raised.
STEPS = 40

#: Widths that starts begin with in turn, where they are learned: multiples of the given one.
START_WIDTHS = (1.0, 4.0)

#: A descent whose last steps lower the objective by this share, each, is not near its end.
FALLING = 0.001


def fit_setting(
    training: TrainingRows,
    setting: Setting,
    size: int,
    random: np.random.RandomState,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    starts: Parameters | None = None,
    max_features: int | None = None,
    may_drop_features: bool = True,
    finished: Finished | None = None,
) -> Learned:
    """Learn a model of this setting with ``size`` terms.

    Parameters
    ----------
    training : TrainingRows
        Rows of unit cost, with gamma="scale".
    setting : Setting
        C, kernel and form.
    size : int
        Number of kernel terms.
    random : RandomState
        Draws samples and candidates.
    n_init : int
        Number of starts that are followed to the end, on the first sample.
    max_iter : int
        Most steps of each; half of it on each larger sample.
    tol : float
        Relative gap of the coefficients.
    starts : Parameters, optional
        Models of this setting and size to begin with, those of the folds.
    max_features : int, optional
        Most features that the model may use.
    may_drop_features : bool
        Whether it may go without those that matter little; ``max_features`` holds in any case.
    finished : Finished, optional
        The model, if it was learned by batches already: only its coefficients are solved.
    """
    fit = _Fit(training.compact(), setting, random)
    if finished is None:
        models = fit.on_first_sample(size, n_init, max_iter, tol, starts)
        models = fit.with_fewer_features(models, max_features, may_drop_features)
        models = fit.on_larger_samples(models, max_iter, tol)
        return fit.certified(models.parameters, models.used, tol, max_iter)
    fit.n_steps = finished.steps
    return fit.certified(finished.parameters, finished.used, tol, max_iter)


def fit_numbers(
    training: TrainingRows,
    numbers: np.ndarray,
    C: float,
    size: int,
    random_state: Any,
    max_iter: int,
    tol: float,
) -> Learned:
    """Learn numbers (n x outputs) by squared errors of cost C, with ``size`` terms for all."""
    codes, kernel = np.zeros_like(training.codes), training.kernel
    parts = training.rows, training.data, codes, numbers, training.cost, kernel
    rows = NumericRows(*parts, dense_entries=training.dense_entries)
    setting = Setting(C, kernel, loss=Insensitive())
    random = check_random_state(random_state)
    return fit_setting(rows, setting, size, random, n_init=1, max_iter=max_iter, tol=tol)


class _Fit:
    """A fit of one setting on samples of the rows, each part of the next."""

    def __init__(
        self, training: TrainingRows, setting: Setting, random: np.random.RandomState
    ) -> None:
        training = PairRows.of(training) if setting.pairs else training
        self.setting, self.random, self.given = setting, random, training
        self.span, self.training = rotated(training, setting.widths)
        training = self.training
        self.units = Units.of(training)
        self.samples = nested_samples(training.codes, random)
        is_small = len(self.samples) == 1
        self.dtype = np.float64 if is_small else precision(training, [setting])
        self.gamma = self.units.gamma(setting.kernel)
        self.history = History()
        self.n_steps, self.cost_share = 0, 1.0
        self.warning: str | None = None

    def models_on(self, rows: np.ndarray, parameters: Parameters | None, count: int) -> JointModels:
        """Return models on some of the rows, with costs rescaled to all rows."""
        training = self.training
        cost = rescaled_cost(training.codes, training.cost, rows, training.cost[rows])
        costs = np.tile(self.setting.C * cost, (count, 1))
        if parameters is not None:
            parameters = _of_type(parameters, self.dtype)
        chosen = self.units.rows(training, rows, self.dtype)
        gammas = np.full(count, self.gamma)
        return JointModels(chosen, self.setting.form, costs, gammas, parameters)

    def advance(self, models: JointModels, steps: int, tolerance: float) -> None:
        """Let models go downhill: far, if they have many terms, and to a minimum."""
        if models.size >= CYCLE_TERMS and len(models.rows) <= LARGE_BATCH:
            descend_in_cycles(models, Cycle(CYCLES * steps), retry=False)
        taken = descend(models, max_steps=steps, tolerance=tolerance)
        best = int(models.values.argmin())
        self.n_steps = int(taken[best])
        fall = float(models.falls[best])
        self.record(models.size, len(models.rows), float(models.values[best]), fall)

    def record(self, terms: int, rows: int, objective: float, fall: float = 0.0) -> None:
        """Write a stage into the history; ValueError if it has diverged."""
        if not np.isfinite(objective):
            raise ValueError(
                "The objective is not finite: the data are too badly scaled for this kernel and C. "
                "Standardise the features, or take a smaller C."
            )
        C = self.cost_share * self.setting.C
        self.history.record(terms=terms, rows=rows, C=C, objective=objective, fall=fall)

    def on_first_sample(
        self, size: int, n_init: int, max_iter: int, tol: float, starts: Parameters | None
    ) -> JointModels:
        """Learn from the first sample, from several starts, and return the best model."""
        if starts is None:
            models = self.grown(size, n_init, min(STEPS, max_iter))
        else:
            models = self.models_on(self.samples[0], starts, starts.vectors.shape[0])
        if len(models) > n_init:
            self.advance(models, STEPS, TOLERANCE)
            models = models.take(np.argsort(models.values, kind="stable")[:n_init])
        self.advance(models, max_iter, 0.01 * tol)
        models = models.take(np.array([models.values.argmin()]))
        self.warning = falling_warning(models, max_iter)
        return models

    def grown(self, size: int, count: int, steps: int) -> JointModels:
        """Learn so many models from the first sample, vector by vector, and raise their cost."""
        models = self.models_on(self.samples[0], None, count)
        if self.setting.widths:
            starts = np.log(np.resize(START_WIDTHS, count))[:, None]
            log_widths = models.parameters.log_widths
            log_widths += as_on(starts, log_widths, models.rows.dtype)
        if size == 0:
            return models
        cost, codes = models.cost, self.training.codes[self.samples[0]]
        for share in cost_shares(self.setting.C, self.training.n_all):
            models.cost, self.cost_share = share * cost, share
            if models.size == size:
                self.advance(models, steps, TOLERANCE)
            while models.size < size:
                wanted = min(max(1, models.size), size - models.size)  # it doubles
                draw = min(len(codes), max(CANDIDATES, CANDIDATES_EACH * wanted))
                drawn = [stratified_rows(codes, draw, self.random)[:draw] for _ in range(count)]
                candidates = [models.rows.dense(rows) for rows in drawn]
                if grow(models, namespace(candidates[0]).stack(candidates, axis=0), wanted) == 0:
                    size = models.size
                    break
                self.advance(models, steps, TOLERANCE)
        return models

    def with_fewer_features(
        self, models: JointModels, max_features: int | None, may_drop: bool
    ) -> JointModels:
        """Switch features off that the model does not need, or may not use."""
        if may_drop and self.setting.widths > 1 and models.size:
            models = zero_widths(models, spread_of(models.rows))
        if max_features is not None:
            models = keep_features(models, max_features)
        return models

    def on_larger_samples(self, models: JointModels, max_iter: int, tol: float) -> JointModels:
        """Learn from larger samples, each in turn.

        The models have converged once: what more rows change takes fewer steps.
        """
        used = models.used
        for rows in self.samples[1:]:
            models = self.models_on(rows, models.parameters, 1)
            models.used = used
            self.advance(models, max(1, max_iter // 2), 0.01 * tol)
        return models

    def on_training_rows(
        self, parameters: Parameters, used: Used | None, max_iter: int, tol: float
    ) -> tuple[Parameters, np.ndarray]:
        """Put the vectors on rows; parameters and the indices of these rows are returned."""
        models = self.models_on(self.samples[-1], parameters, 1)
        models.used = used
        source = TrainingSource(self.training, self.units, self.dtype)
        steps = max(1, max_iter // 2)
        rows = move_to_rows(models, source, max_steps=steps, tolerance=0.01 * tol)
        self.record(models.size, len(models.rows), float(models.values[0]), float(models.falls[0]))
        return models.parameters, rows

    def certified(
        self, parameters: Parameters, used: Used | None, tol: float, max_iter: int
    ) -> Learned:
        """Solve the coefficients on all rows, and put the model together."""
        rows = None
        if self.training.ends_on_rows and parameters.vectors.shape[1]:
            parameters, rows = self.on_training_rows(parameters, used, max_iter, tol)
        source = TrainingSource(self.training, self.units)
        exact = _of_type(parameters, np.float64)
        if rows is not None:
            exact = replace(exact, vectors=source.take(rows).dense(slice(None))[None, :, :])
        elif box := self.units.own_box(np.float64, source.like):
            exact = replace(exact, vectors=within_box(exact.vectors, *box))
        costs = self.setting.C * self.training.cost[None]
        gammas = np.array([self.gamma])
        final = JointModels(source, self.setting.form, costs, gammas, exact, used)
        full_data = self.training.full_data
        if full_data is not None:
            full_data = full_data.of_models(final, self.units, self.setting.C)
        value, gap = certify(final, tol, full_data)
        objective = float(value[0])
        self.record(final.size, self.training.n_all, objective)
        expansion = self.units.expansion(final, 0, objective)
        if self.span is not None:
            expansion = self.span.back(expansion)
        support = None
        if rows is not None:
            rows = rows[to_numpy(final.coef())[0].any(axis=1)]
            expansion, support = self._of_rows(expansion, rows), self.given.rows[rows]
        elif self.training.ends_on_rows:
            support = np.zeros(0, dtype=int)  # a linear part alone
        warning = gap_warning("The learned model", float(gap[0]), tol) or self.warning
        record = self.n_steps, self.history.arrays()
        return Learned(expansion, support, objective, *record, warning)

    def _of_rows(self, expansion: KernelExpansion, rows: np.ndarray) -> KernelExpansion:
        """Return an expansion with rows as they were given for its vectors, which they are."""
        chosen: Any = take(self.given.data, rows)
        chosen = chosen.toarray() if sparse.issparse(chosen) else to_numpy(chosen)
        return expansion.with_terms(chosen.astype(float), expansion.coef)


def _of_type(parameters: Parameters, dtype: Any) -> Parameters:
    return Parameters(*(cast(array, dtype) for array in parameters.arrays()))


def falling_warning(models: JointModels, max_iter: int) -> str | None:
    """Return a sentence if the last steps of one model still lowered its objective by much."""
    fall = float(models.falls[0])
    costs = to_numpy(models.rows.factors).astype(float) * to_numpy(models.cost)[0]
    return Descent(max_iter, fall, True, float(models.values[0] / costs.sum())).warning(FALLING)
