"""Coefficients on all blocks: those of rows in memory, whatever the blocks and whoever dies."""

import os
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tests.dask.cluster import distributed, in_process

da = pytest.importorskip("dask.array")
from zeronorm import SparseSVC  # noqa: E402
from zeronorm.base.labels import class_weights  # noqa: E402
from zeronorm.dask import DaskSparseSVC  # noqa: E402
from zeronorm.dask.blocks import Blocks  # noqa: E402
from zeronorm.dask.rows import ClassRows  # noqa: E402
from zeronorm.dask.sums import AllRows  # noqa: E402
from zeronorm.learned import coefficients  # noqa: E402
from zeronorm.learned.coefficients import certify  # noqa: E402
from zeronorm.learned.coordinates import TrainingSource, Units  # noqa: E402
from zeronorm.learned.joint import JointModels, Parameters  # noqa: E402
from zeronorm.learned.settings import Setting  # noqa: E402

N, D, TERMS, C = 1200, 4, 6, 0.3


def rows(n=N, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, D)
    labels = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int) + (X[:, 2] > 1)
    return X, np.array(["no", "perhaps", "yes"])[labels], rng.uniform(0.0, 2.0, n).round(1)


class Problem:
    """Some vectors, and all rows in memory."""

    def __init__(self, linear=True):
        self.X, self.y, self.weight = rows()
        machine = SparseSVC(class_weight="balanced")
        self.training = machine._training_rows(self.X, self.y, self.weight)
        classes = self.training.classes
        totals = np.bincount(self.training.codes, weights=self.weight[self.weight > 0])
        weights = class_weights("balanced", classes, np.arange(3), totals)
        self.coding = ClassRows(self.training.kernel, classes, weights)
        self.setting = Setting(C, self.training.kernel, 1, linear)
        self.units = Units.of(self.training)

    def models(self, some=slice(None)):
        """Models on some rows of those that count, coefficients zero."""
        training = self.training.take(np.arange(len(self.training.codes))[some])
        source = TrainingSource(training, self.units)
        parameters = Parameters.nothing(1, source.take(slice(3)), self.setting.form)
        parameters.vectors = source.take(slice(TERMS)).X[None]
        parameters.weights = np.zeros((1, TERMS, 3))
        cost = C * training.cost[None]
        return JointModels(source, self.setting.form, cost, np.array([0.7]), parameters)

    def elsewhere(self, client, models, X, y, weight, device=None):
        blocks = Blocks.of(client, X, y, weight)
        full_data = AllRows(blocks, len(self.training.codes), self.coding, device)
        return full_data.of_models(models, self.units, C)


CHUNKS = [(N,), (500, 700), (1, 399, 0, 600, 200), (150,) * 8]


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("linear", [False, True])
def test_coefficients_are_those_of_rows_in_memory(client, chunks, linear):
    problem = Problem(linear)
    here, there = problem.models(), problem.models(slice(300))
    value, gap = certify(here, 1e-20)
    parts = (da.from_array(part, chunks=(chunks, *part.shape[1:])) for part in rows())
    found, _ = certify(there, 1e-20, problem.elsewhere(client, there, *parts))
    np.testing.assert_allclose(found, value, rtol=1e-10)
    for one, other in zip(here.parameters.arrays(), there.parameters.arrays(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-8)


def test_blocks_may_go_to_a_device(client):
    pytest.importorskip("torch")  # "cpu:0" is one of its devices
    problem = Problem()
    here, there = problem.models(), problem.models(slice(300))
    value, _ = certify(here, 1e-20)
    parts = (da.from_array(part, chunks=(500, *part.shape[1:])) for part in rows())
    found, _ = certify(there, 1e-20, problem.elsewhere(client, there, *parts, device="cpu:0"))
    np.testing.assert_allclose(found, value, rtol=1e-10)
    for one, other in zip(here.parameters.arrays(), there.parameters.arrays(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-8)


def test_a_fit_with_a_device_is_that_without(client):
    pytest.importorskip("torch")
    X, y, _ = rows(1500)
    parts = [da.from_array(part, chunks=(400, *part.shape[1:])) for part in (X, y)]
    options = {"n_terms": 3, "C": 1.0, "sample_rows": 1000, "max_iter": 20, "random_state": 0}
    plain = DaskSparseSVC(client=client, **options).fit(*parts)
    found = DaskSparseSVC(client=client, device="cpu:0", **options).fit(*parts)
    expected = plain.to_local().decision_function(X)
    np.testing.assert_allclose(found.to_local().decision_function(X), expected, atol=1e-3)


def test_sums_over_sparse_blocks_are_those_over_dense_ones(client):
    problem = Problem()  # its units have a centre, as those of a sample that is few enough have
    models = problem.models()
    point = np.random.RandomState(0).randn(1, TERMS + D + 1, 3)
    X, y, weight = (da.from_array(part, chunks=400) for part in rows())
    dense, thin = (
        problem.elsewhere(client, models, data, y, weight)
        for data in (X.rechunk({1: -1}), X.rechunk({1: -1}).map_blocks(sparse.csr_matrix))
    )
    one, other = dense.sums(point, np.float64), thin.sums(point, np.float64)
    for name in ("loss", "slope", "matrix", "mixed", "corner"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(one.loss, dense.losses(point), rtol=1e-12)


def test_derivatives_are_those_of_the_losses(client):
    problem = Problem()
    models = problem.models()
    X, y, weight = (da.from_array(part, chunks=(500, *part.shape[1:])) for part in rows())
    there = problem.elsewhere(client, models, X, y, weight)
    random = np.random.RandomState(1)
    point, move = random.randn(2, 1, TERMS + D + 1, 3)
    at, step = there.sums(point, np.float64), 1e-6
    rise = there.losses(point + step * move) - there.losses(point - step * move)
    np.testing.assert_allclose((at.slope * move).sum(axis=1), rise / (2 * step), rtol=1e-5)
    steeper = there.sums(point + step * move, np.float64).slope - at.slope
    curved = np.einsum("koij,kjo->kio", at.matrix, move[:, :-1])
    curved += at.mixed * move[:, -1:]
    np.testing.assert_allclose(curved, steeper[:, :-1] / step, rtol=1e-3, atol=1e-2)


def test_a_worker_holds_less_than_three_blocks(monkeypatch):
    monkeypatch.setattr(coefficients, "BLOCK", 2**14)
    problem, n, d = Problem(), 20_000, D
    # Rows that take no memory until they are asked for; wide ones, so that X is what takes it.
    wide, size = 25 * d, 20_000 * 25 * d * 8
    problem.X = None
    rng = da.random.default_rng(0)
    X = rng.normal(size=(8 * n, wide), chunks=(n, wide))
    y = da.where(X[:, 0] > 0, "no", "yes")
    classes = np.array(["no", "yes"])
    coding = ClassRows(problem.training.kernel, classes, np.ones(2))
    setting = Setting(C, problem.training.kernel, 1)
    units = Units(0.1, np.zeros(wide))
    parameters = Parameters(
        np.random.RandomState(0).randn(1, 3, wide), np.zeros((1, 3, 1)), np.zeros((1, 1)),
        np.zeros((1, 0, 1)), np.zeros((1, 1)),
    )  # fmt: skip
    like = TrainingSource(coding.training(np.zeros((2, wide)), classes, np.ones(2)), units)
    models = JointModels(like, setting.form, np.ones((1, 2)), np.ones(1), parameters)
    with in_process(1) as client:
        there = AllRows(Blocks.of(client, X, y), 8 * n, coding).of_models(models, units, C)
        there.losses(np.zeros((1, 4, 1)))  # what is imported on the way is no part of it
        tracemalloc.start()
        try:
            found = there.sums(np.zeros((1, 4, 1)), np.float64)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert found.corner[0, 0] == pytest.approx(C * 8 * n)
    assert size < peak < 3 * size


def deadly(block, marker):
    """Kill the process that works on a block, once."""
    if block.shape[0] == 250 and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return block


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(tmp_path):
    from distributed.utils_test import cluster

    problem, chunks = Problem(), (300, 250, 350, 300)
    here = problem.models()
    certify(here, 1e-20)
    X, y, weight = (da.from_array(part, chunks=(chunks, *part.shape[1:])) for part in rows())
    marker = str(tmp_path / "died")
    with cluster(nworkers=2) as (scheduler, _):
        with distributed.Client(scheduler["address"]) as client:
            deaths = X.map_blocks(deadly, marker=marker, dtype=float)
            there = problem.models(slice(300))
            certify(there, 1e-20, problem.elsewhere(client, there, deaths, y, weight))
    assert os.path.exists(marker)
    for one, other in zip(here.parameters.arrays(), there.parameters.arrays(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-8)
