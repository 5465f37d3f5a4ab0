"""Kinds of columns and names on PostgreSQL: what is done with a text is done with every label, and with any name."""

import subprocess
import sys
from decimal import Decimal

import duckdb
import pytest
from click.testing import CliRunner
from engines.places import assert_same_rows

import nbsql
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

LABELS = {
    "BOOLEAN": "i % 3 = 0",
    "INTEGER": "i % 3",
    "DATE": "DATE '2026-01-01' + i % 2",
    "NUMERIC(4, 1)": "0.5 + (i % 2) / 5.0",
    "UUID": "CAST('00000000-0000-0000-0000-00000000000' || i % 2 AS UUID)",
    "VARCHAR": "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END",
}
ROWS = """CREATE TABLE t AS SELECT i AS id, CAST({label} AS {type}) AS y, 'k' || i % 4 AS k, i * 7 % 11 AS x, i % 2 + 1 AS month
    FROM generate_series(1, 60) AS rows(i)"""


@pytest.mark.few
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_monitored_and_evaluated_by_slices(pg, kind):
    found = []
    for con in (pg, duckdb.connect()):
        con.execute(ROWS.format(label=LABELS[kind].replace("+ i", "+ CAST(i AS INTEGER)"), type=kind))
        model = nbsql.fit(con, "t", target="y", id="id", name="m", exclude=["month"])
        slices = nbsql.load(con, "m").evaluate("t", by="k").slices.fetchall()
        found.append((model.monitor("t", by="month").fetchall(), slices))
    for ours, theirs in zip(*found, strict=True):
        assert len(ours) > 3
        assert_same_rows(*([tuple(map(plain, row)) for row in rows] for rows in (ours, theirs)))


def plain(value):
    return value if isinstance(value, (int, float, type(None))) and not isinstance(value, bool) else str(value)


def test_labels_with_other_numbers_of_digits_are_one_class(pg):
    pg.execute(
        "CREATE TABLE few AS SELECT i AS id, CAST(i % 2 / 2.0 AS NUMERIC(4, 1)) AS y, i % 3 AS x FROM generate_series(1, 30) i"
    )
    pg.execute("CREATE TABLE more AS SELECT id, CAST(y AS NUMERIC(6, 3)) AS y, x FROM few WHERE id <= 9")
    for given in ({"0": 0.25, "0.5": 0.75}, {0.0: 0.25, 0.50: 0.75}, {"0.00": 0.25, ".500": 0.75}):
        model = nbsql.fit(pg, "few", target="y", id="id", prior=given)
        model.update("more")
        assert [(float(label), n, prior) for label, n, prior, _ in model.priors.fetchall()] == [(0, 19, 0.25), (0.5, 20, 0.75)]
        assert sum(model.predict_proba("more").fetchall()[0][-2:]) == pytest.approx(1)
        assert model.evaluate("more", weight=None).rows == 9


def test_functions_take_padded_texts_as_the_verbs_do(pg):
    pg.execute("CREATE TYPE tag AS ENUM ('DE', 'FR', 'USA', 'x')")
    pg.execute("CREATE TABLE shops (id INTEGER, country CHAR(3), codes CHAR(3)[], tags tag[], y VARCHAR)")
    for i in range(30):
        country = ("DE", "FR", "USA")[i % 3]
        codes = [country, "x"]
        pg.execute("INSERT INTO shops VALUES (%s, %s, %s, %s, %s)", [i, country, codes, codes, ("no", "yes", "no")[i % 3]])
    for options in ({"features": ["country"]}, {"features": ["country", "codes"]}, {"features": ["tags"]}):
        model = nbsql.fit(pg, "shops", target="y", id="id", name="m", replace=True, **options)
        said = pg.execute("SELECT id, said.* FROM shops, m.predict(to_jsonb(shops)) AS said ORDER BY id").fetchall()
        assert_same_rows(said, sorted(model.predict("shops", columns=["id"]).fetchall()))
        assert {row[1] for row in said[:2]} == {"no", "yes"}


@pytest.mark.parametrize("name", ["probability", "prediction", "log_evidence", "probability_a"])
@pytest.mark.parametrize("first", [True, False])
def test_a_feature_may_have_the_name_of_a_column_of_an_answer(pg, name, *, first):
    columns = [f"i * 7 % 11 / 11.0 AS {name}", "'k' || i % 4 AS k"]
    source = f"SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS y, {', '.join(columns if first else columns[::-1])}"
    pg.execute(f"CREATE TABLE stack AS {source} FROM generate_series(1, 40) AS rows(i)")
    model = nbsql.fit(pg, "stack", target="y", id="id", name="m")
    expected = sorted(model.predict("stack", columns=["id"]).fetchall())
    said = pg.execute("SELECT id, said.* FROM stack, m.predict(to_jsonb(stack)) AS said ORDER BY id").fetchall()
    assert_same_rows(said, expected)


@pytest.mark.parametrize("into", ["mine.scored", "public.scored", '"T Four"', '"My Schema".t1', "plain"])
def test_rows_are_stored_under_a_path(pg, address, into):
    pg.execute('CREATE SCHEMA mine; CREATE SCHEMA "My Schema"')
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    nbsql.fit(pg, "t", target="y", id="id", name="m")
    found = CliRunner().invoke(main, ["predict", address, "m", "t", "--into", into])
    assert found.exit_code == 0, found.output
    assert "scored 60 rows of t into the table" in found.output
    assert pg.execute(f"SELECT count(*) FROM {into}").fetchall() == [(60,)]


def test_names_of_types_do_not_depend_on_the_quotes_of_a_session(pg):
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR") + "; ALTER TABLE t ALTER k TYPE TEXT")
    expected = nbsql.fit(pg, "t", target="y", id="id", name="m").predict("t").fetchall()
    pg.execute("SET quote_all_identifiers = on")
    model = nbsql.load(pg, "m")
    assert model.predict("t").fetchall() == expected
    model.update("t")
    assert nbsql.fit(pg, "t", target="y", id="id", name="m", replace=True).predict("t").fetchall() == expected
    assert pg.execute("SHOW quote_all_identifiers").fetchone() == ("on",)


def test_types_are_named_with_their_schema_in_every_session(pg):
    pg.execute("CREATE SCHEMA app; CREATE TYPE app.mood AS ENUM ('b', 'a')")
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    pg.execute("ALTER TABLE t ALTER y TYPE app.mood USING CAST(y AS app.mood), ADD m app.mood; UPDATE t SET m = y")
    pg.execute("SET search_path = app, public")
    model = nbsql.fit(pg, "t", target="y", id="id", name="m")
    expected = sorted(model.predict("t", columns=["id"]).fetchall())
    pg.execute("SET search_path = ''")
    said = "SELECT id, said.* FROM public.t, m.predict(to_jsonb(t)) AS said ORDER BY id"
    assert_same_rows(pg.execute(said).fetchall(), expected)
    assert pg.execute("SELECT count(*) FROM m.likelihood_ratios('a', 'b')").fetchall() != [(0,)]
    assert nbsql.load(pg, "m").evaluate("public.t").log_loss == pytest.approx(model.evaluate("public.t").log_loss)
    nbsql.load(pg, "m").update("public.t")


def test_a_session_without_a_search_path_names_schemas(pg):
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    pg.execute("SET search_path = ''")
    model = nbsql.fit(pg, "public.t", target="y", id="id", name="m")
    assert len(nbsql.load(pg, "m").predict("public.t").fetchall()) == 60
    model.predict("public.t").create_table("public.stored")
    path = "the search_path of this connection names no schema that is there; name one, as in public.t"
    for act, message in {
        lambda: model.predict("t"): "no table or view 't' in the search_path; did you mean 'public.t'?",
        lambda: model.predict("x"): "no table or view 'x'; there are none in the search_path \"\", so name the schema, too",
        lambda: model.predict("public.t").create_table("stored"): path,
    }.items():
        with pytest.raises(nbsql.NbsqlError) as caught:
            act()
        assert str(caught.value) == message


def test_a_view_cannot_read_a_temporary_table(pg):
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    pg.execute("CREATE TEMPORARY TABLE mine AS SELECT * FROM t; CREATE VIEW seen AS SELECT * FROM mine")
    query = nbsql.fit(pg, "seen", target="y", id="id", name="m").predict("seen")
    with pytest.raises(nbsql.DatabaseError) as caught:
        query.create_view("scored")
    assert str(caught.value) == (
        "a view cannot read what ends with this session, a temporary table or a transient model; use create_table"
    )
    query.create_table("scored")
    assert sorted(pg.execute("SELECT * FROM scored").fetchall()) == sorted(query.fetchall())


def test_a_model_with_segments_is_evaluated_by_its_function(pg):
    pg.execute(ROWS.format(label=LABELS["VARCHAR"], type="VARCHAR"))
    model = nbsql.fit(pg, "t", target="y", id="id", name="m", segment_by="k")
    found = pg.execute("SELECT value FROM m.evaluate('t') WHERE class IS NULL AND metric = 'log_loss'").fetchall()
    assert found == [(pytest.approx(model.evaluate("t").log_loss),)]


def test_an_error_is_one_line_and_nothing_else(pg, address, tmp_path):
    script = tmp_path / "aborted.py"
    script.write_text(
        f"""import psycopg, nbsql
with psycopg.connect({address!r}) as con:
    for sql in ("SELECT 1 / 0", "SELECT 1"):
        try:
            con.execute(sql)
        except psycopg.Error:
            pass
    try:
        nbsql.fit(con, "SELECT 1 AS x, 2 AS y", target="y")
    except nbsql.DatabaseError as error:
        print(error)
"""
    )
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("an earlier statement of this transaction has failed; roll it back first\n", "")


def test_citext_is_text_whose_case_counts_and_a_row_takes_padded_texts_as_the_verbs_do(pg):
    pg.execute("CREATE EXTENSION citext")
    rows = [("Spam", "Up"), ("spam", "Up"), ("SPAM", "dn"), ("ham", "dn"), ("ham", "up"), ("ham", "up")]
    for kind in ("CHAR(4)", "NAME", '"char"', "TEXT", "CITEXT"):
        values = ", ".join(f"(CAST('{y}' AS TEXT), CAST('{x}' AS {kind}))" for y, x in rows)
        label = "TEXT" if kind == "CHAR(4)" else kind
        source = f"SELECT CAST(y AS {label}) AS y, x FROM (VALUES {values}) AS t(y, x)"
        model = nbsql.fit(pg, source, target="y", name="m", replace=True)
        assert model.classes == (["ham", "SPAM", "Spam", "spam"] if kind != '"char"' else ["h", "S", "s"])
        assert len({row[2] for row in model.likelihoods}) == 3
        for x in ("Up", "up", "up ", "dn"):
            (row,) = model.predict(f"SELECT CAST('{x}' AS {kind}) AS x").fetchall()
            answer = model.predict_one({"x": x})
            assert (answer["prediction"], answer["probability"]) == (row[1], pytest.approx(row[2], rel=1e-12))
    model.update("SELECT CAST('h' AS TEXT) AS y, CAST('Up' AS CITEXT) AS x")
    assert model.batches.fetchall()[-1][3] == 1


def test_labels_of_a_fixed_length_are_those_of_texts(pg):
    pg.execute("""CREATE TABLE mails AS SELECT i AS id, CAST('of ' || i % 4 AS CHAR(5)) AS links,
        CAST(CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS CHAR(6)) AS label FROM generate_series(1, 60) AS t(i)""")
    options = {"target": "label", "id": "id"}
    padded = nbsql.fit(pg, "mails", name="padded", **options)
    texts = nbsql.fit(pg, "SELECT id, CAST(label AS TEXT) AS label, links FROM mails", name="texts", **options)
    assert [label.rstrip() for label in padded.classes] == texts.classes == ["ham", "spam"]
    for source in ("mails", "SELECT id, links FROM mails"):
        found, expected = padded.predict_proba(source).fetchall(), texts.predict_proba(source).fetchall()
        assert [row[-2:] for row in found] == [row[-2:] for row in expected]
    assert padded.evaluate("mails").accuracy == texts.evaluate("mails").accuracy
    padded.update("mails")
    padded.forget("mails")
    of_functions = "SELECT probability_spam FROM mails, padded.predict_proba(to_jsonb(mails)) WHERE id = 3"
    spam = padded.predict_one({"links": "of 3"})["probabilities"]["spam  "]
    assert pg.execute(of_functions).fetchone() == pytest.approx((spam,), rel=1e-12)


EQUAL = {  # a type, and those whose values may be equal to its own
    "NUMERIC(6, 2)": ("NUMERIC(9, 4)", "DOUBLE PRECISION", "NUMERIC"),
    "DOUBLE PRECISION": ("NUMERIC(9, 4)", "REAL", "NUMERIC(6, 2)"),
    "INTEGER": ("BIGINT", "NUMERIC(9, 4)", "DOUBLE PRECISION"),
    "DATE": ("TIMESTAMP",),
    "TIMESTAMP": ("DATE",),
    "TEXT": ("VARCHAR(9)", "CHAR(1)"),
}
OF = {"INTEGER": "i % 3", "DATE": "DATE '2024-01-01' + i % 3", "TIMESTAMP": "DATE '2024-01-01' + i % 3", "TEXT": "i % 3"}


@pytest.mark.parametrize("learnt", EQUAL)
def test_equal_values_of_other_types_meet_and_others_do_not(pg, learnt):
    value = OF.get(learnt, "(i % 3) / 4.0")
    label = "CASE WHEN i % 4 = 0 THEN 'a' ELSE 'b' END"

    def table(name, g):
        pg.execute(f"CREATE TABLE {name} AS SELECT {g} AS g, {label} AS y FROM generate_series(1, 60) AS r(i)")
        return name

    model = nbsql.fit(pg, table("own", f"CAST({value} AS {learnt})"), target="y", families={"g": "categorical"}, name="m")
    expected, cells = sorted(row[-1] for row in model.predict_proba("own")), {row[3] for row in model.counts}
    for number, other in enumerate(EQUAL[learnt]):
        rows = table(f"other{number}", f"CAST({value} AS {other})")
        assert sorted(row[-1] for row in model.predict_proba(rows)) == pytest.approx(expected, rel=1e-12), other
        model.update(rows)
        assert {row[3] for row in model.counts} == cells, other
    wrong = table("wrong", "i % 2" if learnt == "TEXT" else "i % 2 = 0")
    for verb in (model.predict, model.update, model.evaluate):
        with pytest.raises(nbsql.InputError, match=r"^column 'g' of wrong is .*, and model 'm' has learnt .* there; "):
            verb(wrong)


def test_a_number_with_more_digits_is_another_and_labels_of_an_enum_are_texts(pg):
    pg.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    pg.execute(
        "CREATE TABLE t AS SELECT CAST(i % 2 + 0.76 AS NUMERIC(4, 2)) AS g, CAST(CASE i % 3 WHEN 0 THEN 'sad' ELSE 'glad' END"
        " AS mood) AS y FROM generate_series(1, 30) AS r(i)"
    )
    model = nbsql.fit(pg, "t", target="y", families={"g": "categorical"}, name="m")
    prior = model.predict("SELECT CAST(NULL AS NUMERIC) AS g").fetchall()[0][-1]
    for unseen in ("0.755", "CAST(0.755 AS DOUBLE PRECISION)", "0.76000000000000000001"):
        assert model.predict(f"SELECT {unseen} AS g").fetchall()[0][-1] == pytest.approx(prior), unseen
    assert model.evaluate("t").rows == 30
    model.update("SELECT 0.76 AS g, 'calm' AS y")
    assert set(model.classes) == {"sad", "glad", "calm"}


def test_a_label_beyond_the_type_of_the_classes_is_refused_and_merged(pg):
    pg.execute("CREATE TABLE rows (x VARCHAR, y SMALLINT)")
    pg.execute("INSERT INTO rows SELECT 'k' || i % 3, i % 2 FROM generate_series(1, 30) AS s(i)")
    pg.execute("CREATE TABLE later AS SELECT x, CASE WHEN y = 0 THEN 70000 ELSE y END AS y FROM rows")
    model = nbsql.fit(pg, "rows", target="y", name="m")
    with pytest.raises(
        nbsql.InputError, match="has the class 70000, which smallint, the type of the classes of model 'm', cannot "
    ):
        model.update("later")
    nbsql.fit(pg, "later", target="y", name="n")
    both = nbsql.merge(pg, ["m", "n"], name="both")
    both.update("later")
    assert {row[0]: row[1] for row in both.priors} == {0: 15, 1: 45, 70000: 30}


@pytest.mark.few
@pytest.mark.look
@pytest.mark.parametrize("rows", [1_000, 12_000])
def test_a_look_at_the_values_infers_the_same_families(pg, rows):
    u = "CAST((i * 7919) % 997 AS DOUBLE PRECISION) / 997"
    found = []
    for con in (pg, duckdb.connect()):
        con.execute(f"""CREATE TABLE shop AS SELECT i AS number, i * 7919 % 2 AS flag, 1 + i * 31 % 5 AS stars,
            exp(4 * {u}) AS price, CASE WHEN i % 3 = 0 THEN exp({u}) ELSE 0 END AS rain, -5 + exp(5 * {u}) AS delay,
            exp(5 * {u}) - 1 AS fare,
            {u} + 0.0005 AS share, 'X' || i AS code, 'one of the words ' || i AS note, 'k' || i % 9 AS kind, i % 2 AS y
            FROM generate_series(1, {rows}) AS r(i)""")
        model = nbsql.fit(con, "shop", target="y", name="m")
        why = nbsql.families(con, "shop", target="y").why
        assert why.pop("rain") in ("0 in 66% of the rows", "0 in 67% of the rows")  # engines do not sample the same rows
        found.append(({name: family.name for name, family in model.families.items()}, why))
        model.update("shop")
    assert found[0] == found[1]
    assert [*found[0][0].values()] == [
        "bernoulli", "categorical", "lognormal", "zero_inflated", "gaussian", "zero_inflated", "beta", "text", "categorical",
    ]  # fmt: skip


OTHERS = {  # a column, and its SQL in rows of another kind than the model has learnt
    "called": ["sent", "day", "CAST(called AS TEXT)", "5"],
    "sent": ["called", "CAST(called AS TEXT)"],
    "day": ["sent", "CAST(day AS TEXT)"],
    "hour": ["called", "CAST(hour AS TEXT)", "CAST(hour AS TIMETZ)"],
    "word": ["TRUE", "1", "day"],
    "flag": ["CAST('t' AS TEXT)"],
    "size": ["CAST('1' AS TEXT)", "TRUE"],
    "mail": ["TRUE", "1"],
    "y": ["1", "TRUE"],
}
ALIKE_IN_JSON = {*((name, f"CAST({name} AS TEXT)") for name in ("called", "day", "hour")), ("word", "day")}


def test_functions_refuse_columns_of_another_kind(pg):
    pg.execute("""CREATE DOMAIN moment AS TIMESTAMP; SET TIME ZONE 'America/New_York'; CREATE TABLE calls AS SELECT i AS id,
        CASE WHEN i % 24 > 15 THEN 'a' ELSE 'b' END AS y, CAST(DATE '2024-01-01' + i * INTERVAL '1 hour' AS moment) AS called,
        TIMESTAMPTZ '2024-01-01 00:00+00' + i * INTERVAL '1 hour' AS sent, DATE '2024-01-01' + i % 5 AS day,
        TIME '00:00' + i * INTERVAL '1 hour' AS hour, (ARRAY['true', '1', 'no'])[1 + i % 3] AS word, i % 2 = 0 AS flag,
        CASE WHEN i % 9 > 0 THEN i % 7 / 2.0 ELSE 'NaN' END AS size, 'word ' || i % 4 AS mail
        FROM generate_series(0, 239) AS r(i)""")
    families = {
        "called": nbsql.Calendar(["hour", "weekday"]), "sent": nbsql.Calendar(["hour"], zone="UTC"), "day": "categorical",
        "hour": nbsql.Calendar(["hour"]), "size": "categorical", "mail": nbsql.Text(),
    }  # fmt: skip
    model = nbsql.fit(pg, "calls", target="y", name="m", id="id", families=families)
    said = pg.execute("SELECT id, answer.* FROM calls, m.predict(to_jsonb(calls)) AS answer ORDER BY id").fetchall()
    assert_same_rows(said, [(row[0], *row[-2:]) for row in sorted(model.predict("calls").fetchall())])
    assert pg.execute("SELECT value FROM m.evaluate('calls') WHERE metric = 'rows'").fetchall() == [(240,)]
    columns = ["id", *OTHERS]
    for column, others in OTHERS.items():
        for other in others:
            pg.execute("DROP VIEW IF EXISTS wrong")
            shown = ", ".join(f"{other if name == column else name} AS {name}" for name in columns)
            pg.execute(f"CREATE VIEW wrong AS SELECT {shown} FROM calls WHERE id = 20")
            fact = rf"^in public[.]wrong: column {column} is .*, and the model has learnt .* there; cast it\n"
            with pytest.raises(Exception, match=fact):
                pg.execute("SELECT * FROM m.evaluate('wrong')")
            if column != "y" and (column, other) not in ALIKE_IN_JSON:
                with pytest.raises(Exception, match=rf"column {column} has another type than|invalid input syntax for type"):
                    pg.execute("SELECT * FROM wrong, m.predict(to_jsonb(wrong))")
    later = "SELECT id, y, called, sent, called AS day, hour, word, flag, size, mail FROM calls"
    pg.execute(f"CREATE VIEW later AS {later}")  # a time is another day than its midnight
    said = pg.execute("SELECT id, answer.* FROM later, m.predict(to_jsonb(later)) AS answer ORDER BY id").fetchall()
    assert_same_rows(said, [(row[0], *row[-2:]) for row in sorted(model.predict("later").fetchall())])


@pytest.mark.look
def test_a_fit_says_that_its_model_is_worse_than_none(pg):
    pg.execute(
        "CREATE TABLE once AS SELECT CASE WHEN i * 7919 % 31 < 10 THEN 'a' ELSE 'b' END AS y, i * 104729 % 997 / 997.0 "
        "+ CASE WHEN i * 7919 % 31 < 10 THEN 0.2 ELSE 0 END AS x FROM generate_series(1, 3000) AS s(i)"
    )
    copies = ", ".join(f"x + {number} AS x{number}" for number in range(12))
    with pytest.warns(nbsql.NbsqlWarning, match='^even on .* rows that it has learnt, the log loss, .* method="weighted"$'):
        nbsql.fit(pg, f"SELECT y, {copies} FROM once", target="y")
    nbsql.fit(pg, "once", target="y")


def test_decimal_classes_are_those_of_other_digits_where_rows_are_evaluated_by_folds(pg):
    """1.00 is 1, whether the rows have it as a NUMERIC or as a DOUBLE PRECISION."""
    pg.execute(
        "CREATE TABLE t AS SELECT CAST(i % 2 AS NUMERIC(6, 2)) AS y, i % 5 + i % 2 AS x FROM generate_series(1, 60) AS r(i)"
    )
    model = nbsql.fit(pg, "t", target="y")
    own = model.evaluate("t", folds="loo").accuracy
    assert model.evaluate("SELECT CAST(y AS DOUBLE PRECISION) AS y, x FROM t", folds="loo").accuracy == own
    with pytest.raises(nbsql.InputError, match="the classes of the query are not those that the model has learnt"):
        model.evaluate("SELECT y + 1 AS y, x FROM t", folds="loo")


@pytest.mark.parametrize("value", [Decimal("1.50"), 2**64 + 1, Decimal("NaN")])
def test_rows_of_python_hold_decimals(pg, value):
    rows = [{"y": i % 2, "x": value if i == 7 else Decimal(i % 5) / 4} for i in range(40)]
    model = nbsql.fit(pg, rows, target="y", families={"x": "gaussian"})
    expected = model.predict_one({"x": value})["probability"]
    assert model.predict([{"x": value}]).fetchall()[0][-1] == pytest.approx(expected, rel=1e-12)
    classes = [{"y": Decimal(i % 2) + Decimal("0.5"), "x": i % 5} for i in range(40)]
    assert nbsql.fit(pg, classes, target="y").classes == [Decimal("0.5"), Decimal("1.5")]


def test_classes_that_are_uuids_may_be_texts_elsewhere(pg):
    pg.execute(ROWS.format(label=LABELS["UUID"], type="UUID"))
    model = nbsql.fit(pg, "t", target="y", features=["x"])
    before = model.priors.fetchall()
    model.update("SELECT CAST(y AS TEXT) AS y, x FROM t")
    assert [row[1] for row in model.priors.fetchall()] == [2 * row[1] for row in before]
    model.forget("SELECT upper(CAST(y AS TEXT)) AS y, x FROM t")
    assert model.priors.fetchall() == before
    with pytest.raises(nbsql.NbsqlError, match=r'^invalid input syntax for type uuid: "abc"$'):
        model.update("SELECT 'abc' AS y, 1 AS x")


@pytest.mark.look
@pytest.mark.parametrize("kind", ["DOUBLE PRECISION", "REAL", "NUMERIC(6, 2)"])
def test_few_different_numbers_are_the_same_categories_as_on_duckdb(pg, kind):
    found = []
    for con in (pg, duckdb.connect()):
        con.execute(
            f"CREATE TABLE doses AS SELECT i AS id, i * i % 7 < 3 AS y, CAST(0.25 + (i * 5 % 4) / 2.0 AS {kind}) AS dose "
            "FROM generate_series(1, 2000) AS rows(i)"
        )
        model = nbsql.fit(con, "doses", target="y", id="id", name="m")
        assert str(model.families["dose"]) == "categorical"
        new = "SELECT 1 AS id, CAST(0.75 AS DOUBLE PRECISION) AS dose UNION ALL SELECT 2, CAST(7 AS DOUBLE PRECISION)"
        found.append([row for source in ("doses", new) for row in model.predict_proba(source).fetchall()])
    assert_same_rows(*([tuple(map(plain, row)) for row in rows] for rows in found))


def test_what_python_or_an_order_cannot_hold_is_cast_to_text(pg, tmp_path):
    pg.execute("""CREATE TABLE calls AS SELECT i % 2 AS y, json_build_object('a', i % 3) AS told,
        CASE i % 3 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE TIMESTAMPTZ '2026-01-01+00' END AS sent
        FROM generate_series(1, 12) AS t(i)""")
    model = nbsql.fit(pg, "calls", target="y", families={"sent": "categorical"}, exclude=["told"], name="m")
    expected = ["-infinity", "2026-01-01 00:00:00+00", "infinity"]
    assert [row[3] for row in model.statistics.fetchall()[::2] if row[2] == "sent"] == expected
    with pytest.raises(nbsql.DatabaseError, match=r"^.* for type json; cast the column to text$"):
        model.evaluate("calls", by="told").slices.fetchall()
    cure = r"Python has no such date: cast the column to text, or leave it out with columns=\[\.\.\.\]$"
    with pytest.raises(nbsql.DatabaseError, match=f"^timestamp too .*infinity'; {cure}"):
        model.predict("calls").fetchall()
    model.export(tmp_path / "m.nbsql")
    moved = nbsql.import_(duckdb.connect(), tmp_path / "m.nbsql", name="m")
    assert [row[3] for row in moved.statistics.fetchall()[::2] if row[2] == "sent"] == expected
    moved.report(tmp_path / "m.html")
    query = moved.predict("SELECT DATE 'infinity' AS day, NULL AS sent")
    with pytest.raises(nbsql.DatabaseError, match=r"^pandas has no date 'infinity'; cast the column to text, or leave it out"):
        query.df()
