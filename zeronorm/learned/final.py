"""The last fit: vectors learned on samples of the rows, coefficients solved on all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.arrays import cast, double, is_numpy, namespace, take, to_numpy
from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import Learned, TrainingRows, gap_warning, rescaled_cost
from zeronorm.learned.choice import precision
from zeronorm.learned.coefficients import certify
from zeronorm.learned.descent import descend, grow
from zeronorm.learned.features import keep_features, zero_widths
from zeronorm.learned.joint import JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.learner import nested_samples
from zeronorm.learned.path import CANDIDATES, CANDIDATES_EACH, STEPS, TOLERANCE
from zeronorm.learned.settings import Setting
from zeronorm.learned.units import TrainingSource, Units

#: The vectors of a fit without starts grow by so much at a time.
DOUBLING = 2


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
    """
    training = training.compact()
    units = Units.of(training)
    samples = nested_samples(training.codes, random)
    history: dict[str, list[float]] = {"terms": [], "rows": [], "objective": []}
    dtype = np.float64 if len(samples) == 1 else precision(training, [setting])

    def on_sample(rows: np.ndarray, parameters: Parameters | None, count: int) -> JointModels:
        cost = rescaled_cost(training.codes, training.cost, rows, training.cost[rows])
        costs = np.tile(setting.C * cost, (count, 1))
        gammas = np.full(count, units.gamma(setting.kernel))
        if parameters is not None:
            parameters = Parameters(*(cast(array, dtype) for array in parameters.arrays()))
        chosen = units.rows(training, rows, dtype)
        return JointModels(chosen, setting.form, costs, gammas, parameters)

    def advance(models: JointModels, steps: int, tolerance: float) -> int:
        taken = descend(models, max_steps=steps, tolerance=tolerance)
        best = int(models.values.argmin())
        history["terms"].append(models.size)
        history["rows"].append(len(models.rows))
        history["objective"].append(float(models.values[best]))
        return int(taken[best])

    count = n_init if starts is None else starts.vectors.shape[0]
    models = on_sample(samples[0], starts, count)
    codes = training.codes[samples[0]]
    while models.size < size:
        wanted = min(max(1, (DOUBLING - 1) * models.size), size - models.size)
        draw = min(len(codes), max(CANDIDATES, CANDIDATES_EACH * wanted))
        drawn = [stratified_rows(codes, draw, random)[:draw] for _ in range(count)]
        parts = [_dense(models, indices) for indices in drawn]
        candidates = namespace(parts[0]).stack(parts, axis=0)
        if grow(models, candidates, wanted) == 0:
            break
        advance(models, STEPS, TOLERANCE)
    if len(models) > n_init:
        advance(models, STEPS, TOLERANCE)
        models = models.take(np.argsort(models.values, kind="stable")[:n_init])
    steps = advance(models, max_iter, 0.01 * tol)
    models = models.take(np.array([models.values.argmin()]))
    if setting.widths > 1 and models.size:
        spread = np.sqrt(np.maximum(_variances(models.rows), np.finfo(float).tiny))
        models = zero_widths(models, spread, max_steps=STEPS)
    if max_features is not None:
        models = keep_features(models, max_features, max_steps=STEPS)
    used = models.used
    for rows in samples[1:]:
        # They have converged once: what more rows change takes fewer steps.
        models = on_sample(rows, models.parameters, 1)
        models.used = used
        steps = advance(models, max(1, max_iter // 2), 0.01 * tol)
    source = TrainingSource(training, units)
    exact = Parameters(*(cast(array, np.float64) for array in models.parameters.arrays()))
    costs = setting.C * training.cost[None]
    final = JointModels(source, setting.form, costs, models.gamma, exact, used)
    value, gap = certify(final, tol)
    objective = float(value[0])
    expansion = units.expansion(final, 0, objective)
    warning = gap_warning("The learned model", float(gap[0]), tol)
    recorded = {key: np.array(values) for key, values in history.items()}
    return Learned(expansion, None, objective, steps, recorded, warning)


def _variances(rows: Rows) -> np.ndarray:
    """Variance of each feature."""
    n = len(rows)
    if not is_numpy(rows.X):
        xp, exact = namespace(rows.X), cast(rows.X, double(rows.X))
        return to_numpy(xp.mean(exact * exact, axis=0) - xp.mean(exact, axis=0) ** 2)
    mean = np.asarray(rows.X.mean(axis=0)).ravel()
    return np.asarray(rows.squares.sum(axis=0)).ravel() / n - mean**2


def _dense(models: JointModels, indices: np.ndarray) -> Any:
    chosen = take(models.rows.X, indices)
    return chosen.toarray() if hasattr(chosen, "toarray") else chosen
