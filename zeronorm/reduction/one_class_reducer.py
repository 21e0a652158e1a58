"""Reduction of fitted one-class machines: the same decisions with fewer terms.

The methods are those of ``SVCReducer``; coefficients are trained again by the problem of the
machine itself, with its nu.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.svm import OneClassSVM

from zeronorm.base.parameters import with_parameters
from zeronorm.decisions import OneClass
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.base import KernelReducer
from zeronorm.reduction.given_model import Given, GivenOneClass
from zeronorm.reduction.problem import Reduced, Reduction


@with_parameters
class OneClassReducer(OutlierMixin, KernelReducer):
    """Make a one-class machine smaller.

    Takes a fitted :class:`~sklearn.svm.OneClassSVM` or one of zeronorm and finds a function with
    fewer kernel terms that decides alike.

    Parameters
    ----------
    estimator : one-class machine, default=None
        What is to become smaller; None is ``OneClassSVM()``. In a
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
        coefficients trained again on the data, with the model's nu. "cross_entropy": a search among
        the model's own vectors for the fewest that tell the rows inside from those outside, as the
        model does. "exact": vectors that are linear combinations of the others in feature space are
        dropped, and the function stays what it is.
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
    estimator_ : one-class machine
        The model that was made smaller.
    expansion_ : KernelExpansion
        The smaller function.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The vectors of the terms.
    dual_coef_ : ndarray of shape (1, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    offset_ : float
        Score below which a row is an outlier.
    changed_ : float
        Share of changed decisions, on the data given to ``fit`` or else on the model's vectors.
    n_iter_ : int
        Steps with all the vectors, rounds of the search, or 1 where there is nothing to repeat.
    history_ : dict of ndarray
        For every size that was tried: "terms", "changed" and, for the first two methods, "residual"
        (‖Ψ − Ψ'‖² / ‖Ψ‖², the squared distance in feature space), for "cross_entropy" the "cost" of
        the search (of the model as it is, the first one's).
    n_features_in_ : int
        Number of features.

    See Also
    --------
    SVCReducer : The same for classifiers.
    SparseOneClassSVM : Learns few vectors from the data.

    Notes
    -----
    A model that is small enough already comes back as it is. The offset of "reduced_set" leaves as
    many rows outside as the model does; without data, the mean value on the model's own vectors
    stays what it was. Many of these lie on the boundary, where the least change is one of the
    decision: compare on data. The scores of "cross_entropy" have the size of the model's on the
    data; what it keeps are decisions, and ranks among rows far inside may change.

    References
    ----------
    Christopher J. C. Burges: Simplified support vector decision rules. 13th International
    Conference on Machine Learning (1996).

    Shie Mannor, Dori Peleg, Reuven Rubinstein: The cross entropy method for classification. 22nd
    International Conference on Machine Learning (2005).

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.svm import OneClassSVM
    >>> from zeronorm import OneClassReducer
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> machine = OneClassSVM(nu=0.2).fit(X)
    >>> small = OneClassReducer(FrozenEstimator(machine), n_terms=12).fit(X)
    >>> len(machine.support_), small.n_terms_
    (68, 12)
    >>> bool(np.mean(small.predict(X) == machine.predict(X)) > 0.9)
    True
    """

    _default: ClassVar[type] = OneClassSVM
    _given: ClassVar[type[Given]] = GivenOneClass
    _has_target: ClassVar[bool] = False

    def _store(self, estimator: Any, reduction: Reduction, reduced: Reduced) -> None:
        super()._store(estimator, reduction, reduced)
        self.offset_ = -float(self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function: the score less the offset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for rows like those of the training data.
        """
        return self._outputs(X)[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Score rows: the decision function without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 for rows like those of the training data, -1 for outliers."""
        outputs = self._outputs(X)
        return OneClass(self.offset_).predict(outputs)

    def _model_parts(self) -> tuple[KernelExpansion, OneClass]:
        """Return what was learned, and what its values mean."""
        return self.expansion_, OneClass(self.offset_)
