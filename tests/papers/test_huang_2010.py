"""Figures of Huang et al. (2010) that a run can check; the table is in benchmarks/ssvc_table."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from zeronorm import ZeroNormSVC

pytestmark = pytest.mark.papers

FOLDER = Path(
    os.environ.get("ZERONORM_DATA", Path(__file__).parents[2] / ".." / "shared" / "datasets")
)
#: sigma = 0.5.
GAMMA = 2.0


@pytest.fixture(scope="module")
def ripley():
    if not (FOLDER / "ripley_synth.npz").exists():
        pytest.skip(f"{FOLDER} does not hold Ripley's data; set ZERONORM_DATA")
    with np.load(FOLDER / "ripley_synth.npz") as file:
        return {
            len(file[rows]): (file["X"][file[rows]], file["y"][file[rows]])
            for rows in ("train_idx", "test_idx")
        }


@pytest.mark.parametrize("variant", ["A", "B", "W"])
def test_figure_3_four_terms_where_svc_keeps_a_hundred(ripley, variant):
    X, y = ripley[250]
    svc = SVC(C=1.0, gamma=GAMMA).fit(X, y)
    sparse = ZeroNormSVC(variant, C=1.0, gamma=GAMMA).fit(X, y)
    assert len(svc.support_) == pytest.approx(102, abs=2)
    assert sparse.n_terms_ == pytest.approx(4, abs=1)
    X_test, y_test = ripley[1000]
    assert sparse.score(X_test, y_test) >= svc.score(X_test, y_test) - 0.01


@pytest.mark.parametrize(("variant", "rounds"), [("A", 20), ("B", 9)])
def test_figure_4_a_thousand_points_end_at_four_terms(ripley, variant, rounds):
    X, y = ripley[1000]
    sparse = ZeroNormSVC(variant, C=1.0, gamma=GAMMA, candidates="all").fit(X, y)
    assert sparse.n_terms_ == pytest.approx(4, abs=1)
    assert sparse.n_iter_ <= rounds
    assert (np.diff(sparse.history_["terms"]) <= 0).all()
