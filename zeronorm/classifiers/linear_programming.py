"""The two machines that are one linear program: kernel terms under a one-norm.

    one-norm      min  Σ α_j + C Σ hinge,    f = Σ α_j y_j k(x_j, x) + b,   0 ≤ α_j ≤ C     (8)
    LP-SVC        min  Σ|α_j| + C Σ hinge,   f = Σ α_j k(x_j, x) + b

(8) is numbered as in Mannor, Peleg & Rubinstein (2005), who take it from Smola et al. (2000); the
second is that of Kecman & Hadzic (2000) in the notation of Huang et al. (2010). Both are solved
through their duals (``solvers/linear_programs/hinge_lp.py``): a vertex, so zeros are zeros, with a
duality gap computed from the data. Rows that are equal, with equal labels, are one term; the bound
of its coefficient is then the sum of theirs, which is the same problem. With an rbf kernel and no
fewer features than rows there is no b (``TrainingProblem.has_intercept``).
"""

from __future__ import annotations

from typing import Any

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.outputs import join_certified
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import ChosenTerms, TrainingProblem, own_class_factors
from zeronorm.solvers.linear_programs.hinge_lp import Box, solve_one_norm


@with_parameters
class OneNormSVC(SparseKernelClassifier):
    """Support vector classifier with a one-norm penalty, coefficients signed by the labels.

    Minimises Σ α_j + C Σ hinge over 0 ≤ α_j ≤ C, the coefficient of row j being α_j times its
    label. One linear program, no iteration to tune; sparser than :class:`~sklearn.svm.SVC`, less
    sparse than :class:`CrossEntropySVC`, which starts from its solution.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error, and largest coefficient; with landmarks, that of the rows which a
        landmark stands for, together.
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
        integer draws that many rows, classes in proportion ("landmarks"); "auto" is "all" up to
        300 rows and 300 landmarks beyond. Equal rows count once.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap beyond which a warning is given. A linear program is solved to its
        vertex; only badly scaled kernel values leave a gap.
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
        Value of the objective, over all outputs.
    n_iter_ : int
        Iterations of the simplex method.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap), one entry each.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    LinearProgrammingSVC : The same with coefficients of either sign.
    CrossEntropySVC : Fewer terms, by a search among those of this machine.

    Notes
    -----
    Several classes are learned one against the rest; the terms of all of them make up the model.
    The linear program holds all rows: it is for up to some ten thousand.

    With an rbf kernel and no fewer features than rows there is no intercept, and ``intercept_`` is
    zero: it could take the place of one class, and the model would say the other one of new rows.
    Nor is there one with an rbf kernel where one of two classes has less than a twentieth of the
    cost of all rows.

    References
    ----------
    Shie Mannor, Dori Peleg, Reuven Rubinstein: The cross entropy method for classification.
    International Conference on Machine Learning (2005), problem (8).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from zeronorm import OneNormSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> sparse, dense = OneNormSVC(gamma=1.0).fit(X, y), SVC(gamma=1.0).fit(X, y)
    >>> sparse.n_terms_, len(dense.support_)
    (20, 51)
    """

    C: float = 1.0
    candidates: Any = "auto"

    def _signed_by_label(self) -> bool:
        return True

    def _boxes(self, problem: TrainingProblem) -> list[Box | None]:
        """Return what each output asks of the coefficients."""
        assert problem.indices is not None
        caps = self._caps(problem.training, problem.indices)
        targets = problem.targets[problem.indices]
        factors = own_class_factors(targets)
        return [Box(signs, caps * more) for signs, more in zip(targets.T, factors.T, strict=True)]

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        parts = [
            solve_one_norm(values, hinge, box)
            for (values, hinge), box in zip(problem.hinges(), self._boxes(problem), strict=True)
        ]
        return join_certified(parts, self.tol, type(self).__name__)


class LinearProgrammingSVC(OneNormSVC):
    """Support vector classifier with a one-norm penalty and coefficients of either sign (LP-SVC).

    Minimises Σ|α_j| + C Σ hinge, a linear program. A coefficient may have the sign of the other
    class, and none is bounded: fewer terms than :class:`OneNormSVC` where C is small.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms, as in :class:`OneNormSVC`.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap beyond which a warning is given.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    classes_, expansion_, n_terms_, support_, support_vectors_, dual_coef_, intercept_
        As in :class:`OneNormSVC`.
    objective_, n_iter_, history_, n_features_in_
        As in :class:`OneNormSVC`.

    See Also
    --------
    OneNormSVC : The same with coefficients signed by the labels.
    ZeroNormSVC : Repeats this program with other weights until few terms are left.

    References
    ----------
    Vojislav Kecman, Ivana Hadzic: Support vectors selection by linear programming. International
    Joint Conference on Neural Networks (2000).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import LinearProgrammingSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> LinearProgrammingSVC(gamma=1.0).fit(X, y).n_terms_
    9
    """

    def _signed_by_label(self) -> bool:
        return False

    def _boxes(self, problem: TrainingProblem) -> list[Box | None]:
        return [None] * problem.targets.shape[1]
