"""The standalone scorer of one small model in every dialect, byte for byte: that of one, and how the others differ from it.

`pytest --update-golden` writes the files anew. Two dialects are also run by their engines (tests/scoring/test_standalone.py).
"""

import duckdb
import pandas as pd
import pytest
import sqlglot
from click.testing import CliRunner
from golden.test_golden import INBOX, compare
from sqlglot import exp
from support.inserted import insert

import nbsql
import nbsql.queries.standalone.terms
from nbsql.cli import main
from nbsql.plan import ROW_VERBS
from nbsql.rendering.dialect import DIALECTS

NAMES = sorted(set(DIALECTS) - {"duckdb", "postgres", "spark"})  # those that no model lives in
EXECUTED = "sqlite"  # whose other queries are kept as well


@pytest.fixture(scope="module")
def model():
    """What all that only reads it shares."""
    with duckdb.connect() as con:
        yield fitted(con)


def fitted(con):
    con.execute(INBOX)
    return nbsql.fit(
        con,
        "inbox",
        target="label",
        id="id",
        weight="trust",
        exclude=["body"],
        families={
            "sender": nbsql.Categorical(levels=["colleague"], nulls="category", unseen="smooth"),
            "links": "poisson",
            "parts": nbsql.Multinomial(["plain", "html"]),
        },
    )


def statement(sql, dialect):
    """The one SELECT that a text holds."""
    found = sqlglot.parse(sql, read=dialect)
    assert len(found) == 1
    assert isinstance(found[0], exp.Query)
    return found[0]


@pytest.mark.parametrize(
    ("dialect", "name", "verb", "most"),
    [*((dialect, "predict", "predict_proba", 24) for dialect in NAMES), (EXECUTED, "likelihood", "log_evidence", 0)],
)
def test_the_scorer_is_the_golden_one(model, request, layout, dialect, name, verb, most):
    layout(case_values=most)
    like = f"{EXECUTED}/standalone_predict.sql", model.sql("predict_proba", "inbox", dialect=EXECUTED)
    sql = model.sql(verb, "inbox", dialect=dialect)
    compare(
        f"standalone_{name}.sql", sql, request.config.getoption("--update-golden"), dialect, None if sql == like[1] else like
    )


@pytest.mark.slow
def test_the_points_of_a_scorecard_are_one_select_in_every_dialect(con):
    con.execute(INBOX)
    families = {"sender": nbsql.Categorical(nulls="category"), "links": nbsql.Binned(by=[2])}
    card = nbsql.fit(con, "inbox", target="label", id="id", features=["sender", "links"], families=families).scorecard()
    for dialect in sorted(DIALECTS):
        found = statement(card.sql("inbox", dialect=dialect, reasons=2, columns=["id"]), dialect)
        assert [name.lower() for name in found.named_selects] == ["id", "points", "reason_1", "reason_2"]


@pytest.mark.forms("verb")
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("verb", ROW_VERBS)
def test_it_is_one_select_of_the_columns_it_promises(model, dialect, verb):
    columns = ["id", "links"]
    found = statement(model.sql(verb, "inbox", dialect=dialect, columns=columns), dialect)
    classes = ["ham", "spam"]
    added = {
        "predict": ["prediction", "probability"],
        "predict_proba": ["prediction", "probability", *(f"probability_{label}" for label in classes)],
        "joint_log_likelihood": [f"joint_log_likelihood_{label}" for label in classes],
        "log_evidence": ["log_evidence"],
    }[verb]
    assert [name.lower() for name in found.named_selects] == [*columns, *added]
    read = {table.name for table in found.find_all(exp.Table)} - {cte.alias for cte in found.find_all(exp.CTE)}
    assert read <= {"inbox", "literals", "numbers"}


@pytest.mark.slow
@pytest.mark.parametrize(("method", "what"), [("aode", "'pairs' has 8 pairs"), ("joint", "'joint' has 4 combinations")])
def test_several_categories_are_one_select_in_every_dialect(con, layout, method, what):
    con.execute(INBOX)
    model = nbsql.fit(con, "inbox", target="label", id="id", features=["sender", "links"], method=method)
    for dialect in sorted(DIALECTS):
        found = statement(model.sql("predict", "inbox", dialect=dialect, columns=["id"]), dialect)
        assert [name.lower() for name in found.named_selects] == ["id", "prediction", "probability"]
        read = {table.name for table in found.find_all(exp.Table)} - {cte.alias for cte in found.find_all(exp.CTE)}
        assert read <= {"inbox", "literals", "level_3"}, dialect  # which is named in a hint of Spark's
    layout(literal_pairs=3)
    with pytest.raises(nbsql.NotSupportedError) as caught:
        model.sql("predict", "inbox", dialect="trino")
    line = (
        f"{what} of values, and a query in another dialect takes 3; "
        "fit it without columns of many values, or score on DuckDB with inline=True"
    )
    assert str(caught.value) == line


def test_the_counting_is_the_golden_one(model, request):
    sql = model.sql("statistics", "inbox", dialect=EXECUTED)
    compare("standalone_statistics.sql", sql, request.config.getoption("--update-golden"), EXECUTED)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_the_counting_is_one_select(model, dialect):
    found = statement(model.sql("statistics", "inbox", dialect=dialect), dialect)
    assert [name.lower() for name in found.named_selects] == ["class", "feature", "value", "n", "mean", "m2"]
    read = {table.name for table in found.find_all(exp.Table)} - {cte.alias for cte in found.find_all(exp.CTE)}
    assert read == {"inbox"}


HOSTILE = ["it's", "back\\", "\\'; DROP TABLE x; --", "`a`", "]", '"', "\u2028 line", "{{ x }}", "日本"]


@pytest.mark.slow
@pytest.mark.skipif(sqlglot.__version__ < "28", reason="sqlglot before 28 leaves the backslashes of E'...' as they are")
def test_values_labels_and_names_stay_what_they_are(con):
    con.execute("CREATE TABLE new (x VARCHAR, y VARCHAR)")
    insert(con, "new", [*zip(HOSTILE, reversed(HOSTILE), strict=True)])
    model = nbsql.fit(con, "new", target="y")
    con.execute('CREATE TABLE named AS SELECT x AS "a ""b"" c", y FROM new')
    named = nbsql.fit(con, "named", target="y")
    for dialect in sorted(DIALECTS):
        found = statement(model.sql("predict", "new", dialect=dialect), dialect)
        escaped = exp.ByteString if dialect == "postgres" else exp.National  # which is how an E'...' of PostgreSQL is parsed
        texts = {node.name for node in found.find_all(exp.Literal, exp.National, escaped) if not node.is_number}
        assert {*HOSTILE} <= texts, dialect
        found = statement(named.sql("predict", "named", dialect=dialect), dialect)
        assert 'a "b" c' in {column.name for column in found.find_all(exp.Column)}, dialect


@pytest.mark.parametrize(
    ("dialect", "source", "written"),
    [
        ("bigquery", "my-project.shop.inbox", "FROM my-project.shop.inbox AS source"),
        ("bigquery", "`my-project.shop.inbox`", "FROM `my-project.shop.inbox` AS source"),
        ("tsql", "[the shop].dbo.inbox", "FROM [the shop].dbo.inbox AS source"),
        ("snowflake", 'shop."Inbox" ;', 'FROM shop."Inbox" AS source'),
        ("sqlite", "SELECT * FROM inbox WHERE x = ';' ; -- all", "FROM ( SELECT * FROM inbox WHERE x = ';' ) AS source"),
        ("trino", "(SELECT 1 AS x)", "FROM ( (SELECT 1 AS x) ) AS source"),
    ],
)
def test_a_source_is_taken_as_it_is_written(model, dialect, source, written):
    assert written in " ".join(model.sql("predict", source, dialect=dialect).split())


NO_SOURCES = (
    "", "my table", "inbox AS i", "DELETE FROM inbox", "SELECT 1; SELECT 2", "f(x)", "a'b", "inbox) AS x; DROP TABLE y; --",
)  # fmt: skip


def test_what_is_no_source_is_refused(con, refused):
    model = nbsql.fit(con, "SELECT unnest(['u', 'v']) AS x, unnest(['a', 'b']) AS y", target="y")
    for source in NO_SOURCES:
        with refused(
            nbsql.InputError, f"a source for the dialect 'mysql' is the name of a table or one SELECT, not {source!r}"
        ):
            model.sql("predict", source, dialect="mysql")


XY = "SELECT unnest(['u', 'v']) AS x, unnest(['a', 'b']) AS y, unnest([1, 2]) AS prediction"


@pytest.mark.parametrize(
    ("options", "arguments", "line"),
    [
        ({}, {"dialect": "bigqery"}, "no dialect 'bigqery'; did you mean 'bigquery'?"),
        ({}, {"dialect": ["bigquery"]}, "no dialect ['bigquery']; did you mean 'bigquery'?"),
        ({}, {"dialect": "mssql"}, "no dialect 'mssql'; did you mean 'tsql'?"),
        ({}, {"dialect": "cobol"}, f"no dialect 'cobol'; the dialects are {', '.join(map(repr, sorted(DIALECTS)))}"),
        (
            {},
            {"dialect": "sqlite", "verb": "explain"},
            "explain has no query in another dialect, only 'predict', 'predict_proba', 'joint_log_likelihood', 'log_evidence'; "
            "DuckDB has one with inline=True",
        ),
        (
            {},
            {"dialect": "sqlite", "source": pd.DataFrame({"x": ["u"]})},
            "a source for the dialect 'sqlite' is the name of a table or a SELECT as text, not DataFrame",
        ),
        ({}, {"dialect": "sqlite", "columns": "x"}, "columns must be a list of names, not 'x'"),
        ({}, {"dialect": "sqlite", "columns": ["x", ""]}, "columns must be a list of names, not ['x', '']"),
        (
            {},
            {"dialect": "sqlite", "columns": ["Probability"]},
            "the source has a column 'Probability', which predict adds; leave it out with columns=[...]",
        ),
        (
            {"features": ["prediction"]},
            {"dialect": "sqlite"},
            "the source has a column 'prediction', which predict adds; leave it out with columns=[...]",
        ),
        (
            {},
            {"dialect": "sqlite", "inline": True},
            "a dialect gives a scorer with the numbers in it already; leave out inline=True",
        ),
        (
            {"families": {"x": nbsql.Text()}},
            {"dialect": "trino"},
            "sql(..., dialect=...) does not support 'x', which is text, a bag of words, and each engine cuts texts and lists "
            "in its own way; leave it out of the model, or score on DuckDB with inline=True",
        ),
        (
            {"segment_by": "prediction"},
            {"dialect": "trino"},
            "the model has one model per segment, which a query in another dialect does not support; fit it without segment_by",
        ),
    ],
)
def test_refusals(con, refused, options, arguments, line):
    model = nbsql.fit(con, XY, target="y", **{"features": ["x"], **options})
    arguments = {"verb": "predict", "source": "new", **arguments}
    kind = nbsql.InputError
    if "segment" in line:
        kind = nbsql.ModelError
    elif "leave it out of the model" in line:
        kind = nbsql.NotSupportedError
    with refused(kind, line):
        model.sql(**arguments)


def test_times_as_categories_are_refused(con, refused):
    source = "SELECT unnest([TIME '10:00', TIME '11:00']) AS x, unnest(['a', 'b']) AS y"
    model = nbsql.fit(con, source, target="y", families={"x": "categorical"})
    line = (
        "'x' is a category of the type TIME, which every engine writes in its own way; "
        "make it a text, or leave it out of the model"
    )
    with refused(nbsql.NotSupportedError, line):
        model.sql("predict", "new", dialect="sqlite")


@pytest.mark.parametrize("value", ["inf", "nan", "-1e+200", "12345678901234567.8"])
def test_categories_that_are_no_number_everywhere_are_refused(con, refused, value):
    kind = "DECIMAL(18,1)" if "." in value else "DOUBLE"
    source = f"SELECT unnest([1, '{value}'::{kind}, '{value}'::{kind}]) AS x, unnest(['a', 'b', 'a']) AS y"
    model = nbsql.fit(con, source, target="y", families={"x": "categorical"})
    line = (
        f"'x' is a category with the value {value}, a number that not every engine has; "
        "make it a text, or leave it out of the model"
    )
    with refused(nbsql.NotSupportedError, line):
        model.sql("predict", "new", dialect="postgres")


def test_components_and_the_evidence_of_weights_are_refused(con, refused):
    con.execute("CREATE TABLE lumps AS SELECT i % 2 AS y, (i * 7 % 13)::DOUBLE AS x FROM range(40) AS t(i)")
    model = nbsql.fit(con, "lumps", target="y", method=nbsql.Mixture(2))
    line = (
        "the model has several components per class, which a query in another dialect does not support; "
        "fit it without components"
    )
    with refused(nbsql.ModelError, line):
        model.sql("predict", "lumps", dialect="sqlite")
    model = nbsql.fit(con, "lumps", target="y", method="logistic")
    line = "the model is a logistic regression, which has no likelihood of the features, ln p(x); fit it with method='naive'"
    with refused(nbsql.ModelError, line):
        model.sql("log_evidence", "lumps", dialect="sqlite")


def test_a_model_that_has_changed_is_written_as_it_is(con):
    con.execute("CREATE TABLE new AS FROM (VALUES ('a', 'u'), ('b', 'v')) AS t(y, x)")
    model, other = nbsql.fit(con, "new", target="y", name="m"), nbsql.load(con, "m")
    before = model.sql("predict", "new", dialect="trino")
    other.update("SELECT 'c' AS y, 'w' AS x")
    after = model.sql("predict", "new", dialect="trino")
    assert "'w'" in after
    assert "'w'" not in before


def test_the_query_of_the_command_line(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE new AS SELECT unnest(['u', 'v']) AS x, unnest(['a', 'b']) AS y")
        model = nbsql.fit(con, "new", target="y", name="m")
        expected = model.sql("predict", "there.new", dialect="snowflake", columns=["id", "x"])
    command = ["sql", path, "predict", "m", "there.new", "--dialect", "snowflake", "--columns", "id, x"]
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 0
    assert found.output.strip().rstrip(";") == expected
    found = CliRunner().invoke(main, ["sql", path, "predict", "m", "new", "--dialect", "snowflak"])
    assert found.exit_code != 0
    assert "did you mean 'snowflake'?" in found.output


def test_statistics_are_counted_in_a_dialect_only_and_pass_no_columns(con, refused):
    model = fitted(con)
    with refused(nbsql.InputError, "the verb 'statistics' is for rows of another engine; name it by dialect='bigquery', say"):
        model.sql("statistics", "inbox")
    with refused(nbsql.InputError, "columns goes with the verbs that pass columns of the source on, not with 'statistics'"):
        model.sql("statistics", "inbox", dialect="trino", columns=["id"])
