"""Which modules a row of X meets on its way through a fit, by a trace of all calls.

    python -m tests.walk SparseSVC
    python -m tests.walk ZeroNormSVC
    python -m tests.walk fit

A module is met if one of its functions is given rows: an array with an axis as long as all rows or
a fold of them (`LENGTHS`) among its arguments, or among the attributes of these, two levels deep (a
solver's problem has its rows in a design). Modules that are entered without rows are listed apart,
and so are those that every room calls (`HELPERS`).
"""

from __future__ import annotations

import inspect
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: Rows of the problem: a number that no count of features, terms or settings comes near.
ROWS = 211

#: How many rows there are in all, and in the parts of two to five folds.
PARTS = {size for k in range(2, 6) for size in (ROWS // k, ROWS // k + 1)}
LENGTHS = {ROWS, *PARTS, *(ROWS - size for size in PARTS)}

#: Small modules that know nothing of methods.
HELPERS = ("arrays", "blocks", "checks", "distances", "rbf", "base.sampling", "expansion_parts")


def met(call: Callable[[], Any]) -> tuple[list[str], list[str]]:
    """Return the modules that are given rows while `call` runs, by first call, and the others."""
    entered: dict[str, bool] = {}
    known: set[Any] = set()  # functions that have been seen with rows

    def look(frame: Any, event: str, arg: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # not the body of a module or class
        if event != "call" or not is_function or code in known or not name.startswith("zeronorm."):
            return
        short = name.removeprefix("zeronorm.")
        if any(map(_has_rows, _arguments(frame))):
            entered[short] = True
            known.add(code)
        else:
            entered.setdefault(short, False)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [name for name in entered if entered[name]], [n for n in entered if not entered[n]]


def _arguments(frame: Any) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    return [frame.f_locals.get(name) for name in code.co_varnames[:count]]


def _has_rows(value: Any, depth: int = 2) -> bool:
    if isinstance(value, np.ndarray):
        return not LENGTHS.isdisjoint(value.shape)
    if isinstance(value, (list, tuple)):
        return depth > 0 and any(_has_rows(entry, depth - 1) for entry in value)
    inside = getattr(value, "__dict__", None)
    if isinstance(value, type) or not isinstance(inside, dict) or depth == 0:
        return False
    return any(_has_rows(entry, depth - 1) for entry in inside.values())


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two features, and a class inside a circle."""
    X = np.random.RandomState(0).uniform(-1, 1, size=(ROWS, 2))
    return X, (X**2).sum(axis=1) < 0.6


def walk(name: str) -> tuple[list[str], list[str]]:
    """Return the modules that are given rows, and the others that are entered."""
    import zeronorm

    for public in zeronorm.__all__:  # what is imported later would be counted
        getattr(zeronorm, public)
    X, y = problem()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        if name != "fit":
            return met(lambda: getattr(zeronorm, name)(random_state=0).fit(X, y))
        from typer.testing import CliRunner

        from zeronorm.tables.cli import app

        lines = [f"{a:.4f},{b:.4f},{'in' if c else 'out'}" for (a, b), c in zip(X, y, strict=True)]
        data = Path(folder, "data.csv")
        data.write_text("\n".join(["a,b,y", *lines]) + "\n")
        options = ["--target", "y", "--out", str(Path(folder, "model.json")), "--n-jobs", "1"]
        return met(lambda: CliRunner().invoke(app, ["fit", str(data), *options]))


if __name__ == "__main__":
    rows, others = walk(sys.argv[1])
    helpers = [name for name in rows if name in HELPERS]
    counted = [name for name in rows if name not in HELPERS]
    print(f"{len(counted)} modules are given rows:", *counted, sep="\n  ")
    print(f"{len(helpers)} helpers are given rows:", *helpers, sep="\n  ")
    print(f"{len(others)} more are entered:", *others, sep="\n  ")
