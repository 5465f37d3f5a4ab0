"""On Spark: DataFrames as sources and answers, models that are published whole, a real cluster, and what is refused."""

import gc
import json
import logging
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from engines.places import Place, assert_same_rows
from engines.servers import cluster
from markupsafe import Markup

import nbsql
from nbsql import DatabaseError, InputError, ModelError
from nbsql.engines.steps import Steps

FIRST = [("a", "yes"), ("a", "yes"), ("b", "no")]
SECOND = [("a", "no"), ("b", "yes"), ("b", "yes"), ("c", "perhaps")]


@pytest.fixture
def tables(spark):
    place = Place("spark", spark)
    place.table("first", {"x": "VARCHAR", "y": "VARCHAR"}, FIRST)
    place.table("second", {"x": "VARCHAR", "y": "VARCHAR"}, SECOND)
    return spark


def temporary(spark):
    return [row[1] for row in spark.sql("SHOW VIEWS").collect() if row[1].startswith("nbsql ")]


@pytest.fixture
def uncollected():
    """What refers to itself stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_a_dataframe_is_a_source_and_an_answer(spark):
    rows = [("a", 1.0, "yes"), ("a", 2.0, "yes"), ("b", 7.0, "no"), ("b", None, "no")]
    frame = spark.createDataFrame(rows, "x STRING, v DOUBLE, y STRING")
    model = nbsql.fit(spark, frame, target="y")
    query = model.predict(frame.where("v > 1"))
    answer = query.dataframe.where("prediction = 'no'")
    assert [tuple(row)[:4] for row in answer.collect()] == [("b", 7.0, "no", "no")]
    assert query.columns == ["x", "v", "y", "prediction", "probability"]
    with pytest.raises(InputError) as caught:
        model.sql("predict", frame, inline=True)
    assert str(caught.value) == (
        "inline=True cannot read the DataFrame, which lives in this process; name a table, or give a SELECT"
    )
    query.create_table("scored")
    assert spark.table("scored").count() == 2
    ends = "a temporary view, a DataFrame or a transient model"
    with pytest.raises(DatabaseError, match=f"^a view cannot read what ends with this session, {ends}; use create_table$"):
        query.create_view("seen")
    query.show()
    del query, answer
    model.drop()
    if not spark.version.startswith("4.0"):  # where the view of the DataFrame stays until the session ends
        assert temporary(spark) == []


def test_the_example_of_the_page_runs(spark):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "spark.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python spark\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    columns = {"id": "INTEGER", "label": "VARCHAR", "links": "INTEGER"}
    for name in ("inbox", "new_mail"):
        Place("spark", spark).table(name, columns, [(1, "ham", 1), (2, "spam", 9), (3, "ham", 2)])
    exec(block, {"nbsql": nbsql, "spark": spark})  # noqa: S102
    assert spark.table("scored_mail").count() == 3


class Stopped(Exception):  # noqa: N818 - what stops a process is no error of ours
    pass


def stopped_at(spark, statement, act, time=1):
    """A session in which `act` is done before a statement of that name is run for the first, or second, time."""
    from nbsql.engines.spark.engine import Spark

    names = []

    def watch(name):
        names.append(name)
        if name == statement and names.count(name) == time:
            act()

    engine = Spark(spark)
    engine.watch = watch
    return engine


def stop():
    raise Stopped


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_is_the_old_or_the_new_one_whenever_a_fit_is_stopped(tables):
    def state():
        return sorted(nbsql.load(tables, "m").predict_proba("first").fetchall())

    def fit(con, source):
        return nbsql.fit(con, source, target="y", name="m", replace=True)

    with pytest.raises(Stopped):
        fit(stopped_at(tables, "lookups", stop, time=2), "first")  # the second one is that of the schema
    assert tables.sql("SHOW TABLES IN m").count() > 0
    assert nbsql.models(tables) == []
    assert temporary(tables) == []
    answers = {}
    for source in ("second", "first"):  # in this order, so that the schema of the fit that was stopped is taken over
        fit(tables, source)
        answers[source] = state()
    # Where a fit to which table is stopped, and of which table the model is then: until it is published, that of before.
    stops = [
        ("lookups", 2, "second", "first"),
        ("publish statistics", 1, "second", "second"),
        ("publish spec", 1, "first", "first"),
    ]
    for statement, time, source, learnt in stops:
        with pytest.raises(Stopped):
            fit(stopped_at(tables, statement, stop, time=time), source)
        assert nbsql.models(tables) == ["m"]
        assert_same_rows(state(), answers[learnt])
        assert temporary(tables) == []
    kept = {row[1].rstrip("0123456789") for row in tables.sql("SHOW TABLES IN m").collect()}
    nbsql.load(tables, "m").update("second")
    assert {row[1].rstrip("0123456789") for row in tables.sql("SHOW TABLES IN m").collect()} == kept


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("name", ["m", pytest.param(None, marks=pytest.mark.nightly)])
def test_a_change_that_fails_leaves_the_model_and_views_follow_others(tables, name):
    model = nbsql.fit(tables, "first", target="y", name=name)
    if name:
        model.predict("first").create_view("scored")
    before = model.predict_proba("first").fetchall(), model.batches.fetchall()
    state = model.state
    model._states.adopt(replace(state, engine=stopped_at(tables, "parameters", stop)))
    with pytest.raises(Stopped):
        model.update("second")
    model._states.adopt(state)
    assert (model.predict_proba("first").fetchall(), model.batches.fetchall()) == before
    if not name:
        model.drop()
        return
    seen = tables.table("scored").collect()
    for _ in range(2):  # the second drops the tables that the view read
        model.update("SELECT * FROM second WHERE y <> 'perhaps'")
    assert tables.table("scored").collect() != seen
    assert sorted(map(tuple, tables.table("scored").collect())) == sorted(model.predict("first").fetchall())


@pytest.mark.nightly  # by day two writers meet at another statement, below
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_second_writer_gets_one_line(tables):
    nbsql.fit(tables, "first", target="y", name="m")
    model = nbsql.load(stopped_at(tables, "time of the change", lambda: nbsql.load(tables, "m").update("first")), "m")
    with pytest.raises(DatabaseError) as caught:
        model.update("second")
    assert str(caught.value) == "another session is changing the same model at this moment; try again when it is done"
    assert [row[:2] for row in nbsql.load(tables, "m").batches] == [("1", "fit"), ("2", "update")]


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("first", ["complete", pytest.param("at work", marks=pytest.mark.nightly)])
def test_of_two_writers_at_once_neither_breaks_the_model(tables, first):
    """Both have asked whether the model has changed, and their tables are written: the views are then those of the newer."""
    nbsql.fit(tables, "first", target="y", name="m")
    newer = []

    def change():
        model = nbsql.load(tables, "m")
        if first == "at work":
            engine = stopped_at(tables, "spec", stop)  # all of its tables are there but the spec
            model._states.adopt(replace(model.state, engine=engine))
        with suppress(Stopped):
            model.update("first")
        newer.extend(row[1] for row in tables.sql("SHOW TABLES IN m").collect() if row[1].startswith("statistics_"))

    model = nbsql.load(stopped_at(tables, "spec", change), "m")
    if first == "complete":
        with pytest.raises(DatabaseError, match=r"^another session is changing the same model at this moment; try again"):
            model.update("second")
    else:
        model.update("second")
        assert set(newer) <= {row[1] for row in tables.sql("SHOW TABLES IN m").collect()}
    again = nbsql.load(tables, "m")
    assert [row[:2] for row in again.batches] == [("1", "fit"), ("2", "update")]
    assert sum(row[1] for row in again.priors) == (6 if first == "complete" else 7)
    assert len(again.predict_proba("first").fetchall()) == 3


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_threads_that_write_one_model_take_turns(tables):
    nbsql.fit(tables, "first", target="y", name="m")

    def update(batch):
        try:
            nbsql.load(tables, "m").update("second", batch=batch)
        except DatabaseError as error:
            return str(error)
        return batch

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(update, ["x", "y"]))
    batches = [row[0] for row in nbsql.load(tables, "m").batches]
    refused = "another session is changing the same model at this moment; try again when it is done"
    assert all(each in (*batches, refused) for each in done)
    assert set(batches) == {"1", *done} - {refused} != {"1"}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_transient_model_does_not_follow_its_source(tables):
    model = nbsql.fit(tables, "first", target="y")
    before = model.priors.fetchall()
    tables.sql("INSERT INTO first SELECT * FROM second")
    assert model.priors.fetchall() == before
    assert tables.table("first").count() == 7


@pytest.mark.nightly
def test_parameters_are_constants_of_a_prediction(spark):
    """A joined row of many parameters is copied for every row that it meets."""
    columns = ", ".join(f"rand({i}) + class AS x{i}" for i in range(12))
    source = f"SELECT class, {columns} FROM (SELECT CAST(id % 5 AS INT) AS class FROM range(100)) AS classes"
    query = nbsql.fit(spark, source, target="class", name="m").predict(source)
    assert "map_filter" in query.sql  # which keeps the terms apart (sql/macros/engines/spark/score.sql)
    (plan,) = spark.sql(f"EXPLAIN {query.sql}").collect()[0]
    assert "Join" not in plan


@pytest.mark.nightly
def test_the_size_that_spark_estimates_stays_bounded_in_a_search(spark):
    """A step that joins the step before with itself multiplied the estimate, whose digits filled a driver of 1 GiB."""
    from nbsql.engines.spark.engine import Spark

    engine = Spark(spark)
    with engine.temporaries() as temporary:
        steps = Steps(engine, "search", temporary)
        last = steps.take(Markup("SELECT id FROM range(4)"))
        sizes = []
        for _ in range(3):
            sizes.append(spark.table(last)._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
            joined = Markup(" JOIN {0} USING (id)").format(last)
            last = steps.take(Markup("SELECT id FROM {0}{1}{1}{1}").format(last, joined))
        assert sizes[0] == 4 * 8  # an estimate in reach is kept, for it decides which tables are sent to every worker
        assert sizes[2] < 2**63
        assert sorted(row.id for row in spark.table(last).collect()) == [0, 1, 2, 3]


@pytest.mark.nightly
def test_a_review_does_not_repeat_its_measure(spark):
    """A filter on the measure repeated the posteriors within each other: 24 rows were planned for minutes."""
    columns = (
        "CAST(1 + id * 7 % 11 AS DOUBLE) AS g, CAST(1 + id * 5 % 7 AS DOUBLE) AS l, CAST(id * 3 % 5 + id % 3 AS DOUBLE) AS n"
    )
    source = f"SELECT CAST(id % 3 AS INT) AS class, {columns} FROM range(24)"
    query = nbsql.fit(spark, source, target="class", families={"g": "gamma", "l": "lognormal"}).review(source, 10)
    (plan,) = spark.sql(f"EXPLAIN {query.sql}").collect()[0]
    assert len(plan) < 40_000
    assert len(query.fetchall()) == 10


@pytest.mark.nightly
def test_parameters_too_long_for_a_view_are_a_table(tables, layout):
    model = nbsql.fit(tables, "first", target="y", name="m")
    before = model.predict("first").fetchall()
    assert tables.catalog.getTable("m.parameters_1").tableType == "VIEW"
    layout(view_length=10)
    for number in (2, 3, 4):  # of which the tables before are dropped, a view among them
        model = nbsql.fit(tables, "first", target="y", name="m", replace=True)
        assert tables.catalog.getTable(f"m.parameters_{number}").tableType == "MANAGED"
    assert_same_rows(model.predict("first").fetchall(), before)


LABELS = ["true", "0.1", "DATE '2020-02-29'", "TIMESTAMP_NTZ '2020-02-29 01:02:03'", "'a\n''b'"]


@pytest.mark.nightly
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_labels_of_every_type_are_constants(spark, label):
    source = f"SELECT {label} AS y, 1.0D AS x UNION ALL SELECT NULL, 2.0D UNION ALL SELECT {label}, 3.0D"
    model = nbsql.fit(spark, source, target="y")
    (expected,) = spark.sql(f"SELECT {label}").collect()[0]
    assert {row[-2] for row in model.predict(source).fetchall()} == {expected}


@pytest.mark.nightly
def test_maps_of_tokens_agree(spark, tmp_path):
    import duckdb

    bags = [("a", {"x": 2, "y": 1}), ("b", {"y": 3}), ("a", {"x": 1}), ("b", None), ("a", {"": 2, "z": 0})]
    frame = spark.createDataFrame(bags, "label STRING, bag MAP<STRING, INT>")
    con = duckdb.connect()
    con.execute("CREATE TABLE t (label VARCHAR, bag MAP(VARCHAR, INTEGER))")
    con.executemany("INSERT INTO t VALUES (?, ?)", bags)
    models = [nbsql.fit(place, source, target="label") for place, source in ((spark, frame), (con, "t"))]
    models[0].export(tmp_path / "bags.parquet")
    models.append(nbsql.import_(spark, tmp_path / "bags.parquet"))
    sources = (frame, "t", frame)
    found, expected, again = (
        sorted(model.predict_proba(source).fetchall(), key=repr) for model, source in zip(models, sources, strict=True)
    )
    assert_same_rows([row[2:] for row in found], [row[2:] for row in expected])
    assert again == found
    shown, expected = (sorted(model.profile("bag").fetchall(), key=repr) for model in models[:2])
    assert_same_rows(shown, expected)
    assert_same_rows(*(model.compare(model, source).fetchall() for model, source in zip(models[:2], sources, strict=False)))
    drawn_of = [model.plot.nomogram(least=1).spec["datasets"]["rows"] for model in models[:2]]  # of bags of one token
    assert_same_rows(*([(row["feature"], row["value"], *row["contribution"]) for row in rows] for rows in drawn_of))
    drawn = models[0].sample(200, seed=3).fetchall()
    assert {token for bag, _ in drawn for token in bag} == {"x", "y"}
    assert max(max(bag.values(), default=0) for bag, _ in drawn) > 1


SOURCES = {
    "firs": "no table or view 'firs'; did you mean 'first'?",
    "first.csv": "no table or view 'first.csv'; a file is a source on DuckDB alone: load it into a table first",
    "SELECT * FROM nowhere": "the query cannot be read: The table or view `nowhere` cannot be found.",
    "SELECT 1; SELECT 2": "the query cannot be read: Syntax error at or near ';'",
    "DROP TABLE first": "a source is a table, a view or one SELECT, not 'DROP TABLE first'",
    "WITH t AS (SELECT 1) INSERT INTO first SELECT 'a', 'b'": "the query cannot be read: Syntax error at or near",
    "SELECT x, y, y FROM first": "column 'y' is ambiguous in the query, which has it twice; rename one",
    "SELECT *, 1 AS nbsql_row FROM first": "column 'nbsql_row' of the query has a name that nbsql keeps for itself; rename it",
}


SETTINGS = {  # the value that is needed, another, and what that does
    "spark.sql.parser.escapedStringLiterals": ("false", "TRUE", "changes what texts say"),
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": ("false", "TRUE", "makes decimals of numbers such as 1e300"),
    "spark.sql.ansi.enforceReservedKeywords": ("false", "TRUE", "reserves words that are names of columns"),
    "spark.sql.crossJoin.enabled": ("true", "FALSE", "refuses joins with one row"),
    "spark.sql.parser.quotedRegexColumnNames": ("false", "TRUE", "reads names of columns as patterns"),
    "spark.sql.legacy.ctePrecedencePolicy": ("corrected", "LEGACY", "confuses queries that have one name"),
}


def test_what_is_refused(tables, monkeypatch):
    for source, message in SOURCES.items():
        with pytest.raises(InputError) as caught:
            nbsql.fit(tables, source, target="y")
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
    assert tables.table("first").count() == 3
    lines = {
        "a source is a table, a view, a SELECT or a Spark DataFrame on Spark, not list; "
        "make a DataFrame of it with spark.createDataFrame": (InputError, lambda: nbsql.fit(tables, [1], target="y")),
        "a model's name has letters without accents, digits and underscores only on Spark, not 'größe'": (
            InputError,
            lambda: nbsql.fit(tables, "first", target="y", name="größe"),
        ),
        "schema 'default' is there already and is not a model of nbsql; choose another name": (
            ModelError,
            lambda: nbsql.fit(tables, "first", target="y", name="Default"),
        ),
        "models are kept in the current catalog of the session, 'spark_catalog'; USE CATALOG other first": (
            InputError,
            lambda: nbsql.models(tables, database="other"),
        ),
        "Spark is reached by a session, not by an address; pass SparkSession.builder.master('spark://host:7').getOrCreate(), "
        "of pyspark: pip install 'nbsql[spark]'": (InputError, lambda: nbsql.models("spark://host:7")),
        "con must be a SparkSession, not pyspark.core.context.SparkContext": (
            InputError,
            lambda: nbsql.models(tables.sparkContext),
        ),
        "Spark is reached by a session, not by an address; pass SparkSession.builder.remote('sc://host:15002').getOrCreate(), "
        "of pyspark: pip install 'nbsql[spark]'": (InputError, lambda: nbsql.models("sc://host:15002")),
        "the DataFrame is of another session; pass its own, frame.sparkSession, as con": (
            InputError,
            lambda: nbsql.fit(tables.newSession(), tables.table("first"), target="y"),
        ),
        "the DataFrame is a stream; a model reads rows that have an end: write it to a table first": (
            InputError,
            lambda: nbsql.fit(tables, tables.readStream.format("rate").load(), target="value"),
        ),
        "pattern '(' is not one that Java understands": (
            InputError,
            lambda: nbsql.fit(tables, "first", target="y", families={"x": nbsql.Text(pattern="(")}),
        ),
    }
    tables.sql("CREATE TABLE default.mine AS SELECT 1 AS one")
    for message, (kind, act) in lines.items():
        with pytest.raises(kind) as caught:
            act()
        assert str(caught.value) == message
    tables.sql("DROP TABLE default.mine")
    for setting, (usual, other, does) in SETTINGS.items():
        tables.conf.set(setting, other)
        with pytest.raises(DatabaseError) as caught:
            nbsql.models(tables)
        tables.conf.unset(setting)
        assert str(caught.value) == f"{setting} is {other.lower()} in this session, which {does}; set it to {usual}"
    monkeypatch.setattr("nbsql.engines.spark.driver._LEAST_VERSION", 99)
    with pytest.raises(DatabaseError, match=r"^this session is Spark \d[\d.]*; nbsql needs 99\.0 or later$"):
        nbsql.models(tables)
    assert temporary(tables) == []


def test_errors_of_the_user_stay_those_of_spark(tables, monkeypatch):
    from pyspark.errors import AnalysisException
    from pyspark.logger import PySparkLogger

    model = nbsql.fit(tables, "first", target="y")
    logger = logging.getLogger("SQLQueryContextLogger")
    assert isinstance(logger, PySparkLogger)  # pyspark passes it arguments that a plain one does not take
    seen = []
    monkeypatch.setattr(logger, "handlers", [handler := logging.Handler()])
    monkeypatch.setattr(handler, "handle", seen.append)
    with pytest.raises(InputError):
        model.predict("SELECT * FROM nowhere")
    assert seen == []
    with pytest.raises(AnalysisException):
        tables.sql("SELECT * FROM nowhere")
    assert len(seen) == 1


@pytest.mark.nightly
def test_errors_of_python_functions_and_of_a_stopped_session_are_one_line(tables, monkeypatch):
    tables.udf.register("broken", lambda _: 1 / 0, "double")
    with pytest.raises(DatabaseError) as caught:
        nbsql.fit(tables, "SELECT y, broken(x) AS x FROM first", target="y")
    assert str(caught.value) == "a Python function in the query raised ZeroDivisionError: division by zero"
    with pytest.raises(DatabaseError, match=r"^More than one row returned by a subquery used as an expression"):
        nbsql.fit(tables, "SELECT y, (SELECT x FROM first) AS x FROM first", target="y")
    model = nbsql.fit(tables, "first", target="y")
    monkeypatch.setattr(tables.sparkContext, "_jsc", None)  # as `stop` leaves it
    with pytest.raises(DatabaseError) as caught:
        model.predict("first").fetchall()
    assert str(caught.value) == "the Spark session is stopped; make another with SparkSession.builder.getOrCreate()"
    assert "which cannot be read" in repr(model)


@pytest.mark.nightly
def test_a_variable_in_a_text_stays_text(spark):
    """Spark replaces ${name} by a variable of the system, of the environment or of the session, wherever it stands."""
    rows = [("${env:HOME}", "${spark.app.name}", ["a"]), ("b\\n", "it's", ["A"]), ("B\\n", "IT'S", ["b"])]
    # Texts are compared by their bytes, too, whatever the collations of their columns.
    types = "x STRING COLLATE UNICODE_CI, y STRING COLLATE UTF8_LCASE, source ARRAY<STRING COLLATE UTF8_LCASE>"
    frame = spark.createDataFrame(rows, types)
    model = nbsql.fit(spark, frame, target="y", prior={"${spark.app.name}": 0.5, "it's": 0.3, "IT'S": 0.2})
    assert sorted(row[:4] for row in model.predict(frame)) == sorted((*row, row[1]) for row in rows)
    assert sorted(row[:3] for row in model.impute(frame)) == sorted(rows)  # of a list called as impute calls the rows
    named = frame.withColumnRenamed("x", "${x}")
    with pytest.raises(InputError) as caught:
        nbsql.fit(spark, named, target="y")
    assert str(caught.value) == "the name '${x}' holds '${', which this engine replaces by a variable; rename it"


# What a process of its own does: in one there is one Spark, which runs either here or on a cluster.
JOB = """
import json, sys, warnings
import duckdb, nbsql
from engines.servers import spark as session_of
from engines.test_agreement import COLUMNS, mail
from engines.places import Place, assert_same_rows
warnings.simplefilter("ignore", nbsql.NbsqlWarning)
options = {"target": "label", "id": "id", "exclude": ["day"], "families": {"links": "poisson", "Sender": nbsql.Text()}}
with session_of(sys.argv[1], **json.loads(sys.argv[2])) as spark:
    places = Place("spark", spark), Place("duckdb", duckdb.connect())
    models = []
    for place in places:
        place.table("inbox", COLUMNS, mail(300, 1))
        place.table("later", COLUMNS, mail(90, 2))
        models.append(nbsql.fit(place.con, "inbox", name="m", **options))
        models[-1].update("SELECT * FROM later")
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in models))
    costs = {("spam", "ham"): 5}
    assert_same_rows(*(sorted(model.predict("later", costs=costs).fetchall()) for model in models))
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    print(json.dumps({"executors": len(executors) - 1}))
try:
    nbsql.models(spark)
except nbsql.DatabaseError as error:
    print(json.dumps({"stopped": str(error)}))
"""


@pytest.mark.nightly
@pytest.mark.spark
def test_a_cluster_of_two_workers_agrees():
    with cluster(workers=2) as master:
        settings = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1"}
        command = [sys.executable, "-c", JOB, master, json.dumps(settings)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert said == [
        {"executors": 2},
        {"stopped": "the Spark session is stopped; make another with SparkSession.builder.getOrCreate()"},
    ]


SCANS = {  # of each query whether a fit copies it
    "SELECT y AS label, CAST(x AS DOUBLE) AS x, v, w FROM files WHERE x > 1": False,
    "SELECT y AS label, x, v, w  -- a comment\nFROM files\n": False,
    "SELECT y AS label, x, upper(v) AS v, w FROM files": True,
    "SELECT y AS label, x, v, w FROM files WHERE rand(1) < 0.9": True,
    "SELECT y AS label, x, v, min(w) AS w FROM files GROUP BY y, x, v": True,
    "SELECT y AS label, x, v, w FROM texts": True,
}


@pytest.mark.nightly
def test_columns_of_files_are_not_copied_before_a_fit_reads_them_several_times(spark, tmp_path):
    rows = spark.sql("SELECT id AS x, id % 2 AS y, concat('v', id % 3) AS v, concat('w', id % 5) AS w FROM range(60)")
    rows.write.parquet(str(tmp_path / "files"))
    rows.write.csv(str(tmp_path / "texts"), header=True)
    spark.read.parquet(str(tmp_path / "files")).createOrReplaceTempView("files")
    spark.read.csv(str(tmp_path / "texts"), header=True, inferSchema=True).createOrReplaceTempView("texts")
    for query, is_copied in SCANS.items():
        steps = []
        with nbsql.watch(steps.append):
            model = nbsql.fit(spark, query if "\n" in query else spark.sql(query), target="label")
        assert ("read the source once" in steps) == is_copied
        assert sum(line[1] for line in model.priors) == spark.sql(query).count()


@pytest.mark.nightly
@pytest.mark.few
@pytest.mark.parametrize("kind", ["query", "temporary view"])
def test_random_rows_are_drawn_once_for_a_fit(spark, kind):
    source = "SELECT IF(rand() < 0.5, 'p', 'q') AS y, concat('v', id % 3) AS v FROM range(400)"
    if kind == "temporary view":
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW drawn AS {source}")
        source = "drawn"
    model = nbsql.fit(spark, source, target="y")
    counts = {name: sum(row[4] for row in model.statistics.fetchall() if row[1:3] == (name, "v")) for name in ("p", "q")}
    assert counts == {row[0]: row[1] for row in model.priors.fetchall()}


def test_a_query_of_a_model_only_is_one_job_and_the_settings_of_the_session_stay(spark):
    from nbsql.engines.spark.gateway import gateway_of

    before, gateway = spark.conf.getAll, gateway_of(spark)
    joined = "SELECT a.k, count(*) AS n FROM {0} AS a JOIN {0} AS b ON a.k = b.k GROUP BY a.k ORDER BY a.k ASC NULLS LAST"
    spark.sql("SELECT id % 3 AS k FROM range(0, 9, 1, 4)").createOrReplaceTempView("rows_of_a_source")
    gateway.cut_off(spark.sql("SELECT * FROM VALUES (0), (1), (1) AS t(k)")).createOrReplaceTempView("cells_of_a_model")
    found = {}
    for table in ("rows_of_a_source", "cells_of_a_model"):
        jobs = spark._jsc.sc().dagScheduler().numTotalJobs
        start, query = jobs(), gateway.lean(spark.sql(joined.format(table)))
        found[table] = [tuple(row) for row in query.collect()], jobs() - start == 1
    assert found == {"rows_of_a_source": ([(0, 9), (1, 9), (2, 9)], False), "cells_of_a_model": ([(0, 1), (1, 4)], True)}
    assert spark.conf.getAll == before


def test_a_lost_executor_and_a_dead_virtual_machine_are_one_line():
    from py4j.protocol import Py4JNetworkError
    from pyspark.errors import PySparkException

    from nbsql.engines.spark.driver import one_line

    lost = (
        "Job aborted due to stage failure: Task 3 in stage 7.0 failed 4 times, most recent failure: Lost task 3.3 in stage 7.0 "
        "(TID 41) (10.0.0.7 executor 1): ExecutorLostFailure (executor 1 exited caused by one of the running tasks) "
        "Reason: Remote RPC client disassociated.\nDriver stacktrace:",
        "java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays.copyOf(Arrays.java:3541)",
    )
    assert {one_line(PySparkException(said)) for said in lost} == {
        "Spark ran out of memory or lost an executor; start the session with more, spark.driver.memory or "
        "spark.executor.memory (8g, say), or fit fewer features or rows"
    }
    stopped = (
        PySparkException("Job 3 cancelled because SparkContext was shut down"),
        Py4JNetworkError("Answer from Java side is empty"),
        ConnectionRefusedError(111, "Connection refused"),
    )
    assert {one_line(error) for error in stopped} == {
        "the Spark session is stopped; make another with SparkSession.builder.getOrCreate()"
    }
    said = "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL =="
    assert one_line(PySparkException(said)) == "Division by zero."
    of_connect = PySparkException(f"(org.apache.spark.SparkArithmeticException) {said}")
    assert one_line(of_connect) == "Division by zero."


def test_a_server_of_spark_connect_that_is_gone_is_one_line():
    from pyspark.errors import PySparkException

    from nbsql.engines.spark.driver import one_line

    said = '<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.{}\n\tdetails = "{}"\n>'
    gone = PySparkException(said.format("UNAVAILABLE", "failed to connect to all addresses; last error: UNKNOWN"))
    assert one_line(gone) == "Spark Connect does not answer; start its server, and make another session"
    refused = PySparkException(said.format("UNAUTHENTICATED", "No authentication token provided"))
    assert one_line(refused) == "Spark Connect answers UNAUTHENTICATED: No authentication token provided"
    ended = PySparkException("[INVALID_HANDLE.SESSION_CLOSED] The handle 1-2 is invalid. Session was closed. SQLSTATE: 08003")
    assert one_line(ended).startswith("the server of Spark Connect has ended this session; make another")
    dropped = PySparkException("[INVALID_HANDLE.OPERATION_NOT_FOUND] The handle 1-2 is invalid. Operation not found.")
    assert one_line(dropped).startswith("the server of Spark Connect gave the statement up")
