"""How many terms, which C, which width: cross-validation along a path of growing models.

Two steps, all inside the training rows.

1. C and gamma are judged with a convex stand-in for the full SVM: the modified RSVM of Wu et al.
   (2005), which is the SVM in the span of some landmarks. Newton's method solves it along a path of
   C, warm started, at a small part of an SVM's cost. Two settings go on: the most accurate, and
   the one with the widest kernel among those within a standard error of it, because a smoother
   function needs fewer terms.
2. For each of them vectors are learned on every fold, their number growing along a warm started
   path, until more of them do not help.

A rule of ``model_selection.py`` then chooses among all sizes and settings. On few rows many of them
make the same errors; of these the one with the lowest hinge loss on the held-out rows is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import TrainingRows
from zeronorm.kernels import Kernel
from zeronorm.learned.calibration import calibrate
from zeronorm.learned.folds import Fold
from zeronorm.learned.learner import VectorLearner, large_margin
from zeronorm.learned.prototypes import (
    GROWING_STEPS,
    GROWING_TOLERANCE,
    Prototypes,
)
from zeronorm.links import Calibration
from zeronorm.model_selection import sparsest_good, standard_error

#: Landmarks of the stand-in.
LANDMARKS = 100

#: Numbers of terms to try, in the portions after which it is decided whether to go on.
SIZES = ((1, 2, 3, 4), (5, 6, 7, 8), (10, 12, 16), (20, 24, 32), (40, 48, 64))


#: What counts as lowering the error, in standard errors.
WORTHWHILE = 0.25

#: A choice is doubtful whose error is above that of the stand-in by this much, and by so many
#: standard errors of the difference.
FAR, CLEARLY = 0.05, 2.0


@dataclass(frozen=True)
class Setting:
    """A cost and a kernel."""

    C: float
    kernel: Kernel

    def of(self, training: TrainingRows) -> TrainingRows:
        """Return rows of unit cost with this cost and kernel."""
        return replace(training, cost=self.C * training.cost, kernel=self.kernel)


@dataclass(frozen=True)
class Choice:
    """What was chosen: setting and number of terms, and a sentence if it is doubtful.

    ``calibration`` turns decision values into probabilities, where there were held-out rows.
    """

    setting: Setting
    size: int
    doubt: str | None = None
    calibration: Calibration | None = None


@dataclass
class Judged:
    """Cross-validated models: setting, terms, and errors, losses and values on the folds, of each.

    The values, of the held-out rows, are kept of the models that may be chosen only.
    """

    settings: list[Setting] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    errors: list[list[float]] = field(default_factory=list)
    losses: list[list[float]] = field(default_factory=list)
    values: list[list[np.ndarray]] = field(default_factory=list)

    def calibration(self, kept: int, folds: list[Fold]) -> Calibration:
        """Learn the link of a model from its values on the held-out rows of all folds."""
        return calibrate(
            np.concatenate(self.values[kept]),
            np.concatenate([fold.judge.codes for fold in folds]),
            np.concatenate([fold.judge.cost for fold in folds]),
        )

    @property
    def mean(self) -> np.ndarray:
        """Mean error of each."""
        return np.mean(self.errors, axis=1)

    def rank(self, i: int) -> tuple[float, float]:
        """Return what orders models: the mean error, up to rounding, and the mean loss."""
        return round(float(np.mean(self.errors[i])), 9), float(np.mean(self.losses[i]))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of each mean."""
        return standard_error(np.transpose(self.errors))

    def chosen(self, rule: str) -> int:
        """Index of the one that a rule of ``model_selection`` keeps."""
        kept = sparsest_good(1.0 - np.transpose(self.errors), np.array(self.sizes), rule)
        rivals = [i for i, size in enumerate(self.sizes) if size == self.sizes[kept]]
        return min(rivals, key=self.rank)

    def best_of_each_size(self) -> dict[str, np.ndarray]:
        """Size, error, standard error, C and gamma of the most accurate model of each size."""
        mean, spread = self.mean, self.standard_error
        indices = []
        for size in sorted(set(self.sizes)):
            of_size = [i for i, one in enumerate(self.sizes) if one == size]
            indices.append(min(of_size, key=self.rank))
        return {
            "terms": np.array([self.sizes[i] for i in indices]),
            "error": mean[indices],
            "standard_error": spread[indices],
            "C": np.array([self.settings[i].C for i in indices]),
            "gamma": np.array([self.settings[i].kernel.gamma for i in indices]),
        }


def judge_settings(
    folds: list[Fold], Cs: list[float], kernels: list[Kernel], n_jobs: int | None
) -> Judged:
    """Cross-validate the stand-in for every pair of a C and a kernel."""
    tables = Parallel(n_jobs=n_jobs)(
        delayed(_judge_landmarks)(fold, Cs, kernel) for kernel in kernels for fold in folds
    )
    judged = Judged()
    for i, kernel in enumerate(kernels):
        of_kernel = np.array(tables[i * len(folds) : (i + 1) * len(folds)])
        judged.settings += [Setting(C, kernel) for C in Cs]
        judged.sizes += [0] * len(Cs)
        judged.errors += of_kernel[:, :, 0].T.tolist()
        judged.losses += of_kernel[:, :, 1].T.tolist()
    return judged


def _judge_landmarks(fold: Fold, Cs: list[float], kernel: Kernel) -> list[tuple[float, float]]:
    """Judge the SVM in the span of some landmarks, for growing C."""
    rows = fold.learn
    random = np.random.RandomState(fold.seed)
    indices = stratified_rows(rows.codes, min(LANDMARKS, len(rows.codes)), random)
    landmarks = rows.dense(indices)
    task = large_margin(rows)
    current, found = None, []
    for C in Cs:
        task.cost = C * rows.output_cost
        if current is None:
            current = Prototypes(rows.data, task, kernel, landmarks)
        else:
            current.solve(current.coef)
        found.append(fold.judged(current)[:2])
    return found


def promising(judged: Judged) -> list[Setting]:
    """Return the most accurate setting, and the widest kernel within a standard error of it."""
    mean = judged.mean
    order = sorted(range(len(mean)), key=judged.rank)
    limit = mean[order[0]] + judged.standard_error[order[0]]
    good = [judged.settings[i] for i in order if mean[i] <= limit]
    widest = min(setting.kernel.gamma for setting in good)
    wide = next(setting for setting in good if setting.kernel.gamma == widest)
    return [good[0]] if wide == good[0] else [good[0], wide]


def judge_sizes(
    folds: list[Fold],
    settings: list[Setting],
    portions: list[tuple[int, ...]],
    aim: float,
    guessing: float,
    n_jobs: int | None,
    report: Callable[[float, str], None],
) -> Judged:
    """Cross-validate learned vectors along the sizes, until more of them do not help.

    It goes on after a portion of sizes if the last half of it has lowered the best error by what
    counts (:data:`WORTHWHILE`), or if that error is still a standard error above ``aim``, the error
    of the stand-in, and the portion has lowered it at all or there is nothing to lower yet: it is
    no less than ``guessing``. It goes on with the settings within a standard error of the best.
    """
    judged = Judged()
    states: dict[Setting, list[Any]] = {setting: [None] * len(folds) for setting in settings}
    for portion in portions:
        results = Parallel(n_jobs=n_jobs)(
            delayed(_grow)(setting, fold, state, portion)
            for setting in states
            for fold, state in zip(folds, states[setting], strict=True)
        )
        lowest = {}
        for i, setting in enumerate(states):
            of_setting = results[i * len(folds) : (i + 1) * len(folds)]
            states[setting] = [state for state, _ in of_setting]
            # Of each size, over the folds.
            errors, losses, values = (
                [[of_fold[j][k] for _, of_fold in of_setting] for j in range(len(portion))]
                for k in range(3)
            )
            lowest[setting] = np.mean(errors, axis=1).min()
            judged.settings += [setting] * len(portion)
            judged.sizes += portion
            judged.errors += errors
            judged.losses += losses
            judged.values += values
        path = judged.best_of_each_size()
        error, half = path["error"], len(portion) // 2
        best = int(error.argmin())
        spread = path["standard_error"][best]
        report(len(judged.sizes), f"{portion[-1]} terms, error {error[best]:.4f}")
        before = np.min(error[: len(error) - len(portion) + half], initial=1.0)
        is_late = error[best] < before - WORTHWHILE * spread
        is_new = best >= len(error) - len(portion) or error[best] >= guessing
        if not (is_late or (is_new and error[best] > aim + spread)):
            break
        states = {
            one: state for one, state in states.items() if lowest[one] <= error[best] + spread
        }
        if not states:
            break
    return judged


def _grow(
    setting: Setting, fold: Fold, state: tuple[Any, ...] | None, sizes: tuple[int, ...]
) -> tuple[tuple[Any, ...], list[tuple[float, float, np.ndarray]]]:
    """Judge these sizes, and say where the vectors are then."""
    training = setting.of(fold.learn)
    if state is None:
        learner = VectorLearner(training, np.random.RandomState(fold.seed))
        current = learner.single()
    else:
        random, kernel, vectors = state
        learner = VectorLearner(training, random)
        current = learner.at(vectors, kernel)
    found = []
    for size in sizes:
        if size > 1:
            learner.grow(current, size)
        else:
            learner.descend(current, GROWING_STEPS, GROWING_TOLERANCE)
        found.append(fold.judged(current))
    return (learner.random, current.kernel, current.vectors), found


def guessing_error(training: TrainingRows) -> float:
    """Error of always guessing the commonest class, by weight."""
    return 1.0 - float(
        np.bincount(training.codes, weights=training.cost).max() / training.cost.sum()
    )


def far_behind(judged: Judged, kept: int, stand_in: Judged) -> str | None:
    """Return a sentence if the model that was chosen is far behind the stand-in, fold by fold."""
    best = min(range(len(stand_in.errors)), key=stand_in.rank)
    difference = np.array(judged.errors[kept]) - np.array(stand_in.errors[best])
    if difference.mean() <= max(FAR, CLEARLY * float(standard_error(difference))):
        return None
    return (
        f"Few terms do not do here: with {judged.sizes[kept]} of them the cross-validated error is "
        f"{100 * judged.mean[kept]:.1f} %, that of an SVM in the span of {LANDMARKS} training rows "
        f"{100 * stand_in.mean[best]:.1f} %. Try rule='best', a larger n_terms, or an SVC."
    )
