"""The guard of regressors: a word where little was learned and more is possible, none elsewhere."""

import warnings

import numpy as np
import pytest

from zeronorm import RelevanceVectorRegressor, SparseSVR, ZeroNormSVR
from zeronorm.exceptions import PoorFitWarning
from zeronorm.kernels import Kernel


def wave(n=150, seed=0):
    random = np.random.RandomState(seed)
    X = random.uniform(-3, 3, (n, 2))
    return X, 100.0 * np.sin(2 * X[:, 0]) + 5.0 * random.randn(n)


@pytest.mark.parametrize(
    "model",
    [
        ZeroNormSVR(C=1e-6),
        ZeroNormSVR(epsilon=1e4),
        SparseSVR(1, C=1e-4, epsilon=0.0, gamma="scale"),
        RelevanceVectorRegressor(noise_variance=1e8),
    ],
    ids=str,
)
def test_a_model_that_guesses_says_so(model):
    X, y = wave()
    with pytest.warns(PoorFitWarning, match="has learned little.*SVR.C=10. in cross-validation"):
        model.fit(X, y)
    with pytest.warns(PoorFitWarning, match="has learned little"):
        ZeroNormSVR(C=1e-6, kernel="precomputed").fit(Kernel("rbf", gamma=0.5).matrix(X, X), y)


def test_good_models_noise_and_constants_say_nothing():
    X, y = wave()
    noise = np.random.RandomState(1).randn(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PoorFitWarning)
        ZeroNormSVR(C=30.0, epsilon=5.0).fit(X, y)
        RelevanceVectorRegressor().fit(X, np.column_stack([y, noise]))
        ZeroNormSVR(C=1e-6).fit(X, noise)
        ZeroNormSVR().fit(X, np.ones(150))


def test_rows_far_from_zero():
    """libsvm alone would learn nothing from them: the guard moves them first."""
    X, y = wave()
    with pytest.warns(PoorFitWarning, match="has learned little"):
        ZeroNormSVR(C=1e-6).fit(X + 1e8, y)
