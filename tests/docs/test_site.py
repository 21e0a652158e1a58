"""What the documentation is made of: names, pages, links, files of the repository on pages."""

import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import sys
import types

import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import zeronorm
from tests.docs.snippets import CODE, ROOT
from zeronorm.base import documented

DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the source distribution has no docs")


def module_at(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def contents():
    return module_at(DOCS / "contents.py")


def estimators():
    """Return every estimator of the package that a user can make, by its class."""
    for module in pkgutil.walk_packages(zeronorm.__path__, "zeronorm."):
        if "dask" in module.name and importlib.util.find_spec("distributed") is None:
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            is_estimator = inspect.isclass(thing) and issubclass(thing, BaseEstimator)
            if is_estimator and thing.__module__ == module.name and not inspect.isabstract(thing):
                yield name, thing


class TestReference:
    def test_all_public_names_are_in_the_reference(self, contents):
        modules = ["", ".export", ".feature_selection", ".report", ".solvers.cross_entropy"]
        if importlib.util.find_spec("distributed"):
            modules.append(".dask")
        names = {n for m in modules for n in importlib.import_module("zeronorm" + m).__all__}
        assert names - {"__version__"} <= contents.PUBLIC.keys()

    def test_what_is_in_the_reference_exists(self, contents):
        for name, module in contents.PUBLIC.items():
            if module == "zeronorm.dask" and importlib.util.find_spec("distributed") is None:
                continue
            thing = getattr(importlib.import_module(module), name)
            assert inspect.getdoc(thing)

    def test_estimators_link_to_their_pages(self, contents, monkeypatch):
        monkeypatch.setattr(documented, "ROOT", "https://example.org/zeronorm")
        linked = set()
        for name, thing in estimators():
            if issubclass(thing, documented.Documented) and not name.startswith("_"):
                link = thing()._get_doc_link()
                assert link == f"https://example.org/zeronorm/api/{name}.html"
                linked.add(name)
        classes = {name for name in zeronorm.__all__ if inspect.isclass(getattr(zeronorm, name))}
        public = {n for n in classes if issubclass(getattr(zeronorm, n), BaseEstimator)}
        assert public <= linked <= contents.PUBLIC.keys()

    def test_boxes_show_the_links(self, monkeypatch):
        model = make_pipeline(StandardScaler(), zeronorm.SparseSVC())
        monkeypatch.setattr(documented, "ROOT", "https://example.org")
        assert "https://example.org/api/SparseSVC.html" in estimator_html_repr(model)
        monkeypatch.setattr(documented, "ROOT", "")
        assert "SparseSVC.html" not in estimator_html_repr(model)

    def test_whose_class_is_not_ours_has_no_page(self, monkeypatch):
        class Mine(zeronorm.SparseSVC):
            pass

        monkeypatch.setattr(documented, "ROOT", "https://example.org")
        assert Mine()._get_doc_link() == ""

    @pytest.mark.parametrize(
        ("urls", "expected"),
        [
            (["Repository, https://a.example", "Documentation, https://d.example/x/"], "url"),
            ([], "pages"),
            (None, "nothing"),
        ],
    )
    def test_the_address_is_the_projects_or_that_of_built_pages(
        self, urls, expected, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(documented, "BUILT", tmp_path)
        found = types.SimpleNamespace(get_all=lambda name: urls)
        monkeypatch.setattr(documented, "metadata", lambda name: found)
        documented.address.cache_clear()
        if expected != "nothing":
            (tmp_path / "index.html").touch()
        answers = {"url": "https://d.example/x", "pages": tmp_path.as_uri(), "nothing": ""}
        assert documented.address() == answers[expected]
        documented.address.cache_clear()


def anchors(text):
    """Return the names that headings get, as repositories and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize(
    "page",
    [
        *ROOT.glob("*.md"),
        *DOCS.glob("*.md"),
        *DOCS.glob("guide/*.md"),
        *DOCS.glob("results/*.md"),
        ROOT / "benchmarks" / "RESULTS.md",
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_in_the_repository_lead_somewhere(page):
    if not (ROOT / "benchmarks" / "RESULTS.md").exists():
        pytest.skip("the source distribution has no results, to which pages link")
    text = CODE.sub("", page.read_text())
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, part = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if part:
            assert part in anchors(target.read_text()), link


class TestContents:
    def test_the_examples_are_those_of_the_gallery(self, contents):
        files = {path.name for path in (ROOT / "examples").glob("plot_*.py")}
        assert files == set(contents.EXAMPLES)

    def test_a_file_of_the_repository_stands_on_its_page(self, contents):
        page = DOCS / "contributing.md"
        text, files = contents.source(page, page.read_text())
        assert files == [ROOT / "CONTRIBUTING.md"]
        assert text.startswith("# Contributing") and "](decisions.md)" in text

    def test_links_follow_to_where_a_file_is_shown(self, contents):
        text = "[a](docs/guide.md#x) [b](CHANGELOG.md) [c](examples/plot_path.py) ![d](p/e.png)"
        found = contents.linked(text, ROOT / "README.md", DOCS / "guide" / "page.md")
        assert found == (
            "[a](../guide.md#x) [b](../changelog.md) [c](../gallery/plot_path.rst) "
            "![d](../../p/e.png)"
        )

    def test_addresses_stay(self, contents):
        text = "[a](https://example.org/x.md) [b](#part)"
        assert contents.linked(text, ROOT / "README.md", DOCS / "index.md") == text


class TestDeadLinks:
    @pytest.fixture
    def check(self, tmp_path, capsys):
        checker = module_at(DOCS / "check_links.py")

        def run(**pages):
            for name, text in pages.items():
                (tmp_path / f"{name}.html").write_text(text)
            return checker.main(tmp_path), capsys.readouterr().out

        return run

    def test_good_ones(self, check):
        text = '<a href="b.html#part">b</a><a href="#top" id="top">a</a><a href="https://x.y">x</a>'
        status, said = check(a=text, b='<p id="part"></p><a href="a.html#:~:text=b">a</a>')
        assert status == 0 and "2 pages, 4 links, 0 dead" in said

    @pytest.mark.parametrize("link", ["c.html", "b.html#gone", "#gone", "picture.png"])
    def test_dead_ones(self, check, link):
        status, said = check(a=f'<img src="{link}">', b="")
        assert status == 1 and f"a.html: {link} leads nowhere" in said

    def test_no_pages_at_all(self, check):
        assert check()[0] == 1


class TestReadmeOfThePackage:
    @pytest.fixture
    def hook(self, monkeypatch):
        interface = types.ModuleType("hatchling.metadata.plugin.interface")
        interface.MetadataHookInterface = object
        for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, interface.__name__, interface)
        return module_at(ROOT / "hatch_build.py")

    def metadata(self, hook, **given):
        one = hook.ReadmeHook()
        one.root = str(ROOT)
        one.update(given)
        assert given["readme"]["content-type"] == "text/markdown"
        return given["readme"]["text"]

    def test_links_and_pictures_are_addresses(self, hook):
        text = self.metadata(hook, urls={"Repository": "https://example.org/zeronorm/"})
        links = re.findall(r"\]\(([^)]+)\)", CODE.sub("", text))
        assert len(links) > 15
        assert all(link.startswith(("https://example.org/zeronorm/", "#")) for link in links)
        assert "(https://example.org/zeronorm/raw/HEAD/benchmarks/pictures/headline.png)" in text
        assert "(https://example.org/zeronorm/blob/HEAD/docs/guide.md)" in text

    def test_without_an_address_there_are_none_that_lead_nowhere(self, hook):
        text = CODE.sub("", self.metadata(hook))
        assert re.findall(r"\]\(([^)#]+)", text) == []
        assert "Guide" in text and "Error against kernel terms" in text


def test_the_file_of_the_guide_is_what_is_saved(tmp_path):
    page = (DOCS / "guide" / "ship.md").read_text()
    said = json.loads(re.search(r"^    \{\n.*?^    \}\n", page, re.MULTILINE | re.DOTALL)[0])
    model = zeronorm.ZeroNormSVC().fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]], ["no", "yes", "no"])
    zeronorm.save(model, tmp_path / "model.json")
    found = json.loads((tmp_path / "model.json").read_text())
    for one, other in [(said, found)] + [(said[k], found[k]) for k in ("decision", "function")]:
        assert one.keys() == other.keys()


def test_commands_of_the_text_have_options_that_exist():
    from typer.main import get_command

    from zeronorm.tables.cli import app

    commands = get_command(app).commands
    pages = [ROOT / "README.md", *(DOCS / "guide").glob("*.md")]
    found = re.findall(r"zeronorm ([a-z]+)( [^\n`]*)?", "\n".join(p.read_text() for p in pages))
    used = [(name, rest) for name, rest in found if name in commands]
    assert len(used) > 10
    for name, rest in used:
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z][\w-]*", rest)) <= options | {"--help"}, (name, rest)
