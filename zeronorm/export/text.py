"""What the printers of several languages share: numbers, and files of more than one part."""

from __future__ import annotations

import math
import os
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


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return the text, written to a file too where one is named: all of it or nothing."""
    if path is not None:
        write_text(path, text)
    return text
