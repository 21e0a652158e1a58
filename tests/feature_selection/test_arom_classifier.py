"""AROMClassifier: two stages, the kernel's own space, formulas, counted slacks, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC, LinearSVC

from tests.data import cancer, iris, noisy, wine
from zeronorm import AROMClassifier, AROMSelector
from zeronorm.base.labels import signed_targets
from zeronorm.datasets import make_polynomial_target, make_weston_toy
from zeronorm.polynomial import SparsePolynomial, multiplicities
from zeronorm.solvers.elimination.arom import eliminate
from zeronorm.solvers.elimination.columns import Columns
from zeronorm.solvers.elimination.rounds import SquaredSlack


def polynomial_kernel(A, B, degree):
    return sum(linear_kernel(A, B) ** t for t in range(1, degree + 1))


class TestLinear:
    def test_two_stages(self):
        """Selected by the selector, then a plain SVM on these features as they are."""
        X, y = make_weston_toy(60, random_state=0)
        found = AROMClassifier(3, C=2.0).fit(X, y)
        chosen = AROMSelector(3, C=2.0).fit(X, y).get_support(indices=True)
        assert list(found.support_) == list(chosen)
        rival = LinearSVC(C=1.0, tol=1e-10, intercept_scaling=1e3, max_iter=10**6)
        rival.fit(X[:, chosen], y)
        assert found.coef_ == pytest.approx(rival.coef_, rel=1e-3)
        assert found.decision_function(X) == pytest.approx(
            rival.decision_function(X[:, chosen]), abs=1e-3
        )

    @pytest.mark.parametrize("C", [0.1, 10.0])
    def test_hinge_is_svc(self, C):
        X, y = noisy()
        found = AROMClassifier(1.0, C=C, slack_norm=1).fit(X, y)
        rival = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
        assert found.decision_function(X) == pytest.approx(rival.decision_function(X), abs=1e-3)

    @pytest.mark.parametrize("options", [{}, {"norm": "l1"}, {"multi_class": "joint"}])
    def test_several_classes(self, options):
        X, y = wine()
        found = AROMClassifier(5, **options).fit(X, y)
        assert found.coef_.shape == (3, 5)
        assert found.decision_function(X).shape == (len(X), 3)
        assert found.score(X, y) > 0.9

    def test_sparse_is_dense(self):
        X, y = make_weston_toy(60, n_features=20, random_state=0)
        X[np.abs(X) < 0.5] = 0.0
        dense, thin = AROMClassifier(4).fit(X, y), AROMClassifier(4).fit(sparse.csr_array(X), y)
        assert thin.decision_function(sparse.csr_array(X)) == pytest.approx(
            dense.decision_function(X), abs=1e-6
        )

    def test_auto(self):
        X, y = make_weston_toy(100, random_state=0)
        found = AROMClassifier("auto").fit(X, y)
        assert found.n_terms_ in found.cv_results_["n_features"]
        assert found.n_terms_ < 20
        assert not hasattr(found.set_params(n_features_to_select=2).fit(X, y), "cv_results_")

    def test_nothing_varies(self):
        X, y = np.ones((9, 2)), [0, 1, 1] * 3
        found = AROMClassifier().fit(X, y)
        assert list(found.predict(X)) == [1] * 9

    def test_grid_search(self):
        X, y = cancer()
        search = GridSearchCV(AROMClassifier(5), {"C": [0.1, 1.0], "norm": ["l1", "l2"]}, cv=3)
        assert search.fit(X, y).best_score_ > 0.9


class TestPolynomial:
    @pytest.mark.parametrize("degree", [1, 2, 3])
    def test_the_first_round_is_the_kernel(self, degree):
        X = np.random.default_rng(0).normal(size=(12, 4))
        expansion = PolynomialFeatures(degree, include_bias=False)
        values = expansion.fit_transform(X)
        factors = multiplicities(expansion.powers_)
        gram = (values * factors) @ values.T
        assert gram == pytest.approx(polynomial_kernel(X, X, degree))

    @pytest.mark.parametrize("degree", [2, 3])
    def test_the_second_round_is_the_kernel_of_products(self, degree):
        """In the kernel's space alone: z = Σ a_i φ(x_i), and z * φ(x) = Σ a_i φ(x_i * x)."""
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(10, 3)), np.array([1.0, -1.0] * 5)
        expansion = PolynomialFeatures(degree, include_bias=False)
        values = expansion.fit_transform(X)
        problem = SquaredSlack(
            Columns(values, multiplicities(expansion.powers_)), y[:, None], np.ones(10)
        )
        scaling = problem.solve(np.ones(values.shape[1])).coef[:, 0]
        explicit = (values * multiplicities(expansion.powers_) * scaling**2) @ values.T

        # The dual variables, from a solver that is given the kernel matrix only.
        kernel = polynomial_kernel(X, X, degree) + np.eye(10)
        rival = SVC(kernel="precomputed", C=1e9, tol=1e-10).fit(kernel, y)
        a = np.zeros(10)
        a[rival.support_] = rival.dual_coef_[0]
        by_kernel = np.zeros((10, 10))
        for i in range(10):
            for j in range(10):
                by_kernel += a[i] * a[j] * polynomial_kernel(X[i] * X, X[j] * X, degree)
        assert explicit == pytest.approx(by_kernel, rel=1e-4, abs=1e-6 * np.abs(by_kernel).max())

    @pytest.mark.parametrize("degree", [2, 3])
    def test_equal_to_a_selector_on_all_ordered_products(self, degree):
        """The explicit expansion with every product as often as the kernel has it."""
        X, y = make_polynomial_target(30, random_state=0)
        X = X[:, :4]
        found = AROMClassifier(kernel="poly", degree=degree, C=10.0).fit(X, y)
        ordered, names = [], []
        for t in range(1, degree + 1):
            for indices in np.ndindex(*(4,) * t):
                ordered.append(X[:, indices].prod(axis=1))
                names.append(tuple(sorted(indices)))
        columns = Columns(np.column_stack(ordered))
        target = np.where(y > 0, 1.0, -1.0)[:, None]
        result = eliminate(SquaredSlack(columns, target, np.full(30, 10.0)), stop_at=0)
        left = {names[j] for j in np.flatnonzero(result.scaling)}
        mine = {tuple(np.repeat(np.arange(4), row).tolist()) for row in found.powers_}
        assert mine == left

    def test_a_sparse_target_is_found_and_written_down(self):
        X, y = make_polynomial_target(100, "x1x2+x3", random_state=0)
        found = AROMClassifier(2, kernel="poly", C=100.0).fit(X, y)
        formula = found.explain()
        assert "x1·x2" in formula and "x3" in formula
        fresh, labels = make_polynomial_target(1000, "x1x2+x3", random_state=1)
        assert found.score(fresh, labels) > 0.95
        assert SVC(kernel="poly", degree=2, coef0=1.0).fit(X, y).score(fresh, labels) < 0.95

    def test_the_formula_is_the_function(self):
        X, y = make_polynomial_target(60, "90%", random_state=0)
        found = AROMClassifier(4, kernel="poly").fit(X, y)
        values = np.full(60, found.intercept_[0])
        for coef, powers in zip(found.coef_[0], found.powers_, strict=True):
            values += coef * np.prod(X**powers, axis=1)
        assert found.decision_function(X) == pytest.approx(values)

    def test_several_classes(self):
        X, y = iris()
        found = AROMClassifier(4, kernel="poly").fit(X, y)
        assert found.score(X, y) > 0.9
        lines = found.explain().splitlines()
        assert [line.split(":")[0] for line in lines] == ["0", "1", "2"]

    def test_sparse(self):
        X, y = noisy()
        X[np.abs(X) < 0.3] = 0.0
        dense = AROMClassifier(3, kernel="poly").fit(X, y)
        thin = AROMClassifier(3, kernel="poly").fit(sparse.csr_array(X), y)
        assert thin.decision_function(sparse.csr_array(X)) == pytest.approx(
            dense.decision_function(X), abs=1e-6
        )

    def test_names(self):
        pd = pytest.importorskip("pandas")
        X, y = make_polynomial_target(80, "x1x2+x3", random_state=0)
        table = pd.DataFrame(X, columns=list("abcdefghij"))
        found = AROMClassifier(2, kernel="poly", C=100.0).fit(table, y)
        assert "a·b" in found.explain(2)


class TestFormulas:
    def formula(self, coef, intercept, digits=3):
        terms = [[(0, 1)], [(0, 1), (1, 1)], [(1, 12)]]
        polynomial = SparsePolynomial(terms, np.array(coef)[:, None], np.array([intercept]))
        return polynomial.formulas(["a", "b"], digits)[0]

    def test_signs_sizes_and_powers(self):
        assert self.formula([-1.0, 2.5, 0.125], -3.0) == "2.5·a·b - a + 0.125·b¹² - 3"
        assert self.formula([0.0, -1.0, 0.0], 0.0) == "-a·b"
        assert self.formula([0.0, 0.0, 0.0], 0.0) == "0"
        assert self.formula([1.23456, 0.0, 0.0], 1.0, 5) == "1.2346·a + 1"


class TestCountedSlacks:
    @pytest.mark.parametrize("norm", ["l2", "l1"])
    def test_fewer_training_errors(self, norm):
        """Than the same machine without counting, in every draw; than an SVM, on average."""
        gains, plain_gains = [], []
        for seed in range(10):
            X, y = noisy(150, seed=seed)
            counted, own, plain = (
                np.sum(model.fit(X, y).predict(X) != y)
                for model in (
                    AROMClassifier(1.0, norm, slack_norm=0, C=10.0),
                    AROMClassifier(1.0, norm, C=10.0),
                    SVC(kernel="linear", C=10.0),
                )
            )
            gains.append(own - counted)
            plain_gains.append(plain - counted)
        assert min(gains) >= 0
        assert np.mean(gains) >= 1
        assert np.mean(plain_gains) >= 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kernel": "rbf"}, "kernel must be 'linear' or 'poly'"),
        ({"degree": 0, "kernel": "poly"}, "degree must be an integer of at least 1"),
        ({"degree": 2.5}, "degree must be an integer"),
        ({"kernel": "poly", "norm": "l1"}, "linear programs know no kernels"),
        ({"n_features_to_select": 99}, "but X has 5 feature"),
        ({"n_features_to_select": "many"}, "must be None, 'auto'"),
        ({"C": -1}, "C must be a finite positive number"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"norm": "l3"}, "norm must be"),
        ({"kernel": "poly", "degree": 1000}, "too many for 90 rows"),
    ],
)
def test_bad_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        AROMClassifier(**options).fit(*noisy())


def test_bad_data():
    X, y = noisy()
    with pytest.raises(ValueError, match="one class only"):
        AROMClassifier().fit(X, np.zeros(90))
    found = AROMClassifier().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        found.predict(X[:, :2])
    with pytest.raises(ValueError, match="digits must be"):
        found.explain(digits=0)


def weighted(n=60, seed=0):
    """Noisy rows of three classes with small whole weights, some of them zero."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, 6))
    y = (X[:, 0] + X[:, 1] + 0.5 * random.normal(size=n) > 0) + (X[:, 2] > 0.8)
    return X, y, random.randint(0, 4, n)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 2},
        {"n_features_to_select": 2, "norm": "l1"},
        {"n_features_to_select": 3, "slack_norm": 0},
        {"n_features_to_select": 3, "slack_norm": 1},
        {"n_features_to_select": 3, "multi_class": "joint"},
        {"n_features_to_select": 4, "kernel": "poly"},
        {},
    ],
    ids=str,
)
def test_a_weight_is_so_many_rows(options, is_sparse):
    X, y, weight = weighted()
    form = sparse.csr_array if is_sparse else np.asarray
    model = AROMClassifier(**options).fit(form(X), y, weight)
    again = AROMClassifier(**options).fit(form(np.repeat(X, weight, axis=0)), np.repeat(y, weight))
    assert model.n_terms_ == again.n_terms_
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-3)


def test_with_all_features_it_is_a_weighted_svm():
    """The squared hinge; LinearSVC's intercept is nearly free where its column is large."""
    X, y, weight = weighted()
    y = y > 0
    model = AROMClassifier(1.0, C=0.7).fit(X, y, weight)
    other = LinearSVC(C=0.35, intercept_scaling=100.0, tol=1e-8, max_iter=100_000)
    other.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=2e-3, atol=2e-4)


def test_weights_count_in_the_choice_of_a_number():
    """Rows of another problem, whose weights are next to nothing, do not change it."""
    X, y, _ = weighted(120)
    y = y > 0
    other = np.random.RandomState(1).normal(size=(60, 6))
    both, labels = np.vstack([X, other]), np.concatenate([y, other[:, 4] > 0])
    weight = np.concatenate([np.ones(120), np.full(60, 1e-9)])
    folds = [(np.arange(180) % 3 != i, np.arange(180) % 3 == i) for i in range(3)]
    alone = AROMClassifier("auto", cv=[(a[:120], b[:120]) for a, b in folds]).fit(X, y)
    found = AROMClassifier("auto", cv=folds).fit(both, labels, weight)
    for key in ("support_", "coef_"):
        np.testing.assert_allclose(getattr(found, key), getattr(alone, key), rtol=1e-3)
    for key, scores in alone.cv_results_.items():
        np.testing.assert_allclose(found.cv_results_[key], scores, rtol=1e-6)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.ones(3), "one number for each of the 60 rows"),
        (np.full(60, -1.0), "must not be negative"),
        (np.zeros(60), "All sample weights are zero"),
        (np.full(60, np.nan), "NaN"),
        (np.full(60, 1e200), "Take a smaller C"),
    ],
)
def test_bad_weights(weight, sentence):
    X, y, _ = weighted()
    with pytest.raises(ValueError, match=sentence):
        AROMClassifier(2).fit(X, y, weight)


def test_weights_that_leave_one_class():
    X, y, _ = weighted()
    with pytest.raises(ValueError, match="one class only"):
        AROMClassifier(2).fit(X, y, y == 1)


def objective_by_hand(coef, outputs, y, options):
    """Of the classifiers below, C = 0.5."""
    if "multi_class" in options:
        rows = np.arange(len(y))
        slack = np.maximum(0.0, 1.0 - outputs[rows, y][:, None] + outputs)
        slack[rows, y] = 0.0
    else:
        slack = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * outputs.ravel())
    loss = slack.sum() if "slack_norm" in options else 0.5 * (slack**2).sum()
    return 0.5 * (coef**2).sum() + 0.5 * loss


@pytest.mark.parametrize("options", [{}, {"slack_norm": 1}, {"multi_class": "joint"}])
def test_the_gap_is_that_of_the_coefficients(options):
    """Also where rounding leaves little of the products of large columns with dual variables."""
    X, y = iris()
    y = y if "multi_class" in options else y == 1
    classes, codes = np.unique(y, return_inverse=True)
    targets, model = signed_targets(codes, len(classes)), AROMClassifier(1.0, C=0.5, **options)
    small, large = (
        (rows, model._selector()._problem(Columns(rows), targets, "l2").solve(np.ones(4)))
        for rows in (X, 1e9 * X)
    )
    values = []
    for coef, intercept, rows in (
        (small[1].coef, small[1].intercept, X),
        (large[1].coef, large[1].intercept, 1e9 * X),
        (small[1].coef / 1e9, small[1].intercept, 1e9 * X),  # feasible, and nearly the best
    ):
        outputs = (rows - rows.mean(axis=0)) @ coef + intercept
        values.append(objective_by_hand(coef, outputs, y, options))
    assert small[1].objective == pytest.approx(values[0], rel=1e-5)
    assert small[1].gap <= 1e-5
    if options:  # which rounding spoils altogether
        with pytest.warns(ConvergenceWarning, match="duality gap of .* Standardise the features"):
            model.fit(1e9 * X, y)
    else:
        assert values[1] <= values[2] and large[1].gap <= 1e-3
        assert model.fit(1e9 * X, y).score(1e9 * X, y) >= model.fit(X, y).score(X, y) - 0.02


@pytest.mark.guard
def test_names_of_features_are_nothing_to_warn_of():
    frame = pytest.importorskip("pandas").DataFrame
    X, y = cancer()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AROMClassifier(5).fit(frame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y)
    assert list(model.support_) == list(AROMClassifier(5).fit(X, y).support_)


def test_a_gap_is_a_number_where_the_objective_overflows():
    X = np.array([[1e150], [0.4], [1.0], [2.2]])
    with pytest.warns(ConvergenceWarning, match="duality gap of .* Standardise the features"):
        selector = AROMSelector(1, norm="l2", slack_norm=2).fit(X, [0, 1, 0, 1])
    assert np.isfinite(selector.history_["gap"]).all()
