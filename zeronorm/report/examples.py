"""Typical decisions of a model, each split among the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.decisions import vote_scores
from zeronorm.export.description import Description
from zeronorm.report.explanation import explained
from zeronorm.report.rows import Seen, outputs_of, typical
from zeronorm.report.text import shown_output

#: At most so many classes get an example.
EXAMPLES = 4


def typical_decisions(description: Description, seen: Seen) -> list[dict[str, Any]]:
    """Explain a typical row of each class, or a low, a middling and a high prediction.

    Parameters
    ----------
    description : Description
        The model.
    seen : Seen
        Rows; of those that are predicted to be of a class, the one with the middle decision value
        is explained.

    Returns
    -------
    list of dict
        ``title``, ``row`` (its number) and the ``split`` of :func:`zeronorm.report.explain`.
    """
    if description.kind not in ("classes", "number"):
        return []
    outputs = outputs_of(description, seen.Z)
    reference = typical(description, seen.Z)
    found = []
    for title, index in _chosen(description, outputs):
        facts = explained(description, seen.rows[index], seen.Z[index : index + 1], reference)
        row = {"title": title, "row": int(seen.taken[index])}
        found.append(row | {"split": shown_output(facts)})
    return found


def _chosen(description: Description, outputs: np.ndarray) -> list[tuple[str, int]]:
    if not description.is_classifier:
        order = np.argsort(outputs[:, 0], kind="stable")
        indices = [order[round(q * (len(order) - 1))] for q in (0.1, 0.5, 0.9)]
        return list(zip(("A low prediction", "A middling one", "A high one"), indices, strict=True))
    rule = description.decision.rule
    codes = rule.codes(outputs)
    scores = (
        vote_scores(outputs, rule.n_classes) if rule.is_pairs and rule.n_classes > 2 else outputs
    )
    chosen = []
    for code, label in enumerate(description.labels[:EXAMPLES]):
        members = np.flatnonzero(codes == code)
        if len(members):
            sizes = scores[members, code if scores.shape[1] > 1 else 0]
            middle = members[np.argsort(sizes, kind="stable")[len(members) // 2]]
            chosen.append((f"A typical {label}", int(middle)))
    return chosen
