"""Rows that a smaller model is compared on, and what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import on_device
from zeronorm.base.validation import is_moved
from zeronorm.decisions import check_finite
from zeronorm.device_expansion import DeviceExpansion
from zeronorm.expansion import KernelExpansion


@dataclass
class Rows:
    """Validated data: rows, labels (where needed), weights."""

    X: Any
    y: np.ndarray | None
    weight: np.ndarray
    is_weighted: bool


def output_values(expansion: KernelExpansion, X: Any, device: str | None = None) -> np.ndarray:
    """Values of the outputs, computed on a device if one is given; ValueError if they overflow."""
    if device is not None and is_moved(X, device):
        values = DeviceExpansion(expansion, on_device(device)).moved_outputs(X)
    else:
        values = expansion.outputs(X)
    check_finite(values, expansion.kernel_name)
    return values
