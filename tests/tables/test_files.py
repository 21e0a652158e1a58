"""Files: never half written, readable, and a clear sentence for a damaged one."""

import errno
import json
import os
import stat

import numpy as np
import pytest

from zeronorm.files import read_json, readable_json, write_text


def test_write_and_overwrite(tmp_path):
    path = tmp_path / "model.json"
    write_text(path, "old")
    write_text(str(path), "new: ε\n")
    assert path.read_text(encoding="utf-8") == "new: ε\n"
    assert os.listdir(tmp_path) == ["model.json"]


def test_usual_permissions(tmp_path):
    path, plain = tmp_path / "a", tmp_path / "b"
    write_text(path, "x")
    plain.write_text("x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "private.json"
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_what_it_points_to_is_written(tmp_path, exists):
    (tmp_path / "models").mkdir()
    target, link, second = tmp_path / "models" / "v1", tmp_path / "link", tmp_path / "second"
    if exists:
        target.write_text("old")
    link.symlink_to("models/v1")
    second.symlink_to(link)
    write_text(second, "new")
    assert link.is_symlink() and second.is_symlink() and not target.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path / "models") == ["v1"]
    assert sorted(os.listdir(tmp_path)) == ["link", "models", "second"]


def test_links_that_point_at_each_other(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        write_text(tmp_path / "a", "new")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_the_text_is_on_the_disk_before_the_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "text")
        assert steps[-1] == "folder" or os.fstat(handle).st_size == 8
        fsync(handle)

    def note_replace(*names):
        steps.append("name")
        replace(*names)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_text(tmp_path / "model.json", "all of it"[:8])
    assert steps == ["text", "name", "folder"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO])
def test_a_folder_that_cannot_be_flushed(tmp_path, monkeypatch, number):
    """Some file systems have no such thing; that the disk is broken is another matter."""
    fsync = os.fsync

    def fail(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", fail)
    if number == errno.EIO:
        with pytest.raises(OSError, match="Input/output"):
            write_text(tmp_path / "model.json", "text")
    else:
        write_text(tmp_path / "model.json", "text")
    assert (tmp_path / "model.json").read_text() == "text"


def test_an_interruption_just_after_the_renaming(tmp_path, monkeypatch):
    replace = os.replace

    def interrupted(*names):
        replace(*names)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "model.json", "new")
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_name_as_long_as_names_may_be(tmp_path):
    path = tmp_path / ("n" * 255)
    write_text(path, "text")
    assert path.read_text() == "text"


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("exists", [True, False])
def test_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, exists, error):
    path = tmp_path / "model.json"
    if exists:
        path.write_text("old")

    def fail(*args):
        raise error

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(error)):
        write_text(path, "new")
    assert os.listdir(tmp_path) == (["model.json"] if exists else [])
    assert not exists or path.read_text() == "old"


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "good" * 100_000 + "\ud800")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["model.json"]


@pytest.mark.parametrize("target", ["missing/model.json", "folder"])
def test_target_that_cannot_be_written(tmp_path, target):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_text(tmp_path / target, "text")
    assert os.listdir(tmp_path) == ["folder"] and os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"a": 1,}',
        b"\xff\xfe\x00",
        "{'a': 1}".encode("utf-16"),
        b"[" * 200_000,
        b'{"a": ' + b"1" * 5000 + b"}",
    ],
    ids=["empty", "cut", "comma", "bytes", "utf-16", "deep", "endless number"],
)
def test_unreadable_json_names_the_file(tmp_path, content):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"broken\.json"):
        read_json(path)


def test_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none.json")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": None, "c": 'text " \n ε', "d": True},
        {"empty": [], "rows": [[1.5, 2.0], [3.0]], "none": [[]], "flat": [1, 2]},
        {"nested": {"deep": {"rows": [[0.1], [1e-300]]}}, "plain": {"a": 1}, "records": [{"a": 1}]},
        {"numbers": np.random.default_rng(0).normal(size=5).tolist(), "small": 5e-324},
    ],
)
def test_readable_json_is_json_of_the_same_data(data):
    assert json.loads(readable_json(data)) == data


def test_readable_json_has_a_line_per_key_and_row():
    text = readable_json({"a": 1, "rows": [[1, 2], [3, 4]], "flat": [1, 2, 3]})
    assert text.splitlines() == [
        "{",
        '  "a": 1,',
        '  "rows": [',
        "    [1, 2],",
        "    [3, 4]",
        "  ],",
        '  "flat": [1, 2, 3]',
        "}",
    ]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["scalar", "list", "rows"])
def test_numbers_that_json_does_not_know(bad, place):
    value = {"scalar": bad, "list": [bad], "rows": [[1.0], [bad]]}[place]
    with pytest.raises(ValueError):
        readable_json({"a": value})


def test_a_pipe_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="Not a file"):
        write_text(path, "text")
    assert path.is_fifo() and [entry.name for entry in tmp_path.iterdir()] == ["pipe"]
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        write_text(tmp_path, "text")
