"""Generators of the synthetic problems that the papers use."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from zeronorm.checks import check_one_of, shown


def make_waveform(n_samples: int = 1000, *, random_state: Any = None) -> tuple[Any, Any]:
    """Breiman's waveforms: one of three mixtures of two triangular waves, plus noise.

    The first mixture against the other two, as in the benchmark of Rätsch.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        Noisy waves, standard deviation of the noise one.
    y : ndarray of shape (n_samples,)
        +1 for the first mixture (a third of the rows), -1 for the others.

    References
    ----------
    Leo Breiman, Jerome Friedman, Richard Olshen, Charles Stone: Classification and Regression
    Trees (1984).

    Examples
    --------
    >>> from zeronorm.datasets import make_waveform
    >>> X, y = make_waveform(100, random_state=0)
    >>> X.shape
    (100, 21)
    """
    random = check_random_state(random_state)
    time = np.arange(1, 22)
    waves = np.maximum(6.0 - np.abs(time - np.array([[7], [15], [11]])), 0.0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    mixture = random.randint(3, size=n_samples)
    share = random.uniform(size=(n_samples, 1))
    first, second = waves[pairs[mixture, 0]], waves[pairs[mixture, 1]]
    X = share * first + (1.0 - share) * second + random.normal(size=(n_samples, 21))
    return X, np.where(mixture == 0, 1, -1)


def make_ringnorm(n_samples: int = 1000, *, random_state: Any = None) -> tuple[Any, Any]:
    """Breiman's ringnorm: a wide normal cloud around a narrow one, in 20 dimensions.

    Class -1 has mean zero and covariance 4 I, class +1 mean 2/sqrt(20) in every coordinate and
    covariance I.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
        Rows.
    y : ndarray of shape (n_samples,)
        -1 or +1 with equal probability.

    References
    ----------
    Leo Breiman: Bias, variance and arcing classifiers. Technical report 460, Berkeley (1996).

    Examples
    --------
    >>> from zeronorm.datasets import make_ringnorm
    >>> X, y = make_ringnorm(100, random_state=0)
    >>> X.shape
    (100, 20)
    """
    random = check_random_state(random_state)
    y = np.where(random.uniform(size=n_samples) < 0.5, 1, -1)
    noise = random.normal(size=(n_samples, 20))
    X = np.where(y[:, None] == 1, noise + 2.0 / np.sqrt(20.0), 2.0 * noise)
    return X, y


def make_ripley(n_samples: int = 250, *, random_state: Any = None) -> tuple[Any, Any]:
    """Ripley's synthetic problem: two classes, each a mixture of two round normal clouds.

    The clouds lie at (-0.7, 0.3) and (0.3, 0.3) for class -1, at (-0.3, 0.7) and (0.4, 0.7) for
    class +1, with variance 0.03 in every direction; the best possible error is 8.8 %.

    Parameters
    ----------
    n_samples : int, default=250
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Rows.
    y : ndarray of shape (n_samples,)
        -1 or +1 with equal probability.

    References
    ----------
    Brian Ripley: Pattern Recognition and Neural Networks (1996).

    Examples
    --------
    >>> from zeronorm.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> X.shape
    (100, 2)
    """
    random = check_random_state(random_state)
    centers = np.array([[-0.7, 0.3], [0.3, 0.3], [-0.3, 0.7], [0.4, 0.7]])
    cloud = random.randint(4, size=n_samples)
    X = centers[cloud] + np.sqrt(0.03) * random.normal(size=(n_samples, 2))
    return X, np.where(cloud >= 2, 1, -1)


def make_clouds(
    n_samples: int = 300, *, wide: bool = False, random_state: Any = None
) -> tuple[Any, Any]:
    """Mannor's synthetic problem: two normal clouds in the plane, of the same shape.

    The means are (1, 1) and (-1, -1), the covariance V diag(1, 2) V' with a random rotation V;
    the best possible error lies between 7.9 % and 15.9 %.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    wide : bool, default=False
        Take 1 and 2 as standard deviations, the longer along the line through the means. The best
        possible error is then 24.0 %: that of the published figures, which the problem as printed
        cannot have.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Rows.
    y : ndarray of shape (n_samples,)
        -1 or +1 with equal probability.

    References
    ----------
    Shie Mannor, Dori Peleg, Reuven Rubinstein: The cross entropy method for classification.
    International Conference on Machine Learning (2005).

    Examples
    --------
    >>> from zeronorm.datasets import make_clouds
    >>> X, y = make_clouds(100, random_state=0)
    >>> X.shape
    (100, 2)
    """
    random = check_random_state(random_state)
    angle = random.uniform(0.0, 2.0 * np.pi)
    deviations = np.sqrt([1.0, 2.0])
    if wide:
        angle, deviations = -np.pi / 4.0, np.array([1.0, 2.0])
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    y = random.choice([-1, 1], size=n_samples)
    noise = random.normal(size=(n_samples, 2)) * deviations
    return y[:, None] + noise @ rotation.T, y


def make_weston_toy(
    n_samples: int = 100,
    *,
    n_features: int = 100,
    standardise: bool = True,
    random_state: Any = None,
) -> tuple[Any, Any]:
    """Weston's linear problem: two groups of three useful features among many of noise.

    With probability 0.7 the first three are y·N(i, 1), i = 1, 2, 3, and the next three N(0, 1);
    otherwise it is the other way round. The rest is N(0, 20), the second number being the standard
    deviation. One feature of each group is needed, and enough.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_features : int, default=100
        Number of features, at least six.
    standardise : bool, default=True
        Scale the features to mean zero and standard deviation one, as the paper does. To have
        training and test rows in the same units, draw them together.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        -1 or +1 with equal probability.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from zeronorm.datasets import make_weston_toy
    >>> X, y = make_weston_toy(30, random_state=0)
    >>> X.shape
    (30, 100)
    """
    if n_features < 6:
        raise ValueError(f"n_features must be at least 6; got {shown(n_features)}.")
    random = check_random_state(random_state)
    y = random.choice([-1, 1], size=n_samples)
    X = 20.0 * random.normal(size=(n_samples, n_features))
    noise = random.normal(size=(n_samples, 6))
    telling = y[:, None] * (np.array([1, 2, 3, 1, 2, 3]) + noise)
    is_first = random.uniform(size=(n_samples, 1)) < 0.7
    group = np.array([True] * 3 + [False] * 3)
    X[:, :6] = np.where(is_first == group, telling, random.normal(size=(n_samples, 6)))
    if standardise:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, y


#: Targets of Weston et al. (2003), Figure 1: the share of the polynomial's coefficients that is
#: zero, or a formula.
POLYNOMIAL_TARGETS = ("x1x2+x3", "x1", "95%", "90%", "80%", "0%")


def make_polynomial_target(
    n_samples: int = 100, target: str = "x1x2+x3", *, random_state: Any = None
) -> tuple[Any, Any]:
    """Weston's problems in kernel space: the sign of a polynomial of degree 2 in ten inputs.

    The inputs are standard normal. A random polynomial has standard normal coefficients, a share
    of which is zero; at least one is not.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    target : {"x1x2+x3", "x1", "95%", "90%", "80%", "0%"}, default="x1x2+x3"
        The polynomial: a formula, or the share of zeros in a random one.
    random_state : int, RandomState instance or None, default=None
        Seed of the polynomial and the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
        Rows.
    y : ndarray of shape (n_samples,)
        -1 or +1, without noise.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from zeronorm.datasets import make_polynomial_target
    >>> X, y = make_polynomial_target(50, "x1", random_state=0)
    >>> bool(((X[:, 0] > 0) == (y == 1)).all())
    True
    """
    check_one_of("target", target, POLYNOMIAL_TARGETS)
    random = check_random_state(random_state)
    first, second = np.triu_indices(10)
    coef = random.normal(size=10 + len(first))
    chosen = random.permutation(len(coef))
    X = random.normal(size=(n_samples, 10))
    if target == "x1":
        values = X[:, 0]
    elif target == "x1x2+x3":
        values = X[:, 0] * X[:, 1] + X[:, 2]
    else:
        share = 1.0 - float(target[:-1]) / 100.0
        coef[chosen[max(1, round(share * len(coef))) :]] = 0.0
        values = np.hstack([X, X[:, first] * X[:, second]]) @ coef
    return X, np.where(values > 0, 1, -1)
