"""The command line on a PostgreSQL server, whose address takes the place of a file."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

PASSWORD = "an%20%40%20secret"  # noqa: S105 - the server asks for none

MESSAGES = """CREATE TABLE inbox AS SELECT * FROM (VALUES
  (1, 'ham', 'lunch on friday?', 1, FALSE), (2, 'ham', 'minutes of the meeting', 3, TRUE),
  (3, 'ham', E'your "invoice"\\nfor \\\\ may', 2, TRUE), (4, 'spam', 'you won a free prize', 9, NULL),
  (5, 'spam', 'free pills, claim your prize', 12, TRUE)) AS t(id, label, message, links, attachment)"""
FIT = ("--target", "label", "--name", "spam", "--id", "id", "--family", "message=text", "--family", "links=poisson")


@pytest.fixture
def database(address, pg):
    """The address of a database with a table, and a password in it."""
    pg.execute(MESSAGES)
    return address.replace("nbsql@", f"nbsql:{PASSWORD}@")


def run(*words):
    done = CliRunner().invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "secret" not in done.output
    return done


def out(*words):
    done = run(*words)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words):
    """The one line on stderr of a command that fails."""
    done = run(*words)
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    return done.stderr.removesuffix("\n")


@pytest.fixture
def fitted(database):
    out("fit", database, "inbox", *FIT)
    return database


def next_statement(said):
    """The statement that a report proposes."""
    (found,) = (line.split(";")[0] for line in said.splitlines() if line.endswith("-- in SQL, from any client of PostgreSQL"))
    return found


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_fit_is_reported_and_can_be_used_from_sql(database, pg):
    said = out("fit", database, "inbox", *FIT)
    shown = database.replace(f":{PASSWORD}", "")
    assert f"model spam in {shown}: predicts label from 3 features" in said
    assert f"nbsql predict {shown} spam inbox" in said
    statement = next_statement(said)
    found = pg.execute(statement).fetchall()
    assert [row[-2] for row in sorted(found)] == ["ham", "ham", "ham", "spam", "spam"]
    assert "spam    label          2          3      5" in out("list", database)
    assert refused("fit", database, "inbox", *FIT) == (
        "error: model 'spam' is there already; replace it with --replace, or choose another name"
    )


def test_names_that_need_quotes_are_quoted_in_what_comes_next(database, pg):
    pg.execute('ALTER TABLE inbox RENAME TO "In"')
    said = out("fit", database, "In", "--target", "label", "--name", "user", "--exclude", "message")
    statement = next_statement(said)
    assert '"user".predict(to_jsonb("In"))' in statement
    assert len(pg.execute(statement).fetchall()) == 5


def test_predictions_are_shown_written_and_kept(fitted, pg, tmp_path):
    query = nbsql.load(pg, "spam").predict("inbox")
    expected = query.fetchall()
    assert "free pills, claim your prize" in out("predict", fitted, "spam", "inbox")

    found = rows(out("predict", fitted, "spam", "inbox", "--format", "csv"))
    assert found[0] == query.columns
    assert [(int(row[0]), row[2], row[4], row[5], float(row[6])) for row in found[1:]] == [
        (row[0], row[2], "" if row[4] is None else str(row[4]).lower(), row[5], pytest.approx(row[6], rel=1e-12))
        for row in expected
    ]
    for file_format in ("json", "jsonl"):
        file = tmp_path / f"scored.{file_format}"
        out("predict", fitted, "spam", "inbox", "--output", str(file))
        text = file.read_text(encoding="utf-8")
        objects = json.loads(text) if file_format == "json" else [json.loads(line) for line in text.splitlines()]
        assert [tuple(item.values())[:6] for item in objects] == [row[:6] for row in expected]
        assert list(objects[0]) == query.columns
    lists = rows(out("predict", fitted, "spam", "SELECT *, ARRAY['a b', 'c', label] AS words FROM inbox", "--csv"))
    position = lists[0].index("words")
    assert [json.loads(row[position]) for row in lists[1:]] == [["a b", "c", row[1]] for row in expected]
    assert out("predict", fitted, "spam", "SELECT * FROM inbox WHERE id > 9", "--format", "json") == "[]\n"
    assert out("predict", fitted, "spam", "SELECT * FROM inbox WHERE id > 9", "--format", "jsonl") == ""

    assert "scored 5 rows of inbox into the table scored of postgresql://nbsql@" in out(
        "predict", fitted, "spam", "inbox", "--into", "scored"
    )
    assert [row[5] for row in sorted(pg.execute("SELECT * FROM scored").fetchall())] == [row[5] for row in expected]
    assert refused("predict", fitted, "spam", "inbox", "--into", "scored") == (
        "error: 'scored' is there already; replace it with --replace, or choose another name"
    )
    out("predict", fitted, "spam", "SELECT * FROM inbox WHERE id < 3", "--into", "scored", "--replace")
    assert pg.execute("SELECT count(*) FROM scored").fetchall() == [(2,)]
    assert refused(
        "predict", fitted, "spam", "SELECT id, message, links, attachment FROM scored", "--into", "scored", "--replace"
    ) == ("error: 'scored' is read for its own new rows; choose another name")
    assert pg.execute("SELECT count(*) FROM scored").fetchall() == [(2,)]


def test_a_model_is_explained_judged_and_shown(fitted):
    said = out("explain", fitted, "spam", "inbox", "--row", "5")
    assert said.startswith("row 5 (id 5): predicted spam (> 99.9 %), then ham (< 0.1 %)\n")
    reasons = rows(out("explain", fitted, "spam", "inbox", "--format", "csv"))
    assert reasons[0] == ["row_id", "id", "class", "feature", "value", "contribution"]
    numbers = json.loads(out("evaluate", fitted, "spam", "inbox", "--json"))
    assert (numbers["rows"], numbers["accuracy"]) == (5, 1.0)
    assert rows(out("evaluate", fitted, "spam", "inbox", "--table", "confusion", "--csv"))[1:] == [
        ["ham", "ham", "3"],
        ["spam", "spam", "2"],
    ]
    assert "fit: 5 rows of inbox" in out("show", fitted, "spam")
    assert "spam    attachment   true" in out("show", fitted, "spam", "--likelihoods")


def test_a_model_learns_and_forgets(fitted, pg):
    assert "learnt 2 rows of the query, batch more" in out(
        "update", fitted, "spam", "SELECT * FROM inbox WHERE id < 3", "--batch", "more"
    )
    assert [row[1] for row in nbsql.load(pg, "spam").priors] == [5, 2]
    assert "forgot 2 rows of batch 'more'" in out("forget", fitted, "spam", "--batch", "more")
    assert [row[1] for row in nbsql.load(pg, "spam").priors] == [3, 2]
    assert "more    update      " in out("show", fitted, "spam", "--batches")
    assert out("drop", fitted, "spam", "--yes") == "dropped spam\n"
    assert nbsql.models(pg) == []


def test_what_would_run_is_printed_and_nothing_changes(fitted, pg):
    before = nbsql.load(pg, "spam").statistics.fetchall()
    prediction = out("sql", fitted, "predict", "spam", "inbox")
    assert out("predict", fitted, "spam", "inbox", "--sql") == prediction
    assert len(pg.execute(prediction).fetchall()) == 5
    for words, expected in {
        ("drop", fitted, "spam", "--sql"): 'DROP SCHEMA "spam"',
        ("fit", fitted, "inbox", *FIT, "--replace", "--sql"): 'CREATE TABLE "spam"."statistics"',
        ("update", fitted, "spam", "inbox", "--sql"): 'INSERT INTO "spam"."statistics"',
        ("predict", fitted, "spam", "inbox", "--into", "scored", "--sql"): 'CREATE TABLE "public"."scored" AS',
    }.items():
        assert expected in out(*words)
    assert nbsql.load(pg, "spam").statistics.fetchall() == before
    assert pg.execute("SELECT to_regclass('scored')").fetchall() == [(None,)]


@pytest.mark.parametrize("name", ["spam", 'it\'s \\ a "model" $$ of\nlines'])
def test_the_script_of_a_change_says_that_it_has_run(database, pg, name):
    nbsql.fit(pg, "inbox", target="label", id="id", name=name, families={"message": nbsql.Text()})
    script = out("update", database, name, "inbox", "--sql")
    pg.execute(script)
    learnt = nbsql.load(pg, name).priors.fetchall()
    with pytest.raises(
        Exception, match=rf"^model {re.escape(name)} has changed since this script was written; write it again\n"
    ):
        pg.execute(script)
    pg.rollback()
    assert nbsql.load(pg, name).priors.fetchall() == learnt


def test_what_the_engine_lacks_is_refused_by_its_own_line(fitted, tmp_path):
    file = tmp_path / "scored.parquet"
    assert refused("predict", fitted, "spam", "inbox", "--output", str(file)) == (
        "error: parquet files are not available on PostgreSQL; choose csv, json or jsonl"
    )
    assert list(tmp_path.iterdir()) == []
    out("export", fitted, "spam", str(tmp_path / "spam.parquet"))
    assert [path.name for path in tmp_path.iterdir()] == ["spam.parquet"]


def test_what_is_not_there_is_said_in_one_line(database):
    name = database.rpartition("/")[2]
    assert refused("show", database, "spam") == f"error: no model 'spam' in {name!r}; there are none yet"
    assert refused("fit", database, "outbox", *FIT) == "error: no table or view 'outbox'; there are 'inbox'"
    assert refused("fit", database, database, *FIT).startswith("error: no table or view 'postgresql://nbsql@127.0.0.1:")


@pytest.mark.parametrize(
    "command",
    ["list URL", "show URL m", "predict URL m t", "predict URL m t --into s", "fit URL t --target y --name m",
     "fit URL t --target y --name m --replace --sql", "evaluate URL m t", "explain URL m t", "sql URL predict m t",
     "update URL m t", "update URL m t --sql", "forget URL m t", "drop URL m --yes", "drop URL m --sql",
     "merge URL m n --name o", "cross-validate URL t --target y",
     "import URL m.parquet --name m", "sample URL m 3", "calibrate URL m t"],
)  # fmt: skip
def test_every_command_says_that_a_server_cannot_be_reached(command, server):
    assert refused(*command.replace("URL", "postgresql://nbsql:secret@127.0.0.1:1/shop").split()) == (
        'error: cannot connect to PostgreSQL: connection failed: connection to server at "127.0.0.1", port 1 failed: '
        "Connection refused"
    )


def test_an_argument_too_many_is_shown_without_its_password(database):
    done = run("list", database, database)
    assert done.exit_code == 2
    assert "Got unexpected extra argument (postgresql://nbsql@127.0.0.1:" in done.stderr


def test_a_server_that_cannot_be_reached_is_said_in_one_line_without_the_password(address):
    place = address.split("@")[1].partition("/")[0]
    host, port = place.split(":")
    failed = f'error: cannot connect to PostgreSQL: connection failed: connection to server at "{host}", port '
    assert refused("list", "postgresql://nbsql:secret@127.0.0.1:1/shop") == (f"{failed}1 failed: Connection refused")
    assert refused("fit", f"postgresql://nbsql:secret@{place}/gone", "inbox", *FIT) == (
        f'{failed}{port} failed: FATAL: database "gone" does not exist'
    )
    assert refused("list", f"postgres://nobody:secret@{place}/postgres") == (
        f'{failed}{port} failed: FATAL: role "nobody" does not exist'
    )
    assert refused("list", f"postgresql://{place}/shop?password=secret&mode=fast") == (
        'error: cannot connect to PostgreSQL: invalid URI query parameter: "mode"'
    )


@pytest.mark.parametrize("password", ["a@secret", "a/secret", "a?secret", "a#secret", "a%secret", "a secret"])
def test_a_password_that_breaks_the_address_off_is_not_said(password, server):
    place = "127.0.0.1:1/shop"
    for address in (f"//nbsql:{password}@{place}", f"//{place}?password=a%secret", f"//{place}?password=a&secret"):
        found = {refused("list", f"{scheme}:{address}") for scheme in ("postgresql", "Postgres")}
        assert found == {
            "error: cannot connect to PostgreSQL: in the password of an address @ is written as %40, / as %2F, ? as %3F, "
            "# as %23, % as %25 and a blank as %20"
        }
    assert "secret" not in refused("list", f"postgresq://nbsql:{password}@{place}")


def test_a_missing_driver_is_said_in_one_line():
    program = "import sys; sys.modules['psycopg'] = None; from nbsql.cli import main; main()"
    command = [sys.executable, "-c", program, "list", "postgresql://nbsql:secret@127.0.0.1:1/shop"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: PostgreSQL needs psycopg 3: pip install 'nbsql[postgres]'\n"


def test_an_interrupted_fit_leaves_nothing(database, pg):
    pg.execute("CREATE VIEW slow AS SELECT inbox.*, CAST(pg_sleep(60) AS TEXT) AS nap FROM inbox")
    command = [sys.executable, "-m", "nbsql", "fit", database, "slow", *FIT]
    done = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while pg.execute(asleep).fetchall() == [(0,)]:
        assert done.poll() is None, done.communicate()
    done.send_signal(signal.SIGINT)
    _, said = done.communicate(timeout=60)
    assert (done.returncode, said) == (130, "error: interrupted; nothing is half-written\n")
    while pg.execute(asleep).fetchall() != [(0,)]:
        pass  # the server has been told to stop
    assert nbsql.models(pg) == []


PRINTED = (
    "sql DATABASE predict spam public.inbox",
    "sql DATABASE explain spam inbox --inline",
    "sql DATABASE predict spam not_here --inline",
    "predict DATABASE spam inbox --into scored --replace --sql",
    "impute DATABASE spam inbox --sql",
    "sample DATABASE spam 3 --into drawn --sql",
    "evaluate DATABASE spam inbox --table roc --sql",
    "log-likelihood DATABASE spam inbox --labelled --sql",
    "update DATABASE spam inbox --sql",
    "calibrate DATABASE spam inbox --held-back --sql",
    "compact DATABASE spam --sql",
    "drop DATABASE spam --sql",
    "fit DATABASE inbox --target label --name spam --exclude message --replace --sql",
)


def test_what_is_printed_runs_in_a_copy_of_another_name(fitted, server, address, pg):
    import psycopg

    scripts = [out(*(fitted if word == "DATABASE" else word for word in printed.split())) for printed in PRINTED]
    name = pg.info.dbname
    pg.close()
    assert not [script for script in scripts if name in script]
    with psycopg.connect(server, autocommit=True) as admin:
        for script in scripts:
            admin.execute(f"CREATE DATABASE prod TEMPLATE {name}")
            try:
                with psycopg.connect(address.replace(f"/{name}", "/prod"), autocommit=True) as con:
                    con.execute("CREATE TABLE not_here AS SELECT *, 1 AS more FROM inbox")
                    con.execute(script)
            finally:
                admin.execute("DROP DATABASE prod WITH (FORCE)")
