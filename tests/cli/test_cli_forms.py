"""--json and --csv of every verb that answers, standard input, completion, and what a terminal can show."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from support.commands import run

import nbsql
from nbsql.cli import main

ROOT = Path(__file__).parents[2]
TALES = ("demo", "sql", "ad-hoc", "dbt-path", "help", "report", "plot")  # a story, SQL, a path, pages, a picture: no values


def fill(con):
    """A database with the tables golf and other and the model spell."""
    con.execute(
        "CREATE TABLE golf AS SELECT i AS id, i % 3 AS wind, ['é', 'b'][1 + i % 2] AS sky, i % 4 = 0 AS play "
        "FROM range(40) AS t(i)"
    )
    con.execute("CREATE TABLE other AS FROM golf LIMIT 4")
    nbsql.fit(con, "golf", target="play", name="spell", id="id")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_every_verb_that_answers_has_both_forms():
    for name, command in main.commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert ({"--json", "--csv"} <= options) == (name not in TALES), name


def test_a_list_of_models(shop):
    (line,) = json.loads(run("list", shop, "--json"))
    assert line.pop("updated_at").startswith("20")
    assert line == {"model": "spell", "target": "play", "classes": 2, "features": 2, "rows": 40, "error": None}
    (row,) = rows_of(run("list", shop, "--csv"))
    assert (row["model"], row["rows"], row["error"]) == ("spell", "40", "")
    duckdb.connect("empty.duckdb").close()
    assert json.loads(run("list", "empty.duckdb", "--json")) == []
    assert "choose one of --json and --csv" in run("list", shop, "--json", "--csv", code=2)


@pytest.mark.slow
def test_a_model_is_shown_as_an_object_of_its_parts(shop):
    shown = json.loads(run("show", shop, "spell", "--json"))
    assert (shown["model"], shown["target"], shown["rows"]) == ("spell", "play", 40)
    assert [(f["feature"], f["family"], f["columns"], f["types"]) for f in shown["features"]] == [
        ("wind", "gaussian", ["wind"], ["BIGINT"]),
        ("sky", "categorical", ["sky"], ["VARCHAR"]),
    ]
    assert shown["features"][1]["options"]["alpha"] == 1.0
    assert [(c["class"], c["n"], c["prior"]) for c in shown["classes"]] == [(False, 30.0, 0.75), (True, 10.0, 0.25)]
    assert [(b["operation"], b["rows"]) for b in shown["batches"]] == [("fit", 40)]
    assert [row["feature"] for row in rows_of(run("show", shop, "spell", "--csv"))] == ["wind", "sky"]
    (batch,) = json.loads(run("show", shop, "spell", "--batches", "--json"))
    assert batch["source"] == "golf"
    assert [row["class"] for row in rows_of(run("show", shop, "spell", "--priors", "--csv"))] == ["false", "true"]
    parts = json.loads(run("show", shop, "spell", "--priors", "--families", "--json"))
    assert sorted(parts) == ["families", "priors"]
    message = run("show", shop, "spell", "--priors", "--families", "--csv", code=2)
    assert "CSV is one table; choose one of --families and --priors" in message
    assert "--families is no query; leave out --sql, or take --json" in run(
        "show", shop, "spell", "--families", "--sql", code=2
    )


@pytest.mark.few
@pytest.mark.parametrize(
    ("arguments", "feature"),
    [
        (("fit", "shop.duckdb", "golf", "--target", "play", "--name", "new", "--id", "id"), "wind"),
        (("update", "shop.duckdb", "spell", "other"), "wind"),
        (("forget", "shop.duckdb", "spell", "other"), "wind"),
        (("rollback", "shop.duckdb", "spell", "1"), "wind"),
        (("compact", "shop.duckdb", "spell"), "wind"),
        (("merge", "shop.duckdb", "spell", "--name", "new"), "wind"),
        (("import", "shop.duckdb", "spell.parquet", "--name", "new"), "wind"),
    ],
)
def test_what_makes_or_changes_a_model_answers_with_it(shop, arguments, feature):
    run("export", shop, "spell", "spell.parquet")
    found = json.loads(run(*arguments, "--json"))
    assert found["features"][0]["feature"] == feature
    assert found["batches"]
    name = found["model"]
    replacing = ("--replace",) if name == "new" else ()
    if arguments[0] != "forget":
        assert rows_of(run(*arguments, *replacing, "--csv"))[0]["feature"] == feature


def test_what_is_done_is_said_as_facts(shop):
    assert json.loads(run("export", shop, "spell", "a.parquet", "--json")) == {"model": "spell", "path": "a.parquet"}
    assert run("export", shop, "spell", "b.parquet", "--csv") == "model,path\nspell,b.parquet\n"
    assert run("drop", shop, "spell", "--yes", "--csv") == "dropped\nspell\n"


@pytest.mark.slow
def test_predictions_take_the_same_options(shop):
    assert run("predict", shop, "spell", "golf", "--json") == run("predict", shop, "spell", "golf", "--format", "json")
    assert run("explain", shop, "spell", "golf", "--csv") == run("explain", shop, "spell", "golf", "--format", "csv")
    assert "choose one of --csv and --format json" in run("predict", shop, "spell", "golf", "--csv", "--format", "json", code=2)
    assert "leave out" in run("predict", shop, "spell", "golf", "--csv", "--into", "t", code=2)
    run("predict", shop, "spell", "golf", "--csv", "--output", "scored.dat")
    assert Path("scored.dat").read_text(encoding="utf-8") == run("predict", shop, "spell", "golf", "--csv")


def test_an_infinity_is_text_in_json(shop):
    run("fit", shop, "golf", "--target", "play", "--name", "mle", "--estimate", "mle", "--feature", "sky")
    numbers = json.loads(run("log-likelihood", shop, "mle", "SELECT 'é' AS sky, TRUE AS play", "--labelled", "--json"))
    assert numbers["rows"] == 1
    json.loads(run("show", shop, "mle", "--json"), parse_constant=lambda word: pytest.fail(word))


def test_calibration_as_csv(shop):
    rows = rows_of(run("calibrate", shop, "spell", "golf", "--folds", "2", "--csv"))
    assert {row["metric"] for row in rows} >= {"log loss"}


# Standard input ------------------------------------------------------------------------------------------------------

GOLF = "id,wind,sky,play\n" + "".join(f"{i},{i % 3},{'éb'[i % 2]},{str(i % 4 == 0).lower()}\n" for i in range(40))


@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_standard_input_is_a_source(shop, form):
    rows = [{"id": i, "wind": i % 3, "sky": "éb"[i % 2], "play": i % 4 == 0} for i in range(40)]
    text = {"csv": GOLF, "jsonl": "".join(f"{json.dumps(row)}\n" for row in rows), "json": json.dumps(rows)}[form]
    run("fit", shop, "-", "--target", "play", "--id", "id", "--name", "piped", stdin=text)
    assert json.loads(run("show", shop, "piped", "--batches", "--json"))[0]["source"] == "standard input"
    piped = rows_of(run("predict", shop, "piped", "-", "--csv", stdin=text))
    table = rows_of(run("predict", shop, "spell", "golf", "--csv"))
    assert [row["prediction"] for row in piped] == [row["prediction"] for row in table]
    assert [float(row["probability"]) for row in piped] == pytest.approx([float(row["probability"]) for row in table])


def test_standard_input_is_no_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("fit - golf.csv --target play --name m", "predict - m golf.csv", "list -", "update - m golf.csv"):
        found = CliRunner().invoke(main, command.split())
        said = "error: '-' is standard input, which holds no database; name a file, such as shop.duckdb\n"
        assert (found.exit_code, found.stderr) == (1, said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_standard_input_goes_wherever_a_source_does(shop):
    assert "evaluated on 40 rows" in run("evaluate", shop, "spell", "-", stdin=GOLF)
    assert "predicted " in run("explain", shop, "spell", "-", stdin=GOLF)
    assert "40 rows" in run("cross-validate", shop, "-", "--target", "play", "--id", "id", stdin=GOLF)
    assert "learnt 40 rows of standard input" in run("update", shop, "spell", "-", stdin=GOLF)
    assert "forgot 40 rows of standard input" in run("forget", shop, "spell", "-", stdin=GOLF)
    assert "40 rows" in run("log-likelihood", shop, "spell", "-", stdin=GOLF)
    assert "fit" in run("fit", "new.duckdb", "-", "--target", "play", "--name", "m", "--json", stdin=GOLF)


def test_standard_input_with_nothing_in_it_is_one_line(shop, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")  # which no other test uses at the same time
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert run("predict", shop, "spell", "-", code=1, stdin="") == (
        "error: standard input is empty; pipe rows into it, as CSV or JSON: cat new.csv | nbsql ...\n"
    )
    assert not list(folder.glob("nbsql-*/rows.*"))


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0"])
def test_standard_input_by_its_file_is_standard_input(shop, name):
    rows = "outlook,sky,wind\nsunny,clear,1.5\n"
    assert run("predict", shop, "spell", name, "--csv", stdin=rows) == run("predict", shop, "spell", "-", "--csv", stdin=rows)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_by_name_is_one_line(shop):
    os.mkfifo("rows.csv")
    said = "error: 'rows.csv' is a pipe, and a source is read more than once; name standard input, -, instead\n"
    assert run("predict", shop, "spell", "rows.csv", code=1) == said
    assert "fit" not in run("fit", shop, "rows.csv", "--target", "play", "--name", "piped", code=1).split()


# Completion ----------------------------------------------------------------------------------------------------------


def completed(*words):
    """What the shell offers for the last word."""
    completion = ShellComplete(main, {}, "nbsql", "_NBSQL_COMPLETE")
    return [
        item.value if item.type == "plain" else f"<{item.type}>"
        for item in completion.get_completions(list(words[:-1]), words[-1])
    ]


def test_the_shell_completes_what_the_database_holds(shop):
    assert completed("predict", "") == ["shop.duckdb"]
    assert completed("predict", "nothing") == ["<file>"]
    assert completed("predict", shop, "s") == ["spell"]
    assert completed("predict", shop, "spell", "") == ["golf", "other"]
    assert completed("predict", shop, "spell", "new") == ["<file>"]
    assert completed("fit", shop, "golf", "--target", "p") == ["play"]
    assert completed("fit", shop, "golf", "--family", "w") == ["wind="]
    assert completed("fit", shop, "golf", "--family", "wind=pois") == ["wind=poisson"]
    assert completed("fit", shop, "golf", "--name", "s") == []
    assert completed("merge", shop, "") == ["spell"]
    assert completed("from-statistics", shop, "golf", "--like", "") == ["spell"]
    assert completed("predict", "nothing.duckdb", "") == []
    assert not Path("nothing.duckdb").exists()


@pytest.mark.slow
def test_completion_of_a_locked_database_is_silent(shop):
    with duckdb.connect(shop):
        words = {"COMP_WORDS": f"nbsql predict {shop} ", "COMP_CWORD": "3", "_NBSQL_COMPLETE": "bash_complete"}
        program = [sys.executable, "-c", "from nbsql.cli import main; main(prog_name='nbsql')"]
        environment = {**os.environ, **words, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")


# Terminals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variable", "codes"), [("", ["\x1b[31m", "\x1b[33m"]), ("1", [])])
def test_no_color_is_respected_in_errors_and_warnings(shop, variable, codes):
    constant = "SELECT 1 AS a, i % 2 AS b FROM range(4) AS t(i)"
    said = ""
    for words in (("predict", shop, "spell", "nothing"), ("fit", shop, constant, "--target", "b", "--name", "m")):
        said += CliRunner().invoke(main, words, color=True, env={"NO_COLOR": variable}).stderr
    assert re.findall(r"\x1b\[3\dm", said) == codes
    assert re.search("error.*\n.*warning", said)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "variables", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
)
def test_a_terminal_of_ascii_gets_readable_tables(shop, variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}

    def program(*arguments):
        done = subprocess.run([sys.executable, "-m", "nbsql", *arguments], env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
        return done.stdout

    assert " x for " in program("explain", shop, "spell", "golf").decode("ascii")
    shown = program("predict", shop, "spell", "golf").decode("ascii")
    assert " ? " in shown
    assert "---" in shown
    program("evaluate", shop, "spell", "other").decode("ascii")
    # What a program reads is whole, whatever the terminal shows.
    assert {row["sky"] for row in rows_of(program("predict", shop, "spell", "golf", "--csv").decode())} == {"é", "b"}
    assert "é" in program("predict", shop, "spell", "SELECT 1 AS wind, 'é' AS sky", "--sql").decode()


def test_sql_with_fit_is_what_fit_prints(shop):
    options = ("golf", "--target", "play", "--name", "other", "--id", "id")
    assert run("sql", shop, "fit", *options) == run("fit", shop, *options, "--sql")


def test_messages_name_the_option(shop):
    taken = run("fit", shop, "golf", "--target", "play", "--name", "spell", code=1)
    assert taken == "error: model 'spell' is there already; replace it with --replace, or choose another name\n"
    run("export", shop, "spell", "a.parquet")
    assert run("export", shop, "spell", "a.parquet", code=1).endswith("choose another path, or --overwrite\n")


# predict | head ------------------------------------------------------------------------------------------------------


ENDLESS = """
import sys, duckdb
from nbsql.cli.files import stream
from nbsql.engines.connect import opened
with opened(duckdb.connect()) as engine:
    try:
        stream(engine, [f"SELECT i FROM range({last}) AS t(i) WHERE i % 10_000_000_000 < 3" for last in (3, 10**15)], "csv")
    except BrokenPipeError:
        print("stopped", file=sys.stderr)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a pipe says that its reader has gone")
def test_a_reader_that_has_enough_stops_the_scoring():
    """Of rows that would take years to read, after the first few."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert [process.stdout.readline() for _ in range(4)] == [b"i\n", b"0\n", b"1\n", b"2\n"]
            process.stdout.close()
            process.wait(timeout=120)
        finally:
            process.kill()
        assert process.stderr.read() == b"stopped\n"


@pytest.mark.slow
def test_the_rows_of_a_pipe_are_those_of_the_source_in_their_order(shop):
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE many AS SELECT i AS id, i % 3 AS wind, 'b' AS sky FROM range(12_000) AS t(i)")
    command = [sys.executable, "-m", "nbsql", "predict", shop, "spell", "many", "--csv"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    lines = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert lines[0] == b"id,wind,sky,prediction,probability"
    assert lines[1].startswith(b"0,0,b,false,")
    assert [line.split(b",", 1)[0] for line in lines[1:]] == [str(number).encode() for number in range(12_000)]


@pytest.mark.slow
def test_rows_are_classified_without_a_model(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute(
            "CREATE TABLE known AS SELECT i % 3 > 0 AS wet, 'v' || i % 4 AS v, i % 3 + i % 5 AS x FROM range(60) AS r(i)"
        )
        con.execute("CREATE TABLE new AS SELECT 'v' || i AS v, i AS x FROM range(3) AS r(i)")
        options = {"target": "wet", "prior": {True: 0.3, False: 0.7}}
        expected = nbsql.classify(con, "known", "new", **options, columns=["x"]).fetchall()
        assert expected == nbsql.fit(con, "known", **options).predict("new", columns=["x"]).fetchall()
    words = ("classify", path, "known", "new", "--target", "wet", "--prior", "true=0.3,false=0.7", "--columns", "x")
    assert [tuple(row.values()) for row in json.loads(run(*words, "--json"))] == expected
    run(*words, "--into", "scored")
    with duckdb.connect(path) as con:
        assert con.execute("FROM scored").fetchall() == expected
        assert nbsql.models(con) == []
