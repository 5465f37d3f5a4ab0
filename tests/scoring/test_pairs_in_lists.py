"""Categories with parents find their scores by the codes of their columns, without the text of a pair (listed_pairs.sql)."""

import pytest
from support.listed import assert_scored_as_one_row

import nbsql

ROWS = """SELECT
    i AS id, CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'green' ELSE 'blue' END AS y,
    CASE WHEN i % 8 > 0 THEN 'k"' || (i * 5 % 4 + i % 2) END AS kind, i * 3 % 5 AS code,
    CASE WHEN i % 9 > 0 THEN 'l' || i * 7 % 11 // 2 END AS letter,
    CASE WHEN i % 8 = 1 THEN 'NaN' WHEN i % 8 = 2 THEN 'inf' ELSE i * 13 % 10 / 4 END::DOUBLE AS size,
    (i * 31 % 100 / 7)::DECIMAL(5, 2) AS x
    FROM range(400) AS rows(i)"""
COLUMNS = ["kind", "code", "letter", "size", "x"]
C, EDGES = nbsql.Conditional, {"edges": [0.5, 1.5]}
FAMILIES = {
    "kind": C("letter"),
    "letter": C("code", nulls="category", unseen="smooth"),
    "code": C("size", parent_edges=[0.5, 1.5], further=[{"column": "kind", "nulls": "category"}], shrinkage=2, unseen="smooth"),
    "size": C("x", **EDGES, parent_edges=[3, 7], nulls="category"),
    "x": "categorical",
}


@pytest.fixture
def con(con):
    con.execute(f"CREATE TABLE t AS {ROWS}")
    con.execute("CREATE TABLE odd AS FROM t")
    con.execute("UPDATE odd SET kind = 'new' WHERE id % 5 = 0")
    con.execute("UPDATE odd SET letter = 'z', code = 77 WHERE id % 7 = 0")
    con.execute("UPDATE odd SET code = NULL, x = NULL WHERE id % 11 = 0")
    return con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the weights were learnt from")
@pytest.mark.parametrize(
    "options",
    [
        {"families": FAMILIES},
        {"families": FAMILIES, "alpha": 0},
        {"families": FAMILIES, "prior": "uniform", "weight": "w"},
        {"method": nbsql.TAN(bins=4)},
        {"method": nbsql.KDB(bins=3)},
        {"method": nbsql.Weighted(parents=1, penalty=1)},
    ],
    ids=["", "alpha", "weight", "tan", "kdb", "weighted"],
)
def test_they_are_scored_as_one_row_is_by_the_texts(con, options):
    """`predict_one` joins each pair with its likelihood, by the text of its values."""
    rows = "SELECT *, 1 + id % 4 AS w FROM t WHERE id < 300 AND coalesce(kind <> 'k\"2', TRUE)"
    model = nbsql.fit(con, rows, target="y", features=COLUMNS, **options)
    for _ in range(2):
        for source in ("t", "odd"):
            assert_scored_as_one_row(con, model, source, COLUMNS, name="nbsql codes", step=23)
        model.update("SELECT *, 1 AS w FROM t WHERE id >= 300")  # with a value that the fit had not seen


def test_pairs_of_many_values_are_joined(con):
    con.execute("CREATE TABLE many AS SELECT y, 'a' || id % 80 AS a, 'b' || id % 70 AS b, code FROM t")
    model = nbsql.fit(con, "many", target="y", families={"a": C("b"), "code": C("a")})
    query = model.predict("many").sql
    assert "(1, 'code', " in query
    assert "(2, " not in query.partition("AS features(")[0]
    assert "level_1.feature = 'a'" in query
