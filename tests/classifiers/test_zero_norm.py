"""ZeroNormSVC against independent solvers and against what its own mathematics promises."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from tests.data import BINARY, cancer, contradictory, iris, moons, noisy, separable, wine
from zeronorm import ZeroNormSVC
from zeronorm.datasets import make_ripley
from zeronorm.exceptions import PoorFitWarning
from zeronorm.solvers.reweighting.loop import ZERO
from zeronorm.solvers.solution import Solution

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

#: Rows that are distinct: every row is a candidate, so the problems are easy to write again.
DISTINCT = {"moons": moons, "noisy": noisy, "separable": separable, "cancer": cancer}
GAMMA = "auto"  # the default of rbf_kernel


def kernel_and_signs(make):
    X, y = make()
    return X, y, rbf_kernel(X), np.where(y == 1, 1.0, -1.0)


def full_coef(model, n):
    alpha = np.zeros(n)
    alpha[model.support_] = model.dual_coef_[0]
    return alpha


def hinge(K, signs, alpha, b, C):
    return C * np.maximum(0.0, 1.0 - signs * (K @ alpha + b)).sum()


def solve_linear_program(K, signs, C, norm):
    """Minimum of |alpha| + C * hinge by scipy, variables alpha+, alpha-, b+, b-, t, slack."""
    n, m = K.shape
    Z = signs[:, None] * K
    t = np.zeros((n, 1))
    hinges = np.hstack([-Z, Z, -signs[:, None], signs[:, None], t, -np.eye(n)])
    if norm == 1:
        price, bound = np.ones(2 * m), np.empty((0, hinges.shape[1]))
        t_price = 0.0
    else:
        price, t_price = np.zeros(2 * m), 1.0
        bound = np.hstack(
            [np.eye(2 * m), np.zeros((2 * m, 2)), -np.ones((2 * m, 1)), np.zeros((2 * m, n))]
        )
    result = linprog(
        np.concatenate([price, [0.0, 0.0, t_price], np.full(n, C)]),
        A_ub=np.vstack([hinges, bound]),
        b_ub=np.concatenate([-np.ones(n), np.zeros(len(bound))]),
        method="highs",
    )
    assert result.status == 0
    return result.fun


def solve_ridge(Q, signs, C):
    """Dual solution y * beta of the SVM with Gram matrix Q by libsvm, and the dual objective.

    The dual objective errs only in second order, and from below; libsvm's primal is less exact.
    """
    svc = SVC(kernel="precomputed", C=C, tol=1e-10).fit(Q, signs)
    signed_beta = np.zeros(len(Q))
    signed_beta[svc.support_] = svc.dual_coef_[0]
    return signed_beta, np.abs(signed_beta).sum() - 0.5 * signed_beta @ Q @ signed_beta


# --- the convex problems, solved by others -----------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("make", DISTINCT.values(), ids=DISTINCT)
def test_p_two_is_the_ridge_solution(make, C):
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC(p=2.0, C=C, gamma=GAMMA, tol=1e-9).fit(X, y)
    signed_beta, expected = solve_ridge(K @ K.T, signs, C)
    alpha = K.T @ signed_beta
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    mine = full_coef(model, len(X))
    own = 0.5 * mine @ mine + hinge(K, signs, mine, model.intercept_[0], C)
    assert model.objective_ == pytest.approx(own, rel=1e-9)
    # The coefficients of a strictly convex problem are unique; the intercept need not be.
    np.testing.assert_allclose(mine, alpha, atol=1e-3 * np.abs(alpha).max())


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("variant", ["B", "W"])
@pytest.mark.parametrize("make", DISTINCT.values(), ids=DISTINCT)
def test_p_one_is_the_linear_program(make, variant, C):
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC(variant, p=1.0, C=C, gamma=GAMMA).fit(X, y)
    assert model.objective_ == pytest.approx(solve_linear_program(K, signs, C, 1), rel=1e-7)
    mine = full_coef(model, len(X))
    own = np.abs(mine).sum() + hinge(K, signs, mine, model.intercept_[0], C)
    assert model.objective_ == pytest.approx(own, rel=1e-5)


@pytest.mark.parametrize("settings", [{"variant": "B", "p": 1.0}, {"p": 2.0}], ids=str)
@pytest.mark.parametrize("make", [moons, separable])
def test_objective_is_the_models_own_for_a_large_cost(make, settings):
    X, y = make()
    K, signs = rbf_kernel(X, gamma=0.3), np.where(y == 1, 1.0, -1.0)
    model = ZeroNormSVC(C=1e6, gamma=0.3, **settings).fit(X, y)
    alpha = full_coef(model, len(X))
    size = np.abs(alpha).sum() if settings["p"] == 1.0 else 0.5 * alpha @ alpha
    own = size + hinge(K, signs, alpha, model.intercept_[0], 1e6)
    assert model.objective_ == pytest.approx(own, rel=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("make", [moons, noisy, separable])
def test_variant_A_at_p_one_reaches_the_linear_program(make, C):
    """Convex too, but approached by quadratic problems."""
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC("A", p=1.0, C=C, gamma=GAMMA, tol=1e-4, max_iter=200).fit(X, y)
    expected = solve_linear_program(K, signs, C, 1)
    assert expected * (1 - 1e-6) <= model.objective_ <= expected * (1 + 1e-3)


@pytest.mark.parametrize("variant", ["A", "B", "W"])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("make", [moons, noisy, separable])
def test_p_infinity_is_the_linear_program(make, C, variant):
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC(variant, p=np.inf, C=C, gamma=GAMMA).fit(X, y)
    assert model.objective_ == pytest.approx(solve_linear_program(K, signs, C, np.inf), rel=1e-7)
    mine = full_coef(model, len(X))
    own = np.abs(mine).max() + hinge(K, signs, mine, model.intercept_[0], C)
    assert model.objective_ == pytest.approx(own, rel=1e-7)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("rkhs_weight", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("make", [moons, noisy])
def test_mixed_objective_at_p_two(make, rkhs_weight, C):
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC(p=2.0, C=C, gamma=GAMMA, rkhs_weight=rkhs_weight, tol=1e-9).fit(X, y)
    form = np.eye(len(X)) + rkhs_weight * K
    signed_beta, expected = solve_ridge(K @ np.linalg.solve(form, K.T), signs, C)
    alpha = np.linalg.solve(form, K.T @ signed_beta)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(full_coef(model, len(X)), alpha, atol=1e-3 * np.abs(alpha).max())


@pytest.mark.parametrize("make", [moons, noisy])
def test_a_large_rkhs_weight_gives_svc(make):
    X, y = make()
    svc = SVC(C=2.0, gamma=GAMMA, tol=1e-8).fit(X, y)
    distance = []
    for weight in (1e0, 1e2, 1e6):
        model = ZeroNormSVC(p=2.0, C=2.0 * weight, gamma=GAMMA, rkhs_weight=weight, tol=1e-8).fit(
            X, y
        )
        distance.append(np.abs(model.decision_function(X) - svc.decision_function(X)).max())
    assert distance[0] > distance[1] > distance[2] and distance[2] < 1e-2
    # The same holds for the zero norm, whose penalty is left behind by the other two terms.
    zero = ZeroNormSVC(C=2e6, gamma=GAMMA, rkhs_weight=1e6).fit(X, y)
    assert np.abs(zero.decision_function(X) - svc.decision_function(X)).max() < 0.05


def test_rkhs_weight_needs_a_kernel():
    X, y = moons()
    with pytest.raises(ValueError, match="positive semidefinite"):
        ZeroNormSVC(rkhs_weight=1.0, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)


def test_duplicated_rows_count_twice_in_the_loss():
    """Repeated and contradictory rows, against linprog on the distinct columns."""
    X, y = contradictory()
    V = np.unique(X, axis=0)
    K, signs = rbf_kernel(X, V), np.where(y == 1, 1.0, -1.0)
    for C in (0.1, 1.0, 10.0):
        model = ZeroNormSVC("B", p=1.0, C=C, gamma=GAMMA).fit(X, y)
        assert model.objective_ == pytest.approx(solve_linear_program(K, signs, C, 1), rel=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6], ids=str)
@pytest.mark.parametrize(("variant", "p"), [("A", 2.0), ("B", 1.0), ("W", 1.0), ("A", np.inf)])
@pytest.mark.parametrize("make", [moons, noisy])
def test_the_scale_of_a_linear_kernel_is_a_scale_of_C(make, variant, p, scale):
    """K s² with C / s² (C / s⁴ for the square of the 2-norm) is the same problem."""
    X, y = make()
    a = ZeroNormSVC(variant, p, kernel="linear").fit(X, y)
    power = 4 if p == 2.0 else 2
    b = ZeroNormSVC(variant, p, kernel="linear", C=scale**-power).fit(X * scale, y)
    assert b.objective_ * scale**power == pytest.approx(a.objective_, rel=1e-4)


# --- the reweighted problems -------------------------------------------------------------------


def penalty(coef, p, power, floor):
    """Sum of (1/p) |alpha|^p, smooth below ``floor``, as in the docstring of Penalty."""
    size = np.sqrt((coef**2).sum(axis=0)) if power == 2 else np.abs(coef).sum(axis=0)
    u, e, q = size**power, floor**power, p / power
    if q == 0:
        return np.log1p(u / e).sum() / power
    return ((u + e) ** q - e**q).sum() / (power * q)


@pytest.mark.parametrize("C", [0.1, 2.0, 100.0])
@pytest.mark.parametrize(
    ("variant", "p"),
    [(v, p) for v in "ABW" for p in (0.0, 0.5, 1.0, 1.5) if v == "A" or p <= 1.0],
)
@pytest.mark.parametrize("make", [moons, noisy, contradictory, iris])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objective_never_rises_and_is_the_models_own(make, variant, p, C):
    X, y = make()
    model = ZeroNormSVC(variant, p, C=C).fit(X, y)
    history = model.history_
    assert np.isfinite(history["objective"]).all()
    assert (np.diff(history["objective"]) <= 1e-8 * np.abs(history["objective"][:-1])).all()
    assert (np.diff(history["terms"]) <= 0).all() and history["terms"][-1] == model.n_terms_
    if len(model.classes_) > 2 and p < 1:
        return  # the model is that of a last problem: test_classes_share_the_terms_of_all
    # The last objective, computed again from the model. The floor comes from the first round.
    power = 2 if variant == "A" else 1
    first = ZeroNormSVC(variant, p, C=C, max_iter=1).fit(X, y).dual_coef_
    values = model.decision_function(X).reshape(len(X), -1)
    classes = model.classes_[-1:] if values.shape[1] == 1 else model.classes_
    own = 0.0
    for k, label in enumerate(classes):
        # Of several classes a row counts more often in the output of its own.
        factor = np.where(y == label, max(1.0, len(classes) - 1.0) ** 0.5, 1.0)
        slack = np.maximum(0.0, 1.0 - np.where(y == label, 1, -1) * values[:, k])
        own += C * np.sum(factor * slack)
        floor = ZERO * np.abs(first[k]).max(initial=0.0)
        coef = model.dual_coef_[k, model.dual_coef_[k] != 0]
        own += penalty(coef[None, :], p, power, floor) if len(coef) else 0.0
    assert model.objective_ == pytest.approx(own, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("size", [1.0, 40.0], ids=["rbf", "larger values"])
def test_classes_share_the_terms_of_all(size, C):
    """Each output is a linear SVM in the kernel values of all terms, in units of the largest."""
    X, y = iris()

    def kernel(X, Z):
        return size * rbf_kernel(X, Z, gamma=0.3)

    model = ZeroNormSVC(C=C, kernel=kernel, tol=1e-6).fit(X, y)
    features = kernel(X, model.support_vectors_) / size
    total = 0.0
    for k, label in enumerate(model.classes_):
        target = np.where(y == label, 1, -1)
        weight = np.where(target > 0, np.sqrt(2.0), 1.0)  # two other classes
        svc = SVC(C=C, kernel="linear", tol=1e-6).fit(features, target, sample_weight=weight)
        slack = np.maximum(0.0, 1.0 - target * svc.decision_function(features))
        value = 0.5 * np.sum(svc.coef_**2) + C * np.sum(weight * slack)
        ours = np.maximum(0.0, 1.0 - target * model.decision_function(X)[:, k])
        own = 0.5 * np.sum((size * model.dual_coef_[k]) ** 2) + C * np.sum(weight * ours)
        assert own == pytest.approx(value, rel=1e-5)
        total += own
    assert model.objective_ == pytest.approx(total, rel=1e-6)


def test_shared_terms_lower_the_error_of_many_classes():
    """Ten digits, 47 vectors: 89 % are right, 84 % where each class uses its own alone."""
    X, y = load_digits(return_X_y=True)
    model = ZeroNormSVC(C=3).fit(X[300:600], y[300:600])
    assert model.n_terms_ < 60 and model.score(X[600:], y[600:]) > 0.87


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("make", [*BINARY.values(), iris], ids=[*BINARY, "iris"])
def test_B_and_W_agree(make, C, p):
    X, y = make()
    b, w = (ZeroNormSVC(variant, p, C=C).fit(X, y) for variant in "BW")
    np.testing.assert_array_equal(b.support_, w.support_)
    assert b.objective_ == pytest.approx(w.objective_, rel=1e-6)
    scale = np.abs(b.dual_coef_).max(initial=1.0)
    np.testing.assert_allclose(b.dual_coef_, w.dual_coef_, atol=1e-5 * scale)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("make", DISTINCT.values(), ids=DISTINCT)
def test_A_ends_at_a_fixed_point(make, p):
    """At the end alpha_j = |alpha_j|^(2-p) g_j, so that alpha_j g_j = 1 for p = 0.

    The weighted problem has the solution alpha = scale * g, with scale = |alpha|^(2-p), g = K' (y
    beta) and beta the dual solution for the Gram matrix K diag(scale) K', here by libsvm.
    """
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC("A", p, gamma=GAMMA, tol=1e-7, max_iter=1000).fit(X, y)
    alpha, K = model.dual_coef_[0], K[:, model.support_]
    scale = np.abs(alpha) ** (2 - p)
    signed_beta, _ = solve_ridge((K * scale) @ K.T, signs, 1.0)
    solution = scale * (K.T @ signed_beta)
    assert model.n_terms_ > 0
    np.testing.assert_allclose(solution, alpha, rtol=1e-3, atol=1e-5 * np.abs(alpha).max())


@pytest.mark.parametrize("make", DISTINCT.values(), ids=DISTINCT)
def test_B_ends_at_a_fixed_point(make):
    """The weighted linear program at the last weights has the model as its solution."""
    X, y, K, signs = kernel_and_signs(make)
    model = ZeroNormSVC("B", gamma=GAMMA, tol=1e-7).fit(X, y)
    alpha = model.dual_coef_[0]
    K = K[:, model.support_]
    own = len(alpha) + hinge(K, signs, alpha, model.intercept_[0], 1.0)
    # Weights 1 / |alpha| are unit weights on columns multiplied by |alpha|.
    assert own == pytest.approx(solve_linear_program(K * np.abs(alpha), signs, 1.0, 1), rel=1e-6)


@pytest.mark.parametrize("variant", ["A", "B", "W"])
@pytest.mark.parametrize("make", [moons, cancer])
def test_far_fewer_terms_than_svc(make, variant):
    X, y = make(120)
    svc, model = SVC().fit(X, y), ZeroNormSVC(variant).fit(X, y)
    assert 0 < model.n_terms_ <= len(svc.support_) / 4
    assert model.score(X, y) > svc.score(X, y) - 0.05


@pytest.mark.parametrize("variant", ["A", "B"])
@pytest.mark.parametrize("make", [iris, wine])
def test_iris_and_wine(make, variant):
    X, y = make()
    model = ZeroNormSVC(variant, C=3.0)
    assert cross_val_score(model, X, y, cv=5).mean() >= 0.95
    model.fit(X, y)
    assert model.n_terms_ < 15 and model.dual_coef_.shape == (3, model.n_terms_)


def test_a_tiny_C_leaves_the_intercept():
    X, y = noisy()
    for settings in ({}, {"variant": "B"}, {"variant": "W"}, {"p": np.inf}):
        model = ZeroNormSVC(C=1e-6, **settings).fit(X, y)
        larger = np.bincount(y).argmax()
        np.testing.assert_array_equal(model.predict(X), larger)


# --- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"variant": "B"},
        {"p": 1.0},
        {"C": 20.0},
        {"rkhs_weight": 5.0},
        {"kernel": "linear"},
        {"gamma": 3.0},
        {"gamma": "auto"},
        {"kernel": "poly", "degree": 2, "_than": {"kernel": "poly"}},
        {"kernel": "poly", "gamma": 0.1, "coef0": 1.0, "_than": {"kernel": "poly", "coef0": 1.0}},
        {"kernel": "poly", "coef0": 1.0, "_than": {"kernel": "poly"}},
        {"kernel": "sigmoid", "coef0": -1.0, "_than": {"kernel": "sigmoid"}},
        {"candidates": 20},
        {"class_weight": "balanced"},
        {"candidates": 20, "random_state": 1, "_than": {"candidates": 20, "random_state": 0}},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_parameter_matters(changed):
    X, y = noisy()
    changed = dict(changed)
    other = {"random_state": 0} | changed.pop("_than", {})
    a = ZeroNormSVC(**other).fit(X, y).decision_function(X)
    b = ZeroNormSVC(**(other | changed)).fit(X, y).decision_function(X)
    assert np.abs(a - b).max() > 1e-3


def test_tol_and_max_iter_matter():
    X, y = noisy()
    loose, tight = (ZeroNormSVC(tol=tol, max_iter=200).fit(X, y) for tol in (0.1, 1e-8))
    assert loose.n_iter_ < tight.n_iter_
    assert tight.history_["gap"][-1] <= 1e-8
    with pytest.warns(ConvergenceWarning):
        assert ZeroNormSVC(max_iter=2).fit(X, y).n_iter_ == 2


BAD_PARAMETERS = {
    "variant": ["C", "a", "AB", None, 1, ["A"]],
    "p": [-0.1, 2.1, np.nan, -np.inf, "0", None, True],
    "C": [0, 0.0, -1, np.nan, np.inf, "1", None, True],
    "tol": [0, -1e-3, np.nan, np.inf, "1e-4", None],
    "max_iter": [0, -1, 1.5, "5", None, True, np.inf],
    "gamma": [0.0, -1.0, np.nan, np.inf, "large", None, True],
    "degree": [np.nan, np.inf, "3", None],
    "coef0": [np.nan, np.inf, "0", None],
    "kernel": ["gauss", "RBF", "", None, 3],
    "candidates": [0, -5, 2.5, "some", None, True, np.nan, ["all"]],
    "rkhs_weight": [-1.0, np.nan, np.inf, "1", None],
    "class_weight": ["some", -1],
}


@pytest.mark.parametrize(
    ("name", "value"), [(k, v) for k, values in BAD_PARAMETERS.items() for v in values], ids=repr
)
def test_bad_parameter_is_a_sentence_that_names_it(name, value):
    X, y = moons(30)
    with pytest.raises(ValueError, match=name):
        ZeroNormSVC(**{name: value}).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "B", "p": 1.5}, "p must lie between 0 and 1 for variant 'B'"),
        ({"variant": "W", "p": 2}, "p must lie between 0 and 1 for variant 'W'"),
        ({"variant": "A", "p": 3}, "p must lie between 0 and 2 for variant 'A'"),
        ({"variant": "B", "rkhs_weight": 1.0}, "rkhs_weight makes the problem quadratic"),
        ({"variant": "W", "rkhs_weight": 1.0}, "rkhs_weight makes the problem quadratic"),
        ({"p": np.inf, "rkhs_weight": 1.0}, "rkhs_weight makes the problem quadratic"),
        ({"kernel": "poly", "degree": -1}, "degree must not be negative"),
    ],
    ids=str,
)
def test_parameters_that_do_not_go_together(settings, message):
    X, y = moons(30)
    with pytest.raises(ValueError, match=message):
        ZeroNormSVC(**settings).fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [
        {"C": np.float32(2.0), "max_iter": np.int64(50), "candidates": np.int32(30)},
        {"C": 2, "p": 0, "tol": np.float64(1e-4), "degree": np.int64(3)},
    ],
    ids=str,
)
def test_numbers_of_any_type(settings):
    X, y = moons()
    assert ZeroNormSVC(**settings, random_state=0).fit(X, y).score(X, y) > 0.85


@pytest.mark.parametrize("max_iter", [1, 2])
@pytest.mark.parametrize("variant", ["A", "B", "W"])
def test_too_few_rounds_are_said(variant, max_iter):
    X, y = noisy()
    with pytest.warns(
        ConvergenceWarning, match=rf"stopped after {max_iter} rounds .*Raise max_iter"
    ):
        model = ZeroNormSVC(variant, max_iter=max_iter).fit(X, y)
    assert model.n_iter_ == max_iter and np.isfinite(model.decision_function(X)).all()


def test_the_warning_of_the_infinity_norm_points_at_the_callers_line(monkeypatch):
    def poor(values, hinge):
        found = Solution(np.zeros(values.shape[1]), 0.0, hinge.target, hinge.cost, 1.0, gap=0.5)
        found.record()
        return found

    monkeypatch.setattr("zeronorm.classifiers.zero_norm.solve_largest_coefficient", poor)
    with pytest.warns(ConvergenceWarning, match="duality gap of 5.0e-01") as caught:
        ZeroNormSVC(p=np.inf).fit(*moons())
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"variant": "B"},
        {"variant": "W"},
        {"rkhs_weight": 1.0},
        {"p": 2.0, "max_iter": 1},
        {"p": np.inf, "max_iter": 1},
        {"variant": "B", "p": 1.0, "max_iter": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_no_warning_when_it_converges(make, settings):
    X, y = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PoorFitWarning)  # C = 1 is too little for some
        model = ZeroNormSVC(**settings).fit(X, y)
    assert model.history_["gap"][-1] <= 1e-4


@pytest.mark.parametrize("variant", ["A", "B"])
def test_figure_3_a_handful_of_terms_where_svc_keeps_a_hundred(variant):
    # Huang et al. (2010), sigma = 0.5 and C = 1; on Ripley's own rows in tests/papers.
    X_test, y_test = make_ripley(5000, random_state=100)
    for seed in range(3):
        X, y = make_ripley(250, random_state=seed)
        svc = SVC(C=1.0, gamma=2.0).fit(X, y)
        sparse = ZeroNormSVC(variant, C=1.0, gamma=2.0).fit(X, y)
        assert len(svc.support_) > 80
        assert 2 <= sparse.n_terms_ <= 5
        assert sparse.score(X_test, y_test) > svc.score(X_test, y_test) - 0.015


def test_w_is_westons_iteration_step_by_step():
    # Weston et al. (2003) as written: unit weights, columns times z, z <- z * w; by linprog.
    X, y = moons(60)
    sign, K = np.where(y == np.unique(y)[1], 1.0, -1.0), rbf_kernel(X, gamma=1.0)
    n, z = len(X), np.ones(len(X))
    for _ in range(30):
        scaled = sign[:, None] * K * z
        found = linprog(
            np.concatenate([np.ones(2 * n), [0.0], np.full(n, 2.0)]),
            A_ub=-np.hstack([scaled, -scaled, sign[:, None], np.eye(n)]),
            b_ub=-np.ones(n),
            bounds=[(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n,
        )
        z = z * (found.x[:n] - found.x[n : 2 * n])
        z[np.abs(z) < 1e-9] = 0.0
    model = ZeroNormSVC("W", C=2.0, gamma=1.0).fit(X, y)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(z))
    np.testing.assert_allclose(model.dual_coef_[0], z[model.support_], rtol=1e-5)


def test_rkhs_weight_refuses_an_asymmetric_matrix():
    X, y = moons(40)
    K = rbf_kernel(X)
    K[0, 1] += 0.5
    with pytest.raises(ValueError, match="symmetric"):
        ZeroNormSVC(kernel="precomputed", rkhs_weight=1.0).fit(K, y)
