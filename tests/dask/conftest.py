"""One cluster for the tests of a module that do nothing to it."""

import pytest


@pytest.fixture(scope="module")  # distributed's own test cluster, at the end of one, closes others
def client():
    """Two workers of one thread each, in this process."""
    from tests.dask.cluster import in_process

    with in_process() as found:
        yield found
