"""Outputs of a model in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zeronorm.export.description import Description
from zeronorm.export.products import product_form
from zeronorm.export.sql_text import Dialect, Query, literal

#: Products are taken where they are exact to 1e-12 or so, as in zeronorm/distances.py.
EXACT = 1e4

#: Below this an exponential is no number any more, which PostgreSQL does not forgive.
LEAST = "-700e0"

#: Columns that a query may have, with room for those that are kept.
MOST_COLUMNS = 1500


def balanced(terms: Sequence[str], sign: str = " + ") -> str:
    """Return a sum as a tree: databases limit how deep an expression is."""
    if not terms:
        return literal(0.0)
    if len(terms) <= 8:
        return sign.join(terms)
    half = len(terms) // 2
    return f"({balanced(terms[:half], sign)}){sign}({balanced(terms[half:], sign)})"


def greatest(values: Sequence[str], function: str) -> str:
    """Return the largest of several values; SQLite takes about a hundred at a time."""
    if len(values) == 1:
        return values[0]
    groups = [values[i : i + 50] for i in range(0, len(values), 50)]
    if len(groups) == 1:
        return f"{function}({', '.join(values)})"
    return greatest([greatest(group, function) for group in groups], function)


def weighted(coefficients: np.ndarray, values: Sequence[str]) -> list[str]:
    """Return the products of a sum, without those that are zero."""
    pairs = zip(coefficients.tolist(), values, strict=True)
    return [f"{literal(c)} * {value}" for c, value in pairs if c != 0]


def output_queries(query: Query, description: Description, kept: dict[str, str]) -> None:
    """Add the queries that end with the outputs f0, f1, ..."""
    function = description.function
    z = [f"z{i}" for i in range(len(description.features))]
    if not function.n_terms:
        query.add(kept | _outputs(description, z, [], query.dialect))
        return
    through = kept | {name: name for name in z}
    exponents = _arguments(query, description, z, through)
    if description.kind == "density":
        _density(query, description, exponents, kept)
        return
    values = [_kernel(description, text, query.dialect) for text in exponents]
    if function.n_outputs > 1:
        if len(values) + len(through) > MOST_COLUMNS:
            raise ValueError(
                f"With several outputs each term is a column, and {len(values)} are more than "
                f"databases take ({MOST_COLUMNS}). SVCReducer makes a model smaller."
            )
        names = [f"t{j}" for j in range(len(values))]
        query.add(through | dict(zip(names, values, strict=True)))
        values = names
    query.add(kept | _outputs(description, z, values, query.dialect))


def _arguments(
    query: Query, description: Description, z: Sequence[str], through: dict[str, str]
) -> list[str]:
    """Return what the kernel is a function of, one text for each term."""
    function = description.function
    if function.kind == "monomials":
        return [
            " * ".join(f"POWER({z[i]}, {p})" if p > 1 else z[i] for i, p in term) or literal(1.0)
            for term in function.factors
        ]
    if function.kind != "rbf":
        return [
            balanced([*weighted(row, z), literal(offset)])
            for row, offset in zip(function.vectors, function.offsets.tolist(), strict=True)
        ]
    doubled, squares, roughness = product_form(function)
    if roughness > EXACT:
        return [_differences(row, function.widths, z) for row in function.vectors]
    # The part that all terms share is computed once.
    widths = zip(function.widths.tolist(), z, strict=True)
    query.add(through | {"s": balanced([f"{literal(w)} * {name} * {name}" for w, name in widths])})
    through["s"] = "s"
    return [
        f"{balanced([*weighted(row, z), literal(-square)])} - s"
        for row, square in zip(doubled, squares.tolist(), strict=True)
    ]


def _differences(row: np.ndarray, widths: np.ndarray, z: Sequence[str]) -> str:
    parts = []
    for value, width, name in zip(row.tolist(), widths.tolist(), z, strict=True):
        difference = f"({name} - {literal(value)})"
        parts.append(f"{literal(width)} * {difference} * {difference}")
    return f"-({balanced(parts)})"


def _kernel(description: Description, argument: str, dialect: Dialect) -> str:
    function = description.function
    if function.kind == "rbf":
        return f"EXP(GREATEST({argument}, {LEAST}))" if dialect.is_strict else f"EXP({argument})"
    if function.kind == "sigmoid":
        return f"TANH({argument})"
    if function.kind == "poly":
        return f"POWER({argument}, {function.degree})"
    return argument


def _outputs(
    description: Description, z: Sequence[str], values: Sequence[str], dialect: Dialect
) -> dict[str, str]:
    function = description.function
    # A row with a NULL has no outputs. GREATEST passes it over, and so does a factor of zero that
    # is left out.
    is_in_all = np.zeros(len(z), dtype=bool)
    if function.kind == "rbf" and function.n_terms and not dialect.is_strict:
        is_in_all = function.widths > 0
    carried = [name for name, known in zip(z, is_in_all.tolist(), strict=True) if not known]
    columns = {}
    for o in range(function.n_outputs):
        terms = weighted(function.coef[:, o], values)
        if function.linear is not None:
            terms += weighted(function.linear[:, o], z)
        terms.append(literal(float(function.intercept[o])))
        columns[f"f{o}"] = balanced(terms + [f"0e0 * {name}" for name in carried])
    return columns


def _density(
    query: Query, description: Description, exponents: Sequence[str], kept: dict[str, str]
) -> None:
    """Add the logarithm of the sum, scaled by its nearest kernel."""
    function = description.function
    names = [f"e{j}" for j in range(len(exponents))]
    if len(names) + len(kept) > MOST_COLUMNS:
        raise ValueError(
            f"Each kernel of a density is a column, and {len(names)} are more than databases take "
            f"({MOST_COLUMNS})."
        )
    query.add(kept | dict(zip(names, exponents, strict=True)))
    through = kept | {name: name for name in names}
    query.add(through | {"best": greatest(names, query.dialect.greatest)})
    values = [_kernel(description, f"{name} - best", query.dialect) for name in names]
    total = balanced(weighted(function.coef[:, 0], values))
    height = literal(float(function.intercept[0]))
    query.add(kept | {"f0": f"best + LN({total}) + {height}"})
