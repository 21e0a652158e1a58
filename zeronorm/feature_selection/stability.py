"""Which features, and how sure: how often each is selected over bootstrap resamples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state, indexable

from zeronorm.base.sampling import resampled_rows
from zeronorm.checks import check_integer


def selection_frequencies(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Share of bootstrap resamples in which each feature is selected.

    Parameters
    ----------
    selector : selector
        Any of scikit-learn's kind, with ``get_support``, or a pipeline of steps that keep the
        features in place, with a selector at its end.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Class labels. Every class is resampled by itself, so that none is missing.
    n_resamples : int, default=100
        Number of resamples.
    random_state : int, RandomState instance or None, default=None
        Draws the resamples.
    n_jobs : int, optional
        Processes; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features,)
        Shares between 0 and 1.

    Examples
    --------
    >>> from zeronorm import AROMSelector
    >>> from zeronorm.datasets import make_weston_toy
    >>> from zeronorm.feature_selection import selection_frequencies
    >>> X, y = make_weston_toy(60, random_state=0)
    >>> shares = selection_frequencies(AROMSelector(2), X, y, n_resamples=20, random_state=0)
    >>> [int(feature) for feature in (-shares).argsort()[:2]]
    [2, 5]
    """
    check_integer("n_resamples", n_resamples, least=1)
    X, y = indexable(X, y)
    _, codes = np.unique(np.asarray(y), return_inverse=True)
    random = check_random_state(random_state)
    draws = [resampled_rows(codes, random) for _ in range(n_resamples)]
    masks = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_selected)(clone(selector), X, y, rows) for rows in draws
    )
    return np.mean(masks, axis=0)


def _selected(selector: Any, X: Any, y: Any, rows: np.ndarray) -> np.ndarray:
    return _support(selector.fit(_safe_indexing(X, rows), np.asarray(y)[rows]))


def _support(fitted: Any) -> np.ndarray:
    """Mask of a fitted selector, or of the one at the end of a pipeline."""
    return (fitted[-1] if hasattr(fitted, "steps") else fitted).get_support()


class StabilityDisplay:
    """A picture of how often each feature is selected over bootstrap resamples.

    Parameters
    ----------
    frequencies : ndarray of shape (n_features,)
        Share of resamples in which each feature is selected.
    feature_names : sequence of str, optional
        Their names; x1, x2, ... by default.
    selected : ndarray of bool of shape (n_features,), optional
        Those that are selected on all rows; they are drawn in another colour.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from zeronorm import AROMSelector
    >>> from zeronorm.datasets import make_weston_toy
    >>> from zeronorm.feature_selection import StabilityDisplay
    >>> X, y = make_weston_toy(60, random_state=0)
    >>> display = StabilityDisplay.from_estimator(  # doctest: +SKIP
    ...     AROMSelector(2), X, y, n_resamples=20, random_state=0)
    """

    def __init__(
        self,
        frequencies: np.ndarray,
        *,
        feature_names: Sequence[Any] | None = None,
        selected: np.ndarray | None = None,
    ) -> None:
        self.frequencies = np.asarray(frequencies)
        self.feature_names = feature_names
        self.selected = selected

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        n_resamples: int = 100,
        max_features: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        ax: Any = None,
    ) -> StabilityDisplay:
        """Resample, and draw.

        Parameters
        ----------
        selector, X, y, n_resamples, random_state, n_jobs
            As in :func:`selection_frequencies`. The features that are marked are those that a
            copy of the selector selects on all rows; the selector itself is never fitted.
        max_features : int, default=20
            Most features to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        frequencies = selection_frequencies(
            selector, X, y, n_resamples=n_resamples, random_state=random_state, n_jobs=n_jobs
        )
        fitted = clone(selector).fit(X, y)
        names = getattr(fitted, "feature_names_in_", None)
        display = cls(frequencies, feature_names=names, selected=_support(fitted))
        return display.plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int = 20, ax: Any = None) -> StabilityDisplay:
        """Draw the features that are selected most often, one bar each.

        Parameters
        ----------
        max_features : int, default=20
            Most features to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        check_integer("max_features", max_features, least=1)
        # Here, and not above: matplotlib is an extra.
        import matplotlib.pyplot as plt

        ever = np.flatnonzero(self.frequencies > 0)
        order = ever[np.argsort(-self.frequencies[ever], kind="stable")][:max_features][::-1]
        names = self.feature_names
        labels = [f"x{j + 1}" if names is None else str(names[j]) for j in order]
        if ax is None:
            height = 1.2 + 0.24 * len(order)
            _, ax = plt.subplots(figsize=(6, height), layout="constrained")
        mask = np.zeros(len(self.frequencies), bool) if self.selected is None else self.selected
        colours = np.where(mask[order], "#2f6db3", "0.75")
        bars = ax.barh(np.arange(len(order)), 100 * self.frequencies[order], color=colours)
        ax.bar_label(bars, fmt="%.0f", padding=2, fontsize=8, color="0.35")
        ax.set_yticks(np.arange(len(order)), labels)
        ax.set_xlim(0, 105)
        ax.set_xlabel("selected in % of the bootstrap resamples")
        ax.spines[["top", "right"]].set_visible(False)
        if self.selected is not None:
            from matplotlib.patches import Patch

            handles = [Patch(color="#2f6db3"), Patch(color="0.75")]
            ax.legend(handles, ["selected on all rows", "not"], loc="lower right", frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
