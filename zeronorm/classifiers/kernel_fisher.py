"""Kernel Fisher discriminants with few learned vectors.

Fisher's discriminants in feature space (Mika et al. 1999) are found by optimal scoring (Hastie,
Buja & Tibshirani 1995): classes get scores θ, K - 1 columns that are orthonormal over the rows and
have the mean zero, and functions are fitted to them,

    min over f   ½ Σ_k |f_k|² + C/2 Σ_ik c_i (θ_k(y_i) - f_k(x_i))²,

after which the discriminants are those of ordinary linear discriminant analysis on the values f(x).
Here the f_k are expansions with a few vectors that are learned, all with the same ones: the
regression of ``SparseSVR`` with squared loss and the class scores as targets
(``learned/final.py``), whose last coefficients are certified. Wu, Schölkopf & Bakir (2005) name it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from zeronorm.base.classifier import KernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import Learned, TrainingRows, learned_expansion
from zeronorm.base.validation import validated
from zeronorm.checks import check_integer
from zeronorm.decisions import check_finite
from zeronorm.learned.final import fit_numbers
from zeronorm.learned.learner import check_learnable

#: Ridge on the covariance within classes, as a share of its trace.
RIDGE = 1e-9


@with_parameters
class SparseKernelFisher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelClassifier):
    """Kernel Fisher discriminant analysis that costs a few kernel values, not one for each row.

    ``transform`` gives the discriminants, at most as many as there are classes less one;
    ``predict`` the class that is most likely if these are normal in each class, with one
    covariance, as in :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    Parameters
    ----------
    n_terms : int, default=10
        Most kernel terms that all discriminants share; no more than there are rows.
    C : float, default=10.0
        Cost of a squared error of the class scores; the penalty is the norm of the functions.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf" and "poly", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly".
    class_weight : dict or "balanced", optional
        Factor of the rows' weights for each class.
    tol : float, default=1e-4
        Relative gap of the objective to its minimum over the coefficients.
    max_iter : int, default=200
        Most steps in which all the vectors move.
    random_state : int, RandomState instance or None, default=None
        Draws candidates for the vectors, and samples of many rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    scalings_ : ndarray of shape (n_terms, n_discriminants)
        Coefficients of the discriminants; the covariance within classes is the identity there.
    xbar_ : ndarray of shape (n_discriminants,)
        Mean of the discriminants, which ``transform`` takes off.
    explained_variance_ratio_ : ndarray of shape (n_discriminants,)
        Share of each discriminant in the variance between classes.
    expansion_ : KernelExpansion
        The decision function.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The learned vectors.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients of the decision function.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    objective_ : float
        Of the regression on class scores.
    n_iter_ : int
        Steps in which all the vectors moved.
    history_ : dict of ndarray
        "terms", "rows", "C", "objective" and "fall" of every stage, as in ``SparseSVC``.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseSVC : Chooses everything itself.

    Notes
    -----
    :func:`zeronorm.save` keeps the classifier; the discriminants are not in the file.

    References
    ----------
    Sebastian Mika, Gunnar Rätsch, Jason Weston, Bernhard Schölkopf, Klaus-Robert Müller: Fisher
    discriminant analysis with kernels. Neural Networks for Signal Processing IX (1999).

    Trevor Hastie, Andreas Buja, Robert Tibshirani: Penalized discriminant analysis. Annals of
    Statistics 23 (1995).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from zeronorm import SparseKernelFisher
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseKernelFisher(6, random_state=0).fit(X, y)
    >>> model.transform(X).shape, model.n_terms_
    ((150, 2), 6)
    >>> model.score(X, y) > 0.95
    True
    """

    n_terms: int = field(default=10, kw_only=False)
    C: float = 10.0
    max_iter: int = 200

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learnable(self.kernel)
        check_integer("n_terms", self.n_terms, least=1)

    def _learn(self, training: TrainingRows) -> Learned:
        weight = training.cost / training.cost.sum()
        targets = class_scores(training.codes, weight)
        size = min(self.n_terms, len(weight))
        options = self.random_state, self.max_iter, self.tol
        # The cost of the rows has C already.
        learned = fit_numbers(training, targets, 1.0, size, *options)
        found = learned.expansion
        analysis = Discriminants(found.outputs(training.data), training.codes, weight)
        self.scalings_ = found.coef @ analysis.scalings
        self.xbar_ = analysis.mean @ analysis.scalings
        self._constant = found.intercept @ analysis.scalings
        self.explained_variance_ratio_ = analysis.ratio
        coef, intercept = analysis.decision()
        learned.expansion = learned_expansion(
            found.vectors,
            found.coef @ coef,
            found.intercept @ coef + intercept,
            found.kernel,
            learned.objective,
        )
        return learned

    def transform(self, X: Any) -> np.ndarray:
        """Return the discriminants of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        ndarray of shape (n_samples, n_discriminants)
            Discriminants, that which tells classes apart best first.
        """
        check_is_fitted(self, "expansion_")
        values = self.expansion_.kernel_values(validated(self, X))
        check_finite(values, self.expansion_.kernel_name)
        return values @ self.scalings_ + self._constant - self.xbar_

    @property
    def _n_features_out(self) -> int:
        return self.scalings_.shape[1]


def class_scores(codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Scores of the classes at all rows, K - 1 columns: orthonormal with these weights, mean zero.

    With shares p of the classes they are Θ = P^-½ Q, Q an orthonormal basis of what is orthogonal
    to the root of p.
    """
    root = np.sqrt(np.bincount(codes, weights=weight))
    basis = np.linalg.qr(np.column_stack([root, np.eye(len(root))]))[0][:, 1 : len(root)]
    return (basis / root[:, None])[codes]


class Discriminants:
    """Linear discriminant analysis of values (n x q) with weights that sum to one."""

    def __init__(self, values: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        self.share = np.bincount(codes, weights=weight)
        indicator = (codes[:, None] == np.arange(len(self.share))) * weight[:, None]
        self.means = (indicator.T @ values) / self.share[:, None]
        self.mean = weight @ values
        around = values - self.means[codes]
        within = (around * weight[:, None]).T @ around
        ridge = RIDGE * float(np.trace(within)) + np.finfo(float).tiny
        self.within = within + ridge * np.eye(len(within))
        spread = self.means - self.mean
        between = (spread * self.share[:, None]).T @ spread
        found, vectors = eigh(between, self.within)
        self.scalings = vectors[:, ::-1]
        found = np.maximum(found[::-1], 0.0)
        self.ratio = found / max(float(found.sum()), np.finfo(float).tiny)

    def decision(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and constants of the log odds: one output of two classes, one for each beyond."""
        slopes = np.linalg.solve(self.within, self.means.T)
        constants = np.log(self.share) - 0.5 * np.einsum("kq,qk->k", self.means, slopes)
        if len(self.share) == 2:
            return slopes[:, 1:] - slopes[:, :1], constants[1:] - constants[:1]
        return slopes, constants
