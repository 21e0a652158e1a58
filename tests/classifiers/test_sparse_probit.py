"""SparseProbitClassifier: stationary, a fixed point of Figueiredo's EM, honest probabilities."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.data import cancer, contradictory, iris, moons, noisy
from zeronorm import SparseProbitClassifier
from zeronorm.datasets import make_ripley
from zeronorm.solvers.losses import Probit
from zeronorm.solvers.newton.probit_ridge import ProbitRidge
from zeronorm.solvers.reweighting.loop import Penalty, reweight

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

GAMMA = 0.5


def fitted(make, **options):
    X, y = make()
    model = SparseProbitClassifier(gamma=GAMMA, tol=1e-8, max_iter=500).fit(X, y, **options)
    assert model.n_terms_ > 0
    return X, y, model, rbf_kernel(X, model.support_vectors_, gamma=GAMMA)


def posterior(coef, intercept, K, targets, cost):
    """Minus its logarithm: the probit losses and the log of every coefficient's size."""
    loss = -(cost @ norm.logcdf(targets * (K @ coef.T + intercept))).sum()
    return loss + np.log(np.abs(coef[coef != 0])).sum()


def signed(model, y):
    classes = model.classes_[-1:] if len(model.classes_) == 2 else model.classes_
    return np.where(y[:, None] == classes, 1.0, -1.0)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("make", [moons, noisy, contradictory, iris])
def test_gradient_vanishes_for_the_terms_that_are_left(make, weighted):
    n = len(make()[1])
    cost = np.random.default_rng(0).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    X, y, model, K = fitted(make, sample_weight=cost)
    targets = signed(model, y)
    coef, intercept = model.dual_coef_, model.intercept_
    for index in zip(*coef.nonzero(), strict=True):
        step = 1e-5 * abs(coef[index])
        ends = []
        for sign in (1, -1):
            moved = coef.copy()
            moved[index] += sign * step
            ends.append(posterior(moved, intercept, K, targets, cost))
        # In units of the coefficient the two parts of the slope are of size one.
        assert abs(ends[0] - ends[1]) / (2e-5) < 1e-3
    for k in range(len(intercept)):
        moved = [intercept + sign * 1e-5 * (np.arange(len(intercept)) == k) for sign in (1, -1)]
        ends = [posterior(coef, each, K, targets, cost) for each in moved]
        assert abs(ends[0] - ends[1]) / 2e-5 < 1e-4


@pytest.mark.parametrize("make", [moons, noisy, contradictory])
def test_em_stays_where_we_are(make):
    """Figueiredo's E-step (latent means, Lambda = diag(1/alpha^2)) and M-step (ridge)."""
    X, y, model, K = fitted(make)
    target = signed(model, y)[:, 0]
    columns = np.column_stack([K, np.ones(len(y))])
    start = np.append(model.dual_coef_[0], model.intercept_)
    point = start.copy()
    for _ in range(20):
        scores = columns @ point
        # Mean of a normal variable about the score, given that its sign is the label's.
        latent = scores + target * norm.pdf(scores) / norm.cdf(target * scores)
        weights = np.append(1.0 / point[:-1] ** 2, 0.0)
        point = np.linalg.solve(columns.T @ columns + np.diag(weights), columns.T @ latent)
    np.testing.assert_allclose(point, start, rtol=1e-3, atol=1e-4)


def test_em_ends_elsewhere_from_elsewhere():
    """The fixed point says something: a point beside it is moved by the same EM step."""
    X, y, model, K = fitted(moons)
    target, columns = signed(model, y)[:, 0], np.column_stack([K, np.ones(len(y))])
    point = 1.1 * np.append(model.dual_coef_[0], model.intercept_)
    scores = columns @ point
    latent = scores + target * norm.pdf(scores) / norm.cdf(target * scores)
    weights = np.append(1.0 / point[:-1] ** 2, 0.0)
    moved = np.linalg.solve(columns.T @ columns + np.diag(weights), columns.T @ latent)
    assert np.abs(moved - point).max() > 1e-2


@pytest.mark.parametrize("make", [moons, noisy, contradictory, cancer, iris])
def test_objective_never_rises(make):
    X, y = make()
    model = SparseProbitClassifier().fit(X, y)
    history = model.history_
    # The objective is that of the prior; it falls once that has its full strength.
    objective = history["objective"][history["strength"] == 1.0]
    falls = np.diff(objective)
    assert (falls <= 1e-8 * np.abs(objective[:-1])).all() and (falls < 0).any()
    assert (np.diff(history["strength"]) >= 0).all() and history["strength"][0] == 0.1
    assert (np.diff(history["terms"]) <= 0).all() and history["terms"][-1] == model.n_terms_
    assert objective[-1] == model.objective_ and len(history["gap"]) == model.n_iter_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [moons, noisy])
def test_objective_is_the_posterior_up_to_a_constant(make):
    """The constant is of the smoothing at zero: once the terms are settled it is the same."""
    X, y, model, _ = fitted(make)
    full = (model.history_["terms"] == model.n_terms_) & (model.history_["strength"] == 1.0)
    settled = int(np.argmax(full)) + 1
    assert settled < model.n_iter_
    constants, objectives = [], []
    for rounds in (settled, model.n_iter_):
        early = SparseProbitClassifier(gamma=GAMMA, tol=1e-8, max_iter=rounds).fit(X, y)
        K = rbf_kernel(X, early.support_vectors_, gamma=GAMMA)
        coef, targets = early.dual_coef_, signed(early, y)
        own = posterior(coef, early.intercept_, K, targets, np.ones(len(y)))
        constants.append(early.objective_ - own)
        objectives.append(early.objective_)
    np.testing.assert_allclose(constants, constants[0], rtol=1e-6)
    assert objectives[0] > objectives[1]


# --- probabilities -----------------------------------------------------------------------------


def test_two_classes():
    X, y = moons()
    model = SparseProbitClassifier().fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability[:, 1], norm.cdf(model.decision_function(X)))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probability.argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability)


def test_several_classes():
    X, y = iris()
    model = SparseProbitClassifier().fit(X, y)
    values, probability = model.decision_function(X), model.predict_proba(X)
    each = norm.cdf(values)
    np.testing.assert_allclose(probability, each / each.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[values.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("make", [moons, make_ripley], ids=["moons", "ripley"])
def test_brier_score_is_not_worse_than_platts(make):
    X, y = make(5300, random_state=1) if make is make_ripley else make(5300, noise=0.3, seed=1)
    train, test = slice(300), slice(300, None)
    platt = CalibratedClassifierCV(SVC(), ensemble=False).fit(X[train], y[train])
    model = SparseProbitClassifier().fit(X[train], y[train])
    theirs, ours = (
        brier_score_loss(y[test], each.predict_proba(X[test])[:, 1]) for each in (platt, model)
    )
    assert ours <= theirs + 0.01
    assert model.n_terms_ < 20


# --- weights and parameters --------------------------------------------------------------------


@pytest.mark.parametrize("make", [moons, noisy])
def test_sample_weights_are_repeated_rows(make):
    X, y = make(60)
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    model = SparseProbitClassifier(gamma=GAMMA, tol=1e-6)
    weighted = model.fit(X, y, sample_weight=times).decision_function(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-3)


def test_rows_without_weight_are_absent():
    X, y = moons(80)
    there = np.arange(80) % 4 > 0
    model = SparseProbitClassifier(gamma=GAMMA)
    weighted = model.fit(X, y, sample_weight=there.astype(float)).decision_function(X)
    np.testing.assert_allclose(weighted, model.fit(X[there], y[there]).decision_function(X))


def test_precomputed_is_the_kernel():
    X, y = moons(60)
    K = rbf_kernel(X, gamma=GAMMA)
    plain = SparseProbitClassifier(gamma=GAMMA).fit(X, y).decision_function(X)
    given = SparseProbitClassifier(kernel="precomputed").fit(K, y).decision_function(K)
    np.testing.assert_allclose(given, plain, atol=1e-6)


@pytest.mark.parametrize("max_iter", [0, 2.5, None])
def test_bad_max_iter(max_iter):
    with pytest.raises(ValueError, match="max_iter must be an integer of at least 1; got"):
        SparseProbitClassifier(max_iter=max_iter).fit(*moons(30))


@pytest.mark.parametrize("tol", [0, -1e-3, np.nan, "small"])
def test_bad_tol(tol):
    with pytest.raises(ValueError, match="tol must be a finite positive number; got"):
        SparseProbitClassifier(tol=tol).fit(*moons(30))


def test_the_change_and_the_gap_are_in_the_warning():
    sentence = r"stopped after 2 rounds with a relative change of .* and a gap of .* Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=sentence):
        SparseProbitClassifier(max_iter=2).fit(*moons())


# --- not where the prior is, but where the likelihood is ------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7, 13, 30])
def test_blobs_are_told_apart(n_classes):
    """The prior alone asks for no term at all."""
    X, y = make_blobs(6 * n_classes + 20, 4, centers=n_classes, cluster_std=0.5, random_state=1)
    X = StandardScaler().fit_transform(X)
    model = SparseProbitClassifier().fit(X[::2], y[::2])
    assert 0 < model.n_terms_
    assert (
        model.score(X[1::2], y[1::2]) >= SVC(C=10).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) - 0.1
    )


def test_annealing_ends_at_a_fixed_point_of_the_full_prior():
    """Going on from the result with the penalty as it is changes nothing."""
    X, y = moons()
    values = rbf_kernel(X, X, gamma=GAMMA)
    problem = ProbitRidge(values, np.where(y == 1, 1.0, -1.0), Probit(np.ones(len(y))))
    found = reweight(problem, Penalty(0.0, 2), max_rounds=300, tolerance=1e-8, anneal=True)
    assert 0 < len(found.terms) < 10
    # The update of the paper: the ridge problem with the weights 1 / alpha^2.
    again = problem.solve(found.coef**2, 1e-12)
    np.testing.assert_allclose(again.coef, found.coef, rtol=1e-3)
