"""Distances by products, for languages in which differences of all pairs are long or slow.

    Σ_i w_i (z_i - v_ji)² = Σ_i w_i z_i² - Σ_i 2 w_i v_ji z_i + Σ_i w_i v_ji²

The rounding of this is that of its largest part, which is nothing beside a large distance, and all
there is to a small one far from the origin. So the origin is moved into the middle of the vectors,
and where they reach farther than that helps, products are not taken: ``roughness`` says how far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from zeronorm.export.description import Description, Number


@dataclass(frozen=True)
class ProductForm:
    """The parts of the squares above, for features that are already centred."""

    widths: np.ndarray
    doubled: np.ndarray
    squares: np.ndarray

    @property
    def roughness(self) -> float:
        """Largest Σ_i w_i v_ji²: times the rounding of the numbers, it is the error of a value."""
        return float(self.squares.max(initial=0.0))


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


def product_form(description: Description) -> ProductForm:
    """Return the product form of an rbf kernel."""
    function = description.function
    assert function.widths is not None
    weighted = function.vectors * function.widths
    return ProductForm(
        function.widths, 2.0 * weighted, np.einsum("ij,ij->i", weighted, function.vectors)
    )
