"""What the outputs mean, in ONNX: scores, labels, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.export import onnx_graph as graph
from zeronorm.export.description import Description
from zeronorm.export.normal import tail_polynomial
from zeronorm.links import Calibration
from zeronorm.pairs import pair_places, pairs_of


def scores(writer: graph.Writer, description: Description, values: str) -> str:
    """Add decision values, shape (rows, scores)."""
    if description.votes is None:
        return values
    return _class_scores(writer, description, values)


def limited(writer: graph.Writer, description: Description, values: str) -> str:
    """Add predicted numbers within their limits, shape (rows, targets)."""
    if description.limits is None:
        return values
    low, high = (
        graph.real(writer, end) for end in (description.limits.low, description.limits.high)
    )
    values = writer.op("Where", writer.op("Less", values, low), low, values)
    return writer.op("Where", writer.op("Less", high, values), high, values)


def _vote_matrices(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each pair which class is its first and its second."""
    pairs = pairs_of(n_classes)
    first, second = np.zeros((2, len(pairs), n_classes))
    for p, (a, b) in enumerate(pairs):
        first[p, a] = second[p, b] = 1.0
    return first, second


def _votes(writer: graph.Writer, is_for_first: str, n_classes: int) -> str:
    first, second = _vote_matrices(n_classes)
    flags = writer.op("Cast", is_for_first, to=11 if writer.dtype == np.float64 else 1)
    votes = writer.op("MatMul", flags, graph.real(writer, first - second))
    return writer.op("Add", votes, graph.real(writer, second.sum(axis=0)))


def _vote_scores(writer: graph.Writer, values: str, n_classes: int) -> str:
    """Add votes, ties split by the summed confidences, as scikit-learn has it."""
    first, second = _vote_matrices(n_classes)
    confidence = writer.op("MatMul", values, graph.real(writer, first - second))
    zero = graph.real(writer, [0.0])
    votes = _votes(writer, writer.op("Not", writer.op("Less", values, zero)), n_classes)
    size = writer.op("Add", writer.op("Abs", confidence), graph.real(writer, [1.0]))
    share = writer.op("Div", confidence, writer.op("Mul", size, graph.real(writer, [3.0])))
    return writer.op("Add", votes, share)


def _worst_scores(writer: graph.Writer, values: str, n_classes: int) -> str:
    """Add the worst value of each class among its pairs."""
    both = writer.op("Concat", values, writer.op("Neg", values), axis=1)
    # Not ReduceMin: where its axes stand depends on the version of the operators.
    columns = (graph.integers(writer, column) for column in pair_places(n_classes).T)
    return writer.op("Min", *(writer.op("Gather", both, column, axis=1) for column in columns))


PAIR_SCORES = {"votes": _vote_scores, "worst": _worst_scores}


def _class_scores(writer: graph.Writer, description: Description, values: str) -> str:
    """Add a score for each class, where the values are those of their pairs."""
    assert description.pair_classes is not None
    return PAIR_SCORES[description.pair_scores](writer, values, description.pair_classes)


def labels(writer: graph.Writer, description: Description, values: str) -> str:
    """Add the predicted class of every row."""
    rule = description.decision.rule
    zero = graph.real(writer, [0.0])
    if rule.n_classes == 2:
        is_second = writer.op("Less", zero, values)
        if rule.zero_counts:
            is_second = writer.op("Not", writer.op("Less", values, zero))
        codes = writer.op(
            "Reshape", writer.op("Cast", is_second, to=7), graph.integers(writer, [-1])
        )
    else:
        decided = values
        if description.is_by_scores:
            decided = _class_scores(writer, description, values)
        elif rule.is_pairs:
            decided = _votes(writer, writer.op("Less", zero, values), rule.n_classes)
        codes = writer.op("ArgMax", decided, axis=1, keepdims=0)
    return writer.op("Gather", writer.constant(label_values(description)), codes, axis=0)


def label_values(description: Description) -> np.ndarray:
    """Return the labels as an array that onnx has a type for."""
    known = description.decision.classes
    if known.dtype.kind in "iu":
        if known.max() > np.iinfo(np.int64).max:
            raise ValueError(f"The label {known.max()} is beyond the integers of ONNX, int64.")
        return known.astype(np.int64)
    if known.dtype.kind in "bf":
        return known.astype(np.float32) if known.dtype == np.float16 else known
    if all(isinstance(label, str) for label in known.tolist()):
        return known.astype(object)
    raise ValueError("Class labels of several types cannot be exported to ONNX.")


def probabilities(writer: graph.Writer, description: Description, values: str) -> str:
    """Add the probability of every class."""
    link, several = description.link, description.function.n_outputs > 1
    if description.pair_classes is not None:
        values = _class_scores(writer, description, values)
    if isinstance(link, Calibration):
        values = writer.op("Mul", values, graph.real(writer, [link.slope]))
        if several:
            return writer.op("Softmax", values, axis=1)
    if not several:
        both = writer.op("Concat", writer.op("Neg", values), values, axis=1)
        return _linked(writer, link, both)
    tiny = graph.real(writer, [np.finfo(writer.dtype).tiny])
    each = _linked(writer, link, values)
    each = writer.op("Where", writer.op("Less", each, tiny), tiny, each)
    ones = np.ones((description.function.n_outputs, 1))
    return writer.op("Div", each, writer.op("MatMul", each, graph.real(writer, ones)))


def _linked(writer: graph.Writer, link: Any, values: str) -> str:
    if link != "probit":
        return writer.op("Sigmoid", values)
    # Φ by one exponential, see normal.py: Erf has no digits left in the tail.
    u = writer.op("Mul", writer.op("Abs", values), graph.real(writer, [np.sqrt(0.5)]))
    t = writer.op("Div", graph.real(writer, [2.0]), writer.op("Add", u, graph.real(writer, [2.0])))
    y = writer.op("Sub", writer.op("Add", t, t), graph.real(writer, [1.0]))
    *rest, last = tail_polynomial()
    total = graph.real(writer, [last])
    for coefficient in reversed(rest):
        total = writer.op("Add", writer.op("Mul", total, y), graph.real(writer, [coefficient]))
    power = writer.op("Exp", writer.op("Sub", total, writer.op("Mul", u, u)))
    half = writer.op("Mul", writer.op("Mul", t, power), graph.real(writer, [0.5]))
    other = writer.op("Sub", graph.real(writer, [1.0]), half)
    is_positive = writer.op("Less", graph.real(writer, [0.0]), values)
    return writer.op("Where", is_positive, other, half)
