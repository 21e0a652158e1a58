"""RelevanceVectorRegressor: the evidence in closed form, sinc as in Tipping (2001), intervals."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import zeronorm
from zeronorm import RelevanceVectorRegressor


def sinc(noise=0.1, seed=0, n=100):
    X = np.linspace(-10, 10, n)[:, None]
    return X, np.sinc(X[:, 0] / np.pi) + noise * np.random.RandomState(seed).randn(n)


def dense(model, X, y):
    """Φ, prior variances and noise of a fitted model, for targets of mean zero and spread one."""
    scale = y.std()
    design = np.column_stack([model.expansion_.kernel_values(X), np.ones(len(X))])
    precision = np.append(model.prior_precision_[0], model.intercept_precision_[0])
    kept = np.isfinite(precision)  # the constant may not be needed
    prior = 1.0 / (precision[kept] * scale**2)
    return design[:, kept], prior, model.noise_variance_ / scale**2


def evidence(design, prior, noise, target):
    covariance = noise * np.eye(len(target)) + (design * prior) @ design.T
    return multivariate_normal(np.zeros(len(target)), covariance).logpdf(target)


@pytest.mark.parametrize("noise", ["auto", 0.02])
def test_evidence_and_posterior_in_closed_form(noise):
    X, y = sinc()
    model = RelevanceVectorRegressor(gamma=1 / 9, noise_variance=noise).fit(X, y)
    design, prior, variance = dense(model, X, y)
    target = (y - y.mean()) / y.std()
    best = evidence(design, prior, variance, target)
    assert model.log_marginal_likelihood_ == pytest.approx(best, abs=1e-6)
    covariance = np.linalg.inv(design.T @ design / variance + np.diag(1.0 / prior))
    mean = covariance @ design.T @ target / variance
    values, std = model.predict(X, return_std=True)
    np.testing.assert_allclose((values - y.mean()) / y.std(), design @ mean, atol=1e-6)
    expected = variance + np.einsum("ij,jk,ik->i", design, covariance, design)
    np.testing.assert_allclose((std / y.std()) ** 2, expected, rtol=1e-6)
    # A local maximum: no variance of its own, up or down, raises it by more than the tolerance.
    for j in range(len(prior)):
        for factor in (0.7, 1.4):
            other = prior * np.where(np.arange(len(prior)) == j, factor, 1.0)
            assert evidence(design, other, variance, target) < best + 1e-3
    if noise == "auto":
        for factor in (0.8, 1.25):
            assert evidence(design, prior, factor * variance, target) < best + 1e-3


def test_sinc_without_noise():
    """Tipping (2001), 4.1: nine relevance vectors, a largest error of 0.0070, with σ = 0.01."""
    X, y = sinc(noise=0.0)
    model = RelevanceVectorRegressor(gamma=1 / 9, noise_variance=1e-4).fit(X, y)
    assert model.n_terms_ <= 9 and np.abs(model.predict(X) - y).max() <= 0.0070


def test_sinc_with_noise():
    """Tipping (2001), 4.1: nine vectors where an SVM has 36, at a lower error."""
    X, truth = sinc(noise=0.0)
    errors, terms, deviations = [], [], []
    for seed in range(5):
        model = RelevanceVectorRegressor(gamma=1 / 9).fit(*sinc(seed=seed))
        errors.append(np.sqrt(np.mean((model.predict(X) - truth) ** 2)))
        terms.append(model.n_terms_)
        deviations.append(np.sqrt(model.noise_variance_))
    assert max(terms) <= 9 and np.mean(errors) < 0.045
    assert 0.09 < np.mean(deviations) < 0.115


def test_standard_deviations_hold_on_fresh_rows():
    X, y = sinc()
    model = RelevanceVectorRegressor(gamma=1 / 9).fit(X, y)
    fresh, truth = sinc(seed=7, n=2000)
    values, std = model.predict(fresh, return_std=True)
    assert 0.85 < np.mean(np.abs(values - truth) < 1.645 * std) < 0.95


def test_several_targets_weights_and_saving(tmp_path):
    X, y = sinc()
    Y = np.column_stack([y, 50.0 + 1000.0 * y])
    model = RelevanceVectorRegressor(gamma=1 / 9).fit(X, Y)
    values, std = model.predict(X, return_std=True)
    assert values.shape == std.shape == (100, 2)
    np.testing.assert_allclose(50.0 + 1000.0 * values[:, 0], values[:, 1], rtol=1e-6)
    np.testing.assert_allclose(1000.0 * std[:, 0], std[:, 1], rtol=1e-6)
    zeronorm.save(model, tmp_path / "model.json")
    np.testing.assert_allclose(zeronorm.load(tmp_path / "model.json").predict(X), values)
    twice = RelevanceVectorRegressor(gamma=1 / 9).fit(np.vstack([X, X]), np.append(y, y))
    weighted = RelevanceVectorRegressor(gamma=1 / 9).fit(X, y, np.full(100, 2.0))
    assert twice.log_marginal_likelihood_ == pytest.approx(weighted.log_marginal_likelihood_)


def test_odd_targets():
    X, y = sinc()
    constant = RelevanceVectorRegressor().fit(X, np.full(100, 2.5))
    np.testing.assert_allclose(constant.predict(X), 2.5, rtol=1e-6)
    y[5] = 1e12
    assert np.isfinite(RelevanceVectorRegressor().fit(X, y).predict(X)).all()


def test_bad_parameters():
    for parameters, sentence in (
        ({"noise_variance": 0.0}, "noise_variance must be 'auto' or a finite positive number"),
        ({"noise_variance": "low"}, "noise_variance must be"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            RelevanceVectorRegressor(**parameters).fit(*sinc())
