"""A model as one C99 header: constant arrays and loops, no allocation, no dependency but exp."""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.export import c_code as code
from zeronorm.export.c_decision import decision_parts
from zeronorm.export.c_form import Header, comment_text
from zeronorm.export.c_function import feature_parts, output_parts
from zeronorm.export.description import Description, Lookup
from zeronorm.export.quantised import Quantised, quantised
from zeronorm.export.reading import describe
from zeronorm.export.text import made_by, write_folder, written
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import Table


def header_text(description: Description, header: Header, error: str, box: Any) -> str:
    """Return the header of a described model."""
    if description.kind == "density" and header.own_exp:
        raise ValueError("A density needs a logarithm too: take own_exp=False.")
    description = numbers_first(description)
    rounded = quantised(description, box) if header.precision == "int16" else None
    body = [
        *_exp(header),
        *feature_parts(description, header),
        *output_parts(description, header, rounded),
        *decision_parts(description, header),
    ]
    guard = f"ZERONORM_{header.name.upper()}_H"
    rest = "\n".join([code.FLASH, _sizes(description, header), *header.texts, *body])
    # A compiler for chips may come without it.
    spoken = re.sub(r'/\*.*?\*/|".*?"', "", rest, flags=re.DOTALL)
    needs_maths = re.search(r"\b(NAN|INFINITY|(exp|tanh|log)f?)\b", spoken)
    parts = [
        _comment(description, header, rounded, error),
        f"#ifndef {guard}\n#define {guard}\n",
        ("#include <math.h>\n" if needs_maths else "") + "#include <stdint.h>\n",
        rest,
        "#endif\n",
    ]
    return "\n".join(parts)


def numbers_first(description: Description) -> Description:
    """Return the same model with lookups after the numbers, so that each kind is one loop."""
    features = description.features
    order = sorted(range(len(features)), key=lambda i: isinstance(features[i], Lookup))
    function = description.function.with_features(order)
    return replace(description, features=tuple(features[i] for i in order), function=function)


def _comment(
    description: Description, header: Header, rounded: Quantised | None, error: str
) -> str:
    lines = [
        made_by(description),
        "",
        f"numbers:   {header.precision}" + (", exp of its own" if header.own_exp else ""),
        f"flash:     {header.n_bytes} bytes of constants, and the code",
        f"RAM:       no static bytes; at most {_stack(description, header)} bytes of arrays on the "
        "stack",
        f"error:     {error}",
    ]
    if rounded is not None:
        bound = f"{rounded.bound.max(initial=0.0):.3g}"
        lines += [
            f"16 bits:   no output changes by more than {bound}, for {rounded.where}, beside the",
            "           rounding of single precision",
        ]
    lines += ["", "Inputs, NaN where one is missing:"]
    for index, column in enumerate(description.columns):
        text = f", {header.name}_level({index}, text)" if column.is_text else ""
        lines.append(f"x[{index}]: {comment_text(column.name)}{text}")
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def _stack(description: Description, header: Header) -> int:
    size = 8 if header.real == "double" else 4
    features = 0 if description.is_plain else size * len(description.features)
    if header.precision == "int16" and description.function.kind == "rbf":
        features += 2 * len(description.features) + 4 * description.function.n_outputs
    outputs = size * description.function.n_outputs
    n_arrays = int(description.is_classifier) + (description.pair_scores == "votes")
    scores = n_arrays * (description.pair_classes or 0)
    return features + outputs + size * scores


def _sizes(description: Description, header: Header) -> str:
    sizes = {
        "INPUTS": len(description.columns),
        "FEATURES": len(description.features),
        "TERMS": description.function.n_terms,
        "OUTPUTS": description.function.n_outputs,
        "SCORES": description.n_scores,
    }
    if description.is_classifier or description.votes:
        sizes["CLASSES"] = len(description.labels) or description.n_scores
    lines = [f"#define MODEL_{key} {value}\n" for key, value in sizes.items()]
    return header.named("".join(lines))


def _exp(header: Header) -> list[str]:
    if not header.own_exp:
        return []
    is_double = header.real == "double"
    # log 2 to 32 (of float: 10) binary digits, and the rest.
    digits = 32 if is_double else 10
    high = np.round(np.log(2.0) * 2**digits) / 2**digits
    low = float(np.longdouble("0.693147180559945309417232121458") - np.longdouble(high))
    # Taylor's: |r| is at most half of log 2, so that what is left out is below rounding.
    powers = [1.0 / math.factorial(n) for n in range(14 if is_double else 8)]
    header.add("powers", powers)
    return [
        header.named(
            code.EXP,
            ACCURACY="3e-16" if is_double else "2e-7",
            LEAST=header.number(-708.0 if is_double else -87.0),
            MOST=header.number(709.0 if is_double else 88.0),
            BITS="uint64_t" if is_double else "uint32_t",
            BIAS="1023" if is_double else "127",
            DIGITS="52" if is_double else "23",
            INVERSE=header.number(1.0 / np.log(2.0)),
            HIGH=header.number(high),
            LOW=header.number(low),
            ZERO=header.number(0.0),
            HALF=header.number(0.5),
            DEGREE=str(len(powers) - 1),
        )
    ]


def to_c(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    precision: str = "double",
    own_exp: bool = False,
    arduino: bool = False,
    X: Any = None,
    y: Any = None,
) -> str:
    """Write a model as one C99 header, for microcontrollers too.

    Parameters
    ----------
    model : fitted estimator, Pipeline, Model, KernelExpansion or TableModel
        Any estimator of zeronorm, an ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR`` or ``OneClassSVM``, a
        pipeline that ends in one of them, or what :func:`zeronorm.load` returns. Scalers are
        folded into the model; ``SimpleImputer``, ``OneHotEncoder``, ``OrdinalEncoder``,
        ``ColumnTransformer`` and selectors of features are written out.
    path : path-like, optional
        Where to write the header, whole or not at all.
    name : str, optional
        What all names in the header begin with; "model" by default.
    precision : {"double", "float", "int16"}, default="double"
        Numbers of double or single precision, or vectors and coefficients as integers of 16 bits
        with distances in integers; the header then says by how much decision values change at
        most.
    own_exp : bool, default=False
        Whether to take an exponential of its own (relative error below 3e-16; 2e-7 in single
        precision), for chips without a maths library and the same bits everywhere.
    arduino : bool, default=False
        Whether ``path`` is to become a folder that the Arduino IDE opens: the header, and a sketch
        that calls it. All names begin with the name of the folder.
    X, y : array-like, optional
        Rows with known answers, on which the error is measured that the header states. With
        ``precision="int16"`` and a kernel of products, X says which rows the bound is for.

    Returns
    -------
    str
        The header. It has ``model_outputs(x, values)``, ``model_decision(x, values)`` and, where
        the model has them, ``model_class(x)``, ``model_label(number)``,
        ``model_probabilities(x, values)`` and ``model_predict(x)``, of a regressor with several
        targets ``model_predict(x, values)``. x is an array of numbers, NaN where one is missing;
        for a column of texts ``model_level(column, text)`` is the number.

    Raises
    ------
    ValueError
        If the model, or a step before it, cannot be exported; the step is named.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.export import to_c
    >>> text = to_c(ZeroNormSVC().fit(*make_moons(random_state=0)), precision="float")
    >>> "static inline int model_class(const float *x)" in text
    True
    """
    if arduino:
        if path is None or name is not None:
            raise ValueError(
                "arduino=True writes a folder, path=..., and its name is what names begin with."
            )
        name = os.path.basename(os.path.abspath(path))
    header = Header(name or "model", precision, own_exp)
    description = describe(model)
    if header.real == "float":
        description.check_single("precision='double'")
    box = None if X is None else feature_sizes(model, description, X)
    text = header_text(description, header, measured_error(model, description, X, y), box)
    if arduino:
        assert path is not None
        write_folder(path, {f"{name}.h": text, f"{name}.ino": sketch(description, header)})
        return text
    return written(text, path)


def measured_error(model: Any, description: Description, X: Any, y: Any) -> str:
    """Return the error on these rows in words; it says so if there are none.

    Parameters
    ----------
    model : fitted model
        What predicts.
    description : Description
        What it is.
    X, y : array-like, or a Table and its answers, or None
        The rows.
    """
    if y is None:
        return "not measured: no rows with known answers were given"
    if X is None:
        raise ValueError("y was given without X: the error is measured on rows and their answers.")
    if not hasattr(model, "predict"):
        raise ValueError(f"{type(model).__name__} predicts nothing, so y has no use.")
    predicted, known = np.asarray(model.predict(X)), np.asarray(y)
    if predicted.shape != known.shape:
        raise ValueError(
            f"y has shape {known.shape}; for these rows the model has answers of shape "
            f"{predicted.shape}."
        )
    if description.kind == "number":
        root = float(np.sqrt(np.mean((predicted - known) ** 2)))
        return f"{root:.3g} (root of the mean square) on the {len(known)} rows given"
    return f"{100 * float(np.mean(predicted != known)):.1f} % of the {len(known)} rows given"


def feature_sizes(model: Any, description: Description, X: Any) -> np.ndarray:
    """Return the largest size of each feature on these rows."""
    if isinstance(model, TableModel) and isinstance(X, Table):
        X = to_matrix(X, model.encoder.columns)
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=object)
    if rows.ndim != 2 or rows.shape[1] != len(description.columns) or not len(rows):
        raise ValueError(
            f"X has shape {rows.shape}; it must have rows, and {len(description.columns)} columns."
        )
    sizes = []
    for feature in description.features:
        if isinstance(feature, Lookup):
            known = np.array([*feature.values, feature.missing, feature.unknown])
            sizes.append(np.nanmax(np.abs(known), initial=0.0))
            continue
        column = rows[:, feature.column].astype(np.float64)
        column = np.where(
            np.isnan(column), np.nan if feature.fill is None else feature.fill, column
        )
        values = (np.clip(column, feature.low, feature.high) - feature.centre) * feature.factor
        sizes.append(np.nanmax(np.abs(values), initial=0.0))
    return np.array(sizes)


def sketch(description: Description, header: Header) -> str:
    """Return an Arduino sketch that prints what the model says of a row of zeros."""
    lines = "    real values[MODEL_SCORES];\n    model_decision(x, values);\n"
    lines += "    Serial.println(values[0]);\n"
    if description.is_classifier:
        lines = "    const char *label = model_label(model_class(x));\n"
        lines += '    Serial.println(label ? label : "?");\n'
    elif description.kind in ("number", "one-class") and description.function.n_outputs == 1:
        lines = "    Serial.println(model_predict(x));\n"
    text = code.SKETCH.replace("PRINT", lines)
    named = header.named(text).replace("model.h", f"{header.name}.h")
    return named.replace("MODEL:", f"{header.name}:")
