"""Exported models: microseconds a row and bytes, beside the SVC and its other exporters."""

import ctypes
import functools
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.cross_validation import SEED
from benchmarks.data import MissingData, imported
from benchmarks.study import Study
from benchmarks.text import markdown
from benchmarks.timing import best_seconds
from zeronorm import SparseSVC
from zeronorm.datasets import make_ringnorm, make_waveform
from zeronorm.export import to_c, to_javascript, to_onnx, to_sql

ABOUT = """
The same predictions in every language: classes of rows drawn from the problem, one thread, fastest
of calls that take turns; C by `gcc -O2`, called once for all rows; ONNX by onnxruntime; SQL by
DuckDB from a table in memory, the planning of the statement included (of the `SVC`: seconds, for
100 000 rows);
a microsecond a row is a second for a million. 2 000 training rows; `SVC` by a 5-fold search over
nine pairs, `SparseSVC` by its own choice. Bytes: a pickle, compiled code with its constants, the
file, the text. m2cgen and skl2onnx export the same `SVC`; a dash means that they failed on it.
"""
MAKERS = {"ringnorm": make_ringnorm, "waveform": make_waveform}
#: Rows for the fast ones, for long statements and for the slow ones.
MANY, HALF, FEW = 200_000, 100_000, 5_000
REPEATS = 5
LOOP = """
#include "model.h"
void predict(const double *rows, long count, int *classes);
void predict(const double *rows, long count, int *classes)
{
    long n;
    for (n = 0; n < count; n++) {
        classes[n] = model_class(rows + n * MODEL_INPUTS);
    }
}
"""
M2CGEN_LOOP = """
void predict(const double *rows, long count, int *classes);
void predict(const double *rows, long count, int *classes)
{
    long n;
    for (n = 0; n < count; n++) {
        CALL
    }
}
"""


@functools.cache
def fitted(data: str) -> tuple:
    X, y = MAKERS[data](2_000, random_state=SEED)
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [g / X.shape[1] for g in (0.1, 0.3, 1.0)]}
    svc = GridSearchCV(SVC(), grid).fit(X, y).best_estimator_
    return SparseSVC(random_state=SEED).fit(X, y), svc, MAKERS[data](MANY, random_state=SEED + 1)[0]


def in_c(source: str, X: np.ndarray, header: str | None = None):
    """Compile, and return a call and the bytes of code and constants."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        if header is not None:
            (folder / "model.h").write_text(header)
        (folder / "loop.c").write_text(source)
        library = folder / "loop.so"
        command = ["gcc", "-std=c99", "-O2", "-fPIC", "-shared", folder / "loop.c", "-o", library]
        subprocess.run([*map(str, command), "-lm"], check=True)
        said = subprocess.run(["size", library], capture_output=True, text=True, check=True)
        text, data = map(int, said.stdout.splitlines()[1].split()[:2])
        loaded = ctypes.CDLL(str(library))
    X = np.ascontiguousarray(X, dtype=np.float64)
    classes = np.empty(len(X), dtype=np.int32)
    arguments = (
        X.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_long(len(X)),
        classes.ctypes.data_as(ctypes.c_void_p),
    )

    def call():
        loaded.predict(*arguments)
        return classes

    return call, text + data


def by_m2cgen(svc, X):
    m2cgen = imported("m2cgen")
    sys.setrecursionlimit(100_000)
    source = m2cgen.export_to_c(svc)
    if "double score(" in source:
        call = "classes[n] = score((double *)rows + n * WIDTH) > 0;"
    else:
        call = "double p[2]; score((double *)rows + n * WIDTH, p); classes[n] = p[1] > p[0];"
    loop = M2CGEN_LOOP.replace("CALL", call.replace("WIDTH", str(X.shape[1])))
    return in_c(source + loop, X)


def session_call(graph, X: np.ndarray):
    runtime = imported("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    content = graph.SerializeToString()
    session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    name, single = session.get_inputs()[0].name, X.astype(np.float32)
    label = session.get_outputs()[0].name
    return (lambda: session.run([label], {name: single})[0]), len(content)


def by_skl2onnx(svc, X):
    skl2onnx = imported("skl2onnx")
    return session_call(skl2onnx.to_onnx(svc, X[:1].astype(np.float32)), X)


def by_duckdb(model, X):
    duckdb = imported("duckdb")
    connection = duckdb.connect(config={"threads": 1})
    given = imported("pandas").DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    connection.register("given", given)
    connection.execute("CREATE TABLE data AS SELECT * FROM given")
    text = to_sql(model, dialect="duckdb")
    query = text.strip().rstrip(";")
    whole = f"SELECT COUNT(*) FILTER (WHERE label > 0), SUM(score) FROM ({query})"
    return (lambda: connection.execute(whole).fetchall()), len(text)


def in_python(model, X):
    """Of zeronorm what is needed to predict; records of the fit would be most of the pickle."""
    kept = getattr(model, "expansion_", model)
    return (lambda: model.predict(X)), len(pickle.dumps(kept))


def ways(sparse, svc, X: np.ndarray) -> dict:
    """What is compared: rows, and a function that makes the call and its bytes."""
    few = X[:FEW]
    return {
        ("SparseSVC", "Python"): (X, lambda: in_python(sparse, X)),
        ("SparseSVC", "C, double"): (X, lambda: in_c(LOOP, X, to_c(sparse))),
        ("SparseSVC", "ONNX, float"): (X, lambda: session_call(to_onnx(sparse), X)),
        ("SparseSVC", "SQL, DuckDB"): (X, lambda: by_duckdb(sparse, X)),
        ("SparseSVC", "JavaScript"): (X[:1], lambda: (None, len(to_javascript(sparse)))),
        ("SVC", "Python"): (few, lambda: in_python(svc, few)),
        ("SVC", "C, double"): (few, lambda: in_c(LOOP, few, to_c(svc))),
        ("SVC", "ONNX, float"): (few, lambda: session_call(to_onnx(svc), few)),
        ("SVC", "SQL, DuckDB"): (X[:HALF], lambda: by_duckdb(svc, X[:HALF])),
        ("SVC", "m2cgen, C"): (few, lambda: by_m2cgen(svc, few)),
        ("SVC", "skl2onnx"): (few, lambda: by_skl2onnx(svc, few)),
        ("SVC", "JavaScript"): (few[:1], lambda: (None, len(to_javascript(svc)))),
    }  # fmt: skip


def measure(data: str) -> list[dict]:
    sparse, svc, X = fitted(data)
    rows, calls = {}, {}
    for key, (some, make) in ways(sparse, svc, X).items():
        method, way = key
        model = sparse if method == "SparseSVC" else svc
        rows[key] = {"method": method, "way": way, "terms": len(model.support_vectors_)}
        try:
            call, size = make()
        except MissingData:
            raise
        except Exception as error:  # a peer that cannot export it
            if way not in ("m2cgen, C", "skl2onnx"):
                raise
            rows[key]["failed"] = str(error)[:200]
            continue
        rows[key]["bytes"] = size
        if call is not None:
            calls[key] = call
            rows[key]["rows"] = len(some)
            answer = call()
            if isinstance(answer, np.ndarray):
                found = model.classes_[answer] if answer.dtype == np.int32 else answer
                rows[key]["agreement"] = float(np.mean(found == model.predict(some)))
    for key, seconds in best_seconds(calls, REPEATS).items():
        rows[key]["microseconds"] = 1e6 * seconds / rows[key]["rows"]
    return list(rows.values())


def tables(rows: list[dict]) -> str:
    parts = []
    for data in dict.fromkeys(row["data"] for row in rows):
        lines = []
        for row in (row for row in rows if row["data"] == data):
            time = f"{row['microseconds']:.3g}" if "microseconds" in row else ""
            size = f"{row['bytes']:,}" if "bytes" in row else "-"
            agreement = f"{100 * row['agreement']:.2f}" if "agreement" in row else ""
            lines.append([row["method"], str(row["terms"]), row["way"], time, size, agreement])
        header = ["model", "terms", "where", "µs a row", "bytes", "% labels as Python's"]
        parts.append(f"{data}:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


STUDY = Study(
    "exported",
    title="Exported models",
    about=ABOUT,
    factors={"data": tuple(MAKERS)},
    quick={"data": ("ringnorm",)},
    protocol=measure,
    tables=tables,
    timed=True,
    seed=SEED,
)
