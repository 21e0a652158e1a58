"""Descriptions and explanations as text, from their facts alone."""

from __future__ import annotations

from typing import Any

from zeronorm.report.wording import cell_text, percent, plural, short, signed

#: At most so many lines of a kind.
MOST = 12


def description_text(facts: dict[str, Any]) -> str:
    """Return the text of a description."""
    lines = [f"{facts['summary']}.", facts["meaning"]]
    if facts.get("columns"):
        shown = [f"{c['column']} {percent(c['share'])}" for c in facts["columns"][:MOST]]
        lines += ["", f"What moves the decisions, on {plural(facts['n_rows'], 'row')}:"]
        lines += [f"  {text}" for text in shown] + _rest(facts["columns"])
    if facts["terms"]:
        lines += ["", "Terms:"]
        for term in facts["terms"][:MOST]:
            lines += _term_lines(facts, term)
        lines += _rest(facts["terms"])
    if facts["linear"]:
        lines += ["", "Linear part (weight of one unit of training, and of one of the column):"]
        for entry in facts["linear"][:MOST]:
            per_unit = ", ".join(map(signed, entry["per_unit"]))
            lines.append(f"  {entry_name(entry)}: {_weights(facts, entry)} ({per_unit} for one)")
        lines += _rest(facts["linear"])
    widths = [entry["width"] for entry in facts["metric"]]
    if widths:
        lines += ["", "Terms reach (they fall to 1/e at this distance in one column alone):"]
        lines += [f"  {entry_name(e)}: {short(e['distance'])}" for e in facts["metric"][:MOST]]
        lines += _rest(facts["metric"])
    return "\n".join(lines)


def entry_name(entry: dict[str, Any]) -> str:
    """Return the name of a column, with its levels where it is one of categories."""
    levels = entry.get("levels")
    return f"{entry['column']} = {' or '.join(levels)}" if levels else entry["column"]


def _rest(entries: list[Any]) -> list[str]:
    return [f"  and {len(entries) - MOST} more"] if len(entries) > MOST else []


def _weights(facts: dict[str, Any], entry: dict[str, Any]) -> str:
    names, weights = facts["outputs"], entry["weight"]
    if len(weights) == 1:
        return signed(weights[0])
    return ", ".join(f"{name} {signed(w)}" for name, w in zip(names, weights, strict=True))


def _term_lines(facts: dict[str, Any], term: dict[str, Any]) -> list[str]:
    where = term.get("product")
    if where is None:
        where = ", ".join(
            f"{e['column']} {e['text']}" + " (beyond all rows)" * e.get("is_beyond", False)
            for e in term["place"][:MOST]
        )
    lines = [f"  {term['term']}. {where}", f"     weight {_weights(facts, term)}"]
    if "share" in term:
        lines[-1] += f"; {percent(term['share'])} of what moves the decisions"
    if "changes" in term:
        lines[-1] += f"; without it {percent(term['changes'])} of the classes change"
    if "nearest" in term:
        rows = ", ".join(f"{n['row']} (distance {n['distance']:.2f})" for n in term["nearest"])
        lines.append(f"     nearest {facts['row_word']}s: {rows}")
    return lines


def shown_output(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the output to show."""
    return facts["outputs"][facts["shown"]]


def explanation_text(facts: dict[str, Any]) -> str:
    """Return the text of an explanation."""
    split = shown_output(facts)
    lines = []
    if "prediction" in facts:
        found = facts["prediction"]
        if facts["kind"] == "number":
            found = ", ".join(map(short, found if isinstance(found, list) else [found]))
        lines.append(f"Prediction: {found}.")
    what = "Value" if facts["kind"] == "number" else f"Decision value ({split['output']})"
    if facts["kind"] == "number" and len(facts["outputs"]) > 1:
        what = split["output"].capitalize()
    lines += [facts["meaning"], f"{what}: {_amount(split['value'])}", ""]
    lines.append(f"By column, compared with {facts['compared_with']}:")
    pairs = [("(reference)", split["reference"])] + [
        (f"{entry['column']} = {cell_text(entry['cell'])}", entry["share"])
        for entry in split["columns"]
    ]
    lines += _lines(pairs) + ["", "By term:"]
    terms = sorted(split["terms"], key=lambda entry: -abs(entry["share"]))
    pairs = [("constant", split["constant"])]
    if split["linear"]:
        pairs.append(("linear part", split["linear"]))
    return "\n".join(lines + _lines(pairs + [(f"term {t['term']}", t["share"]) for t in terms]))


def _lines(pairs: list[tuple[str, float]]) -> list[str]:
    """Return lines of numbers and names; the last has the sum of those that are left out."""
    if len(pairs) > MOST:
        rest = sum(value for _, value in pairs[MOST - 1 :])
        pairs = [*pairs[: MOST - 1], (f"{len(pairs) - MOST + 1} others", rest)]
    return [f"  {_amount(value):>10}  {name}" for name, value in pairs]


def _amount(value: float) -> str:
    """Return a part of a sum, or the sum, with as many digits as the others."""
    return ("-" if value < 0 else "+") + short(abs(value))
