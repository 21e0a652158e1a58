"""Pages in a real browser, for the tests of what people see."""

import json
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="needs Chromium: apt-get install chromium"
)

#: Before everything else in a page: what goes wrong is written down.
LISTEN = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(event.message));
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (e) => problems.push(e.blockedURI));
</script>"""

#: Headless windows are no narrower than 500 pixels, frames are.
FRAME = """<!DOCTYPE html><iframe style="width:WIDTHpx;height:900px;border:0"></iframe><script>
addEventListener("message", (event) => {
  const note = document.createElement("pre");
  note.id = "probe";
  note.textContent = event.data;
  document.body.append(note);
});
document.querySelector("iframe").SOURCE;
</script>"""

#: Makes the browser prefer dark colours.
DARK = "--blink-settings=preferredColorScheme=0"


def open_page(source, folder, *options, width):
    """Return what the probe in a page posts to the frame around it.

    ``source`` sets the page of the frame: ``src = "address"`` or ``srcdoc = "text"``.
    """
    path = folder / "frame.html"
    path.write_text(FRAME.replace("WIDTH", str(width)).replace("SOURCE", source))
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
