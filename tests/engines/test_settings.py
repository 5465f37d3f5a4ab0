"""Answers do not depend on the settings of a session of PostgreSQL or Spark, nor on how a database orders its texts."""

import datetime
from operator import itemgetter

import duckdb
import pytest
from engines import test_golden
from engines.places import Place, assert_same_rows

import nbsql
from nbsql.plan import VERBS

pytestmark = pytest.mark.filterwarnings("ignore:the calibration makes:nbsql.NbsqlWarning")  # of rows as few as these

COLUMNS = {
    "id": "INTEGER", "label": "VARCHAR", "kind": "VARCHAR", "share": "DOUBLE PRECISION", "length": "DOUBLE PRECISION",
    "visits": "INTEGER", "body": "VARCHAR", "seen": "DATE",
}  # fmt: skip
LABELS = ("No", "no", "nö", "a\\b")
KINDS = ("Red", "red", "réd", "C:\\new", "'\\'", None)
SHARES = (0.1 + 0.2, 0.3, 1 / 3, 2.0)


def rows():
    found = []
    for i in range(48):
        y = (i * 7) % len(LABELS)
        near = (y + (i % 3 == 0)) % len(LABELS)
        words = ["Café", "cafe", "Free\\n", "free"][near] + " " + ("lunch", "Prize")[i % 2]
        day = datetime.date(2026, 2 + i % 3, 1 + i % 12)
        found.append(
            (i, LABELS[y], KINDS[(near + i % 2) % 6], SHARES[(near + i // 5) % 4], near * 1.5 + i / 7, near + i % 4, words, day)
        )
    return found


OPTIONS = {
    "target": "label",
    "id": "id",
    "families": {
        "share": "categorical",
        "visits": "poisson",
        "body": nbsql.Text(lower=False, stop_words=["free\\n", "Prize\\"]),
    },
}


def answers(place, *, functions=True):
    """What a fit, its changes and its judgements say; its functions are given JSON, of the digits of the session."""
    model = nbsql.fit(place.con, "people", name="m", exclude=["seen"], slice_by="seen", replace=True, **OPTIONS)
    yield model.classes
    yield sorted(model.statistics.fetchall(), key=lambda row: repr((row[:4], row[-1])))
    yield sorted(model.predict_proba("people").fetchall(), key=itemgetter(0))
    yield model.slice_names
    model.update("people", batch="again")
    model.forget(batch="again")
    yield sorted(model.joint_log_likelihood("people").fetchall(), key=itemgetter(0))
    found = model.evaluate("people")
    yield [found.accuracy, found.log_loss, found.brier]
    yield [nbsql.cross_validate(place.con, "people", exclude=["seen"], folds=3, **OPTIONS).log_loss]
    model.calibrate("people", method="platt", folds=3)
    yield sorted(model.predict("people", calibrated=True).fetchall(), key=itemgetter(0))
    if functions:
        said = "SELECT id, said.* FROM people, m.predict(to_jsonb(people)) AS said"
        yield sorted(place.run(said), key=itemgetter(0))
    model.drop()


def assert_same(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, list) and isinstance(theirs[0], tuple):
            assert_same_rows(ours, theirs)
        else:
            assert_same_rows([ours], [theirs])


POSTGRES = {
    "backslashes": ["SET standard_conforming_strings = off", "SET escape_string_warning = off"],
    "days and times": ["SET DateStyle = 'German'", "SET TimeZone = 'Asia/Kathmandu'", "SET IntervalStyle = 'sql_standard'"],
    "another path": [
        "CREATE SCHEMA aside",
        "CREATE TABLE aside.spec (x INTEGER)",
        "SET search_path = public, aside, pg_catalog",
    ],
}


@pytest.fixture
def people(pg):
    place = Place("postgres", pg)
    place.table("people", COLUMNS, rows())
    return place


@pytest.mark.few
@pytest.mark.parametrize("settings", POSTGRES.values(), ids=POSTGRES)
def test_answers_do_not_depend_on_a_setting_of_postgresql(people, settings):
    expected = list(answers(people))
    for statement in settings:
        people.run(statement)
    assert_same(list(answers(people)), expected)
    people.run("RESET ALL")


@pytest.mark.parametrize("settings", POSTGRES.values(), ids=POSTGRES)
def test_a_model_answers_a_session_of_other_settings(people, settings):
    model = nbsql.fit(people.con, "people", name="m", exclude=["seen"], **OPTIONS)
    query = model.predict_proba("people").sql
    said = "SELECT id, said.* FROM people, m.predict_proba(to_jsonb(people)) AS said ORDER BY id"
    expected = people.run(query), people.run(said)
    for statement in settings:
        people.run(statement)
    assert_same_rows(people.run(query), expected[0])
    assert_same_rows(people.run(said), expected[1])
    people.run("RESET ALL")


@pytest.mark.few
@pytest.mark.parametrize("digits", [0, -5])
def test_fewer_digits_are_those_of_the_answer_alone(people, digits):
    """Doubles have as few digits as asked for in an answer, but not as categories, slices or segments, nor to deal folds by."""
    by_number = {**OPTIONS, "exclude": ["seen", "length"], "segment_by": "length / 3"}

    def more():
        model = nbsql.fit(people.con, "people", name="n", replace=True, **by_number)
        sliced = nbsql.fit(people.con, "people", exclude=["seen"], slice_by="length / 3", **OPTIONS)
        joint = nbsql.fit(people.con, "people", target="label", features=["share", "kind"], method="joint", id="id")
        return [
            sorted(model.segments.fetchall(), key=repr),
            sorted(people.run(model.predict_proba("people").sql), key=itemgetter(0)),
            sliced.slice_names,
            sorted(joint.predict("people").fetchall(), key=itemgetter(0)),
            [sliced.predict_one(dict.fromkeys(COLUMNS) | {"share": 0.1 + 0.2, "length": 1 / 7})["probability"]],
        ]

    expected = [*answers(people, functions=False), *more()]
    people.run(f"SET extra_float_digits = {digits}")
    assert_same([*answers(people, functions=False), *more()], expected)
    assert people.run("SHOW extra_float_digits") == [(str(digits),)]
    people.run("RESET ALL")


@pytest.mark.nightly
def test_answers_do_not_depend_on_how_a_database_compares_texts(people):
    """By bytes, by a language, and by a collation to which texts are equal that differ by case or accent."""
    expected = list(answers(people))
    people.run("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    for collation in ("C", "en-x-icu", "loose"):
        people.run(f'''ALTER TABLE people ALTER label TYPE VARCHAR COLLATE "{collation}",
            ALTER kind TYPE VARCHAR COLLATE "{collation}", ALTER body TYPE VARCHAR COLLATE "{collation}"''')
        assert_same(list(answers(people)), expected)


def test_slices_by_a_time_with_a_zone_are_those_of_utc(people):
    expression = "CAST(seen || ' 22:30+00' AS timestamptz)"
    named = []
    for zone in ("UTC", "Asia/Kathmandu"):
        people.run(f"SET TimeZone = '{zone}'")
        named.append(nbsql.fit(people.con, "people", exclude=["seen"], slice_by=expression, **OPTIONS).slice_names)
    people.run("RESET ALL")
    assert named[0] == named[1]
    assert "2026-02-01 22:30:00+00" in named[0]


@pytest.mark.parametrize("expression", ["seen + time '12:30'", "date_trunc('month', seen + time '12:30')"])
def test_slices_by_a_time_are_named_as_in_any_session(people, expression):
    expected = nbsql.fit(people.con, "people", exclude=["seen"], slice_by=expression, **OPTIONS).slice_names
    assert (
        expected
        == people.run(f"SELECT array_agg(DISTINCT CAST({expression} AS TEXT) ORDER BY CAST({expression} AS TEXT)) FROM people")[
            0
        ][0]
    )
    people.run("SET DateStyle = 'SQL, DMY'")
    assert nbsql.fit(people.con, "people", exclude=["seen"], slice_by=expression, **OPTIONS).slice_names == expected
    people.run("RESET ALL")


TIMES = """CREATE TABLE times AS SELECT i AS id, CASE WHEN i % 4 < 2 THEN 'a' ELSE 'b' END AS label,
    DATE '2026-02-01' + i % 4 AS day, CAST(DATE '2026-02-01' + i % 4 AS TIMESTAMP) AS hour,
    CAST('2026-02-0' || (1 + i % 4) || ' 22:30:00.5+00' AS TIMESTAMPTZ) AS moment,
    make_interval(months => i % 4, secs => 1.5) AS span
    FROM generate_series(1, 40) AS numbers(i)"""
SPANS = ["1 year 14 months", "-3 days", "26:03:04.25", "-00:00:05", "0 days", "1 month -1 days 100:00:00", "1 day"]


def test_dates_and_times_as_categories_do_not_depend_on_a_setting_of_postgresql(people):
    people.run(TIMES)
    families = dict.fromkeys(["day", "hour", "moment", "span"], "categorical")
    model = nbsql.fit(people.con, "times", target="label", id="id", name="m", families=families)
    joint = nbsql.fit(people.con, "times", target="label", id="id", name="joint", families=families, method="joint")
    values = sorted(model.likelihoods.fetchall(), key=itemgetter(0, 1, 2))
    assert {row[2] for row in values if row[0] == "a" and row[1] != "span"} == {
        *(f"2026-02-0{day}" for day in range(1, 5)),
        *(f"2026-02-0{day} 00:00:00" for day in range(1, 5)),
        *(f"2026-02-0{day} 22:30:00.5+00" for day in range(1, 5)),
    }
    queries = [each.predict_proba("times", columns=["id"]).sql for each in (model, joint)]
    queries.append("SELECT id, said.* FROM times, m.predict_proba(to_jsonb(times)) AS said ORDER BY id")
    expected = [people.run(query) for query in queries]
    assert min(abs(row[-1] - 0.5) for found in expected for row in found) > 0.3
    try:
        for statement in POSTGRES["days and times"]:
            people.run(statement)
        for query, found in zip(queries, expected, strict=True):
            assert_same_rows(people.run(query), found)
        again = nbsql.fit(people.con, "times", target="label", id="id", families=families)
        assert_same_rows(sorted(again.likelihoods.fetchall(), key=itemgetter(0, 1, 2)), values)
        with pytest.raises(nbsql.DatabaseError, match=r"^can't parse timestamptz .*; SET DateStyle = 'ISO', and .*"):
            again.predict("times").fetchall()  # psycopg cannot
    finally:
        people.run("RESET ALL")


def test_an_interval_has_the_text_of_duckdb(people):
    listed = ", ".join(f"('{'ab'[n % 2]}', INTERVAL '{span}')" for n, span in enumerate(SPANS))
    rows = f"SELECT label, span FROM (VALUES {listed}) AS spans(label, span)"
    found = []
    for con in (people.con, duckdb.connect()):
        model = nbsql.fit(con, rows, target="label", families={"span": "categorical"})
        found.append({row[2] for row in model.likelihoods.fetchall()})
    texts = {"2 years 2 months", "-3 days", "26:03:04.25", "-00:00:05", "00:00:00", "1 month -1 day 100:00:00", "1 day"}
    assert found == [texts, texts]


RELATIONS = ("priors", "likelihoods", "statistics", "estimates", "features", "parameters", "lookups")


def golden(place):
    """What every golden statement says, and the relations and functions of the model that those of the golden fit make."""
    place.run("DROP SCHEMA IF EXISTS spam CASCADE")
    for sql in test_golden.statements(place.con).values():
        place.run(sql)
    for relation in RELATIONS:
        yield sorted(place.run(f"SELECT * FROM spam.{relation}"), key=repr)
    for file in sorted((test_golden.GOLDEN.parent / place.engine).glob("score_*.sql")):
        yield sorted(place.run(file.read_text(encoding="utf-8")), key=repr)
    if place.engine == "postgres":
        for verb in set(VERBS) - {"explain"}:
            yield sorted(place.run(f"SELECT id, said.* FROM inbox, spam.{verb}(to_jsonb(inbox)) AS said"), key=repr)
        yield sorted(place.run("SELECT * FROM spam.evaluate('inbox')"), key=repr)
        yield sorted(place.run("SELECT * FROM spam.likelihood_ratios('spam', 'ham')"), key=lambda row: repr(row[:2]))


@pytest.mark.parametrize("settings", [*POSTGRES.values(), ["SET extra_float_digits = 0"]], ids=[*POSTGRES, "digits"])
def test_golden_statements_of_postgresql_say_the_same(pg, settings):
    place = Place("postgres", pg)
    place.table("inbox", test_golden.COLUMNS, test_golden.ROWS)
    expected = list(golden(place))
    for statement in settings:
        place.run(statement)
    assert_same(list(golden(place)), expected)
    place.run("RESET ALL")


SPARK = {"spark.sql.ansi.enabled": "false", "spark.sql.caseSensitive": "true", "spark.sql.session.timeZone": "Asia/Kathmandu"}


def brief(place):
    """What a fit and its predictions say."""
    families = {"share": "categorical", "visits": "poisson", "moment": "categorical"}
    source = "SELECT *, CAST(concat(seen, ' 22:30:00.5Z') AS TIMESTAMP) AS moment FROM people"
    model = nbsql.fit(place.con, source, target="label", exclude=["body", "seen"], id="id", families=families, slice_by="seen")
    yield model.classes
    yield sorted(model.statistics.fetchall(), key=lambda row: repr((row[:4], row[-1])))
    yield sorted(model.predict_proba(source, columns=["id"]).fetchall(), key=itemgetter(0))


@pytest.mark.nightly
@pytest.mark.slow
def test_answers_do_not_depend_on_the_settings_of_spark(spark):
    place = Place("spark", spark)
    place.table("people", COLUMNS, rows())
    place.table("inbox", test_golden.COLUMNS, test_golden.ROWS)
    expected = [*brief(place), *golden(place)]
    before = {name: spark.conf.get(name) for name in SPARK}
    try:
        for name, value in SPARK.items():
            assert before[name] != value
            spark.conf.set(name, value)
        assert_same([*brief(place), *golden(place)], expected)
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


REFUSED = {
    "SET client_encoding = 'SQL_ASCII'": (
        "the client_encoding of this connection is SQL_ASCII, in which texts are bytes; set it to UTF8"
    ),
    "SET statement_timeout = '50ms'": (
        "canceling statement due to statement timeout; SET statement_timeout = 0, or a longer time than this statement needs"
    ),
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_a_session_forbids_is_said_in_one_line(people, statement):
    people.run(statement)
    with pytest.raises(nbsql.DatabaseError) as caught:
        nbsql.fit(people.con, "SELECT label, kind FROM people, pg_sleep(60)", target="label")
    people.run("RESET ALL")
    assert str(caught.value) == REFUSED[statement]


def test_a_database_of_another_encoding_is_refused(pg, address):
    name = address.rsplit("/", 1)[1]
    plain = "LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    pg.execute(f"CREATE DATABASE {name}_latin ENCODING LATIN1 {plain}")
    rows = "SELECT * FROM (VALUES ('a', 'one'), ('b', 'two')) AS t(label, body)"
    try:
        with pytest.raises(nbsql.DatabaseError) as caught:
            nbsql.fit(f"{address}_latin", rows, target="label", families={"body": "text"})
    finally:
        pg.execute(f"DROP DATABASE {name}_latin")
    assert str(caught.value) == (
        "Unicode normalization can only be performed if server encoding is UTF8; nbsql needs a database with the encoding UTF8"
    )
