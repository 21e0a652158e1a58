"""The quantiser: covers, against the greedy and the exact one."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.spatial.distance import cdist

import zeronorm
from zeronorm import ZeroNormQuantizer
from zeronorm.quantization import neighbours


def problem(seed):
    """Rows, and a radius at which covers are neither one row nor all."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(20, 61), random.integers(1, 6)))
    return X, float(np.quantile(cdist(X, X), random.uniform(0.04, 0.3)))


def exact_size(X, radius):
    """Points of the smallest cover, by HiGHS's integer solver."""
    covers, ones = (cdist(X, X) <= radius).astype(float), np.ones(len(X))
    constraint = LinearConstraint(covers, 1, np.inf)
    found = milp(ones, constraints=constraint, integrality=ones, bounds=Bounds(0, 1))
    assert found.status == 0
    return round(found.fun)


def greedy_size(X, radius):
    """Points of the greedy cover, written down again."""
    covers, count = cdist(X, X) <= radius, 0
    while covers.any():
        covers[covers[:, covers.sum(axis=0).argmax()]] = False
        count += 1
    return count


def fitted(X, *args, **params):
    return ZeroNormQuantizer(*args, random_state=0, **params).fit(X)


def assert_consistent(quantizer, X):
    centres = X[quantizer.cluster_centers_indices_]
    table = cdist(X, centres)
    np.testing.assert_array_equal(quantizer.cluster_centers_, centres)
    assert table.min(axis=1).max() <= quantizer.radius_
    np.testing.assert_array_equal(quantizer.transform(X), table)
    np.testing.assert_array_equal(quantizer.labels_, table.argmin(axis=1))
    np.testing.assert_array_equal(quantizer.predict(X), quantizer.labels_)
    assert 1 <= quantizer.lower_bound_ <= len(centres)


@pytest.mark.parametrize("seed", range(40))
def test_covers_are_as_small_as_the_exact_one(seed):
    X, radius = problem(seed)
    quantizer = fitted(X, radius)
    assert_consistent(quantizer, X)
    size, exact = len(quantizer.cluster_centers_), exact_size(X, radius)
    assert quantizer.lower_bound_ <= exact <= size <= 1.1 * exact
    assert size <= greedy_size(X, radius)


def test_it_is_smaller_than_the_greedy_cover_somewhere():
    pairs = [problem(seed) for seed in range(40)]
    sizes = [len(fitted(*pair).cluster_centers_) for pair in pairs]
    assert sum(sizes) < sum(greedy_size(*pair) for pair in pairs)


@pytest.mark.parametrize("n_init", [1, 3])
def test_never_above_greedy_on_more_rows(n_init):
    X = np.random.default_rng(0).random((300, 3))
    quantizer = fitted(X, 0.3, n_init=n_init, max_iter=3)
    assert_consistent(quantizer, X)
    assert len(quantizer.cluster_centers_) <= greedy_size(X, 0.3)


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_the_radius_of_so_many_vectors_is_the_smallest(count):
    X = np.random.default_rng(count).normal(size=(40, 2))
    quantizer = fitted(X, n_vectors=count)
    assert_consistent(quantizer, X)
    assert len(quantizer.cluster_centers_) <= count
    assert exact_size(X, np.nextafter(quantizer.radius_, 0.0)) > count


def test_centres_do_not_depend_on_the_order_of_the_rows():
    X, radius = problem(3)
    order = np.random.default_rng(0).permutation(len(X))
    first, second = fitted(X, radius), fitted(X[order], radius)
    found = order[second.cluster_centers_indices_]
    np.testing.assert_array_equal(np.sort(found), first.cluster_centers_indices_)


def test_duplicates_count_once():
    X, radius = problem(5)
    quantizer = fitted(np.vstack([X, X, X]), radius)
    np.testing.assert_array_equal(quantizer.cluster_centers_, fitted(X, radius).cluster_centers_)
    same = fitted(np.ones((9, 2)), n_vectors=3)
    assert same.radius_ == 0.0 and len(same.cluster_centers_) == 1
    assert not same.labels_.any()


@pytest.mark.parametrize("params", [{}, {"radius": 0.0}, {"radius": 5.0}, {"n_vectors": 1}])
def test_one_row(params):
    quantizer = fitted([[1.0, 2.0]], **params)
    np.testing.assert_array_equal(quantizer.cluster_centers_, [[1.0, 2.0]])


def test_radius_zero_takes_each_different_row_and_a_huge_one_takes_one():
    X = np.array([[0.0], [1.0], [-0.0], [2.0], [1.0]])
    np.testing.assert_array_equal(fitted(X, 0.0).cluster_centers_indices_, [0, 1, 3])
    assert len(fitted(X, 1e300).cluster_centers_) == 1
    np.testing.assert_array_equal(fitted(X, 1.0).cluster_centers_, [[1.0]])


def test_as_many_vectors_as_rows_or_more():
    X, _ = problem(1)
    for count in (len(X), 10**9):
        quantizer = fitted(X, n_vectors=count)
        assert quantizer.radius_ == 0.0 and len(quantizer.cluster_centers_) == len(X)


def test_feature_names_out():
    quantizer = fitted(np.arange(6.0)[:, None], n_vectors=2)
    names = ["zeronormquantizer0", "zeronormquantizer1"]
    assert list(quantizer.get_feature_names_out()) == names


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"radius": 1.0, "n_vectors": 3}, "Either radius or n_vectors"),
        ({"radius": -1.0}, "radius must be"),
        ({"radius": np.nan}, "radius must be"),
        ({"n_vectors": 0}, "n_vectors must be"),
        ({"n_vectors": 2.5}, "n_vectors must be"),
        ({"n_init": 0}, "n_init must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        ZeroNormQuantizer(**params).fit(np.eye(4))


def test_distances_that_overflow():
    with pytest.raises(ValueError, match="overflow"):
        ZeroNormQuantizer(1.0).fit([[1e200], [-1e200]])


@pytest.mark.parametrize(
    ("limit", "params", "sentence"),
    [
        ("MOST_PAIRS", {"radius": 1.0}, "too many for the memory: take a smaller radius"),
        ("MOST_DISTANCES", {"n_vectors": 3}, "do not fit in memory beyond 10 rows: give a radius"),
    ],
)
def test_more_than_fits_in_memory(limit, params, sentence, monkeypatch):
    monkeypatch.setattr(neighbours, limit, 100)
    with pytest.raises(ValueError, match=sentence):
        ZeroNormQuantizer(**params).fit(np.linspace(0.0, 1.0, 30)[:, None])


def test_it_is_not_saved(tmp_path):
    quantizer = fitted(np.eye(3), 0.5)
    with pytest.raises(ValueError, match="ZeroNormQuantizer is no fitted kernel machine"):
        zeronorm.save(quantizer, tmp_path / "model.json")
