"""One decision, split among the terms and among the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zeronorm.export.description import Description
from zeronorm.pairs import pairs_of
from zeronorm.report.attribution import shares
from zeronorm.report.rows import (
    Seen,
    check_finite,
    described,
    features_of,
    look_at,
    outputs_of,
    raw_row,
    term_values,
    typical,
)
from zeronorm.report.text import explanation_text, shown_output
from zeronorm.report.wording import Facts, meaning, output_names, plain

#: At most so many classes get an example.
EXAMPLES = 4


class Explanation(Facts):
    """What :func:`explain` found: ``facts`` is the dictionary, ``str`` the text."""

    def __str__(self) -> str:
        return explanation_text(self.facts)


def explain(
    model: Any, row: Any, X: Any = None, feature_names: Sequence[Any] | None = None
) -> Explanation:
    """Split the decision for one row among the terms, and among the columns.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model or TableModel
        See :func:`describe`; not a density, whose logarithm is no sum of terms.
    row : sequence, mapping by name, or data frame or Table with one row
        The raw row, as the model takes it.
    X : array-like, data frame or Table, optional
        Raw rows. The row is then compared with their typical one: medians of the numbers, of
        categories the shares of the levels. Without X it is compared with what the model's own
        features call zero: behind a StandardScaler, and for models of the command line, the
        average training row (of a category, none of its levels); with no scaler, zeros.
    feature_names : sequence of str, optional
        Names of the raw columns, where the model does not know them.

    Returns
    -------
    Explanation
        It prints as text; ``facts["outputs"]`` has an entry for each output of the model (for
        pairs of classes, each pair), whose ``value`` is split in two ways, and ``facts["shown"]``
        is the number of the one that the text shows::

            value = constant + linear + Σ terms        the model's own sum
            value = reference + Σ columns

        ``constant`` is the intercept and the linear part of the reference, ``linear`` what the row
        changes of that, and a term is its weight times its kernel value. ``reference`` is the
        output of the reference, and a column has its Aumann-Shapley value: what the output gains by
        this column along the straight line from the reference to the row, all columns moving
        together. It is exact, treats all columns alike, and gives nothing to a column that
        does not matter. It says what the model does, not what causes what.

    See Also
    --------
    describe : The model as a whole.

    References
    ----------
    R. J. Aumann and L. S. Shapley (1974). Values of non-atomic games. Princeton.

    M. Sundararajan, A. Taly and Q. Yan (2017). Axiomatic attribution for deep networks. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.report import explain
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = ZeroNormSVC(random_state=0).fit(X, y)
    >>> split = explain(model, X[0], X).facts["outputs"][0]
    >>> total = split["reference"] + sum(entry["share"] for entry in split["columns"])
    >>> bool(abs(total - model.decision_function(X[:1])[0]) < 1e-9)
    True
    """
    description = described(model, feature_names)
    if description.kind == "density":
        raise ValueError("The logarithm of a density is no sum of terms: it cannot be split.")
    cells = raw_row(model, description, row)
    z = features_of(description, [cells])
    check_finite(description, z)
    reference, compared = description.function.origin, "what the model's own features call zero"
    if X is not None:
        Z = look_at(model, description, X).Z
        reference, compared = typical(description, Z), f"the typical row of {len(Z)}"
    return Explanation(explained(description, cells, z, reference) | {"compared_with": compared})


def explained(
    description: Description, cells: list[Any], z: np.ndarray, reference: np.ndarray
) -> dict[str, Any]:
    """Return the facts on one row: its cells, its features (one row) and those of the reference."""
    values = outputs_of(description, z)
    facts: dict[str, Any] = {
        "row": dict(zip([c.name for c in description.columns], cells, strict=True)),
        "kind": description.kind,
        "meaning": meaning(description),
        "outputs": [_split(description, cells, z, reference, o) for o in range(values.shape[1])],
        "shown": _shown(description, values),
    }
    if description.kind in ("classes", "number", "one-class"):
        found = np.asarray(description.decision.predict(values)).ravel().tolist()
        facts["prediction"] = found[0] if len(found) == 1 else found
    if description.link is not None:
        chances = plain(description.decision.predict_proba(values)[0])
        facts["probabilities"] = dict(zip(map(str, description.labels), chances, strict=True))
    return facts


def _shown(description: Description, values: np.ndarray) -> int:
    """Return the output to show for one row: that of the predicted class; of its pairs the closest.

    Where there is none for each class or pair, it is the first.
    """
    if len(description.labels) <= 2:
        return 0
    code = int(description.decision.rule.codes(values)[0])
    if description.pair_classes is None:
        return code
    pairs = enumerate(pairs_of(description.pair_classes))
    return min((p for p, pair in pairs if code in pair), key=lambda p: abs(values[0, p]))


def _split(
    description: Description, cells: list[Any], z: np.ndarray, reference: np.ndarray, output: int
) -> dict[str, Any]:
    function = description.function
    terms = (term_values(function, z) * function.coef[:, output])[0]
    linear, constant = 0.0, float(function.intercept[output])
    if function.linear is not None:
        linear = float((z[0] - reference) @ function.linear[:, output])
        constant += float(reference @ function.linear[:, output])
    by_feature = shares(function, z, reference, output)[0]
    columns = [
        {
            "column": description.columns[column].name,
            "cell": cells[column],
            "share": float(by_feature[indices].sum()),
        }
        for column, indices in description.features_by_column.items()
    ]
    return {
        "output": output_names(description)[output],
        "value": float(outputs_of(description, z)[0, output]),
        "constant": constant,
        "linear": linear,
        "terms": [
            {"term": number, "share": float(share)} for number, share in enumerate(terms, start=1)
        ],
        "reference": float(outputs_of(description, reference[None])[0, output]),
        "columns": sorted(columns, key=lambda entry: -abs(entry["share"])),
    }


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
    codes, scores = description.decision.rule.codes(outputs), description.class_scores(outputs)
    chosen = []
    for code, label in enumerate(description.labels[:EXAMPLES]):
        members = np.flatnonzero(codes == code)
        if len(members):
            sizes = scores[members, code if scores.shape[1] > 1 else 0]
            middle = members[np.argsort(sizes, kind="stable")[len(members) // 2]]
            chosen.append((f"A typical {label}", int(middle)))
    return chosen
