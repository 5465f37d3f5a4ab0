"""Models that are taken, missing, damaged or newer, files locked or read-only, and sources that a model cannot score."""

import copy
import pickle
import re
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nbsql
from nbsql import DatabaseError, InputError, ModelError
from nbsql.engines.duckdb.messages import one_line

DAYS = "SELECT * FROM (VALUES ('sun', 1, 'no'), ('rain', 2, 'yes'), ('rain', 4, 'yes')) AS days(sky, wind, play)"


@pytest.fixture
def model(con):
    con.execute(f"CREATE TABLE days AS {DAYS}")
    return nbsql.fit(con, "days", target="play", name="golf", families={"wind": "poisson"})


@pytest.mark.slow
def test_a_name_that_cannot_be_taken(con, model, refused):
    con.execute("CREATE SCHEMA mine")
    for name, kind, message in [
        ("Golf", ModelError, "model 'golf' is there already; replace it with replace=True, or choose another name"),
        ("main", ModelError, "schema 'main' is there already and is not a model of nbsql; choose another name"),
        ("MINE", ModelError, "schema 'mine' is there already and is not a model of nbsql; choose another name"),
        *(
            (name, ModelError, f"{name!r} is the name of {what}; choose another name, such as name='{name}_model'")
            for name, what in [
                ("memory", "a database"),
                *((name, "a schema of DuckDB's own") for name in ("Temp", "system", "pg_catalog", "information_schema")),
            ]
        ),
        (
            "Memory.golf",
            ModelError,
            "'Memory.golf' begins with the name of a database; to store it there: name='golf', database='Memory'",
        ),
        ("", InputError, "a model's name must be a text of at least one character, not ''"),
        ("a\x00b", InputError, r"a model's name must be a text of at least one character, not 'a\x00b'"),
        (3, InputError, "a model's name must be a text of at least one character, not 3"),
    ]:
        with refused(kind, message):
            nbsql.fit(con, "days", target="play", name=name)
        if name == "Golf":
            assert nbsql.fit(con, "days", target="play", name=name, replace=True).name == name
            assert nbsql.models(con) == ["Golf"]
            continue
        with refused(kind, message):
            nbsql.fit(con, "days", target="play", name=name, replace=True)


@pytest.mark.parametrize(
    "make",
    [
        "TABLE golf.mine AS SELECT 1 AS a",
        "VIEW golf.mine AS SELECT 1 AS a",
        "MACRO golf.mine(a) AS a",
        "SEQUENCE golf.mine",
        "TYPE golf.mine AS ENUM ('a')",
    ],
)
def test_a_model_that_holds_what_is_not_nbsqls_is_never_dropped(con, model, refused, make):
    con.execute(f"CREATE {make}")
    message = "schema 'golf' holds 'mine', which nbsql did not make; move it elsewhere first"
    with refused(ModelError, message):
        model.drop()
    with refused(ModelError, message):
        nbsql.fit(con, "days", target="play", name="golf", replace=True)
    assert len(model.predict("days").fetchall()) == 3


def test_a_schema_that_only_looks_like_a_model_is_never_dropped(con, refused):
    con.execute(f"CREATE TABLE days AS {DAYS}")
    con.execute("CREATE SCHEMA docs")
    con.execute("CREATE TABLE docs.spec AS SELECT 'mine' AS spec")
    with refused(ModelError, "schema 'docs' is there already and is not a model of nbsql; choose another name"):
        nbsql.fit(con, "days", target="play", name="docs", replace=True)
    with refused(ModelError, "schema 'docs' is not a model of nbsql: it has no table 'spec'"):
        nbsql.load(con, "docs")
    assert nbsql.models(con) == []


@pytest.mark.slow
def test_a_model_that_is_not_there(con, refused):
    with refused(ModelError, "no model 'golf' in 'memory'; there are none yet"):
        nbsql.load(con, "golf")
    nbsql.fit(con, DAYS, target="play", name="golf")
    with refused(ModelError, "no model 'gulf' in 'memory'; did you mean 'golf'?"):
        nbsql.load(con, "gulf")
    with refused(ModelError, "no model 'x' in 'memory'; there are 'golf'"):
        nbsql.load(con, "x")
    con.execute("ATTACH ':memory:' AS team")
    nbsql.fit(con, DAYS, target="play", name="Rain", database="team")
    for name in ("rain", "team.rain"):
        with refused(ModelError, f"no model {name!r} in 'memory'; there is 'Rain' in 'team'"):
            nbsql.load(con, name)
    with refused(InputError, "a model's name must be text, not 3"):
        nbsql.load(con, 3)
    with refused(InputError, "no database 'memry' is attached; did you mean 'memory'?"):
        nbsql.load(con, "golf", database="memry")
    with refused(InputError, "the name of a database must be text, not 3"):
        nbsql.models(con, database=3)


DAMAGED = f"model 'golf', written by nbsql {nbsql.__version__}, is damaged, or of an earlier checkout:"
CURE = "fit it again with replace=True, or drop it"


def test_a_covariance_matrix_in_single_columns_is_of_an_earlier_checkout(con, refused):
    numbers = ", ".join(f"sin({k} * i + {k}) AS x{k}" for k in range(1, 12))
    nbsql.fit(con, f"SELECT i % 2 AS y, {numbers} FROM range(60) AS t(i)", target="y", method="lda", name="golf")
    names = con.execute("SELECT column_name FROM duckdb_columns() WHERE schema_name = 'golf' AND table_name = 'parameters'")
    for (name,) in names.fetchall():
        con.execute(f"ALTER TABLE golf.parameters RENAME {name} TO {name.replace('means_', 'mean_')}")
    with refused(ModelError, f"{DAMAGED} its table 'parameters' has no lists of means; {CURE}"):
        nbsql.load(con, "golf")


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1.5 ends the result")
def test_a_reader_of_the_connection_itself_is_to_be_read_first(con):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, i % 3 AS x FROM range(30000) AS t(i)")
    reader = con.sql("FROM rows").to_arrow_reader(100)
    message = r"^a reader of this connection is not read to its end; read it first, and pass its rows: reader.read_all\(\)$"
    with pytest.raises(DatabaseError, match=message):
        nbsql.fit(con, reader, target="y")
    assert nbsql.fit(con, reader.read_all(), target="y").classes == [0, 1]


def test_the_database_of_a_model_is_detached(con):
    con.execute("ATTACH ':memory:' AS team")
    model = nbsql.fit(con, "SELECT i % 2 AS y, i % 3 AS x FROM range(30) AS t(i)", target="y", name="golf", database="team")
    con.execute("DETACH team")
    acts = [
        lambda: model.predict("SELECT 1 AS x").fetchall(), lambda: model.predict_one({"x": 1}), lambda: model.priors.fetchall(),
        lambda: model.update("SELECT 1 AS x, 0 AS y"), lambda: model.classes,
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(InputError, match=r"^no database 'team' is attached; ATTACH it first$"):
            act()


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("DROP VIEW golf.likelihoods", f"{DAMAGED} 'likelihoods' is missing; {CURE}"),
        ("DROP MACRO TABLE golf.explain", f"{DAMAGED} 'explain' is missing; {CURE}"),
        (  # as models had it before classes were numbered by their labels
            "ALTER TABLE golf.parameters DROP class_count",
            f"{DAMAGED} its table 'parameters' has no column 'class_count'; {CURE}",
        ),
        ("DELETE FROM golf.spec", f"model 'golf' is damaged, or of an earlier checkout: its table 'spec' has 0 rows; {CURE}"),
        (  # as models had it before the type JSON took no such text
            "ALTER TABLE golf.spec ALTER spec TYPE VARCHAR; UPDATE golf.spec SET spec = '{'",
            f"{DAMAGED} its spec cannot be read ({{reason}}); {CURE}",
        ),
        ("UPDATE golf.spec SET spec = NULL", f"{DAMAGED} its spec cannot be read ({{reason}}); {CURE}"),
        ("UPDATE golf.spec SET spec = '[]'", f"{DAMAGED} its spec cannot be read ({{reason}}); {CURE}"),
        (
            "UPDATE golf.spec SET spec = replace(spec, '\"poisson\"', '\"possion\"')",
            f"{DAMAGED} its spec cannot be read ({{reason}}); {CURE}",
        ),
        (
            "UPDATE golf.spec SET spec = replace(spec, '\"target\"', '\"aim\"')",
            f"{DAMAGED} its spec cannot be read ('target'); {CURE}",
        ),
        (
            "UPDATE golf.spec SET nbsql_version = '0.0.1', spec = '{}'",
            f"model 'golf', written by nbsql 0.0.1, cannot be read by nbsql {nbsql.__version__}: its spec cannot be read "
            f"('format'); {CURE}",
        ),
        (
            "ALTER TABLE golf.spec ALTER spec TYPE VARCHAR; UPDATE golf.spec SET spec = repeat('[', 100000)",
            f"{DAMAGED} its spec cannot be read ({{reason}}); {CURE}",
        ),
        *(
            (f"DELETE FROM golf.{table}", f"{DAMAGED} its table '{table}' has no rows; {CURE}")
            for table in ("statistics", "parameters", "lookups", "estimates", "batches")
        ),
        (
            "UPDATE golf.spec SET spec = '{\"format\": 3}'",
            "model 'golf' was written by a newer nbsql; upgrade nbsql to read it",
        ),
    ],
)
def test_a_damaged_or_newer_model(con, model, damage, message):
    con.execute(damage)
    with pytest.raises(ModelError) as caught:
        nbsql.load(con, "golf")
    before, _, after = message.partition("{reason}")
    assert str(caught.value).startswith(before)
    assert str(caught.value).endswith(after)
    assert "\n" not in str(caught.value)
    repaired = nbsql.fit(con, "days", target="play", name="golf", replace=True)  # a cure that the message names
    assert repaired.predict("days").fetchall() == nbsql.load(con, "golf").predict("days").fetchall()
    con.execute(damage)
    nbsql.drop(con, "golf")  # the other
    assert nbsql.models(con) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_that_has_lost_a_class_or_its_calibration(con):
    rows = "SELECT 'c' || i % 200 AS many, 'w' || i % 7 AS word FROM range(600) AS t(i)"
    nbsql.fit(con, rows, target="many", name="many").calibrate(rows, folds=None)
    con.execute("DELETE FROM many.parameters WHERE class_no = 3")
    with pytest.raises(ModelError, match=r"its table 'parameters' has 199 of 200 classes; fit it again with replace=True"):
        nbsql.load(con, "many")
    con.execute("DELETE FROM many.calibration")
    with pytest.raises(ModelError, match=r"its table 'calibration' has no rows; fit it again with replace=True"):
        nbsql.load(con, "many")


@pytest.mark.slow
def test_a_source_that_a_model_cannot_score(model, refused):
    for verb, source, message in [
        (
            "predict",
            "SELECT sky FROM days",
            "no column 'wind' in the query, a feature of model 'golf'; its columns are 'sky'; "
            "if it is not known there, add it: SELECT *, NULL AS wind FROM ...",
        ),
        (
            "predict",
            "SELECT sky, wind AS winds FROM days",
            "no column 'wind' in the query, a feature of model 'golf'; did you mean 'winds'? "
            "If it is not known there, add it: SELECT *, NULL AS wind FROM ...",
        ),
        (
            "predict",
            "SELECT sky, 'strong' AS wind FROM days",
            "column 'wind' of the query is VARCHAR, which model 'golf' cannot take for a poisson feature; cast it to INTEGER",
        ),
        (
            "predict",
            "SELECT *, 1 AS Prediction FROM days",
            "the query has a column 'prediction' already, which predict adds; choose what comes back by columns=[...]",
        ),
        (
            "predict",
            "SELECT *, 1 AS probability FROM days",
            "the query has a column 'probability' already, which predict adds; choose what comes back by columns=[...]",
        ),
        (
            "predict_proba",
            "SELECT *, 1 AS probability_YES FROM days",
            "the query has a column 'probability_yes' already, which predict_proba adds; "
            "choose what comes back by columns=[...]",
        ),
        (
            "joint_log_likelihood",
            "SELECT *, 1 AS joint_log_likelihood_no FROM days",
            "the query has a column 'joint_log_likelihood_no' already, which joint_log_likelihood adds; "
            "choose what comes back by columns=[...]",
        ),
        (
            "log_evidence",
            "SELECT *, 1 AS log_evidence FROM days",
            "the query has a column 'log_evidence' already, which log_evidence adds; choose what comes back by columns=[...]",
        ),
        ("predict", "SELECT *, 'x' AS sky FROM days", "column 'sky' is ambiguous in the query, which has it twice; rename one"),
        ("predict", "dayz", "no table or view 'dayz'; did you mean 'days'?"),
        ("predict", "DROP TABLE days", "a source is a table, a view or one SELECT, not 'DROP TABLE days'"),
        ("predict", "", "a source is a table, a view or one SELECT, not ''"),
        ("update", "", "a source is a table, a view or one SELECT, not ''"),
        ("update", 'days.""', "no table or view 'days.\"\"'; did you mean 'days'?"),
    ]:
        with refused(InputError, message):
            getattr(model, verb)(source)


@pytest.mark.slow
def test_verbs_and_results_that_cannot_be(con, model, refused):
    keyed = nbsql.fit(con, "SELECT *, wind AS k FROM days", target="play", id="k", name="keyed")
    with refused(InputError, "no column 'k' in days, the id of model 'keyed'; its columns are 'sky', 'wind', 'play'"):
        keyed.explain("days")
    with refused(InputError, "no verb 'predct'; did you mean 'predict'?"):
        model.sql("predct", "days")
    with refused(InputError, "no verb ['predict']; did you mean 'predict'?"):
        model.sql(["predict"], "days")
    with refused(
        InputError, "by must be one of 'margin', 'evidence', 'novelty', 'expected cost', not ['margin']; did you mean 'margin'?"
    ):
        model.review("days", by=["margin"])
    with refused(InputError, "features must be a list of names, not 2.5"):
        model.dependence("days", features=2.5)
    with refused(InputError, "'Days' is there already; replace it with replace=True, or choose another name"):
        model.predict("days").create_table("Days")
    with refused(InputError, "the name of a table or view must be a text of at least one character, not ''"):
        model.predict("days").create_table("")
    query = model.predict(pd.DataFrame({"sky": ["sun"], "wind": [1]}))
    with refused(InputError, "a view cannot read the DataFrame, which lives in this process; use create_table"):
        query.create_view("scored")
    model.drop()
    with refused(ModelError, "no model 'golf' in 'memory'; there are 'keyed'"):
        model.drop()


def test_a_file_that_another_process_holds(tmp_path):
    path = tmp_path / "days.duckdb"
    program = f"import duckdb; con = duckdb.connect({str(path)!r}); print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        for act in (lambda: nbsql.fit(path, DAYS, target="play", name="golf"), lambda: nbsql.models(path)):
            with pytest.raises(DatabaseError) as caught:
                act()
            by = rf"(another process|\S+ \(PID {holder.pid}\))"
            assert re.fullmatch(
                rf"{re.escape(repr(str(path)))} is locked by {by}; close it there first, or open it read-only in both",
                str(caught.value),
            )
        holder.communicate("\n")
    assert nbsql.models(path) == []


def test_what_is_no_database(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 1000)
    rows = tmp_path / "rows.csv"
    rows.write_text("wind,play\nweak,yes\n")
    for path in (text, rows):  # DuckDB opens the rows as a database in memory, where a model would be lost
        message = f"'{path}' is no DuckDB database; name a database file, and the rows as the source"
        with pytest.raises(DatabaseError, match=f"^{re.escape(message)}$"):
            nbsql.models(path)
        with pytest.raises(DatabaseError, match=f"^{re.escape(message)}$"):
            nbsql.fit(path, DAYS, target="play", name="golf")
    with pytest.raises(DatabaseError, match=f"^{re.escape(repr(str(tmp_path)))} is a folder; name a database file$"):
        nbsql.models(tmp_path)
    with pytest.raises(DatabaseError, match=r"^cannot open '.*days.duckdb': its folder does not exist; make it first$"):
        nbsql.fit(tmp_path / "nowhere" / "days.duckdb", DAYS, target="play", name="golf")
    with pytest.raises(InputError, match=r"^con must be a connection of DuckDB or psycopg 3, .* of a database, not NoneType$"):
        nbsql.fit(None, DAYS, target="play")
    foreign = type("Engine", (), {"__module__": "sqlalchemy.engine.base"})()
    with pytest.raises(InputError, match=r"not Engine; engine\.raw_connection\(\)\.driver_connection is one$"):
        nbsql.models(foreign)
    with pytest.raises(InputError, match=r"of a database, not DataFrame; rows come second, after duckdb\.connect\(\), say$"):
        nbsql.fit(pd.DataFrame({"play": ["no"]}), "play", target="play")
    closed = duckdb.connect()
    closed.close()
    with pytest.raises(DatabaseError, match=r"^the connection is closed; open a new one, and load the model with it$"):
        nbsql.fit(closed, DAYS, target="play")
    con = duckdb.connect()
    model = nbsql.fit(con, DAYS, target="play")
    con.close()
    with pytest.raises(DatabaseError, match=r"^the connection is closed; open a new one, and load the model with it$"):
        model.predict(pd.DataFrame({"sky": ["sun"], "wind": [1]}))


CHANGES = {
    "update": lambda model: model.update("days"),
    "forget": lambda model: model.forget("days"),
    "forget a batch": lambda model: model.forget(batch="2"),
    "calibrate": lambda model: model.calibrate("days", folds=None),
    "rollback": lambda model: model.rollback("1"),
    "compact": lambda model: model.compact(),
    "drop": lambda model: model.drop(),
    "create_table": lambda model: model.predict("days").create_table("scored"),
    "create_view": lambda model: model.predict("days").create_view("scored"),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("name", ["days", 'the "old" days'])
def test_a_model_in_a_read_only_file_does_not_change(tmp_path, name):
    path = str(tmp_path / f"{name}.duckdb")
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE days AS SELECT i % 2 AS wet, i % 3 AS wind FROM range(30) AS t(i)")
        nbsql.fit(con, "days", target="wet", name="golf").update("days")
    for change, act in CHANGES.items():
        with duckdb.connect(path, read_only=True) as con:
            with pytest.raises(DatabaseError) as caught:
                act(nbsql.load(con, "golf"))
            assert str(caught.value) == f"database {name!r} is open read-only; open it for writing", change
            assert nbsql.models(con) == ["golf"], change


def test_a_read_only_file_takes_no_named_model_and_any_transient_one(tmp_path):
    path = tmp_path / "days.duckdb"
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE days AS {DAYS}")
        expected = nbsql.fit(con, "days", target="play", name="golf").predict("days").fetchall()
    with duckdb.connect(path, read_only=True) as con:
        message = "database 'days' is open read-only; open it for writing, or leave the name out for a transient model"
        with pytest.raises(DatabaseError) as caught:
            nbsql.fit(con, "days", target="play", name="other")
        assert str(caught.value) == message
        with pytest.raises(DatabaseError, match="read-only"):
            nbsql.load(con, "golf").drop()
        assert nbsql.load(con, "golf").predict("days").fetchall() == expected
        transient = nbsql.fit(con, "days", target="play")
        assert transient.predict("days").fetchall() == expected
        transient.drop()
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
        assert nbsql.models(con) == ["golf"]


def test_a_file_that_was_renamed_as_its_model(tmp_path, refused):
    made, renamed = tmp_path / "made.duckdb", tmp_path / "golf.duckdb"
    nbsql.fit(made, DAYS, target="play", name="golf").close()
    made.rename(renamed)
    message = "'golf' is the name of a model and of its database; rename the file, or ATTACH it under another name"
    with refused(DatabaseError, message), duckdb.connect(renamed) as con:
        nbsql.load(con, "golf").predict(DAYS).fetchall()
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{renamed}' AS club")
        assert len(nbsql.load(con, "golf", database="club").predict(DAYS).fetchall()) > 0


@pytest.mark.parametrize("path", [None, 5])
def test_a_path_is_a_text(refused, path):
    with duckdb.connect() as con, refused(InputError, f"a path must be text or a pathlib.Path, not {path!r}"):
        nbsql.fit(con, DAYS, target="play").export(path)
    with duckdb.connect() as con, refused(InputError, f"a path must be text or a pathlib.Path, not {path!r}"):
        nbsql.import_(con, path, name="golf")


def test_a_folder_and_a_file_whose_name_begins_like_a_query(refused, tmp_path):
    path = tmp_path / "days" / "from me.csv"
    path.parent.mkdir()
    path.write_text("a,y\n1,u\n2,v\n")
    with duckdb.connect() as con:
        assert nbsql.fit(con, str(path), target="y").classes == ["u", "v"]
        con.execute("CREATE SCHEMA raw; CREATE TABLE raw.csv AS FROM (VALUES ('p', 1), ('q', 2)) AS t(y, a)")
        assert nbsql.fit(con, "FROM raw.csv", target="y").classes == ["p", "q"]
        for place, files in ((path.parent, "*.csv"), (tmp_path, "**/*.csv")):
            cure = f"say which files in it, such as '{place}/{files}'"
            with refused(InputError, f"{str(place)!r} is a folder, and no table; {cure}"):
                nbsql.fit(con, str(place), target="y")


def test_files_that_are_not_there_and_tables_that_have_gone(refused):
    with duckdb.connect() as con:
        con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, i AS x FROM range(8) AS t(i)")
        con.execute("CREATE TABLE news AS FROM rows")
        model = nbsql.fit(con, "rows", target="y")
        for source in ("nope.csv", "nope.parquet"):
            with refused(DatabaseError, f"no file {source!r}; check its path"):
                nbsql.fit(con, source, target="y")
        for source, name in (("select * from no.csv", "no.csv"), ("FROM data/k.parquet", "data/k.parquet")):
            query_of = "is no file; if it is a query, write the file that it reads in quotes"
            with refused(InputError, f"{source!r} {query_of}: FROM '{name}'"):
                nbsql.fit(con, source, target="y")
        query = model.predict("news")
        con.execute("DROP TABLE news")
        with refused(DatabaseError, "no table or view 'news'; check its name, or whether it was dropped or renamed"):
            query.fetchall()
        con.execute("CREATE TABLE news AS SELECT y FROM rows")
        with refused(DatabaseError, "no column 'x' in the rows; check whether it was dropped or renamed since"):
            query.fetchall()
        with refused(InputError, "a column's name must be text, not 2; write '2'"):
            nbsql.fit(con, pd.DataFrame([[1.0, 2.0, "a"], [2.0, 1.0, "b"]]), target=2)
        frame = pd.DataFrame([[1.0, 2.0, "a"], [2.0, 1.0, "b"]])
        assert list(nbsql.fit(con, frame, target="2", features=["0", "1"]).families) == ["0", "1"]
        for argument in ("slice_by", "segment_by"):
            with refused(InputError, f"{argument}='1' is a number in SQL, not the column; write '\"1\"'"):
                nbsql.fit(con, frame, target="2", **{argument: "1"})
        slices = nbsql.fit(con, frame, target="2", slice_by='"1"').statistics.fetchall()
        assert {row[0] for row in slices} == {"1", "2"}
        pattern = "no column 'x*' in rows; only families takes patterns, so list the columns by name"
        with refused(InputError, pattern):
            nbsql.fit(con, "rows", target="y", features=["x*"])
        with refused(InputError, "a model is exported as Parquet; end the path 'model.csv' with .parquet"):
            model.export("model.csv")


def test_an_extension_that_cannot_be_downloaded_is_one_line():
    text = (
        "An error occurred while trying to install the required extension 'httpfs':\nFailed to download extension "
        '"httpfs" at URL "http://extensions.duckdb.org/httpfs.gz"\nExtension "httpfs" is an existing extension.\n'
        "\nFor more info, visit https://duckdb.org/docs (ERROR Could not establish connection)"
    )
    cure = "check the network, or download the rows first"
    for said in (text, text.split("\n", 1)[1]):
        line = one_line(duckdb.HTTPException(said))
        assert line == f"DuckDB reads this with its extension 'httpfs', which it cannot download; {cure}"


def test_what_reads_a_database_is_not_pickled():
    with duckdb.connect() as con:
        model = nbsql.fit(con, "SELECT i % 2 AS y, i % 3 = 0 AS x FROM range(12) AS t(i)", target="y")
        for act in (pickle.dumps, copy.deepcopy):
            for thing in (model, model.plot):
                with pytest.raises(nbsql.NotSupportedError) as caught:
                    act(thing)
                assert str(caught.value) == (
                    "a model stays in its database and is not pickled; load it by name there, or export it"
                )
            with pytest.raises(nbsql.NotSupportedError) as caught:
                act(model.likelihoods)
            assert str(caught.value) == "a query reads its database and is not pickled; its rows are, as .df() or .fetchall()"


def test_a_macro_over_a_view_of_its_own_answers_is_one_line(con, model):
    con.execute("CREATE VIEW judged AS SELECT sky, wind, prediction AS first FROM golf.predict('days')")
    assert [row[2] for row in model.predict("judged").fetchall()] == ["no", "yes", "yes"]
    again = "SELECT * EXCLUDE (prediction, probability) FROM golf.predict('judged')"
    if duckdb.__version__ < "2":  # which expands a macro within itself
        assert [row[2] for row in model.predict(again).fetchall()] == ["no", "yes", "yes"]
        return
    with pytest.raises(DatabaseError) as caught:
        model.predict(again).fetchall()
    assert str(caught.value) == (
        "a view that reads 'predict' of a model cannot be scored by the same macro, which DuckDB expands once; "
        "make a table of the view, or score it in Python"
    )


@pytest.mark.slow
def test_all_features_that_a_source_lacks_are_named_and_the_source_that_has_them_works(con):
    con.execute(
        "CREATE TABLE golf AS SELECT i % 2 AS y, i % 5 + 0.5 AS a, 'k' || i % 3 AS \"order\", i + 0.5 AS c FROM range(60) t(i)"
    )
    model = nbsql.fit(con, "golf", target="y", name="m")
    con.execute("CREATE TABLE fresh AS SELECT y, c FROM golf")
    source = 'SELECT *, NULL AS a, NULL AS "order" FROM fresh'
    said = (
        "no columns 'a', 'order' in fresh, features of model 'm'; its columns are 'y', 'c'; "
        f"if they are not known there, add them: {source}"
    )
    for verb in (model.predict, model.evaluate, model.update, model.explain):
        with pytest.raises(nbsql.InputError) as caught:
            verb("fresh")
        assert str(caught.value) == said
    dated = nbsql.fit(con, "SELECT *, DATE '2026-01-01' + (y * 40)::INT AS day FROM golf", target="y", name="dated")
    assert "month of day" in dated.families
    with pytest.raises(nbsql.InputError, match=r"of model 'dated'; its columns are 'day'; if they are not known there, add"):
        dated.predict("SELECT DATE '2026-02-03' AS day")
    rows = {"c": [1.5]}
    for frame in (rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)):
        with pytest.raises(nbsql.InputError, match=r"'c'; if they are not known there, add them with None$"):
            model.predict(frame)
    assert len(model.predict(pd.DataFrame(rows).assign(a=None, order=None)).fetchall()) == 1
    with pytest.raises(nbsql.InputError, match=r"^the rows have a column 'probability' already, which predict adds; choose"):
        model.predict([{"a": 1, "order": "k", "c": 2, "probability": 0.5}])
    alone = nbsql.fit(con, "golf", target="y", features=["c"], name="alone")
    expected = [row[-1] for row in alone.predict("fresh").fetchall()]
    assert [row[-1] for row in model.predict(source).fetchall()] == pytest.approx(expected)
    model.update(source)


@pytest.mark.parametrize(
    ("name", "told"),
    [("host=db dbname=shop password=secret", "host="), ("duckdb:///shop.duckdb", "duckdb:/"),
     ("postgresql+psycopg://ann:secret@db/shop", "postgresql+psycopg:/"), ("jdbc:postgresql://db/shop", "jdbc:postgresql:/")],
)  # fmt: skip
def test_what_names_a_database_to_other_libraries_is_no_new_file(name, told, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = f"what begins with {told!r} is neither the path of a DuckDB database nor an address such as 'postgresql://user@host/dbname'"
    for verb in (lambda: nbsql.fit(name, DAYS, target="play"), lambda: nbsql.load(name, "golf")):
        with refused(nbsql.DatabaseError, message):
            verb()
    assert not [*tmp_path.iterdir()]
