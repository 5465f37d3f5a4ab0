"""A database with models is written out by EXPORT DATABASE, and restored by IMPORT DATABASE: models and the user's own."""

import contextlib
import shutil

import duckdb
import pytest
from support.nearly import nearly

import nbsql

ROWS = """CREATE TABLE inbox AS
    SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label,
        ['a b c', 'b c d', 'd e f g'][1 + i % 3] AS message,
        i % 5 AS links, (i * 37 % 11) / 3 AS size, (i * i % 17) / 4 AS age, i % 2 = 0 AS attachment, 'k' || (i % 4) AS sender,
        i % 3 AS plain, i * 7 % 4 AS html, CASE WHEN i % 2 = 0 THEN 'north' ELSE 'south' END AS region
    FROM range(1, 60) AS t(i)"""

MODELS = {
    "spam": {"families": {"message": nbsql.Text(), "links": "poisson"}},
    "mixed": {
        "exclude": ["message"],
        "families": {
            "size": nbsql.Kernel(),
            "age": nbsql.Binned(bins=3),
            "links": "geometric",
            "parts": nbsql.Multinomial(["plain", "html"]),
        },
    },
    "complement": {
        "features": ["message", "sender"],
        "families": {"message": nbsql.Text(event="complement"), "sender": nbsql.Categorical(nulls="category", unseen="smooth")},
    },
    "words": {"features": ["message"], "families": {"message": nbsql.Text(event="bernoulli")}},
    "waiting": {"features": ["size", "sender"], "families": {"size": "exponential"}},
    "lda": {"features": ["size", "age", "sender"], "method": "lda"},
    "logistic": {"features": ["size", "sender", "attachment"], "method": "logistic"},
    "joint": {"features": ["sender", "attachment"], "method": nbsql.JointBayes(backoff="naive")},
    "segments": {"features": ["size", "sender"], "segment_by": "region"},
    "parts": {"features": ["size", "age", "sender"], "method": nbsql.Mixture(2)},
    "joined": {"features": ["size", "income"], "joins": nbsql.Join("senders", on="sender")},
    'odd "name"': {"features": ["size", "sender"], "estimate": "mode", "alpha": 2},
}


def relations(con, database):
    """What can be asked of every model: the schema, and what stands behind its name."""
    return con.execute(
        """SELECT schema_name, function_name || if(function_name = 'likelihood_ratios', '(''spam'', ''ham'')', '(''inbox'')')
        FROM duckdb_functions() WHERE NOT internal AND database_name = $1
        UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND database_name = $1
        ORDER BY ALL""",
        [database],
    ).fetchall()


def answers(con, database=None, *, how="path"):
    """The columns, types and rows of all that can be asked; of an attached database by the path, told its name, or alone."""
    found = {}
    for schema, name in relations(con, database or con.execute("SELECT current_database()").fetchall()[0][0]):
        quoted, asked = '"{}"'.format(schema.replace('"', '""')), name
        if how != "path":
            if how == "told":
                asked = name.replace(")", f", database := '{database}')")
        elif database is not None:
            con.execute("SET search_path = '{}'".format(f"memory,{database}.{quoted},{database}"))  # where dimensions are, last
        done = con.execute(f"FROM {'' if database is None else database + '.'}{quoted}.{asked}")
        columns = [column[:2] for column in done.description]
        rows = sorted(done.fetchall(), key=lambda row: repr([f"{x:.6g}" if isinstance(x, float) else x for x in row]))
        found[schema, name] = [columns, [list(row) for row in rows]]
    return found


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A file with models of all kinds and tables of the user's own."""
    path = tmp_path_factory.mktemp("team") / "team.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(ROWS)
        con.execute("CREATE TABLE senders AS SELECT 'k' || i AS sender, i * 1.5 AS income FROM range(4) AS t(i)")
        con.execute("CREATE SCHEMA own")
        con.execute("CREATE TABLE own.notes AS SELECT 'kept' AS note")
        con.execute("CREATE VIEW own.latest AS FROM own.notes")
        for name, options in MODELS.items():
            model = nbsql.fit(con, "inbox", target="label", name=name, id="id", **options)
            if name in ("spam", "lda"):
                model.calibrate("inbox")
    return path


@pytest.fixture(scope="module")
def before(team):
    """What can be asked there, and the answers."""
    with duckdb.connect(str(team), read_only=True) as con:
        return answers(con)


@pytest.mark.nightly
def test_a_database_with_models_is_restored_whole(team, before, tmp_path):
    # Opened anew: a file has its relations in the order of their names, whatever the order in which they were made.
    with duckdb.connect(str(team), read_only=True) as con:
        con.execute(f"EXPORT DATABASE '{tmp_path / 'copy'}' (FORMAT parquet)")
    with duckdb.connect() as con:
        con.execute(f"IMPORT DATABASE '{tmp_path / 'copy'}'")
        assert con.execute("FROM own.latest").fetchall() == [("kept",)]
        assert len(before) > 60
        assert answers(con) == nearly(before, 1e-9)
        model = nbsql.load(con, "words")
        model.update("inbox")
        assert model.batches.fetchall()[-1][3] == 59


WORDS = nbsql.Text(ngrams=2, stop_words=["a"], min_length=1)


@pytest.mark.slow
def test_a_file_that_nbsql_has_made_is_restored_whole(tmp_path):
    with nbsql.fit(tmp_path / "made.duckdb", ROWS.split(" AS", 1)[1], target="label", name="spam", id="id") as model:
        model.calibrate(ROWS.split(" AS", 1)[1], method="isotonic")
    with duckdb.connect(str(tmp_path / "made.duckdb")) as con:
        con.execute(ROWS)
        nbsql.fit(con, "inbox", target="label", name="words", features=["message"], families={"message": WORDS})
        before = answers(con)
    with duckdb.connect(str(tmp_path / "made.duckdb")) as con:
        con.execute(f"EXPORT DATABASE '{tmp_path / 'copy'}'")
    with duckdb.connect() as con:
        con.execute(f"IMPORT DATABASE '{tmp_path / 'copy'}'")
        assert answers(con) == nearly(before, 1e-9)


@pytest.mark.nightly
def test_macros_of_a_file_of_old_storage_are_restored_by_a_setting(tmp_path):
    config = {"storage_compatibility_version": "v1.0.0"}
    with duckdb.connect(str(tmp_path / "old.duckdb"), config=config) as con:
        con.execute(ROWS)
        nbsql.fit(con, "inbox", target="label", name="words", features=["message"], families={"message": WORDS})
        before = answers(con)
    with duckdb.connect(str(tmp_path / "old.duckdb")) as con:
        assert answers(con) == nearly(before, 1e-9)
        con.execute(f"EXPORT DATABASE '{tmp_path / 'copy'}'")
    with duckdb.connect() as con:
        con.execute(f"IMPORT DATABASE '{tmp_path / 'copy'}'; SET lambda_syntax = 'ENABLE_SINGLE_ARROW'")
        assert answers(con) == nearly(before, 1e-9)


@pytest.mark.nightly  # by day their macros are used, which are told of the database or find it
def test_models_of_an_attached_database_are_used_by_the_search_path(team, before):
    with duckdb.connect() as con:
        con.execute(ROWS)
        con.execute(f"ATTACH '{team}' AS other (READ_ONLY)")
        con.execute("CREATE SCHEMA spam")  # of one's own, which is not meant
        assert answers(con, "other") == nearly(before, 1e-9)
        con.execute("SET search_path = 'memory,other.spam'")
        assert con.execute("SELECT current_database()").fetchall() == [("memory",)]
        assert con.execute("SELECT count(*) FROM inbox").fetchall() == [(59,)]
        assert con.sql("FROM spam.predict('inbox')").columns[-2:] == ["prediction", "probability"]


@pytest.mark.forms("how")
@pytest.mark.slow
@pytest.mark.parametrize("how", ["told", "alone"])
def test_models_of_an_attached_database_are_used_by_their_macros(team, before, how):
    with duckdb.connect() as con:
        con.execute(ROWS)
        con.execute(f"ATTACH '{team}' AS other (READ_ONLY)")
        con.execute("CREATE SCHEMA spam")
        assert answers(con, "other", how=how) == nearly(before, 1e-9)
        if how == "told":
            expected = {row[-2] for row in before["spam", "predict('inbox')"][-1]}
            for name, argument in (
                ("other team", ""),
                ("of.all", ""),
                ("a or b", ""),
                ("now, old", ", database := '\"now, old\"'"),
            ):
                con.execute(f"DETACH DATABASE IF EXISTS other; ATTACH '{team}' AS \"{name}\" (READ_ONLY)")
                quoted = con.sql(f"FROM \"{name}\".spam.predict('inbox'{argument})")
                assert {row[-2] for row in quoted.fetchall()} == expected, name
                con.execute(f'DETACH "{name}"')


@pytest.mark.nightly
def test_of_two_databases_with_a_model_of_one_name_the_macro_asks_which(team, tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        con.execute(ROWS)
        nbsql.fit(con, "inbox", target="label", name="spam", features=["size"])
        own = con.execute("FROM spam.predict('inbox')").fetchall()
        con.execute(f"ATTACH '{team}' AS other (READ_ONLY)")
        for call in ("spam.predict('inbox')", "other.spam.explain('inbox')", "other.spam.likelihood_ratios('spam', 'ham')"):
            with pytest.raises(duckdb.Error, match=r"several databases have a model spam: say which, database := 'its name'"):
                con.execute(f"FROM {call}")
        for seen in range(12):  # schemas that DuckDB looks at before it names any
            con.execute(f"SET catalog_error_max_schemas = {seen}")
            with contextlib.suppress(duckdb.InvalidInputException):  # that several have one, of which one at least is seen
                assert con.execute("FROM spam.predict('inbox')").fetchall() == own
        con.execute("RESET catalog_error_max_schemas")
        assert con.execute("FROM spam.predict('inbox', database := 'shop')").fetchall() == own
        theirs = con.execute("FROM other.spam.predict('inbox', database := 'other')").fetchall()
        assert theirs != own
        con.execute("CREATE VIEW scored AS FROM other.words.predict('inbox')")
        words = con.execute("FROM scored").fetchall()
        con.execute("USE other")
        assert words == con.execute("FROM words.predict('shop.inbox')").fetchall()
        con.execute("SET search_path = 'shop,other.spam'")
        assert con.execute("FROM spam.predict('inbox')").fetchall() == theirs


def test_views_of_one_database_ask_a_model_of_another():
    with duckdb.connect() as con:
        con.execute("ATTACH ':memory:' AS team; ATTACH ':memory:' AS spam")  # one of them has the name of the model
        con.execute("CREATE TABLE inbox AS SELECT i AS id, i % 3 = 0 AS label, i % 5 AS size FROM range(20) AS t(i)")
        con.execute("CREATE TABLE team.letters AS FROM inbox")
        nbsql.fit(con, "inbox", target="label", name="mail", id="id", families={"size": "categorical"})
        expected = con.execute("FROM mail.predict('inbox')").fetchall()
        con.execute("CREATE VIEW team.sorted AS FROM memory.mail.predict('letters')")  # looks up names in its own database
        con.execute("CREATE VIEW team.ratios AS FROM memory.mail.likelihood_ratios('true', 'false')")
        for database in ("memory", "team"):
            con.execute(f"USE {database}")
            assert con.execute("FROM team.sorted").fetchall() == nearly(expected, 1e-9)
            assert len(con.execute("FROM team.ratios").fetchall()) == 5


WITHOUT_JSON = """CREATE TEMP MACRO json_serialize_plan(query) AS CAST(error('no json') AS VARCHAR);
    CREATE TEMP MACRO to_json(value) AS CAST(error('no json') AS VARCHAR)"""
IN_WASM = "CREATE TEMP MACRO current_setting(name) AS 'wasm'"  # where DuckDB would fetch json, and wait without a network


@pytest.mark.nightly
def test_macros_need_no_json_where_the_database_is_known(tmp_path):
    def known(con, *database):
        found = answers(con, *database, how="told" if database else "path")
        return {asked: answer for asked, answer in found.items() if asked[1] != "features"}  # a view of the JSON of spec

    with duckdb.connect(str(tmp_path / "team.duckdb")) as con:
        con.execute(ROWS)
        for name in ("spam", "mixed", "segments"):
            nbsql.fit(con, "inbox", target="label", name=name, id="id", **MODELS[name])
        before = known(con)
    shutil.copy(tmp_path / "team.duckdb", tmp_path / "copy.duckdb")
    with duckdb.connect(str(tmp_path / "team.duckdb"), read_only=True) as con:
        con.execute(WITHOUT_JSON)
        for call in ("spam.predict('inbox')", "spam.likelihood_ratios('spam', 'ham')"):
            with pytest.raises(duckdb.Error, match="no json"):
                con.execute(f"FROM {call}")
        assert known(con, "team") == nearly(before, 1e-9)
        con.execute(IN_WASM)
        assert known(con) == nearly(before, 1e-9)
        con.execute(f"ATTACH '{tmp_path / 'copy.duckdb'}' AS other (READ_ONLY)")
        for call in ("spam.predict('inbox')", "other.spam.explain('inbox')", "spam.likelihood_ratios('spam', 'ham')"):
            with pytest.raises(duckdb.Error, match=r"several databases have a model spam: say which, database := 'its name'"):
                con.execute(f"FROM {call}").fetchall()
        con.execute("SET search_path = 'other.spam,team'")
        assert len(con.execute("FROM spam.predict('inbox')").fetchall()) == 59
