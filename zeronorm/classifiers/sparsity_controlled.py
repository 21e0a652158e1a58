"""Sparsity-controlled support vector classification (SC-SVC).

Drezet & Harrison (2001), in the notation of Huang et al. (2010): the penalty of the support vector
machine and a one-norm together,

    min over α, b   ½ αᵀKα + λ Σ|α_j| + C Σ hinge,      f(x) = Σ α_j k(x_j, x) + b.

λ = 0 would be the support vector machine, C and λ growing together LP-SVC. A convex problem,
solved to a duality gap by ``solvers/newton/hinge_lasso.py``; zeros are zeros.
"""

from __future__ import annotations

from typing import Any

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.outputs import join_certified
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.checks import check_positive
from zeronorm.solvers.newton.hinge_lasso import HingeLasso


@with_parameters
class SparsityControlledSVC(SparseKernelClassifier):
    """Support vector classifier with a one-norm beside its own penalty.

    Minimises ½ αᵀKα + λ Σ|α_j| + C Σ hinge: as smooth as :class:`~sklearn.svm.SVC`, and sparser
    the larger λ is.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error.
    lam : float, default=1.0
        Weight λ of the one-norm; larger means fewer terms.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`; it must be positive semidefinite.
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
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    max_iter : int, default=2000
        Most least-squares steps, for each output.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    objective_ : float
        Value of the objective, summed over the outputs.
    n_iter_ : int
        Least-squares steps, summed over the outputs.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap) of the best model after every round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    LinearProgrammingSVC : The one-norm alone.
    ZeroNormSVC : Far fewer terms.

    References
    ----------
    P. M. L. Drezet, R. F. Harrison: A new method for sparsity control in support vector
    classification and regression. Pattern Recognition 34 (2001).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparsityControlledSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> SparsityControlledSVC(lam=0.1).fit(X, y).n_terms_
    18
    >>> SparsityControlledSVC(lam=3.0).fit(X, y).n_terms_
    8
    """

    C: float = 1.0
    lam: float = 1.0
    candidates: Any = "auto"
    max_iter: int = 2000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("lam", self.lam)

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        gram = problem.gram("SparsityControlledSVC")
        parts = [
            HingeLasso(problem.values, hinge, gram).solve(
                self.lam, self.tol, max_steps=self.max_iter
            )
            for hinge in problem.training.hinges
        ]
        advice = "Raise max_iter or tol, or take a more moderate C."
        return join_certified(parts, self.tol, type(self).__name__, advice)
