"""A progress bar for what takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(
    description: str, *, enabled: bool = True, console: Any = None
) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error while the block runs, and take it away afterwards.

    Yields
    ------
    update : callable
        Takes the share that is done, between 0 and 1, and a word on where things stand.
    """
    if not enabled:
        yield lambda share, text="": None
        return
    # Here, and not above: importing the library should not cost a screen library.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"),
    )
    screen = Console(stderr=True) if console is None else console
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(description, total=1.0, text="")
        yield lambda share, text="": bar.update(task, completed=share, text=text)


def within(
    update: Callable[[float, str], Any], start: float, part: float, text: str = ""
) -> Callable[..., Any]:
    """Return an update for a part of the whole, with its own text if none is given."""
    return lambda share, word=text: update(start + part * share, word)
