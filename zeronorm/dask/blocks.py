"""Rows of Dask collections block by block: X, labels and weights that belong together.

A block is a task of its own with the few tasks that make it, so that it can be asked for alone:
the graph of a whole collection grows with its blocks, and to send it for each of them would take
their square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.core import flatten, get_dependencies
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.utils import ensure_dict
from distributed import futures_of
from sklearn.utils import check_array


def is_array(collection: Any) -> bool:
    """Whether something is a Dask array."""
    return isinstance(collection, da.Array)


def is_frame(collection: Any) -> bool:
    """Whether something is a Dask dataframe or series; without importing these, which is slow."""
    return (
        dask.is_dask_collection(collection)
        and hasattr(collection, "to_delayed")
        and (hasattr(collection, "divisions"))
    )


def is_collection(collection: Any) -> bool:
    """Whether something has blocks of rows."""
    return is_array(collection) or is_frame(collection)


def check_rows(X: Any) -> Any:
    """Return X, a Dask array or dataframe of rows, with all features of a row in one block."""
    if not is_collection(X):
        raise TypeError(
            f"X must be a Dask array or dataframe; got {type(X).__name__}. What is in memory is "
            "for SparseSVC and SparseSVR."
        )
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; got {X.ndim} dimension(s).")
    return X.rechunk({1: -1}) if is_array(X) and X.numblocks[1] > 1 else X


def _beside(name: str, part: Any, X: Any) -> Any:
    """Return labels or weights in blocks as long as those of X."""
    if not is_collection(part):
        raise TypeError(
            f"{name} must be a Dask array, series or dataframe, as X is; got {type(part).__name__}."
        )
    if is_array(part) and part.ndim == 2 and part.numblocks[1] > 1:
        part = part.rechunk({1: -1})
    lengths = _lengths(part), _lengths(X)
    if all(map(_are_known, lengths)):
        if sum(lengths[0]) != sum(lengths[1]):
            raise ValueError(
                f"{name} has {sum(lengths[0])} rows, and X has {sum(lengths[1])}; they must be as "
                "many."
            )
        return part.rechunk({0: X.chunks[0]})
    if len(lengths[0]) != len(lengths[1]):
        raise ValueError(
            f"{name} has {len(lengths[0])} blocks, and X has {len(lengths[1])}; where their sizes "
            "are not known, they must be cut at the same rows. compute_chunk_sizes() finds them."
        )
    return part


def _lengths(part: Any) -> tuple[float, ...]:
    """Rows of each block, not a number where nobody knows."""
    return part.chunks[0] if is_array(part) else (math.nan,) * part.npartitions


def _are_known(lengths: tuple[float, ...]) -> bool:
    return not any(math.isnan(length) for length in lengths)


@dataclass(frozen=True)
class Blocks:
    """Blocks of X, y and perhaps weights, which are cut at the same rows.

    ``parts`` has a tuple of delayed values for each block; ``names`` those of the features.
    """

    parts: list[tuple[Any, ...]]
    n_features: int
    names: np.ndarray | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Blocks:
        """Return the blocks of Dask collections."""
        X = check_rows(X)
        collections = [X, _beside("y", y, X)]
        if sample_weight is not None:
            collections.append(_beside("sample_weight", sample_weight, X))
        names = None
        if is_frame(X) and all(isinstance(name, str) for name in X.columns):
            names = np.asarray(X.columns, dtype=object)
        return cls(_parts(collections), X.shape[1], names)

    def tasks(self, function: Callable[..., Any], *shared: Any) -> Iterator[Delayed]:
        """Yield a task for each block: the function of what is shared, and the parts."""
        call = dask.delayed(function, pure=False, traverse=False)
        for index, parts in enumerate(self.parts):
            yield call(*shared, index, *parts)

    def some(self, wanted: dict[int, Any], function: Callable[..., Any]) -> Iterator[Delayed]:
        """Yield a task for each block that something is wanted of."""
        call = dask.delayed(function, pure=False, traverse=False)
        for index in sorted(wanted):
            yield call(dask.delayed(wanted[index], traverse=False), index, *self.parts[index])


def _parts(collections: list[Any]) -> list[tuple[Any, ...]]:
    """Return the blocks of collections, each with the tasks that make it."""
    # What was persisted is there, and its futures are the blocks.
    futures = {future.key: future for part in collections for future in futures_of(part)}
    whole: dict[Any, Any] = {}
    # Together, so that what labels and rows are both made of is made once.
    optimised = dask.optimize(*collections)
    for part in optimised:
        whole.update(ensure_dict(part.__dask_graph__()))
    keys = [flatten(part.__dask_keys__()) for part in optimised]
    return [tuple(_part(key, whole, futures) for key in block) for block in zip(*keys, strict=True)]


def _part(key: Any, whole: dict[Any, Any], futures: dict[Any, Any]) -> Any:
    """Return one block as a value to come."""
    if key in futures:
        return futures[key]
    graph, open_keys = {}, [key]
    while open_keys:
        one = open_keys.pop()
        if one not in graph:
            graph[one] = futures.get(one, whole.get(one))
            if one not in futures:
                open_keys.extend(get_dependencies(whole, one))
    layer = str(key)
    return Delayed(key, HighLevelGraph({layer: graph}, {layer: set()}), layer=layer)


def plain_rows(index: int, X: Any) -> Any:
    """Return the rows of a block as a plain array or sparse matrix of finite numbers."""
    try:
        return check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=0
        )
    except ValueError as error:
        first = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"Block {index} of X: {first}. Every number must be finite; fill or drop such rows."
        ) from None


def plain_weights(index: int, weight: Any, n_rows: int) -> np.ndarray:
    """Return the weights of a block, ones by default."""
    if weight is None:
        return np.ones(n_rows)
    weight = np.asarray(weight, dtype=float).reshape(-1)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"Block {index} of sample_weight: weights must be finite, none negative.")
    check_length(index, "sample_weight", len(weight), n_rows)
    return weight


def check_length(index: int, name: str, length: int, n_rows: int) -> None:
    """Raise ValueError unless a block of labels or weights is as long as that of X."""
    if length != n_rows:
        raise ValueError(
            f"Block {index} of {name} has {length} rows, and that of X has {n_rows}; they must be "
            "cut at the same rows."
        )
