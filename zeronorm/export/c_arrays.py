"""Constant arrays of a C header, and how many bytes they take."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from zeronorm.export.c_form import Form
from zeronorm.export.text import lines_of

#: What stands for itself in a C string.
PLAIN = frozenset(string.ascii_letters + string.digits + " _-.,:;<>=+()")


def c_text(text: str) -> str:
    """Return a text in UTF-8 as a C string; letters and digits of ASCII as they are, else octal.

    A NUL ends a text in C, so that one with a NUL inside would be read as another: ValueError.
    """
    if "\0" in text:
        raise ValueError(f"{text!r} cannot be exported to C, where a text ends at a NUL.")
    plain = "".join(
        chr(byte) if chr(byte) in PLAIN else f"\\{byte:03o}" for byte in text.encode("utf-8")
    )
    return f'"{plain}"'


def comment_text(text: str) -> str:
    """Return a text that cannot end a comment or a line."""
    return "".join(c if c.isalnum() or c in " _-.,:;<>=+()'\"%#" else "_" for c in text)


class Arrays:
    """The arrays of a header, in the order they were added."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.texts: list[str] = []
        self.n_bytes = 0

    def add(self, name: str, values: Any) -> None:
        """Add numbers of the header's type."""
        values = np.asarray(values, dtype=np.float64)
        self.n_bytes += values.size * (8 if self.form.real == "double" else 4)
        self._declare(name, self.form.real, values, self._number)

    def add_integers(self, name: str, values: Any, kind: str = "int16_t") -> None:
        """Add integers; ValueError if they have no room."""
        values = np.asarray(values)
        bits = 32 if kind == "int32_t" else 16
        if values.size and np.abs(values).max() >= 2 ** (bits - (kind[0] == "i")):
            raise ValueError(f"{name} of the model has no room in integers of {bits} bits.")
        self.n_bytes += values.size * bits // 8
        self._declare(name, kind, values, lambda value: str(int(value)), bits == 16)

    def add_texts(self, name: str, texts: list[str]) -> None:
        """Add texts, which are pointers to constants."""
        self.n_bytes += sum(len(text.encode("utf-8")) + 1 for text in texts)
        body = lines_of(texts, c_text)
        head = self.form.named(f"static const char *const model_{name}[] = ")
        self.texts.append(head + "{\n" + _indented(body) + "\n};\n")

    def _number(self, value: float) -> str:
        if math.isfinite(value):
            return self.form.number(value)
        if math.isnan(value):
            return f"({self.form.real})NAN"
        return f"{'-' if value < 0 else ''}({self.form.real})INFINITY"

    def _declare(
        self, name: str, kind: str, values: np.ndarray, printed: Any, in_flash: bool = True
    ) -> None:
        shape = "".join(f"[{size}]" for size in values.shape)
        word = " ZERONORM_FLASH" if in_flash else ""
        head = self.form.named(f"static const {kind} model_{name}{shape}{word} = ")
        if values.ndim == 1:
            body = _indented(lines_of(values, printed))
        else:
            rows = [lines_of(row, printed, 96) for row in values]
            body = ",\n".join("    {" + row.replace("\n", "\n     ") + "}" for row in rows)
        self.texts.append(head + "{\n" + body + "\n};\n")


def _indented(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")
