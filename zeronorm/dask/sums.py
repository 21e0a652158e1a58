"""Sums over all rows of a Dask collection, for Newton's method on the coefficients.

What ``learned/certificate.py`` asks of the rows are sums; on a block they are those of rows in
memory (``learned/coefficients.py``), on a device if there is one; ``passes.py`` adds the blocks'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, to_numpy
from zeronorm.base.targets import TargetUnits
from zeronorm.base.validation import moved
from zeronorm.dask.blocks import Blocks, plain_rows, plain_weights
from zeronorm.dask.passes import sent, summed
from zeronorm.learned.certificate import Sums
from zeronorm.learned.coefficients import Coefficients
from zeronorm.learned.coordinates import TrainingSource, Units
from zeronorm.learned.joint import Form, JointModels, Parameters, Used


@dataclass(frozen=True)
class AllRows:
    """All rows, wherever they are; training rows that are a sample of them know them.

    Workers bring their blocks to ``device``, if there is one.
    """

    blocks: Blocks
    n_rows: int
    coding: Any
    device: str | None = None

    def in_units(self, units: TargetUnits) -> AllRows:
        """Return the rows with targets in other units."""
        return replace(self, coding=replace(self.coding, units=units))

    def of_models(self, models: JointModels, units: Units, C: float) -> DaskSums:
        """Return the rows as the solver of the coefficients of a model sees them."""
        arrays = [to_numpy(array) for array in models.parameters.arrays()]
        used = models.used
        if used is not None:
            used = Used(to_numpy(used.kernel), to_numpy(used.linear))
        centre = units.centre if isinstance(units.centre, float) else to_numpy(units.centre)
        problem = BlockProblem(
            models.form,
            to_numpy(models.gamma),
            Parameters(*arrays),
            used,
            replace(units, centre=centre),
            C,
            self.coding,
            self.device,
        )
        return DaskSums(self.blocks, problem)


@dataclass(frozen=True)
class BlockProblem:
    """The problem of the coefficients, but for the rows; blocks of them go to ``device``."""

    form: Form
    gamma: np.ndarray
    parameters: Parameters
    used: Used | None
    units: Units
    C: float
    coding: Any
    device: str | None = None

    def on_block(self, index: int, X: Any, y: Any, weight: Any) -> Coefficients | None:
        """Return the problem on a block; None if no row of it counts."""
        data = plain_rows(index, X)
        n_rows = data.shape[0]
        weight, y = plain_weights(index, weight, n_rows), self.coding.plain(index, y, n_rows)
        counts = weight > 0
        if not counts.any():
            return None
        if not counts.all():
            data, y, weight = data[counts], y[counts], weight[counts]
        data, units = moved(data, self.device), self.units
        if not isinstance(units.centre, float):
            units = replace(units, centre=as_on(units.centre, data))
        source = TrainingSource(self.coding.training(data, y, weight), units)
        parameters = Parameters(*(as_on(array, data) for array in self.parameters.arrays()))
        used = self.used
        if used is not None:
            used = Used(as_on(used.kernel, data), as_on(used.linear, data))
        cost = self.C * source.training.cost[None]
        models = JointModels(source, self.form, cost, self.gamma, parameters, used)
        return Coefficients(models, keeps=False)


class DaskSums:
    """Sums over all rows, for Newton's method: a pass over the blocks each.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    problem : BlockProblem
        The model.
    """

    def __init__(self, blocks: Blocks, problem: BlockProblem) -> None:
        self.client, self.blocks = blocks.client, blocks
        self.problem = sent(self.client, problem)

    def losses(self, point: Any) -> Any:
        """Loss of each output (models, outputs) at weights and intercepts."""
        at = sent(self.client, to_numpy(point))
        calls = self.blocks.calls(_block_losses, self.problem, at)
        return as_on(summed(self.client, calls, _added_losses), point)

    def sums(self, point: Any, dtype: Any) -> Sums:
        """Losses and their derivatives, second products in this precision."""
        at = sent(self.client, (to_numpy(point), dtype))
        calls = self.blocks.calls(block_sums, self.problem, at)
        return summed(self.client, calls, _added_sums).beside(point)


def _block_losses(
    problem: BlockProblem, point: np.ndarray, index: int, X: Any, y: Any, weight: Any = None
) -> np.ndarray:
    here = problem.on_block(index, X, y, weight)
    if here is None:
        return np.zeros((point.shape[0], point.shape[2]))
    return to_numpy(here.losses(as_on(point, here.inverse)))


def _added_losses(parts: list[np.ndarray]) -> np.ndarray:
    return np.sum(parts, axis=0)


def block_sums(
    problem: BlockProblem, at: tuple[Any, Any], index: int, X: Any, y: Any, weight: Any = None
) -> Sums:
    """Return the sums over a block, in NumPy."""
    here, (point, dtype) = problem.on_block(index, X, y, weight), at
    if here is None:
        return Sums.nothing(point)
    return here.sums(as_on(point, here.inverse), dtype).beside(point)


def _added_sums(parts: list[Sums]) -> Sums:
    total = Sums.nothing(parts[0].slope)  # what came from workers may be read by others
    for part in parts:
        total += part
    return total
