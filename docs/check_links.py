"""Whether every link between the built pages leads somewhere: ``check_links.py build/docs``.

Links, pictures, scripts and style sheets have to exist, and a part of a page that is linked to has
to be there. Addresses elsewhere are not asked: that needs the network, and ``sphinx-build -b
linkcheck`` does it.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the names of its parts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.parts: set[str] = {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and what it is called."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.parts.add(value)


page_at = cache(Page)


def dead_links(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for link in dict.fromkeys(page_at(page).links):
        address = urlsplit(link)
        if address.scheme or address.netloc:
            continue
        part = unquote(address.fragment).partition(":~:")[0]  # what follows is text to look for
        target = page.parent / unquote(address.path) if address.path else page
        is_page = target.suffix == ".html" and target.exists()
        if not target.exists() or (is_page and part not in page_at(target.resolve()).parts):
            found.append(link)
    return found


def main(folder: Path) -> int:
    """Print the dead links of all pages; return 1 if there are any."""
    pages = sorted(path for path in folder.resolve().rglob("*.html") if "_static" not in path.parts)
    dead = {page: dead_links(page) for page in pages}
    for page, links in dead.items():
        for link in links:
            print(f"{page.relative_to(folder.resolve())}: {link} leads nowhere")
    count = sum(map(len, dead.values()))
    links = sum(len(set(page_at(page).links)) for page in pages)
    print(f"{len(pages)} pages, {links} links, {count} dead")
    return 1 if count or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
