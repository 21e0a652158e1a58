"""What the machines share whose terms are training rows: the choice of candidates."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from zeronorm.base.classifier import KernelClassifier
from zeronorm.base.machine import KernelMachine
from zeronorm.base.regressor import KernelRegressor
from zeronorm.base.sampling import is_repeated, renumbered, stratified_rows
from zeronorm.base.training_set import (
    ChosenTerms,
    Learned,
    TrainingProblem,
    TrainingRows,
    learned_expansion,
    rescaled_cost,
)
from zeronorm.checks import is_integer, shown

#: ``candidates="auto"`` takes all rows up to this many, and this many landmarks beyond.
AUTO_CANDIDATES = 300

#: ``candidates="all"`` is refused beyond this many rows: an n × n matrix of 3 GB.
ALL_CANDIDATES = 20_000

#: What the parameter may be where only training rows are candidates.
ROWS_ONLY = "'auto', 'all' or an integer of at least 1"


def check_candidates(candidates: Any, kinds: str = ROWS_ONLY) -> None:
    """Raise ValueError unless the parameter is one of these kinds."""
    is_word = isinstance(candidates, str) and candidates in ("auto", "all")
    if not (is_word or is_integer(candidates) and candidates >= 1):
        raise ValueError(f"candidates must be {kinds}; got {shown(candidates)}.")


def most_candidates(candidates: str | int, n_rows: int) -> int:
    """Return how many rows may become terms; ValueError if their kernel matrix is too large."""
    if candidates == "all" and n_rows > ALL_CANDIDATES:
        raise ValueError(
            f"candidates='all' with {n_rows} rows asks for a kernel matrix of "
            f"{8e-9 * n_rows**2:.0f} GB; take candidates='auto' or a number of landmarks."
        )
    if isinstance(candidates, str):
        return AUTO_CANDIDATES if candidates == "auto" else n_rows
    return candidates


class SparseKernelMachine(KernelMachine):
    """Base of the machines whose terms are training rows.

    A subclass has the parameter ``candidates`` and implements ``_solve``.
    """

    if TYPE_CHECKING:
        candidates: Any

    _kinds_of_candidates = ROWS_ONLY

    @abstractmethod
    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        """Learn the expansion; parameters of the method itself are checked in here."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_candidates()

    def _check_candidates(self) -> None:
        check_candidates(self.candidates, self._kinds_of_candidates)

    def _learn(self, training: TrainingRows) -> Learned:
        problem = self._with_candidates(training)
        chosen = self._solve(problem)
        support = None
        if problem.indices is not None:
            support = training.rows[problem.indices[chosen.terms]]
        expansion = learned_expansion(
            problem.vectors[chosen.terms],
            chosen.coef,
            chosen.intercept,
            chosen.kernel or problem.kernel,
            chosen.objective,
        )
        record = chosen.objective, chosen.n_iter, chosen.history, chosen.warning
        return Learned(expansion, support, *record)

    def _with_candidates(self, training: TrainingRows) -> TrainingProblem:
        indices = self._choose_candidates(training)
        vectors = training.vectors(indices)
        values = training.kernel.matrix(training.data, vectors)
        return TrainingProblem(training, indices, vectors, values)

    def _choose_candidates(self, training: TrainingRows) -> np.ndarray:
        """Return the rows that may become terms: the distinct ones, or landmarks among them."""
        codes = training.codes
        n_rows = len(codes)
        limit = most_candidates(self.candidates, n_rows)
        random = check_random_state(self.random_state)
        rows = np.arange(n_rows)
        if n_rows > limit:
            # More than needed: where rows are repeated, enough distinct ones should remain.
            rows = stratified_rows(codes, min(n_rows, 4 * limit), random)
        rows = rows[self._distinct(training, rows)]
        if len(rows) > limit:
            rows = rows[stratified_rows(renumbered(codes[rows]), limit, random)]
        return rows

    def _signed_by_label(self) -> bool:
        """Whether a term has its row's label as sign: rows are then equal if their labels are."""
        return False

    def _distinct(self, training: TrainingRows, indices: np.ndarray) -> np.ndarray:
        """Which of the indices hold the first of several equal rows."""
        return np.unique(self._equal_rows(training, indices))

    def _equal_rows(self, training: TrainingRows, indices: np.ndarray) -> np.ndarray:
        """For each index, which of the indices holds the first row that is equal to it."""
        if training.kernel.is_precomputed:
            return np.arange(len(indices))
        labels = training.codes[indices] if self._signed_by_label() else None
        return first_equal(training.data[indices], labels)

    def _caps(self, training: TrainingRows, indices: np.ndarray) -> np.ndarray:
        """Cost of each candidate, with that of the rows it represents.

        These are the rows equal to it and, where only some rows are candidates, a share of the
        others of its class, in proportion to its own cost.
        """
        equal = self._equal_rows(training, np.arange(len(training.codes)))
        caps = np.bincount(equal, weights=training.cost)[equal[indices]]
        return rescaled_cost(training.codes, training.cost, indices, caps)


class SparseKernelClassifier(SparseKernelMachine, KernelClassifier):
    """Base of the classifiers whose terms are training rows."""


class SparseKernelRegressor(SparseKernelMachine, KernelRegressor):
    """Base of the regressors whose terms are training rows."""


def first_equal(X: Any, codes: np.ndarray | None = None) -> np.ndarray:
    """For each row, the index of the first row equal to it (and of the same class, if given)."""
    found = some = np.arange(X.shape[0])
    if sparse.issparse(X):
        rows = _sparse_keys(X)
    else:
        some = np.flatnonzero(is_repeated(X))  # the others need not be compared
        # Rows as single items of memory; adding zero turns -0.0 into 0.0, which is equal to it.
        kind = np.dtype((np.void, X.itemsize * X.shape[1]))
        rows = np.ascontiguousarray(X[some] + 0.0).view(kind).ravel()
    if len(some) == 0:
        return found
    _, rows = np.unique(rows, return_inverse=True)
    if codes is not None:
        rows = rows * (int(codes.max()) + 1) + codes[some]
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    found[some] = some[first[inverse]]
    return found


def _sparse_keys(X: Any) -> np.ndarray:
    """Of each sparse row what it holds, as bytes."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    parts = itertools.pairwise(X.indptr)
    keys = [X.indices[a:b].tobytes() + b"|" + X.data[a:b].tobytes() for a, b in parts]
    return np.array(keys, dtype=object)
