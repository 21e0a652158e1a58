"""What the outputs mean, in C: decision values, classes, labels, probabilities."""

from __future__ import annotations

import numpy as np

from zeronorm.export import c_decision_code as code
from zeronorm.export.c_form import Header
from zeronorm.export.description import Description
from zeronorm.export.normal import tail_polynomial
from zeronorm.links import Calibration


def decision_parts(description: Description, header: Header) -> list[str]:
    """Return the functions after the outputs."""
    rule = description.decision.rule if description.is_classifier else None
    parts = []
    if description.votes is not None or description.is_by_scores:
        parts.append(code.PAIR_SCORES[description.pair_scores])
    parts.append(_decision(description, header))
    if description.kind == "number":
        several = description.function.n_outputs > 1
        parts.append(code.PREDICT_TARGETS if several else code.PREDICT_TARGET)
    elif description.kind == "one-class":
        parts.append(
            "/* 1 for a row like those of training, -1 for an outlier, 0 if neither is known. */\n"
            "static inline int model_predict(const real *x)\n{\n"
            "    real value;\n    model_outputs(x, &value);\n"
            "    return !(value - value == 0) ? 0 : value > 0 ? 1 : -1;\n}\n"
        )
    elif rule is not None:
        parts += [code.FINITE, _class(description), _label(description, header)]
        if description.link is not None:
            parts += _probabilities(description, header)
    return [header.named(part) for part in parts]


def _decision(description: Description, header: Header) -> str:
    head = (
        "/* Decision values, MODEL_SCORES of them. */\n"
        "static inline void model_decision(const real *x, real *values)\n{\n"
    )
    if description.limits is not None:
        header.add("low", description.limits.low)
        header.add("high", description.limits.high)
        return head + code.LIMITED
    if description.votes is None:
        return head + code.VALUES + "}\n"
    return head + code.PAIRS + code.SCORED + "}\n"


def _class(description: Description) -> str:
    rule = description.decision.rule
    if rule.n_classes == 2:
        sign = ">=" if rule.zero_counts else ">"
        return code.CLASS_OPEN + code.CHECK + f"    return values[0] {sign} 0 ? 1 : 0;\n}}\n"
    if not rule.is_pairs:
        scores = "    const real *scores = values;\n    int a, best = 0;\n"
        return code.CLASS_OPEN + scores + code.CHECK + code.LARGEST
    scores = "    real scores[MODEL_CLASSES];\n"
    if description.is_by_scores:
        count = "    int a, best = 0;\n"
        vote = "    model_class_scores(values, scores);\n"
    else:
        count, vote = "    int a, b, p = 0, best = 0;\n", code.BY_VOTES
    return code.CLASS_OPEN + scores + count + code.CHECK + vote + code.LARGEST


def _label(description: Description, header: Header) -> str:
    header.add_texts("labels", [str(label) for label in description.labels])
    return (
        "/* The label of a class by its number, a null pointer where there is none. */\n"
        "static inline const char *model_label(int number)\n{\n"
        "    return number < 0 || number >= MODEL_CLASSES ? 0 : model_labels[number];\n}\n"
    )


def _probabilities(description: Description, header: Header) -> list[str]:
    link, several = description.link, description.function.n_outputs > 1
    is_softmax = isinstance(link, Calibration) and several
    parts = []
    if link == "probit":
        tail = tail_polynomial()
        header.add("tail", tail)
        root = header.number(np.sqrt(0.5))
        parts.append(header.worded(code.PROBIT, ROOT_HALF=root, TAIL=str(len(tail))))
    elif not is_softmax:
        parts.append(code.LOGISTIC)
    if is_softmax:
        softmax = header.worded(code.SOFTMAX, SLOPE=header.number(link.slope))
        is_pairs = description.pair_classes is not None
        scores = code.PAIRS + code.SUM + code.SCORED if is_pairs else code.SUM + code.VALUES
        body = scores + softmax + code.NORMALISED
    elif several:
        tiny = float(np.finfo(header.real).tiny)
        body = header.worded(code.EACH, TINY=header.number(tiny)) + code.NORMALISED
    else:
        factor = f"{header.number(link.slope)} * " if isinstance(link, Calibration) else ""
        body = (
            "    real value;\n    model_outputs(x, &value);\n"
            f"    values[0] = model_link(-{factor}value);\n"
            f"    values[1] = model_link({factor}value);\n}}\n"
        )
    return [*parts, code.PROBABILITIES_OPEN + body]
