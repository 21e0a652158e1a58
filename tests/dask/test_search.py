"""The search on a dask cluster, which joblib reaches without any code of the library."""

import os

import joblib
import numpy as np
import pytest

from tests.data import moons, noisy
from zeronorm import CrossEntropySVC
from zeronorm.solvers.cross_entropy.search import minimise

distributed = pytest.importorskip("distributed")


def cluster():
    """Two processes of one thread each, on ports that nobody else has."""
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


# One test, for one cluster: starting it takes the time.
@pytest.mark.slow
def test_workers_elsewhere_change_nothing():
    def process(vectors):
        return np.full(len(vectors), os.getpid())

    problems = [(moons, {}), (noisy, {"signs": "free", "adaptive": True})]
    searches = [
        (make(50), {"random_state": 0, "sample_size": 30, "polish": False} | options)
        for make, options in problems
    ]
    with cluster() as local, distributed.Client(local), joblib.parallel_config(backend="dask"):
        assert minimise(process, np.full(8, 0.5), n_jobs=-1, max_rounds=1).score != os.getpid()
        there = [CrossEntropySVC(n_jobs=-1, **options).fit(*data) for data, options in searches]
    here = [CrossEntropySVC(n_jobs=1, **options).fit(*data) for data, options in searches]
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a.support_, b.support_)
        np.testing.assert_allclose(a.dual_coef_, b.dual_coef_, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(a.history_["scored"], b.history_["scored"])
        np.testing.assert_allclose(a.history_["level"], b.history_["level"], rtol=1e-9)
