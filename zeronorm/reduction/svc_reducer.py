"""Reduction of fitted support vector machines: the same decisions with fewer terms.

Burges (1996) replaces the vectors of a fitted machine by fewer that lie where they serve best (RS);
Wu, Schölkopf & Bakir (2005) train the coefficients of these again (modified RS, MRS); Mannor, Peleg
& Rubinstein (2005) search among the vectors that are there (the second phase of their method);
Downs, Gates & Masters (2001) drop vectors that depend on others. ``learned/reduced_set.py`` has the
numerics of RS and of the last.
"""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.labels import check_sample_weight
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import check_cost, store_expansion
from zeronorm.checks import all_or_nothing, check_integer, check_positive, is_number
from zeronorm.decisions import Classes
from zeronorm.exceptions import PoorFitWarning
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.given_model import GivenModel, check_kernel_machine
from zeronorm.reduction.methods import drop_dependent, place_vectors, search_among_vectors
from zeronorm.reduction.problem import Limits, Reduced, Reduction, Rows, output_values

METHODS = ("reduced_set", "modified", "cross_entropy", "exact")


#: Share of changed decisions beyond which the smaller model is no longer that model.
MUCH = 0.2


@with_parameters
class SVCReducer(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Make a support vector classifier smaller.

    Takes a fitted :class:`~sklearn.svm.SVC`, :class:`~sklearn.svm.NuSVC` or classifier of zeronorm
    and finds a function with fewer kernel terms that decides alike.

    Parameters
    ----------
    estimator : classifier, default=None
        What is to become smaller; None is ``SVC()``. In a
        :class:`~sklearn.frozen.FrozenEstimator` a fitted one is used as it is; any other is cloned
        and fitted on the data. It is never changed.
    n_terms : int, optional
        Most kernel terms of the result. If neither this nor ``max_error`` is given, a tenth of
        the model's for "reduced_set" and "modified", no limit for the others.
    max_error : float, optional
        Largest share of decisions that may change, on the data given to ``fit``, or else on the
        model's own vectors. The smallest number of terms that keeps it is searched for.
    method : {"reduced_set", "modified", "cross_entropy", "exact"}, default="reduced_set"
        "reduced_set": new vectors, placed one after the other and then moved together so that the
        function is as near to the model's as so few terms allow. "modified": these vectors, with
        coefficients trained again on the data, with the model's C. "cross_entropy": a search
        among the model's own vectors, see :class:`CrossEntropySVC`; the outputs are then one
        class against the rest. "exact": vectors that are linear combinations of the others in
        feature space are dropped, and the function stays what it is.
    tol : float, default=1e-4
        Relative duality gap of coefficients that are trained again; also the relative progress of
        a step beyond which moving vectors are said not to have converge.
    max_iter : int, default=200
        Most steps in which all vectors move; most rounds of "cross_entropy".
    random_state : int, RandomState instance or None, default=None
        Draws of "cross_entropy", and starts of new vectors if the model has more than 1000.
    n_jobs : int, optional
        Workers of "cross_entropy".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier
        The model that was made smaller.
    expansion_ : KernelExpansion
        The smaller function.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The vectors of the terms.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients; of the pairs of classes if the model is an SVC with several.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    linear_coef_ : ndarray of shape (n_outputs, n_features)
        The linear part, where the model has one.
    metric_ : ndarray of shape (n_features,)
        Width of each feature, gamma times the metric, where the model's kernel has one.
    decision_rule_ : DecisionRule
        How the outputs become a class: as in the model, except after "cross_entropy".
    changed_ : float
        Share of changed decisions, on the data given to ``fit`` or else on the model's vectors.
    n_iter_ : int
        Steps with all the vectors, rounds of the search, or 1 where there is nothing to repeat.
    history_ : dict of ndarray
        For every size that was tried: "terms", "changed" (share of changed decisions) and, for
        the first two methods, "residual" (‖Ψ − Ψ'‖² / ‖Ψ‖², the squared distance in feature space),
        for "cross_entropy" the "cost" of the search (of the model as it is, the first one's).
    n_features_in_ : int
        Number of features.

    See Also
    --------
    SparseLargeMarginClassifier : Learns few vectors from the data.
    CrossEntropySVC : The search by itself.

    Notes
    -----
    A model that is small enough already comes back as it is.

    The intercept of "reduced_set" is such that the mean decision value on the model's own vectors
    stays what it was. The model's intercept, which Burges keeps, belongs to the whole function; a
    part of it has another mean. (On nine sets, with 5 % of the vectors, this changes 7.8 % of the
    decisions on new rows, the model's intercept 9.1 %.)

    A linear part of the model stays as it is, in "reduced_set" and "exact"; the other two train
    coefficients as if there were none, and refuse such a model.

    New vectors need a kernel with a derivative that is positive semidefinite: "rbf", "poly" or
    "linear". "modified" trains each pair of classes of an SVC on the rows of these two. NuSVC has
    no C; its solution is that of an SVC whose C is its largest coefficient.

    References
    ----------
    Christopher J. C. Burges: Simplified support vector decision rules. 13th International
    Conference on Machine Learning (1996).

    Tom Downs, Kevin E. Gates, Annette Masters: Exact simplification of support vector solutions.
    Journal of Machine Learning Research 2 (2001).

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.svm import SVC
    >>> from zeronorm import SVCReducer
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> svc = SVC().fit(X, y)
    >>> small = SVCReducer(FrozenEstimator(svc), n_terms=6).fit()
    >>> len(svc.support_), small.n_terms_
    (54, 6)
    >>> bool((small.predict(X) == svc.predict(X)).mean() > 0.99)
    True
    """

    estimator: Any = field(default=None, kw_only=False)
    n_terms: int | None = None
    max_error: float | None = None
    method: str = "reduced_set"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits: what fits the model."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self._estimator()).input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
        return tags

    def _estimator(self) -> Any:
        return SVC() if self.estimator is None else self.estimator

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> SVCReducer:
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
        with all_or_nothing(self):
            self._check_parameters()
            reduced = self._fit(X, y, sample_weight)
        if reduced.warning is not None:
            warnings.warn(reduced.warning, ConvergenceWarning, stacklevel=2)
        elif self.changed_ > MUCH:
            warnings.warn(
                f"With {self.n_terms_} terms {100 * self.changed_:.1f} % of the decisions are not "
                "those of the model. Take a larger n_terms, or max_error to find it.",
                PoorFitWarning,
                stacklevel=2,
            )
        return self

    def _check_parameters(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        if self.n_terms is not None:
            check_integer("n_terms", self.n_terms, least=1)
        if self.max_error is not None and not (
            is_number(self.max_error) and 0 <= self.max_error < 1
        ):
            raise ValueError(
                f"max_error must be a number of at least 0 and below 1; got {self.max_error!r}."
            )
        check_positive("tol", self.tol)
        check_integer("max_iter", self.max_iter, least=1)
        check_kernel_machine(self._estimator())

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Reduced:
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
        reduction = Reduction(GivenModel(estimator), rows)
        self._check_rows(reduction)
        reduced = self._reduce(reduction)
        self._store(estimator, reduction, reduced)
        return reduced

    def _reduce(self, reduction: Reduction) -> Reduced:
        limits = Limits(self.n_terms, self.max_error, self.tol, self.max_iter, self.random_state)
        if self.method == "exact":
            return drop_dependent(reduction, limits)
        if self.method == "cross_entropy":
            return search_among_vectors(reduction, limits, n_jobs=self.n_jobs)
        return place_vectors(reduction, limits, train_again=self.method == "modified")

    def _rows(self, X: Any, y: Any, sample_weight: Any, is_frozen: bool) -> Rows | None:
        needs_labels = not is_frozen or self.method in ("modified", "cross_entropy")
        if X is None:
            if not is_frozen:
                raise ValueError(
                    "There is no data to fit the model with. A fitted model that is to be used as "
                    "it is goes in a FrozenEstimator."
                )
            if needs_labels:
                raise ValueError(f"method={self.method!r} needs the data: fit(X, y).")
            if y is not None or sample_weight is not None:
                raise ValueError("There are labels or weights, but no X.")
            return None
        options = {"accept_sparse": "csr", "dtype": np.float64}
        if needs_labels:
            X, y = validate_data(self, X, y, **options)
            check_classification_targets(y)
        else:
            X, y = validate_data(self, X, **options), None
        weight = check_sample_weight(sample_weight, X.shape[0])
        return Rows(X, y, weight, sample_weight is not None)

    def _check_rows(self, reduction: Reduction) -> None:
        """Raise ValueError unless the data fit the model."""
        rows, given = reduction.rows, reduction.given
        if rows is None:
            return
        needed = given.n_features
        if rows.X.shape[1] != needed:
            raise ValueError(f"X has {rows.X.shape[1]} features; the model takes {needed}.")
        if rows.y is not None:
            there = np.unique(rows.y[rows.weight > 0])
            if not np.array_equal(there, given.classes):
                raise ValueError(
                    f"y holds the classes {there.tolist()}; the model has "
                    f"{given.classes.tolist()}, and method={self.method!r} needs rows of each."
                )

    def _store(self, estimator: Any, reduction: Reduction, reduced: Reduced) -> None:
        self.estimator_ = estimator
        self.classes_ = reduction.given.classes
        store_expansion(self, reduced.expansion)
        self.decision_rule_ = reduced.rule
        self.changed_ = reduced.changed
        self.n_iter_ = reduced.n_iter
        self.history_ = {key: np.array(values) for key, values in reduction.history.items()}
        if reduction.rows is None:
            self.n_features_in_ = reduction.given.n_features
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
            if hasattr(estimator, "feature_names_in_"):
                self.feature_names_in_ = estimator.feature_names_in_

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function, of the same shape as the model's.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Decision values; pairs of classes where the model is an SVC with
            ``decision_function_shape="ovo"``.
        """
        outputs = self._outputs(X)
        return self.expansion_.scores(outputs)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row, by the rule of the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        outputs = self._outputs(X)
        return Classes(self.classes_, self.decision_rule_).predict(outputs)

    def _model_parts(self) -> tuple[KernelExpansion, Classes]:
        """Return what was learned, and how it decides."""
        return self.expansion_, Classes(self.classes_, self.decision_rule_)

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "expansion_")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return output_values(self.expansion_, X)
