"""CONTRIBUTING.md: its table names every room, and a row meets what the walk says it meets."""

import re
from collections import Counter
from pathlib import Path

import pytest

import zeronorm
from tests.walk import walk

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = Path(zeronorm.__file__).parent


def table_rows():
    """Return the cells of the table of rooms that are rooms of the package."""
    lines = TEXT.partition("| room | what is in it |")[2].partition("\n\n")[0].splitlines()
    rows = [line.split(" | ") for line in lines[2:]]
    return [row for row in rows if not row[0].startswith(("| `docs/`", "| `examples/`"))]


def test_every_room_and_module_of_the_root_is_named_once():
    modules = [path.name for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    rooms = [f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")]
    cells = " ".join(cell for row in table_rows() for cell in row)
    named = Counter(re.findall(r"`([a-z_0-9]+(?:\.py|/))`", cells))
    assert named == Counter([*modules, *rooms])


def test_what_is_said_to_be_in_a_room_is_there():
    for first, second in table_rows():
        rooms = re.findall(r"`([a-z_]+)/`", first)
        if len(rooms) == 1:
            inside = {path.stem for path in (PACKAGE / rooms[0]).iterdir()}
            words = re.findall(r"`([a-z_]+)`", second)
            assert words == [word for word in words if word in inside], first


def walk_in_words(name):
    """Return the paragraph on the way of a row, and the modules that it names."""
    text = TEXT.partition(f"`{name}`: ")[2].partition("\n\n")[0]
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*)`", text.replace("`solvers/linear_programs`", ""))
    assert max(Counter(named).values()) == 1
    return text, named


def test_the_walk_of_the_command_line():
    text, named = walk_in_words("zeronorm fit")
    assert [name for name in named if not (PACKAGE / f"{name}.py").exists()] == []
    # One of the stations is the ten of SparseSVC.
    assert "the ten\nstations" in text and text.count("→") == 15 - 10


@pytest.mark.parametrize(("name", "stations"), [("SparseSVC", 10), ("ZeroNormSVC", 9)])
def test_the_walk(name, stations):
    text, named = walk_in_words(f"{name}.fit")
    assert text.count("→") == stations - 1
    with_rows, others = walk(name)
    entered = {module.replace(".", "/") for module in [*with_rows, *others]}
    assert set(named) <= entered
