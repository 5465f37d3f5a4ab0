"""What a model says in SQL of itself: comments, features, its evaluation, and how much likelier a value is; on each engine."""

import json
import math
import re

import duckdb
import pytest
from click.testing import CliRunner
from engines.places import same

import nbsql
from nbsql.cli import main
from nbsql.plan import PARTS
from nbsql.plan.parts import COLUMNS

# A label and a value with a quote in them.
ROWS = [(number, ["red", "blue", "it's"][number % 3], number % 7, ["no", "y's"][(number % 5) // 3]) for number in range(60)]
CALLS = ("duckdb", "postgres")  # what has macros, or functions, of a model


def fitted(place):
    place.table("w", {"id": "INTEGER", "name": "VARCHAR", "n": "INTEGER", "y": "VARCHAR"}, ROWS)
    return nbsql.fit(place.con, "w", target="y", id="id", name="spam", families={"n": "poisson"})


def test_features_are_a_view(place):
    fitted(place)
    found = place.run("SELECT feature, family, columns, types, options FROM spam.features")
    assert [(feature, family, list(columns), len(types)) for feature, family, columns, types, _ in found] == [
        ("name", "categorical", ["name"], 1),
        ("n", "poisson", ["n"], 1),
    ]
    options = [options if isinstance(options, dict) else json.loads(options) for *_, options in found]
    assert options[0] == {
        "alpha": 1.0,
        "nulls": "skip",
        "unseen": "skip",
        "estimate": "mean",
        "other_alpha": None,
        "levels": [],
        "min_count": 1,
    }
    assert "family" not in options[1]


def test_the_view_of_features_is_that_of_the_model_as_it_is(place):
    model = fitted(place)
    model.update("w")
    nbsql.fit(place.con, "w", target="y", name="spam", features=["n"], replace=True)
    assert place.run("SELECT feature, family FROM spam.features") == [("n", "gaussian")]
    nbsql.load(place.con, "spam").drop()


def test_the_spec_is_json(place):
    fitted(place)
    path = {"duckdb": "spec ->> '$.target'", "postgres": "spec ->> 'target'", "spark": "get_json_object(spec, '$.target')"}
    assert place.run(f"SELECT {path[place.engine]} FROM spam.spec") == [("y",)]
    assert nbsql.load(place.con, "spam").target == "y"


def test_a_model_is_evaluated_in_sql(place):
    if place.engine not in CALLS:
        pytest.skip("Spark has no functions of a model")
    model = fitted(place)
    columns = {"n": "INTEGER", "y": "VARCHAR", "name": "VARCHAR", "more": "INTEGER"}
    place.table("Held out", columns, [(n, y, name, 1) for _, name, n, y in ROWS[7:]])
    found = place.run("SELECT class, metric, value FROM spam.evaluate('\"Held out\"')")
    expected = model.evaluate("Held out").metrics.fetchall()
    values = {(label, metric): value for label, metric, value in expected}
    assert {row[:2] for row in found} == values.keys()
    assert all(same(value, values[label, metric]) for label, metric, value in found)


def test_a_relation_that_cannot_be_evaluated_is_refused_in_one_line(place):
    """Without the query, which PostgreSQL prints with errors of a query that a function runs."""
    if place.engine not in CALLS:
        pytest.skip("Spark has no functions of a model")
    fitted(place)
    place.table("No target", {"n": "INTEGER", "name": "VARCHAR"}, [])
    place.table("Texts", {"n": "VARCHAR", "name": "VARCHAR", "y": "VARCHAR"}, [("many", "red", "no")])
    lines = {
        "duckdb": ('does not have a column named "y"$', "column n is VARCHAR, and the model has learnt a number there"),
        "postgres": (
            '^in public[.]"No target": column y does not exist$',
            '^in public[.]"Texts": column n is character varying, and the model has learnt a number there; cast it$',
        ),
    }
    for name, line in zip(("No target", "Texts"), lines[place.engine], strict=True):
        with pytest.raises(Exception) as error:  # noqa: PT011 - of each driver its own
            place.run(f"SELECT * FROM spam.evaluate('\"{name}\"')")
        assert re.search(line, str(error.value).splitlines()[0])
        assert "WITH outcomes" not in str(error.value)


def test_how_much_likelier_a_value_is(place):
    if place.engine not in CALLS:
        pytest.skip("Spark has no functions of a model")
    model = fitted(place)
    likelihood = {(feature, value, label): p for label, feature, value, p, *_ in model.likelihoods}
    found = place.run("SELECT * FROM spam.likelihood_ratios('no', 'y''s')")
    assert sorted(row[1] for row in found) == ["blue", "it's", "red"]
    for feature, value, one, other, ratio, log_ratio in found:
        assert same(one, likelihood[feature, value, "no"])
        assert same(other, likelihood[feature, value, "y's"])
        assert same(ratio, one / other)
        assert same(log_ratio, math.log(one) - math.log(other))
    assert [abs(row[5]) for row in found] == sorted((abs(row[5]) for row in found), reverse=True)
    place.table("words", {"y": "VARCHAR", "word": "VARCHAR"}, [(y, w) for y in "ab" for w in (y, y, "both", "both")])
    nbsql.fit(place.con, "words", target="y", name="unsmoothed", alpha=0)
    asked = "SELECT value, ratio, log_ratio FROM unsmoothed.likelihood_ratios('a', 'b')"
    assert place.run(asked) == [("a", math.inf, math.inf), ("b", 0.0, -math.inf), ("both", 1.0, 0.0)]
    for classes in ("'no', 'maybe'", "NULL, 'no'"):
        with pytest.raises(Exception, match="the model does not have both classes; its view priors lists"):
            place.run(f"SELECT * FROM spam.likelihood_ratios({classes})")


def assert_commented(place, *relations):
    """That each relation of the model spam has its comment, and that some are among them."""
    schema = "nspname = 'spam'"
    queries = {
        "duckdb": [
            "SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'spam'",
            "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'spam'",
            "SELECT function_name, comment FROM duckdb_functions() WHERE schema_name = 'spam'",
        ],
        "postgres": [
            "SELECT relname, obj_description(c.oid, 'pg_class') FROM pg_class AS c "
            f"JOIN pg_namespace AS s ON s.oid = relnamespace WHERE {schema} AND relkind IN ('r', 'v')",
            "SELECT proname, obj_description(p.oid, 'pg_proc') FROM pg_proc AS p "
            f"JOIN pg_namespace AS s ON s.oid = pronamespace WHERE {schema} AND prorettype <> 'trigger'::regtype",
        ],
    }
    if place.engine == "spark":
        names = [row[1] for row in place.run("SHOW TABLES IN spam") if row[1] in PARTS]
        found = {name: dict(row[:2] for row in place.run(f"DESCRIBE EXTENDED spam.{name}")).get("Comment") for name in names}
    else:
        found = {name: comment for query in queries[place.engine] for name, comment in place.run(query)}
    assert {"statistics", "spec", "features", "parameters", *relations} <= found.keys()
    told = " In an attached database, add database := 'its name'."  # of macros, which DuckDB alone has
    for name, comment in found.items():
        assert comment == PARTS[name].comment + (told if PARTS[name].kind == "macro" and place.engine == "duckdb" else "")
    if place.engine == "postgres":
        ((comment,),) = place.run(f"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE {schema}")
        assert comment.startswith("nbsql: a naive Bayes model")


def test_every_relation_of_a_model_has_a_comment(place):
    model = fitted(place)
    model.calibrate("w", folds=2)
    assert_commented(place, "calibration")
    with pytest.warns(nbsql.NbsqlWarning, match="calibration"):
        model.update("w")
    assert_commented(place, "estimates", "lookups")


@pytest.mark.slow
def test_the_weights_of_a_model_and_the_changes_that_it_follows_have_comments(place):
    fitted(place)
    nbsql.fit(place.con, "w", target="y", id="id", name="spam", features=["name"], method="weighted", replace=True)
    assert_commented(place, "weights")
    if place.engine == "spark":  # where no model follows a table
        return
    model = nbsql.fit(place.con, "w", target="y", id="id", name="spam", replace=True)
    model.follow("w")
    assert_commented(place, "changes")


def test_comments_come_back_when_the_classes_are_others(place):
    if place.engine != "duckdb":
        pytest.skip("the macros are made anew on DuckDB alone")
    model = fitted(place)
    place.table("more", {"id": "INTEGER", "name": "VARCHAR", "n": "INTEGER", "y": "VARCHAR"}, [(100, "red", 2, "maybe")])
    model.update("more")
    rows = place.run("SELECT function_name, comment FROM duckdb_functions() WHERE schema_name = 'spam'")
    assert {"predict", "evaluate", "likelihood_ratios"} <= {name for name, comment in rows if comment}
    assert {row[0] for row in place.run("FROM spam.evaluate('more')")} == {None, "maybe", "no", "y's"}


def test_columns_of_what_is_read_have_comments(place):
    if place.engine == "spark":
        pytest.skip("on Spark relations have comments, and columns none")
    fitted(place)
    query = "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE schema_name = 'spam'"
    if place.engine == "postgres":
        query = (
            "SELECT relname, attname, col_description(c.oid, attnum) FROM pg_class AS c "
            "JOIN pg_namespace AS s ON s.oid = relnamespace JOIN pg_attribute ON attrelid = c.oid "
            "WHERE nspname = 'spam' AND attnum > 0"
        )
    found = {(table, column): comment for table, column, comment in place.run(query) if comment is not None}
    assert found == {(table, column): comment for table, columns in COLUMNS.items() for column, comment in columns.items()}


@pytest.mark.postgres
def test_a_script_of_a_fit_answers_by_label_when_the_classes_change_places(pg):
    pg.execute("CREATE TABLE inbox (y text, x text)")
    few, many = [("spam", "prize")] * 2 + [("spam", "hello")], [("ham", "hello")] * 6 + [("ham", "prize")]
    pg.cursor().executemany("INSERT INTO inbox VALUES (%s, %s)", [*few, *many])
    script = nbsql.fit_sql(pg, "inbox", target="y", name="m", replace=True)
    pg.execute(script)
    pg.cursor().executemany("INSERT INTO inbox VALUES (%s, %s)", few * 5)
    pg.execute(script)
    ((_, _, chosen, probability, ham, spam),) = nbsql.load(pg, "m").predict_proba("SELECT 'spam' AS y, 'prize' AS x").fetchall()
    assert (chosen, probability) == ("spam", spam)
    assert spam == pytest.approx(18 / 25 * 13 / 20 / (18 / 25 * 13 / 20 + 7 / 25 * 2 / 9), abs=1e-12)
    assert ham == pytest.approx(1 - spam, abs=1e-12)
    pg.execute("INSERT INTO inbox VALUES ('eggs', 'hello')")
    with pytest.raises(Exception, match="the rows have other classes than when this script was made; make it again"):
        pg.execute(script)


BROKEN = {
    "a count below 0": ("UPDATE t SET n = -1", "some values of column 'n' are negative; poisson counts must be at least 0"),
    "a missing value": ("UPDATE t SET x = NULL", "some values of column 'x' are NULL, and nulls='error'"),
    "a weight below 0": ("UPDATE t SET w = -1", "some values of the weight column 'w' are negative, NULL or not finite"),
    "another class": ("UPDATE t SET y = 'eggs'", "'y' of t has a class that was not declared; name every class there may be"),
    "no rows": ("DELETE FROM t", "no row of t has a 'y' and counts; a model needs at least one"),
}


@pytest.mark.parametrize("place", ["duckdb", pytest.param("pg", marks=pytest.mark.postgres)])
def test_a_script_of_a_fit_checks_its_rows_as_the_fit_does(place, request):
    con = duckdb.connect() if place == "duckdb" else request.getfixturevalue("pg")
    rows = "(VALUES ('ham', 3, 'u', 1), ('spam', 1, 'v', 2), ('spam', 0, 'u', 1)) AS t(y, n, x, w)"
    con.execute(f"CREATE TABLE t AS SELECT * FROM {rows}")
    target = nbsql.Target("y", classes=["ham", "phish", "spam"])
    script = nbsql.fit_sql(
        con, "t", target=target, name="m", families={"n": "poisson"}, weight="w", nulls="error", prior="smoothed", replace=True
    )
    con.execute(script)
    assert con.execute("SELECT rows FROM m.batches").fetchall() == [(3,)]
    for change, message in BROKEN.values():
        con.execute(change)
        with pytest.raises(Exception, match=re.escape(message)):
            con.execute(script)
        con.execute("ROLLBACK")
        con.execute(f"DROP TABLE t; CREATE TABLE t AS SELECT * FROM {rows}")
    assert con.execute("SELECT rows FROM m.batches").fetchall() == [(3,)]


@pytest.mark.postgres
def test_a_script_of_a_change_checks_its_rows_as_the_change_does(pg, address):
    rows = "SELECT * FROM (VALUES ('ham', 3), ('ham', 2), ('spam', 1), ('spam', 0)) AS t(y, n)"
    pg.execute(f"CREATE TABLE t AS {rows}; CREATE TABLE more AS {rows}")
    nbsql.fit(pg, "t", target="y", name="m", families={"n": "poisson"})
    update, forget = (
        CliRunner().invoke(main, [verb, address, "m", source, "--sql"], catch_exceptions=False).stdout
        for verb, source in (("update", "more"), ("forget", "SELECT * FROM more WHERE n = 3"))
    )
    for change, script, message in (
        ("UPDATE more SET n = -5 WHERE n = 1", update, "some values of column 'n' are negative"),
        ("UPDATE more SET n = 3", forget, "model 'm' has not learnt all of it, or nothing else; make the script again"),
    ):
        pg.execute(change)
        with pytest.raises(Exception, match=message):
            pg.execute(script)
        pg.execute("ROLLBACK")
        pg.execute(f"DELETE FROM more; INSERT INTO more {rows}")
    pg.execute(f"INSERT INTO more {rows}")
    pg.execute(update)
    assert pg.execute("SELECT rows FROM m.batches ORDER BY rows").fetchall() == [(4,), (8,)]
