"""Numbers to predict: checked, and in units in which their spread is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zeronorm.base.training_set import TrainingRows
from zeronorm.checks import shown
from zeronorm.expansion import KernelExpansion

#: The spread is winsorised, so that one row cannot change it: share of the weight at either end
#: that is clipped, and what is then left of the standard deviation of normal targets.
ENDS, LEFT = 0.05, 0.912

#: Targets in units of their spread are clipped to this: a robust loss has the same slope beyond.
FURTHEST = 100.0


@dataclass
class NumericRows(TrainingRows):
    """Training rows whose targets are numbers (n x targets); their codes are all zero."""

    def output_factors(self, indices: Any) -> np.ndarray:
        """Return ones: a row counts as much in every output."""
        return np.ones_like(self.targets[indices])


def numeric_targets(y: np.ndarray) -> np.ndarray:
    """Return targets as columns of numbers; ValueError if there are others."""
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must hold numbers to predict; got {shown(np.asarray(y).ravel()[0])}. For classes "
            "take a classifier, such as SparseSVC."
        ) from error
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN, None or infinity; leave these rows out.")
    return targets.reshape(len(targets), -1)


@dataclass(frozen=True)
class TargetUnits:
    """Targets are ``centre + scale * number``, each with its own."""

    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, targets: np.ndarray, weight: np.ndarray, *, is_robust: bool) -> TargetUnits:
        """Return the mean and the standard deviation, or those that single rows cannot change."""
        found = [_middle_and_spread(column, weight, is_robust) for column in targets.T]
        centre, scale = np.transpose(found)
        return cls(centre, scale)

    def numbers(self, targets: np.ndarray) -> np.ndarray:
        """Return targets in these units."""
        return np.clip((targets - self.centre) / self.scale, -FURTHEST, FURTHEST)

    def expansion(self, expansion: KernelExpansion) -> KernelExpansion:
        """Return an expansion of numbers as one of targets."""
        linear = None if expansion.linear is None else self.scale * expansion.linear
        return KernelExpansion(
            expansion.vectors,
            self.scale * expansion.coef,
            self.scale * expansion.intercept + self.centre,
            expansion.kernel,
            linear=linear,
        )

    def rows(self, training: NumericRows) -> NumericRows:
        """Return training rows with targets in these units."""
        full_data = training.full_data and training.full_data.in_units(self)
        return replace(training, targets=self.numbers(training.targets), full_data=full_data)


def _middle_and_spread(
    target: np.ndarray, weight: np.ndarray, is_robust: bool
) -> tuple[float, float]:
    """Mean and standard deviation; of a robust kind winsorised ones."""
    size = float(np.abs(target).max()) or 1.0  # squares of large numbers overflow
    scaled = target / size
    if is_robust:
        order = np.argsort(scaled, kind="stable")
        share = np.cumsum(weight[order]) / weight.sum()
        low = scaled[order][np.searchsorted(share, ENDS, side="right")]
        high = scaled[order][np.searchsorted(share, 1.0 - ENDS - 1e-12)]
        inner = np.clip(scaled, low, max(low, high))
        mean = float(np.average(inner, weights=weight))
        spread = float(np.sqrt(np.average((inner - mean) ** 2, weights=weight))) / LEFT
        if spread > 0:
            return mean * size, spread * size
    mean = float(np.average(scaled, weights=weight))
    spread = float(np.sqrt(np.average((scaled - mean) ** 2, weights=weight)))
    # What rounding leaves of equal numbers is no spread.
    return mean * size, spread * size if spread > 1e-12 else 1.0
