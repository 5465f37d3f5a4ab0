"""The command `evaluate`: what it prints, in each of its forms, and what it refuses."""

import csv
import io
import json
import re
from functools import partial

import duckdb
import pytest
from click.testing import CliRunner
from support import commands
from support.nearly import nearly

import nbsql
from nbsql.cli import main
from nbsql.evaluation.evaluation import TABLES

run = partial(commands.run, "evaluate")

SKY = "(VALUES ('sun', 'no', 2), ('sun', 'no', 1), ('rain', 'yes', 1), ('sun', 'yes', 3)) AS t(sky, play, w)"


def fill(con):
    """A database with the table sky and the model weather."""
    con.execute(f"CREATE TABLE sky AS FROM {SKY}")
    nbsql.fit(con, "sky", target="play", exclude=["w"], name="weather")


def cells(output, start):
    """The cells of the lines that start with a word."""
    return [re.split(r"\s{2,}", line.strip()) for line in output.splitlines() if line.strip().startswith(start)]


def test_the_report(shop):
    with duckdb.connect(shop) as con:
        con.execute("INSERT INTO sky VALUES ('sun', NULL, 1)")
    output = run(shop, "weather", "sky")
    assert output.startswith(
        "model weather evaluated on 4 rows of sky\n1 row without a class, not evaluated\nprobabilities not calibrated\n"
    )
    assert cells(output, "accuracy") == [["accuracy", "0.7500", "█" * 8], ["accuracy of the majority", "0.5000", "█" * 5]]
    assert cells(output, "Brier score") == [["Brier score", "0.1978"]]
    assert cells(output, "yes") == [["yes", "1.0000", "0.5000", "0.6667", "0.7500", "0.7500", "2"], ["yes", "1", "1"]]
    assert cells(output, "macro mean") == [["macro mean", "0.8333", "0.7500", "0.7333", "0.7500", "0.7083", "4"]]
    assert cells(output, "no ") == [
        ["no", "0.6667", "1.0000", "0.8000", "0.7500", "0.6667", "2"],
        ["no", "yes"],  # the head of the matrix
        ["no", "2", "0"],
    ]
    assert "actual play (down) and predicted (across)" in output


def test_weights_and_bins_arrive_in_the_library(shop):
    with duckdb.connect(shop) as con:
        expected = nbsql.load(con, "weather").evaluate("sky", weight="w", bins=3).to_dict()
    assert json.loads(run(shop, "weather", "sky", "--weight", "w", "--bins", "3", "--json")) == expected
    assert expected["accuracy"] == 4 / 7
    lines = list(csv.reader(io.StringIO(run(shop, "weather", "sky", "--weight", "w", "--bins", "3", "--csv"))))
    assert lines[0] == ["class", "metric", "value"]
    written = {(label, metric): value for label, metric, value in lines[1:]}
    assert float(written["", "calibration_error"]) == expected["calibration_error"]
    assert float(written["yes", "support"]) == 4
    assert len(written) == len(lines) - 1 == len(expected) - 3 + 2 * 7


@pytest.mark.nightly
def test_the_tables_behind_the_numbers(shop):
    with duckdb.connect(shop) as con:
        found = nbsql.load(con, "weather").evaluate("sky", bins=2)
        expected = {name: getattr(found, name).fetchall() for name in TABLES}
    for name, rows in expected.items():
        arguments = (shop, "weather", "sky", "--bins", "2", "--table", name)
        lines = list(csv.reader(io.StringIO(run(*arguments, "--csv"))))
        assert [row[0] or None for row in lines[1:]] == [row[0] for row in rows]
        assert [float(row[-1]) for row in lines[1:]] == [row[-1] for row in rows]
        finite = [tuple("Infinity" if cell == float("inf") else cell for cell in row) for row in rows]
        assert [tuple(row) for row in (item.values() for item in json.loads(run(*arguments, "--json")))] == finite
        assert lines[0][-1] in run(*arguments)


def test_long_tables_are_cut_and_say_so(shop):
    output = run(shop, "weather", "sky", "--table", "lift", "--bins", "16")
    assert output.endswith("the first 30 rows; --limit N shows more, --csv all\n")


def test_many_classes_have_no_matrix(shop):
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE many AS SELECT i % 9 AS y, i % 9 = 3 AS x FROM range(90) AS t(i)")
        nbsql.fit(con, "many", target="y", name="nine")
    output = run(shop, "nine", "many")
    assert cells(output, "8")[0][-1] == "10"
    assert "predicted (across)" not in output


def test_booleans_and_rows_that_no_class_explains_are_named(shop):
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE t AS FROM (VALUES ('a', 'x', FALSE), ('b', 'y', TRUE)) AS t(a, b, y)")
        nbsql.fit(con, "t", target="y", alpha=0, name="sharp")
    output = run(shop, "sharp", "SELECT 'a' AS a, 'y' AS b, TRUE AS y UNION ALL FROM t")
    assert "1 row that no class can explain, counted as wrong" in output
    assert cells(output, "true")[1] == ["true", "0", "1", "1"]
    assert cells(output, "false   true   no class") == [["false", "true", "no class"]]


def test_sql_is_printed_and_not_run(shop):
    printed, matrix = (run(shop, "weather", "sky", *table, "--sql") for table in ([], ["--table", "confusion"]))
    with duckdb.connect(shop) as con:
        assert (None, "accuracy", 0.75) in con.execute(printed).fetchall()
        assert con.execute(matrix).fetchall() == [("no", "no", 2), ("yes", "no", 1), ("yes", "yes", 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weather", "SELECT 'no' AS play"], "error: no column 'sky' in the query, a feature of model 'weather'"),
        (["weather", "SELECT 'sun' AS sky"], "error: no column 'play' in the query, the target of the model"),
        (["weather", "sky", "--weight", "sky"], "error: weight column 'sky' is VARCHAR; weights must be numbers"),
        (["wether", "sky"], "error: no model 'wether' in 'shop'; did you mean 'weather'?"),
    ],
)
def test_errors_are_one_line(shop, arguments, message):
    assert run(shop, *arguments, code=1).startswith(message)


def test_one_form_at_a_time(shop):
    assert "choose one of --json, --csv and --sql" in run(shop, "weather", "sky", "--json", "--csv", code=2)


@pytest.mark.slow
def test_two_models_on_the_same_rows(shop):
    with duckdb.connect(shop) as con:
        nbsql.fit(con, "SELECT w, play FROM sky", target="play", name="by_weight")
        expected = nbsql.load(con, "weather").compare(nbsql.load(con, "by_weight"), "sky").fetchall()
    lines = list(csv.DictReader(io.StringIO(run(shop, "weather", "sky", "--against", "by_weight", "--csv"))))
    assert list(lines[0]) == ["class", "metric", "value", "other", "difference", "standard_error", "low", "high"]
    assert [line["metric"] for line in lines] == [row[1] for row in expected]
    assert [float(line["difference"]) for line in lines] == pytest.approx([row[4] for row in expected], rel=1e-9)
    assert "nbsql_other_posteriors" in run(shop, "weather", "sky", "--against", "by_weight", "--sql")
    assert "no model 'nowhere' in 'shop'" in run(shop, "weather", "sky", "--against", "nowhere", code=1)
    refused = run(shop, "weather", "sky", "--against", "by_weight", "--table", "roc", code=2)
    assert "--against goes with --weight and --calibrated; leave out --cost, --by, --gain and --table" in refused


@pytest.mark.nightly
def test_slices_and_two_of_them_side_by_side(shop):
    with duckdb.connect(shop) as con:
        found = nbsql.load(con, "weather").evaluate("sky", by="w", weight="w").slices
        rows, intervals, compared = found.fetchall(), found.intervals.fetchall(), found.compare(1, 3, label="yes").fetchall()
    arguments = (shop, "weather", "sky", "--weight", "w", "--by", "w")
    output = run(*arguments)
    assert (
        output.index("accuracy of the majority") < output.index("by w, the most certainly bad first") < output.index("log_loss")
    )
    asked = {(): rows, ("--table", "slice_intervals"): intervals, ("--between", "1", "3", "--label", "yes"): compared}
    for options, expected in asked.items():
        printed = json.loads(run(*arguments, *options, "--json"))
        assert [tuple(row.values()) for row in printed] == expected
        statement = run(*arguments, *options, "--sql")
        with duckdb.connect(shop) as con:
            assert con.execute(statement).fetchall() == expected
    misused = {
        ("--table", "slices"): "--table slices is of slices; say by which column, --by region",
        ("--between", "1", "2"): "--between is of slices; say by which column, --by region",
        ("--by", "w", "--label", "yes"): "--label goes with --between",
        ("--by", "w", "--against", "weather"): "--against goes with --weight and --calibrated",
    }
    for options, message in misused.items():
        assert message in run(shop, "weather", "sky", *options, code=2)
    output = run(shop, "weather", "sky", "--by", "w", "--by", "sky", "--between", "1,sun", "1,rain", "--csv")
    assert output.splitlines()[0].startswith("metric,value,other,difference,low,high,ratio")


@pytest.mark.slow
def test_rows_that_the_model_has_learnt_are_said_and_judged_by_folds(shop):
    result = CliRunner().invoke(main, ["evaluate", shop, "weather", "sky"], prog_name="nbsql")
    assert "warning: the model has learnt these rows, so that the numbers are too good;" in result.stderr
    assert "evaluate them by folds, with --folds 5" in result.stderr
    with duckdb.connect(shop) as con:
        expected = nbsql.load(con, "weather").evaluate("sky", folds="loo").to_dict()
    result = CliRunner().invoke(main, ["evaluate", shop, "weather", "sky", "--folds", "loo", "--json"], prog_name="nbsql")
    assert json.loads(result.stdout) == nearly(expected)
    assert "has learnt" not in result.stderr
    assert "--folds has no single query; leave out --sql" in run(shop, "weather", "sky", "--folds", "3", "--sql", code=2)


@pytest.mark.nightly
def test_gain_is_a_line_beside_the_numbers(tmp_path):
    path = str(tmp_path / "pairs.duckdb")
    with duckdb.connect(path) as con:
        columns = "'a' || i % 2 AS a, 'b' || i // 2 % 2 AS b, (i + i // 2) % 2 AS y"
        con.execute(f"CREATE TABLE pairs AS SELECT {columns} FROM range(400) AS r(i)")
        nbsql.fit(con, "FROM pairs LIMIT 100", target="y", name="m")
    line = r"--method (tan|aode) gains 0\.68 of log loss on five folds \(\d+(\.\d)? s\)"
    assert re.fullmatch(line, run(path, "m", "pairs", "--gain").splitlines()[-1])
    assert re.fullmatch(line, json.loads(run(path, "m", "pairs", "--gain", "--json"))["gain"])
