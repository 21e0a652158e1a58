"""The choice of everything: settings, sizes, a rule, and what comes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zeronorm.arrays import namespace, to_numpy
from zeronorm.base.progress import within
from zeronorm.base.training_set import TrainingRows
from zeronorm.checks import is_integer
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.folds import Folds, make_folds
from zeronorm.learned.joint import Parameters
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss
from zeronorm.learned.many_rows import BATCH_TERMS, Finished, Race, needs_batches
from zeronorm.learned.path import (
    STAGES,
    STAYING,
    Judged,
    Path,
)
from zeronorm.learned.scoring import Scoring, best_score
from zeronorm.learned.settings import C_VALUES, Setting, costs_of, kernels_of, widths_of
from zeronorm.learned.span import Span, may_be_linear
from zeronorm.learned.stand_in import far_behind, judge_landmarks
from zeronorm.learned.units import Units

#: Costs that single precision has room for, squared and summed.
SMALLEST, LARGEST = 1e-8, 1e8

#: Widths of the stand-in, as multiples of gamma="scale".
STAND_IN_FACTORS = (0.1, 0.3, 1.0)

#: A model has at most one term for so many rows to learn from (and support vectors of the stand-in:
#: ``criteria.py``); but it may have a few.
ROWS_PER_TERM, FEW_TERMS = 10, 8


@dataclass(frozen=True)
class Choice:
    """What was chosen: setting and number of kernel terms; a sentence if it is doubtful.

    ``calibration`` turns values into probabilities or intervals, ``path`` is what was found of each
    size, ``starts`` are the models of the folds, ``total`` counts the linear part too, ``finished``
    is the model where it was learned by batches, and ``held_out`` are values of all training rows
    by models that had not seen them, where these are known.
    """

    setting: Setting
    size: int
    doubt: str | None = None
    calibration: Any = None
    path: dict[str, np.ndarray] = field(default_factory=dict)
    starts: Parameters | None = None
    total: int = 0
    finished: Finished | None = None
    held_out: np.ndarray | None = None


def settings_of(
    training: TrainingRows,
    *,
    C: Any,
    gamma: Any,
    metric: Any,
    linear: Any,
    chooses_terms: bool,
    losses: Sequence[RowLoss] = (SQUARED_HINGE,),
    C_values: Sequence[float] = C_VALUES,
) -> list[Setting]:
    """Return what to choose from; "auto" is the simpler of the two where nothing else is."""
    costs, kernels = costs_of(C, training.n_all, C_values), kernels_of(gamma, training)
    is_choosing = len(costs) * len(kernels) * len(losses) > 1 or chooses_terms
    widths = widths_of(metric, gamma, training, is_choosing)
    parts = [linear is True]
    if linear == "auto" and is_choosing and training.kernel.name != "linear":
        parts = [False, True]
    has_room = {width: may_be_linear(training, width) for width in widths}
    forms = [(part, width) for part in parts for width in widths if has_room[width] or not part]
    return [
        Setting(cost, kernel, width, part, loss)
        for part, width in forms or [(True, min(widths))]
        for loss in losses
        for cost in costs
        for kernel in kernels
    ]


def choose(
    training: TrainingRows,
    settings: list[Setting],
    size: int | None,
    cv: Any,
    rule: str,
    random: np.random.RandomState,
    *,
    n_jobs: int | None,
    max_steps: int,
    max_features: int | None,
    update: Callable[[float, str], Any],
    criterion: Criterion = CLASSES,
    scoring: Scoring | None = None,
) -> Choice:
    """Choose a setting and a size by cross-validation, or by rows held back where rows are many.

    Parameters
    ----------
    training : TrainingRows
        Rows of unit cost, with gamma="scale".
    settings : list of Setting
        What to choose from.
    size : int, optional
        Inner products that a prediction may cost; without, this is chosen too.
    cv : int, splitter or list of splits
        How to split.
    rule : str
        Which size to keep: "loss", or one of ``model_selection.py``.
    random : RandomState
        Deals the folds out, and draws candidates.
    n_jobs : int, optional
        Workers; the result does not depend on it.
    max_steps : int
        Most steps of a model that is learned by batches, once it is chosen.
    max_features : int, optional
        Most features that such a model may use.
    update : callable
        Takes the share that is done, and a text.
    criterion : Criterion
        What models are judged by.
    scoring : Scoring, optional
        A score to choose by instead of its loss.
    """
    training = training.compact()
    units = Units.of(training)
    dtype = precision(training, settings)

    def race(settings: list[Setting], size: int | None, most: int = 0) -> Choice:
        # Many rows say enough of what is best without a tube: of several losses the first.
        some = [one for one in settings if one.loss == settings[0].loss]
        judges = criterion, scoring
        runners = Race(training, units, some, random, dtype, *judges, max_steps=max_steps)
        return _by_batches(runners, size, most, max_features, update)

    # Rows held back cannot say what splits that are given are there to say.
    may_race = is_integer(cv)
    if size is not None and needs_batches(training, size) and (may_race or len(settings) == 1):
        return race(settings, size)
    folds = make_folds(training, units, cv, random, dtype, criterion, scoring)
    if found := Span.turn(training):
        rows = Units.of(found[1]).rows(found[1], slice(None), dtype)
        folds.turned = folds.with_rows(rows)
    path = Path(folds, units, n_jobs)
    path.judged.repeats = folds.repeats
    path.judged.tolerated = criterion.tolerated if scoring is None else 0.0
    path.judged.best_score = best_score(scoring)
    n_outputs, doubt = training.targets.shape[1], None
    if size is not None:
        path.most = size
        settings = [one for one in settings if not one.linear or size >= n_outputs] or settings
        _fixed_size(path, settings, size, n_outputs, update)
        kept = path.judged.best[max(path.judged.best)][0]
    else:
        update(0.0, "what an SVM reaches")
        stand_in, active = _stand_in(training, folds, units, settings, n_jobs)
        learned = int(folds.learn.sum(axis=1).min())
        largest = min(active * len(training.codes) / criterion.fewer, learned / ROWS_PER_TERM)
        path.most = min(learned, max(FEW_TERMS, int(largest)))
        most = int(min(active / criterion.fewer, 1.0 / ROWS_PER_TERM) * len(training.codes))
        may_race = may_race and needs_batches(training, most)
        if may_race:
            path.most = min(path.most, BATCH_TERMS)
        if _growing(path, settings, float(stand_in.mean.min()), update) and may_race:
            return race(settings, None, most)
        kept = path.judged.chosen(rule)
        if scoring is None:  # else a higher error may be what is wanted
            doubt = far_behind(path.judged, kept, stand_in, criterion)
    judged = path.judged
    setting, total = judged.settings[kept], judged.sizes[kept]
    _, values, starts = judged.best[total]
    held_out = namespace(values[0]).concat(values, axis=0)
    link = criterion.link(to_numpy(held_out), *folds.held_out())
    table = judged.best_of_each_size()
    if size is not None:
        table = {key: column[table["terms"] == total] for key, column in table.items()}
    if needs_batches(training, total):
        finished = race([setting], total)
        return replace(finished, doubt=doubt, calibration=link, path=table)
    terms = starts.vectors.shape[1]
    by_row = folds.by_row(values, len(training.codes))
    return Choice(setting, terms, doubt, link, table, starts, total, held_out=by_row)


def _by_batches(
    race: Race,
    size: int | None,
    most: int,
    max_features: int | None,
    update: Callable[[float, str], Any],
) -> Choice:
    """Choose by rows held back, and learn what was chosen."""
    if size is None:
        kept = race.of_any_size(most, within(update, 0.1, 0.4))
    else:
        kept = race.of_size(size, within(update, 0.0, 0.5))
    judged = race.judged
    setting, total, table = judged.settings[kept], judged.sizes[kept], judged.best_of_each_size()
    if size is not None:
        table = {key: column[table["terms"] == total] for key, column in table.items()}
    done = race.finish(kept, max_features, within(update, 0.5, 0.4))
    link = race.held.criterion.link(to_numpy(done.values), *race.held_out())
    terms = done.parameters.vectors.shape[1]
    return Choice(setting, terms, None, link, table, None, total, done)


def precision(training: TrainingRows, settings: list[Setting]) -> Any:
    """Return the type of numbers to choose by: single precision, where it has room for the costs.

    Only rows of the rbf kernel have units in which nothing is large (``units.py``).
    """
    costs = [setting.C * cost for setting in settings for cost in _extremes(training.cost)]
    has_room = min(costs) >= SMALLEST and max(costs) <= LARGEST
    return np.float32 if training.kernel.name == "rbf" and has_room else np.float64


def _extremes(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _stand_in(
    training: TrainingRows,
    folds: Folds,
    units: Units,
    settings: list[Setting],
    n_jobs: int | None,
) -> tuple[Judged, float]:
    """Cross-validate the SVM in the span of landmarks, for some of the settings."""
    Cs = sorted({setting.C for setting in settings})
    kernels = list(dict.fromkeys(setting.kernel for setting in settings))
    if training.kernel.name == "rbf" and any(setting.widths for setting in settings):
        gamma = training.kernel.gamma
        kernels = [training.kernel.with_gamma(f * gamma) for f in STAND_IN_FACTORS]
    loss = settings[0].loss
    return judge_landmarks(folds, units, Cs[1:-1] if len(Cs) > 3 else Cs, kernels, n_jobs, loss)


def _growing(path: Path, settings: list[Setting], aim: float, update: Any) -> bool:
    """Let models grow until more terms do not help; whether they would at the end.

    Where a linear part may be or not, models have it first, and of several losses the first one;
    those that do well are tried without, and with the other losses.
    """
    # The first stage with a size that is too large is the last one.
    count = next((i + 1 for i, stage in enumerate(STAGES) if stage[-1] >= path.most), len(STAGES))
    stages = STAGES[:count]
    if path.folds.shared.rows.n_outputs > path.most:
        settings = [one for one in settings if not one.linear] or settings
    losses = list(dict.fromkeys(one.loss for one in settings))
    first = [
        one
        for one in settings
        if one.loss == losses[0] and (one.linear or replace(one, linear=True) not in settings)
    ]
    update(0.1, f"{len(first)} settings, up to {stages[0][-1]} terms")
    path.advance(stages[0], first)
    path.keep(STAYING[0])
    changes: list[dict[str, Any]] = [{"linear": False}, *({"loss": loss} for loss in losses[1:])]
    for change in changes:
        twins = [replace(one, **change) for one in path.states]
        twins = [one for one in twins if one in settings and one not in path.states]
        if twins:
            update(0.2, f"{len(twins)} settings more")
            path.advance(stages[0], twins)
            path.keep(STAYING[0])
    count = 0
    for i in range(1, len(stages)):
        if not path.goes_on(count, aim):
            return False
        count = len(path.judged.sizes)
        error = path.judged.mean.min()
        update(0.3 + 0.5 * i / len(stages), f"{stages[i][-1]} terms, error {error:.4f}")
        path.advance(stages[i])
        path.keep(STAYING[min(i, len(STAYING) - 1)])
    return path.goes_on(count, aim)


def _fixed_size(
    path: Path, settings: list[Setting], size: int, n_outputs: int, update: Any
) -> None:
    """Let models grow to a given size, of which inner products of a linear part are a part.

    Each time their number of terms doubles, half of the settings drop out.
    """
    routes = {False: doublings(size), True: [0, *doublings(size - n_outputs)]}
    routes = {linear: routes[linear] for linear in {setting.linear for setting in settings}}
    path.states.update(dict.fromkeys(settings))
    n_stages = max(map(len, routes.values()))
    for stage in range(n_stages):
        update(0.8 * stage / n_stages, f"{len(path.states)} settings")
        for linear, route in routes.items():
            place = stage - n_stages + len(route)  # all arrive together
            alike = [setting for setting in path.states if setting.linear == linear]
            if place >= 0 and alike:
                path.advance((route[place],), alike)
        if stage < n_stages - 1:
            path.keep(max(STAYING[-1], len(settings) >> (stage + 1)))


def doublings(size: int) -> list[int]:
    """Return 1, 2, 4, ... and the size itself; nothing below one."""
    sizes: list[int] = []
    while size > 0 and (not sizes or sizes[-1] < size):
        sizes.append(min(size, 2 * sizes[-1] if sizes else 1))
    return sizes
