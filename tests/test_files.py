"""Files: never half written, readable, and a clear sentence for a damaged one."""

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
