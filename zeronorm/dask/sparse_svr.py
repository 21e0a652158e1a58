"""SparseSVR on Dask collections."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from zeronorm.base.parameters import with_parameters
from zeronorm.dask.machine import OnDask
from zeronorm.dask.rows import Facts, NumberRows, Numbers, Target
from zeronorm.regressors.sparse_svr import SparseSVR


@with_parameters
class DaskSparseSVR(OnDask, SparseSVR):
    """SparseSVR on Dask arrays and dataframes, for rows that no machine could hold.

    Vectors and choices come from a sample of the rows, coefficients from every row; see
    :class:`DaskSparseSVC`.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that Dask has at hand.
    sample_rows : int, default=100_000
        Most rows of the sample. If there are no more than that, the model is the one that
        SparseSVR finds on them.
    n_terms, C, epsilon, loss, kernel, degree, gamma, coef0, metric, linear, max_features, rule, cv
        As in :class:`~zeronorm.SparseSVR`. The spread of the target is that of the sample, and so
        is its range (``extrapolation``).
    vectors, extrapolation, scoring, tol, max_iter, n_init, random_state, n_jobs, device, verbose
        As in :class:`~zeronorm.SparseSVR`. ``n_jobs`` is that of the client's machine;
        ``device`` is where the sample is learned there, and where every worker brings its blocks.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    expansion_, n_terms_, support_vectors_, dual_coef_, intercept_, ... : ndarray
        As those of :class:`~zeronorm.SparseSVR`: plain arrays.

    See Also
    --------
    zeronorm.SparseSVR : For rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from zeronorm.dask import DaskSparseSVR
    >>> client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).uniform(-3, 3, size=(1500, 1), chunks=(500, 1))
    >>> model = DaskSparseSVR(4, C=10.0, epsilon=0.01, random_state=0, sample_rows=1000)
    >>> predicted = model.fit(X, da.sin(X[:, 0])).predict(X)
    >>> bool(abs(predicted - da.sin(X[:, 0])).max().compute() < 0.1)
    True
    >>> client.close()
    """

    client: Any = None
    sample_rows: int = 100_000

    _local: ClassVar[type] = SparseSVR
    _target: ClassVar[Target] = Numbers()

    def _coding(self, training: Any, facts: Facts) -> NumberRows:
        return NumberRows(training.kernel)

    def _scored(self, predicted: Any, truth: Any, weight: Any) -> float:
        weight = weight if truth.ndim == 1 else weight[:, None]
        total, mean = self._computed(weight.sum(), (weight * truth).sum(axis=0))
        rest, spread = self._computed(
            *((weight * (truth - part) ** 2).sum(axis=0) for part in (predicted, mean / total))
        )
        # As r2_score: of a constant target 0, or 1 where every prediction is right.
        share = np.where(spread > 0, rest / np.where(spread > 0, spread, 1.0), rest > 0)
        return float(np.mean(1.0 - share))

    def predict(self, X: Any, return_interval: float | None = None) -> Any:
        """Predict the target of every row, and an interval in which it lies if asked.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows to predict for; arrays in memory are welcome too.
        return_interval : float, optional
            Probability with which a target is to lie in its interval, between 0 and 1.

        Returns
        -------
        y : Dask array of shape (n_samples,) or (n_samples, n_targets)
            Predictions, not yet computed.
        interval : Dask array of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Lower and upper end, if ``return_interval`` is given.
        """
        if not self._is_lazy(X):
            return super().predict(X, return_interval)
        n_targets = len(self.intercept_)
        shape = () if n_targets == 1 else (n_targets,)
        values = self._lazily(X, "predict", shape)
        if return_interval is None:
            return values
        # A wrong probability is said now, not by a worker.
        self.to_local().predict(np.zeros((1, self.n_features_in_)), return_interval)
        options = {"return_interval": return_interval}
        return values, self._lazily(X, "predict", (*shape, 2), **options)
