"""What a model is chosen from: costs, widths to begin with, and forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zeronorm.base.training_set import TrainingRows
from zeronorm.checks import check_integer, is_integer, is_sequence, shown
from zeronorm.kernels import Kernel, resolve_gamma
from zeronorm.learned.coordinates import may_be_linear
from zeronorm.learned.joint import Form
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss

#: Costs to try, for at most so many rows; of more, each weighs less.
C_VALUES, MANY_ROWS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), 2_000

#: Widths to begin with, as multiples of gamma="scale": those of "rbf" are learned, others stay.
GAMMA_STARTS, GAMMA_FACTORS = (1.0,), (0.03, 0.1, 0.3, 1.0, 3.0)

#: Rows beyond which models of some size are learned by mini-batches (``holdout.py``).
BATCH_ROWS = 4_000

#: Classes from which on pairs of them are tried (three have as many pairs), and up to how many rows
#: times pairs.
PAIR_CLASSES, PAIR_VALUES = 4, 2**16


@dataclass(frozen=True)
class Setting:
    """A cost, a kernel with the width to begin with, and what the function is made of.

    ``widths`` is 0 if the width stays, 1 if it is learned, and the number of features if each has
    its own; ``linear`` says whether there is a linear part; ``loss`` what is learned by; ``pairs``
    whether the outputs are pairs of classes, and not classes against the rest.
    """

    C: float
    kernel: Kernel
    widths: int = 0
    linear: bool = False
    loss: RowLoss = SQUARED_HINGE
    pairs: bool = False

    @property
    def form(self) -> Form:
        """The form of the functions."""
        kernel = self.kernel.with_gamma(1.0)
        linear = float(self.linear)
        return Form(kernel, self.widths, linear=linear, loss=self.loss, pairs=self.pairs)


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
    multi_class: str = "ovr",
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
    settings = [
        Setting(cost, kernel, width, part, loss)
        for part, width in forms or [(True, min(widths))]
        for loss in losses
        for cost in costs
        for kernel in kernels
    ]
    in_pairs = [replace(one, pairs=True) for one in settings if not one.linear]
    if multi_class == "ovo" and training.targets.shape[1] > 1:
        if training.full_data is not None:
            raise ValueError(
                "Pairs of classes are not learned from more rows than the sample has: take "
                "multi_class='ovr', or larger sample_rows."
            )
        return in_pairs
    is_open = multi_class == "auto" and is_choosing and may_be_pairs(training)
    return settings + in_pairs if is_open else settings


def may_be_pairs(training: TrainingRows) -> bool:
    """Whether pairs of classes are tried where they are not asked for: of few rows and classes.

    The blocks of Dask know classes against the rest alone.
    """
    n_classes = training.targets.shape[1]
    if n_classes < PAIR_CLASSES or training.full_data is not None:
        return False
    n_rows, n_pairs = len(training.codes), n_classes * (n_classes - 1) // 2
    return n_rows <= BATCH_ROWS and n_rows * n_pairs <= PAIR_VALUES


def by_form(settings: list[Setting]) -> list[list[Setting]]:
    """Return the settings of each form, whose models are learned together."""
    forms = dict.fromkeys(setting.form for setting in settings)
    return [[setting for setting in settings if setting.form == form] for form in forms]


def costs_of(C: Any, n_rows: int, values: Sequence[float] = C_VALUES) -> list[Any]:
    """Return the costs to try; for many rows such that these weigh as much as a few."""
    if not is_cv(C):
        return values_of(C)
    return [value * min(1.0, MANY_ROWS / n_rows) for value in values]


def kernels_of(gamma: Any, training: TrainingRows) -> list[Kernel]:
    """Return the kernels to try; that of the rows has gamma="scale"."""
    kernel = training.kernel
    if kernel.name == "linear":
        return [kernel]
    if is_cv(gamma):
        factors = GAMMA_STARTS if kernel.name == "rbf" else GAMMA_FACTORS
        gammas = [factor * kernel.gamma for factor in factors]
    elif isinstance(gamma, str) and gamma == "scale":
        gammas = [kernel.gamma]
    else:
        gammas = [resolve_gamma(one, training.data) for one in values_of(gamma)]
    return [kernel.with_gamma(one) for one in gammas]


def widths_of(metric: Any, gamma: Any, training: TrainingRows, is_choosing: bool) -> list[int]:
    """Return the numbers of widths to try, as in :class:`Setting`."""
    n_features = training.data.shape[1]
    if training.kernel.name != "rbf":
        return [0]
    learned = 1 if is_cv(gamma) else 0
    if n_features == 1:
        return [max(learned, int(metric is True))]
    if metric is True:
        return [n_features]
    is_open = isinstance(metric, str) and is_cv(gamma) and is_choosing
    return [learned, n_features] if is_open else [learned]


def is_cv(value: Any) -> bool:
    """Whether the parameter asks for a choice by cross-validation."""
    return isinstance(value, str) and value == "cv"


def values_of(value: Any) -> list[Any]:
    """One value, or the values of a sequence."""
    return sorted(value) if is_sequence(value) else [value]


def check_form(kernel: Any, metric: Any, linear: Any, max_features: Any) -> None:
    """Raise ValueError unless metric, linear and max_features go with the kernel."""
    for name, value in (("metric", metric), ("linear", linear)):
        if not (isinstance(value, bool) or isinstance(value, str) and value == "auto"):
            raise ValueError(f"{name} must be 'auto', True or False; got {shown(value)}.")
    if metric is True and kernel != "rbf":
        raise ValueError(f"Only kernel='rbf' has a metric; got {shown(kernel)}.")
    if max_features is not None:
        check_integer("max_features", max_features, least=1)
        if kernel != "rbf" or metric is False:
            raise ValueError("max_features needs a metric: kernel='rbf', metric not False.")


def check_splits(cv: Any) -> None:
    """Raise ValueError unless it is a number of folds, or something that splits."""
    is_text = isinstance(cv, str)  # which can be split, and is iterable
    if cv < 2 if is_integer(cv) else is_text or not (hasattr(cv, "split") or is_sequence(cv)):
        raise ValueError(
            f"cv must be an integer of at least 2, a splitter or a list of splits; got {shown(cv)}."
        )
