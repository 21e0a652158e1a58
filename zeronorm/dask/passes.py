"""A pass over the blocks of Dask collections: a task for each block, results added up in a tree.

Dask's scheduler does the work, and does it again where a worker dies. Two things are decided here:

- how many blocks are in flight: :data:`AHEAD` for each thread of the cluster, so that one is read
  while another is worked on, and no more than these are ever in memory, however many there are;
- the order of the additions: results of :data:`FAN_IN` blocks in a row are added by one task, those
  of as many such tasks by another, and so on. It depends on nothing but the number of blocks, so
  that rounding is the same in every run, whoever is first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from distributed import Client, Future, as_completed

#: Blocks in flight for each thread, and results that are added at a time.
AHEAD, FAN_IN = 2, 8


class _Tree:
    """Results of blocks, added in groups as they are asked for."""

    def __init__(self, client: Client, add: Callable[[list[Any]], Any]) -> None:
        self.client, self.add = client, add
        self.levels: list[list[Future]] = []

    def push(self, future: Future, level: int = 0) -> None:
        """Take the next result of a level; a full group goes to the level above."""
        if level == len(self.levels):
            self.levels.append([])
        self.levels[level].append(future)
        if len(self.levels[level]) == FAN_IN:
            group, self.levels[level] = self.levels[level], []
            self.push(self.added(group), level + 1)

    def added(self, group: list[Future]) -> Future:
        """Return the sum of a group; it goes before blocks that are not there yet."""
        return self.client.submit(self.add, group, pure=False, priority=1)

    def root(self) -> Future:
        """Return the sum of all, groups that are not full included."""
        rest: list[Future] = []
        for level in self.levels:
            rest = level + rest
            if len(rest) > 1:
                rest = [self.added(rest)]
        return rest[0]


def summed(
    client: Client, calls: Iterable[tuple[Any, ...]], add: Callable[[list[Any]], Any]
) -> Any:
    """Call a function of each block, and return what ``add`` makes of all results.

    Whatever goes wrong, an interruption included, no task is left behind.

    Parameters
    ----------
    client : Client
        The cluster.
    calls : iterable of tuple
        A function and its arguments for each block, at least one; futures among them are there when
        it is called.
    add : callable
        Takes a list of results (of calls, or its own) in the order of the blocks.
    """
    tree, done = _Tree(client, add), as_completed()
    running: set[Future] = set()
    most = AHEAD * max(1, sum(client.nthreads().values()))
    try:
        for call in calls:
            if len(running) >= most:
                running.remove(_succeeded(next(done)))
            future = client.submit(*call, pure=False)
            running.add(future)
            done.add(future)
            tree.push(future)
        root = tree.root()
        running.add(root)
        return root.result()
    except BaseException:
        client.cancel([*running, *(future for level in tree.levels for future in level)])
        raise


def _succeeded(future: Future) -> Future:
    """Return a future that is done; the error of one that has failed is raised."""
    if future.status != "finished":
        future.result()
    return future


def sent(client: Client, value: Any) -> Future:
    """Return a value as a future that survives the worker that has it.

    What ``client.scatter`` puts on a worker is lost with it; a task is run again.
    """
    return client.submit(_itself, value, pure=False)


def _itself(value: Any) -> Any:
    return value
