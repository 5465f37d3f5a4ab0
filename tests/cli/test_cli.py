"""The command line: every command, what it prints, writes and refuses."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main
from nbsql.queries.explanation import times

GOLF = """
CREATE TABLE golf AS FROM (VALUES
  (1, 'sunny', 85, 'no'), (2, 'sunny', 80, 'no'), (3, 'overcast', 83, 'yes'), (4, 'rain', 70, 'yes'), (5, 'rain', 68, 'yes'),
  (6, 'rain', 65, 'no'), (7, 'overcast', 64, 'yes'), (8, 'sunny', 72, 'no'), (9, 'sunny', 69, 'yes'), (10, 'rain', 75, 'yes'),
  (11, 'sunny', 75, 'yes'), (12, 'overcast', 72, 'yes'), (13, 'overcast', 81, 'yes'), (14, 'rain', 71, 'no')
) AS t(day, outlook, temperature, play)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A database with the table golf, in a folder, and the same with the model spell in the folder `fitted` there."""
    path = tmp_path_factory.mktemp("made") / "shop.duckdb"
    with duckdb.connect(path) as con:
        con.execute(GOLF)
    fitted = path.parent / "fitted" / path.name
    fitted.parent.mkdir()
    shutil.copy(path, fitted)
    options = ["--target", "play", "--name", "spell", "--id", "day"]
    assert CliRunner().invoke(main, ["fit", str(fitted), "golf", *options]).exit_code == 0
    return path


@pytest.fixture
def shop(made, tmp_path, monkeypatch):
    """A copy of the database in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return str(shutil.copy(made, "shop.duckdb"))


@pytest.fixture
def run():
    """Run a command and hold it against the exit code that it should have."""

    def call(*arguments, code=0, stdin=None):
        result = CliRunner().invoke(main, arguments, input=stdin, prog_name="nbsql")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def fitted(made, shop):
    """The same with the model spell."""
    return str(shutil.copy(made.parent / "fitted" / made.name, shop))


def sql(database, query):
    with duckdb.connect(database, read_only=True) as con:
        return con.execute(query).fetchall()


def words(output, start):
    """The cells of the first line that starts with a word."""
    line = next(line for line in output.splitlines() if line.strip().startswith(start))
    return re.split(r"\s{2,}", line.strip())


# fit ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fit_shows_what_it_inferred_and_what_to_type_next(shop, run):
    result = run(
        "fit", shop, "golf", "--target", "play", "--name", "spell", "--id", "day", "--family", "temperature=poisson(a=2,b=0.5)"
    )
    assert "model spell in shop.duckdb: predicts play from 2 features" in result.stdout
    assert words(result.stdout, "outlook") == ["outlook", "categorical"]
    assert words(result.stdout, "temperature") == ["temperature", "poisson", "a=2, b=0.5"]
    assert words(result.stdout, "yes") == ["yes", "9", "64.3 %"]
    assert words(result.stdout, "no ") == ["no", "5", "35.7 %"]
    assert "  nbsql predict shop.duckdb spell golf\n" in result.stdout
    assert "  FROM spell.predict('golf');" in result.stdout
    assert result.stderr == ""
    assert sql(shop, "SELECT count(*) FROM spell.predict('golf')") == [(14,)]


@pytest.mark.parametrize(
    ("labels", "text"),
    [("'yes', 'no'", "no=0.25,yes=0.75"), ("TRUE, FALSE", "true=0.75,false=0.25"), ("1, 2", "2=0.25,1=0.75"),
     ("DATE '2024-01-01', DATE '2024-01-02'", "2024-01-01=0.75,2024-01-02=0.25"), ("'a, b', 'c=d'", "'a, b'=0.75,c=d=0.25")],
)  # fmt: skip
def test_priors_name_labels_of_any_type_as_text(shop, run, labels, text):
    first, second = re.split(r", (?=[^b])", labels)
    source = f"SELECT unnest([{first}, {second}]) AS y, unnest([1, 2]) AS x"
    run("fit", shop, source, "--target", "Y", "--name", "m", "--prior", text)
    assert sql(shop, f"SELECT prior FROM m.priors WHERE class = {first}") == [(0.75,)]


def test_warnings_are_lines_on_stderr(shop, run):
    result = run("fit", shop, "SELECT 'x' AS y, 1 AS a", "--target", "y", "--name", "m")
    assert result.stderr.splitlines() == [
        "warning: 'y' has one class only, 'x'; every prediction will be that class",
        "warning: one value only in 'a'; such a column tells no class from another",
    ]


def test_fit_makes_a_database_from_a_file(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("golf.csv").write_text("outlook,play\nsunny,no\nrain,yes\n", encoding="utf-8")
    run("fit", "new.duckdb", "golf.csv", "--target", "play", "--name", "m")
    assert nbsql.models("new.duckdb") == ["m"]


def test_a_failed_fit_leaves_no_new_file(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("fit", "new.duckdb", "SELECT 1 AS x, 2 AS y", "--target", "z", "--name", "m", code=1)
    assert result.stderr.startswith("error: no column 'z' in the query")
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_database_is_not_made(shop, run):
    result = run("fit", "shpo.duckdb", "golf", "--target", "play", "--name", "m", code=1)
    assert result.stderr == "error: no database 'shpo.duckdb'; did you mean 'shop.duckdb'?\n"
    assert not Path("shpo.duckdb").exists()


def test_replace_takes_the_place_of_a_model(fitted, run):
    again = ("fit", fitted, "golf", "--target", "play", "--name", "spell", "--exclude", "day")
    assert "error: model 'spell' is there already" in run(*again, code=1).stderr
    run(*again, "--replace")
    assert list(nbsql.load(fitted, "spell").families) == ["outlook", "temperature"]


# predict, explain, sql ---------------------------------------------------------------------------------------------------


def test_predict_shows_a_table_in_the_order_of_the_source(fitted, run):
    output = run("predict", fitted, "spell", "golf", "--limit", "3").stdout
    assert [words(output, str(day))[0] for day in (1, 2, 3)] == ["1", "2", "3"]
    expected = sql(fitted, "SELECT prediction, probability FROM spell.predict('golf') WHERE day = 3")[0]
    assert words(output, "3")[-2:] == [expected[0], f"{expected[1]:.5g}"]
    twice = run("predict", fitted, "spell", "SELECT * FROM golf UNION ALL SELECT * FROM golf").stdout
    assert "the first 20 rows; --limit N shows more" in twice
    assert "first" not in output
    twice = "SELECT * FROM golf UNION ALL SELECT * FROM golf"
    values = run("predict", fitted, "spell", twice, "--target", "outlook", "--top-k", "3").stdout.splitlines()
    ranks = [line.split()[-1] for line in values if line.strip()[:1].isdigit()]
    assert ranks == [*"123"] * 20  # a column has more values than there are classes
    assert values[-1] == "the first 20 rows; --limit N shows more"


def test_a_table_keeps_what_predict_adds_and_the_width_of_the_terminal(fitted, run, monkeypatch):
    wide = "SELECT golf.*, " + ", ".join(f"'a long text {i}' AS column_{i}" for i in range(30)) + " FROM golf"
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        output = run("predict", fitted, "spell", wide).stdout
        assert max(map(len, output.splitlines())) <= width
        assert words(output, "day")[-3:] == ["…", "prediction", "probability"]
        assert re.search(r"\d+ columns left out; --csv has all: \w+, \w+", output)
    monkeypatch.delenv("COLUMNS")  # nobody's terminal: a pipe
    assert len(words(run("predict", fitted, "spell", wide).stdout, "day")) == 36


def test_a_narrow_terminal_keeps_the_first_column_and_the_prediction(fitted, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    output = run("predict", fitted, "spell", "golf", "--proba").stdout
    assert words(output, "day")[:4] == ["day", "…", "prediction", "probability"]
    assert "columns left out; --csv has all: outlook, " in " ".join(output.split())
    output = run("evaluate", fitted, "spell", "golf", "--table", "thresholds").stdout
    assert "columns left out; --csv has all: " in output


@pytest.mark.few
@pytest.mark.parametrize("width", ["0", "1", "20"])
def test_a_terminal_of_no_width_has_the_tables_and_their_numbers(fitted, run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    assert "outlook" in run("show", fitted, "spell").stdout
    (line,) = [line for line in run("evaluate", fitted, "spell", "golf").stdout.splitlines() if "accuracy of the maj" in line]
    assert float(line.split()[4]) == 0.6429
    assert "columns left out" in run("predict", fitted, "spell", "golf", "--proba").stdout


@pytest.mark.slow
def test_formats_hold_the_same_rows(fitted, run):
    arguments = ("predict", fitted, "spell", "golf", "--proba")
    expected = sql(fitted, "SELECT day, prediction, probability_yes FROM spell.predict_proba('golf') ORDER BY day")
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").stdout)))
    assert [(int(row["day"]), row["prediction"], float(row["probability_yes"])) for row in rows] == expected
    objects = json.loads(run(*arguments, "--format", "json").stdout)
    assert [(row["day"], row["prediction"], row["probability_yes"]) for row in objects] == expected
    lines = run(*arguments, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == objects
    for file in ("a.parquet", "a.csv.gz", "a.json"):
        assert run(*arguments, "--output", file).output == ""
        found = duckdb.sql(f"SELECT day, probability_yes FROM '{file}'").fetchall()  # a label 'no' in CSV is read as FALSE
        assert found == [(day, probability) for day, _, probability in expected]
    assert sorted(path.name for path in Path().glob("*a.*")) == ["a.csv.gz", "a.json", "a.parquet"]


def test_predict_into_makes_a_table(fitted, run):
    result = run("predict", fitted, "spell", "golf", "--into", "scored rows")
    assert result.stdout == "scored 14 rows of golf into the table scored rows of shop.duckdb\n"
    assert sql(fitted, 'SELECT count(*), count(prediction) FROM "scored rows"') == [(14, 14)]
    filled = run("impute", fitted, "spell", "golf", "--into", "filled rows")
    assert filled.stdout == "filled 14 rows of golf into the table filled rows of shop.duckdb\n"
    assert (
        "error: 'scored rows' is there already"
        in run("predict", fitted, "spell", "golf", "--into", "scored rows", code=1).stderr
    )


def test_values_cannot_steer_the_terminal(fitted, run):
    output = run(
        "predict", fitted, "spell", "SELECT '[red]' || chr(27) || '[31m' || chr(10) || ':x:' AS outlook, 70 AS temperature"
    ).stdout
    assert r"[red]�[31m\n:x:" in output
    named = run("predict", fitted, "spell", """SELECT 70 AS temperature, 'sun' AS outlook, 1 AS "\x1b[31m\n:x:" """).stdout
    assert r"�[31m\n:x:" in named


def test_explain_multiplies_up_to_the_odds(fitted, run):
    output = run("explain", fitted, "spell", "golf", "--row", "3").stdout
    assert output.startswith("row 3 (day 3): predicted yes ")
    assert words(output, "prior")[1] == "1.8 × for yes"  # 9 / 5
    assert words(output, "outlook")[:3] == [
        "outlook",
        "overcast",
        "3.3 × for yes",
    ]  # (4 + 1) / (9 + 3) against (0 + 1) / (5 + 3)
    rows = sql(fitted, "SELECT sum(contribution) FROM spell.explain('golf') WHERE row_id = 3 GROUP BY class ORDER BY class")
    difference = float(str(rows[1][0])) - float(str(rows[0][0]))
    assert words(output, "total")[1] == f"{times(difference)} × for yes"


def test_explain_in_a_file_holds_every_contribution(fitted, run):
    rows = list(csv.DictReader(io.StringIO(run("explain", fitted, "spell", "golf", "--format", "csv").stdout)))
    assert len(rows) == 14 * 2 * 3
    assert list(rows[0]) == ["row_id", "day", "class", "feature", "value", "contribution"]


def test_explain_begins_where_it_is_told(fitted, run):
    output = run("explain", fitted, "spell", "golf", "--row", "13", "--limit", "5").stdout
    assert re.findall(r"^row (\d+) \(day (\d+)\)", output, re.MULTILINE) == [("13", "13"), ("14", "14")]
    assert run("explain", fitted, "spell", "golf", "--row", "15", code=1).stderr == "error: golf has no row 15\n"


def test_a_row_that_no_class_explains_is_said_so(shop, run):
    source = "SELECT * FROM (VALUES ('a', 'p', 'no'), ('b', 'q', 'yes')) AS t(u, v, y)"
    run("fit", shop, source, "--target", "y", "--name", "m", "--alpha", "0")
    assert run("explain", shop, "m", "SELECT 'a' AS u, 'q' AS v").stdout == "row 1: no class of y can explain it\n"
    source = "SELECT * FROM (VALUES ('a', 1, 'no'), ('b', 1, 'yes'), ('b', 2, 'yes')) AS t(u, x, y)"
    run("fit", shop, source, "--target", "y", "--name", "m", "--alpha", "0", "--replace", "--family", "x=poisson")
    lines = run("explain", shop, "m", "SELECT 'b' AS u, 3 AS x").stdout.splitlines()
    bars = {words[0]: line.count("█") for line in lines if (words := line.split())}
    assert "infinitely × for yes" in next(line for line in lines if line.split()[:1] == ["u"])
    assert (bars["u"], bars["x"], bars["prior"]) == (10, 0, 0)


@pytest.mark.parametrize("verb", ["predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain"])
@pytest.mark.forms("verb")
def test_sql_prints_what_python_would_run(fitted, run, verb):
    printed = run("sql", fitted, verb, "spell", "golf").stdout
    with nbsql.load(fitted, "spell") as model:
        assert printed == model.sql(verb, "golf") + "\n"
    assert run("sql", fitted, verb.replace("_", "-"), "spell", "golf").stdout == printed
    assert len(sql(fitted, printed)) >= 14


# show, list, drop --------------------------------------------------------------------------------------------------------


def test_show_tells_what_was_learnt_and_from_what(fitted, run):
    output = run("show", fitted, "spell").stdout
    assert f"alpha 1, prior empirical, id day, nbsql {nbsql.__version__}\n" in output
    assert re.search(r"fit: 14 rows of golf, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", output)
    output = run("show", fitted, "spell", "--families", "--priors", "--likelihoods", "--limit", "3").stdout
    assert words(output, "temperature") == [
        "temperature",
        "gaussian",
        "alpha=1, nulls=skip, unseen=skip, estimate=mean, variance=population,",  # and on the next line, the rest
    ]
    assert words(output, "yes") == ["yes", "9", "0.64286", "-0.44183"]
    assert words(output, "no      outlook") == ["no", "outlook", "overcast", "0.125", "-2.0794"]
    assert "the first 3 rows; --limit N shows more" in output
    assert "variance  " not in output  # nothing but NULL in these rows


def test_list_shows_the_models(shop, run):
    assert run("list", shop).stdout.startswith("no models in shop.duckdb; make one: nbsql fit shop.duckdb SOURCE")
    run("fit", shop, "golf", "--target", "play", "--name", "spell")
    assert words(run("list", shop).stdout, "spell")[:5] == ["spell", "play", "2", "3", "14"]


def test_drop_asks_first(fitted, run):
    assert "drop the model spell of shop.duckdb?" in run("drop", fitted, "SPELL", stdin="n\n", code=1).stdout
    assert nbsql.models(fitted) == ["spell"]
    run("drop", fitted, "spell", stdin="y\n")
    assert nbsql.models(fitted) == []
    run("fit", fitted, "golf", "--target", "play", "--name", "spell")
    assert run("drop", fitted, "spell", "--yes").stdout == "dropped spell\n"
    assert sql(fitted, "SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'spell'") == [(0,)]


# --sql and errors --------------------------------------------------------------------------------------------------------

FIT = ("fit", "shop.duckdb", "golf", "--target", "play", "--name", "spell", "--replace")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (FIT, r'^DROP SCHEMA IF EXISTS "spell" CASCADE;.*^CREATE SCHEMA "spell";.*^CREATE TABLE "spell"."statistics" AS'),
        (("predict", "shop.duckdb", "spell", "golf"), r"WITH numbered AS .*probability"),
        (("predict", "shop.duckdb", "spell", "golf", "--into", "scored"), r'^CREATE TABLE "main"."scored" AS'),
        (("explain", "shop.duckdb", "spell", "golf", "--row", "2"), r"LIMIT 1 OFFSET 1.*AS contribution"),
        (("show", "shop.duckdb", "spell"), r'FROM "spell"."priors".*FROM "spell"."likelihoods"'),
        (("drop", "shop.duckdb", "spell"), r'^-- drop schema\nDROP SCHEMA "spell";'),
    ],
)
def test_sql_writes_nothing(fitted, run, arguments, expected):
    before = Path(fitted).read_bytes()
    printed = run(*arguments, "--sql").stdout
    assert re.search(expected, printed, re.DOTALL | re.MULTILINE), printed
    assert Path(fitted).read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == [fitted]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("fit", "shop.duckdb", "glof", "--target", "play", "--name", "m"), "no table or view 'glof'; did you mean 'golf'?"),
        (("fit", "shop.duckdb", "golf", "--target", "paly", "--name", "m"), "no column 'paly' in golf; did you mean 'play'?"),
        (("fit", "shop.duckdb", "golf", "--target", "play", "--name", "m", "--prior", "no=0.4,maybe=0.6"), "--prior has no"),
        (("fit", "shop.duckdb", "golf", "--target", "play", "--name", "m", "--alpha", "-1"), "--alpha must be"),
        (("fit", "", "golf", "--target", "play", "--name", "m"), "the path of a database must be a text of at least one"),
        (("list", ""), "the path of a database must be a text of at least one character, not ''"),
        (("predict", "nowhere.duckdb", "m", "golf"), "no database 'nowhere.duckdb'"),
        (("predict", "shop.duckdb", "spel", "golf"), "no model 'spel' in 'shop'; did you mean 'spell'?"),
        (("predict", "shop.duckdb", "spell", "SELECT 1 AS outlook"), "no column 'temperature' in the query"),
        (
            ("predict", "shop.duckdb", "spell", "golf", "-o", "no/such/folder.csv"),
            "cannot write 'no/such/folder.csv': its folder does not exist; make it first",
        ),
        (("predict", "nowhere.duckdb", "m", "golf", "--into", "t"), "no database 'nowhere.duckdb'"),
        (("predict", "m", "shop.duckdb", "golf"), "no database 'm'; the database comes first: shop.duckdb m\n"),
        (("update", "m", "shop.duckdb", "golf"), "no database 'm'; the database comes first: shop.duckdb m\n"),
        (("show", "shop.duckdb", "main"), "schema 'main' is not a model"),
        (("drop", "shop.duckdb", "main", "--yes"), "schema 'main' is not a model"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_exit_1(fitted, run, arguments, line):
    before = Path(fitted).read_bytes()
    result = run(*arguments, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {line}")
    assert result.stderr.count("\n") == 1
    assert Path(fitted).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("fit", "shop.duckdb", "golf", "--name", "m"), "name the column to predict, --target COLUMN, or say --no-target"),
        ((*FIT, "--no-target"), "name the column to predict, --target COLUMN, or say --no-target"),
        ((*FIT, "--family", "x=poison"), "no family 'poison'; did you mean"),
        ((*FIT, "--prior", "unifrom"), "no prior 'unifrom'; did you mean"),
        (("sql", "shop.duckdb", "guess", "spell", "golf"), "'guess' is not one of"),
        (("predict", "shop.duckdb", "spell", "golf", "--format", "parquet"), "parquet needs a file"),
        (("predict", "shop.duckdb", "spell", "golf", "--output", "x.foo"), "no format ends like 'x.foo'"),
        (("predict", "shop.duckdb", "spell", "golf", "--into", "t", "--format", "csv"), "--into keeps the rows"),
        (("predcit",), "No such command 'predcit'"),
    ],
)  # fmt: skip
def test_usage_errors_exit_2(fitted, run, arguments, line):
    assert line in run(*arguments, code=2).stderr


# Help. -------------------------------------------------------------------------------------------------------------------


def test_every_command_is_explained():
    for name, command in main.commands.items():
        assert command.help, name
        assert command.short_help, name
        options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        assert [option.name for option in options if not option.help] == [], name
        example = CliRunner().invoke(main, [name, "--help"]).output.split("Usage:")[1].split("\n", 1)[1]
        assert f"nbsql {name} " in example, name


@pytest.mark.slow
@pytest.mark.look
def test_messages_name_the_options_that_are_typed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("keys.csv").write_text(
        "customer_id,soil_1,soil_2,soil_3,seen,y\n"
        + "".join(f"{i * i},{i % 2},{i // 2 % 2},{i // 3 % 2},2024-01-0{i % 9 + 1},{'ab'[i // 7 % 2]}\n" for i in range(400))
    )
    fit = ("fit", "keys.duckdb", "keys.csv", "--target", "y", "--name", "m")
    assert run(*fit, "--exclude", "seen").stderr.splitlines() == [
        "warning: 'customer_id' is a key, which is left out; to keep it: --family customer_id=categorical"
    ]
    said = run(*fit, "--exclude", "seen", "--infer", "types", "--replace").stderr.splitlines()
    assert said == [
        "warning: 'customer_id' is a key by its name, and is taken for a quantity; leave it out: --exclude customer_id, "
        "or take it for a category: --family customer_id=categorical",
        "warning: 'soil_1', 'soil_2', 'soil_3' hold 0 and 1 only, and are taken for quantities: --family 'soil_*=bernoulli'",
    ]
    judged = ("cross-validate", "keys.duckdb", "keys.csv", "--target", "y", "--exclude", "seen", "--folds", "loo")
    assert "error: --folds loo takes a row out" in run(*judged, "--family", "customer_id=binned(by=mdl)", code=1).stderr
