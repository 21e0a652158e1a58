"""SparseSVC on Dask collections."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from zeronorm.base.labels import class_weights
from zeronorm.base.parameters import with_parameters
from zeronorm.classifiers.sparse_svc import SparseSVC
from zeronorm.dask.machine import OnDask
from zeronorm.dask.rows import ClassRows, Facts, Labels, Target


@with_parameters
class DaskSparseSVC(OnDask, SparseSVC):
    """SparseSVC on Dask arrays and dataframes, for rows that no machine could hold.

    The vectors, their number and everything else are learned from a sample of the rows, drawn
    across all blocks, on the machine of the client. The coefficients are then solved on every row,
    to the same certificate as those of :class:`~zeronorm.SparseSVC`, on the workers.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that Dask has at hand.
    sample_rows : int, default=100_000
        Most rows of the sample. If there are no more than that, the model is the one that
        SparseSVC finds on them.
    n_terms, C, kernel, degree, gamma, coef0, metric, linear, max_features, rule, cv, class_weight
        As in :class:`~zeronorm.SparseSVC`. C is the cost of each of all rows. ``gamma="scale"`` is
        that of the sample. ``cv`` must not be a list of splits if rows are sampled.
    multi_class : {"auto", "ovr", "ovo"}, default="auto"
        As in :class:`~zeronorm.SparseSVC`. If rows are sampled, "auto" is "ovr" and "ovo" an error.
    vectors, scoring, tol, max_iter, n_init, random_state, n_jobs, device, verbose
        As in :class:`~zeronorm.SparseSVC`. ``n_jobs`` is that of the client's machine;
        ``device`` is where the sample is learned there, and where every worker brings its blocks.
        With ``vectors="rows"`` vectors are rows of the sample; there is no ``support_``.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    classes_, expansion_, n_terms_, support_vectors_, dual_coef_, intercept_, ... : ndarray
        As those of :class:`~zeronorm.SparseSVC`: plain arrays.

    See Also
    --------
    zeronorm.SparseSVC : For rows in memory, and files that are mapped into it.
    DaskSparseSVR : The same for regression.

    Notes
    -----
    There is one pass over all rows for classes and checks, one for the sample, and one for each of
    the few steps of Newton's method. Two blocks for each thread of the cluster are in flight. Rows
    that were not persisted are made, or read, again for each pass.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from zeronorm.dask import DaskSparseSVC
    >>> client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).uniform(-1, 1, size=(1500, 2), chunks=(500, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5
    >>> model = DaskSparseSVC(n_terms=3, C=10.0, random_state=0, sample_rows=1000).fit(X, y)
    >>> bool((model.predict(X) == y).mean().compute() > 0.95)
    True
    >>> model.to_local().n_terms_
    3
    >>> client.close()
    """

    client: Any = None
    sample_rows: int = 100_000

    _local: ClassVar[type] = SparseSVC
    _target: ClassVar[Target] = Labels()

    def _coding(self, training: Any, facts: Facts) -> ClassRows:
        classes = training.classes
        codes = np.arange(len(classes))
        weights = class_weights(self.class_weight, classes, codes, facts.totals)
        return ClassRows(training.kernel, classes, weights)

    def _scored(self, predicted: Any, truth: Any, weight: Any) -> float:
        right, total = self._computed((weight * (predicted == truth)).sum(), weight.sum())
        return float(right / total)

    def predict(self, X: Any) -> Any:
        """Predict the class of every row.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows to judge; arrays in memory are welcome too.

        Returns
        -------
        Dask array of shape (n_samples,)
            Class labels, not yet computed; an ndarray of rows in memory.
        """
        if not self._is_lazy(X):
            return super().predict(X)
        return self._lazily(X, "predict", (), self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Evaluate the decision function.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows to judge; arrays in memory are welcome too.

        Returns
        -------
        Dask array of shape (n_samples,) or (n_samples, n_classes)
            Decision values, not yet computed.
        """
        if not self._is_lazy(X):
            return super().decision_function(X)
        shape = () if len(self.classes_) == 2 else (len(self.classes_),)
        return self._lazily(X, "decision_function", shape)

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> Any:
        """Estimate the probability of every class.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows to judge; arrays in memory are welcome too.

        Returns
        -------
        Dask array of shape (n_samples, n_classes)
            One column per class, not yet computed.
        """
        return self._probabilities(X, "predict_proba")

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: Any) -> Any:
        """Estimate the logarithm of the probability of every class, as ``predict_proba`` does."""
        return self._probabilities(X, "predict_log_proba")

    def _probabilities(self, X: Any, method: str) -> Any:
        if not self._is_lazy(X):
            return getattr(super(), method)(X)
        return self._lazily(X, method, (len(self.classes_),))
