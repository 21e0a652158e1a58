"""What all kernel classifiers share: validation, labels, weights, prediction."""

from __future__ import annotations

import copy
import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from zeronorm.arrays import as_on, is_numpy, take, to_numpy
from zeronorm.base.checked import CheckedExpansion
from zeronorm.base.guard import guessing_message
from zeronorm.base.labels import check_sample_weight, class_codes, class_weights, signed_targets
from zeronorm.base.parameters import with_parameters
from zeronorm.base.placement import (
    decision_values,
    moved,
    placed,
    validated,
    validated_training,
)
from zeronorm.base.training_set import Learned, TrainingRows, check_cost, store_expansion
from zeronorm.checks import all_or_nothing, check_positive
from zeronorm.decisions import Classes, check_finite
from zeronorm.exceptions import PoorFitWarning
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel


@with_parameters
class KernelClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the classifiers that are kernel expansions.

    A subclass has the parameters of :class:`~sklearn.svm.SVC` that it uses and implements
    ``_learn``. Labels may be of any type; several classes are learned one against the rest.
    """

    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    class_weight: Any = None
    tol: float = 1e-4
    random_state: Any = None

    #: What turns decision values into probabilities, where the classifier has them.
    _link: ClassVar[Any] = None

    #: Where to compute; a parameter of classifiers that are learned on devices.
    device: ClassVar[str | None] = None

    @abstractmethod
    def _learn(self, training: TrainingRows) -> Learned:
        """Learn the expansion."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

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
        with all_or_nothing(self):
            self._check_parameters()
            X, y = validated_training(self, X, y)
            # What overflows is found by the checks of the result, which say it in a sentence.
            with np.errstate(all="ignore"):
                rows = moved(X, self.device)
                training, classes = self._training_rows(rows, to_numpy(y), sample_weight)
                learned = self._learn(training)
                fitted = CheckedExpansion(training, learned, self._with_choices(learned)._learn)
                doubt = learned.doubt or guessing_message(type(self).__name__, fitted, classes)
            learned.expansion = placed(learned.expansion, X)
            self._store(learned, classes if is_numpy(y) else as_on(classes, y))
        if learned.warning is not None:
            warnings.warn(learned.warning, ConvergenceWarning, stacklevel=2)
        if doubt is not None:
            warnings.warn(doubt, PoorFitWarning, stacklevel=2)
        return self

    def _with_choices(self, learned: Learned) -> KernelClassifier:
        """Return a copy that has as parameters what this one has chosen while it learned."""
        return copy.copy(self)

    def _check_parameters(self) -> None:
        check_positive("C", self._unit_cost())
        check_positive("tol", self.tol)

    def _training_rows(
        self, X: Any, y: np.ndarray, sample_weight: Any
    ) -> tuple[TrainingRows, np.ndarray]:
        """Rows that count, with labels and costs, and the classes."""
        check_classification_targets(y)
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has shape {X.shape}. "
                "fit takes the kernel values of the training rows with themselves."
            )
        weight = check_sample_weight(sample_weight, X.shape[0])
        # A row without weight is as good as absent: it is no candidate either.
        rows = np.flatnonzero(weight > 0)
        given, labels = weight[rows], y[rows]
        classes, codes = class_codes(labels)
        weight = given * class_weights(self.class_weight, classes, codes, given)[codes]
        cost = self._unit_cost() * weight
        check_cost(cost)
        data = take(X, rows) if len(rows) < X.shape[0] else X
        kernel = self._make_kernel(data, None if sample_weight is None else given)
        targets = signed_targets(codes, len(classes))
        return TrainingRows(rows, data, codes, targets, cost, kernel), classes

    def _unit_cost(self) -> float:
        """Cost of a row of weight one: C, or one where the method has no C."""
        return getattr(self, "C", 1.0)

    def _is_precomputed(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        return Kernel.from_params(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            X=X,
            sample_weight=sample_weight,
        )

    def _store(self, learned: Learned, classes: np.ndarray) -> None:
        """Set the fitted attributes."""
        store_expansion(self, learned.expansion)
        self.classes_ = classes
        if learned.support is not None:
            self.support_ = learned.support
        else:
            self.__dict__.pop("support_", None)  # of an earlier fit
        self.n_iter_ = learned.n_iter
        self.objective_ = learned.objective
        self.history_ = learned.history

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

    def _decision_values(self, X: Any, method: str) -> Any:
        """Evaluate the decision function for a method, which an error names."""
        check_is_fitted(self, "expansion_")
        X = validated(self, X)
        values = decision_values(self, X, self.device, method)
        check_finite(values, self.expansion_.kernel_name)
        return values

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
