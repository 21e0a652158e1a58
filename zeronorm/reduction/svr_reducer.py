"""Reduction of fitted support vector regressors: nearly the same predictions with fewer terms.

The methods are those of ``SVCReducer``; what changes are predictions instead of decisions, and
coefficients are trained again with the epsilon-insensitive loss of the model.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.svm import SVR
from sklearn.utils import Tags, get_tags

from zeronorm.base.parameters import with_parameters
from zeronorm.base.targets import numeric_targets
from zeronorm.checks import check_not_negative
from zeronorm.decisions import Number
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.base import KernelReducer
from zeronorm.reduction.given_model import Given, GivenNumbers
from zeronorm.reduction.problem import GivenRows


@with_parameters
class SVRReducer(RegressorMixin, KernelReducer):
    """Make a support vector regressor smaller.

    Takes a fitted :class:`~sklearn.svm.SVR`, :class:`~sklearn.svm.NuSVR` or regressor of zeronorm
    and finds a function with fewer kernel terms that predicts nearly the same.

    Parameters
    ----------
    estimator : regressor, default=None
        What is to become smaller; None is ``SVR()``. In a
        :class:`~sklearn.frozen.FrozenEstimator` a fitted one is used as it is; any other is cloned
        and fitted on the data. It is never changed.
    n_terms : int, optional
        Most kernel terms of the result. If neither this nor ``max_error`` is given, a tenth of
        the model's for "reduced_set" and "modified", no limit for the others.
    max_error : float, optional
        Largest root mean square of the change of predictions, in units of the target, on the data
        given to ``fit``, or else on the model's own vectors. The smallest number of terms that
        keeps it is searched for.
    method : {"reduced_set", "modified", "cross_entropy", "exact"}, default="reduced_set"
        "reduced_set": new vectors, placed one after the other and then moved together so that the
        function is as near to the model's as so few terms allow. "modified": these vectors, with
        coefficients trained again on the data, with the model's C and epsilon. "cross_entropy": a
        search among the model's own vectors, each set judged by its number and C times the
        epsilon-insensitive loss on the data, in spreads of the target. "exact": vectors that are
        linear combinations of the others in feature space are dropped, and the function stays what
        it is.
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
    estimator_ : regressor
        The model that was made smaller.
    expansion_ : KernelExpansion
        The smaller function.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The vectors of the terms.
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Constants.
    changed_ : float
        Root mean square of the change of predictions, in units of the target, on the data given to
        ``fit`` or else on the model's vectors.
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
    SparseSVR : Learns few vectors from the data.

    Notes
    -----
    A model that is small enough already comes back as it is. The intercept of "reduced_set" is such
    that the mean prediction on the model's own vectors stays what it was. "modified" and
    "cross_entropy" need a model with C and epsilon, and no linear part: an ``SVR`` or a
    ``ZeroNormSVR``.

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
    >>> from sklearn.svm import SVR
    >>> from zeronorm import SVRReducer
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sinc(X[:, 0]) + 0.1 * np.random.RandomState(0).randn(200)
    >>> svr = SVR(C=10).fit(X, y)
    >>> small = SVRReducer(FrozenEstimator(svr), n_terms=10).fit(X)
    >>> len(svr.support_) > 50, small.n_terms_
    (True, 10)
    >>> bool(np.abs(small.predict(X) - svr.predict(X)).max() < 0.05)
    True
    """

    _default: ClassVar[type] = SVR
    _given: ClassVar[type[Given]] = GivenNumbers

    def _check_error(self) -> None:
        check_not_negative("max_error", self.max_error)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what targets fit: what fits the model."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several()
        return tags

    def _takes_several(self) -> bool:
        return get_tags(self._estimator()).target_tags.multi_output

    def _target_options(self) -> dict[str, Any]:
        return {"multi_output": self._takes_several(), "y_numeric": True}

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        targets = numeric_targets(y)
        return targets[:, 0] if targets.shape[1] == 1 else targets

    def _check_target(self, rows: GivenRows, given: Any) -> None:
        n_targets, needed = rows.y.reshape(len(rows.y), -1).shape[1], given.expansion.n_outputs
        if n_targets != needed:
            raise ValueError(f"y has {n_targets} targets; the model has {needed}.")

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to predict for; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        return Number().predict(self._outputs(X))

    def _model_parts(self) -> tuple[KernelExpansion, Number]:
        """Return what was learned, and what its values mean."""
        return self.expansion_, Number()
