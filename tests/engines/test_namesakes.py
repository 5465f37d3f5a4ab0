"""Operators and functions of another role on the path of a session do not run in the place of PostgreSQL's own."""

import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

pytestmark = [pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning"), pytest.mark.postgres]

# For each operator and function of PostgreSQL's that a classifier may call, one for every pair of types for which it has
# none of its own, which would be chosen; each counts its calls, outside of all transactions, and raises.
NAMESAKES = """
DO $$
DECLARE
  types TEXT[] := '{varchar,bpchar,text,name,int2,int4,int8,float8,numeric,bool,date,jsonb}';
  numbers TEXT[] := '{varchar,bpchar,text,int4,int8,float8,numeric}';
  taken REGOPERATOR; a TEXT; b TEXT; op TEXT; fn TEXT;
BEGIN
  FOREACH a IN ARRAY types LOOP
    FOREACH b IN ARRAY types LOOP
      EXECUTE pg_catalog.format('CREATE FUNCTION public.ran(%s, %s) RETURNS BOOLEAN LANGUAGE plpgsql AS $f$ BEGIN
        PERFORM nextval(''public.calls''); RAISE EXCEPTION ''operator of mallory on %s and %s''; END $f$', a, b, a, b);
      FOREACH op IN ARRAY '{=,<>,<,>,<=,>=,+,-,*,/,%,||,~,~~,&,->,->>}'::TEXT[] LOOP
        IF to_regoperator(pg_catalog.format('pg_catalog.%s(%s,%s)', op, a, b)) IS NULL THEN
          EXECUTE pg_catalog.format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.ran)', op, a, b);
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  FOR fn, a IN
    SELECT DISTINCT proname, each FROM pg_proc, unnest(numbers) AS each
    WHERE proname IN ('abs', 'sqrt', 'exp', 'ln', 'power', 'floor', 'lower', 'upper', 'length', 'left', 'hashtextextended',
      'concat', 'format', 'regexp_replace', 'regexp_split_to_table', 'string_to_array', 'to_jsonb', 'quote_ident', 'coalesce',
      'current_setting', 'pg_try_advisory_xact_lock', 'pg_advisory_xact_lock', 'generate_series', 'round', 'sign', 'unnest',
      'translate', 'replace', 'substr', 'substring', 'split_part', 'normalize', 'ceil', 'lgamma', 'date_trunc', 'mod')
      AND pronamespace = 'pg_catalog'::REGNAMESPACE
  LOOP
    IF to_regprocedure(pg_catalog.format('pg_catalog.%I(%s)', fn, a)) IS NULL THEN
      EXECUTE pg_catalog.format('CREATE FUNCTION public.%I(%s) RETURNS BIGINT LANGUAGE plpgsql AS $f$ BEGIN
        PERFORM nextval(''public.calls''); RAISE EXCEPTION ''%s of mallory''; END $f$', fn, a, fn);
    END IF;
    FOREACH b IN ARRAY numbers LOOP
      IF to_regprocedure(pg_catalog.format('pg_catalog.%I(%s,%s)', fn, a, b)) IS NULL THEN
        EXECUTE pg_catalog.format('CREATE FUNCTION public.%I(%s, %s) RETURNS BIGINT LANGUAGE plpgsql AS $f$ BEGIN
          PERFORM nextval(''public.calls''); RAISE EXCEPTION ''%s of mallory''; END $f$', fn, a, b, fn);
      END IF;
    END LOOP;
  END LOOP;
END $$
"""

PEOPLE = """CREATE TABLE people AS SELECT
    i AS id, CAST(CASE WHEN i % 3 = 0 THEN 'ham' ELSE 'spam' END AS VARCHAR) AS label,
    CAST(CASE WHEN i % 5 < 2 THEN 'red' WHEN i % 7 = 0 THEN NULL ELSE 'blue' END AS VARCHAR(10)) AS colour,
    CAST(CASE WHEN i % 4 < 2 THEN 'low' ELSE 'high' END AS VARCHAR) AS tone,
    CAST(CASE WHEN i % 3 = 0 THEN 'lunch on ' ELSE 'free prize ' END || i % 6 AS VARCHAR) AS message,
    CAST(i % 11 AS INTEGER) AS visits, CAST(i % 13 AS NUMERIC(8, 2)) / 4 AS size, i % 2 = 0 AS flag,
    CAST('2026-01-01' AS DATE) + i % 3 * 31 AS day
    FROM pg_catalog.generate_series(1, 60) AS i"""
OPTIONS = {"target": "label", "id": "id", "exclude": ["day"], "families": {"message": "text", "visits": "poisson"}}
PLAIN = {"target": "label", "features": ["colour", "tone", "flag"]}
NEW = "SELECT id, label, colour, tone, message, visits, size, flag, day FROM people WHERE flag"


@pytest.fixture(scope="module")
def sessions(shared_database):
    """The connections of a superuser, and of a role whose path has what mallory made."""
    import psycopg

    database = shared_database.rsplit("/", 1)[1]
    with psycopg.connect(shared_database, autocommit=True) as pg:
        pg.execute(f"CREATE ROLE mallory_{database}; CREATE ROLE ann_{database} LOGIN")
        pg.execute(f"GRANT CREATE ON SCHEMA public TO mallory_{database}, ann_{database}")
        pg.execute(f"GRANT CREATE ON DATABASE {database} TO ann_{database}")
        with psycopg.connect(shared_database.replace("//nbsql@", f"//ann_{database}@"), autocommit=True) as con:
            con.execute(PEOPLE)
            pg.execute(f"SET ROLE mallory_{database}")
            pg.execute("CREATE SEQUENCE calls; GRANT ALL ON calls TO PUBLIC")
            pg.execute(NAMESAKES)
            pg.execute("RESET ROLE")
            with pytest.raises(psycopg.errors.RaiseException):
                con.execute("SELECT * FROM people WHERE label = CAST('ham' AS VARCHAR)")
            yield pg, con
        pg.execute(f"DROP OWNED BY mallory_{database}, ann_{database} CASCADE; DROP ROLE mallory_{database}, ann_{database}")


@pytest.fixture
def ann(sessions):
    """The connection of the role; nothing that mallory made is to be called."""
    pg, con = sessions
    pg.execute("ALTER SEQUENCE calls RESTART")
    yield con
    for name in ("m", "one", "two", "both"):
        con.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
    con.execute("DROP TABLE IF EXISTS public.scored")
    assert pg.execute("SELECT is_called FROM calls").fetchone() == (False,)


FITS = {
    "mixed": OPTIONS,
    "tan": {**PLAIN, "method": "tan"},
    "tan, numbers": {"target": "label", "features": ["colour", "size", "visits"], "method": "tan"},
    "aode": {**PLAIN, "method": "aode"},
    "logistic": {"target": "label", "features": ["colour", "size"], "method": "logistic"},
    "em": {**PLAIN, "method": "em"},
    "mixture": {"target": "label", "features": ["colour", "size"], "method": nbsql.Mixture(2)},
    "joint": {**PLAIN, "method": "joint"},
    "lda": {"target": "label", "features": ["size", "visits"], "method": "lda"},
    "segments": {**PLAIN, "segment_by": "tone"},
    "half-life": {**PLAIN, "weight": nbsql.HalfLife("30 days", at="day")},
    "nulls": {**PLAIN, "nulls": "category", "unseen": "smooth"},
    "bins": {"target": "label", "features": ["size"], "families": {"size": nbsql.Binned(by="mdl")}},
}


@pytest.mark.few
@pytest.mark.parametrize("kind", FITS)
def test_what_is_fitted_is_scored_and_judged_by_the_functions_of_postgresql(ann, kind):
    model = nbsql.fit(ann, "people", name="m", replace=True, **FITS[kind])
    assert len(model.predict(NEW).fetchall()) == 30
    model.evaluate("people")
    assert model.predict_proba("people").limit(3).df().shape[0] == 3


VERBS = {
    "predict": lambda model, _: [model.predict(NEW).show(), model.predict("people").create_view("seen")],
    "predict_one": lambda model, _: model.predict_one(
        {"colour": "red", "message": "free", "visits": 2, "size": 1, "flag": True, "tone": ""}
    ),
    "explain": lambda model, _: model.explain(NEW).fetchall(),
    "review": lambda model, _: model.review("people", 3).fetchall(),
    "log_evidence": lambda model, _: [model.log_evidence(NEW).fetchall(), model.log_likelihood(NEW)],
    "update": lambda model, _: [model.update(NEW, batch="more"), model.forget(batch="more"), model.compact()],
    "new class": lambda model, _: model.update(
        "SELECT id, 'eggs' AS label, colour, tone, message, visits, size, flag FROM people"
    ),
    "forget": lambda model, _: model.forget("SELECT * FROM people WHERE flag"),
    "evaluate": lambda model, _: [model.evaluate("people"), model.evaluate(NEW, by="tone"), model.compare(model, "people")],
    "calibrate": lambda model, _: [
        [model.calibrate("people", method=method, folds=3), model.predict("people", calibrated=True).fetchall()]
        for method in ("temperature", "platt", "isotonic")
    ],
    "monitor": lambda model, _: model.monitor("people", reference=NEW, by="date_trunc('month', day)").fetchall(),
    "impute": lambda model, _: model.impute("people").fetchall(),
    "sample": lambda model, _: model.sample(5).fetchall(),
    "relevance": lambda model, _: [model.relevance().fetchall(), model.discrimination("ham", "spam").fetchall(), model.show()],
    "dependence": lambda model, _: model.dependence("people").fetchall(),
    "report": lambda model, folder: model.report(folder / "page.html", source="people"),
    "export": lambda model, folder: model.export(folder / "m.parquet"),
}


@pytest.mark.few
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_runs_the_functions_of_postgresql(ann, verb, tmp_path):
    VERBS[verb](nbsql.fit(ann, "people", name="m", **OPTIONS), tmp_path)


def test_what_chooses_runs_the_functions_of_postgresql(ann):
    nbsql.cross_validate(ann, "people", folds=3, **OPTIONS)
    nbsql.sweep(ann, "people", alpha=[0.5, 1.0], folds=3, **OPTIONS)
    nbsql.dependence(ann, NEW, **PLAIN).fetchall()
    one, two = (nbsql.fit(ann, source, name=name, **OPTIONS) for name, source in (("one", "people"), ("two", NEW)))
    nbsql.merge(ann, [one, two], name="both").predict("people").fetchall()


def test_the_functions_and_views_of_a_model_do_not_look_at_the_path_of_their_caller(ann):
    nbsql.fit(ann, "people", name="m", **OPTIONS).calibrate("people", method="platt", folds=3)
    for query in (
        "SELECT answer.* FROM people, m.predict(to_jsonb(people)) AS answer",
        "SELECT answer.* FROM people, m.predict_proba_uncalibrated(to_jsonb(people)) AS answer",
        "SELECT * FROM m.evaluate('people')",
        "SELECT * FROM m.likelihood_ratios('ham', 'spam')",
        "SELECT * FROM m.likelihoods",
        "SELECT * FROM m.features",
    ):
        assert ann.execute(query).fetchall()


def test_scripts_do_not_look_at_the_path_of_their_caller(ann):
    mine = f"postgresql://{ann.info.user}@{ann.info.host}:{ann.info.port}/{ann.info.dbname}"
    fit = ["fit", mine, "people", "--target", "label", "--name", "m", "--exclude", "day", "--family", "message=text"]
    for command in (
        [*fit, "--replace", "--sql"],
        ["calibrate", mine, "m", "people", "--folds", "3", "--sql"],
        ["update", mine, "m", NEW, "--sql"],
        ["predict", mine, "m", "people", "--into", "scored", "--sql"],
    ):
        found = CliRunner().invoke(main, command, catch_exceptions=False)
        assert found.exit_code == 0, found.output
        ann.execute(found.stdout)
    assert ann.execute("SELECT pg_catalog.count(*) FROM scored").fetchone() == (60,)


def test_a_session_with_postgresql_last_on_its_path_keeps_its_path(ann):
    ann.execute("SET search_path = public, pg_catalog")
    try:
        with ann.transaction():
            nbsql.fit(ann, "people", name="m", **OPTIONS).predict("people").create_table("scored")
            ann.execute("SELECT FROM public.scored")
        path = ann.execute("SHOW search_path").fetchone()
    finally:
        ann.execute("RESET search_path")
    assert path == ("public, pg_catalog",)


def test_a_query_that_cannot_be_resolved_is_refused_where_a_namesake_could_run(ann):
    model = nbsql.fit(ann, "people", name="m", **OPTIONS)
    ann.execute("SET default_transaction_read_only = on")
    try:
        assert len(model.predict("people").fetchall()) == 60
        with pytest.raises(nbsql.InputError) as caught:
            model.predict(NEW)
    finally:
        ann.execute("SET default_transaction_read_only = off")
    assert str(caught.value) == (
        f"function abs of 'mallory_{ann.info.dbname}' in 'public' could run in the place of PostgreSQL's own, as the names in "
        "the query cannot be resolved beforehand (cannot execute CREATE VIEW in a read-only transaction; connect to a server "
        "that can be written, with neither read_only nor default_transaction_read_only); give a table or a view"
    )
