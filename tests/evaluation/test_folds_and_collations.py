"""The fold of a row hangs on the bytes of its texts, not on how a session compares them."""

import duckdb
import pytest

import nbsql

ROWS = """SELECT
    i % 2 = 0 AS y,
    ['Red', 'red', 'réd', 'blau'][1 + i % 4] AS word,
    CAST(['Red', 'red'][1 + i // 2 % 2] AS shade) AS shade,
    [['Red', 'blau'][1 + i // 3 % 2], ['RED', 'réd'][1 + i // 5 % 2]] AS words,
    MAP {['Red', 'red', 'blau'][1 + i // 7 % 3]: 1 + i % 3} AS counts,
    CAST(i AS DOUBLE) AS x
FROM range(60) AS r(i)"""


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("sorted_rows", [1_000, 0])
def test_folds_are_the_same_under_every_collation(sorted_rows, layout):
    """Dealt by class, and by the hash alone, as those of a larger query are."""
    layout(sorted_rows=sorted_rows)
    found = []
    for collation in ("", "nocase", "noaccent"):
        with duckdb.connect(config={"threads": 1}) as con:
            con.execute(f"SET default_collation = '{collation}'")
            con.execute("CREATE TYPE shade AS ENUM ('Red', 'red')")
            con.execute(f"CREATE TABLE data AS {ROWS}")
            judged = nbsql.cross_validate(con, "SELECT * FROM data", target="y", folds=3)
            found.append([judged.evaluation.log_loss, judged.evaluation.brier])
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    assert found[2] == pytest.approx(found[0], rel=1e-9)
