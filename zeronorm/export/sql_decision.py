"""What the outputs mean, in SQL: label, score, probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zeronorm.export.description import Description
from zeronorm.export.normal import tail_polynomial
from zeronorm.export.sql_function import balanced, greatest
from zeronorm.export.sql_text import Query, literal
from zeronorm.links import Calibration
from zeronorm.pairs import pairs_of

#: Probabilities are at least this before they are scaled to sum to one.
TINY = float(np.finfo(float).tiny)


def answer_queries(query: Query, description: Description, kept: dict[str, str]) -> dict[str, str]:
    """Add queries for the answers; return their names, and what each is in the last one."""
    outputs = [f"f{o}" for o in range(description.function.n_outputs)]
    _without_nan(query, outputs, kept, description.pair_classes is not None)
    if description.kind == "number":
        return _numbered("prediction", _limited(description, outputs))
    if description.kind == "one-class":
        return {"label": "CASE WHEN f0 > 0 THEN 1 WHEN f0 <= 0 THEN -1 END", "score": "f0"}
    if not description.is_classifier:
        scores = outputs if description.votes is None else _scored(query, description, kept)
        return _numbered("score", scores)
    if len(description.labels) == 2:
        return _two_classes(query, description, kept)
    return _several_classes(query, description, kept, outputs)


def _without_nan(query: Query, names: Sequence[str], kept: dict[str, str], is_pairs: bool) -> None:
    """Make all of these values NULL where one of them is NaN, of pairs infinite too.

    DuckDB and PostgreSQL take NaN for the largest number, so that every comparison downstream
    would decide something. But neither a NaN nor minus a NaN is below zero, there or elsewhere.
    Sums of infinite pairs would be NaN.
    """
    test = "{0} - {0} = 0" if is_pairs else "{0} <= 0 OR -{0} < 0"
    known = [f"CASE WHEN {test.format(name)} THEN 0e0 END" for name in names]
    query.add(kept | {name: name for name in names} | {"known": balanced(known)})
    query.add(kept | {name: f"{name} + known" for name in names})


def _numbered(name: str, values: list[str]) -> dict[str, str]:
    """Name one value, or number several."""
    if len(values) == 1:
        return {name: values[0]}
    return {f"{name}_{i}": value for i, value in enumerate(values)}


def _limited(description: Description, outputs: list[str]) -> list[str]:
    """Return predicted numbers within their limits."""
    limits = description.limits
    if limits is None:
        return outputs
    ends = (map(literal, end) for end in (limits.low, limits.high))
    return [
        f"CASE WHEN {f} < {low} THEN {low} WHEN {f} > {high} THEN {high} ELSE {f} END"
        for f, low, high in zip(outputs, *ends, strict=True)
    ]


def _two_classes(query: Query, description: Description, kept: dict[str, str]) -> dict[str, str]:
    first, second = map(literal, description.labels)
    yes, no = (">=", "<") if description.decision.rule.zero_counts else (">", "<=")
    choice = "CASE WHEN f0 {yes} 0 THEN {b} WHEN f0 {no} 0 THEN {a} END"
    answers = {"label": choice.format(yes=yes, no=no, a=first, b=second), "score": "f0"}
    if description.link is None:
        return answers
    factor = ""
    if isinstance(description.link, Calibration):
        factor = f"{literal(description.link.slope)} * "
    columns = {"p0": f"-{factor}f0", "p1": f"{factor}f0"}
    _linked(query, description, kept | {"f0": "f0"}, columns)
    answers["probability"] = choice.format(yes=yes, no=no, a="p0", b="p1")
    return answers | {f"probability_{label}": f"p{i}" for i, label in enumerate(description.labels)}


def _several_classes(
    query: Query, description: Description, kept: dict[str, str], outputs: Sequence[str]
) -> dict[str, str]:
    labels, scores, decided = description.labels, list(outputs), list(outputs)
    if description.pair_classes is not None:
        scores, decided = _paired_classes(query, description, kept, outputs)
    through = kept | {name: name for name in dict.fromkeys([*scores, *decided])}
    best = greatest(decided, query.dialect.greatest)
    largest = greatest(scores, query.dialect.greatest)
    query.add(through | {"best": best, "largest": largest})

    def of_best(values: Sequence[str]) -> str:
        cases = "".join(
            f" WHEN {name} = best THEN {value}" for name, value in zip(decided, values, strict=True)
        )
        return f"CASE{cases} END"

    answers = {"label": of_best([literal(label) for label in labels]), "score": "largest"}
    each = {f"score_{label}": name for label, name in zip(labels, scores, strict=True)}
    if description.link is None:
        return answers | each
    through |= {"best": "best", "largest": "largest"}
    names = _probabilities(query, description, through, scores)
    answers["probability"] = of_best(names)
    by_class = {f"probability_{label}": p for label, p in zip(labels, names, strict=True)}
    return answers | each | by_class


def _voted(query: Query, count: int, kept: dict[str, str]) -> list[str]:
    """Add votes of the pairs and, from them, scores: ties split by the summed confidences."""
    pairs = pairs_of(count)
    outputs = {f"f{p}": f"f{p}" for p in range(len(pairs))}
    columns = {}
    for c in range(count):
        mine = [(p, c == pair[0]) for p, pair in enumerate(pairs) if c in pair]
        columns[f"c{c}"] = balanced([f"f{p}" if is_first else f"-f{p}" for p, is_first in mine])
        columns[f"v{c}"] = _votes_for(c, count, ">=", "<")
    query.add(kept | outputs | columns)
    names = [f"s{c}" for c in range(count)]
    texts = [f"v{c} + c{c} / (3e0 * (ABS(c{c}) + 1e0))" for c in range(count)]
    query.add(kept | outputs | dict(zip(names, texts, strict=True)))
    return names


def _worst(query: Query, count: int, kept: dict[str, str]) -> list[str]:
    """Add the worst value of each class among its pairs: minus the largest with other signs."""
    turned: dict[str, list[str]] = {f"s{c}": [] for c in range(count)}
    for p, (a, b) in enumerate(pairs_of(count)):
        turned[f"s{a}"].append(f"-f{p}")
        turned[f"s{b}"].append(f"f{p}")
    largest = query.dialect.greatest
    query.add(kept | {name: f"-{greatest(some, largest)}" for name, some in turned.items()})
    return list(turned)


PAIR_SCORES = {"votes": _voted, "worst": _worst}


def _scored(query: Query, description: Description, kept: dict[str, str]) -> list[str]:
    """Add a score for each class, where the outputs are their pairs."""
    assert description.pair_classes is not None
    return PAIR_SCORES[description.pair_scores](query, description.pair_classes, kept)


def _votes_for(c: int, count: int, yes: str, no: str) -> str:
    """Return the number of pairs that vote for a class, the first of a pair where f is so."""
    return balanced(
        [
            f"CASE WHEN f{p} {yes} 0 THEN {int(c == a)} WHEN f{p} {no} 0 THEN {int(c == b)} END"
            for p, (a, b) in enumerate(pairs_of(count))
            if c in (a, b)
        ]
    )


def _paired_classes(
    query: Query, description: Description, kept: dict[str, str], outputs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the scores that are shown, one for each class, and what the class is decided by."""
    count = len(description.labels)
    scores = _scored(query, description, kept)
    if description.is_by_scores:
        return scores, scores
    # libsvm: a pair with a value of zero votes for the second class.
    votes = {f"w{c}": _votes_for(c, count, ">", "<=") for c in range(count)}
    through = kept | {name: name for name in [*scores, *outputs]}
    query.add(through | votes)
    return scores, list(votes)


def _linked(
    query: Query, description: Description, through: dict[str, str], columns: dict[str, str]
) -> None:
    """Add the probabilities of values, by their own names."""
    if description.link != "probit":
        query.add(through | {name: _logistic(text) for name, text in columns.items()})
        return
    # Φ of each by one exponential, see normal.py; each step is used several times by the next.
    root = literal(float(np.sqrt(0.5)))
    query.add(
        through
        | {f"a{name}": text for name, text in columns.items()}
        | {f"u{name}": f"ABS({text}) * {root}" for name, text in columns.items()}
    )
    signed = through | {f"a{name}": f"a{name}" for name in columns}
    absolute = {f"u{name}": f"u{name}" for name in columns}
    query.add(signed | absolute | {f"t{name}": f"2e0 / (2e0 + u{name})" for name in columns})
    halves = {}
    for name in columns:
        y = f"(2e0 * t{name} - 1e0)"
        sum_ = literal(tail_polynomial()[-1])
        for coefficient in tail_polynomial()[-2::-1]:
            sum_ = f"({sum_} * {y} + {literal(coefficient)})"
        argument = f"{sum_} - u{name} * u{name}"
        if query.dialect.is_strict:
            argument = f"CASE WHEN u{name} < 26e0 THEN {argument} ELSE -700e0 END"
        halves[f"h{name}"] = f"t{name} * EXP({argument}) / 2e0"
    query.add(signed | halves)
    query.add(
        through
        | {name: f"CASE WHEN a{name} > 0 THEN 1e0 - h{name} ELSE h{name} END" for name in columns}
    )


def _logistic(text: str) -> str:
    """Return the logistic function; beyond 700 an exponential is no number."""
    return (
        f"1e0 / (1e0 + EXP(CASE WHEN -({text}) > 700e0 THEN 700e0 "
        f"WHEN -({text}) < -700e0 THEN -700e0 ELSE -({text}) END))"
    )


def _probabilities(
    query: Query, description: Description, through: dict[str, str], scores: Sequence[str]
) -> list[str]:
    """Add the probability of every class."""
    names = [f"q{c}" for c in range(len(scores))]
    if isinstance(description.link, Calibration):
        slope = literal(description.link.slope)
        texts = []
        for score in scores:
            argument = f"{slope} * ({score} - largest)"
            if query.dialect.is_strict:
                argument = f"CASE WHEN {argument} < -700e0 THEN -700e0 ELSE {argument} END"
            texts.append(f"EXP({argument})")
        query.add(through | dict(zip(names, texts, strict=True)))
    else:
        columns = dict(zip(names, scores, strict=True))
        _linked(query, description, through, columns)
        tiny = literal(TINY)
        query.add(through | {q: f"CASE WHEN {q} < {tiny} THEN {tiny} ELSE {q} END" for q in names})
    query.add(through | {q: q for q in names} | {"total": balanced(names)})
    return [f"{q} / total" for q in names]
