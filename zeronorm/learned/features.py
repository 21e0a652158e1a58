"""Features that a model does not need: widths of zero, and no weight in the linear part.

The zero-norm update of AROM (Weston, Elisseeff, Schölkopf & Tipping 2003, problem (9)) minimises
the sum of the logarithms of the weights: round by round each weight is penalised in units of what
it was, so that what does not matter shrinks by the same factor again and again, and what does is
hardly moved. Here the weights are the widths of the features.

With fewer widths the training rows are often fitted better, by a prior that has less to hold
together, and others worse. So where models of folds are known they lose their features first, each
without the rows it is tested on, and the last fit follows if these rows do not miss them
(``Path.may_drop_features``).

To keep to a given number of features, those whose absence raises the objective least are switched
off, a part at a time, and the others descend again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zeronorm.arrays import as_on, copied, is_numpy, namespace, to_numpy, zeros
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.descent import descend
from zeronorm.learned.joint import JointModels, Parameters, Used
from zeronorm.learned.kernel_sets import Rows

#: Rounds of the zero-norm update, and the penalty of a width as it is, as a share of the objective.
ROUNDS, PRESSURE = 3, 0.003

#: Log widths so far below the largest, in units of the spread of the features, are zero.
BELOW = 6.0

#: What features are switched off for may raise the objective by this share, and by this share of
#: what the terms have lowered it by: with a small C that is hardly anything of the objective.
TOLERATED, LOST = 0.02, 0.1

#: Of the features to be switched off, the share that goes at a time.
PART = 0.5

#: Most steps of a descent with fewer features.
STEPS = 40


def zero_widths(models: JointModels, spread: np.ndarray, *, max_steps: int = STEPS) -> JointModels:
    """Return models whose widths that do not matter are zero, each its own.

    Parameters
    ----------
    models : JointModels
        Models with a width for each feature.
    spread : ndarray of shape (d,)
        Standard deviation of each feature.
    max_steps : int
        Most steps of each round.
    """
    before = models.values
    used = models.used or _everything(models)
    pushed = models.at(models.parameters.copy(), used)
    pressure = as_on(PRESSURE * before[:, None], models.rows.like, models.rows.dtype)
    for _ in range(ROUNDS):
        anchor = copied(pushed.parameters.log_widths)
        pushed.used = replace(used, pressure=pressure, log_widths=anchor)
        descend(pushed, max_steps=max_steps, tolerance=1e-5)
    reach = to_numpy(pushed.parameters.log_widths) + 2.0 * np.log(np.maximum(spread, 1e-30))
    is_near = reach > reach.max(axis=1, keepdims=True) - BELOW
    is_used = is_near & (to_numpy(used.kernel) > 0)
    if is_used.all():
        return models
    fewer = models.at(pushed.parameters.copy(), _with_kernel(used, is_used, models))
    descend(fewer, max_steps=max_steps, tolerance=1e-6)
    rise = np.minimum(TOLERATED * before, LOST * gain_of_terms(models))
    back = np.flatnonzero(~(fewer.values <= before + rise))  # also what is not a number
    if len(back) == len(models):
        return models
    if len(back):
        fewer.parameters.put(back, models.parameters.take(back))
        fewer.values[back], is_used[back] = before[back], to_numpy(used.kernel)[back] > 0
        fewer.used = _with_kernel(used, is_used, models)
    return fewer


def gain_of_terms(models: JointModels) -> np.ndarray:
    """Return by how much the terms of each model lower its objective."""
    nothing = Parameters.nothing(len(models), models.rows, models.form)
    without = JointModels(models.rows, models.form, models.cost, models.gamma, nothing)
    solve_coefficients(without, max_steps=STEPS, tolerance=1e-5)
    return without.objective() - models.objective()


def spread_of(rows: Rows) -> np.ndarray:
    """Return the standard deviation of each feature, not quite zero."""
    if not is_numpy(rows.X):
        return np.maximum(to_numpy(namespace(rows.X).std(rows.X, axis=0)), 1e-30).astype(float)
    mean = np.asarray(rows.X.mean(axis=0)).ravel()
    variance = np.asarray(rows.squares.sum(axis=0)).ravel() / len(rows) - mean**2
    return np.sqrt(np.maximum(variance, np.finfo(float).tiny))


def keep_features(models: JointModels, count: int, *, max_steps: int = STEPS) -> JointModels:
    """Return one model that uses at most ``count`` features."""
    used = models.used or _everything(models)
    kernel = (to_numpy(used.kernel)[0] > 0) & (models.size > 0)
    linear = (to_numpy(used.linear) > 0) & bool(models.form.linear)
    present = np.flatnonzero(kernel | linear)
    while len(present) > count:
        surplus = len(present) - count
        going = surplus if surplus <= 2 else int(np.ceil(PART * surplus))
        # The objective without each of them, everything else as it is.
        fewer = (_without(models, np.array([one])) for one in present)
        values = [float(one.function(one.parameters, np.arange(1))[0][0]) for one in fewer]
        order = np.argsort(values, kind="stable")
        models = _without(models, present[order[:going]])
        present = np.sort(present[order[going:]])
        solve_coefficients(models, max_steps=20, tolerance=1e-6)
        descend(models, max_steps=max_steps, tolerance=1e-6)
    return models


def _without(models: JointModels, features: np.ndarray) -> JointModels:
    """Return the model without some features."""
    used = models.used or _everything(models)
    stays = np.ones(models.rows.n_features)
    stays[features] = 0.0
    stays = as_on(stays, models.rows.like, models.rows.dtype)
    used = replace(used, kernel=used.kernel * stays, linear=used.linear * stays)
    fewer = models.at(models.parameters.copy(), used)
    if models.form.linear:
        fewer.parameters.linear *= stays[:, None]
    return fewer


def _everything(models: JointModels) -> Used:
    like, d = models.rows.like, models.rows.n_features
    return Used(zeros((len(models), d), like) + 1.0, zeros((d,), like) + 1.0)


def _with_kernel(used: Used, is_used: np.ndarray, models: JointModels) -> Used:
    """Return what models use with these features in their kernels."""
    return replace(used, kernel=as_on(is_used, models.rows.like, models.rows.dtype))
