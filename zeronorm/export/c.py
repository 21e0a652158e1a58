"""A model as one C99 header: constant arrays and loops, no allocation, no dependency but exp."""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.export import c_code as code
from zeronorm.export.c_decision import decision_parts
from zeronorm.export.c_form import Arrays, Form, comment_text
from zeronorm.export.c_function import feature_parts, output_parts
from zeronorm.export.description import Description, Lookup
from zeronorm.export.measured import feature_sizes, measured_error
from zeronorm.export.quantised import Quantised, quantised
from zeronorm.export.reading import describe
from zeronorm.export.text import made_by, write_folder, written


def header(
    description: Description, form: Form, error: str = "not measured", box: Any = None
) -> str:
    """Return the header of a described model."""
    if description.kind == "density" and form.own_exp:
        raise ValueError("A density needs a logarithm too: take own_exp=False.")
    description = numbers_first(description)
    rounded = quantised(description, box) if form.precision == "int16" else None
    arrays = Arrays(form)
    body = [
        *_exp(form, arrays),
        *feature_parts(description, form, arrays),
        *output_parts(description, form, arrays, rounded),
        *decision_parts(description, form, arrays),
    ]
    guard = f"ZERONORM_{form.name.upper()}_H"
    rest = "\n".join([code.FLASH, _sizes(description, form), *arrays.texts, *body])
    # A compiler for chips may come without it.
    spoken = re.sub(r'/\*.*?\*/|".*?"', "", rest, flags=re.DOTALL)
    needs_maths = re.search(r"\b(NAN|INFINITY|(exp|tanh|log)f?)\b", spoken)
    parts = [
        _comment(description, form, arrays, rounded, error),
        f"#ifndef {guard}\n#define {guard}\n",
        ("#include <math.h>\n" if needs_maths else "") + "#include <stdint.h>\n",
        rest,
        "#endif\n",
    ]
    return "\n".join(parts)


def numbers_first(description: Description) -> Description:
    """Return the same model with lookups after the numbers, so that each kind is one loop."""
    order = sorted(
        range(len(description.features)),
        key=lambda i: isinstance(description.features[i], Lookup),
    )
    index = {old: new for new, old in enumerate(order)}
    f = description.function
    function = replace(
        f,
        vectors=f.vectors[:, order],
        linear=None if f.linear is None else f.linear[order],
        widths=None if f.widths is None else f.widths[order],
        factors=tuple(tuple((index[i], p) for i, p in term) for term in f.factors),
    )
    features = tuple(description.features[i] for i in order)
    return replace(description, features=features, function=function)


def _comment(
    description: Description, form: Form, arrays: Arrays, rounded: Quantised | None, error: str
) -> str:
    lines = [
        made_by(description),
        "",
        f"numbers:   {form.precision}" + (", exp of its own" if form.own_exp else ""),
        f"flash:     {arrays.n_bytes} bytes of constants, and the code",
        f"RAM:       no static bytes; at most {_stack(description, form)} bytes of arrays on the "
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
        text = f", {form.name}_level({index}, text)" if column.is_text else ""
        lines.append(f"x[{index}]: {comment_text(column.name)}{text}")
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def _stack(description: Description, form: Form) -> int:
    size = 8 if form.real == "double" else 4
    features = 0 if description.is_plain else size * len(description.features)
    if form.precision == "int16" and description.function.kind == "rbf":
        features += 2 * len(description.features) + 4 * description.function.n_outputs
    outputs = size * description.function.n_outputs
    scores = description.n_scores if description.votes else 0
    if description.is_classifier and description.decision.rule.is_pairs:
        scores = 2 * len(description.labels)
    return features + outputs + size * scores


def _sizes(description: Description, form: Form) -> str:
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
    return form.named("".join(lines))


def _exp(form: Form, arrays: Arrays) -> list[str]:
    if not form.own_exp:
        return []
    is_double = form.real == "double"
    # log 2 to 32 (of float: 10) binary digits, and the rest.
    digits = 32 if is_double else 10
    high = np.round(np.log(2.0) * 2**digits) / 2**digits
    low = float(np.longdouble("0.693147180559945309417232121458") - np.longdouble(high))
    # Taylor's: |r| is at most half of log 2, so that what is left out is below rounding.
    powers = [1.0 / math.factorial(n) for n in range(14 if is_double else 8)]
    arrays.add("powers", powers)
    return [
        form.named(
            code.EXP,
            ACCURACY="3e-16" if is_double else "2e-7",
            LEAST=form.number(-708.0 if is_double else -87.0),
            MOST=form.number(709.0 if is_double else 88.0),
            BITS="uint64_t" if is_double else "uint32_t",
            BIAS="1023" if is_double else "127",
            DIGITS="52" if is_double else "23",
            INVERSE=form.number(1.0 / np.log(2.0)),
            HIGH=form.number(high),
            LOW=form.number(low),
            ZERO=form.number(0.0),
            HALF=form.number(0.5),
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
    form = Form(name or "model", precision, own_exp)
    description = describe(model)
    box = None if X is None else feature_sizes(model, description, X)
    text = header(description, form, measured_error(model, description, X, y), box)
    if arduino:
        assert path is not None
        write_folder(path, {f"{name}.h": text, f"{name}.ino": sketch(description, form)})
        return text
    return written(text, path)


def sketch(description: Description, form: Form) -> str:
    """Return an Arduino sketch that prints what the model says of a row of zeros."""
    lines = "    real values[MODEL_SCORES];\n    model_decision(x, values);\n"
    lines += "    Serial.println(values[0]);\n"
    if description.is_classifier:
        lines = "    const char *label = model_label(model_class(x));\n"
        lines += '    Serial.println(label ? label : "?");\n'
    elif description.kind in ("number", "one-class") and description.function.n_outputs == 1:
        lines = "    Serial.println(model_predict(x));\n"
    text = code.SKETCH.replace("PRINT", lines).replace("model.h", f"{form.name}.h")
    return form.named(text.replace("MODEL:", f"{form.name}:"))
