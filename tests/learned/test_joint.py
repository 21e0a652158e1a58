"""Joint models: gradients by finite differences, coefficients by another solver, growth."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import certify
from zeronorm.learned.descent import ScaledVariables, descend, grow
from zeronorm.learned.features import keep_features, zero_widths
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows

RBF = Kernel("rbf", gamma=0.3)


def rows_of(n=40, d=4, n_classes=3, seed=0, *, as_sparse=False):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    X[np.abs(X) < 0.3] = 0.0
    targets = np.where(random.randint(0, n_classes, n) == np.arange(n_classes)[:, None], 1.0, -1.0)
    if n_classes == 2:
        targets = targets[:1]
    factors = np.where(targets > 0, np.sqrt(max(1, n_classes - 1)), 1.0)
    return Rows(sparse.csr_matrix(X) if as_sparse else X, targets, factors)


def models_of(rows, form, size=5, seed=1):
    random = np.random.RandomState(seed)
    cost = np.abs(random.randn(2, len(rows)))
    models = JointModels(rows, form, cost, np.array([0.3, 0.5]))
    given = models.parameters
    models.parameters = Parameters(
        0.7 * random.randn(2, size, rows.n_features),
        random.randn(2, size, rows.n_outputs),
        random.randn(*given.intercept.shape),
        0.3 * random.randn(*given.linear.shape),
        0.3 * random.randn(*given.log_widths.shape),
    )
    return models


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("linear", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kernel", "widths"),
    [
        (RBF, 4),
        (RBF, 1),
        (RBF, 0),
        (Kernel("poly", gamma=0.3, degree=3, coef0=1.0), 0),
        (Kernel("poly", gamma=0.3, degree=2, coef0=1.0), 0),
        (Kernel("linear"), 0),
    ],
)
def test_gradient_by_finite_differences(kernel, widths, linear, as_sparse):
    """By vectors, coefficients, intercept, metric and linear part, in the scaled variables."""
    rows = rows_of(as_sparse=as_sparse)
    size = 3 if kernel.name == "linear" else 5
    models = models_of(rows, Form(kernel, widths, 0.7, linear), size)
    scaling, both = ScaledVariables(models), np.arange(2)
    point, step = scaling.start(), 1e-6
    _, gradient = scaling.function(point, both)
    differences = [
        (scaling.function(point + e, both)[0] - scaling.function(point - e, both)[0]) / (2 * step)
        for e in step * np.eye(point.shape[1])
    ]
    np.testing.assert_allclose(
        gradient, np.stack(differences, axis=1), atol=2e-6 * np.abs(gradient).max()
    )
    back = scaling.parameters(point, both)
    for found, expected in zip(back.arrays(), models.parameters.arrays(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_equal_widths_are_one_width():
    rows = rows_of()
    one = models_of(rows, Form(RBF, 1))
    each = models_of(rows, Form(RBF, 4))
    each.parameters.log_widths = np.repeat(one.parameters.log_widths, 4, axis=1)
    np.testing.assert_allclose(each.scores(rows), one.scores(rows), rtol=1e-12)
    both = np.arange(2)
    np.testing.assert_allclose(
        each.function(each.parameters, both)[0], one.function(one.parameters, both)[0], rtol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("linear", [0.0, 0.5])
def test_coefficients_against_another_solver(n_classes, linear):
    """The joint problem of all outputs, by its objective."""
    rows = rows_of(n_classes=n_classes)
    models = models_of(rows, Form(RBF, 0, 1.0, linear))
    value, gap = certify(models, 1e-10)
    assert (gap <= 1e-10).all()
    for i in range(2):
        gamma = models.gamma[i]
        kernel = Kernel("rbf", gamma=gamma)
        vectors = models.parameters.vectors[i]
        values, gram = kernel.matrix(rows.X, vectors), kernel.matrix(vectors, vectors)
        coef = models.coef()[i]
        weights = models.parameters.linear[i] * np.sqrt(linear)
        scores = values @ coef + rows.X @ weights if linear else values @ coef
        scores = scores + models.parameters.intercept[i]
        np.testing.assert_allclose(models.scores(rows)[i], scores.T, atol=1e-6)
        features = values @ np.linalg.inv(np.linalg.cholesky(gram + 1e-8 * np.eye(5))).T
        if linear:
            features = np.hstack([features, np.sqrt(linear) * rows.X])
        total = 0.0
        for target, factor in zip(rows.targets, rows.factors, strict=True):
            cost = models.cost[i] * factor

            def objective(point, target=target, cost=cost, features=features):
                slack = np.maximum(1.0 - target * (features @ point[:-1] + point[-1]), 0.0)
                by_scores = -cost * target * slack
                value = 0.5 * (point[:-1] @ point[:-1] + cost @ slack**2)
                return value, np.append(point[:-1] + by_scores @ features, by_scores.sum())

            start = np.zeros(features.shape[1] + 1)
            total += minimize(objective, start, jac=True, method="BFGS", tol=1e-9).fun
        assert value[i] == pytest.approx(total, rel=1e-6)


def test_certificate_bounds_the_distance_from_the_minimum():
    models = models_of(rows_of(), Form(RBF, 0))
    best, _ = certify(models, 1e-12)
    rough = models_of(rows_of(), Form(RBF, 0))
    value, gap = certify(rough, 0.5)
    assert (value - best <= gap * value + 1e-9).all()


def test_rows_without_cost_do_not_matter():
    """A model that must not see a row is the model without it: so folds share their rows."""
    rows = rows_of()
    models = models_of(rows, Form(RBF, 4, 1.0, 0.5))
    seen = np.arange(len(rows)) % 4 != 0
    models.cost[:, ~seen] = 0.0
    costs, gammas = models.cost[:, seen], models.gamma
    some = JointModels(rows.take(seen), models.form, costs, gammas, models.parameters)
    both = np.arange(2)
    for found, expected in zip(
        models.function(models.parameters, both)[1].arrays(),
        some.function(some.parameters, both)[1].arrays(),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_models_learned_together_are_those_learned_alone():
    rows = rows_of(n=80, n_classes=2)
    form = Form(RBF, 1, 1.0, 0.5)
    both = models_of(rows, form, 3)
    alone = [both.take(np.array([i])) for i in range(2)]
    descend(both, max_steps=15, tolerance=1e-9)
    for i, one in enumerate(alone):
        descend(one, max_steps=15, tolerance=1e-9)
        assert one.values[0] == pytest.approx(both.values[i], rel=1e-6)


def test_descent_goes_down_and_growth_helps():
    rows = rows_of(n=120, n_classes=2)
    models = JointModels(rows, Form(RBF, 4), np.full((1, 120), 3.0), np.array([0.5]))
    values = []
    for _ in range(4):
        assert grow(models, rows.X[None, :40], 1) == 1
        descend(models, max_steps=30, tolerance=1e-6)
        values.append(models.values[0])
    assert values == sorted(values, reverse=True)


def test_a_candidate_that_is_there_already_is_not_added():
    rows = rows_of()
    models = models_of(rows, Form(RBF, 0), 3)
    assert grow(models, models.parameters.vectors.copy(), 2) == 0


@pytest.fixture(scope="module")
def xor():
    random = np.random.RandomState(0)
    X = random.randn(300, 12)
    targets = np.where(X[:, 2] * X[:, 5] > 0, 1.0, -1.0)[None]
    rows = Rows(X, targets, np.ones_like(targets))
    form = Form(RBF, 12, 1.0, 0.1)
    models = JointModels(rows, form, np.ones((1, 300)), np.array([1.0 / 12]))
    for wanted in (1, 1, 2):
        grow(models, X[None, :64], wanted)
        descend(models, max_steps=50, tolerance=1e-6)
    return models


def test_widths_that_do_not_matter_become_zero(xor):
    found = zero_widths(xor, xor.rows.X.std(axis=0), max_steps=50)
    assert np.flatnonzero(found.current_widths[0]).tolist() == [2, 5]
    assert found.values[0] < 1.02 * xor.values[0]


def test_no_more_features_than_asked_for(xor):
    found = keep_features(xor, 2, max_steps=30)
    assert np.flatnonzero(found.current_widths[0]).tolist() == [2, 5]
    assert np.flatnonzero(found.parameters.linear[0].any(axis=1)).tolist() == [2, 5]
    certify(found, 1e-6)  # which must not bring the others back
    assert np.flatnonzero(found.parameters.linear[0].any(axis=1)).tolist() == [2, 5]
