"""SparseSVR: few terms at the error of a tuned SVR, any targets, intervals that hold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

import zeronorm
from zeronorm import SparseSVR

#: Little to choose from, where the choice is not the question.
QUICK = {"C": 10.0, "epsilon": 0.0, "gamma": "scale", "n_terms": 6, "n_init": 1, "random_state": 0}


def wave(n=200, noise=0.1, seed=0):
    random = np.random.RandomState(seed)
    X = random.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise * random.randn(n)


def root_mean_square(residuals):
    return float(np.sqrt(np.mean(np.square(residuals))))


@pytest.fixture(scope="module")
def chosen():
    X, y = wave(300)
    return SparseSVR(random_state=0).fit(X, 50.0 + 20.0 * y)


def test_few_terms_at_the_error_of_a_tuned_svr(chosen):
    X, y = wave(300)
    grid = {"C": [1, 10, 100], "gamma": [0.1, 0.3, 1.0], "epsilon": [0.03, 0.1]}
    svr = GridSearchCV(SVR(), grid).fit(X, y).best_estimator_
    fresh, truth = wave(1000, noise=0.0, seed=1)
    ours = root_mean_square((chosen.predict(fresh) - 50.0) / 20.0 - truth)
    assert ours <= 1.1 * root_mean_square(svr.predict(fresh) - truth)
    assert chosen.expansion_.n_products <= 0.1 * len(svr.support_)
    assert chosen.objective_ > 0 and chosen.score(fresh, 50.0 + 20.0 * truth) > 0.99
    assert set(chosen.path_) == {
        *("terms", "error", "standard_error", "C", "gamma", "metric", "linear"),
    }


def test_error_of_the_path_is_what_is_not_explained(chosen):
    """That of guessing the mean is one."""
    noise = 0.01 / np.var(wave(300)[1])
    assert noise / 2 < chosen.path_["error"].min() < 4 * noise


def test_units_of_the_target_do_not_matter():
    X, y = wave()
    plain = SparseSVR(**QUICK).fit(X, y).predict(X)
    # Powers of two change no digit: vectors that are learned make much of the last one.
    for scale in (2.0**30, 2.0**-40, -2.0):
        again = SparseSVR(**QUICK).fit(X, scale * y).predict(X)
        np.testing.assert_allclose(again / scale, plain, rtol=1e-9)
    moved = SparseSVR(**QUICK).fit(X, y + 1e6).predict(X) - 1e6
    assert root_mean_square(moved - y) < 1.1 * root_mean_square(plain - y)


def test_intervals_hold_on_fresh_rows(chosen):
    X, y = wave(3000, seed=2)
    y = 50.0 + 20.0 * y
    for level in (0.5, 0.9):
        values, interval = chosen.predict(X, return_interval=level)
        np.testing.assert_array_equal(values, chosen.predict(X))
        inside = np.mean((interval[:, 0] <= y) & (y <= interval[:, 1]))
        # Quantiles of 300 residuals, and a share of 3 000 rows: three standard deviations.
        assert abs(inside - level) < 3.0 * np.sqrt(level * (1.0 - level) * (1 / 300 + 1 / 3000))


def test_intervals_are_wider_where_residuals_are():
    random = np.random.RandomState(0)
    X = random.uniform(0, 1, (900, 1))
    y = 10 * X[:, 0] + (0.1 + 2 * X[:, 0]) * random.randn(900)
    model = SparseSVR(C=(1.0, 10.0), gamma="scale", random_state=0).fit(X, y)
    _, interval = model.predict([[0.1], [0.9]], return_interval=0.8)
    small, large = interval[:, 1] - interval[:, 0]
    # The true widths are 2.56 times 0.3 and 1.9.
    assert small < 1.4 and 3.5 < large < 6.5


def test_several_targets_share_their_vectors():
    X, y = wave()
    Y = np.column_stack([y, 100.0 * np.cos(2 * X[:, 0]), -y])
    model = SparseSVR(**QUICK | {"n_terms": 12}).fit(X, Y)
    assert model.dual_coef_.shape == (3, model.n_terms_) and model.epsilon_.shape == (3,)
    assert model.predict(X).shape == Y.shape and model.score(X, Y) > 0.9
    np.testing.assert_allclose(model.predict(X)[:, 0], -model.predict(X)[:, 2], atol=0.02)
    free = SparseSVR(**QUICK | {"C": (1.0, 10.0), "cv": 2}).fit(X, Y)
    values, interval = free.predict(X[:5], return_interval=0.9)
    assert interval.shape == (5, 3, 2) and (interval[..., 0] < values).all()


def test_one_column_is_one_target():
    X, y = wave(60)
    flat, column = SparseSVR(**QUICK).fit(X, y), SparseSVR(**QUICK).fit(X, y[:, None])
    np.testing.assert_array_equal(flat.predict(X), column.predict(X))
    assert column.predict(X).shape == (60,)


def test_a_constant_target_is_predicted():
    X, _ = wave(60)
    for model in (SparseSVR(random_state=0), SparseSVR(loss="squared", random_state=0)):
        np.testing.assert_allclose(model.fit(X, np.full(60, 7.5)).predict(X), 7.5, rtol=1e-9)


def test_one_outlier_does_not_change_the_others():
    X, y = wave()
    far = y.copy()
    far[17] = 1e12
    model = SparseSVR(random_state=0).fit(X, far)
    residuals = np.delete(model.predict(X) - y, 17)
    assert root_mean_square(residuals) < 0.2
    assert np.isfinite(SparseSVR(**QUICK | {"loss": "squared"}).fit(X, far).predict(X)).all()


def test_rows_of_weight_zero_and_sparse_rows():
    X, y = wave(80)
    weight = np.ones(80)
    weight[::4] = 0.0
    some = SparseSVR(**QUICK).fit(X[weight > 0], y[weight > 0])
    again = SparseSVR(**QUICK).fit(X, y, weight)
    assert again.objective_ == pytest.approx(some.objective_, rel=0.02)
    y[weight == 0] = 1e9
    np.testing.assert_array_equal(SparseSVR(**QUICK).fit(X, y, weight).predict(X), again.predict(X))
    X, y = wave(80)
    dense, as_sparse = (SparseSVR(**QUICK).fit(rows, y) for rows in (X, sparse.csr_matrix(X)))
    residuals = as_sparse.predict(sparse.csr_matrix(X)) - y
    assert root_mean_square(residuals) < 1.2 * root_mean_square(dense.predict(X) - y)


def test_a_linear_target_needs_no_term():
    X, _ = wave()
    y = X @ [1.0, -2.0] + 3.0
    model = SparseSVR(random_state=0).fit(X, y)
    assert model.n_terms_ == 0 and model.score(X, y) > 0.9999


def test_tube_in_units_of_the_target():
    """Residuals within it cost nothing: the wider it is, the smaller the function."""
    X, y = load_diabetes(return_X_y=True)
    norms = []
    for epsilon in (0.0, 50.0, 1000.0):
        model = SparseSVR(**QUICK | {"epsilon": epsilon}).fit(X, y)
        assert model.epsilon_ == pytest.approx(epsilon)
        norms.append(model.objective_)
    assert norms[0] > norms[1] > norms[2] == pytest.approx(0.0, abs=1e-9)


def test_saved_and_loaded(tmp_path):
    X, y = wave(60)
    for target in (y, np.column_stack([y, -y])):
        model = SparseSVR(**QUICK).fit(X, target)
        zeronorm.save(model, tmp_path / "model.json")
        again = zeronorm.load(tmp_path / "model.json")
        np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": -1.0}, "epsilon must be 'cv', a finite number of at least 0 or a sequence"),
        ({"epsilon": ()}, "epsilon must be .*; got \\(\\)"),
        ({"epsilon": (0.1, -1.0)}, "epsilon must be .*; got .0.1, -1.0."),
        ({"loss": "huber"}, "loss must be one of epsilon_insensitive, squared"),
        ({"C": 0.0}, "C must be 'cv', a finite positive number or a sequence"),
        ({"n_terms": 0}, "n_terms must be 'auto' or an integer of at least 1"),
        ({"n_terms": 100}, "n_terms=100 is more than the 60 training rows"),
        ({"kernel": "sigmoid"}, "sigmoid"),
    ],
)
def test_bad_parameters(parameters, sentence):
    X, y = wave(60)
    with pytest.raises(ValueError, match=sentence):
        SparseSVR(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda y: np.where(np.arange(60) == 3, np.nan, y), "contains NaN"),
        (lambda y: np.where(y > 0, "high", "low"), "numbers to predict; got"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_bad_targets(spoil, sentence):
    X, y = wave(60)
    with pytest.raises(ValueError, match=sentence):
        SparseSVR(**QUICK).fit(X, spoil(y))


def test_intervals_that_cannot_be_had():
    X, y = wave(60)
    model = SparseSVR(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match="has chosen nothing"):
        model.predict(X, return_interval=0.9)
    with pytest.raises(ValueError, match="a probability between 0 and 1"):
        model.predict(X, return_interval=1.0)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_on_arrays_of_other_libraries(library):
    xp = pytest.importorskip(library)
    from sklearn import config_context

    X, y = wave(80)
    parameters = QUICK | {"C": (1.0, 10.0), "cv": 2, "epsilon": (0.0, 0.1)}
    expected = SparseSVR(**parameters).fit(X, y).predict(X)
    with config_context(array_api_dispatch=True):
        model = SparseSVR(**parameters).fit(xp.asarray(X), xp.asarray(y))
        found, interval = model.predict(xp.asarray(X), return_interval=0.9)
    assert root_mean_square(np.asarray(found) - y) < 1.2 * root_mean_square(expected - y)
    assert interval.shape == (80, 2)


def with_wrong_number(X):
    """A row with one feature fifty deviations out, before the others."""
    wrong = X[:1].copy()
    wrong[0, 1] += 50.0 * X[:, 1].std()
    return np.vstack([wrong, X])


def test_a_wrong_number_in_one_feature_leads_not_far():
    """The linear part alone would follow it; a machine without one goes back to its constant."""
    X, y = wave()
    rows = with_wrong_number(X)
    free = SparseSVR(**QUICK, linear=True, extrapolation=None).fit(X, y)
    model = SparseSVR(**QUICK, linear=True).fit(X, y)  # a tenth
    width = y.max() - y.min()
    assert free.limits_ is None and free.predict(rows)[0] > y.max() + 3 * width
    assert model.predict(rows)[0] == pytest.approx(y.max() + 0.1 * width)
    np.testing.assert_array_equal(model.predict(rows)[1:], free.predict(rows)[1:])
    tight = SparseSVR(**QUICK, linear=True, extrapolation=0).fit(X, y)
    expected = np.clip(free.predict(rows), y.min(), y.max())
    np.testing.assert_array_equal(tight.predict(rows), expected)
    assert (expected != free.predict(rows)).sum() > 1


def test_limits_of_several_targets_are_saved(tmp_path):
    X, y = wave()
    Y = np.column_stack([y, -100.0 * y, np.full(len(y), 3.0)])
    model = SparseSVR(**QUICK, linear=True, extrapolation=0.5).fit(X, Y)
    rows, width = with_wrong_number(X), y.max() - y.min()
    ends = [y.max() + 0.5 * width, -100.0 * (y.max() + 0.5 * width), 3.0]
    np.testing.assert_allclose(model.predict(rows)[0], ends)
    zeronorm.save(model, tmp_path / "model.json")
    loaded = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_limits_of_huge_targets_are_numbers():
    X, y = wave()
    model = SparseSVR(**QUICK, extrapolation=1e300).fit(X, 1e300 * y)
    assert np.isfinite([model.limits_.low, model.limits_.high]).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("far", [1e30, 1e150])
def test_models_that_overflow_are_not_in_the_path(far):
    random = np.random.RandomState(0)
    X, y = random.randn(10, 2), random.randn(10)
    X[3, 1] = far
    model = SparseSVR(gamma=0.3, random_state=0).fit(X, y)
    for name in ("error", "standard_error"):
        assert np.isfinite(model.path_[name]).all() and len(model.path_[name])
