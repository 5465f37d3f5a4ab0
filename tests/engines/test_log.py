"""The log has the name and the seconds of each statement and nothing of a row; a watcher hears of each step before it runs."""

import logging
import threading

import pytest

import nbsql

ROW_TEXT = "Zanzibar-4711"
COLUMNS = {"id": "INTEGER", "town": "VARCHAR", "x": "DOUBLE PRECISION", "y": "VARCHAR"}
ROWS = [(i, ROW_TEXT if i % 3 else "Oslo", float(i % 7), ROW_TEXT if i % 2 else "no") for i in range(40)]


def test_each_statement_is_in_the_log_by_name_and_seconds(place, caplog):
    place.table("trips", COLUMNS, ROWS)
    with caplog.at_level(logging.DEBUG, "nbsql"):
        model = nbsql.fit(place.con, "trips", target="y", id="id", name="m")
        model.predict("trips").fetchall()
        model.predict("trips").arrow()
        if place.engine != "spark":
            model.predict_one({"town": ROW_TEXT, "x": 1.0})
            nbsql.cross_validate(place.con, "trips", target="y", id="id", fold="town")
        with pytest.raises(nbsql.NbsqlError):
            model.predict("SELECT id, town, CAST(town AS INTEGER) AS x FROM trips").fetchall()
    records = [record for record in caplog.records if record.name == "nbsql"]
    title = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}[place.engine]
    named = {record.statement for record in records}
    assert {record.engine for record in records} == {title}
    assert {"statistics", "spec", "likelihoods", "query"} <= named
    assert all(record.levelno == logging.DEBUG and 0 <= record.seconds < 60 for record in records)
    assert sum(record.statement == "query" for record in records) >= 3
    assert records[-1].getMessage().endswith(" s") or records[-1].getMessage().endswith(", failed")
    assert any(record.getMessage().endswith(", failed") for record in records)
    assert ROW_TEXT not in caplog.text
    assert "SELECT" not in caplog.text


def test_nothing_is_written_where_nobody_asked(place, capfd):
    place.table("trips", COLUMNS, ROWS)
    capfd.readouterr()
    nbsql.fit(place.con, "trips", target="y", id="id")
    assert "nbsql" not in capfd.readouterr().err


def test_a_watcher_hears_of_each_step_and_can_stop_it(place):
    place.table("trips", COLUMNS, ROWS)
    steps = []
    with nbsql.watch(steps.append):
        nbsql.fit(place.con, "trips", target="y", id="id", name="m")
    assert "statistics" in steps
    assert ROW_TEXT not in " ".join(steps)
    heard = len(steps)

    def stop(step):
        if step == "statistics":
            raise RuntimeError("enough")

    with nbsql.watch(stop), pytest.raises(RuntimeError, match="enough"):
        nbsql.fit(place.con, "trips", target="y", id="id", name="other")
    assert nbsql.models(place.con) == ["m"]
    nbsql.load(place.con, "m").predict("trips").fetchall()
    assert len(steps) == heard


def test_a_watcher_hears_of_its_own_thread_alone(connect):
    import duckdb

    steps = []

    def work():
        with duckdb.connect() as con:
            nbsql.fit(con, "SELECT i % 2 AS y, i % 3 AS x FROM range(20) AS t(i)", target="y")

    with nbsql.watch(steps.append):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert steps == []
