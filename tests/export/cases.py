"""Models of every kind, rows with edges among them, and what Python says of these."""

import functools

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from tests.export.case import Case, case_of, margins
from zeronorm import (
    AROMClassifier,
    KernelExpansion,
    RelevanceVectorClassifier,
    SparseKernelDensity,
    SparseKernelPCA,
    SparseLargeMarginClassifier,
    SparseOneClassSVM,
    SparseProbitClassifier,
    SparseSVC,
    SparseSVR,
    SVCReducer,
    ZeroNormSVC,
)
from zeronorm.decisions import Classes
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.reading import infer_columns
from zeronorm.tables.table import Table

ROWS = 200
#: Names that a careless printer would let out of their quotes.
HOSTILE = ['a"b; drop table data; --', "float", 'a"b*/ int x; /*', "it's `${x}` </script>\\"]


def edges(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows like these, the first ones as they are, and a few far out."""
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=ROWS)]
    rows = rows + 0.1 * X.std(axis=0) * rng.normal(size=rows.shape)
    far = np.array([[0.0], [1e3], [-1e3], [1e6]]) * np.ones(X.shape[1])
    return single(np.vstack([X[:20], rows, far]))


def single(rows):
    """Round to single precision, so that both precisions judge the same rows."""
    return np.asarray(rows, dtype=np.float32).astype(np.float64)


@functools.cache
def two_classes():
    X, y = make_moons(70, noise=0.2, random_state=0)
    noise = np.random.default_rng(1).normal(size=(70, 1))
    return single(np.hstack([X, noise])), np.array(["no", "yes"])[y]


@functools.cache
def iris():
    X, y = load_iris(return_X_y=True)
    return single(X[::3]), y[::3] * 10


@functools.cache
def four_classes():
    X, y = make_blobs(80, 3, centers=4, cluster_std=3.0, random_state=1)
    return single(X), np.array(["a", "b", "c", "d"])[y]


def regression():
    X, _ = two_classes()
    return X, np.sin(2 * X[:, 0]) + X[:, 1]


def two_targets():
    X, y = regression()
    return X, np.column_stack([y, X[:, 0] - X[:, 1] ** 2])


def metric_expansion(kernel="rbf", outputs=1, terms=4):
    rng = np.random.default_rng(3)
    metric = (0.5, 2.0, 0.0) if kernel == "rbf" else None
    linear = rng.normal(size=(3, outputs))
    if kernel == "rbf":
        linear[2] = 0.0
    return KernelExpansion(
        rng.normal(size=(terms, 3)),
        rng.normal(size=(terms, outputs)),
        rng.normal(size=outputs),
        Kernel(kernel, gamma=0.4, coef0=0.3, metric=metric),
        linear=linear,
    )


def density():
    X, _ = two_classes()
    model = SparseKernelDensity().fit(X)
    return case_of(model, np.vstack([X[:20], edges(X)[20:-3]]))


def scaled_pipeline():
    """Scalers one after the other, a year and a pressure far from the origin, an imputer."""
    X, y = two_classes()
    X = np.column_stack([2000 + 3 * X[:, 0], 101_325 + 20 * X[:, 1], 1e-7 * X[:, 2]])
    X, rng = single(X), np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    steps = SimpleImputer(strategy="median"), StandardScaler(), MinMaxScaler(clip=True)
    model = make_pipeline(*steps, RobustScaler(), SVC(C=10)).fit(holes, y)
    rows = np.vstack([edges(X), np.full((1, 3), np.nan), holes[:30]])
    return case_of(model, pd.DataFrame(rows, columns=HOSTILE[:3]), rows)


def mixed_frame(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            HOSTILE[0]: single(rng.normal(50, 10, rows)),
            "float": single(rng.normal(size=rows)),
            HOSTILE[3]: rng.choice(["red", "it's", 'gr"een'], rows).astype(object),
            "size": rng.choice(["S", "M", "L"], rows).astype(object),
            "code": rng.choice([1.0, 2.0, 7.0], rows),
        }
    )
    target = (frame["float"] + (frame["size"] == "L") - (frame["code"] == 7) > 0).to_numpy()
    frame.loc[rng.random(rows) < 0.1, "float"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "size"] = np.nan
    return frame, target


def mixed_pipeline(last=None):
    frame, y = mixed_frame()
    names = list(frame.columns)
    impute = SimpleImputer(add_indicator=True)
    columns = make_column_transformer(
        (make_pipeline(impute, StandardScaler()), names[:2]),
        (OneHotEncoder(handle_unknown="ignore"), [names[2]]),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            ),
            ["size"],
        ),
        (OneHotEncoder(handle_unknown="ignore"), ["code"]),
    )
    model = make_pipeline(columns, MaxAbsScaler(), last or RelevanceVectorClassifier())
    model.fit(frame, y)
    rows, _ = mixed_frame(ROWS + 5, seed=1)
    rows.loc[0, "size"] = "XXL"
    rows.loc[1, HOSTILE[3]] = "unseen'); drop table data; --"
    rows.loc[2, "code"] = 99.0
    rows.loc[3, "float"] = 1e9
    return case_of(model, rows)


def strict_pipeline():
    """A model that takes no level that it does not know, and a row with one: Python refuses it."""
    frame, y = mixed_frame()
    frame, names = frame[["code", "size"]].fillna({"size": "S"}), ["code", "size"]
    columns = make_column_transformer((OneHotEncoder(), names[:1]), (OrdinalEncoder(), names[1:]))
    model = make_pipeline(columns, SVC(C=10)).fit(frame, y)
    return model, [[1.0, "S"], [99.0, "S"], [1.0, "XXL"], [None, "S"], [1.0, None]]


def table_model(several=False):
    """What the command line saves, with texts, gaps and categories nobody has seen."""
    rng = np.random.default_rng(5)
    count = 90
    cells = {
        "age": [f"{v:.1f}" for v in rng.integers(20, 140, count) / 2],
        HOSTILE[0]: [f"{v:.3f}" for v in rng.integers(7990, 8010, count) / 8],
        "colour": rng.choice(["red", "blue", "it's", "NA"], count).tolist(),
    }
    cells["age"][:5] = [""] * 5
    table = Table("t.csv", cells, range(count))
    columns, _ = infer_columns(table)
    encoder = TableEncoder(columns).fit(to_matrix(table, columns))
    features = encoder.transform(to_matrix(table, columns))
    bins = np.digitize(features[:, 0] + features[:, 2], [0.0, 1.0] if several else [0.3])
    svc = SVC(C=3, break_ties=several).fit(features, bins)
    model = TableModel.of_classes("y", ["low", "mid", "high"][: 2 + several], encoder, svc)
    rows = [list(row) for row in zip(*(c[:count] for c in cells.values()), strict=True)]
    rows += [["", "", ""], ["1e9", "-1e9", "green"], ["40", "1000", " red "], ["?", "1001", "N/A"]]
    rows += [["40", "1000", "\t\n\v red\f\r\n"], ["40", "1000", " \r\n"]]
    rows += rows + rows[:20]
    stripped = {name: [row[i].strip() for row in rows] for i, name in enumerate(cells)}
    new = Table("n.csv", stripped, range(len(rows)))
    features = encoder.transform(to_matrix(new, columns))
    scores = model.model.decision_function(features)
    raw = [[_number(row[0]), _number(row[1]), row[2]] for row in rows]
    case = Case(model, raw, scores, model.predict(new))
    case.margin = margins(scores, model.model.function, features)
    return case


def _number(cell):
    return None if cell in ("", "?") else float(cell)


def svc(**options):
    data = iris if options.pop("several", False) else two_classes

    def build():
        X, y = data()
        return case_of(SVC(**options).fit(X, y), edges(X))

    return build


def fitted(estimator, data=two_classes, far=True):
    def build():
        X, y = data()
        rows = edges(X)
        return case_of(estimator.fit(X, y), rows if far else rows[:-3])

    return build


def expansion(**options):
    def build():
        return case_of(metric_expansion(**options), edges(two_classes()[0]))

    return build


def paired_expansion():
    """Scores of four classes without their labels."""
    rng = np.random.default_rng(4)
    vectors, coef = rng.normal(size=(4, 3)), rng.normal(size=(4, 6))
    how = {"vote_classes": 4, "pair_scores": "worst"}
    pairs = KernelExpansion(vectors, coef, rng.normal(size=6), Kernel("rbf", gamma=0.4), **how)
    return case_of(pairs, edges(two_classes()[0]))


def with_names():
    X, y = two_classes()
    frame = pd.DataFrame(X, columns=HOSTILE[:3])
    model = SparseLargeMarginClassifier(4, learn_gamma="metric", random_state=0).fit(frame, y)
    return case_of(model, pd.DataFrame(edges(X), columns=HOSTILE[:3]))


def no_terms():
    X, y = two_classes()
    nothing = KernelExpansion(np.empty((0, 3)), np.empty((0, 1)), [0.25], Kernel("rbf"))
    return case_of(Model(nothing, Classes(np.array([False, True]))), edges(X))


def one_feature():
    X, y = two_classes()
    return case_of(SVC(gamma=2.0).fit(X[:, :1], y), edges(X[:, :1]))


def encoded(levels, unknown):
    """Levels of one column through an encoder, and one that nobody has seen."""

    def build():
        X, y = two_classes()
        kind = object if isinstance(levels[0], str) else float
        column = np.array(levels, dtype=kind)[np.arange(len(X)) % len(levels)]
        rows = pd.DataFrame({"level": np.resize(np.array([*levels, unknown], dtype=kind), 30)})
        y = np.where(column == levels[-1], "yes", y)
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        model = make_pipeline(encoder, SVC(C=10)).fit(pd.DataFrame({"level": column}), y)
        return case_of(model, rows)

    return build


#: A SparseSVR whose linear part leads beyond its limits.
LIMITED = {"C": 1.0, "epsilon": 0.1, "linear": True, "extrapolation": 0, "random_state": 0}

#: A SparseSVC that has nothing to choose, so that it has no probabilities.
FIXED = {"C": 1.0, "gamma": "scale", "metric": False, "linear": False}
#: One whose outputs are pairs of classes.
PAIRS = {"n_terms": 4, "multi_class": "ovo", "random_state": 0}

BUILDERS = {
    "rbf": svc(gamma=0.7),
    "linear": svc(kernel="linear"),
    "poly": svc(kernel="poly", coef0=1.0, gamma=0.5),
    "sigmoid": svc(kernel="sigmoid", gamma=0.1, coef0=-0.2),
    "votes": svc(several=True),
    "votes, ovo": svc(several=True, decision_function_shape="ovo", kernel="poly", degree=2),
    "votes, ties": svc(several=True, break_ties=True, kernel="sigmoid", gamma=0.01),
    "votes, linear": svc(several=True, kernel="linear"),
    "NuSVC": fitted(NuSVC()),
    "SVR": fitted(SVR(), regression),
    "NuSVR": fitted(NuSVR(kernel="poly", degree=2, coef0=1.0), regression),
    "OneClassSVM": fitted(OneClassSVM(nu=0.2), regression),
    "SparseSVR": fitted(SparseSVR(n_terms=3, C=1.0, epsilon=0.1, random_state=0), regression),
    "SparseSVR, targets": fitted(SparseSVR(3, C=1.0, epsilon=0.1, random_state=0), two_targets),
    "SparseSVR, limits": fitted(SparseSVR(3, **LIMITED), regression),
    "SparseSVR, two limits": fitted(SparseSVR(4, **LIMITED), two_targets),
    "SparseKernelPCA": fitted(SparseKernelPCA(2, random_state=0)),
    "SparseOneClassSVM": fitted(SparseOneClassSVM(0.2, 4, random_state=0), regression),
    "SparseSVC": fitted(SparseSVC(n_terms=3, random_state=0)),
    "SparseSVC, several": fitted(SparseSVC(n_terms=4, random_state=0), iris),
    "SparseSVC, pairs": fitted(SparseSVC(C=[1, 10], **PAIRS), four_classes),
    "SparseSVC, pairs, C": fitted(SparseSVC(**FIXED, **PAIRS), four_classes),
    "expansion, pairs": paired_expansion,
    "ZeroNormSVC, several": fitted(ZeroNormSVC(C=10, random_state=0), iris),
    "logistic": fitted(RelevanceVectorClassifier()),
    "logistic, several": fitted(RelevanceVectorClassifier(gamma=1.0), iris),
    "probit": fitted(SparseProbitClassifier()),
    "probit, several": fitted(SparseProbitClassifier(), iris),
    "AROMClassifier": fitted(AROMClassifier(2)),
    "polynomial": fitted(AROMClassifier(3, kernel="poly")),
    "SVCReducer": lambda: fitted(SVCReducer(SVC(), n_terms=5, random_state=0))(),
    "density": density,
    "expansion": expansion(),
    "expansion, outputs": expansion(outputs=3),
    "expansion, sigmoid": expansion(kernel="sigmoid", outputs=2),
    "names": with_names,
    "scaled": scaled_pipeline,
    "mixed": mixed_pipeline,
    "mixed, poly": lambda: mixed_pipeline(SVC(kernel="poly", degree=2, coef0=1.0)),
    "mixed, polynomial": lambda: mixed_pipeline(AROMClassifier(3, kernel="poly")),
    # Beyond 2^53, where one more is the same number.
    "large levels": encoded([1e17, 2e17, 3e17 + 8], 5e17),
    "negative levels": encoded([-3.0, -2.0, -1.0, 0.0], 1.0),
    "empty level": encoded(["", "a", "b"], "c"),
    "table": table_model,
    "table, votes": lambda: table_model(True),
    "no terms": no_terms,
    "one feature": one_feature,
}


@functools.cache
def get(name: str) -> Case:
    return BUILDERS[name]()
