"""SparseKernelPCA: the components of KernelPCA, with all rows and with a tenth of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_circles, make_moons
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import zeronorm
from zeronorm import SparseKernelPCA
from zeronorm.decomposition.inverse import RIDGES, ScoresToRows


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


SETS = {"moons": moons, "wine": lambda: load_wine().data, "circles": lambda: circles()}


def circles():
    return make_circles(150, noise=0.05, factor=0.4, random_state=0)[0]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n_components", [2, 5])
def test_new_rows_come_back_nearer_than_with_kernel_pca(name, n_components):
    X = StandardScaler().fit_transform(SETS[name]())
    order = np.random.RandomState(0).permutation(len(X))
    train, test = X[order[: 2 * len(X) // 3]], X[order[2 * len(X) // 3 :]]
    gamma, errors = 1.0 / X.shape[1], []
    dense = KernelPCA(n_components, kernel="rbf", gamma=gamma, fit_inverse_transform=True)
    ours = SparseKernelPCA(n_components, gamma=gamma, random_state=0)
    for model in (dense, ours):
        back = model.fit(train).inverse_transform(model.transform(test))
        errors.append(np.mean((back - test) ** 2))
    assert errors[1] < errors[0] < test.var()
    assert ours.n_terms_ <= max(n_components + 1, len(train) // 10)


def test_the_inverse_of_a_linear_kernel_is_that_of_pca():
    X = StandardScaler().fit_transform(load_wine().data)
    ours = SparseKernelPCA(3, 20, kernel="linear", random_state=0).fit(X)
    pca = PCA(3).fit(X)
    expected = pca.inverse_transform(pca.transform(X))
    back = ours.inverse_transform(ours.transform(X))
    # Gaussians of the scores may know a little more of the other directions.
    assert np.mean((back - X) ** 2) <= np.mean((expected - X) ** 2) + 1e-3
    everything = SparseKernelPCA(13, len(X), kernel="linear").fit(X)
    np.testing.assert_allclose(everything.inverse_transform(everything.transform(X)), X, atol=1e-3)


def test_the_inverse_is_the_ridge_regression_that_it_says():
    random = np.random.RandomState(0)
    scores, rows, centres = random.randn(30, 2), random.randn(30, 3), random.randn(4, 2)
    found = ScoresToRows(scores, rows, centres)

    def design(some):
        distance = ((some[:, None] - centres[None]) ** 2).sum(axis=2)
        return np.c_[np.exp(-found.kernel.gamma * distance), some / scores.std(axis=0).max()]

    fits = []
    for alpha in RIDGES:
        ridge = Ridge(alpha).fit(design(scores), rows)
        A = np.c_[design(scores), np.ones(30)]
        penalty = alpha * np.diag([1.0] * 6 + [0.0])
        freedom = np.trace(A @ np.linalg.solve(A.T @ A + penalty, A.T))
        residual = np.sum((rows - ridge.predict(design(scores))) ** 2)
        fits.append((30 * residual / (30 - freedom) ** 2, ridge))
    gcv, ridge = min(fits, key=lambda one: one[0])
    size = np.abs(rows - rows.mean(axis=0)).max()
    assert found.gcv == pytest.approx(gcv / size**2, rel=1e-6)
    fresh = random.randn(5, 2)
    np.testing.assert_allclose(found.rows(fresh), ridge.predict(design(fresh)), atol=1e-8)


def test_scores_that_cannot_come_back():
    model = SparseKernelPCA(2, 5, random_state=0).fit(moons(30))
    with pytest.raises(ValueError, match="X has 3 columns; there are 2 components"):
        model.inverse_transform(np.ones((4, 3)))
    with pytest.raises(ValueError, match="contains NaN"):
        model.inverse_transform([[np.nan, 0.0]])
    model = SparseKernelPCA(2, 5, random_state=0).fit(sparse.csr_array(moons(30)))
    with pytest.raises(ValueError, match="no inverse transform of sparse rows"):
        model.inverse_transform(np.ones((4, 2)))


def test_many_rows_saving_and_names(tmp_path):
    X = moons(400)
    model = SparseKernelPCA(2, 10, gamma=1.0, random_state=0)
    model._most_rows = 100
    model.fit(X)
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
