"""Connections, and where models are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from nbsql import schema as schemas
from nbsql.engines.duckdb import DuckDB
from nbsql.errors import DatabaseError
from nbsql.relations import Relations

Connection = duckdb.DuckDBPyConnection | str | os.PathLike[str] | DuckDB


@contextmanager
def opened(con: Connection, *, close: bool = False) -> Iterator[DuckDB]:
    """The engine of a connection or path. What was opened here is closed again on an error, or in any case with `close`."""
    engine = con if isinstance(con, DuckDB) else DuckDB(con)
    try:
        yield engine
    except BaseException:
        close = True
        raise
    finally:
        if close and engine is not con:
            engine.close()


def place_for(
    engine: DuckDB, name: str | None, database: str | None, *, replace: bool
) -> tuple[Relations, tuple[str, str] | None]:
    """Where a new model goes, and the database and schema of the one it replaces."""
    if name is None:
        return Relations(engine.renderer, transient=engine.transient_name()), None
    place = engine.database(database)
    if engine.is_read_only(place):
        raise DatabaseError(
            f"database {place!r} is open read-only; open it for writing, or leave the name out for a transient model"
        )
    schemas.check_new_name(engine, place, name, replace=replace)
    existing = engine.schema(place, name)
    return relations_in(engine, place, name), (place, existing) if existing is not None else None


def relations_in(engine: DuckDB, database: str, schema: str) -> Relations:
    path = (schema,) if database == engine.current()[0] else (database, schema)
    return Relations(engine.renderer, *path)
