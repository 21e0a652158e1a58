"""The progress bar: something on a terminal, nothing elsewhere, nothing left behind."""

import io

import pytest
from rich.console import Console

from zeronorm.base.progress import progress_bar


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_the_bar_shows_description_share_and_text():
    console = terminal()
    with progress_bar("searching", console=console) as update:
        update(0.25, "round 3, 12 terms")
    shown = console.file.getvalue()
    assert all(text in shown for text in ("searching", "25%", "round 3, 12 terms"))


def test_the_bar_is_taken_away_afterwards():
    console = terminal()
    with progress_bar("searching", console=console) as update:
        update(1.0)
    # Cursor up, line erased: the last thing that is written.
    assert console.file.getvalue().endswith("\x1b[2K")


def test_the_bar_is_taken_away_after_an_error_and_the_error_goes_on():
    console = terminal()
    with pytest.raises(KeyboardInterrupt), progress_bar("searching", console=console) as update:
        update(0.5, "half way")
        raise KeyboardInterrupt
    assert console.file.getvalue().endswith("\x1b[2K")


def test_a_disabled_bar_writes_nothing(capsys):
    console = terminal()
    with progress_bar("searching", enabled=False, console=console) as update:
        update(0.5, "half way")
        update(1.0)
    with progress_bar("searching", enabled=False) as update:
        update(0.5)
    assert console.file.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_the_bar_goes_to_standard_error(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # how rich is told that it writes to a terminal
    with progress_bar("searching") as update:
        update(0.5, "half way")
    out, err = capsys.readouterr()
    assert out == "" and "searching" in err
