import numpy as np
import pytest

from zeronorm.datasets import (
    POLYNOMIAL_TARGETS,
    make_clouds,
    make_polynomial_target,
    make_ringnorm,
    make_ripley,
    make_waveform,
    make_weston_toy,
)

GENERATORS = [
    make_waveform,
    make_ringnorm,
    make_ripley,
    make_clouds,
    make_weston_toy,
    make_polynomial_target,
]


@pytest.mark.parametrize("make", GENERATORS, ids=lambda f: f.__name__)
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


class TestWeston:
    def test_one_feature_of_each_group_is_telling(self):
        X, y = make_weston_toy(4000, standardise=False, random_state=0)
        means = (X * y[:, None]).mean(axis=0)
        assert means[:3] == pytest.approx([0.7, 1.4, 2.1], abs=0.1)
        assert means[3:6] == pytest.approx([0.3, 0.6, 0.9], abs=0.1)
        assert X[:, 6:].std() == pytest.approx(20.0, rel=0.01)
        assert abs(means[6:].mean()) < 0.3

    def test_standardised(self):
        X, _ = make_weston_toy(50, n_features=8, random_state=0)
        assert X.mean(axis=0) == pytest.approx(np.zeros(8), abs=1e-12)
        assert X.std(axis=0) == pytest.approx(np.ones(8))

    def test_too_few_features(self):
        with pytest.raises(ValueError, match="at least 6"):
            make_weston_toy(n_features=5)

    @pytest.mark.parametrize("target", POLYNOMIAL_TARGETS)
    def test_polynomials(self, target):
        X, y = make_polynomial_target(200, target, random_state=0)
        assert X.shape == (200, 10)
        assert set(y) == {-1, 1}
        if target == "x1x2+x3":
            assert np.array_equal(y, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, -1))

    def test_an_unknown_polynomial(self):
        with pytest.raises(ValueError, match="target must be one of"):
            make_polynomial_target(target="x1x2")
