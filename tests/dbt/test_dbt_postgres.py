"""What PostgreSQL has of its own in a dbt project: macros that stand for others, names, types, and servers that are refused."""

import json

import pytest
from markupsafe import Markup
from support.dbt_projects import Project, dbt, equal, needs_dbt, read, server

import nbsql
from nbsql.rendering.renderer import Renderer

pytestmark = needs_dbt

STATISTICS = "{{ nbsql.statistics(source('raw', 'rows')) }}"
# What PostgreSQL has instead, of its own and of what it shares with Spark.
OWN = """
SELECT {{ nbsql.text(nbsql.double()) }} AS type, {{ nbsql.text(nbsql.null_if_zero(nbsql.word('n'))) }} AS divisor,
  {{ nbsql.text(nbsql.output_null(none, 'x')) }} AS gap
"""
# A name of 63 bytes and more, cut in the middle of a letter.
LONG = "a label that is longer than the names that PostgreSQL has, é" + "é" * 20
ROWS = f"""
CREATE TYPE size AS ENUM ('small', 'large');
CREATE TABLE kept AS SELECT
  i AS id, CAST(CASE WHEN i % 3 = 0 THEN '{LONG}' WHEN i % 3 = 1 THEN 'b' ELSE 'B' END AS VARCHAR(200)) AS y,
  CAST(CASE WHEN i % 4 > 1 THEN 'large' ELSE 'small' END AS size) AS size, ARRAY['t' || i % 4] AS "Labels",
  CAST(ARRAY['u' || i % 5] AS VARCHAR(9)[]) AS tags, CAST('n' || i % 2 AS CHAR(5)) AS fixed, CAST(i % 7 AS NUMERIC(9, 2)) AS n
FROM generate_series(1, 40) AS t(i);
CREATE MATERIALIZED VIEW rows AS SELECT * FROM kept;
CREATE TABLE empty AS SELECT {{columns}}, i AS y FROM generate_series(1, 40) AS t(i);
""".format(columns=", ".join(f"i % {k} AS x{k}" for k in range(2, 12)))
QUICK = "2.0"  # of dbt: the others, which the rest of this file needs, take ten times as long
VERBS = {"predict_proba": "probabilities", "joint_log_likelihood": "joint_log_likelihoods", "explain": "explanation"}


@pytest.fixture(scope="module")
def address():
    with server("postgres", QUICK) as found:
        assert found is not None
        yield found


@pytest.fixture(scope="module")
def project(address, tmp_path_factory):
    models = {
        "own": OWN,
        "kinds": STATISTICS,
        "crowded": "{{ nbsql.statistics(source('raw', 'empty')) }}",
        "scored": "{{ nbsql.predictions(ref('crowded'), source('raw', 'empty')) }}",
        **{verb: f"{{{{ nbsql.{macro}(ref('kinds'), source('raw', 'rows')) }}}}" for verb, macro in VERBS.items()},
    }
    meta = {"kinds": {"target": "y", "id": "id"}, "crowded": {"target": "y"}}
    found = Project(tmp_path_factory.mktemp("dbt"), models, meta, address=address, version=QUICK)
    found.run(ROWS)
    assert found.dbt("run").returncode == 1  # for the sake of `scored`
    return found


def test_macros_that_postgresql_has_of_its_own_take_the_place_of_the_general_ones(project):
    renderer = Renderer("postgres")
    divisor, gap = renderer.fragment("null_if_zero", Markup("n")), renderer.fragment("output_null", None, "x")
    expected = [renderer.fragment("double"), divisor, gap]
    with project.connect() as con:
        assert read(con, "SELECT * FROM own")[1] == [tuple(map(str, expected))]


def test_types_and_names_are_those_of_python(project):
    with project.connect() as con:
        model = nbsql.fit(con, "rows", target="y", id="id")
        for verb in VERBS:
            columns, rows = read(con, f"SELECT * FROM {verb}")
            query = getattr(model, verb)("rows")
            assert columns == query.columns, verb
            equal(rows, query.fetchall(), verb)
        families = {name: family.name for name, family in model.families.items()}
    assert families == {"size": "categorical", "Labels": "tokens", "tags": "tokens", "fixed": "categorical", "n": "gaussian"}


def test_more_numbers_than_a_row_holds_are_refused(project):
    assert project.messages()["scored"] == (
        "nbsql: 40 classes with 30 parameters each, of 'crowded', do not fit into a row of PostgreSQL, which holds some 1,000 "
        "numbers; take fewer classes or features"
    )


def refused(folder, address, **changes):
    """A project of one model, on another target."""
    found = Project(folder, {"one": STATISTICS}, {"one": {"target": "y"}}, address=address)
    profiles = json.loads((folder / "profiles.yml").read_text(encoding="utf-8"))
    profiles["project"]["outputs"]["dev"].update(changes)
    (folder / "profiles.yml").write_text(json.dumps(profiles), encoding="utf-8")
    return found


@pytest.mark.nightly
def test_an_old_server_is_refused(address, project, tmp_path):
    project.run(
        "CREATE SCHEMA old", "CREATE FUNCTION old.current_setting(TEXT) RETURNS TEXT LANGUAGE SQL AS $$ SELECT '140012' $$"
    )
    found = refused(tmp_path, address, search_path="old, pg_catalog")
    assert found.dbt("run").returncode == 1
    assert found.messages()["one"] == "nbsql: this server is PostgreSQL 14; nbsql needs 15 or later"


# An adapter that derives from that of PostgreSQL, as that of Redshift does.
DERIVED = """
from pathlib import Path
from dbt.adapters.base import AdapterPlugin
from dbt.adapters.postgres import PostgresAdapter, PostgresConnectionManager, PostgresCredentials

class Connections(PostgresConnectionManager):
    TYPE = "redshift"

class Credentials(PostgresCredentials):
    @property
    def type(self):
        return "redshift"

class RedshiftAdapter(PostgresAdapter):
    ConnectionManager = Connections

here = str(Path(__file__).parent)
Plugin = AdapterPlugin(adapter=RedshiftAdapter, credentials=Credentials, include_path=here, dependencies=["postgres"])
"""


# What a project says of an adapter that the package does not know.
ADDED = """
{% macro redshift__check_engine() %}{% endmacro %}
{% macro redshift__double() %}DECIMAL(38, 9){% endmacro %}
"""


@pytest.mark.nightly
def test_an_adapter_is_refused_until_the_project_has_its_macros(address, project, tmp_path):
    adapter = tmp_path / "adapter" / "dbt" / "adapters" / "redshift"
    (adapter / "macros").mkdir(parents=True)
    (adapter / "__init__.py").write_text(DERIVED, encoding="utf-8")
    (adapter / "__version__.py").write_text("version = '1.0.0'", encoding="utf-8")
    (adapter / "dbt_project.yml").write_text("{config-version: 2, name: dbt_redshift, version: '1.0'}", encoding="utf-8")
    (tmp_path / "project").mkdir()
    found = refused(tmp_path / "project", address, type="redshift")
    assert dbt(found.folder, "run", PYTHONPATH=str(tmp_path / "adapter")).returncode == 1
    assert found.messages()["one"] == (
        "nbsql: the package is tested on duckdb, postgres, spark, sqlite, clickhouse, snowflake, bigquery and trino alone, and "
        "the target 'dev' is of type 'redshift'; use a target of one of these types"
    )
    (found.folder / "macros").mkdir()
    (found.folder / "macros" / "redshift.sql").write_text(ADDED, encoding="utf-8")
    done = dbt(found.folder, "run", PYTHONPATH=str(tmp_path / "adapter"))
    assert done.returncode == 0, done.stdout
    compiled = (found.folder / "target" / "compiled" / "project" / "models" / "one.sql").read_text(encoding="utf-8")
    assert "AS DECIMAL(38, 9)" in compiled
    assert "DOUBLE PRECISION" not in compiled
    with project.connect() as con:
        assert read(con, "SELECT count(*) FROM one WHERE feature IS NULL")[1] == [(3,)]
