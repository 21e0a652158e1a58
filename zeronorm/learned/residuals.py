"""Prediction intervals from residuals of rows that the model has not learned from.

A new row is as far from its prediction as held-out rows were from theirs, so the quantile of their
absolute residuals is the half width of an interval (Vovk, Gammerman & Shafer 2005; over folds,
Barber, Candès, Ramdas & Tibshirani 2021, whose CV+ uses the models of the folds too: here the
residuals alone, around the prediction of the final model).

Where residuals grow with the prediction, as those of prices do, one width is too large for some
rows and too small for others. Rows are then split by their predictions into groups, each with its
own quantile: as many groups as give the best interval score (Gneiting & Raftery 2007) on the half
of the held-out rows that the quantiles are not from.

Vladimir Vovk, Alexander Gammerman, Glenn Shafer: Algorithmic Learning in a Random World (2005).

Tilmann Gneiting, Adrian Raftery: Strictly proper scoring rules, prediction, and estimation.
Journal of the American Statistical Association 102 (2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Numbers of groups to try, and fewest rows of one.
GROUPS, FEWEST = (1, 2, 4, 8), 50


@dataclass(frozen=True)
class Residuals:
    """Predictions and truth of held-out rows (n x targets), and weights of the rows."""

    values: np.ndarray
    truth: np.ndarray
    weight: np.ndarray

    def in_units(self, scale: np.ndarray, centre: np.ndarray) -> Residuals:
        """Return the same rows with targets in other units."""
        values, truth = (scale * part + centre for part in (self.values, self.truth))
        return Residuals(values, truth, self.weight)

    def interval(self, predicted: np.ndarray, level: float) -> np.ndarray:
        """Lower and upper ends for these predictions (n x targets), shape (n, targets, 2)."""
        widths = [
            self._half_widths(column, output, level) for output, column in enumerate(predicted.T)
        ]
        half = np.stack(widths, axis=1)
        return np.stack([predicted - half, predicted + half], axis=2)

    def _half_widths(self, predicted: np.ndarray, output: int, level: float) -> np.ndarray:
        values, distance = self.values[:, output], np.abs(self.truth - self.values)[:, output]
        order = np.argsort(values, kind="stable")
        rows = _Rows(values[order], distance[order], self.weight[order])
        counts = [count for count in GROUPS if count == 1 or len(values) >= 2 * FEWEST * count]
        best = min(counts, key=lambda count: rows.score(count, level))
        return rows.half_widths(predicted, best, level)


@dataclass(frozen=True)
class _Rows:
    """Held-out rows in the order of their predictions: those, absolute residuals, weights."""

    values: np.ndarray
    distance: np.ndarray
    weight: np.ndarray

    def half_widths(self, predicted: np.ndarray, count: int, level: float) -> np.ndarray:
        """Quantile of the group that each prediction belongs to."""
        groups = np.array_split(np.arange(len(self.values)), count)
        ends = self.values[[group[0] for group in groups[1:]]]
        quantiles = [_quantile(self.distance[one], self.weight[one], level) for one in groups]
        return np.array(quantiles)[np.searchsorted(ends, predicted, side="right")]

    def score(self, count: int, level: float) -> float:
        """Mean interval score of each half of the rows, with quantiles of the other."""
        if count == len(self.values) == 1:
            return 0.0
        total = 0.0
        for turn in (0, 1):
            known, judged = self._half(turn), self._half(1 - turn)
            half = known.half_widths(judged.values, count, level)
            beyond = np.maximum(judged.distance - half, 0.0)
            total += float(judged.weight @ (half + beyond / (1.0 - level)))
        return total

    def _half(self, turn: int) -> _Rows:
        return _Rows(self.values[turn::2], self.distance[turn::2], self.weight[turn::2])


def _quantile(distance: np.ndarray, weight: np.ndarray, level: float) -> float:
    """Return the distance that a new row keeps with this probability, itself counted as one more.

    Of too few rows for that, the largest.
    """
    order = np.argsort(distance, kind="stable")
    share = np.cumsum(weight[order])
    needed = level * (share[-1] + share[-1] / len(distance))
    return float(distance[order][min(np.searchsorted(share, needed), len(order) - 1)])
