"""Reduction of fitted support vector machines: the same decisions with fewer terms.

Burges (1996) replaces the vectors of a fitted machine by fewer that lie where they serve best (RS);
Wu, Schölkopf & Bakir (2005) train the coefficients of these again (modified RS, MRS); Mannor, Peleg
& Rubinstein (2005) search among the vectors that are there (the second phase of their method);
Downs, Gates & Masters (2001) drop vectors that depend on others. ``learned/reduced_set.py`` has the
numerics of RS and of the last.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.svm import SVC

from zeronorm.base.labels import check_labels
from zeronorm.base.parameters import with_parameters
from zeronorm.checks import shown
from zeronorm.decisions import Classes
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.base import KernelReducer
from zeronorm.reduction.given_model import Given, GivenClasses
from zeronorm.reduction.problem import GivenRows, Reduced, Reduction


@with_parameters
class SVCReducer(ClassifierMixin, KernelReducer):
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
        a step beyond which moving vectors are said not to have converged.
    max_iter : int, default=200
        Most steps in which all vectors move; most rounds of "cross_entropy".
    random_state : int, RandomState instance or None, default=None
        Draws of "cross_entropy", and starts of new vectors if the model has more than 1000.
    n_jobs : int, optional
        Workers of "cross_entropy".
    device : str, optional
        A device of PyTorch, as "cuda", where "reduced_set" and "modified" make the sums over the
        vectors of a large model; everything else, and the result, is NumPy's.

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
    part of it has another mean, and changes more decisions (docs/decisions.md has how many).

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

    _default: ClassVar[type] = SVC
    _given: ClassVar[type[Given]] = GivenClasses

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        check_labels(y)
        return y

    def _check_target(self, rows: GivenRows, given: Any) -> None:
        there = np.unique(rows.y[rows.weight > 0])
        if not np.array_equal(there, given.classes):
            raise ValueError(
                f"y holds the classes {there.tolist()}; the model has "
                f"{given.classes.tolist()}, and method={shown(self.method)} needs rows of each."
            )

    def _store(self, estimator: Any, reduction: Reduction, reduced: Reduced) -> None:
        super()._store(estimator, reduction, reduced)
        self.classes_ = reduction.given.classes
        self.decision_rule_ = reduced.rule

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
