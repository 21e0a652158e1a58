"""Steps of a descent on a GPU: recorded once, and launched as a whole from then on."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

#: Steps before one is recorded: libraries set themselves up at their first call.
UNRECORDED = 3


def recorded(step: Callable[[], Any], like: Any) -> Callable[[], Any]:
    """Return a function that does again and again what ``step`` does, to the same arrays.

    On a GPU it is recorded, once it has been done a few times, and all its kernels are launched
    together: to launch a hundred small ones takes ten times as long as they do. So a step must not
    look at numbers that are there, nor bring any.
    """
    if getattr(like, "is_cuda", False):
        return _Recorded(step)
    return step


class _Recorded:
    def __init__(self, step: Callable[[], Any]) -> None:
        self.step, self.calls = step, 0
        self.graph: Any = None
        self.result: Any = None

    def __call__(self) -> Any:
        self.calls += 1
        if self.calls <= UNRECORDED:
            return self.step()
        if self.graph is None:
            cuda = importlib.import_module("torch").cuda
            self.graph = cuda.CUDAGraph()
            with cuda.graph(self.graph):
                self.result = self.step()
        self.graph.replay()
        return self.result


def is_recording() -> bool:
    """Whether PyTorch is recording a step."""
    cuda = importlib.import_module("torch").cuda
    return cuda.is_available() and cuda.is_current_stream_capturing()
