"""A progress bar for what takes long."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}"),
    )
    screen = Console(stderr=True) if console is None else console
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(description, total=1.0, text="")
        yield lambda share, text="": bar.update(task, completed=share, text=text)


@contextmanager
def counting_bar(console: Any, total: int, description: str) -> Iterator[str | None]:
    """Show a bar that follows the size of a file, whose name it yields; none if nobody looks."""
    if not console.is_terminal:
        yield None
        return
    with (
        tempfile.NamedTemporaryFile(prefix="zeronorm-progress-") as file,
        progress_bar(description, console=console) as update,
    ):
        finished = threading.Event()

        def show_count() -> None:
            update(Path(file.name).stat().st_size / total)

        def follow() -> None:
            while not finished.wait(0.2):
                show_count()

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield file.name
        finally:
            finished.set()
            follower.join()
            show_count()
