"""The parts of a kernel expansion: whether they fit together, and how a file describes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.checks import is_integer
from zeronorm.files import check_format, number_rows
from zeronorm.kernels import Kernel
from zeronorm.pairs import check_pair_scores

FORMAT = "zeronorm-expansion"
VERSION = 1


def as_columns(numbers: Any) -> np.ndarray:
    """Return a copy with a column for each output; a plain list is that of one output."""
    copied = np.array(numbers, dtype=np.float64, ndmin=1)
    return copied[:, None] if copied.ndim == 1 else copied


def check_parts(expansion: Any) -> None:
    """Raise ValueError unless the parts of a kernel expansion fit together."""
    vectors, coef, intercept = expansion.vectors, expansion.coef, expansion.intercept
    if coef.ndim != 2 or len(coef) != len(vectors):
        raise ValueError(
            f"coef has shape {coef.shape}; it needs one row for each of the {len(vectors)} vectors."
        )
    if intercept.shape != (coef.shape[1],):
        raise ValueError(
            f"intercept has shape {intercept.shape}, but coef has {coef.shape[1]} outputs."
        )
    if expansion.linear is not None:
        _check_linear(expansion)
    for label in ("vectors", "coef", "intercept", "linear"):
        values = getattr(expansion, label)
        if values is not None and not np.isfinite(values).all():
            raise ValueError(f"{label} holds values that are not finite.")
    _check_kernel(expansion)
    check_pair_scores(expansion.pair_scores)
    k = expansion.vote_classes
    if k is None and expansion.pair_scores != "votes":
        raise ValueError("pair_scores is of pairs of classes; say of how many by vote_classes.")
    if k is not None and (k < 3 or expansion.n_outputs != k * (k - 1) // 2):
        raise ValueError(f"{k} classes do not make {expansion.n_outputs} pairs.")


def n_features_used(expansion: Any) -> int:
    """Count the features with a width or a linear coefficient that is not zero."""
    expansion = expansion.to_numpy()
    is_used = np.full(expansion.n_features, expansion.n_terms > 0)
    if expansion.kernel.metric is not None:
        is_used &= np.array(expansion.kernel.metric) > 0
    if expansion.linear is not None:
        is_used |= expansion.linear.any(axis=1)
    return int(is_used.sum())


def _check_linear(expansion: Any) -> None:
    if expansion.kernel.is_precomputed:
        raise ValueError(
            "A function of precomputed kernel values has no features for a linear part."
        )
    needed = (expansion.vectors.shape[1], expansion.n_outputs)
    if expansion.linear.shape != needed:
        raise ValueError(
            f"linear has shape {expansion.linear.shape}; with {needed[0]} features and "
            f"{needed[1]} outputs it must be {needed}."
        )


def _check_kernel(expansion: Any) -> None:
    columns, metric = expansion.vectors, expansion.kernel.metric
    if expansion.kernel.is_precomputed:
        is_count = (columns >= 0) & (columns < 2**53) & (columns % 1 == 0)
        if columns.shape[1] != 1 or not is_count.all():
            raise ValueError("The vectors of a precomputed kernel must be column numbers.")
    if metric is not None and len(metric) != columns.shape[1]:
        raise ValueError(
            f"The metric has {len(metric)} widths, one for each feature, but the vectors have "
            f"{columns.shape[1]} columns."
        )


def parts_from_dict(data: Any) -> dict[str, Any]:
    """Read the parts that a file describes; a clear ``ValueError`` if it is damaged."""
    what = "kernel expansion"
    needed = ("kernel", "n_features", "vote_classes", "intercept", "coef", "vectors")
    data = check_format(data, what, FORMAT, VERSION, needed, optional=("linear", "pair_scores"))
    n_features, vote_classes = data["n_features"], data["vote_classes"]
    if not is_integer(n_features) or n_features < 1:
        raise ValueError(f"The {what} is damaged: n_features is not a positive number.")
    if vote_classes is not None and not is_integer(vote_classes):
        raise ValueError(f"The {what} is damaged: vote_classes is not a number.")
    outputs = data["intercept"]
    if not isinstance(outputs, list) or not outputs:
        raise ValueError(f"The {what} is damaged: intercept is not a list of numbers.")
    parts = {
        "intercept": number_rows([outputs], len(outputs), what, "intercept")[0],
        "coef": number_rows(data["coef"], len(outputs), what, "coef"),
        "vectors": number_rows(data["vectors"], n_features, what, "vectors"),
        "kernel": Kernel.from_dict(data["kernel"]),
        "vote_classes": vote_classes,
        "pair_scores": data.get("pair_scores", "votes"),
    }
    if "linear" in data:
        parts["linear"] = number_rows(data["linear"], len(outputs), what, "linear")
    return parts
