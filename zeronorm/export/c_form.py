"""How a C header is written: its names and its numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from zeronorm.export.text import number

PRECISIONS = ("double", "float", "int16")


@dataclass(frozen=True)
class Form:
    """How a header is written: the name before all names, the numbers, where exp comes from."""

    name: str = "model"
    precision: str = "double"
    own_exp: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name):
            raise ValueError(
                f"name is what all names in the header begin with, so {self.name!r} must be "
                "letters, digits and underscores, a letter first."
            )
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"precision must be one of {', '.join(PRECISIONS)}; got {self.precision!r}."
            )

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
        """Return a piece of code with its words replaced, and the names of this header."""
        words.setdefault("EXP", "model_exp" if self.own_exp else "exp" + self.ending)
        for word, new in words.items():
            text = re.sub(rf"\b{word}\b", new.replace("\\", r"\\"), text)
        text = re.sub(r"\bmodel_", f"{self.name}_", text)
        text = re.sub(r"\bMODEL_", f"{self.name.upper()}_", text)
        return re.sub(r"\breal\b", self.real, text)


def single(value: float) -> str:
    """Return a constant of single precision; what is too small or large is a ValueError."""
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if np.isinf(rounded):
        raise ValueError(f"{value:g} is beyond single precision; take precision='double'.")
    text = f"{rounded:.9g}"
    return text + ("f" if any(c in text for c in ".e") else ".0f")
