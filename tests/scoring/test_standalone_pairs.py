"""The standalone scorer of averaged one-dependence estimators, run by the engines of other dialects."""

from typing import Any

import duckdb
import pytest
from scoring.test_standalone import LIKELIHOODS, agree, rows
from support.elsewhere import Elsewhere

import nbsql

Connection = duckdb.DuckDBPyConnection


def learnt(first: int, last: int) -> str:
    """Rows of three classes and five columns that depend on each other, with gaps."""
    h = [f"CAST(hash(i * 10 + {n}) % 1009 AS INTEGER)" for n in range(8)]
    return f"""SELECT ['x', 'x', 'z', 'w'][1 + {h[0]} % 4] AS y,
        CASE WHEN {h[1]} % 9 > 0 THEN 'it''s ' || {h[2]} % 3 END AS a,
        CASE WHEN {h[3]} % 8 > 0 THEN ({h[2]} + {h[4]} % 5 // 4) % 3 = 0 END AS b,
        CASE WHEN {h[5]} % 7 > 0 THEN {h[0]} % 4 * 1.5e0 + {h[6]} % 3 END AS c,
        {h[7]} % 4 + {h[0]} % 2 AS d,
        ['', 'Case', 'case', 'back\\'][1 + ({h[2]} + {h[6]} % 2) % 4] AS e
        FROM range({first}, {last}) AS t(i)"""


FAMILIES = {"b": "categorical", "c": nbsql.Binned(by=[2, 4.5], nulls="category"), "d": "categorical"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, nbsql.AODE()),
        ({"nulls": "category", "unseen": "smooth"}, nbsql.AODE(least=40)),
        ({"alpha": 0}, nbsql.AODE()),
        ({"alpha": 0.5}, nbsql.AODE(shrinkage=3)),
        ({}, nbsql.AODE(least=1000)),
    ],
)
def test_pairs_of_categories(con: Connection, elsewhere: Elsewhere, options: dict[str, Any], method: nbsql.AODE) -> None:
    rows(con, learnt(0, 200), "learnt")
    model = nbsql.fit(con, "learnt", target="y", id="id", families=FAMILIES, method=method, **options)
    rows(
        con,
        f"""({learnt(200, 260)}) UNION ALL FROM (VALUES (NULL, NULL, NULL, NULL, NULL, NULL),
        (NULL, 'new', NULL, -100, NULL, 'CASE'), (NULL, 'it''s 1', TRUE, 'nan', 77, 'case'),
        (NULL, NULL, FALSE, 4.5e0, NULL, NULL), (NULL, NULL, FALSE, 4.5e0, NULL, NULL))""",
    )
    agree(con, elsewhere, model, LIKELIHOODS)
    agree(con, elsewhere, model, ["predict"])
