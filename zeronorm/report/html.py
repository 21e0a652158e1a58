"""The facts of a report as one HTML page. Whatever comes from data or names is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from zeronorm.report.html_parts import bars, controls, figure, rest, script, table
from zeronorm.report.page import FRAME, STYLE
from zeronorm.report.svg import Series, chart, legend
from zeronorm.report.text import entry_name
from zeronorm.report.wording import (
    cell_text,
    comparison_table,
    confusion_table,
    percent,
    plural,
    short,
    signed,
)

#: Terms, columns, columns of an example, and classes that the page shows; the facts have all.
TERMS, COLUMNS, EXAMPLE_COLUMNS, CLASSES = 12, 12, 8, 15
#: Curves in one picture, as many as there are colours besides that of guessing, and weights of a
#: term in one sentence.
CURVES, WEIGHTS = 7, 4


def page(facts: dict[str, Any], code: str | None) -> str:
    """Return the page of a report's facts, with the sliders if there is a model to run."""
    compared = facts["comparison"]
    sections = [
        f'<div class="verdict" id="verdict">{_paragraphs(facts["verdict"])}</div>',
        *_section("What was compared", table(*comparison_table(compared)) if compared else ""),
        *_section("Error against terms", _path(facts)),
        *_section("Predictions", _predictions(facts)),
        *_section("Curves", _curves(facts["measured"])),
        *_section("What moves the decisions", _columns(facts["model"])),
        *_section("Terms", _terms(facts["model"])),
        *_section("Linear part", _linear(facts["model"])),
        *_section("How far a term reaches", _metric(facts["model"])),
        *_section("Decisions explained", _examples(facts)),
        *_section("Try it", controls(facts, code)),
        *_section("How it was measured", _how(facts)),
    ]
    return FRAME.substitute(
        title=escape(facts["title"]),
        summary=escape(f"{facts['model']['summary']}. {facts['model']['meaning']}"),
        style=STYLE,
        sections="\n".join(sections),
        script="" if code is None else script(facts, code),
    )


def _section(title: str, body: str) -> list[str]:
    return [f"<section><h2>{title}</h2>\n{body}</section>"] if body else []


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(sentence).replace(' %', '&nbsp;%')}</p>" for sentence in sentences)


def _path(facts: dict[str, Any]) -> str:
    path = facts["path"]
    if path is None or len(path["terms"]) < 2:
        return ""
    of_numbers = facts["measured"] is not None and "rmse" in facts["measured"]
    what = "unexplained variance" if of_numbers else "error"
    percents = [100 * e for e in path["error"]]
    errors = [100 * e for e in path["standard_error"]]
    top = max(p + e for p, e in zip(percents, errors, strict=True))
    line = Series(
        list(zip(path["terms"], percents, strict=True)), 0, "error", has_dots=True, errors=errors
    )
    kept = Series([(path["kept"], 0), (path["kept"], top)], 1, "kept", is_dashed=True)
    drawn = chart(
        [line, kept],
        "terms (a linear part is one for each output)",
        f"cross-validated {what} (%)",
        f"Cross-validated {what} against the number of terms",
        y_range=(0.0, 1.05 * top or 1.0),
    )
    note = "Bars are standard errors. These are the errors by which the size was chosen."
    return f'<div class="plots">{figure(drawn, legend([line, kept]), note)}</div>'


def _predictions(facts: dict[str, Any]) -> str:
    measured = facts["measured"]
    if measured is None:
        return ""
    if "rmse" in measured:
        return _numbers(measured)
    labels, rows = confusion_table(measured)
    parts = []
    if len(labels) <= CLASSES:
        parts.append("<p>Rows are the known classes, columns the predicted ones.</p>")
        parts.append(table(["known \\ predicted", *labels], rows, marked=True))
    shown = sorted(measured["classes"], key=lambda c: (c["recall"] is None, c["recall"]))[:CLASSES]
    rows = [
        [c["label"], str(c["rows"]), *(_share(c[key]) for key in ("recall", "precision"))]
        for c in shown
    ]
    note = (
        "Recall: the share of a class that is found. Precision: the share of such predictions that "
        "are right. The hardest classes come first."
    )
    parts.append(f'<p class="quiet">{note}</p>')
    parts.append(table(["class", "rows", "recall", "precision"], rows))
    return "".join(parts)


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)


def _numbers(measured: dict[str, Any]) -> str:
    pairs = measured["pairs"]
    ends = [min(map(min, pairs)), max(map(max, pairs))]
    series = [
        Series([(ends[0], ends[0]), (ends[1], ends[1])], 7, "equal", is_dashed=True),
        Series(pairs, 0, "rows", is_line=False, has_dots=True),
    ]
    drawn = chart(series, "known", "predicted", "Predicted against known values")
    rows = [
        ["root mean square error", short(measured["rmse"])],
        ["mean absolute error", short(measured["mean_absolute_error"])],
        ["R²", f"{measured['r2']:.3f}"],
    ]
    body = table(["", "value"], rows)
    return body + f'<div class="plots">{figure(drawn, legend(series), "")}</div>'


def _curves(measured: dict[str, Any] | None) -> str:
    if measured is None or "rmse" in measured:
        return ""
    every = measured["curves"]
    figures, curves = [], sorted(every, key=lambda c: c["auc"])[:CURVES]
    if curves:
        left = f"; shown are the {CURVES} hardest of {len(every)}" * (len(every) > CURVES)
        unit = {"x_range": (0.0, 1.0), "y_range": (0.0, 1.02)}
        roc = [
            Series(c["roc"], i, f"{c['label']}: area {c['auc']:.3f}") for i, c in enumerate(curves)
        ]
        guess = Series([(0, 0), (1, 1)], 7, "guessing", is_dashed=True)
        drawn = chart([*roc, guess], "false positive rate", "true positive rate", "ROC", **unit)
        note = f"ROC, each class against the others{left}."
        figures.append(figure(drawn, legend([*roc, guess]), note))
        lines = [
            Series(c["precision_recall"], i, f"{c['label']}: average {c['average_precision']:.3f}")
            for i, c in enumerate(curves)
        ]
        drawn = chart(lines, "recall", "precision", "Precision against recall", **unit)
        figures.append(figure(drawn, legend(lines), f"Precision and recall{left}."))
    if measured["calibration"]:
        figures.append(_calibration(measured["calibration"]))
    return f'<div class="plots">{"".join(figures)}</div>' if figures else ""


def _calibration(calibration: dict[str, Any]) -> str:
    line = Series(calibration["bins"], 0, "this model", has_dots=True)
    ideal = Series([(0, 0), (1, 1)], 7, "perfect", is_dashed=True)
    drawn = chart(
        [ideal, line],
        f"probability of {calibration['of']}",
        "share that came true",
        "Calibration of the probabilities",
        (0.0, 1.0),
        (0.0, 1.02),
    )
    note = (
        f"Calibration, in bins of about {calibration['bins'][0][2]} rows. Brier score "
        f"{calibration['brier']:.3f}, log loss {calibration['log_loss']:.3f}."
    )
    return figure(drawn, legend([line, ideal]), note)


def _columns(model: dict[str, Any]) -> str:
    columns = model.get("columns", [])
    if not columns:
        return ""
    shown = [(c["column"], c["share"], percent(c["share"])) for c in columns[:COLUMNS]]
    note = (
        "The mean size of each column's share in the decisions, of all; shares are Aumann-Shapley "
        "values on the way from the typical row."
    )
    return f'<p class="quiet">{note}</p>{bars(shown)}{rest(columns, COLUMNS, "column")}'


def _terms(model: dict[str, Any]) -> str:
    terms = model["terms"]
    if not terms:
        return ""
    note = (
        "Each term says how near a row is to a place; the weight says what that counts for. A "
        "category is the nearest level. Beside it stands the real row nearest to it. A star marks "
        "a value beyond those of all rows: learned terms may lie outside of the data."
    )
    cards = "".join(_card(model, term) for term in terms[:TERMS])
    head = "" if model["kernel"] == "monomials" else f'<p class="quiet">{note}</p>'
    return f'{head}<div class="cards">{cards}</div>{rest(terms, TERMS, "term")}'


def _card(model: dict[str, Any], term: dict[str, Any]) -> str:
    weights = list(zip(model["outputs"], term["weight"], strict=True))
    more = ""
    if len(weights) > WEIGHTS:
        more = f" and less for {plural(len(weights) - WEIGHTS, 'other')}"
        weights = sorted(weights, key=lambda pair: -abs(pair[1]))[:WEIGHTS]
    lines = ["Weight " + ", ".join(f"{signed(w)} for {name}" for name, w in weights) + more]
    if "share" in term:
        lines.append(f"{percent(term['share'])} of what moves the decisions")
    if "changes" in term:
        lines.append(f"without it {percent(term['changes'])} of the classes change")
    body = f"<h3>Term {term['term']}</h3>" + f'<p class="quiet">{escape("; ".join(lines))}</p>'
    if "product" in term:
        return f'<div class="card">{body}<p>{escape(term["product"])}</p></div>'
    nearest = term.get("nearest", [])
    head = ["column", "place", *(f"{model['row_word']} {n['row']}" for n in nearest[:1])]
    rows = []
    for e in term["place"][:COLUMNS]:
        cells = [cell_text(n["cells"][e["column"]]) for n in nearest[:1]]
        rows.append([e["column"], e["text"] + " *" * e.get("is_beyond", False), *cells])
    left = rest(term["place"], COLUMNS, "column")
    return f'<div class="card">{body}{table(head, rows)}{left}</div>'


def _linear(model: dict[str, Any]) -> str:
    entries = model["linear"]
    if not entries:
        return ""
    if len(model["outputs"]) == 1:
        shown = [(entry_name(e), e["weight"][0], signed(e["weight"][0])) for e in entries[:COLUMNS]]
        body = bars(shown)
    else:
        rows = [[entry_name(e), *map(signed, e["weight"])] for e in entries[:COLUMNS]]
        body = table(["column", *model["outputs"]], rows)
    note = "What one unit of training (a standard deviation, behind a StandardScaler) adds."
    return f'<p class="quiet">{note}</p>{body}{rest(entries, COLUMNS, "column")}'


def _metric(model: dict[str, Any]) -> str:
    entries = model["metric"]
    if not entries:
        return ""
    rows = [[entry_name(e), short(e["distance"])] for e in entries[:COLUMNS]]
    note = "A term falls to 1/e at this distance in the column alone, in its own units."
    body = table(["column", "distance"], rows)
    return f'<p class="quiet">{note}</p>{body}{rest(entries, COLUMNS, "column")}'


def _examples(facts: dict[str, Any]) -> str:
    cards = []
    for example in facts["examples"]:
        split = example["split"]
        pairs = [("typical row", split["reference"])] + [
            (f"{e['column']} = {cell_text(e['cell'])}", e["share"]) for e in split["columns"]
        ]
        shown = [(name, value, signed(value)) for name, value in pairs[:EXAMPLE_COLUMNS]]
        others = sum(value for _, value in pairs[EXAMPLE_COLUMNS:])
        if len(pairs) > EXAMPLE_COLUMNS:
            shown.append((f"{len(pairs) - EXAMPLE_COLUMNS} others", others, signed(others)))
        title = f"{example['title']} ({facts['model']['row_word']} {example['row']})"
        total = f"Decision value of {split['output']}: {signed(split['value'])}"
        cards.append(
            f'<div class="card narrow"><h3>{escape(title)}</h3>'
            f'<p class="quiet">{escape(total)}</p>{bars(shown)}</div>'
        )
    note = (
        "What each column adds, on the way from the typical row (medians; of categories the shares "
        "of the levels). The shares add up to the decision value exactly."
    )
    return f'<p class="quiet">{note}</p><div class="cards">{"".join(cards)}</div>' if cards else ""


def _how(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f'<p>{escape(facts["how"])}</p><p class="quiet">{escape(versions)}</p>'
