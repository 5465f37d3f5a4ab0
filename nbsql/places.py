"""Connections, and where models are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb

from nbsql.engines.address import is_address
from nbsql.engines.duckdb import DuckDB
from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError
from nbsql.relations import Relations

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

    from nbsql.engines.postgres import PostgreSQL

Connection: TypeAlias = "duckdb.DuckDBPyConnection | psycopg.Connection[Any] | SparkSession | str | os.PathLike[str] | Engine"


def engine_of(con: Any, **options: Any) -> Engine:
    """The engine of a connection, a session, a path or an address."""
    if is_postgres(con):
        return postgresql()(con, **options)
    if type(con).__module__.split(".")[0] == "pyspark":
        from nbsql.engines.spark import Spark

        return Spark(con, **options)
    if isinstance(con, str) and con.startswith(("spark://", "local[", "sc://")):
        raise InputError(
            f"Spark is reached by a session, not by an address; pass SparkSession.builder.master({con!r}).getOrCreate(), "
            "of pyspark: pip install 'nbsql[spark]'"
        )
    return DuckDB(con, **options)


def postgresql() -> type[PostgreSQL]:
    """The engine of PostgreSQL.

    Raises:
        DatabaseError: its driver is not installed.
    """
    try:
        from nbsql.engines.postgres import PostgreSQL
    except ImportError as error:
        raise DatabaseError("PostgreSQL needs psycopg 3: pip install 'nbsql[postgres]'") from error
    return PostgreSQL


def is_postgres(con: Any) -> bool:
    """Whether it is a connection of psycopg's, or the address of a PostgreSQL server."""
    if isinstance(con, str):
        return is_address(con)
    return type(con).__module__.split(".")[0] in ("psycopg", "psycopg2", "asyncpg")


@contextmanager
def opened(con: Connection, *, close: bool = False) -> Iterator[Engine]:
    """The engine of a connection or path. What was opened here is closed again on an error, or in any case with `close`."""
    engine = con if isinstance(con, Engine) else engine_of(con)
    try:
        yield engine
    except BaseException:
        close = True
        raise
    finally:
        if close and engine is not con:
            engine.close()


def relations_in(engine: Engine, database: str, schema: str) -> Relations:
    """The relations of the model of that schema."""
    path = (schema,) if database == engine.current()[0] else (database, schema)
    return Relations(engine.renderer, *path)
