"""DaskSparseSVC and DaskSparseSVR: what they take, what they return, what plain ones find."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from tests.dask.cluster import distributed, in_process

da = pytest.importorskip("dask.array")
from zeronorm import SparseSVC, SparseSVR  # noqa: E402
from zeronorm.dask import DaskSparseSVC, DaskSparseSVR  # noqa: E402

N, D = 2400, 3
SVC = partial(DaskSparseSVC, 5, C=0.2, gamma="scale", random_state=0, sample_rows=1000, max_iter=30)
SVR = partial(DaskSparseSVR, 5, C=1.0, epsilon=0.1, random_state=0, sample_rows=1000, max_iter=30)


def rows(n=N):
    rng = np.random.RandomState(0)
    X = rng.randn(n, D)
    labels = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int) + (X[:, 2] > 1)
    return X, np.array(["no", "perhaps", "yes"])[labels]


def numbers(X):
    return np.sin(2 * X[:, 0]) + X[:, 1]


def blocks(*arrays, chunks=700):
    return [da.from_array(part, chunks=(chunks, *part.shape[1:])) for part in arrays]


def same_model(one, other, atol=1e-8):
    for name in ("support_vectors_", "dual_coef_", "intercept_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=atol)


@pytest.mark.parametrize("there, here", [(DaskSparseSVC, SparseSVC), (DaskSparseSVR, SparseSVR)])
def test_parameters_are_those_of_the_plain_estimator(there, here):
    own = {"client": None, "sample_rows": 100_000}
    assert there().get_params() == here().get_params() | own


def test_few_rows_give_the_model_of_a_plain_fit(client):
    X, y = rows(1500)
    weight = np.random.RandomState(1).randint(0, 3, len(y)).astype(float)
    options = {"class_weight": "balanced", "random_state": 0, "C": [0.1, 1.0]}
    here = SparseSVC(4, **options).fit(X, y, weight)
    there = DaskSparseSVC(4, **options).fit(*blocks(X, y, weight))
    same_model(here, there, atol=0)
    assert here.objective_ == there.objective_
    np.testing.assert_array_equal(here.classes_, there.classes_)
    assert type(there.dual_coef_) is np.ndarray
    (dX,) = blocks(X)
    np.testing.assert_array_equal(there.predict_proba(dX).compute(), here.predict_proba(X))
    np.testing.assert_array_equal(there.predict_log_proba(dX).compute(), here.predict_log_proba(X))


def test_pairs_of_classes_where_the_sample_is_all_rows(client):
    X, y = rows(600)
    y = np.where(X[:, 1] > 1.0, "much", y)  # four classes
    options = {"random_state": 0, "C": [0.1, 1.0], "cv": 2, "multi_class": "ovo"}
    here, there = SparseSVC(4, **options).fit(X, y), DaskSparseSVC(4, **options).fit(*blocks(X, y))
    same_model(here, there, atol=0)
    assert there.multi_class_ == "ovo" and there.dual_coef_.shape == (6, there.n_terms_)
    (dX,) = blocks(X)
    for method in ("predict", "decision_function", "predict_proba"):
        found = getattr(there, method)(dX)
        expected = getattr(here, method)(X)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.compute(), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_least_on_all_rows(client, weighted):
    X, y = rows()
    y = np.where(y == "no", "no", "yes")
    weight = np.random.RandomState(1).uniform(0, 2, N) if weighted else np.ones(N)
    model = SVC(tol=1e-9, class_weight={"no": 2.0})
    model.fit(*blocks(X, y, weight) if weighted else blocks(X, y))
    kernel = model.expansion_.kernel
    values, gram = (
        kernel.matrix(rows, model.support_vectors_) for rows in (X, model.support_vectors_)
    )
    signs, cost = np.where(y == "yes", 1.0, -1.0), 0.2 * weight * np.where(y == "no", 2.0, 1.0)

    def objective(point):
        slack = np.maximum(0, 1 - signs * (values @ point[:-1] + point[-1]))
        slope = -signs * cost * slack
        norm = gram @ point[:-1]
        gradient = np.append(norm + values.T @ slope, slope.sum())
        return 0.5 * (point[:-1] @ norm + cost @ slack**2), gradient

    point = np.append(model.dual_coef_[0], model.intercept_)
    assert objective(point)[0] == pytest.approx(model.objective_, rel=1e-6)
    best = optimize.minimize(objective, point, jac=True, options={"gtol": 1e-10}).fun
    assert objective(point)[0] <= (1 + 1e-6) * best
    assert model.history_["rows"][-1] == N


@pytest.mark.parametrize("chunks", [(N,), (100, 0, 1300, 1000)], ids=str)
@pytest.mark.parametrize("make, target", [(SVC, None), (SVR, numbers)], ids=["SVC", "SVR"])
def test_blocks_change_nothing(client, chunks, make, target):
    X, y = rows()
    y = y if target is None else target(X)
    one, other = (make().fit(*blocks(X, y, chunks=cut)) for cut in (700, chunks))
    same_model(one, other)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)


def test_labels_may_be_missing_from_blocks_and_blocks_be_empty(client):
    X, y = rows()
    order = np.argsort(y, kind="stable")
    dX, dy = blocks(X[order], y[order])
    left = dX[:, 0] < 1.5  # nobody knows how long the blocks are then
    empty = da.zeros(5, chunks=5, dtype=bool)
    dX, dy = (
        da.concatenate([part[left], part[:5][empty]], allow_unknown_chunksizes=True)
        for part in (dX, dy)
    )
    model = SVC().fit(dX, dy)
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    predicted = model.predict(dX)
    assert np.isnan(predicted.shape[0])
    accuracy = (predicted.compute() == dy.compute()).mean()
    assert accuracy > 0.8
    assert model.score(dX, dy) == pytest.approx(accuracy)


def test_predictions_are_lazy(client):
    CALLS.clear()
    X, y = rows()
    dX, dy = blocks(X, y)
    model = SVC(C=[0.1, 0.2]).fit(dX, dy)
    watched = dX.map_blocks(noticed, dtype=float, meta=np.zeros((0, 0)))
    methods = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    lazy = {method: getattr(model, method)(watched) for method in methods}
    assert not CALLS
    local = model.to_local()
    assert type(local) is SparseSVC and not hasattr(local, "client")
    for method, found in lazy.items():
        expected = getattr(local, method)(X)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        np.testing.assert_array_equal(found.compute(), expected)
        np.testing.assert_array_equal(getattr(model, method)(X), expected)
    assert len(CALLS) == 4 * watched.numblocks[0]


CALLS = []


def noticed(block):
    CALLS.append(1)
    return block


def test_sparse_blocks_give_the_model_of_dense_ones(client):
    X, y = rows()
    X[np.abs(X) < 0.7] = 0.0
    dX, dy = blocks(X, y)
    thin = dX.map_blocks(sparse.csr_matrix)
    dense, other = SVC().fit(dX, dy), SVC().fit(thin, dy)
    same_model(dense, other)
    np.testing.assert_array_equal(other.predict(thin).compute(), dense.predict(X))


def test_what_all_blocks_are_made_of_is_made_once(client):
    CALLS.clear()
    X, y = rows()
    dX, dy = blocks(X, y, chunks=200)
    watched = dX.map_blocks(noticed, dtype=float, meta=np.zeros((0, 0)))
    centred = dX - watched.mean(axis=0)
    model = SVC().fit(centred, dy)
    assert len(CALLS) == 12
    same_model(model, SVC().fit(*blocks(X - X.mean(axis=0), y)), atol=0.01)  # but for rounding


def test_persisted_blocks_are_not_made_again(client):
    CALLS.clear()
    X, y = rows()
    dX, dy = blocks(X, y)
    watched = dX.map_blocks(noticed, dtype=float, meta=np.zeros((0, 0))).persist()
    distributed.wait(watched)
    labels = da.where(watched[:, 0] > 0, "yes", "no")  # made of what was persisted
    same_model(SVC().fit(watched, labels), SVC().fit(dX, da.where(dX[:, 0] > 0, "yes", "no")))
    assert len(CALLS) == 4


def test_dataframes_are_taken(client):
    pytest.importorskip("pyarrow")
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X, y = rows()
    table = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    frame = frames.from_pandas(table, npartitions=3)
    model = SVC().fit(frame[["a", "b", "c"]], frame["label"])
    same_model(model, SVC().fit(*blocks(X, y)))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    predicted = model.predict(frame[["a", "b", "c"]]).compute()
    np.testing.assert_array_equal(predicted, model.to_local().predict(table[["a", "b", "c"]]))
    accuracy = model.score(frame[["a", "b", "c"]], frame["label"])
    assert accuracy == pytest.approx((predicted == y).mean())


def test_regression_with_intervals(client):
    X, _ = rows()
    targets = np.stack([numbers(X), X[:, 2]], axis=1)
    dX, dy = blocks(X, targets)
    model = SVR(C=[1.0, 3.0]).fit(dX, dy)
    values, interval = model.predict(dX, return_interval=0.9)
    expected = model.to_local().predict(X, return_interval=0.9)
    assert interval.shape == (N, 2, 2)
    np.testing.assert_array_equal(values.compute(), expected[0])
    np.testing.assert_array_equal(interval.compute(), expected[1])
    assert model.score(dX, dy) == pytest.approx(model.to_local().score(X, targets))
    weight = np.arange(N) % 3
    there, here = model.score(dX, dy, *blocks(weight)), model.to_local().score(X, targets, weight)
    assert there == pytest.approx(here) and there > 0.8
    with pytest.raises(ValueError, match="probability between 0 and 1"):
        model.predict(dX, return_interval=2.0)
    constant = np.stack([numbers(X), np.ones(N)], axis=1)
    here = model.to_local().score(X, constant)
    assert model.score(dX, *blocks(constant)) == pytest.approx(here) and np.isfinite(here)
    with pytest.raises(TypeError, match="y must be a Dask array"):
        model.score(dX, targets)


def test_few_rows_give_the_model_of_a_plain_regression(client):
    X, _ = rows(1000)
    here = SparseSVR(4, random_state=0, C=1.0, epsilon=0.1).fit(X, numbers(X))
    there = DaskSparseSVR(4, random_state=0, C=1.0, epsilon=0.1).fit(*blocks(X, numbers(X)))
    same_model(here, there, atol=0)
    (dX,) = blocks(X)
    np.testing.assert_array_equal(there.predict(dX).compute(), here.predict(X))


def test_costs_are_chosen_for_all_rows(client):
    X, y = rows()
    chosen = SVC(C="cv").fit(*blocks(X, y)).C_
    assert np.isclose(chosen * N / 2000, SparseSVC._C_values).any()


def test_clients(client):
    X, y = blocks(*rows(1200))
    with in_process(1) as other:
        model = SVC(client=other).fit(X, y)
        assert model.client_ is other
        assert clone(model).client is other
        assert pickle.loads(pickle.dumps(model)).client is None
    with client.as_current():
        assert SVC().fit(X, y).client_ is client
    with pytest.raises(NotFittedError):
        _ = SVC().client_
    with pytest.raises(NotFittedError):
        SVC().to_local()
    with pytest.raises(NotFittedError):
        SVC().predict(X)


def test_without_a_client_it_says_so(monkeypatch):
    monkeypatch.setattr("zeronorm.dask.machine.default_client", no_client)
    with pytest.raises(ValueError, match="There is no Dask client"):
        SVC().fit(*blocks(*rows(1200)))


def no_client():
    raise ValueError("No clients found")


def with_nan(X):
    X = X.copy()
    X[1500, 1] = np.nan
    return X


BAD = {
    "NaN": (lambda X, y: blocks(with_nan(X), y), "Block 2 of X: Input X contains NaN"),
    "labels in memory": (lambda X, y: [*blocks(X), y], "y must be a Dask array"),
    "rows in memory": (lambda X, y: [X, *blocks(y)], "X must be a Dask array"),
    "vector": (lambda X, y: blocks(X[:, 0], y), "X must have rows and columns"),
    "lengths": (lambda X, y: blocks(X, y[:-1]), "y has 2399 rows, and X has 2400"),
    "one class": (lambda X, y: blocks(X, np.ones(N)), "one class only"),
    "numbers as labels": (lambda X, y: blocks(X, X[:, 0]), "Block . of y: Unknown label type"),
    "negative weights": (lambda X, y: blocks(X, y, X[:, 0]), "Block . of sample_weight"),
    "labels in two columns": (
        lambda X, y: blocks(X, np.stack([y, y], axis=1)),
        r"Block . of y has shape \(.*, 2\); it must have one entry for each row",
    ),
    "texts as weights": (lambda X, y: blocks(X, y, y), "Block . of sample_weight: could not"),
    "no weights": (lambda X, y: blocks(X, y, np.zeros(N)), "no row that counts"),
    "blocks": (
        lambda X, y: [blocks(X)[0][blocks(X)[0][:, 0] < 9], blocks(y)[0].rechunk(300)],
        "y has 8 blocks, and X has 4",
    ),
    "cuts": (
        lambda X, y: [
            blocks(X)[0][blocks(X)[0][:, 0] < 9],
            blocks(y)[0].rechunk({0: (100, 1300, 500, 500)}),
        ],
        "Block . of y has .* rows, and that of X has",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_said_in_a_sentence(client, case):
    spoil, sentence = BAD[case]
    with pytest.raises((ValueError, TypeError), match=sentence) as raised:
        SVC().fit(*spoil(*rows()))
    assert "\n" not in str(raised.value)


def test_bad_targets_are_said_in_a_sentence(client):
    X, _ = rows()
    with pytest.raises(ValueError, match="Block 2 of y: y contains NaN"):
        SVR().fit(*blocks(X, with_nan(X)[:, 1]))
    with pytest.raises(ValueError, match=r"Block . of y has shape \(.*, 1, 1\)"):
        SVR().fit(*blocks(X, X[:, :1, None]))


def test_bad_parameters_are_said_in_a_sentence(client):
    X, y = blocks(*rows())
    with pytest.raises(ValueError, match="sample_rows"):
        SVC(sample_rows=10).fit(X, y)
    splits = list(KFold(3).split(np.zeros(N)))
    with pytest.raises(ValueError, match="give a number of folds"):
        SVC(C=[0.1, 1.0], cv=splits).fit(X, y)
    with pytest.raises(ValueError, match="Pairs of classes are not learned from more rows"):
        SVC(multi_class="ovo").fit(X, y)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize("plain", [SparseSVC(), SparseSVR()], ids=["SVC", "SVR"])
def test_plain_estimators_name_those_for_dask(plain):
    X, y = blocks(*rows(100))
    with pytest.raises(TypeError, match=f"zeronorm.dask.Dask{type(plain).__name__}"):
        plain.fit(X, y)


@pytest.mark.parametrize("vectors", ["inside", "rows"])
def test_vectors_have_their_place(client, vectors):
    X, y = rows()
    model = SVC(vectors=vectors).fit(*blocks(X, y))
    found = model.support_vectors_
    assert ((found >= X.min(axis=0)) & (found <= X.max(axis=0))).all()
    if vectors == "rows":
        assert all((X == vector).all(axis=1).any() for vector in found)
    assert not hasattr(model, "support_")
    assert model.to_local().vectors == vectors


def test_groups_and_scores_of_collections_are_refused(client):
    X, y = rows(1200)
    with pytest.raises(TypeError, match="groups would have to be sampled"):
        SVC().fit(*blocks(X, y), groups=y)
    model = SVC(scoring="balanced_accuracy").fit(*blocks(X, y))
    with pytest.raises(ValueError, match="A scorer takes rows in memory"):
        model.score(*blocks(X, y))
    assert 0.5 < model.score(X, y) <= 1.0
