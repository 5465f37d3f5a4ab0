"""How a prediction looks up the words of texts: empty ones find nothing, and the words of the model are what DuckDB hashes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from duckdb import DuckDBPyConnection as Connection

import nbsql

Unseen = Literal["skip", "smooth"]


def joins_of_words(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The hash joins on `value` in a plan."""
    if plan["name"] == "HASH_JOIN" and "value" in str(plan["extra_info"].get("Conditions")):
        yield plan
    for child in plan["children"]:
        yield from joins_of_words(child)


@pytest.mark.parametrize("unseen", ["skip", "smooth"])
@pytest.mark.parametrize("classes", [2, 12])
def test_the_words_of_the_model_are_hashed_and_not_those_of_the_texts(con: Connection, classes: int, unseen: Unseen) -> None:
    con.execute(f"""
        CREATE TABLE texts AS
        SELECT id % {classes} AS y, array_to_string(list_transform(range(20), lambda i: 'w' || hash(id, i) % 500), ' ') AS x
        FROM range(1000) AS rows(id)
    """)
    model = nbsql.fit(con, "texts", target="y", families={"x": nbsql.Text(unseen=unseen)}, name="words")
    ((_, plan),) = con.execute(f"EXPLAIN (FORMAT json) {model.sql('predict', 'texts')}").fetchall()
    (join,) = joins_of_words(json.loads(plan)[0])
    probed, hashed = map(json.dumps, join["children"])
    assert "lookups" in hashed
    assert "lookups" not in probed


@pytest.mark.parametrize("unseen", ["skip", "smooth"])
def test_an_empty_word_is_no_word(con: Connection, unseen: Unseen) -> None:
    con.execute("CREATE TABLE texts AS FROM (VALUES ('a', 'x  y'), ('b', 'y, , z'), ('a', 'x'), ('b', '')) AS texts(y, x)")
    model = nbsql.fit(con, "texts", target="y", families={"x": nbsql.Text(unseen=unseen)}, name="words")
    assert con.execute("SELECT count(*) FROM words.likelihoods WHERE value = ''").fetchone() == (0,)
    found = model.predict_proba("SELECT * FROM (VALUES ('x y v'), ('  x,,  y -- v ')) AS rows(x)").fetchall()
    assert found[0][1:] == found[1][1:]
