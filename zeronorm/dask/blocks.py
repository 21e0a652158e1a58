"""Rows of Dask collections block by block: X, labels and weights that belong together.

What is done with a block is one task, which makes the block first: the tasks that Dask has for that
are run within it, one after the other. So a worker has as many blocks in memory as it has threads,
and the scheduler as many tasks as there are blocks. What many blocks are made of, such as the mean
of all rows, is computed once, before; what was persisted is there already.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.core import flatten, get_dependencies
from dask.utils import ensure_dict
from distributed import Client, futures_of
from sklearn.utils import check_array

#: A task that more tasks than these need is run once, and kept.
SHARED = 8


def is_array(collection: Any) -> bool:
    """Whether something is a Dask array."""
    return isinstance(collection, da.Array)


def is_frame(collection: Any) -> bool:
    """Whether something is a Dask dataframe or series; without importing these, which is slow."""
    return (
        dask.is_dask_collection(collection)
        and hasattr(collection, "to_delayed")
        and hasattr(collection, "divisions")
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


def check_collection(name: str, part: Any) -> None:
    """Raise TypeError unless labels or weights have blocks, as X has."""
    if not is_collection(part):
        raise TypeError(
            f"{name} must be a Dask array, series or dataframe, as X is; got {type(part).__name__}."
        )


def _beside(name: str, part: Any, X: Any) -> Any:
    """Return labels or weights in blocks as long as those of X."""
    check_collection(name, part)
    if is_array(part) and part.ndim == 2 and part.numblocks[1] > 1:
        part = part.rechunk({1: -1})
    lengths = _lengths(part), _lengths(X)
    if not any(math.isnan(length) for both in lengths for length in both):
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


@dataclass(frozen=True)
class Blocks:
    """Blocks of X, y and perhaps weights, which are cut at the same rows.

    ``client`` has the workers, ``recipes`` has one for each block, ``names`` are those of the
    features.
    """

    client: Client
    recipes: list[Recipe]
    names: np.ndarray | None

    @classmethod
    def of(cls, client: Client, X: Any, y: Any, sample_weight: Any = None) -> Blocks:
        """Return the blocks of Dask collections."""
        X = check_rows(X)
        collections = [X, _beside("y", y, X)]
        if sample_weight is not None:
            collections.append(_beside("sample_weight", sample_weight, X))
        names = None
        if is_frame(X) and all(isinstance(name, str) for name in X.columns):
            names = np.asarray(X.columns, dtype=object)
        return cls(client, _recipes(client, collections), names)

    def __len__(self) -> int:
        return len(self.recipes)

    def call(self, index: int, function: Callable[..., Any], *shared: Any) -> tuple[Any, ...]:
        """Return the call of a function of what is shared, and a block.

        The function takes the number of the block, X, y and perhaps weights at the end.
        """
        recipe = self.recipes[index]
        return _on_block, function, list(shared), index, recipe, recipe.futures

    def calls(self, function: Callable[..., Any], *shared: Any) -> Iterator[tuple[Any, ...]]:
        """Return a call for each block, see :meth:`call`."""
        return (self.call(index, function, *shared) for index in range(len(self)))


def _on_block(
    function: Callable[..., Any],
    shared: list[Any],
    index: int,
    recipe: Recipe,
    given: list[Any],
) -> Any:
    return function(*shared, index, *recipe.parts(given))


class Recipe:
    """How the parts of a block are made. Not a collection, and no dataclass: Dask leaves it alone.

    Parameters
    ----------
    graph : dict
        The tasks, but for those whose results are given.
    keys : list
        The parts among them.
    futures : dict
        What is given.
    """

    def __init__(self, graph: dict[Any, Any], keys: list[Any], futures: dict[Any, Any]) -> None:
        self.graph, self.keys, self.given = graph, keys, list(futures)
        self.futures = list(futures.values())

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the futures: their values come to the worker as arguments."""
        return {**self.__dict__, "futures": []}

    def parts(self, given: list[Any]) -> list[Any]:
        """Make the parts."""
        return list(
            dask.get({**self.graph, **dict(zip(self.given, given, strict=True))}, self.keys)
        )


def _recipes(client: Client, collections: list[Any]) -> list[Recipe]:
    """Return how each block is made."""
    given = {future.key: future for part in collections for future in futures_of(part)}
    optimised = _optimised(collections)
    whole: dict[Any, Any] = {}
    for part in optimised:
        whole.update(ensure_dict(part.__dask_graph__()))
    shared = [key for key in _much_used(whole) if key not in given]
    if shared:
        given.update(zip(shared, client.get(whole, shared, sync=False), strict=True))
    keys = [list(flatten(part.__dask_keys__())) for part in optimised]
    return [_recipe(list(block), whole, given) for block in zip(*keys, strict=True)]


def _optimised(collections: list[Any]) -> list[Any]:
    """Return collections with fewer tasks.

    Arrays together, since what labels and rows are both made of is made once then; dataframes,
    which read the columns that they need, each alone.
    """
    arrays = iter(dask.optimize(*(part for part in collections if is_array(part))))
    return [next(arrays) if is_array(part) else _of_frame(part) for part in collections]


def _of_frame(part: Any) -> Any:
    # Of several dataframes dask.optimize mixes up the keys (2026.8); the older ones have no method.
    return part.optimize() if hasattr(part, "optimize") else dask.optimize(part)[0]


def _much_used(whole: dict[Any, Any]) -> list[Any]:
    """Tasks that many others need: to run them for each block would take the square of the time."""
    uses = Counter(key for one in whole for key in get_dependencies(whole, one))
    return [key for key, count in uses.items() if count > SHARED and key in whole]


def _recipe(keys: list[Any], whole: dict[Any, Any], given: dict[Any, Any]) -> Recipe:
    graph: dict[Any, Any] = {}
    needed: dict[Any, Any] = {}
    open_keys = list(keys)
    while open_keys:
        key = open_keys.pop()
        if key in given:
            needed[key] = given[key]
        elif key not in graph:
            graph[key] = whole[key]
            open_keys.extend(get_dependencies(whole, key))
    return Recipe(graph, keys, needed)


def plain_rows(index: int, X: Any) -> Any:
    """Return the rows of a block as a plain array or sparse matrix of finite numbers."""
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=0,
            input_name="X",
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
    try:
        weight = np.asarray(weight, dtype=float).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Block {index} of sample_weight: {error}.") from None
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"Block {index} of sample_weight: weights must be finite, none negative.")
    check_shape(index, "sample_weight", weight.shape, n_rows)
    return weight


def check_shape(
    index: int, name: str, shape: tuple[int, ...], n_rows: int, has_columns: bool = False
) -> None:
    """Raise ValueError unless a block of targets or weights is as long as that of X.

    One entry is for each row, or several in columns where there may be such.
    """
    if len(shape) not in ((1, 2) if has_columns else (1,)):
        columns = ", or a column for each target" if has_columns else ""
        raise ValueError(
            f"Block {index} of {name} has shape {shape}; it must have one entry for each row"
            f"{columns}."
        )
    if shape[0] != n_rows:
        raise ValueError(
            f"Block {index} of {name} has {shape[0]} rows, and that of X has {n_rows}; they must "
            "be cut at the same rows."
        )
