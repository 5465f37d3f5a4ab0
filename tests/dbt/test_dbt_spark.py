"""The package in a dbt project on Spark, in the session of the tests: every table is that of Python on DuckDB."""

import datetime
import subprocess
from contextlib import contextmanager, redirect_stdout
from io import StringIO

import duckdb
import pytest
from engines.servers import absent
from engines.servers import spark as spark_session
from support.dbt_projects import Project, equal, installed, needs_dbt

import nbsql

pytestmark = [
    *needs_dbt,
    pytest.mark.spark,
    # dbt, which runs in this process, leaves its log open.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

# Names and texts with what is special in Spark's literals; times of a zone are in that of the session.
ROWS = r"""
  SELECT
    CAST(i AS INTEGER) AS id, ['a', 'b', 'c\'][1 + i % 7 % 3] AS y, 'v''\${x}' || (i * 5 % 4) AS "a `category`",
    CASE WHEN i % 6 > 0 THEN i % 4 = 0 END AS flag, CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / 4 + i % 7 % 3 END AS x,
    i * 11 % 5 AS events,
    CASE WHEN i % 8 > 0 THEN 'The café ' || (i % 5) || E' sat\nhere' || repeat(' Mat''s', i % 3) END AS note,
    CASE WHEN i % 10 > 0 THEN ['u' || (i % 4), 'v', 'v'] END AS bag, MAP(['k', 'l'], [i % 3, 2]) AS counts,
    0.5 + i % 4 AS weight, DATE '2026-01-01' + CAST(i % 4 AS INTEGER) AS day,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i * 7) HOUR AS at
  FROM range(90) AS t(i)
"""
FAMILIES = {
    "events": {"family": "poisson", "a": 2, "b": 1},
    "x": {"family": "binned", "by": [1, 2.5]},
    "note": {"family": "text", "stop_words": "english", "ngrams": 2},
    "counts": {"family": "token_counts", "event": "complement"},
    "day": {"family": "calendar", "parts": ["weekday", "day"]},
    "at": {"family": "calendar", "parts": ["hour"], "zone": "Europe/Berlin"},
}
IN_PYTHON = {
    "events": nbsql.Poisson(2, 1),
    "x": nbsql.Binned(by=[1, 2.5]),
    "note": nbsql.Text(stop_words="english", ngrams=2),
    "counts": nbsql.TokenCounts(event="complement"),
    "day": nbsql.Calendar(["weekday", "day"]),
    "at": nbsql.Calendar(["hour"], zone="Europe/Berlin"),
}
META = {
    "counted": {"target": "y", "id": "id", "exclude": ["flag", "bag"], "weight": "weight", "families": FAMILIES},
    "few": {"target": "y", "features": ["flag", "x"]},
    "aged": {"target": "y", "features": ["flag", "x"], "weight": {"half_life": "2 days", "at": "at"}},
    "by_day": {"target": "y", "features": ["flag", "x"], "slice_by": "day", "lookback": 1},
    "appended": {"target": "y", "features": ["flag", "x"], "slice_by": "day"},
    "overwritten": {"target": "y", "features": ["flag", "x"], "slice_by": "day"},
}
BY_DAY = {
    "few_priors": "class_priors(ref('few'))",
    "scored": "predictions(ref('few'), source('raw', 'rows'), columns=['id', 'y'])",
}
# Spark takes long to plan these, which are built by night, with the counts that they are of.
BY_NIGHT = {
    "priors": "class_priors(ref('counted'))",
    "likelihoods": "feature_likelihoods(ref('counted'))",
    "explain": "explanation(ref('few'), source('raw', 'rows'))",
    "aged_priors": "class_priors(ref('aged'))",
    "predict_proba": "probabilities(ref('counted'), source('raw', 'rows'), columns='id')",
    "metrics": "evaluation(ref('few'), source('raw', 'rows'), weight='weight')",
    "monitor": "monitoring(ref('few'), source('raw', 'rows'), by='day')",
    "review": "review_queue(ref('few'), source('raw', 'rows'), n=5, columns='id')",
    "temperature": "fitted_calibration(ref('few'), source('raw', 'rows'))",
    "isotonic": "fitted_calibration(ref('few'), source('raw', 'rows'), method='isotonic')",
    "certain": "fitted_calibration(ref('few'), source('raw', 'rows'), method='certain', confidence=0.5)",
    "decided": "predictions(ref('few'), source('raw', 'rows'), columns='id', calibration=ref('certain'), certain=0.3)",
    "comparison": "comparison(ref('few'), ref('aged'), source('raw', 'rows'), weight='weight', calibration=ref('isotonic'))",
}
TARGET = {"type": "spark", "method": "session", "schema": "default", "host": "none", "threads": 1}
BY_SLICE = {"materialized": "incremental", "incremental_strategy": "insert_overwrite", "partition_by": "slice"}
CONFIG = {
    "by_day": BY_SLICE,
    "overwritten": {**BY_SLICE, "partition_by": None},
    "appended": {"materialized": "incremental", "unique_key": "slice"},
}
TESTS = {
    "few": ["nbsql.nbsql_statistics_not_negative"],
    "by_day": [{"nbsql.nbsql_drift_below": {"arguments": {"maximum": 9}}}],
    "monitor": [{"nbsql.nbsql_within": {"arguments": {"over": {"accuracy": 1}}}}],
    "scored": [{"nbsql.nbsql_accuracy_at_least": {"arguments": {"target": "y", "minimum": 0.4}}}],
}


class OnSpark(Project):
    """A project whose dbt runs in this process, as the session of Spark is here."""

    def dbt(self, *arguments):
        from dbt.cli.main import dbtRunner

        place = ("--project-dir", str(self.folder), "--profiles-dir", str(self.folder))
        with redirect_stdout(StringIO()) as out:
            result = dbtRunner().invoke([*arguments, *place, "--no-use-colors"])
        return subprocess.CompletedProcess(arguments, 0 if result.success else 1, out.getvalue(), str(result.exception or ""))


@contextmanager
def session():
    """A session in which small statements are quick."""
    if not installed("dbt.adapters.spark"):
        absent("dbt-spark is not installed: pip install '.[test]'")
    settings = {"codegen.factoryMode": "NO_CODEGEN", "codegen.wholeStage": "false", "adaptive.enabled": "false"}
    settings["shuffle.partitions"] = "1"
    with spark_session("local[1]", **{f"spark.sql.{name}": value for name, value in settings.items()}) as found:
        yield found


@pytest.fixture(scope="module")
def spark():
    with session() as found:
        yield found


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE rows AS {ROWS}")
        yield connection


@pytest.fixture(scope="module")
def project(spark, con, tmp_path_factory):
    models = dict.fromkeys(META, "{{ nbsql.statistics(source('raw', 'rows')) }}")
    incremental = "{{ nbsql.statistics(source('raw', 'rows'), where=var('rows', 'TRUE')) }}"
    models |= dict.fromkeys(CONFIG, incremental) | {
        name: f"{{{{ nbsql.{verb} }}}}" for name, verb in (BY_DAY | BY_NIGHT).items()
    }
    config = {name: {"materialized": "table"} for name in models} | CONFIG
    found = OnSpark(tmp_path_factory.mktemp("spark"), models, META, config, TESTS, target=TARGET)
    spark.createDataFrame(con.sql("FROM rows").to_arrow_table()).write.saveAsTable("rows")
    refused = [name for name in CONFIG if name != "by_day"]
    found.build("--vars", "rows: day < DATE '2026-01-03'", "--exclude", "counted", "aged", *refused, *BY_NIGHT)
    for name in refused:  # as a run has left it that was not refused
        spark.table("by_day").write.saveAsTable(name)
    return found


@pytest.fixture(scope="module")
def all_of_it(project):
    project.build("--select", "counted", "aged", *BY_NIGHT)


def table(spark, name):
    frame = spark.table(name)
    return frame.columns, [tuple(row) for row in frame.collect()]


@pytest.mark.nightly
def test_few_counts_and_scores_are_those_of_python_on_duckdb(spark, con, project):
    few = nbsql.fit(con, "rows", **META["few"])
    assert_cells(spark, "few", few)
    assert_tables(spark, {"few_priors": few.priors, "scored": few.predict("rows", columns=["id", "y"])})


def assert_cells(spark, name, model):
    cells = spark.sql(f"SELECT slice, class, feature, value, n, mean, m2 FROM {name}").collect()
    equal([tuple(row) for row in cells], [row[:7] for row in model.statistics])


def assert_tables(spark, queries):
    for name, query in queries.items():
        columns, rows = table(spark, name)
        assert columns == query.columns, name
        equal(rows, query.fetchall(), name)


def counted(con):
    return nbsql.fit(con, "rows", **{**META["counted"], "families": IN_PYTHON})


def aged(con):
    return nbsql.fit(con, "rows", **{**META["aged"], "weight": nbsql.HalfLife("2 days", "at")})


@pytest.mark.nightly
@pytest.mark.usefixtures("all_of_it")
def test_counts_of_every_family_evaluations_and_reviews_are_those_of_python_on_duckdb(spark, con):
    of_all, model, calibrated, promising = counted(con), *(nbsql.fit(con, "rows", **META["few"]) for _ in range(3))
    assert_cells(spark, "counted", of_all)
    queries = {
        "priors": of_all.priors,
        "likelihoods": of_all.likelihoods,
        "aged_priors": aged(con).priors,
        "predict_proba": of_all.predict_proba("rows", columns=["id"]),
        "metrics": model.evaluate("rows", weight="weight").metrics,
        "monitor": model.monitor("rows", by="day"),
        "review": model.review("rows", 5, columns=["id"]),
        "temperature": nbsql.fit(con, "rows", **META["few"]).calibrate("rows", folds=None).parameters,
        "isotonic": calibrated.calibrate("rows", method="isotonic", folds=None).parameters,
        "certain": promising.calibrate("rows", method="certain", folds=None, confidence=0.5).parameters,
        "decided": promising.predict("rows", certain=0.3, columns=["id"]),
        "comparison": calibrated.compare(aged(con), "rows", weight="weight"),
    }
    assert_tables(spark, queries)
    columns, rows = table(spark, "explain")
    expected = model.explain("rows")
    assert columns == expected.columns
    equal([row[1:] for row in rows], [row[1:] for row in expected.fetchall()])  # Spark's row_id is any number


@pytest.mark.nightly
def test_slices_are_replaced_by_partitions_and_in_no_other_way(spark, con, project):
    """The newest slice is counted again: rows of its day came later."""
    before = {tuple(row) for row in spark.sql("SELECT DISTINCT slice, batch FROM by_day").collect()}
    assert sorted(part for part, _ in before) == ["2026-01-01", "2026-01-02"]
    done = project.dbt("run", "--select", *CONFIG)
    assert project.statuses() == {"by_day": "success", "appended": "error", "overwritten": "error"}, done.stdout
    assert project.messages()["appended"] == (
        "nbsql: 'appended' replaces slices, which incremental_strategy 'append' does not; use 'insert_overwrite' with "
        "partition_by: slice"
    )
    assert project.messages()["overwritten"] == (
        "nbsql: 'overwritten' would lose its older slices: incremental_strategy 'insert_overwrite' needs partition_by: slice"
    )
    after = {tuple(row) for row in spark.sql("SELECT DISTINCT slice, batch FROM by_day").collect()}
    assert len(after) == 4
    assert [part for part, _ in before & after] == ["2026-01-01"]
    cells = nbsql.fit(con, "rows", **{key: value for key, value in META["by_day"].items() if key != "lookback"}).statistics
    found = spark.sql("SELECT slice, class, feature, value, n, mean, m2 FROM by_day").collect()
    equal([tuple(row) for row in found], [row[:7] for row in cells])


@pytest.mark.nightly
def test_an_answer_of_many_rows_is_kept_and_one_of_none(spark, project):
    """So many are too deep for Spark's parser as one SELECT each."""
    for name, n in (("many", 1500), ("none_at_all", 0)):
        query = f"WITH `a``b` AS (\nSELECT id, nullif('v' || id % 2, 'v1') AS t, id / 3 AS x FROM range({n})\n)\n"
        query += "SELECT one.*, DATE '2026-01-01' AS day, CAST(NULL AS INT) AS nothing\n"
        query += "FROM `a``b` AS one JOIN `a``b` AS two ON one.id = two.id"
        sql = f"{{{{ config(materialized='table') }}}} {{% set sql %}}{query}{{% endset %}}"
        sql += "{% if execute %}{{ nbsql.body_in_tables(sql) }}{% endif %}"
        (project.folder / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
    project.build("--select", "many", "none_at_all")
    columns, rows = table(spark, "many")
    assert columns == ["id", "t", "x", "day", "nothing"]
    day = datetime.date(2026, 1, 1)
    assert sorted(rows) == [(i, None if i % 2 else "v0", i / 3, day, None) for i in range(1500)]
    assert table(spark, "none_at_all") == (columns, [])
    assert [row.tableName for row in spark.sql("SHOW TABLES LIKE '*__nbsql_*'").collect()] == []


@pytest.mark.nightly
def test_names_and_texts_that_spark_would_change_and_views_of_comparisons_are_refused(spark, project):
    rows = spark.sql("SELECT 'a' AS y, id AS x, CAST(id AS STRING) COLLATE UTF8_LCASE AS z FROM range(5)")
    rows.withColumnRenamed("x", "x${y}").write.saveAsTable("others")
    kept = "{{ config(materialized='view') }} {{ nbsql.comparison(ref('few'), ref('by_day'), source('raw', 'rows')) }}"
    (project.folder / "models" / "kept.sql").write_text(kept, encoding="utf-8")
    for name, excluded in (("variable", "z"), ("collated", "x${y}")):
        options = {"target": "y", "exclude": [excluded]}
        sql = "{{ config(meta={'nbsql': " + repr(options) + "}) }} {{ nbsql.statistics(source('raw', 'others')) }}"
        (project.folder / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
    project.dbt("run", "--select", "variable", "collated", "kept")
    assert project.messages() == {
        "variable": "nbsql: the name 'x${y}' holds '${', which this engine replaces by a variable; rename it",
        "collated": "nbsql: column 'z' is string collate UTF8_LCASE, which has no family; leave it out with exclude: [z], or "
        "cast it, to text say",
        "kept": "nbsql: 'kept' is made in several statements, and a view would keep what they found; materialize it as a table",
    }
