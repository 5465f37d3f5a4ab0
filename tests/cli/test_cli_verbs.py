"""The commands that are made from the verbs of a model."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from support.commands import run

import nbsql
from nbsql.cli import main
from nbsql.cli.verbs import NOT_COMMANDS


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A database with a table and models of every kind that a verb is about."""
    path = tmp_path_factory.mktemp("verbs") / "shop.duckdb"
    with duckdb.connect(path) as con:
        con.execute("""CREATE TABLE sky AS SELECT i % 3 AS week, 'a' || i % 2 AS a, 'b' || i // 2 % 3 AS b, i % 7 + 0.5 AS wind,
            CASE WHEN i % 3 = 0 OR i % 5 = 0 THEN 'yes' ELSE 'no' END AS play FROM range(60) AS t(i)""")
        nbsql.fit(con, "sky", target="play", name="weather", slice_by="week")
        nbsql.fit(con, "sky", target="play", name="small", features=["a"])
        nbsql.fit(con, "sky", target="play", name="parts", segment_by="week")
        nbsql.fit(con, "sky", target="play", name="mixed", method=nbsql.Mixture(2), features=["wind"])
    yield str(path)
    Path(path).unlink()


def test_every_verb_is_a_command_or_says_why_not():
    verbs = {name for name in dir(nbsql.Model) if not name.startswith("_")}
    commands = {name.replace("-", "_") for name in main.commands}
    assert verbs - commands - set(NOT_COMMANDS) == set()
    assert set(NOT_COMMANDS) <= verbs - commands


def parts(row):
    """The names and counts of a row, by which rows are told apart, and its other numbers; times are texts in JSON alone."""
    values = [value for value in row if not (isinstance(value, str) and value.startswith("20"))]
    return [str(value) for value in values if type(value) in (str, int)], [x for x in values if isinstance(x, float)]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("batches weather", lambda model: model.batches),
        ("priors weather", lambda model: model.priors),
        ("likelihoods weather", lambda model: model.likelihoods),
        ("statistics weather", lambda model: model.statistics),
        ("counts weather", lambda model: model.counts),
        ("segments parts", lambda model: model.segments),
        ("components mixed", lambda model: model.components),
        ("discrimination weather yes no", lambda model: model.discrimination("yes", "no")),
        ("profile weather a", lambda model: model.profile("a")),
        ("profile weather wind sky", lambda model: model.profile("wind", "sky")),
        ("dependence weather sky --features a,b", lambda model: model.dependence("sky", features=["a", "b"])),
        ("drift weather 0 2", lambda model: model.drift(0, 2)),
        ("relevance weather", lambda model: model.relevance()),
        ("relevance weather --values", lambda model: model.relevance(values=True)),
        ("linear small", lambda model: model.linear()),
        ("quadratic weather", lambda model: model.quadratic()),
        ("review weather sky --by novelty --columns a -n 3", lambda model: model.review("sky", 3, by="novelty", columns=["a"])),
    ],
)
def test_a_verb_has_its_rows_and_its_sql(shop, words, query):
    verb, name, *rest = words.split()
    with duckdb.connect(shop) as con:
        found = query(nbsql.load(con, name))
        columns, rows, text = found.columns, found.fetchall(), found.sql
    done = CliRunner().invoke(main, [verb, shop, name, *rest, "--csv"])
    lines = list(csv.reader(io.StringIO(done.stdout)))
    assert (lines[0], len(lines)) == (columns, len(rows) + 1)
    assert done.stderr == ""
    printed = json.loads(run(verb, shop, name, *rest, "--json"))
    assert [list(row) for row in printed] == [columns] * len(rows)
    ours, theirs = (sorted(map(parts, found)) for found in ([row.values() for row in printed], rows))
    assert [texts for texts, _ in ours] == [texts for texts, _ in theirs]
    assert [numbers for _, numbers in ours] == [pytest.approx(numbers) for _, numbers in theirs]
    assert run(verb, shop, name, *rest, "--sql").strip() == text.strip()
    assert columns[0] in run(verb, shop, name, *rest).splitlines()[0]


@pytest.mark.slow
def test_the_first_rows_are_shown_with_rounded_numbers_and_how_to_see_more(shop, monkeypatch):
    with duckdb.connect(shop) as con:
        rows = nbsql.load(con, "weather").relevance().fetchall()
    monkeypatch.setenv("COLUMNS", "200")
    table = run("relevance", shop, "weather").splitlines()
    assert len(table) == len(rows) + 2
    assert all(f"{value:.5g}" in line for line, row in zip(table[2:], rows, strict=True) for value in row[1:2])
    first = run("relevance", shop, "weather", "--limit", "1")
    assert first.endswith("\n\nthe first 1 rows; --limit N shows more, --csv all\n")
    assert first.splitlines()[2].split() == table[2].split()
    monkeypatch.setenv("COLUMNS", "40")
    assert run("review", shop, "weather", "sky").splitlines()[0].split()[-1] == "reason"  # in a narrow terminal, too
    hail = "SELECT 1 AS week, 'hail' AS a, 'b1' AS b, 1.5 AS wind"
    assert "never seen: a = hail" in run("review", shop, "weather", hail, "--by", "novelty", "--csv")


@pytest.mark.slow
def test_models_are_compared_on_the_same_rows(shop):
    done = CliRunner().invoke(main, ["compare", shop, "weather", "small", "sky", "--csv"])
    assert done.stdout.splitlines()[0] == "class,metric,value,other,difference,standard_error,low,high"
    assert done.stderr.startswith("warning: model 'weather' has learnt these rows")


@pytest.mark.few
@pytest.mark.parametrize("verb", ["predict_proba", "log_evidence", "joint_log_likelihood"])
def test_a_verb_of_rows_returns_them_or_keeps_them(shop, verb):
    command = verb.replace("_", "-")
    with duckdb.connect(shop) as con:
        columns = getattr(nbsql.load(con, "weather"), verb)("sky", columns=["week"]).columns
    done = CliRunner().invoke(main, [command, shop, "weather", "sky", "--columns", "week", "--format", "csv"])
    assert done.stdout.splitlines()[0].split(",") == columns
    done = CliRunner().invoke(main, [command, shop, "weather", "sky", "--into", f"kept_{verb}", "--columns", "week"])
    assert done.stdout.startswith(f"scored 60 rows of sky into the table kept_{verb}")
    with duckdb.connect(shop) as con:
        assert [name for name, *_ in con.sql(f"DESCRIBE kept_{verb}").fetchall()] == columns


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("segments weather", "model 'weather' has no segments; fit it with --segment-by region, for example"),
        ("components weather", "model 'weather' has no components; fit it with --components 2, for example"),
        ("compare weather nowhere sky", "no model 'nowhere' in 'shop'; there are 'mixed', 'parts', 'small', 'weather'"),
        ("discrimination weather yes maybe", "model 'weather' has no class 'maybe'"),
        ("profile weather c", "model 'weather' has no feature 'c'"),
        ("drift weather 0 7", "no slice '7' in model 'weather'; it has '0', '1', '2'"),
        ("linear wether", "no model 'wether' in 'shop'; did you mean 'weather'?"),
    ],
)
def test_a_verb_refuses_in_options(shop, words, message):
    verb, *rest = words.split()
    done = CliRunner().invoke(main, [verb, shop, *rest])
    assert (done.exit_code, done.stderr.splitlines()[0][: len(message) + 7]) == (1, f"error: {message}")


def test_help_says_arguments_and_options_as_they_are_typed():
    said = " ".join(CliRunner().invoke(main, ["profile", "--help"]).output.split())
    assert "nbsql profile shop.duckdb churn age" in said
    assert "FEATURE: the name of the feature." in said
    assert "SOURCE: rows whose class is known" in said
