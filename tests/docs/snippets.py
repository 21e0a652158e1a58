"""The code of README and guide, run as a reader would run it: each piece alone, in an empty folder.

``print(...)  # 104 0.958`` says what is printed; so does a block of text after the line
``<!-- PRINTS -->``, for the piece of code before it; and the block DEMO of README shows what the
commands in it print. ``python -m tests.docs.snippets`` runs everything and writes what was printed
to these places; ``python -m tests.docs.snippets README.md`` does so for one page. Times in the
block DEMO are those of the machine: run that on an idle one.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Between the code and what it prints may stand a few words.
PRINTS = re.compile(r"[^`]*<!-- PRINTS -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEMO = re.compile(r"(<!-- DEMO -->\n```console\n)(.*?)(```\n<!-- /DEMO -->)", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@dataclass
class Snippet:
    """A piece of code, and what the text says that it prints."""

    page: Path
    line: int
    code: str
    text: str | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def needs_own_process(self) -> bool:
        """Whether it sets what has to be set before anything is imported."""
        return "os.environ" in self.code

    def comments(self) -> dict[int, str]:
        """Return what each print says that it prints, by the number of its last line."""
        lines = self.code.splitlines()
        found = {}
        for node in ast.walk(ast.parse(self.code)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
                _, mark, comment = lines[node.end_lineno - 1].rpartition("  # ")
                if mark:
                    found[node.end_lineno] = comment
        return found

    def run(self, folder: Path) -> dict[int, str]:
        """Run it in the folder; return what each line with a comment printed, and all at 0."""
        if self.needs_own_process:
            command = [sys.executable, "-c", self.code]
            found = {"cwd": folder, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
            done = subprocess.run(command, **found, capture_output=True, text=True)
            if done.returncode:
                is_missing = "ModuleNotFoundError" in done.stderr
                raise (ImportError if is_missing else RuntimeError)(done.stderr)
            comments = sorted(self.comments())
            return dict(zip(comments, done.stdout.splitlines(), strict=True)) | {0: done.stdout}
        printed: dict[int, str] = {}
        calls = [n for n in ast.walk(ast.parse(self.code)) if isinstance(n, ast.Call)]
        ends = {n.lineno: n.end_lineno for n in calls if getattr(n.func, "id", None) == "print"}

        def remember(*values: object) -> None:
            text = " ".join(map(str, values))
            line = sys._getframe(1).f_lineno
            printed[ends.get(line, line)] = text
            print(text)

        output = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(output):
            exec(compile(self.code, str(self), "exec"), {"print": remember, "__name__": "__main__"})
        return printed | {0: output.getvalue()}


def snippets(page: Path) -> Iterator[Snippet]:
    text = page.read_text()
    for match in CODE.finditer(text):
        shown = PRINTS.match(text, match.end())
        line = text.count("\n", 0, match.start()) + 2
        yield Snippet(page, line, match[1], shown[1] if shown else None)


def agrees(said: str, found: str) -> bool:
    """Whether words are the same and numbers about the same: a model differs between machines."""
    if NUMBER.sub("#", said).split() != NUMBER.sub("#", found).split():
        return False
    return all(map(about_equal, NUMBER.findall(said), NUMBER.findall(found)))


def about_equal(said: str, found: str) -> bool:
    """Numbers of terms within a half, or two; others within 0.03, or a twentieth.

    How many terms are chosen depends on rounding: with the oldest versions of all packages the
    first example of README has 6, with the newest 10.
    """
    a, b = float(said), float(found)
    if "." in said:
        return abs(a - b) <= max(0.03, 0.05 * abs(a))
    return abs(a - b) <= max(2, 0.5 * abs(a))


def write(page: Path) -> None:
    """Write to a page what its code prints."""
    text = page.read_text()
    for snippet in snippets(page):
        with tempfile.TemporaryDirectory() as folder:
            try:
                printed = snippet.run(Path(folder))
            except ImportError as error:
                print(f"{snippet}: {error}")
                continue
        lines = snippet.code.splitlines()
        for number, comment in snippet.comments().items():
            lines[number - 1] = lines[number - 1].removesuffix(comment) + printed[number]
        text = text.replace(snippet.code, "\n".join(lines) + "\n")
        if snippet.text is not None:
            text = text.replace(snippet.text, printed[0])
        print(snippet)
    page.write_text(text)


def demonstrated(commands: list[str]) -> str:
    """Return the commands and what they print, on the files of ``make demo``."""
    run = "import sys; sys.argv[0] = 'zeronorm'; from zeronorm.tables.cli import main; main()"
    options = {"env": os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80"}, "text": True}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "examples" / "make_demo_csv.py"
        subprocess.run([sys.executable, script, folder], check=True)
        for command in commands:
            words = [sys.executable, "-c", run, *command.split()[1:]]
            done = subprocess.run(words, cwd=folder, capture_output=True, check=True, **options)
            printed = (done.stdout + done.stderr).rstrip().splitlines()
            lines += [f"$ {command}", *(line.rstrip() for line in printed)]
    return "\n".join(lines) + "\n"


def write_demo(page: Path) -> None:
    """Write to a page what the commands of its demonstration print."""
    text = page.read_text()
    if match := DEMO.search(text):
        commands = re.findall(r"^\$ (.*)$", match[2], re.MULTILINE)
        page.write_text(DEMO.sub(match[1] + demonstrated(commands) + match[3], text))


if __name__ == "__main__":
    for one in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        write(one)
        write_demo(one)
