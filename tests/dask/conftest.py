"""One cluster for all tests that do nothing to it."""

import pytest


@pytest.fixture(scope="package")
def client():
    """Two workers of one thread each, in this process."""
    from tests.dask.cluster import in_process

    with in_process() as found:
        yield found
