"""Sparse kernel classification by iteratively reweighted least squares (SKC).

Kim (2009): the hinge, smooth within δ, and a one-norm,

    min over α, b   L = Σ c_i h(y_i f_i) + λ Σ|α_j|,     f(x) = Σ α_j k(x_j, x) + b       (3.3)

solved by least-squares problems with changing weights (3.7), on ever fewer terms, and its
parameters chosen by generalised cross-validation (3.9) instead of repeated fits.

Corrected from the paper: (3.1) and (3.4) as printed are not continuous, and the weights (3.6) are
infinite or negative near the margin; see ``solvers/newton/smooth_hinge_lasso.py`` for the functions
and the weights used, and ``solvers/newton/gcv.py`` for the hat matrix. The steps start from the
vertex of the linear program that the problem becomes for δ → 0. Two things differ. The absolute
value itself is minimised, not one that is smooth within δ: the method needs no smoothing, and terms
vanish exactly instead of being cut off below a threshold. And the intercept is a free constant; the
paper appends a one to the inputs, which is a constant for the linear kernel only. With an rbf
kernel and no fewer features than rows there is none (``TrainingProblem.has_intercept``); the two
rows that see to it add δ/2 times the sum of the costs to L.
"""

from __future__ import annotations

import copy
from dataclasses import field, replace
from typing import Any

import numpy as np

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.outputs import join_certified
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import ChosenTerms, Learned, TrainingProblem
from zeronorm.checks import check_choice, check_positive, check_word, is_number, is_sequence, shown
from zeronorm.kernels import Kernel
from zeronorm.solvers.newton.gcv import criteria, hat_matrix, working_problem
from zeronorm.solvers.newton.smooth_hinge_lasso import SmoothHingeLasso, largest_penalty
from zeronorm.solvers.solution import History, Solution

#: What "gcv" tries: λ in units of the smallest that leaves no term beside an intercept, gamma in
#: those of "scale".
LAMS = (0.3, 0.1, 0.03, 0.01, 0.003)
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)


@with_parameters
class IRWLSClassifier(SparseKernelClassifier):
    """Sparse kernel classifier by reweighted least squares, which can choose its own parameters.

    Minimises Σ hinge + λ Σ|α_j|. ``lam="gcv"`` and ``gamma="gcv"`` choose them by generalised
    cross-validation: one fit for each pair, each started from the last, no folds.

    Parameters
    ----------
    lam : float, "gcv" or sequence of float, default=1.0
        Weight λ of the one-norm; larger means fewer terms. It is 1/C of
        :class:`LinearProgrammingSVC`. "gcv" chooses from 0.3, 0.1, 0.03, 0.01 and 0.003 times
        the smallest λ that leaves no term, a sequence from its values.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto", "gcv"}, float or sequence of float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`. "gcv"
        chooses from 0.03, 0.1, 0.3, 1 and 3 times the value of "scale", a sequence from its values.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    criterion : {"loo", "gcv"}, default="loo"
        What is compared where something is to be chosen: "gcv" is the paper's (3.9); "loo" is an
        upper estimate of the leave-one-out hinge loss, and mostly chooses better and sparser.
    delta : float, default=1e-4
        The hinge is a parabola within this distance of the margin.
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms. "all" builds the kernel matrix of all rows; an
        integer draws that many rows, classes in proportion ("landmarks"), so that memory and
        time grow with n and not with n²; "auto" is "all" up to 300 rows and 300 landmarks
        beyond. Equal rows count once.
    class_weight : dict or "balanced", optional
        Factor of the rows' weights for each class.
    tol : float, default=1e-4
        Relative duality gap beyond which a warning is given.
    max_iter : int, default=100
        Most least-squares steps, for each output; a handful is usual.
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
    lam_ : float
        The λ of the fit. The gamma of the fit is ``expansion_.kernel.gamma``.
    gcv_path_ : dict of ndarray
        "gamma", "lam", "gcv", "loo" (the criteria), "trace" (of the hat matrix), "terms" and
        "gap" of every pair that was looked at; one entry where nothing was to be chosen.
    objective_ : float
        Value of the objective, summed over the outputs.
    n_iter_ : int
        Least-squares steps, summed over the outputs.
    history_ : dict of ndarray
        "terms", "objective" and "gap" (relative duality gap) at the start and after every step.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    LinearProgrammingSVC : The same objective without smoothing, as a linear program.
    ZeroNormSVC : Far fewer terms.

    Notes
    -----
    With an rbf kernel and no fewer features than rows there is no intercept, and ``intercept_`` is
    zero: it could take the place of one class, and the model would say the other one of new rows.
    Nor is there one with an rbf kernel where one of two classes has less than a twentieth of the
    cost of all rows.

    References
    ----------
    Daehak Kim: Sparse kernel classification using IRWLS procedure. Journal of the Korean Data &
    Information Science Society 20 (2009).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import IRWLSClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = IRWLSClassifier(lam="gcv", gamma="gcv").fit(X, y)
    >>> model.n_terms_, model.score(X, y)
    (8, 0.96)
    """

    lam: Any = field(default=1.0, kw_only=False)
    criterion: str = "loo"
    delta: float = 1e-4
    candidates: Any = "auto"
    max_iter: int = 100

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("delta", self.delta)
        check_word("criterion", self.criterion, "gcv", "loo")
        check_choice("lam", self.lam, ("gcv",))
        has_gamma = not callable(self.kernel) and self.kernel in ("rbf", "poly", "sigmoid")
        if is_choice(self.gamma):
            if not has_gamma:
                raise ValueError(
                    f"gamma={shown(self.gamma)} asks for a choice of gamma, but the kernel "
                    f"{shown(self.kernel)} has none."
                )
        if has_gamma:
            check_choice("gamma", self.gamma, ("gcv", "scale", "auto"))

    def _lams(self, values: np.ndarray, problem: TrainingProblem) -> list[float]:
        """Values of λ to look at, the largest first: a path that starts with few terms."""
        if isinstance(self.lam, str):
            # Those of the problem with an intercept, in any case: without one, terms that only
            # say which class is the commonest are the last to go. A constant kernel has no terms.
            hinges = problem.training.hinges
            unit = max(largest_penalty(values, hinge) for hinge in hinges) or 1.0
            return [share * unit for share in LAMS]
        return sorted(map(float, np.ravel(self.lam)), reverse=True)

    def _first_gamma(self) -> Any:
        return "scale" if is_choice(self.gamma) else self.gamma

    def _kernels(self, kernel: Kernel) -> list[Kernel]:
        if not is_choice(self.gamma):
            return [replace(kernel, gamma=self.gamma) if is_number(self.gamma) else kernel]
        if isinstance(self.gamma, str):
            gammas = [factor * kernel.gamma for factor in GAMMAS]
        else:
            gammas = sorted(map(float, self.gamma))
        return [replace(kernel, gamma=gamma) for gamma in gammas]

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        training = problem.training
        path, best, least = History(), None, np.inf
        for kernel in self._kernels(training.kernel):
            values = problem.values
            if kernel != training.kernel:
                values = kernel.matrix(training.data, problem.vectors)
            hinges = replace(problem, values=values).hinges()
            paths = [SmoothHingeLasso(*output, self.delta) for output in hinges]
            for lam in self._lams(values, problem):
                parts = [one.solve(lam, max_steps=self.max_iter) for one in paths]
                found: dict[str, float] = {
                    "gamma": kernel.gamma,
                    "lam": lam,
                    **self._judge(parts, paths, lam, len(problem.targets)),
                    "terms": float(np.any([part.coef for part in parts], axis=0).sum()),
                    "gap": max(part.gap for part in parts),
                }
                path.record(**found)
                if best is None or found[self.criterion] < least:
                    best, least = (kernel, lam, parts), found[self.criterion]
        assert best is not None
        kernel, self.lam_, parts = best
        self.gcv_path_ = path.arrays()
        advice = "Raise max_iter or tol, or take a larger lam."
        fit = join_certified(parts, self.tol, type(self).__name__, advice)
        return replace(fit, kernel=kernel)

    def _with_choices(self, learned: Learned) -> IRWLSClassifier:
        again = copy.copy(self)
        again.lam = self.lam_
        if is_choice(self.gamma):
            again.gamma = learned.expansion.kernel.gamma
        return again

    def _judge(
        self, parts: list[Solution], paths: list[SmoothHingeLasso], lam: float, n_rows: int
    ) -> dict[str, float]:
        """Both criteria and the trace of the hat matrix of the rows, summed over the outputs."""
        found = []
        for part, path in zip(parts, paths, strict=True):
            weight, _ = working_problem(part.scores, path.hinge, part.dual, self.delta)
            terms = np.flatnonzero(part.coef)
            left, right = hat_matrix(path.values[:, terms], part.coef[terms], weight, lam)
            trace = float(np.einsum("ij,ji->", left[:n_rows], right[:, :n_rows]))
            own = path.hinge.take(slice(n_rows), path.hinge.cost[:n_rows])
            found.append((*criteria(part.scores[:n_rows], own, trace), trace))
        return dict(zip(("gcv", "loo", "trace"), np.sum(found, axis=0).tolist(), strict=True))


def is_choice(value: Any) -> bool:
    """Whether a parameter is to be chosen: "gcv" or several values."""
    return isinstance(value, str) and value == "gcv" or is_sequence(value)
