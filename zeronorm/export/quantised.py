"""A kernel expansion in integers of 16 bits, and how far that moves its values at most.

rbf. With u_i = √widths_i (z_i - middle_i), vectors and rows are rounded to a grid of step h in u,
so that a squared distance is h² times a sum of squares of integers. Beyond R = max |u| of the
vectors + √FAR a row is moved to the edge: its kernel values are below exp(-FAR) there and beyond.
As exp(-r²) has no slope above √(2/e), a term is wrong by at most

    max( √(2/e) √Σ_i (h/2 + |rounding of vector_ji|)²,  1.1 exp(-FAR) )

for every row there is. Products. The vectors are rounded, the rows are not: a product is wrong by
Σ_i |rounding of vector_ji| |z_i|, which has a bound for rows in a given box only.

Coefficients are rounded in steps of a 32767th of the largest of their output. What is left in
single precision (the linear part, intercepts, one exponential for each term) is wrong by some
1e-6, as it is without integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.export.description import Description, Function

#: The largest integer.
MOST = 32767

#: Kernel values below exp(-FAR) are taken to be zero.
FAR = 16.0

#: Single precision: an exponential of ours, and the rounding of its argument.
ROUGH = 1e-6


@dataclass(frozen=True)
class Quantised:
    """Integers, what they are multiplied by, and the bound.

    ``vectors`` times ``units`` (products: a factor for each term) or the grid (rbf: ``unit`` in u)
    are the vectors; ``coef`` times ``steps`` the coefficients. ``bound`` is the most by which any
    output changes, for the rows that ``where`` says.
    """

    vectors: np.ndarray
    units: np.ndarray
    coef: np.ndarray
    steps: np.ndarray
    bound: np.ndarray
    where: str
    unit: float = 0.0
    middles: np.ndarray | None = None
    grid: np.ndarray | None = None


def quantised(description: Description, box: np.ndarray | None) -> Quantised:
    """Round a described model to 16 bits.

    Parameters
    ----------
    description : Description
        The model.
    box : ndarray of shape (n_features,), optional
        Largest size of each feature, for kernels of products.

    Raises
    ------
    ValueError
        If the model has no such form, or no bound without rows.
    """
    function = description.function
    if description.kind == "density" or function.kind == "monomials":
        what = "A density" if description.kind == "density" else "A polynomial"
        raise ValueError(f"{what} has no form in 16 bits; take precision='float'.")
    coef, steps = _rounded(function.coef.T)
    coef, steps = coef.T, steps[:, 0]
    lost = np.abs(coef * steps - function.coef)
    if function.kind == "rbf":
        vectors, unit, middles, grid, wrong = _on_grid(function)
        units, where, largest = np.ones(function.n_terms), "any row", np.ones(function.n_terms)
    else:
        if box is None and function.n_terms:
            raise ValueError(
                f"How far 16 bits move a {function.kind} kernel depends on the rows: give some, "
                "X=..., (zeronorm export: --data FILE.csv), or take precision='float'."
            )
        vectors, units, wrong, largest = _products(function, box)
        unit, middles, grid, where = 0.0, None, None, "rows within the range of those given"
    # |a k - a' k'| <= |a| |k - k'| + |a - a'| |k'|
    bound = wrong @ np.abs(function.coef) + (largest + wrong) @ lost
    return Quantised(
        vectors.astype(np.int64), units, coef.astype(np.int64), steps, bound, where,
        unit, middles, grid,
    )  # fmt: skip


def _rounded(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers and the step of each row."""
    steps = np.abs(rows).max(axis=1, initial=0.0, keepdims=True) / MOST
    steps[steps == 0] = 1.0
    return np.rint(rows / steps), steps


def _on_grid(function: Function) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
    assert function.widths is not None
    roots = np.sqrt(function.widths)
    middles = np.zeros(len(roots))
    if function.n_terms:
        middles = (function.vectors.min(axis=0) + function.vectors.max(axis=0)) / 2.0
    stretched = (function.vectors - middles) * roots
    unit = (float(np.abs(stretched).max(initial=0.0)) + np.sqrt(FAR)) / MOST
    vectors = np.rint(stretched / unit)
    # A row is rounded to half a step, and once more by single precision.
    off = 0.51 * unit + np.abs(vectors * unit - stretched)
    slope = np.sqrt(2.0 / np.e) * np.sqrt(np.sum(off**2, axis=1))
    wrong = np.maximum(slope, 1.1 * np.exp(-FAR)) + ROUGH
    return vectors, unit, middles, roots / unit, wrong


def _products(
    function: Function, box: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    assert function.offsets is not None
    vectors, units = _rounded(function.vectors)
    sizes = np.zeros(function.vectors.shape[1]) if box is None else box
    off = np.abs(vectors * units - function.vectors) @ sizes
    largest = np.abs(function.vectors) @ sizes + np.abs(function.offsets) + off
    off = off + ROUGH * largest
    if function.kind == "poly":
        values = largest**function.degree
        slope = function.degree * largest ** max(function.degree - 1, 0)
        return vectors, units[:, 0], off * slope + ROUGH * values, values
    return vectors, units[:, 0], off + ROUGH, np.ones(len(units))
