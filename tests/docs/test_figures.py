"""Every number that was measured is made from records, or printed by code that the tests run."""

import ast
import importlib
import importlib.util
import inspect
import re

import pytest

from tests.docs.figures import NOT_MEASURED, figures
from tests.docs.snippets import ROOT

DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the source distribution has no docs")
#: Logs of what was measured when, and pages that show another file.
LOGS = ("decisions.md", "changelog.md", "results.md")


def public_names():
    """Return all that the reference lists, and where it is."""
    spec = importlib.util.spec_from_file_location("contents", DOCS / "contents.py")
    contents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contents)
    return contents.PUBLIC.items()


def docstrings():
    """Return what the reference says of all public names; examples are run as doctests."""
    found = {}
    for name, module in public_names():
        if module == "zeronorm.dask" and importlib.util.find_spec("distributed") is None:
            continue
        thing = getattr(importlib.import_module(module), name)
        things = {name: thing}
        if inspect.isclass(thing):
            methods = {k: v for k, v in vars(thing).items() if inspect.isfunction(v)}
            things |= {f"{name}.{k}": v for k, v in methods.items() if not k.startswith("_")}
        for key, one in things.items():
            text = re.split(r"^Examples\n-+$", inspect.getdoc(one) or "", flags=re.MULTILINE)[0]
            found[f"{module}.{key}"] = text.replace("``", "`")
    return found


def texts():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    pages += [*DOCS.glob("guide/*.md"), DOCS / "api.rst", ROOT / "examples/GALLERY_HEADER.rst"]
    pages.append(ROOT / "benchmarks" / "weaknesses.md")
    found = {str(p.relative_to(ROOT)): p.read_text() for p in pages if p.name not in LOGS}
    for path in (ROOT / "examples").glob("plot_*.py"):
        code = path.read_text()
        prose = [ast.get_docstring(ast.parse(code)), *re.findall(r"^# (.*)$", code, re.MULTILINE)]
        found[path.name] = "\n".join(prose).replace("``", "`")
    return found | docstrings() | studies()


def studies():
    """Return what the pages of results say besides their tables, which are made from records."""
    found = {}
    for path in (ROOT / "benchmarks").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
            if name == "ABOUT":
                found[f"benchmarks/{path.name}"] = ast.literal_eval(node.value)
    return found


@pytest.fixture(scope="module")
def prose():
    return texts()


def test_no_measured_number_stands_in_prose_unchecked(prose):
    found = [
        f"{name}:{line}: {number!r} in “{around}”"
        for name, text in prose.items()
        for line, number, around in figures(text)
    ]
    assert found == [], (
        "Let it be made from records, be printed by code, or take it out; a number that was not "
        "measured is a line in tests/docs/figures.py:\n" + "\n".join(found)
    )


def test_every_exception_is_still_there(prose):
    everything = " ".join(" ".join(prose.values()).split())
    phrases = [phrase for some in NOT_MEASURED.values() for phrase in some]
    assert [phrase for phrase in phrases if " ".join(phrase.split()) not in everything] == []


@pytest.mark.parametrize(
    "text",
    [
        "The error is 3.2 % there.", "It took 40 s.", "a fit of 1 000 rows takes 12 ms",
        "three times as fast", "with 84 vectors", "half a minute", "an error of 0.038",
        "agrees to 1e-9", "10⁶ bytes", "0.6 GB", "6 terms", "It is 0.05. Not more.",
        "in 40 microseconds",
    ],
)  # fmt: skip
def test_what_is_found(text):
    assert len(list(figures(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<!-- TIMES -->It took 40 s.<!-- /TIMES -->", "`took 40 s`", "    took 40 s\n",
        "```text\n40 s\n```\n", "[page](a40.5.md)", "up to 300 rows", "gamma : float, default=0.5",
        "2005 was a year", "section 3",
    ],
)  # fmt: skip
def test_what_is_not(text):
    assert list(figures(text)) == []
