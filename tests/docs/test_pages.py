"""The built pages in a real browser: no errors, nothing from the network, narrow and dark too."""

import pytest

from tests.browser import DARK, LISTEN, contrast, needs_browser, open_page
from tests.docs.snippets import ROOT

SITE = ROOT / "build" / "docs"
PAGES = (
    "index",
    "guide/ship",
    "benchmarks",
    "gallery/plot_path",
    "api/SparseSVC",
    "api/SparseKernelFisher",
)
pytestmark = [
    needs_browser,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make docs builds the pages"),
]

PROBE = """<script>
addEventListener("load", () => setTimeout(() => {
  const text = getComputedStyle(document.querySelector("article p"));
  const ground = getComputedStyle(document.body).backgroundColor;
  const pictures = Array.from(document.images);
  const isScrolled = (one) => one.tagName !== "ARTICLE" && (
    ["auto", "scroll"].includes(getComputedStyle(one).overflowX) || isScrolled(one.parentElement)
  );
  const edge = (one) => {
    const range = document.createRange();
    const texts = Array.from(one.childNodes).filter((node) => node.nodeType === Node.TEXT_NODE);
    const ends = texts.map((text) => {  // which may go beyond their element
      range.selectNode(text);
      return range.getBoundingClientRect().right;
    });
    return Math.max(one.getBoundingClientRect().right, ...ends);
  };
  const isCut = (one) => edge(one) > innerWidth + 1 && !isScrolled(one);
  parent.postMessage(JSON.stringify({
    problems, width: innerWidth, scroll: document.documentElement.scrollWidth,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    broken: pictures.filter((one) => !one.naturalWidth).map((one) => one.src),
    cut: Array.from(document.querySelectorAll("article :not(.headerlink)"))
      .filter(isCut).map((e) => e.outerHTML),
    theme: document.documentElement.dataset.theme, colours: [text.color, ground],
  }), "*");
}, 300));
</script>"""


@pytest.fixture
def visit(tmp_path):
    """Open a copy of a page that says what it found."""
    copies = []

    def opened(name, *options, width):
        page = SITE / f"{name}.html"
        copies.append(page.with_name(f"{page.stem}_probe_{tmp_path.name}.html"))
        text = page.read_text().replace("<head>", "<head>" + LISTEN, 1)
        copies[-1].write_text(text.replace("</body>", PROBE + "</body>"))
        return open_page(f'src = "{copies[-1].as_uri()}"', tmp_path, *options, width=width)

    yield opened
    for copy in copies:
        copy.unlink()


@pytest.mark.parametrize("name", PAGES)
def test_narrow_and_dark(visit, name):
    found = visit(name, DARK, width=400)
    assert found["problems"] == [] and found["broken"] == []
    assert all(address.startswith(("file:", "data:")) for address in found["requests"])
    assert found["width"] == 400 and found["scroll"] <= 400
    assert found["cut"] == []
    assert found["theme"] == "dark" and contrast(found["colours"]) > 7


def test_wide_and_light(visit):
    found = visit("index", width=1200)
    assert found["problems"] == [] and found["broken"] == []
    assert found["scroll"] <= 1200
    assert found["theme"] == "light" and contrast(found["colours"]) > 7
