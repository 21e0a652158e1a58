"""The cross-entropy classifier: as few kernel terms as a random search can find.

Mannor, Peleg & Rubinstein (2005). Over sets σ of candidate vectors, minimise

    S(σ) = |σ| + C Σ hinge,    f = Σ_(j∈σ) α_j y_j k(x_j, x) + b,    0 ≤ α_j ≤ C          (1), (6)

where α and b are the best there are for σ, a linear program (7). Candidates are the support vectors
of the one-norm machine (8); the search and the score of a set are in ``solvers/cross_entropy`` and
``solvers/linear_programs/hinge_subsets.py``. The paper's three changes are in: terms whose
coefficient vanishes are freed, scores are cached, only one-norm support vectors are candidates.

Added to the paper: bounds from the linear programs' duals that spare many of them; a descent over
single changes and swaps at the end; several classes with one set σ for all; coefficients of either
sign; any fitted kernel classifier as the source of candidates (the paper's "second phase"); and its
future work: one-norm machines on blocks of rows, whose support vectors are searched together.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state, get_tags

from zeronorm.base.candidates import SparseKernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.base.progress import progress_bar
from zeronorm.base.sampling import stratified_blocks, stratified_rows
from zeronorm.base.training_set import (
    ChosenTerms,
    Learned,
    TrainingProblem,
    TrainingRows,
    gap_warning,
)
from zeronorm.checks import check_integer, check_share, check_word
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.solvers.cross_entropy.search import Minimum, best_set
from zeronorm.solvers.linear_programs.hinge_lp import one_norm_support
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets

#: Beyond so many rows, candidates come from blocks of that size, and sets are scored on a sample.
BLOCK_ROWS = 1000

#: Free coefficients may be this many times as large as the largest of the machine they start from.
ROOM = 10.0


@with_parameters
class CrossEntropySVC(SparseKernelClassifier):
    """Support vector classifier whose terms are found by a cross-entropy search.

    Minimises the number of terms plus C Σ hinge itself, no convex relaxation: a random search over
    sets of vectors, each scored by a linear program. The result is never worse in this objective
    than the one-norm machine's support vectors, or the given classifier's, that it starts from.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error: with C = 1, a term has to lower the sum of the margin errors by
        one. Also the largest coefficient, with ``signs="label"``.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`. With a classifier as ``candidates``, its
        kernel is used, and the four kernel parameters here are not.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    candidates : {"auto", "all"}, int, fitted classifier or KernelExpansion, default="auto"
        Where the terms come from. "all": the support vectors of the one-norm machine on all rows;
        an integer: that many rows, drawn with classes in proportion, take the place of all rows;
        "auto": "all" up to 1000 rows, and one-norm machines on blocks of rows beyond. A fitted
        :class:`~sklearn.svm.SVC`, :class:`~sklearn.svm.NuSVC`, classifier of zeronorm, or its
        ``expansion_``: its vectors, with coefficients of either sign (second phase). A classifier
        that is to survive ``clone``, as in cross-validation, goes in a
        :class:`~sklearn.frozen.FrozenEstimator`.
    signs : {"label", "free"}, default="label"
        "label": the paper's machine, coefficients signed by the labels and at most C. "free":
        coefficients of either sign, up to ten times as large as the largest of
        :class:`LinearProgrammingSVC`, whose vectors are then the candidates; usually far fewer
        terms. A given classifier's vectors are always free.
    sample_size : "auto" or int, default="auto"
        Sets drawn in each round; "auto" is five for each candidate, at least 100, at most 500.
    elite_share : float, default=0.03
        Share of the sets of a round that the next distribution follows.
    smoothing : float, default=0.7
        Weight of these in the next distribution.
    patience : int, default=3
        Stop when the elite's level has been the same for this many further rounds.
    adaptive : bool, default=False
        The fully adaptive variant (FACE): each round draws only as many sets as it takes to
        improve, between a quarter and four times ``sample_size``.
    polish : bool, default=True
        Whether the best set is improved by single changes and swaps in the end.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Largest relative gap between the loss of the final model and its dual bound before a
        warning is given.
    max_iter : int, default=100
        Most rounds of the search.
    random_state : int, RandomState instance or None, default=None
        Draws the sets, and the landmarks or blocks, where there are any.
    n_jobs : int, optional
        Workers that score sets, as in joblib; the result does not depend on it. By default
        threads; ``joblib.parallel_config`` takes them elsewhere.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms; not there if the candidates came from a
        classifier.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The vectors of the terms.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    objective_ : float
        S: the number of terms plus C Σ hinge.
    n_iter_ : int
        Rounds of the search.
    history_ : dict of ndarray
        For every round: "level" (score of the worst elite set), "objective" (best score so far),
        "terms" (of the best set), "draws" (sets drawn), "scored" (linear programs solved).
    n_candidates_ : int
        Number of vectors searched among.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    OneNormSVC : Where the search starts.
    ZeroNormSVC : Faster; the zero norm by reweighting.

    Notes
    -----
    Beyond 1000 rows sets are scored on a sample of 1000, classes in proportion and costs scaled
    up; the best set and the one it started from are then compared, and solved, on all rows.

    As α ≤ C with ``signs="label"``, a small C asks for many terms of small weight.

    References
    ----------
    Shie Mannor, Dori Peleg, Reuven Rubinstein: The cross entropy method for classification.
    International Conference on Machine Learning (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import CrossEntropySVC, OneNormSVC
    >>> X, y = make_moons(150, noise=0.2, random_state=0)
    >>> one_norm = OneNormSVC(gamma=1.0).fit(X, y)
    >>> search = CrossEntropySVC(gamma=1.0, random_state=0).fit(X, y)
    >>> one_norm.n_terms_, search.n_terms_
    (18, 13)
    """

    C: float = 1.0
    candidates: Any = "auto"
    signs: str = "label"
    sample_size: Any = "auto"
    elite_share: float = 0.03
    smoothing: float = 0.7
    patience: int = 3
    adaptive: bool = False
    polish: bool = True
    max_iter: int = 100
    n_jobs: int | None = None
    verbose: int = 0

    _block_rows: ClassVar[int] = BLOCK_ROWS

    #: Vectors of a given classifier beyond this many are first thinned out by a one-norm machine.
    _direct: ClassVar[int] = 100

    _kinds_of_candidates = (
        "'auto', 'all', an integer of at least 1, a fitted classifier or a KernelExpansion"
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_word("signs", self.signs, "label", "free")
        check_integer("sample_size", self.sample_size, least=2, words=("auto",))
        check_share("elite_share", self.elite_share)
        check_share("smoothing", self.smoothing)
        check_integer("patience", self.patience, least=1)
        check_integer("verbose", self.verbose, least=0)

    def _signed_by_label(self) -> bool:
        return self.signs == "label"

    def _check_candidates(self) -> None:
        if self._is_second_phase():
            self._given()
        else:
            super()._check_candidates()

    def _is_second_phase(self) -> bool:
        return isinstance(self.candidates, KernelExpansion) or hasattr(self.candidates, "predict")

    def _given(self) -> KernelExpansion:
        given = KernelExpansion.from_estimator(self.candidates)
        return given.without_linear("The search is among kernel terms")

    def _is_precomputed(self) -> bool:
        if isinstance(self.candidates, KernelExpansion):
            return self.candidates.kernel.is_precomputed
        if self._is_second_phase():
            return get_tags(self.candidates).input_tags.pairwise
        return super()._is_precomputed()

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        is_given = self._is_second_phase()
        return self._given().kernel if is_given else super()._make_kernel(X, sample_weight)

    def _with_candidates(self, training: TrainingRows) -> TrainingProblem:
        if not self._is_second_phase():
            return super()._with_candidates(training)
        given = self._given().merge()
        return TrainingProblem(training, None, given.vectors, given.kernel_values(training.data))

    def _choose_candidates(self, training: TrainingRows) -> np.ndarray:
        if not (isinstance(self.candidates, str) and self.candidates == "auto"):
            return super()._choose_candidates(training)
        n_rows = len(training.codes)
        if n_rows <= self._block_rows:
            return self._distinct(training, np.arange(n_rows))
        random = check_random_state(self.random_state)
        blocks = stratified_blocks(training.codes, -(-n_rows // self._block_rows), random)
        supports = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._block_support)(training, block) for block in blocks
        )
        merged = np.unique(np.concatenate(supports))
        return merged[self._distinct(training, merged)]

    def _block_support(self, training: TrainingRows, block: np.ndarray) -> np.ndarray:
        """Return the one-norm support vectors of one block, with costs rescaled to all rows."""
        indices = block[self._distinct(training, block)]
        values = training.kernel.matrix(training.data[block], training.vectors(indices))
        signs, caps = self._signs_and_caps(training, indices)
        cost = training.sample(block).cost
        columns, _ = one_norm_support(values, training.targets[block], cost, signs, caps)
        return indices[columns]

    def _signs_and_caps(
        self, training: TrainingRows, indices: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Signs and largest sizes of the candidates' coefficients; None where they are free."""
        if indices is None or not self._signed_by_label():
            return None, None
        return training.targets[indices], self._caps(training, indices)

    def _with_choices(self, learned: Learned) -> CrossEntropySVC:
        # For a verdict on a suspicious model a rough search will do.
        return copy.copy(self).set_params(sample_size=30, max_iter=5, polish=False, verbose=0)

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        random = check_random_state(self.random_state)
        rows, cost = np.arange(len(problem.cost)), problem.cost
        if len(rows) > self._block_rows:
            rows = stratified_rows(problem.training.codes, self._block_rows, random)
            cost = problem.training.sample(rows).cost
        columns, signs, caps = self._search_space(problem, rows, cost)

        def subsets_of(columns: np.ndarray, rows: Any, cost: np.ndarray) -> HingeSubsets:
            data = problem.values[rows][:, columns], problem.targets[rows], cost, caps[columns]
            return HingeSubsets(*data, None if signs is None else signs[columns])

        found, best = self._search(subsets_of(columns, rows, cost), random.randint(2**31 - 1))
        sets = [columns[best]]
        if len(rows) < len(problem.cost):
            sets.append(columns)
        if problem.indices is None and len(columns) < problem.values.shape[1]:
            sets.append(np.arange(problem.values.shape[1]))
        names = {"best": "objective", "ones": "terms"}
        history = {names.get(key, key): v for key, v in found.history.arrays().items()}
        fits = []
        for members in sets:
            score = subsets_of(members, slice(None), problem.cost)
            coef, intercept, loss, gap = score.coefficients(np.ones(len(members), dtype=bool))
            used = np.flatnonzero(coef.any(axis=1))
            terms, objective = (members[used], coef[used], intercept), len(used) + loss
            record = found.rounds, history, self._warning(found, gap)
            fits.append(ChosenTerms(*terms, objective, *record))
        self.n_candidates_ = len(columns)
        return min(fits, key=lambda fit: fit.objective)

    def _warning(self, found: Minimum, gap: float) -> str | None:
        if found.is_settled:
            return gap_warning("CrossEntropySVC", gap, self.tol)
        return (
            f"CrossEntropySVC stopped after {found.rounds} rounds before the level of the elite "
            "converged. Raise max_iter."
        )

    def _search_space(
        self, problem: TrainingProblem, rows: np.ndarray, cost: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Columns to search among; signs (None where free) and caps of all coefficients."""
        signs, caps = self._signs_and_caps(problem.training, problem.indices)
        columns, largest = np.arange(problem.values.shape[1]), 0.0
        if problem.indices is not None or len(columns) > self._direct:
            data = problem.values[rows], problem.targets[rows], cost, signs, caps
            columns, largest = one_norm_support(*data)
        if problem.indices is None:
            largest = max(largest, float(np.abs(self._given().coef).max(initial=0.0)))
        if caps is None:
            caps = np.full(problem.values.shape[1], max(ROOM * largest, problem.cost.max()))
        return columns, signs, caps

    def _search(self, score: HingeSubsets, seed: int) -> tuple[Minimum, np.ndarray]:
        """Run the search, and improve its result by single changes."""
        n_columns = score.values.shape[1]
        with progress_bar("searching", enabled=self.verbose > 0) as update:

            def report(found: Minimum) -> None:
                # Done when every probability is zero or one.
                open_bits = 4.0 * float((found.probabilities * (1.0 - found.probabilities)).sum())
                text = f"round {found.rounds}, {found.history['ones'][-1]} terms, "
                text += f"best {found.score:.6g}, level {found.history['level'][-1]:.6g}"
                update(1.0 - open_bits / max(1, n_columns), text)

            return best_set(
                score,
                n_columns,
                sample_size=None if self.sample_size == "auto" else self.sample_size,
                polish=self.polish,
                n_jobs=self.n_jobs,
                elite_share=self.elite_share,
                smoothing=self.smoothing,
                patience=self.patience,
                adaptive=self.adaptive,
                max_rounds=self.max_iter,
                random_state=seed,
                report=report,
            )
