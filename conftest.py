"""What pytest does before every test, of the tests and of docstrings."""

from importlib.util import find_spec

import numpy as np
import pytest

#: Modules whose extra is not installed have no doctests to run.
collect_ignore_glob = [] if find_spec("distributed") else ["zeronorm/dask/*"]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin each test, and the fixtures made for it, with the same random numbers.

    An estimator without ``random_state`` draws from NumPy's generator. Of thousands of tests one
    would fail now and then, by a poor draw that nobody could repeat.
    """
    np.random.seed(0)  # noqa: NPY002 (this generator is what scikit-learn draws from)
