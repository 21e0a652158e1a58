"""A hint where features are on scales so different that the small ones have no part.

Kernels of distances and inner products add the features up: one that varies a hundred times as much
as another has ten thousand times its part in a squared distance. A linear kernel is spared the
hint: its weights undo any scale, and only the penalty notices.

What counts as the scale of a feature is its standard deviation, and its range: both must differ.
A column of a rare category has a small deviation, but the range of every category; standardised
columns with long tails have large ranges, but the same deviation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.exceptions import FeatureScaleWarning, warn

#: Factor beyond which scales differ.
FAR_APART = 100.0

#: Numbers that are looked at, about: of more rows, every so many.
LOOKED_AT = 1_000_000

#: Most names in the hint.
NAMED = 3


def hint_at_scales(estimator: Any, X: Any) -> None:
    """Warn if features of plain rows are on very different scales; of sparse rows say nothing."""
    if not isinstance(X, np.ndarray) or min(X.shape) < 2:
        return
    rows = X[:: max(1, X.size // LOOKED_AT)]
    with np.errstate(all="ignore"):  # numbers at the end of the range are another error's part
        deviation = np.asarray(rows.std(axis=0), dtype=float)
        reach = np.asarray(rows.max(axis=0), dtype=float) - rows.min(axis=0)
        largest = int(deviation.argmax())
        is_small = (reach > 0) & (FAR_APART * deviation < deviation[largest])
        small = np.flatnonzero(is_small & (FAR_APART * reach < reach[largest]))
    if len(small) == 0 or not np.isfinite(deviation).all():
        return
    small = small[np.argsort(deviation[small], kind="stable")]
    names = getattr(estimator, "feature_names_in_", None)

    def named(column: int) -> str:
        return f"column {column}" if names is None else f"'{names[column]}'"

    listed = ", ".join(f"{named(column)} by {deviation[column]:.2g}" for column in small[:NAMED])
    more = f" and {len(small) - NAMED} more by little" if len(small) > NAMED else ""
    name = type(estimator).__name__
    warn(
        f"The scales of the features differ by more than {FAR_APART:g} times: {named(largest)} "
        f"varies by {deviation[largest]:.2g}, {listed}{more}, which will hardly count. If these "
        "units mean nothing, standardise the features: make_pipeline(StandardScaler(), "
        f"{name}(...)).",
        FeatureScaleWarning,
    )
