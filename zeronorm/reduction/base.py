"""What the reducers share: which model, how small, by which method, on which rows."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.documented import Documented
from zeronorm.base.fitting import fitting
from zeronorm.base.labels import check_sample_weight
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import check_cost, store_expansion
from zeronorm.base.validation import check_device, validated
from zeronorm.checks import check_integer, check_one_of, check_stopping, is_number, shown
from zeronorm.classifiers.cross_entropy import BLOCK_ROWS
from zeronorm.exceptions import PoorFitWarning, warn
from zeronorm.reduction.given_model import Given
from zeronorm.reduction.methods import drop_dependent, place_vectors
from zeronorm.reduction.problem import GivenRows, Reduced, Reduction, Request, output_values
from zeronorm.reduction.subset_search import search_among_vectors


@with_parameters
class KernelReducer(MetaEstimatorMixin, Documented, BaseEstimator, metaclass=ABCMeta):
    """Base of the reducers; a subclass says which machines it takes, and what their values mean."""

    #: What is made smaller if nothing is given, and what is to be known of a fitted model.
    _default: ClassVar[type]
    _given: ClassVar[type[Given]]

    #: Methods there are, and whether training again wants a target.
    _methods: ClassVar[tuple[str, ...]] = ("reduced_set", "modified", "cross_entropy", "exact")
    _has_target: ClassVar[bool] = True

    #: Rows on which "cross_entropy" scores sets of vectors, at most.
    _block_rows: ClassVar[int] = BLOCK_ROWS

    estimator: Any = field(default=None, kw_only=False)
    n_terms: int | None = None
    max_error: float | None = None
    method: str = "reduced_set"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Any = None
    n_jobs: int | None = None
    device: str | None = None

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits: what fits the model."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self._estimator()).input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
        return tags

    def _estimator(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    @abstractmethod
    def _model_parts(self) -> tuple[Any, Any]:
        """Return what was learned, and what its values mean."""

    def _target_options(self) -> dict[str, Any]:
        """Options that validate the target."""
        return {}

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        """Return the target, checked beyond its shape."""
        return y

    def _check_target(self, rows: GivenRows, given: Any) -> None:
        """Raise ValueError unless the target fits the model."""

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
        """Make the model smaller, after fitting it unless it is frozen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Rows. A frozen model needs none for "reduced_set" and "exact"; decisions are compared
            on them where they are given. The square kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,), optional
            Class labels; needed where something is fitted.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            reduced, given = self._fit(X, y, sample_weight)
        if reduced.warning is not None:
            warn(reduced.warning, ConvergenceWarning)
        elif (doubt := given.doubt(self)) is not None:
            warn(doubt, PoorFitWarning)
        return self

    def _check_parameters(self) -> None:
        check_one_of("method", self.method, self._methods)
        if self.n_terms is not None:
            check_integer("n_terms", self.n_terms, least=1)
        if self.max_error is not None:
            self._check_error()
        check_stopping(self)
        check_device(self.device)
        check_kernel_machine(self._estimator())
        self._check_kind()

    def _check_kind(self) -> None:
        """Raise ValueError for a machine of another kind before it is fitted in vain."""
        estimator, example = self._estimator(), self._default()
        kind, needed = (get_tags(model).estimator_type for model in (estimator, example))
        if kind != needed and not isinstance(estimator, FrozenEstimator):
            raise ValueError(
                f"estimator must be a {needed} such as {type(example).__name__}; got "
                f"{shown(estimator)}."
            )

    def _check_error(self) -> None:
        """Raise ValueError unless max_error is a share."""
        error: Any = self.max_error
        if not (is_number(error) and 0 <= error < 1):
            raise ValueError(
                "max_error must be a number of at least 0 and below 1; got "
                f"{shown(self.max_error)}."
            )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Reduced, Given]:
        estimator = self._estimator()
        is_frozen = isinstance(estimator, FrozenEstimator)
        rows = self._rows(X, y, sample_weight, is_frozen)
        if not is_frozen:
            assert rows is not None
            weights = {"sample_weight": rows.weight} if rows.is_weighted else {}
            check_cost(rows.weight[rows.weight > 0])
            # What overflows is found by the checks of the model, which say it in a sentence.
            with np.errstate(all="ignore"):
                estimator = clone(estimator).fit(rows.X, rows.y, **weights)
        given = self._given(estimator)
        given.device = self.device
        if rows is not None:
            self._check_rows(rows, given)
        reduction = Reduction(given, rows)
        with np.errstate(all="ignore"):
            reduced = self._reduce(reduction)
        self._store(estimator, reduction, reduced)
        return reduced, reduction.given

    def _reduce(self, reduction: Reduction) -> Reduced:
        request = Request(self.n_terms, self.max_error, self.tol, self.max_iter, self.random_state)
        if self.method == "exact":
            return drop_dependent(reduction, request)
        if self.method == "cross_entropy":
            return search_among_vectors(
                reduction, request, n_jobs=self.n_jobs, block_rows=self._block_rows
            )
        return place_vectors(reduction, request, train_again=self.method == "modified")

    def _rows(self, X: Any, y: Any, sample_weight: Any, is_frozen: bool) -> GivenRows | None:
        needs_rows = not is_frozen or self.method in ("modified", "cross_entropy")
        needs_labels = needs_rows and self._has_target
        if X is None:
            if not is_frozen:
                raise ValueError(
                    "There is no data to fit the model with. A fitted model that is to be used as "
                    "it is goes in a FrozenEstimator."
                )
            if needs_rows:
                raise ValueError(f"method={shown(self.method)} needs the data: fit(X, y).")
            if y is not None or sample_weight is not None:
                raise ValueError("There are labels or weights, but no X.")
            return None
        options = {"accept_sparse": "csr", "dtype": np.float64}
        if needs_labels:
            X, y = validate_data(self, X, y, **options, **self._target_options())
            y = self._checked_target(y)
        else:
            X, y = validate_data(self, X, **options), None
        weight = check_sample_weight(sample_weight, X.shape[0])
        return GivenRows(X, y, weight, sample_weight is not None)

    def _check_rows(self, rows: GivenRows, given: Given) -> None:
        """Raise ValueError unless the data fit the model."""
        if rows.X.shape[1] != given.n_features:
            needed = given.n_features
            raise ValueError(f"X has {rows.X.shape[1]} features; the model takes {needed}.")
        if rows.y is not None:
            self._check_target(rows, given)

    def _store(self, estimator: Any, reduction: Reduction, reduced: Reduced) -> None:
        self.estimator_ = estimator
        store_expansion(self, reduced.expansion)
        self.changed_ = reduced.changed
        self.n_iter_ = reduced.n_iter
        self.history_ = reduction.history.arrays()
        if reduction.rows is None:
            self.n_features_in_ = reduction.given.n_features
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
            if hasattr(estimator, "feature_names_in_"):
                self.feature_names_in_ = estimator.feature_names_in_

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "expansion_")
        return output_values(self.expansion_, validated(self, X))


def check_kernel_machine(estimator: Any) -> None:
    """Raise ValueError for what is no kernel machine, where that can be seen before fitting."""
    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if isinstance(inner, Pipeline):
        raise ValueError(
            "A pipeline is no kernel machine; its last step may be. Reduce that: in a pipeline, "
            "put the reducer last, around the machine; of a fitted one, take "
            "FrozenEstimator(pipeline[-1]) and fit with pipeline[:-1].transform(X)."
        )
    if isinstance(inner, BaseSearchCV):
        raise ValueError(f"Take the best_estimator_ of the {type(inner).__name__}.")
    if not hasattr(inner, "fit") or isinstance(inner, type):
        raise ValueError(f"estimator must be a kernel machine such as SVC(); got {shown(inner)}.")
    if inner is not estimator:
        check_is_fitted(inner)
