"""A progress bar for what takes long: on a terminal, and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from time import perf_counter
from typing import Any


@contextmanager
def progress_bar(
    description: str,
    *,
    enabled: bool = True,
    console: Any = None,
    clock: Callable[[], float] = perf_counter,
) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error while the block runs, and take it away afterwards.

    In a notebook it is one output of the cell, which changes in place and is empty at the end.

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

    screen = Console(stderr=True) if console is None else console
    is_notebook = screen.is_jupyter
    show = _in_notebook(description, clock) if is_notebook else _on_screen(description, screen)
    with show as update:
        yield update


@contextmanager
def _on_screen(description: str, screen: Any) -> Iterator[Callable[..., None]]:
    """Show the bar of rich."""
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


@contextmanager
def _in_notebook(description: str, clock: Callable[[], float]) -> Iterator[Callable[..., None]]:
    """Show a bar in the output of a cell.

    That of rich needs ipywidgets, and without them warns again and again. An output that is changed
    in place needs nothing, and works wherever notebooks are shown. It is drawn when the text or the
    per cent have changed, not with every step.
    """
    from IPython.display import display

    start, drawn = clock(), ""

    def content(share: float, text: str) -> dict[str, str]:
        words = f"{description} {100 * share:.0f} % {text}".rstrip()
        if share > 0:
            seconds = clock() - start
            words += f" ({_clock(seconds)}, left {_clock(seconds / share - seconds)})"
        bar = f'<progress value="{share:.4f}" max="1"></progress>'
        return {"text/plain": words, "text/html": f"{bar} {escape(words)}"}

    handle = display(content(0.0, ""), raw=True, display_id=True)

    def update(share: float, text: str = "") -> None:
        nonlocal drawn
        state = f"{100 * share:.0f} {text}"
        if state != drawn:
            drawn = state
            handle.update(content(share, text), raw=True)

    try:
        yield update
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _clock(seconds: float) -> str:
    """Write seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def within(
    update: Callable[[float, str], Any], start: float, part: float, text: str = ""
) -> Callable[..., Any]:
    """Return an update for a part of the whole, with its own text if none is given."""
    return lambda share, word=text: update(start + part * share, word)
