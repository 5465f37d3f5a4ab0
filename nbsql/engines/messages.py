"""What DuckDB says, as nbsql says it."""

from __future__ import annotations

import re

import duckdb

# DuckDB 1 does not double the quotes within a name.
_READ_ONLY = re.compile(r'on database "(.*)" which is attached in read-only mode')


def one_line(error: duckdb.Error) -> str:
    """What DuckDB says, without its picture of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    read_only = _READ_ONLY.search(str(error))
    if read_only is not None:
        name = read_only[1].replace('""', '"')
        return f"database {name!r} is open read-only; open it for writing"
    return " ".join(re.split(r"\n\nLINE |, due to the following Python exception", str(error))[0].split())
