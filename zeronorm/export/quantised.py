"""A kernel expansion in integers of 16 bits, and how far that moves its values at most.

rbf. With u_i = √widths_i (z_i - middle_i), vectors and rows are rounded to a grid of step h in u,
so that a squared distance is h² times a sum of squares of integers. Beyond R = max |u| of the
vectors + √FAR a row is moved to the edge: its kernel values are below exp(-FAR) there and beyond.
As exp(-r²) has no slope above √(2/e), a term is wrong by at most

    max( √(2/e) √Σ_i (h/2 + |rounding of vector_ji|)²,  1.1 exp(-FAR) )

for every row there is, and by what the exponential in integers is (6e-5).

Products. The vectors are rounded, the rows are not: a product is wrong by Σ_i |rounding of
vector_ji| |z_i|, which has a bound for rows in a given box only.

Coefficients are rounded in steps of a 32767th of the largest of their output. What is left in
single precision (the linear part, intercepts, for products one function of each) is wrong by some
1e-6, as it is without integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zeronorm.export.description import Description, Function

#: The largest integer, and a kernel value of one.
MOST, WHOLE = 32767, 65535

#: Kernel values below exp(-FAR) are taken to be zero.
FAR = 16.0

#: Single precision: an exponential of ours, and the rounding of its argument.
ROUGH = 1e-6

#: A kernel value in integers: it has 16 binary digits, of which the last ones are rounded.
KERNEL_ROUGH = 4.0 / WHOLE


@dataclass(frozen=True)
class Quantised:
    """Integers, what they are multiplied by, and the bound.

    ``vectors`` times ``units`` (products: a factor for each term) or the grid (rbf: ``unit`` in u)
    are the vectors; ``coef`` times ``steps`` the coefficients. A kernel value of one is ``kernel``,
    and sums are of a ``part`` of each product, so that they have 32 bits. ``bound`` is the most by
    which any output changes, for the rows that ``where`` says.
    """

    vectors: np.ndarray
    units: np.ndarray
    coef: np.ndarray
    steps: np.ndarray
    bound: np.ndarray
    where: str
    unit: float = 0.0
    part: int = 1
    kernel: int = 1
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
        part = _part(coef)
        bound = wrong @ np.abs(function.coef) + (1.0 + wrong) @ lost
        bound += function.n_terms * part * steps / WHOLE
        ones = np.ones(function.n_terms)
        return Quantised(
            vectors, ones, coef, steps, bound, "any row", unit, part, WHOLE, middles, grid
        )
    if box is None and function.n_terms:
        raise ValueError(
            f"How far 16 bits move a {function.kind} kernel depends on the rows: give some, X=..., "
            "(zeronorm export: --data FILE.csv), or take precision='float'."
        )
    vectors, units, wrong, largest = _products(function, box)
    # |a k - a' k'| <= |a| |k - k'| + |a - a'| |k'|
    bound = wrong @ np.abs(function.coef) + (largest + wrong) @ lost
    where = "rows within the range of those given"
    return Quantised(vectors, units, coef, steps, bound, where)


def _part(coef: np.ndarray) -> int:
    """Return the power of two by which products are divided, so that sums have 32 bits."""
    largest = float(np.abs(coef).sum(axis=0).max(initial=1.0)) * WHOLE
    return 2 ** max(0, int(np.ceil(np.log2(largest / (2**31 - 1)))))


def _rounded(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers and the step of each row."""
    steps = np.abs(rows).max(axis=1, initial=0.0, keepdims=True) / MOST
    steps[steps == 0] = 1.0
    return np.rint(rows / steps), steps


def _on_grid(function: Function) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
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
    wrong = np.maximum(slope, 1.1 * np.exp(-FAR)) + KERNEL_ROUGH
    return vectors, unit, middles, roots / unit, wrong


def _products(
    function: Function, box: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
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


def halves() -> np.ndarray:
    """Coefficients of 65535 2^-f for f from 0 to 1, without their signs, the constant first."""
    f = (np.polynomial.chebyshev.chebpts1(6) + 1.0) / 2.0
    fitted = np.polynomial.polynomial.polyfit(f, 2.0**-f, 5)
    return np.rint(WHOLE * np.abs(fitted)).astype(np.int64)


def power_and_shift(unit: float) -> tuple[int, int]:
    """Return integers a, b with squares * a / 2^b = 65536 squares unit² / log 2, a below 2^31."""
    factor = 65536.0 * unit**2 / np.log(2.0)
    shift = int(np.floor(31.0 - np.log2(factor))) - 1
    return round(factor * 2.0**shift), shift
