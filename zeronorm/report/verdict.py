"""What was found, as sentences that a reader can act on."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.model_selection import standard_error
from zeronorm.report.wording import percent, plural, short


def verdict(measured: dict[str, Any] | None, comparison: list[dict[str, Any]]) -> list[str]:
    """Return what to make of the measurements, the most important sentence first.

    Parameters
    ----------
    measured : dict or None
        Facts of :mod:`zeronorm.report.measurement`.
    comparison : list of dict
        Facts on each contender, ``fold_errors`` among them; the model is the last one.
    """
    if measured is None:
        return ["Nothing was measured: no rows with known answers were given."]
    of_numbers, is_guessing = "rmse" in measured, _is_guessing(measured)
    others = _against_others(comparison, of_numbers, advises=not is_guessing)
    alone = _of_numbers(measured) if of_numbers else _against_guessing(measured)
    return [*alone, *others] if is_guessing else [*others, *alone]


def _is_guessing(measured: dict[str, Any]) -> bool:
    if "rmse" in measured:
        return bool(measured["r2"] <= 0.0)
    return measured["error"] + measured["standard_error"] >= measured["guessing"]


def _against_guessing(measured: dict[str, Any]) -> list[str]:
    error = f"{percent(measured['error'])} ± {100 * measured['standard_error']:.1f}"
    guess = (
        f"always answering {measured['commonest']!r} is wrong on {percent(measured['guessing'])}"
    )
    if _is_guessing(measured):
        found = f"No better than guessing: it is wrong on {error} of the rows, and {guess}."
        if measured["balanced_error"] < 1.0 - 1.0 / len(measured["classes"]) - 0.05:
            found += (
                f" Yet it tells the classes apart: averaged over the classes its error is "
                f"{percent(measured['balanced_error'])}."
            )
        sentences = [found]
    else:
        sentences = [f"It is wrong on {error} of the rows; {guess}."]
    weak = [c for c in measured["classes"] if c["recall"] is not None and c["recall"] < 0.5]
    for entry in weak[:3]:
        sentences.append(
            f"Of the rows of class {entry['label']!r} it finds {percent(entry['recall'])} only."
        )
    return sentences


def _against_others(comparison: list[dict[str, Any]], of_numbers: bool, advises: bool) -> list[str]:
    """Compare with each other contender; of models that guess none is worth an advice."""
    sentences = []
    use = ": use it" * advises
    for other in comparison[:-1]:
        own = comparison[-1]
        difference = np.asarray(own["fold_errors"]) - np.asarray(other["fold_errors"])
        mean = float(difference.mean())
        spread = float(standard_error(difference))
        size = f"{100 * abs(mean):.1f} ± {100 * spread:.1f} points"
        if of_numbers:
            size = f"{short(abs(mean))} ± {short(spread)} of root mean square error"
        terms = f"{own['terms']} instead of {other['terms']}"
        if mean > spread:
            text = (
                f"{other['name']} is better by more than the standard error of the difference "
                f"({size}){use}"
            )
            text += (
                f", unless the kernel terms of {own['name']} ({terms}) are worth that."
                if advises
                else "."
            )
        elif mean < -spread:
            found = f"{own['name']} is better than {other['name']} by {size}"
            text = f"{found}; kernel terms: {terms}{use}."
        else:
            text = (
                f"{own['name']} and {other['name']} differ by no more than the standard error "
                f"({size}); kernel terms: {terms}{use}."
            )
        sentences.append(text)
    return sentences


def _of_numbers(measured: dict[str, Any]) -> list[str]:
    error, guess = short(measured["rmse"]), short(measured["guessing"])
    if _is_guessing(measured):
        return [
            f"No better than guessing: the error (root mean square) is {error}, that of the mean "
            f"of the answers {guess}."
        ]
    return [
        f"The error (root mean square) is {error}, that of the mean of the answers {guess}: it "
        f"explains {percent(measured['r2'])} of the variance on "
        f"{plural(measured['n_rows'], 'row')}."
    ]
