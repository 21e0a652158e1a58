"""The exported statement, run by DuckDB, SQLite and PostgreSQL, beside Python."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from tests.export import postgres
from tests.export.cases import BUILDERS, HOSTILE, get, strict_pipeline, two_classes
from zeronorm import KernelExpansion
from zeronorm.export import to_sql
from zeronorm.export.reading import describe
from zeronorm.export.sql_text import DIALECTS, quoted
from zeronorm.kernels import Kernel
from zeronorm.pairs import vote_scores

TABLE = 'my "table"; drop table x; --'
KEY = "the 'key'"


def columns_of(case):
    """Names and types of the columns of a table for a case."""
    texts = [c.is_text for c in describe(case.model).columns]
    kinds = ["TEXT" if text else "DOUBLE PRECISION" for text in texts]
    return [(KEY, "INTEGER"), *zip(case.names, kinds, strict=True)]


def created(case, table=TABLE):
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns_of(case))
    return f"CREATE TABLE {quoted(table)} ({columns})"


def answers_of(cursor, case, dialect):
    cursor.execute(created(case))
    marks = ", ".join("?" * (1 + len(case.names)))
    rows = [[i, *row] for i, row in enumerate(case.rows)]
    cursor.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({marks})", rows)
    cursor.execute(to_sql(case.model, table=TABLE, dialect=dialect, keep=[KEY]))
    names = [part[0] for part in cursor.description]
    rows = sorted(cursor.fetchall())
    assert [row[0] for row in rows] == list(range(len(case.rows)))
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def check(case, answers):
    """Compare the columns of the result with what Python says."""
    description = describe(case.model)
    if description.kind == "number":
        names = [name for name in answers if name.startswith("prediction")]
        assert case.error(np.array([answers[name] for name in names]).T) < 1e-9
        return
    labels = description.labels or range(description.n_scores)
    many = [answers[f"score_{label}"] for label in labels if f"score_{label}" in answers]
    scores = np.array(many).T if many else np.array(answers["score"], dtype=float)
    known = case.scores
    if (
        description.votes is None
        and description.is_classifier
        and description.decision.rule.is_pairs
    ):
        known = vote_scores(case.scores, len(labels))  # pairs are not shown one by one
    case = replace(case, scores=known)
    assert case.error(scores) < 1e-9
    if case.predictions is None:
        assert "label" not in answers
        return
    assert case.wrong(answers["label"]) == 0
    if len(labels) > 2:
        np.testing.assert_allclose(answers["score"], case.scores.max(axis=1), rtol=1e-9, atol=1e-9)
    if case.probabilities is not None:
        found = np.array([answers[f"probability_{label}"] for label in labels]).T
        np.testing.assert_allclose(found, case.probabilities, rtol=1e-9, atol=1e-200)
        clear = case.clear(1e-9)
        largest = case.probabilities.max(axis=1)[clear]
        np.testing.assert_allclose(np.array(answers["probability"])[clear], largest, rtol=1e-9)


@pytest.mark.parametrize("name", BUILDERS)
def test_sqlite(name):
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT EXP(1.0)")
    except sqlite3.OperationalError:
        pytest.skip("needs an SQLite with mathematical functions")
    check(get(name), answers_of(connection.cursor(), get(name), "sqlite"))


@pytest.mark.parametrize("name", BUILDERS)
def test_duckdb(name):
    duckdb = pytest.importorskip("duckdb")
    check(get(name), answers_of(duckdb.connect().cursor(), get(name), "duckdb"))


@pytest.mark.parametrize(
    "name", ["SparseSVC", "mixed", "votes", "SparseSVC, pairs", "probit, several"]
)
def test_standard(name):
    duckdb = pytest.importorskip("duckdb")
    check(get(name), answers_of(duckdb.connect().cursor(), get(name), "standard"))


@pytest.fixture(scope="module")
def server():
    if not postgres.is_there():
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    with postgres.server() as folder:
        yield folder


def copied(cell):
    if cell is None:
        return "\\N"
    if isinstance(cell, str):
        escapes = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
        return cell.translate(str.maketrans(escapes))
    return repr(float(cell))


def test_postgresql(server):
    script, counts = "", {}
    for number, name in enumerate(BUILDERS):
        case = get(name)
        table = f"{TABLE} {number}"
        rows = "".join(
            "\t".join([str(i), *map(copied, row)]) + "\n" for i, row in enumerate(case.rows)
        )
        script += f"{created(case, table)};\nCOPY {quoted(table)} FROM STDIN;\n{rows}\\.\n"
        statement = to_sql(case.model, table=table, dialect="postgresql", keep=[KEY])
        script += statement
        counts[name] = statement.rsplit("\nSELECT ", 1)[1]
    lines = iter(postgres.psql(server, script).splitlines())
    for name, selected in counts.items():
        case = get(name)
        names = [line.rsplit(" AS ", 1)[-1].rstrip(",") for line in selected.split("\n  ")]
        names = [n.split("\nFROM")[0][1:-1].replace('""', '"') for n in names]
        rows = sorted(
            ([int(first), *rest] for first, *rest in (next(lines).split("\t") for _ in case.rows)),
        )
        assert [row[0] for row in rows] == list(range(len(case.rows)))
        answers = {key: [_read(row[i], case) for row in rows] for i, key in enumerate(names)}
        check(case, answers)


def _read(cell, case):
    if cell == "\\N":
        return None
    if case.predictions is not None and cell in ("t", "f"):
        return cell == "t"
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


@pytest.mark.parametrize(
    "name",
    ["rbf", "votes", "votes, ties", "logistic", "SparseSVC, several", "SparseSVC, pairs"],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_row_without_a_number_has_no_answer(name, dialect):
    connect = sqlite3.connect if dialect == "sqlite" else pytest.importorskip("duckdb").connect
    case = get(name)
    used = describe(case.model).features[0].column  # the model may not look at the first column
    rows = [[None if i == used else cell for i, cell in enumerate(row)] for row in case.rows[:3]]
    case = type(case)(case.model, rows, case.scores[:3])
    answers = answers_of(connect(":memory:").cursor(), case, dialect)
    del answers[KEY]
    assert all(value is None for column in answers.values() for value in column)


def test_a_level_that_is_not_known_has_no_answer():
    model, rows = strict_pipeline()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (code REAL, size TEXT)")
    connection.executemany("INSERT INTO data VALUES (?, ?)", rows)
    first, *rest = connection.execute(to_sql(model, dialect="sqlite")).fetchall()
    assert first[0] in (0, 1) and rest == [(None, None)] * 4


def test_nan_is_missing_in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    case = get("scaled")
    rows = [[float("nan"), *row[1:]] for row in case.rows[:5]]
    expected = case.model.decision_function(np.array([[np.nan, *r[1:]] for r in rows], float))
    case = type(case)(case.model, rows, expected)
    assert case.error(answers_of(duckdb.connect().cursor(), case, "duckdb")["score"]) < 1e-9


@pytest.mark.parametrize(
    "name",
    ["linear", "poly", "rbf", "votes", "votes, ovo", "votes, linear", "votes, ties", "logistic",
     "logistic, several", "probit", "probit, several", "SparseSVC", "SparseSVC, several",
     "SparseSVC, pairs", "OneClassSVM", "SVR", "SparseSVR, limits", "SparseSVR, two limits",
     "expansion, pairs", "expansion, outputs"],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["duckdb", "standard", "sqlite"])
def test_a_score_that_is_nan_has_no_answer(name, dialect):
    """DuckDB takes NaN for larger than any number."""
    connect = sqlite3.connect if dialect == "sqlite" else pytest.importorskip("duckdb").connect
    ends = (-np.inf, np.inf)
    width = len(get(name).names)
    rows = [[ends[(i + k) % 2] for i in range(width)] for k in range(2)]
    given = type(get(name))(get(name).model, [*rows, get(name).rows[0]], get(name).scores[:3])
    answers = answers_of(connect(":memory:").cursor(), given, dialect)
    del answers[KEY]
    assert {value for column in answers.values() for value in column[:2]} == {None}
    assert all(column[2] is not None for column in answers.values())


@pytest.mark.parametrize("table", ["step0", "STEP1", "step3", ["main", "step0"]])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_table_with_the_name_of_a_query(table, dialect):
    connect = sqlite3.connect if dialect == "sqlite" else pytest.importorskip("duckdb").connect
    case = get("rbf")
    name = table if isinstance(table, str) else table[-1]
    cursor = connect(":memory:").cursor()
    cursor.execute(f"CREATE TABLE {name} (x0 DOUBLE, x1 DOUBLE, x2 DOUBLE)")
    cursor.execute(f"INSERT INTO {name} VALUES (?, ?, ?)", case.rows[0])
    cursor.execute(to_sql(case.model, table=table, dialect=dialect))
    assert cursor.fetchall()[0][1] == pytest.approx(case.scores[0], rel=1e-9)


def texts_model(levels):
    """A model of texts that lose their blanks, and what it says of each."""
    texts = np.array(levels, dtype=object)[np.arange(30) % len(levels)][:, None]
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, SVC(C=10)).fit(texts, texts[:, 0] == levels[0])
    description = describe(model)
    (column,) = description.columns
    stripped = replace(description, columns=(replace(column, is_stripped=True),))
    return stripped, model.decision_function(np.array([[level] for level in levels], dtype=object))


TYPED = [
    (("False", "True"), "BOOLEAN", ["FALSE", "TRUE"]),
    (("false", "true"), "BOOLEAN", ["FALSE", "TRUE"]),
    (("FALSE", "TRUE"), "BOOLEAN", ["FALSE", "TRUE"]),
    (("7", "8"), "BIGINT", ["7", "8"]),
    (("False", "other", "true"), "TEXT", ["'False'", "'other'", "'true '"]),
]


@pytest.mark.parametrize(("levels", "kind", "cells"), TYPED)
def test_texts_in_columns_of_other_types(levels, kind, cells):
    duckdb = pytest.importorskip("duckdb")
    model, expected = texts_model(levels)
    values = ", ".join(f"({cell})" for cell in cells)
    cursor = duckdb.connect().cursor()
    cursor.execute(f"CREATE TABLE data (x0 {kind}); INSERT INTO data VALUES {values}")
    found = cursor.execute(to_sql(model, dialect="duckdb", keep="x0")).fetchall()
    np.testing.assert_allclose([row[2] for row in found], expected)


def test_texts_in_columns_of_other_types_in_postgresql(server):
    for number, (levels, kind, cells) in enumerate(TYPED):
        model, expected = texts_model(levels)
        values = ", ".join(f"({cell})" for cell in cells)
        table = f"typed{number}"
        script = f"CREATE TABLE {table} (x0 {kind}); INSERT INTO {table} VALUES {values};\n"
        script += to_sql(model, table=table, dialect="postgresql")
        lines = postgres.psql(server, script).splitlines()
        np.testing.assert_allclose([float(line.split("\t")[1]) for line in lines], expected)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_blanks_around_texts_are_those_of_python(dialect):
    connect = sqlite3.connect if dialect == "sqlite" else pytest.importorskip("duckdb").connect
    model, (expected, _) = texts_model(("two words", "other"))
    blanks = [chr(code) for code in range(1, 128) if not chr(code).strip()]
    rows = [[f"{blank} two words{blank}"] for blank in blanks]
    cursor = connect(":memory:").cursor()
    cursor.execute("CREATE TABLE data (x0 TEXT)")
    cursor.executemany("INSERT INTO data VALUES (?)", rows)
    found = cursor.execute(to_sql(model, dialect=dialect)).fetchall()
    assert len(found) == len(blanks) == 10
    np.testing.assert_allclose([row[1] for row in found], expected)


def test_integers_for_texts_in_sqlite():
    model, expected = texts_model(("7", "8"))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x0 INTEGER)")
    connection.execute("INSERT INTO data VALUES (7), (8)")
    found = connection.execute(to_sql(model, dialect="sqlite")).fetchall()
    np.testing.assert_allclose([row[1] for row in found], expected)


def test_a_column_that_is_not_there_is_an_error():
    """SQLite takes a quoted name that it does not know for a text."""
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE data ("x0" REAL)')
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(to_sql(get("rbf").model, dialect="sqlite"))


def test_injection():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x REAL)")
    answers_of(connection.cursor(), get("mixed"), "sqlite")
    connection.execute("SELECT * FROM data")  # it is still there
    assert quoted(HOSTILE[0]) == '"a""b; drop table data; --"'


def test_too_long(monkeypatch):
    assert DIALECTS["sqlite"].longest == 1_000_000
    shorter = replace(DIALECTS["sqlite"], longest=100_000)  # long ones take seconds to plan
    monkeypatch.setitem(DIALECTS, "sqlite", shorter)
    rng = np.random.default_rng(0)
    big = KernelExpansion(rng.normal(size=(90, 60)), rng.normal(size=90), 0.0, Kernel("rbf"))
    with pytest.raises(ValueError, match=r"sqlite takes 100,000: (\d+) terms fit") as caught:
        to_sql(big, dialect="sqlite")
    fits = int(str(caught.value).split("000: ")[1].split()[0])
    kept = big.with_terms(big.vectors[:fits], big.coef[:fits])
    assert 0.97 * DIALECTS["sqlite"].longest < len(to_sql(kept, dialect="sqlite"))
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f"x{i} REAL" for i in range(60))
    connection.execute(f"CREATE TABLE data ({columns})")
    row = rng.normal(size=(1, 60))
    connection.execute(f"INSERT INTO data VALUES ({', '.join('?' * 60)})", row[0])
    (found,) = connection.execute(to_sql(kept, dialect="sqlite")).fetchone()
    assert found == pytest.approx(kept.decision_function(row)[0], rel=1e-9)


def test_vectors_far_from_each_other():
    """Products would not do: the distances are taken by differences."""
    vectors = np.array([[0.0], [1e6], [1e6 + 1]])
    far = KernelExpansion(vectors, [1.0, 2.0, 3.0], 0.0, Kernel("rbf", gamma=0.7))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x0 REAL)")
    rows = [[v] for v in (0.5, 1e6 - 0.25, 1e6 + 2.0, 5e5)]
    connection.executemany("INSERT INTO data VALUES (?)", rows)
    found = connection.execute(to_sql(far, dialect="sqlite")).fetchall()
    np.testing.assert_allclose(np.ravel(found), far.decision_function(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "oracle"}, "dialect must be one of duckdb, sqlite, postgresql, standard"),
        ({"table": ""}, "is no name of a column or table"),
        ({"table": "a\0b"}, "is no name"),
        ({"keep": ["label"]}, 'The result has a column "label" of its own'),
    ],
)
def test_what_cannot_be(options, message, tmp_path):
    X, y = two_classes()
    with pytest.raises(ValueError, match=message):
        to_sql(SVC().fit(X, y), tmp_path / "model.sql", **options)
    assert not list(tmp_path.iterdir())
