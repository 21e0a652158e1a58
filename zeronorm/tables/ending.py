"""How a command ends: with its result, or with one sentence that says why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from zeronorm.tables.interruption import Interruption, interruptible
from zeronorm.tables.reading import TableError


@contextmanager
def clean_end() -> Iterator[None]:
    """Let an error, and an interruption before anything is written, end in a sentence."""
    try:
        with one_sentence_errors(), interruptible():
            yield
    except Interruption as interruption:
        typer.echo("Interrupted; nothing was written.", err=True)
        raise typer.Exit(interruption.exit_code) from None


@contextmanager
def one_sentence_errors() -> Iterator[None]:
    """Turn what is wrong with a file into one sentence on stderr and exit code 2."""
    try:
        yield
    except TableError as error:
        typer.echo(f"zeronorm: {error}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def screen() -> Iterator[None]:
    """Say that the disk behind a redirected output is full; a reader may leave a pipe early."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TableError(f"Standard output cannot be written: {error.strerror}.") from None


def print_notes(notes: Iterable[str]) -> None:
    """Print sentences beside the result, on stderr."""
    for note in notes:
        typer.echo(note, err=True)
