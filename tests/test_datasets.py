import numpy as np
import pytest

from zeronorm.datasets import make_clouds, make_ringnorm, make_ripley, make_waveform


@pytest.mark.parametrize(
    "make", [make_waveform, make_ringnorm, make_ripley, make_clouds], ids=lambda f: f.__name__
)
def test_shapes_and_seeds(make):
    X, y = make(50, random_state=3)
    assert len(X) == len(y) == 50 and set(np.unique(y)) <= {-1, 1}
    again, _ = make(50, random_state=3)
    other, _ = make(50, random_state=4)
    assert np.array_equal(X, again) and not np.array_equal(X, other)


def test_waveform_has_the_moments_of_its_definition():
    X, y = make_waveform(60_000, random_state=0)
    # At its peak (place 7) wave 1 is 6 and wave 2 is 0: u is uniform, so the mean is 3 and the
    # variance 36/12 + 1.
    peak = X[y == 1][:, 6]
    assert peak.mean() == pytest.approx(3.0, abs=0.05)
    assert peak.var() == pytest.approx(4.0, abs=0.1)
    assert (y == 1).mean() == pytest.approx(1 / 3, abs=0.01)


def test_ringnorm_has_the_moments_of_its_definition():
    X, y = make_ringnorm(40_000, random_state=0)
    assert X[y == -1].var() == pytest.approx(4.0, abs=0.03)
    assert X[y == 1].var() == pytest.approx(1.0, abs=0.01)
    assert X[y == 1].mean() == pytest.approx(2 / np.sqrt(20), abs=0.01)


def test_ripley_has_the_moments_and_the_bayes_error_of_its_definition():
    X, y = make_ripley(100_000, random_state=0)
    centers = {-1: [[-0.7, 0.3], [0.3, 0.3]], 1: [[-0.3, 0.7], [0.4, 0.7]]}
    density = {
        label: sum(np.exp(-((X - c) ** 2).sum(axis=1) / 0.06) for c in clouds)
        for label, clouds in centers.items()
    }
    error = np.mean(np.where(density[1] > density[-1], 1, -1) != y)
    assert error == pytest.approx(0.088, abs=0.003)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), [0.05, 0.7], atol=0.01)
    np.testing.assert_allclose(X[y == -1].var(axis=0), [0.28, 0.03], atol=0.01)


@pytest.mark.parametrize(("wide", "variances"), [(False, (1.0, 2.0)), (True, (1.0, 4.0))])
def test_clouds_have_the_moments_of_their_definition(wide, variances):
    X, y = make_clouds(60_000, wide=wide, random_state=0)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 1.0, atol=0.04)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), -1.0, atol=0.04)
    spread, axes = np.linalg.eigh(np.cov((X - y[:, None]).T))
    np.testing.assert_allclose(spread, variances, rtol=0.03)
    if wide:
        # Where the axis between the means is the long one, the best boundary is x1 + x2 = 0.
        assert abs(axes[:, 1].sum()) == pytest.approx(np.sqrt(2), abs=0.02)
        assert np.mean(np.sign(X.sum(axis=1)) != y) == pytest.approx(0.240, abs=0.005)
