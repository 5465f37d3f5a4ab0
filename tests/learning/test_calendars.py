"""A date is no obstacle to a fit: its parts are features, and what is not learnt of it is said."""

import sqlite3
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd
import pytest

import nbsql

OPTIONS = {"target": "fate", "id": "id"}
PARTS = {name: f"{name} of called" for name in ("month", "day", "weekday", "hour")}
BY_HAND = (
    'SELECT id, fate, month(called) AS "month of called", day(called) AS "day of called", '
    'dayname(called) AS "weekday of called", hour(called) AS "hour of called" FROM calls'
)


@pytest.fixture
def con(con):
    con.execute(
        "CREATE TABLE calls AS SELECT i AS id, CASE WHEN i * 7 % 24 > 17 OR i % 11 = 0 THEN 'missed' ELSE 'taken' END AS fate, "
        "CASE WHEN i % 13 > 0 THEN TIMESTAMP '2026-01-01 00:10:00' + INTERVAL (i * 7) HOUR END AS called "
        "FROM range(400) AS r(i)"
    )
    return con


def posteriors(query):
    """The ids of the rows and their probabilities, in one list."""
    return [x for row in sorted(query.fetchall(), key=lambda row: row[0]) for x in (row[0], *row[-2:])]


def names(con, source="calls", **options):
    return list(nbsql.families(con, source, **{**OPTIONS, **options}))


@pytest.mark.slow
def test_a_date_has_the_parts_that_vary_and_recur(con, tmp_path):
    hand = nbsql.fit(con, BY_HAND, families=dict.fromkeys(PARTS.values(), "categorical"), **OPTIONS)
    expected = posteriors(hand.predict_proba(BY_HAND))
    con.execute(f"COPY calls TO '{tmp_path}/calls.csv'")
    con.execute(f"COPY calls TO '{tmp_path}/calls.parquet'")
    frame = con.execute("FROM calls").df()
    model = nbsql.fit(con, "calls", name="m", **OPTIONS)
    assert list(model.families) == list(PARTS.values())  # one year, whole hours
    sources = ["calls", "FROM calls", f"{tmp_path}/calls.csv", f"{tmp_path}/*.parquet", con.table("calls").to_arrow_table()]
    for source in [*sources, frame, con.table("calls").pl(), frame.replace({np.nan: None}).to_dict("records")]:
        assert posteriors(model.predict_proba(source)) == pytest.approx(expected)
        assert posteriors(nbsql.fit(con, source, **OPTIONS).predict_proba("calls")) == pytest.approx(expected)
    found = con.execute("FROM m.predict_proba('calls') ORDER BY id").fetchall()
    assert [x for row in found for x in (row[0], *row[-2:])] == pytest.approx(expected)
    assert model.predict("calls").columns == ["id", "fate", "called", "prediction", "probability"]
    scripted = nbsql.fit_sql(con, "calls", name="scripted", **OPTIONS)
    con.execute(scripted)
    assert posteriors(nbsql.load(con, "scripted").predict_proba("calls")) == pytest.approx(expected)
    model.update("calls")
    model.forget("calls")
    assert posteriors(model.predict_proba("calls")) == pytest.approx(expected)
    assert {row[0] for row in model.relevance()} == {*PARTS.values()}
    assert model.evaluate("calls", by="weekday of called").slices.fetchall()
    for text in (repr(model), *map(str, model.monitor("calls").fetchall())):
        assert "called" in text or "None" in text
    folds = nbsql.cross_validate(con, "calls", **OPTIONS).log_loss
    by_hand = nbsql.cross_validate(con, BY_HAND, families=dict.fromkeys(PARTS.values(), "categorical"), **OPTIONS).log_loss
    assert folds == pytest.approx(by_hand)


def test_what_the_options_of_a_fit_say(con):
    every = list(PARTS.values())
    assert names(con, families={"called": "calendar"}) == every
    assert names(con, families={"*led": nbsql.Calendar(["minute", "hour"])}) == ["minute of called", "hour of called"]
    assert names(con, exclude=["called"]) == []
    assert names(con, exclude=["hour of called", "year of called"]) == every[:3]
    assert names(con, features=["called"]) == every
    assert names(con, features=["minute of called"]) == ["minute of called"]
    assert names(con, id=["id", "called"]) == []
    assert names(con, families={"called": "categorical"}) == ["called"]
    found = nbsql.families(con, "calls", families={"called": nbsql.Calendar(nulls="category", alpha=2)}, **OPTIONS)
    assert {(family.name, family.nulls, family.alpha) for family in found.values()} == {("categorical", "category", 2.0)}
    assert nbsql.families(con, "calls", families={"hour of called": "gaussian"}, **OPTIONS)["hour of called"].name == "gaussian"
    derived = names(con, "SELECT * REPLACE (strftime(called, '%d/%m/%Y') AS called) FROM calls",
                    derive={"called": "strptime(called, '%d/%m/%Y')"})  # fmt: skip
    assert derived == every[:3]
    with pytest.warns(nbsql.NbsqlWarning, match="no part of 'at' has several values with some rows each; left out"):
        assert names(con, "SELECT id, fate, DATE '2026-01-01' + id::INTEGER AS at FROM calls LIMIT 6") == []
    con.execute("CREATE TABLE people AS SELECT i AS who, DATE '1990-01-01' + i::INTEGER AS born FROM range(4) AS r(i)")
    joined = "SELECT *, id % 4 AS who FROM calls"
    with pytest.warns(nbsql.NbsqlWarning, match="'born' comes with a join, and dates are read in the source alone; left out"):
        assert names(con, joined, joins=nbsql.Join("people", "who")) == every
    with pytest.raises(nbsql.InputError, match="'born' comes with a join, and parts are those of a column of the query itself"):
        names(con, joined, joins=nbsql.Join("people", "who"), families={"born": "calendar"})


@pytest.mark.nightly
def test_searches_and_methods_take_parts(con):
    for method in ("tan", "aode", "logistic"):
        model = nbsql.fit(con, "calls", method=method, **OPTIONS)
        assert len(model.predict("calls").fetchall()) == 400
    swept = nbsql.sweep(con, "calls", families=[{"called": nbsql.Calendar(["day"])}, None], **OPTIONS)
    assert {*swept.best().families} <= {*PARTS.values()}
    assert list(nbsql.fit(con, "calls", features=nbsql.Best(1), **OPTIONS).families) == ["hour of called"]
    assert "hour of called" in nbsql.auto(con, "calls", **OPTIONS).best().families
    aged = nbsql.fit(con, "SELECT *, called::DATE AS day FROM calls WHERE called IS NOT NULL",
                     weight=nbsql.HalfLife("30 days", at="called"), features=["day"], **OPTIONS)  # fmt: skip
    assert list(aged.families) == ["month of day", "day of day", "weekday of day"]


@pytest.mark.slow
def test_times_with_a_zone_are_those_of_utc_or_of_the_zone_asked_for(con):
    zoned = "SELECT * REPLACE (called AT TIME ZONE 'UTC' AS called) FROM calls"
    with pytest.warns(
        nbsql.NbsqlWarning, match="the parts of 'called' are those of the time zone UTC; for another one, families="
    ):
        model = nbsql.fit(con, zoned, name="z", **OPTIONS)
    expected = posteriors(nbsql.fit(con, "calls", **OPTIONS).predict_proba("calls"))
    for zone in ("Asia/Tokyo", "UTC"):
        con.execute(f"SET TimeZone = '{zone}'")
        assert posteriors(model.predict_proba(zoned)) == pytest.approx(expected)
    con.execute(f"CREATE VIEW wrong AS {zoned.replace('UTC', 'UTC')}; CREATE VIEW right_ AS FROM calls")
    with pytest.raises(
        duckdb.Error, match="column called is TIMESTAMP, and the model has learnt TIMESTAMP WITH TIME ZONE there"
    ):
        con.execute("FROM z.predict('right_')").fetchall()
    with pytest.raises(nbsql.InputError, match="is TIMESTAMP, and model 'z' has learnt TIMESTAMP WITH TIME ZONE there"):
        model.predict("calls")
    berlin = nbsql.fit(con, zoned, families={"called": nbsql.Calendar(zone="Europe/Berlin")}, **OPTIONS)
    local = "SELECT * REPLACE (called AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin' AS called) FROM calls"
    assert posteriors(berlin.predict_proba(zoned)) == pytest.approx(
        posteriors(nbsql.fit(con, local, features=["called"], exclude=["year of called"], **OPTIONS).predict_proba(local))
    )
    with pytest.raises(
        nbsql.NotSupportedError, match="part of a time in Europe/Berlin, and sqlite may not know this time zone"
    ):
        berlin.sql("predict", "calls", dialect="sqlite")


@pytest.mark.slow
def test_a_scorer_for_sqlite_reads_dates_of_iso_8601(con):
    model = nbsql.fit(con, "calls", **OPTIONS)
    rows = con.execute("SELECT id, strftime(called, '%Y-%m-%d %H:%M:%S') FROM calls").fetchall()
    with sqlite3.connect(":memory:") as lite:
        lite.execute("CREATE TABLE calls (id INTEGER, called TEXT)")
        lite.executemany("INSERT INTO calls VALUES (?, ?)", rows)
        scored = lite.execute(model.sql("predict_proba", "calls", dialect="sqlite")).fetchall()
    assert [x for row in sorted(scored) for x in (row[0], *row[-2:])] == pytest.approx(posteriors(model.predict_proba("calls")))
    for dialect in ("bigquery", "clickhouse", "databricks", "mysql", "redshift", "snowflake", "trino", "tsql"):
        assert "hour" in model.sql("predict", "calls", dialect=dialect).lower()


def test_arrays_and_frames_of_estimators():
    pytest.importorskip("sklearn")
    from nbsql.sklearn import NaiveBayesClassifier

    days = pd.date_range("2026-02-02", periods=70, freq="D")
    labels = np.arange(70) % 7 // 5
    array = np.array([[day.to_pydatetime(), float(i % 5)] for i, day in enumerate(days)], dtype=object)
    for rows in (pd.DataFrame({"x0": days}), days.to_numpy().reshape(-1, 1), array):
        estimator = NaiveBayesClassifier(families={"x0": nbsql.Calendar(["weekday"])}).fit(rows, labels)
        assert estimator.predict(rows).tolist() == labels.tolist()
        assert next(iter(estimator.model_.families)) == "weekday of x0"


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"parts": ["weekdays"]}, "no part 'weekdays' of a date; did you mean 'weekday'?"),
        (
            {"parts": ["century"]},
            "no part 'century' of a date; the parts are 'year', 'month', 'day', 'weekday', 'hour', 'minute'",
        ),
        ({"parts": []}, "parts must have at least one part; to leave the column out, use exclude"),
        ({"parts": 3}, "parts must be a list of parts, not 3"),
        ({"zone": ""}, "zone must be the name of a time zone, such as 'Europe/Berlin', not ''"),
    ],
)
def test_what_is_no_calendar(asked, line):
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.Calendar(**asked)
    assert str(caught.value) == line


def test_a_calendar_is_of_dates(con):
    for source, line in (
        ("SELECT *, 1.5 AS at FROM calls", r"column 'at' is DECIMAL\(2,1\), which family 'calendar' does not take"),
        ("SELECT *, INTERVAL '1 day' AS at FROM calls", "'at' is INTERVAL, which has no parts; derive a number of it"),
        ("SELECT *, TIME '10:00' AS at FROM calls", "'at' is TIME, which has no time zone; leave out zone"),
    ):
        with pytest.raises(nbsql.InputError, match=line):
            names(con, source, families={"at": nbsql.Calendar(zone="UTC")})


def test_a_macro_refuses_a_date_written_as_text_in_one_line_and_takes_null_for_missing(tmp_path):
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, DATE '2025-01-01' + (i * 7 % 90)::INTEGER AS day FROM range(200) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="days")
    model.export(tmp_path / "days.parquet")
    nbsql.import_(con, tmp_path / "days.parquet", name="imported")
    for name in ("days", "imported"):
        for text in ("'2025-03-01'", "20250301"):
            with pytest.raises(duckdb.Error, match=r"column day is (VARCHAR|INTEGER), and the model has learnt DATE there"):
                con.execute(f"WITH q AS (SELECT {text} AS day) FROM {name}.predict('q')")
        missing = con.execute(f"WITH q AS (SELECT NULL AS day) FROM {name}.predict('q')").fetchall()
        assert missing == model.predict("SELECT NULL AS day").fetchall()


def test_a_time_of_day_in_nanoseconds_has_the_parts_of_any_other():
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE t AS SELECT i % 2 AS y, TIME '00:00' + (i * 37 % 24) * INTERVAL '1 hour' AS clock FROM range(200) AS r(i)"
    )
    con.execute("CREATE VIEW as_polars_has_it AS SELECT y, CAST(clock AS TIME_NS) AS clock FROM t")
    model = nbsql.fit(con, "t", target="y", name="hours")
    expected = sorted(row[-1] for row in model.predict_proba("t").fetchall())
    for query in (
        model.predict_proba("as_polars_has_it").fetchall(),
        con.sql("FROM hours.predict_proba('as_polars_has_it')").fetchall(),
    ):
        assert sorted(row[-1] for row in query) == pytest.approx(expected)


@pytest.mark.parametrize("type_", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
def test_years_are_those_of_times_of_any_precision(con, type_):
    """Of a table, too, whose statistics DuckDB reads as if they were microseconds, as soon as it extracts a year."""
    time = f"CAST(TIMESTAMP '2024-01-01' + to_hours(i % 70) AS {type_})"
    con.execute(f"CREATE TABLE t AS SELECT {time} AS sent, i % 5 < 2 AS y FROM range(200) AS r(i)")
    assert list(nbsql.fit(con, "t", target="y").families) == ["day of sent", "weekday of sent", "hour of sent"]


@pytest.mark.parametrize("learnt", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
@pytest.mark.forms("learnt")
def test_a_part_is_that_of_the_time_itself_whatever_the_precision_that_was_learnt(con, learnt):
    """The last second before an hour is not rounded to the next, and nanoseconds are taken where seconds were learnt."""
    rows = "SELECT CAST(TIMESTAMP '2024-01-01' + to_hours(i % 12) AS {}) AS sent, i % 4 AS y FROM range(240) AS r(i)"
    model = nbsql.fit(con, rows.format(learnt), target="y", name="hours", families={"sent": nbsql.Calendar(["hour"])})
    time = "TIMESTAMP '2024-01-01 03:59:59.9997'"
    for offered in ("TIMESTAMP", "TIMESTAMP_NS"):
        con.execute(f"CREATE OR REPLACE TABLE new AS SELECT {time}::{offered} AS sent")
        assert model.predict("new").fetchall()[0][1] == 3
        assert con.sql("FROM hours.predict('new')").fetchall()[0][1] == 3
    assert model.predict_one({"sent": datetime(2024, 1, 1, 3, 59, 59, 999_700)})["prediction"] == 3
