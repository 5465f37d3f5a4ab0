"""Labels of any scalar type keep their type in the statistics and in predictions, of a file and in place, too."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")


# SQL type, the smaller and the larger label as SQL, and as Python.
LABELS = [
    ("BOOLEAN", "FALSE", "TRUE", False, True),
    ("INTEGER", "-3", "12", -3, 12),
    ("HUGEINT", "1", "170141183460469231731687303715884105727", 1, 2**127 - 1),
    ("VARCHAR", "'it''s'", "'ünï \"x\"'", "it's", 'ünï "x"'),
    ("DATE", "'1999-12-31'", "'2000-01-01'", date(1999, 12, 31), date(2000, 1, 1)),
    ("TIMESTAMP", "'1999-12-31 23:59:59'", "'2000-01-01'", datetime(1999, 12, 31, 23, 59, 59), datetime(2000, 1, 1)),
    ("DOUBLE", "0.1", "1e300", 0.1, 1e300),
    ("DECIMAL(5,2)", "1.50", "2.00", Decimal("1.50"), Decimal("2.00")),
    ("ENUM('zebra', 'ant')", "'ant'", "'zebra'", "ant", "zebra"),  # as texts, not in the order of the declaration
    ("UUID", f"'{UUID(int=1)}'", f"'{UUID(int=2)}'", UUID(int=1), UUID(int=2)),
]
types = pytest.mark.parametrize(("sql_type", "low", "high", "smaller", "larger"), LABELS, ids=[label[0] for label in LABELS])


def rows(sql_type, low, high):
    """Two rows of the smaller label and three of the larger."""
    return f"""
      SELECT CAST(y AS {sql_type}) AS y, x FROM (
        SELECT CAST({low} AS {sql_type}) AS y, unnest(['u', 'u']) AS x
        UNION ALL SELECT CAST({high} AS {sql_type}), unnest(['u', 'v', 'v']))"""


@pytest.mark.few
@types
def test_labels_keep_their_type(con, tmp_path, sql_type, low, high, smaller, larger):
    model = nbsql.fit(con, rows(sql_type, low, high), target="y", name="spam")
    assert model.classes == [larger, smaller]
    kept = "VARCHAR" if sql_type.startswith("ENUM") else str(con.sql(f"SELECT CAST({low} AS {sql_type}) AS y").types[0])
    for query in (model.statistics, model.priors, model.likelihoods):
        assert str(dict(zip(query.columns, query.relation.types, strict=True))["class"]) == kept
    source = "SELECT unnest(['u', 'v']) AS x"
    model.export(tmp_path / "model.parquet")
    copy = nbsql.import_(con, tmp_path / "model.parquet")
    with duckdb.connect() as elsewhere:
        in_place = elsewhere.sql(model.sql("predict", source, inline=True))
        for predicted in (model.predict(source).relation, copy.predict(source).relation, in_place):
            assert str(predicted.types[1]) == kept
            assert sorted(predicted.fetchall()) == [
                ("u", smaller, pytest.approx(2 * 3 / 4 / (2 * 3 / 4 + 3 * 2 / 5), rel=1e-13)),
                ("v", larger, pytest.approx(3 * 3 / 5 / (3 * 3 / 5 + 2 * 1 / 4), rel=1e-13)),
            ]
    explained = model.explain("SELECT 'u' AS x")
    assert str(explained.relation.types[1]) == kept
    assert {row[1] for row in explained} == {smaller, larger}


@pytest.mark.few
@types
def test_columns_are_named_by_labels_which_are_keys_of_priors_and_decide_ties(con, sql_type, low, high, smaller, larger):
    given = nbsql.fit(con, rows(sql_type, low, high), target="y", prior={smaller: 0.875, larger: 0.125})
    assert {row[0]: row[2] for row in given.priors} == {smaller: 0.875, larger: 0.125}
    assert given.classes == [smaller, larger]
    model = nbsql.fit(con, rows(sql_type, low, high), target="y", prior="uniform")
    assert model.predict("SELECT 'never seen' AS x").fetchall() == [("never seen", smaller, pytest.approx(0.5))]
    texts = [con.execute(f"SELECT CAST(CAST({label} AS {sql_type}) AS VARCHAR)").fetchall()[0][0] for label in (low, high)]
    assert model.predict_proba("SELECT 'u' AS x").columns[3:] == [f"probability_{text}" for text in texts]
    assert model.joint_log_likelihood("SELECT 'u' AS x").columns[1:] == [f"joint_log_likelihood_{text}" for text in texts]


@pytest.mark.parametrize("named", [None, "many"])
def test_a_hundred_classes(con, named):
    con.execute("CREATE TABLE numbers AS SELECT i % 100 AS y, (i % 100) * 10.0 + (i // 100) % 3 AS x FROM range(900) AS r(i)")
    model = nbsql.fit(con, "numbers", target="y", name=named)
    assert [row[2] for row in model.predict("SELECT DISTINCT y, y * 10.0 + 1 AS x FROM numbers ORDER BY y")] == list(range(100))
    assert sum(row[2] for row in model.priors) == pytest.approx(1, abs=1e-13)
    scored = model.predict_proba("SELECT 435.5 AS x").fetchall()[0]
    assert sum(scored[3:]) == pytest.approx(1, abs=1e-13)
    assert scored[1] == 43
