"""A look at every fitted classifier: no model that only guesses goes out without a word.

A model is suspicious (``_suspicion``) if it is wrong on most training rows of some class, or more
than half as often as guessing the commonest class. A row that is a term of the model is judged
without that term: it says nothing about new rows, and with a narrow kernel nothing else is left.
Where there are no fewer features than rows every kernel expansion is suspicious: each row is far
from all others, a term says much about its own row only, and the training rows show nothing. If its
terms are some of the rows there, it is known to be behind an SVM, which keeps all of them: it has
to show that it is not.

Suspicion is cheap and no verdict: guessing may be the best that can be done. Only for a suspicious
model a plain SVC is cross-validated, on few rows (``_comparison``). If it tells the classes apart,
a model that knows one class only is found out. Any other is cross-validated on the same rows,
unless it was chosen by cross-validation, which has said enough. The warning comes if it guesses
there as on the training rows, if the SVC is better than it, by much and beyond chance, or if it is
itself so much better there than the model at hand: then something went wrong. What counts as beyond
chance is less where the training rows are already evidence against the model (it is no better than
guessing on them) or none at all (wide data).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.svm import SVC

from zeronorm.base.checked import CheckedModel, ReferenceRows
from zeronorm.base.sampling import renumbered, stratified_folds, stratified_rows
from zeronorm.base.training_set import rescaled_cost
from zeronorm.checks import shown
from zeronorm.distances import variance_of

#: A model is suspicious that is wrong on this share as many rows as guessing, or right on less than
#: this share of the rows of some class.
WRONG, FOUND = 0.5, 0.5

#: The model is looked at on so many rows at most, and cross-validated on so many of them.
LOOKED_AT, COMPARED = 5_000, 400

#: Fewest and most folds, and rows that are learned from in all of them together, about; most folds
#: where the training rows are no evidence against the model, which may be as good as it looks.
FEWEST, MOST, LEARNED, MOST_UNPROVOKED = 3, 15, 1_200, 5

#: Cost of the SVC, and most iterations of libsvm.
REFERENCE_C, MAX_ITER = 10.0, 100_000

#: By how many standard deviations the SVC must win, where the training rows are evidence for the
#: model or not; and by how much balanced accuracy.
CLEARLY, HARDLY, MUCH = 1.64, 1.0, 0.08

#: On wide data a model of fewer rows than this share is behind until it shows that it is not.
MOST_ROWS = 0.8

#: Weights of rows of the SVC beyond these, in units of their mean, are too much for libsvm.
WEIGHTS = 1e-6, 1e6


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
    rows, random = np.arange(len(model.codes)), None
    if len(rows) > LOOKED_AT:
        random = np.random.RandomState(0)
        rows = _some(model.codes, rows, LOOKED_AT, random)
    weight = _weight(model, rows)
    share = np.bincount(model.codes[rows], weights=weight) / weight.sum()
    commonest, guessing = int(share.argmax()), 1.0 - float(share.max())
    suspicion = _suspicion(model, rows, weight, guessing)
    if suspicion is None:
        return None
    random = random or np.random.RandomState(0)  # which takes as long as all that was asked so far
    compared = _some(model.codes, rows, COMPARED, random)
    found = _comparison(model, compared, commonest, suspicion, random)
    if found is None:
        return None

    def wrong(right: np.ndarray) -> str:
        return f"{100 * np.average(~right, weights=_weight(model, compared)):.1f} %"

    again = "" if found.again is None else f", in cross-validation on {wrong(found.again)}"
    return (
        f"{name} has learned little: with {model.n_terms} terms it is wrong on "
        f"{wrong(found.model)} of {len(compared)} training rows{again}. Always guessing "
        f"{shown(classes[commonest])} is wrong on {100 * guessing:.1f} %, "
        f"SVC(C={REFERENCE_C:g}) in cross-validation on {wrong(found.reference)}. {model.advice}"
    )


@dataclass(frozen=True)
class _Suspicion:
    """By how many standard deviations an SVC must win, and in how many folds at most.

    ``is_guess`` says that the model, each row judged without its own term, only guesses;
    ``must_show`` that it is convicted unless it is as good as the SVC.
    """

    bar: float
    folds: int
    is_guess: bool = False
    must_show: bool = False


def _suspicion(
    model: CheckedModel, rows: np.ndarray, weight: np.ndarray, guessing: float
) -> _Suspicion | None:
    """Whether the training rows are evidence against a model, or no evidence for it."""
    codes = model.codes[rows]
    if model.is_wide and model.share_of_rows < MOST_ROWS:
        return _Suspicion(0.0, MOST, must_show=True)
    right = model.judged_alone(rows) == codes
    error = np.average(~right, weights=weight)
    if error >= guessing - np.finfo(float).eps:
        return _Suspicion(HARDLY, MOST, is_guess=True)
    is_found = np.bincount(codes, weights=right) >= FOUND * np.bincount(codes)
    if error >= WRONG * guessing or not is_found.all():
        return _Suspicion(HARDLY if model.is_wide else CLEARLY, MOST)
    return _Suspicion(HARDLY, MOST_UNPROVOKED) if model.is_wide else None


@dataclass
class _Comparison:
    """Which rows are right: by the model, learned again without them (or None), by the SVC."""

    model: np.ndarray
    again: np.ndarray | None
    reference: np.ndarray


def _comparison(
    model: CheckedModel,
    rows: np.ndarray,
    commonest: int,
    suspicion: _Suspicion,
    random: np.random.RandomState,
) -> _Comparison | None:
    """Compare a suspicious model with a plain SVC; None where that does not convict it."""
    codes = model.codes[rows]
    if np.bincount(codes).max() < 2:
        return None  # nothing to cross-validate with
    predicted = model.predicted(rows)
    right, is_constant = predicted == codes, len(np.unique(predicted)) == 1

    def may_convict(reference: np.ndarray, least: np.ndarray, most: np.ndarray) -> bool:
        """Whether it is bad if, learned again, it is right on these rows and perhaps on those.

        Fewer right rows speak for the first two reasons, more for the third.
        """
        is_guess = suspicion.is_guess and not _is_beyond_chance(least, codes == commonest, HARDLY)
        much = 0.0 if suspicion.must_show else MUCH
        is_beaten = _is_better(reference, least, codes, suspicion.bar, much)
        return is_guess or is_beaten or _is_better(most, right, codes, CLEARLY)

    again = None
    if not is_constant and (said := model.held_out(rows)) is not None:
        again = said == codes
        if not may_convict(np.ones(len(codes), dtype=bool), again, again):
            return None  # however good the SVC is
    elif not is_constant and not model.has_converged:
        return None  # that was said already, and to learn again would take as long as before
    count = int(np.clip(LEARNED // len(rows), FEWEST, suspicion.folds))
    folds = [(rows[a], rows[b]) for a, b in stratified_folds(codes, count, random)]
    reference = _reference(model, folds, rows, commonest, suspicion)
    if reference is None:
        return None
    if not is_constant and again is None:
        for said, is_open in _judged_in_turn(model.learned_again, folds, rows):
            again = said == codes
            if not may_convict(reference, again & ~is_open, again | is_open):
                return None  # whatever the other folds say
    if again is not None and not may_convict(reference, again, again):
        return None
    return _Comparison(right, again, reference)


def _reference(
    model: CheckedModel,
    folds: list[tuple[np.ndarray, np.ndarray]],
    rows: np.ndarray,
    commonest: int,
    suspicion: _Suspicion,
) -> np.ndarray | None:
    """Which rows a plain SVC is right on; None if it does not tell the classes apart."""
    codes, has_two = model.codes[rows], model.codes.max() == 1
    try:
        for values, is_open in _judged_in_turn(_PlainSVC(model), folds, rows):
            right = (values > 0 if has_two else values) == codes
            if not has_two and not _is_beyond_chance(right | is_open, codes == commonest, CLEARLY):
                return None  # whatever the other folds say
    except ValueError:  # libsvm has no finite solution on these rows: nothing to compare with
        return None
    bar = HARDLY if suspicion.must_show else CLEARLY
    return right if not has_two or _are_apart(values, codes, bar) else None


def _weight(model: CheckedModel, indices: np.ndarray) -> np.ndarray:
    """Weights of some rows, those of a class with the sum of all its rows."""
    some = model.weight[indices]
    if len(some) == len(model.weight):
        return some
    return rescaled_cost(model.codes, model.weight, indices, some)


def _are_apart(values: np.ndarray, codes: np.ndarray, bar: float) -> bool:
    """Whether the decision values of two classes differ beyond chance (Welch's t).

    On few rows the values say more than the number of those on the right side of zero.
    """
    parts = [values[codes == code] for code in (0, 1)]
    if min(map(len, parts)) < 2:
        return False
    difference = parts[1].mean() - parts[0].mean()
    deviation = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
    return bool(difference > 0 and difference >= bar * deviation)


def _is_better(
    one: np.ndarray, other: np.ndarray, codes: np.ndarray, bar: float, much: float = MUCH
) -> bool:
    """Whether one is right on more rows than the other, beyond chance and by much."""
    count = np.bincount(codes)
    gained = np.bincount(codes, weights=one.astype(float) - other)[count > 0] / count[count > 0]
    return _is_beyond_chance(one, other, bar) and bool(gained.mean() >= much)


def _is_beyond_chance(one: np.ndarray, other: np.ndarray, bar: float) -> bool:
    """Whether the rows that one alone is right on outnumber those of the other beyond chance."""
    wins, losses = int((one & ~other).sum()), int((other & ~one).sum())
    return wins - losses >= max(1.0, bar * np.sqrt(wins + losses))


def _some(
    codes: np.ndarray, indices: np.ndarray, most: int, random: np.random.RandomState
) -> np.ndarray:
    """At most so many of the indices, rare classes with more than their share."""
    if len(indices) <= most:
        return indices
    return indices[stratified_rows(renumbered(codes[indices]), most, random)]


def _judged_in_turn(
    judgement: Callable[[np.ndarray, np.ndarray], np.ndarray],
    folds: list[tuple[np.ndarray, np.ndarray]],
    rows: np.ndarray,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield after each fold what is said of the rows without them, and which are still to come."""
    said, is_open = np.zeros(rows.max() + 1), np.zeros(rows.max() + 1, dtype=bool)
    for _, judge in folds:
        is_open[judge] = True
    for learn, judge in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is fitted here nothing goes out
            said[judge], is_open[judge] = judgement(learn, judge), False
        yield said[rows], is_open[rows]


def reference_rows(
    model: ReferenceRows, learn: np.ndarray, judge: np.ndarray
) -> tuple[Any, Any, dict[str, Any]]:
    """Return rows to learn from and to judge for a plain machine of libsvm, and its parameters."""
    data, kernel = model.reference(np.concatenate([learn, judge]))
    if kernel == "rbf" and not sparse.issparse(data):
        # libsvm's distances lose the digits that rows far from zero have in common.
        data = data - data.mean(axis=0)
    first, rest = data[: len(learn)], data[len(learn) :]
    if kernel == "precomputed":
        first, rest = first[:, : len(learn)], rest[:, : len(learn)]
    variance = first.shape[1] * variance_of(first)
    # As gamma="scale", but where rounding leaves no variance, or it overflows.
    gamma = 1.0 / variance if 0.0 < variance < np.inf else 1.0
    return first, rest, {"C": REFERENCE_C, "kernel": kernel, "gamma": gamma, "max_iter": MAX_ITER}


class _PlainSVC:
    """A plain SVC on the rows of a fitted classifier: decision values of two classes, or codes."""

    def __init__(self, model: CheckedModel) -> None:
        self.model = model

    def __call__(self, learn: np.ndarray, judge: np.ndarray) -> np.ndarray:
        first, rest, parameters = reference_rows(self.model, learn, judge)
        weight = _weight(self.model, learn)
        svc, has_two = _SVCOfCodes(**parameters), self.model.codes.max() == 1
        # On some tens of rows to validate takes ten times as long as to learn.
        with config_context(skip_parameter_validation=True):
            svc.fit(first, self.model.codes[learn], np.clip(weight / weight.mean(), *WEIGHTS))
            return svc.decision_function(rest) if has_two else svc.predict(rest)


class _SVCOfCodes(SVC):
    """An SVC that does not look whether codes of two or more classes are fit to be learned."""

    def _validate_targets(self, y: np.ndarray) -> np.ndarray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.class_weight_ = np.ones(len(self.classes_))
        return codes.astype(np.float64)
