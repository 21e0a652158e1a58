"""The expansion: values, pruning, merging, files, and conversion of scikit-learn's SVC."""

import copy
import json
import os
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from zeronorm import KernelExpansion, OneNormSVC, ZeroNormSVC
from zeronorm.blocks import BLOCK_ROWS
from zeronorm.kernels import Kernel

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

RBF = Kernel("rbf", gamma=0.7)


def expansion(n_terms=5, n_outputs=1, kernel=RBF, n_features=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    if kernel.name == "precomputed":
        vectors = rng.permutation(20)[:n_terms, None]
    else:
        vectors = rng.normal(size=(n_terms, n_features))
    coef, intercept = rng.normal(size=(n_terms, n_outputs)), rng.normal(size=n_outputs)
    return KernelExpansion(vectors, coef, intercept, kernel, **options)


def rows(n=40, n_features=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n, n_features))


def pair_votes(values, n_classes):
    """SVC's rule, written again: votes, and confidences squeezed into less than half a vote."""
    scores = np.zeros((len(values), n_classes))
    for row, value in zip(scores, values, strict=True):
        sums = np.zeros(n_classes)
        pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
        for (i, j), v in zip(pairs, value, strict=True):
            row[j if v < 0 else i] += 1
            sums[i] += v
            sums[j] -= v
        row += sums / (3 * (abs(sums) + 1))
    return scores


# --- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_terms", [0, 1, 5])
def test_values_are_the_sum_over_the_terms(n_terms, n_outputs):
    f, X = expansion(n_terms, n_outputs), rows(10)
    expected = [
        sum(
            (
                np.exp(-0.7 * np.sum((x - v) ** 2)) * c
                for v, c in zip(f.vectors, f.coef, strict=True)
            )
        )
        + f.intercept
        for x in X
    ]
    expected = np.array(expected)[:, 0] if n_outputs == 1 else np.array(expected)
    np.testing.assert_allclose(f.decision_function(X), expected, rtol=1e-12, atol=1e-14)
    assert (f.n_terms, f.n_outputs) == (n_terms, n_outputs)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n", [0, 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 5])
def test_blocks_change_nothing(n, n_outputs):
    f, X = expansion(n_outputs=n_outputs), rows(n)
    values = f.decision_function(X)
    assert values.shape == ((n,) if n_outputs == 1 else (n, n_outputs))
    single = [f.decision_function(X[i : i + 1])[0] for i in range(0, n, 97)]
    np.testing.assert_allclose(
        values[::97], np.array(single).reshape(values[::97].shape), rtol=1e-12
    )


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_sparse_and_float32_rows(name):
    f, X = expansion(kernel=Kernel(name, gamma=0.5)), rows().astype(np.float32)
    expected = f.decision_function(X.astype(np.float64))
    for given in (X, sparse.csr_matrix(X), sparse.csr_array(X), X.tolist()):
        values = f.decision_function(given)
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-14)


def test_no_array_beyond_one_block(monkeypatch):
    shapes = []
    prepare = Kernel.prepare

    def record(self, V):
        values_of = prepare(self, V)

        def block(X):
            shapes.append(X.shape[0])
            return values_of(X)

        return block

    monkeypatch.setattr(Kernel, "prepare", record)
    expansion().decision_function(rows(3 * BLOCK_ROWS))
    assert max(shapes) == BLOCK_ROWS and sum(shapes) == 3 * BLOCK_ROWS


def test_precomputed_vectors_are_columns():
    f, K = expansion(4, kernel=Kernel("precomputed")), rows(9, 20)
    columns = f.vectors[:, 0].astype(int)
    expected = K[:, columns] @ f.coef[:, 0] + f.intercept
    np.testing.assert_allclose(f.decision_function(K), expected, rtol=1e-12)
    np.testing.assert_allclose(f.decision_function(sparse.csr_matrix(K)), expected, rtol=1e-12)


def test_outputs_are_the_values_before_the_vote():
    f, X = expansion(6, 6, vote_classes=4), rows()
    np.testing.assert_array_equal(f.decision_function(X), f.scores(f.outputs(X)))
    np.testing.assert_allclose(f.outputs(X), f.kernel_values(X) @ f.coef + f.intercept)


def test_votes():
    f, X = expansion(6, 6, vote_classes=4), rows()
    pairs = KernelExpansion(f.vectors, f.coef, f.intercept, RBF).decision_function(X)
    np.testing.assert_allclose(f.decision_function(X), pair_votes(pairs, 4), rtol=1e-12)


def test_vectors_and_coefficients_of_any_kind():
    V, c = rows(3), [1.0, 2.0, 3.0]
    a = KernelExpansion(V, c, 0.5, RBF)
    b = KernelExpansion(sparse.csr_matrix(V), np.array(c)[:, None], [0.5], RBF)
    np.testing.assert_array_equal(a.decision_function(V), b.decision_function(V))
    assert "3 terms" in repr(a)


def test_the_expansion_does_not_share_the_callers_coefficients():
    coef = np.ones(2)
    f = KernelExpansion(np.eye(2), coef, 0.0, RBF)
    coef[0] = 5.0
    assert f.coef[0, 0] == 1.0


@pytest.mark.parametrize(
    ("vectors", "coef", "intercept", "options", "message"),
    [
        ([1.0, 2.0], [1.0, 1.0], 0.0, {}, "vectors must be a matrix"),
        (np.eye(2), [1.0], 0.0, {}, "one row for each"),
        (np.eye(2), np.ones((2, 2, 2)), 0.0, {}, "one row for each"),
        (np.eye(2), np.ones((2, 2)), 0.0, {}, "intercept has shape"),
        (np.eye(2), [1.0, 1.0], [0.0, 0.0], {}, "intercept has shape"),
        (np.eye(2) * np.nan, [1.0, 1.0], 0.0, {}, "vectors holds values that are not finite"),
        (np.eye(2), [1.0, np.inf], 0.0, {}, "coef holds values that are not finite"),
        (np.eye(2), [1.0, 1.0], np.nan, {}, "intercept holds values that are not finite"),
        (np.eye(2), np.ones((2, 4)), np.zeros(4), {"vote_classes": 3}, "do not make 4 pairs"),
        (np.eye(2), [1.0, 1.0], 0.0, {"vote_classes": 2}, "do not make 1 pairs"),
        (np.eye(2), ["a", "b"], 0.0, {}, "could not convert"),
    ],
)
def test_bad_arguments(vectors, coef, intercept, options, message):
    with pytest.raises(ValueError, match=message):
        KernelExpansion(vectors, coef, intercept, RBF, **options)


# --- prune and merge ---------------------------------------------------------------------------


def test_prune_drops_the_terms_that_are_zero_in_every_output():
    coef = np.array([[0.0, 0.0], [0.0, 1.0], [1e-3, -1e-3], [2.0, 0.0]])
    f, X = KernelExpansion(rows(4), coef, [1.0, 2.0], RBF), rows()
    exact, rough = f.prune(), f.prune(1e-3)
    np.testing.assert_array_equal(exact.vectors, f.vectors[1:])
    np.testing.assert_array_equal(rough.coef, coef[[1, 3]])
    np.testing.assert_allclose(exact.decision_function(X), f.decision_function(X), rtol=1e-12)
    assert f.n_terms == 4, "the original stays as it was"


def test_prune_everything():
    f = expansion(n_outputs=2).prune(1e9)
    assert f.n_terms == 0 and f.vectors.shape == (0, 3)
    np.testing.assert_array_equal(f.decision_function(rows(2)), [f.intercept, f.intercept])


@pytest.mark.parametrize("options", [{"n_outputs": 1}, {"n_outputs": 3, "vote_classes": 3}])
def test_merge_joins_equal_vectors_and_keeps_the_function(options):
    f, X = expansion(6, **options), rows()
    vectors = f.vectors[[0, 1, 0, 2, 1, 0]]
    f = KernelExpansion(vectors, f.coef, f.intercept, RBF, vote_classes=f.vote_classes)
    merged = f.merge()
    assert merged.n_terms == 3 == len(np.unique(merged.vectors, axis=0))
    np.testing.assert_allclose(merged.decision_function(X), f.decision_function(X), atol=1e-13)


def test_merge_of_signed_zeros_and_of_nothing():
    f = KernelExpansion([[0.0], [-0.0]], [1.0, 2.0], 0.0, RBF).merge()
    assert f.n_terms == 1 and f.coef[0, 0] == 3.0
    assert expansion(0).merge().n_terms == 0
    assert expansion(4).merge().n_terms == 4


def test_merge_then_prune_removes_what_cancels():
    f = KernelExpansion([[1.0], [1.0], [2.0]], [1.0, -1.0, 1.0], 0.0, RBF).merge().prune()
    np.testing.assert_array_equal(f.vectors, [[2.0]])


# --- files -------------------------------------------------------------------------------------

STORED = {
    "binary": expansion(),
    "several outputs": expansion(4, 3, Kernel("poly", gamma=0.1, degree=2, coef0=1.0)),
    "votes": expansion(4, 3, vote_classes=3),
    "precomputed": expansion(4, kernel=Kernel("precomputed")),
    "no terms": expansion(0, 2),
    "odd numbers": KernelExpansion([[5e-324, 1e308, -0.0]], [0.1 + 0.2], 1 / 3, Kernel("linear")),
}


@pytest.mark.parametrize("f", STORED.values(), ids=STORED)
def test_round_trip_is_exact(f, tmp_path):
    f.save(tmp_path / "f.json")
    g = KernelExpansion.load(str(tmp_path / "f.json"))
    for attribute in ("vectors", "coef", "intercept"):
        mine, read = getattr(f, attribute), getattr(g, attribute)
        assert mine.shape == read.shape and mine.tobytes() == read.tobytes()
    assert (g.kernel, g.vote_classes) == (f.kernel, f.vote_classes)
    X = rows(8, 20 if f.kernel.name == "precomputed" else 3)
    np.testing.assert_array_equal(f.decision_function(X), g.decision_function(X))


def test_file_is_readable_text(tmp_path):
    f = expansion(3)
    f.save(tmp_path / "f.json")
    lines = (tmp_path / "f.json").read_text(encoding="utf-8").splitlines()
    assert lines[1:3] == ['  "format": "zeronorm-expansion",', '  "version": 1,']
    assert sum(line.strip(" ,") == json.dumps(f.vectors[1].tolist()) for line in lines) == 1
    assert json.loads("\n".join(lines))["kernel"] == f.kernel.to_dict()


def damaged(**changes):
    """The description of a good expansion with some entries changed or (None of them) removed."""
    data = expansion(2, 1).to_dict()
    for key, value in changes.items():
        if value is ...:
            del data[key]
        else:
            data[key] = value
    return json.dumps(data).encode()


GOOD = damaged()
DAMAGES = {
    "empty": b"",
    "cut": GOOD[: len(GOOD) // 2],
    "not UTF-8": GOOD.replace(b"zeronorm", b"\xff\xfe"),
    "pickle": pickle.dumps(expansion()),
    "other JSON": b'{"a": 1}',
    "JSON list": b"[1, 2]",
    "JSON null": b"null",
    "other format": damaged(format="zeronorm-table-model"),
    "no format": damaged(format=...),
    "newer version": damaged(version=2),
    "version as text": damaged(version="1"),
    "no version": damaged(version=...),
    "no kernel": damaged(kernel=...),
    "no vectors": damaged(vectors=...),
    "no intercept": damaged(intercept=...),
    "kernel as text": damaged(kernel="rbf"),
    "unknown kernel": damaged(kernel={"name": "x", "gamma": 1, "degree": 3, "coef0": 0}),
    "callable kernel": damaged(kernel={"name": "callable", "gamma": 1, "degree": 3, "coef0": 0}),
    "NaN gamma": damaged(kernel={"name": "rbf", "gamma": np.nan, "degree": 3, "coef0": 0}),
    "huge gamma": damaged(kernel={"name": "rbf", "gamma": 10**400, "degree": 3, "coef0": 0}),
    "NaN vector": damaged(vectors=[[1.0, np.nan, 0.0], [0.0, 0.0, 0.0]]),
    "infinite coef": damaged(coef=[[1.0], [np.inf]]),
    "NaN intercept": damaged(intercept=[np.nan]),
    "huge coef": damaged(coef=[[1.0], [10**400]]),
    "ragged vectors": damaged(vectors=[[1.0, 2.0, 3.0], [1.0]]),
    "flat vectors": damaged(vectors=[1.0, 2.0]),
    "narrow vectors": damaged(vectors=[[1.0], [2.0]]),
    "vectors as text": damaged(vectors="[[1, 2, 3]]"),
    "text in vectors": damaged(vectors=[["a", 1.0, 2.0], [0.0, 1.0, 2.0]]),
    "numbers as text": damaged(vectors=[["1", "2", "3"], ["0", "0", "0"]]),
    "null in coef": damaged(coef=[[1.0], [None]]),
    "vectors as object": damaged(vectors={"a": 1}),
    "one vector missing": damaged(vectors=[[1.0, 2.0, 3.0]]),
    "no coef at all": damaged(coef=[]),
    "coef and vectors zero": damaged(coef=0, vectors=False),
    "flat coef": damaged(coef=[1.0, 2.0]),
    "number for intercept": damaged(intercept=1.0),
    "two intercepts": damaged(intercept=[1.0, 2.0]),
    "no intercepts": damaged(intercept=[]),
    "n_features zero": damaged(n_features=0),
    "n_features text": damaged(n_features="3"),
    "n_features null": damaged(n_features=None),
    "n_features huge": damaged(n_features=10**30, vectors=[], coef=[]),
    "wrong votes": damaged(vote_classes=3),
    "votes as text": damaged(vote_classes="3"),
}


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_damaged_file_is_a_value_error_that_names_it(content, tmp_path):
    (tmp_path / "strange.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"strange\.json"):
        KernelExpansion.load(tmp_path / "strange.json")


@pytest.mark.parametrize("column", [-1, 0.5, 1e300], ids=str)
def test_precomputed_columns_in_a_file_are_counts(column, tmp_path):
    data = expansion(1, kernel=Kernel("precomputed")).to_dict() | {"vectors": [[column]]}
    (tmp_path / "strange.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"strange\.json"):
        KernelExpansion.load(tmp_path / "strange.json")


def test_every_cut_of_a_file_is_found(tmp_path):
    path = tmp_path / "cut.json"
    expansion(2).save(path)
    text = path.read_text().rstrip()
    for length in range(0, len(text), 7):
        path.write_text(text[:length])
        with pytest.raises(ValueError, match=r"cut\.json"):
            KernelExpansion.load(path)


def test_loading_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        KernelExpansion.load(tmp_path / "none.json")


def test_callable_kernel_cannot_be_saved(tmp_path):
    f = KernelExpansion(np.eye(2), [1.0, 1.0], 0.0, Kernel("callable", function=np.dot))
    with pytest.raises(ValueError, match="callable kernel cannot be saved"):
        f.save(tmp_path / "f.json")
    assert os.listdir(tmp_path) == []


def test_interrupted_save_leaves_the_old_model(tmp_path, monkeypatch):
    path, old = tmp_path / "f.json", expansion(3)
    old.save(path)

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        expansion(5).save(path)
    assert os.listdir(tmp_path) == ["f.json"]
    np.testing.assert_array_equal(KernelExpansion.load(path).vectors, old.vectors)


def dot_plus_one(A, B):
    return A @ B.T + 1.0


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))]
)
@pytest.mark.parametrize("function", [None, dot_plus_one])
def test_copies_and_pickles(copied, function):
    kernel = RBF if function is None else Kernel("callable", function=function)
    f, X = expansion(4, 3, kernel, vote_classes=3), rows()
    g = copied(f)
    assert g.kernel == kernel
    np.testing.assert_array_equal(g.decision_function(X), f.decision_function(X))


# --- conversion of SVC -------------------------------------------------------------------------


def moons():
    return make_moons(120, noise=0.25, random_state=0)


def standardised(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300] / 16.0, y[:300]


SETS = {
    "moons": moons,
    "iris": lambda: standardised(load_iris),
    "wine": lambda: standardised(load_wine),
    "digits": digits,
}


def assert_same_values(svc, X):
    f = KernelExpansion.from_svc(svc)
    expected = svc.decision_function(X)
    values = f.decision_function(X)
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert f.n_terms == len(svc.support_)
    return f


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("name", SETS)
def test_from_svc(name, kernel, shape):
    X, y = SETS[name]()
    svc = SVC(kernel=kernel, decision_function_shape=shape, C=2.0, degree=2, coef0=0.5)
    assert_same_values(svc.fit(X[::2], y[::2]), X)


@pytest.mark.parametrize("name", ["moons", "iris"])
@pytest.mark.parametrize(
    "svc",
    [
        NuSVC(nu=0.2),
        NuSVC(nu=0.1, kernel="poly", decision_function_shape="ovo"),
        SVC(class_weight={0: 3.0}),
        SVC(class_weight="balanced", C=0.3),
        SVC(gamma=0.3, shrinking=False),
        SVC(gamma="auto", C=1e4),
        SVC(kernel="linear", C=1e-5),
        SVC(break_ties=True),
    ],
    ids=str,
)
def test_from_svc_with_other_settings(name, svc):
    X, y = SETS[name]()
    assert_same_values(svc.fit(X, y), X)


@pytest.mark.parametrize("name", ["moons", "iris", "digits"])
def test_from_svc_fitted_on_sparse_rows(name):
    X, y = SETS[name]()
    svc = SVC(gamma=0.2).fit(sparse.csr_matrix(X[::2]), y[::2])
    f = KernelExpansion.from_svc(svc)
    expected = svc.decision_function(sparse.csr_matrix(X))
    for given in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(f.decision_function(given), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["moons", "iris"])
def test_from_svc_with_a_callable_or_precomputed_kernel(name):
    X, y = SETS[name]()
    assert_same_values(SVC(kernel=dot_plus_one).fit(X[::2], y[::2]), X)
    f = assert_same_values(SVC(kernel="precomputed").fit(X[::2] @ X[::2].T, y[::2]), X @ X[::2].T)
    assert f.vectors.shape == (f.n_terms, 1)


def test_from_svc_with_sample_weights_and_text_labels():
    X, y = SETS["iris"]()
    weights = np.random.default_rng(0).integers(1, 4, size=len(X))
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    svc = SVC().fit(X, names, sample_weight=weights)
    f = assert_same_values(svc, X)
    np.testing.assert_array_equal(
        svc.classes_[f.decision_function(X).argmax(axis=1)], svc.predict(X)
    )


def test_from_svc_survives_the_file(tmp_path):
    X, y = SETS["wine"]()
    svc = SVC().fit(X, y)
    KernelExpansion.from_svc(svc).save(tmp_path / "svc.json")
    values = KernelExpansion.load(tmp_path / "svc.json").decision_function(X)
    np.testing.assert_allclose(values, svc.decision_function(X), rtol=0, atol=1e-10)


def test_from_svc_unfitted():
    with pytest.raises(NotFittedError):
        KernelExpansion.from_svc(SVC())


@pytest.mark.parametrize("other", [LinearSVC(), LogisticRegression(), "SVC", None, SVC])
def test_from_svc_of_something_else(other):
    with pytest.raises(ValueError, match="fitted SVC or NuSVC"):
        KernelExpansion.from_svc(other)


@pytest.mark.parametrize("name", ["moons", "iris"])
@pytest.mark.parametrize(
    "estimator", [SVC(), NuSVC(nu=0.3), ZeroNormSVC(), OneNormSVC()], ids=lambda e: type(e).__name__
)
def test_from_estimator_gives_the_decision_function(estimator, name):
    X, y = SETS[name]()
    estimator = clone(estimator).fit(X, y)
    f = KernelExpansion.from_estimator(estimator)
    np.testing.assert_allclose(f.decision_function(X), estimator.decision_function(X), atol=1e-10)
    frozen = KernelExpansion.from_estimator(FrozenEstimator(estimator))
    np.testing.assert_array_equal(frozen.decision_function(X), f.decision_function(X))


@pytest.mark.parametrize("machine", [SVR(), NuSVR(kernel="poly"), OneClassSVM()], ids=str)
def test_from_estimator_of_other_machines(machine):
    X, y = SETS["wine"]()
    machine = clone(machine).fit(X[::2], y[::2])
    values = KernelExpansion.from_estimator(machine).decision_function(X)
    if isinstance(machine, OneClassSVM):
        np.testing.assert_allclose(values, machine.decision_function(X), atol=1e-10)
    else:
        np.testing.assert_allclose(values, machine.predict(X), atol=1e-10)


def test_from_estimator_returns_an_expansion_as_it_is():
    f = expansion()
    assert KernelExpansion.from_estimator(f) is f
    fitted = ZeroNormSVC().fit(*SETS["moons"]())
    assert KernelExpansion.from_estimator(fitted) is fitted.expansion_


NOT_FITTED_KERNEL_CLASSIFIERS = {
    "unfitted SVC": lambda X, y: SVC(),
    "unfitted ZeroNormSVC": lambda X, y: ZeroNormSVC(),
    "unfitted, frozen": lambda X, y: FrozenEstimator(NuSVC()),
    "LinearSVC": lambda X, y: LinearSVC().fit(X, y),
    "pipeline": lambda X, y: make_pipeline(StandardScaler(), SVC()).fit(X, y),
    "class": lambda X, y: SVC,
    "own class": lambda X, y: ZeroNormSVC,
    "text": lambda X, y: "SVC",
    "none": lambda X, y: None,
}


@pytest.mark.parametrize(
    "make", NOT_FITTED_KERNEL_CLASSIFIERS.values(), ids=NOT_FITTED_KERNEL_CLASSIFIERS
)
def test_from_estimator_of_something_else(make):
    with pytest.raises(ValueError, match="is no fitted kernel machine: take a fitted SVC"):
        KernelExpansion.from_estimator(make(*SETS["moons"]()))


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[1.0, 2.0, 3.0]], [[[1.0, 2.0]]]], ids=str)
def test_points_of_another_shape_get_a_sentence(X):
    f = KernelExpansion([[0.0, 1.0]], [1.0], 0.0, Kernel("rbf"))
    with pytest.raises(
        ValueError, match="X has shape .* it must have one row for each point and 2"
    ):
        f.decision_function(X)


def test_a_change_of_what_was_given_changes_nothing():
    vectors = np.array([[0.0, 1.0]])
    expansion = KernelExpansion(vectors, [1.0], 0.0, Kernel("rbf"))
    vectors[:] = 5.0
    assert expansion.vectors.tolist() == [[0.0, 1.0]]
    assert expansion.decision_function([[0.0, 1.0]]) == 1.0


def test_kernel_values_of_a_list():
    expansion = KernelExpansion([[0.0], [1.0]], [1.0, 2.0], 0.0, Kernel("linear"))
    assert expansion.kernel_values([[3.0]]).tolist() == [[0.0, 3.0]]
    with pytest.raises(ValueError, match=r"X has shape \(1,\)"):
        expansion.kernel_values([3.0])


def test_an_expansion_that_overflows_is_made_without_a_warning():
    """From parts, and from a file: where it is used its values are checked."""
    vectors = np.array([[1e150], [-1e150]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = KernelExpansion(vectors, np.ones((2, 1)), 0.0, Kernel("rbf", gamma=1e12))
        again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.vectors, vectors)
