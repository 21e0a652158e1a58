"""The steps of a pipeline, as what each feature is of its column.

Every step that is taken works on each column by itself, so that a feature is, after any number of
them, still one number or one lookup of one column.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from zeronorm.export.description import Feature, Lookup, first_alike

#: What can be exported, for messages.
TAKEN = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer, OneHotEncoder, "
    "OrdinalEncoder, ColumnTransformer and selectors of features"
)


def after(
    step: Any, features: Sequence[Feature], names: Sequence[str], label: str
) -> list[Feature]:
    """Return what the features are after a fitted step.

    Parameters
    ----------
    step : transformer, or "passthrough"
        The step.
    features : sequence of Number or Lookup
        What goes in.
    names : sequence of str
        Names of what goes in, by which a ColumnTransformer may choose; may be empty.
    label : str
        What the step is called, for messages.

    Raises
    ------
    ValueError
        If the step cannot be exported; it is named.
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return list(features)
    if isinstance(step, FrozenEstimator):
        step = step.estimator
    if isinstance(step, Pipeline):
        return after_all(step.steps, features, names)
    for kind, function in _STEPS.items():
        if type(step) is kind or (kind is SelectorMixin and isinstance(step, SelectorMixin)):
            check_is_fitted(step)
            return function(step, features, names, label)
    raise ValueError(
        f"The step {label!r}, {type(step).__name__}, cannot be exported; those that can are "
        f"{TAKEN}."
    )


def names_after(step: Any, names: Sequence[str]) -> list[str]:
    """Return the names of what a fitted step makes; none where nobody knows them."""
    if not names or step is None or isinstance(step, str):
        return list(names)
    try:
        return [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError):
        return []


def after_all(
    steps: Sequence[tuple[str, Any]], features: Sequence[Feature], names: Sequence[str]
) -> list[Feature]:
    """Return what the features are after fitted steps, one after the other."""
    for name, step in steps:
        features = after(step, features, names, name)
        names = names_after(step, names)
    return list(features)


def _affine(features: Sequence[Feature], shift: Any, scale: Any) -> list[Feature]:
    """Return features after (x - shift) / scale; each None for nothing, else one a feature."""
    shifts = np.zeros(len(features)) if shift is None else shift
    scales = np.ones(len(features)) if scale is None else scale
    triples = zip(features, map(float, shifts), map(float, scales), strict=True)
    return [_affine_one(*triple) for triple in triples]


def _affine_one(feature: Feature, s: float, d: float) -> Feature:
    if isinstance(feature, Lookup):
        return feature.mapped(lambda value: (value - s) / d)
    return replace(feature, centre=feature.centre + s * feature.scale, scale=feature.scale * d)


def _clipped(feature: Feature, low: float, high: float) -> Feature:
    """Clip what a feature is now; its bounds are in the units of the column."""
    if isinstance(feature, Lookup):
        return feature.mapped(lambda value: value if value != value else np.clip(value, low, high))
    ends = sorted(bound * feature.scale + feature.centre for bound in (low, high))
    low, high = np.clip(ends, feature.low, feature.high).tolist()
    return replace(feature, low=low, high=high)


def _after_standard(step: Any, features: Sequence[Feature], *rest: Any) -> list[Feature]:
    return _affine(features, step.mean_ if step.with_mean else None, step.scale_)


def _after_robust(step: Any, features: Sequence[Feature], *rest: Any) -> list[Feature]:
    centre = step.center_ if step.with_centering else None
    return _affine(features, centre, step.scale_ if step.with_scaling else None)


def _after_min_max(step: Any, features: Sequence[Feature], *rest: Any) -> list[Feature]:
    low, high = step.feature_range
    # scikit-learn has x * scale_ + min_, where min_ is low - data_min_ * scale_.
    changed = _affine(features, step.data_min_ - low / step.scale_, 1.0 / step.scale_)
    return [_clipped(feature, low, high) for feature in changed] if step.clip else changed


def _after_max_abs(step: Any, features: Sequence[Feature], *rest: Any) -> list[Feature]:
    changed = _affine(features, None, step.scale_)
    is_clipped = getattr(step, "clip", False)  # from scikit-learn 1.9 on
    return [_clipped(feature, -1.0, 1.0) for feature in changed] if is_clipped else changed


def _after_imputer(
    step: SimpleImputer, features: Sequence[Feature], names: Any, label: str
) -> list[Feature]:
    if not is_missing(step.missing_values):
        raise ValueError(
            f"The step {label!r}, SimpleImputer(missing_values={step.missing_values!r}), cannot be "
            "exported: what is missing must be NaN or None."
        )
    filled = []
    for feature, fill in zip(features, step.statistics_.tolist(), strict=True):
        # scikit-learn leaves a column out that had no known value.
        if not (isinstance(fill, float) and np.isnan(fill)) or step.keep_empty_features:
            filled.append(_filled(feature, fill, label))
    if step.indicator_ is not None:
        filled += [_is_missing(features[i]) for i in step.indicator_.features_]
    return filled


def _filled(feature: Feature, fill: Any, label: str) -> Feature:
    if isinstance(feature, Lookup):
        return feature.mapped(lambda value: fill if value != value else value)
    if feature.fill is not None:  # nothing is missing any more
        return feature
    if not isinstance(fill, str):
        fill = float(fill) * feature.scale + feature.centre
        if not feature.low <= fill <= feature.high:
            raise ValueError(
                f"The step {label!r}, SimpleImputer, cannot be exported: it fills in {fill:g}, "
                "which is outside of what an earlier step clips to."
            )
    return replace(feature, fill=fill)


def _is_missing(feature: Feature) -> Lookup:
    """One where the column is missing, else zero."""
    if isinstance(feature, Lookup):
        return feature.mapped(lambda value: value != value)
    return Lookup(feature.column, (), (), float(feature.fill is None), 0.0)


def is_missing(value: Any) -> bool:
    """Whether a value is NaN, None or pandas' own."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _after_encoder(step: Any, features: Sequence[Feature], names: Any, label: str) -> list[Feature]:
    """Ask a OneHotEncoder or OrdinalEncoder what it makes of every level."""
    made: list[Feature] = []
    for index, (feature, levels) in enumerate(zip(features, step.categories_, strict=True)):
        if isinstance(feature, Lookup) or not replace(feature, fill=None).is_plain:
            raise ValueError(
                f"The step {label!r}, {type(step).__name__}, cannot be exported: it comes after "
                "another step than an imputer. Let it take the columns themselves."
            )
        known = [level for level in levels if not is_missing(level)]
        plain = [_plain_level(level, label) for level in known]
        alike = first_alike(plain)
        if alike is not None:
            raise ValueError(
                f"The step {label!r} cannot be exported: its levels {known[alike[0]]} and "
                f"{known[alike[1]]} are the same number in double precision; let it take texts."
            )
        rows, unknown = _encoded(step, index, known), _unknown_row(step, index, known)
        gap = [level for level in levels if is_missing(level)]
        missing = _encoded(step, index, gap)[0] if gap else unknown
        if feature.fill is not None:
            if gap:
                raise ValueError(
                    f"The step {label!r}, {type(step).__name__}, cannot be exported: the imputer "
                    f"before it left {gap[0]} in column {index}; let it fill None and NaN alike."
                )
            missing = dict(zip(plain, rows, strict=True)).get(feature.fill, unknown)
        for values, *others in zip(rows.T, missing.tolist(), unknown.tolist(), strict=True):
            made.append(Lookup(feature.column, tuple(plain), tuple(values.tolist()), *others))
    return made


def _plain_level(level: Any, label: str) -> Any:
    level = level.item() if isinstance(level, np.generic) else level
    if isinstance(level, str):
        return level
    if isinstance(level, (bool, int, float)):
        return float(level)
    raise ValueError(f"The step {label!r} cannot be exported: {level!r} is no text and no number.")


def _widths(step: Any) -> list[int]:
    """How many columns an encoder makes of each."""
    if isinstance(step, OrdinalEncoder):
        return [1] * len(step.categories_)
    return [int(width) for width in step._n_features_outs]


def _encoded(step: Any, index: int, levels: Sequence[Any]) -> np.ndarray:
    """Return what an encoder makes of these levels of one column, a row each."""
    widths = _widths(step)
    if not len(levels):
        return np.empty((0, widths[index]))
    texts = any(isinstance(level, str) or level is None for level in levels)
    numbers = not texts and all(c.dtype.kind in "iufb" for c in step.categories_)
    rows = np.empty((len(levels), len(step.categories_)), dtype=float if numbers else object)
    for column, some in enumerate(step.categories_):
        rows[:, column] = some[0]
    rows[:, index] = levels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no names; a level that is not known
        made = step.transform(rows)
    made = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=float)
    return made[:, sum(widths[:index]) : sum(widths[: index + 1])]


def _unknown_row(step: Any, index: int, known: Sequence[Any]) -> np.ndarray:
    """Return what an encoder makes of a level it does not know; NaN where that is an error."""
    if step.handle_unknown == "error":
        return np.full(_widths(step)[index], np.nan)
    if known and not isinstance(known[0], str):
        # Small whole numbers are different ones in any precision; one of these is not a level.
        taken = {float(level) for level in known}
        free = next(float(n) for n in range(len(taken) + 1) if float(n) not in taken)
        return _encoded(step, index, [free])[0]
    return _encoded(step, index, ["no such level " + "".join(known)])[0]


def _after_columns(
    step: ColumnTransformer, features: Sequence[Feature], names: Sequence[str], label: str
) -> list[Feature]:
    names = list(getattr(step, "feature_names_in_", names))
    made: list[Feature] = []
    for name, transformer, _ in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen = list(step._transformer_to_input_indices[name])  # however they were named
        if chosen:
            some = [names[i] for i in chosen] if names else []
            made += after(transformer, [features[i] for i in chosen], some, name)
    return made


def _after_function(
    step: FunctionTransformer, features: Sequence[Feature], names: Any, label: str
) -> list[Feature]:
    if step.func is not None:
        raise ValueError(
            f"The step {label!r}, FunctionTransformer, cannot be exported: it is code. Those that "
            f"can are {TAKEN}."
        )
    return list(features)  # what ColumnTransformer makes of "passthrough"


def _after_selector(step: Any, features: Sequence[Feature], *rest: Any) -> list[Feature]:
    return [feature for feature, kept in zip(features, step.get_support(), strict=True) if kept]


_STEPS: dict[type, Callable[..., list[Feature]]] = {
    StandardScaler: _after_standard,
    MinMaxScaler: _after_min_max,
    MaxAbsScaler: _after_max_abs,
    RobustScaler: _after_robust,
    SimpleImputer: _after_imputer,
    OneHotEncoder: _after_encoder,
    OrdinalEncoder: _after_encoder,
    ColumnTransformer: _after_columns,
    FunctionTransformer: _after_function,
    SelectorMixin: _after_selector,
}
