"""Writing and reading files so that a reader never meets half of one."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` under a temporary name in the same folder, then rename.

    An interruption leaves the old file or none, never a part of the new one.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        # mkstemp makes private files; give the usual permissions back.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file; a damaged one is a ``ValueError`` that names the file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, an endless integer
        raise ValueError(f"{path} is not a readable JSON file: {error}") from error


def readable_json(data: dict[str, Any], indent: str = "") -> str:
    """Format ``data`` with one line per key, and one line per row of a matrix."""
    inner = indent + "  "
    lines = []
    for key, value in data.items():
        if isinstance(value, dict) and any(isinstance(v, (dict, list)) for v in value.values()):
            text = readable_json(value, inner)
        elif isinstance(value, list) and value and isinstance(value[0], (list, dict)):
            rows = f",\n{inner}  ".join(json.dumps(row, allow_nan=False) for row in value)
            text = f"[\n{inner}  {rows}\n{inner}]"
        else:
            text = json.dumps(value, allow_nan=False)
        lines.append(f"{inner}{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
