"""The report: all facts in one dictionary, which templates render as HTML, Markdown and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
import sklearn

from zeronorm import __version__
from zeronorm.export.description import Description, Lookup
from zeronorm.export.javascript import module
from zeronorm.files import write_text
from zeronorm.model_selection import standard_error
from zeronorm.report.description import describe
from zeronorm.report.explanation import typical_decisions
from zeronorm.report.measurement import Answers, answers_of, classification_facts, regression_facts
from zeronorm.report.rows import described, look_at, outputs_of
from zeronorm.report.verdict import verdict
from zeronorm.report.wording import Facts, output_names, plain, plural

#: A module larger than this, in characters, does not go into the page; the page stays below 1 MB.
MOST_CODE = 600_000


class ModelReport(Facts):
    """What :func:`make_report` found.

    Attributes
    ----------
    facts : dict
        Numbers, texts, lists and dictionaries only.
    code : str or None
        The model as JavaScript, which the sliders of the page run.
    """

    def __init__(self, facts: dict[str, Any], code: str | None) -> None:
        super().__init__(facts)
        self.code = code

    def __str__(self) -> str:
        return self.to_markdown()

    def to_html(self) -> str:
        """Return the page: one file, which loads nothing from anywhere."""
        from zeronorm.report.html import page

        return page(self.facts, self.code)

    def to_markdown(self) -> str:
        """Return the report as Markdown, without plots."""
        from zeronorm.report.markdown import document

        return document(self.facts)


def write_html(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    feature_names: Sequence[Any] | None = None,
) -> None:
    """Write a report on a fitted model: one HTML file, which loads nothing from anywhere.

    It has the verdict in words, the error against the number of terms, confusions, ROC,
    precision-recall and calibration curves, the terms and columns in original units as
    :func:`describe` finds them, and sliders that run the model in the page.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model or TableModel
        See :func:`describe`.
    X : array-like, data frame or Table
        Raw rows, as the model takes them, that it was not fitted on: on its own training rows
        every model looks better than it is.
    y : array-like or None
        Their known answers. Without them nothing is measured.
    path : path-like
        The file; it is written whole or not at all.
    title : str, optional
        The title of the page.
    feature_names : sequence of str, optional
        Names of the raw columns, where the model does not know them.

    Raises
    ------
    ValueError
        If the model, or a step before it, cannot be described, or X and y do not fit to it.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.report import write_html
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = ZeroNormSVC(random_state=0).fit(X[:100], y[:100])
    >>> write_html(model, X[100:], y[100:], os.path.join(tempfile.mkdtemp(), "report.html"))
    """
    report = make_report(model, X, y, title=title, feature_names=feature_names)
    write_text(path, report.to_html())


def make_report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    title: str | None = None,
    feature_names: Sequence[Any] | None = None,
    held_out: Answers | None = None,
    how: str | None = None,
    comparison: Sequence[dict[str, Any]] = (),
    path: dict[str, Any] | None = None,
) -> ModelReport:
    """Collect the facts on a fitted model.

    Parameters
    ----------
    model, X, y, title, feature_names
        See :func:`write_html`.
    held_out : Answers, optional
        What models said of these rows that had not seen them, in place of this model's answers.
    how : str, optional
        How that was measured, in sentences.
    comparison : sequence of dict, optional
        What was compared: of each contender ``name``, ``fold_errors`` and ``terms``, and under
        ``shown`` texts for a table; the model is the last one.
    path : dict, optional
        ``path_`` of the :class:`~zeronorm.SparseSVC`, where the model itself does not have it.

    Returns
    -------
    ModelReport
        With ``to_html()``, ``to_markdown()`` and ``to_json()``.
    """
    description = described(model, feature_names)
    measured = None
    if y is not None:
        answers = answers_of(model, X) if held_out is None else held_out
        measured = _measured(description, answers, y)
        if comparison:  # folds tell more of the spread than rows do
            errors = np.asarray(comparison[-1]["fold_errors"])
            measured["standard_error"] = float(standard_error(errors))
    found = describe(model, X, feature_names).facts
    seen = look_at(model, description, X)
    code = module(description)
    facts = {
        "title": title or f"Report on {description.source}",
        "verdict": verdict(measured, list(comparison)),
        "comparison": list(comparison),
        "path": _path(model, description, path),
        "measured": measured,
        "how": how or _how(measured),
        "model": found,
        "examples": typical_decisions(description, seen),
        "inputs": _inputs(description, seen.rows),
        "scores": _score_names(description),
        "decision_range": _decision_range(description, seen.Z),
        "versions": {
            "zeronorm": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "SciPy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    return ModelReport(facts, code if len(code) <= MOST_CODE else None)


def _measured(description: Description, answers: Answers, y: Any) -> dict[str, Any]:
    if description.is_classifier:
        if description.pair_classes is not None and description.votes is None:
            answers = replace(answers, scores=None)  # of pairs, which are no scores of classes
        return classification_facts(answers, y, description.labels)
    if description.kind == "number":
        return regression_facts(answers, y)
    raise ValueError(
        f"A {description.kind} model has no answers that y could be compared with: take y=None."
    )


def _how(measured: dict[str, Any] | None) -> str:
    if measured is None:
        return "Nothing was measured: no rows with known answers were given."
    return (
        f"Measured on the {plural(measured['n_rows'], 'row')} given. If the model was fitted on "
        "them, its error on others is larger."
    )


def _path(
    model: Any, description: Description, path: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Return error and standard error of every size; a linear part is one term for each output."""
    last = model[-1] if hasattr(model, "steps") else model
    path = getattr(last, "path_", None) if path is None else path
    if not path:
        return None
    found = {name: plain(path[name]) for name in ("terms", "error", "standard_error")}
    function = description.function
    linear = 0 if function.linear is None else function.n_outputs
    return found | {"kept": function.n_terms + linear}


def _inputs(description: Description, rows: list[list[Any]]) -> list[dict[str, Any]]:
    """Return what the sliders need: the typical cell of every column, and where it may go."""
    groups = description.features_by_column
    found: list[dict[str, Any]] = []
    for index, column in enumerate(description.columns):
        entry: dict[str, Any] = {"column": column.name, "is_used": index in groups}
        known = [row[index] for row in rows if row[index] is not None]
        features = [description.features[i] for i in groups.get(index, [])]
        if column.is_text or (features and all(isinstance(f, Lookup) for f in features)):
            levels = description.levels_of(index)
            common = max(levels, key=known.count, default=None)
            entry |= {"levels": levels, "start": common}
        else:
            numbers = np.array(known or [0.0])
            is_whole = bool((numbers == numbers.round()).all())
            middle = float(np.median(numbers))
            entry |= {
                "low": float(numbers.min()),
                "high": float(numbers.max()),
                "start": float(round(middle)) if is_whole else middle,
                "is_whole": is_whole,
            }
        found.append(entry)
    return found


def _score_names(description: Description) -> list[str]:
    """Return the name of each decision value: classes where pairs make their scores."""
    if description.votes is not None:
        return [str(label) for label in description.labels]
    return output_names(description)


def _decision_range(description: Description, Z: np.ndarray) -> list[float]:
    outputs = outputs_of(description, Z)
    if description.votes is not None:
        outputs = description.class_scores(outputs)
    return plain(np.percentile(outputs, [1, 99]))
