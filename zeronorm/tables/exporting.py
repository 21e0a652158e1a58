"""The command ``zeronorm export``: its options, and what they mean for each language."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zeronorm.files import write_bytes
from zeronorm.model import Model
from zeronorm.saving import load
from zeronorm.tables.columns import levels_meant
from zeronorm.tables.dates import DatePart
from zeronorm.tables.ending import clean_end, ignore_signals, print_notes
from zeronorm.tables.model import TableModel, writable
from zeronorm.tables.options import LANGUAGES
from zeronorm.tables.sources import read_table
from zeronorm.tables.table import MISSING, Table, TableError, listing
from zeronorm.tables.target import read_numbers
from zeronorm.tables.training import check_out

#: Options of each language.
OPTIONS: dict[str, tuple[str, ...]] = {
    "c": ("precision", "own_exp", "arduino", "name", "data"),
    "onnx": ("precision",),
    "sql": ("table", "dialect", "keep"),
    "javascript": (),
}


def run(path: Path, to: str, out: Path, options: dict[str, Any]) -> None:
    """Write a saved model in another language, and say so.

    Parameters
    ----------
    path : Path
        The model.
    to : str
        The language.
    out : Path
        The file.
    options : dict
        Options of the command line, None, False or an empty list where they were not given.
    """
    with clean_end():
        data = options["data"]
        if not options["arduino"]:  # a new folder, which says itself what is wrong with it
            check_out(out, path, *([data] if data else []))
        given = _given(to, options)
        model = loaded(path)
        try:
            with writable(out):
                note = _write(model, to, out, given)
        except (ValueError, ImportError) as error:
            raise TableError(str(error)) from None
        print_notes([note, *_notes_on_columns(model)])


def _notes_on_columns(model: Any) -> list[str]:
    """Say which columns go in as other numbers than the file has: what is written reads no text."""
    columns = model.encoder.columns if isinstance(model, TableModel) else []
    parts: dict[str, list[str]] = {}
    for column in columns:
        if isinstance(column.form, DatePart):
            parts.setdefault(column.header, []).append(column.name)
    return [
        f"It takes the numbers of column '{name}', not its dates: {listing(names)}; days are since "
        "1970-01-01, and the guide says how to compute the others."
        for name, names in parts.items()
    ]


def _given(to: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; `TableError` if the language has none of that name."""
    if to not in OPTIONS:
        raise TableError(f"--to is one of {', '.join(LANGUAGES)}, not '{to}'.")
    given = {key: value for key, value in options.items() if value or value == ""}
    for key, value in given.items():
        option = f"--{key.replace('_', '-')}"
        if key not in OPTIONS[to]:
            raise TableError(f"{option} is no option of --to {to}.")
        if value == "":
            raise TableError(f"{option} is empty; give a name, or leave the option out.")
    return given


def loaded(path: Path) -> Any:
    """Return a saved model; TableError, in a sentence, if there is none in the file."""
    try:
        model = load(path)
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise TableError(f"{error}") from None
    if not isinstance(model, (Model, TableModel)):
        raise TableError(f"{path} holds a selection of features, which predicts nothing.")
    return model


def _write(model: Any, to: str, out: Path, given: dict[str, Any]) -> str:
    from zeronorm import export

    if to == "onnx":
        try:
            made = export.to_onnx(model, dtype=given.pop("precision", "float"))
        except ValueError as error:  # the function has another name for the option
            raise TableError(str(error).replace("dtype", "--precision")) from None
        ignore_signals()
        write_bytes(out, made.SerializeToString())
        return _wrote(out)
    if to == "c":
        rows = given.pop("data", None)
        if rows is not None:
            given |= _rows(model, read_table(rows))
        if "arduino" in given:
            ignore_signals()
            export.to_c(model, out, **given)
            return f"Wrote the folder {out}."
        given.setdefault("name", _name_of(out))
    write_one: Callable[..., str] = getattr(export, f"to_{to}")
    # Once without a file: whatever is wrong is said before anything is written.
    write_one(model, **given)
    ignore_signals()
    write_one(model, out, **given)
    return _wrote(out)


def _name_of(out: Path) -> str:
    """Return a name for C that begins like the file."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", out.stem)
    return name if re.match("[A-Za-z]", name) else f"model_{name}"


def _wrote(out: Path) -> str:
    return f"Wrote {out}, {os.path.getsize(out):,} bytes."


def _rows(model: Any, table: Table) -> dict[str, Any]:
    """Return the rows whose answer is known, and these."""
    check_has_table(model)
    if not hasattr(model.model, "classes_"):
        numbers = read_numbers(table, model.target)
        return {"X": table.rows(numbers.known), "y": numbers.y[numbers.known].tolist()}
    answers = table.column(model.target)
    known = [answer not in MISSING for answer in answers]
    if not any(known):
        raise TableError(f"Column '{model.target}' of {table.path} is empty.")
    rows = table.rows(known)  # type: ignore[arg-type]
    return {"X": rows, "y": [_as(model, answer) for answer in rows.column(model.target)]}


def check_has_table(model: Any) -> None:
    """Raise TableError unless the model takes rows of a CSV file."""
    if not isinstance(model, TableModel):
        raise TableError("--data goes with a model that 'zeronorm fit --out' wrote.")


def _as(model: TableModel, answer: str) -> Any:
    """Return an answer as the model spells it: 1.0 is the class 1."""
    labels = model.model.classes_.tolist()
    try:
        spelled = {float(label): label for label in labels}
        return spelled.get(float(answer), answer)
    except ValueError:
        return levels_meant([str(label) for label in labels], [answer]).get(answer, answer)
