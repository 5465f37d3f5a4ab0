"""A quotient of nothing is none, where a setting of the session makes a division by 0 an error."""

import duckdb
import pytest

import nbsql

# The number of class a in the slice n has no weight; an infinity elsewhere has all numbers read again, from the means of
# their classes.
ROWS = """(VALUES (1, 'a', 'm', 0.2, 2.0), (2, 'a', 'n', 0.3, 0.0), (7, 'a', 'n', NULL, 1.0), (3, 'b', 'm', 0.4, 1.0),
    (4, 'b', 'n', 0.7, 3.0), (5, 'b', 'm', 'inf'::DOUBLE, 1.0), (6, 'a', 'm', 0.5, 1.0)) AS t(i, y, part, x, w)"""


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_number_without_weight_is_divided_by_nothing(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"CREATE TABLE t AS SELECT * REPLACE (x::DOUBLE AS x, w::DOUBLE AS w) FROM {ROWS}")
    options = {"target": "y", "id": "i", "features": ["x"], "slice_by": "part", "weight": "w"}
    found = []
    for setting in ("false", "true"):
        con.execute(f"SET integer_division = {setting}")
        model = nbsql.fit(con, "t", **options)
        found.append((model.statistics.fetchall(), model.predict_proba("t").fetchall()))
    con.execute("RESET integer_division")
    assert found[0] == found[1]
    assert found[0][0]
