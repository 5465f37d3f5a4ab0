"""The engines, each with a database of its own for a test."""

import itertools

import duckdb
import pytest
from engines.places import ENGINES, Place
from engines.servers import absent, private_postgres
from engines.servers import spark as spark_session

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server():
    """The address of a private PostgreSQL server."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        absent("psycopg is not installed: pip install '.[postgres]' to test on PostgreSQL")
    with private_postgres() as address:
        yield address


@pytest.fixture(scope="module")
def shared_database(server):
    """The address of a database for the tests of a file: to make and drop one takes a third of a second, to empty it 10 ms."""
    import psycopg

    name = f"shop_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres", f"/{name}")
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def address(shared_database):
    """The address of a database that is empty, to which nobody else is connected."""
    import psycopg

    with psycopg.connect(shared_database, autocommit=True) as con:
        con.execute("""DO $$ DECLARE name TEXT; BEGIN
            PERFORM pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid();
            FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
                EXECUTE format('DROP SCHEMA %I CASCADE', name);
            END LOOP;
        END $$; CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC""")
    return shared_database


@pytest.fixture
def pg(address):
    """A connection of psycopg's to a new database."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as con:
        yield con


@pytest.fixture(scope="session")
def spark_home():
    """A session of Spark on one core, which all tests of a worker share: starting one takes as long as some of them."""
    # Statements are run once and have few rows: to compile each takes longer than to interpret it (test_spark.py compiles).
    settings = {"codegen.factoryMode": "NO_CODEGEN", "codegen.wholeStage": "false", "adaptive.enabled": "false"}
    settings["shuffle.partitions"] = "1"  # the test on a cluster has more
    with spark_session("local[1]", **{f"spark.sql.{name}": value for name, value in settings.items()}) as session:
        yield session


@pytest.fixture
def spark(spark_home):
    """The session, in a new database."""
    name = f"shop_{next(_numbers)}"
    spark_home.sql(f"CREATE SCHEMA {name}")
    spark_home.sql(f"USE {name}")
    yield spark_home
    spark_home.sql("USE default")
    for (schema,) in spark_home.sql("SHOW SCHEMAS").collect():
        if schema != "default":
            spark_home.sql(f"DROP SCHEMA `{schema}` CASCADE")
    for _, view, is_temporary in spark_home.sql("SHOW VIEWS").collect():
        if is_temporary:
            spark_home.catalog.dropTempView(view)


@pytest.fixture
def connect(request):
    """Makes a place of an engine, by name."""
    opened = []

    def make(engine):
        if engine == "postgres":
            return Place(engine, request.getfixturevalue("pg"))
        if engine == "spark":
            return Place(engine, request.getfixturevalue("spark"))
        opened.append(duckdb.connect())
        return Place(engine, opened[-1])

    yield make
    for con in opened:
        con.close()


@pytest.fixture(params=ENGINES)
def place(request, connect):
    """Each engine in turn."""
    return connect(request.param)


@pytest.fixture(params=[engine for engine in ENGINES if engine != "duckdb"])
def both(request, connect):
    """An engine, and DuckDB, with which it is to agree."""
    return connect(request.param), connect("duckdb")
