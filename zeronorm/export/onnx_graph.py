"""The operators of a model: a small writer of nodes, and what the nodes are.

Plain operators of opset 9 only, so that any runtime takes the graph; two writers put them into a
graph of onnx or into the container of skl2onnx.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from zeronorm.export.description import Description, Function, Lookup, Number
from zeronorm.export.products import centred, product_form

#: Where products are exact enough for distances, in each precision (see products.py).
EXACT = {"float64": 1e4, "float32": 8.0}


class Writer(Protocol):
    """Where nodes go to."""

    dtype: np.dtype

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""

    def constant(self, values: Any) -> str:
        """Add a constant and return its name."""


def real(writer: Writer, values: Any) -> str:
    """Add numbers of the precision of the graph."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(values, dtype=writer.dtype)
    if not (np.isfinite(rounded) | ~np.isfinite(np.asarray(values, dtype=float))).all():
        raise ValueError("The model has numbers beyond single precision; take dtype='double'.")
    return writer.constant(rounded)


def integers(writer: Writer, values: Any) -> str:
    """Add whole numbers."""
    return writer.constant(np.asarray(values, dtype=np.int64))


def columns_of(writer: Writer, X: str | Sequence[str], indices: list[int]) -> str:
    """Return some columns as a matrix: of a matrix, or of one matrix for each column."""
    if isinstance(X, str):
        return writer.op("Gather", X, integers(writer, indices), axis=1)
    return beside(writer, [X[i] for i in indices])


def beside(writer: Writer, parts: Sequence[str]) -> str:
    """Put matrices beside each other."""
    return parts[0] if len(parts) == 1 else writer.op("Concat", *parts, axis=1)


def features(writer: Writer, description: Description, X: str | Sequence[str]) -> str:
    """Add the features of rows.

    Parameters
    ----------
    writer : Writer
        Where the nodes go to.
    description : Description
        The model, already centred.
    X : str or sequence of str
        A matrix of all columns, or one of each column.
    """
    numbers = [i for i, f in enumerate(description.features) if isinstance(f, Number)]
    blocks, order = [], []
    if numbers:
        blocks.append(_numbers(writer, [description.features[i] for i in numbers], X))  # type: ignore[misc]
        order += numbers
    for column, indices in description.features_by_column.items():
        levels = [i for i in indices if isinstance(description.features[i], Lookup)]
        if levels:
            blocks.append(_looked_up(writer, description, column, levels, X))
            order += levels
    if not blocks:
        return columns_of(writer, X, [0])
    z = beside(writer, blocks)
    return z if order == sorted(order) else columns_of(writer, z, np.argsort(order).tolist())


def _numbers(writer: Writer, numbers: list[Number], X: str | Sequence[str]) -> str:
    x = columns_of(writer, X, [f.column for f in numbers])
    if any(f.fill is not None for f in numbers):
        fills = [np.nan if f.fill is None else f.fill for f in numbers]
        x = writer.op("Where", writer.op("IsNaN", x), real(writer, fills), x)
    if any(f.is_clipped for f in numbers):
        ends = np.finfo(writer.dtype)
        lows = real(writer, [max(f.low, float(ends.min)) for f in numbers])
        highs = real(writer, [min(f.high, float(ends.max)) for f in numbers])
        # Not by Max and Min, of which some pass NaN over.
        x = writer.op("Where", writer.op("Less", x, lows), lows, x)
        x = writer.op("Where", writer.op("Less", highs, x), highs, x)
    if any(f.centre != 0 for f in numbers):
        x = _less_centres(writer, x, [f.centre for f in numbers])
    if any(f.factor != 1 for f in numbers):
        x = writer.op("Mul", x, real(writer, [f.factor for f in numbers]))
    return x


def _less_centres(writer: Writer, x: str, centres: Sequence[float]) -> str:
    """Subtract in two steps, the first exact, so that single precision loses nothing far out."""
    single = np.asarray(centres).astype(np.float32).astype(np.float64)
    x = writer.op("Sub", x, real(writer, single))
    rest = np.asarray(centres) - single
    return writer.op("Sub", x, real(writer, rest)) if rest.any() else x


def _looked_up(
    writer: Writer,
    description: Description,
    column: int,
    indices: list[int],
    X: str | Sequence[str],
) -> str:
    """Return the features of one column: the row of a table that the level has."""
    levels = description.levels_of(column)
    table = np.empty((len(levels) + 2, len(indices)))
    for k, index in enumerate(indices):
        feature = description.features[index]
        assert isinstance(feature, Lookup)
        known = dict(zip(feature.levels, feature.values, strict=True))
        values = [known.get(level, feature.unknown) for level in levels]
        table[:, k] = [feature.missing, *values, feature.unknown]
    x = columns_of(writer, X, [column])
    if description.columns[column].is_text:
        gaps = dict.fromkeys(["", *description.columns[column].missing])
        code = dict.fromkeys(gaps, 0) | {level: i for i, level in enumerate(levels, 1)}
        place_of = writer.op(
            "LabelEncoder",
            x,
            domain="ai.onnx.ml",
            keys_strings=list(code),
            values_int64s=list(code.values()),
            default_int64=len(levels) + 1,
        )
        place_of = writer.op("Reshape", place_of, integers(writer, [-1]))
    else:
        place_of = _place_of_number(writer, x, levels)
    return writer.op("Gather", real(writer, table), place_of, axis=0)


def _place_of_number(writer: Writer, x: str, levels: list[float]) -> str:
    """Return the place of the largest of: a flag for a missing one, one for each level, a half."""
    flags = writer.op("Cast", writer.op("IsNaN", x), to=1)
    half = writer.op("Mul", flags, writer.constant(np.zeros(1, np.float32)))
    half = writer.op("Add", half, writer.constant(np.full(1, 0.5, np.float32)))
    parts = [flags, half]
    if levels:  # Equal takes numbers from opset 11 on only
        known = real(writer, [levels])
        differs = writer.op("Or", writer.op("Less", x, known), writer.op("Less", known, x))
        parts.insert(1, writer.op("Cast", writer.op("Not", differs), to=1))
    return writer.op("ArgMax", writer.op("Concat", *parts, axis=1), axis=1, keepdims=0)


def outputs(writer: Writer, description: Description, X: str | Sequence[str]) -> str:
    """Add the outputs of the function, shape (rows, outputs)."""
    description = centred(description)
    function = description.function
    z = features(writer, description, X)
    if description.kind == "density":
        return _density(writer, description, z)
    parts = []
    if function.n_terms:
        parts.append(
            writer.op("MatMul", _terms(writer, description, z), real(writer, function.coef))
        )
    if function.linear is not None and len(function.linear):
        parts.append(writer.op("MatMul", z, real(writer, function.linear)))
    if not parts:  # nothing but the intercept, once for each row
        zero = np.zeros((max(1, len(description.features)), function.n_outputs))
        if not description.features:
            z = writer.op("Mul", z, real(writer, [0.0]))
        parts.append(writer.op("MatMul", z, real(writer, zero)))
    total = parts[0] if len(parts) == 1 else writer.op("Add", *parts)
    return writer.op("Add", total, real(writer, function.intercept))


def _terms(writer: Writer, description: Description, z: str) -> str:
    function = description.function
    if function.kind == "monomials":
        return _monomials(writer, description, z)
    if function.kind == "rbf":
        return writer.op("Exp", _exponents(writer, description, z))
    product = writer.op("MatMul", z, real(writer, function.vectors.T))
    product = writer.op("Add", product, real(writer, function.offsets))
    if function.kind == "sigmoid":
        return writer.op("Tanh", product)
    return _power(writer, product, function.degree)


def _power(writer: Writer, x: str, exponent: int) -> str:
    result = x
    for _ in range(exponent - 1):
        result = writer.op("Mul", result, x)
    if exponent == 0:
        zero = writer.op("Sub", x, x)
        result = writer.op("Add", zero, real(writer, [1.0]))
    return result


def _exponents(writer: Writer, description: Description, z: str) -> str:
    """Return minus the distances, in widths."""
    function = description.function
    doubled, squares, roughness = product_form(function)
    if roughness > EXACT[writer.dtype.name]:
        return _differences(writer, function, z)
    own = writer.op("MatMul", writer.op("Mul", z, z), real(writer, function.widths[:, None]))
    product = writer.op("MatMul", z, real(writer, doubled.T))
    product = writer.op("Sub", product, real(writer, squares))
    negative = writer.op("Sub", product, own)
    # Rounding may leave a squared distance a hair below zero.
    return writer.op("Sub", negative, writer.op("Relu", negative))


def _differences(writer: Writer, function: Function, z: str) -> str:
    n_terms, n_features = function.vectors.shape
    rows = writer.op("Reshape", z, integers(writer, [-1, 1, n_features]))
    difference = writer.op("Sub", rows, real(writer, function.vectors))
    squares = writer.op("Mul", difference, difference)
    total = writer.op("MatMul", squares, real(writer, -function.widths[:, None]))
    return writer.op("Reshape", total, integers(writer, [-1, n_terms]))


def _monomials(writer: Writer, description: Description, z: str) -> str:
    columns = {}
    terms = []
    for term in description.function.factors:
        product = ""
        for i, exponent in term:
            if i not in columns:
                columns[i] = columns_of(writer, z, [i])
            power = _power(writer, columns[i], exponent)
            product = power if not product else writer.op("Mul", product, power)
        terms.append(product or _power(writer, columns_of(writer, z, [0]), 0))
    return beside(writer, terms)


def _density(writer: Writer, description: Description, z: str) -> str:
    """Add the logarithm of the sum, scaled by its nearest kernel."""
    function = description.function
    exponents = _exponents(writer, description, z)
    nearest = writer.op("ReduceMax", exponents, axes=[1], keepdims=1)
    values = writer.op("Exp", writer.op("Sub", exponents, nearest))
    total = writer.op("Log", writer.op("MatMul", values, real(writer, function.coef)))
    height = writer.op("Add", nearest, real(writer, function.intercept))
    return writer.op("Add", total, height)
