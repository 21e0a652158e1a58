"""A convex stand-in for the full SVM: what error can be had, and how many vectors that takes."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from zeronorm.arrays import zeros
from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.folds import Folds
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss
from zeronorm.learned.path import Judged
from zeronorm.learned.settings import Setting
from zeronorm.learned.units import Units

#: Landmarks of the stand-in, and most steps of its coefficients.
LANDMARKS, LANDMARK_STEPS = 100, 25

#: Standard errors, of the difference, by which a choice must be above the stand-in to be doubtful;
#: and the least difference.
CLEARLY, FAR = 3.0, 0.01


def judge_landmarks(
    folds: Folds,
    units: Units,
    Cs: list[float],
    kernels: list[Kernel],
    n_jobs: int | None,
    loss: RowLoss = SQUARED_HINGE,
) -> tuple[Judged, float]:
    """Cross-validate the stand-in for every pair of a C and a kernel.

    The share of rows that are support vectors of the best comes with it.
    """
    results = Parallel(n_jobs=folds.workers(n_jobs))(
        delayed(_judge_landmarks)(folds, units.gamma(kernel), kernel, Cs, loss)
        for kernel in kernels
    )
    judged = Judged()
    active = []
    for kernel, of_kernel in zip(kernels, results, strict=True):
        for C, error, mean_loss, share in of_kernel:
            judged.add(Setting(C, kernel), 0, error, mean_loss)
            active.append(share)
    return judged, active[min(range(len(active)), key=judged.mean_loss)]


def _judge_landmarks(
    folds: Folds, gamma: float, kernel: Kernel, Cs: list[float], loss: RowLoss
) -> list[tuple[float, np.ndarray, np.ndarray, float]]:
    """Judge the SVM in the span of some landmarks, for growing C."""
    form = Form(kernel.with_gamma(1.0), loss=loss)
    folds = folds.seen_by(form)
    rows = folds.shared.rows
    count = min(LANDMARKS, int(folds.learn.sum(axis=1).min()))
    landmarks = folds.all_candidates(count)
    start = Parameters.nothing(len(folds), rows, form)
    start.vectors = landmarks
    start.weights = zeros((len(folds), count, rows.n_outputs), rows.like)
    found = []
    for C in Cs:
        gammas = np.full(len(folds), gamma)
        models = JointModels(rows, form, folds.costs([C]), gammas, start)
        solve_coefficients(models, max_steps=LANDMARK_STEPS, tolerance=1e-4)
        error, mean_loss, _ = folds.judged(models)
        found.append((C, error, mean_loss, folds.active_rows(models)))
        start = models.parameters
    return found


def far_behind(
    judged: Judged, kept: int, stand_in: Judged, criterion: Criterion = CLASSES
) -> str | None:
    """Return a sentence if the model that was chosen is far behind the stand-in, fold by fold."""
    best = min(range(len(stand_in.errors)), key=stand_in.mean_loss)
    difference = np.array(judged.errors[kept]) - np.array(stand_in.errors[best])
    if difference.mean() <= FAR or judged.within(CLEARLY, difference):
        return None
    error, rival = criterion.words
    return (
        f"Few terms do not do here: with {judged.sizes[kept]} of them the cross-validated {error} "
        f"is {100 * judged.mean[kept]:.1f} %, that of an SVM in the span of {LANDMARKS} training "
        f"rows {100 * stand_in.mean[best]:.1f} %. Try rule='best', a larger n_terms, or an {rival}."
    )
