"""What surrounds every fit: an estimator that a failed fit leaves alone, and one BLAS thread.

On small problems a product of matrices takes microseconds, and threads that wait for each other
take longer: on two busy cores a fit of SparseSVC on 1 000 x 100 numbers took 23 s with two BLAS
threads and 1.7 s with one. Where the cores were free, two threads gained nothing up to 3 000 x 50
numbers, 2 % at 10 000 x 20 and 8 % at 20 000 x 100 (``docs/decisions.md``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from threading import current_thread, main_thread
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

#: Numbers in X up to which one BLAS thread is enough.
FEW_NUMBERS = 2_000_000


@contextmanager
def fitting(estimator: Any, X: Any, *, few_numbers: int = FEW_NUMBERS) -> Iterator[None]:
    """Leave an estimator as it was if the fit fails; limit the threads of a small one."""
    threads = one_thread() if n_numbers(X) <= few_numbers else nullcontext()
    with all_or_nothing(estimator), threads:
        yield


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if the block fails, or is interrupted."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def n_numbers(X: Any) -> float:
    """Count the numbers of what is given as rows; a list is short."""
    if hasattr(X, "nnz"):
        return float(X.nnz)
    return float(np.prod(getattr(X, "shape", (0,)), dtype=float))


@lru_cache
def _controller() -> ThreadpoolController:
    """Find the BLAS libraries, once: that takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread while the block runs, if this is the main thread.

    The number belongs to the process: of fits that run in threads of their own, each would take the
    limit of another one for what was there before, and put it back.
    """
    if current_thread() is not main_thread():
        yield
        return
    with _controller().limit(limits=1):
        yield
