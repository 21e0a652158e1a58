"""A model as one SELECT: raw columns in; label, score and probability out.

The statement is a chain of queries, each with the columns of the next: raw columns, features,
kernel values or outputs, scores, answers. What would be computed again for every column that uses
it is kept from being merged into the next query by a fence (an OFFSET of zero rows).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.checks import check_one_of
from zeronorm.export.description import Description, Lookup, Number
from zeronorm.export.products import centred
from zeronorm.export.reading import describe
from zeronorm.export.sql_decision import answer_queries
from zeronorm.export.sql_function import output_queries
from zeronorm.export.sql_text import DIALECTS, Dialect, Query, literal, quoted
from zeronorm.export.text import made_by, spelling, written

#: PostgreSQL ends with an error where a square is beyond floating point.
FAR = 1e120


def to_sql(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    table: str | Sequence[str] = "data",
    dialect: str = "standard",
    keep: str | Sequence[str] = (),
) -> str:
    """Write a model as one SELECT.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion or TableModel
        What to export, see :func:`zeronorm.export.to_c`.
    path : path-like, optional
        Where to write the statement, whole or not at all.
    table : str or sequence of str, default="data"
        The table with the raw columns; several for one in a schema, ``("main", "data")``.
    dialect : {"standard", "duckdb", "sqlite", "postgresql"}, default="standard"
        The database.
    keep : str or sequence of str, optional
        Columns of the table that go into the result, such as its key.

    Returns
    -------
    str
        The statement. Its columns: those in ``keep``; of a classifier ``label``, ``score`` (of two
        classes the decision value, positive for the second, else the largest; pairs of an ``SVC``
        vote, whatever its ``decision_function_shape``, of those of ``SparseSVC`` the worst counts)
        and, where there are probabilities, ``probability`` of the label, then ``score_…`` and
        ``probability_…`` of every class where there are more than two (probabilities: of two, too).
        Of a regressor ``prediction`` (``prediction_0``, ``prediction_1``, … of several targets), of
        a one-class machine ``label`` and ``score``, of others ``score`` (``score_0``, … of several
        outputs).
        NULL and NaN are missing; where the model has no value for a row, or one that is NaN, all is
        NULL. A column of another type than text is one of texts where the model takes texts of it,
        but in the standard dialect, which has no common name for their type.

    Raises
    ------
    ValueError
        If the model, or a step before it, cannot be exported, or the statement is longer than
        databases take; it says how many terms would fit.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.export import to_sql
    >>> statement = to_sql(ZeroNormSVC().fit(*make_moons(random_state=0)), table="moons")
    >>> statement.count("EXP(") < 10 and 'FROM "moons"' in statement
    True
    """
    check_one_of("dialect", dialect, DIALECTS)
    names = [table] if isinstance(table, str) else list(table)
    keep = [keep] if isinstance(keep, str) else list(keep)
    description = describe(model)
    text = statement(description, DIALECTS[dialect], names, keep)
    _check_length(text, description, DIALECTS[dialect], names, keep)
    return written(text, path)


def _check_length(
    text: str,
    description: Description,
    dialect: Dialect,
    table: Sequence[str],
    keep: Sequence[str],
) -> None:
    if len(text) <= dialect.longest:
        return

    def length(count: int) -> int:
        return len(statement(_first_terms(description, count), dialect, table, keep))

    total, base = description.function.n_terms, length(0)
    each = (len(text) - base) / max(1, total)
    fits = min(total, max(0, int((dialect.longest - base) / max(1.0, each))))
    # The first terms may be longer than the others.
    while fits and length(fits) > dialect.longest:
        fits -= 1
    raise ValueError(
        f"The statement has {len(text):,} characters for {total} terms, and {dialect.name} takes "
        f"{dialect.longest:,}: {fits} terms fit. SVCReducer makes a model smaller."
    )


def _first_terms(description: Description, count: int) -> Description:
    f = description.function
    some = replace(
        f,
        vectors=f.vectors[:count],
        coef=f.coef[:count],
        offsets=None if f.offsets is None else f.offsets[:count],
        factors=f.factors[:count],
    )
    return replace(description, function=some)


def statement(
    description: Description, dialect: Dialect, table: Sequence[str], keep: Sequence[str] = ()
) -> str:
    """Return the statement of a described model, which begins with a comment.

    ``table`` is the name of the table, after those of its schema and database where there are any.
    """
    description = centred(description)
    source = ".".join(quoted(name) for name in table)
    query = Query(dialect, f"{source} AS d", table)
    kept = {f"k{i}": f"d.{quoted(name)}" for i, name in enumerate(keep)}
    query.add(kept | _raw_columns(description, dialect))
    through = {name: name for name in kept}
    query.add(through | _features(description, dialect))
    output_queries(query, description, through)
    answers = answer_queries(query, description, through)
    named = {quoted(name): text for name, text in zip(keep, through, strict=True)}
    clash = named.keys() & {quoted(name) for name in answers}
    if clash:
        raise ValueError(f"The result has a column {min(clash)} of its own; do not keep that one.")
    ended = query.ended(named | {quoted(name): text for name, text in answers.items()})
    return f"-- {made_by(description)}\n{ended};\n"


def _raw_columns(description: Description, dialect: Dialect) -> dict[str, str]:
    """Return the columns that are used, of the right type, NULL where they are missing."""
    # Without a feature there is nothing to select, which is no SQL.
    used = sorted({feature.column for feature in description.features}) or None
    if used is None:
        return {"x0": literal(0.0)}
    columns = {}
    for index in used:
        column = description.columns[index]
        text = f"d.{quoted(column.name)}"
        if column.is_text:
            text = _as_text(text, description.levels_of(index), dialect)
            text = dialect.trim.format(text) if column.is_stripped else text
            if column.missing:
                gaps = ", ".join(map(literal, column.missing))
                text = f"CASE WHEN {text} IN ({gaps}) THEN NULL ELSE {text} END"
        else:
            text = f"CAST({text} AS DOUBLE PRECISION)"
            if dialect.has_nan:
                text = f"NULLIF({text}, CAST('NaN' AS DOUBLE PRECISION))"
        columns[f"x{index}"] = text
    return columns


def _as_text(column: str, levels: Sequence[str], dialect: Dialect) -> str:
    """Return a column as a text, of a truth value spelled as the levels are."""
    if not dialect.text:
        return column
    text = f"CAST({column} AS {dialect.text})"
    spelled = {word: spelling(word, levels) for word in ("false", "true")}
    if not dialect.type_of or all(word == new for word, new in spelled.items()):
        return text
    cases = " ".join(f"WHEN {literal(a)} THEN {literal(b)}" for a, b in spelled.items())
    is_boolean = f"LOWER({dialect.type_of.format(column)}) = 'boolean'"
    return f"CASE WHEN {is_boolean} THEN CASE {text} {cases} END ELSE {text} END"


def _features(description: Description, dialect: Dialect) -> dict[str, str]:
    features = {}
    for i, feature in enumerate(description.features):
        x = f"x{feature.column}"
        features[f"z{i}"] = (
            _looked_up(feature, x) if isinstance(feature, Lookup) else _number(feature, x, dialect)
        )
    return features or {"z0": "x0"}


def _number(feature: Number, x: str, dialect: Dialect) -> str:
    text = x if feature.fill is None else f"COALESCE({x}, {literal(float(feature.fill))})"
    low, high = feature.low, feature.high
    if dialect.is_strict:
        low, high = max(low, -FAR), min(high, FAR)
    bounds = ""
    if np.isfinite(low):
        bounds += f" WHEN {text} < {literal(low)} THEN {literal(low)}"
    if np.isfinite(high):
        bounds += f" WHEN {text} > {literal(high)} THEN {literal(high)}"
    if bounds:
        text = f"CASE{bounds} ELSE {text} END"
    if feature.centre != 0:
        text = f"({text} - {literal(feature.centre)})"
    if feature.factor != 1:
        text = f"{text} * {literal(feature.factor)}"
    return text


def _looked_up(feature: Lookup, x: str) -> str:
    levels: dict[float, list[str]] = {}
    for level, value in feature.told_apart:
        levels.setdefault(value, []).append(literal(level))
    text = f"CASE WHEN {x} IS NULL THEN {literal(feature.missing)}"
    for value, some in levels.items():
        text += f" WHEN {x} IN ({', '.join(some)}) THEN {literal(value)}"
    return f"{text} ELSE {literal(feature.unknown)} END"
