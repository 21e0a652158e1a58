"""The page of a report in a real browser: no errors, no requests, sliders that run the model."""

import json

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from tests import browser
from tests.browser import DARK, LISTEN, contrast, luminance, needs_browser
from tests.export.cases import HOSTILE, get, mixed_frame
from zeronorm import SparseSVC
from zeronorm.report import make_report

pytestmark = needs_browser

#: After everything else: every control is moved to its end, and what the page says is kept.
PROBE = """<script type="module">
const decision = () => JSON.parse(document.body.dataset.decision);
const said = () => document.getElementById("prediction").textContent;
const moves = [{ column: null, decision: decision(), prediction: said() }];
for (const control of document.querySelectorAll("[data-column]")) {
  if (control.type === "range") control.value = control.max;
  else control.selectedIndex = 0;
  control.dispatchEvent(new Event("input"));
  const cell = control.type === "range" ? Number(control.value) : JSON.parse(control.value);
  moves.push({ column: Number(control.dataset.column), cell, decision: decision(),
               prediction: said() });
}
document.getElementById("reset").click();
const colours = (element) => {
  const style = getComputedStyle(element);
  return [style.color, style.backgroundColor];
};
const found = {
  problems, moves, reset: decision(),
  requests: performance.getEntriesByType("resource").map((entry) => entry.name),
  tallest: Math.max(...Array.from(document.querySelectorAll("tr"), (line) => line.offsetHeight)),
  width: innerWidth, scroll: document.documentElement.scrollWidth,
  isDark: matchMedia("(prefers-color-scheme: dark)").matches, colours: colours(document.body),
};
parent.postMessage(JSON.stringify(found), "*");
</script>"""


def open_page(text, folder, *options, width):
    """Return what the probe found."""
    text = text.replace("<head>", "<head>" + LISTEN).replace("</body>", PROBE + "</body>")
    page = json.dumps(text).replace("<", "\\u003c")
    return browser.open_page(f"srcdoc = {page}", folder, *options, width=width)


def test_sliders_run_the_model(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SparseSVC(random_state=0).fit(X, y)
    report = make_report(model, X, y)
    found = open_page(report.to_html(), tmp_path, width=1200)
    assert found["problems"] == [] and found["requests"] == []
    row = [entry["start"] for entry in report.facts["inputs"]]
    before = None
    for move in found["moves"]:
        if move["column"] is not None:
            row[move["column"]] = move["cell"]
        rows = X.iloc[:1].copy()
        rows.iloc[0] = row
        np.testing.assert_allclose(move["decision"], model.decision_function(rows)[0], rtol=1e-9)
        assert move["prediction"] == str(model.predict(rows)[0])
        assert move["decision"] != before
        before = move["decision"]
    assert len(found["moves"]) == 5
    np.testing.assert_allclose(found["reset"], found["moves"][0]["decision"])
    assert not found["isDark"] and contrast(found["colours"]) > 7


def test_a_wide_table_is_scrolled_and_its_names_stay_in_one_piece(tmp_path):
    X, y = make_blobs(240, 2, centers=12, random_state=0)
    labels = np.array([f"class {code}" for code in y])
    report = make_report(SVC().fit(X, labels), X, labels)
    found = open_page(report.to_html(), tmp_path, width=400)
    assert found["problems"] == [] and found["scroll"] <= 400
    assert found["tallest"] < 60  # two lines of text


def test_hostile_names_narrow_and_dark(tmp_path):
    frame, y = mixed_frame()
    labels = np.array(["<img src=x onerror=alert(1)>", '"><script>alert(2)</script>'])[
        y.astype(int)
    ]
    steps = clone(get("mixed").model).steps[:-1]
    model = Pipeline([*steps, ("last", SparseSVC(2, random_state=0))]).fit(frame, labels)
    report = make_report(model, frame, labels, title=f"{HOSTILE[3]} <script>alert(3)</script>")
    found = open_page(report.to_html(), tmp_path, DARK, width=400)
    assert found["problems"] == [] and found["requests"] == []
    assert found["width"] == 400 and found["scroll"] <= 400
    assert found["isDark"] and contrast(found["colours"]) > 7
    assert luminance(found["colours"][1]) < 0.05
    first, *rest = (move["decision"] for move in found["moves"])
    assert found["reset"] == first
    assert all(np.isfinite(first)) and any(decision != first for decision in rest)
    assert {move["prediction"] for move in found["moves"]} <= set(labels)
