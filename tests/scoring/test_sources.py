"""Every kind of source says the same, for fitting and for scoring, and a frame's rows come back in its order."""

from functools import cache, partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import nbsql
from nbsql.rendering.renderer import Renderer

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


SELECT = (
    "SELECT i AS id, i % 3 AS y, 'level ' || i * i % 7 AS category, sin(i) AS number, i % 2 = 0 AS flag FROM range(300) AS r(i)"
)
SELECTS = [
    "SELECT * FROM rows",
    "SELECT * FROM rows;",
    "  \n SELECT * FROM rows ; -- that is all",
    "-- all of them\nSELECT * /* every column; really */ FROM rows -- of the table",
    "SELECT * FROM rows WHERE category <> 'é;€' ; -- a;b\n ; /* c; */ -- d",
    "FROM rows",
    "(SELECT * FROM rows)",
    "WITH kept AS (SELECT * FROM rows) SELECT * FROM kept",
    "SELECT * FROM rows WHERE category <> 'a;b' AND category <> 'it''s -- not a comment'",
    "TABLE rows",
    "SELECT * FROM rows ORDER BY id",
]
NAMES = ["rows", "ROWS", '"rows"', "main.rows", "memory.main.rows", 'Memory."main".Rows', "rows_view", "main.rows_view"]

KINDS = {  # others are in test_source_kinds.py
    "relation of a query": lambda con: con.sql("SELECT * FROM rows ORDER BY id"),
    "pandas, nullable types": lambda con: con.sql("FROM rows").df().convert_dtypes(),
    "polars": lambda con: con.sql("FROM rows").pl(),
    "arrow reader": lambda con: con.sql("FROM rows").to_arrow_table().to_reader(),
}


@pytest.fixture
def rows(con):
    con.execute(f"CREATE TABLE rows AS {SELECT}")
    con.execute("CREATE VIEW rows_view AS SELECT * FROM rows")
    return con


def cells(model):
    """The statistics by class, feature and value."""
    near = partial(pytest.approx, rel=1e-12, abs=1e-12)
    return {row[1:4]: tuple(part if part is None else near(part) for part in row[4:7]) for row in model.statistics}


def answers(query):
    """Prediction and probability by id."""
    return {row[0]: (row[-2], pytest.approx(row[-1], rel=1e-12)) for row in query}


@cache
def expected(layout):
    """The statistics of the table, and what it is predicted, in a form of scoring."""
    assert Renderer.layout == layout
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE rows AS {SELECT}")
        model = nbsql.fit(con, "rows", target="y", id="id")
        return cells(model), answers(model.predict("rows"))


def assert_same(con, source, again):
    """A fit on the source, and a score of it, are those of the table."""
    statistics, predictions = expected(Renderer.layout)
    model = nbsql.fit(con, source, target="y", id="id")
    assert {row[1:4]: row[4:7] for row in model.statistics} == statistics
    found = {row[0]: (row[-2], row[-1]) for row in model.predict(again)}
    assert found == predictions
    assert len(found) == 300


@pytest.mark.parametrize("kind", KINDS)
def test_a_relation_or_frame_is_a_source(rows, kind):
    assert_same(rows, KINDS[kind](rows), KINDS[kind](rows))


@pytest.mark.parametrize("name", NAMES)
def test_a_table_or_view_is_a_source_by_its_name(rows, name):
    assert_same(rows, name, name)


@pytest.mark.few
@pytest.mark.parametrize("text", SELECTS)
def test_a_select_is_a_source(rows, text):
    assert_same(rows, text, text)


@pytest.mark.parametrize("name", ['odd "name"', "two words", "a.b", "order", "schlüssel; --", "'quoted'"])
def test_a_table_is_found_by_its_bare_name_whatever_it_is(rows, name):
    quoted = '"' + name.replace('"', '""') + '"'
    rows.execute(f"CREATE TABLE {quoted} AS FROM rows")
    rows.execute(f"CREATE SCHEMA other; CREATE TABLE other.{quoted} AS FROM rows")
    for source in (name, f"other.{quoted}"):
        assert_same(rows, source, source)


def test_a_table_of_another_schema_and_database_is_a_source(rows, tmp_path):
    rows.execute(f"ATTACH '{tmp_path}/far.duckdb' AS far; CREATE SCHEMA far.away; CREATE TABLE far.away.rows AS FROM rows")
    assert_same(rows, "far.away.rows", 'FAR."away".rows')


def test_a_temporary_table_hides_a_table_as_in_duckdb(rows):
    rows.execute("CREATE TEMP TABLE rows AS SELECT * REPLACE (y + 10 AS y) FROM memory.main.rows")
    assert sorted(nbsql.fit(rows, "rows", target="y", id="id").classes) == [10, 11, 12]


@pytest.mark.parametrize("name", ["rows", "rows_view", "kept"])
def test_sql_macros_take_tables_views_and_common_table_expressions(rows, name):
    model = nbsql.fit(rows, "rows", target="y", id="id", name="spam")
    prefix = "WITH kept AS (SELECT * FROM rows) "
    found = {row[0]: row[-2:] for row in rows.execute(f"{prefix} FROM spam.predict('{name}')").fetchall()}
    assert found == answers(model.predict("rows"))
    for verb in ("predict_proba", "joint_log_likelihood", "log_evidence", "explain"):
        answer = rows.execute(f"{prefix} FROM spam.{verb}('{name}')").df()
        assert list(answer) == getattr(model, verb)("rows").columns
        assert len(answer) == (300 * 3 * 4 if verb == "explain" else 300)


def test_a_relation_over_a_frame_of_the_caller_is_a_source(rows):
    frame = rows.sql("FROM rows").df()  # read below by its name, as DuckDB lets Python's variables be read
    assert_same(rows, rows.sql("SELECT * FROM frame"), rows.sql("FROM frame"))
    assert len(frame) == 300


def test_a_reader_is_read_once_but_scores_as_often_as_asked(rows):
    model = nbsql.fit(rows, "rows", target="y", id="id")
    query = model.predict(KINDS["arrow reader"](rows))
    assert len(query.fetchall()) == len(query.df()) == len(query.pl()) == query.arrow().num_rows == 300


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "reader": lambda frame: pa.Table.from_pandas(frame, preserve_index=False).to_reader(max_chunksize=1_000),
}


@pytest.mark.slow
@pytest.mark.forms("kind")
@pytest.mark.parametrize("kind", ["category", "text", "number", "all"])
def test_rows_of_a_frame_come_back_in_its_order(con, kind):
    random = np.random.default_rng(11)
    key = random.permutation(20_000)
    columns = {
        "category": np.char.add("level ", (key % 5_000).astype(str)),
        "text": np.char.add(np.char.add("word", (key % 300).astype(str)), " and more"),
        "number": np.sin(key),
    }
    chosen = columns if kind == "all" else {kind: columns[kind]}
    frame = pd.DataFrame({"key": key, "y": key * 7 % 4, **chosen})
    families = {"text": "text"} if "text" in chosen else {}
    model = nbsql.fit(con, frame, target="y", id="key", families=families)
    for name, make in FRAMES.items():
        predicted = model.predict(make(frame))
        assert (predicted.df()["key"].to_numpy() == key).all(), name
        assert (predicted.pl()["key"].to_numpy() == key).all(), name
        assert (predicted.arrow()["key"].to_numpy() == key).all(), name
        assert [row[0] for row in predicted] == key.tolist(), name
        for verb in (model.predict_proba, model.joint_log_likelihood, model.log_evidence):
            assert (verb(make(frame)).df()["key"].to_numpy() == key).all(), name


def test_predictions_have_the_index_of_a_pandas_frame(con):
    frame = pd.DataFrame({"y": ["a", "b", "a", "b"], "x": ["s", "t", "s", "u"]}, pd.Index([7, 3, 5, 0], name="key"))
    model = nbsql.fit(con, frame, target="y", derive={"z": "upper(x)"}, alpha=0.1)
    verbs = (model.predict, model.predict_proba, model.joint_log_likelihood, model.log_evidence, model.impute)
    for rows in (*(verb(frame) for verb in verbs), model.predict(frame, thresholds={"a": 0.5}), model.predict(frame, top_k=1)):
        pd.testing.assert_index_equal(rows.df().index, frame.index if "rank" not in rows.columns else pd.RangeIndex(4))
    assert frame.assign(answer=model.predict(frame).df()["prediction"])["answer"].tolist() == ["a", "b", "a", "b"]
    assert model.predict(frame[2:]).limit(1).df().index.tolist() == [5]
    assert model.explain(frame).limit(3).df().index.tolist() == [0, 1, 2]
    con.execute("CREATE TABLE days AS FROM frame")
    assert model.predict("days").df().index.tolist() == [0, 1, 2, 3]
    assert model.predict(model.predict(frame[1:], columns=["x"]), columns=[]).df().index.tolist() == [0, 1, 2]  # of a query


def test_explanations_of_a_frame_number_its_rows_from_1(con):
    key = np.random.default_rng(12).permutation(3_000)
    frame = pd.DataFrame({"key": key, "y": key % 2, "category": np.char.add("level ", (key % 500).astype(str))})
    explained = nbsql.fit(con, frame, target="y", id="key").explain(frame).df()
    assert (explained["row_id"].to_numpy() == np.repeat(np.arange(1, 3_001), 4)).all()
    assert (explained["key"].to_numpy() == np.repeat(key, 4)).all()


def test_whole_numbers_as_categories_are_found_when_a_frame_turned_them_into_doubles(con):
    train = "FROM (VALUES ('a', 1), ('a', 1), ('b', 2)) AS t(y, x)"
    model = nbsql.fit(con, train, target="y", families={"x": "categorical"})
    whole = model.predict_proba("SELECT unnest([2, 1, NULL]) AS x").fetchall()
    doubles = model.predict_proba("SELECT unnest([2.0, 1.0, NULL]::DOUBLE[]) AS x").fetchall()
    assert {row[0]: row[1] for row in whole} == {1: "a", 2: "b", None: "a"}
    assert {row[0]: row[1:] for row in whole} == {row[0]: row[1:] for row in doubles}


@pytest.mark.parametrize("rows", ["", "1,level 0,,\n", "1,,,\n2,,,\n"])
def test_columns_of_a_file_without_any_value_are_missing_values(con, tmp_path, rows):
    con.execute(f"CREATE TABLE rows AS {SELECT}")
    model = nbsql.fit(con, "rows", target="y", id="id")
    path = tmp_path / "new.csv"
    path.write_text("id,category,number,flag\n" + rows)
    table = f"SELECT id, category, CAST(number AS DOUBLE) AS number, CAST(flag AS BOOLEAN) AS flag FROM '{path}'"
    for verb in (model.predict_proba, model.explain):
        assert sorted(map(str, verb(path).fetchall())) == sorted(map(str, verb(table).fetchall()))
    path.write_text("id,category,number,flag\n1,a,much,\n")
    with pytest.raises(
        nbsql.InputError, match=r"^column 'number' of .* is VARCHAR, which the model cannot take for a gaussian"
    ):
        model.predict(path)


@pytest.mark.parametrize("kind", ["dataset", "scanner", "lazy frame"])
def test_names_twice_are_refused_in_what_is_read_lazily(con, tmp_path, kind):
    table = pa.table([["a", "b"], [1, 2], ["u", "v"]], names=["y", "x", "Y"])
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    dataset = pa.dataset.dataset(tmp_path / "rows.parquet")
    source = {"dataset": dataset, "scanner": dataset.scanner(), "lazy frame": pl.scan_parquet(tmp_path / "rows.parquet")}[kind]
    with pytest.raises(nbsql.InputError, match=r"^column 'Y' is ambiguous in the \w+, which has it twice; rename one$"):
        nbsql.fit(con, source, target="y")


def test_a_masked_array_has_rows_and_its_masked_values_are_missing(con):
    values = np.array([[1, 7.0], [2, 3.0], [1, 4.0], [2, 9.0]])
    masked = np.ma.masked_array(values, [[False, True], [False, False], [False, False], [False, True]])
    model = nbsql.fit(con, masked, target="column0")
    assert [(row[0], row[1], row[5]) for row in model.likelihoods] == [(1.0, "column1", 4.0), (2.0, "column1", 3.0)]
    assert len(model.predict(masked).fetchall()) == 4


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_numpy_is_an_array(con):
    rows = np.array([[0, 1.0], [0, 2.0], [1, 7.0], [1, 8.0]])
    found = [nbsql.fit(con, each, target="column0").statistics.fetchall() for each in (rows, np.matrix(rows))]
    assert found[0] == found[1]
