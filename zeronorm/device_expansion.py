"""Kernel expansions beside the rows: on a GPU, or in another library than NumPy.

The formulas are those of ``kernels.py``, in double precision where the device has it, on blocks of
rows. Rows so far out that rounding would show in products are few: they are evaluated in NumPy,
which compares them vector by vector (``distances.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.arrays import (
    as_on,
    cast,
    device_name,
    double,
    exp_at_most_one,
    in_place,
    is_same_device,
    namespace,
    put,
    take,
    to_numpy,
    zeros,
)
from zeronorm.blocks import row_blocks
from zeronorm.distances import LIMIT, Scaling
from zeronorm.expansion import KernelExpansion
from zeronorm.pairs import worst_scores

#: Numbers of a block of rows: half a GB.
BLOCK = 2**26


class DeviceExpansion(KernelExpansion):
    """A kernel expansion whose arrays are of another library, or on another device.

    Parameters
    ----------
    expansion : KernelExpansion
        The expansion, in NumPy.
    like : array
        An array of the library and the device to evaluate with.
    block : int
        Numbers of a block: rows times terms, or times features where these are more.
    """

    def __init__(self, expansion: KernelExpansion, like: Any, block: int = BLOCK) -> None:
        self.expansion, self.block = expansion, block
        self.kernel, self.vote_classes = expansion.kernel, expansion.vote_classes
        self.pair_scores = expansion.pair_scores
        parts = (expansion.vectors, expansion.coef, expansion.intercept)
        self.vectors, self.coef, self.intercept = (as_on(part.copy(), like) for part in parts)
        self.linear = None if expansion.linear is None else as_on(expansion.linear.copy(), like)
        self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        return {"expansion": self.expansion, "like": self.intercept, "block": self.block}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.expansion.n_features

    def to_numpy(self) -> KernelExpansion:
        """Return the expansion in NumPy."""
        return self.expansion

    def outputs(self, X: Any) -> Any:
        """Values of the outputs themselves, before any vote, shape (rows, outputs)."""
        if not is_same_device(X, self.intercept):
            raise ValueError(
                f"The expansion is an array of {device_name(self.intercept)}, X one of "
                f"{device_name(X)}: move X there, or take to_numpy() of the expansion."
            )
        self._check_shape(X)
        blocks = [self._block(X[rows, :]) for rows in self._slices(X)]
        return namespace(self.intercept).concat(blocks, axis=0) if blocks else self._none()

    def moved_outputs(self, X: Any) -> Any:
        """Values of rows that are elsewhere, which they are brought back to, block by block."""
        self._check_shape(X)
        blocks = [self._block(as_on(take(X, rows), self.intercept)) for rows in self._slices(X)]
        if not blocks:
            return as_on(self._none(), X)
        return namespace(X).concat([as_on(block, X) for block in blocks], axis=0)

    def scores(self, outputs: Any) -> Any:
        """Decision values of rows with these outputs."""
        if self.vote_classes is not None:
            if self.pair_scores == "worst":
                return worst_scores(outputs, self.vote_classes)
            return as_on(self.expansion.scores(to_numpy(outputs)), outputs)
        return outputs[:, 0] if self.n_outputs == 1 else outputs

    def kernel_values(self, X: Any) -> Any:
        """Return the kernel matrix of the rows of X and the vectors."""
        return as_on(self.expansion.kernel_values(to_numpy(X)), self.intercept)

    def prune(self, tolerance: float = 0.0) -> KernelExpansion:
        """Return the expansion without the terms whose coefficients are at most ``tolerance``."""
        return DeviceExpansion(self.expansion.prune(tolerance), self.intercept)

    def merge(self) -> KernelExpansion:
        """Return the same function with equal vectors joined into one term."""
        return DeviceExpansion(self.expansion.merge(), self.intercept)

    def with_terms(self, vectors: Any, coef: Any, intercept: Any = None) -> KernelExpansion:
        """Return an expansion with other kernel terms, and the same or another intercept."""
        intercept = intercept if intercept is None else to_numpy(intercept)
        other = self.expansion.with_terms(to_numpy(vectors), to_numpy(coef), intercept)
        return DeviceExpansion(other, self.intercept)

    def to_dict(self) -> dict[str, Any]:
        """Describe the expansion as plain data (numbers, strings, lists)."""
        return self.expansion.to_dict()

    def _prepare(self) -> None:
        """Make what depends on the vectors alone, with the origin in their middle for rbf."""
        kernel, vectors = self.kernel, self.expansion.vectors
        self._columns = self._centre = self._roots = None
        if kernel.name == "rbf" and self.n_terms:
            scaling = Scaling(kernel.metric)
            if kernel.metric is not None:
                self._roots = as_on(scaling.roots, self.intercept)
                if len(scaling.columns) < vectors.shape[1]:
                    self._columns = as_on(scaling.columns, self.intercept)
            vectors = scaling.take(vectors)
            centre = vectors.mean(axis=0)
            self._centre = as_on(centre, self.intercept)
            vectors = scaling.stretch(vectors - centre)
            self._offsets = as_on(kernel.gamma * np.sum(vectors**2, axis=1), self.intercept)
        self._vectors = as_on(np.ascontiguousarray(vectors), self.intercept)

    def _slices(self, X: Any) -> Any:
        return row_blocks(X.shape[0], max(1, self.block // max(1, self.n_terms, X.shape[1])))

    def _none(self) -> Any:
        return zeros((0, self.n_outputs), self.intercept)

    def _block(self, X: Any) -> Any:
        """Evaluate the outputs at a block of rows."""
        if self.kernel.name not in ("rbf", "poly", "linear", "sigmoid"):
            return as_on(self.expansion.outputs(to_numpy(X)), self.intercept)
        rows = cast(X, double(X))
        values, far = zeros((X.shape[0], self.n_outputs), self.intercept), None
        if self.n_terms:
            kernel_values, far = (
                self._rbf(rows) if self.kernel.name == "rbf" else self._product(rows)
            )
            values = kernel_values @ self.coef
        if self.linear is not None:
            values += rows @ self.linear
        values += self.intercept
        if far is not None and far.any():
            indices = np.flatnonzero(far)
            put(values, indices, as_on(self.expansion.outputs(to_numpy(take(X, indices))), values))
        return values

    def _rbf(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return the kernel values of rows, and which rows are far out."""
        xp, gamma = namespace(X), self.kernel.gamma
        if self._columns is not None:
            X = xp.take(X, self._columns, axis=1)
        X = X - self._centre
        if self._roots is not None:
            X *= self._roots
        sizes = gamma * xp.sum(X * X, axis=1)
        values = (2.0 * gamma) * (X @ self._vectors.T)
        values -= sizes[:, None]
        values -= self._offsets
        is_far = bool(xp.any(sizes > LIMIT))
        far = to_numpy(sizes > LIMIT) if is_far else np.zeros(0, dtype=bool)
        return exp_at_most_one(values), far

    def _product(self, X: Any) -> tuple[Any, None]:
        """Return the kernel values of rows for a function of the inner product."""
        values, kernel = X @ self._vectors.T, self.kernel
        if kernel.name == "linear":
            return values, None
        values *= kernel.gamma
        values += kernel.coef0
        if kernel.name == "sigmoid":
            return in_place(namespace(values).tanh, values), None
        return values**kernel.degree, None
