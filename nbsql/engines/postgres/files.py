"""Writes the rows of a PostgreSQL query to files, on the side of the client."""

from __future__ import annotations

from pathlib import Path

import psycopg

from nbsql.engines.postgres.driver import PostgreSQLDriver
from nbsql.errors import NotSupportedError


def write(engine: PostgreSQLDriver, sql: str, path: str, file_format: str) -> None:
    """Write the rows of a query as csv, json (one list) or jsonl (one object a line).

    Raises:
        NotSupportedError: the format is another one.
    """
    if file_format not in ("csv", "json", "jsonl"):
        raise NotSupportedError(f"{file_format} files are not available on PostgreSQL; choose csv, json or jsonl")
    query = engine.renderer.dialect.query(sql)
    if file_format == "csv":
        query = engine.renderer.fragment("as_text", query, engine.names(sql))
    statement = engine.renderer.statement("copy_to", query, path, file_format).encode(engine.connection.info.encoding)
    with (
        engine.timed("copy_to"),
        engine.errors(),
        engine.savepoint(),
        psycopg.Cursor(engine.connection) as cursor,
        Path(path).open("wb") as file,
    ):
        if file_format == "csv":
            with cursor.copy(statement) as copied:
                file.writelines(copied)
            return
        between, first = (b",\n\t", b"[\n\t") if file_format == "json" else (b"\n", b"")
        for (row,) in cursor.stream(statement):
            file.write(first + row.encode())
            first = between
        if file_format == "json":
            file.write(b"[]\n" if first.startswith(b"[") else b"\n]\n")
        elif first:
            file.write(b"\n")
