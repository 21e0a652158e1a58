"""The model of the cost: what it says of cases in which the answer is known."""

import math

import pytest

pytest.importorskip("distributed")
from benchmarks.cluster_model import Machine, Work, predict  # noqa: E402
from zeronorm.dask.passes import FAN_IN  # noqa: E402

FREE = Machine(row=(1e-6, 0, 0, 0, 0, 0, 0, 0), task=0.0, hop=0.0, sample=0.0, link=math.inf)


def test_computing_is_shared_by_the_workers():
    work = Work(1e8, 20, 32, block_rows=1e6, passes=3)
    for workers in (1, 10, 100):
        found = predict(work, FREE, workers)
        assert found.total == pytest.approx(3 * 100 / workers)
        assert found.bottleneck == "computing"
    # More workers than blocks are of no use.
    assert predict(work, FREE, 1000).total == predict(work, FREE, 100).total


def test_every_part_of_a_row_counts():
    work = Work(1, 3, 5, 2)
    assert work.parts() == (1, 3, 15, 5, 25, 2, 10, 50)
    row = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
    one = Machine(row, task=0.0, hop=0.0, sample=7.0, reading=8.0, link=math.inf)
    seconds = 1 + 6 + 45 + 20 + 125 + 12 + 70 + 400 + 3
    assert predict(Work(1, 3, 5, 2, passes=2), one, 1).total == pytest.approx(7 + 2 * seconds)


def test_the_scheduler_is_the_bottleneck_of_small_blocks():
    work = Work(1e8, 20, 32, block_rows=1e4, passes=1)
    machine = Machine(FREE.row, task=0.001, hop=0.0, sample=0.0, link=math.inf)
    found = predict(work, machine, 1000)
    assert found.bottleneck == "scheduling"
    assert found.total == pytest.approx(10.0)


def test_sums_of_many_outputs_wait_for_the_links():
    work = Work(1e9, 20, 999, 10, block_rows=1e6, passes=1)
    machine = Machine(FREE.row, task=0.0, hop=0.01, sample=0.0, link=8e7)
    found = predict(work, machine, 1000)
    assert found.adding == pytest.approx(1.0)  # one block each, 80 MB
    depth = math.ceil(math.log(1000, FAN_IN))
    assert found.total == pytest.approx(1.0 + depth * (0.01 + FAN_IN))
    assert predict(work, machine, 1).adding == 0.0
