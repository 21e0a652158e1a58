"""Distances by products, for languages in which differences of all pairs are long or slow.

    Σ_i w_i (z_i - v_ji)² = Σ_i w_i z_i² - Σ_i 2 w_i v_ji z_i + Σ_i w_i v_ji²

The rounding of this is that of its largest part, which is nothing beside a large distance, and all
there is to a small one far from the origin. So the origin is moved into the middle of the vectors,
and where they reach farther than that helps, products are not taken: the roughness says how far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zeronorm.export.description import Description, Function, Number


def centred(description: Description) -> Description:
    """Return the same model with the origin of its numbers in the middle of the vectors."""
    function = description.function
    if function.kind != "rbf" or not function.n_terms:
        return description
    middle = (function.vectors.min(axis=0) + function.vectors.max(axis=0)) / 2.0
    middle[[not isinstance(feature, Number) for feature in description.features]] = 0.0
    features = tuple(
        replace(f, centre=f.centre + float(m)) if isinstance(f, Number) else f
        for f, m in zip(description.features, middle, strict=True)
    )
    intercept = function.intercept
    if function.linear is not None:
        intercept = intercept + middle @ function.linear
    moved = replace(function, vectors=function.vectors - middle, intercept=intercept)
    return replace(description, features=features, function=moved)


def product_form(function: Function) -> tuple[np.ndarray, np.ndarray, float]:
    """Return 2 w_i v_ji and Σ_i w_i v_ji² of an rbf kernel on centred features, and the roughness.

    That is the largest of the sums: times the rounding of the numbers, it is the error of a value.
    """
    weighted = function.vectors * function.widths
    squares = np.einsum("ij,ij->i", weighted, function.vectors)
    return 2.0 * weighted, squares, float(squares.max(initial=0.0))
