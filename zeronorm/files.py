"""Writing and reading files so that a reader never meets half of one, or another one."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from zeronorm.checks import is_number, is_text, shown

Read = TypeVar("Read")

#: Types of class labels that a file may hold.
LABEL_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "str", "object"),
)

#: No model file is longer: ten thousand vectors of a thousand features fit. Python objects take
#: up to twenty times the room of their text, so what is longer could fill the memory.
MAX_BYTES = 2**28


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` in UTF-8, all of it or nothing, see :func:`write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write ``content``, all of it or nothing, see :func:`replacing`."""
    with replacing(path) as stream:
        stream.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file under a temporary name in the same folder; rename it at the end of the block.

    An interruption leaves the old file or none, never a part of the new one, and so does a power
    cut. A link stays: what it points to is written. A file that was there keeps its permissions. A
    folder, a pipe and a device are an ``OSError``: a file would take their place.
    """
    target = link_target(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Not a file, and none is put in its place", os.fspath(path))
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".zeronorm-")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _permissions(target))
        os.replace(temporary, target)
    except BaseException:
        # An interruption just after the renaming finds no temporary file any more.
        Path(temporary).unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def link_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to ``path`` writes: for a link, what it points to."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # realpath gives up on links that point at each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return target


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or the usual ones: mkstemp makes private files."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _flush_folder(folder: Path) -> None:
    """Let the new name outlive a power cut, where a folder can be opened (not on Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that has no such thing
            raise
    finally:
        os.close(handle)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file or pipe of at most `MAX_BYTES`.

    A damaged one, one with a key that stands twice in an object, a longer one and a device are a
    ``ValueError`` that names the file.
    """
    content = _read_bytes(path)
    try:
        text = content.decode("utf-8")
        data = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
        if "\\u" in text:  # half a character cannot be written or printed again
            json.dumps(data, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, an endless integer
        raise ValueError(f"{path} is not a readable JSON file: {error}") from error
    return data


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read at most `MAX_BYTES`; a device may have no end."""
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise ValueError(f"{path} is a device; a model is read from a file or a pipe.")
        content, is_long = bytearray(), status.st_size > MAX_BYTES
        # In pieces: the size of a pipe is not known before it is read.
        while not is_long and (piece := stream.read(2**20)):
            content += piece
            is_long = len(content) > MAX_BYTES
    if is_long:
        raise ValueError(
            f"{path} is longer than the {MAX_BYTES // 2**20} MiB that a model file may have."
        )
    return bytes(content)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        commonest = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{commonest!r} stands there more than once")
    return data


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def model_text(data: dict[str, Any]) -> str:
    """Return the text of a model file: ``data`` and, after format and version, its checksum.

    Not on the last line, so that the line can be removed by a person who edits the file.
    """
    head = {key: data[key] for key in ("format", "version")}
    return readable_json(head | {"checksum": _checksum(data)} | data) + "\n"


def write_model(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write a model file, all of it or nothing; a ``ValueError`` if it could not be read again."""
    text = model_text(data)
    check_length(text)
    write_text(path, text)


def read_model(path: str | os.PathLike[str], from_dict: Callable[[Any], Read]) -> Read:
    """Read a model file; a ``ValueError`` about its content names the file."""
    data = read_json(path)
    try:
        return from_dict(data)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def check_format(
    data: Any,
    what: str,
    name: str,
    version: int | tuple[int, ...],
    needed: Iterable[str],
    optional: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the content of a model file of this format, version (or one of these) and these keys.

    What it describes, such as "kernel expansion", is named where something is wrong.
    """
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"Not a {what}: 'format' is not {name!r}.")
    known = version if isinstance(version, tuple) else (version,)
    if data.get("version") not in known:
        said = " and ".join(map(str, known))
        raise ValueError(
            f"This file has version {data.get('version')!r}; this zeronorm reads {said}."
        )
    data = without_checksum(data, ("format", "version", *needed, *optional))
    missing = [key for key in needed if key not in data]
    if missing:
        raise ValueError(f"The {what} is damaged: {', '.join(missing)} missing.")
    return data


def number_rows(rows: Any, width: int, what: str, key: str) -> np.ndarray:
    """Read a list of rows, each of ``width`` finite numbers."""
    if not isinstance(rows, list):
        raise ValueError(f"The {what} is damaged: {key} is not a list.")
    for row in rows:
        if not isinstance(row, list) or len(row) != width or not all(map(is_number, row)):
            raise ValueError(f"The {what} is damaged: {key} has a row that is not {width} numbers.")
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def check_length(text: str) -> None:
    """Raise a ``ValueError`` for the text of a model that `read_json` would not read again."""
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise ValueError(
            f"The model is longer than the {MAX_BYTES // 2**20} MiB that a model file may have; "
            "keep fewer terms, or pickle it."
        )


def without_checksum(data: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return the content of a model file, which has these keys, after a look at its checksum.

    A file without one (zeronorm 0.1 wrote none, and a person may take the line out) is taken as
    it is. A key that is not known would be passed over, so it is a ``ValueError`` like a content
    that does not match.
    """
    content = {key: value for key, value in data.items() if key != "checksum"}
    unknown = content.keys() - set(keys)
    if unknown:
        raise ValueError(f"{min(unknown)!r} is not a key of this format.")
    if "checksum" in data and data["checksum"] != _checksum(content):
        raise ValueError(
            "The content does not match the checksum, so the file is damaged or was edited; "
            'if you edited it on purpose, remove the line that starts with "checksum".'
        )
    return content


def _checksum(data: dict[str, Any]) -> str:
    """SHA-256 of the values, however they are laid out as text."""
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    except RecursionError as error:  # lists in lists, almost too many of them to be read at all
        raise ValueError(f"The content is no model: {error}.") from error
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


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


def is_label(label: Any) -> bool:
    """Whether a file may hold this class label."""
    return isinstance(label, (bool, int)) or is_number(label) or is_text(label)


def labels_of(labels: list[Any], dtype: Any) -> np.ndarray:
    """Read labels that must be of this type as they are."""
    try:
        found = np.array(labels, dtype=dtype if dtype in LABEL_TYPES else "bool")
        is_same = [(type(a), a) for a in found.tolist()] == [(type(a), a) for a in labels]
    except (ValueError, OverflowError):  # a number that has no room in this type
        is_same = False
    if not is_same:
        raise ValueError(f"The decision is damaged: the labels are not of type {shown(dtype)}.")
    return found
