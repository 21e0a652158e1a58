"""What models are compared by on rows that they have not seen."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from zeronorm.kernels import Kernel
from zeronorm.learned.criteria import CLASSES, SLOPES, OfClasses, OfNumbers, margins
from zeronorm.learned.kernel_sets import Rows


def test_the_loss_of_two_classes_is_the_cross_entropy_in_bits():
    random = np.random.RandomState(0)
    scores, codes = 0.5 * random.randn(2, 1, 50), random.randint(2, size=50)
    errors, losses = CLASSES.row_losses(scores, codes)
    assert losses.shape == (len(SLOPES), 2, 50)
    for model in range(2):
        values = scores[model, 0]
        np.testing.assert_array_equal(errors[model], (values > 0) != codes)
        for slope, of_slope in zip(SLOPES, losses, strict=True):
            bits = log_loss(codes, expit(slope * values)) / np.log(2.0)
            assert of_slope[model].mean() == pytest.approx(bits, rel=1e-6)


def test_the_loss_of_several_classes_is_that_of_the_lead():
    """One bit on the boundary, less on the right side, more than one for an error."""
    scores = np.array([[[1.0, 2.0, 0.0], [1.0, 0.0, 5.0], [-3.0, 1.0, 1.0]]])
    codes = np.array([0, 0, 2])
    np.testing.assert_allclose(margins(scores, codes), [[0.0, 0.5, -2.0]])
    errors, losses = CLASSES.row_losses(scores, codes)
    np.testing.assert_array_equal(errors, [[False, False, True]])
    np.testing.assert_allclose(losses[:, 0, 0], 1.0)
    assert (losses[:, 0, 1] < 1.0).all() and (losses[:, 0, 2] > 1.0).all()


def test_large_margins_do_not_overflow():
    scores = np.array([[[1e30, -1e30]]], dtype=np.float32)
    _, losses = CLASSES.row_losses(scores, np.array([1, 1]))
    assert (losses[:, 0, 0] == 0.0).all() and np.isfinite(losses[0]).all()


@pytest.mark.parametrize(("n_rows", "counted"), [(80, True), (200, False)])
def test_support_vectors_are_those_of_an_svc_of_few_rows(n_rows, counted):
    classes = OfClasses(counted_rows=100)
    X, y = make_moons(n_rows, noise=0.2, random_state=0)
    cost = np.linspace(0.5, 2.0, n_rows)
    rows = Rows(X, 2.0 * y[None] - 1, np.ones((1, n_rows)))
    kernel = Kernel("rbf", 0.7)
    found = classes.support_share(rows, y, 3.0 * cost, kernel, active=0.7)
    svc = SVC(C=3.0, gamma=0.7).fit(X, y, sample_weight=cost)
    assert found == pytest.approx(len(svc.support_) / n_rows if counted else 0.5)
    # Which of another kernel, or of numbers, are not counted.
    assert CLASSES.support_share(rows, y, cost, Kernel("linear"), 0.7) == pytest.approx(0.5)
    assert OfNumbers(1.0).support_share(rows, y, cost, kernel, 0.7) == 0.7


def test_an_svc_that_takes_too_long_is_counted_as_far_as_it_came():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(60, 2)), np.arange(60) % 2
    rows = Rows(X, 2.0 * y[None] - 1, np.ones((1, 60)))
    classes = OfClasses(svc_steps=1)
    share = classes.support_share(rows, y, np.full(60, 1e9), Kernel("rbf", 1.0), active=1.0)
    assert 0.0 < share <= 1.0
