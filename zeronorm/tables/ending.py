"""How a command ends: with its result, with one sentence that says why not, or by a signal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

import joblib
import typer

from zeronorm.tables.table import TableError

#: Ctrl-C, ``kill``, and a terminal that is closed (which Windows does not have).
SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


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


class Interruption(KeyboardInterrupt):
    """A signal asked the process to end.

    Parameters
    ----------
    number : int
        The signal; `exit_code` is what a shell reports of a process that it ended.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number

    @property
    def exit_code(self) -> int:
        """Exit code of the process."""
        return 128 + self.number


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise :class:`Interruption` where a signal finds the block.

    An exception and not the end of the process at once, so that joblib ends its processes, which
    would outlive this one by minutes, and every `finally` on the way removes what it made. Signals
    that were ignored before (``nohup``) still are.
    """
    is_main = threading.current_thread() is threading.main_thread()  # others may set no handlers
    before = {number: signal.getsignal(number) for number in SIGNALS} if is_main else {}
    heard = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
    for number in heard:
        signal.signal(number, _raise)
    try:
        yield
    except Interruption:
        raise
    except KeyboardInterrupt:
        raise Interruption from None
    finally:
        for number in heard:
            signal.signal(number, before[number])


def start_workers(n_jobs: int) -> None:
    """Start joblib's processes in such a way that Ctrl-C is the business of this process alone.

    A terminal sends it to all processes, and each worker would print where it was. A new process
    goes on ignoring what the one that starts it ignores; that takes a few milliseconds.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        started = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
            joblib.delayed(int)() for _ in range(joblib.effective_n_jobs(n_jobs))
        )
    finally:
        signal.signal(signal.SIGINT, before)
    for _ in started:  # they stay for the searches to come
        pass


def ignore_signals() -> None:
    """Let nothing but ``kill -9`` end the process until the end of :func:`interruptible`.

    For the moment in which a result is written: afterwards "nothing was written" would be untrue.
    """
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _raise(number: int, frame: FrameType | None) -> None:
    ignore_signals()  # a second Ctrl-C must not cut the cleaning short
    raise Interruption(number)
