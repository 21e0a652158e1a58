"""On a chip: the header cross-compiled, run in QEMU, and compared bit by bit with this machine."""

import numpy as np
import pytest

from benchmarks import chips
from tests.export.cases import get
from zeronorm import KernelExpansion
from zeronorm.decisions import Classes
from zeronorm.export import to_c
from zeronorm.kernels import Kernel
from zeronorm.model import Model

pytestmark = pytest.mark.skipif(not chips.are_there(), reason=chips.NEEDS)


def ten_by_twenty():
    rng = np.random.default_rng(0)
    kernel = Kernel("rbf", gamma=0.05)
    function = KernelExpansion(rng.normal(size=(10, 20)), rng.normal(size=10), 0.1, kernel)
    return Model(function, Classes(np.array(["no", "yes"]))), rng.normal(size=(40, 20))


@pytest.mark.parametrize("precision", ["float", "int16"])
@pytest.mark.parametrize("name", chips.CHIPS)
def test_ten_vectors_of_twenty_features(name, precision):
    """Under 4 kB of flash with its exp and under 200 bytes of RAM, and the same bits."""
    model, rows = ten_by_twenty()
    header = to_c(model, precision=precision, own_exp=True)
    found = chips.on_chip(header, rows, chips.CHIPS[name])
    np.testing.assert_array_equal(found.bits.ravel(), chips.on_host(header, rows))
    values = found.bits.view(np.float32)[:, 0]
    tolerance = 1e-5 if precision == "float" else 1e-2
    np.testing.assert_allclose(values, model.decision_function(rows), atol=tolerance)
    assert found.flash < 4096
    assert found.static + found.stack < 200
    assert 500 < found.instructions < 100_000


def test_instructions_are_counted_the_same_twice():
    model, rows = ten_by_twenty()
    header = to_c(model, precision="float", own_exp=True)
    counts = [chips.on_chip(header, rows, chips.CHIPS["Cortex-M4F"]).instructions for _ in "ab"]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["scaled", "SparseSVC, several", "votes", "one feature"])
def test_other_models(name):
    case = get(name)
    rows = case.X[:30]
    header = to_c(case.model, precision="float", own_exp=True)
    found = chips.on_chip(header, rows, chips.CHIPS["Cortex-M0"])
    np.testing.assert_array_equal(found.bits.ravel(), chips.on_host(header, rows))


def test_a_model_that_has_no_room():
    vectors = np.random.default_rng(0).normal(size=(700, 100))
    function = KernelExpansion(vectors, np.ones(700), 0.0, Kernel("rbf"))
    model = Model(function, Classes(np.array(["no", "yes"])))
    with pytest.raises(chips.TooLarge):
        header = to_c(model, precision="float", own_exp=True)
        chips.on_chip(header, vectors[:1], chips.CHIPS["Cortex-M0"])
