"""CrossEntropySVC with more rows than one linear program should hold: blocks and samples."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.data import moons
from tests.independent import own_objective
from zeronorm import CrossEntropySVC, LinearProgrammingSVC, OneNormSVC
from zeronorm.datasets import make_waveform
from zeronorm.solvers.cross_entropy import search as subset_search

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


class SmallBlocks(CrossEntropySVC):
    """To whom 100 rows are a block."""

    _block_rows = 100


@pytest.mark.parametrize(
    ("candidates", "signs"), [("auto", "label"), ("auto", "free"), (50, "label")]
)
def test_blocks(candidates, signs):
    """Rows beyond the size of a block: candidates from blocks, sets judged on a sample."""
    X, y = moons(400)
    search = SmallBlocks(C=0.3, gamma=2.0, signs=signs, candidates=candidates, random_state=0)
    model = clone(search).fit(X, y)
    assert 0 < model.n_terms_ <= model.n_candidates_ <= 100
    own = own_objective(model, X, y, np.full(400, 0.3), {"kernel": "rbf", "gamma": 2.0})
    assert model.objective_ == pytest.approx(own, rel=1e-9)
    assert model.score(X, y) >= OneNormSVC(C=0.3, gamma=2.0).fit(X, y).score(X, y) - 0.03
    again = clone(search).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.support_, model.support_)
    np.testing.assert_allclose(again.dual_coef_, model.dual_coef_, rtol=0, atol=1e-9)


def test_a_search_misled_by_its_sample_falls_back_to_the_start(monkeypatch):
    def misled(*args, **kwargs):
        found = minimise(*args, **kwargs)
        found.vector[:] = False
        return found

    minimise = subset_search.minimise
    X, y = moons(150)
    search = CrossEntropySVC(gamma=2.0, polish=False, random_state=0)
    monkeypatch.setattr(subset_search, "minimise", misled)
    # On all rows the search has the last word; on a sample the start is a rival.
    assert clone(search).fit(X, y).n_terms_ == 0
    model = SmallBlocks(**search.get_params()).fit(X, y)
    assert 0 < model.n_terms_ <= model.n_candidates_
    assert model.objective_ < 2 * np.bincount(y).min()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_six_blocks():
    X, y = make_waveform(6000, random_state=0)
    X_test, y_test = make_waveform(5000, random_state=1)
    model = CrossEntropySVC(
        C=0.06, gamma=0.02, sample_size=20, max_iter=5, polish=False, random_state=0
    ).fit(X, y)
    assert 0 < model.n_terms_ <= model.n_candidates_ < 500
    # Not OneNormSVC: its 300 landmarks, each at most C, cannot tell the classes apart here.
    rival = LinearProgrammingSVC(C=0.06, gamma=0.02, candidates=300, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > rival.score(X_test, y_test) - 0.015
    own = own_objective(model, X, y, np.full(len(y), 0.06), {"kernel": "rbf", "gamma": 0.02})
    assert model.objective_ == pytest.approx(own, rel=1e-9)
