"""The commands cross-validate, sweep, drift, merge, export and import: what they print, leave and refuse."""

import json

import duckdb
import pytest
from click.testing import CliRunner
from support.commands import cells, run

import nbsql
from nbsql.cli import main


def fill(con):
    """A database with the table sky and the model weather, cut by week."""
    con.execute("""CREATE TABLE sky AS SELECT i // 10 AS week, CASE WHEN i % 3 = 0 THEN 'sun' ELSE 'rain' END AS sky,
        CASE WHEN i % 3 = 0 OR i % 5 = 0 THEN 'yes' ELSE 'no' END AS play FROM range(30) AS t(i)""")
    nbsql.fit(con, "sky", target="play", exclude=["week"], name="weather", slice_by="week")


@pytest.mark.slow
def test_cross_validation_is_that_of_the_library(shop):
    with duckdb.connect(shop) as con:
        found = nbsql.cross_validate(con, "sky", target="play", fold="week")
        whole = (found.rows, found.accuracy, found.log_loss)
        folds = [list(row) for row in found.folds]
    output = run("cross-validate", shop, "sky", "--target", "play", "--fold", "week")
    assert output.startswith("30 rows of sky predicted by the models of the other folds\n")
    assert cells(output, "all") == ["all", "30", f"{whole[1]:.4f}", f"{whole[2]:.4f}"]
    assert cells(output, "2") == ["2", "10", f"{folds[2][3]:.4f}", f"{folds[2][4]:.4f}"]
    printed = json.loads(run("cross-validate", shop, "sky", "--target", "play", "--fold", "week", "--json"))
    assert (printed["rows"], printed["accuracy"], printed["log_loss"]) == pytest.approx(whole)
    assert [list(fold.values()) for fold in printed["folds"]] == [[name, *map(pytest.approx, rest)] for name, *rest in folds]
    lines = run("cross-validate", shop, "sky", "--target", "play", "--exclude", "week", "--folds", "3", "--csv").splitlines()
    assert lines[0] == "fold,rows,weight,accuracy,log_loss"
    assert len(lines) == 4
    loo = [run("cross-validate", shop, "sky", "--target", "play", "--folds", text, "--csv") for text in ("loo", "LOO")]
    rows = [[line.split(",") for line in text.splitlines()][1] for text in loo]  # the help writes it in capitals
    assert [*map(float, rows[0][1:])] == pytest.approx([*map(float, rows[1][1:])])
    message = run("cross-validate", shop, "sky", "--target", "plya", code=1)
    assert message == "error: no column 'plya' in sky; did you mean 'play'?\n"


def test_a_file_without_a_name_is_refused(shop):
    assert run("export", shop, "weather", "", code=1) == "error: a path must be a text of at least one character, not ''\n"


@pytest.mark.slow
def test_what_is_chosen_is_that_of_the_library(shop):
    with duckdb.connect(shop) as con:
        found = nbsql.auto(con, "sky", target="play", fold="week", calibrate=False)
        tried, lines = found.tried.fetchall(), found.lines()
    arguments = ("auto", shop, "sky", "--target", "play", "--fold", "week", "--no-calibration")
    output = run(*arguments, "--name", "chosen")
    assert output.splitlines()[: len(lines)] == lines
    assert "\n20 rows of sky predicted by models that have not seen them\n" in output  # a week is kept aside
    assert output.endswith("model chosen in shop.duckdb is that of the first\n")
    printed = json.loads(run(*arguments, "--json"))
    assert [row["family"] for row in printed["tried"]] == [row[1] for row in tried]
    assert printed["method"] == "naive"
    assert "'k=2' is no option of 'tan'; it has 'shrinkage', 'bins'" in run(*arguments, "--methods", "tan(k=2)", code=2)
    assert run(*arguments, "--methods", "naive, tam", code=1) == "error: no method 'tam'; did you mean 'tan'?\n"
    assert run("fit", shop, "sky", "--target", "play", "--exclude", "week", "--families", "auto", "--name", "fitted")
    with duckdb.connect(shop) as con:
        assert [*nbsql.load(con, "fitted").families] == ["sky"]


@pytest.mark.slow
def test_a_warning_of_every_method_that_is_tried_comes_once(shop):
    rows = "SELECT * REPLACE (CASE WHEN rowid > 2 THEN play END AS play) FROM sky"
    found = CliRunner().invoke(
        main, ["auto", shop, rows, "--target", "play", "--fold", "week", "--name", "kept"], prog_name="nbsql"
    )
    assert found.exit_code == 0, found.output
    assert found.stderr == "warning: 3 rows of the query have no 'play' and are left out\n"


@pytest.mark.slow
def test_a_sweep_is_that_of_the_library(shop, monkeypatch):
    with duckdb.connect(shop) as con:
        families = [{}, {"sky": nbsql.Categorical(alpha=3)}]
        found = nbsql.sweep(con, "sky", target="play", fold="week", alpha=[1, 9], prior=["uniform"], families=families)
        ranking = found.ranking.fetchall()
    arguments = ("sweep", shop, "sky", "--target", "play", "--fold", "week", "--alphas", "1,9", "--priors", "uniform")
    arguments += ("--try-family", "sky=categorical(alpha=3)")
    output = run(*arguments)
    assert output.startswith("30 rows of sky predicted by each of 4 settings\n")
    assert cells(output, "1")[:3] == ["1", "1", "uniform"]
    printed = json.loads(run(*arguments, "--json"))
    assert [list(row.values()) for row in printed] == [[*row[:4], *map(pytest.approx, row[4:])] for row in ranking]
    assert run(*arguments, "--csv").splitlines()[0] == "rank,alpha,prior,families,accuracy,log_loss"
    kept = run(*arguments, "--name", "tuned")
    assert kept.endswith("model tuned in shop.duckdb is that of the first\n")
    with duckdb.connect(shop) as con:
        assert nbsql.load(con, "tuned").families == nbsql.families(con, "sky", target="play", exclude=["week"], **{
            name: found.settings[0][name] for name in ("alpha", "families")
        })  # fmt: skip
    taken = run(*arguments[:5], "--alphas", "-1", "--name", "tuned", code=1)  # noticed before the settings are looked at
    assert taken == "error: model 'tuned' is there already; replace it with --replace, or choose another name\n"
    assert run(*arguments, "--name", "tuned", "--replace").endswith("model tuned in shop.duckdb is that of the first\n")
    assert "--alphas takes numbers, such as 0.1,1,10, not '1;2'" in run(*arguments[:5], "--alphas", "1;2", code=2)
    assert "choose one of --json and --csv" in run(*arguments, "--json", "--csv", code=2)
    monkeypatch.setenv("COLUMNS", "40")
    assert run(*arguments).splitlines()[2].split()[-1] == "log_loss"
    message = "error: no database 'shpo.duckdb'; did you mean 'shop.duckdb'?\n"
    assert run("sweep", "shpo.duckdb", "sky", "--target", "play", code=1) == message


def test_models_are_merged(shop):
    with duckdb.connect(shop) as con:
        nbsql.fit(con, "sky", target="play", exclude=["week"], name="again", slice_by="week")
    output = run("merge", shop, "weather", "again", "--name", "both")
    assert output.startswith("model both in shop.duckdb: predicts play from 1 feature\n")
    with duckdb.connect(shop) as con:
        assert [row[:2] for row in nbsql.load(con, "both").batches] == [("weather", "merge"), ("again", "merge")]
    assert run("merge", shop, "weather", "again", "--name", "both", code=1).startswith("error: model 'both' is there already")
    run("export", shop, "weather", "weather.parquet")
    run("import", shop, "weather.parquet", "--name", "same")
    twice = CliRunner().invoke(main, ["merge", shop, "weather", "same", "--name", "twice"])
    assert twice.stderr.startswith("warning: models 1 and 2 of those to merge have the same counts")


@pytest.mark.slow
def test_a_model_travels_in_a_file(shop):
    assert run("export", shop, "weather", "weather.parquet") == "model weather written to weather.parquet\n"
    assert "is there already" in run("export", shop, "weather", "weather.parquet", code=1)
    duckdb.connect("other.duckdb").close()
    assert run("import", "other.duckdb", "weather.parquet", "--name", "there").startswith(
        "model there in other.duckdb: predicts play"
    )
    with duckdb.connect("other.duckdb") as con:
        con.execute("ATTACH 'shop.duckdb' AS shop (READ_ONLY)")
        here = nbsql.load(con, "weather", database="shop").predict("shop.sky").fetchall()  # DuckDB's database.table
        assert nbsql.load(con, "there").predict("shop.sky").fetchall() == here
    assert run("import", "other.duckdb", "nowhere.parquet", "--name", "m", code=1) == "error: no file 'nowhere.parquet'\n"
