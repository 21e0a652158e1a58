"""How a C header is written: its names, its numbers, and its constant arrays."""

from __future__ import annotations

import math
import re
import string
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zeronorm.checks import check_one_of
from zeronorm.export.text import lines_of, number

#: What stands for itself in a C string.
PLAIN = frozenset(string.ascii_letters + string.digits + " _-.,:;<>=+()")


@dataclass
class Header:
    """How a header is written, and its arrays in the order they were added.

    ``name`` is what all names begin with; ``precision`` says what the numbers are, ``own_exp``
    where exp comes from.
    """

    name: str
    precision: str
    own_exp: bool
    texts: list[str] = field(default_factory=list)
    n_bytes: int = 0

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name):
            raise ValueError(
                f"name is what all names in the header begin with, so {self.name!r} must be "
                "letters, digits and underscores, a letter first."
            )
        check_one_of("precision", self.precision, ("double", "float", "int16"))

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "double" if self.precision == "double" else "float"

    @property
    def ending(self) -> str:
        """What functions of math.h end in."""
        return "" if self.real == "double" else "f"

    def number(self, value: float) -> str:
        """Return a constant of the type."""
        return number(value) if self.real == "double" else single(value)

    def named(self, text: str, **words: str) -> str:
        """Return a piece of code with its words replaced, and the names of this header.

        Once for each piece: the name of the header may itself begin with what is replaced.
        """
        text = self.worded(text, **words)
        # In one pass, for the same reason.
        own = {"model_": f"{self.name}_", "MODEL_": f"{self.name.upper()}_", "real": self.real}
        return re.sub(r"\b(model_|MODEL_|real\b)", lambda match: own[match[1]], text)

    def worded(self, text: str, **words: str) -> str:
        """Return a piece of code with its words replaced, to be named with what is around it."""
        words.setdefault("EXP", "model_exp" if self.own_exp else "exp" + self.ending)
        for word, new in words.items():
            text = re.sub(rf"\b{word}\b", new.replace("\\", r"\\"), text)
        return text

    def add(self, name: str, values: Any) -> None:
        """Add numbers of the header's type."""
        values = np.asarray(values, dtype=np.float64)
        self.n_bytes += values.size * (8 if self.real == "double" else 4)
        self._declare(name, self.real, values, self._number)

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
        head = self.named(f"static const char *const model_{name}[] = ")
        self.texts.append(head + "{\n" + _indented(body) + "\n};\n")

    def _number(self, value: float) -> str:
        if math.isfinite(value):
            return self.number(value)
        if math.isnan(value):
            return f"({self.real})NAN"
        return f"{'-' if value < 0 else ''}({self.real})INFINITY"

    def _declare(
        self, name: str, kind: str, values: np.ndarray, printed: Any, in_flash: bool = True
    ) -> None:
        shape = "".join(f"[{size}]" for size in values.shape)
        word = " ZERONORM_FLASH" if in_flash else ""
        head = self.named(f"static const {kind} model_{name}{shape}{word} = ")
        if values.ndim == 1:
            body = _indented(lines_of(values, printed))
        else:
            rows = [lines_of(row, printed, 96) for row in values]
            body = ",\n".join("    {" + row.replace("\n", "\n     ") + "}" for row in rows)
        self.texts.append(head + "{\n" + body + "\n};\n")


def single(value: float) -> str:
    """Return a constant of single precision; what is too small or large is a ValueError."""
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if np.isinf(rounded):
        raise ValueError(f"{value:g} is beyond single precision; take precision='double'.")
    text = f"{rounded:.9g}"
    return text + ("f" if any(c in text for c in ".e") else ".0f")


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


def _indented(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")
