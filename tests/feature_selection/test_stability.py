"""How often features are selected over bootstrap resamples, as numbers and as a picture."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zeronorm import AROMSelector
from zeronorm.base.sampling import resampled_rows
from zeronorm.datasets import make_weston_toy
from zeronorm.feature_selection import StabilityDisplay, selection_frequencies


def test_resamples_keep_the_classes():
    codes = np.array([0] * 3 + [1] * 7)
    rows = resampled_rows(codes, np.random.RandomState(0))
    assert list(np.bincount(codes[rows])) == [3, 7]
    assert len(set(rows)) < 10


def test_shares():
    X, y = make_weston_toy(60, n_features=12, random_state=0)
    shares = selection_frequencies(AROMSelector(2), X, y, n_resamples=30, random_state=0)
    assert shares.sum() == pytest.approx(2.0)
    assert set(np.argsort(-shares)[:2]) == {2, 5}


def test_what_the_processes_do_not_change():
    X, y = make_weston_toy(40, n_features=12, random_state=0)
    options = {"n_resamples": 6, "random_state": 3}
    one = selection_frequencies(AROMSelector(2), X, y, n_jobs=1, **options)
    assert np.array_equal(one, selection_frequencies(AROMSelector(2), X, y, n_jobs=2, **options))


def test_other_selectors_and_pipelines():
    X, y = make_weston_toy(40, n_features=12, random_state=0)
    for selector in (SelectKBest(f_classif, k=3), make_pipeline(StandardScaler(), AROMSelector(3))):
        shares = selection_frequencies(selector, X, y, n_resamples=5, random_state=0)
        assert shares.sum() == pytest.approx(3.0)


def test_names_and_picture():
    pytest.importorskip("matplotlib").use("Agg")
    pd = pytest.importorskip("pandas")
    X, y = make_weston_toy(40, n_features=12, random_state=0)
    table = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    display = StabilityDisplay.from_estimator(
        AROMSelector(2), table, y, n_resamples=8, max_features=4, random_state=0
    )
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(labels) <= 4
    assert labels[-1] == f"gene {display.frequencies.argmax()}"  # the longest bar is on top
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert widths == sorted(widths)
    assert max(widths) == pytest.approx(100 * display.frequencies.max())
    again = StabilityDisplay(display.frequencies).plot(ax=display.figure_.add_subplot())
    assert again.ax_.get_yticklabels()[-1].get_text().startswith("x")


@pytest.mark.parametrize("count", [0, 2.5, "many"])
def test_bad_numbers(count):
    X, y = make_weston_toy(20, n_features=8, random_state=0)
    with pytest.raises(ValueError, match="n_resamples must be an integer"):
        selection_frequencies(AROMSelector(2), X, y, n_resamples=count)
    with pytest.raises(ValueError, match="max_features must be an integer"):
        StabilityDisplay(np.ones(3)).plot(max_features=count)
