"""Kinds of columns and names on PostgreSQL: what is done with a text is done with every label, and with any name."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from engines.places import assert_same_rows

import nbsql
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

LABELS = {
    "BOOLEAN": "i % 3 = 0",
    "INTEGER": "i % 3",
    "DATE": "DATE '2026-01-01' + i % 2",
    "NUMERIC(4, 1)": "(i % 2) / 2.0",
    "UUID": "CAST('00000000-0000-0000-0000-00000000000' || i % 2 AS UUID)",
    "VARCHAR": "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END",
}
ROWS = """CREATE TABLE t AS SELECT i AS id, CAST({label} AS {type}) AS y, 'k' || i % 4 AS k, i * 7 % 11 AS x, i % 2 + 1 AS month
    FROM generate_series(1, 60) AS rows(i)"""


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_monitored_and_evaluated_by_slices(pg: Any, kind: str) -> None:
    found = []
    for con in (pg, duckdb.connect()):
        con.execute(ROWS.format(label=LABELS[kind].replace("+ i", "+ CAST(i AS INTEGER)"), type=kind))
        model = nbsql.fit(con, "t", target="y", id="id", name="m", exclude=["month"])
        slices = nbsql.load(con, "m").evaluate("t", by="k").slices.fetchall()
        found.append((model.monitor("t", by="month").fetchall(), slices))
    for ours, theirs in zip(*found, strict=True):
        assert len(ours) > 3
        assert_same_rows(*([tuple(map(plain, row)) for row in rows] for rows in (ours, theirs)))


def plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, type(None))) and not isinstance(value, bool) else str(value)


def test_functions_take_padded_texts_as_the_verbs_do(pg: Any) -> None:
    pg.execute("CREATE TABLE shops (id INTEGER, country CHAR(3), codes CHAR(3)[], y VARCHAR)")
    for i in range(30):
        country = ("DE", "FR", "USA")[i % 3]
        pg.execute("INSERT INTO shops VALUES (%s, %s, %s, %s)", [i, country, [country, "x"], ("no", "yes", "no")[i % 3]])
    for options in ({"features": ["country"]}, {"features": ["country", "codes"]}):
        model = nbsql.fit(pg, "shops", target="y", id="id", name="m", replace=True, **options)
        said = pg.execute("SELECT id, said.* FROM shops, m.predict(to_jsonb(shops)) AS said ORDER BY id").fetchall()
        assert_same_rows(said, sorted(model.predict("shops", columns=["id"]).fetchall()))
        assert {row[1] for row in said[:2]} == {"no", "yes"}


@pytest.mark.parametrize("name", ["probability", "prediction", "log_evidence", "probability_a"])
@pytest.mark.parametrize("first", [True, False])
def test_a_feature_may_have_the_name_of_a_column_of_an_answer(pg: Any, name: str, *, first: bool) -> None:
    columns = [f"i * 7 % 11 / 11.0 AS {name}", "'k' || i % 4 AS k"]
    source = f"SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS y, {', '.join(columns if first else columns[::-1])}"
    pg.execute(f"CREATE TABLE stack AS {source} FROM generate_series(1, 40) AS rows(i)")
    model = nbsql.fit(pg, "stack", target="y", id="id", name="m")
    expected = sorted(model.predict("stack", columns=["id"]).fetchall())
    said = pg.execute("SELECT id, said.* FROM stack, m.predict(to_jsonb(stack)) AS said ORDER BY id").fetchall()
    assert_same_rows(said, expected)


@pytest.mark.parametrize("into", ["mine.scored", "public.scored", '"T Four"', '"My Schema".t1', "plain"])
def test_rows_are_stored_under_a_path(pg: Any, address: str, into: str) -> None:
    pg.execute('CREATE SCHEMA mine; CREATE SCHEMA "My Schema"')
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    nbsql.fit(pg, "t", target="y", id="id", name="m")
    found = CliRunner().invoke(main, ["predict", address, "m", "t", "--into", into])
    assert found.exit_code == 0, found.output
    assert "scored 60 rows of t into the table" in found.output
    assert pg.execute(f"SELECT count(*) FROM {into}").fetchall() == [(60,)]
