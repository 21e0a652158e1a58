"""What the printers of several languages share: numbers, and files of more than one part."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zeronorm import __version__
from zeronorm.export.description import Description
from zeronorm.files import write_text


def made_by(description: Description) -> str:
    """Say in one line what a file is."""
    return f"{description.summary}. Written by zeronorm {__version__}."


def number(value: float) -> str:
    """Return the shortest text that reads as this very number; finite ones only."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as a number.")
    return repr(value)


def spelling(word: str, levels: Sequence[str]) -> str:
    """Return how levels spell a truth value, as it is if they do not."""
    ways = (word, word.capitalize(), word.upper())
    return next((way for way in ways if way in levels), word)


def lines_of(
    values: Sequence[Any] | np.ndarray, printed: Callable[[Any], str], width: int = 100
) -> str:
    """Return texts separated by commas, on lines of at most this width."""
    lines, line = [], ""
    for value in values:
        text = printed(value) + ", "
        if len(line) + len(text) > width:
            lines.append(line.rstrip())
            line = ""
        line += text
    return "\n".join([*lines, line.rstrip(", ")])


def write_folder(path: str | os.PathLike[str], files: dict[str, str]) -> None:
    """Write a new folder with these files, all of it or nothing.

    ValueError if there is something under its name already.
    """
    target = os.path.abspath(path)
    if os.path.exists(target) and (not os.path.isdir(target) or os.listdir(target)):
        raise ValueError(f"{os.fspath(path)} exists and is not empty; take another name.")
    temporary = tempfile.mkdtemp(dir=os.path.dirname(target), prefix=".zeronorm-")
    try:
        for name, text in files.items():
            write_text(os.path.join(temporary, name), text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o777 & ~mask)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return the text, written to a file too where one is named: all of it or nothing."""
    if path is not None:
        write_text(path, text)
    return text
