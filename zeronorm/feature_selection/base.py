"""What all selectors share: validation, how many features, equal and constant ones, the mask."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.documented import Documented
from zeronorm.base.fitting import fitting
from zeronorm.base.labels import check_labels
from zeronorm.base.parameters import with_parameters
from zeronorm.checks import (
    check_integer,
    check_positive,
    check_share,
    check_stopping,
    is_integer,
    shown,
)
from zeronorm.exceptions import warn
from zeronorm.feature_selection.sizes import cross_validated_sizes
from zeronorm.feature_selection.tasks import ClassTask, task_of
from zeronorm.model_selection import chosen
from zeronorm.solvers.elimination.columns import Columns, Selection, first_equal_column


@with_parameters
class LinearSelector(SelectorMixin, Documented, BaseEstimator, metaclass=ABCMeta):
    """Base of the selectors; a subclass ranks the columns in ``_rank``."""

    n_features_to_select: Any = field(default=None, kw_only=False)
    C: float = 1.0
    cv: Any = 5
    n_jobs: int | None = None

    #: Kind of what features are selected for.
    _task_kind: ClassVar[Any] = ClassTask

    @abstractmethod
    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        """Rank the columns, at least so far that the best ``stop_at`` of them are known.

        None asks for the set that the method settles on. ``targets`` are labels -1 and +1, one
        column for two classes, one for each class beyond, one for each of several labels; or
        numbers, where a selector takes them.
        """

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        check_stopping(self)
        value = self.n_features_to_select
        if is_integer(value):
            check_integer("n_features_to_select", value, least=1)
        elif isinstance(value, float):
            check_share("n_features_to_select, as a share of the features,", value)
        elif value is not None and not (isinstance(value, str) and value == "auto"):
            raise ValueError(
                "n_features_to_select must be None, 'auto', an integer of at least 1, or a number "
                f"above 0 and at most 1, the share of the features; got {shown(value)}."
            )

    def fit(self, X: Any, y: Any) -> Any:
        """Rank the features and select.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows. Standardise them first, unless their units mean something.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes; for AROMSelector also numbers, one or several for
            each row, or a table of zeros and ones, several labels for each row.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            options = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}
            X, y = validate_data(self, X, y, **options, **self._target_options())
            task = self._task(y)
            self.__dict__["_task_kind"] = type(task)
            for name in ("cv_results_", "classes_"):
                self.__dict__.pop(name, None)  # of an earlier fit
            if isinstance(task, ClassTask):
                self.classes_ = task.classes
            selection = self._select(X, task.targets(), self._wanted(X, task))
            self.ranking_ = np.empty(X.shape[1], dtype=np.intp)
            self.ranking_[selection.order] = np.arange(1, X.shape[1] + 1)
            self.support_ = self.ranking_ <= selection.count
            self.n_features_, self.scaling_ = selection.count, selection.scaling
            self.n_iter_, self.history_ = selection.n_iter, selection.history.arrays()
            if selection.warning is not None:
                message = f"{type(self).__name__} {selection.warning}"
                warn(message, ConvergenceWarning)
        return self

    def _target_options(self) -> dict[str, Any]:
        """Options that validate the target."""
        return {}

    def _task(self, y: np.ndarray) -> Any:
        """Return what features are selected for: classes."""
        check_labels(y)
        return task_of(y)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _wanted(self, X: Any, task: Any) -> int | None:
        """Return how many features to select; None leaves it to the method.

        "auto" is the smallest number within one standard error of the best.
        """
        n_features, value = X.shape[1], self.n_features_to_select
        if isinstance(value, str):
            self.cv_results_ = cross_validated_sizes(self, X, task)
            return int(self.cv_results_["n_features"][chosen(self.cv_results_)])
        if isinstance(value, float):
            return max(1, round(value * n_features))
        if value is not None and value > n_features:
            raise ValueError(
                f"n_features_to_select is {value}, but X has {n_features} feature(s); select at "
                "most as many as there are."
            )
        return value

    def _select(
        self,
        X: Any,
        targets: np.ndarray,
        wanted: int | None,
        multiplicity: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> Selection:
        """Rank the columns that vary and are not equal to an earlier one; the others come last.

        A copy adds nothing to a linear model, a constant even less.
        """
        # What overflows is found by the checks, which raise ValueError.
        with np.errstate(all="ignore"):
            columns = Columns(X, multiplicity, weight)
            n_columns, varies = columns.n_columns, columns.deviations > 0
            check_finite(columns.deviations @ columns.deviations)
            usable = varies & (first_equal_column(columns) == np.arange(n_columns))
            if not usable.all():
                columns.keep(usable)
            indices = np.flatnonzero(usable)
            selection = Selection(indices, 0, np.zeros(0))
            if len(indices):
                stop_at = None if wanted is None else min(wanted, len(indices))
                selection = self._rank(columns, targets, stop_at)
        check_finite(selection.scaling)
        others = [np.flatnonzero(varies & ~usable), np.flatnonzero(~varies)]
        selection.order = np.concatenate([indices[selection.order], *others])
        scaling, selection.scaling = selection.scaling, np.zeros(n_columns)
        selection.scaling[indices] = scaling
        selection.count = max(1, selection.count) if wanted is None else wanted
        return selection


def check_finite(values: Any) -> None:
    """Raise ValueError if the inner products of the data, or a solution, have overflowed."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The solution is not finite: the data are too badly scaled. Standardise the features, "
            "or take a smaller C."
        )


def gap_warning(gap: float) -> str | None:
    """Return what to warn of if this relative duality gap is too large."""
    # The solvers end far below this; a larger gap means that rounding has had its say, in them or
    # in the coefficients that are returned.
    if gap <= 1e-3:
        return None
    return (
        f"ended with a relative duality gap of {gap:.1e}. Standardise the features, or take a "
        "smaller C."
    )
