"""The commands that change a model over time: what they print, write and refuse."""

import json
import re
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from support.algebra import same
from support.commands import run

import nbsql
from nbsql.cli import main


def fill(con):
    """A database with the tables may and june, and the model golf of may."""
    con.execute(
        "CREATE TABLE may AS FROM (VALUES ('sun', 1.0, 'no'), ('sun', 2.0, 'yes'), ('rain', 3.0, 'yes')) AS t(sky, wind, play)"
    )
    con.execute("CREATE TABLE june AS FROM (VALUES ('snow', 9.0, 'maybe'), ('rain', 4.0, 'yes')) AS t(sky, wind, play)")
    nbsql.fit(con, "may", target="play", name="golf")


def table(output):
    """The cells of every line that has any."""
    return [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]


def answers(con):
    """What the model has learnt and says, without the time of its changes."""
    queries = [f"FROM golf.{name} ORDER BY ALL" for name in ("statistics", "parameters", "lookups", "likelihoods")]
    queries += [f"FROM golf.{verb}('june') ORDER BY ALL" for verb in ("predict_proba", "explain")]
    queries += ["SELECT number, batch, operation, source, rows FROM golf.batches ORDER BY number"]
    return [con.execute(query).fetchall() for query in queries]


def state(database):
    with duckdb.connect(database, read_only=True) as con:
        return answers(con)


def agree(left, right):
    """But for rounding: parallel sums differ in the last bit."""
    for one, other in zip(left, right, strict=True):
        same(one, other)


@pytest.mark.slow
def test_a_model_over_time(shop):
    learnt = run("update", shop, "golf", "june", "--batch", "2026-06")
    assert learnt.startswith("model golf in shop.duckdb learnt 2 rows of june, batch 2026-06\n")
    assert ["maybe", "1", "20.0 %"] in table(learnt)
    assert run("update", shop, "Golf", "FROM june LIMIT 1").startswith(
        "model golf in shop.duckdb learnt 1 row of the query, batch 3\n"
    )
    assert run("forget", shop, "golf", "FROM june LIMIT 1").startswith("model golf in shop.duckdb forgot 1 row of the query\n")
    forgotten = run("forget", shop, "golf", "--batch", "2026-06")
    assert forgotten.startswith("model golf in shop.duckdb forgot 2 rows of batch '2026-06'\n")
    assert table(forgotten)[-2:] == [["yes", "2", "66.7 %"], ["no", "1", "33.3 %"]]
    folded = run("compact", shop, "golf", "--through", "3")
    assert folded.startswith("model golf in shop.duckdb has 3 batches folded into one, batch 3\n")
    undone = run("rollback", shop, "golf", "4")
    assert undone.startswith("model golf in shop.duckdb is as it was after batch 4, 1 later change undone\n")
    assert ["maybe", "1", "20.0 %"] in table(undone)
    assert run("compact", shop, "golf").startswith("model golf in shop.duckdb has 2 batches folded into one, batch 4\n")
    with duckdb.connect(shop) as con:
        found = nbsql.load(con, "golf").predict_proba("june").fetchall()
        assert found == nbsql.fit(con, "FROM may UNION ALL FROM june", target="play").predict_proba("june").fetchall()


def test_a_change_learns_from_files(shop):
    Path("july.csv").write_text("sky,wind,play\nfog,5.5,maybe\nsun,1.5,\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["update", shop, "golf", "july.csv"], prog_name="nbsql")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("model golf in shop.duckdb learnt 1 row of july.csv, batch 2\n")
    assert result.stderr == "warning: 1 row of july.csv has no 'play' and is left out\n"


@pytest.mark.slow
def test_the_ledger_is_shown(shop):
    run("update", shop, "golf", "june", "--batch", "2026-06")
    run("forget", shop, "golf", "--batch", "2026-06")
    head, _, *lines = table(run("show", shop, "golf", "--batches"))
    assert head == ["batch", "operation", "rows", "source", "at (UTC)"]
    assert [line[:-1] for line in lines] == [
        ["1", "1", "fit", "3", "may"],
        ["2", "2026-06", "update", "2", "june"],
        ["3", "3", "forget", "2", "batch '2026-06'"],
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", line[-1]) for line in lines)
    overview = run("show", shop, "golf")
    assert "update: 2 rows of june, " in overview
    assert "changes before" not in overview
    for _ in range(4):
        run("update", shop, "golf", "june")
    overview = run("show", shop, "golf")
    assert "fit: 3 rows of may" not in overview
    assert "... and 2 changes before; --batches shows all" in overview
    printed = run("show", shop, "golf", "--batches", "--sql")
    with duckdb.connect(shop) as con:
        assert con.execute(printed).fetchall()[0][:4] == ("1", "fit", "may", 3)


@pytest.mark.few
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["update", "golf", "jun"], "error: no table or view 'jun'; did you mean 'june'?\n"),
        (["update", "gulf", "june"], "error: no model 'gulf' in 'shop'; did you mean 'golf'?\n"),
        (["update", "golf", "june", "--batch", "1"], "error: batch '1' is in model 'golf' already; choose another name\n"),
        (["forget", "golf", "june"], "error: cannot forget june: it has 1 of class 'maybe', of which model 'golf'"),
        (["forget", "golf", "june", "--sql"], "error: cannot forget june: it has 1 of class 'maybe', of which model 'golf'"),
        (["forget", "golf", "--batch", "1"], "error: cannot forget batch '1': nothing would be left of model 'golf'; drop it"),
        (["rollback", "golf", "7"], "error: no batch '7' in model 'golf'; it has '1'\n"),
        (["compact", "golf", "--through", "7"], "error: no batch '7' in model 'golf'; it has '1'\n"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_nothing_has_changed(shop, arguments, message):
    before = state(shop)
    verb, *rest = arguments
    assert run(verb, shop, *rest, code=1).startswith(message)
    agree(state(shop), before)


@pytest.mark.parametrize("arguments", [[], ["june", "--batch", "1"]])
def test_one_thing_is_forgotten_at_a_time(shop, arguments):
    assert "name a SOURCE or a --batch, one of them" in run("forget", shop, "golf", *arguments, code=2)


@pytest.mark.parametrize("mode", [[], ["--sql"]])
def test_a_misspelt_database_is_not_made(shop, mode):
    message = "error: no database 'shpo.duckdb'; did you mean 'shop.duckdb'?\n"
    assert run("update", "shpo.duckdb", "golf", "june", *mode, code=1) == message
    assert not Path("shpo.duckdb").exists()


@pytest.mark.slow
def test_statistics_are_kept_by_slice(shop):
    arguments = ("fit", shop, "june", "--target", "play", "--name", "sliced", "--slice-by", "wind > 5")
    assert "nbsql_slice" in run(*arguments, "--sql")
    run(*arguments)
    with duckdb.connect(shop) as con:
        assert json.loads(con.execute("SELECT spec FROM sliced.spec").fetchall()[0][0])["slice_by"] == "wind > 5"
        slices = "SELECT slice, class, n FROM sliced.statistics WHERE feature IS NULL ORDER BY slice"
        assert con.execute(slices).fetchall() == [("false", "yes", 1), ("true", "maybe", 1)]
    assert "alpha 1, prior empirical, slices by wind > 5, nbsql " in run("show", shop, "sliced")
    run("fit", shop, "june", "--target", "play", "--name", "parted", "--segment-by", "wind > 5")
    assert "prior empirical, segments by wind > 5, shrinkage 10, nbsql " in run("show", shop, "parted")
    assert run(*arguments[:-1], "wind >", "--replace", code=1).startswith("error: --slice-by must be one SQL expression")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--components 2 --half-life 1day --at day", "--half-life and --components cannot be combined; leave out one of them"),
        ("--components 2 --classes yes,no", "classes may have no rows; leave out --classes"),
        ("--components 2 --best 1", "--best does not support --components; list the features by name"),
        ("--method em --best 1", "--best does not support --method em; list the features by name"),
    ],
)
def test_what_cannot_be_combined_is_said_in_options(shop, options, message):
    source = "SELECT *, DATE '2026-06-01' AS day FROM june"
    said = run("fit", shop, source, "--target", "play", "--name", "mixed", "--exclude", "day", *options.split(), code=1)
    assert said.startswith("error: ")
    assert said.endswith(f"{message}\n")
