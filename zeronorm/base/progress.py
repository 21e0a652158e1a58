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
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Remaining(ProgressColumn):
        """The time to come. That of rich forgets steps that took more than half a minute."""

        def render(self, task: Any) -> Text:
            elapsed, told_at = task.elapsed or 0.0, task.fields["told_at"]
            return Text(f"{remaining(task.completed, told_at, elapsed)} left")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        Remaining(),
        TextColumn("{task.fields[text]}"),
    )
    screen = Console(stderr=True) if console is None else console
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(description, total=1.0, text="", told_at=0.0)

        def update(share: float, text: str = "") -> None:
            told_at = bar.tasks[0].elapsed or 0.0
            bar.update(task, completed=share, text=text, told_at=told_at)

        yield update


def remaining(share: float, told_at: float, elapsed: float) -> str:
    """Return how long the rest takes, if it goes on like the part that is done.

    Parameters
    ----------
    share : float
        What was done.
    told_at, elapsed : float
        Seconds from the beginning to when that was told, and to now.
    """
    if share <= 0.0:
        return "-:--"
    seconds = max(0, round(told_at * (1.0 - share) / share - (elapsed - told_at)))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def within(
    update: Callable[[float, str], Any], start: float, part: float, text: str = ""
) -> Callable[..., Any]:
    """Return an update for a part of the whole, with its own text if none is given."""
    return lambda share, word=text: update(start + part * share, word)
