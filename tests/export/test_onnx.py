"""The exported graph, run by onnxruntime and by the reference of onnx, beside Python."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tests.export.case import margins
from tests.export.cases import BUILDERS, four_classes, get, iris, two_classes
from zeronorm import (
    AROMSelector,
    KernelExpansion,
    RelevanceVectorClassifier,
    SparseKernelDensity,
    ZeroNormSVC,
)
from zeronorm.export import register_with_skl2onnx, to_onnx
from zeronorm.export.reading import describe
from zeronorm.kernels import Kernel

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def inputs_of(case, dtype):
    """Rows as a graph takes them: one matrix, or one for each column if some hold texts."""
    description = describe(case.model)
    kind = np.float32 if dtype == "float" else np.float64
    if not description.has_texts:
        return {"X": case.X.astype(kind)}
    inputs = {}
    for i, column in enumerate(description.columns):
        cells = [row[i] for row in case.rows]
        if column.is_text:  # nothing in ONNX takes blanks off
            cells = ["" if cell is None else cell.strip() for cell in cells]
            inputs[column.name] = np.array(cells, dtype=object)[:, None]
        else:
            numbers = [np.nan if cell is None else cell for cell in cells]
            inputs[column.name] = np.array(numbers, dtype=kind)[:, None]
    return inputs


def run(graph, inputs):
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def check(case, answers, tolerance):
    sizes = case.sizes()
    key = "prediction" if "prediction" in answers else "scores"
    assert answers[key].shape == case.scores.shape
    assert case.error(answers[key], sizes) < tolerance
    if case.predictions is not None and "label" in answers:
        assert case.wrong(answers["label"].tolist(), 10 * tolerance * sizes[:, 0]) == 0
    assert (case.probabilities is None) == ("probabilities" not in answers)
    if case.probabilities is not None:
        error = np.abs(answers["probabilities"] - case.probabilities) / sizes
        assert error.max() < tolerance


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("double", 1e-9), ("float", 1e-5)])
def test_onnxruntime(name, dtype, tolerance):
    case = get(name)
    check(case, run(to_onnx(case.model, dtype=dtype), inputs_of(case, dtype)), tolerance)


@pytest.mark.parametrize("name", BUILDERS)
def test_reference(name):
    reference = pytest.importorskip("onnx.reference")
    case = get(name)
    session = reference.ReferenceEvaluator(to_onnx(case.model, dtype="double"))
    answers = dict(
        zip(session.output_names, session.run(None, inputs_of(case, "double")), strict=True)
    )
    check(case, answers, 1e-9)


def test_files(tmp_path):
    graph = to_onnx(get("rbf").model, tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == graph
    assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", 9)]
    assert "rbf terms, 3 features" in graph.doc_string
    with pytest.raises(ValueError, match="dtype must be one of float, double"):
        to_onnx(get("rbf").model, tmp_path / "other.onnx", dtype="half")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_vectors_far_from_each_other():
    """Products would not do in single precision: the distances are taken by differences."""
    vectors = np.array([[0.0, 0.0], [3000.0, 0.0], [3001.0, 1.0]])
    far = KernelExpansion(vectors, [1.0, 2.0, 3.0], 0.0, Kernel("rbf", gamma=0.7))
    rows = np.array([[0.5, 0.1], [3000.5, 0.25], [1500.0, 0.0]])
    for dtype, kind in (("float", np.float32), ("double", np.float64)):
        answers = run(to_onnx(far, dtype=dtype), {"X": rows.astype(kind)})
        np.testing.assert_allclose(answers["scores"], far.decision_function(rows), atol=1e-5)


def test_numbers_beyond_single_precision():
    huge = KernelExpansion([[0.0]], [1e300], 0.0, Kernel("rbf"))
    with pytest.raises(ValueError, match="beyond single precision"):
        to_onnx(huge)
    assert to_onnx(huge, dtype="double") is not None


def test_levels_that_single_precision_cannot_tell_apart():
    days = np.repeat([[20240130.0], [20240131.0], [20240132.0]], 10, axis=0)
    y = days[:, 0] == 20240131
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), ZeroNormSVC()).fit(days, y)
    message = "Levels 20240131 and 20240132 of column 'x0' .* take dtype='double'"
    with pytest.raises(ValueError, match=message):
        to_onnx(model)
    answers = run(to_onnx(model, dtype="double"), {"X": days})
    assert (answers["label"].astype(bool) == model.predict(days)).all()


def converted(model, X, **options):
    skl2onnx = pytest.importorskip("skl2onnx")
    register_with_skl2onnx()
    if isinstance(model[-1], ClassifierMixin):
        options["options"] = {id(model): {"zipmap": False}}
    graph = skl2onnx.to_onnx(model, X[:1], **options)
    return run(graph, {graph.graph.input[0].name: X})


@functools.cache
def scaled(name):
    """The model of a case, fitted anew behind a scaler."""
    data = iris if "several" in name else four_classes if "pairs" in name else two_classes
    return make_pipeline(StandardScaler(), clone(get(name).model)).fit(*data())


@pytest.mark.parametrize("target_opset", [11, None])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name",
    ["SparseSVC", "SparseSVC, several", "SparseSVC, pairs", "names", "probit, several"],
)
def test_pipeline_through_skl2onnx(name, kind, target_opset):
    model, X = scaled(name), get(name).X.astype(kind)[:-4]
    answers = converted(model, X, target_opset=target_opset)
    scores = model.decision_function(X.astype(float))
    clear = margins(scores, model[-1].expansion_) > 1e-2
    scores = scores.reshape(len(X), -1)
    labels = answers["label"]
    assert (labels == model.predict(X.astype(float)))[clear].all()
    shown = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
    if hasattr(model, "predict_proba"):
        shown = model.predict_proba(X.astype(float))
    tolerance = 1e-4 if kind == np.float32 else 1e-9
    np.testing.assert_allclose(answers["probabilities"], shown, rtol=tolerance, atol=tolerance)


def test_selectors_and_densities_through_skl2onnx():
    X, y = two_classes()
    model = make_pipeline(AROMSelector(2), ZeroNormSVC()).fit(X, y)
    answers = converted(model, X.astype(np.float32))
    assert (answers["label"] == model.predict(X)).mean() > 0.99
    density = make_pipeline(StandardScaler(), SparseKernelDensity(bandwidth=0.5)).fit(X)
    (values,) = converted(density, X).values()
    np.testing.assert_allclose(values[:, 0], density.score_samples(X), rtol=1e-6)


def test_zipmap_and_truth_values():
    skl2onnx = pytest.importorskip("skl2onnx")
    register_with_skl2onnx()
    X, y = two_classes()
    model = make_pipeline(StandardScaler(), RelevanceVectorClassifier()).fit(X, y)
    single = X.astype(np.float32)  # ZipMap takes no others
    answers = run(skl2onnx.to_onnx(model, single[:1]), {"X": single})
    assert set(answers["output_probability"][0]) == {"no", "yes"}
    model.fit(X, y == "yes")
    answers = converted(model, X)
    assert (answers["label"].astype(bool) == model.predict(X)).all()


@pytest.mark.parametrize("name", ["label", "scores", "same", ""])
def test_names_that_a_graph_cannot_have(name):
    X, y = two_classes()
    frame = pd.DataFrame({name: np.where(X[:, 2] > 0, "a", "b"), "other": X[:, 0]})
    columns = make_column_transformer((OneHotEncoder(), [name]), remainder="passthrough")
    description = describe(make_pipeline(columns, ZeroNormSVC()).fit(frame, y))
    if name == "same":
        renamed = tuple(replace(column, name=name) for column in description.columns)
        description = replace(description, columns=renamed)
    with pytest.raises(ValueError, match=f"A column is called {name!r}.* rename it"):
        to_onnx(description)


def test_labels_that_are_no_int64():
    X, y = two_classes()
    huge = np.where(y == "no", 0, 2**63).astype(np.uint64)
    with pytest.raises(ValueError, match="9223372036854775808 is beyond the integers of ONNX"):
        to_onnx(ZeroNormSVC().fit(X, huge))
