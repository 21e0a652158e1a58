"""Every classifier at the edge of the numbers: a sentence, or a finite model that says how good.

Flat and steep kernels, costs and weights of any size. No LinAlgError or OverflowError of a solver
may come out, and no model that is far from its optimum without a word.
"""

import warnings
from functools import cache, partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from tests.data import iris, moons
from tests.fuzz.contract import is_meant
from zeronorm import (
    AROMClassifier,
    AROMSelector,
    CrossEntropySVC,
    IRWLSClassifier,
    KernelExpansion,
    LinearProgrammingSVC,
    OneNormSVC,
    R2W2Selector,
    ReducedSVC,
    RelevanceVectorClassifier,
    SparseKernelDensity,
    SparseLargeMarginClassifier,
    SparseProbitClassifier,
    SparseSVC,
    SparsityControlledSVC,
    SVCReducer,
    ZeroNormSVC,
)
from zeronorm.base.training_set import LARGEST_COST
from zeronorm.solvers.linear_programs.hinge_lp import solve_largest_coefficient
from zeronorm.solvers.losses import Hinge

CLASSIFIERS = {
    "A": ZeroNormSVC,
    "ridge": partial(ZeroNormSVC, p=2),
    "mixed": partial(ZeroNormSVC, rkhs_weight=1.0),
    "B": partial(ZeroNormSVC, "B"),
    "largest": partial(ZeroNormSVC, p=np.inf),
    "IRWLS": IRWLSClassifier,
    "IRWLS gcv": partial(IRWLSClassifier, "gcv"),
    "probit": SparseProbitClassifier,
    "relevance": RelevanceVectorClassifier,
    "one-norm": OneNormSVC,
    "LP": LinearProgrammingSVC,
    "controlled": SparsityControlledSVC,
    "cross-entropy": partial(CrossEntropySVC, max_iter=3, random_state=0),
    "reduced": partial(ReducedSVC, random_state=0),
    "large margin": partial(SparseLargeMarginClassifier, random_state=0),
    "sparse": partial(SparseSVC, 3, cv=2, n_init=1, random_state=0),
}
WITH_COST = [name for name in CLASSIFIERS if "C" in CLASSIFIERS[name]().get_params()]


def fit(model, X, y, **options):
    """Fit; return the model, whether it warned, or the sentence that it gave instead."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(X, y, **options)
        except ValueError as error:
            assert is_meant(error), f"an accident, not a message: {error!r}"
            return str(error), False
    assert np.isfinite(model.decision_function(X)).all()
    return model, any(issubclass(one.category, ConvergenceWarning) for one in caught)


@pytest.mark.parametrize("gamma", [1e-300, 1e-14, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_kernels_of_any_width(name, gamma):
    fit(CLASSIFIERS[name](gamma=gamma), *moons(40))


@pytest.mark.parametrize("C", [1e3, 1e9])
@pytest.mark.parametrize("factor", [1.0, 100.0])
@pytest.mark.parametrize("name", ["mixed", "probit", "IRWLS gcv"])
def test_flat_kernels_and_heavy_rows(name, factor, C):
    X, y = moons(40)
    fit(CLASSIFIERS[name](gamma=1e-14), factor * X, y, sample_weight=np.full(40, C))


@cache
def heavily_weighted(name):
    return fit(CLASSIFIERS[name](), *moons(40), sample_weight=np.full(40, 1e6))[0]


@pytest.mark.parametrize("weight", [1e-300, 1e-100, 1e30, 1e90])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_of_any_size(name, weight):
    X, y = moons(40)
    found, is_warned = fit(CLASSIFIERS[name](), X, y, sample_weight=np.full(40, weight))
    if weight < 1:  # nothing is worth a term, and that is exact
        assert not is_warned or name == "cross-entropy"
    elif name == "IRWLS gcv":  # whose penalty is chosen in units of the weights
        plain = CLASSIFIERS[name]().fit(X, y)
        assert found.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-6)
    elif not (isinstance(found, str) or is_warned):  # then its loss is least, as with less weight
        losses = [
            np.maximum(1 - (2 * y - 1) * model.decision_function(X), 0).sum()
            for model in (found, heavily_weighted(name))
        ]
        assert losses[0] <= 1.001 * losses[1] + 1e-6


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_whose_squares_overflow(name):
    X, y = moons(40)
    for weight in (np.full(40, 1e300), np.where(np.arange(40) % 2, 1e-200, 1e200)):
        sentence, _ = fit(CLASSIFIERS[name](), X, y, sample_weight=weight)
        assert f"over all rows more than {LARGEST_COST:g}" in sentence


@pytest.mark.parametrize("name", WITH_COST)
def test_costs_whose_squares_overflow(name):
    sentence, _ = fit(CLASSIFIERS[name](C=1e300), *moons(40))
    assert "C times the weights is up to 1.0e+300" in sentence


def test_a_flat_kernel_is_a_linear_classifier():
    """At gamma = 1e-12 the kernel is 1 - gamma |x - v|^2: what varies is in its last digits."""
    X, y = moons(80)
    model = SparseProbitClassifier(gamma=1e-12).fit(X, y)
    assert model.score(X, y) > 0.8


def test_the_mode_ends_where_rounding_does(monkeypatch):
    """Rows of weight 1e30 have a likelihood of 1e30: no decrement of 1e-7 is ever seen."""
    from zeronorm.solvers.evidence.likelihoods import Logistic

    count, plain = [0], Logistic.derivatives

    def derivatives(self, scores):
        count[0] += 1
        return plain(self, scores)

    monkeypatch.setattr(Logistic, "derivatives", derivatives)
    X, y = moons(40)
    with pytest.warns(ConvergenceWarning, match=r"likelihood by \d\.\de\+1\d .*Rounding allows"):
        RelevanceVectorClassifier().fit(X, y, sample_weight=np.full(40, 1e30))
    assert count[0] < 20_000  # and not the forty tries of all hundred steps of every model


@pytest.mark.parametrize("C", [1e-300, 1e-12])
def test_the_largest_coefficient_at_no_cost(C):
    """Certified, though the costs are below all tolerances of HiGHS."""
    K = np.random.default_rng(0).normal(size=(30, 10))
    y = np.where(np.arange(30) < 10, 1.0, -1.0)
    found = solve_largest_coefficient(K, Hinge(y, np.full(30, C)))
    coef, objective, gap = found.coef, found.objective, found.gap
    assert not coef.any()
    assert objective == pytest.approx(20 * C)
    assert gap <= 1e-9


@pytest.mark.parametrize("method", ["modified", "cross_entropy"])
def test_a_hard_margin_made_smaller(method):
    """C = inf is the SVC whose C is its largest coefficient."""
    X, y = moons(40)
    hard = SVC(C=np.inf, gamma=20.0).fit(X, y)
    assert hard.score(X, y) == 1.0
    values = []
    for C in (np.inf, float(np.abs(hard.dual_coef_).max())):
        svc = SVC(C=C, gamma=20.0)
        reducer = SVCReducer(svc, n_terms=20, method=method, max_iter=20, random_state=0)
        fitted, _ = fit(reducer, X, y)
        assert fitted.score(X, y) > 0.85
        values.append(fitted.decision_function(X))
    assert values[0] == pytest.approx(values[1], abs=0.02)


def test_a_hard_margin_of_several_classes():
    X, y = iris()
    fitted, _ = fit(SVCReducer(SVC(C=np.inf), method="modified", n_terms=20), X, y)
    assert fitted.score(X, y) > 0.9


def test_an_SVC_whose_cost_cannot_be_squared():
    sentence, _ = fit(SVCReducer(SVC(C=1e300, gamma=20.0), method="modified"), *moons())
    assert "C times the weights is up to 1.0e+300" in sentence


@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_rows_far_from_zero(container):
    random = np.random.RandomState(0)
    X, y = 1e15 + random.randint(0, 9, size=(30, 2)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert IRWLSClassifier().fit(container(X), y).n_terms_ >= 0


def test_a_kernel_that_is_zero_everywhere():
    X, y = np.zeros((6, 2)), [0, 1, 0, 1, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseLargeMarginClassifier(2, kernel="linear", random_state=0).fit(X, y)
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-250])
@pytest.mark.parametrize("C", [1e-12, 2.0])
def test_a_density_at_a_row_of_almost_no_weight(C, weight):
    """No kernel but its own reaches the row, and its own has as little weight as the row."""
    X = np.arange(4.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        density = SparseKernelDensity(bandwidth=1e-12, C=C).fit(X, sample_weight=[weight, 1, 1, 1])
    assert np.isfinite(density.objective_)
    assert density.n_terms_ == 4
    assert density.weights_[0] < 1e-199


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("method", ["reduced_set", "modified", "exact"])
def test_an_SVC_that_is_constant(method, kernel):
    """Its gamma is zero, asked for or where the variance overflows: one term says as much."""
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 3 == 0
    huge = X.copy()
    huge[:4, 0] = 8e153
    for rows, gamma in ((X, 0.0), (huge, "scale")):
        with np.errstate(all="ignore"):
            svc = SVC(kernel=kernel, gamma=gamma, coef0=1.0).fit(rows, y)
        assert KernelExpansion.from_svc(svc).kernel.gamma == 0
        fitted, _ = fit(SVCReducer(FrozenEstimator(svc), max_error=0.0, method=method), rows, y)
        assert fitted.n_terms_ <= 1
        assert fitted.changed_ == 0


def test_an_SVC_whose_coefficients_overflow():
    """scikit-learn says so, in a sentence that a user of SVC knows."""
    sentence, _ = fit(SVCReducer(SVC(kernel="linear")), [[1e150], [0.1]], [0, 1])
    assert "need to be preprocessed" in sentence


def test_an_SVC_with_a_class_of_no_weight():
    """The model of libsvm does not have it; that of scikit-learn cannot predict."""
    X, y = iris()
    reducer = SVCReducer(SVC())
    sentence, _ = fit(reducer, X, y, sample_weight=(y != y[0]).astype(float))
    assert "SVC knows 2 of its 3 classes only" in sentence


def test_the_cost_of_the_model_itself():
    """Where no search finds a smaller model, the record ends with the model, and is finite."""
    X, y = np.array([[1e150], [0.1], [-0.5], [0.3], [0.2], [-0.9]]), np.arange(6) % 3
    fitted, _ = fit(SVCReducer(method="cross_entropy", max_error=0.0, random_state=0), X, y)
    assert fitted.changed_ == 0
    assert fitted.history_["cost"][-1] == fitted.history_["cost"][0] == 1.0


SPLITS = {
    "beyond the last row": [(range(20), [99])] * 2,
    "nothing to judge by": [(range(20), [])] * 2,
    "no numbers": [(["a", "b"], [1])] * 2,
    "no lists": [(0, 1)] * 2,
    "no pairs": [3, 4],
}


@pytest.mark.parametrize("name", SPLITS)
def test_splits_that_are_none(name):
    X, y = moons(40)
    for model in (R2W2Selector("auto", cv=SPLITS[name]), SparseSVC(cv=SPLITS[name])):
        with pytest.raises(ValueError, match=r"cv|training fold") as caught:
            model.fit(X, y)
        assert is_meant(caught.value)


def test_splits_by_masks():
    X, y = moons(60)
    numbers = [(np.arange(0, 60, 2), np.arange(1, 60, 2)), (np.arange(30), np.arange(30, 60))]
    masks = [tuple(np.isin(np.arange(60), part) for part in split) for split in numbers]
    for make, found in (
        (partial(R2W2Selector, "auto"), "cv_results_"),
        (partial(SparseSVC, C=1.0, random_state=0), "path_"),
    ):
        first, second = (getattr(make(cv=cv).fit(X, y), found) for cv in (numbers, masks))
        for key, values in first.items():
            assert np.array_equal(values, second[key]), key


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_numbers_of_features_of_equal_rows(container):
    """Their variance is negative by rounding where they are sparse; libsvm takes no such gamma."""
    X = container(np.tile(np.random.default_rng(3).normal(size=1), (9, 1)))
    assert AROMSelector("auto").fit(X, np.arange(9) % 2).n_features_ == 1


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_numbers_of_features_of_data_that_no_SVM_takes():
    X = np.random.default_rng(2).normal(size=(9, 2))
    X[0, 0] = 1e150
    with pytest.raises(ValueError, match="SVMs that judge the numbers of features cannot be") as e:
        R2W2Selector("auto").fit(X, np.arange(9) % 2)
    assert is_meant(e.value)


def test_a_bound_that_is_rounding():
    """1/C, the ridge on inner products of 1e7, is 1e-12."""
    X = np.random.default_rng(0).standard_cauchy((9, 2)) ** 3
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of \d.*smaller C"):
        selector = R2W2Selector(1, C=1e12).fit(X, np.arange(9) % 2)
    assert not np.isnan(selector.history_["bound"]).any()


def test_rounds_that_are_not_numbers():
    X = np.random.default_rng(1).normal(size=(16, 2)) * [1e-1, 1e120]
    sentence, _ = fit(AROMClassifier(C=1e90), X, np.arange(16) % 2)
    assert "The solution is not finite" in sentence


def test_a_polynomial_at_rows_that_are_too_large():
    model = AROMClassifier(1.0, kernel="poly").fit(*moons(40))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="Some decision values are not finite"):
            model.predict([[1e200, -1e200]])


def test_kernel_values_that_cannot_be_squared():
    X = 1e150 * np.random.default_rng(1).normal(size=(2, 1))
    sentence, _ = fit(SparseProbitClassifier(kernel="linear"), X, [0, 1])
    assert "The squares of the kernel values overflow" in sentence
