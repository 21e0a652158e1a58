"""Reduced support vector machines: the vectors are a few training rows, taken without learning.

Lee & Mangasarian (2001), RSVM: with the kernel values of all rows with m of them as features,

    min   ½ ‖β‖² + C Σ hinge(y_i f(x_i)),    f = Σ_j β_j k(z_j, x) + b

Wu, Schölkopf & Bakir (2005) replace the penalty by that of the SVM, ½ βᵀK^zβ = ½ ‖w‖²: the modified
RSVM is the SVM with w confined to the span of the vectors. Either is a linear SVM in some features,
solved to a duality gap. (Lee & Mangasarian square the hinge; Wu et al. compare with the plain one.)

Both papers draw the rows at random, which leaves parts of a class without a vector and has several
in others. Here k-means divides each class, and the row nearest to each centre is taken: the error
of a Nyström approximation, to which the span of the vectors belongs, is bounded by the mean squared
distance of the rows to the nearest vector (Zhang, Tsang & Kwok 2008). Random are its starts alone.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.base.sampling import central_rows, class_shares, is_repeated, stratified_rows
from zeronorm.base.training_set import ChosenTerms, TrainingProblem, TrainingRows, gap_warning
from zeronorm.checks import check_integer, check_terms, shown
from zeronorm.learned.prototypes import RIDGE
from zeronorm.learned.tasks import LargeMargin

#: Vectors are taken from all rows up to this many, and so many for each vector, if that is more.
DRAWN_FROM, DRAWN_FROM_EACH = 1000, 4


@with_parameters
class ReducedSVC(SparseKernelClassifier):
    """Support vector classifier on a few training rows that are spread over each class.

    The cheapest way to a given number of terms, and the yardstick for the others: the vectors do
    not depend on how well they serve, only their coefficients are learned.

    Parameters
    ----------
    n_terms : int, default=10
        Number of kernel terms, at most: rows that are equal count once.
    modified : bool, default=True
        True: the penalty is ½ βᵀK^zβ, as in the SVM, which needs a positive semidefinite kernel.
        False: it is ½ ‖β‖², the original machine.
    C : float, default=1.0
        Cost of a margin error, as in :class:`~sklearn.svm.SVC`.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap of the coefficients.
    random_state : int, RandomState instance or None, default=None
        Start of the k-means that divides each class; the row nearest to each centre is a vector, as
        many of each class as of any other, where it has them. With kernel="precomputed" there are
        no means, and the rows are drawn at random.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that are terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    objective_ : float
        The penalty plus C Σ hinge, summed over the outputs.
    n_iter_ : int
        1: the coefficients come from a single problem.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap), one of each.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseLargeMarginClassifier : The same objective, with vectors that are learned.
    ZeroNormSVC : Chooses the rows.

    References
    ----------
    Yuh-Jye Lee, Olvi L. Mangasarian: RSVM: Reduced support vector machines. First SIAM
    International Conference on Data Mining (2001).

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Kai Zhang, Ivor W. Tsang, James T. Kwok: Improved Nyström low-rank approximation and error
    analysis. Proceedings of the 25th International Conference on Machine Learning (2008).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ReducedSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = ReducedSVC(n_terms=10, C=10, random_state=0).fit(X, y)
    >>> model.n_terms_, model.score(X, y) > 0.9
    (10, True)
    """

    n_terms: int = field(default=10, kw_only=False)
    modified: bool = field(default=True, kw_only=False)
    C: float = 1.0

    def _check_candidates(self) -> None:
        check_integer("n_terms", self.n_terms, least=1)
        if not isinstance(self.modified, (bool, np.bool_)):
            raise ValueError(f"modified must be True or False; got {shown(self.modified)}.")

    def _training_rows(self, X: Any, y: np.ndarray, sample_weight: Any) -> TrainingRows:
        training = super()._training_rows(X, y, sample_weight)
        check_terms(self.n_terms, X.shape[0])
        return training

    def _choose_candidates(self, training: TrainingRows) -> np.ndarray:
        """Take distinct rows, as many of each class as of any other, where it has them."""
        random, codes = check_random_state(self.random_state), training.codes
        indices = np.arange(len(codes))
        pool = max(DRAWN_FROM, DRAWN_FROM_EACH * self.n_terms)
        if len(indices) > pool:
            indices = stratified_rows(codes, pool, random)
        rows = training.data[indices]
        if not training.kernel.is_precomputed:
            dense = rows.toarray() if sparse.issparse(rows) else rows
            distinct = sorted_rows(dense)
            indices, rows = indices[distinct], rows[distinct]
        classes, present = np.unique(codes[indices], return_inverse=True)
        least = self.n_terms // len(classes)
        if training.kernel.is_precomputed:
            return np.sort(indices[stratified_rows(present, self.n_terms, random, least=least)])
        taken = []
        for code, share in enumerate(class_shares(np.bincount(present), self.n_terms, least)):
            of_class = np.flatnonzero(present == code)
            taken.append(of_class[central_rows(rows[of_class], share, random)])
        return np.sort(indices[np.concatenate(taken)])

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        features, to_coef = problem.values, None
        if self.modified:
            to_coef = inverse_root(problem.gram("modified=True"))
            features = features @ to_coef
        solution = LargeMargin(problem.training.hinges).certified(features, self.tol)
        coef = solution.weights if to_coef is None else to_coef @ solution.weights
        warning = gap_warning("ReducedSVC", solution.gap, self.tol)
        history = {
            "terms": np.array([len(coef)]),
            "objective": np.array([solution.value]),
            "gap": np.array([solution.gap]),
        }
        terms = np.arange(len(coef))
        return ChosenTerms(terms, coef, solution.intercept, solution.value, 1, history, warning)


def sorted_rows(rows: np.ndarray) -> np.ndarray:
    """Return the indices of the distinct rows, in the order of their numbers.

    In that order nothing depends on the order in which rows are given, or on repetitions. Where the
    first two features tell rows apart, they are not compared any further: two columns are sorted
    several times as fast as whole rows.
    """
    repeated = is_repeated(rows)
    tied = np.flatnonzero(repeated)
    # Adding zero turns -0.0 into 0.0, which is equal to it.
    tied = tied[np.unique(rows[tied] + 0.0, axis=0, return_index=True)[1]]
    distinct = np.append(np.flatnonzero(~repeated), tied)
    return distinct[np.lexsort(rows[distinct].T[1::-1])]


def inverse_root(gram: np.ndarray) -> np.ndarray:
    """Return T with T Tᵀ the inverse of K^z, as far as its vectors are independent (26)-(28)."""
    values, directions = np.linalg.eigh(gram)
    is_there = values > RIDGE * max(float(np.mean(gram.diagonal())), np.finfo(float).tiny)
    return directions[:, is_there] / np.sqrt(values[is_there])
