"""Where the documentation is, so that the boxes in which notebooks show estimators link to it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

#: The address of the documentation, if it is to be another one than that of :func:`address`.
ROOT: str | None = None
#: Where ``make docs`` puts the pages.
BUILT = Path(__file__).parents[2] / "build" / "docs"


@cache
def address() -> str:
    """Return the documentation's address: the project's, or that of pages built here, or none.

    The project's is the URL named Documentation in pyproject.toml; without it, a checkout in which
    ``make docs`` has run has pages of its own.
    """
    try:
        urls = metadata("zeronorm").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    for label, _, url in (entry.partition(", ") for entry in urls):
        if label.lower() == "documentation":
            return url.rstrip("/")
    return BUILT.as_uri() if (BUILT / "index.html").exists() else ""


class Documented:
    """An estimator that has a page of its own in the reference, named after its class."""

    _doc_link_module = "zeronorm"

    @property
    def _doc_link_template(self) -> str:
        """Address of the page, for scikit-learn to fill in; empty where there are no pages."""
        root = address() if ROOT is None else ROOT
        return root and f"{root}/api/{{estimator_name}}.html"
