"""What all selectors share: validation, how many features, equal and constant ones, the mask."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.labels import class_codes, signed_targets
from zeronorm.checks import all_or_nothing, check_integer, check_positive, check_share, is_integer
from zeronorm.feature_selection.sizes import cross_validated_sizes, size_path
from zeronorm.model_selection import chosen
from zeronorm.solvers.elimination.columns import Columns, first_equal_column


@dataclass
class Selection:
    """What a method returns of the columns it was given.

    ``order`` has all of them, best first; ``settled`` is the number that the method itself would
    keep, ``scaling`` the weight it gives to each column; ``history`` has one entry a round.
    """

    order: np.ndarray
    settled: int
    scaling: np.ndarray
    n_iter: int = 1
    history: dict[str, Any] = field(default_factory=dict)
    warning: str | None = None


class LinearSelector(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the selectors; a subclass ranks the columns in ``_rank``.

    A subclass has the parameters ``n_features_to_select``, ``C``, ``cv`` and ``n_jobs``.
    """

    n_features_to_select: Any
    C: float
    cv: Any
    n_jobs: int | None

    @abstractmethod
    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        """Rank the columns, at least so far that the best ``stop_at`` of them are known.

        None asks for the set that the method settles on. ``targets`` are labels -1 and +1, one
        column for two classes, one for each class beyond.
        """

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        check_n_features(self.n_features_to_select)

    def fit(self, X: Any, y: Any) -> Any:
        """Rank the features and select.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows. Standardise them first, unless their units mean something.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Any:
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64)
        check_classification_targets(y)
        classes, codes = class_codes(y)
        wanted = resolve_n_features(self.n_features_to_select, X.shape[1])
        self.__dict__.pop("cv_results_", None)  # of an earlier fit
        if isinstance(wanted, str):
            wanted = self._choose_size(X, codes)
        selection = self._select(X, codes, wanted)
        count = max(1, selection.settled) if wanted is None else wanted
        self.classes_ = classes
        self.ranking_ = np.empty(X.shape[1], dtype=np.intp)
        self.ranking_[selection.order] = np.arange(1, X.shape[1] + 1)
        self.scaling_ = selection.scaling
        self.support_ = self.ranking_ <= count
        self.n_features_ = count
        self.n_iter_ = selection.n_iter
        self.history_ = selection.history
        if selection.warning is not None:
            warnings.warn(selection.warning, ConvergenceWarning, stacklevel=3)
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _select(self, X: Any, codes: np.ndarray, wanted: int | None) -> Selection:
        targets = signed_targets(codes, codes.max() + 1)
        # What overflows is found by the check below, which says it in a sentence.
        with np.errstate(all="ignore"):
            selection = select_distinct(self._rank, Columns(X), targets, wanted)
        check_finite(selection.scaling)
        return selection

    def _choose_size(self, X: Any, codes: np.ndarray) -> int:
        """Choose the smallest number of features within one standard error of the best."""
        self.cv_results_ = cross_validated_sizes(
            self, X, codes, size_path(X.shape[1]), C=self.C, cv=self.cv, n_jobs=self.n_jobs
        )
        return int(self.cv_results_["n_features"][chosen(self.cv_results_)])

    def _order_of(self, X: Any, codes: np.ndarray, stop_at: int) -> np.ndarray:
        """Order of the features on these rows, for cross-validation."""
        _, present = np.unique(codes, return_inverse=True)
        return self._select(X, present, stop_at).order


def select_distinct(
    rank: Any, columns: Columns, targets: np.ndarray, wanted: int | None
) -> Selection:
    """Rank the columns that vary and are not equal to an earlier one; the others come last.

    A copy adds nothing to a linear model, a constant even less.
    """
    n_columns = columns.n_columns
    check_finite(columns.deviations @ columns.deviations)
    varies = columns.deviations > 0
    usable = varies & (first_equal_column(columns) == np.arange(n_columns))
    if usable.all():
        return rank(columns, targets, wanted)
    indices = np.flatnonzero(usable)
    others = np.concatenate([np.flatnonzero(varies & ~usable), np.flatnonzero(~varies)])
    if len(indices) == 0:
        return Selection(np.arange(n_columns), 0, np.zeros(n_columns), 0)
    columns.keep(usable)
    selection = rank(columns, targets, None if wanted is None else min(wanted, len(indices)))
    selection.order = np.concatenate([indices[selection.order], others])
    scaling = np.zeros(n_columns)
    scaling[indices] = selection.scaling
    selection.scaling = scaling
    return selection


def check_n_features(value: Any) -> None:
    """Raise ValueError unless ``value`` says how many features to select."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return
    if is_integer(value):
        check_integer("n_features_to_select", value, least=1)
    elif isinstance(value, float):
        check_share("n_features_to_select, as a share of the features,", value)
    else:
        raise ValueError(
            "n_features_to_select must be None, 'auto', an integer of at least 1, or a share of "
            f"the features above 0 and at most 1; got {value!r}."
        )


def resolve_n_features(value: Any, n_features: int) -> Any:
    """Turn a share into a number; refuse more features than there are."""
    if isinstance(value, float):
        return max(1, round(value * n_features))
    if is_integer(value) and value > n_features:
        raise ValueError(
            f"n_features_to_select is {value}, but X has {n_features} feature(s); select at most "
            "as many as there are."
        )
    return value


def check_finite(values: np.ndarray) -> None:
    """Raise ValueError if the inner products of the data, or a solution, have overflowed."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The solution is not finite: the data are too badly scaled. Standardise the features, "
            "or take a smaller C."
        )
