"""The shares of features: closed forms beside numerical integrals, and their sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from tests.export.cases import BUILDERS, get
from zeronorm.export.description import Function
from zeronorm.report.attribution import shares
from zeronorm.report.rows import described, features_of, outputs_of, raw_rows, term_values, typical


def function_of(kind, terms=5, features=4, seed=0):
    rng = np.random.default_rng(seed)
    coef, vectors = rng.normal(size=(terms, 2)), rng.normal(size=(terms, features))
    options = {"linear": rng.normal(size=(features, 2)), "intercept": rng.normal(size=2)}
    if kind == "rbf":
        options["widths"] = np.array([0.5, 2.0, 0.0, 0.1])
    elif kind == "monomials":
        options["factors"] = (((0, 1),), ((1, 3),), ((0, 2), (2, 1)), ((3, 1), (1, 1)), ((2, 4),))
    else:
        options |= {"offsets": rng.normal(size=terms), "degree": 3}
    return Function(kind, vectors, coef, **options)


def value(function, x, output):
    """Return one output at one row."""
    values = term_values(function, x[None])[0] @ function.coef[:, output]
    return values + x @ function.linear[:, output] + function.intercept[output]


def by_quadrature(function, z, reference, output, step=1e-6):
    """Integrate central differences along the line."""
    found = []
    for i, unit in enumerate(np.eye(len(z))):

        def slope(t, unit=unit):
            x = reference + t * (z - reference)
            ends = [value(function, x + sign * step * unit, output) for sign in (1, -1)]
            return (ends[0] - ends[1]) / (2 * step)

        found.append((z - reference)[i] * quad(slope, 0, 1, epsabs=1e-9)[0])
    return np.array(found)


@pytest.mark.parametrize("kind", ["rbf", "poly", "sigmoid", "monomials"])
def test_closed_forms_are_the_integrals(kind):
    function, rng = function_of(kind), np.random.default_rng(1)
    Z, reference = rng.normal(size=(4, 4)), rng.normal(size=4)
    for output in range(2):
        found = shares(function, Z, reference, output)
        for z, row in zip(Z, found, strict=True):
            assert_allclose(row, by_quadrature(function, z, reference, output), atol=1e-7)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e3, 1e6])
def test_rbf_adds_up_at_every_distance(size):
    """Lines towards a vector, past it and away from it, short and long."""
    function, rng = function_of("rbf"), np.random.default_rng(2)
    for reference in (rng.normal(size=4), function.vectors[0], np.full(4, 30.0)):
        ways = np.vstack([rng.normal(size=(20, 4)), np.zeros((1, 4)), function.vectors - reference])
        Z = reference + size * ways
        gain = [value(function, z, 0) - value(function, reference, 0) for z in Z]
        found = shares(function, Z, reference, 0)
        linear = (np.abs(Z) + np.abs(reference)) @ np.abs(function.linear[:, 0])
        assert np.isfinite(found).all()
        assert_allclose(found.sum(axis=1), gain, atol=1e-12 * (1 + linear.max()))


def test_a_feature_that_does_not_matter_and_equal_features():
    function = Function(
        "rbf", np.zeros((1, 3)), np.ones((1, 1)), np.zeros(1), widths=np.array([1, 1, 0])
    )
    found = shares(function, np.array([[0.7, 0.7, 9.0]]), np.array([0.1, 0.1, 0.0]), 0)[0]
    assert found[2] == 0
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "density"])
def test_every_model_adds_up(name):
    """The rows of the exporters: features and outputs are those of Python, shares add up."""
    case = get(name)
    description = described(case.model)
    rows, taken = raw_rows(case.model, description, case.rows)
    assert taken.tolist() == list(range(len(case.rows)))
    Z = features_of(description, rows)
    outputs = outputs_of(description, Z)
    votes, limits = description.votes, description.limits
    shown = outputs if votes is None else description.class_scores(outputs)
    assert case.error(shown if limits is None else limits.clipped(shown)) < 1e-12
    for reference in (description.function.origin, typical(description, Z)):
        there = outputs_of(description, reference[None])[0]
        for output, known in enumerate(outputs.T):
            total = there[output] + shares(description.function, Z, reference, output).sum(axis=1)
            assert (np.abs(total - known) <= 1e-9 * np.maximum(1.0, np.abs(known))).all()


def test_the_density_is_that_of_python():
    case = get("density")
    description = described(case.model)
    rows, _ = raw_rows(case.model, description, case.rows)
    assert case.error(outputs_of(description, features_of(description, rows))) < 1e-12
