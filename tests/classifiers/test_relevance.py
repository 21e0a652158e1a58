"""RelevanceVectorClassifier against the dense formula, fastrvm, and its own mathematics."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from tests.data import BINARY, contradictory, iris, moons, noisy, separable, wine
from tests.solvers.evidence.test_sparse_bayes import dense_evidence
from zeronorm import RelevanceVectorClassifier
from zeronorm.datasets import make_ripley, make_waveform

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def signs(y):
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def used_columns(model, K):
    """Kernel columns and a one that the model uses, with the prior variances."""
    phi = np.column_stack([K[:, model.support_], np.ones(len(K))])
    variance = 1.0 / np.append(model.prior_precision_[0], model.intercept_precision_)
    return phi[:, variance > 0], variance[variance > 0]


# --- the marginal likelihood -----------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_log_marginal_likelihood_is_that_of_the_dense_formula(make, weighted):
    X, y = make()
    cost = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = RelevanceVectorClassifier(gamma="auto").fit(X, y, sample_weight=cost)
    phi, variance = used_columns(model, rbf_kernel(X))
    expected = dense_evidence(phi, signs(y), cost, variance)
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-6)
    assert model.objective_ == model.log_marginal_likelihood_


@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_history_never_falls_and_ends_at_the_model(make):
    model = RelevanceVectorClassifier().fit(*make())
    objective, terms = model.history_["objective"], model.history_["terms"]
    assert np.diff(objective).min() >= -1e-9 * abs(objective[-1])
    assert objective[-1] == model.objective_
    assert terms[-1] == model.n_terms_
    assert model.n_iter_ == len(terms) == len(objective)


def test_several_terms_fewer_than_a_support_vector_machine():
    X, y = make_ripley(250, random_state=0)
    model = RelevanceVectorClassifier(gamma=2.0).fit(X, y)
    svc = SVC(gamma=2.0).fit(X, y)
    assert 1 <= model.n_terms_ < len(svc.support_) / 8
    assert model.score(X, y) > svc.score(X, y) - 0.03


FASTRVM_SETS = {
    "moons": (lambda: moons(200), 1.0),
    "noisy": (lambda: noisy(200), 0.2),
    "ripley": (lambda: make_ripley(250, random_state=1), 2.0),
    "waveform": (lambda: make_waveform(300, random_state=0), 0.01),
}


@pytest.mark.parametrize("make, gamma", FASTRVM_SETS.values(), ids=FASTRVM_SETS)
def test_marginal_likelihood_is_not_below_fastrvms(make, gamma):
    fastrvm = pytest.importorskip("fastrvm")
    X, y = make()
    target, cost, K = signs(y), np.ones(len(y)), rbf_kernel(X, gamma=gamma)
    rival = fastrvm.RVC(gamma=gamma, fit_intercept=True).fit(X, y)
    phi = K[:, rival.relevance_]
    weights = rival.dual_coef_[0]
    # The precisions whose mode its weights are: what it reports has other units.
    scores = phi @ weights + rival.intercept_[0]
    precision = phi.T @ (target * expit(-target * scores)) / weights
    assert precision.min() > 0
    # It keeps the prior of its intercept flat; here it gets the best one.
    phi = np.column_stack([phi, np.ones(len(y))])
    best = minimize_scalar(
        lambda v: -dense_evidence(phi, target, cost, np.append(1 / precision, np.exp(v))),
        bounds=(-8, 12),
        method="bounded",
    )
    model = RelevanceVectorClassifier(gamma=gamma, candidates="all").fit(X, y)
    assert model.log_marginal_likelihood_ >= -best.fun * (1 + 0.005)


# --- probabilities ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "generate, gamma", [(make_ripley, 2.0), (make_waveform, 0.01)], ids=["ripley", "waveform"]
)
def test_brier_score_is_that_of_a_calibrated_svc(generate, gamma):
    X, y = generate(300, random_state=0)
    X_test, y_test = generate(2000, random_state=1)
    model = RelevanceVectorClassifier(gamma=gamma).fit(X, y)
    svc = CalibratedClassifierCV(SVC(gamma=gamma), method="sigmoid").fit(X, y)
    mine, others = (
        brier_score_loss(y_test == model.classes_[1], fitted.predict_proba(X_test)[:, 1])
        for fitted in (model, svc)
    )
    assert mine <= others + 0.01


@pytest.mark.parametrize("make", [iris, wine, moons])
def test_probabilities_sum_to_one_and_agree_with_the_labels(make):
    X, y = make()
    model = RelevanceVectorClassifier().fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))


def test_two_classes_have_the_logistic_probability():
    X, y = moons()
    model = RelevanceVectorClassifier().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


@pytest.mark.parametrize("make", [iris, wine])
def test_several_classes_are_one_against_the_rest(make):
    X, y = make()
    model = RelevanceVectorClassifier().fit(X, y)
    total, terms = 0.0, []
    for output, label in enumerate(model.classes_):
        single = RelevanceVectorClassifier(gamma=model.expansion_.kernel.gamma).fit(X, y == label)
        np.testing.assert_allclose(
            model.decision_function(X)[:, output], single.decision_function(X), atol=1e-8
        )
        total += single.objective_
        terms.append(single.support_)
        used = np.isfinite(model.prior_precision_[output])
        np.testing.assert_array_equal(np.sort(model.support_[used]), np.sort(single.support_))
    assert model.objective_ == pytest.approx(total)
    np.testing.assert_array_equal(model.support_, np.unique(np.concatenate(terms)))
    assert np.diff(model.history_["objective"]).min() >= -1e-9


# --- rows and weights ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [moons, noisy, make_ripley])
def test_order_of_the_rows_does_not_matter(make):
    X, y = make(100, random_state=0) if make is make_ripley else make()
    order = np.random.default_rng(1).permutation(len(y))
    one = RelevanceVectorClassifier().fit(X, y)
    other = RelevanceVectorClassifier().fit(X[order], y[order])
    np.testing.assert_array_equal(np.sort(order[other.support_]), np.sort(one.support_))
    values = one.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X), values, atol=1e-3 * np.abs(values).max())


@pytest.mark.parametrize("make", [moons, noisy, contradictory])
def test_a_weight_is_a_repetition(make):
    X, y = make()
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = RelevanceVectorClassifier(gamma=0.5).fit(X, y, sample_weight=times)
    repeated = RelevanceVectorClassifier(gamma=0.5).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    values = weighted.decision_function(X)
    np.testing.assert_allclose(repeated.decision_function(X), values, rtol=1e-5, atol=1e-5)


def test_class_weights_multiply_the_rows():
    X, y = noisy()
    balanced = RelevanceVectorClassifier(class_weight="balanced").fit(X, y)
    weight = len(y) / (2.0 * np.bincount(y))[y]
    given = RelevanceVectorClassifier().fit(X, y, sample_weight=weight)
    gamma = given.expansion_.kernel.gamma  # "scale" is of weighted rows
    balanced.set_params(gamma=gamma).fit(X, y)
    np.testing.assert_allclose(balanced.decision_function(X), given.decision_function(X))
    plain = RelevanceVectorClassifier(gamma=gamma).fit(X, y)
    assert balanced.predict(X).mean() > plain.predict(X).mean()


def test_nearly_equal_rows_share_a_term():
    X, y = noisy(60)
    jitter = 1e-9 * np.random.default_rng(0).normal(size=(180, 5))
    once = RelevanceVectorClassifier(gamma=0.1).fit(X, y, sample_weight=np.full(60, 3.0))
    thrice = RelevanceVectorClassifier(gamma=0.1).fit(
        np.repeat(X, 3, axis=0) + jitter, np.repeat(y, 3)
    )
    assert thrice.n_terms_ <= once.n_terms_ + 1
    assert thrice.objective_ == pytest.approx(once.objective_, rel=0.05)


# --- kernels and hard cases ------------------------------------------------------------------


def test_precomputed_and_callable_kernels_give_the_same_model():
    X, y = noisy()
    model = RelevanceVectorClassifier(gamma=0.2).fit(X, y)
    K = rbf_kernel(X, gamma=0.2)
    by_matrix = RelevanceVectorClassifier(kernel="precomputed").fit(K, y)
    by_function = RelevanceVectorClassifier(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.2))
    by_function.fit(X, y)
    values = model.decision_function(X)
    np.testing.assert_allclose(by_matrix.decision_function(K), values, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_function.decision_function(X), values, rtol=1e-5, atol=1e-6)


HARD = {
    "flat": {"gamma": 1e-9},
    "almost flat": {"gamma": 1e-5},
    "spikes": {"gamma": 1e5},
    "linear": {"kernel": "linear"},
    "steep": {"kernel": "poly", "degree": 7, "coef0": 1.0, "gamma": 10.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 3.0},
    "huge": {"kernel": lambda A, B: 1e200 * polynomial_kernel(A, B)},
    "tiny": {"kernel": lambda A, B: 1e-200 * rbf_kernel(A, B)},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("settings", HARD.values(), ids=HARD)
def test_hard_kernels_give_finite_models_that_are_no_worse_than_none(settings, make):
    X, y = make()
    model = RelevanceVectorClassifier(**settings).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.objective_ >= len(y) * np.log(0.5) - 1e-6
    assert np.diff(model.history_["objective"], prepend=-np.inf).min() >= -1e-8


def test_separable_data_keep_the_weights_finite():
    X, y = separable()
    model = RelevanceVectorClassifier(kernel="linear").fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.abs(model.decision_function(X)).max() < 1e3
    column = (X @ X[model.support_].T).std(axis=0)
    assert (column**2 / model.prior_precision_[0]).max() <= 1e4 * (1 + 1e-9)


def test_a_class_of_one_row():
    X, y = moons(50)
    y = (np.arange(50) == 7).astype(int)
    model = RelevanceVectorClassifier(gamma=5.0).fit(X, y)
    assert np.isfinite(model.objective_)
    # At least as likely as the best constant, whose evidence is near this.
    assert model.objective_ > 50 * np.log(0.5)


def test_labels_without_a_pattern_leave_nothing():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), 2, axis=0)
    model = RelevanceVectorClassifier().fit(X, np.arange(40) % 2)
    assert model.n_terms_ == 0
    np.testing.assert_allclose(model.intercept_, 0.0)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert model.intercept_precision_ == np.inf


def test_landmarks():
    X, y = make_ripley(1000, random_state=0)
    model = RelevanceVectorClassifier(gamma=2.0, candidates=60, random_state=3).fit(X, y)
    again = RelevanceVectorClassifier(gamma=2.0, candidates=60, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.support_, again.support_)
    assert model.n_terms_ < 15
    assert model.score(X, y) > 0.88


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.guard
def test_running_out_of_rounds_says_what_was_left():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="after 3 rounds .* by [0-9.]+e[-+][0-9]+"):
        model = RelevanceVectorClassifier(max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RelevanceVectorClassifier().fit(X, y)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"max_iter": 2.5}, "max_iter must be an integer"),
        ({"tol": 0.0}, "tol must be a finite positive number"),
        ({"tol": -1.0}, "tol must be a finite positive number"),
        ({"tol": np.nan}, "tol must be a finite positive number"),
        ({"candidates": 0}, "candidates must be 'auto', 'all' or an integer of at least 1"),
        ({"candidates": "some"}, "candidates must be"),
        ({"gamma": -1.0}, "gamma"),
        ({"kernel": "spline"}, "kernel"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_in_a_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        RelevanceVectorClassifier(**settings).fit(*moons())
