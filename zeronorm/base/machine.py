"""What all kernel machines share, whatever they predict: parameters, rows, weights, the kernel."""

from __future__ import annotations

import copy
from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from zeronorm.arrays import take
from zeronorm.base.documented import Documented
from zeronorm.base.labels import check_sample_weight
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import DENSE_ENTRIES, Learned, TrainingRows, store_expansion
from zeronorm.base.validation import decision_values, hint_at_scales, validated
from zeronorm.checks import check_positive, check_stopping
from zeronorm.decisions import check_finite
from zeronorm.exceptions import PoorFitWarning, warn
from zeronorm.kernels import Kernel


@with_parameters
class KernelMachine(Documented, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators that are kernel expansions.

    A subclass has the parameters of :class:`~sklearn.svm.SVC` or :class:`~sklearn.svm.SVR` that it
    uses, and implements ``_learn``.
    """

    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-4
    random_state: Any = None

    #: Where to compute; a parameter of machines that are learned on devices.
    device: ClassVar[str | None] = None

    #: Whether the learner takes rows block by block, and needs no copy of all of them.
    _learns_by_blocks: ClassVar[bool] = False

    #: Entries up to which sparse rows may become plain arrays.
    _dense_entries: ClassVar[int] = DENSE_ENTRIES

    #: Name of the class of ``zeronorm.dask`` that learns the same from Dask collections.
    _on_dask: ClassVar[str | None] = None

    @abstractmethod
    def _learn(self, training: TrainingRows) -> Learned:
        """Learn the expansion."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def _with_choices(self, learned: Learned) -> Any:
        """Return a copy that has as parameters what this one has chosen while it learned."""
        return copy.copy(self)

    def _check_parameters(self) -> None:
        check_positive("C", self._unit_cost())
        check_stopping(self)

    def _rows_that_count(
        self, X: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, Any, Kernel]:
        """Return the rows with a weight (indices), their weights, their data, and the kernel."""
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has shape {X.shape}. "
                "fit takes the kernel values of the training rows with themselves."
            )
        weight = check_sample_weight(sample_weight, X.shape[0])
        # A row without weight is as good as absent: it is no candidate either.
        rows = np.flatnonzero(weight > 0)
        data = X
        if len(rows) < X.shape[0]:
            data, weight = take(X, rows), weight[rows]
        kernel = self._make_kernel(data, None if sample_weight is None else weight)
        if kernel.name in ("rbf", "poly", "sigmoid"):
            hint_at_scales(self, data)
        return rows, weight, data, kernel

    def _unit_cost(self) -> float:
        """Cost of a row of weight one: C, or one where the method has no C."""
        return getattr(self, "C", 1.0)

    def _is_precomputed(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _first_gamma(self) -> Any:
        """Return gamma of the kernel that learning begins with."""
        return self.gamma

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        return Kernel.from_params(
            self.kernel,
            gamma=self._first_gamma(),
            degree=self.degree,
            coef0=self.coef0,
            X=X,
            sample_weight=sample_weight,
        )

    def _store_learned(self, learned: Learned) -> None:
        """Set the fitted attributes of what was learned."""
        store_expansion(self, learned.expansion)
        if learned.support is not None:
            self.support_ = learned.support
        else:
            self.__dict__.pop("support_", None)  # of an earlier fit
        self.n_iter_ = learned.n_iter
        self.objective_ = learned.objective
        self.history_ = learned.history

    def _decision_values(self, X: Any, method: str) -> Any:
        """Evaluate the function for a method, which an error names."""
        check_is_fitted(self, "expansion_")
        X = validated(self, X)
        values = decision_values(self, X, self.device, method)
        check_finite(values, self.expansion_.kernel_name)
        return values


def warn_of(learned: Learned, doubt: str | None) -> None:
    """Warn of a solver that has not converged, and of a model that is poor."""
    if learned.warning is not None:
        warn(learned.warning, ConvergenceWarning)
    if doubt is not None:
        warn(doubt, PoorFitWarning)
