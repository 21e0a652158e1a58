"""The exported statement, run by DuckDB, SQLite and PostgreSQL, beside Python."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest
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
        return cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
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
