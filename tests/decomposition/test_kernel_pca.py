"""SparseKernelPCA: the components of KernelPCA, with all rows and with a tenth of them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import StandardScaler

import zeronorm
from zeronorm import SparseKernelPCA


def moons(n=120):
    return make_moons(n, noise=0.1, random_state=0)[0]


def with_signs(scores, expected):
    """Scores with the signs of others; a component is known up to its sign."""
    return scores * np.sign(np.sum(scores * expected, axis=0))


@pytest.mark.parametrize(
    "kernel",
    [{"kernel": "rbf", "gamma": 0.7}, {"kernel": "poly", "gamma": 0.5, "coef0": 1.0}],
    ids=lambda one: one["kernel"],
)
def test_with_all_rows_it_is_kernel_pca(kernel):
    X = moons()
    dense = KernelPCA(3, **kernel).fit(X)
    ours = SparseKernelPCA(3, len(X), **kernel).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    fresh = moons(50)[::2]
    expected = dense.transform(fresh)
    np.testing.assert_allclose(with_signs(ours.transform(fresh), expected), expected, atol=1e-7)
    assert ours.error_ == 0.0


def test_a_tenth_of_the_rows_reconstructs_the_kernel():
    X = StandardScaler().fit_transform(load_wine().data)
    ours = SparseKernelPCA(5, gamma=0.05, random_state=0).fit(X)
    dense = KernelPCA(5, kernel="rbf", gamma=0.05).fit(X)
    assert ours.n_terms_ == len(X) // 10
    centring = np.eye(len(X)) - 1.0 / len(X)
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    gram = centring @ np.exp(-0.05 * distance) @ centring
    errors = [np.linalg.norm(gram - T @ T.T) for T in (ours.transform(X), dense.transform(X))]
    assert errors[0] <= 1.05 * errors[1]
    exact = dense.transform(X)
    residual = with_signs(ours.transform(X), exact) - exact
    assert ours.error_ == pytest.approx(np.sum(residual**2) / np.sum(exact**2), rel=1e-4)


def test_many_rows_saving_and_names(tmp_path, monkeypatch):
    monkeypatch.setattr("zeronorm.decomposition.kernel_pca.ROWS", 100)
    X = moons(400)
    model = SparseKernelPCA(2, 10, gamma=1.0, random_state=0).fit(X)
    assert model.n_terms_ == 10 and model.transform(X).shape == (400, 2)
    assert model.get_feature_names_out().tolist() == ["sparsekernelpca0", "sparsekernelpca1"]
    zeronorm.save(model, tmp_path / "model.json")
    loaded = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.transform(X), model.transform(X), rtol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"n_terms": 0}, "n_terms must be 'auto' or an integer of at least 1"),
        ({"n_terms": "few"}, "n_terms must be 'auto' or an integer"),
        ({"n_terms": 50}, "n_terms=50 is more than the 20 training rows"),
        ({"kernel": "sigmoid"}, "sigmoid"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseKernelPCA(**parameters).fit(moons(20))


def test_rows_that_are_all_equal():
    with pytest.raises(ValueError, match="there are no components"):
        SparseKernelPCA().fit(np.ones((20, 2)))
