"""Affine steps folded into the function, so that what is exported takes the columns themselves.

With t_i = (x_i - m_i) / s_i for what the model was trained on, and z_i = x_i - c_i,

    rbf:      γ m_i (t_i - v_i)² = (γ m_i / s_i²) (z_i - (v_i s_i + m_i - c_i))²
    product:  γ v·t + r = Σ_i (γ v_i / s_i) z_i + (r + γ Σ_i v_i (c_i - m_i) / s_i)

which is exact but for rounding. That is small where c_i is zero and m_i not many s_i; for columns
far from the origin (years, timestamps, pressures) c_i is near m_i, a number of single precision,
so that x_i - c_i loses nothing in either precision. A linear kernel is a linear part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.expansion import KernelExpansion
from zeronorm.export.description import Feature, Function, Lookup, Number
from zeronorm.polynomial import SparsePolynomial

#: Up to so many units from the origin a column is taken as it is: three bits of what a single
#: precision number has are lost.
NEAR = 8.0

#: Scales beyond this, and below its inverse, are not folded: their squares are no numbers.
LIMIT = 1e100


def folded(
    function: KernelExpansion | SparsePolynomial, features: tuple[Feature, ...]
) -> tuple[Function, tuple[Feature, ...]]:
    """Return the function of what the features are after folding, and these.

    Features that the function does not look at are left out, unless they tell that a level is
    not known.
    """
    if isinstance(function, SparsePolynomial):
        plain, changed = _polynomial(function, len(features)), features
    else:
        is_folded = [isinstance(f, Number) and 1 / LIMIT < abs(f.scale) < LIMIT for f in features]
        known = zip(features, is_folded, strict=True)
        parts = [(f.centre, f.scale) if inside else (0.0, 1.0) for f, inside in known]
        shift, scale = np.array(parts).reshape(-1, 2).T
        centre = np.where(is_folded, _centres(function, shift, scale), 0.0)
        plain = _function(function, shift, scale, centre)
        changed = tuple(
            replace(f, centre=float(c), scale=1.0) if known and isinstance(f, Number) else f
            for f, c, known in zip(features, centre, is_folded, strict=True)
        )
    return _used(plain, changed)


def _centres(function: KernelExpansion, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return what is subtracted from each column before all else, zero for most."""
    middle, unit = shift.copy(), np.abs(scale)
    if function.kernel_name == "rbf" and function.n_terms:
        # Without a scaler the vectors say where the column is, and the width how far that is.
        widths = function.kernel.gamma * _metric(function)
        is_raw = (shift == 0) & (scale == 1) & (widths > 0)
        middle[is_raw] = function.vectors.mean(axis=0)[is_raw]
        unit[is_raw] = 1.0 / np.sqrt(widths[is_raw])
    is_far = np.abs(middle) > NEAR * unit
    with np.errstate(over="ignore"):
        single = middle.astype(np.float32).astype(np.float64)
    return np.where(is_far & np.isfinite(single), single, 0.0)


def _metric(function: KernelExpansion) -> np.ndarray:
    metric = function.kernel.metric
    return np.ones(function.n_features) if metric is None else np.array(metric)


def _function(
    function: KernelExpansion, shift: np.ndarray, scale: np.ndarray, centre: np.ndarray
) -> Function:
    kernel = function.kernel
    if kernel.name not in ("linear", "poly", "rbf", "sigmoid"):
        what = "that is a function" if kernel.name == "callable" else f"{kernel.name!r}"
        raise ValueError(
            f"A kernel {what} cannot be exported; those that can are linear, poly, rbf and sigmoid."
        )
    if kernel.name == "poly" and kernel.degree != round(kernel.degree):
        raise ValueError(
            f"A polynomial kernel of degree {kernel.degree:g} cannot be exported: take a whole one."
        )
    kept = np.abs(function.coef).max(axis=1, initial=0.0) > 0
    vectors, coef = function.vectors[kept], function.coef[kept]
    linear = function.linear
    if kernel.name == "linear":
        sums = vectors.T @ coef
        linear = sums if linear is None else linear + sums
        vectors, coef = vectors[:0], coef[:0]
    parts: dict[str, Any] = {"kind": kernel.name, "coef": coef, "intercept": function.intercept}
    parts["points"] = vectors * scale + (shift - centre)
    parts["origin"], parts["unit"] = shift - centre, np.abs(scale)
    if linear is not None:
        linear = linear / scale[:, None]
        parts["intercept"] = function.intercept + (centre - shift) @ linear
        parts["linear"] = linear
    if kernel.name == "rbf":
        parts["widths"] = kernel.gamma * _metric(function) / scale / scale
        parts["vectors"] = parts["points"]
    else:
        parts["vectors"] = kernel.gamma * vectors / scale
        parts["offsets"] = kernel.coef0 + parts["vectors"] @ (centre - shift)
        parts["degree"] = round(kernel.degree) if kernel.name == "poly" else 1
    return Function(**parts)


def _polynomial(function: SparsePolynomial, n_features: int) -> Function:
    return Function(
        "monomials",
        vectors=np.zeros((function.n_terms, n_features)),
        coef=function.coef,
        intercept=function.intercept,
        factors=tuple(tuple((int(j), int(p)) for j, p in term) for term in function.factors),
        origin=np.zeros(n_features),
        unit=np.ones(n_features),
    )


def _used(
    function: Function, features: tuple[Feature, ...]
) -> tuple[Function, tuple[Feature, ...]]:
    used = np.zeros(len(features), dtype=bool)
    if function.kind == "monomials":
        used[[j for term in function.factors for j, _ in term]] = True
    elif function.n_terms:
        looked_at = function.vectors if function.widths is None else function.widths[None]
        used |= looked_at.any(axis=0)
    if function.linear is not None:
        used |= function.linear.any(axis=1)
    used |= [isinstance(f, Lookup) and bool(np.isnan(f.unknown)) for f in features]
    order = np.flatnonzero(used).tolist()
    return function.with_features(order), tuple(features[i] for i in order)
