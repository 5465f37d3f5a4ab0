"""What `--sql` prints is a script: it does what the command does, all of it or nothing, and once."""

import re
import shlex
import shutil

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

SMS = """CREATE TABLE sms AS
    SELECT i AS id, ['ham', 'spam'][1 + i % 2] AS label, ['a b', 'b c d', 'd a a'][1 + i % 3] AS message, i % 5 AS links
    FROM range(30) AS t(i)"""
FIT = ("fit", "shop.duckdb", "sms", "--target", "label", "--name", "spam", "--id", "id", "--family", "message=text")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("shop.duckdb") as con:
        con.execute(SMS)
    return "shop.duckdb"


def command(*arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def run(script):
    """Run a script as a shell does, which goes on after an error; the errors."""
    errors = []
    with duckdb.connect("shop.duckdb") as con:
        for statement in con.extract_statements(script):
            try:
                con.execute(statement).fetchall()
            except duckdb.Error as error:  # noqa: PERF203 - the next statement runs all the same
                errors.append(str(error))
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    return errors


def state():
    """What a model is, but for the times of its changes, and the last digits, which threads sum in any order."""
    with duckdb.connect("shop.duckdb", read_only=True) as con:
        queries = {
            "cells": "SELECT * FROM spam.statistics",
            "ledger": "SELECT batch, operation, source, rows, number FROM spam.batches",
            "likelihoods": "SELECT * FROM spam.likelihoods",
            "predictions": "SELECT id, prediction, probability FROM spam.predict('sms')",
        }
        found = {name: con.execute(query).fetchall() for name, query in queries.items()}
    rounded = {
        name: [[round(x, 9) if isinstance(x, float) else x for x in row] for row in rows] for name, rows in found.items()
    }
    return {name: sorted(map(repr, rows)) for name, rows in rounded.items()}


@pytest.mark.slow
def test_the_script_of_a_fit_makes_the_model_once(shop):
    script = command(*FIT, "--sql")
    assert run(script) == []
    made = state()
    errors = run(script)
    there = "model 'spam' is there already; replace it with --replace, or choose another name"
    assert errors[0] == f"Invalid Input Error: {there}"
    assert state() == made  # no word is counted twice, on DuckDB 1.5 either, which goes on after an error
    command(*FIT, "--replace")
    assert state() == made  # the very cells, and the rows of the ledger


@pytest.mark.slow
def test_the_script_of_a_fit_that_replaces_is_run_again_and_again(shop):
    script = command(*FIT, "--replace", "--sql")
    assert run(script) == []  # there is none yet
    made = state()
    assert run(script) == []
    assert state() == made
    assert [row for row in made["ledger"] if "30" in row]
    assert command(*FIT, "--replace", "--sql") == script


@pytest.mark.slow
def test_a_script_that_fails_half_way_leaves_all_as_it_was(shop):
    command(*FIT)
    before = state()
    script = command(*FIT, "--replace", "--sql").replace('source."links"', "CAST(error('broken') AS INTEGER)", 1)
    assert "broken" in run(script)[0]
    assert state() == before


def test_a_script_drops_no_more_than_a_model(shop):
    command(*FIT)
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE spam.mine AS SELECT 1 AS x")
    result = CliRunner().invoke(main, [*FIT, "--replace", "--sql"])
    assert result.stderr == "error: schema 'spam' holds 'mine', which nbsql did not make; move it elsewhere first\n"


CHANGES = {
    "update": ("update", "shop.duckdb", "spam", "SELECT * FROM sms WHERE id < 7"),
    "forget": ("forget", "shop.duckdb", "spam", "SELECT * FROM sms WHERE id < 7"),
    "forget a batch": ("forget", "shop.duckdb", "spam", "--batch", "2"),
    "rollback": ("rollback", "shop.duckdb", "spam", "1"),
    "compact": ("compact", "shop.duckdb", "spam"),
    "calibrate": ("calibrate", "shop.duckdb", "spam", "sms", "--held-back"),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_script_of_a_change_does_once_what_the_command_does(shop, change):
    command(*FIT)
    command("update", shop, "spam", "SELECT * FROM sms WHERE id > 20")
    shutil.copy(shop, "before.duckdb")
    script = command(*CHANGES[change], "--sql")
    assert re.findall(r"^-- .*\n(?:SELECT|FROM|WITH)\b", script, re.MULTILINE) == []  # for which a shell would print a table
    assert run(script) == []
    found = state()
    errors = run(script)
    assert errors[0] == "Invalid Input Error: model spam has changed since this script was written; write it again"
    assert state() == found
    shutil.copy("before.duckdb", shop)
    command(*CHANGES[change])
    assert state() == found


MAKES = {
    "'scored' is there already; replace it with --replace": ("predict", "shop.duckdb", "spam", "sms", "--into", "scored"),
    "'main.f' is there already; replace it with --replace": ("impute", "shop.duckdb", "spam", "sms", "--into", "main.f"),
    "'drawn' is there already; replace it with --replace": ("sample", "shop.duckdb", "spam", "5", "--into", "drawn"),
    "there is no model 'spam'": ("drop", "shop.duckdb", "spam"),
    "model 'again' is there already; ": (
        "from-statistics", "shop.duckdb", "SELECT * FROM spam.statistics", "--like", "spam", "--name", "again",
    ),
}  # fmt: skip


@pytest.mark.few
@pytest.mark.parametrize("message", MAKES)
def test_a_script_that_makes_or_drops_something_says_so_when_it_is_run_again(shop, message):
    command(*FIT)
    script = command(*MAKES[message], "--sql")
    assert run(script) == []
    assert run(script)[0].startswith(f"Invalid Input Error: {message}")


@pytest.mark.slow
def test_the_script_of_a_change_checks_its_rows_as_the_command_does(shop):
    command(*FIT, "--family", "links=poisson")
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE more AS FROM sms WHERE id < 9; CREATE TABLE gone AS FROM sms WHERE id < 7")
    update, forget = (command(verb, shop, "spam", source, "--sql") for verb, source in (("update", "more"), ("forget", "gone")))
    for change, script, message in (
        ("UPDATE more SET links = -5", update, "some values of column 'links' are negative; poisson counts must be at least 0"),
        ("DELETE FROM more", update, "no row of more has a 'label' and counts; a model needs at least one"),
        (
            "UPDATE gone SET message = 'x'",
            forget,
            "model 'spam' has not learnt all of it, or nothing else; make the script again",
        ),
        ("UPDATE gone SET links = 40", forget, "model 'spam' has not learnt all of it, or nothing else; make the script again"),
        (
            "INSERT INTO gone FROM sms WHERE id > 6",
            forget,
            "model 'spam' has not learnt all of it, or nothing else; make the script again",
        ),
    ):
        shutil.copy(shop, "before.duckdb")
        before = state()
        with duckdb.connect(shop) as con:
            con.execute(change)
        errors = run(script)
        assert message in errors[0]
        assert state() == before
        shutil.copy("before.duckdb", shop)
    with duckdb.connect(shop) as con:
        con.execute("INSERT INTO more FROM sms WHERE id > 20")
    assert run(update) == []
    with duckdb.connect(shop) as con:
        assert con.execute("SELECT rows FROM spam.batches ORDER BY number").fetchall() == [(30,), (18,)]


@pytest.mark.slow
def test_scripts_of_other_commands(shop):
    given = "SELECT unnest(['ham', 'spam']) AS class, 0.5 AS prior"
    script = command("from-tables", shop, given, "--name", "book", "--sql")
    assert run(script) == []
    assert "model 'book' is there already" in run(script)[0]
    command(*FIT)
    assert run(command("drop", shop, "spam", "--sql")) == []
    assert nbsql.models(shop) == ["book"]


def test_python_writes_the_same_script(shop):
    options = {"target": "label", "name": "spam", "id": "id", "families": {"message": "text"}}
    ours = nbsql.fit_sql(shop, "sms", **options).replace("with replace=True, or", "with --replace, or")  # each in its words
    assert ours + "\n" == command(*FIT, "--sql")
    make = nbsql.fit_sql
    assert make(shop, "sms", replace=True, **options) + "\n" == command(*FIT, "--sql", "--replace")


PRINTED = [
    "sql shop.duckdb predict spam sms",
    "sql shop.duckdb explain spam main.sms",
    "sql shop.duckdb predict spam shop.main.sms --inline",
    "sql shop.duckdb predict spam shop.main.sms",
    "predict shop.duckdb spam sms --sql",
    "predict shop.duckdb spam sms --proba --into main.scored --sql",
    "predict shop.duckdb spam sms --into scored --replace --sql",
    "impute shop.duckdb spam sms --sql",
    "impute shop.duckdb spam sms --into filled --sql",
    "sample shop.duckdb spam 5 --sql",
    "sample shop.duckdb spam 5 --into drawn --sql",
    "explain shop.duckdb spam sms --sql",
    "review shop.duckdb spam sms --sql",
    "evaluate shop.duckdb spam sms --sql",
    "evaluate shop.duckdb spam sms --table roc --sql",
    "log-likelihood shop.duckdb spam sms --sql",
    "log-likelihood shop.duckdb spam sms --labelled --sql",
    "monitor shop.duckdb spam sms --by links --sql",
    "show shop.duckdb spam --priors --likelihoods --batches --sql",
    "relevance shop.duckdb spam --sql",
    "update shop.duckdb spam sms --sql",
    "forget shop.duckdb spam 'SELECT * FROM sms WHERE id < 7' --sql",
    "rollback shop.duckdb spam 1 --sql",
    "compact shop.duckdb spam --sql",
    "calibrate shop.duckdb spam sms --held-back --sql",
    "drop shop.duckdb spam --sql",
    "fit shop.duckdb sms --target label --name spam --id id --family message=text --replace --sql",
    "from-tables shop.duckdb 'SELECT label AS class, 0.5 AS prior FROM sms GROUP BY label' --name book --sql",
    "from-statistics shop.duckdb 'SELECT * FROM spam.statistics' --like spam --name again --sql",
]


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A database with a model that has learnt twice."""
    path = tmp_path_factory.mktemp("changed") / "shop.duckdb"
    with duckdb.connect(path) as con:
        con.execute(SMS)
        model = nbsql.fit(con, "sms", target="label", name="spam", id="id", families={"message": nbsql.Text()})
        model.update("SELECT * FROM sms WHERE id > 20")
    return path


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("printed", PRINTED)
def test_what_is_printed_runs_in_a_copy_of_another_name(changed, tmp_path, monkeypatch, printed):
    """An analyst writes it on shop.duckdb, and it runs on prod.duckdb, to the same effect."""
    monkeypatch.chdir(tmp_path)
    shop = str(shutil.copy(changed, "shop.duckdb"))
    script = command(*shlex.split(printed))
    shutil.copy(shop, "prod.duckdb")
    found = {}
    for path in ("shop.duckdb", "prod.duckdb"):
        with duckdb.connect(path) as con:
            rows = [con.execute(statement).fetchall() for statement in con.extract_statements(script)]
            made = con.execute("SELECT schema_name, table_name, column_count FROM duckdb_tables() ORDER BY ALL").fetchall()
        found[path] = [sorted(map(repr, map(rounded, each))) for each in rows], made
    assert found["prod.duckdb"] == found["shop.duckdb"]


def rounded(row):
    return [round(value, 9) if isinstance(value, float) else value for value in row]


@pytest.mark.slow
def test_python_prints_what_runs_in_a_copy(shop):
    command(*FIT)
    shutil.copy(shop, "prod.duckdb")
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "spam")
        literal = """SELECT *, '"shop"."main"."sms"' AS note, '-- it''s "shop"."main"."sms"' AS more FROM sms"""
        texts = [
            model.sql("predict", literal),
            model.predict(literal).sql,
            model.predict(literal).limit(3).sql,
            model.log_likelihood_sql("sms", labelled=True),
            model.evaluate_sql("sms", table="cost", costs={("ham", "spam"): 3}),
            model.plot.verdict("sms", folds=None).sql,
            model.likelihoods.sql,
        ]
        expected = [sorted(map(repr, map(rounded, con.execute(text).fetchall()))) for text in texts]
        one = model.predict_one({"message": "a b", "links": 1})["probability"]
        prepared = model.predict_one_sql()
        con.execute("ATTACH ':memory:' AS other; USE other")
        kept = model.predict(literal.replace("FROM sms", "FROM shop.sms"))
        assert len(kept.fetchall()) == 30  # the handle stays with its database
        assert len(nbsql.load(con, "spam", database="shop").log_evidence(kept).limit(2).fetchall()) == 2
        assert '"shop"."spam"' in kept.sql  # which is another than the current one
    with duckdb.connect("prod.duckdb") as con:
        assert [sorted(map(repr, map(rounded, con.execute(text).fetchall()))) for text in texts] == expected
        assert con.execute(texts[0]).fetchall()[0][4:6] == ('"shop"."main"."sms"', """-- it's "shop"."main"."sms\"""")
        assert con.execute(prepared, ["a b", 1]).fetchall()[0][3] == pytest.approx(one, rel=1e-9)


@pytest.mark.slow
def test_rows_replace_a_table_of_rows_and_nothing_else(shop):
    command(*FIT)
    into = ("predict", shop, "spam", "SELECT * FROM sms WHERE id < 3", "--into", "scored", "--replace")
    script = command(*into, "--sql")
    command(*into)
    command("predict", shop, "spam", "SELECT * FROM sms WHERE id < 5", "--into", "scored", "--replace")
    assert run(script) == []
    assert run(script) == []
    with duckdb.connect(shop) as con:
        assert con.execute("SELECT count(*) FROM scored").fetchall() == [(3,)]
        con.execute("CREATE VIEW seen AS FROM sms")
        model = nbsql.load(con, "spam")
        query = model.predict("seen")
        query.create_view("latest", replace=True)
        query.limit(2).create_view("latest", replace=True)
        assert con.execute("SELECT count(*) FROM latest").fetchall() == [(2,)]
        for create, name, message in [
            (query.create_table, "sms", "'sms' is read for its own new rows; choose another name"),
            (query.create_table, "seen", "'seen' is a view; drop it first, or choose another name"),
            (query.create_view, "sms", "'sms' is a table; drop it first, or choose another name"),
            (
                query.create_table,
                "spam.statistics",
                "'spam.statistics' is in the schema of model 'spam'; choose another schema",
            ),
        ]:
            with pytest.raises(nbsql.InputError) as caught:
                create(name, replace=True)
            assert str(caught.value) == message
        with pytest.raises(nbsql.InputError, match="'scored' is there already; replace it with replace=True, or choose"):
            query.create_table("scored")
        assert con.execute("SELECT count(*) FROM sms").fetchall() == [(30,)]
    result = CliRunner().invoke(main, ["predict", shop, "spam", "sms", "--into", "scored"])
    assert result.stderr == "error: 'scored' is there already; replace it with --replace, or choose another name\n"
    result = CliRunner().invoke(main, ["sample", shop, "spam", "3", "--replace"])
    assert result.stderr.endswith("Error: --replace is of a table; name it: --into TABLE\n")
