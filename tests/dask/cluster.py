"""A cluster for the tests, in this process, which is quick to start."""

import pytest

distributed = pytest.importorskip("distributed")


def in_process(n_workers=2):
    """Workers of one thread each, in this process."""
    return distributed.Client(
        processes=False, n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
    )
