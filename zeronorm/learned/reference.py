"""A convex reference for the choice: the SVM in the span of some landmarks.

Its cross-validated error is about that of the full SVM: it says what error can be had. The full
SVM with its best C and width is fitted once, where rows are few enough: the number of its support
vectors says how many terms a model may have at most. Where that is not enough of very few rows, the
full SVM is cross-validated too, and models that are behind it may have more.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from zeronorm.arrays import to_numpy, zeros
from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.coordinates import Units
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.folds import Folds
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss
from zeronorm.learned.results import Results
from zeronorm.learned.settings import Setting

#: Landmarks, and most steps of the coefficients.
LANDMARKS, LANDMARK_STEPS = 100, 25

#: Standard errors, of the difference, by which a choice must be above an SVM to be doubtful.
CLEARLY = 3.0

#: Costs and widths of the full SVM, these as multiples of gamma="scale", where none are given.
SVM_COSTS, SVM_FACTORS = (1.0, 10.0), (0.3, 1.0, 3.0)


def cross_validate_landmarks(
    folds: Folds,
    units: Units,
    Cs: list[float],
    kernels: list[Kernel],
    n_jobs: int | None,
    loss: RowLoss = SQUARED_HINGE,
) -> tuple[Results, float]:
    """Cross-validate the reference for every pair of a C and a kernel.

    The other number is the share of rows that are support vectors of an SVM with the best of them.
    """
    found = Parallel(n_jobs=folds.workers(n_jobs))(
        delayed(_evaluate_landmarks)(folds, units.gamma(kernel), kernel, Cs, loss)
        for kernel in kernels
    )
    results = Results()
    active = []
    for kernel, of_kernel in zip(kernels, found, strict=True):
        for C, error, mean_loss, share in of_kernel:
            results.add(Setting(C, kernel), 0, error, mean_loss)
            active.append(share)
    best = min(range(len(active)), key=results.mean_loss)
    setting, shared = results.settings[best], folds.shared
    kernel = setting.kernel.with_gamma(units.gamma(setting.kernel))
    share = shared.criterion.support_share(
        shared.rows, shared.codes, setting.C * folds.cost, kernel, active[best]
    )
    return results, share


def _evaluate_landmarks(
    folds: Folds, gamma: float, kernel: Kernel, Cs: list[float], loss: RowLoss
) -> list[tuple[float, np.ndarray, np.ndarray, float]]:
    """Evaluate the SVM in the span of some landmarks, for growing C."""
    form = Form(kernel.with_gamma(1.0), loss=loss)
    folds = folds.seen_by(form)
    rows = folds.shared.rows
    count = min(LANDMARKS, int(folds.train.sum(axis=1).min()))
    start = Parameters.nothing(len(folds), rows, form)
    start.vectors = folds.all_candidates(count)
    start.weights = zeros((len(folds), count, rows.n_outputs), rows.like)
    found = []
    for C in Cs:
        gammas = np.full(len(folds), gamma)
        models = JointModels(rows, form, folds.costs([C]), gammas, start)
        solve_coefficients(models, max_steps=LANDMARK_STEPS, tolerance=1e-4)
        error, mean_loss, _ = folds.evaluate(models)
        found.append((C, error.ravel(), mean_loss.ravel(), folds.active_rows(models)))
        start = models.parameters
    return found


def cross_validate_svm(
    folds: Folds, units: Units, Cs: list[float], kernels: list[Kernel], n_jobs: int | None
) -> np.ndarray | None:
    """Return the errors of the full SVM on the folds, with the best pair of a C and a kernel.

    None where there is no SVM to compare with.
    """
    criterion, n_rows = folds.shared.criterion, len(folds.shared.codes)
    machines = [criterion.svm(kernel.with_gamma(units.gamma(kernel)), n_rows) for kernel in kernels]
    if folds.others is not None or None in machines:
        return None
    found = Parallel(n_jobs=folds.workers(n_jobs))(
        delayed(_svm_errors)(folds, machine, C) for machine in machines for C in Cs
    )
    return min(found, key=np.mean)


def _svm_errors(folds: Folds, svm: Any, C: float) -> np.ndarray:
    """Return the errors of one SVM, fold by fold."""
    shared, errors = folds.shared, []
    X = to_numpy(shared.rows.X).astype(np.float64)  # as it takes them: once for all folds
    for train, test in zip(folds.train, shared.test, strict=True):
        with warnings.catch_warnings():  # an error that is about right will do
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm.fit(X[train], shared.codes[train], sample_weight=C * folds.cost[train])
        wrong = svm.predict(X[test]) != shared.codes[test]
        errors.append(np.average(wrong, weights=shared.weight[test]))
    return np.array(errors)


def far_behind(
    results: Results,
    kept: int,
    reference: Results,
    criterion: Criterion = CLASSES,
    svm: np.ndarray | None = None,
) -> str | None:
    """Return a sentence if the model that was chosen is far behind an SVM, fold by fold.

    The SVM is the reference or the full one, where its errors are known; of both the better.
    """
    best = min(range(len(reference.errors)), key=reference.mean_loss)
    error, machine = criterion.words
    rivals = {f"an SVM in the span of {LANDMARKS} training rows": reference.errors[best]}
    if svm is not None:
        rivals[f"an {machine}"] = svm
    ahead = {
        float(np.mean(errors)): what
        for what, errors in rivals.items()
        if results.is_above(kept, errors, CLEARLY)
    }
    if not ahead:
        return None
    lowest = min(ahead)
    return (
        f"Few terms do not do here: with {results.sizes[kept]} of them the cross-validated {error} "
        f"is {100 * results.mean[kept]:.1f} %, that of {ahead[lowest]} {100 * lowest:.1f} %. Try "
        f"rule='best', a larger n_terms, or an {machine}."
    )
