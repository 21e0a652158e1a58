"""SparseKernelFisher: LDA with a linear kernel, kernel Fisher with all rows, bad input."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

import zeronorm
from zeronorm import SparseKernelFisher
from zeronorm.classifiers.kernel_fisher import class_scores
from zeronorm.kernels import Kernel


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_with_a_linear_kernel_it_is_linear_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = SparseKernelFisher(X.shape[1], kernel="linear", C=1e6, random_state=0).fit(X, y)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, lda.explained_variance_ratio_, rtol=1e-3
    )
    found, expected = ours.transform(X), lda.transform(X)
    found = found * np.sign(np.sum(found * expected, axis=0))
    scale = np.std(expected, axis=0) / np.std(found, axis=0)  # divisors n and n - K
    np.testing.assert_allclose(found * scale, expected, atol=0.02)
    assert np.mean(ours.predict(X) == lda.predict(X)) > 0.99


def test_two_classes_by_the_rayleigh_quotient():
    """Not below that of a direction with all rows as vectors by more than the penalty costs."""
    X, y = make_moons(150, noise=0.2, random_state=0)
    model = SparseKernelFisher(10, C=10.0, gamma=1.0, random_state=0).fit(X, y)
    gram = Kernel("rbf", gamma=1.0).matrix(X, X)
    # Regression on scores with all rows, in closed form: (K + I/C) a + b = y, 1'a = 0.
    target = class_scores(y, np.full(150, 1.0 / 150))[:, 0]
    matrix = np.block([[gram + np.eye(150) / 10.0, np.ones((150, 1))], [np.ones((1, 150)), 0.0]])
    dual = np.linalg.solve(matrix, np.append(target, 0.0))

    def quotient(values):
        means = [values[y == k].mean() for k in (0, 1)]
        within = sum(np.sum((values[y == k] - means[k]) ** 2) for k in (0, 1))
        return (means[1] - means[0]) ** 2 / within

    whole = gram @ dual[:-1]
    assert model.transform(X).shape == (150, 1)
    assert quotient(model.transform(X)[:, 0]) > 0.9 * quotient(whole)


def test_discriminants_are_uncorrelated_within_classes():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SparseKernelFisher(8, random_state=0).fit(X, y)
    values = model.transform(X)
    around = values - np.array([values[y == k].mean(axis=0) for k in range(3)])[y]
    np.testing.assert_allclose(around.T @ around / len(y), np.eye(2), atol=1e-4)
    np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=1e-8)
    spread = np.array([values[y == k].mean(axis=0) for k in range(3)])
    between = eigh(np.cov(spread.T, aweights=np.bincount(y), bias=True))[0][::-1]
    np.testing.assert_allclose(between / between.sum(), model.explained_variance_ratio_, rtol=1e-3)


def test_scores_of_classes_are_orthonormal():
    codes = np.array([0, 1, 2, 2, 1, 0, 0, 0, 3])
    weight = np.random.RandomState(0).rand(9)
    weight /= weight.sum()
    scores = class_scores(codes, weight)
    np.testing.assert_allclose((scores * weight[:, None]).T @ scores, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(weight @ scores, 0.0, atol=1e-12)


def test_saving_labels_and_bad_parameters(tmp_path):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    model = SparseKernelFisher(5, random_state=0).fit(X, labels)
    assert model.score(X, labels) > 0.94
    zeronorm.save(model, tmp_path / "model.json")
    assert (zeronorm.load(tmp_path / "model.json").predict(X) == model.predict(X)).all()
    for parameters, sentence in (
        ({"n_terms": 0}, "n_terms must be an integer of at least 1"),
        ({"C": 0.0}, "C must be a finite positive number"),
        ({"kernel": "sigmoid"}, "sigmoid"),
    ):
        with pytest.raises(ValueError, match=sentence):
            SparseKernelFisher(**parameters).fit(X, y)
