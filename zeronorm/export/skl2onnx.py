"""Converters for skl2onnx: pipelines with estimators of zeronorm become ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.feature_selection import SelectorMixin

import zeronorm
from zeronorm.export import onnx_decision as decision
from zeronorm.export import onnx_graph as graph
from zeronorm.export.description import Description
from zeronorm.export.reading import describe


class Container:
    """Nodes and constants in the container of skl2onnx."""

    def __init__(self, scope: Any, container: Any, dtype: np.dtype) -> None:
        self.scope, self.container, self.dtype = scope, container, dtype

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = self.scope.get_unique_variable_name(f"zeronorm_{kind}")
        if kind == "ReduceMax" and self.container.target_opset >= 18:  # its axes are an input
            inputs = (*inputs, self.constant(np.array(attributes.pop("axes"), dtype=np.int64)))
        version = None if domain else self.container.target_opset
        self.container.add_node(
            kind, list(inputs), [name], op_domain=domain, op_version=version, **attributes
        )
        return name

    def constant(self, values: Any) -> str:
        """Add a constant and return its name."""
        from onnx import TensorProto
        from onnx.helper import np_dtype_to_tensor_dtype

        values = np.asarray(values)
        name = self.scope.get_unique_variable_name("zeronorm_constant")
        kind, content = TensorProto.STRING, [str(v).encode("utf-8") for v in values.ravel()]
        if values.dtype != object:
            kind, content = np_dtype_to_tensor_dtype(values.dtype), values.ravel().tolist()
        self.container.add_initializer(name, kind, list(values.shape), content)
        return name


def register_with_skl2onnx() -> None:
    """Let ``skl2onnx.to_onnx`` take pipelines with estimators of zeronorm.

    Of a classifier the second output is what it has: probabilities, else decision values (of two
    classes with both signs). Calling it again changes nothing.

    Raises
    ------
    ImportError
        Without skl2onnx: ``pip install 'zeronorm[onnx]'``.

    See Also
    --------
    to_onnx : Does without skl2onnx, and takes texts and missing values too.
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    except ImportError as error:
        raise ImportError(
            "Converters for skl2onnx need it: pip install 'zeronorm[onnx]'."
        ) from error
    for name in zeronorm.__all__:
        kind = getattr(zeronorm, name)
        if not isinstance(kind, type) or not hasattr(kind, "fit"):
            continue
        if issubclass(kind, ClassifierMixin):
            update_registered_converter(
                kind,
                f"Zeronorm{name}",
                calculate_linear_classifier_output_shapes,
                _convert_classifier,
                options={"zipmap": [True, False, "columns"], "nocl": [True, False],
                         "output_class_labels": [False, True]},
            )  # fmt: skip
        else:
            is_selector = issubclass(kind, SelectorMixin)
            convert = _convert_selector if is_selector else _convert_values
            shapes = _selector_shapes if is_selector else _value_shapes
            update_registered_converter(kind, f"Zeronorm{name}", shapes, convert)


def _outputs(scope: Any, operator: Any, container: Any) -> tuple[Container, Description, str]:
    """Return a writer of the precision of the input, the model, and its outputs."""
    from skl2onnx.common.data_types import guess_numpy_type, guess_proto_type

    given = operator.inputs[0]
    dtype = np.dtype(guess_numpy_type(given.type))
    if dtype.kind != "f":
        dtype = np.dtype(np.float32)
    writer = Container(scope, container, dtype)
    name = given.full_name
    if np.dtype(guess_numpy_type(given.type)) != dtype:
        name = writer.op("Cast", name, to=guess_proto_type(operator.outputs[-1].type))
    description = describe(operator.raw_operator)
    return writer, description, graph.outputs(writer, description, name)


def _identity(writer: Container, value: str, output: Any) -> None:
    writer.container.add_node("Identity", [value], [output.full_name])


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    writer, description, values = _outputs(scope, operator, container)
    label = decision.labels(writer, description, values)
    if decision.label_values(description).dtype not in (np.int64, object):
        label = writer.op("Cast", label, to=7)
    _identity(writer, label, operator.outputs[0])
    if description.link is not None:
        shown = decision.probabilities(writer, description, values)
    else:
        shown = decision.scores(writer, description, values)
        if description.n_scores == 1:
            shown = writer.op("Concat", writer.op("Neg", shown), shown, axis=1)
    _identity(writer, shown, operator.outputs[1])


def _convert_values(scope: Any, operator: Any, container: Any) -> None:
    """Convert regressors, densities and projections: the outputs themselves."""
    writer, description, values = _outputs(scope, operator, container)
    _identity(writer, decision.limited(writer, description, values), operator.outputs[0])


def _convert_selector(scope: Any, operator: Any, container: Any) -> None:
    indices = operator.raw_operator.get_support(indices=True)
    writer = Container(scope, container, np.dtype(np.float32))
    chosen = writer.op(
        "Gather", operator.inputs[0].full_name, graph.integers(writer, indices), axis=1
    )
    _identity(writer, chosen, operator.outputs[0])


def _value_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import guess_tensor_type

    given = operator.inputs[0]
    operator.outputs[0].type = guess_tensor_type(given.type)
    count = describe(operator.raw_operator).function.n_outputs
    operator.outputs[0].type.shape = [given.get_first_dimension(), count]


def _selector_shapes(operator: Any) -> None:
    given = operator.inputs[0]
    count = int(operator.raw_operator.get_support().sum())
    operator.outputs[0].type = type(given.type)([given.get_first_dimension(), count])
