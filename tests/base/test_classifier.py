"""What all classifiers share: labels, weights, kernels, candidates, attributes, scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight

from tests.data import contradictory, iris, moons, noisy
from zeronorm import ZeroNormSVC
from zeronorm.base.candidates import (
    ALL_CANDIDATES,
    AUTO_CANDIDATES,
    SparseKernelClassifier,
    first_equal,
)
from zeronorm.base.labels import class_weights, signed_targets
from zeronorm.base.training_set import ChosenTerms
from zeronorm.kernels import Kernel

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

VARIANTS = ["A", "B", "W"]


class Recorder(SparseKernelClassifier):
    """Keeps the problem that the base made; every candidate becomes a term."""

    def __init__(
        self, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, candidates="auto",
        class_weight=None, tol=1e-4, max_iter=10, random_state=0, fails=False,
    ):  # fmt: skip
        self.C, self.kernel, self.degree, self.gamma, self.coef0 = C, kernel, degree, gamma, coef0
        self.candidates, self.class_weight, self.tol = candidates, class_weight, tol
        self.max_iter, self.random_state, self.fails = max_iter, random_state, fails

    def _solve(self, problem):
        if self.fails:
            raise ValueError("the solver failed")
        self.problem = problem
        coef = problem.targets[problem.indices]
        terms = np.arange(len(problem.indices))
        return ChosenTerms(terms, coef, np.zeros(coef.shape[1]), 0.0, 1, {})


def decision(model, X):
    """Decision values by hand, from the fitted attributes alone."""
    K = rbf_kernel(X, model.support_vectors_, gamma=model.expansion_.kernel.gamma)
    values = K @ model.dual_coef_.T + model.intercept_
    return values[:, 0] if values.shape[1] == 1 else values


def assert_same_model(a, b, X, X_b=None, atol=1e-6):
    values = a.decision_function(X)
    other = b.decision_function(X if X_b is None else X_b)
    np.testing.assert_allclose(values, other, rtol=0, atol=atol * max(1.0, np.abs(values).max()))


# --- labels and attributes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [[0, 1], [-1, 1], [7, 3], ["no", "yes"], [False, True], [0.0, 1.0]],
    ids=str,
)
def test_labels_of_any_type(names):
    X, y = moons()
    labels = np.array(names)[y]
    model = ZeroNormSVC().fit(X, labels)
    reference = ZeroNormSVC().fit(X, np.array([0, 1])[np.argsort(names)][y])
    assert list(model.classes_) == sorted(names)
    np.testing.assert_array_equal(model.decision_function(X), reference.decision_function(X))
    np.testing.assert_array_equal(
        model.predict(X), np.array(sorted(names), labels.dtype)[reference.predict(X)]
    )
    assert np.mean(model.predict(X) == labels) > 0.9


def test_positive_values_favour_the_second_class():
    """As in SVC: in the order of the labels, not of the rows."""
    X, y = moons()
    labels = np.where(y == 0, "z", "a")[::-1]
    model, svc = ZeroNormSVC(C=10).fit(X[::-1], labels), SVC().fit(X[::-1], labels)
    assert list(model.classes_) == ["a", "z"]
    values = model.decision_function(X)
    assert (values[y == 0] > 0).mean() > 0.8 and (values[y == 1] < 0).mean() > 0.8
    assert np.mean(np.sign(values) == np.sign(svc.decision_function(X))) > 0.9


@pytest.mark.parametrize("variant", VARIANTS)
def test_attributes_of_two_classes(variant):
    X, y = moons()
    model = ZeroNormSVC(variant, C=10).fit(X, y)
    m = model.n_terms_
    assert 0 < m < 30 and m == len(model.support_) == len(set(model.support_))
    assert model.dual_coef_.shape == (1, m) and model.intercept_.shape == (1,)
    assert model.decision_function(X).shape == (len(X),)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.decision_function(X), decision(model, X), atol=1e-10)
    assert model.n_iter_ == len(model.history_["terms"]) == len(model.history_["objective"])
    assert model.history_["terms"][-1] == m
    assert model.history_["objective"][-1] == model.objective_
    assert model.n_features_in_ == 2 and (np.abs(model.dual_coef_) > 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_several_classes(variant):
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = ZeroNormSVC(variant).fit(X, names)
    m = model.n_terms_
    assert m < 15 and model.dual_coef_.shape == (3, m) and model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (150, 3)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.decision_function(X), decision(model, X), atol=1e-10)
    best = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    # Every vector serves some class, and every class has vectors.
    used = model.dual_coef_ != 0
    assert used.any(axis=0).all() and used.any(axis=1).all()


def test_signed_targets():
    codes = np.array([0, 2, 1, 2])
    np.testing.assert_array_equal(signed_targets(np.array([0, 1, 1]), 2), [[-1], [1], [1]])
    np.testing.assert_array_equal(
        signed_targets(codes, 3), [[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [-1, -1, 1]]
    )


# --- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"p": 2.0}, {}, {"variant": "B"}, {"variant": "W"}], ids=str)
@pytest.mark.parametrize("make", [moons, noisy])
def test_integer_weights_are_repeated_rows(make, settings):
    X, y = make(60)
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    model = ZeroNormSVC(tol=1e-8, max_iter=200, **settings)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)
    assert_same_model(weighted, repeated, X, atol=1e-4)


@pytest.mark.parametrize("settings", [{}, {"variant": "B"}, {"kernel": "linear"}], ids=str)
def test_a_row_without_weight_is_absent(settings):
    X, y = moons()
    weights = np.ones(len(X))
    weights[::3] = 0
    X_wild = X.copy()
    X_wild[::3] = 1e6  # must not reach gamma, the candidates or the solver
    weighted = ZeroNormSVC(**settings).fit(X_wild, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    absent = ZeroNormSVC(**settings).fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.support_, kept[absent.support_])
    assert_same_model(weighted, absent, X, atol=1e-9)


def test_a_class_without_weight_is_absent():
    X, y = iris()
    model = ZeroNormSVC().fit(X, y, sample_weight=(y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 2])


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_multiply_C(variant):
    X, y = moons()
    a = ZeroNormSVC(variant, C=3.0).fit(X, y)
    b = ZeroNormSVC(variant, C=0.75).fit(X, y, sample_weight=np.full(len(X), 4.0))
    assert_same_model(a, b, X)
    assert (
        np.abs(
            a.decision_function(X) - ZeroNormSVC(variant, C=0.75).fit(X, y).decision_function(X)
        ).max()
        > 1e-3
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("class_weight", [{0: 0.3, 1: 4.0}, {1: 3.0}, "balanced"], ids=str)
def test_class_weight_is_the_sample_weight_it_stands_for(class_weight, variant):
    X, y = noisy()
    # A number for gamma: "scale" depends on sample weights, not on class weights.
    a = ZeroNormSVC(variant, gamma=0.2, class_weight=class_weight).fit(X, y)
    weights = compute_sample_weight(class_weight, y)
    b = ZeroNormSVC(variant, gamma=0.2).fit(X, y, sample_weight=weights)
    plain = ZeroNormSVC(variant, gamma=0.2).fit(X, y)
    assert_same_model(a, b, X)
    assert np.abs(a.decision_function(X) - plain.decision_function(X)).max() > 1e-3


def test_class_weight_and_sample_weight_multiply():
    X, y = noisy()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    names = np.array(["a", "b"])[y]
    problem = Recorder(C=3.0, class_weight={"b": 2.0}).fit(X, names, sample_weight=weights).problem
    np.testing.assert_allclose(problem.cost, 3.0 * weights * np.where(y == 1, 2.0, 1.0))


def test_balanced_counts_weights_as_rows():
    classes, codes = np.array([0, 1]), np.array([0, 0, 0, 1])
    weighted = class_weights("balanced", classes, codes, np.array([1.0, 2.0, 1.0, 2.0]))
    np.testing.assert_allclose(weighted, [6 / (2 * 4), 6 / (2 * 2)])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "needs one number for each of the 100 rows"),
        (np.ones((100, 1)), "needs one number for each of the 100 rows"),
        (np.full(100, -1.0), "must not be negative"),
        (np.r_[np.ones(99), -1e-9], "must not be negative"),
        (np.zeros(100), "All sample weights are zero"),
        (np.r_[np.ones(99), np.nan], "NaN"),
        (np.r_[np.ones(99), np.inf], "infinity"),
        (np.full(100, "a"), "could not convert"),
        (np.r_[0.0, np.full(99, 1e-320)] * 1e-4, "zero"),
    ],
    ids=["short", "column", "negative", "one negative", "zero", "nan", "inf", "text", "vanishing"],
)
def test_bad_sample_weight(weights, message):
    X, y = moons()
    with pytest.raises(ValueError, match=message):
        ZeroNormSVC().fit(X, y, sample_weight=weights)


def test_weights_that_leave_one_class():
    X, y = moons()
    with pytest.raises(ValueError, match="one class only"):
        ZeroNormSVC().fit(X, y, sample_weight=y.astype(float))


@pytest.mark.parametrize(
    "class_weight",
    ["equal", 3.0, {0: -1.0}, {0: 0.0}, {0: np.nan}, {0: np.inf}, {"a": 1.0}],
    ids=str,
)
def test_bad_class_weight(class_weight):
    X, y = moons()
    with pytest.raises(ValueError):
        ZeroNormSVC(class_weight=class_weight).fit(X, y)


def test_weights_beyond_the_numbers():
    X, y = moons()
    with pytest.raises(ValueError, match="C times the weights must be positive and finite"):
        ZeroNormSVC(C=1e300).fit(X, y, sample_weight=np.full(len(X), 1e300))


# --- kernels and kinds of input ----------------------------------------------------------------


@pytest.mark.parametrize("as_sparse", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize("variant", VARIANTS)
def test_sparse_equals_dense(variant, as_sparse):
    X, y = noisy()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    a = ZeroNormSVC(variant).fit(X, y)
    b = ZeroNormSVC(variant).fit(as_sparse(X), y)
    np.testing.assert_array_equal(a.support_, b.support_)
    assert isinstance(b.support_vectors_, np.ndarray)
    assert_same_model(a, b, X)
    assert_same_model(a, b, X, as_sparse(X))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_sparse_equals_dense_for_every_kernel(kernel):
    X, y = noisy()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    settings = {"p": 2.0, "kernel": kernel, "degree": 2, "coef0": 0.5, "tol": 1e-9}
    a, b = ZeroNormSVC(**settings).fit(X, y), ZeroNormSVC(**settings).fit(sparse.csr_matrix(X), y)
    assert_same_model(a, b, X, sparse.csr_matrix(X))


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "settings", [*({"variant": v} for v in VARIANTS), {"rkhs_weight": 0.5}, {"p": np.inf}], ids=str
)
def test_precomputed_equals_rbf(settings, as_format):
    X, y = moons()
    train, test = slice(0, 70), slice(70, 100)
    weights = np.ones(70)
    weights[::5] = 0  # the columns still count all rows
    a = ZeroNormSVC(**settings, gamma=0.8).fit(X[train], y[train], weights)
    K = rbf_kernel(X, X[train], gamma=0.8)
    b = ZeroNormSVC(**settings, kernel="precomputed").fit(as_format(K[train]), y[train], weights)
    np.testing.assert_array_equal(a.support_, b.support_)
    assert_same_model(a, b, X[test], as_format(K[test]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_callable_equals_named(variant):
    X, y = moons()
    a = ZeroNormSVC(variant, gamma=0.8).fit(X, y)
    b = ZeroNormSVC(variant, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.8)).fit(X, y)
    np.testing.assert_array_equal(a.support_, b.support_)
    assert_same_model(a, b, X)


def test_precomputed_must_be_square():
    X, y = moons()
    with pytest.raises(ValueError, match="must be square"):
        ZeroNormSVC(kernel="precomputed").fit(X, y)


def test_precomputed_prediction_needs_all_columns():
    X, y = moons()
    K = rbf_kernel(X)
    model = ZeroNormSVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="100 features"):
        model.predict(K[:, :50])


def test_callable_with_a_wrong_shape():
    X, y = moons()
    with pytest.raises(ValueError, match="kernel function returned shape"):
        ZeroNormSVC(kernel=lambda A, B: np.ones(3)).fit(X, y)


# --- candidates --------------------------------------------------------------------------------


@pytest.fixture
def shapes(monkeypatch):
    """Shapes of all kernel matrices that are formed."""
    seen = []
    matrix = Kernel.matrix

    def record(self, X, V):
        values = matrix(self, X, V)
        seen.append(values.shape)
        return values

    monkeypatch.setattr(Kernel, "matrix", record)
    return seen


@pytest.mark.parametrize("count", [1, 7, 30])
@pytest.mark.parametrize("make", [moons, noisy, iris])
def test_integer_candidates_bound_the_kernel_matrix(make, count, shapes):
    X, y = make()
    model = ZeroNormSVC(candidates=count, random_state=0).fit(X, y)
    n_classes = len(np.unique(y))
    # The rest is of the terms alone: the look at the fitted model.
    assert shapes[0][0] == len(X) and shapes[0][1] <= max(count, n_classes)
    assert all(columns <= shapes[0][1] for _, columns in shapes)
    assert shapes[0][1] > count - n_classes
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_all_candidates(shapes):
    X, y = moons(AUTO_CANDIDATES + 20)
    Recorder(candidates="all").fit(X, y)
    Recorder(candidates=len(X)).fit(X, y)
    assert set(shapes) == {(len(X), len(X))}


def test_auto_takes_all_rows_of_a_small_set(shapes):
    X, y = moons(AUTO_CANDIDATES)
    Recorder().fit(X, y)
    assert set(shapes) == {(AUTO_CANDIDATES, AUTO_CANDIDATES)}


def test_auto_never_forms_the_full_matrix(shapes):
    X, y = moons(3000)
    model = ZeroNormSVC(C=0.1, random_state=0).fit(X, y)
    assert shapes[0] == (3000, AUTO_CANDIDATES) and max(shapes) == shapes[0]
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_all_candidates_of_very_many_rows_are_refused():
    X, y = moons(ALL_CANDIDATES + 1)
    with pytest.raises(ValueError, match="candidates='all' with .* rows asks for a kernel matrix"):
        ZeroNormSVC(candidates="all").fit(X, y)


def test_landmarks_are_distinct_where_rows_are_repeated():
    X = np.vstack([np.zeros((2000, 2)), np.random.default_rng(0).normal(size=(400, 2))])
    y = np.arange(len(X)) % 2
    problem = Recorder(candidates=100, random_state=0).fit(X, y).problem
    assert 60 <= len(problem.indices) <= 100
    assert len(np.unique(X[problem.indices], axis=0)) == len(problem.indices)


def test_equal_rows_are_candidates_once():
    X, y = contradictory()
    problem = Recorder().fit(X, y).problem
    assert len(problem.indices) == len(np.unique(X, axis=0)) < len(X)
    np.testing.assert_array_equal(problem.indices, np.unique(problem.indices))
    assert len(ZeroNormSVC(C=100).fit(X, y).support_vectors_) <= len(problem.indices)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_matrix])
def test_first_equal(as_format):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(first_equal(as_format(X)), [0, 0, 2, 0, 4, 2])
    codes = np.array([0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(first_equal(as_format(X), codes), [0, 1, 2, 0, 4, 2])


def test_first_equal_of_sparse_rows_in_any_order():
    rows = sparse.csr_matrix(
        (
            np.array([1.0, 2.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0]),
            [0, 2, 2, 0, 1, 0, 2, 2],
            [0, 2, 5, 8],
        ),
        shape=(3, 3),
    )
    np.testing.assert_array_equal(first_equal(rows), [0, 0, 0])


def test_deterministic_for_a_random_state():
    X, y = moons(300)
    settings = {"candidates": 40, "C": 10}
    a, b, c = (ZeroNormSVC(**settings, random_state=s).fit(X, y) for s in (3, 3, 4))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    np.testing.assert_array_equal(a.support_, b.support_)
    assert not np.array_equal(a.support_, c.support_)
    state = np.random.RandomState(3)
    np.testing.assert_array_equal(
        ZeroNormSVC(**settings, random_state=state).fit(X, y).support_, a.support_
    )


def test_a_failing_fit_leaves_no_fitted_attributes():
    X, y = moons()
    for model, labels in ((ZeroNormSVC(), np.zeros(len(X))), (Recorder(fails=True), y)):
        with pytest.raises(ValueError):
            model.fit(X, labels)
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_a_failing_refit_leaves_the_old_model():
    X, y = moons()
    model = ZeroNormSVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(np.hstack([X, X]), np.zeros(len(X)))
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_refit_forgets_the_first_data():
    X, y = iris()
    model = ZeroNormSVC(random_state=0).fit(X, y).fit(*moons())
    fresh = ZeroNormSVC(random_state=0).fit(*moons())
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(
        model.decision_function(moons()[0]), fresh.decision_function(moons()[0])
    )
    assert vars(model).keys() == vars(fresh).keys()


def test_unfitted():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(ZeroNormSVC(), method)(np.eye(2))


def test_fit_does_not_touch_its_input():
    X, y = noisy()
    weights = np.arange(len(X)) % 3.0
    copies = X.copy(), y.copy(), weights.copy()
    ZeroNormSVC(class_weight="balanced").fit(X, y, sample_weight=weights).predict(X)
    for given, before in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(given, before)


# --- scikit-learn ------------------------------------------------------------------------------


def test_clone_and_parameters():
    model = ZeroNormSVC("B", 0.5, C=3, kernel="poly", candidates=9, random_state=1)
    copy = clone(model)
    assert copy is not model and copy.get_params() == model.get_params()
    copy.set_params(C=7, variant="W")
    assert (copy.C, copy.variant, model.C) == (7, "W", 3)
    fitted = clone(ZeroNormSVC().fit(*moons()))
    assert not hasattr(fitted, "expansion_")


def test_parameters_are_not_changed_by_fit():
    X, y = moons()
    model = ZeroNormSVC(gamma="scale", candidates=50, class_weight={0: 2})
    before = clone(model).get_params()
    assert model.fit(X, y).get_params() == before


def test_grid_search_and_pipeline():
    X, y = noisy()
    pipeline = make_pipeline(StandardScaler(), ZeroNormSVC())
    grid = {"zeronormsvc__C": [0.1, 1.0], "zeronormsvc__variant": ["A", "B"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.6
    assert search.best_estimator_[-1].C == search.best_params_["zeronormsvc__C"]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(method):
    X, y = iris()
    model = CalibratedClassifierCV(ZeroNormSVC(), method=method, cv=3).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9


def test_cross_validation_of_a_precomputed_kernel():
    """Needs the pairwise tag: both rows and columns are cut."""
    X, y = moons()
    K = rbf_kernel(X, gamma=0.8)
    a = cross_val_score(ZeroNormSVC(kernel="precomputed"), K, y, cv=3, error_score="raise")
    b = cross_val_score(ZeroNormSVC(gamma=0.8), X, y, cv=3)
    np.testing.assert_allclose(a, b)


def test_no_warning_on_ordinary_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for variant in VARIANTS:
            ZeroNormSVC(variant).fit(*moons())


def test_the_warning_points_at_the_callers_line():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning) as caught:
        ZeroNormSVC(max_iter=1).fit(X, y)
    assert caught[0].filename == __file__
