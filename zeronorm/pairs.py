"""Pairs of classes, one against one: their order, and the scores of classes that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.arrays import as_on, namespace
from zeronorm.checks import shown


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Pairs of classes, in the order of one-against-one outputs."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def vote_scores(pair_values: np.ndarray, n_classes: int) -> np.ndarray:
    """Class scores from one-against-one values: votes, ties split by the summed confidences.

    The same rule as scikit-learn's, so that a converted SVC gives the SVC's own numbers.
    """
    confidence = np.zeros((len(pair_values), n_classes))
    for value, (first, second) in zip(pair_values.T, pairs_of(n_classes), strict=True):
        confidence[:, first] += value
        confidence[:, second] -= value
    return votes(pair_values >= 0, n_classes) + confidence / (3.0 * (np.abs(confidence) + 1.0))


def worst_scores(pair_values: Any, n_classes: int) -> Any:
    """Class scores from one-against-one values: the worst value of each class among its pairs.

    A class that wins against every other, if there is one, has the only positive score. Unlike
    votes the scores are continuous: they say how clear a decision is. (In elections this is the
    rule of Simpson and Kramer.)
    """
    xp, places = namespace(pair_values), pair_places(n_classes)
    both = xp.concat([pair_values, -pair_values], axis=-1)
    each = xp.take(both, as_on(places.ravel(), pair_values), axis=-1)
    return xp.min(xp.reshape(each, (*pair_values.shape[:-1], *places.shape)), axis=-1)


def pair_places(n_classes: int) -> np.ndarray:
    """Return where each class finds its pairs (classes x others): as second, after all as first."""
    pairs = pairs_of(n_classes)
    places = np.zeros((n_classes, n_classes - 1), dtype=np.int64)
    for p, (first, second) in enumerate(pairs):
        places[first, second - 1] = p
        places[second, first] = p + len(pairs)
    return places


#: What makes scores of classes from the values of their pairs.
PAIR_SCORES = {"votes": vote_scores, "worst": worst_scores}


def check_pair_scores(name: Any) -> None:
    """Raise ValueError unless this is a way to make scores of classes from their pairs."""
    if not isinstance(name, str) or name not in PAIR_SCORES:
        known = " or ".join(map(repr, PAIR_SCORES))
        raise ValueError(f"pair_scores must be {known}, not {shown(name)}.")


def classes_of_pairs(n_pairs: int) -> int:
    """Return how many classes have so many pairs."""
    return round((1.0 + np.sqrt(1.0 + 8.0 * n_pairs)) / 2.0)


def votes(for_first: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes for each class, where it is known which pairs vote for their first class."""
    counts = np.zeros((len(for_first), n_classes))
    for value, (first, second) in zip(for_first.T, pairs_of(n_classes), strict=True):
        counts[:, first] += value
        counts[:, second] += ~value
    return counts
