"""What an engine does not have is refused with one line, and so is what it cannot be asked."""

import os

import pytest
from engines.places import ENGINES, LACKS, Place

import nbsql
from nbsql import DatabaseError, InputError, ModelError, NotSupportedError

ROWS = [(1, "sun", "no", 1.0), (2, "rain", "yes", 2.0), (3, "sun", "yes", 3.5), (4, "rain", "no", 1.5)]
COLUMNS = {"id": "INTEGER", "sky": "VARCHAR", "play": "VARCHAR", "wind": "DOUBLE PRECISION"}


def golf(place):
    place.table("golf", COLUMNS, ROWS)
    return nbsql.fit(place.con, "golf", target="play", name="golfing", id="id")


def fitted(place, **options):
    return nbsql.fit(place.con, "golf", target="play", exclude=["id"], **options)


# Acts that leave the model as it is share one; those that change it, and those that leave relations behind, have their own.
GROUPS = {
    "a model is asked": {
        "as_of": lambda place, model, _: model.as_of("1"),
        "dialect": lambda place, model, _: model.sql("predict", "golf", dialect="sqlite"),
        "drift": lambda place, model, _: model.drift("1", "1").fetchall(),
        "evaluate": lambda place, model, _: model.evaluate("golf"),
        "from_statistics": lambda place, model, _: nbsql.from_statistics(
            place.con, model.sql("statistics", "golf", dialect=place.engine), like="golfing"
        ),
        "inline=True": lambda place, model, _: model.sql("predict", "golf", inline=True),
        "labelled=True": lambda place, model, _: model.log_likelihood("golf", labelled=True),
        "log_likelihood": lambda place, model, _: model.log_likelihood("golf"),
        "predict_one": lambda place, model, _: model.predict_one(dict.fromkeys(model.families)),
        "predict_one_sql": lambda place, model, _: model.predict_one_sql(),
        "quadratic": lambda place, model, _: model.quadratic().fetchall(),
        "Query.to_spark": lambda place, model, _: model.predict("golf").to_spark().collect(),
        "Query.relation": lambda place, model, _: model.predict("golf").relation,
        "relevance": lambda place, model, _: model.relevance().fetchall(),
    },
    "answers are decided and read": {
        "evaluate with costs": lambda place, model, _: model.evaluate("golf", costs={("yes", "no"): 2}),
        "export": lambda place, model, path: model.export(path / "golf.parquet"),
        "predict with costs": lambda place, model, _: model.predict("golf", costs={("yes", "no"): 2}).fetchall(),
        "predict with thresholds": lambda place, model, _: model.predict("golf", thresholds={"yes": 0.9}).fetchall(),
        "predict with top_k": lambda place, model, _: model.predict("golf", top_k=2).fetchall(),
        "sample": lambda place, model, _: model.sample(2).fetchall(),
        "df": lambda place, model, _: model.predict("golf").df(),
        "arrow": lambda place, model, _: model.predict("golf").arrow(),
        "pl": lambda place, model, _: model.predict("golf").pl(),
        "show": lambda place, model, _: model.predict("golf").show(),
        "families": lambda place, model, _: nbsql.families(place.con, "golf", target="play"),
        "fit_sql": lambda place, model, _: nbsql.fit_sql(place.con, "golf", target="play", name="other"),
    },
    "a model is judged": {
        "cross_validate": lambda place, model, _: nbsql.cross_validate(
            place.con, "golf", target="play", exclude=["id"], folds=2
        ),
        "folds='loo'": lambda place, model, _: nbsql.cross_validate(
            place.con, "golf", target="play", exclude=["id"], folds="loo"
        ),
        "sweep": lambda place, model, _: nbsql.sweep(place.con, "golf", target="play", exclude=["id"], alpha=[1, 2], folds=2),
        "calibrate": lambda place, model, _: model.calibrate("golf", folds=2),
    },
    "models are made": {
        "from_tables": lambda place, model, _: nbsql.from_tables(
            place.con, priors={"yes": 1}, likelihoods={"yes": {"sky": {"sun": 1}}}
        ),
        "import_": lambda place, model, path: (model.export(path / "g.file"), nbsql.import_(place.con, path / "g.file")),
        "merge": lambda place, model, _: nbsql.merge(place.con, ["golfing"]),
        "joins": lambda place, model, _: nbsql.fit(
            place.con, "golf", target="play", exclude=["id", "wind"], joins=[nbsql.Join("golf", on="id", prefix="other_")]
        ),
        "linear": lambda place, model, _: fitted(place, families={"wind": nbsql.Gaussian(shared_variance=True)}).linear(),
        "Best": lambda place, model, _: fitted(place, features=nbsql.Best(1)),
        "best of 'sky'": lambda place, model, _: fitted(place, families={"sky": nbsql.Text(best=2)}),
    },
    "models are chosen": {
        "auto": lambda place, model, _: nbsql.auto(place.con, "golf", target="play", exclude=["id"], folds=2),
        "by='mdl' of 'wind'": lambda place, model, _: fitted(place, families={"wind": nbsql.Binned(by="mdl")}),
    },
    "models of components": {
        "components": lambda place, model, _: fitted(place, method=nbsql.Mixture(2)),
        "sample of components": lambda place, model, _: fitted(place, method=nbsql.Mixture(2)).sample(2).fetchall(),
    },
    "models of other methods": {
        "method='lda'": lambda place, model, _: fitted(place, method="lda"),
        "method='logistic'": lambda place, model, _: fitted(place, method="logistic"),
    },
    "models of parts": {
        "segment_by": lambda place, model, _: fitted(place, segment_by="sky"),
        "segments": lambda place, model, _: fitted(place, segment_by="sky").segments,
        "slice_by": lambda place, model, _: fitted(place, slice_by="sky"),
        "slice_names": lambda place, model, _: fitted(place, slice_by="sky").slice_names,
        "slices": lambda place, model, _: fitted(place, slice_by="sky").slices(["sun"]),
        "window": lambda place, model, _: fitted(place, slice_by="sky").window(last=1),
    },
    "a model learns": {"update": lambda place, model, _: model.update("golf")},
    "a model forgets": {"forget": lambda place, model, _: (model.update("golf"), model.forget("golf"))},
    "a model goes back": {
        "rollback": lambda place, model, _: (model.update("golf"), model.rollback("1")),
        "compact": lambda place, model, _: model.compact(),
    },
    "answers are kept": {
        "create_table": lambda place, model, _: model.predict("golf").create_table("scored"),
        "create_view": lambda place, model, _: model.predict("golf").create_view("seen"),
    },
}


def test_what_is_lacking_is_known():
    known = {act for acts in GROUPS.values() for act in acts}
    assert all(set(lacks) <= known for lacks in LACKS.values())


# On DuckDB the tests of each act do the acts; here it is only asked for what it lacks, and for the rest by night.
CASES = [
    pytest.param(engine, group, marks=[pytest.mark.nightly] if engine == "duckdb" and not {*acts} & {*LACKS[engine]} else [])
    for engine in ENGINES
    for group, acts in GROUPS.items()
]


@pytest.mark.slow
@pytest.mark.daily
@pytest.mark.parametrize(("place", "group"), CASES, indirect=["place"])
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_an_engine_does_it_or_says_that_it_cannot(place, tmp_path, group):
    model = golf(place)
    for act, do in GROUPS[group].items():
        if act not in LACKS[place.engine]:
            print(act)  # which pytest shows where it fails
            do(place, model, tmp_path)
            continue
        with pytest.raises(NotSupportedError) as caught:
            do(place, model, tmp_path)
        where = "; it is on Spark" if act == "Query.to_spark" else " yet; it is on DuckDB"
        assert str(caught.value) == f"{act} is not available on {model.state.engine.title}{where}"
        assert model.predict("golf").fetchall()  # nothing has changed, and the connection can be used


def test_a_model_that_is_dropped_is_no_more(place):
    model = golf(place)
    query = model.predict("golf")
    nbsql.load(place.con, "golfing").drop()
    database = model.state.engine.current()[0]
    asked = [query.fetchall, model.priors.fetchall, lambda: model.classes, lambda: model.update("golf")]
    if "predict_one" not in LACKS[place.engine]:
        asked.append(lambda: model.predict_one({"sky": "sun", "wind": 1}))
    for ask in asked:
        with pytest.raises(ModelError) as caught:
            ask()
        assert str(caught.value) == f"no model 'golfing' in {database!r}; there are none yet"


SOURCES = {
    "gol": "no table or view 'gol'; did you mean 'golf'?",
    "orders": "no table or view 'orders' in the search_path; did you mean 'other.orders'?",
    "golf.csv": "no table or view 'golf.csv'; a file is a source on DuckDB alone: load it into a table first",
    "FROM golf": "a query of PostgreSQL does not begin with FROM; write SELECT * before 'FROM golf'",
    "SELECT 1 / 0 AS wind, sky, play FROM golf": "division by zero in a row of the source; divide by nullif(x, 0), say",
    "empty": 'materialized view "empty" has not been populated; REFRESH MATERIALIZED VIEW comes first',
    "SELECT 2147483647 + CAST(wind AS integer) AS wind, sky, play FROM golf": "integer out of range in a row of the source; "
    "make a double of one number: CAST(... AS double precision)",
    "SELECT CAST('1e400' AS numeric) AS wind, sky, play FROM golf": "a number in a row of the source is out of range for type "
    "double precision; make it NULL there: CASE WHEN abs(x) < 1e300 THEN x END, or round(x, 300) if it is nearly 0",
    "SELECT CAST(5 AS money) AS price, play FROM golf": "column 'price' is money, which has no family; "
    "leave it out with exclude=['price'], or cast it, to numeric say",
    "SELECT * FROM nowhere": 'the query cannot be read: relation "nowhere" does not exist',
    "SELECT 1; SELECT 2": "the query cannot be read: cannot insert multiple commands into a prepared statement",
    "DELETE FROM golf RETURNING *": "a source is a table, a view or one SELECT, not 'DELETE FROM golf RETURNING *'",
    "DROP TABLE golf": "a source is a table, a view or one SELECT, not 'DROP TABLE golf'",
    "WITH gone AS (DELETE FROM golf RETURNING *) SELECT * FROM gone": "the query cannot be read: "
    "WITH clause containing a data-modifying statement must be at the top level",
    "SELECT id, sky, sky FROM golf": "column 'sky' is ambiguous in the query, which has it twice; rename one",
    "SELECT *, 1 AS nbsql_row FROM golf": "column 'nbsql_row' of the query has a name that nbsql keeps for itself; rename it",
    "SELECT $1 AS play": "the query has parameters such as $1; a source has all its values in it",
}


@pytest.mark.parametrize("transaction", [True, False])
def test_a_source_that_is_none(pg, transaction):
    golf(Place("postgres", pg))
    pg.execute("CREATE SCHEMA other; CREATE TABLE other.orders AS SELECT * FROM golf")
    pg.execute("CREATE MATERIALIZED VIEW empty AS SELECT * FROM golf WITH NO DATA")
    pg.autocommit = not transaction
    for source, message in SOURCES.items():
        with pytest.raises(DatabaseError if "of the source" in message or source == "empty" else InputError) as caught:
            nbsql.fit(pg, source, target="play")
        assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        nbsql.fit(pg, {1}, target="play")
    assert str(caught.value) == "a source is a table, a view or a SELECT on PostgreSQL, not set; write it to a table first"
    assert pg.execute("SELECT count(*) FROM golf").fetchall() == [(4,)]


def test_names_are_found_as_postgres_finds_them(pg):
    golf(Place("postgres", pg))
    pg.execute('CREATE SCHEMA "My Data"; CREATE TABLE "My Data"."Golf Days" AS SELECT * FROM golf')
    database = pg.execute("SELECT current_database()").fetchone()[0]
    found = [("golf", 4), ("GOLF", 4), ("public.golf", 4), (f"{database}.public.golf", 4), ('"My Data"."Golf Days"', 4)]
    for name, rows in found:
        assert len(nbsql.load(pg, "golfing").predict(name).fetchall()) == rows
    pg.execute('CREATE VIEW tilted AS SELECT sky AS "Sky", wind FROM golf')
    with pytest.raises(InputError) as caught:
        nbsql.load(pg, "golfing").predict("tilted")
    assert str(caught.value) == (
        "no column 'sky' in tilted, a feature of model 'golfing'; did you mean 'Sky'? "
        "If it is not known there, add it: SELECT *, NULL AS sky FROM tilted"
    )


def test_connections_that_are_none(pg, address):
    import psycopg

    with pytest.raises(DatabaseError) as caught:
        nbsql.models("postgresql://nbsql:secret@127.0.0.1:1/shop")
    assert str(caught.value).startswith("cannot connect to PostgreSQL: connection failed: ")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    wrong = f"{address}_gone"
    with pytest.raises(
        DatabaseError, match=f'^cannot connect to PostgreSQL: .*database "{wrong.rsplit("/", 1)[1]}" does not exist$'
    ):
        nbsql.models(wrong)
    foreign = type("connection", (), {"__module__": "psycopg2.extensions"})()
    with pytest.raises(InputError) as caught:
        nbsql.models(foreign)
    assert str(caught.value) == (
        "con must be a connection of psycopg 3 (psycopg.connect) or a postgresql:// address, not psycopg2.connection"
    )
    closed = psycopg.connect(address)
    with (
        closed.pipeline(),
        pytest.raises(DatabaseError, match=r"^the connection is within its pipeline\(\), .* outside of that$"),
    ):
        nbsql.models(closed)
    closed.close()
    with pytest.raises(DatabaseError, match=r"^the connection is closed$"):
        nbsql.models(closed)


def test_a_server_that_is_too_old(address, monkeypatch):
    monkeypatch.setattr("nbsql.engines.postgres.driver._LEAST_VERSION", 99)
    with pytest.raises(DatabaseError, match=r"^this server is PostgreSQL \d+; nbsql needs 99 or later$"):
        nbsql.models(address)


def test_names_that_are_none(pg):
    place = Place("postgres", pg)
    golf(place)
    lines = {
        "pg_golf": (ModelError, "'pg_golf' is a name that PostgreSQL keeps for itself; choose another name"),
        "public": (ModelError, "schema 'public' is there already and is not a model of nbsql; choose another name"),
        "golfing": (ModelError, "model 'golfing' is there already; replace it with replace=True, or choose another name"),
        "x" * 64: (InputError, f"a model's name has at most 63 bytes on PostgreSQL, which would cut {'x' * 64!r}"),
    }
    for name, (kind, message) in lines.items():
        with pytest.raises(kind) as caught:
            nbsql.fit(pg, "golf", target="play", name=name)
        assert str(caught.value) == message
    with pytest.raises(
        InputError, match=r"^a connection to PostgreSQL reaches one database only, 'shop_\d+'; connect to 'other'$"
    ):
        nbsql.models(pg, database="other")
    with pytest.raises(InputError) as caught:
        nbsql.load(pg, "golfing").predict("golf").create_table("y" * 64)
    assert str(caught.value) == f"a name has at most 63 bytes on this engine, which would cut {'y' * 64!r}"


def test_rights_that_are_missing(pg, address):
    golf(Place("postgres", pg))
    database = address.rsplit("/", 1)[1]
    pg.execute(f"CREATE ROLE clerk_{database} LOGIN")
    try:
        clerk = address.replace("//nbsql@", f"//clerk_{database}@")
        with pytest.raises(DatabaseError) as caught:
            nbsql.fit(clerk, "golf", target="play")
        assert str(caught.value) == "permission denied for table golf; the owner can GRANT it"
        pg.execute(f"GRANT SELECT ON golf TO clerk_{database}")
        with pytest.raises(DatabaseError) as caught:
            nbsql.fit(clerk, "golf", target="play", name="mine")
        assert str(caught.value) == (
            f"permission denied for database {database}; the owner can GRANT it "
            "(a model needs CREATE on the database; without a name it needs TEMPORARY only)"
        )
        with nbsql.fit(clerk, "golf", target="play") as model:
            assert len(model.predict("golf").fetchall()) == 4
        with pytest.raises(DatabaseError) as caught:
            nbsql.load(clerk, "golfing")
        assert str(caught.value) == "permission denied for schema golfing; the owner can GRANT it"
        pg.execute(f"GRANT USAGE ON SCHEMA golfing TO clerk_{database}")
        pg.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA golfing TO clerk_{database}")
        with nbsql.load(clerk, "golfing") as model:
            assert len(model.predict("golf").fetchall()) == 4
            with pytest.raises(DatabaseError, match=r"^permission denied for table \w+; the owner can GRANT it$"):
                model.update("golf")
    finally:
        pg.execute(f"DROP OWNED BY clerk_{database}")
        pg.execute(f"DROP ROLE clerk_{database}")


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.slow
def test_more_parameters_than_a_row_can_hold(pg):
    def fit(count, family):
        pg.execute("DROP TABLE IF EXISTS wide")
        kind = "BOOLEAN" if family == "bernoulli" else "REAL"
        made = ", ".join(f"CAST(i * {n + 1} % 7 % 2 AS {kind}) AS x{n}" for n in range(count))
        pg.execute(
            f"CREATE TABLE wide AS SELECT 'a label {'x' * 22}' || i % 4 AS y, {made} FROM generate_series(1, 12) AS t(i)"
        )
        return nbsql.fit(pg, "wide", target="y", name="m", nulls="category" if family == "bernoulli" else "skip")

    with pytest.raises(NotSupportedError) as caught:
        fit(332, "bernoulli")
    assert str(caught.value) == (
        "the 996 parameters of a class do not fit into a row of this engine's tables, which holds some 1,000 numbers; "
        "take fewer features"
    )
    with pytest.raises(DatabaseError) as error:
        fit(300, "gaussian")
    assert str(error.value) == (
        "so many features do not fit into a row of PostgreSQL's tables (row is too big: size 9664, maximum size 8160); "
        "take fewer"
    )
    assert nbsql.models(pg) == []
    assert len(fit(240, "gaussian").predict("wide").fetchall()) == 12


def test_psycopg_is_asked_for(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in [name for name in sys.modules if name.startswith("nbsql.engines.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(DatabaseError) as caught:
        nbsql.models("postgresql://127.0.0.1/shop")
    assert str(caught.value) == "PostgreSQL needs psycopg 3: pip install 'nbsql[postgres]'"


def test_show_prints_a_table(pg, capsys):
    model = golf(Place("postgres", pg))
    model.predict("SELECT '[red]' AS sky, CAST(NULL AS REAL) AS wind").show()
    assert capsys.readouterr().out.splitlines()[:3] == [
        "sky     wind   prediction   probability",
        "───────────────────────────────────────",
        "[red]   NULL   no                   0.5",
    ]


def test_ci_has_every_engine(monkeypatch):
    from engines.servers import absent

    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"^no server$"):
        absent("no server")
    monkeypatch.delitem(os.environ, "CI")
    with pytest.raises(pytest.skip.Exception, match=r"^no server$"):
        absent("no server")


def test_a_model_of_an_earlier_checkout_is_replaced_and_dropped(place):
    """It has parts that nbsql no longer makes and lacks others, as its version says; what is not nbsql's stays."""
    place.table("days", {"sky": "VARCHAR", "play": "VARCHAR"}, [("sun", "no"), ("rain", "yes"), ("sun", "no")])

    def make():
        nbsql.fit(place.con, "days", target="play", name="golf", replace=True)
        if place.engine == "duckdb":
            place.run("CREATE MACRO golf.scored(rows) AS TABLE SELECT rows AS x")
            place.run("DROP MACRO TABLE golf.evaluate")
            place.run("UPDATE golf.spec SET nbsql_version = '0.0.1'")
        elif place.engine == "postgres":
            place.run("CREATE FUNCTION golf.scored(x INTEGER) RETURNS INTEGER LANGUAGE sql AS 'SELECT x'")
            place.run("DROP VIEW golf.features CASCADE")
            place.run("UPDATE golf.spec SET nbsql_version = '0.0.1'")
        else:
            place.run("DROP VIEW golf.features")

    make()
    written = (
        "is damaged, or of an earlier" if place.engine == "spark" else f"0.0.1, cannot be read by nbsql {nbsql.__version__}"
    )
    with pytest.raises(nbsql.ModelError, match=f"{written}.* is missing; fit it again with replace=True, or drop it"):
        nbsql.load(place.con, "golf")
    make()  # replaces it
    nbsql.drop(place.con, "golf")
    assert nbsql.models(place.con) == []
    nbsql.fit(place.con, "days", target="play", name="golf")
    place.run("CREATE TABLE golf.scored AS SELECT 1 AS x")  # not the macro of that name
    with pytest.raises(
        nbsql.ModelError, match="schema 'golf' holds 'scored', which nbsql did not make; move it elsewhere first"
    ):
        nbsql.drop(place.con, "golf")
    assert nbsql.load(place.con, "golf").classes == ["no", "yes"]
