"""Sparse support vector regression by reweighting.

Problem (5) of Huang et al. (2010) with the epsilon-insensitive loss in place of the hinge, as they
propose in their second section: the coefficients of f(x) = Σ α_j k(x_j, x) + b are penalised by
their number, C Σ max(0, |y - f| - ε) + ||α||_0, approached by repeated weighted problems:

    A   ½ αᵀ diag(λ) α + C Σ loss,    λ_j = |α_j|^-(2-p)
    B   λᵀ|α| + C Σ loss,             λ_j = |α_j|^-(1-p)

The loss of a row is that of two hinges, one for each side of its tube (``insensitive`` in
``solvers/losses.py``), so that solvers and certificates are those of ``ZeroNormSVC``: a duality gap
for the last problem of A, a vertex for those of B.

Everything is solved in units of the spread of the target: with s for it, the problem with ε / s and
C s^(1-p) has the same solution, divided by s.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from zeronorm.base.candidates import SparseKernelRegressor
from zeronorm.base.outputs import join_reweighted
from zeronorm.base.parameters import with_parameters
from zeronorm.base.targets import TargetUnits
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.checks import check_not_negative, check_word, shown
from zeronorm.solvers.linear_programs.hinge_lp import HingeLP
from zeronorm.solvers.losses import insensitive
from zeronorm.solvers.reweighting.loop import Penalty, Reweighted, reweight
from zeronorm.solvers.reweighting.weighted_hinge import SAMPLE_ROWS, HingeRidge


@with_parameters
class ZeroNormSVR(SparseKernelRegressor):
    """Support vector regressor with as few kernel terms as the data allow.

    Where :class:`~sklearn.svm.SVR` keeps every row on or outside its tube, this keeps a handful of
    rows, chosen by repeatedly solving a reweighted problem until most coefficients are exactly
    zero.

    Parameters
    ----------
    variant : {"A", "B"}, default="A"
        Which weighted problem: "A" a quadratic program, "B" a linear program.
    p : float, default=0.0
        The penalty is (1/p) Σ|α_j|^p: from 0 (number of terms) to 2 (ridge) for "A", from 0 to 1
        for "B". From about 1 on, "A" drops no terms.
    C : float, default=1.0
        Cost of a residual, in units of the target, beyond the tube. Larger means more terms and
        smaller residuals.
    epsilon : float, default=0.1
        Residuals up to this cost nothing, as in :class:`~sklearn.svm.SVR`, in units of the target.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVR`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVR`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms. "all" builds the kernel matrix of all rows; an
        integer draws that many rows ("landmarks"), so that memory and time grow with n and not
        with n²; "auto" is "all" up to 300 rows and 300 landmarks beyond. Equal rows count once.
    tol : float, default=1e-4
        Stop when the coefficients change by less than this, relatively, and the last weighted
        problem is solved to this relative duality gap.
    max_iter : int, default=50
        Most rounds of reweighting.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Constants.
    objective_ : float
        Final value of the penalised objective, for a target of unit spread. At p = 0 it is measured
        from the size at which a term counts as zero.
    n_iter_ : int
        Rounds of reweighting.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap) of every round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseSVR : Learned vectors, and everything chosen by itself.
    ZeroNormSVC : The classifier.

    Notes
    -----
    Several targets are learned one by one, each with its own terms; their union is the model. The
    reweighting is a descent to a local optimum: the certificate is that of its last problem.

    References
    ----------
    Kaizhu Huang, Danian Zheng, Jun Sun, Yoshinobu Hotta, Katsuhito Fujimoto, Satoshi Naoi:
    Sparse learning for support vector classification. Pattern Recognition Letters 31 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVR
    >>> from zeronorm import ZeroNormSVR
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> sparse, dense = ZeroNormSVR(C=10, gamma=1.0).fit(X, y), SVR(C=10, gamma=1.0).fit(X, y)
    >>> sparse.n_terms_ < len(dense.support_)
    True
    >>> bool(np.abs(sparse.predict(X) - y).max() < 0.15)
    True
    """

    variant: str = field(default="A", kw_only=False)
    p: float = field(default=0.0, kw_only=False)
    C: float = 1.0
    epsilon: float = 0.1
    candidates: Any = "auto"
    max_iter: int = 50

    #: Rows of the early rounds, where there are more than twice as many.
    _sample_rows: ClassVar[int] = SAMPLE_ROWS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative("epsilon", self.epsilon)
        check_not_negative("p", self.p)
        check_word("variant", self.variant, "A", "B")
        largest = 2 if self.variant == "A" else 1
        if self.p > largest:
            raise ValueError(
                f"p must lie between 0 and {largest} for variant {shown(self.variant)}; got "
                f"{shown(self.p)}."
            )

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        units = TargetUnits.of(problem.targets, problem.cost, is_robust=True)
        twice = np.tile(problem.values, (2, 1))
        numbers = units.numbers(problem.targets)
        results = [
            self._output(twice, number, problem.cost, scale)
            for number, scale in zip(numbers.T, units.scale, strict=True)
        ]
        found = join_reweighted(
            results,
            self.tol,
            "ZeroNormSVR",
            kind="duality gap",
            if_stuck="Rounding allows no further: take a larger gamma or a smaller C.",
        )
        found.coef = units.scale * found.coef
        found.intercept = units.scale * found.intercept + units.centre
        return found

    def _output(
        self, twice: np.ndarray, number: np.ndarray, cost: np.ndarray, scale: float
    ) -> Reweighted:
        """Solve the problem of one target in units of its spread, on kernel values twice."""
        cost = cost * scale ** (1.0 - self.p)
        hinge = insensitive(number, cost, self.epsilon / scale)
        if self.variant == "A":
            weighted: Any = HingeRidge(twice, hinge, sample=self._sample(len(number)))
        else:
            weighted = HingeLP(twice, hinge)
        penalty = Penalty(float(self.p), 2 if self.variant == "A" else 1)
        return reweight(weighted, penalty, max_rounds=self.max_iter, tolerance=self.tol)

    def _sample(self, n_rows: int) -> np.ndarray | None:
        """Rows for the early rounds, both hinges of each, where there are many."""
        if n_rows <= 2 * self._sample_rows:
            return None
        rows = np.sort(np.random.RandomState(0).permutation(n_rows)[: self._sample_rows])
        return np.concatenate([rows, rows + n_rows])
