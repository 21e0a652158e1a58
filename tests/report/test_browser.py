"""The page of a report in a real browser: no errors, no requests, sliders that run the model."""

import json
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline

from tests.export.cases import HOSTILE, get, mixed_frame
from zeronorm import SparseSVC
from zeronorm.report import make_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")

#: Before everything else: what goes wrong is written down.
LISTEN = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(event.message));
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (e) => problems.push(e.blockedURI));
</script>"""

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
  width: innerWidth, scroll: document.documentElement.scrollWidth,
  isDark: matchMedia("(prefers-color-scheme: dark)").matches, colours: colours(document.body),
};
parent.postMessage(JSON.stringify(found), "*");
</script>"""

#: Headless windows are no narrower than 500 pixels, frames are.
FRAME = """<!DOCTYPE html><iframe style="width:WIDTHpx;height:900px;border:0"></iframe><script>
addEventListener("message", (event) => {
  const note = document.createElement("pre");
  note.id = "probe";
  note.textContent = event.data;
  document.body.append(note);
});
document.querySelector("iframe").srcdoc = PAGE;
</script>"""


def open_page(text, folder, *options, width):
    """Return what the probe found."""
    text = text.replace("<head>", "<head>" + LISTEN).replace("</body>", PROBE + "</body>")
    page = json.dumps(text).replace("<", "\\u003c")
    path = folder / "page.html"
    path.write_text(FRAME.replace("WIDTH", str(width)).replace("PAGE", page))
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder}/p",
    ]
    command += ["--window-size=1300,900", "--virtual-time-budget=5000"]
    command += [*options, "--dump-dom", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return json.loads(unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)[1]))


def luminance(colour):
    """Return the relative luminance of a colour, by the definition of WCAG."""
    channels = np.array([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(colours):
    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


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


def test_hostile_names_narrow_and_dark(tmp_path):
    frame, y = mixed_frame()
    labels = np.array(["<img src=x onerror=alert(1)>", '"><script>alert(2)</script>'])[
        y.astype(int)
    ]
    steps = clone(get("mixed").model).steps[:-1]
    model = Pipeline([*steps, ("last", SparseSVC(2, random_state=0))]).fit(frame, labels)
    report = make_report(model, frame, labels, title=f"{HOSTILE[3]} <script>alert(3)</script>")
    dark = "--blink-settings=preferredColorScheme=0"
    found = open_page(report.to_html(), tmp_path, dark, width=400)
    assert found["problems"] == [] and found["requests"] == []
    assert found["width"] == 400 and found["scroll"] <= 400
    assert found["isDark"] and contrast(found["colours"]) > 7
    assert luminance(found["colours"][1]) < 0.05
    first, *rest = (move["decision"] for move in found["moves"])
    assert found["reset"] == first
    assert all(np.isfinite(first)) and any(decision != first for decision in rest)
    assert {move["prediction"] for move in found["moves"]} <= set(labels)
