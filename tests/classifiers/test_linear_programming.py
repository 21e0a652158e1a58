"""OneNormSVC and LinearProgrammingSVC against linprog on the problem of all rows."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from tests.data import (
    BINARY,
    cancer,
    contradictory,
    iris,
    moons,
    noisy,
    own_class_factors,
    separable,
)
from tests.independent import minimum
from zeronorm import LinearProgrammingSVC, OneNormSVC
from zeronorm.datasets import make_waveform
from zeronorm.solvers.linear_programs import highs, hinge_lp
from zeronorm.solvers.linear_programs.highs import LinearProgramError

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

BOTH = [OneNormSVC, LinearProgrammingSVC]
COSTS = [0.01, 1.0, 30.0, 1000.0]


def one_against_many():
    """All of one label but one."""
    X, y = moons(50)
    return X, (np.arange(50) == 7).astype(int)


DATA = BINARY | {"one against many": one_against_many}


def expected_objective(Machine, K, signs, cost):
    """Minimum over one coefficient a row, however often the row is there, by linprog.

    A class with less than a twentieth of the cost leaves no intercept.
    """
    rarest = min(cost[signs > 0].sum(), cost[signs < 0].sum())
    options = {"has_intercept": rarest >= 0.05 * cost.sum()}
    if Machine is OneNormSVC:
        return minimum(K, signs, cost, signs=signs, caps=cost, **options)
    return minimum(K, signs, cost, **options)


def own_objective(model, X, y, cost):
    values = model.decision_function(X).reshape(len(X), -1)
    classes = model.classes_[-1:] if values.shape[1] == 1 else model.classes_
    hinges = np.maximum(0.0, 1.0 - np.where(y[:, None] == classes, 1, -1) * values)
    return np.abs(model.dual_coef_).sum() + (cost @ (own_class_factors(y, classes) * hinges)).sum()


# --- the linear program ------------------------------------------------------------------------


@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", DATA.values(), ids=DATA)
@pytest.mark.parametrize("Machine", BOTH)
def test_objective_is_linprogs_on_all_rows(Machine, make, C):
    X, y = make()
    signs, cost = np.where(y == 1, 1.0, -1.0), np.full(len(y), C)
    model = Machine(C=C, gamma=0.5).fit(X, y)
    expected = expected_objective(Machine, rbf_kernel(X, gamma=0.5), signs, cost)
    assert model.objective_ == pytest.approx(expected, rel=1e-7)
    assert model.objective_ == pytest.approx(own_objective(model, X, y, cost), rel=1e-7)
    assert model.history_["gap"].tolist() <= [1e-7]


@pytest.mark.parametrize("options", [{"class_weight": "balanced"}, {"class_weight": {0: 5.0}}, {}])
@pytest.mark.parametrize("make", [noisy, contradictory, separable])
@pytest.mark.parametrize("Machine", BOTH)
def test_weights_are_factors_of_the_cost(Machine, make, options):
    X, y = make()
    signs, cost = np.where(y == 1, 1.0, -1.0), np.full(len(y), 2.0)
    weight = None
    if options.get("class_weight") == "balanced":
        cost *= (len(y) / (2 * np.bincount(y)))[y]
    elif options:
        cost[y == 0] *= 5.0
    else:
        weight = np.random.default_rng(0).uniform(0.1, 4.0, size=len(y))
        cost *= weight
    model = Machine(C=2.0, gamma=0.5, **options).fit(X, y, sample_weight=weight)
    expected = expected_objective(Machine, rbf_kernel(X, gamma=0.5), signs, cost)
    assert model.objective_ == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("make", [moons, contradictory])
@pytest.mark.parametrize("Machine", BOTH)
def test_rows_without_weight_are_absent(Machine, make):
    X, y = make()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    there = weight > 0
    model = Machine(gamma=0.5).fit(X, y, sample_weight=weight)
    signs, cost = np.where(y == 1, 1.0, -1.0)[there], np.ones(there.sum())
    expected = expected_objective(Machine, rbf_kernel(X[there], gamma=0.5), signs, cost)
    assert model.objective_ == pytest.approx(expected, rel=1e-7)
    assert there[model.support_].all()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("make", [moons, noisy])
@pytest.mark.parametrize("Machine", BOTH)
def test_integer_weights_are_repeated_rows(Machine, make, C):
    X, y = make(50)
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    model = Machine(C=C, gamma=0.5)
    weighted = model.fit(X, y, sample_weight=times).objective_
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    signs, cost = np.where(y == 1, 1.0, -1.0), np.full(len(y), C)
    repeated = model.fit(X, y)
    assert weighted == pytest.approx(repeated.objective_, rel=1e-7)
    expected = expected_objective(Machine, rbf_kernel(X, gamma=0.5), signs, cost)
    assert repeated.objective_ == pytest.approx(expected, rel=1e-7)
    assert len(np.unique(repeated.support_vectors_, axis=0)) == repeated.n_terms_


def test_only_the_one_norm_machine_keeps_its_signs_and_caps():
    X, y = contradictory()
    signs, C = np.where(y == 1, 1.0, -1.0), 0.3
    boxed, free = (Machine(C=C, gamma=0.5).fit(X, y) for Machine in BOTH)
    assert (signs[boxed.support_] * boxed.dual_coef_[0] > 0).all()
    # Rows that are equal with equal labels share a term, whose cap is the sum of theirs.
    equal = [np.sum((X == X[row]).all(axis=1) & (y == y[row])) for row in boxed.support_]
    assert (np.abs(boxed.dual_coef_[0]) <= C * np.array(equal) * (1 + 1e-12)).all()
    assert (np.abs(boxed.dual_coef_[0]) > C * (1 + 1e-9)).any()
    assert np.abs(free.dual_coef_).max() > C
    assert free.objective_ < boxed.objective_


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("Machine", BOTH)
def test_several_classes_are_one_linear_program_each(Machine, C):
    X, y = iris()
    model = Machine(C=C, gamma=0.5).fit(X, y)
    K, cost = rbf_kernel(X, gamma=0.5), np.full(len(y), C)
    factors = own_class_factors(y, np.arange(3))
    expected = [
        expected_objective(Machine, K, np.where(y == k, 1.0, -1.0), cost * factors[:, k])
        for k in range(3)
    ]
    assert model.objective_ == pytest.approx(sum(expected), rel=1e-7)
    assert model.objective_ == pytest.approx(own_objective(model, X, y, cost), rel=1e-7)
    assert model.dual_coef_.shape == (3, model.n_terms_)
    assert model.dual_coef_.any(axis=0).all() and (model.dual_coef_ == 0).any()


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("Machine", BOTH)
def test_badly_scaled_polynomial(Machine, C):
    X, y = cancer()
    signs, cost = np.where(y == 1, 1.0, -1.0), np.full(len(y), C)
    model = Machine(C=C, kernel="poly", degree=5, gamma=1.0, coef0=1.0).fit(X, y)
    K = polynomial_kernel(X, degree=5, gamma=1.0, coef0=1.0)
    assert model.history_["gap"][0] <= 1e-6
    # linprog's slacks of 1e-7 are too low a price, beside an optimum of 4e-5.
    assert model.objective_ <= expected_objective(Machine, K, signs, cost) * (1 + 2e-5)


@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("make", [moons, noisy, cancer])
@pytest.mark.parametrize("Machine", BOTH)
def test_zeros_are_exact_and_nothing_is_tiny(Machine, make, C):
    X, y = make()
    model = Machine(C=C).fit(X, y)
    size = np.abs(model.dual_coef_[0])
    assert model.n_terms_ == len(size) == len(model.support_) < 0.75 * len(y)
    assert (size > 1e-9 * size.max(initial=0.0)).all()


@pytest.mark.parametrize("make", [moons, cancer])
@pytest.mark.parametrize("Machine", BOTH)
def test_fewer_terms_than_svc(Machine, make):
    X, y = make()
    svc, model = SVC().fit(X, y), Machine().fit(X, y)
    assert 0 < model.n_terms_ < 0.6 * len(svc.support_)
    assert model.score(X, y) > svc.score(X, y) - 0.05


@pytest.mark.parametrize("Machine", BOTH)
def test_the_order_of_the_rows_does_not_matter(Machine):
    X, y = noisy()
    order = np.random.default_rng(0).permutation(len(X))
    a, b = Machine(C=3.0).fit(X, y), Machine(C=3.0).fit(X[order], y[order])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-9)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("Machine", BOTH)
def test_a_precomputed_kernel_gives_the_same_model(Machine):
    X, y = moons()
    K = rbf_kernel(X, gamma=0.5)
    a, b = Machine(gamma=0.5).fit(X, y), Machine(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(K), atol=1e-9)


@pytest.mark.parametrize("Machine", BOTH)
def test_landmarks_limit_the_terms(Machine):
    X, y = moons()
    full = Machine(C=30.0, gamma=2.0, candidates="all").fit(X, y)
    few = Machine(C=30.0, gamma=2.0, candidates=8, random_state=0).fit(X, y)
    assert few.n_terms_ <= 8 < full.n_terms_
    assert few.objective_ > full.objective_
    K, signs = rbf_kernel(X, few.support_vectors_, gamma=2.0), np.where(y == 1, 1.0, -1.0)
    cost = np.full(len(y), 30.0)
    box = {} if Machine is LinearProgrammingSVC else {"signs": signs[few.support_], "caps": 30.0}
    # What the unused landmarks could not add, their absence does not take away.
    assert few.objective_ == pytest.approx(minimum(K, signs, cost, **box), rel=1e-7)


@pytest.mark.parametrize("Machine", BOTH)
def test_a_tiny_C_leaves_the_intercept(Machine):
    X, y = noisy()
    model = Machine(C=1e-6).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.bincount(y).argmax())


# --- what is reported --------------------------------------------------------------------------


@pytest.mark.parametrize("Machine", BOTH)
def test_history_has_one_entry(Machine):
    model = Machine().fit(*moons())
    history = model.history_
    assert set(history) == {"terms", "objective", "gap"} and model.n_iter_ >= 1
    assert history["terms"].tolist() == [model.n_terms_]
    assert history["objective"].tolist() == [model.objective_]


@pytest.mark.guard
@pytest.mark.parametrize("Machine", BOTH)
@pytest.mark.parametrize("make", DATA.values(), ids=DATA)
def test_no_warning_where_the_linear_program_is_solved(make, Machine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Machine().fit(*make())


@pytest.mark.guard
@pytest.mark.parametrize("Machine", BOTH)
def test_a_gap_is_said(Machine, monkeypatch):
    certify = hinge_lp.HingeLP.certify
    monkeypatch.setattr(hinge_lp.HingeLP, "certify", lambda *args: (certify(*args)[0], 0.25))
    said = f"{Machine.__name__} has a relative duality gap of 2.5e-01"
    with pytest.warns(ConvergenceWarning, match=said):
        model = Machine().fit(*moons())
    assert model.history_["gap"].tolist() == [0.25]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Machine(tol=0.5).fit(*moons())


@pytest.mark.parametrize("Machine", BOTH)
def test_a_failed_linear_program_leaves_the_estimator_as_it_was(Machine, monkeypatch):
    def fail(*args):
        raise LinearProgramError("HiGHS failed")

    X, y = moons()
    fitted = Machine().fit(X, y)
    model, before = Machine(), fitted.__dict__.copy()
    monkeypatch.setattr(highs, "run", fail)
    for one in (model, fitted):
        with pytest.raises(LinearProgramError, match="HiGHS failed"):
            one.fit(X[::2], y[::2])
    assert model.__dict__ == Machine().__dict__
    assert fitted.__dict__ == before


BAD_PARAMETERS = {
    "C": [0.0, -1, np.nan, np.inf, "1", None, True],
    "tol": [0, -1e-3, np.nan, "1e-4", None],
    "gamma": [0.0, -1.0, np.nan, "large", None],
    "kernel": ["gauss", None],
    "candidates": [0, -5, 2.5, "some", None, True],
    "class_weight": ["some"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(k, v) for k, values in BAD_PARAMETERS.items() for v in values], ids=repr
)
@pytest.mark.parametrize("Machine", BOTH)
def test_bad_parameter_is_a_sentence_that_names_it(Machine, name, value):
    with pytest.raises(ValueError, match=name):
        Machine(**{name: value}).fit(*moons(30))


def test_a_landmark_has_the_bound_of_the_rows_it_stands_for():
    X, y = make_waveform(1000, random_state=0)
    X = X / X.std(axis=0)
    C, gamma = 0.1, 0.015
    landmarks = OneNormSVC(C=C, gamma=gamma, candidates=100, random_state=0).fit(X, y)
    everything = OneNormSVC(C=C, gamma=gamma, candidates="all").fit(X, y)
    largest = np.abs(landmarks.dual_coef_).max()
    # Classes are drawn in proportion: ten rows for each landmark, up to rounding.
    assert C < largest <= 10.5 * C
    assert np.abs(everything.dual_coef_).max() <= C * (1 + 1e-9)
    assert landmarks.score(X, y) >= everything.score(X, y) - 0.03


@pytest.mark.parametrize("seed, C", [(0, 1.5), (3, 1.5), (11, 9.0)])
@pytest.mark.parametrize("Machine", [OneNormSVC, LinearProgrammingSVC])
def test_polynomials_of_many_features(Machine, seed, C):
    # Kernel values from 1e-3 to 1e9: HiGHS gives up on these at tolerances of 1e-9.
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_t(4, size=(120, 60)), axis=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X[:, ::7].sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    model = Machine(C=C, kernel="poly", degree=5, gamma=1.0, coef0=1.0, candidates="all").fit(X, y)
    assert model.history_["gap"][-1] <= 1e-6
    # Separable: the gap is that of a program whose margins really hold.
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() > 1 - 1e-5
