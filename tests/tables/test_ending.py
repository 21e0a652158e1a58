"""Ctrl-C and kill: workers and temporary files go, and one line says that nothing was written."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from zeronorm.tables import cli, fitting
from zeronorm.tables.ending import SIGNALS, Interruption, interruptible
from zeronorm.tables.table import TableError

MESSAGE = "Interrupted; nothing was written.\n"


@pytest.fixture(autouse=True)
def signals_are_heard():
    """As in a shell: tests that run in the background, or under nohup, begin with some ignored."""
    usual = {number: signal.SIG_DFL for number in SIGNALS}
    usual[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def data(tmp_path):
    """A file on which `fit` has work for some seconds after its first fold."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=60)
    rows = rng.normal(size=(60, 4)) + 0.3 * labels[:, None]
    table = np.column_stack([rows.round(4), labels])
    lines = [",".join(map(str, row)) for row in table.tolist()]
    header = ",".join([*(f"x{j}" for j in range(4)), "answer"])
    path = tmp_path / "data.csv"
    path.write_text("\n".join([header, *lines]))
    return path


class Screen(threading.Thread):
    """Take what a program shows on a terminal, and say when a pattern stands there."""

    def __init__(self, terminal, pattern):
        super().__init__(daemon=True)
        self.terminal, self.pattern = terminal, pattern
        self.shown = b""
        self.has_pattern = threading.Event()
        self.start()

    def run(self):
        while True:
            try:
                self.shown += os.read(self.terminal, 65_536)
            except OSError:  # Linux says so when the last process has closed its end
                return
            if re.search(self.pattern, self.shown):
                self.has_pattern.set()


def wait_until_the_group_is_empty(group):
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("Processes are left.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "send"),
    [(signal.SIGTERM, os.kill), (signal.SIGINT, os.killpg)],  # the terminal's Ctrl-C goes to all
    ids=["kill", "Ctrl-C"],
)
def test_workers_and_temporary_files_go(tmp_path, data, number, send):
    folder, model = tmp_path / "temporary", tmp_path / "model.json"
    folder.mkdir()
    terminal, other_end = pty.openpty()  # without a terminal there is no bar
    program = "from zeronorm.tables.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "fit", data, "--target", "answer", "--n-jobs", "2"]
        + ["--out", model],
        stdout=subprocess.PIPE,
        stderr=other_end,
        start_new_session=True,
        env=os.environ
        | {"TMPDIR": str(folder), "JOBLIB_TEMP_FOLDER": str(folder), "TERM": "xterm"},
    )
    os.close(other_end)
    screen = Screen(terminal, rb"[1-9]%")
    try:
        assert screen.has_pattern.wait(120), screen.shown  # the workers have done a fold
        send(process.pid, number)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        wait_until_the_group_is_empty(process.pid)
    screen.join()
    os.close(terminal)
    assert process.returncode == 128 + number
    assert out == b""
    # What follows the last sequence that takes the bar away.
    assert screen.shown.rpartition(b"\x1b[2K")[2].decode() == MESSAGE.replace("\n", "\r\n")
    assert b"Traceback" not in screen.shown
    assert os.listdir(folder) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "temporary"]


def test_workers_leave_Ctrl_C_to_the_main_process():
    """In a process of its own, which has no workers yet."""
    program = """
import signal, joblib
from zeronorm.tables.ending import start_workers

before = signal.getsignal(signal.SIGINT)
start_workers(2)
assert signal.getsignal(signal.SIGINT) == before
of_workers = joblib.Parallel(n_jobs=2)(joblib.delayed(signal.getsignal)(2) for _ in range(8))
print(*set(of_workers))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"{signal.SIG_IGN}\n", done.stderr


@pytest.fixture
def fit(data, tmp_path, capsys, monkeypatch):
    """Call `fit` with something in the place of the comparison."""

    def call(instead):
        monkeypatch.setattr(fitting, "compare", instead)
        with pytest.raises(SystemExit) as stop:
            cli.main(["fit", str(data), "--target", "answer", "--out", str(tmp_path / "m.json")])
        return stop.value.code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_message_and_exit_code(fit, tmp_path, number):
    before = {n: signal.getsignal(n) for n in SIGNALS}

    def stopped(*_):
        try:
            os.kill(os.getpid(), number)
            pytest.fail("The signal was not heard.")
        finally:  # the second one must not cut short what the first one started
            os.kill(os.getpid(), number)

    assert fit(stopped) == (128 + number, "", MESSAGE)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    assert {n: signal.getsignal(n) for n in SIGNALS} == before


def test_a_signal_that_was_ignored_still_is(fit, monkeypatch):
    """As under nohup."""

    def end(*_):
        os.kill(os.getpid(), signal.SIGHUP)
        raise TableError("It went on.")

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert fit(end) == (2, "", "zeronorm: It went on.\n")
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_while_the_result_is_written_comes_too_late(tmp_path, capsys, monkeypatch):
    """Or the message would be untrue."""
    replace = os.replace

    def slow(*names):
        os.kill(os.getpid(), signal.SIGTERM)
        replace(*names)

    model = pathlib.Path(__file__).parents[1] / "files" / "table-0.1.json"
    columns = [column["name"] for column in json.loads(model.read_text())["columns"]]
    (tmp_path / "new.csv").write_text(f"{','.join(columns)}\n{',' * (len(columns) - 1)}\n")
    monkeypatch.setattr("os.replace", slow)
    out = tmp_path / "out.csv"
    with pytest.raises(SystemExit) as stop:
        cli.main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(out)])
    assert not stop.value.code
    assert len(out.read_text().splitlines()) == 2
    assert capsys.readouterr() == ("", "")


def test_an_ordinary_keyboard_interrupt_is_one_too():
    with pytest.raises(Interruption) as caught, interruptible():
        raise KeyboardInterrupt
    assert caught.value.exit_code == 130
