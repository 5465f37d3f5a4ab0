"""What is printed as JSON is JSON: infinities and NaN, which it does not have, are texts."""

import json

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main


def fill(con):
    """A model without smoothing, to which some values are impossible."""
    con.execute("""CREATE TABLE days AS SELECT i AS id, ['sun', 'rain'][1 + i % 2] AS sky, i % 4 < 2 OR i % 2 = 1 AS play,
        i / 3 AS heat, [1.5, 'nan'::DOUBLE] AS list FROM range(12) AS t(i)""")
    nbsql.fit(con, "days", target="play", name="golf", id="id", features=["sky", "heat"], alpha=0)


def strict(text):
    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def answer(*arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return strict(result.stdout)


def test_infinite_contributions(shop):
    found = answer("explain", shop, "golf", "SELECT 1 AS id, 'rain' AS sky, 2.0 AS heat", "--format", "json")
    assert [row["contribution"] for row in found if row["value"] == "rain" and not row["class"]] == ["-Infinity"]
    assert all(isinstance(row["contribution"], float) for row in found if row["value"] != "rain" or row["class"])


@pytest.mark.parametrize("table", ["roc", "precision_recall", "confusion", "calibration", "lift"])
def test_tables_of_an_evaluation(shop, table):
    found = answer("evaluate", shop, "golf", "days", "--table", table, "--json")
    assert found
    if table == "roc":
        assert "Infinity" in [row["threshold"] for row in found]


@pytest.mark.parametrize("verb", ["linear", "relevance"])
def test_weights(shop, verb):
    features = ("SELECT play, sky FROM days", "--target", "play", "--name", "sky", "--alpha", "0")
    assert CliRunner().invoke(main, ["fit", shop, *features]).exit_code == 0
    found = answer(verb, shop, "sky", "--json")
    assert found
    if verb == "linear":
        assert "-Infinity" in [row["weight"] for row in found] or "Infinity" in [row["weight"] for row in found]


def test_numbers_of_the_users_own(shop, tmp_path):
    own = "unnest(['inf', '-inf', 'nan', '2.5', NULL])::DOUBLE AS own, [1.5, 'nan'::DOUBLE] AS list"
    rows = f"SELECT 'sun' AS sky, 1.0 AS heat, {own}"
    for form, read in (("json", strict), ("jsonl", lambda text: [strict(line) for line in text.splitlines()])):
        file = tmp_path / f"rows.{form}"
        result = CliRunner().invoke(main, ["predict", shop, "golf", rows, "--output", str(file)])
        assert result.exit_code == 0, result.output
        found = read(file.read_text(encoding="utf-8"))
        assert sorted(map(str, (row["own"] for row in found))) == ["-Infinity", "2.5", "Infinity", "NaN", "None"]
        assert [row["list"] for row in found] == [[1.5, "NaN"]] * 5
        assert {type(row["probability"]) for row in found} == {float}


def test_numbers_that_no_query_has_written(shop):
    found = answer("log-likelihood", shop, "golf", "SELECT FALSE AS play, 'rain' AS sky, 1.0 AS heat", "--labelled", "--json")
    assert found == {"rows": 1, "log_likelihood": "-Infinity", "mean": "-Infinity"}
    for options in (["--labelled"], []):  # by the script, too, what the command says
        command = ["log-likelihood", shop, "golf", "FROM days SELECT * REPLACE (TRUE AS play)", *options]
        script = CliRunner().invoke(main, [*command, "--sql"]).stdout
        with duckdb.connect(shop) as con:
            rows = con.sql(script).df().to_dict("records")
        assert rows == [pytest.approx(answer(*command, "--json"), rel=1e-12)]
