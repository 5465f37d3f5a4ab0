"""What DuckDB says, as nbsql says it."""

from __future__ import annotations

import re

import duckdb


def one_line(error: duckdb.Error) -> str:
    """What DuckDB says, without its picture of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    return " ".join(re.split(r"\n\nLINE |, due to the following Python exception", str(error))[0].split())
