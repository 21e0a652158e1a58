"""A pass over blocks: the tree of additions, blocks in flight, and what is left behind."""

import asyncio
import threading
import time

import pytest

from tests.dask.cluster import distributed, in_process

pytest.importorskip("dask")
from zeronorm.dask.passes import AHEAD, FAN_IN, sent, summed  # noqa: E402


def calls_of(function, count):
    return [(function, index) for index in range(count)]


def leaves(node):
    return [leaf for part in node for leaf in leaves(part)] if isinstance(node, list) else [node]


def widest(node):
    return max([len(node), *map(widest, node)]) if isinstance(node, list) else 0


@pytest.mark.parametrize("count", [1, 2, FAN_IN, FAN_IN + 1, 3 * FAN_IN + 2, FAN_IN**2 + 1])
def test_every_block_is_added_once_and_always_in_the_same_order(client, count):
    def itself(index):
        return index

    first = summed(client, calls_of(itself, count), list)
    assert sorted(leaves(first)) == list(range(count))
    assert widest(first) <= FAN_IN
    assert summed(client, calls_of(itself, count), list) == first


#: What tasks share with the tests: they run in this process.
DONE, GATE = [], threading.Event()


def note(index):
    DONE.append(index)


def wait_for_the_gate(index):
    GATE.wait()


def test_blocks_in_flight_are_bounded(client):
    DONE.clear()
    ahead = []

    def calls():
        for count, call in enumerate(calls_of(note, 40)):
            ahead.append(count - len(DONE))  # those that were asked for before it
            yield call

    summed(client, calls(), len)
    assert sorted(DONE) == list(range(40))
    assert max(ahead) <= AHEAD * 2  # two threads


def test_an_interruption_cancels_what_is_under_way():
    GATE.clear()

    def calls():
        yield from calls_of(wait_for_the_gate, 3)
        raise KeyboardInterrupt

    with in_process() as client:
        with pytest.raises(KeyboardInterrupt):
            summed(client, calls(), len)
        GATE.set()
        scheduler = client.cluster.scheduler
        client.sync(_until_empty, scheduler)
        assert not scheduler.tasks


async def _until_empty(scheduler):
    for _ in range(1000):
        if not scheduler.tasks:
            return
        await asyncio.sleep(0.01)


def test_the_error_of_a_block_is_raised(client):
    def work(index):
        if index == 2:
            raise ValueError("block 2 is not well")

    with pytest.raises(ValueError, match="block 2 is not well"):
        summed(client, calls_of(work, 40), len)


def test_what_is_sent_survives_its_worker():
    with in_process() as client:
        value = sent(client, [1, 2, 3])
        distributed.wait(value)
        (there,) = client.who_has(value)[value.key]
        client.retire_workers([there])
        assert value.result() == [1, 2, 3]


def late(index):
    """Take longer for some blocks than for others."""
    time.sleep(0.002 * (index * 7 % 5))
    return [index]


def joined(parts):
    return sum(parts, [])


def test_slow_workers_and_one_that_dies_change_nothing():
    with in_process(4) as client:
        workers = list(client.cluster.workers.values())

        def calls():
            yield from calls_of(late, 60)[:30]
            client.sync(workers[0].close, executor_wait=False, reason="a test")
            yield from calls_of(late, 60)[30:]

        assert sorted(summed(client, calls(), joined)) == list(range(60))
        assert len(client.scheduler_info()["workers"]) == 3
