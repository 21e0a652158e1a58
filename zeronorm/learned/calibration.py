"""Probabilities from decision values of rows that the model has not learned from.

Two classes: Platt's sigmoid. Several: the softmax of slope * values + offsets, one slope for all
(the inverse temperature) and an offset for each class. Both are found by maximum likelihood.
Targets are not zero and one: as in Platt (1999), a row of a class of n rows has the probability
(n + 1) / (n + 2), as if one row more of each kind had been seen.

John Platt: Probabilistic outputs for support vector machines and comparisons to regularized
likelihood methods. Advances in Large Margin Classifiers (1999).

Chuan Guo, Geoff Pleiss, Yu Sun, Kilian Weinberger: On calibration of modern neural networks.
Proceedings of the 34th International Conference on Machine Learning (2017).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from zeronorm.links import Calibration

#: The slope is positive: a larger value is never less probable.
LEAST_SLOPE = 1e-3


def calibrate(values: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> Calibration:
    """Learn the link.

    Parameters
    ----------
    values : ndarray of shape (n, n_outputs)
        Decision values: one output for two classes, one for each class beyond.
    codes : ndarray of shape (n,)
        Class numbers.
    weight : ndarray of shape (n,)
        Weight of each row.
    """
    # Two classes have the logits 0 and slope * value + offset.
    scores = values if values.shape[1] > 1 else np.column_stack([np.zeros(len(values)), values])
    scores = scores.astype(np.float64)
    n_classes, is_binary = scores.shape[1], values.shape[1] == 1
    weight = weight / weight.mean()
    size = np.bincount(codes, weights=weight, minlength=n_classes)
    own = ((size + 1.0) / (size + 2.0))[codes]
    targets = np.repeat(((1.0 - own) / (n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = own
    # Values in units of their size: the search starts from a slope of about one.
    unit = float(np.sqrt(np.mean(np.square(scores)))) or 1.0
    first = 1 if is_binary else 0  # the first logit of two classes is zero

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        logits = point[0] / unit * scores
        logits[:, first:] += point[1:]
        log_probability = log_softmax(logits, axis=1)
        excess = weight[:, None] * (np.exp(log_probability) - targets)
        value = -float(np.sum(weight[:, None] * targets * log_probability))
        slope = float(np.sum(excess * scores)) / unit
        return value, np.append(slope, excess[:, first:].sum(axis=0))

    start = np.append(1.0, np.zeros(n_classes - first))
    bounds = [(LEAST_SLOPE, None)] + [(None, None)] * (n_classes - first)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Calibration(float(found[0] / unit), tuple(found[1:].tolist()))
