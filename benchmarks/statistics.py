"""Means with their errors, published figures beside ours, and tests that fit cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

#: Means in % that are not further apart are equal. The digits of a record, and the order of a sum,
#: change a mean by less; one row of one fold changes it by ten times as much.
RESOLUTION = 2e-4


def difference(ours: float, theirs: float) -> float:
    """Ours less theirs; zero, where they are equal."""
    return 0.0 if abs(ours - theirs) <= RESOLUTION else ours - theirs


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error (NaN for a single value)."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return float(values.mean()), float("nan")
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True)
class Figure:
    """A published figure and ours: ``values`` has one entry a fold or split.

    ``table``, ``row`` and ``column`` say where it stands. ``is_ours`` marks methods of this
    library, in distinction from the SVM they are compared with.
    """

    table: str
    row: str
    column: str
    values: Sequence[float]
    published: float | None = None
    published_error: float = 0.0
    is_ours: bool = True
    larger_is_better: bool = False
    #: Whether it is one of the paper's figures, and no mean or median of them.
    is_counted: bool = True
    #: Values that share rows (repeated folds): the standard error is larger by this factor.
    inflation: float = 1.0

    @property
    def mean(self) -> float:
        return mean_and_error(self.values)[0]

    @property
    def error(self) -> float:
        return self.inflation * mean_and_error(self.values)[1]

    @property
    def distance(self) -> float:
        """Ours less the published figure, in standard errors of both."""
        if self.published is None:
            return float("nan")
        less = difference(self.mean, self.published)
        spread = np.hypot(self.error, self.published_error)
        if less == 0.0 or not spread > 0.0:
            return 0.0 if less == 0.0 else float("nan")
        return float(less / spread)

    @property
    def standing(self) -> int:
        """0 at least as good as published, 1 within one standard error, 2 within two, 3 beyond."""
        worse = -1.0 if self.larger_is_better else 1.0
        if worse * difference(self.mean, self.published) <= 0.0:
            return 0
        distance = worse * self.distance
        return 3 if np.isnan(distance) else min(int(np.ceil(distance)), 3)


def corrected_error(differences: Sequence[float], test_share: float) -> float:
    """Standard error of the mean of differences on folds that share training rows.

    Nadeau & Bengio (2003): the variance of the mean has the factor 1/k + test/train instead of
    1/k. ``test_share`` is test rows / training rows.
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return float("nan")
    return float(np.sqrt(differences.var(ddof=1) * (1.0 / len(differences) + test_share)))


def corrected_t_test(differences: Sequence[float], test_share: float) -> float:
    """P value of no difference, with :func:`corrected_error`: the corrected resampled t-test."""
    mean, error = float(np.mean(differences)), corrected_error(differences, test_share)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stats.t.sf(abs(mean / error), len(differences) - 1))


def mean_ranks(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean rank of each column, 1 the lowest, and Friedman's p value of no difference.

    One row a data set, one column a method; ties share their ranks.
    """
    places = np.array([places_of(np.asarray(row, dtype=float)) for row in scores])
    ranks = stats.rankdata(places, axis=1)
    p_value = stats.friedmanchisquare(*places.T).pvalue if min(places.shape) > 2 else float("nan")
    return ranks.mean(axis=0), float(p_value)


def places_of(scores: np.ndarray) -> np.ndarray:
    """0 for the lowest and those equal to it, 1 for the next, and so on."""
    order = np.argsort(scores)
    steps = np.diff(scores[order], prepend=scores.min()) > RESOLUTION
    return np.cumsum(steps)[np.argsort(order)]
