"""SparseKernelDensity: a density, sparse, and no worse than keeping every row."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad, simpson
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KernelDensity

from tests.data import iris, moons
from zeronorm import KernelExpansion, SparseKernelDensity


def two_bumps(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(-2, 0.5, n // 2), rng.normal(1, 1.0, n - n // 2)])[:, None]


def rows(n=120, seed=0):
    return moons(n, noise=0.2, seed=seed)[0]


def full(X):
    spread = np.sqrt(X.var(axis=0).mean()) * len(X) ** (-1 / (X.shape[1] + 4))
    search = GridSearchCV(KernelDensity(), {"bandwidth": spread * np.geomspace(0.1, 2, 20)})
    return search.fit(X[np.random.RandomState(0).permutation(len(X))]).best_estimator_


def same(one, other):
    np.testing.assert_array_equal(one.support_vectors_, other.support_vectors_)
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-8)
    assert one.bandwidth_ == pytest.approx(other.bandwidth_, rel=1e-12)


@pytest.mark.parametrize("bandwidth", ["cv", "scott", "silverman", 0.05])
def test_integrates_to_one_in_one_dimension(bandwidth):
    density = SparseKernelDensity(bandwidth=bandwidth).fit(two_bumps())
    total, _ = quad(
        lambda x: np.exp(density.score_samples([[x]])[0]), -12, 12, points=[-2, 1], limit=200
    )
    assert total == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("C", [0.2, 2.0, 20.0])
def test_integrates_to_one_in_two_dimensions(C):
    density = SparseKernelDensity(C=C).fit(rows())
    axis = np.linspace(-5, 6, 400)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    values = np.exp(density.score_samples(grid)).reshape(400, 400)
    assert simpson(simpson(values, x=axis), x=axis) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("X", [two_bumps(), rows(250), rows(400, seed=1)], ids=["1d", "2d", "400"])
def test_few_terms_do_as_well_as_all_rows(X):
    X, test = X[::2], X[1::2]
    density = SparseKernelDensity(random_state=0).fit(X)
    rival = full(X).score(test)
    assert density.n_terms_ <= 0.1 * len(X)
    assert density.score(test) >= rival - 0.02 * abs(rival)


def test_attributes_fit_together():
    X = rows()
    density = SparseKernelDensity().fit(X)
    assert density.n_terms_ == len(density.weights_) == len(density.support_) < len(X)
    np.testing.assert_array_equal(density.support_vectors_, X[density.support_])
    assert density.weights_.min() > 0
    assert density.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert density.n_features_in_ == 2
    history = density.history_
    assert density.n_iter_ == len(history["terms"]) == len(history["gap"])
    assert history["terms"][-1] == density.n_terms_
    assert history["objective"][-1] == density.objective_
    assert history["gap"][-1] <= density.tol
    assert (np.diff(history["objective"]) <= 1e-9 * abs(density.objective_)).all()


def test_objective_is_likelihood_plus_penalty():
    X = rows()
    density = SparseKernelDensity(bandwidth=0.3, C=4.0).fit(X)
    penalty = np.log1p(density.weights_ / (1e-4 / len(X))).sum() / 4.0
    assert density.objective_ == pytest.approx(penalty - density.score(X), rel=1e-9)


def test_expansion_is_the_density():
    X = rows()
    density = SparseKernelDensity().fit(X)
    assert isinstance(density.expansion_, KernelExpansion)
    assert KernelExpansion.from_estimator(density).n_terms == density.n_terms_
    values = density.expansion_.decision_function(X)
    np.testing.assert_allclose(values, np.exp(density.score_samples(X)), rtol=1e-9)


def test_no_expansion_where_its_coefficients_overflow():
    density = SparseKernelDensity(bandwidth=1e-6).fit(np.random.RandomState(0).randn(20, 80))
    assert np.isfinite(density.score_samples(density.support_vectors_)).all()
    assert not hasattr(density, "expansion_")


def test_agrees_with_kernel_density_where_nothing_can_be_dropped():
    """A bandwidth so small that every row needs its own kernel: equal weights, the plain KDE."""
    X = rows(50)
    density = SparseKernelDensity(bandwidth=1e-3).fit(X)
    plain = KernelDensity(bandwidth=1e-3).fit(X)
    assert density.n_terms_ == 50
    np.testing.assert_allclose(density.score_samples(X), plain.score_samples(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["scott", "silverman"])
def test_rules_of_thumb_are_scikit_learns(name):
    X = rows()
    expected = KernelDensity(bandwidth=name).fit(X).bandwidth_
    assert SparseKernelDensity(bandwidth=name).fit(X).bandwidth_ == pytest.approx(expected)


def test_smaller_C_gives_fewer_terms():
    X = rows()
    terms = [SparseKernelDensity(bandwidth=0.2, C=C).fit(X).n_terms_ for C in (50, 2, 0.3, 0.05)]
    assert terms == sorted(terms, reverse=True)
    assert terms[0] > 2 * terms[-1]


def test_cross_validated_bandwidth_follows_the_scale_of_the_data():
    X = rows()
    one, other = SparseKernelDensity().fit(X), SparseKernelDensity().fit(1000 * X)
    assert other.bandwidth_ == pytest.approx(1000 * one.bandwidth_, rel=1e-6)
    assert other.n_terms_ == one.n_terms_


def test_sample_has_the_moments_of_the_mixture():
    density = SparseKernelDensity().fit(rows())
    draw = density.sample(200_000, random_state=0)
    centres, weights = density.support_vectors_, density.weights_
    mean = weights @ centres
    centred = centres - mean
    covariance = (weights * centred.T) @ centred + density.bandwidth_**2 * np.eye(2)
    np.testing.assert_allclose(draw.mean(axis=0), mean, atol=0.01)
    np.testing.assert_allclose(np.cov(draw.T), covariance, atol=0.01)


def test_sample_is_deterministic_and_checked():
    density = SparseKernelDensity().fit(rows())
    np.testing.assert_array_equal(density.sample(5, random_state=3), density.sample(5, 3))
    assert density.sample().shape == (1, 2)
    with pytest.raises(ValueError, match="n_samples must be an integer"):
        density.sample(0)


def test_score_is_the_sum_and_serves_model_selection():
    X = rows()
    density = SparseKernelDensity().fit(X)
    assert density.score(X) == pytest.approx(density.score_samples(X).sum())
    scores = cross_val_score(SparseKernelDensity(bandwidth=0.3), X, cv=3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("bandwidth", ["cv", "scott", 0.25])
def test_weights_mean_repetition(bandwidth):
    X = rows(60)
    weight = np.arange(60) % 3
    weighted = SparseKernelDensity(bandwidth=bandwidth).fit(X, sample_weight=weight)
    repeated = SparseKernelDensity(bandwidth=bandwidth).fit(np.repeat(X, weight, axis=0))
    same(weighted, repeated)
    assert (weight[weighted.support_] > 0).all()


@pytest.mark.parametrize("candidates", ["all", 40])
def test_order_of_the_rows_does_not_matter(candidates):
    X = rows()
    order = np.random.RandomState(0).permutation(len(X))
    one = SparseKernelDensity(candidates=candidates, random_state=0).fit(X)
    other = SparseKernelDensity(candidates=candidates, random_state=0).fit(X[order])
    same(one, other)
    np.testing.assert_array_equal(order[other.support_], one.support_)


def test_landmarks_bound_the_candidates():
    X = rows(1000)
    density = SparseKernelDensity(bandwidth=0.01, random_state=0).fit(X)
    assert density.n_terms_ <= 300
    same(density, SparseKernelDensity(bandwidth=0.01, random_state=0).fit(X))
    assert SparseKernelDensity(candidates=1, bandwidth=0.3).fit(X).n_terms_ == 1
    assert SparseKernelDensity(candidates=1).fit(X).n_terms_ == 1


def test_twenty_thousand_rows():
    X = rows(20_000)
    density = SparseKernelDensity(bandwidth=0.15, random_state=0).fit(X)
    assert density.n_terms_ < 100
    assert density.score(X) / len(X) >= KernelDensity(bandwidth=0.15).fit(X[:300]).score(X) / len(X)


def test_pickle_and_clone():
    density = SparseKernelDensity(C=1.0).fit(rows())
    copy = pickle.loads(pickle.dumps(density))
    np.testing.assert_array_equal(copy.score_samples(rows()), density.score_samples(rows()))
    assert clone(density).C == 1.0


# Degenerate data: a finite model without a warning of NumPy, or a sentence.


@pytest.fixture(autouse=True)
def numpy_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def finite(density, X):
    assert np.isfinite(density.score_samples(X)).all()
    assert np.isfinite(density.objective_)
    assert density.weights_.sum() == pytest.approx(1.0)
    return density


def test_equal_rows_are_one_candidate():
    X = np.random.RandomState(0).randint(0, 3, (200, 2)).astype(float)
    X[0, 0] = -0.0
    density = finite(SparseKernelDensity(bandwidth=0.01).fit(X), X)
    assert density.n_terms_ == 9


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", 0.5])
def test_one_row(bandwidth):
    density = finite(SparseKernelDensity(bandwidth=bandwidth).fit([[1.0, 2.0]]), [[1.0, 2.0]])
    assert density.n_terms_ == 1


def test_two_rows_are_enough_for_cross_validation():
    finite(SparseKernelDensity().fit([[0.0], [1.0]]), [[0.5]])


@pytest.mark.parametrize("bandwidth", ["cv", "scott"])
def test_constant_column(bandwidth):
    X = np.column_stack([rows(60), np.ones(60)])
    finite(SparseKernelDensity(bandwidth=bandwidth).fit(X), X)


@pytest.mark.parametrize("C", [1e-3, 0.1, 0.5, 2.0, 1e3])
def test_far_rows_keep_their_terms(C):
    X = np.vstack([rows(60), [[50.0, 50.0], [-1e4, 0.0], [1e7, 1e7]]])
    density = finite(SparseKernelDensity(bandwidth=0.3, C=C).fit(X), X)
    assert {60, 61, 62} <= set(density.support_)


@pytest.mark.parametrize(
    ("options", "weight"),
    [({"C": 1e100}, 1.0), ({"C": 1e100, "bandwidth": 0.3}, 1.0), ({"bandwidth": 0.3}, 1e100)],
)
def test_a_huge_cost_is_maximum_likelihood(options, weight):
    """The prices of the terms are rounding: no root can be sought between them."""
    X = rows(60)
    plain = SparseKernelDensity(**options | {"C": 1e12}).fit(X)
    huge = SparseKernelDensity(**options).fit(X, sample_weight=np.full(60, weight))
    assert huge.score(X) == pytest.approx(plain.score(X), rel=1e-6)


@pytest.mark.parametrize("bandwidth", [1e-149, 1e-100, 1e-8, 1e3, 1e100])
def test_extreme_bandwidths(bandwidth):
    X = rows(40)
    density = finite(SparseKernelDensity(bandwidth=bandwidth).fit(X), X)
    assert density.n_terms_ == (40 if bandwidth < 1 else 1)


@pytest.mark.parametrize("factor", [1e-100, 1e-8, 1e8, 1e100])
def test_extreme_scales(factor):
    X = factor * rows(40)
    finite(SparseKernelDensity().fit(X), X)


def test_row_out_of_reach_of_all_landmarks():
    X = np.vstack([rows(40), [[1e12, 0.0]]])
    for seed in range(3):
        density = SparseKernelDensity(bandwidth=1e-149, candidates=2, random_state=seed)
        with pytest.raises(ValueError, match="out of reach of all candidates"):
            density.fit(X)
    finite(SparseKernelDensity(bandwidth=1.0, candidates=2, random_state=0).fit(X), X)


def test_many_features():
    X = np.random.RandomState(0).randn(40, 500)
    finite(SparseKernelDensity().fit(X), X)


def test_infinitely_far_is_minus_infinity():
    density = SparseKernelDensity().fit(rows(40))
    assert density.score_samples([[1e300, 0.0]])[0] == -np.inf


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"bandwidth": 0}, "bandwidth must be 'cv', 'scott', 'silverman' or a positive number"),
        ({"bandwidth": -1.0}, "bandwidth must be"),
        ({"bandwidth": "wide"}, "bandwidth must be"),
        ({"bandwidth": None}, "bandwidth must be"),
        ({"bandwidth": np.inf}, "bandwidth must be"),
        ({"bandwidth": 1e-200}, "bandwidth=1e-200 is outside of"),
        ({"C": 0}, "C must be a finite positive number"),
        ({"C": np.nan}, "C must be a finite positive number"),
        ({"C": 1e-300}, "C=1e-300 is outside of 1e-12 to 1e"),
        ({"C": 1e300}, r"C=1e\+300 is outside of"),
        ({"tol": 0}, "tol must be a finite positive number"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"candidates": "some"}, "candidates must be 'auto', 'all' or an integer"),
        ({"candidates": 0}, "candidates must be 'auto', 'all' or an integer of at least 1"),
        ({"candidates": 2.5}, "candidates must be 'auto', 'all' or an integer"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseKernelDensity(**parameters).fit(rows(20))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.ones((5, 2)), "cannot choose from one sample"),
        (1e160 * rows(20), "squared distances of the rows overflow"),
        (1e-200 * rows(20), "scale them first"),
        ([[np.nan, 1.0]], "NaN"),
        (np.ones(5), "Expected 2D array"),
        (np.empty((0, 2)), "0 sample"),
    ],
)
def test_bad_rows_get_a_sentence(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseKernelDensity().fit(X)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.ones(3), "one number for each of the 20 rows"),
        (-np.ones(20), "must not be negative"),
        (np.zeros(20), "All sample weights are zero"),
        (np.full(20, 1e308), "too large or too small"),
        (np.full(20, 1e306), "too large or too small"),
        (np.full(20, 1e-306), "too large or too small"),
    ],
)
def test_bad_weights_get_a_sentence(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseKernelDensity().fit(rows(20), sample_weight=weight)


def test_too_many_rows_for_all_candidates():
    X = np.arange(20_001.0)[:, None]
    with pytest.raises(ValueError, match="candidates='all' with 20001 rows"):
        SparseKernelDensity(candidates="all", bandwidth=1.0).fit(X)


def test_sparse_matrix_is_refused():
    with pytest.raises(TypeError, match="[Ss]parse"):
        SparseKernelDensity().fit(sparse.csr_matrix(rows(20)))


def test_not_fitted():
    for call in (lambda d: d.score_samples([[0.0]]), lambda d: d.sample(), lambda d: d.expansion_):
        with pytest.raises(NotFittedError):
            call(SparseKernelDensity())


def test_a_failed_fit_leaves_the_old_model():
    density = SparseKernelDensity(bandwidth=0.3).fit(rows(30))
    before = density.score_samples(rows(30))
    with pytest.raises(ValueError):
        density.fit(np.full((4, 3), 1e200) * np.arange(4)[:, None])
    np.testing.assert_array_equal(density.score_samples(rows(30)), before)


def test_too_few_rounds_warn_with_numbers():
    X, _ = iris()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 rounds .* gap of"):
        SparseKernelDensity(bandwidth=0.4, max_iter=2).fit(X)


def test_a_cost_of_single_precision():
    """Compared with the largest cost there is, which single precision has no room for."""
    X = np.random.default_rng(0).normal(size=(20, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = SparseKernelDensity(bandwidth=0.5, C=np.float32(2.0)).fit(X)
    assert single.objective_ == SparseKernelDensity(bandwidth=0.5, C=2.0).fit(X).objective_
