"""What was found of models of many settings and sizes, and the rule that chooses among them.

What counts as size are the inner products that a prediction costs: kernel terms, and one for each
output of a linear part. On few rows many models make the same errors, so models are compared by a
loss that says more (``criteria.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zeronorm.learned.joint import Parameters
from zeronorm.learned.settings import Setting
from zeronorm.model_selection import sparsest_good, standard_error

#: What does not count as lowering the loss, in standard errors: of folds; and of test rows alone,
#: which say nothing of the luck of one draw.
QUARTER, ONE = 0.25, 1.0

#: The least difference of errors that counts, and a relative one that is rounding: where one fold
#: alone differs, mean and standard error are equal.
POINT, ROUNDING = 0.01, 1e-9


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
    #: Standard errors that do not count as lowering the loss.
    unclear: float = QUARTER
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
        most = share * standard_error(difference, self.repeats) * (1.0 + ROUNDING)
        return bool(difference.mean() <= most)

    def is_above(self, i: int, errors: np.ndarray, standard_errors: float) -> bool:
        """Whether the errors of one are above these, fold by fold, by a point and by so many."""
        difference = self.errors[i] - errors
        return bool(difference.mean() > POINT) and not self.within(standard_errors, difference)

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
        outputs = {}
        if any(setting.pairs for setting in self.settings):
            kinds = ["ovo" if setting.pairs else "ovr" for setting in settings]
            outputs["multi_class"] = np.array(kinds)
        return scores | {
            "terms": np.array([self.sizes[i] for i in indices]),
            "error": self.mean[indices],
            "standard_error": self.standard_error[indices],
            "C": np.array([setting.C for setting in settings]),
            "gamma": np.array([setting.kernel.gamma for setting in settings]),
            "metric": np.array([setting.widths > 1 for setting in settings]),
            "linear": np.array([setting.linear for setting in settings]),
            **outputs,
        }
