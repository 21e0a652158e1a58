"""What the site has: the public names, which api.rst lists, and the examples in their order."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: The gallery, by task.
EXAMPLES = (
    "plot_smaller_svc.py",
    "plot_path.py",
    "plot_explain.py",
    "plot_regression.py",
    "plot_outliers.py",
    "plot_selection.py",
    "plot_components.py",
    "plot_density.py",
    "plot_ripley.py",
    "plot_search.py",
)

DOCS = Path(__file__).parent
ROOT = DOCS.parent
#: Files of the repository, and the pages that they are, or are shown on.
SHOWN = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/RESULTS.md": "results.md",
    **{f"examples/{name}": f"gallery/{name[:-3]}.rst" for name in EXAMPLES},
}
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s#]+)")

#: The module of every public name.
PUBLIC = {
    name: module
    for module, name in re.findall(
        r"^   ~(zeronorm[\w.]*)\.(\w+)$", (DOCS / "api.rst").read_text(), re.MULTILINE
    )
}


def path_of(name: str) -> str:
    """Return the name with its module."""
    return f"{PUBLIC[name]}.{name}"


def place_in_gallery(example: str) -> int:
    """Return where an example stands in the gallery."""
    return EXAMPLES.index(example)


def linked(text: str, file: Path, page: Path) -> str:
    """Rewrite the links of a file of the repository for the page on which it is shown.

    A link to a file that is a page of the site becomes one to that page.
    """

    def moved(link: re.Match[str]) -> str:
        target = (file.parent / link[1]).resolve()
        shown = SHOWN.get(os.path.relpath(target, ROOT))
        return os.path.relpath(DOCS / shown if shown else target, page.parent)

    return LINK.sub(moved, text)


def source(page: Path, text: str) -> tuple[str, list[Path]]:
    """Return what Sphinx is to read for a page in Markdown, and the files that were put in.

    A line ``<!-- CHANGELOG.md -->`` stands for that file of the repository.
    """
    text = linked(text, page, page)
    files = []
    for name in SHOWN:
        mark = f"<!-- {name} -->"
        if mark in text:
            files.append(ROOT / name)
            text = text.replace(mark, linked(files[-1].read_text(), files[-1], page))
    return text, files
