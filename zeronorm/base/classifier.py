"""What all kernel classifiers share: validation, labels, weights, prediction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from zeronorm.arrays import as_on, is_numpy, to_numpy
from zeronorm.base.checked import CheckedExpansion
from zeronorm.base.fitting import fitting
from zeronorm.base.guard import guessing_message
from zeronorm.base.labels import check_labels, class_codes, class_weights, signed_targets
from zeronorm.base.machine import KernelMachine, warn_of
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import TrainingRows, check_cost
from zeronorm.base.validation import moved, on_device_of, validated_training
from zeronorm.decisions import Classes
from zeronorm.expansion import KernelExpansion


@with_parameters
class KernelClassifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers that are kernel expansions.

    A subclass has the parameters of :class:`~sklearn.svm.SVC` that it uses and implements
    ``_learn``. Labels may be of any type; several classes are learned one against the rest.
    """

    class_weight: Any = None

    #: What turns decision values into probabilities, where the classifier has them.
    _link: ClassVar[Any] = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; the square kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X, y = validated_training(self, X, y)
            # What overflows is found by the checks of the result, which say it in a sentence.
            with np.errstate(all="ignore"):
                rows = moved(X, self.device)
                training = self._training_rows(rows, to_numpy(y), sample_weight)
                classes = training.classes
                learned = self._learn(training)
                fitted = CheckedExpansion(training, learned, self._with_choices(learned)._learn)
                doubt = learned.doubt or guessing_message(type(self).__name__, fitted, classes)
            learned.expansion = on_device_of(learned.expansion, X)
            self._store_learned(learned)
            self.classes_ = classes if is_numpy(y) else as_on(classes, y)
        warn_of(learned, doubt)
        return self

    def _training_rows(self, X: Any, y: np.ndarray, sample_weight: Any) -> TrainingRows:
        """Rows that count, with labels and costs."""
        check_labels(y)
        rows, given, data, kernel = self._rows_that_count(X, sample_weight)
        classes, codes = class_codes(y[rows] if len(rows) < len(y) else y)
        cost = given * class_weights(self.class_weight, classes, codes, given)[codes]
        cost *= self._unit_cost()
        check_cost(cost)
        targets = signed_targets(codes, len(classes))
        parts = rows, data, codes, targets, cost, kernel
        return TrainingRows(*parts, classes=classes, dense_entries=self._dense_entries)

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]`` with two classes; one score per class beyond.
        """
        return self._decision_values(X, "decision_function")

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        values = self._decision_values(X, "predict")
        return Classes(to_numpy(self.classes_)).predict(values)

    def _model_parts(self) -> tuple[KernelExpansion, Classes]:
        """Return what was learned, and how it decides."""
        return self.expansion_.to_numpy(), Classes(to_numpy(self.classes_), link=self._link)
