"""The one-class machine with learned vectors.

Schölkopf et al. (2001): the half-space of feature space, far from the origin, that holds most rows,

    min over w, rho   1/2 |w|^2 + T / (nu Σ c_i) Σ c_i max(0, rho - f(x_i)) - T rho,   f = <w, phi>,

with w in the span of a few vectors z_j that are learned, as in Wu, Schölkopf & Bakir (2005), who
name it. T only sets the scale of f: here such that rho is about one while the vectors are learned
(``prototypes.py`` rounds corners off over half a unit), in the end libsvm's, nu Σ c_i. For fixed
vectors the problem is convex, one of hinges (``one_class`` in ``solvers/losses.py``), and solved to
a duality gap on all rows. At most the share nu of the rows then is outside, and at least that share
has a dual variable, as in the whole machine.

The whole machine has no larger objective than any with vectors in some span: its optimum bounds
what more vectors could gain, and ``n_terms="auto"`` adds vectors until that is a small share.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.svm import OneClassSVM
from sklearn.utils import check_random_state

from zeronorm.base.fitting import fitting
from zeronorm.base.machine import KernelMachine, warn_of
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import (
    Learned,
    TrainingRows,
    check_cost,
    gap_warning,
    learned_expansion,
)
from zeronorm.base.validation import validated_rows
from zeronorm.checks import check_integer, check_share, check_terms, is_auto
from zeronorm.decisions import OneClass
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.convergence import Descent
from zeronorm.learned.learner import CONVERGED, check_learnable
from zeronorm.learned.prototypes import GROWING_STEPS, GROWING_TOLERANCE, Prototypes
from zeronorm.learned.tasks import OneClassMachine
from zeronorm.solvers.solution import History

#: Rows among which the next vector is looked for.
CANDIDATES = 300

#: n_terms="auto": what more vectors may gain at most, as a share of the optimum of the whole
#: machine; and one vector for so many of that machine's.
NEAR, FEWER = 0.01, 20


@with_parameters
class SparseOneClassSVM(OutlierMixin, KernelMachine):
    """One-class support vector machine with a handful of learned vectors.

    Where :class:`~sklearn.svm.OneClassSVM` keeps the share ``nu`` of the training rows, this places
    a few vectors of its own, such that its objective is as near to that machine's as they allow.

    Parameters
    ----------
    nu : float, default=0.5
        Most of the training rows that may be outside, as a share; above 0 and at most 1.
    n_terms : "auto" or int, default="auto"
        Number of terms: as many as bring the objective within one per cent of the whole machine's,
        but no more than a twentieth of its vectors (one, where it has fewer than forty); or this
        many.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf" and "poly", as in :class:`~sklearn.svm.OneClassSVM`.
    coef0 : float, default=0.0
        Constant of "poly".
    tol : float, default=1e-4
        Relative duality gap of the coefficients, which are solved on all rows.
    max_iter : int, default=200
        Most steps in which all the vectors move.
    random_state : int, RandomState instance or None, default=None
        Draws the rows on which vectors are learned, where there are more than 2 000.

    Attributes
    ----------
    offset_ : float
        Score below which a row is an outlier.
    expansion_ : KernelExpansion
        The learned function, less the offset.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The learned vectors.
    dual_coef_ : ndarray of shape (1, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    objective_ : float
        ½‖w‖² + Σ max(0, ρ - f) - ν n ρ, as libsvm scales it.
    n_iter_ : int
        Steps in which all the vectors moved.
    history_ : dict of ndarray
        "terms" and "objective" of every size, on the rows on which vectors are learned.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    OneClassReducer : Makes a fitted OneClassSVM smaller.

    Notes
    -----
    The scale of the scores is that of ``OneClassSVM``. The width of the kernel is not learned: the
    objective says nothing about it.

    References
    ----------
    Bernhard Schölkopf, John Platt, John Shawe-Taylor, Alex Smola, Robert Williamson: Estimating the
    support of a high-dimensional distribution. Neural Computation 13 (2001).

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import OneClassSVM
    >>> from zeronorm import SparseOneClassSVM
    >>> X = np.random.RandomState(0).randn(500, 2)
    >>> sparse, dense = SparseOneClassSVM(0.1).fit(X), OneClassSVM(nu=0.1).fit(X)
    >>> sparse.n_terms_ < len(dense.support_) / 4
    True
    >>> sparse.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    nu: float = field(default=0.5, kw_only=False)
    n_terms: Any = field(default="auto", kw_only=False)
    max_iter: int = 200

    #: Rows on which the vectors are learned, at most.
    _most_rows: ClassVar[int] = 2_000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_share("nu", self.nu)
        check_learnable(self.kernel)
        check_integer("n_terms", self.n_terms, least=1, words=("auto",))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : ignored
            Here for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X = validated_rows(self, X)
            with np.errstate(all="ignore"):
                rows, weight, data, kernel = self._rows_that_count(X, sample_weight)
                check_cost(weight)
                if not is_auto(self.n_terms):
                    check_terms(self.n_terms, len(rows))
                codes = np.zeros(len(rows), dtype=np.intp)
                targets = np.ones((len(rows), 1))
                learned = self._learn(TrainingRows(rows, data, codes, targets, weight, kernel))
            self._store_learned(learned)
            self.offset_ = -float(self.intercept_[0])
        warn_of(learned, learned.doubt)
        return self

    def _learn(self, training: TrainingRows) -> Learned:
        training = training.compact()
        random = check_random_state(self.random_state)
        some = np.sort(random.permutation(len(training.codes))[: self._most_rows])
        data, weight = training.data[some], training.cost[some]
        unit, most = _scale(training.dense(some), training.kernel)
        task = OneClassMachine(unit * weight / (self.nu * weight.sum()), unit, most)
        vectors, descent, history = self._vectors(data, weight, task, training, random)
        scaled = training.cost / (self.nu * training.cost.sum())
        final = OneClassMachine(unit * scaled, unit, most)
        current = Prototypes(data, task, training.kernel, vectors)
        found = final.certified(current.features_of(training.data), self.tol)
        factor = self.nu * float(training.cost.sum()) / unit
        coef = factor * np.linalg.solve(current.factor.T, found.weights)
        objective = factor**2 * found.value
        expansion = learned_expansion(
            vectors, coef, factor * found.intercept, training.kernel, objective
        )
        warning = gap_warning("The one-class machine", found.gap, self.tol)
        warning = warning or descent.warning(self.tol)
        return Learned(expansion, None, objective, descent.steps, history.arrays(), warning)

    def _vectors(
        self,
        data: Any,
        weight: np.ndarray,
        task: OneClassMachine,
        training: TrainingRows,
        random: np.random.RandomState,
    ) -> tuple[np.ndarray, Descent, History]:
        """Let vectors grow, and move, until they are as many as asked for, or enough."""
        most, best = len(weight), -np.inf
        if is_auto(self.n_terms):
            best, n_vectors = self._whole_machine(data, weight, task.total, training)
            most = min(most, max(1, n_vectors // FEWER))
        else:
            most = min(most, self.n_terms)
        rows = np.sort(random.permutation(len(weight))[:CANDIDATES])
        candidates = data[rows].toarray() if hasattr(data, "toarray") else data[rows]
        values = training.kernel.matrix(data, candidates)
        first = candidates[[np.argmax(weight @ values)]]
        current = Prototypes(data, task, training.kernel, first)
        history, done = History(), Descent(0, 0.0)
        while True:
            is_full = len(current.vectors) >= most
            steps = self.max_iter if is_full else GROWING_STEPS
            tolerance = CONVERGED * self.tol if is_full else GROWING_TOLERANCE
            done = current.descend(max_steps=steps, tolerance=tolerance)
            history.record(terms=len(current.vectors), objective=current.value)
            if is_full:
                break
            if is_auto(self.n_terms):
                exact = task.certified(current.features, self.tol).value
                if exact - best <= NEAR * abs(best):
                    break
            wanted = min(max(1, len(current.vectors) // 2), most - len(current.vectors))
            if current.grow(candidates, wanted) == 0:
                break
        if not is_full:
            done = current.descend(max_steps=self.max_iter, tolerance=CONVERGED * self.tol)
        return current.vectors, done, history

    def _whole_machine(
        self, data: Any, weight: np.ndarray, total: float, training: TrainingRows
    ) -> tuple[float, int]:
        """Return the optimum of the machine with all rows, -1/2 |w|^2, and how many vectors."""
        gram = training.kernel.matrix(data, data)
        dual, support = total * weight / weight.sum(), np.arange(len(weight))
        if self.nu < 1:  # else every row has all that it may
            machine = OneClassSVM(kernel="precomputed", nu=self.nu, tol=1e-4)
            try:
                machine.fit(gram, sample_weight=weight / weight.mean())
            except ValueError as error:
                raise ValueError(
                    "libsvm finds no machine to compare with, for these weights and kernel values: "
                    f"{error} Give n_terms as a number, or standardise the features."
                ) from error
            dual = machine.dual_coef_[0] / machine.dual_coef_[0].sum() * total
            support = machine.support_
        return -0.5 * float(dual @ gram[np.ix_(support, support)] @ dual), len(support)

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function: the score less the offset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for rows like those of the training data.
        """
        return self._decision_values(X, "decision_function")

    def score_samples(self, X: Any) -> np.ndarray:
        """Score rows: the decision function without the offset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; smaller is more unusual.
        """
        return self._decision_values(X, "score_samples") + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Tell rows like those of the training data from outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 for rows like those of the training data, -1 for outliers.
        """
        values = self._decision_values(X, "predict")
        return OneClass(self.offset_).predict(values[:, None])

    def _model_parts(self) -> tuple[KernelExpansion, OneClass]:
        """Return what was learned, and what its values mean."""
        return self.expansion_.to_numpy(), OneClass(self.offset_)


def _scale(data: np.ndarray, kernel: Any) -> tuple[float, float]:
    """Sum of the dual variables with which values are about one, and more than an offset can be.

    With equal weights of all rows the values are the mean kernel values, times that sum.
    """
    values = kernel.matrix(data, data).mean(axis=0)
    unit = 1.0 / max(float(values.mean()), np.finfo(float).tiny ** 0.5)
    return unit, 2.0 * unit * float(np.abs(values).max()) + 1.0
