"""What the probabilistic classifiers share: probabilities from decision values."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.links import probabilities


class ProbabilisticClassifier(SparseKernelClassifier):
    """Base of the classifiers that model the probability of a class; they have no C.

    A subclass says by which ``_link``. With several classes the probabilities of one against the
    rest are scaled to sum to one.
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Estimate the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return probabilities(self.decision_function(X), self._link)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Estimate the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):  # a probability of zero is minus infinity
            return np.log(self.predict_proba(X))
