"""SparsityControlledSVC against its objective written again, SVC, and itself."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tests.data import cancer, contradictory, iris, moons, noisy, own_class_factors
from zeronorm import SparsityControlledSVC

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def own_objective(model, X, y, cost, lam, gamma):
    gram = rbf_kernel(model.support_vectors_, gamma=gamma)
    values = rbf_kernel(X, model.support_vectors_, gamma=gamma) @ model.dual_coef_.T
    values += model.intercept_
    classes = model.classes_[-1:] if values.shape[1] == 1 else model.classes_
    hinges = np.maximum(0.0, 1.0 - np.where(y[:, None] == classes, 1, -1) * values)
    size = sum(0.5 * coef @ gram @ coef for coef in model.dual_coef_)
    return (
        size
        + lam * np.abs(model.dual_coef_).sum()
        + (cost @ (own_class_factors(y, classes) * hinges)).sum()
    )


@pytest.mark.parametrize("lam", [0.01, 1.0])
@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("make", [moons, noisy, contradictory, iris])
def test_objective_from_scratch(make, C, lam):
    X, y = make()
    model = SparsityControlledSVC(C=C, lam=lam, gamma=0.5).fit(X, y)
    own = own_objective(model, X, y, np.full(len(y), C), lam, 0.5)
    assert model.objective_ == pytest.approx(own, rel=1e-8)
    history = model.history_
    assert history["objective"][-1] == model.objective_
    assert (np.diff(history["objective"]) <= 0).all()
    assert history["gap"][-1] <= 1e-4 and history["terms"][-1] == model.n_terms_


@pytest.mark.parametrize("C", [0.5, 3.0])
@pytest.mark.parametrize("make", [moons, noisy])
def test_a_tiny_penalty_gives_svc(make, C):
    X, y = make(60)
    svc = SVC(C=C, gamma=0.5, tol=1e-8).fit(X, y)
    distance = []
    for lam in (1.0, 0.1, 1e-4):
        model = SparsityControlledSVC(C=C, lam=lam, gamma=0.5, candidates="all", tol=1e-5)
        values = model.fit(X, y).decision_function(X)
        distance.append(np.abs(values - svc.decision_function(X)).max())
    assert distance[0] > distance[1] > distance[2] and distance[2] < 0.02


@pytest.mark.parametrize("C", [0.5, 3.0])
def test_the_objective_lies_between_svcs_bounds(C):
    """With a penalty the minimum is larger than SVC's, by no more than lam |alpha| of SVC."""
    X, y = moons(80)
    svc = SVC(C=C, gamma=0.5, tol=1e-9).fit(X, y)
    alpha, gram = svc.dual_coef_[0], rbf_kernel(svc.support_vectors_, gamma=0.5)
    least = np.abs(alpha).sum() - 0.5 * alpha @ gram @ alpha
    for lam in (0.01, 0.3):
        model = SparsityControlledSVC(C=C, lam=lam, gamma=0.5).fit(X, y)
        assert least < model.objective_ <= (least + lam * np.abs(alpha).sum()) * (1 + 1e-4)


@pytest.mark.parametrize("make", [moons, noisy, cancer])
def test_terms_fall_as_the_penalty_grows(make):
    X, y = make()
    terms = [SparsityControlledSVC(lam=lam).fit(X, y).n_terms_ for lam in (1e-2, 0.3, 3.0, 1e4)]
    assert terms[0] > terms[1] > terms[2] > terms[3] == 0


def test_sample_weights_are_repeated_rows():
    X, y = moons(50)
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    weighted = SparsityControlledSVC(gamma=0.5, lam=0.3, tol=1e-6).fit(X, y, sample_weight=times)
    repeated = SparsityControlledSVC(gamma=0.5, lam=0.3, tol=1e-6)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)
    own = own_objective(weighted, X, y, times.astype(float), 0.3, 0.5)
    assert weighted.objective_ == pytest.approx(own, rel=1e-8)


def test_precomputed_is_the_kernel():
    X, y = moons(60)
    plain = SparsityControlledSVC(gamma=0.5, tol=1e-6).fit(X, y)
    given = SparsityControlledSVC(kernel="precomputed", tol=1e-6).fit(rbf_kernel(X, gamma=0.5), y)
    assert given.objective_ == pytest.approx(plain.objective_, rel=1e-5)


# --- bad input ---------------------------------------------------------------------------------


def test_a_kernel_that_is_not_positive_semidefinite():
    X, y = moons()
    model = SparsityControlledSVC(kernel="sigmoid", gamma=2.0, coef0=-1.0)
    with pytest.raises(ValueError, match="needs a positive semidefinite kernel; 'sigmoid' has an"):
        model.fit(X, y)


def test_an_asymmetric_kernel_matrix():
    X, y = moons(30)
    K = rbf_kernel(X)
    K[0, 1] += 0.5
    with pytest.raises(ValueError, match="SparsityControlledSVC needs a symmetric kernel matrix"):
        SparsityControlledSVC(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("lam", [0, -1.0, np.nan, np.inf, None, "gcv", [1.0], True], ids=str)
def test_bad_lam(lam):
    with pytest.raises(ValueError, match="lam must be a finite positive number; got"):
        SparsityControlledSVC(lam=lam).fit(*moons(30))


@pytest.mark.parametrize("max_iter", [0, 1.5, None])
def test_bad_max_iter(max_iter):
    with pytest.raises(ValueError, match="max_iter must be an integer of at least 1; got"):
        SparsityControlledSVC(max_iter=max_iter).fit(*moons(30))


def test_bad_C():
    with pytest.raises(ValueError, match="C must be a finite positive number; got 0"):
        SparsityControlledSVC(C=0).fit(*moons(30))


def test_the_gap_is_in_the_warning():
    with pytest.warns(ConvergenceWarning, match=r"duality gap of \d\.\de[+-]\d\d \(tol=0.0001\)"):
        model = SparsityControlledSVC(max_iter=1).fit(*moons())
    assert model.history_["gap"][-1] > 0.01
