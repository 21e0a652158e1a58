"""Figures of Mannor et al. (2005) that a run can check; the tables are in benchmarks/."""

import pytest
from sklearn.svm import SVC

from zeronorm import CrossEntropySVC, OneNormSVC
from zeronorm.datasets import make_clouds

pytestmark = pytest.mark.papers


@pytest.mark.parametrize("seed", range(5))
def test_one_point_of_300_is_enough_for_the_synthetic_problem(seed):
    """Figures 2 to 4: SVM 56.7 % of the points, one-norm two of them, CE one; equal errors."""
    X, y = make_clouds(1300, wide=True, random_state=seed)
    train, test = (X[:300], y[:300]), (X[300:], y[300:])
    settings = {"kernel": "linear", "C": 0.25}
    svc = SVC(**settings).fit(*train)
    one_norm = OneNormSVC(candidates="all", **settings).fit(*train)
    search = CrossEntropySVC(random_state=0, **settings).fit(*train)
    assert 0.5 * 300 < len(svc.support_) < 0.7 * 300
    assert one_norm.n_terms_ <= 2
    assert search.n_terms_ == 1
    assert search.score(*test) >= svc.score(*test) - 0.01
