"""How Sphinx makes the documentation: ``make docs``, or ``sphinx-build -W docs build/docs``."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import matplotlib  # noqa: E402

matplotlib.use("Agg")

from contents import DOCS, PUBLIC, path_of, source  # noqa: E402

import zeronorm  # noqa: E402
from zeronorm.base import documented  # noqa: E402

# The boxes of estimators in the gallery link to the pages beside it, wherever they are put.
documented.ROOT = ".."

project = "zeronorm"
author = "zeronorm developers"
copyright = "the zeronorm developers, BSD-3 licence"
version = release = zeronorm.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
# The gallery writes its examples' sources beside its pages; they are no pages themselves.
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# A page's file has the name of the class alone: scikit-learn's boxes link to it by that name.
autosummary_filename_map = {path_of(name): name for name in PUBLIC}
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"make_demo_csv\.py",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("zeronorm",),
    "reference_url": {"zeronorm": None},
    "within_subsection_order": "contents.place_in_gallery",
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 0,
    "abort_on_example_error": True,
    # Pictures are of the library as it is, also where only that has changed.
    "run_stale_examples": True,
    "notebook_images": False,
    "thumbnail_size": (480, 300),
}

html_theme = "pydata_sphinx_theme"
html_title = "zeronorm"
html_static_path = ["_static"]
html_css_files = ["zeronorm.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "papers": [], "testing": []}


def link_names(app: Any, document: Any) -> None:
    """Make of `SparseSVC` in the text of a page a link to its reference."""
    from docutils import nodes
    from sphinx import addnodes

    names = {path: name for name in PUBLIC for path in (name, path_of(name), f"zeronorm.{name}")}
    for literal in list(document.findall(nodes.literal)):
        name = names.get(re.sub(r"\([^()]*\)$", "", literal.astext()))
        inside = nodes.reference | nodes.title | addnodes.pending_xref
        if name is None or isinstance(literal.parent, inside):
            continue
        target = addnodes.pending_xref(
            "",
            refdomain="py",
            reftype="obj",
            reftarget=path_of(name),
            refexplicit=True,
            refwarn=True,
            refdoc=app.env.docname,
        )
        target += nodes.literal("", literal.astext(), classes=["xref", "py"])
        literal.replace_self(target)


def read_page(app: Any, docname: str, content: list[str]) -> None:
    """Put files of the repository into the pages that show them."""
    page = DOCS / f"{docname}.md"
    if page.exists():
        content[0], files = source(page, content[0])
        for file in files:
            app.env.note_dependency(str(file))


def is_ours(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from scikit-learn; every page names it in one line."""
    function = inspect.unwrap(getattr(thing, "fget", None) or thing)
    module = getattr(function, "__module__", None) or ""
    return None if module.startswith("zeronorm") else True


def setup(app: Any) -> None:
    """Tell Sphinx about the functions above."""
    app.connect("source-read", read_page)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-skip-member", is_ours)
