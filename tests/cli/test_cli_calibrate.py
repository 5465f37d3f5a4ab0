"""The command calibrate, and what the others do with a calibrated model."""

import csv
import io
import json

import duckdb
import pytest
from click.testing import CliRunner
from support.commands import run

import nbsql
from nbsql.cli import main


def fill(con):
    """A database with the tables sky and rest and the model weather of the first."""
    con.execute("""CREATE TABLE seen AS SELECT i, i % 3 = 0 AS wet, i % 3 + i % 5 AS a, i % 3 + i % 5 + i % 2 AS b,
        1 + i % 2 AS w FROM range(90) AS t(i)""")
    con.execute("CREATE TABLE sky AS FROM seen WHERE i < 60")
    con.execute("CREATE TABLE rest AS FROM seen WHERE i >= 60")
    nbsql.fit(con, "sky", target="wet", exclude=["w"], id="i", name="weather")


@pytest.mark.slow
def test_the_report_is_that_of_the_library(shop):
    output = run("calibrate", shop, "weather", "sky", "--folds", "3", "--test", "rest")
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        after = model.evaluate("rest", calibrated=True)
        found = model.calibrate("sky", folds=3, test="rest")
    assert found.after.log_loss == pytest.approx(after.log_loss)
    assert output.startswith(f"model weather calibrated by temperature on 60 rows of sky: T = {found.temperature:.4f}\n")
    shown = [line.split() for line in output.splitlines() if "log loss" in line]
    assert shown == [
        ["calibrated", "on", "60", "log", "loss", f"{found.log_loss:.4f}", f"{found.calibrated_log_loss:.4f}"],
        ["test", "30", "log", "loss", f"{found.before.log_loss:.4f}", f"{found.after.log_loss:.4f}"],
    ]
    assert [line.split()[0] for line in repr(found).splitlines()[4:]] == ["calibrated", *["test"] * 4]


@pytest.mark.slow
def test_rows_held_back_and_json(shop):
    arguments = ("--held-back", "--weight", "w", "--method", "platt", "--json")
    printed = json.loads(run("calibrate", shop, "weather", "rest", *arguments))
    with duckdb.connect(shop) as con:
        found = nbsql.load(con, "weather").calibrate("rest", folds=None, weight="w", method="platt")
        assert con.execute("SELECT count(*) FROM weather.calibration").fetchone() == (2,)
    assert (printed["method"], printed["rows"], printed["temperature"]) == ("platt", 30, None)
    assert printed["log_loss"] == pytest.approx(found.log_loss)
    assert printed["calibrated_log_loss"] == pytest.approx(found.calibrated_log_loss)
    assert printed["before"] is None


@pytest.mark.slow
def test_predict_and_evaluate_take_the_calibrated_posteriors(shop):
    message = "error: model 'weather' is not calibrated; calibrate it first\n"
    assert run("predict", shop, "weather", "rest", "--calibrated", code=1) == message
    assert run("evaluate", shop, "weather", "rest", "--calibrated", code=1) == message
    run("calibrate", shop, "weather", "sky", "--method", "isotonic")
    rows = list(
        csv.DictReader(io.StringIO(run("predict", shop, "weather", "rest", "--calibrated", "--proba", "--format", "csv")))
    )
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        expected = model.predict_proba("SELECT * FROM rest", calibrated=True).fetchall()
        evaluation = model.evaluate("rest", calibrated=True)
    printed = {int(row["i"]): float(row["probability_true"]) for row in rows}
    assert printed == pytest.approx({row[0]: row[-1] for row in expected})
    judged = json.loads(run("evaluate", shop, "weather", "rest", "--calibrated", "--json"))
    assert judged["log_loss"] == pytest.approx(evaluation.log_loss)
    assert "calibration" in run("evaluate", shop, "weather", "rest", "--calibrated", "--sql")
    assert "warning: model 'weather' has changed" in CliRunner().invoke(main, ["update", shop, "weather", "rest"]).stderr


@pytest.mark.slow
def test_the_sets_of_labels_are_json_in_csv(shop):
    labels = ["New York", "ham", "it's", "a, b", '"'] * 4
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE towns AS SELECT unnest($1) AS town, unnest(range(20)) % 5 AS x", [labels])
    run("fit", shop, "towns", "--target", "town", "--name", "towny", "--family", "x=categorical")
    run("calibrate", shop, "towny", "towns", "--held-back", "--method", "conformal")
    arguments = ("predict", shop, "towny", "towns", "--coverage", "0.9")
    sets = [json.loads(row["prediction_set"]) for row in csv.DictReader(io.StringIO(run(*arguments, "--csv")))]
    assert sets == [row["prediction_set"] for row in json.loads(run(*arguments, "--json"))]
    assert sets == [[label] for label in labels]


@pytest.mark.slow
def test_certain_rows_are_counted_and_predicted(shop):
    printed = run("calibrate", shop, "weather", "sky", "--method", "certain", "--confidence", "0.5")
    assert "certain   decided" in printed
    found = json.loads(run("calibrate", shop, "weather", "sky", "--method", "certain", "--confidence", "0.5", "--json"))
    assert list(found["decided"]) == ["0.8", "0.9", "0.95", "0.99"]
    rows = json.loads(run("predict", shop, "weather", "rest", "--certain", "0.999", "--json"))
    assert {row["prediction"] for row in rows} == {None}
    assert all(row["reason"] for row in rows)


def test_the_sql_is_printed_and_changes_nothing(shop):
    assert 'CREATE TABLE "weather"."calibration" AS' in run("calibrate", shop, "weather", "sky", "--sql")
    assert "not calibrated" in run("predict", shop, "weather", "rest", "--calibrated", code=1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sky", "--folds", "3", "--held-back"], 2, "choose one of --folds and --held-back"),
        (["sky", "--json", "--sql"], 2, "choose one of --json, --csv and --sql"),
        (["sky", "--weight", "w"], 2, "--weight is of rows held back, or of a test; folds count by the weight of the fit"),
        (["rest"], 1, "error: rest counts 30 rows, and model 'weather' has learnt 60; folds need all rows"),
    ],
)
def test_it_refuses(shop, arguments, code, message):
    assert message in run("calibrate", shop, "weather", *arguments, code=code)
