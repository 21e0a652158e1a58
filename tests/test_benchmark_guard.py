"""The guard against worse fits: it passes on itself, and fails where anything is worse."""

import json

import numpy as np
import pytest

from benchmarks import guard
from zeronorm import SparseLargeMarginClassifier

NAME = "SLMC(4)"
#: Without the time, which the fits of a test do not measure well.
FIGURES = ("objective", "terms", "error")


def case(terms=4, **options) -> dict:
    def make(seed):
        return SparseLargeMarginClassifier(terms, C=1.0, gamma=0.02, random_state=seed, **options)

    return {NAME: guard.Case("waveform", make)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A record of one case with two seeds."""
    path = tmp_path_factory.mktemp("guard") / "guard.json"
    guard.write(case(), path, range(2))
    return path


@pytest.fixture
def path(recorded, monkeypatch):
    monkeypatch.setattr(guard, "FIGURES", FIGURES)
    monkeypatch.setattr(guard, "REFERENCE_SECONDS", 0.0)
    return recorded


def worse(path, **options) -> set[str]:
    return {one.figure for one in guard.guard(case(**options), path, range(2)) if one.is_worse}


class TestFits:
    def test_it_passes_on_itself(self, path):
        assert worse(path) == set()

    def test_a_descent_that_is_cut_short_is_noticed(self, path):
        assert "objective" in worse(path, max_iter=1)

    def test_more_terms_are_noticed(self, path):
        assert "terms" in worse(path, terms=6)

    def test_fewer_terms_are_noticed_by_what_they_lose(self, path):
        assert worse(path, terms=1) == {"objective"}

    def test_a_classifier_that_errs_more_often_is_noticed(self, path, monkeypatch):
        right = SparseLargeMarginClassifier.predict

        def patched(self, X):
            answers = right(self, X)
            answers[::10] = answers[0]
            return answers

        monkeypatch.setattr(SparseLargeMarginClassifier, "predict", patched)
        assert worse(path) == {"error"}

    def test_a_case_that_is_not_recorded_is_an_error(self, tmp_path):
        (tmp_path / "empty.json").write_text(json.dumps({"cases": {}}))
        with pytest.raises(SystemExit, match="is not recorded"):
            guard.guard(case(), tmp_path / "empty.json")


class TestJudgement:
    RECORDED = {"objective": [10.0, 12.0], "terms": [4, 4], "error": [0.1, 0.1], "time": [3.0, 5.0]}

    @pytest.mark.parametrize(
        ("figure", "now", "is_worse"),
        [
            ("objective", 12.9, False),  # the range of the seeds
            ("objective", 13.1, True),
            ("objective", np.nan, True),
            ("terms", 4.5, False),  # the floors
            ("terms", 5.0, True),
            ("error", 0.109, False),
            ("error", 0.111, True),
            ("time", 5.9, False),
            ("time", 6.1, True),
            ("time", 0.1, False),  # better is never worse
        ],
    )
    def test_within_noise_or_not(self, figure, now, is_worse):
        found = {**self.RECORDED, figure: [now, now]}
        (one,) = [v for v in guard.compared("a", self.RECORDED, found) if v.figure == figure]
        assert one.is_worse is is_worse
        assert str(one).startswith("WORSE" if is_worse else "ok")

    def test_a_figure_that_is_gone_is_an_error(self):
        with pytest.raises(KeyError):
            guard.compared("a", self.RECORDED, {"terms": [4], "error": [0.1], "time": [3.0]})


class TestCommand:
    def test_the_status_says_whether_anything_is_worse(self, monkeypatch, capsys):
        bad = guard.Verdict("a", "terms", 4.0, 6.0, 4.5)
        monkeypatch.setattr(guard, "guard", lambda cases: [bad])
        assert guard.main(["--only", "RVM"]) == 1
        monkeypatch.setattr(guard, "guard", lambda cases: [])
        assert guard.main([]) == 0
        assert "1 of the figures are worse" in capsys.readouterr().out

    def test_an_unknown_case_is_one_sentence(self, capsys):
        with pytest.raises(SystemExit):
            guard.main(["--only", "nothing"])
        assert "no case has 'nothing' in its name; there are SparseSVC" in capsys.readouterr().err

    def test_every_case_is_recorded(self):
        recorded = json.loads(guard.RECORD.read_text())["cases"]
        assert list(recorded) == list(guard.CASES)
        assert all(len(some["error"]) == len(guard.SEEDS) for some in recorded.values())
