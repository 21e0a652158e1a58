"""Every piece of code of README and guide runs as pasted, and prints what stands beside it."""

import re
import shutil
import subprocess

import pytest

from tests.docs.snippets import DEMO, NUMBER, PAGES, agrees, demonstrated, snippets

#: What `make test` need not have, and what brings it: the pieces that need it are left out where it
#: is missing. Those for a GPU run on the CPU where there is none.
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plot",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "pandas": "test",
    "skl2onnx": "onnx",
    "torch": "gpu",
}
SNIPPETS = [one for page in PAGES for one in snippets(page)]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=str)
def test_it_runs_as_pasted(snippet, tmp_path):
    for module, extra in EXTRAS.items():
        if f"import {module}" in snippet.code or f"from {module}" in snippet.code:
            pytest.importorskip(module, reason=f"{module} is missing: pip install '.[{extra}]'")
    printed = snippet.run(tmp_path)
    for line, comment in snippet.comments().items():
        assert agrees(comment, printed[line]), f"{comment!r} is said, {printed[line]!r} printed"
    if snippet.text is not None:
        words = set(NUMBER.sub("#", printed[0]).split())
        assert set(NUMBER.sub("#", snippet.text).split()) <= words
    if "write_html(" in snippet.code:
        assert "<h2>Try it</h2>" in (tmp_path / "report.html").read_text()
    if "to_c(" in snippet.code and shutil.which("gcc"):
        check_the_program_in_c(snippet.page.read_text(), tmp_path)


def check_the_program_in_c(page, folder):
    """Compile the program of the page with the header in the folder, and run it."""
    (folder / "main.c").write_text(page.split("```c\n")[1].split("```")[0])
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], cwd=folder, check=True)
    printed = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    assert printed == "setosa\n" and f"prints `{printed.strip()}`" in page


def cells_of(text):
    """Return the table of a demonstration, by its first column."""
    lines = [line.strip("│").split("│") for line in text.splitlines() if line.startswith("│")]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines}


def test_the_demonstration_is_what_is_printed():
    shown = DEMO.search(PAGES[0].read_text())[2]
    printed = demonstrated(re.findall(r"^\$ (.*)$", shown, re.MULTILINE))
    said, found = cells_of(shown), cells_of(printed)
    assert list(said) == list(found)
    for name in said:
        if name == "error" or name.startswith(("recall", "fitted")):  # others vary by the machine
            both = zip(said[name], found[name], strict=True)
            assert all(agrees(*(cell.split("±")[0] for cell in pair)) for pair in both), name
    words = [set(NUMBER.sub("#", text).split("└")[1].split()) for text in (shown, printed)]
    assert words[0] == words[1]


def test_every_page_has_code():
    assert {one.page for one in SNIPPETS} >= {
        page for page in PAGES if page.name != "command_line.md"
    }


def test_what_is_printed_is_compared():
    assert agrees("104 0.958", "103 0.951")
    assert not agrees("104 0.958", "104 0.9")
    assert agrees("10 0.958", "6 0.958") and not agrees("10 0.958", "16 0.958")
    assert not agrees("['a' 'b']", "['a' 'c']")
    assert not agrees("5", "5 0.9")
