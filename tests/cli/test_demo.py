"""The demonstration: its numbers, and what it leaves behind."""

import re
import runpy
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.library.demo import demonstrate

SAMPLE = Path(nbsql.__file__).parent / "data" / "flights.parquet"


pytestmark = pytest.mark.xdist_group("demo")  # one worker makes what they share


@pytest.fixture(scope="module")
def engine():
    engine = DuckDB(":memory:")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def found(engine):
    return demonstrate(engine)


@pytest.mark.slow
def test_accuracy_is_counted_on_flights_held_back_and_beats_the_majority(engine, found):
    query = """
        SELECT count(*), avg(CAST(arrival = prediction AS INT)), avg(CAST(arrival = 'punctual' AS INT)), min(day)
        FROM punctuality.predict('held_back')
    """
    count, accuracy, punctual, first_day = engine.connection.execute(query).fetchall()[0]
    assert (found.learnt, found.evaluation.rows) == (25_377, count)
    assert first_day == 21
    assert found.evaluation.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert found.evaluation.majority == pytest.approx(punctual, abs=1e-12)
    assert round(found.evaluation.accuracy, 3) == 0.902
    assert round(found.evaluation.majority, 3) == 0.764
    assert sum(n for *_, n in found.evaluation.confusion) == count


def test_nothing_that_gives_the_answer_away_is_a_feature(found):
    assert list(found.model.families) == ["month", "hour", "carrier", "origin", "dest", "distance", "dep_delay"]


@pytest.mark.slow
def test_the_demonstration_is_told_and_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(main, ["demo", "--database", "flights.duckdb"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "90.2 % of the predictions came true" in result.stdout
    assert "76.4 % would have, by calling every flight punctual" in result.stdout
    assert re.search(r"MQ3361 +JFK +RDU +25 +late +late +85\.3 %", result.stdout)
    assert "row 1 (flight MQ3361): predicted late (85.3 %), then punctual (14.7 %)" in result.stdout
    assert nbsql.models("flights.duckdb") == ["punctuality"]
    suggested = re.findall(r"^  nbsql ((?:show|predict|explain|evaluate) flights.*)$", result.stdout, re.MULTILINE)
    assert len(suggested) == 4
    for command in suggested:
        assert CliRunner().invoke(main, command.split()).exit_code == 0, command
    with duckdb.connect("flights.duckdb", read_only=True) as con:
        queries = re.findall(r"^  (FROM .*);$", result.stdout, re.MULTILINE)
        assert [len(con.execute(query).fetchall()) for query in queries] == [13_300, 30]
    again = CliRunner().invoke(main, ["demo", "--database", "flights.duckdb"])
    assert (again.exit_code, again.stderr) == (
        1,
        "error: 'flights.duckdb' is there already; name a new file, or delete it first\n",
    )


@pytest.mark.slow
def test_without_a_database_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    told, result = (CliRunner().invoke(main, arguments) for arguments in (["demo"], ["demo", "--sql"]))
    assert [(each.exit_code, each.stderr) for each in (told, result)] == [(0, ""), (0, "")]
    assert re.search(r"MQ3361 .* late +85\.3 %", told.stdout)  # what was predicted is shown in a narrow terminal, too
    assert 'CREATE SCHEMA "punctuality";' in result.stdout
    assert "CREATE VIEW departures AS" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_sample_is_small_and_can_be_made_again(data, tmp_path):
    assert SAMPLE.stat().st_size <= 500_000
    make = runpy.run_path(str(Path(__file__).parents[1] / "support" / "make_flights_sample.py"))["make"]
    make(data / "nycflights13_flights.parquet", tmp_path / "flights.parquet")
    options_text = "FROM (FROM $1 EXCEPT ALL FROM $2) UNION ALL FROM (FROM $2 EXCEPT ALL FROM $1)"
    for number, file in (("$1", SAMPLE), ("$2", tmp_path / "flights.parquet")):
        options_text = options_text.replace(number, f"'{file}'")
    assert duckdb.sql(options_text).fetchall() == []
