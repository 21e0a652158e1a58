"""How many terms, which C, which form: cross-validation along a path of growing models.

All inside the training rows, and the models of all settings and folds together (``joint.py``):

1. A convex reference says what error the full SVM would have: the SVM in the span of some
   landmarks, for a few C and widths (``reference.py``).
2. Models of every setting (C, the width to begin with, one width or one for each feature, with a
   linear part or without) grow from one term on. After each stage of sizes the settings with the
   highest errors drop out; it goes on as long as more terms help.

A rule then chooses among the best settings of all sizes. What counts as size are the inner products
that a prediction costs: kernel terms, and one for each output of a linear part. On few rows many
models make the same errors, so models are compared by a loss that says more (``folds.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from zeronorm.arrays import is_numpy, namespace
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.constraints import with_vectors_on_rows
from zeronorm.learned.coordinates import Units
from zeronorm.learned.descent import COEFFICIENT_STEPS, descend, grow
from zeronorm.learned.folds import Folds
from zeronorm.learned.joint import JointModels, Parameters
from zeronorm.learned.one_draw import OneDraw
from zeronorm.learned.settings import Setting, by_form
from zeronorm.learned.stochastic import Cycle, descend_in_cycles
from zeronorm.model_selection import sparsest_good, standard_error

Stages = tuple[tuple[int, ...], ...]

#: Numbers of terms to try, in the stages after which it is decided what goes on; and how many
#: settings do.
STAGES: Stages = ((0, 1, 2, 3, 4), (6, 8), (12, 16), (24, 32), (48, 64), (96, 128), (192, 256))
STAYING = (6, 4, 3, 2)

#: The stages of one draw (``one_draw.py``).
COARSE_STAGES: Stages = ((0, 1), (2, 4), (8,), (16,), (32,), (64,), (128,), (256,))

#: Largest size, where nothing else is said.
MANY_TERMS = 10_000

#: Steps with each size, fewer up to so many terms, and the relative progress to stop at.
STEPS, FEW_STEPS, FEW_TERMS, TOLERANCE = 24, 16, 4, 1e-5

#: Most steps of the coefficients of a linear part alone.
LINEAR_STEPS = 25

#: From so many terms on, a cycle of so many steps (``stochastic.py``).
CYCLE_TERMS, CYCLE_STEPS = 8, 60

#: Rows among which new vectors are looked for, at least, and for each vector to come.
CANDIDATES, CANDIDATES_EACH = 32, 4

#: Beyond so many outputs the sizes beside a linear part are these.
FEW_OUTPUTS, COARSE = 2, (0, 2, 4, 8, 16, 32, 64, 128, 256)

#: Kernel values of the models that are learned at once, about; and on a device with memory of its
#: own, which few models do not keep busy.
TOGETHER, DEVICE_TOGETHER = 2**21, 2**26

#: What the rule "loss" gives for fewer terms, and what does not count as lowering the loss, in
#: standard errors: of folds; and of test rows alone, which say nothing of the luck of one draw.
QUARTER, ONE = 0.25, 1.0


@dataclass
class Results:
    """What cross-validation found: setting, size, errors and losses on the folds, of each model."""

    settings: list[Setting] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    errors: list[np.ndarray] = field(default_factory=list)
    losses: list[np.ndarray] = field(default_factory=list)
    #: Held-out values and parameters of the best model of each size, which alone may be chosen.
    best: dict[int, tuple[int, list[Any], Parameters]] = field(default_factory=dict)
    #: How often the folds were drawn.
    repeats: int = 1
    #: Standard errors, and share of the lowest loss, that the rule "loss" gives for fewer terms.
    standard_errors: float = QUARTER
    tolerated: float = 0.0
    #: The best score there is, where a score decides: losses are then the distance to it.
    best_score: float | None = None

    @property
    def mean(self) -> np.ndarray:
        """Mean error of each."""
        return np.mean(self.errors, axis=1)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of each mean."""
        return standard_error(np.transpose(self.errors), self.repeats)

    def within(self, share: float, difference: np.ndarray) -> bool:
        """Whether the mean of a difference, fold by fold, is at most this share of its error."""
        return bool(difference.mean() <= share * standard_error(difference, self.repeats))

    def mean_loss(self, i: int) -> float:
        """Mean loss of one."""
        return float(np.mean(self.losses[i]))

    def add(
        self,
        setting: Setting,
        size: int,
        error: np.ndarray,
        loss: np.ndarray,
        values: list[Any] | None = None,
        parameters: Parameters | None = None,
    ) -> None:
        """Add a model; its values and parameters are kept if it is the best of its size.

        One whose numbers have overflowed, by a width that is far too large for the rows, counts as
        worse than all others, and is the best of no size.
        """
        is_finite = bool(np.isfinite(error).all() and np.isfinite(loss).all())
        if not is_finite:
            error, loss = np.full_like(error, np.inf), np.full_like(loss, np.inf)
        self.settings.append(setting)
        self.sizes.append(size)
        self.errors.append(error)
        self.losses.append(loss)
        last = len(self.sizes) - 1
        is_best = size not in self.best or self.mean_loss(last) < self.mean_loss(self.best[size][0])
        if values is not None and parameters is not None and is_finite and is_best:
            self.best[size] = last, values, parameters

    def indices(self) -> list[int]:
        """Return the index of the best model of each size, in the order of sizes."""
        return [self.best[size][0] for size in sorted(self.best)]

    def chosen(self, rule: str) -> int:
        """Index of the model that a rule keeps: the best of its size.

        "loss" keeps the smallest whose held-out loss is not clearly above the lowest, or by a share
        of its median fold that is tolerated; the others are of ``model_selection.py``.
        """
        if not self.best and self.sizes:
            raise ValueError(
                "No model has a finite loss on the rows that it has not seen: the data are too "
                "badly scaled for this kernel. Standardise the features."
            )
        if not self.best:
            raise ValueError(
                "No term can be learned, because the kernel is zero for all training rows. Take "
                "kernel='rbf', or other features."
            )
        if rule == "loss":
            return self._smallest_by_loss()
        indices = self.indices()
        worse = self.errors if self.best_score is None else self.losses
        accuracy = 1.0 - np.transpose([worse[i] for i in indices])
        return indices[sparsest_good(accuracy, np.array(sorted(self.best)), rule, self.repeats)]

    def _smallest_by_loss(self) -> int:
        """Compare losses of the best models of each size, in standard errors over the folds."""
        indices = self.indices()
        lowest = self.losses[min(indices, key=self.mean_loss)]
        # A row far out is a large part of the loss of its fold, which no model can lower.
        allowed = self.tolerated * float(np.median(lowest))
        above, most = ((i, self.losses[i] - lowest) for i in indices), self.standard_errors
        within = (i for i, by in above if by.mean() <= allowed or self.within(most, by))
        return next(within)  # at the latest the lowest

    def best_of_each_size(self, size: int | None = None) -> dict[str, np.ndarray]:
        """Size, error, standard error and setting of the best model of each size, or of one."""
        indices = self.indices() if size is None else [self.best[size][0]]
        settings = [self.settings[i] for i in indices]
        scores = {}
        if self.best_score is not None:
            losses = np.array([self.losses[i] for i in indices])
            scores["score"] = self.best_score - losses.mean(axis=1)
            scores["score_standard_error"] = standard_error(losses.T, self.repeats)
        return scores | {
            "terms": np.array([self.sizes[i] for i in indices]),
            "error": self.mean[indices],
            "standard_error": self.standard_error[indices],
            "C": np.array([setting.C for setting in settings]),
            "gamma": np.array([setting.kernel.gamma for setting in settings]),
            "metric": np.array([setting.widths > 1 for setting in settings]),
            "linear": np.array([setting.linear for setting in settings]),
        }


class Path:
    """Settings whose models grow together, and what was found of them.

    Parameters
    ----------
    folds : Folds
        Rows to learn from, and to test on.
    units : Units
        Their units.
    n_jobs : int, optional
        Workers; the result does not depend on it.

    Attributes
    ----------
    most : int
        Largest size.
    stages : tuple of tuples of int
        Sizes to try.
    """

    def __init__(self, folds: Folds, units: Units, n_jobs: int | None) -> None:
        self.folds, self.units, self.n_jobs, self.most = folds, units, n_jobs, MANY_TERMS
        self.results = Results()
        self.stages = COARSE_STAGES if isinstance(folds, OneDraw) else STAGES
        self.states: dict[Setting, Parameters | None] = {}

    def advance(self, sizes: tuple[int, ...], settings: list[Setting] | None = None) -> None:
        """Let these settings, or all that are left, grow through these sizes."""
        settings = list(self.states) if settings is None else settings
        self.states = dict.fromkeys(settings) | self.states
        groups = list(self._groups(settings, sizes[-1]))
        n_outputs, n_folds = self.folds.shared.rows.n_outputs, len(self.folds)
        results = Parallel(n_jobs=self.folds.workers(self.n_jobs))(
            delayed(_grow)(
                self.folds.seen_by(group[0].form),
                self.units,
                group,
                Parameters.joined([state for one in group if (state := self.states[one])]),
                self._sizes(group, sizes),
            )
            for group in groups
        )
        for group, of_group in zip(groups, results, strict=True):
            for size, parameters, error, loss, values in of_group:
                for i, setting in enumerate(group):
                    models = slice(i * n_folds, (i + 1) * n_folds)
                    own = parameters.take(models)
                    total = size + (n_outputs if setting.linear else 0)
                    if total:
                        found = error[models].ravel(), loss[models].ravel()
                        self.results.add(setting, total, *found, values[models], own)
                    self.states[setting] = own

    def _sizes(self, group: list[Setting], sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of terms that settings of one form go through in a stage.

        Models without a linear part have as many terms more as one costs; beside many inner
        products one term more or less does not count.
        """
        n_linear, state = self.folds.shared.rows.n_outputs, self.states[group[0]]
        there = 0 if state is None else state.vectors.shape[1]
        if group[0].linear:
            most = self.most - n_linear
            steps = [size for size in sizes if n_linear <= FEW_OUTPUTS or size in COARSE]
        else:
            most = self.most
            has_linear = any(setting.linear for setting in self.results.settings)
            last = sizes[-1] + (n_linear if has_linear else 0)
            steps = sorted({size for stage in self.stages for size in stage} | set(sizes))
            steps = [size for size in steps if there < size <= last]
        fitting = tuple(size for size in steps if size <= most)
        # The last time, as far as they may.
        return (most,) if steps and not fitting and most > there else fitting

    def _groups(self, settings: list[Setting], size: int) -> Iterator[list[Setting]]:
        """Put settings of the same form together, as many as may be learned at once."""
        columns = max(size, CANDIDATES) * len(self.folds) * len(self.folds.shared.rows)
        together = TOGETHER if is_numpy(self.folds.shared.rows.like) else DEVICE_TOGETHER
        count = max(1, together // columns)
        for alike in by_form(settings):
            for start in range(0, len(alike), count):
                yield alike[start : start + count]

    def keep(self, count: int, *, both: bool = False) -> None:
        """Drop all but the settings with the lowest losses, of each the lowest of its sizes.

        The best with a linear part and the best without stay if ``both`` are to.
        """
        ranks: dict[Setting, float] = {}
        for i, setting in enumerate(self.results.settings):
            if setting in self.states:
                ranks[setting] = min(self.results.mean_loss(i), ranks.get(setting, np.inf))
        ranked = sorted(ranks, key=lambda setting: ranks[setting])
        staying = ranked[:count]
        if both:
            first = {setting.linear: setting for setting in reversed(ranked)}
            staying += [setting for setting in first.values() if setting not in staying]
        waiting = [setting for setting in self.states if setting not in ranks]
        self.states = {setting: self.states[setting] for setting in (*staying, *waiting)}

    def goes_on(self, first: int, lowest: float) -> bool:
        """Whether more terms may help, after a stage whose first model has this index.

        The stage has lowered the loss clearly; or it has lowered it at all, and no error is as low
        as ``lowest`` yet, that of the reference.
        """
        results = self.results
        if not results.sizes:
            return False  # no vector can be added
        indices = results.indices()
        earlier = [index for index in indices if index < first]
        if not self.states or not earlier or len(earlier) == len(indices):
            return bool(self.states)  # nothing to compare
        best = min(indices, key=results.mean_loss)
        setting = results.settings[best]
        if best < first and setting in self.states and setting not in results.settings[first:]:
            return True  # larger than the sizes of the stage already, it has waited
        gain = results.losses[min(earlier, key=results.mean_loss)] - results.losses[best]
        is_clear = not results.within(results.standard_errors, gain)
        return is_clear or bool(best >= first and results.mean.min() > lowest)


def _grow(
    folds: Folds,
    units: Units,
    group: list[Setting],
    parameters: Parameters | None,
    sizes: tuple[int, ...],
) -> list[tuple[int, Parameters, np.ndarray, np.ndarray, list[Any]]]:
    """Let the models of settings of one form grow through these sizes, and evaluate each."""
    costs = folds.costs([setting.C for setting in group])
    gammas = np.repeat([units.gamma(setting.kernel) for setting in group], len(folds))
    models = JointModels(folds.shared.rows, group[0].form, costs, gammas, parameters)
    found = []
    for size in sizes:
        wanted = size - models.size
        if wanted > 0:
            count = max(CANDIDATES, CANDIDATES_EACH * wanted)
            candidates = folds.all_candidates(count)
            grow(models, namespace(candidates).tile(candidates, (len(group), 1, 1)), wanted)
        if models.size < size:
            break
        if size == 0:
            solve_coefficients(models, max_steps=LINEAR_STEPS, tolerance=TOLERANCE)
        elif size < CYCLE_TERMS:
            steps = FEW_STEPS if size <= FEW_TERMS else STEPS
            descend(models, max_steps=steps, tolerance=TOLERANCE)
        else:
            solve_coefficients(models, max_steps=COEFFICIENT_STEPS, tolerance=TOLERANCE)
            descend_in_cycles(models, Cycle(CYCLE_STEPS))
        final = with_vectors_on_rows(models, folds.train) if folds.ends_on_rows else models
        error, loss, values = folds.evaluate(final)
        found.append((size, models.parameters.copy(), error, loss, values))
    return found
