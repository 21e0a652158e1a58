"""A look at every fitted classifier: no model that only guesses goes out without a word.

A model is suspicious (``_is_suspicious``) if it is wrong on most training rows of some class, or
more than half as often as guessing the commonest class. A row that is a term of the model is judged
without that term: it says nothing about new rows, and with a narrow kernel nothing else is left.

Suspicion is cheap and no verdict: guessing may be the best that can be done. Only for a suspicious
model a plain SVC is cross-validated, on few rows (``_comparison``). If it is clearly better than
guessing, by the rows on which one alone is right, a model that knows one class only is found out.
Any other is cross-validated on the same rows. The warning comes if the SVC is clearly better than
it, or if it is itself clearly better there than the model at hand: then something went wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from zeronorm.arrays import take, to_numpy
from zeronorm.base.sampling import stratified_folds, stratified_rows
from zeronorm.base.training_set import Learned, TrainingRows, rescaled_cost
from zeronorm.decisions import DecisionRule
from zeronorm.distances import variance_of

#: A model is suspicious that is wrong on this share as many rows as guessing, or right on less than
#: this share of the rows of some class.
WRONG, FOUND = 0.5, 0.5

#: The model is looked at on so many rows at most, and cross-validated on so many of them.
LOOKED_AT, COMPARED = 5_000, 400

#: Fewest and most folds, and rows that are learned from in all of them together, about.
FEWEST, MOST, LEARNED = 3, 15, 1_200

#: Cost of the SVC, most iterations of libsvm, and by how many standard deviations it must win.
REFERENCE_C, MAX_ITER, CLEARLY = 10.0, 100_000, 1.64

#: Weights of rows of the SVC beyond these, in units of their mean, are too much for libsvm.
WEIGHTS = 1e-6, 1e6


class CheckedModel(Protocol):
    """What is asked of a fitted classifier; rows are given by their indices, classes by codes."""

    codes: np.ndarray
    weight: np.ndarray
    n_terms: int
    advice: str
    has_converged: bool

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""

    def judged_alone(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows, each judged without the term that is the row itself."""

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others."""

    def reference(self, indices: np.ndarray) -> tuple[Any, str]:
        """Rows for an SVC, and its kernel."""


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
    """

    advice = (
        "Scale the features, try another gamma or a larger C, or class_weight='balanced' if a "
        "class is rare."
    )

    def __init__(
        self,
        training: TrainingRows,
        learned: Learned,
        learn_again: Callable[[TrainingRows], Learned],
    ) -> None:
        self.training, self.learned, self.learn_again = training, learned, learn_again
        self.codes, self.weight = training.codes, training.cost
        self.n_terms, self.has_converged = learned.expansion.n_terms, learned.warning is None

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""
        return self._of_values(self._values(self.learned, indices), self.learned, indices)

    def judged_alone(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows, each judged without the term that is the row itself."""
        values = self._values(self.learned, indices)
        if self.learned.support is not None:
            terms = {row: term for term, row in enumerate(self.learned.support.tolist())}
            rows = self.training.rows[indices].tolist()
            own = [(i, terms[row]) for i, row in enumerate(rows) if row in terms]
            if own:
                values[tuple(np.transpose(own))] = 0.0
        return self._of_values(values, self.learned, indices)

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others, which stand for all."""
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
        scores = learned.expansion.outputs_from(values, self.rows(indices))
        return DecisionRule(max(2, scores.shape[1])).codes(scores)


class CheckedLinear:
    """A fitted scikit-learn classifier on features.

    Parameters
    ----------
    model : classifier
        It has been fitted on X and y.
    X : array or sparse matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    """

    advice = "Take more features, a larger C, or a classifier that is not linear."
    has_converged = True

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y
        self.codes = np.searchsorted(model.classes_, y)
        self.weight, self.n_terms = np.ones(len(y)), model.n_terms_

    def predicted(self, indices: np.ndarray) -> np.ndarray:
        """Classes of training rows."""
        return np.searchsorted(self.model.classes_, self.model.predict(self.X[indices]))

    def judged_alone(self, indices: np.ndarray) -> np.ndarray:
        """No row is a term."""
        return self.predicted(indices)

    def learned_again(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Classes of some rows by the classifier fitted on others."""
        again = clone(self.model).set_params(n_features_to_select=self.n_terms)
        again._fit(self.X[learn], self.y[learn])
        return np.searchsorted(self.model.classes_, again.predict(self.X[judge]))

    def reference(self, indices: np.ndarray) -> tuple[Any, str]:
        """Rows and the rbf kernel."""
        return self.X[indices], "rbf"


def guessing_message(name: str, model: CheckedModel, classes: np.ndarray) -> str | None:
    """Return a sentence if a model is no better than guessing, and better is possible.

    Parameters
    ----------
    name : str
        Name of the classifier.
    model : CheckedModel
        The model and its training rows.
    classes : ndarray
        Class labels, in the order of the codes.
    """
    random = np.random.RandomState(0)
    rows = _some(model.codes, np.arange(len(model.codes)), LOOKED_AT, random)
    weight = _weight(model, rows)
    share = np.bincount(model.codes[rows], weights=weight) / weight.sum()
    commonest, guessing = int(share.argmax()), 1.0 - float(share.max())
    if not _is_suspicious(model, rows, guessing):
        return None
    compared = _some(model.codes, rows, COMPARED, random)
    found = _comparison(model, compared, commonest, random)
    if found is None:
        return None

    def wrong(right: np.ndarray) -> str:
        return f"{100 * np.average(~right, weights=_weight(model, compared)):.1f} %"

    again = "" if found.again is None else f", in cross-validation on {wrong(found.again)}"
    return (
        f"{name} has learned little: with {model.n_terms} terms it is wrong on "
        f"{wrong(found.model)} of {len(compared)} training rows{again}. Always guessing "
        f"{classes.tolist()[commonest]!r} is wrong on {100 * guessing:.1f} %, "
        f"SVC(C={REFERENCE_C:g}) in cross-validation on {wrong(found.reference)}. {model.advice}"
    )


def _is_suspicious(model: CheckedModel, rows: np.ndarray, guessing: float) -> bool:
    """Whether a model misses most of some class, or is wrong too often beside guessing."""
    codes = model.codes[rows]
    right = model.judged_alone(rows) == codes
    is_found = np.bincount(codes, weights=right) >= FOUND * np.bincount(codes)
    error = np.average(~right, weights=_weight(model, rows))
    return not (is_found.all() and error < WRONG * guessing)


@dataclass
class _Comparison:
    """Which rows are right: by the model, learned again without them (or None), by the SVC."""

    model: np.ndarray
    again: np.ndarray | None
    reference: np.ndarray


def _comparison(
    model: CheckedModel, rows: np.ndarray, commonest: int, random: np.random.RandomState
) -> _Comparison | None:
    """Compare a suspicious model with a plain SVC; None where that does not convict it."""
    codes = model.codes[rows]
    if np.bincount(codes).max() < 2:
        return None  # nothing to cross-validate with
    count = int(np.clip(LEARNED // len(rows), FEWEST, MOST))
    folds = [(rows[a], rows[b]) for a, b in stratified_folds(codes, count, random)]
    try:
        reference = _cross_validated(_Reference(model), folds, model.codes)[rows]
    except ValueError:  # libsvm has no finite solution on these rows: nothing to compare with
        return None
    if not _is_clearly_better(reference, codes == commonest):
        return None
    predicted = model.predicted(rows)
    right = predicted == codes
    if len(np.unique(predicted)) == 1:
        return _Comparison(right, None, reference)
    if not model.has_converged:
        return None  # that was said already, and to learn again would take as long as before
    again = _cross_validated(model.learned_again, folds, model.codes)[rows]
    if _is_clearly_better(reference, again) or _is_clearly_better(again, right):
        return _Comparison(right, again, reference)
    return None


def _weight(model: CheckedModel, indices: np.ndarray) -> np.ndarray:
    """Weights of some rows, those of a class with the sum of all its rows."""
    return rescaled_cost(model.codes, model.weight, indices, model.weight[indices])


def _is_clearly_better(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the rows that one alone is right on outnumber those of the other beyond chance."""
    wins, losses = int((one & ~other).sum()), int((other & ~one).sum())
    return wins - losses >= max(1.0, CLEARLY * np.sqrt(wins + losses))


def _some(
    codes: np.ndarray, indices: np.ndarray, most: int, random: np.random.RandomState
) -> np.ndarray:
    """At most so many of the indices, rare classes with more than their share."""
    if len(indices) <= most:
        return indices
    _, present = np.unique(codes[indices], return_inverse=True)
    return indices[stratified_rows(present, most, random)]


def _cross_validated(
    predict: Callable[[np.ndarray, np.ndarray], np.ndarray],
    folds: list[tuple[np.ndarray, np.ndarray]],
    codes: np.ndarray,
) -> np.ndarray:
    """Which rows are predicted right by what was learned without them."""
    right = np.zeros(len(codes), dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is fitted here nothing goes out
        for learn, judge in folds:
            right[judge] = predict(learn, judge) == codes[judge]
    return right


class _Reference:
    """A plain SVC on the rows of a fitted classifier."""

    def __init__(self, model: CheckedModel) -> None:
        self.model = model

    def __call__(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        data, kernel = self.model.reference(np.concatenate([learn, judge]))
        if kernel == "rbf" and not sparse.issparse(data):
            # libsvm's distances lose the digits that rows far from zero have in common.
            data = data - data.mean(axis=0)
        first, rest = data[: len(learn)], data[len(learn) :]
        if kernel == "precomputed":
            first, rest = first[:, : len(learn)], rest[:, : len(learn)]
        variance = first.shape[1] * variance_of(first)
        # As gamma="scale", but where rounding leaves no variance, or it overflows.
        gamma = 1.0 / variance if 0.0 < variance < np.inf else 1.0
        weight = _weight(self.model, learn)
        svc = SVC(C=REFERENCE_C, kernel=kernel, gamma=gamma, max_iter=MAX_ITER)
        svc.fit(first, self.model.codes[learn], np.clip(weight / weight.mean(), *WEIGHTS))
        return svc.predict(rest)
