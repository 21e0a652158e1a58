"""A model as one ES module without dependencies, and its types for TypeScript."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np

from zeronorm.export import javascript_code as code
from zeronorm.export.description import Description, Feature, Lookup, Number
from zeronorm.export.normal import tail_polynomial
from zeronorm.export.reading import describe
from zeronorm.export.text import made_by, spelling, written
from zeronorm.links import Calibration

#: Number.MAX_SAFE_INTEGER: beyond, different integers are the same number.
LARGEST_INTEGER = 2**53 - 1


def to_javascript(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """Write a model as an ES module for browsers and node.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion or TableModel
        What to export, see :func:`zeronorm.export.to_c`.
    path : path-like, optional
        Where to write the module; its types for TypeScript go beside it, under the same name with
        the ending ``.d.ts``. Each file is written whole or not at all.

    Returns
    -------
    str
        The module. It exports ``columns``, ``decision(row)`` and, where the model has them,
        ``predict(row)``, ``classes`` and ``probabilities(row)``. A row is an array, or an object
        with the names of the columns; null, undefined, NaN and blank texts are missing (among texts
        the empty one, unless the model knows it as a level). For a column of texts true and false
        are the levels ``True`` and ``False``, or however the model spells them. Where the model has
        no finite value, as for a missing number that nothing fills in, ``predict`` is null; of a
        regressor with several targets it is an array.

    Raises
    ------
    ValueError
        If the model, or a step before it, cannot be exported; the step is named.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.export import to_javascript
    >>> module = to_javascript(ZeroNormSVC().fit(*make_moons(random_state=0)))
    >>> "export function predict(row)" in module
    True
    """
    description = describe(model)
    text = module(description)
    if path is not None:
        stem, ending = os.path.splitext(os.fspath(path))
        types = ".d.mts" if ending == ".mjs" else ".d.ts"
        written(declaration(description), stem + types)
    return written(text, path)


def module(description: Description) -> str:
    """Return the module of a described model."""
    parts = [f"// {made_by(description)}", _constants(description), code.VALUES]
    numbers = [f for f in description.features if isinstance(f, Number)]
    if numbers:
        parts.append(code.NUMBER)
    if len(numbers) < len(description.features):
        parts.append(code.LOOKUP)
    parts += [_features(description), *_function(description), *_decision(description)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _constants(description: Description) -> str:
    function, columns = description.function, description.columns
    constants: dict[str, Any] = {}
    if any(isinstance(feature, Lookup) for feature in description.features):
        constants["isText"] = [column.is_text for column in columns]
        constants["isStripped"] = [column.is_stripped for column in columns]
        constants["gaps"] = [_gaps(description, index) for index in range(len(columns))]
        constants["booleans"] = [
            [spelling(word, description.levels_of(index)) for word in ("false", "true")]
            for index in range(len(columns))
        ]
    constants |= {
        "coef": function.coef,
        "linear": [] if function.linear is None else function.linear,
        "intercept": function.intercept,
    }
    if function.kind == "monomials":
        constants["factors"] = function.factors
    elif function.n_terms:
        constants["vectors"] = function.vectors
        own = "widths" if function.kind == "rbf" else "offsets"
        constants[own] = getattr(function, own)
    lines = [f"export const columns = {literal([column.name for column in columns])};"]
    if description.is_classifier:
        lines.append(f"export const classes = {literal(description.labels)};")
    lines += [f"const {name} = {literal(value)};" for name, value in constants.items()]
    return "\n".join(lines) + "\n"


def _gaps(description: Description, index: int) -> list[str]:
    """Return the texts of a column that mean a missing one: the empty one unless it is a level."""
    gaps = dict.fromkeys(["", *description.columns[index].missing])
    return [text for text in gaps if text not in description.levels_of(index)]


def literal(value: Any) -> str:
    """Return plain data as JavaScript; safe in a script of a page, too."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        parts = [literal(entry) for entry in value]
        is_nested = bool(value) and isinstance(value[0], (list, tuple))
        return "[\n  " + ",\n  ".join(parts) + ",\n]" if is_nested else f"[{', '.join(parts)}]"
    if value is None:
        return "NaN"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "-Infinity"[value > 0 :]
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"The label {value} is beyond the integers of JavaScript, 2^53.")
    return json.dumps(value).replace("</", "<\\/").replace("<!", "<\\u0021")


def _features(description: Description) -> str:
    calls = [f"    {_call(feature)},\n" for feature in description.features]
    return "function features(row) {\n  return [\n" + "".join(calls) + "  ];\n}\n"


def _call(feature: Feature) -> str:
    if isinstance(feature, Number):
        if feature.is_plain:
            return f"number(cell(row, {feature.column}))"
        ends = [feature.column, feature.fill, feature.low, feature.high]
        return f"numberOf(row, {literal([*ends, feature.centre, feature.factor])})"
    levels, values = zip(*feature.told_apart, strict=True) if feature.told_apart else ((), ())
    parts = [feature.column, list(levels), list(values), feature.missing, feature.unknown]
    return f"levelOf(row, [{', '.join(literal(part) for part in parts)}])"


def _function(description: Description) -> list[str]:
    function = description.function
    if description.kind == "density":
        return [code.KERNELS["rbf"], code.LOGARITHM]
    if not function.n_terms:
        return [code.SUM.replace("VALUE", "0")]
    value, *parts = {
        "rbf": ("Math.exp(-term(z, j))", code.KERNELS["rbf"]),
        "poly": (f"power(term(z, j), {function.degree})", code.POWER, code.KERNELS["product"]),
        "sigmoid": ("Math.tanh(term(z, j))", code.KERNELS["product"]),
        "monomials": ("term(z, j)", code.POWER, code.KERNELS["monomials"]),
    }[function.kind]
    return [*parts, code.SUM.replace("VALUE", value)]


def _decision(description: Description) -> list[str]:
    """Return decision values, predictions and probabilities."""
    parts = []
    if description.pair_classes is not None:
        parts.append(f"const nClasses = {description.pair_classes};")
        if description.pair_scores == "votes":
            parts.append(code.VOTES)
    if description.votes is not None or description.is_by_scores:
        parts.append(code.PAIR_SCORES[description.pair_scores])
    if description.limits is not None:
        low, high = literal(description.limits.low), literal(description.limits.high)
        parts.append(f"const low = {low}, high = {high};\n" + code.LIMITED)
    values = _values(description) if description.votes is None else "classScores(outputs(row))"
    one = "[0]" if description.n_scores == 1 else ""
    parts.append(
        f"/** Decision values. */\nexport function decision(row) {{\n  return {values}{one};\n}}\n"
    )
    if "predict" in description.answers:
        parts += _predictions(description)
    if description.link is not None:
        parts += _probabilities(description)
    return parts


def _values(description: Description) -> str:
    return "outputs(row)" if description.limits is None else "limited(outputs(row))"


def _predictions(description: Description) -> list[str]:
    rule = description.decision.rule if description.is_classifier else None
    parts, answer = [], "values[0]" if description.function.n_outputs == 1 else "values"
    if description.kind == "one-class":
        answer = "values[0] > 0 ? 1 : -1"
    elif rule is not None and rule.n_classes == 2:
        sign = ">=" if rule.zero_counts else ">"
        answer = f"classes[values[0] {sign} 0 ? 1 : 0]"
    elif rule is not None:
        parts.append(code.LARGEST)
        scores = "values"
        if rule.is_pairs:
            by_votes = "votesOf(values, (value) => value > 0)"
            scores = "classScores(values)" if description.is_by_scores else by_votes
        answer = f"classes[largest({scores})]"
    return [
        *parts,
        "/** The prediction, or null where no output is finite. */\n"
        "export function predict(row) {\n"
        f"  const values = {_values(description)};\n"
        f"  return values.every(Number.isFinite) ? {answer} : null;\n}}\n",
    ]


def _probabilities(description: Description) -> list[str]:
    link, several = description.link, description.function.n_outputs > 1
    parts = []
    if isinstance(link, Calibration):
        parts.append(f"const slope = {literal(link.slope)};")
        body = code.SOFTMAX
        if not several:
            parts.append(code.LOGISTIC)
            body = "  return [link(-slope * values[0]), link(slope * values[0])];\n"
    else:
        if link == "probit":
            parts.append(f"const tail = {literal(list(tail_polynomial()))};")
        parts.append(code.PROBIT if link == "probit" else code.LOGISTIC)
        body = code.EACH if several else "  return [link(-values[0]), link(values[0])];\n"
    head = "/** The probability of every class, in the order of `classes`. */\n"
    values = "outputs(row)" if description.pair_classes is None else "classScores(outputs(row))"
    head += f"export function probabilities(row) {{\n  const values = {values};\n"
    return [*parts, head + body + "}\n"]


def declaration(model: Any) -> str:
    """Return the types of the module, a ``.d.ts`` file.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion, TableModel or Description
        What is exported.

    Returns
    -------
    str
        Declarations for TypeScript.
    """
    description = describe(model)
    lines = [
        f"// {made_by(description)}",
        "export type Cell = number | string | boolean | null | undefined;",
        "export type Row = readonly Cell[] | { readonly [column: string]: Cell };",
        "export const columns: readonly string[];",
        "export function outputs(row: Row): number[];",
        f"export function decision(row: Row): number{'[]' * (description.n_scores > 1)};",
    ]
    if description.is_classifier:
        label = " | ".join(literal(label) for label in description.labels)
        lines.append(f"export type Label = {label};")
        lines.append("export const classes: readonly Label[];")
        lines.append("export function predict(row: Row): Label | null;")
    elif "predict" in description.answers:
        numbers = "number" + "[]" * (description.n_scores > 1)
        lines.append(f"export function predict(row: Row): {numbers} | null;")
    if description.link is not None:
        lines.append("export function probabilities(row: Row): number[];")
    return "\n".join(lines) + "\n"
