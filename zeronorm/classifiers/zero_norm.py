"""Sparse support vector classification by reweighting (SSVC).

Huang, Zheng, Sun, Hotta, Fujimoto & Naoi (2010). The coefficients of the expansion
f(x) = Σ α_j k(x_j, x) + b (4) are free numbers, not Lagrange multipliers, and are penalised by
their number, C Σ hinge + ||α||_0, approached by repeated weighted problems:

    A   ½ αᵀ diag(λ) α + C Σ hinge,    λ_j = |α_j|^-(2-p)        (9), (21); a box QP, dual (11)
    B   λᵀ|α| + C Σ hinge,             λ_j = |α_j|^-(1-p)        (10); a linear program, dual (15)
    W   Σ|w_j| + C Σ hinge of Σ w_j z_j k(x_j, x),  z ← z * w    (16), Weston et al. (2003)

At p = 0 these are the paper's. Each round lowers C Σ hinge + (1/p) Σ|α_j|^p, at p = 0
C Σ hinge + Σ log|α_j|, smoothed at the size at which a term counts as zero (see
``solvers/reweighting``). Three things differ from the paper: the intercept is not penalised
(the paper reweights it like a coefficient, which can drive it to zero for good), and there is none
with an rbf kernel and no fewer features than rows (``TrainingProblem.has_intercept``); of several
classes each is learned against the rest and chooses terms of its own, which at the end all of them
use, with equal weights λ; and the infinity norm, for which the paper's weights (one, on the largest
coefficient) leave all others free and do not settle, is solved as the linear program it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.outputs import join_certified, join_reweighted, share_terms
from zeronorm.base.parameters import with_parameters
from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.checks import check_not_negative, check_word, shown
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP, solve_largest_coefficient
from zeronorm.solvers.reweighting.loop import Penalty, reweight
from zeronorm.solvers.reweighting.weighted_hinge import SAMPLE_ROWS, HingeRidge

#: A sample for steering rounds has at least so many rows of each class.
SAMPLE_PER_CLASS = 400


@with_parameters
class ZeroNormSVC(SparseKernelClassifier):
    """Support vector classifier with as few kernel terms as the data allow.

    Where :class:`~sklearn.svm.SVC` keeps every row in or behind the margin, this keeps a handful
    of rows that represent the classes, chosen by repeatedly solving a reweighted problem until
    most coefficients are exactly zero.

    Parameters
    ----------
    variant : {"A", "B", "W"}, default="A"
        Which weighted problem: "A" a quadratic program, "B" a linear program, "W" Weston's
        multiplicative form of B, which gives the same model.
    p : float, default=0.0
        The penalty is (1/p) Σ|α_j|^p: from 0 (number of terms) to 2 (ridge) for "A", from 0 to 1
        for "B" and "W". From about 1 on, "A" drops no terms. ``numpy.inf`` penalises the largest
        coefficient; that problem is one linear program, whatever the variant, and its solution
        is not sparse.
    C : float, default=1.0
        Cost of a margin error. Larger means more terms and fewer training errors.
    rkhs_weight : float, default=0.0
        Weight of ½ αᵀKα, the penalty of the ordinary SVM, added to the objective of "A": the
        paper's mixed objective, whose C₁ is ``0.5 / rkhs_weight`` (and its C, ``C / rkhs_weight``).
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
        Factor of C for each class.
    tol : float, default=1e-4
        Stop when the coefficients change by less than this, relatively, and the last weighted
        problem is solved to this relative duality gap.
    max_iter : int, default=50
        Most rounds of reweighting.
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
        Final value of the penalised objective. At p = 0 it is measured from the size at which a
        term counts as zero, so it compares rounds of one fit, not two fits. Of several classes and
        p < 1, the value of the last problem, in which all use the terms of all.
    n_iter_ : int
        Rounds of reweighting.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap) of every round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    sklearn.svm.SVC : The ordinary support vector classifier.

    Notes
    -----
    Early rounds, which only steer the weights, are solved to a loose duality gap (10 % and
    falling), the last to ``tol``. A smaller ``gamma`` and a smaller ``C`` give fewer terms.
    With landmarks, two values of ``random_state`` give slightly different models.

    With an rbf kernel and no fewer features than rows there is no intercept, and ``intercept_`` is
    zero: it could take the place of one class, and the model would say the other one of new rows.
    Nor is there one with an rbf kernel where one of two classes has less than a twentieth of the
    cost of all rows.

    "A" looks at a sample of the rows in its early rounds when there are more than 8 000; the last
    rounds see them all. "B", "W" and p = inf are linear programs that hold all rows: they are for
    up to some ten thousand rows.

    References
    ----------
    Kaizhu Huang, Danian Zheng, Jun Sun, Yoshinobu Hotta, Katsuhito Fujimoto, Satoshi Naoi:
    Sparse learning for support vector classification. Pattern Recognition Letters 31 (2010).

    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from zeronorm import ZeroNormSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> sparse, dense = ZeroNormSVC().fit(X, y), SVC().fit(X, y)
    >>> sparse.n_terms_, len(dense.support_)
    (4, 54)
    >>> sparse.score(X, y), dense.score(X, y)
    (0.945, 0.945)
    """

    variant: str = field(default="A", kw_only=False)
    p: float = field(default=0.0, kw_only=False)
    C: float = 1.0
    rkhs_weight: float = 0.0
    candidates: Any = "auto"
    max_iter: int = 50

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_word("variant", self.variant, "A", "B", "W")
        if self.p != np.inf:
            check_not_negative("p", self.p)
            largest = 2 if self.variant == "A" else 1
            if self.p > largest:
                raise ValueError(
                    f"p must lie between 0 and {largest} for variant {shown(self.variant)}, or be "
                    f"numpy.inf; got {shown(self.p)}."
                )
        check_not_negative("rkhs_weight", self.rkhs_weight)
        if self.rkhs_weight > 0 and (self.variant != "A" or self.p == np.inf):
            raise ValueError(
                "rkhs_weight makes the problem quadratic; it goes with variant='A' and a finite p."
            )

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        if self.p == np.inf:
            return self._solve_infinity_norm(problem)
        quadratic = self._rkhs_norm(problem)
        everything, power = np.arange(problem.values.shape[1]), 2 if self.variant == "A" else 1
        # Each class against the rest chooses its own terms. Sharing them by one penalty on all the
        # coefficients of a vector gives fewer vectors, but on generated problems with 3 to 30
        # classes an error that is 3 points higher: few vectors with large coefficients, which
        # cancel each other.
        results = [
            reweight(
                weighted,
                Penalty(float(self.p), power),
                max_rounds=self.max_iter,
                tolerance=self.tol,
            )
            for weighted in self._weighted(problem, everything, quadratic)
        ]
        chosen = join_reweighted(
            results,
            self.tol,
            "ZeroNormSVC",
            kind="duality gap",
            if_stuck="Rounding allows no further: take a larger gamma or a smaller C.",
        )
        if len(results) == 1 or self.p >= 1 or not len(chosen.terms):
            return chosen
        # A vector that one class has chosen costs the others nothing. Weights that one class has
        # left for a term are none for the others: all are equal, as in the first round.
        shared = list(self._weighted(problem, chosen.terms, quadratic))
        return share_terms(chosen, shared, power, self.tol, "ZeroNormSVC")

    def _weighted(
        self, problem: TrainingProblem, columns: np.ndarray, quadratic: np.ndarray | None
    ) -> Iterator[HingeRidge | HingeLP]:
        """Weighted problem of each output, on some of the candidates."""
        for values, hinge in problem.hinges(columns):
            if self.variant == "A":
                part = None if quadratic is None else quadratic[np.ix_(columns, columns)]
                yield HingeRidge(values, hinge, part, self._sample(hinge.target))
            else:
                yield HingeLP(values, hinge, self.variant == "W")

    @staticmethod
    def _sample(target: np.ndarray) -> np.ndarray | None:
        """Rows for the early rounds, where there are many; the same for the same labels."""
        if len(target) <= 2 * SAMPLE_ROWS:
            return None
        codes, random = (target > 0).astype(np.intp), np.random.RandomState(0)
        return stratified_rows(codes, SAMPLE_ROWS, random, least=SAMPLE_PER_CLASS)

    def _rkhs_norm(self, problem: TrainingProblem) -> np.ndarray | None:
        if self.rkhs_weight == 0:
            return None
        return self.rkhs_weight * problem.gram("rkhs_weight")

    def _solve_infinity_norm(self, problem: TrainingProblem) -> ChosenTerms:
        hinges = problem.training.hinges
        parts = [solve_largest_coefficient(problem.values, hinge) for hinge in hinges]
        return join_certified(parts, self.tol, "The linear program", "Take a more moderate C.")
