"""Every piece of code of README and guide runs as pasted, and prints what stands beside it."""

import shutil
import subprocess

import pytest

from tests.docs.snippets import NUMBER, PAGES, ROOT, agrees, snippets

#: What `make test` need not have: the pieces that need it are left out where it is missing.
EXTRAS = {"dask", "distributed", "matplotlib", "onnx", "onnxruntime", "pandas", "skl2onnx", "torch"}
SNIPPETS = [one for page in PAGES for one in snippets(page)]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=str)
def test_it_runs_as_pasted(snippet, tmp_path):
    for extra in sorted(EXTRAS):
        if f"import {extra}" in snippet.code or f"from {extra}" in snippet.code:
            pytest.importorskip(extra)
    printed = snippet.run(tmp_path)
    for line, comment in snippet.comments().items():
        assert agrees(comment, printed[line]), f"{comment!r} is said, {printed[line]!r} printed"
    if snippet.text is not None:
        words = set(NUMBER.sub("#", printed[0]).split())
        assert set(NUMBER.sub("#", snippet.text).split()) <= words


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


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler: apt-get install gcc")
def test_the_program_in_c_runs_too(tmp_path):
    page = ROOT / "docs" / "guide" / "ship.md"
    exporting = next(one for one in snippets(page) if "to_c(" in one.code)
    exporting.run(tmp_path)
    program = page.read_text().split("```c\n")[1].split("```")[0]
    (tmp_path / "main.c").write_text(program)
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", "-std=c99", *warnings, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    found = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert found.stdout == "setosa\n"
