"""The facts of a report as one HTML page. Whatever comes from data or names is escaped here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from zeronorm.export.javascript import literal
from zeronorm.report.page import FRAME, SLIDERS, STYLE
from zeronorm.report.svg import Series, chart, legend
from zeronorm.report.text import entry_name
from zeronorm.report.wording import cell_text, percent, plural, short, signed

#: Terms, columns, sliders and classes that the page shows; the facts have all of them.
TERMS, COLUMNS, SLIDER_COLUMNS, CLASSES = 12, 12, 12, 15


def page(facts: dict[str, Any], code: str | None) -> str:
    """Return the page of a report's facts, with the sliders if there is a model to run."""
    sections = [
        f'<div class="verdict" id="verdict">{_paragraphs(facts["verdict"])}</div>',
        *_section("What was compared", _comparison(facts["comparison"])),
        *_section("Error against terms", _path(facts["path"])),
        *_section("Predictions", _predictions(facts)),
        *_section("Curves", _curves(facts["measured"])),
        *_section("What moves the decisions", _columns(facts["model"])),
        *_section("Terms", _terms(facts["model"])),
        *_section("Linear part", _linear(facts["model"])),
        *_section("How far a term reaches", _metric(facts["model"])),
        *_section("Try it", _controls(facts, code)),
        *_section("How it was measured", _how(facts)),
    ]
    return FRAME.substitute(
        title=escape(facts["title"]),
        summary=escape(f"{facts['model']['summary']}. {facts['model']['meaning']}"),
        style=STYLE,
        sections="\n".join(sections),
        script="" if code is None else _script(facts, code),
    )


def _section(title: str, body: str) -> list[str]:
    return [f"<section><h2>{title}</h2>\n{body}</section>"] if body else []


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(sentence).replace(' %', '&nbsp;%')}</p>" for sentence in sentences)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], marked: bool = False) -> str:
    """Return a table of texts; ``marked`` sets off its diagonal."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for i, (name, *cells) in enumerate(rows):
        entries = [
            f'<td class="right">{escape(c)}</td>' if marked and i == j else f"<td>{escape(c)}</td>"
            for j, c in enumerate(cells)
        ]
        lines.append(f"<tr><th>{escape(name)}</th>{''.join(entries)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def bars(entries: Iterable[tuple[str, float, str]]) -> str:
    """Return horizontal bars: a name, a value and its text each."""
    entries = list(entries)
    most = max((abs(value) for _, value, _ in entries), default=0.0) or 1.0
    parts = [
        f'<div class="bar"><div class="name">{escape(name)}</div><div class="track">'
        f'<div class="fill{" less" * (value < 0)}" style="width:{100 * abs(value) / most:.1f}%">'
        f'</div></div><div class="amount">{escape(text)}</div></div>'
        for name, value, text in entries
    ]
    return f'<div class="bars">{"".join(parts)}</div>\n'


def _comparison(comparison: list[dict[str, Any]]) -> str:
    if not comparison:
        return ""
    labels = list(comparison[0]["shown"])
    rows = [[label, *(entry["shown"][label] for entry in comparison)] for label in labels]
    return table(["", *(entry["name"] for entry in comparison)], rows)


def _path(path: dict[str, Any] | None) -> str:
    if path is None or len(path["terms"]) < 2:
        return ""
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
        "cross-validated error (%)",
        "Cross-validated error against the number of terms",
        y_range=(0.0, 1.05 * top or 1.0),
    )
    note = "Bars are standard errors. These are the errors by which the size was chosen."
    return f'<div class="plots">{_figure(drawn, legend([line, kept]), note)}</div>'


def _figure(drawn: str, key: str, note: str) -> str:
    return f"<figure>{drawn}{key}<figcaption>{escape(note)}</figcaption></figure>\n"


def _predictions(facts: dict[str, Any]) -> str:
    measured = facts["measured"]
    if measured is None:
        return ""
    if "rmse" in measured:
        return _numbers(measured)
    labels = [entry["label"] for entry in measured["classes"]]
    parts = []
    if len(labels) <= CLASSES:
        rows = [
            [label, *map(str, counts)]
            for label, counts in zip(labels, measured["confusion"], strict=True)
        ]
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
    return body + f'<div class="plots">{_figure(drawn, legend(series), "")}</div>'


def _curves(measured: dict[str, Any] | None) -> str:
    if measured is None or "rmse" in measured:
        return ""
    figures, curves = [], measured["curves"]
    if curves:
        unit = {"x_range": (0.0, 1.0), "y_range": (0.0, 1.02)}
        roc = [
            Series(c["roc"], i, f"{c['label']}: area {c['auc']:.3f}") for i, c in enumerate(curves)
        ]
        guess = Series([(0, 0), (1, 1)], 7, "guessing", is_dashed=True)
        drawn = chart([*roc, guess], "false positive rate", "true positive rate", "ROC", **unit)
        figures.append(_figure(drawn, legend([*roc, guess]), "ROC, each class against the others."))
        lines = [
            Series(c["precision_recall"], i, f"{c['label']}: average {c['average_precision']:.3f}")
            for i, c in enumerate(curves)
        ]
        drawn = chart(lines, "recall", "precision", "Precision against recall", **unit)
        figures.append(_figure(drawn, legend(lines), "Precision and recall."))
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
    return _figure(drawn, legend([line, ideal]), note)


def _rest(entries: Sequence[Any], most: int, noun: str) -> str:
    left = len(entries) - most
    return f'<p class="quiet">And {plural(left, noun)} more.</p>' if left > 0 else ""


def _columns(model: dict[str, Any]) -> str:
    columns = model.get("columns", [])
    if not columns:
        return ""
    shown = [(c["column"], c["share"], percent(c["share"])) for c in columns[:COLUMNS]]
    note = (
        "The mean size of each column's share in the decisions, of all; shares are Aumann-Shapley "
        "values on the way from the typical row."
    )
    return f'<p class="quiet">{note}</p>{bars(shown)}{_rest(columns, COLUMNS, "column")}'


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
    return f'{head}<div class="cards">{cards}</div>{_rest(terms, TERMS, "term")}'


def _card(model: dict[str, Any], term: dict[str, Any]) -> str:
    weights = zip(model["outputs"], term["weight"], strict=True)
    lines = ["Weight " + ", ".join(f"{signed(w)} for {name}" for name, w in weights)]
    if "share" in term:
        lines.append(f"{percent(term['share'])} of what moves the decisions")
    if "changes" in term:
        lines.append(f"without it {percent(term['changes'])} of the classes change")
    body = f"<h3>Term {term['term']}</h3>" + f'<p class="quiet">{escape("; ".join(lines))}</p>'
    if "product" in term:
        return f'<div class="card">{body}<p>{escape(term["product"])}</p></div>'
    nearest = term.get("nearest", [])
    head = ["column", "place", *(f"{model['row_word']} {n['row']}" for n in nearest[:1])]
    rows = [
        [e["column"], _place(e), *(cell_text(n["cells"][e["column"]]) for n in nearest[:1])]
        for e in term["place"][:COLUMNS]
    ]
    rest = _rest(term["place"], COLUMNS, "column")
    return f'<div class="card">{body}{table(head, rows)}{rest}</div>'


def _place(entry: dict[str, Any]) -> str:
    return entry["text"] + " *" * entry.get("is_beyond", False)


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
    return f'<p class="quiet">{note}</p>{body}{_rest(entries, COLUMNS, "column")}'


def _metric(model: dict[str, Any]) -> str:
    entries = model["metric"]
    if not entries:
        return ""
    rows = [[entry_name(e), short(e["distance"])] for e in entries[:COLUMNS]]
    note = "A term falls to 1/e at this distance in the column alone, in its own units."
    body = table(["column", "distance"], rows)
    return f'<p class="quiet">{note}</p>{body}{_rest(entries, COLUMNS, "column")}'


def _controls(facts: dict[str, Any], code: str | None) -> str:
    if code is None:
        return "<p>The model is too large to be run in this page.</p>"
    order = [entry["column"] for entry in facts["model"].get("columns", [])]
    order = order or [entry["column"] for entry in facts["inputs"]]
    places = {entry["column"]: place for place, entry in enumerate(facts["inputs"])}
    controls = [
        _control(places[name], facts["inputs"][places[name]]) for name in order[:SLIDER_COLUMNS]
    ]
    note = "The model itself, running in this page. It starts at the typical row."
    return (
        f'<p class="quiet">{note}</p><div class="try"><div class="controls">{"".join(controls)}'
        f'<button type="button" id="reset">Back to the start</button>'
        f"{_rest(order, SLIDER_COLUMNS, 'column')}</div>"
        '<div class="answer card"><p class="quiet">Prediction</p><p id="prediction">'
        "<noscript>This part needs JavaScript.</noscript></p>"
        '<div class="bars" id="values"></div></div></div>'
    )


def _control(place: int, entry: dict[str, Any]) -> str:
    name = escape(entry["column"])
    if "levels" in entry:
        options = [
            f'<option value="{escape(json.dumps(level))}"'
            f"{' selected' * (level == entry['start'])}>{escape(cell_text(level))}</option>"
            for level in [*entry["levels"], None]
        ]
        return (
            f'<label><span class="name">{name}</span>'
            f'<select data-column="{place}">{"".join(options)}</select></label>'
        )
    low, high, start = entry["low"], entry["high"], entry["start"]
    if not high > low:
        return ""
    step = "1" if entry["is_whole"] else "any"
    return (
        f'<label><span class="name">{name} <output id="at{place}">{short(start)}</output></span>'
        f'<input type="range" data-column="{place}" min="{low!r}" max="{high!r}" step="{step}" '
        f'value="{start!r}"></label>'
    )


def _script(facts: dict[str, Any], code: str) -> str:
    model = facts["model"]
    names = facts["scores"]
    if model["kind"] == "classes":
        names = [f"decision value of {name}" for name in names]
    start = [entry["start"] for entry in facts["inputs"]]
    return SLIDERS.substitute(
        code=code,
        start=literal(start),
        range=literal(facts["decision_range"]),
        names=literal(names),
        labels=literal([str(label) for label in model["labels"]]),
    )


def _how(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f'<p>{escape(facts["how"])}</p><p class="quiet">{escape(versions)}</p>'
