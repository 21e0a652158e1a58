"""Expansions with a linear part or a metric: values, files, and whatever takes an expansion."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.frozen import FrozenEstimator

import zeronorm
from tests.data import moons
from tests.reduction.helpers import reduced
from zeronorm import CrossEntropySVC, KernelExpansion, SparseLargeMarginClassifier
from zeronorm.base.checked import CheckedExpansion
from zeronorm.base.training_set import Learned, TrainingRows
from zeronorm.blocks import BLOCK_ROWS
from zeronorm.decisions import Classes, Density
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.model_selection import count_terms

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

METRIC = Kernel("rbf", gamma=0.7, metric=(0.2, 1.0, 3.0))


def expansion(n_terms=5, n_outputs=1, kernel=METRIC, seed=0, **options):
    rng = np.random.default_rng(seed)
    vectors, coef = rng.normal(size=(n_terms, 3)), rng.normal(size=(n_terms, n_outputs))
    intercept, linear = rng.normal(size=n_outputs), rng.normal(size=(3, n_outputs))
    return KernelExpansion(vectors, coef, intercept, kernel, **{"linear": linear, **options})


def rows(n=40, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 3))


def by_hand(f, X):
    return f.kernel.matrix(X, f.vectors) @ f.coef + X @ f.linear + f.intercept


@pytest.mark.parametrize("n", [0, 1, 40, BLOCK_ROWS + 5])
@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_terms", [0, 1, 5])
@pytest.mark.parametrize("kernel", [METRIC, Kernel("poly", degree=2)], ids=["metric", "poly"])
def test_values(n, as_format, n_outputs, n_terms, kernel):
    f, X = expansion(n_terms, n_outputs, kernel), rows(n)
    X[X < 0] = 0.0
    expected = by_hand(f, X)
    np.testing.assert_allclose(f.outputs(as_format(X)), expected, rtol=1e-10, atol=1e-12)
    values = f.decision_function(as_format(X))
    np.testing.assert_array_equal(values.reshape(n, n_outputs), f.outputs(as_format(X)))
    values = f.outputs_from(f.kernel_values(X), as_format(X))
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-12)


def test_float32_rows_lists_and_one_column():
    f, X = expansion(), rows().astype(np.float32)
    np.testing.assert_allclose(f.outputs(X), by_hand(f, X.astype(float)), rtol=1e-12)
    np.testing.assert_allclose(f.outputs(X.tolist()), by_hand(f, X.astype(float)), rtol=1e-12)
    flat = KernelExpansion(f.vectors, f.coef[:, 0], f.intercept[0], f.kernel, linear=f.linear[:, 0])
    np.testing.assert_array_equal(flat.linear, f.linear)
    np.testing.assert_array_equal(flat.outputs(X), f.outputs(X))


def test_parts():
    f, plain = expansion(4, 3, vote_classes=3), expansion(4, 3, linear=None)
    assert plain.linear is None
    assert (f.n_terms, f.n_outputs, f.n_features) == (4, 3, 3)
    assert (f.n_products, plain.n_products) == (7, 4)
    assert "4 terms, a linear part, 3 outputs" in repr(f) and "linear" not in repr(plain)
    only = expansion(0, 2)
    assert (only.n_terms, only.n_products, only.n_features) == (0, 2, 3)
    with pytest.raises(ValueError, match="it must have one row for each point and 3 columns"):
        only.outputs(np.ones((2, 4)))


def test_the_expansion_does_not_share_the_callers_weights():
    linear = np.ones((3, 1))
    f = expansion(linear=linear)
    linear[:] = 7.0
    np.testing.assert_array_equal(f.linear, np.ones((3, 1)))


def test_prune_merge_and_other_terms_keep_it():
    f = expansion(4, 2)
    twice = f.with_terms(np.vstack([f.vectors, f.vectors]), np.vstack([f.coef, f.coef]) / 2)
    X = rows()
    np.testing.assert_allclose(twice.merge().outputs(X), f.outputs(X), rtol=1e-12)
    assert twice.merge().n_terms == 4
    none = f.prune(np.inf)
    assert none.n_terms == 0 and none.n_features == 3
    np.testing.assert_allclose(none.outputs(X), X @ f.linear + f.intercept)
    assert f.with_terms(f.vectors, f.coef, [1.0, 2.0]).intercept.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("linear", "message"),
    [
        (np.ones((3, 2)), r"linear has shape \(3, 2\); with 3 features and 1 outputs"),
        (np.ones(2), r"linear has shape \(2, 1\)"),
        (np.ones((1, 3)), r"linear has shape \(1, 3\)"),
        (np.ones((3, 1, 1)), "linear has shape"),
        (1.0, "linear has shape"),
        ([1.0, np.nan, 0.0], "linear holds values that are not finite"),
        ([1.0, np.inf, 0.0], "linear holds values that are not finite"),
    ],
)
def test_bad_linear_parts(linear, message):
    with pytest.raises(ValueError, match=message):
        expansion(linear=linear)


def test_impossible_parts():
    with pytest.raises(ValueError, match="no features for a linear part"):
        KernelExpansion([[0], [1]], [1.0, 2.0], 0.0, Kernel("precomputed"), linear=[1.0])
    with pytest.raises(ValueError, match="metric has 2 widths.* vectors have 3 columns"):
        expansion(kernel=Kernel("rbf", metric=(1.0, 2.0)))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))]
)
def test_copies_and_pickles(copied):
    f, X = expansion(4, 2), rows()
    np.testing.assert_array_equal(copied(f).outputs(X), f.outputs(X))


def test_a_pickle_from_before_has_no_linear_part():
    f = expansion(linear=None)
    state = f.__getstate__()
    del state["linear"]
    old = KernelExpansion.__new__(KernelExpansion)
    old.__setstate__(state)
    assert old.linear is None
    np.testing.assert_array_equal(old.outputs(rows()), f.outputs(rows()))


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_terms", [0, 4])
@pytest.mark.parametrize("kernel", [METRIC, Kernel("linear")], ids=["metric", "linear"])
def test_round_trip_is_exact(n_terms, kernel, tmp_path):
    f, X = expansion(n_terms, 3, kernel, vote_classes=3), rows()
    f.save(tmp_path / "f.json")
    g = KernelExpansion.load(tmp_path / "f.json")
    assert g.kernel == f.kernel and g.vote_classes == 3
    np.testing.assert_array_equal(g.linear, f.linear)
    np.testing.assert_array_equal(g.outputs(X), f.outputs(X))
    np.testing.assert_array_equal(zeronorm.load(tmp_path / "f.json").expansion_.linear, f.linear)


def test_files_without_them_have_no_new_keys():
    data = expansion(kernel=Kernel("rbf"), linear=None).to_dict()
    assert "linear" not in data and "metric" not in data["kernel"]


DAMAGES = {
    "linear none": lambda d: d | {"linear": None},
    "linear text": lambda d: d | {"linear": "1"},
    "linear flat": lambda d: d | {"linear": [1.0, 2.0, 3.0]},
    "linear short": lambda d: d | {"linear": [[1.0], [2.0]]},
    "linear wide": lambda d: d | {"linear": [[1.0, 2.0]] * 3},
    "linear texts": lambda d: d | {"linear": [["1"], ["2"], ["3"]]},
    "metric short": lambda d: d | {"kernel": d["kernel"] | {"metric": [1.0, 2.0]}},
    "metric negative": lambda d: d | {"kernel": d["kernel"] | {"metric": [1.0, 2.0, -3.0]}},
    "metric of another kernel": lambda d: d | {"kernel": d["kernel"] | {"name": "poly"}},
    "metric texts": lambda d: d | {"kernel": d["kernel"] | {"metric": ["1", "2", "3"]}},
    "metric nan": lambda d: d | {"kernel": d["kernel"] | {"metric": [1.0, 2.0, float("nan")]}},
    "unknown key": lambda d: d | {"quadratic": []},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_files(damage, tmp_path):
    (tmp_path / "f.json").write_text(json.dumps(damage(expansion().to_dict())))
    with pytest.raises(ValueError, match="f.json"):
        KernelExpansion.load(tmp_path / "f.json")


def test_a_model_with_classes_is_saved_and_loaded(tmp_path):
    model, X = Model(expansion(4, 3), Classes(["a", "b", "c"])), rows()
    model.save(tmp_path / "model.json")
    again = zeronorm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.expansion_.kernel == METRIC


# --- whatever takes an expansion -----------------------------------------------------------------


def test_a_density_has_neither():
    weights = np.full(3, 1 / 3)
    plain, metric = Kernel("rbf"), Kernel("rbf", metric=(1.0, 2.0, 3.0))
    Model(KernelExpansion(rows(3), weights, 0.0, plain), Density(1.0))
    for f in (
        KernelExpansion(rows(3), weights, 0.0, metric),
        KernelExpansion(rows(3), weights, 0.0, plain, linear=np.ones(3)),
    ):
        with pytest.raises(ValueError, match="one bandwidth"):
            Model(f, Density(1.0))


def fitted(kernel_metric=None, linear=None):
    """A classifier on moons whose expansion has further parts."""
    X, y = moons(120)
    model = SparseLargeMarginClassifier(20, C=10.0, gamma=1.0, random_state=0).fit(X, y)
    f = model.expansion_
    model.expansion_ = KernelExpansion(
        f.vectors, f.coef, f.intercept, f.kernel.with_metric(kernel_metric), linear=linear
    )
    return model, X, y


@pytest.mark.parametrize("metric", [None, (0.5, 2.0)], ids=["plain", "metric"])
@pytest.mark.parametrize("method", ["reduced_set", "exact"])
def test_a_reducer_keeps_a_linear_part(method, metric):
    linear = np.array([[0.7], [-0.3]])
    model, X, _ = fitted(metric, linear)
    small = reduced(model, X, n_terms=12, method=method) if method == "reduced_set" else None
    if small is None:
        # Twice the same vectors: what depends on others goes.
        f = model.expansion_
        model.expansion_ = f.with_terms(
            np.vstack([f.vectors, f.vectors + 1e-9]), np.vstack([f.coef, f.coef]) / 2
        )
        small = reduced(model, X, method=method)
        assert small.n_terms_ <= 20
    np.testing.assert_array_equal(small.expansion_.linear, linear)
    np.testing.assert_array_equal(small.linear_coef_, linear.T)
    assert small.expansion_.kernel == model.expansion_.kernel
    assert hasattr(small, "metric_") == (metric is not None)
    assert np.mean(small.predict(X) == model.predict(X)) > 0.97
    assert count_terms(small) == small.n_terms_ + 1 == small.expansion_.n_products


@pytest.mark.parametrize("method", ["reduced_set", "modified", "cross_entropy", "exact"])
def test_every_reduction_takes_a_metric(method):
    model, X, y = fitted((0.5, 2.0))
    small = reduced(model, X, y, n_terms=20, method=method, max_error=0.05)
    assert small.expansion_.kernel == model.expansion_.kernel
    np.testing.assert_allclose(small.metric_, [0.5, 2.0])
    assert np.mean(small.predict(X) == model.predict(X)) >= 0.95


@pytest.mark.parametrize("method", ["modified", "cross_entropy"])
def test_training_again_would_lose_a_linear_part(method):
    model, X, y = fitted(linear=np.ones((2, 1)))
    with pytest.raises(ValueError, match="the linear part that this model has would be lost"):
        reduced(model, X, y, n_terms=3, method=method)


def test_a_search_among_terms_refuses_a_linear_part():
    model, X, y = fitted(linear=np.ones((2, 1)))
    for candidates in (model, FrozenEstimator(model), model.expansion_):
        with pytest.raises(ValueError, match="among kernel terms, and the linear part"):
            CrossEntropySVC(candidates=candidates).fit(X, y)


def test_the_guard_judges_with_the_linear_part():
    """Without the row's own term, but with the linear part, which decides here."""
    X = rows(30)
    codes = (X[:, 0] > 0).astype(np.intp)
    targets, cost = np.where(codes, 1.0, -1.0)[:, None], np.ones(30)
    training = TrainingRows(np.arange(30), X, codes, targets, cost, METRIC)
    f = KernelExpansion(X[:2], [100.0, 100.0], 0.0, METRIC.with_gamma(1e3), linear=[1.0, 0.0, 0.0])
    learned = Learned(f, np.arange(2), 0.0, 1, {})
    fit = CheckedExpansion(training, learned, lambda _: learned)
    indices = np.arange(30)
    np.testing.assert_array_equal(fit.judged_alone(indices), codes)
    assert (fit.predicted(indices)[:2] == 1).all()
    np.testing.assert_array_equal(fit.learned_again(indices, indices)[2:], codes[2:])
