"""Saving and loading: every estimator, every type of label, old files, and damaged ones."""

import copy
import json
import os
import subprocess
import sys
import warnings
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import RegressorMixin, clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import zeronorm
from tests.fuzz.estimators import all_estimators
from zeronorm import KernelExpansion, OneNormSVC, SparseKernelDensity, ZeroNormSVC
from zeronorm.feature_selection.selected import SelectedFeatures
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.tables.model import TableModel
from zeronorm.tables.sources import read_table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

FILES = Path(__file__).parent / "files"
METHODS = (
    *("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples"),
    "transform",
)
X, Y = load_iris(return_X_y=True)
X, NEW = X[::2], X[1::2]
Y = Y[::2]
NAMES = np.array(["setosa", "versicolor", "virginica"])


def labels(n_classes):
    return NAMES[np.minimum(Y, n_classes - 1)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.fixture
def again(path):
    """Save, load, and return what comes back."""

    def save_and_load(estimator):
        zeronorm.save(estimator, path)
        return zeronorm.load(path)

    return save_and_load


def assert_same_answers(estimator, loaded, rows=NEW):
    for method in METHODS:
        if (type(estimator).__name__, method) == ("SparseKernelFisher", "transform"):
            continue  # of which the file has the classifier alone, as documented
        assert hasattr(loaded, method) == hasattr(estimator, method), method
        if hasattr(estimator, method):
            expected, found = (getattr(one, method)(rows) for one in (estimator, loaded))
            assert expected.shape == found.shape and expected.dtype == found.dtype, method
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
            else:
                np.testing.assert_array_equal(found, expected)


# --- every estimator ---------------------------------------------------------------------------

TWO = {"n_terms": 2, "C": 1.0, "gamma": "scale", "random_state": 0}
FEW = {"SparseSVC": TWO, "SparseSVR": {**TWO, "epsilon": 0.1}, "SparseKernelPCA": {"n_terms": 4}}


#: All but the quantiser, whose model is its centres and no function.
SAVED = [make for make in all_estimators() if make is not zeronorm.ZeroNormQuantizer]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("make", SAVED, ids=lambda make: make.__name__)
def test_every_estimator(make, n_classes, again):
    y = Y if issubclass(make, RegressorMixin) else labels(n_classes)
    estimator = make(**FEW.get(make.__name__, {})).fit(X, y)
    assert_same_answers(estimator, again(estimator))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(),
        SVC(decision_function_shape="ovo"),
        SVC(break_ties=True, gamma=5.0),
        SVC(kernel="linear", class_weight="balanced"),
        NuSVC(nu=0.2, kernel="poly"),
        SVR(kernel="sigmoid"),
        NuSVR(C=10.0),
        OneClassSVM(nu=0.3),
    ],
    ids=str,
)
def test_every_machine_of_libsvm(machine, n_classes, frozen, again):
    y = Y if isinstance(machine, (SVR, NuSVR)) else labels(n_classes)
    machine = clone(machine).fit(X, y)
    assert_same_answers(machine, again(FrozenEstimator(machine) if frozen else machine))


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_aromclassifier(kernel, again):
    classifier = zeronorm.AROMClassifier(kernel=kernel).fit(X, labels(3))
    loaded = again(classifier)
    assert_same_answers(classifier, loaded)
    assert_same_answers(classifier, loaded, sparse.csr_array(NEW))
    # A linear function is an expansion that whatever takes one can take.
    assert hasattr(loaded, "expansion_") == (kernel == "linear")


@pytest.mark.parametrize("machine", [SVC(), SVR(), OneClassSVM(), ZeroNormSVC()], ids=str)
def test_precomputed_kernels(machine, again):
    K, new = X @ X.T, NEW @ X.T
    machine = clone(machine).set_params(kernel="precomputed").fit(K, Y)
    loaded = again(machine)
    assert_same_answers(machine, loaded, new)
    assert loaded.n_features_in_ == len(X)
    with pytest.raises(ValueError, match=f"expecting {len(X)} features"):
        loaded.predict(new[:, :-1])


@pytest.mark.parametrize("machine", [SVC(), SVR(), OneClassSVM()], ids=str)
def test_machines_fitted_on_sparse_rows(machine, again):
    machine = clone(machine).fit(sparse.csr_array(X), Y)
    assert_same_answers(machine, again(machine), sparse.csr_array(NEW))


def test_a_density_in_so_many_dimensions_that_it_is_no_number(again):
    rows = np.random.default_rng(0).normal(size=(30, 2000))
    density = SparseKernelDensity(bandwidth=1e-3).fit(rows)
    assert not hasattr(density, "expansion_")
    loaded = again(density)
    np.testing.assert_array_equal(loaded.score_samples(rows), density.score_samples(rows))
    with pytest.raises(TypeError, match="dense"):
        loaded.score_samples(sparse.csr_array(rows))


def test_a_selector(again):
    pandas = pytest.importorskip("pandas")

    frame = pandas.DataFrame(X, columns=list("abcd"))
    selector = zeronorm.CorrelationSelector(2).fit(frame, Y)
    loaded = again(FrozenEstimator(selector))
    assert isinstance(loaded, SelectedFeatures)
    np.testing.assert_array_equal(loaded.get_support(), selector.get_support())
    assert loaded.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    np.testing.assert_array_equal(loaded.fit(None).transform(frame), selector.transform(frame))
    np.testing.assert_array_equal(clone(loaded).transform(frame), selector.transform(frame))
    with pytest.raises(ValueError, match="expecting 4 features"):
        loaded.transform(X[:, :3])
    other = SelectKBest(k=1).fit(X, Y)
    np.testing.assert_array_equal(again(other).transform(NEW), other.transform(NEW))


def test_probabilities_of_libsvm_are_not_saved(again):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn gives them up
        svc = SVC(probability=True).fit(X, Y)
    loaded = again(svc)
    assert not hasattr(loaded, "predict_proba")
    np.testing.assert_array_equal(loaded.predict(NEW), svc.predict(NEW))


def test_a_reducer_of_a_machine_that_votes(again):
    svc = SVC(decision_function_shape="ovo").fit(X, labels(3))
    reducer = zeronorm.SVCReducer(FrozenEstimator(svc), n_terms=5, random_state=0).fit(X)
    assert_same_answers(reducer, again(reducer))


def test_what_is_a_model_already(again):
    classifier = OneNormSVC().fit(X, Y)
    model = again(again(classifier))
    assert_same_answers(classifier, model)
    only_values = again(classifier.expansion_)
    np.testing.assert_array_equal(only_values.decision_function(NEW), model.decision_function(NEW))


def test_scikit_learn_knows_what_it_is(again):
    assert is_classifier(again(SVC().fit(X, Y)))
    assert is_regressor(again(SVR().fit(X, Y)))
    assert is_outlier_detector(again(OneClassSVM().fit(X)))


# --- labels ------------------------------------------------------------------------------------

LABELS = {
    "str": ["no", "yes"],
    "awkward texts": ["", 'a "b"\n\N{GRINNING FACE}'],
    "objects": np.array(["no", "yes"], dtype=object),
    "bool": [False, True],
    "int": [-3, 5],
    "int8": np.array([-128, 127], dtype=np.int8),
    "uint64": np.array([0, 2**64 - 1], dtype=np.uint64),
    "int64": np.array([-(2**63), 2**63 - 1]),
    "float": [-1.0, 1.0],
    "float32": np.array([-1.0, 3.0], dtype=np.float32),
}


@pytest.mark.parametrize("two", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("make", [SVC, ZeroNormSVC])
def test_labels_come_back_exactly(make, two, again):
    y = np.asarray(two)[np.minimum(Y, 1)]
    classifier = make().fit(X, y)
    loaded = again(classifier)
    assert loaded.classes_.dtype == classifier.classes_.dtype
    assert list(map(type, loaded.classes_)) == list(map(type, classifier.classes_))
    np.testing.assert_array_equal(loaded.classes_, classifier.classes_)
    np.testing.assert_array_equal(loaded.predict(NEW), classifier.predict(NEW))


class Colour(Enum):
    RED = 1
    BLUE = 2

    def __lt__(self, other):
        return self.value < other.value


STRANGE = {
    "bytes": np.array([b"no", b"yes"]),
    "dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    "objects": np.array([Colour.RED, Colour.BLUE]),
    "tuples": None,
    "half a character": np.array(["no", "\ud800"]),
    "complex": np.array([1j, 2j]),
    "wide floats": np.array([1.0, 2.0], dtype=np.longdouble),
}


@pytest.mark.parametrize("two", STRANGE.values(), ids=STRANGE)
def test_labels_that_json_does_not_have(two, path):
    if two is None:
        two = np.empty(2, dtype=object)
        two[:] = [(1, 2), (3, 4)]
    model = Model.from_estimator(SVC().fit(X, np.minimum(Y, 1)))
    model.decision.classes = two
    with pytest.raises(ValueError, match="Class labels such as .* cannot be saved"):
        zeronorm.save(model, path)
    assert not path.exists()


# --- what cannot be saved ----------------------------------------------------------------------


def dot(A, B):
    return A @ B.T


@pytest.mark.parametrize("machine", [SVC, SVR, OneClassSVM, ZeroNormSVC])
def test_a_kernel_that_is_code(machine, path):
    with pytest.raises(ValueError, match="callable kernel cannot be saved: it is code"):
        zeronorm.save(machine(kernel=dot).fit(X, Y), path)
    assert os.listdir(path.parent) == []


REFUSED = {
    "pipeline": (make_pipeline(StandardScaler(), SVC()), r"Save that, pipeline\[-1\]"),
    "search": (GridSearchCV(SVC(), {"C": [1.0]}), "Take the best_estimator_ of the GridSearchCV"),
    "other classifier": (LogisticRegression(), "LogisticRegression is no fitted kernel machine"),
    "clusters": (KMeans(2), "KMeans is no fitted kernel machine"),
}


@pytest.mark.parametrize(("estimator", "sentence"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("frozen", [False, True])
def test_estimators_that_are_no_kernel_machine(estimator, sentence, frozen, path):
    estimator = clone(estimator).fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        zeronorm.save(FrozenEstimator(estimator) if frozen else estimator, path)


@pytest.mark.parametrize("thing", [None, "SVC", SVC, ZeroNormSVC, 3], ids=repr)
def test_things_that_are_no_estimator(thing, path):
    with pytest.raises(ValueError, match="is no fitted kernel machine"):
        zeronorm.save(thing, path)


@pytest.mark.parametrize("make", [*SAVED, SVC, SVR, OneClassSVM])
def test_estimators_that_are_not_fitted(make, path):
    with pytest.raises(NotFittedError):
        zeronorm.save(make(), path)


# --- files of 0.1 ------------------------------------------------------------------------------


def test_an_expansion_of_the_first_version():
    model = zeronorm.load(FILES / "expansion-0.1.json")
    values = model.decision_function([[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(values, [0.918930642436705, 1.2039612083108], rtol=1e-14)
    assert not hasattr(model, "classes_") and model.n_features_in_ == 2
    with pytest.raises(ValueError, match="a kernel expansion alone, without classes"):
        model.predict([[0.0, 0.0]])
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.decision_function([[0.0]])


def test_an_expansion_of_the_first_version_that_votes():
    values = zeronorm.load(FILES / "votes-0.1.json").decision_function([[0, 0], [2, 1.5], [3, 0]])
    expected = [
        [2.2352862915081775, 0.9047619047619048, -0.2222121698746221],
        [0.8519077100190281, 2.2026143790849675, -0.14291620238037564],
        [-0.1999981907165667, 1.1111111111111112, 2.166663839651712],
    ]
    np.testing.assert_allclose(values, expected, rtol=1e-13)


def test_a_precomputed_expansion_does_not_say_how_many_columns(path):
    KernelExpansion([[3], [0]], [1.5, -2.0], 0.125, Kernel("precomputed")).save(path)
    model = zeronorm.load(path)
    assert not hasattr(model, "n_features_in_")
    assert model.decision_function(np.ones((1, 9))).tolist() == [-0.375]
    with pytest.raises(ValueError, match="at least 4 columns"):
        model.decision_function(np.ones((1, 3)))


def test_a_table_model_of_the_first_version(tmp_path):
    model = zeronorm.load(FILES / "table-0.1.json")
    assert isinstance(model, TableModel)
    rows = ["0.8,", "3.9,blue", "6.0,green", "-0.5,red", "2.3,", "6.0,green", "-0.6,red"]
    (tmp_path / "new.csv").write_text("\n".join(["n,colour", *rows]))
    predictions = model.predict(read_table(tmp_path / "new.csv"))
    assert predictions == ["ash", "oak", "elm", "ash", "ash", "elm", "ash"]
    assert TableModel.load(FILES / "table-0.1.json").to_dict() == model.to_dict()


def test_a_table_model_of_this_version(path):
    old = zeronorm.load(FILES / "table-0.1.json")
    old.save(path)
    assert json.loads(path.read_text())["version"] == 2
    assert zeronorm.load(path).to_dict() == old.to_dict()


# --- input of a loaded model -------------------------------------------------------------------


@pytest.fixture
def loaded(again):
    return again(SVC(kernel="poly", degree=9).fit(X, labels(2)))


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (NEW[:, :3], "X has 3 features, but Model is expecting 4"),
        (np.where(NEW > 7, np.nan, NEW), "contains NaN"),
        (np.where(NEW > 7, np.inf, NEW), "contains infinity"),
        (NEW[0], "Expected 2D array, got 1D array"),
        (NEW[:0], "Found array with 0 sample"),
        ([["a", "b", "c", "d"]], "could not convert string"),
        (1e80 * NEW, "Some decision values are not finite"),
    ],
)
def test_rows_that_cannot_be_judged(loaded, method, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(loaded, method)(rows)


def test_columns_of_a_frame_in_another_order(again):
    pandas = pytest.importorskip("pandas")

    frame = pandas.DataFrame(X, columns=list("abcd"))
    svc = SVC().fit(frame, labels(3))
    model = again(svc)
    np.testing.assert_array_equal(model.predict(frame), svc.predict(frame))
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("dcba")])


# --- damage ------------------------------------------------------------------------------------


def descriptions():
    """One of each kind, small."""
    svc = SVC(kernel="linear").fit(X[:, :2], Y)
    two = zeronorm.RelevanceVectorClassifier(gamma=1.0).fit(X[:, :2], labels(2))
    poly = zeronorm.AROMClassifier(2, kernel="poly").fit(X[:, :2], Y)
    density = SparseKernelDensity(bandwidth=2.0).fit(X[:, :2])
    one_class = OneClassSVM(nu=0.05).fit(X[:, :2])
    found = {
        "votes": Model.from_estimator(svc),
        "probabilities": Model.from_estimator(two),
        "polynomial": Model.from_estimator(poly),
        "density": Model.from_estimator(density),
        "one-class": Model.from_estimator(one_class),
        "number": Model.from_estimator(SVR(epsilon=0.8).fit(X[:, :2], Y)),
        "selection": SelectedFeatures([0], 2, ["a", "b"]),
    }
    return {name: one.to_dict() for name, one in found.items()}


DESCRIPTIONS = descriptions()


def places(node, place=()):
    """The place of every value in a document, of lists the first two elements."""
    if place:
        yield place
    items = list(node.items()) if isinstance(node, dict) else list(enumerate(node))[:2]
    for key, value in items:
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))
        else:
            yield (*place, key)


@pytest.mark.parametrize("data", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_any_damage_is_a_value_error_or_harmless(data, path):
    """Replace every value in the file by nonsense, and remove every key."""
    rows = NEW[:3, :2]
    nonsense = [None, "x", -1, 0, 0.5, 10**400, [], {}, [[]], [[1]], True, ...]
    n_refused = 0
    for place in places(data):
        for value in nonsense:
            damaged = copy.deepcopy(data)
            node = damaged
            for key in place[:-1]:
                node = node[key]
            if value is ...:
                del node[place[-1]]
            else:
                node[place[-1]] = value
            path.write_text(json.dumps(damaged))
            try:
                model = zeronorm.load(path)
            except ValueError as error:
                assert "model.json" in str(error)
                n_refused += 1
                continue
            for method in METHODS:
                if hasattr(model, method):
                    try:
                        assert len(getattr(model, method)(rows)) == 3
                    except ValueError:
                        pass
    assert n_refused > 50


@pytest.mark.parametrize("data", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_another_number_is_seen_by_the_checksum(data, path):
    read = SelectedFeatures if data["format"] == "zeronorm-selection" else Model
    read.from_dict(data).save(path)
    text = path.read_text()
    assert zeronorm.load(path).to_dict() == data
    path.write_text(text.replace('"n_features_in": 2', '"n_features_in": 3'))
    with pytest.raises(ValueError, match=r"model\.json: The content does not match the checksum"):
        zeronorm.load(path)


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (("version",), 3, "has version 3; this zeronorm reads 1 and 2"),
        (("n_features_in",), 3, "takes 2 features, the model 3"),
        (("n_features_in",), 0, "n_features_in is not a positive number"),
        (("feature_names_in",), ["a"], "names of the features are not 2 texts"),
        (("feature_names_in",), "ab", "feature_names_in is not a list"),
        (("decision", "kind"), "guess", "its kind is none of values, classes, number"),
        (("decision", "kind"), "number", "its keys are not kind"),
        (("decision", "dtype"), "int8", "labels are not of type 'int8'"),
        (("decision", "dtype"), "O", "labels are not of type 'O'"),
        (("decision", "labels"), ["a", "a"], "two or more different labels"),
        (("decision", "labels"), ["a", 1], "labels are not of type 'str'"),
        (("decision", "labels"), [["a"], "b"], "labels is not a list of labels"),
        (("decision", "labels"), list("abc"), "3 classes do not go with 1 outputs"),
        (("decision", "link"), "softmax", "link 'softmax' is no rule"),
        (("decision", "is_pairs"), 1, "its rule is not true or false"),
        (("function", "format"), "other", "Not a polynomial"),
    ],
)
def test_damage_gets_a_sentence(place, value, sentence, path):
    data = copy.deepcopy(DESCRIPTIONS["probabilities"])
    *outer, last = place
    node = data
    for key in outer:
        node = node[key]
    node[last] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=f"model\\.json.*{sentence}"):
        zeronorm.load(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("offset", None),
        ("offset", "1"),
        ("bandwidth", 0.0),
        ("bandwidth", -1.0),
        ("factors", [[[0, 0.5]]]),
        ("factors", [[[-1, 1]]]),
        ("factors", [[[0, 1, 2]]]),
        ("factors", []),
        ("support", [2]),
        ("support", [-1]),
        ("support", [0.5]),
    ],
)
def test_damage_of_other_kinds(key, value, path):
    kinds = {"offset": "one-class", "bandwidth": "density", "factors": "polynomial"}
    data = copy.deepcopy(DESCRIPTIONS[kinds.get(key, "selection")])
    inner = {"factors": "function", "support": None}.get(key, "decision")
    (data if inner is None else data[inner])[key] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"model\.json"):
        zeronorm.load(path)


def test_weights_that_are_no_density(path):
    data = copy.deepcopy(DESCRIPTIONS["density"])
    data["function"]["coef"][0] = [-1.0]
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="rbf kernel and positive weights"):
        zeronorm.load(path)


@pytest.mark.parametrize("content", ["", "[1]", "null", '{"format": 3}', '{"format": "x"}'])
def test_other_files(content, path):
    path.write_text(content)
    with pytest.raises(ValueError, match=r"model\.json"):
        zeronorm.load(path)


def test_no_file(path):
    with pytest.raises(FileNotFoundError):
        zeronorm.load(path)


def test_loading_imports_no_command_line(path):
    """Nor does it run what a file says."""
    zeronorm.save(SVC().fit(X, Y), path)
    program = f"""
import sys
import zeronorm
zeronorm.load({str(path)!r})
print(sorted({{"typer", "zeronorm.tables.cli"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
