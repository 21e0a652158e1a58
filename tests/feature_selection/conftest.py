"""Tests of methods; what the guard says of their models is tested in tests/base."""

import pytest


@pytest.fixture(autouse=True)
def _guard_on_request(guard_on_request):
    pass
