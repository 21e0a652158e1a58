"""The relevance vector machine for regression, Tipping's original: a linear model by its evidence.

y = f(x) + noise, f(x) = Σ w_j k(x_j, x) + b, with independent normal priors of the weights, each
with its own variance v_j, and normal noise of variance σ². All variances maximise the marginal
likelihood, which has a closed form (Tipping 2001, (15)):

    log p(y | v, σ²) = -½ (n log 2π + log |C| + y' C⁻¹ y),      C = σ² I + Φ diag(v) Φ'.

Most v_j become zero, and those terms are gone. There is neither C nor ε to tune. The search is that
of ``RelevanceVectorClassifier`` (``solvers/evidence/search.py``) with a normal likelihood, for
which nothing is approximated; the noise is learned in turn with it (``solvers/evidence/noise.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.base.candidates import SparseKernelRegressor
from zeronorm.base.outputs import join_by_evidence
from zeronorm.base.parameters import with_parameters
from zeronorm.base.targets import TargetUnits
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.base.validation import validated
from zeronorm.checks import check_choice
from zeronorm.solvers.evidence.noise import Regression, learn_regression

#: Least noise that may be given, as a share of the variance of the target; its inverse is the most.
LEAST_NOISE = 1e-10


@with_parameters
class RelevanceVectorRegressor(SparseKernelRegressor):
    """Relevance vector machine: few kernel terms, standard deviations, and no C to tune.

    A linear model whose weights have priors of their own, as wide as the data want them, and whose
    noise is learned. Only the kernel has parameters, and ``log_marginal_likelihood_`` compares them
    without held-out data.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVR`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVR`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    noise_variance : "auto" or float, default="auto"
        Variance of the noise, in squared units of the target: learned, or given.
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms. "all" builds the kernel matrix of all rows; an
        integer draws that many rows ("landmarks"), so that memory and time grow with n and not
        with n²; "auto" is "all" up to 300 rows and 300 landmarks beyond. Equal rows count once.
    tol : float, default=1e-3
        Stop when no change has a predicted gain in log marginal likelihood of more than this.
    max_iter : int, default=500
        Most rounds of the search, for each value of the noise.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms, the relevance vectors.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Posterior means of the weights.
    intercept_ : ndarray of shape (n_targets,)
        Constants.
    noise_variance_ : float or ndarray of shape (n_targets,)
        Variance of the noise.
    prior_precision_ : ndarray of shape (n_targets, n_terms)
        Inverse prior variances of the weights; infinite where a target does not use a term.
    intercept_precision_ : ndarray of shape (n_targets,)
        The same of the constants, for targets around their means.
    log_marginal_likelihood_ : float
        That of the targets in units of their spread, summed over the targets.
    objective_ : float
        The same.
    n_iter_ : int
        Rounds of the last search.
    history_ : dict of ndarray
        "terms" and "objective" of every round of the last search; the objective never falls.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    RelevanceVectorClassifier : The classifier.
    SparseSVR : Fewer terms, learned, and robust against outliers.

    Notes
    -----
    The marginal likelihood has many local maxima; the one found is better than most. Several
    targets are learned one by one, each with its own terms. Standard deviations are those of the
    model: far from all relevance vectors that of f shrinks to the constant's, which says nothing of
    what is not known there.

    References
    ----------
    Michael E. Tipping: Sparse Bayesian learning and the relevance vector machine. Journal of
    Machine Learning Research 1 (2001).

    Michael E. Tipping, Anita C. Faul: Fast marginal likelihood maximisation for sparse Bayesian
    models. International Workshop on Artificial Intelligence and Statistics (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from zeronorm import RelevanceVectorRegressor
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.RandomState(0).randn(100)
    >>> model = RelevanceVectorRegressor(gamma=0.11).fit(X, y)
    >>> model.n_terms_ < 10
    True
    >>> bool(0.08 < np.sqrt(model.noise_variance_) < 0.12)
    True
    """

    noise_variance: Any = "auto"
    candidates: Any = "auto"
    tol: float = 1e-3
    max_iter: int = 500

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("noise_variance", self.noise_variance, ("auto",), several=False)

    def _learns_noise(self) -> bool:
        return isinstance(self.noise_variance, str) and self.noise_variance == "auto"

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        units = TargetUnits.of(problem.targets, problem.cost, is_robust=False)
        parts = []
        for number, scale in zip(units.numbers(problem.targets).T, units.scale, strict=True):
            noise = None if self._learns_noise() else self._given_noise(scale)
            parts.append(
                learn_regression(
                    problem.values,
                    number,
                    problem.cost,
                    noise=noise,
                    tolerance=self.tol,
                    max_rounds=self.max_iter,
                )
            )
        found = [part.found for part in parts]
        fit = join_by_evidence(self, found, problem.values.shape[1], units.scale)
        fit.coef = units.scale * fit.coef
        fit.intercept = units.scale * fit.intercept + units.centre
        noise = np.array([part.noise for part in parts]) * units.scale**2
        self.noise_variance_ = float(noise[0]) if len(noise) == 1 else noise
        self._covariance = [
            (_indices_of(part, fit.terms), scale**2 * part.covariance)
            for part, scale in zip(parts, units.scale, strict=True)
        ]
        return fit

    def _given_noise(self, scale: float) -> float:
        """Return the given noise in units of the spread of a target."""
        noise = float(self.noise_variance / scale / scale)
        if not LEAST_NOISE <= noise <= 1.0 / LEAST_NOISE:
            raise ValueError(
                f"noise_variance={self.noise_variance:g} is {noise:.1e} times the variance of the "
                f"target, not between {LEAST_NOISE:g} and {1.0 / LEAST_NOISE:g}: beyond, rounding "
                "decides. Take another, or 'auto'."
            )
        return noise

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target of every row, and its standard deviation if asked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to predict for; kernel values with all training rows if ``kernel="precomputed"``.
        return_std : bool, default=False
            Whether to return the standard deviation of new targets: of the noise, and of what is
            not known of the weights.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions, the posterior means.
        std : ndarray of the same shape
            Standard deviations, if ``return_std``.
        """
        values = super().predict(X)
        if not return_std:
            return values
        kernel = self.expansion_.kernel_values(validated(self, X))
        columns = np.column_stack([kernel, np.ones(len(kernel))])
        noise = np.atleast_1d(self.noise_variance_)
        variance = [
            own + np.einsum("ij,jk,ik->i", columns[:, used], covariance, columns[:, used])
            for own, (used, covariance) in zip(noise, self._covariance, strict=True)
        ]
        return values, np.sqrt(np.column_stack(variance)).reshape(values.shape)


def _indices_of(part: Regression, terms: np.ndarray) -> np.ndarray:
    """Where the functions of a target are among all terms; the constant comes after them."""
    inside = np.searchsorted(terms, part.found.indices)
    return np.where(part.found.indices > terms.max(initial=-1), len(terms), inside)
