"""The relevance vector machine (RVM): a sparse logistic model by its marginal likelihood.

The log odds f(x) = Σ w_j k(x_j, x) + b have independent normal priors of their weights, each with
its own precision α_j. The precisions maximise the marginal likelihood of the labels, in Laplace's
approximation around the most probable weights (Tipping 2001, (24) - (27)):

    log p(y | α) ≈ Σ c_i log σ(y_i f_i) - ½ Σ α_j w_j² + ½ Σ log α_j - ½ log |Φ'BΦ + diag α|,

with the columns of Φ those of the kernel matrix and a one, B = diag(c_i σ_i (1 - σ_i)), and c the
weights of the rows, which count how often each row was seen. Most precisions become infinite, and
those terms are gone. There is no C to tune.

The search is described in ``solvers/evidence/search.py``. Three things differ from Tipping & Faul
(2003): the marginal likelihood is climbed itself, with the motion of the weights that its
determinant depends on; a function can take the place of another in one move; and all precisions
are also moved together. Where classes can be separated, the marginal likelihood hardly falls as
precisions go to zero, so they have a floor: the prior standard deviation of a term's part in the
log odds is at most 100 over the training rows; 1000 where flat kernels have to cancel each other.
"""

from __future__ import annotations

from typing import Any

from zeronorm.base.outputs import join_by_evidence
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.classifiers.probabilistic import ProbabilisticClassifier
from zeronorm.solvers.evidence.likelihoods import Logistic
from zeronorm.solvers.evidence.model import Basis
from zeronorm.solvers.evidence.search import maximise_evidence


@with_parameters
class RelevanceVectorClassifier(ProbabilisticClassifier):
    """Relevance vector machine: few kernel terms, probabilities, and no C to tune.

    A logistic model whose weights have priors of their own, as wide as the data want them
    (Tipping & Faul's fast marginal likelihood maximisation). Only the kernel has parameters, and
    ``log_marginal_likelihood_`` compares them without held-out data.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms. "all" builds the kernel matrix of all rows; an
        integer draws that many rows, classes in proportion ("landmarks"), so that memory and
        time grow with n and not with n²; "auto" is "all" up to 300 rows and 300 landmarks
        beyond. Equal rows count once.
    class_weight : dict or "balanced", optional
        Factor of the rows' weights for each class.
    tol : float, default=1e-3
        Stop when no change has a predicted gain in log marginal likelihood of more than this.
    max_iter : int, default=500
        Most rounds, for each output.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms (relevance vectors).
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants; zero where the constant, a term like the others, was dropped.
    prior_precision_ : ndarray of shape (n_outputs, n_terms)
        Prior precision of each coefficient; infinite where an output does not use a term.
    intercept_precision_ : ndarray of shape (n_outputs,)
        That of the constants.
    log_marginal_likelihood_ : float
        Log marginal likelihood (Laplace), summed over the outputs. Larger is better.
    objective_ : float
        The same number: unlike those of other methods, this objective is maximised.
    n_iter_ : int
        Rounds, of the output that took most.
    history_ : dict of ndarray
        "terms" and "objective" of every round; the objective never falls.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    ZeroNormSVC : Few terms with a margin instead of probabilities.

    Notes
    -----
    The marginal likelihood has many local maxima; the one found is better than most, but another
    order of search may find another, with other terms. Several classes are learned one against
    the rest, each with its own precisions; the terms of all of them make up the model.

    A weight of two is the same as a row given twice, except that landmarks are drawn from rows.

    References
    ----------
    Michael E. Tipping: Sparse Bayesian learning and the relevance vector machine. Journal of
    Machine Learning Research 1 (2001).

    Michael E. Tipping, Anita C. Faul: Fast marginal likelihood maximisation for sparse Bayesian
    models. International Workshop on Artificial Intelligence and Statistics (2003).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from zeronorm import RelevanceVectorClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RelevanceVectorClassifier(gamma=1.0).fit(X, y)
    >>> model.n_terms_, len(SVC(gamma=1.0).fit(X, y).support_)
    (6, 51)
    >>> model.predict_proba([[0.5, 0.25]]).round(2)
    array([[0.78, 0.22]])
    """

    candidates: Any = "auto"
    tol: float = 1e-3
    max_iter: int = 500

    _link = "logistic"

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        basis = Basis(problem.values, problem.cost)
        parts = [
            maximise_evidence(basis, Logistic(target, problem.cost), self.tol, self.max_iter)
            for target in problem.targets.T
        ]
        return join_by_evidence(self, parts, problem.values.shape[1])
