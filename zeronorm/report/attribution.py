r"""What each feature adds to an output, on the way from a reference to a row.

Let f be an output, r the reference and z the row, as features. Along the straight line between
them, x(t) = r + t (z - r), every feature gets what the output gains while this feature moves:

    share_i = (z_i - r_i) ∫_0^1 ∂f/∂x_i (x(t)) dt,        Σ_i share_i = f(z) - f(r)

which is the value of Aumann and Shapley (1974, "Values of non-atomic games"; in machine learning
"integrated gradients", Sundararajan, Taly & Yan 2017). It is the one split along a path that treats
all features alike, gives nothing to a feature that does not matter, and does not depend on units.
For the functions here the integrals have closed forms, with δ = z - r:

    linear:    linear_i δ_i
    rbf:       -2 w_i δ_i (u_i I_0 + δ_i I_1),  u = r - v,  I_k = ∫ t^k exp(-Q(t)) dt,
               Q(t) = Σ_i w_i (u_i + t δ_i)² = A t² + 2 B t + C
    poly:      v_i δ_i (q^n - p^n) / (q - p)     p, q: the products at r and z, n: the degree
    sigmoid:   v_i δ_i (tanh q - tanh p) / (q - p)
    monomials: polynomials in t: Gauss-Legendre quadrature with enough nodes is exact

I_0 is a difference of error functions, and I_1 follows from I_0 because the shares add up.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf, erfcx

from zeronorm.export.description import Function


def shares(function: Function, Z: np.ndarray, reference: np.ndarray, output: int) -> np.ndarray:
    """Return the shares of the features in one output, shape (rows, features).

    Parameters
    ----------
    function : Function
        The outputs as a function of features; not the density, whose outputs are logarithms.
    Z : array of shape (n_rows, n_features)
        The rows.
    reference : array of shape (n_features,)
        Where the lines begin.
    output : int
        Which output.

    Returns
    -------
    array of shape (n_rows, n_features)
        Each row adds up to the output of the row less that of the reference.
    """
    change = Z - reference
    coef = function.coef[:, output]
    found = (
        np.zeros_like(change) if function.linear is None else change * function.linear[:, output]
    )
    if not function.n_terms:
        return found
    if function.kind == "rbf":
        return found + _rbf(function, change, reference, coef)
    if function.kind == "monomials":
        return found + _monomials(function, change, reference, coef)
    start = function.vectors @ reference + function.offsets
    slopes = _mean_slope(function, start, start + change @ function.vectors.T)
    return found + change * ((slopes * coef) @ function.vectors)


def _rbf(
    function: Function, change: np.ndarray, reference: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    widths, away = function.widths, reference - function.vectors
    A = (change**2 @ widths)[:, None]
    B = (change * widths) @ away.T
    C = away**2 @ widths
    end = np.stack([(change + u) ** 2 @ widths for u in away], axis=1)
    gain = np.exp(-end) - np.exp(-C)
    moved = A > 0
    A = np.where(moved, A, 1.0)
    first = np.where(moved, _gaussian_integral(A, B, C, end), np.exp(-C))
    second = np.where(moved, (-gain / 2 - B * first) / A, 0.0)
    total = (first * coef) @ away + change * (second @ coef)[:, None]
    return -2.0 * widths * change * total


def _gaussian_integral(A: np.ndarray, B: np.ndarray, C: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return ∫_0^1 exp(-(A t² + 2 B t + C)) dt; ``end`` is the exponent at one.

    On one side of the peak the difference of error functions is one of tails, scaled so that
    nothing underflows; across the peak it is taken as it is.
    """
    root = np.sqrt(A)
    low, high = B / root, B / root + root
    is_across = (low < 0) & (high > 0)
    nearer, farther = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    is_forward = low >= 0
    at_nearer, at_farther = np.where(is_forward, C, end), np.where(is_forward, end, C)
    tails = np.exp(-at_nearer) * erfcx(nearer) - np.exp(-at_farther) * erfcx(farther)
    depth = np.maximum(C - low**2, 0.0)
    across = np.exp(-depth) * (erf(high) - erf(low))
    return np.sqrt(np.pi) / 2 / root * np.where(is_across, across, tails)


def _mean_slope(function: Function, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return (g(end) - g(start)) / (end - start) for g = x^degree or tanh, without cancellation."""
    if function.kind == "sigmoid":
        step = end - start
        ratio = np.where(step == 0, 1.0, np.tanh(step) / np.where(step == 0, 1.0, step))
        return ratio * (1.0 - np.tanh(start) * np.tanh(end))
    powers = range(function.degree)
    return np.sum([end**k * start ** (function.degree - 1 - k) for k in powers], axis=0)


def _monomials(
    function: Function, change: np.ndarray, reference: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    degree = max(sum(power for _, power in term) for term in function.factors)
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    found = np.zeros_like(change)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        X = reference + node * change
        for term, factor in zip(function.factors, coef, strict=True):
            for i, power in term:
                others = [X[:, j] ** p for j, p in term if j != i]
                slope = power * X[:, i] ** (power - 1) * np.prod(others, axis=0)
                found[:, i] += weight * factor * slope * change[:, i]
    return found
