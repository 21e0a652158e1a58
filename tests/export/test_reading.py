"""What is taken, what is folded, and what is refused in a sentence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC

import zeronorm
from tests.export.cases import get, mixed_frame, two_classes
from zeronorm import AROMSelector, KernelExpansion
from zeronorm.export.description import Lookup, Number
from zeronorm.export.reading import describe
from zeronorm.kernels import Kernel
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.table import Table


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler(feature_range=(-2, 3)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False, with_scaling=False),
    ],
)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "linear"])
def test_scalers_are_folded(scaler, kernel):
    """The function of the raw columns is that of the scaled ones, and nothing is left to do."""
    X, y = two_classes()
    model = make_pipeline(scaler, SVC(kernel=kernel, coef0=0.5)).fit(X, y)
    found = describe(model)
    assert found.is_plain
    f = found.function
    if kernel == "linear":
        values = X @ f.linear + f.intercept
        assert f.n_terms == 0
    else:
        kernels = {
            "rbf": lambda: np.exp(-(((X[:, None] - f.vectors) ** 2) @ f.widths)),
            "poly": lambda: (X @ f.vectors.T + f.offsets) ** f.degree,
            "sigmoid": lambda: np.tanh(X @ f.vectors.T + f.offsets),
        }
        values = kernels[kernel]() @ f.coef + f.intercept
    np.testing.assert_allclose(values[:, 0], model.decision_function(X), rtol=1e-10, atol=1e-10)


def test_a_column_far_from_the_origin_has_a_centre_of_single_precision():
    X, y = two_classes()
    model = make_pipeline(StandardScaler(), SVC()).fit(X + [1e6, 0, 0], y)
    first, second, _ = describe(model).features
    assert first.centre == np.float32(first.centre) == pytest.approx(1e6, abs=1)
    assert second.is_plain
    # Without a scaler the vectors say where the column is.
    raw = describe(SVC(gamma=1.0).fit(X + [1e6, 0, 0], y)).features
    assert [f.centre > 0 for f in raw] == [True, False, False]


def test_columns_of_a_transformer_by_any_name():
    frame, y = mixed_frame()
    names = list(frame.columns)
    for columns in (names[:2], slice(0, 2), slice(names[0], names[1]), [0, 1], [-5, -4],
                    [True, True, False, False, False]):  # fmt: skip
        chosen = ColumnTransformer([("n", SimpleImputer(), columns)], remainder="drop")
        found = describe(make_pipeline(chosen, SVC()).fit(frame, y))
        assert [f.column for f in found.features] == [0, 1]
    numbers = frame[["float", names[0]]].fillna(0.0)
    rest = ColumnTransformer([("n", StandardScaler(), ["float"])], remainder="passthrough")
    found = describe(make_pipeline(rest, SVC()).fit(numbers, y))
    assert [f.column for f in found.features] == [0, 1]
    assert [c.name for c in found.columns] == ["float", names[0]]


def test_features_that_do_not_matter_are_left_out():
    X, y = two_classes()
    model = make_pipeline(AROMSelector(1), SVC()).fit(X, y)
    (feature,) = describe(model).features
    assert isinstance(feature, Number) and feature.column in (0, 1)
    assert len(describe(model).columns) == 3
    assert len(describe(get("expansion").model).features) == 2  # the third has a width of zero


def test_levels_that_are_rare_or_dropped():
    rng = np.random.default_rng(0)
    X = rng.choice(["a", "b", "c", "d"], 100, p=[0.5, 0.4, 0.06, 0.04]).reshape(-1, 1)
    X = X.astype(object)
    y = (X[:, 0] == "a").astype(int)
    rare = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist")
    features = describe(make_pipeline(rare, SVC()).fit(X, y)).features
    assert features[-1] == Lookup(0, ("a", "b", "c", "d"), (0.0, 0.0, 1.0, 1.0), 1.0, 1.0)
    dropped = make_pipeline(OneHotEncoder(drop="first"), SVC()).fit(X, y)
    first = describe(dropped).features[0]
    assert first.values == (0.0, 1.0, 0.0, 0.0) and np.isnan([first.unknown, first.missing]).all()
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=9)
    (found,) = describe(make_pipeline(codes, SVC()).fit(X, y)).features
    assert found.values == (0.0, 1.0, 2.0, 3.0) and found.unknown == 9.0


@pytest.mark.parametrize(
    "levels",
    [
        np.array([1e17, 2e17, 3e17 + 8]),
        np.array([10**17, 2 * 10**17, 3 * 10**17]),
        np.array([-1e300, 1e300]),
        np.array([-3.0, -1.0, 0.0, 1.0]),
        np.array([False, True]),
    ],
)
def test_no_number_level_is_taken_for_an_unknown_one(levels):
    X = np.repeat(levels, 4)[:, None]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7)
    (found,) = describe(make_pipeline(codes, SVC()).fit(X, np.arange(len(X)) % 2)).features
    assert found.values == tuple(range(len(levels))) and found.unknown == -7.0


def test_what_was_saved(tmp_path):
    case = get("SparseSVC")
    zeronorm.save(case.model, tmp_path / "model.json")
    loaded = describe(zeronorm.load(tmp_path / "model.json"))
    np.testing.assert_array_equal(loaded.function.vectors, describe(case.model).function.vectors)
    assert describe(FrozenEstimator(case.model)).function.n_terms == loaded.function.n_terms
    assert describe(loaded) is loaded


def test_frozen_steps():
    X, y = two_classes()
    scaler = FrozenEstimator(StandardScaler().fit(X))
    model = make_pipeline(scaler, SVC()).fit(X, y)
    thawed = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    for given in (model, FrozenEstimator(model)):
        found = describe(given)
        np.testing.assert_array_equal(found.function.vectors, describe(thawed).function.vectors)
        assert found.source == "SVC"


X, y = two_classes()
FRAME = pd.DataFrame({"c": ["a", "b", None, np.nan, "a"] * 4}, dtype=object)
BINARY = np.arange(20) % 2


def piped(*steps, X=X, y=y):
    return lambda: make_pipeline(*steps).fit(X, y)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (piped(PCA(2), SVC()), "The step 'pca', PCA, cannot be exported; those that can are Stan"),
        (
            piped(make_column_transformer((PCA(1), [0, 1])), SVC()),
            "The step 'pca', PCA, cannot be exported",
        ),
        (
            piped(FeatureUnion([("a", StandardScaler())]), SVC()),
            "The step 'featureunion', FeatureUnion, cannot be exported",
        ),
        (piped(FunctionTransformer(np.abs), SVC()), "FunctionTransformer, cannot be .* is code"),
        (piped(SimpleImputer(missing_values=-1.0), SVC()), "must be NaN or None"),
        (
            piped(MinMaxScaler(clip=True), SimpleImputer(strategy="constant", fill_value=7), SVC()),
            "outside of what an earlier step clips to",
        ),
        (
            piped(StandardScaler(), OneHotEncoder(handle_unknown="ignore"), SVC()),
            "comes after another step than an imputer",
        ),
        (
            piped(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(), SVC(), X=FRAME, y=BINARY
            ),
            "let it fill None and NaN alike",
        ),
        (
            piped(OneHotEncoder(), SVC(), X=np.repeat([[2**53], [2**53 + 1]], 10, 0), y=BINARY),
            "levels 9007199254740992 and 9007199254740993 are the same number in double",
        ),
        (piped(StandardScaler(), RandomForestClassifier()), "is no fitted kernel machine"),
        (lambda: SVC(), "not fitted|is not fitted yet"),
        (lambda: make_pipeline(StandardScaler(), SVC()), "not fitted"),
        (lambda: GridSearchCV(SVC(), {"C": [1]}).fit(X, y), "Take the best_estimator_"),
        (lambda: SVC(kernel="precomputed").fit(X @ X.T, y), "A kernel 'precomputed' cannot be"),
        (lambda: SVC(kernel=lambda a, b: a @ b.T).fit(X, y), "A kernel that is a function cannot"),
        (
            lambda: KernelExpansion([[1.0]], [1.0], 0.0, Kernel("poly", degree=2.5)),
            "degree 2.5 cannot be exported",
        ),
    ],
)
def test_what_cannot_be_exported(build, message):
    with pytest.raises((ValueError, AttributeError), match=message):
        describe(build())


def test_a_column_of_texts_and_numbers():
    encoder = ColumnTransformer(
        [("a", OrdinalEncoder(), [0]), ("b", SimpleImputer(strategy="most_frequent"), [0])]
    )
    rows = np.array([["1"], ["2"]] * 10, dtype=object)
    with pytest.raises(ValueError, match="Column 'x0' holds texts, but the model takes numbers"):
        describe(make_pipeline(encoder, SVC()).fit(rows, BINARY))


def test_extreme_scales_are_not_folded():
    """The command line scales columns of any size; the square of this scale is no number."""
    rows = 1e-200 * X[:, :1]
    cells = {"a": [repr(v) for v in rows[:, 0].tolist()]}
    table = Table("t.csv", cells, range(len(rows)))
    columns, _ = infer_columns(table)
    encoder = TableEncoder(columns).fit(to_matrix(table, columns))
    features = encoder.transform(to_matrix(table, columns))
    model = TableModel.of_classes("y", ["no", "yes"], encoder, SVC().fit(features, y))
    (feature,) = describe(model).features
    f = describe(model).function
    z = (rows - feature.centre) * feature.factor
    values = np.exp(-(((z[:, None] - f.vectors) ** 2) @ f.widths)) @ f.coef + f.intercept
    expected = model.model.decision_function(features)
    np.testing.assert_allclose(values[:, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["SparseSVR, limits", "SparseSVR, two limits"])
def test_limits_of_the_cases_bind(name):
    """Else the languages would be compared on predictions that no limit touches."""
    case, limits = get(name), describe(get(name).model).limits
    values = case.model.expansion_.outputs(case.X)
    for end, is_beyond in ((limits.low, values < limits.low), (limits.high, values > limits.high)):
        assert is_beyond.any(axis=0).all() and not is_beyond.all(), end
