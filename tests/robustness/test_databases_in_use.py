"""A handle stays with its database, and a query with what its source was, when another database comes into use."""

import contextlib
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import duckdb
import pytest
from robustness.test_stale_handles import ASKED, CHANGES, OPTIONS, ROWS, rounded

import nbsql

DEV = {"target": "c", "features": ["x", "y", "z"]}
# Verbs whose answer is a query, made while one database is in use and run in another.
QUERIES = {
    "predict": lambda model, source: model.predict(source),
    "predict top_k": lambda model, source: model.predict(source, top_k=2),
    "predict_proba": lambda model, source: model.predict_proba(source),
    "joint_log_likelihood": lambda model, source: model.joint_log_likelihood(source),
    "log_evidence": lambda model, source: model.log_evidence(source),
    "explain": lambda model, source: model.explain(source),
    "confusion": lambda model, source: model.evaluate(source).confusion,
    "likelihoods": lambda model, _: model.likelihoods,
    "priors": lambda model, _: model.priors,
    "statistics": lambda model, _: model.statistics,
    "batches": lambda model, _: model.batches,
    "relevance": lambda model, _: model.relevance(),
    "sample": lambda model, _: model.sample(5),
    "drift": lambda model, _: model.drift("1", "1"),
}


def connect(*, other=True):
    """Two databases, in the first of which other rows and another model have the same names."""
    con = duckdb.connect()
    for database in ("prod", "dev"):
        con.execute(f"ATTACH ':memory:' AS {database}; USE {database}")
        con.execute(ROWS)
    if other:
        con.execute("USE prod; UPDATE rows SET x = 100 - x, y = 3; USE dev")
    return con


def fitted(con, name, **options):
    con.execute("USE prod")
    nbsql.fit(con, "SELECT * FROM rows LIMIT 30", target="c", features=["x", "m"], name="it")
    con.execute("USE dev")
    return nbsql.fit(con, "rows", **{**DEV, **options}, name=name)


def contents(con, database):
    tables = ("statistics", "spec", "batches", "parameters")
    return [rounded(con.execute(f"FROM {database}.it.{table}").fetchall()) for table in tables]


def opened(name, verb):
    con = connect(other=False)  # what a source means is another question
    return con, fitted(con, name, features=["y", "z"], **OPTIONS.get(verb, {}))


@pytest.fixture(scope="module")
def shared():
    """As `opened`, for verbs that leave the model as it is: one for all of the same options."""
    of_options = cache(opened)
    return lambda name, verb: of_options(name, verb if verb in OPTIONS else "")


# Of a model without a name CI asks what changes it, and some verbs.
NAMELESS = {*CHANGES, "evaluate", "explain", "predict"}
ASKS = [
    pytest.param(verb, name, marks=[] if name or verb in NAMELESS else [pytest.mark.nightly])
    for verb in ASKED
    if "follow" not in verb  # only a table of the model's own database has triggers that reach it
    for name in ("it", None)
]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(("verb", "name"), ASKS)
def test_every_verb_is_of_the_database_of_the_handle(verb, name, shared, tmp_path):
    found = []
    for used in ("dev", "prod"):
        con, model = (opened if verb in CHANGES else shared)(name, verb)
        before = contents(con, "prod")
        con.execute(f"USE {used}")
        (tmp_path / used).mkdir()
        answer = rounded(ASKED[verb](model, tmp_path / used))
        if verb == "predict_one_sql" and name is not None:  # the SQL names the database where another one is in use
            assert ('"dev"."it".' in answer) == (used == "prod")
            answer = answer.replace('"dev".', "")
        found.append(re.sub("nbsql [0-9]+", "nbsql", answer) if isinstance(answer, str) else answer)
        assert contents(con, "prod") == before
        con.execute("USE dev")
        if verb in {*CHANGES, "predict_proba"}:  # the others leave the model as it is
            found.append(rounded((model.statistics.fetchall(), model.predict_proba("rows").fetchall())))
            if name is not None:
                assert rounded(con.execute("FROM it.predict_proba('rows', database := 'dev')").fetchall()) == found[-1][1]
        else:
            found.append(rounded(model.statistics.fetchall()))
    assert found[:2] == found[2:]


@pytest.fixture(scope="module", params=["it", None])
def asked(request):
    """A model that is asked, and changed by nothing, with a name or without."""
    con = connect()
    return con, fitted(con, request.param)


WITHOUT_SOURCE = {"likelihoods", "priors", "statistics", "batches", "relevance", "sample", "drift"}
SOURCES = {verb: ["rows"] if verb in WITHOUT_SOURCE else ["rows", "FROM rows WHERE x < 50"] for verb in QUERIES}


@pytest.mark.few
@pytest.mark.parametrize(("verb", "source"), [(verb, source) for verb, sources in SOURCES.items() for source in sources])
def test_a_query_reads_what_it_was_made_of(asked, verb, source):
    con, model = asked
    con.execute("USE dev")
    query = QUERIES[verb](model, source)
    expected = rounded(query.fetchall())
    con.execute("DROP TABLE IF EXISTS prod.main.answer; USE prod")
    assert rounded(query.fetchall()) == expected
    assert query.columns
    query.create_table("answer")
    assert rounded(con.execute("FROM prod.main.answer").fetchall()) == expected
    assert con.execute("SELECT current_database()").fetchall() == [("prod",)]


def test_a_relation_of_a_query_of_another_database_is_refused():
    con = connect()
    query = fitted(con, "it").predict("FROM rows")
    con.execute("USE prod")
    with pytest.raises(nbsql.InputError) as refused:
        _ = query.relation
    assert str(refused.value) == "the query was made when dev.main was in use; USE it, or make it anew"
    con.execute("USE dev")
    assert len(query.relation.fetchall()) == 40


def test_a_source_is_looked_for_in_the_database_in_use():
    con = connect()
    model = fitted(con, "it")
    con.execute("USE prod")
    model.update("rows", batch="of prod")
    assert con.execute("SELECT count(*) FROM dev.it.batches").fetchall() == [(2,)]
    assert con.execute("SELECT count(*) FROM prod.it.batches").fetchall() == [(1,)]
    assert max(row[1] for row in model.predict("rows").fetchall()) == 100


@pytest.mark.slow
def test_a_class_that_is_learnt_from_afar_is_in_the_macros():
    con = connect()
    model = fitted(con, "it")
    con.execute("USE memory")  # where there is no model
    model.update("SELECT * REPLACE ('new' AS c) FROM dev.rows")
    model.calibrate("dev.main.rows", folds=None)
    con.execute("USE dev")
    columns = [column[0] for column in con.execute("FROM it.predict_proba('rows', database := 'dev')").description]
    assert columns[-3:] == ["probability_a", "probability_b", "probability_new"]
    assert len(con.execute("FROM it.predict('rows', database := 'dev')").fetchall()) == 40


def test_drop_drops_the_model_of_the_handle():
    con = connect()
    model = fitted(con, "it")
    con.execute("USE prod")
    model.drop()
    assert nbsql.models(con, database="prod") == ["it"]
    assert nbsql.models(con, database="dev") == []
    with pytest.raises(nbsql.ModelError, match=r"^no model 'it' in 'dev'; there is 'it' in 'prod'$"):
        model.predict("rows")


def test_what_is_made_of_a_handle_is_of_its_database():
    con = connect()
    model = fitted(con, "it")
    statistics = rounded(model.statistics.fetchall())
    con.execute("USE prod")
    made = nbsql.merge(con, [model])
    assert [row[:-1] for row in rounded(made.statistics.fetchall())] == [row[:-1] for row in statistics]


@pytest.mark.parametrize("name", ["it", None])
def test_dimensions_are_those_of_the_database_of_the_handle(name):
    con = connect(other=False)
    for database, sign in (("prod", -1), ("dev", 1)):
        con.execute(f"USE {database}; CREATE TABLE sizes AS SELECT DISTINCT z, {sign} * ascii(z) AS size FROM rows")
    model = nbsql.fit(con, "rows", target="c", features=["x", "size"], joins=nbsql.Join("sizes", on="z"), name=name)
    expected = rounded(model.predict_proba("rows").fetchall())
    later = model.predict_proba("rows")
    con.execute("USE prod")
    assert rounded(model.predict_proba("rows").fetchall()) == expected
    assert rounded(later.fetchall()) == expected
    assert rounded(model.as_of("1").predict_proba("rows").fetchall()) == expected


def test_names_of_databases_may_be_any():
    con = duckdb.connect()
    con.execute("""ATTACH ':memory:' AS "a b.c,""d'"; USE "a b.c,""d'" """)
    con.execute(ROWS)
    query = nbsql.fit(con, "rows", **DEV, name="it").predict("FROM rows")
    con.execute("USE memory")
    assert len(query.fetchall()) == 40
    assert con.execute("SELECT current_database()").fetchall() == [("memory",)]


def test_a_handle_of_a_file_that_gets_another_name(tmp_path):
    path = tmp_path / "first.duckdb"
    with nbsql.fit(path, "SELECT 'a' AS c, 1 AS x UNION ALL SELECT 'b', 2", target="c", name="it"):
        pass
    path.rename(tmp_path / "second.duckdb")
    with nbsql.load(tmp_path / "second.duckdb", "it") as model:
        assert len(model.likelihoods.fetchall()) == 2


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a file that is open cannot be replaced here")
@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_is_gone_is_read_and_not_written(replaced, tmp_path):
    rows = "SELECT i % 2 AS y, i % 3 AS x FROM range(12) AS t(i)"
    path, other = tmp_path / "shop.duckdb", tmp_path / "other.duckdb"
    for file in (path, other):
        nbsql.fit(file, rows, target="y", name="m").close()
    with duckdb.connect(path) as con:
        con.execute(f"ATTACH '{other}' AS other")
        model, elsewhere = nbsql.load(con, "m"), nbsql.load(con, "m", database="other")
        path.rename(tmp_path / "old.duckdb")
        if replaced:
            shutil.copy(tmp_path / "old.duckdb", path)
        query = model.predict(rows)
        for act in (
            lambda: model.update(rows),
            lambda: nbsql.fit(con, rows, target="y", name="new"),
            lambda: query.create_table("scored"),
            model.drop,
        ):
            with pytest.raises(nbsql.DatabaseError) as caught:
                act()
            assert str(caught.value) == (
                f"the file {str(path)!r} was deleted or replaced after it was opened, so that what is written would be lost; "
                "close the connection and open the file again"
            )
        assert len(query.fetchall()) == 12
        session = nbsql.fit(con, rows, target="y")
        session.update(rows)
        elsewhere.update(rows)
        assert [row[3] for row in elsewhere.batches] == [12, 12]


LOCKS = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


@pytest.mark.parametrize(
    "act",
    [
        nbsql.models,
        lambda path: nbsql.load(path, "it"),
        lambda path: nbsql.fit(path, "rows", target="c", name="other"),
        lambda path: nbsql.fit(duckdb.connect(), path, target="c"),
        lambda path: nbsql.load(path, "it").report(path, source="rows"),
        lambda path: nbsql.import_(duckdb.connect(), path),
    ],
    ids=["models", "load", "fit", "source", "output", "import"],
)
def test_a_file_that_is_open_stays_locked(act, tmp_path):
    """By POSIX's rules a process loses its locks on a file when it closes any handle of it."""
    pytest.importorskip("fcntl")
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute(ROWS)
        nbsql.fit(con, "rows", **DEV, name="it")
        with contextlib.suppress(nbsql.NbsqlError):
            act(path)
        assert subprocess.run([sys.executable, "-SIc", LOCKS, path], capture_output=True, check=False).returncode
