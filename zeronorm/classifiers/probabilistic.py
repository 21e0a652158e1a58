"""What the probabilistic classifiers share: probabilities from decision values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from zeronorm.base.candidates import SparseKernelClassifier


class ProbabilisticClassifier(SparseKernelClassifier):
    """Base of the classifiers that model the probability of a class; they have no C.

    A subclass implements ``_probability``. With several classes the probabilities of one against
    the rest are scaled to sum to one.
    """

    @staticmethod
    @abstractmethod
    def _probability(values: np.ndarray) -> np.ndarray:
        """Probability of the class whose decision values these are."""

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
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([self._probability(-values), self._probability(values)])
        # Far from every class all are tiny: the largest is then still the largest.
        each = np.maximum(self._probability(values), np.finfo(float).tiny)
        return each / each.sum(axis=1, keepdims=True)

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
