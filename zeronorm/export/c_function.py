"""Features and outputs of a model in C."""

from __future__ import annotations

import re

import numpy as np

from zeronorm.export import c_code as code
from zeronorm.export.c_form import Header
from zeronorm.export.description import Description, Function, Lookup, Number
from zeronorm.export.quantised import FAR, MOST, Quantised, halves, power_and_shift


def feature_parts(description: Description, header: Header) -> list[str]:
    """Return the function that makes features of inputs, where they are not the inputs."""
    levels = []
    if description.has_texts:
        levels.append(header.named(code.LEVEL, SWITCH=_level_cases(description, header)))
    if description.is_plain:
        return levels
    numbers = [f for f in description.features if isinstance(f, Number)]
    lookups = [f for f in description.features if isinstance(f, Lookup)]
    has_levels = any(lookup.told_apart for lookup in lookups)
    counters = ["i"] * bool(numbers or has_levels) + ["k"] * bool(lookups)
    text = f"#define MODEL_NUMBERS {len(numbers)}\n#define MODEL_LOOKUPS {len(lookups)}\n\n"
    text += "/* Features, MODEL_FEATURES of them. */\n"
    text += "static inline void model_features(const real *x, real *z)\n{\n"
    text += f"    int {', '.join(counters)};\n"
    if numbers:
        text += _number_loop(numbers, header)
    if lookups:
        text += _lookup_loop(description, lookups, header, has_levels)
    return [*levels, header.named(text + "}\n")]


def _number_loop(numbers: list[Number], header: Header) -> str:
    columns = [f.column for f in numbers]
    index = "i"
    if columns != list(range(len(numbers))):
        header.add_integers("number_columns", columns)
        index = "ZERONORM_SHORT(&model_number_columns[i])"
    text = code.NUMBERS_OPEN.replace("INDEX", index)
    if any(f.fill is not None for f in numbers):
        header.add("fills", [np.nan if f.fill is None else f.fill for f in numbers])
        text += code.FILL
    if any(f.is_clipped for f in numbers):
        header.add("lows", [f.low for f in numbers])
        header.add("highs", [f.high for f in numbers])
        text += code.CLIP
    value = "value"
    if any(f.centre != 0 for f in numbers):
        header.add("centres", [f.centre for f in numbers])
        value = "(value - ZERONORM_REAL(&model_centres[i]))"
    if any(f.factor != 1 for f in numbers):
        header.add("number_factors", [f.factor for f in numbers])
        value += " * ZERONORM_REAL(&model_number_factors[i])"
    return f"{text}        z[i] = {value};\n    }}\n"


def _lookup_loop(
    description: Description, lookups: list[Lookup], header: Header, has_levels: bool
) -> str:
    header.add_integers("lookup_columns", [f.column for f in lookups])
    header.add("missing_values", [f.missing for f in lookups])
    header.add("unknown_values", [f.unknown for f in lookups])
    if has_levels:
        codes: list[float] = []
        values: list[float] = []
        starts = [0]
        for lookup in lookups:
            known = description.levels_of(lookup.column)
            for level, value in lookup.told_apart:
                codes.append(level if isinstance(level, float) else known.index(level))
                values.append(value)
            starts.append(len(codes))
        header.add("level_codes", codes)
        header.add("level_values", values)
        header.add_integers("starts", starts, "int32_t")
    return code.LOOKUPS.replace("LEVELS", code.LEVELS if has_levels else "")


def _level_cases(description: Description, header: Header) -> str:
    """Return one case of a switch for each column of texts."""
    cases = ""
    for index, column in enumerate(description.columns):
        levels = description.levels_of(index) if column.is_text else []
        if not levels:
            continue
        spelled = [*levels, *(text for text in column.missing if text not in levels)]
        header.add_texts(f"levels_{index}", spelled)
        cases += (
            f"    case {index}:\n        levels = model_levels_{index};\n"
            f"        count = {len(spelled)};\n        known = {len(levels)};\n"
        )
        cases += "        is_stripped = 1;\n" if column.is_stripped else ""
        cases += "        break;\n"
    return cases


def output_parts(description: Description, header: Header, rounded: Quantised | None) -> list[str]:
    """Return the function that makes outputs of inputs, and what it calls."""
    function = description.function
    declared, made, z = _features_of(description, header)
    header.add("intercept", function.intercept)
    if description.kind == "density":
        return [_density(function, header, declared + made, z)]
    before, terms = _term_parts(function, header, rounded, z)
    linear = ""
    if function.linear is not None and len(description.features):
        header.add("linear", function.linear)
        linear = code.LINEAR
    if terms or linear:
        declared += f"    int o, i{', j' if terms else ''};\n"
    else:
        declared, made = "    int o;\n", "    (void)x;\n"
    if rounded is not None and terms and function.kind == "rbf":
        declared += code.QUANTISED_VARIABLES
        made += code.QUANTISE_CALL
    text = code.OUTPUTS_OPEN + declared + made + code.START + terms + linear + "}\n"
    return [*before, header.named(_with_features(text, z))]


def _features_of(description: Description, header: Header) -> tuple[str, str, str]:
    """Return what declares the features, what makes them, and how one is read."""
    if not description.is_plain:
        return "    real z[MODEL_FEATURES];\n", "    model_features(x, z);\n", "z[i]"
    columns = [f.column for f in description.features]
    read = "z[i]"
    if columns != list(range(len(columns))):
        header.add_integers("columns", columns)
        read = "z[ZERONORM_SHORT(&model_columns[i])]"
    return "    const real *z = x;\n", "", read


def _term_parts(
    function: Function, header: Header, rounded: Quantised | None, z: str
) -> tuple[list[str], str]:
    """Return the functions that the loop over the terms calls, and the loop."""
    if not function.n_terms:
        return [], ""
    power = [header.named(code.POWER)]
    if function.kind == "monomials":
        return power, _monomials(function, header)
    terms = _terms(function, header, rounded)
    if rounded is not None and function.kind == "rbf":
        return [_grid(rounded, header, z)], terms
    return (power if function.kind == "poly" else []), terms


def _with_features(text: str, z: str) -> str:
    """Put in how the feature of a number is read."""
    return re.sub(
        r"\bZ\(((?:[^()]|\([^()]*\))*)\)", lambda match: z.replace("[i]", f"[{match[1]}]"), text
    )


def _terms(function: Function, header: Header, rounded: Quantised | None) -> str:
    """Return the loop over the terms; their arrays go into the header."""
    coefficient = "ZERONORM_REAL(&model_coef[j][o])"
    vector = "ZERONORM_REAL(&model_vectors[j][i])"
    scale = ""
    if rounded is None:
        header.add("vectors", function.vectors)
        header.add("coef", function.coef)
    else:
        header.add_integers("vectors", rounded.vectors)
        header.add_integers("coef", rounded.coef)
        header.add("steps", rounded.steps * rounded.part / rounded.kernel)
        coefficient = "ZERONORM_REAL(&model_steps[o]) * ZERONORM_SHORT(&model_coef[j][o])"
        if function.kind == "rbf":
            return code.QUANTISED
        header.add("units", rounded.units)
        vector, scale = "ZERONORM_SHORT(&model_vectors[j][i])", "ZERONORM_REAL(&model_units[j]) * "
    if function.kind == "rbf":
        add, value = _distance(function, header)
    else:
        header.add("offsets", function.offsets)
        add = f"            sum += {vector} * Z(i);\n"
        total = f"{scale}sum + ZERONORM_REAL(&model_offsets[j])"
        value = f"model_power({total}, {function.degree})"
        if function.kind == "sigmoid" and header.own_exp:
            value = f"1 - 2 / (EXP(2 * ({total})) + 1)"
        elif function.kind == "sigmoid":
            value = f"tanh{header.ending}({total})"
    text = code.TERMS.replace("ADD", add).replace("VALUE", value)
    return text.replace("COEFFICIENT", coefficient)


def _distance(function: Function, header: Header) -> tuple[str, str]:
    """Return the sum of squares of an rbf kernel, and the kernel of it."""
    width = function.common_width
    if width is None:
        header.add("widths", function.widths)
        squares = "            sum += ZERONORM_REAL(&model_widths[i]) * difference * difference;\n"
        return code.DIFFERENCE + squares, "EXP(-sum)"
    squares = "            sum += difference * difference;\n"
    return code.DIFFERENCE + squares, f"EXP(-sum * {header.number(width)})"


def _grid(rounded: Quantised, header: Header, z: str) -> str:
    header.add("middles", rounded.middles)
    header.add("grid", rounded.grid)
    farthest = int(min(MOST, np.floor(np.sqrt(FAR) / rounded.unit)))
    power, shift = power_and_shift(rounded.unit)
    sizes = (
        f"#define MODEL_FARTHEST {farthest}u\n"
        f"#define MODEL_FARTHEST_SQUARE {farthest**2}u\n"
        f"#define MODEL_POWER {power}u\n#define MODEL_SHIFT {shift}\n"
        f"#define MODEL_PART {rounded.part}\n\n"
    )
    header.add_integers("halves", halves(), "uint16_t")
    kernel = header.named(code.KERNEL, DEGREE=str(len(halves()) - 1))
    return header.named(sizes) + kernel + "\n" + header.named(_with_features(code.QUANTISE, z))


def _monomials(function: Function, header: Header) -> str:
    flat = [pair for term in function.factors for pair in term]
    starts = np.concatenate([[0], np.cumsum([len(term) for term in function.factors])])
    header.add("coef", function.coef)
    header.add_integers("factors", [i for i, _ in flat])
    header.add_integers("exponents", [p for _, p in flat], "int32_t")
    header.add_integers("factor_starts", starts, "int32_t")
    return code.MONOMIALS


def _density(function: Function, header: Header, features: str, z: str) -> str:
    header.add("vectors", function.vectors)
    header.add("coef", function.coef)
    add, _ = _distance(function, header)
    factor = "" if function.common_width is None else f" * {header.number(function.common_width)}"
    text = code.DENSITY.replace("return sum;", f"return sum{factor};")
    add = add.replace("            ", "        ")
    text = text.replace("ADD", add).replace("FEATURES    for", f"{features}    for")
    return header.named(_with_features(text, z), LOG=f"log{header.ending}")
