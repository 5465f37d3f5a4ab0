"""Of which side DuckDB makes its hash table in the joins that decide how long a query takes; and empty words find nothing."""

import json

import duckdb
import pytest

import nbsql


def joins_on(column, plan):
    """The hash joins on a column in a plan."""
    if plan["name"] == "HASH_JOIN" and column in str(plan["extra_info"].get("Conditions")):
        yield plan
    for child in plan["children"]:
        yield from joins_on(column, child)


def sides(con, query, column):
    """What is probed and what is hashed in the one join on a column of a query."""
    ((_, plan),) = con.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
    (join,) = joins_on(column, json.loads(plan)[0])
    probed, hashed = map(json.dumps, join["children"])
    return probed, hashed


@pytest.mark.parametrize("unseen", ["skip", "smooth"])
@pytest.mark.parametrize("classes", [2, 12])
def test_the_words_of_the_model_are_hashed_and_not_those_of_the_texts(con, classes, unseen):
    con.execute(f"""
        CREATE TABLE texts AS
        SELECT id % {classes} AS y, array_to_string(list_transform(range(20), lambda i: 'w' || hash(id, i) % 500), ' ') AS x
        FROM range(1000) AS rows(id)
    """)
    model = nbsql.fit(con, "texts", target="y", families={"x": nbsql.Text(unseen=unseen)}, name="words")
    probed, hashed = sides(con, model.sql("predict", "texts"), "value")
    assert "lookups" in hashed
    assert "lookups" not in probed


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB before 2.0 plans it the other way round, with more memory")
def test_an_explanation_hashes_the_rows_and_not_their_contributions(con):
    numbers = ", ".join(f"hash(id, {j}) % 9 / 2 AS x{j}" for j in range(20))
    con.execute(f"CREATE TABLE numbers AS SELECT id, id % 5 AS y, {numbers} FROM range(1000) AS rows(id)")
    model = nbsql.fit(con, "numbers", target="y", id="id", name="explained")
    probed, hashed = sides(con, model.sql("explain", "numbers"), "nbsql_row")
    assert "UNNEST" in probed
    assert "UNNEST" not in hashed


@pytest.mark.parametrize("unseen", ["skip", "smooth"])
def test_an_empty_word_is_no_word(con, unseen):
    con.execute("CREATE TABLE texts AS FROM (VALUES ('a', 'x  y'), ('b', 'y, , z'), ('a', 'x'), ('b', '')) AS texts(y, x)")
    model = nbsql.fit(con, "texts", target="y", families={"x": nbsql.Text(unseen=unseen)}, name="words")
    assert con.execute("SELECT count(*) FROM words.likelihoods WHERE value = ''").fetchone() == (0,)
    found = model.predict_proba("SELECT * FROM (VALUES ('x y v'), ('  x,,  y -- v ')) AS rows(x)").fetchall()
    assert found[0][1:] == found[1][1:]
