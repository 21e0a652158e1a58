"""IRWLSClassifier against the linear program, its own choices and real leave-one-out."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import StandardScaler

from tests.data import BINARY, cancer, contradictory, iris, moons, noisy, own_class_factors
from zeronorm import IRWLSClassifier, LinearProgrammingSVC

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def own_objective(model, X, y, cost, delta):
    """From the fitted attributes, the smooth hinge as an integral of its slope."""
    values = model.decision_function(X).reshape(len(X), -1)
    classes = model.classes_[-1:] if values.shape[1] == 1 else model.classes_
    slack = 1.0 - np.where(y[:, None] == classes, 1, -1) * values
    inside = np.clip(slack, -delta, delta) + delta
    hinges = inside * inside / (4 * delta) + np.maximum(slack, delta) - delta
    return (
        model.lam_ * np.abs(model.dual_coef_).sum()
        + (cost @ (own_class_factors(y, classes) * hinges)).sum()
    )


# --- the objective -----------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("make", [*BINARY.values(), iris], ids=[*BINARY, "iris"])
def test_objective_is_the_linear_programs_up_to_delta(make, lam):
    X, y = make()
    delta = 1e-4
    model = IRWLSClassifier(lam, gamma=0.5, delta=delta).fit(X, y)
    program = LinearProgrammingSVC(C=1 / lam, gamma=0.5).fit(X, y)
    least = lam * program.objective_
    outputs = len(model.intercept_)
    # The smooth hinge lies above the hinge, by delta / 4 a row at most.
    assert least * (1 - 1e-6) <= model.objective_
    most = 2 * outputs * len(y)  # rows count up to sqrt(2) times here
    assert model.objective_ <= least * (1 + 1e-4) + most * delta / 4
    own = own_objective(model, X, y, np.ones(len(y)), delta)
    assert model.objective_ == pytest.approx(own, rel=1e-8)
    assert model.lam_ == lam and len(model.gcv_path_["lam"]) == 1


@pytest.mark.parametrize("lam", [0.1, 1.0])
@pytest.mark.parametrize("make", [moons, noisy, contradictory, iris])
def test_history_never_rises(make, lam):
    X, y = make()
    model = IRWLSClassifier(lam, delta=0.02, tol=1.0).fit(X, y)
    history = model.history_
    assert (np.diff(history["objective"]) <= 0).all() and len(history["objective"]) > 1
    assert history["objective"][-1] == model.objective_
    assert history["terms"][-1] == model.n_terms_


@pytest.mark.parametrize("lam", [0.3, 3.0])
@pytest.mark.parametrize("make", [moons, noisy])
def test_sample_weights_are_repeated_rows(make, lam):
    X, y = make(60)
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    model = IRWLSClassifier(lam, gamma=0.5)
    weighted = model.fit(X, y, sample_weight=times)
    objective, path = weighted.objective_, weighted.gcv_path_
    assert objective == pytest.approx(own_objective(weighted, X, y, times, 1e-4), rel=1e-8)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert objective == pytest.approx(repeated.objective_, rel=1e-5)
    # GCV knows weights as multiplicities too.
    for key in ("gcv", "trace", "terms"):
        assert path[key][0] == pytest.approx(repeated.gcv_path_[key][0], rel=1e-2)


def test_precomputed_and_linear_kernels():
    X, y = noisy()
    given = IRWLSClassifier(lam=[3.0, 1.0], kernel="precomputed").fit(linear_kernel(X), y)
    linear = IRWLSClassifier(lam=[3.0, 1.0], kernel="linear").fit(X, y)
    called = IRWLSClassifier(lam=[3.0, 1.0], kernel=linear_kernel).fit(X, y)
    for other in (linear, called):
        assert other.lam_ == given.lam_
        assert other.objective_ == pytest.approx(given.objective_, rel=1e-6)
        np.testing.assert_allclose(other.gcv_path_["loo"], given.gcv_path_["loo"], rtol=1e-4)


# --- the choice --------------------------------------------------------------------------------

CHOICES = {
    "both": {"lam": "gcv", "gamma": "gcv"},
    "lam": {"lam": "gcv"},
    "gamma": {"gamma": "gcv"},
    "sequences": {"lam": (0.3, 3.0, 1.0), "gamma": [1.0, 0.1]},
    "array": {"lam": np.array([2.0, 0.5])},
}


@pytest.mark.parametrize("criterion", ["gcv", "loo"])
@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("make", [moons, iris])
def test_the_least_criterion_is_chosen(make, choice, criterion):
    X, y = make()
    with warnings.catch_warnings():
        # Small lam and gamma are badly conditioned; the choice is the question here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = IRWLSClassifier(criterion=criterion, **choice).fit(X, y)
        path = model.gcv_path_
        best = path[criterion].argmin()
        assert model.lam_ == path["lam"][best]
        assert model.expansion_.kernel.gamma == path["gamma"][best]
        assert model.n_terms_ == path["terms"][best]
        alone = IRWLSClassifier(path["lam"][best], gamma=path["gamma"][best]).fit(X, y)
    assert alone.objective_ == pytest.approx(model.objective_, rel=1e-5)
    assert alone.gcv_path_[criterion][0] == pytest.approx(path[criterion][best], rel=0.05)
    assert (alone.predict(X) == model.predict(X)).mean() >= 0.98


def test_what_is_tried():
    X, y = moons()
    path = IRWLSClassifier(lam=(0.3, 3.0, 1.0), gamma=[1.0, 0.1]).fit(X, y).gcv_path_
    np.testing.assert_array_equal(path["lam"], [3.0, 1.0, 0.3] * 2)
    np.testing.assert_array_equal(path["gamma"], [0.1] * 3 + [1.0] * 3)
    assert {len(values) for values in path.values()} == {6}
    assert set(path) == {"gamma", "lam", "gcv", "loo", "trace", "terms", "gap"}
    scale = 1.0 / (X.shape[1] * X.var())
    path = IRWLSClassifier(gamma="gcv").fit(X, y).gcv_path_
    np.testing.assert_allclose(path["gamma"], scale * np.array([0.03, 0.1, 0.3, 1.0, 3.0]))


def test_the_grid_of_lam_has_its_unit_from_the_data():
    """Its values follow the scale of the kernel, and leave some terms."""
    X, y = noisy()
    small, large = (
        IRWLSClassifier(lam="gcv", kernel="linear").fit(factor * X, y) for factor in (1.0, 10.0)
    )
    np.testing.assert_allclose(large.gcv_path_["lam"], 100.0 * small.gcv_path_["lam"], rtol=1e-6)
    assert (small.gcv_path_["terms"][1:] > 0).all()
    unit = small.gcv_path_["lam"][0] / 0.3
    assert IRWLSClassifier(1.01 * unit, kernel="linear").fit(X, y).n_terms_ == 0


@pytest.mark.parametrize("make", [moons, noisy])
def test_criteria_from_scratch(make):
    """Trace, GCV and LOO again, with the hat matrix of (3.7) in its plain form."""
    X, y = make()
    lam, delta = 1.0, 1e-4
    model = IRWLSClassifier(lam, gamma=0.5, delta=delta).fit(X, y)
    signs, scores = np.where(y == 1, 1.0, -1.0), model.decision_function(X)
    slack = 1.0 - signs * scores
    weight = np.where(slack > delta, 1.0 / np.maximum(slack, delta), 0.0)
    weight[np.abs(slack) < delta * (1 - 1e-5)] = 1.0 / (2 * delta)
    K = np.column_stack([rbf_kernel(X, model.support_vectors_, gamma=0.5), np.ones(len(y))])
    ridge = np.diag(np.append(lam / np.abs(model.dual_coef_[0]), 0.0))
    S = K @ np.linalg.solve(K.T @ (weight[:, None] * K) + ridge, K.T * weight)
    n, trace, path = len(y), np.trace(S), model.gcv_path_
    assert path["trace"][0] == pytest.approx(trace, rel=1e-4)
    gcv = n * ((signs - scores) ** 2).sum() / (n - trace) ** 2
    assert path["gcv"][0] == pytest.approx(gcv, rel=1e-4)
    loo = (np.clip(slack, 0, 2).sum() + 2 * trace) / n
    assert path["loo"][0] == pytest.approx(loo, rel=1e-4)


def circles():
    X, y = make_circles(70, noise=0.2, factor=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y


def standard_moons():
    X, y = moons(70, noise=0.3)
    return StandardScaler().fit_transform(X), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [circles, partial(cancer, 70), standard_moons])
def test_choice_is_within_a_standard_error_of_leave_one_out(make):
    """Model choice without folds, against n fits for every pair."""
    X, y = make()
    lams, gammas = (3.0, 1.0, 0.3), (0.1 / X.shape[1], 1.0 / X.shape[1])
    chosen = IRWLSClassifier(lams, gamma=gammas, criterion="loo").fit(X, y)
    errors = {}
    for lam in lams:
        for gamma in gammas:
            model = IRWLSClassifier(lam, gamma=gamma, tol=1e-3)
            found = cross_val_predict(model, X, y, cv=LeaveOneOut())
            errors[lam, gamma] = np.mean(found != y)
    least = min(errors.values())
    deviation = np.sqrt(least * (1 - least) / len(y))
    assert errors[chosen.lam_, chosen.expansion_.kernel.gamma] <= least + deviation
    # The grid has something to choose from, or anything would do.
    assert max(errors.values()) > least


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lam", "sentence"),
    [
        (0, "lam must be 'gcv', a finite positive number or a sequence of .*; got 0"),
        (-1.0, "lam must be 'gcv', .*; got -1.0"),
        (
            np.nan,
            "lam must be 'gcv', a finite positive number or a sequence .*; got nan",
        ),
        (
            "foo",
            "lam must be 'gcv', a finite positive number or a sequence .*; got 'foo'",
        ),
        (
            [],
            r"lam must be 'gcv', a finite positive number or a sequence .*; got \[\]",
        ),
        (
            None,
            "lam must be 'gcv', a finite positive number or a sequence .*; got None",
        ),
        (
            True,
            "lam must be 'gcv', a finite positive number or a sequence .*; got True",
        ),
        ([1, -1], r"lam must be .* a sequence of such numbers; got \[1, -1\]"),
        ([1.0, "gcv"], r"lam must be .* a sequence of such numbers; got \[1.0, 'gcv'\]"),
        (
            np.ones((2, 2)),
            "lam must be 'gcv', a finite positive number or a sequence .*; got array",
        ),
        (
            np.array(3.0),
            "lam must be 'gcv', a finite positive number or a sequence .*; got array",
        ),
    ],
    ids=str,
)
def test_bad_lam(lam, sentence):
    with pytest.raises(ValueError, match=sentence):
        IRWLSClassifier(lam).fit(*moons(30))


@pytest.mark.parametrize(
    ("gamma", "sentence"),
    [
        ("foo", "gamma must be 'gcv', 'scale', 'auto', a finite positive number or a sequence"),
        ([], r"gamma must be .* a sequence of such numbers; got \[\]"),
        ([1.0, 0.0], r"gamma must be .*; got \[1.0, 0.0\]"),
        (["scale"], r"gamma must be .*; got \['scale'\]"),
    ],
    ids=str,
)
def test_bad_gamma(gamma, sentence):
    with pytest.raises(ValueError, match=sentence):
        IRWLSClassifier(gamma=gamma).fit(*moons(30))


@pytest.mark.parametrize("gamma", ["gcv", [0.1, 1.0]], ids=str)
@pytest.mark.parametrize("kernel", ["linear", "precomputed", linear_kernel])
def test_a_choice_of_gamma_needs_one(kernel, gamma):
    X, y = moons(30)
    with pytest.raises(ValueError, match="asks for a choice of gamma, but the kernel .* has none"):
        IRWLSClassifier(kernel=kernel, gamma=gamma).fit(linear_kernel(X), y)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delta": 0}, "delta must be a finite positive number; got 0"),
        ({"delta": -1e-4}, "delta must be a finite positive number; got -0.0001"),
        ({"delta": "thin"}, "delta must be a finite positive number; got 'thin'"),
        ({"criterion": "aic"}, "criterion must be 'gcv' or 'loo'; got 'aic'"),
        ({"criterion": None}, "criterion must be 'gcv' or 'loo'; got None"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
        ({"max_iter": 2.5}, "max_iter must be an integer of at least 1; got 2.5"),
        ({"tol": 0}, "tol must be a finite positive number; got 0"),
    ],
    ids=str,
)
def test_bad_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        IRWLSClassifier(**options).fit(*moons(30))


def test_the_gap_is_in_the_warning():
    """A wide parabola and one step: the certificate is missed."""
    with pytest.warns(ConvergenceWarning, match=r"duality gap of \d\.\de[+-]\d\d \(tol=1e-06\)"):
        model = IRWLSClassifier(max_iter=1, delta=0.2, tol=1e-6).fit(*moons())
    assert model.history_["gap"][-1] > 1e-6
