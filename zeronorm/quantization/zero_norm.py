"""The fewest training rows such that every row lies within a radius of one of them.

Vector quantisation by the zero-norm (Weston, Elisseeff & Schölkopf 2001, and the discussion of
Weston et al. 2003): with A_ij = 1 where |x_i - x_j| <= radius,

    min |w|_0,     A w >= 1,   w >= 0.

``solvers/cover/`` solves it; here are rows, distances and labels. That it is a cover is seen row by
row; how far it may be from the smallest one, the bound of the first linear program tells.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.documented import Documented
from zeronorm.base.fitting import fitting
from zeronorm.base.parameters import with_parameters
from zeronorm.checks import check_integer, check_not_negative, shown
from zeronorm.distances import finite_distances
from zeronorm.quantization.neighbours import neighbours, smallest_radius
from zeronorm.solvers.cover import Cover, small_cover

#: Number of vectors where neither that nor a radius is given: as many as KMeans has clusters.
N_VECTORS = 8


@with_parameters
class ZeroNormQuantizer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Documented, BaseEstimator
):
    """As few training rows as possible, such that every row lies within a radius of one of them.

    Where :class:`~sklearn.cluster.KMeans` has a small mean squared distance to centres that are no
    rows, this bounds the largest distance, to centres that are rows of the data.

    Parameters
    ----------
    radius : float, optional
        Largest Euclidean distance of a row to the nearest centre; as few centres as possible.
    n_vectors : int, optional
        Largest number of centres, instead of ``radius``: as small a radius as possible. By default,
        where no radius is given either, 8.
    n_init : int, default=10
        Most starts of the reweighting, the first with equal weights, the others with random ones.
        They end once the linear program proves that there is no smaller cover.
    max_iter : int, default=50
        Most rounds of reweighting of each start.
    random_state : int, RandomState instance or None, default=None
        Draws the weights of the later starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_centers, n_features)
        The centres, rows of the training data.
    cluster_centers_indices_ : ndarray of shape (n_centers,)
        Their indices, rising.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each training row.
    radius_ : float
        The radius: as given, or the distance of the farthest row to the nearest of ``n_vectors``
        centres.
    lower_bound_ : int
        No cover with this radius by training rows has fewer centres, by the linear program. Where
        it is the number of centres, that is the minimum. With ``n_vectors`` it is 1 where no
        program had to be solved.
    n_iter_ : int
        The greedy cover, and the rounds of reweighting at the radius.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    sklearn.cluster.KMeans : Centres with the least mean squared distance.
    SparseKernelDensity : As few rows as possible that describe a density.

    Notes
    -----
    The number of centres is minimised by repeated reweighted linear programs, after which centres
    that are not needed are dropped. It is never above that of the greedy cover, which takes the row
    with the most rows near it that are not covered yet, and so on. Distances depend on the units of
    the features: standardise them, unless they have a common one.

    With ``n_vectors`` the radius is found by bisection over the distances between rows. All of them
    are then in memory: at most 10 000 different rows. With ``radius`` only pairs within it are, at
    most twenty million.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf: Use of the l0-norm with linear models and
    kernel methods. Technical report (2001).

    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Teofilo Gonzalez: Clustering to minimize the maximum intercluster distance. Theoretical Computer
    Science 38 (1985).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormQuantizer
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> quantizer = ZeroNormQuantizer(radius=0.5, random_state=0).fit(X)
    >>> len(quantizer.cluster_centers_), quantizer.lower_bound_
    (8, 8)
    >>> bool(quantizer.transform(X).min(axis=1).max() <= 0.5)
    True
    """

    radius: float | None = field(default=None, kw_only=False)
    n_vectors: int | None = field(default=None, kw_only=False)
    n_init: int = 10
    max_iter: int = 50
    random_state: Any = None

    def _check_parameters(self) -> None:
        if self.radius is not None and self.n_vectors is not None:
            raise ValueError(
                "Either radius or n_vectors can be given, and the other follows; got "
                f"radius={shown(self.radius)} and n_vectors={shown(self.n_vectors)}."
            )
        if self.radius is not None:
            check_not_negative("radius", self.radius)
        if self.n_vectors is not None:
            check_integer("n_vectors", self.n_vectors, least=1)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def fit(self, X: Any, y: Any = None) -> ZeroNormQuantizer:
        """Choose the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X = validate_data(self, X, dtype=np.float64)
            # Sorted and without repetitions: the centres do not depend on the order of the rows.
            # Adding zero turns -0.0 into 0.0.
            rows, first = np.unique(X + 0.0, axis=0, return_index=True)
            radius, cover = self._cover(rows)
            self.radius_, self.lower_bound_, self.n_iter_ = radius, cover.bound, 1 + cover.rounds
            self.cluster_centers_indices_ = np.sort(first[cover.points])
            self.cluster_centers_ = X[self.cluster_centers_indices_]
            self.labels_ = finite_distances(X, self.cluster_centers_).argmin(axis=1)
        return self

    def _cover(self, rows: np.ndarray) -> tuple[float, Cover]:
        random = check_random_state(self.random_state)

        def solve(covers: Any, enough: int = 1) -> Cover:
            return small_cover(covers, self.n_init, self.max_iter, random, enough)

        if self.radius is not None:
            radius = float(self.radius)
            return radius, solve(neighbours(rows, radius))
        return smallest_radius(rows, self.n_vectors or N_VECTORS, solve)

    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest centre of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Indices into ``cluster_centers_``.
        """
        return self._distances(X).argmin(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances of rows to all centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_centers)
            Euclidean distances.
        """
        return self._distances(X)

    def _distances(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return finite_distances(X, self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
