"""The progress bar: on a terminal or in a notebook, nothing elsewhere, nothing left behind."""

import io
import itertools
import sys
import types
import warnings

import pytest
from rich.console import Console

from tests.data import moons
from zeronorm import SparseSVC
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


class Cell:
    """A notebook's display, which keeps what an output has shown."""

    def __init__(self):
        self.shown = []

    def display(self, data, *, raw, display_id):
        assert raw and display_id
        self.shown.append(data)
        return self

    def update(self, data, *, raw):
        assert raw
        self.shown.append(data)


@pytest.fixture
def cell(monkeypatch):
    """A cell of a notebook: IPython is there, ipywidgets is not."""
    made = Cell()
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    module.display = package.display = made.display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    return made


def notebook():
    return Console(file=io.StringIO(), force_jupyter=True, width=100)


def test_a_notebook_has_one_output_that_changes(cell):
    console, ticks = notebook(), itertools.count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with progress_bar("SparseSVC", console=console, clock=lambda: 30.0 * next(ticks)) as update:
            update(0.25, "error < 5 %")
            update(0.2501, "error < 5 %")  # nothing to see
            update(0.5)
    assert console.file.getvalue() == ""
    begin, quarter, half, end = (one["text/plain"] for one in cell.shown)
    assert begin == "SparseSVC 0 %"
    assert quarter == "SparseSVC 25 % error < 5 % (0:30, left 1:30)"
    assert half == "SparseSVC 50 % (1:00, left 1:00)"
    assert end == "" == cell.shown[-1]["text/html"]
    page = cell.shown[1]["text/html"]
    assert page.startswith('<progress value="0.2500" max="1"></progress>')
    assert "error &lt; 5 %" in page


def test_an_output_is_empty_after_an_error(cell):
    with pytest.raises(KeyboardInterrupt), progress_bar("fit", console=notebook()) as update:
        update(0.5)
        raise KeyboardInterrupt
    assert cell.shown[-1] == {"text/plain": "", "text/html": ""}


def test_a_verbose_fit_in_a_notebook(cell, monkeypatch, capsys):
    """As Jupyter has it: rich finds out by itself, and prints nothing."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    X, y = moons(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseSVC(2, C=[1.0, 10.0], cv=2, random_state=0, verbose=1).fit(X, y)
    texts = [one["text/plain"] for one in cell.shown]
    assert any("80 % fitting" in text for text in texts) and texts[-1] == ""
    assert capsys.readouterr() == ("", "")
