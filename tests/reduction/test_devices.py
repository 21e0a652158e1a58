"""Reducers whose sums over a large model are made on a device: the same as in NumPy."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, SVR, OneClassSVM

from tests.data import moons, wine
from zeronorm import OneClassReducer, SVCReducer, SVRReducer
from zeronorm.kernels import Kernel

KERNELS = [
    Kernel("rbf", gamma=0.3),
    Kernel("rbf", gamma=0.3).with_metric([0.5, 2.0, 0.0]),
    Kernel("poly", gamma=0.2, coef0=1.0, degree=3),
    Kernel("linear"),
]


@pytest.fixture
def like():
    pytest.importorskip("torch")
    from zeronorm.arrays import on_device

    return on_device("cpu:0")  # not NumPy, though on the same processor


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_given_function_and_its_derivative(like, kernel):
    from zeronorm.learned.device_prototypes import DeviceFunction

    random = np.random.RandomState(0)
    vectors, coef, points = random.randn(40, 3) + 5.0, random.randn(40, 2), random.randn(6, 3) + 5.0
    function, weights = DeviceFunction(vectors, coef, kernel, like), random.randn(6, 2)
    expected = kernel.matrix(points, vectors) @ coef
    np.testing.assert_allclose(function.values(points), expected, rtol=1e-10, atol=1e-10)

    def value(flat):
        return np.sum(weights * (kernel.matrix(flat.reshape(6, 3), vectors) @ coef))

    def gradient(flat):
        return function.gradient(flat.reshape(6, 3), weights).ravel()

    scale = max(1.0, np.abs(gradient(points.ravel())).max())
    assert check_grad(value, gradient, points.ravel()) < 1e-5 * scale


def reducers():
    X, y = moons(150)
    Z, kind = wine()
    yield "two classes", SVCReducer, SVC(gamma=1.0).fit(X, y), (X, y)
    yield "three classes", SVCReducer, SVC().fit(Z, kind), (Z, kind)
    yield "numbers", SVRReducer, SVR().fit(X, X[:, 0] ** 2), (X, X[:, 0] ** 2)
    yield "one class", OneClassReducer, OneClassSVM(nu=0.3).fit(X), (X,)


@pytest.mark.parametrize("method", ["reduced_set", "modified"])
@pytest.mark.parametrize("case", list(reducers()), ids=lambda case: case[0])
def test_smaller_models_are_those_of_numpy(like, case, method):
    _, Reducer, machine, rows = case
    given = {"n_terms": 5, "method": method, "max_iter": 40, "tol": 1e-2, "random_state": 0}
    here = Reducer(FrozenEstimator(machine), **given).fit(*rows)
    there = Reducer(FrozenEstimator(machine), **given, device="cpu:0").fit(*rows)
    assert isinstance(there.support_vectors_, np.ndarray)
    # Rounding moves the descent: what is reached must be as good, not the same.
    assert there.history_["residual"][-1] <= 1.05 * here.history_["residual"][-1] + 1e-4
    assert there.changed_ <= here.changed_ + 0.03


def test_a_device_that_is_not_there_is_named():
    with pytest.raises((ValueError, ImportError), match="device"):
        SVCReducer(SVC(), n_terms=2, device="nowhere").fit(*moons(40))
