"""Figures computed anew from the records: right ones pass, a changed page or record is noticed."""

import json

import pytest

from benchmarks import spot_check

PAGE = """# Large sets

| set | method | rows | terms | error % | peak MiB |
| --- | --- | --- | --- | --- | --- |
| skin | SparseSVC | 196,045 | 64 | 0.11 | 222 |
"""
ROW = {"set": "skin", "method": "SparseSVC", "rows": 196045, "terms": 64, "error": 0.00110177}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(spot_check, "SOURCES", {"scale": spot_check.large})
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results" / "scale.md").write_text(PAGE)
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    recorded = "\n".join(map(json.dumps, ({"study": "scale"}, ROW)))
    (tmp_path / "benchmarks" / "results" / "scale.jsonl").write_text(recorded + "\n")
    return tmp_path


def test_right_figures_pass(root, capsys):
    assert spot_check.main(["--all"], root) == 0
    assert "3 of 3 are right, drawn from 3" in capsys.readouterr().out


@pytest.mark.parametrize(("old", "new"), [("0.11", "0.12"), ("| 64 |", "| 65 |"), ("045", "046")])
def test_a_changed_figure_is_noticed(root, old, new, capsys):
    page = root / "docs" / "results" / "scale.md"
    page.write_text(page.read_text().replace(old, new))
    assert spot_check.main(["--all"], root) == 1
    assert "WRONG  scale: skin, SparseSVC" in capsys.readouterr().out
    assert spot_check.main(["--count", "50", "--seed", "0"], root) == 1


def test_a_table_that_is_gone_is_an_error(root):
    (root / "docs" / "results" / "scale.md").write_text("# Large sets\n")
    with pytest.raises(ValueError, match=r"scale.md has 0 tables with 'set'"):
        spot_check.main([], root)


@pytest.mark.parametrize(
    ("text", "value", "is_right"),
    [
        ("12.3", 12.349, True),
        ("12.3", 12.351, False),
        ("1,234", 1234.4, True),
        ("+0.5", 0.52, True),
        ("-0.5", 0.52, False),
        ("7", 7.6, False),
    ],
)
def test_to_the_last_digit(text, value, is_right):
    assert spot_check.agrees(text, value) is is_right


def test_every_number_of_a_cell_counts():
    right = spot_check.Shown("p", "r", "c", "10.2 ± 0.9 (7)", (10.21, 0.92, 7.0))
    assert right.is_right
    assert not spot_check.Shown("p", "r", "c", "10.2 ± 0.9 (7)", (10.21, 0.92)).is_right
    assert not spot_check.Shown("p", "r", "c", "10.2 ± 0.8 (7)", (10.21, 0.92, 7.0)).is_right
