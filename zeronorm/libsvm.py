"""Fitted machines of scikit-learn that libsvm trained, as expansions and models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from zeronorm.decisions import DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.pairs import pairs_of

CLASSIFIERS = (SVC, NuSVC)
MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)


def expansion_of(machine: Any) -> KernelExpansion:
    """Return the function of a fitted machine; its values are the machine's own."""
    check_is_fitted(machine)
    if callable(machine.kernel):
        # libsvm saw a matrix; scikit-learn keeps the training rows under this private name.
        vectors = machine._BaseLibSVM__Xfit[machine.support_]
        kernel = Kernel("callable", function=machine.kernel)
    elif machine.kernel == "precomputed":
        kernel, vectors = Kernel("precomputed"), machine.support_[:, None]
    else:
        vectors = machine.support_vectors_
        kernel = Kernel(
            machine.kernel, gamma=machine._gamma, degree=machine.degree, coef0=machine.coef0
        )
    coef = machine.dual_coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    n_classes = len(machine.classes_) if isinstance(machine, CLASSIFIERS) else 0
    if n_classes > 2 and len(machine.n_support_) < n_classes:
        raise ValueError(
            f"This {type(machine).__name__} knows {len(machine.n_support_)} of its {n_classes} "
            "classes only: no row of the others had a weight. Fit it without the rows of weight "
            "zero."
        )
    coef = _pair_coefficients(coef, machine.n_support_) if n_classes > 2 else coef.T
    votes = n_classes if n_classes > 2 and machine.decision_function_shape == "ovr" else None
    return KernelExpansion(vectors, coef, machine.intercept_, kernel, vote_classes=votes)


def _pair_coefficients(packed: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """Spread libsvm's packed dual coefficients: one column per pair of classes.

    Row p of ``packed`` holds, for a vector of class c, the coefficient of its p-th rival among
    the other classes.
    """
    starts = np.concatenate([[0], np.cumsum(n_support)])
    pairs = pairs_of(len(n_support))
    coef = np.zeros((packed.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        coef[starts[i] : starts[i + 1], column] = packed[j - 1, starts[i] : starts[i + 1]]
        coef[starts[j] : starts[j + 1], column] = packed[i, starts[j] : starts[j + 1]]
    return coef


def rule_of(classifier: Any) -> DecisionRule:
    """Return the rule by which a fitted SVC or NuSVC decides."""
    n_classes = len(classifier.classes_)
    several = n_classes > 2
    breaks_ties = several and classifier.break_ties and classifier.decision_function_shape == "ovr"
    return DecisionRule(n_classes, is_pairs=several, breaks_ties=breaks_ties, zero_counts=True)
