"""Sparse kernel density estimation by reweighting.

Huang, Zheng, Sun, Hotta, Fujimoto & Naoi (2010), section 3.5.2.1, give the density
p(x) = Σ w_j N(x; x_j, h² I) (20) with weights from repeated problems

    min  -Σ_i log p(x_i) + wᵀ diag(λ) w,   Σ w_j = 1,   λ_j = w_j^-2        (18), (19)

whose limit is the penalty 2 Σ log w_j. Here each round solves

    min  -C Σ_i log p(x_i) + Σ_j λ_j w_j,   Σ w_j = 1,  w ≥ 0,   λ_j = 1 / w_j

which is the paper's implementation B (10) instead of A. What it does differently, and why:

- The weights are not negative, or p were no density.
- The limit is the same, the penalty Σ log w_j, and the paper's strength is C = 0.5. But the
  linear term is the closer majorant of it, and its terms vanish exactly.
- C is 2 by default. At a stationary point w_j is proportional to r_j - 1/C, where r_j is the
  number of rows term j answers for (the sum of its shares in their densities). From C = 1 down a
  row that only one term reaches cannot hold that term, and the tails of the density suffer. C = 2
  is Jeffreys' prior of the weights, the density Π w_j^-1/2 on the simplex.
- The bandwidth, which the paper leaves open, is chosen by cross-validation for *this* estimator.
  The maximum of likelihood undoes part of the smoothing, so it is larger than that of the
  full kernel density, and fewer terms do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.candidates import check_candidates, most_candidates
from zeronorm.base.documented import Documented
from zeronorm.base.fitting import fitting
from zeronorm.base.labels import check_sample_weight
from zeronorm.base.outputs import change_warning
from zeronorm.base.parameters import with_parameters
from zeronorm.base.validation import hint_at_scales
from zeronorm.checks import check_integer, check_positive, check_stopping, is_number, shown
from zeronorm.decisions import Density
from zeronorm.distances import finite_distances
from zeronorm.exceptions import warn
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.solvers.mixture.kernel_mixture import KernelMixture, climb, log_density, log_height
from zeronorm.solvers.reweighting.loop import Reweighted

#: Range of C, beyond which the sum of the likelihood and the penalty is one of them.
SMALLEST_C, LARGEST_C = 1e-12, 1e100

#: Range of the sum of all sample weights, with room for what is computed with them.
LEAST_MASS, MOST_MASS = 1e-200, 1e200

#: A row of a smaller share of the heaviest one's weight counts as of this share: the density at a
#: row that only its own term reaches is as small as its weight, and must have an inverse.
LIGHTEST = 1e-200


@with_parameters
class SparseKernelDensity(DensityMixin, Documented, BaseEstimator):
    """Kernel density estimate with as few Gaussian kernels as the data allow.

    Where :class:`~sklearn.neighbors.KernelDensity` keeps every row, this keeps a handful of rows
    with a weight each, by maximum likelihood and repeated reweighting, until most weights are
    exactly zero.

    Parameters
    ----------
    bandwidth : "cv", "scott", "silverman" or float, default="cv"
        Standard deviation h of the kernels. "cv" takes the one with the largest likelihood of
        held-out rows, in five-fold cross-validation of this estimator on the training rows.
        "scott" and "silverman" are the rules of :class:`~sklearn.neighbors.KernelDensity`, which
        look at the number of rows and features only: they are meant for standardised features.
    C : float, default=2.0
        Weight of the log-likelihood against the number of terms. A term that answers for fewer
        than 1/C rows vanishes; larger means more terms.
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms: all, or that many drawn at random ("landmarks"), so
        that memory and time grow with n and not with n²; "auto" is "all" up to 300 rows and 300
        landmarks beyond. Equal rows count once.
    tol : float, default=1e-4
        Stop when the weights change by less than this, relatively, and the mean log-likelihood
        of the last weighted problem is known to this accuracy.
    max_iter : int, default=200
        Most rounds of reweighting.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth.
    weights_ : ndarray of shape (n_terms,)
        Weights of the terms: positive, with sum one.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    n_terms_ : int
        Number of terms.
    expansion_ : KernelExpansion
        The density as a kernel expansion. Not there in so many dimensions
        that the height of one kernel is no floating-point number.
    objective_ : float
        Negative log-likelihood plus penalty. The penalty is measured from a ten-thousandth of a
        row's weight, so the number compares rounds of one fit, not fits to different data.
    n_iter_ : int
        Rounds of reweighting.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (how far the mean log-likelihood of the weighted problem is
        from its optimum, at most) of every round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    sklearn.neighbors.KernelDensity : One kernel for every row.

    Notes
    -----
    All kernels have the same width in all directions: standardise the features, unless they have
    a common unit. The weights are those of maximum likelihood, shrunk: with r_j the number of
    rows that term j answers for, w_j is proportional to r_j - 1/C. The paper's strength is
    C = 0.5. A row far from all others keeps its term, with a small weight for C below 1.

    In the plane a few per cent of the rows do as well as all of them. A hundred rows in four
    correlated dimensions, as in iris, spare fewer: round kernels of one width are a poor fit.
    A bandwidth far too small for the data leaves most candidates in, and takes long if they are
    thousands.

    Cross-validation starts at Scott's rule, scaled by the spread of the rows, and goes down and up
    in steps of a third of an octave as long as that helps. Equal rows are in the same fold, so
    that rounded data do not ask for a bandwidth of zero. Beyond 5000 rows it looks at so many.
    A single row at a great distance makes it choose a large bandwidth: likelihood is not robust.

    References
    ----------
    Kaizhu Huang, Danian Zheng, Jun Sun, Yoshinobu Hotta, Katsuhito Fujimoto, Satoshi Naoi:
    Sparse learning for support vector classification. Pattern Recognition Letters 31 (2010).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseKernelDensity
    >>> X, _ = make_moons(250, noise=0.2, random_state=0)
    >>> density = SparseKernelDensity().fit(X)
    >>> density.n_terms_
    12
    >>> density.score_samples([[0.0, 1.0], [2.0, 2.0]]).round(1)
    array([ -1.2, -33.3])
    """

    bandwidth: Any = "cv"
    C: float = 2.0
    candidates: Any = "auto"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseKernelDensity:
        """Fit the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; a weight of two is as good as a repeated row.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X = validate_data(self, X, dtype=np.float64)
            weight = check_sample_weight(sample_weight, len(X))
            hint_at_scales(self, X)
            result = self._fit(X, weight)
        if_stuck = "Rounding allows no further: take a larger tol."
        warning = change_warning(
            [result], self.tol, "SparseKernelDensity", kind="gap", if_stuck=if_stuck
        )
        if warning is not None:
            warn(warning, ConvergenceWarning)
        return self

    def _check_parameters(self) -> None:
        is_name = isinstance(self.bandwidth, str) and self.bandwidth in ("cv", "scott", "silverman")
        if not is_name and not (is_number(self.bandwidth) and self.bandwidth > 0):
            raise ValueError(
                "bandwidth must be 'cv', 'scott', 'silverman' or a positive number; got "
                f"{shown(self.bandwidth)}."
            )
        check_positive("C", self.C)
        if not SMALLEST_C <= float(self.C) <= LARGEST_C:
            raise ValueError(
                f"C={self.C:g} is outside of {SMALLEST_C:g} to {LARGEST_C:g}: below, the "
                "likelihood is rounding beside the number of terms, and one term is left; above, "
                "the number of terms is nothing beside the likelihood."
            )
        check_stopping(self)
        check_candidates(self.candidates)

    def _fit(self, X: np.ndarray, weight: np.ndarray) -> Reweighted:
        used = np.flatnonzero(weight > 0)
        # Sorted and without repetitions: the result depends neither on the order of the rows nor
        # on how equal ones are written down. Adding zero turns -0.0 into 0.0.
        rows, first, inverse = np.unique(
            X[used] + 0.0, axis=0, return_index=True, return_inverse=True
        )
        mass = np.bincount(inverse.ravel(), weights=weight[used])
        with np.errstate(over="ignore"):
            is_sane = LEAST_MASS < mass.sum() < MOST_MASS
        if not is_sane:
            raise ValueError("The sample weights are too large or too small to be summed.")
        mass = np.maximum(mass, LIGHTEST * mass.max())
        indices, most = np.arange(len(rows)), most_candidates(self.candidates, len(rows))
        if len(rows) > most:
            random = check_random_state(self.random_state)
            indices = np.sort(random.choice(len(rows), size=most, replace=False))
        squared = finite_distances(rows, rows[indices], "sqeuclidean")
        data = KernelMixture(squared, mass, indices, rows.shape[1])
        bandwidth = self._resolve_bandwidth(data, rows)
        result = data.fit(bandwidth, self.C, self.tol, self.max_iter)
        self.bandwidth_ = bandwidth
        self.weights_ = result.coef / result.coef.sum()
        self.support_ = used[first[indices[result.terms]]]
        self.support_vectors_ = rows[indices[result.terms]]
        self.n_terms_ = len(self.weights_)
        self.n_iter_ = result.rounds
        self.history_ = result.history.arrays()
        self.objective_ = float(self.history_["objective"][-1])
        return result

    def _resolve_bandwidth(self, data: KernelMixture, rows: np.ndarray) -> float:
        n_features = rows.shape[1]
        scott = data.mass.sum() ** (-1 / (n_features + 4))
        if self.bandwidth == "scott":
            return scott
        if self.bandwidth == "silverman":
            return scott * ((n_features + 2) / 4) ** (-1 / (n_features + 4))
        if self.bandwidth != "cv":
            bandwidth = float(self.bandwidth)
            if not 1e-150 < bandwidth < 1e150:
                raise ValueError(f"bandwidth={bandwidth:g} is outside of 1e-150 to 1e150.")
            return bandwidth
        if len(rows) < 2:
            raise ValueError(
                "bandwidth='cv' cannot choose from one sample (or several that are all equal); "
                "give a number."
            )
        share = data.mass / data.mass.sum()
        spread = float(np.sqrt((share @ (rows - share @ rows) ** 2).mean()))
        if not 1e-140 < scott * spread < 1e140:
            raise ValueError(
                f"The features vary by {spread:g} only or by far too much for bandwidth='cv'; "
                "scale them first (for example with StandardScaler)."
            )
        return climb(data.held_out_likelihood(self.C), scott * spread)

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the log-density at every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Where to evaluate.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithms of the density; minus infinity where even they overflow.
        """
        check_is_fitted(self, "weights_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return log_density(X, self.support_vectors_, self.weights_, self.bandwidth_)

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the total log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Where to evaluate.
        y : None
            Ignored.

        Returns
        -------
        float
            Sum of :meth:`score_samples`.
        """
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows from the density.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            Source of the draw.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self, "weights_")
        check_integer("n_samples", n_samples, least=1)
        random = check_random_state(random_state)
        terms = random.choice(self.n_terms_, size=n_samples, p=self.weights_)
        noise = random.standard_normal((n_samples, self.n_features_in_))
        return self.support_vectors_[terms] + self.bandwidth_ * noise

    @property
    def expansion_(self) -> KernelExpansion:
        """The density as a kernel expansion."""
        check_is_fitted(self, "weights_")
        with np.errstate(over="ignore", under="ignore"):
            coef = self.weights_ * np.exp(log_height(self.bandwidth_, self.n_features_in_))
        if not (np.isfinite(coef).all() and coef.min() > 0):
            raise AttributeError(
                "The height of one kernel is no floating-point number in so many dimensions; "
                "score_samples works with its logarithm."
            )
        return self._expansion(coef)

    def _expansion(self, coef: np.ndarray) -> KernelExpansion:
        kernel = Kernel("rbf", gamma=0.5 / self.bandwidth_**2)
        return KernelExpansion(self.support_vectors_, coef, 0.0, kernel)

    def _model_parts(self) -> tuple[KernelExpansion, Density]:
        """Return weights, and the bandwidth that makes a density of them."""
        return self._expansion(self.weights_), Density(self.bandwidth_)
