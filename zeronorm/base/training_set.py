"""What an estimator gives to its solver, and what the solver returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.arrays import as_on, take
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.pairs import pairs_of
from zeronorm.solvers.gram import check_semidefinite
from zeronorm.solvers.intercept import without_intercept
from zeronorm.solvers.losses import Hinge

#: Sparse rows with no more entries than this, zeros included, may as well be plain arrays.
DENSE_ENTRIES = 4_000_000

#: What to do where a problem is too badly conditioned to be solved.
ADVICE = "Standardise the features, or take a more moderate C."

#: Share of the costs of all rows below which one of two classes is rare.
RARE = 0.05

#: Most that the costs of all rows may sum to: solvers work with squares, times kernel values. Every
#: cost is above the smaller number: they divide by it.
LARGEST_COST, SMALLEST_COST = 1e100, 1e-307


@dataclass
class TrainingRows:
    """Validated training rows, before the choice of candidates.

    Rows without weight are gone; ``rows`` are the indices of the others and ``data`` what they
    hold. ``codes`` are class numbers, ``targets`` labels as -1/+1 columns (one for two classes,
    one per class beyond), ``cost`` is C times the weights. ``full_data`` are all rows, where these
    are a sample with costs rescaled to them (``dask/rows.py``): coefficients are solved on those.
    ``box``, least and largest value of each feature, is what learned vectors must stay in;
    ``ends_on_rows`` says that they must be rows. ``classes`` are the labels of the class numbers.
    Sparse rows of at most ``dense_entries``, zeros included, may become plain arrays.
    """

    rows: np.ndarray
    data: Any
    codes: np.ndarray
    targets: np.ndarray
    cost: np.ndarray
    kernel: Kernel
    full_data: Any = None
    box: tuple[np.ndarray, np.ndarray] | None = None
    ends_on_rows: bool = False
    classes: Any = None
    dense_entries: int = DENSE_ENTRIES

    @property
    def n_all(self) -> int:
        """Number of all rows, of which these may be a sample."""
        return len(self.codes) if self.full_data is None else self.full_data.n_rows

    @property
    def hinges(self) -> list[Hinge]:
        """Hinges of the rows in each output."""
        cost = self.cost[:, None]
        if self.targets.shape[1] > 1:
            cost = cost * self.output_factors(slice(None))
        return [Hinge(*output) for output in zip(self.targets.T, cost.T, strict=True)]

    def output_factors(self, indices: Any) -> np.ndarray:
        """How many times some rows count in each output."""
        return own_class_factors(self.targets[indices])

    def vectors(self, indices: np.ndarray) -> Any:
        """Expansion vectors of the rows at these indices."""
        if self.kernel.is_precomputed:
            # The vectors of a precomputed kernel are the columns of its matrix.
            return self.rows[indices][:, None]
        return self.data[indices]

    def dense(self, indices: np.ndarray) -> np.ndarray:
        """Rows at these indices as plain arrays, to start learned vectors from."""
        chosen = self.data[indices]
        return chosen.toarray() if sparse.issparse(chosen) else np.asarray(chosen)

    def compact(self) -> TrainingRows:
        """Return the same rows as plain arrays, if they are sparse and few."""
        if not sparse.issparse(self.data) or np.prod(self.data.shape) > self.dense_entries:
            return self
        return replace(self, data=self.data.toarray())

    def take(self, indices: np.ndarray) -> TrainingRows:
        """Return the rows at these indices alone, with their own costs."""
        return replace(
            self,
            rows=self.rows[indices],
            data=take(self.data, indices),
            codes=self.codes[indices],
            targets=self.targets[indices],
            cost=self.cost[indices],
            full_data=None,
        )

    def sample(self, indices: np.ndarray) -> TrainingRows:
        """Return some rows, with costs whose sum over a class is that of all its rows."""
        if len(indices) == len(self.codes):
            return self
        cost = rescaled_cost(self.codes, self.cost, indices, self.cost[indices])
        return replace(self.take(indices), cost=cost)


@dataclass
class TrainingProblem:
    """Training rows with the vectors that may become terms, ready for a solver.

    ``indices`` are those of the candidates among the rows, None where the vectors are no training
    rows; ``values`` is the kernel matrix of rows and ``vectors``. ``targets``, ``cost`` and
    ``kernel`` are those of the training rows.
    """

    training: TrainingRows
    indices: np.ndarray | None
    vectors: Any
    values: np.ndarray

    def __post_init__(self) -> None:
        self.targets, self.cost = self.training.targets, self.training.cost
        self.kernel = self.training.kernel

    def gram(self, purpose: str) -> np.ndarray:
        """Kernel matrix of the candidates, which must be positive semidefinite for ``purpose``."""
        if self.kernel.is_precomputed:
            gram = self.values[self.indices]
        else:
            gram = self.kernel.matrix(self.vectors, self.vectors)
        check_semidefinite(gram, purpose, self.kernel.name)
        return gram

    @property
    def has_intercept(self) -> bool:
        """Whether coefficients under a penalty of their own go with an intercept.

        Not with an rbf kernel and no fewer features than rows. Each row is then far from all others
        and as far from one as from another: a term says much about its own row and adds a constant
        to all others. So the intercept and the sum of the coefficients can take each other's place
        at nearly the same objective, and the terms of one class with an intercept for the other
        class are enough to fit all rows: on new rows that function is its intercept.
        Without one there are terms of both classes. (The norm of the function, as in the SVM,
        makes the coefficients sum to zero by itself.)

        Nor with an rbf kernel where one of two classes is rare: the intercept is then the cheapest
        description of the other class, and the terms fit the rare one too tightly.
        """
        if self.kernel.name != "rbf":
            return True
        shares = np.bincount(self.training.codes, weights=self.cost / self.cost.sum())
        is_rare = len(shares) == 2 and shares.min() < RARE
        return not is_rare and self.training.data.shape[1] < len(self.training.codes)

    def hinges(self, columns: Any = slice(None)) -> Iterator[tuple[np.ndarray, Hinge]]:
        """Yield kernel values with some candidates and the hinges of each output.

        Where there is no intercept, there are two rows more (:func:`without_intercept`).
        """
        values = self.values[:, columns]
        for hinge in self.training.hinges:
            yield (values, hinge) if self.has_intercept else without_intercept(values, hinge)


@dataclass
class ChosenTerms:
    """What ``_solve`` of a method returns: which candidates became terms, with what coefficients.

    ``terms`` are indices among the candidates; ``SparseKernelMachine._learn`` makes of them a
    :class:`Learned`. ``kernel`` is the one that the method has chosen, where that is its part.
    """

    terms: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    objective: float
    n_iter: int
    history: dict[str, np.ndarray]
    warning: str | None = None
    kernel: Kernel | None = None


@dataclass
class Learned:
    """What ``_learn`` returns: the expansion, the rows that became terms (if any), a record.

    ``warning`` says that a solver did not converge, ``doubt`` that the model is poor, ``is_judged``
    that its like was compared with others on rows held out; ``held_out`` are values of the training
    rows (n x outputs) by models like it that had not seen them, NaN where there is none.
    """

    expansion: KernelExpansion
    support: np.ndarray | None
    objective: float
    n_iter: int
    history: dict[str, np.ndarray]
    warning: str | None = None
    doubt: str | None = None
    is_judged: bool = False
    held_out: np.ndarray | None = None


def rescaled_cost(
    codes: np.ndarray, cost: np.ndarray, indices: np.ndarray, some: np.ndarray
) -> np.ndarray:
    """Scale costs of the rows at some indices: those of a class sum to the cost of all its rows."""
    total = np.bincount(codes, weights=cost)
    there = np.bincount(codes[indices], weights=some, minlength=len(total))
    # In this order: a share is at most one, and what it is a share of may be of any size.
    return some / np.where(there > 0, there, 1.0)[codes[indices]] * total[codes[indices]]


class PairRows(TrainingRows):
    """Training rows whose outputs are pairs of classes, one against one.

    ``targets`` are +1 for the first class of a pair, -1 for the second, and zero for rows of other
    classes, which do not count in that output.
    """

    @classmethod
    def of(cls, training: TrainingRows) -> PairRows:
        """Return the same rows with pairs for outputs."""
        names = (one.name for one in fields(TrainingRows))
        parts = {name: getattr(training, name) for name in names}
        return cls(**parts | {"targets": pair_targets(training.codes, training.targets.shape[1])})

    def output_factors(self, indices: Any) -> np.ndarray:
        """How many times some rows count in each output: once in those of their class."""
        return np.abs(self.targets[indices]).astype(float)


def pair_targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return +1, -1 and 0 of class numbers in each pair of classes (n x pairs), small integers."""
    first, second = np.array(pairs_of(n_classes)).T
    own = codes[:, None].astype(int)
    return (own == first).astype(np.int8) - (own == second).astype(np.int8)


def own_class_factors(targets: np.ndarray) -> np.ndarray:
    """How many times a row counts in each output: √(K - 1) times in that of its own class.

    Of K classes, each against the rest, the rest has K - 1 times as many rows as an average class.
    At equal costs the cheapest answer to "is it this class?" is no, for all rows, and a model with
    few terms gives it for most classes. With factors of K - 1 a class would weigh as much as the
    rest; on generated problems with 3 to 30 classes the root of it served best.
    """
    n_outputs = targets.shape[1]
    factor = np.sqrt(n_outputs - 1.0) if n_outputs > 1 else 1.0
    return np.where(targets > 0, factor, 1.0)


def check_cost(cost: np.ndarray) -> None:
    """Raise ValueError unless every row has a positive cost, and solvers can add them up."""
    if not (np.isfinite(cost).all() and cost.min() > SMALLEST_COST):
        raise ValueError(
            "C times the weights must be positive and finite for every row that counts (above "
            f"{SMALLEST_COST:.0e})."
        )
    if not cost.sum() <= LARGEST_COST:
        raise ValueError(
            f"C times the weights is up to {cost.max():.1e}, and over all rows more than "
            f"{LARGEST_COST:g}: no solver has room for its squares. Take a smaller C, or divide "
            "the weights by their mean."
        )


def gap_warning(name: str, gap: float, tolerance: float, advice: str = ADVICE) -> str | None:
    """Return a sentence if a problem is not solved to the duality gap that was asked for."""
    if gap <= tolerance:
        return None
    return f"{name} has a relative duality gap of {gap:.1e} (tol={tolerance:g}). {advice}"


def learned_expansion(
    vectors: Any,
    coef: np.ndarray,
    intercept: np.ndarray,
    kernel: Kernel,
    objective: float,
    linear: np.ndarray | None = None,
    vote_classes: int | None = None,
) -> KernelExpansion:
    """Put together what was learned; ValueError if it, or its objective, is not finite.

    The outputs are pairs of ``vote_classes`` classes, if that is given.
    """
    weights = 0.0 if linear is None else linear
    if not all(np.isfinite(part).all() for part in (coef, intercept, weights, objective)):
        raise ValueError(
            "The solution is not finite: the data are too badly scaled for this kernel and C. "
            "Standardise the features, or take a smaller C."
        )
    how = "votes" if vote_classes is None else "worst"
    parts = vectors, coef, intercept, kernel
    return KernelExpansion(*parts, vote_classes=vote_classes, pair_scores=how, linear=linear)


def store_expansion(estimator: Any, expansion: KernelExpansion) -> None:
    """Set the fitted attributes that show the parts of an expansion; none stays of another fit."""
    estimator.expansion_ = expansion
    estimator.n_terms_ = expansion.n_terms
    estimator.support_vectors_ = expansion.vectors
    estimator.dual_coef_ = expansion.coef.T
    estimator.intercept_ = expansion.intercept
    for name in ("linear_coef_", "metric_"):
        estimator.__dict__.pop(name, None)
    if expansion.linear is not None:
        estimator.linear_coef_ = expansion.linear.T
    if expansion.kernel.metric is not None:
        metric = expansion.kernel.gamma * np.array(expansion.kernel.metric)
        estimator.metric_ = as_on(metric, expansion.intercept)
