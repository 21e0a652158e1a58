"""How many terms, which C, which form: cross-validation along a path of growing models.

All inside the training rows, and the models of all settings and folds together (``joint.py``):

1. A convex reference says what error the full SVM would have: the SVM in the span of some
   landmarks, for a few C and widths (``reference.py``).
2. Models of every setting (C, the width to begin with, one width or one for each feature, with a
   linear part or without) grow from one term on. After each stage of sizes the settings with the
   highest errors drop out; it goes on as long as more terms help.

A rule then chooses among the best settings of all sizes (``results.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from zeronorm.arrays import is_numpy, namespace
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.constraints import with_vectors_on_rows
from zeronorm.learned.coordinates import Units
from zeronorm.learned.descent import COEFFICIENT_STEPS, descend, grow
from zeronorm.learned.features import spread_of, zero_widths
from zeronorm.learned.folds import Folds
from zeronorm.learned.joint import JointModels, Parameters
from zeronorm.learned.one_draw import OneDraw
from zeronorm.learned.results import Results
from zeronorm.learned.settings import Setting, by_form
from zeronorm.learned.stochastic import Cycle, descend_in_cycles

Stages = tuple[tuple[int, ...], ...]

#: How many settings go on after each stage.
STAYING = (6, 4, 3, 2)

#: Largest size, where nothing else is said.
MANY_TERMS = 10_000

#: Terms up to which there are fewer steps, and the relative progress to stop at.
FEW_TERMS, TOLERANCE = 4, 1e-5

#: From so many terms on, a cycle of so many steps (``stochastic.py``).
CYCLE_TERMS, CYCLE_STEPS = 8, 60

#: Rows among which new vectors are looked for, at least, and for each vector to come.
CANDIDATES, CANDIDATES_EACH = 32, 4

#: Beyond so many outputs the sizes beside a linear part are these.
FEW_OUTPUTS, COARSE = 2, (0, 2, 4, 8, 16, 32, 64, 128, 256)

#: A size is not the best before one so many times as large was tried, of models that run ahead of
#: the stages.
BEYOND = 1.5

#: Standard errors of the difference by which models are behind an SVM.
BEHIND = 1.0

#: Sizes of models of pairs, besides the end of a stage and the largest allowed: fewer, to save
#: time.
PAIR_SIZES = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)

#: Scores of pairs that count as one column of kernel values, of which there are more copies.
PAIRS_PER_COLUMN = 4

#: Kernel values of the models that are learned at once, about; and on a device with memory of its
#: own, which few models do not keep busy.
TOGETHER, DEVICE_TOGETHER = 2**21, 2**26


@dataclass(frozen=True)
class PathEffort:
    """Which sizes are tried, and by how many steps."""

    #: Numbers of terms to try, in the stages after which it is decided what goes on.
    stages: Stages = ((0, 1, 2, 3, 4), (6, 8), (12, 16), (24, 32), (48, 64), (96, 128), (192, 256))

    #: The stages of one draw (``one_draw.py``).
    coarse_stages: Stages = ((0, 1), (2, 4), (8,), (16,), (32,), (64,), (128,), (256,))

    #: Most steps with each size, with few terms, of the coefficients of a linear part alone, and of
    #: each round of the update that takes features away.
    steps: int = 24
    few_steps: int = 16
    linear_steps: int = 25
    feature_steps: int = 20


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
    effort : PathEffort
        Sizes and steps.

    Attributes
    ----------
    most : int
        Largest size.
    stages : tuple of tuples of int
        Sizes to try.
    """

    def __init__(
        self,
        folds: Folds,
        units: Units,
        n_jobs: int | None,
        effort: PathEffort = PathEffort(),
    ) -> None:
        self.effort = effort
        self.folds, self.units, self.n_jobs, self.most = folds, units, n_jobs, MANY_TERMS
        self.results = Results()
        self.stages = effort.coarse_stages if isinstance(folds, OneDraw) else effort.stages
        self.states: dict[Setting, Parameters | None] = {}

    def advance(self, sizes: tuple[int, ...], settings: list[Setting] | None = None) -> None:
        """Let these settings, or all that are left, grow through these sizes."""
        settings = list(self.states) if settings is None else settings
        self.states = dict.fromkeys(settings) | self.states
        groups = self._groups(settings, sizes[-1])
        self._learn([(group, self._sizes(group, sizes)) for group in groups])

    def raise_cost(self, C: float) -> None:
        """Let the models that are left, of the largest cost of every form, have this one too."""
        by_cost = sorted(self.states, key=lambda setting: setting.C)
        largest = {(setting.form, setting.kernel): setting for setting in by_cost}
        grown = {one: state for one in largest.values() if (state := self.states[one])}
        sizes = {replace(one, C=C): state.vectors.shape[1] for one, state in grown.items()}
        self.states |= dict(zip(sizes, grown.values(), strict=True))
        groups = self._groups(list(sizes), max(sizes.values(), default=0))
        self._learn([(group, (sizes[group[0]],)) for group in groups])

    def _learn(self, groups: list[tuple[list[Setting], tuple[int, ...]]]) -> None:
        """Let groups of settings of one form go through sizes, and keep what was found."""
        n_outputs, n_folds = self.folds.shared.rows.n_outputs, len(self.folds)
        results = Parallel(n_jobs=self.folds.workers(self.n_jobs))(
            delayed(_grow)(
                self.folds.seen_by(group[0].form),
                self.units,
                group,
                Parameters.joined([state for one in group if (state := self.states[one])]),
                sizes,
                self.effort,
            )
            for group, sizes in groups
        )
        for (group, _), of_group in zip(groups, results, strict=True):
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
            steps = [size for size in steps if size > there or state is None]
        else:
            most = self.most
            has_linear = any(setting.linear for setting in self.results.settings)
            last = sizes[-1] + (n_linear if has_linear else 0)
            steps = sorted({size for stage in self.stages for size in stage} | set(sizes))
            steps = [size for size in steps if there < size <= last]
            if group[0].pairs:
                steps = [size for size in steps if size in (*PAIR_SIZES, last, most)]
        fitting = tuple(size for size in steps if size <= most)
        # The last time, as far as they may.
        return (most,) if steps and not fitting and most > there else fitting

    def _groups(self, settings: list[Setting], size: int) -> Iterator[list[Setting]]:
        """Put settings of the same form together, as many as may be learned at once."""
        rows = self.folds.shared.rows
        n_pairs = rows.n_outputs * (rows.n_outputs - 1) // 2
        together = TOGETHER if is_numpy(rows.like) else DEVICE_TOGETHER
        for alike in by_form(settings):
            columns = max(size, CANDIDATES)
            if alike[0].pairs:  # very many scores take more room than the kernel values
                columns = max(columns, n_pairs // PAIRS_PER_COLUMN)
            count = max(1, together // (columns * len(self.folds) * len(rows)))
            for start in range(0, len(alike), count):
                yield alike[start : start + count]

    def ranked(self) -> list[Setting]:
        """Return the settings that are left and were tried, the lowest loss of any size first."""
        ranks: dict[Setting, float] = {}
        for i, setting in enumerate(self.results.settings):
            if setting in self.states:
                ranks[setting] = min(self.results.mean_loss(i), ranks.get(setting, np.inf))
        return sorted(ranks, key=lambda setting: ranks[setting])

    def keep(self, count: int, *, each_kind: bool = False) -> None:
        """Drop all but the settings with the lowest losses, of each the lowest of its sizes.

        With ``each_kind`` the best with a linear part, without, and of pairs stay besides.
        """
        ranked = self.ranked()
        staying = ranked[:count]
        if each_kind:
            first = {(one.linear, one.pairs): one for one in reversed(ranked)}
            staying += [setting for setting in first.values() if setting not in staying]
        waiting = [setting for setting in self.states if setting not in ranked]
        self.states = {setting: self.states[setting] for setting in (*staying, *waiting)}

    def may_drop_features(self, kept: int) -> bool:
        """Whether features that matter little to the folds are not missed by rows held out.

        The rows that are learned from cannot tell: they are often fitted better with fewer widths.
        """
        results = self.results
        setting, start = results.settings[kept], results.best[results.sizes[kept]][2]
        if setting.widths <= 1 or not start.vectors.shape[1]:
            return True
        folds = self.folds.seen_by(setting.form)
        rows, costs = folds.shared.rows, folds.costs([setting.C])
        gammas = np.full(len(folds), self.units.gamma(setting.kernel))
        models = JointModels(rows, setting.form, costs, gammas, start.copy())
        models.values = models.objective()
        fewer = zero_widths(models, spread_of(rows), max_steps=self.effort.feature_steps)
        if fewer is models:
            return True
        _, loss, _ = _evaluated(fewer, folds)
        return bool(np.mean(loss) <= results.mean_loss(kept))

    def is_behind(self, errors: np.ndarray) -> bool:
        """Whether the model with the lowest loss has higher errors than these, fold by fold.

        Less than a point is no reason for twice the terms.
        """
        results = self.results
        if not results.best:
            return False  # nothing can be learned at all
        best = min(results.indices(), key=results.mean_loss)
        return results.is_above(best, errors, BEHIND)

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
        if best < first and setting in self.states:
            kind = setting.linear, setting.pairs
            models = zip(results.settings, results.sizes, strict=True)
            tried = max(size for one, size in models if (one.linear, one.pairs) == kind)
            # Larger than the sizes of the stage already, it has waited, or hardly grown.
            enough = min(BEYOND * results.sizes[best], self.most)
            if setting not in results.settings[first:] or tried < enough:
                return True
        gain = results.losses[min(earlier, key=results.mean_loss)] - results.losses[best]
        is_clear = not results.within(results.unclear, gain)
        return is_clear or bool(best >= first and results.mean.min() > lowest)


def _grow(
    folds: Folds,
    units: Units,
    group: list[Setting],
    parameters: Parameters | None,
    sizes: tuple[int, ...],
    effort: PathEffort,
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
            solve_coefficients(models, max_steps=effort.linear_steps, tolerance=TOLERANCE)
        elif size < CYCLE_TERMS:
            steps = effort.few_steps if size <= FEW_TERMS else effort.steps
            descend(models, max_steps=steps, tolerance=TOLERANCE)
        else:
            solve_coefficients(models, max_steps=COEFFICIENT_STEPS, tolerance=TOLERANCE)
            descend_in_cycles(models, Cycle(CYCLE_STEPS))
        found.append((size, models.parameters.copy(), *_evaluated(models, folds)))
    return found


def _evaluated(models: JointModels, folds: Folds) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Error, loss and values on rows held out, with vectors where they will be in the end."""
    final = with_vectors_on_rows(models, folds.train) if folds.ends_on_rows else models
    return folds.evaluate(final)
