"""Features that a model does not need: widths of zero, and no weight in the linear part.

The zero-norm update of AROM (Weston, Elisseeff, Schölkopf & Tipping 2003, problem (9)) minimises
the sum of the logarithms of the weights: round by round each weight is penalised in units of what
it was, so that what does not matter shrinks by the same factor again and again, and what does is
hardly moved. Here the weights are the widths of the features.

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
    """Return one model (a batch of one) whose widths that do not matter are zero.

    Parameters
    ----------
    models : JointModels
        One model with a width for each feature.
    spread : ndarray of shape (d,)
        Standard deviation of each feature.
    max_steps : int
        Most steps of each round.
    """
    before = float(models.values[0])
    used = models.used or _everything(models)
    pushed = models.at(models.parameters.copy(), used)
    for _ in range(ROUNDS):
        anchor = copied(pushed.parameters.log_widths)
        pushed.used = replace(used, pressure=PRESSURE * before, log_widths=anchor)
        descend(pushed, max_steps=max_steps, tolerance=1e-5)
    reach = to_numpy(pushed.parameters.log_widths)[0] + 2.0 * np.log(np.maximum(spread, 1e-30))
    is_used = (reach > reach.max() - BELOW) & (to_numpy(used.kernel) > 0)
    if is_used.all():
        return models
    kernel = as_on(is_used, models.rows.like, models.rows.dtype)
    fewer = models.at(pushed.parameters.copy(), replace(used, kernel=kernel))
    descend(fewer, max_steps=max_steps, tolerance=1e-6)
    rise = min(TOLERATED * before, LOST * gain_of_terms(models))
    return fewer if fewer.values[0] <= before + rise else models


def gain_of_terms(models: JointModels) -> float:
    """Return by how much the terms of one model lower its objective."""
    nothing = Parameters.nothing(1, models.rows, models.form)
    without = JointModels(models.rows, models.form, models.cost, models.gamma, nothing)
    solve_coefficients(without, max_steps=STEPS, tolerance=1e-5)
    return float(without.objective()[0] - models.objective()[0])


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
    kernel = (to_numpy(used.kernel) > 0) & (models.size > 0)
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
    ones = zeros((models.rows.n_features,), models.rows.like) + 1.0
    return Used(ones, ones)
