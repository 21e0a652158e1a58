"""A fitted classifier as the guard sees it: what it says of its training rows, and learned again.

Rows are given by their indices, classes by codes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.base import clone

from zeronorm.arrays import take, to_numpy
from zeronorm.base.training_set import Learned, TrainingRows
from zeronorm.decisions import DecisionRule

#: What to try where a kernel expansion has learned little, and where it has on wide data.
ADVICE = (
    "Scale the features, try another gamma or a larger C, or class_weight='balanced' if a class is "
    "rare."
)
WIDE_ADVICE = (
    "With as many features as rows each row is far from all others, and few kernel terms say "
    "little: try kernel='linear', SparseSVC, which has a linear part, or fewer features."
)

#: From so many rows on, and so many for each number of a model that was chosen on rows held out,
#: its training rows are as good as others to judge it by.
MANY_ROWS, ROWS_PER_NUMBER = 20_000, 10


class ReferenceRows(Protocol):
    """Rows that a plain machine of libsvm can learn from."""

    def reference(self, indices: np.ndarray) -> tuple[Any, str]:
        """Rows for libsvm, and its kernel."""


class CheckedModel(ReferenceRows, Protocol):
    """What is asked of a fitted classifier.

    ``is_wide`` says that there are no fewer features than rows, that kernel terms are all there is,
    and that nobody has judged them on other rows: every row is then far from every other, and may
    be right by its own term alone. ``share_of_rows`` is how many of the rows are terms, where terms
    are rows and the kernel says little beyond them; else one.
    """

    codes: np.ndarray
    weight: np.ndarray
    n_terms: int
    advice: str
    has_converged: bool = True
    is_wide: bool = False
    share_of_rows: float = 1.0

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""

    def judged_alone(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows, each judged without the term that is the row itself."""
        return self.predicted(indices)

    def held_out(self, indices: np.ndarray) -> np.ndarray | None:
        """Classes of training rows by models that had not seen them, where these are known."""
        return None

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others."""


class CheckedExpansion:
    """A kernel expansion that was learned from training rows.

    Parameters
    ----------
    training : TrainingRows
        The rows.
    learned : Learned
        What was learned from them.
    learn_again : callable
        Learns from other rows, with the same parameters.
    many_rows : int
        Fewest rows by which a model is judged that has learned from them.
    """

    def __init__(
        self,
        training: TrainingRows,
        learned: Learned,
        learn_again: Callable[[TrainingRows], Learned],
        *,
        many_rows: int = MANY_ROWS,
    ) -> None:
        self.training, self.learned, self.learn_again = training, learned, learn_again
        self.codes, self.weight, self.many_rows = training.codes, training.cost, many_rows
        self.n_terms, self.has_converged = learned.expansion.n_terms, learned.warning is None
        is_unproven = learned.expansion.linear is None and not learned.is_judged
        is_table = not training.kernel.is_precomputed
        has_few_rows = training.data.shape[1] >= len(training.codes)
        self.is_wide = is_unproven and is_table and has_few_rows
        self.advice = WIDE_ADVICE if self.is_wide else ADVICE
        has_rows = learned.support is not None and training.kernel.name == "rbf"
        self.share_of_rows = self.n_terms / len(training.codes) if has_rows else 1.0

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""
        return self._of_values(self._values(self.learned, indices), self.learned, indices)

    def judged_alone(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows, each judged without the term that is the row itself."""
        values, support = self._values(self.learned, indices), self.learned.support
        if support is not None and len(support):
            rows, terms = self.training.rows[indices], np.argsort(support)
            terms = terms[np.searchsorted(support, rows, sorter=terms) % len(support)]
            own = np.flatnonzero(support[terms] == rows)
            values[own, terms[own]] = 0.0
        return self._of_values(values, self.learned, indices)

    def held_out(self, indices: np.ndarray) -> np.ndarray | None:
        """Classes of training rows by the models of a choice, where it has seen them all.

        A model with many rows for each number in it says the same of rows that it has not seen.
        """
        values, expansion = self.learned.held_out, self.learned.expansion
        n_numbers = expansion.vectors.size + expansion.coef.size
        n_numbers += 0 if expansion.linear is None else expansion.linear.size
        has_many_rows = len(self.codes) >= max(self.many_rows, ROWS_PER_NUMBER * n_numbers)
        if self.learned.is_judged and has_many_rows:
            return self.predicted(indices)
        if values is None or np.isnan(values[indices]).any():
            return None
        return _codes(values[indices])

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others, costs rescaled to all rows."""
        again = self.learn_again(self.training.sample(learn))
        return self._of_values(self._values(again, judge), again, judge)

    def reference(self, indices: np.ndarray) -> tuple[Any, str]:
        """Rows and rbf, or the kernel's own values where the rows are not plain features."""
        training, data = self.training, self.rows(indices)
        if training.kernel.is_precomputed:
            values = data[:, training.rows[indices]]  # libsvm takes no sparse kernel matrix
            return values.toarray() if sparse.issparse(values) else values, "precomputed"
        if training.kernel.name == "callable":
            return training.kernel.matrix(data, data), "precomputed"
        return data, "rbf"

    def _values(self, learned: Learned, indices: np.ndarray) -> np.ndarray:
        return learned.expansion.kernel_values(self.rows(indices))

    def rows(self, indices: np.ndarray) -> Any:
        """Return training rows, in NumPy."""
        return to_numpy(take(self.training.data, indices))

    def kernel_values(self, indices: np.ndarray) -> np.ndarray:
        """Kernel values of training rows with the terms of the model."""
        return self._values(self.learned, indices)

    def _of_values(self, values: np.ndarray, learned: Learned, indices: np.ndarray) -> np.ndarray:
        rows = None if learned.expansion.linear is None else self.rows(indices)
        expansion = learned.expansion
        return _codes(expansion.scores(expansion.outputs_from(values, rows)))


def _codes(scores: np.ndarray) -> np.ndarray:
    return DecisionRule(max(2, scores.size // len(scores))).codes(scores)


class CheckedLinear(CheckedModel):
    """A fitted scikit-learn classifier on features.

    Parameters
    ----------
    model : classifier
        It has been fitted on X and y.
    X : array or sparse matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    weight : ndarray of shape (n,), optional
        Their weights.
    """

    advice = (
        "Standardise the features, take more of them, a larger C, or a classifier that is not "
        "linear."
    )

    def __init__(self, model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None = None) -> None:
        self.model, self.X, self.y, self.given = model, X, y, weight
        self.codes = np.searchsorted(model.classes_, y)
        self.weight, self.n_terms = np.ones(len(y)) if weight is None else weight, model.n_terms_

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""
        return self._said_by(self.model, indices)

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others."""
        again = clone(self.model).set_params(n_features_to_select=self.n_terms)
        weight = None if self.given is None else self.given[learn]
        again._fit(self.X[learn], self.y[learn], weight, again._selector())
        return self._said_by(again, judge)

    def _said_by(self, model: Any, indices: np.ndarray) -> np.ndarray:
        """Return codes of the classes that a model finds in some rows, which have no names here."""
        polynomial = model.polynomial_
        scores = polynomial.scores(polynomial.outputs(self.X[indices]))
        return np.searchsorted(self.model.classes_, model.classes_)[_codes(scores)]

    def reference(self, indices: np.ndarray) -> tuple[Any, str]:
        """Rows and the rbf kernel."""
        return self.X[indices], "rbf"
