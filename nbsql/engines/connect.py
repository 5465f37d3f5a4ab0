"""Opens connections, and locates the relations of models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import duckdb

from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.duckdb.paths import discard, is_new, missing_database
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import is_address
from nbsql.engines.watch import Watch
from nbsql.errors import DatabaseError, InputError
from nbsql.plan import PARTS
from nbsql.rendering.relations import Relations

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

    from nbsql.engines.postgres.engine import PostgreSQL

Connection: TypeAlias = "duckdb.DuckDBPyConnection | psycopg.Connection[Any] | SparkSession | str | os.PathLike[str] | Engine"


def engine_of(con: Any) -> Engine:
    """The engine of a connection, a session, a path or an address. It shows its steps if stderr is watched."""
    engine: Engine
    if is_postgres(con):
        engine = postgresql()(con)
    elif type(con).__module__.split(".")[0] == "pyspark":
        from nbsql.engines.spark.engine import Spark

        engine = Spark(con)
    elif isinstance(con, str) and con.startswith(("spark://", "local[", "sc://")):
        by = "remote" if con.startswith("sc://") else "master"
        raise InputError(
            f"Spark is reached by a session, not by an address; pass SparkSession.builder.{by}({con!r}).getOrCreate(), "
            "of pyspark: pip install 'nbsql[spark]'"
        )
    else:
        engine = DuckDB(con)
    engine.watch = Watch(engine.progress)
    return engine


def postgresql() -> type[PostgreSQL]:
    """The engine of PostgreSQL. Raises DatabaseError if its driver is not installed."""
    try:
        from nbsql.engines.postgres.engine import PostgreSQL
    except ImportError as error:
        raise DatabaseError("PostgreSQL needs psycopg 3: pip install 'nbsql[postgres]'") from error
    return PostgreSQL


def is_postgres(con: Any) -> bool:
    """Whether `con` is a psycopg connection or the address of a PostgreSQL server."""
    if isinstance(con, str):
        return is_address(con)
    return type(con).__module__.split(".")[0] in ("psycopg", "psycopg2", "asyncpg")


@contextmanager
def opened(con: Connection, *, close: bool = False, create: bool = False) -> Iterator[Engine]:
    """The engine of a connection or path, as a context manager. A database that was opened here is closed after an error.

    With `close` it is closed at the end, too. With `create` a missing database file is created, and deleted after an error;
    otherwise DatabaseError is raised.
    """
    new = is_new(con)
    if new and not create:
        raise missing_database(cast("str", con))
    engine = con if isinstance(con, Engine) else engine_of(con)
    failed = True
    try:
        yield engine
        failed = False
    finally:
        if (close or failed) and engine is not con:
            engine.close()
            if new and failed:
                discard(cast("str", con))


def relations_in(engine: Engine, database: str, schema: str) -> Relations:
    """The relations of the model in a schema, by the names that the statements of a fit use.

    The name of the current database is left out, because DuckDB 1 stores it in a view, and the database of a file may be
    renamed.
    """
    path = (schema,) if database == engine.current()[0] else (database, schema)
    return Relations(engine.renderer, *path)


def lasting_relations(engine: Engine, database: str, schema: str) -> Relations:
    """The same relations by the names that a handle uses, which stay valid when another database becomes the current one."""
    return Relations(engine.renderer, *engine.path(database, schema))


def transient_relations(engine: Engine) -> Relations:
    """The relations of a new model without a name, which are dropped when nobody holds them any more.

    Its dimensions are named relative to the current database.
    """
    database, schema = engine.current()
    home, prefix, renderer = engine.path(database, schema), engine.transient_name(), engine.renderer
    relations = Relations(renderer, transient=prefix, database=home[0] if len(home) > 1 else None)
    names = Relations(renderer, transient=prefix)  # which the lease may refer to

    def drops() -> list[str]:
        kinds = {name: part.kind for name, part in PARTS.items() if part.kind != "macro"}
        return [renderer.statement("drop_relation", kind, names[name], if_exists=True) for name, kind in kinds.items()]

    relations.lease = engine.lease(prefix, drops)
    return relations
