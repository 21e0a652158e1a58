"""The public names: those that the reference, api.rst, lists."""

from __future__ import annotations

import re
from pathlib import Path

API = Path(__file__).parent / "api.rst"

#: The module of every public name.
PUBLIC = {
    name: module
    for module, name in re.findall(r"^   (zeronorm[\w.]*)\.(\w+)$", API.read_text(), re.MULTILINE)
}


def path_of(name: str) -> str:
    """Return the name with its module."""
    return f"{PUBLIC[name]}.{name}"
