"""What all kernel regressors share: validation, targets, weights, prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from zeronorm.arrays import to_numpy
from zeronorm.base.fitting import fitting
from zeronorm.base.machine import KernelMachine, warn_of
from zeronorm.base.parameters import with_parameters
from zeronorm.base.regression_guard import little_learned
from zeronorm.base.targets import NumericRows, numeric_targets
from zeronorm.base.training_set import check_cost
from zeronorm.base.validation import moved, on_device_of, validated_training
from zeronorm.decisions import Number
from zeronorm.expansion import KernelExpansion


@with_parameters
class KernelRegressor(RegressorMixin, KernelMachine):
    """Base of the regressors that are kernel expansions.

    A subclass has the parameters of :class:`~sklearn.svm.SVR` that it uses and implements
    ``_learn``. Several targets are columns of y.
    """

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what targets fit."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the regressor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; the square kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers to predict. One column is taken as (n_samples,).
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X, y = validated_training(self, X, y, multi_output=True, y_numeric=True)
            targets = numeric_targets(to_numpy(y))
            # What overflows is found by the checks of the result, which say it in a sentence.
            with np.errstate(all="ignore"):
                training = self._training_rows(moved(X, self.device), targets, sample_weight)
                learned = self._learn(training)
                doubt = learned.doubt or little_learned(type(self).__name__, training, learned)
            learned.expansion = on_device_of(learned.expansion, X)
            self._store_learned(learned)
        warn_of(learned, doubt)
        return self

    def _training_rows(self, X: Any, targets: np.ndarray, sample_weight: Any) -> NumericRows:
        """Rows that count, with targets and costs."""
        rows, weight, data, kernel = self._rows_that_count(X, sample_weight)
        if len(rows) < 2:
            raise ValueError(f"At least two rows must count; got n_samples = {len(rows)}.")
        cost = self._unit_cost() * weight
        check_cost(cost)
        codes = np.zeros(len(rows), dtype=np.intp)
        parts = rows, data, codes, targets[rows], cost, kernel
        return NumericRows(*parts, dense_entries=self._dense_entries)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to predict for; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        return self._decision_values(X, "predict")

    def _model_parts(self) -> tuple[KernelExpansion, Number]:
        """Return what was learned, and what its values mean."""
        return self.expansion_.to_numpy(), Number()
