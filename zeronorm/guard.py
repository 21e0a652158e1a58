"""A look at every fitted classifier: no model that only guesses goes out without a word.

A model is suspicious if it is wrong on most training rows of some class, or nearly as often as
guessing the commonest class. A row that is a term of the model is judged without that term: it
says nothing about new rows, and with a narrow kernel nothing else is left.

Suspicion is cheap and no verdict: guessing may be the best that can be done. Only for a suspicious
model the classifier and a plain SVC are cross-validated on the same rows; the warning comes if the
SVC is clearly better than the model and than guessing, by the rows on which one alone is right, or
if the classifier fitted on a part of the rows is clearly better than the model itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.svm import SVC

from zeronorm.expansion import KernelExpansion
from zeronorm.sampling import stratified_folds, stratified_rows
from zeronorm.training import Learned, TrainingRows

#: A model is suspicious that is wrong on this share of the rows on which guessing is wrong, or
#: right on less than this share of the rows of some class.
NEARLY, FOUND = 0.8, 0.5

#: The model is looked at on so many rows at most, and cross-validated on so many of them.
LOOKED_AT, COMPARED = 5_000, 400

#: Fewest and most folds, and rows that are learned from in all of them together, about.
FEWEST, MOST, LEARNED = 3, 20, 1_200

#: Cost of the SVC, most iterations of libsvm, and by how many standard deviations it must win.
REFERENCE_C, MAX_ITER, CLEARLY = 10.0, 100_000, 1.64


def guessing_message(
    name: str,
    training: TrainingRows,
    learned: Learned,
    classes: np.ndarray,
    learn_again: Callable[[TrainingRows], Learned],
) -> str | None:
    """Return a sentence if the model is no better than guessing, and better is possible.

    Parameters
    ----------
    name : str
        Name of the classifier.
    training : TrainingRows
        What it was fitted on.
    learned : Learned
        What it has learned.
    classes : ndarray
        Class labels, in the order of the codes of the rows.
    learn_again : callable
        Learns from other rows, with the same parameters.
    """
    random = np.random.RandomState(0)
    places = _some(training, np.arange(len(training.codes)), LOOKED_AT, random)
    codes, weight = training.codes[places], training.scaled_cost(places)
    right = _judged_alone(training, learned, places) == codes
    is_found = np.bincount(codes, weights=right) >= FOUND * np.bincount(codes)
    share = np.bincount(codes, weights=weight) / weight.sum()
    error, guessing = 1.0 - float(np.average(right, weights=weight)), 1.0 - float(share.max())
    if is_found.all() and error < NEARLY * guessing:
        return None
    compared = _some(training, places, COMPARED, random)
    found = _cross_validated(training, compared, learn_again, random)
    if found is None:
        return None
    model, svc = found
    codes = training.codes[compared]
    final = _predicted(learned.expansion, training.data[compared]) == codes
    can_be_better = _is_clearly_better(svc, model) and _is_clearly_better(
        svc, codes == share.argmax()
    )
    # Fitted on a part of the rows it may be good, and bad on all: then something went wrong.
    if not can_be_better and not _is_clearly_better(model, final):
        return None
    weight = training.scaled_cost(compared)
    wrong = [f"{100 * np.average(~each, weights=weight):.1f} %" for each in (final, model, svc)]
    return (
        f"{name} has learned little: with {learned.expansion.n_terms} terms it is wrong on "
        f"{wrong[0]} of {len(compared)} training rows, in cross-validation on {wrong[1]}. Always "
        f"guessing {classes.tolist()[int(share.argmax())]!r} is wrong on {100 * guessing:.1f} %, "
        f"SVC(C={REFERENCE_C:g}) in cross-validation on {wrong[2]}. Scale the features, try "
        "another gamma or a larger C, or class_weight='balanced' if a class is rare."
    )


def _is_clearly_better(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the rows that one alone is right on outnumber those of the other beyond chance."""
    wins, losses = int((one & ~other).sum()), int((other & ~one).sum())
    return wins - losses >= max(1.0, CLEARLY * np.sqrt(wins + losses))


def _some(
    training: TrainingRows, places: np.ndarray, most: int, random: np.random.RandomState
) -> np.ndarray:
    """At most so many of the places, rare classes with more than their share."""
    if len(places) <= most:
        return places
    _, codes = np.unique(training.codes[places], return_inverse=True)
    return places[stratified_rows(codes, most, random)]


def _judged_alone(training: TrainingRows, learned: Learned, places: np.ndarray) -> np.ndarray:
    """Class codes of the rows, each judged without the term that is the row itself."""
    values = learned.expansion.kernel_values(training.data[places])
    if learned.support is not None:
        terms = {row: term for term, row in enumerate(learned.support.tolist())}
        rows = training.rows[places].tolist()
        own = [(i, terms[row]) for i, row in enumerate(rows) if row in terms]
        if own:
            values[tuple(np.transpose(own))] = 0.0
    return _codes(values @ learned.expansion.coef + learned.expansion.intercept)


def _predicted(expansion: KernelExpansion, data: Any) -> np.ndarray:
    return _codes(expansion.kernel_values(data) @ expansion.coef + expansion.intercept)


def _codes(scores: np.ndarray) -> np.ndarray:
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)


def _cross_validated(
    training: TrainingRows,
    places: np.ndarray,
    learn_again: Callable[[TrainingRows], Learned],
    random: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Which rows the classifier and which the SVC are right on, fitted without them."""
    codes = training.codes[places]
    if np.bincount(codes).max() < 2:
        return None  # nothing to cross-validate with
    data, kernel = _reference_data(training, places)
    right = np.zeros((2, len(places)), dtype=bool)
    count = int(np.clip(LEARNED // len(places), FEWEST, MOST))
    for learn, judge in stratified_folds(codes, count, random):
        rows = replace(training.take(places[learn]), cost=training.scaled_cost(places[learn]))
        columns = learn if kernel == "precomputed" else slice(None)
        svc = SVC(C=REFERENCE_C, kernel=kernel, max_iter=MAX_ITER)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is fitted here nothing goes out
            again = learn_again(rows)
            svc.fit(data[learn][:, columns], codes[learn], rows.cost / rows.cost.mean())
        right[0, judge] = _predicted(again.expansion, training.data[places[judge]]) == codes[judge]
        right[1, judge] = svc.predict(data[judge][:, columns]) == codes[judge]
    return right[0], right[1]


def _reference_data(training: TrainingRows, places: np.ndarray) -> tuple[Any, str]:
    """Rows for the SVC and its kernel: rbf, or the given one where the rows are not features."""
    if training.kernel.name == "precomputed":
        return training.data[places][:, training.rows[places]], "precomputed"
    data = training.data[places]
    if training.kernel.name == "callable":
        return training.kernel.matrix(data, data), "precomputed"
    return data, "rbf"
