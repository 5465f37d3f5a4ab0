"""Settings of a session under which a statement of a model would fail, or mean something else."""

import duckdb
import pandas as pd
import pytest

import nbsql

# The number of class a in the slice n has no weight; an infinity elsewhere has all numbers read again, from the means of
# their classes.
ROWS = """(VALUES (1, 'a', 'm', 0.2, 2.0), (2, 'a', 'n', 0.3, 0.0), (7, 'a', 'n', NULL, 1.0), (3, 'b', 'm', 0.4, 1.0),
    (4, 'b', 'n', 0.7, 3.0), (5, 'b', 'm', 'inf'::DOUBLE, 1.0), (6, 'a', 'm', 0.5, 1.0)) AS t(i, y, part, x, w)"""


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_number_without_weight_is_divided_by_nothing(con):
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


ACTS = {
    "fit": lambda con, _: nbsql.fit(con, "t", target="y"),
    "load": lambda con, _: nbsql.load(con, "m"),
    "cross_validate": lambda con, _: nbsql.cross_validate(con, "t", folds=2, target="y"),
    "predict": lambda _, model: model.predict("t").fetchall(),
    "evaluate": lambda _, model: model.evaluate("t"),
    "update": lambda _, model: model.update("t"),
}


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1.5 has no such settings")
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("preserve_identifier_case", "UPPERCASE", "this session writes names in capitals: RESET preserve_identifier_case"),
        ("dialect_compatibility_mode", "spark", "this session counts from 0 in lists: RESET dialect_compatibility_mode"),
    ],
)
def test_settings_that_change_what_sql_means_are_refused(setting, value, message):
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS SELECT x, y FROM {ROWS}")
        model = nbsql.fit(con, "t", target="y", name="m")
        before = con.execute("FROM m.statistics ORDER BY ALL").fetchall()
        con.execute(f"SET {setting} = '{value}'")
        for name, act in ACTS.items():
            with pytest.raises(nbsql.DatabaseError) as caught:
                act(con, model)
            assert str(caught.value) == message, name
        for macro in ("predict('t')", "explain('t', database := 'memory')", "likelihood_ratios('a', 'b')"):
            with pytest.raises(duckdb.InvalidInputException, match=message):
                con.sql(f"FROM m.{macro}")
        con.execute(f"RESET {setting}")
        assert con.execute("FROM m.statistics ORDER BY ALL").fetchall() == before
        assert nbsql.models(con) == ["m"]


def test_objects_of_a_frame_are_no_texts(con):
    rows = pd.DataFrame({"y": [1, 2] * 10, "x": pd.Series([{"a": [1]}, {"a": [2]}] * 10, dtype=object)})
    con.execute("SET pandas_analyze_sample = 0")
    with pytest.raises(
        nbsql.DatabaseError, match=r"^this session reads objects of frames as texts: RESET pandas_analyze_sample$"
    ):
        nbsql.fit(con, rows, target="y")
    assert nbsql.fit(con, rows.assign(x=[1.5, 2.5, 4.0, 1.0] * 5), target="y", features=["x"]).classes == [1, 2]
    tokens = rows.assign(x=pd.Series([["a", "b"], ["c"]] * 10, dtype=object))
    assert nbsql.fit(con, tokens, target="y").families["x"].name == "tokens"


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1.5 has no such setting")
def test_a_query_that_takes_too_long_for_the_session_says_so():
    long = "SELECT a.range % 2 AS y, hash(a.range + b.range) % 3 AS x FROM range(100_000) AS a, range(100_000) AS b"
    with duckdb.connect() as con:
        con.execute("SET max_execution_time = 200")
        with pytest.raises(nbsql.DatabaseError) as caught:
            nbsql.fit(con, long, target="y")
        con.execute("RESET max_execution_time")
    cure = "SET max_execution_time = 0, or a longer time in milliseconds"
    assert str(caught.value) == f"the query took longer than this session allows; {cure}"


def test_a_model_whose_views_hold_its_tables_is_made_anew():
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS SELECT y, part FROM {ROWS}")
        con.execute("SET enable_view_dependencies = true")
        model = nbsql.fit(con, "t", target="y", name="m")
        with pytest.raises(nbsql.DatabaseError, match="RESET enable_view_dependencies, and fit it with replace=True"):
            model.update("t")
        con.execute("RESET enable_view_dependencies")
        model = nbsql.fit(con, "t", target="y", name="m", replace=True)
        model.update("t")
        assert [row[0] for row in model.batches] == ["1", "2"]
