"""The classifier in one page of plain SQL says what `nbsql.fit` says, by SQL that has nothing in common with it."""

import math
import re

import duckdb
import pytest
from click.testing import CliRunner
from support.inserted import insert
from support.shell import asked

import nbsql
from nbsql.cli import main
from nbsql.rendering.renderer import macro_path

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

DAYS = [
    ("Sunny", "Hot", 30.5, 7, True, "no"), ("Sunny", "Hot", 29.0, 3, False, "no"), ("Overcast", "Hot", None, 1, True, "yes"),
    ("Rain", "Mild", 19.5, 0, None, "yes"), ("Rain", "Cool", 12.25, 2, True, "yes"), ("Rain", None, 11.0, 9, False, "no"),
    ("Overcast", "Cool", 10.0, 4, True, "yes"), ("Sunny", "Mild", 21.0, 5, True, None),
]  # fmt: skip

TABLES = [
    ("adult.csv.gz", "income", [], ["split"]),
    ("mushroom.csv.gz", "class", [], []),  # a target by the name of a column of the model
    ("iris.csv", "species", [], []),
    ("titanic_train.csv", "Survived", ["Name"], ["PassengerId"]),
    ("sms_spam.csv.gz", "label", ["message"], ["id"]),
    ("bike_sharing_hour.csv.gz", "season", [], ["dteday"]),
]


@pytest.fixture
def con(con):
    con.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
    return con


@pytest.fixture
def days(con):
    con.execute("CREATE TABLE days (sky VARCHAR, heat VARCHAR, degrees DOUBLE, wind INTEGER, dry BOOLEAN, play VARCHAR)")
    insert(con, "days", DAYS)
    con.execute("CREATE TABLE golf AS FROM naive_bayes('days', 'play')")
    return con


def test_one_row_by_hand(con):
    rows = "('sun', 1.0, 'a'), ('sun', 3.0, 'a'), ('rain', 7.0, 'b'), ('rain', 9.0, 'b')"
    con.execute(f"CREATE TABLE days AS FROM (VALUES {rows}) AS t(sky, x, c)")
    con.execute("CREATE TABLE m AS FROM naive_bayes('days', 'c')")

    rows = con.execute("FROM naive_bayes_explain('m', 'days')").fetchall()

    of_the_first = {(c, feature): contribution for row, c, feature, _, contribution in rows if row == 1}
    density = {"a": (1 - 2) ** 2, "b": (1 - 8) ** 2}  # of a variance of 1
    for c, n in (("a", 2), ("b", 0)):
        assert of_the_first[c, None] == pytest.approx(math.log(1 / 2), abs=1e-12)
        assert of_the_first[c, "sky"] == pytest.approx(math.log((n + 1) / (2 + 2)), abs=1e-12)
        assert of_the_first[c, "x"] == pytest.approx(-0.5 * math.log(2 * math.pi) - density[c] / 2, abs=1e-12)


@pytest.mark.parametrize(("alpha", "prior"), [(1, "empirical"), (0.5, "uniform"), (0, "empirical")])
def test_every_type_with_gaps_and_values_never_seen(days, alpha, prior):
    model = nbsql.fit(days, "days", target="play", alpha=alpha, prior=prior)
    odd = "99, 'Fog', 'Hot', CAST('nan' AS DOUBLE), -1, NULL, NULL"
    days.execute(f"CREATE TABLE new AS SELECT rowid AS nr, * FROM days UNION ALL SELECT {odd}")

    said = days.execute(f"FROM naive_bayes_predict('golf', 'new', alpha := {alpha}, prior := '{prior}')").fetchall()
    by_nbsql = {row[0]: row[-2:] for row in model.predict("new").fetchall()}

    assert len(said) == len(DAYS) + 1
    for number, *_, prediction, probability in said:
        assert (prediction, probability) == (by_nbsql[number][0], pytest.approx(by_nbsql[number][1], abs=1e-12))


def test_rows_are_classified_without_a_table_of_counts(days):
    columns = ", texts := ['sky'], keys := ['wind', 'heat', 'degrees']"
    days.execute(f"CREATE TABLE few AS FROM naive_bayes('days', 'play'{columns})")
    for model, of_counts, options in (("golf", "", ", alpha := 0.5, prior := 'uniform'"), ("few", columns, "")):
        expected = days.execute(f"FROM naive_bayes_predict('{model}', 'days'{options})").fetchall()
        rows = days.execute(f"FROM naive_bayes_classify('days', 'days', 'play'{of_counts}{options})").fetchall()
        assert [row[:-1] for row in rows] == [row[:-1] for row in expected]
        assert [row[-1] for row in rows] == pytest.approx([row[-1] for row in expected], abs=1e-12)


def test_the_counts_are_those_of_the_statistics(days):
    model = nbsql.fit(days, "days", target="play", name="model")
    assert model.name == "model"

    cells = "SELECT class, feature, value, n, round(mean, 9) AS mean, round(m2, 9) AS m2 FROM"
    counted = f"{cells} golf", f"{cells} model.statistics"

    for one, other in (counted, counted[::-1]):
        assert days.execute(f"({one}) EXCEPT ALL ({other})").fetchall() == []


@pytest.mark.slow
def test_a_model_may_have_a_name_that_the_page_uses(con, days):
    page = (macro_path() / "ad_hoc.sql").read_text(encoding="utf-8")
    own = re.findall(r"^(?:WITH )?(\w+) AS (?:MATERIALIZED )?\(", page, re.MULTILINE)
    evaluated = "SELECT accuracy FROM naive_bayes_evaluate('{0}', 'days', 'play')"
    of_model = f"SELECT count(*) FROM naive_bayes_ratios('{{0}}') UNION ALL {evaluated}"
    expected = con.execute(of_model.format("golf")).fetchall()
    for name in {"counts", "labels", "numbered", "model", *own}:
        if not name.startswith("nb_"):
            con.execute(f"CREATE VIEW {name} AS FROM golf")
            assert con.execute(of_model.format(name)).fetchall() == expected, name
            con.execute(f"DROP VIEW {name}")


def test_counts_add(days):
    days.execute("CREATE TABLE early AS FROM days WHERE rowid < 3")
    days.execute("CREATE TABLE late AS FROM days WHERE rowid >= 3")
    days.execute("CREATE TABLE parts AS FROM naive_bayes('early', 'play')")
    days.execute("INSERT INTO parts FROM naive_bayes('late', 'play')")

    whole, parts = (days.execute(f"FROM naive_bayes_predict('{model}', 'days')").fetchall() for model in ("golf", "parts"))

    assert [row[-2] for row in parts] == [row[-2] for row in whole]
    assert [row[-1] for row in parts] == pytest.approx([row[-1] for row in whole], abs=1e-12)


def test_an_evaluation_is_that_of_the_model(days):
    evaluation = nbsql.fit(days, "days", target="play").evaluate("days")

    rows, accuracy, majority, log_loss = days.execute("FROM naive_bayes_evaluate('golf', 'days', 'play')").fetchone()

    assert (rows, majority) == (7, pytest.approx(4 / 7))
    assert (accuracy, log_loss) == pytest.approx((evaluation.accuracy, evaluation.log_loss), abs=1e-12)


def test_ratios_compare_a_value_in_one_class_with_the_others(con):
    con.execute("CREATE TABLE days AS FROM (VALUES ('sun', 'a'), ('sun', 'a'), ('rain', 'b'), ('sun', 'c')) AS t(sky, c)")
    con.execute("CREATE TABLE m AS FROM naive_bayes('days', 'c')")

    ratios = {row[:3]: row[3:] for row in con.execute("FROM naive_bayes_ratios('m')").fetchall()}

    of_others = (1 / 4 * 1 / 3 + 1 / 4 * 2 / 3) / (1 / 2)  # with one added to every count
    assert ratios["a", "sky", "sun"] == pytest.approx((2, 3 / 4, of_others, 3 / 4 / of_others), abs=1e-12)
    unsmoothed = {row[:3]: row[-1] for row in con.execute("FROM naive_bayes_ratios('m', alpha := 0)").fetchall()}
    assert (unsmoothed["b", "sky", "rain"], unsmoothed["a", "sky", "rain"]) == (math.inf, 0)


def test_reasons_are_those_of_the_model(days):
    nbsql.fit(days, "days", target="play", name="whole")
    columns = "row_{}, feature, value, ratio, class, other"

    ours = days.execute(f"SELECT {columns.format('no')} FROM naive_bayes_reasons('golf', 'days')").fetchall()
    theirs = days.execute(f"SELECT {columns.format('id')} FROM whole.reasons('days') WHERE feature <> 'total'").fetchall()
    theirs = [row for row in theirs if row[1] == "prior" or row[2] is not None]  # a missing value has no row here

    expected = {(row, None if feature == "prior" else feature): found for row, feature, *found in theirs}
    assert len(ours) == len(expected) == 45
    for row, feature, _, ratio, *classes in ours:
        assert [ratio, *classes] == [pytest.approx(expected[row, feature][1], rel=1e-9), *expected[row, feature][2:]]


@pytest.mark.slow
def test_dates_are_their_parts_as_in_a_model(con):
    rows = """i AS id, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL (i * 7) HOUR AS called_at,
    DATE '2025-12-29' + CAST(i // 4 AS INT) AS day,
    CASE WHEN i * 7 % 24 > 17 OR i % 11 = 0 THEN 'missed' ELSE 'taken' END AS fate"""
    con.execute(f"CREATE TABLE calls AS SELECT {rows} FROM range(400) AS r(i)")
    con.execute("CREATE TABLE m AS FROM naive_bayes('calls', 'fate', keys := ['id'])")
    model = nbsql.fit(con, "calls", target="fate", id="id")

    features = "SELECT DISTINCT feature FROM naive_bayes_likelihoods('m')"
    assert {feature for (feature,) in con.execute(features).fetchall()} == set(model.families)
    ours, theirs = (
        con.execute("FROM naive_bayes_predict('m', 'calls') ORDER BY id").fetchall(),
        sorted(model.predict("calls").fetchall()),
    )
    for one, other in zip(ours, theirs, strict=True):
        assert one[:-1] == other[:-1]
        assert one[-1] == pytest.approx(other[-1], abs=1e-12)
    adopted = nbsql.from_statistics(con, "SELECT * FROM m WHERE feature IS DISTINCT FROM 'year of called_at'", like=model)
    assert adopted.evaluate("calls").log_loss == pytest.approx(model.evaluate("calls").log_loss, abs=1e-12)
    with pytest.raises(
        nbsql.InputError, match=r"a part of a date, .* like=\.\.\., or leave these cells out: WHERE kind <> 'part'$"
    ):
        nbsql.from_statistics(con, "m", target="fate")


def test_held_out_rows_are_those_of_no_training(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS c, (i % 2) + (i * 7 % 10) / 5 AS x, i AS id FROM range(1000) AS r(i)")
    rows, accuracy, _, log_loss = con.execute("FROM naive_bayes_hold_out('t', 'c', keys := ['id'], share := 0.25)").fetchone()
    held = "id IN (SELECT id FROM t ORDER BY md5(CAST(id + 1 AS VARCHAR)) LIMIT 250)"
    model = nbsql.fit(con, f"SELECT * FROM t WHERE NOT {held}", target="c", id="id", infer="types")
    evaluation = model.evaluate(f"SELECT * FROM t WHERE {held}")
    assert rows == evaluation.rows
    assert (accuracy, log_loss) == pytest.approx((evaluation.accuracy, evaluation.log_loss), abs=1e-9)


def test_an_attached_file_is_a_library(tmp_path, days):
    days.execute(f"ATTACH '{tmp_path / 'library.duckdb'}' AS library; USE library")
    days.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
    days.execute("USE memory")
    with duckdb.connect() as other:
        days.execute("DETACH library")
        other.execute(f"ATTACH '{tmp_path / 'library.duckdb'}' AS library (READ_ONLY); SET search_path = 'memory,library'")
        other.execute("CREATE TABLE t AS SELECT i % 2 AS c, i % 3 AS x FROM range(9) AS r(i)")
        other.execute("CREATE TABLE m AS FROM naive_bayes('t', 'c')")
        assert len(other.execute("FROM naive_bayes_predict('m', 't')").fetchall()) == 9
        assert other.execute("FROM naive_bayes_classify('t', 't', 'c')").fetchone()[:2] == (0, 0)
        assert len(other.execute("FROM naive_bayes_reasons('m', 't')").fetchall()) == 18


WRONG = [
    (
        "naive_bayes('scored', 'play')",
        "the source has a column prediction, which is a name of the answers; rename it, or leave it",
    ),
    ("naive_bayes_predict('golf', 'scored')", "the source has a column prediction, which is a name of the answers"),
    (
        "naive_bayes('counted', 'play')",
        "the source has a column NB_ROW, which is a name of the answers; rename it, or leave it out",
    ),
    ("naive_bayes('days', 'ply')", "no column ply in the source; its columns are sky, heat, degrees, wind, dry, play"),
    ("naive_bayes('days', 'play', texts := ['skies'])", "no column skies in the source; its columns are sky, heat,"),
    ("naive_bayes('days', 'play', keys := ['id'])", "no column id in the source; its columns are sky, heat,"),
    ("naive_bayes_evaluate('golf', 'days', 'ply')", "no column ply in the source; its columns are sky, heat,"),
    ("naive_bayes_predict('golf', 'days', prior := 'unifrom')", "prior must be empirical or uniform, not unifrom"),
    ("naive_bayes_predict('golf', 'days', alpha := -1)", "alpha must be a number of at least 0, not -1"),
    ("naive_bayes_explain('golf', 'days', alpha := NULL)", "alpha must be a number of at least 0, not NULL"),
    ("naive_bayes_evaluate('golf', 'days', 'play', alpha := -0.5)", "alpha must be a number of at least 0, not -0.5"),
    ("naive_bayes_likelihoods('golf', alpha := CAST('nan' AS DOUBLE))", "alpha must be a number of at least 0, not nan"),
    ("naive_bayes_predict('golf', 'fewer')", "no column sky in the source; its columns are"),
    ("naive_bayes_explain('golf', 'fewer')", "no column sky in the source; its columns are"),
    ("naive_bayes_predict('golf', 'flags')", "column dry has the INTEGER 1, and the model learnt a boolean; cast it"),
    ("naive_bayes_reasons('golf', 'flags')", "column dry has the INTEGER"),
    ("naive_bayes_evaluate('golf', 'texts', 'play')", "column degrees has the VARCHAR 30.5, and the model learnt a number"),
    ("naive_bayes_explain('golf', 'codes')", "column sky has the INTEGER 7, and the model learnt a category; cast it"),
]


@pytest.mark.few
@pytest.mark.parametrize(("call", "message"), WRONG)
def test_a_slip_is_an_error_and_no_other_model(days, call, message):
    days.execute("CREATE TABLE fewer AS SELECT * EXCLUDE (sky) FROM days")
    days.execute("CREATE TABLE scored AS SELECT *, 'no' AS prediction FROM days")
    days.execute("CREATE TABLE counted AS SELECT 1 AS NB_ROW, * FROM days")
    days.execute("CREATE TABLE flags AS SELECT * REPLACE (CAST(dry AS INTEGER) AS dry) FROM days LIMIT 1")
    days.execute("CREATE TABLE texts AS SELECT * REPLACE (CAST(degrees AS VARCHAR) AS degrees) FROM days LIMIT 1")
    days.execute("CREATE TABLE codes AS SELECT * REPLACE (7 AS sky) FROM days LIMIT 1")
    with pytest.raises(duckdb.Error) as caught:
        days.sql(f"FROM {call}").fetchall()
    assert message in str(caught.value)


def test_a_column_without_values_may_have_any_type(days):
    ours = days.sql("WITH new AS (FROM days SELECT * REPLACE (NULL AS dry)) FROM naive_bayes_predict('golf', 'new')").fetchall()
    typed = "FROM days SELECT * REPLACE (CAST(NULL AS BOOLEAN) AS dry)"
    assert ours == days.sql(f"WITH new AS ({typed}) FROM naive_bayes_predict('golf', 'new')").fetchall()


def test_a_table_without_rows_is_no_error(days):
    days.execute("CREATE TABLE none AS FROM days WHERE FALSE")
    assert days.sql("FROM naive_bayes_predict('golf', 'none')").fetchall() == []
    assert days.sql("FROM naive_bayes('none', 'play')").fetchall() == []
    assert days.sql("FROM naive_bayes_evaluate('golf', 'none', 'play')").fetchall() == [(0, None, None, None)]


@pytest.mark.slow
def test_what_it_learnt_in_parts_is_one_model(days):
    days.execute("CREATE TABLE parts AS FROM naive_bayes('days', 'play')")
    days.execute("INSERT INTO parts FROM naive_bayes('days', 'play')")
    twice = nbsql.fit(days, "FROM days UNION ALL FROM days", target="play", alpha=2)
    adopted = nbsql.from_statistics(days, "parts", target="play", alpha=2, name="twice")
    assert {name: type(family) for name, family in adopted.families.items()} == {
        name: type(family) for name, family in twice.families.items()
    }
    for row, expected in zip(adopted.predict("days").fetchall(), twice.predict("days").fetchall(), strict=True):
        assert row[-2:] == (expected[-2], pytest.approx(expected[-1], abs=1e-12))
    assert adopted.evaluate("days").log_loss == pytest.approx(twice.evaluate("days").log_loss, abs=1e-12)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(("file", "target", "texts", "keys"), TABLES, ids=[row[0] for row in TABLES])
def test_real_tables(con, data, file, target, texts, keys):
    path = str(data / file).replace("'", "''")
    con.execute(f"CREATE TABLE t AS SELECT row_number() OVER () AS nr, * FROM read_csv('{path}')")
    keys = [*keys, "nr"]
    con.execute(f"CREATE TABLE m AS FROM naive_bayes('t', '{target}', texts := {texts}, keys := {keys})")
    con.execute("CREATE TABLE said AS FROM naive_bayes_predict('m', 't')")
    model = nbsql.fit(con, "t", target=target, exclude=keys, families={text: nbsql.Text() for text in texts})
    model.predict("t").create_table("fitted")

    rows, different, largest = con.execute(
        """SELECT count(*), count(*) FILTER (WHERE said.prediction IS DISTINCT FROM CAST(fitted.prediction AS VARCHAR)),
        max(abs(said.probability - fitted.probability)) FROM said JOIN fitted USING (nr)"""
    ).fetchone()

    assert rows == con.execute("SELECT count(*) FROM t").fetchone()[0]
    assert different == 0
    assert largest < 1e-9

    # what it counted is the statistics of a model, which predicts in its own macros and learns on
    cells = "SELECT * REPLACE (CAST(class AS BIGINT) AS class) FROM m" if target in ("Survived", "season") else "m"
    nbsql.from_statistics(con, cells, target=target, name="whole")
    proba = model.predict_proba("t")
    columns = [name for name in proba.relation.columns if name.startswith("probability")]
    proba.create_table("wanted")
    con.execute("CREATE TABLE got AS FROM whole.predict_proba('t')")
    apart = ", ".join(f"max(abs(got.{column} - wanted.{column}))" for column in (f'"{name}"' for name in columns))
    assert max(con.execute(f"SELECT {apart} FROM got JOIN wanted USING (nr)").fetchone()) < 1e-9
    learning = nbsql.load(con, "whole")
    learning.update("SELECT * FROM t WHERE nr <= 100", batch="again")
    learning.forget(batch="again")
    assert learning.priors.fetchall() == model.priors.fetchall()


@pytest.mark.slow
def test_a_plain_shell_reads_it(tmp_path, data):
    file, target, texts, keys = next(table for table in TABLES if table[2] and table[3])
    path = str(data / file).replace("'", "''")
    (told,) = asked(
        tmp_path / "t.duckdb",
        f".read '{macro_path() / 'ad_hoc.sql'}'",
        f"CREATE TABLE t AS FROM read_csv('{path}')",
        f"CREATE TABLE m AS FROM naive_bayes('t', '{target}', texts := {texts}, keys := {keys})",
        f"FROM naive_bayes_evaluate('m', 't', '{target}')",
    )
    with duckdb.connect(tmp_path / "t.duckdb") as con:
        model = nbsql.fit(con, "t", target=target, exclude=keys, families={text: nbsql.Text() for text in texts})
        found = model.evaluate("t")
    assert int(told["rows"]) == found.rows
    assert (float(told["accuracy"]), float(told["log_loss"])) == pytest.approx((found.accuracy, found.log_loss), abs=1e-9)


def test_the_command_prints_it():
    done = CliRunner().invoke(main, ["ad-hoc"])
    assert done.exit_code == 0
    assert done.output.rstrip() == (macro_path() / "ad_hoc.sql").read_text(encoding="utf-8").rstrip()
