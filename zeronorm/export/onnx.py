"""A model as an ONNX graph of plain operators."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from zeronorm import __version__
from zeronorm.checks import check_one_of
from zeronorm.export import onnx_decision as decision
from zeronorm.export import onnx_graph as graph
from zeronorm.export.description import Description
from zeronorm.export.reading import describe
from zeronorm.export.text import made_by
from zeronorm.files import write_bytes

#: The oldest opsets that have all operators: Where and IsNaN came with 9, LabelEncoder of texts
#: with 2. IR 4 is what goes with 9.
OPSET, ML_OPSET, IR = 9, 2, 4

DTYPES: dict[str, np.dtype] = {"float": np.dtype(np.float32), "double": np.dtype(np.float64)}


def _onnx() -> Any:
    try:
        import onnx
        import onnx.helper
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'zeronorm[onnx]'.") from error
    return onnx


class Nodes:
    """Nodes and constants of a graph of onnx."""

    def __init__(self, dtype: np.dtype, taken: Sequence[str]) -> None:
        self.onnx = _onnx()
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.taken = set(taken)

    def _name(self) -> str:
        name = f"v{len(self.taken)}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = self._name()
        make = self.onnx.helper.make_node
        self.nodes.append(make(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Add a constant and return its name."""
        name = self._name()
        values = np.asarray(values)
        if values.dtype == object:
            helper, kind = self.onnx.helper, self.onnx.TensorProto.STRING
            texts = [text.encode("utf-8") for text in values.tolist()]
            tensor = helper.make_tensor(name, kind, values.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
        self.constants.append(tensor)
        return name


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float") -> Any:
    """Write a model as an ONNX graph of plain operators (MatMul, Exp, ...), opset 9.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion or TableModel
        What to export, see :func:`zeronorm.export.to_c`.
    path : path-like, optional
        Where to write the graph, whole or not at all.
    dtype : {"float", "double"}, default="float"
        Precision of inputs, constants and outputs.

    Returns
    -------
    onnx.ModelProto
        The graph. It takes ``X``, a matrix of all columns; if some hold texts, one matrix with a
        single column for each, by the names of the columns. NaN and empty texts are missing. Of a
        classifier the outputs are ``label``, ``scores`` and, where there are any,
        ``probabilities``; of a regressor ``prediction``; of a one-class machine ``label`` and
        ``scores``; of others ``scores``. A row for which the model has no value has scores of
        NaN, and its label means nothing.

    Raises
    ------
    ImportError
        Without onnx: ``pip install 'zeronorm[onnx]'``.
    ValueError
        If the model, or a step before it, cannot be exported; the step is named.

    See Also
    --------
    register_with_skl2onnx : Lets ``skl2onnx.to_onnx`` take pipelines with estimators of zeronorm.
    """
    check_one_of("dtype", dtype, DTYPES)
    made = graph_of(describe(model), DTYPES[dtype])
    if path is not None:
        write_bytes(path, made.SerializeToString())
    return made


def graph_of(description: Description, dtype: np.dtype) -> Any:
    """Return the graph of a described model."""
    onnx = _onnx()
    if dtype == np.float32:
        description.check_single("dtype='double'")
    helper, numbers = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype(dtype)
    taken = [("X", numbers, len(description.columns))]
    if description.has_texts:
        kinds = {True: onnx.TensorProto.STRING, False: numbers}
        taken = [(column.name, kinds[column.is_text], 1) for column in description.columns]
    names = [name for name, _, _ in taken]
    nodes = Nodes(dtype, [*names, "label", "scores", "probabilities", "prediction"])
    answers = _answers(nodes, description, names if description.has_texts else "X")
    _check_names(names, answers)
    inputs = [helper.make_tensor_value_info(name, kind, [None, n]) for name, kind, n in taken]
    outputs = []
    for name, (value, kind, shape) in answers.items():
        nodes.nodes.append(helper.make_node("Identity", [value], [name]))
        outputs.append(helper.make_tensor_value_info(name, kind, shape))
    made = helper.make_graph(nodes.nodes, "zeronorm", inputs, outputs, nodes.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(
        made,
        opset_imports=opsets[: 2 if description.has_texts else 1],
        ir_version=IR,
        producer_name="zeronorm",
        producer_version=__version__,
        doc_string=made_by(description),
    )
    onnx.checker.check_model(model)
    return model


def _check_names(inputs: Sequence[str], outputs: Iterable[str]) -> None:
    """Raise ValueError unless every input and output has a name of its own."""
    for name, count in Counter([*inputs, *outputs]).items():
        if count > 1 or not name:
            raise ValueError(
                f"A column is called {name!r}, which in ONNX is no name or that of another input "
                f"or output ({', '.join(outputs)}); rename it."
            )


def _answers(
    nodes: Nodes, description: Description, X: str | Sequence[str]
) -> dict[str, tuple[str, int, list[Any]]]:
    """Add all nodes; return names, types and shapes of what goes out."""
    onnx = nodes.onnx
    number = onnx.helper.np_dtype_to_tensor_dtype(nodes.dtype)
    values = graph.outputs(nodes, description, X)
    if description.kind == "number":
        values = decision.limited(nodes, description, values)
    shown, shape = decision.scores(nodes, description, values), [None, description.n_scores]
    if description.n_scores == 1:  # a number for each row, and no matrix
        shown, shape = nodes.op("Reshape", shown, graph.integers(nodes, [-1])), [None]
    if description.kind == "number":
        return {"prediction": (shown, number, shape)}
    answers: dict[str, tuple[str, int, list[Any]]] = {}
    if description.is_classifier:
        known = decision.label_values(description)
        kind = onnx.TensorProto.STRING
        if known.dtype != object:
            kind = onnx.helper.np_dtype_to_tensor_dtype(known.dtype)
        answers["label"] = decision.labels(nodes, description, values), kind, [None]
    elif description.kind == "one-class":
        is_inside = nodes.op("Less", graph.real(nodes, [0.0]), shown)
        place = nodes.op("Cast", is_inside, to=onnx.TensorProto.INT64)
        label = nodes.op("Gather", graph.integers(nodes, [-1, 1]), place, axis=0)
        answers["label"] = label, onnx.TensorProto.INT64, [None]
    answers["scores"] = shown, number, shape
    if description.link is not None:
        proba = decision.probabilities(nodes, description, values)
        answers["probabilities"] = proba, number, [None, len(description.labels)]
    return answers
