"""What the one-norm and zero-norm machines minimise, by hand and by scipy.optimize.linprog."""

import numpy as np
from scipy.optimize import linprog
from sklearn.metrics.pairwise import pairwise_kernels


def minimum(K, y, cost, *, price=1.0, signs=None, caps=None, has_intercept=True):
    """Return the minimum of ``price * sum|alpha| + cost @ hinge`` over alpha and b (or b = 0).

    Variables are alpha (with its sign taken out; both parts where ``signs`` is None), b and the
    slacks. Columns have their largest value scaled to one: linprog's tolerances are absolute.
    """
    n, m = K.shape
    size = np.abs(K).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    signed = y[:, None] * K / size
    columns = np.hstack([signed, -signed]) if signs is None else signed * signs
    repeat = columns.shape[1] // m if m else 0
    unit = price / size.min() if price and m else 1.0
    upper = np.full(m, np.inf) if caps is None else caps * size
    free = [(None, None) if has_intercept else (0, 0)]
    found = linprog(
        np.concatenate([np.tile(price / size, repeat), [0.0], cost]) / unit,
        A_ub=-np.hstack([columns, y[:, None], np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, cap) for cap in np.tile(upper, repeat)] + free + [(0, None)] * n,
        method="highs",
    )
    assert found.status == 0
    return found.fun * unit


def subset_score(K, targets, cost, caps, signs, chosen):
    """Size of a set of columns plus the hinge loss that its best coefficients leave."""
    loss = 0.0
    for k, y in enumerate(targets.T):
        own = None if signs is None else signs[chosen, k]
        loss += minimum(K[:, chosen], y, cost, price=0.0, signs=own, caps=caps[chosen])
    return np.count_nonzero(chosen) + loss


def values_of(X, vectors, kernel):
    options = {key: value for key, value in kernel.items() if key != "kernel"}
    if not len(vectors):
        return np.empty((len(X), 0))
    return pairwise_kernels(X, vectors, metric=kernel["kernel"], **options)


def own_objective(model, X, y, cost, kernel):
    """Terms plus costs times hinges, from the fitted attributes alone."""
    K = values_of(X, model.support_vectors_, kernel)
    values = K @ model.dual_coef_.T + model.intercept_
    classes = model.classes_[-1:] if values.shape[1] == 1 else model.classes_
    hinges = np.maximum(0.0, 1.0 - np.where(y[:, None] == classes, 1, -1) * values)
    return model.dual_coef_.shape[1] + (cost @ hinges).sum()
