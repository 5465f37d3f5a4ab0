"""The commands linear, sample, log-likelihood, from-tables and sql: what they print, leave and refuse."""

import json
from pathlib import Path

import duckdb
import pytest
from support.commands import cells, run

import nbsql


def fill(con):
    """A database with the table sky, the models weather and its linear twin."""
    con.execute("""CREATE TABLE sky AS SELECT CASE WHEN i % 3 = 0 THEN 'sun' ELSE 'rain' END AS sky, i % 7 + 0.5 AS wind,
        CASE WHEN i % 3 = 0 OR i % 5 = 0 THEN 'yes' ELSE 'no' END AS play FROM range(30) AS t(i)""")
    nbsql.fit(con, "sky", target="play", name="weather")
    nbsql.fit(con, "sky", target="play", name="flat", families={"wind": nbsql.Gaussian(shared_variance=True)})


def test_forms_that_a_model_does_not_have(shop):
    assert run("linear", shop, "weather", code=1) == (
        "error: model 'weather' has no linear form: 'wind' is gaussian with a variance of its own in every class; "
        "use `nbsql quadratic`, or fit it with --family 'COLUMN=gaussian(shared_variance=true)'\n"
    )


@pytest.mark.slow
def test_a_sample_is_that_of_the_library(shop):
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        rows, text = model.sample(50, seed=3).fetchall(), model.sample(50, seed=3).sql
    output = run("sample", shop, "weather", "50", "--seed", "3")
    assert [cells(line, "")[-1] for line in output.splitlines()[2:22]] == [row[-1] for row in rows[:20]]
    assert output.endswith("\n\nthe first 20 of 50 rows; --csv prints all, --into TABLE keeps them\n")
    assert "first" not in run("sample", shop, "weather", "20")
    printed = json.loads(run("sample", shop, "weather", "50", "--seed", "3", "--json"))
    assert [(row["sky"], float(row["wind"]), row["play"]) for row in printed] == [
        (sky, pytest.approx(float(wind)), play) for sky, wind, play in rows
    ]
    lines = run("sample", shop, "weather", "50", "--seed", "3", "--csv").splitlines()
    assert (lines[0], len(lines)) == ("sky,wind,play", 51)
    assert run("sample", shop, "weather", "50", "--seed", "3", "--sql").strip() == text.strip()


def test_a_sample_is_kept(shop):
    before = Path(shop).read_bytes()
    statement = run("sample", shop, "weather", "50", "--into", "drawn", "--sql")
    assert statement.startswith("BEGIN TRANSACTION;\n\n-- check the name\n")
    assert '\n-- drawn\nCREATE TABLE "main"."drawn" AS' in statement
    assert Path(shop).read_bytes() == before
    done = run("sample", shop, "weather", "50", "--into", "drawn")
    assert done == "drew 50 rows from model weather into the table drawn of shop.duckdb\n"
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        assert con.execute("FROM drawn ORDER BY ALL").fetchall() == sorted(model.sample(50).fetchall())
    again = run("sample", shop, "weather", "50", "--into", "drawn", code=1)
    assert again == "error: 'drawn' is there already; replace it with --replace, or choose another name\n"
    assert "--into keeps the rows in the database; leave out --json and --csv" in run(
        "sample", shop, "weather", "5", "--into", "t", "--csv", code=2
    )
    assert "Invalid value for 'N'" in run("sample", shop, "weather", "--", "-1", code=2)


@pytest.mark.slow
def test_the_log_likelihood_of_a_table(shop):
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        plain, labelled = model.log_likelihood("sky"), model.log_likelihood("sky", labelled=True)
        text = model.log_likelihood_sql("sky")
    output = run("log-likelihood", shop, "weather", "sky")
    assert output.startswith("ln p(x) of 30 rows of sky by model weather, in nats\n")
    assert cells(output, "total") == ["total", f"{plain:.5g}"]
    assert cells(output, "mean per row") == ["mean per row", f"{plain / 30:.5g}"]
    numbers = json.loads(run("log-likelihood", shop, "weather", "sky", "--labelled", "--json"))
    assert numbers == {"rows": 30, "log_likelihood": pytest.approx(labelled), "mean": pytest.approx(labelled / 30)}
    header, line = run("log-likelihood", shop, "weather", "sky", "--csv").splitlines()
    assert header == "rows,log_likelihood,mean"
    assert [float(number) for number in line.split(",")] == pytest.approx([30, plain, plain / 30])
    assert run("log-likelihood", shop, "weather", "sky", "--sql").strip() == text.strip()
    nothing = run("log-likelihood", shop, "weather", "FROM sky LIMIT 0")
    assert cells(nothing, "total") == ["total", "0"]
    assert "mean per row" not in nothing
    said = run("log-likelihood", shop, "weather", "SELECT 'sun' AS sky", code=1)
    assert said.startswith("error: no column 'wind' in the query")


PRIORS = "SELECT unnest(['yes', 'no']) AS class, unnest([0.3, 0.7]) AS prior"
LIKELIHOODS = """SELECT unnest(['yes', 'no']) AS class, 'wait' AS feature, unnest([0.5, 0.25]) AS rate"""


@pytest.mark.slow
def test_a_model_of_given_probabilities(shop):
    Path("priors.csv").write_text("class,prior\nyes,0.3\nno,0.7\n")
    Path("likelihoods.csv").write_text(
        "class,feature,value,likelihood\nyes,wind,weak,0.4\nyes,wind,strong,0.6\nno,wind,weak,0.1\nno,wind,strong,0.9\n"
    )
    arguments = ("from-tables", "new.duckdb", "priors.csv", "likelihoods.csv", "--name", "tennis", "--target", "play")
    statements = run(*arguments, "--sql")
    assert '-- statistics\nCREATE TABLE "tennis"."statistics" AS' in statements
    assert not Path("new.duckdb").exists()
    output = run(*arguments)
    assert output.startswith("model tennis in new.duckdb: predicts play from 1 feature\n")
    assert cells(output, "wind")[:2] == ["wind", "categorical"]
    with duckdb.connect("new.duckdb") as con:
        ((_, no, yes),) = nbsql.load(con, "tennis").joint_log_likelihood("SELECT 'weak' AS wind").fetchall()
    assert (no, yes) == (pytest.approx(-2.6592600369327783), pytest.approx(-2.120263536200091))  # ln 0.07, ln 0.12
    assert run(*arguments, code=1).startswith("error: model 'tennis' is there already")
    run(*arguments, "--replace")


def test_families_of_given_probabilities(shop):
    run("from-tables", shop, PRIORS, LIKELIHOODS, "--name", "calls", "--family", "wait=exponential")
    with duckdb.connect(shop) as con:
        assert [family.name for family in nbsql.load(con, "calls").families.values()] == ["exponential"]
    before = Path(shop).read_bytes()
    wrong = run("from-tables", shop, "SELECT 'yes' AS class, 0.3 AS prior", "--name", "m", code=1)
    assert wrong == "error: the priors sum to 0.3; they must sum to 1: divide each by 0.3\n"
    assert run("from-tables", "shpo.duckdb", "priors", "--name", "m", code=1).startswith("error: no database 'shpo.duckdb'")
    assert Path(shop).read_bytes() == before


def test_a_query_without_a_model_runs_elsewhere(shop):
    printed = run("sql", shop, "predict", "weather", "SELECT 'sun' AS sky, 2.5 AS wind", "--inline")
    with duckdb.connect(shop) as con:
        expected = nbsql.load(con, "weather").predict("SELECT 'sun' AS sky, 2.5 AS wind").fetchall()
    assert duckdb.connect().execute(printed).fetchall() == expected
