"""How names and numbers stand in descriptions and reports."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from zeronorm.export.description import Description
from zeronorm.pairs import pairs_of


class Facts:
    """A plain dictionary of facts that prints as text.

    Attributes
    ----------
    facts : dict
        Numbers, texts, lists and dictionaries only.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def to_json(self) -> str:
        """Return the facts as JSON."""
        return json.dumps(self.facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return str(self)


def short(number: float) -> str:
    """Return a number with four digits that count, a long one with its digits grouped."""
    if abs(number) >= 10_000 and abs(number) < 1e15:
        return f"{number:,.0f}".replace(",", "\N{THIN SPACE}")
    return f"{number:.4g}"


def signed(number: float) -> str:
    """Return a number with its sign."""
    return f"{number:+.3g}"


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f} %"


def plural(count: int, noun: str) -> str:
    """Return how many of something there are."""
    return f"{count} {noun}" + "s" * (count != 1)


def cell_text(cell: Any) -> str:
    """Return a cell of a raw row as text."""
    if cell is None:
        return "missing"
    return short(cell) if isinstance(cell, float) else str(cell)


def comparison_table(comparison: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of what was compared."""
    labels = comparison[0]["shown"]
    rows = [[label, *(entry["shown"][label] for entry in comparison)] for label in labels]
    return ["", *(entry["name"] for entry in comparison)], rows


def confusion_table(measured: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the classes, and how many rows of each are taken for which."""
    labels = [entry["label"] for entry in measured["classes"]]
    rows = zip(labels, measured["confusion"], strict=True)
    return labels, [[label, *map(str, counts)] for label, counts in rows]


def output_names(description: Description) -> list[str]:
    """Return what large values of each output mean: a class, a pair, or the name of the value."""
    labels = [str(label) for label in description.labels]
    count = description.function.n_outputs
    if len(labels) == 2:
        return [labels[1]]
    if labels and description.pair_classes is not None:
        return [f"{labels[i]} against {labels[j]}" for i, j in pairs_of(len(labels))]
    if labels:
        return labels
    alone = {"number": "value", "one-class": "like the training rows", "density": "log density"}
    name = alone.get(description.kind, "output")
    return [name] if count == 1 else [f"{name} {i}" for i in range(count)]


def meaning(description: Description) -> str:
    """Say what the decision values mean."""
    labels = [str(label) for label in description.labels]
    if len(labels) == 2:
        return f"A decision value above zero means {labels[1]!r}, below zero {labels[0]!r}."
    if labels and description.pair_classes is not None:
        return {
            "votes": "Each output compares two classes: above zero it votes for the first, below "
            "for the second, and the class with most votes wins.",
            "worst": "Each output compares two classes: above zero the first wins, below the "
            "second. The class whose worst comparison is best is the answer.",
        }[description.pair_scores]
    if labels:
        return "There is one decision value for each class, and the class with the largest wins."
    if (limits := description.limits) is not None:
        ends = zip(limits.low, limits.high, strict=True)
        between = "; ".join(f"{short(low)} to {short(high)}" for low, high in ends)
        return f"The value is the prediction. It is cut off outside of {between}."
    return {
        "number": "The value is the prediction.",
        "one-class": "A decision value above zero means like the training rows, below: an outlier.",
        "density": "The value is the logarithm of the density.",
    }.get(description.kind, "The values are those of the function itself.")


def plain(values: np.ndarray) -> list[float]:
    """Return numbers as Python's."""
    return [float(value) for value in values]
