"""What models are compared by on rows that they have not seen."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from zeronorm.learned.criteria import CLASSES, SLOPES, margins


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
